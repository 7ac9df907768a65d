"""What `trainyard fleet` prints, and what its JSON says of a stack."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from trainyard.fleet.known import now
from trainyard.output import console
from trainyard.problems import some_of
from trainyard.review.verdict import State, Verdict, dollars

if TYPE_CHECKING:
    from trainyard.fleet.apart import Shared
    from trainyard.fleet.clients import Client
    from trainyard.fleet.drift import Drift
    from trainyard.fleet.known import Known, Smoke, Spend
    from trainyard.review.told import Told

_CHANGED = ("made", "changed", "replaced", "deleted")


def row(client: Client, told: Told) -> dict[str, Any]:
    """The contract of a stack in the JSON of `fleet`."""
    from trainyard.plan.people import profile_of

    settings = client.settings
    return {
        "stack": client.stack,
        "client": client.name,
        "cloud": settings.cloud,
        "region": settings.region,
        "team_size": settings.team_size,
        "profile": profile_of(settings),
        "wave": client.entry.wave,
        "version": client.entry.version,
        "pin": client.entry.pin,
        "frozen": client.entry.frozen,
        "verdict": told.verdict.as_json(),
    }


def print_stacks(clients: Sequence[Client], told: Mapping[str, Told]) -> None:
    """A line a stack: what it is, where, and what it is expected to cost."""
    styles = {"good": "green", "warn": "yellow", "bad": "bold red"}
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("stack", "client", "cloud", "region", "profile", "wave", "release", "verdict"):
        table.add_column(name, no_wrap=True)
    for name in ("USD a month", "budget"):
        table.add_column(name, justify="right", no_wrap=True)
    for client in clients:
        verdict, said = told[client.stack].verdict, row(client, told[client.stack])
        money = verdict.money
        table.add_row(
            client.stack,
            client.name,
            said["cloud"],
            said["region"],
            said["profile"] or "?",
            f"{said['wave']}{', frozen' if said['frozen'] else ''}",
            f"{said['version'] or 'never up'}{', pinned to ' + said['pin'] if said['pin'] else ''}",
            Text(verdict.state.value, style=styles[verdict.state.mood]),
            dollars(money.expected) if money else "",
            dollars(money.budget) if money and money.budget is not None else "",
        )
    console().print(table)


def print_known(
    clients: Sequence[Client],
    told: Mapping[str, Told],
    drifts: Mapping[str, Drift | None],
    known: Mapping[str, Known],
) -> None:
    """A line a stack: what its policies say, and what its cloud said when it was asked last."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("stack", "policies", "smoke", "drift", "spent this month, USD"):
        table.add_column(name, overflow="fold")
    for client in clients:
        kept = known[client.stack]
        table.add_row(
            client.stack,
            _policy_state(told[client.stack].verdict),
            _smoke(kept.smoke),
            _drift(drifts[client.stack]),
            _spend(kept.spend, now()[:7]),
        )
    console().print()
    console().print(table)


def _policy_state(verdict: Verdict) -> Text:
    """What the policies say of the settings as they are; they judge only what would not be refused."""
    if verdict.state in (State.REFUSED, State.UNREADABLE, State.BROKEN):
        return Text("not judged", style="bold red")
    counts = {"violated": verdict.mandatory, "advised": verdict.advisory, "accepted": verdict.accepted}
    said = ", ".join(f"{many} {name}" for name, many in counts.items() if many)
    style = "bold red" if verdict.mandatory else "yellow" if verdict.advisory else "green"
    return Text(said or "all hold", style=style)


def _smoke(smoke: Smoke | None) -> Text:
    if smoke is None:
        return Text("unknown", style="dim")
    style = {"pass": "green", "not waited for": "dim"}.get(smoke.verdict, "bold red")
    return Text(f"{smoke.verdict} on {smoke.at[:10]}, {smoke.by}", style=style)


def _spend(spend: Spend | None, month: str) -> Text:
    """The month's figure with its age. That of an earlier month says nothing of this one, so it is told as that."""
    if spend is None:
        return Text("unknown", style="dim")
    said = f"{dollars(spend.usd)} of {dollars(spend.budget_usd)}"
    if spend.month != month:
        return Text(f"unknown; {said} in {spend.month}", style="dim")
    over = spend.usd > spend.budget_usd
    more = f", {dollars(spend.forecast_usd)} foreseen" if spend.forecast_usd is not None else ""
    foreseen = (spend.forecast_usd or 0.0) > spend.budget_usd
    style = "bold red" if over else "yellow" if foreseen else "green"
    return Text(f"{said}{more} on {spend.asked[:10]}", style=style)


def _drift(drift: Drift | None) -> Text:
    if drift is None:
        return Text("unknown", style="dim")
    if drift.drifted:
        return Text(f"yes, or not asked: {drift.asked:%Y-%m-%d}", style="bold red")
    return Text(f"none on {drift.asked:%Y-%m-%d}", style="green")


def print_changes(
    clients: Sequence[Client], told: Mapping[str, Told], changes: Mapping[str, dict[str, Any] | None]
) -> None:
    """What a release changes in each stack, and what speaks against it, once for all of whom it is said."""
    from trainyard.review.reports.rehearsal import short_type

    out = console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("stack", no_wrap=True)
    table.add_column("wave", no_wrap=True)
    for name in _CHANGED:
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("USD a month", "policies"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", overflow="fold")
    for client in clients:
        change = changes[client.stack] or {}
        counts = [str(change.get("counts", {}).get(name, "?")) for name in _CHANGED]
        state = told[client.stack].verdict.state.value
        table.add_row(client.stack, client.entry.wave, *counts, _price(change), _policies(change), state)
    out.print(table)
    new: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    alike: defaultdict[tuple[str, ...], list[tuple[str, str]]] = defaultdict(list)
    for client in clients:
        change = changes[client.stack] or {}
        for each in change.get("policies", {}).get("new", ()):
            new[each["policy"], each["name"]].append(client.stack)
        for found in change.get("findings", ()):
            what = tuple(str(found.get(key, "")) for key in ("level", "rule", "type", "path", "message", "hint"))
            alike[what].append((client.stack, str(found.get("name", ""))))
    for (policy, name), stacks in new.items():
        out.print(f"[yellow]{escape(policy)}[/] {escape(_in(stacks))}: new of {escape(name)}", soft_wrap=True)
    for (level, rule, kind, _, message, hint), places in alike.items():
        style = "bold red" if level == "error" else "yellow"
        which = f"{short_type(kind)} {places[0][1]} " if places[0][1] else ""
        said = f"{_in([stack for stack, _ in places])}: {which}{message}{f'; {hint}' if hint else ''}"
        out.print(f"[{style}]{rule}[/] {escape(said)}", soft_wrap=True)
    stopped = {stack for (level, *_), places in alike.items() for stack, _ in places if level == "error"}
    if stopped:
        out.print(f"[bold red]The wave stops at {len(stopped)} of {len(clients)} stacks.[/]")


def _in(stacks: Sequence[str]) -> str:
    """The stacks of which something is said alike: `c000`, or `c000, c001, c002 and 97 more`."""
    return some_of(list(dict.fromkeys(stacks)))


def _price(change: Mapping[str, Any]) -> str:
    """`+120`: how many dollars a month more are expected; `?` where one of both has no price."""
    price = change.get("price", {})
    before, after = price.get("before"), price.get("after")
    if before is None or after is None:
        return "?"
    return (
        "as it is"
        if round(after - before, 2) == 0
        else f"{'+' if after > before else '-'}{dollars(abs(after - before))}"
    )


def _policies(change: Mapping[str, Any]) -> str:
    """`+1 -2`: violations that are new, and that are gone."""
    if "policies" not in change:
        return "?"
    new, gone = (len(change["policies"][key]) for key in ("new", "gone"))
    return f"+{new} -{gone}" if new or gone else "as they are"


def print_shared(shared: Sequence[Shared]) -> None:
    """What two clients have in common and must not."""
    out = console()
    if not shared:
        out.print("Nothing that is one client's is another's.")
    for each in shared:
        out.print(f"[bold red]{each.rule}[/] {escape(str(each))}", soft_wrap=True)
