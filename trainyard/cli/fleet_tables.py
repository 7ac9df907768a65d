"""What `trainyard fleet` prints, and what its JSON says of a stack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from trainyard.fleet.known import now
from trainyard.output import console
from trainyard.problems import count
from trainyard.review.verdict import State, Verdict, dollars

if TYPE_CHECKING:
    from trainyard.fleet.apart import Shared
    from trainyard.fleet.clients import Client
    from trainyard.fleet.drift import Drift
    from trainyard.fleet.known import Known, Smoke, Spend
    from trainyard.review.told import Told


def row(client: Client, told: Told) -> dict[str, Any]:
    """The contract of a stack in the JSON of `fleet`."""
    from trainyard.plan.people import profile_of

    settings = client.settings
    return {
        "stack": client.stack,
        "client": client.name if client.is_named else None,
        "cloud": settings.cloud if client.is_read else None,
        "region": settings.region if client.is_read else None,
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
            *(said[key] or "?" for key in ("client", "cloud", "region", "profile")),
            f"{said['wave']}{', frozen' if said['frozen'] else ''}",
            f"{said['version'] or 'never up'}{', pinned to ' + said['pin'] if said['pin'] else ''}",
            Text(verdict.state.value, style=styles[verdict.state.mood]),
            dollars(money.expected) if money else "",
            dollars(money.budget) if money and money.budget is not None else "",
        )
    out = console()
    out.print(table)
    for client in clients:
        if client.entry.frozen is not None:
            out.print(f"{client.stack} is left alone: {client.entry.frozen}", markup=False, soft_wrap=True)
    _print_wrong([told[client.stack].verdict for client in clients])
    if len(clients) > 1:
        out.print(_together([told[client.stack].verdict for client in clients]), markup=False, soft_wrap=True)


_MOST_WRONG: Final = 10
"""Stacks of which a table tells what is wrong; whoever broke more than these broke what all share."""


def _print_wrong(verdicts: Sequence[Verdict]) -> None:
    """What is to be mended of each stack that must not go up, as its own check tells it."""
    out, wrong = console(), [verdict for verdict in verdicts if not verdict.state.deployable]
    for verdict in wrong[:_MOST_WRONG]:
        out.print(f"{verdict.headline}.", markup=False, soft_wrap=True)
        for step in verdict.next_steps:
            out.print(f"  {step}", markup=False, soft_wrap=True)
        if verdict.errors + verdict.mandatory > len(verdict.next_steps):
            out.print(f"  `trainyard check {verdict.stack}` tells the rest", markup=False, soft_wrap=True)
    if len(wrong) > _MOST_WRONG:
        rest = count(len(wrong) - _MOST_WRONG, "more stack")
        out.print(f"{rest} must not go up; `trainyard check` tells why.", markup=False, soft_wrap=True)


def _together(verdicts: Sequence[Verdict]) -> str:
    """What all are together, such as `100 stacks: 98 sound, 2 over-budget; 2,783,900 USD a month expected.`"""
    states = Counter(verdict.state.value for verdict in verdicts)
    told = ", ".join(f"{many} {state}" for state, many in states.most_common())
    expected = [verdict.money.expected for verdict in verdicts if verdict.money is not None]
    without = len(verdicts) - len(expected)
    price = f"; {dollars(sum(expected))} USD a month expected" if expected else ""
    return (
        f"{count(len(verdicts), 'stack')}: {told}{price}{f', without {without} that have no price' if without else ''}."
    )


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
    out = console()
    out.print()
    out.print(table)
    if any(each.smoke is None or each.spend is None for each in known.values()):
        out.print("Unknown is what nobody asked: `trainyard fleet list --live` asks states and accounts.", markup=False)
    if None in drifts.values():
        out.print("`trainyard fleet drift` asks for drift.", markup=False)


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


def print_shared(shared: Sequence[Shared]) -> None:
    """What two clients have in common and must not."""
    out = console()
    if not shared:
        out.print("Nothing that is one client's is another's.")
    for each in shared:
        out.print(f"[bold red]{each.rule}[/] {escape(str(each))}", soft_wrap=True)
