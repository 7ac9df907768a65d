"""What `trainyard fleet diff` tells of a release: a line for stacks in which it changes the same, and once what speaks
against it, in a terminal and as Markdown. With a hundred clients that is a screen, and not a hundred lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from rich.markup import escape
from rich.table import Table

from trainyard.output import console
from trainyard.problems import count, some_of
from trainyard.review.formats.markdown_text import code, literal
from trainyard.review.verdict import dollars

if TYPE_CHECKING:
    from trainyard.fleet.clients import Client
    from trainyard.review.told import Told

_CHANGED: Final = ("made", "changed", "replaced", "deleted")
_COLUMNS: Final = ("wave", *_CHANGED, "USD a month", "policies", "verdict")

FEW: Final = 20
"""Up to so many stacks have a line each; of more, those to which the same happens share one."""

_NAMES: Final = 3
"""So many of the stacks of a line are named."""

Changes = Mapping[str, dict[str, Any] | None]
"""The change of every stack, as `fleet diff --json` has it; None where it could not be judged."""


@dataclass(slots=True)
class Said:
    """What is said alike of some stacks."""

    level: str  # "error" stops the wave
    rule: str  # or the policy that is newly violated
    subject: (
        str  # "rds.Instance acme-mlflow", of a policy the name alone: of the first of them; empty: the stack itself
    )
    text: str
    stacks: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)  # of the resources that it is said of

    @property
    def of_what(self) -> str:
        """What it is said of, such as `rds.Instance acme-mlflow and 99 like it`."""
        return f"{self.subject} and {len(self.names) - 1} like it" if len(self.names) > 1 else self.subject

    @property
    def kind(self) -> str:
        """`rds.Instance`; empty for the stack itself, and where a policy says the name alone."""
        return self.subject.rpartition(" ")[0]


@dataclass(frozen=True, slots=True)
class FleetChange:
    """A release, compared with what each of some stacks runs."""

    lines: Sequence[tuple[Sequence[str], tuple[str, ...]]]  # stacks, and the columns of what happens to them
    said: Sequence[Said]
    stacks: int

    @property
    def stops(self) -> str:
        """Why the wave stops, by cause; empty where it does not."""
        causes: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for each in self.said:
            if each.level == "error":
                causes[each.rule, each.kind] |= set(each.stacks)
        if not causes:
            return ""
        stopped = set().union(*causes.values())
        most_first = sorted(causes.items(), key=lambda cause: -len(cause[1]))
        told = (f"{rule}{f' of {kind}' if kind else ''} in {len(stacks)}" for (rule, kind), stacks in most_first)
        return f"The wave stops at {len(stopped)} of {self.stacks} stacks: {', '.join(told)}."


def compared(clients: Sequence[Client], told: Mapping[str, Told], changes: Changes) -> FleetChange:
    """Puts together what is alike."""
    lines: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for client in clients:
        change = changes[client.stack] or {}
        columns = (
            client.entry.wave,
            *(str(change.get("counts", {}).get(name, "?")) for name in _CHANGED),
            _price(change),
            _policies(change),
            told[client.stack].verdict.state.value,
        )
        lines[columns if len(clients) > FEW else (*columns, client.stack)].append(client.stack)
    width = len(_COLUMNS)
    return FleetChange(
        [(stacks, columns[:width]) for columns, stacks in lines.items()], list(_said(clients, changes)), len(clients)
    )


def _said(clients: Sequence[Client], changes: Changes) -> Iterator[Said]:
    from trainyard.review.reports.rehearsal import short_type

    alike: dict[tuple[str, ...], Said] = {}
    for client in clients:
        change = changes[client.stack] or {}
        own = f"{client.name}-{client.settings.environment or client.stack}"
        for each in change.get("policies", {}).get("new", ()):
            policy, name = str(each["policy"]), str(each["name"])
            alike_of = ("new", policy, name.replace(own, "…"))
            said = alike.setdefault(alike_of, Said("new", policy, name, "did not violate it before"))
            said.stacks.append(client.stack)
            said.names.add(name)
        for found in change.get("findings", ()):
            key = tuple(str(found.get(name, "")) for name in ("level", "rule", "type", "path", "message", "hint"))
            level, rule, kind, _, message, hint = key
            name = str(found.get("name", ""))
            subject = f"{short_type(kind)} {name}" if name else ""
            # What is called after its client is another's in every stack, and the same all the same.
            same = tuple(part.replace(own, "…") for part in key)
            said = alike.setdefault(same, Said(level, rule, subject, f"{message}{f'; {hint}' if hint else ''}"))
            said.stacks.append(client.stack)
            said.names |= {name} if name else set()
    order = ("new", "error")
    yield from sorted(alike.values(), key=lambda each: order.index(each.level) if each.level in order else len(order))


def print_changes(found: FleetChange) -> None:
    """What a release changes in each stack, and what speaks against it, once for all of whom it is said."""
    out = console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("stack", no_wrap=True)
    for name in _COLUMNS:
        figure = name in (*_CHANGED, "USD a month", "policies")
        table.add_column(name, justify="right" if figure else "left", no_wrap=name != "verdict", overflow="fold")
    for stacks, columns in found.lines:
        table.add_row(_line_of(stacks), *columns)
    out.print(table)
    for each in found.said:
        style = "bold red" if each.level == "error" else "yellow"
        what = f"{each.of_what} {each.text}" if each.subject else each.text
        out.print(f"[{style}]{escape(each.rule)}[/] {escape(_in(each.stacks, found))}: {escape(what)}", soft_wrap=True)
    if found.stops:
        out.print(f"[bold red]{escape(found.stops)}[/]", soft_wrap=True)


def as_markdown(found: FleetChange) -> str:
    """The same for a pull request: what stops the wave, what is said, and the table."""
    title = found.stops or f"What the release changes in {count(found.stacks, 'stack')}"
    lines = [f"## {literal(title)}", ""]
    for each in found.said:
        what = f"{code(each.of_what)} {literal(each.text)}" if each.subject else literal(each.text)
        lines.append(f"- **{literal(each.rule)}** {literal(_in(each.stacks, found))}: {what}")
    lines += [""] if found.said else []
    lines += [f"| stack | {' | '.join(_COLUMNS)} |", f"| --- | --- |{' ---: |' * (len(_COLUMNS) - 2)} --- |"]
    lines += [
        f"| {literal(_line_of(stacks))} | {' | '.join(map(literal, columns))} |" for stacks, columns in found.lines
    ]
    return "\n".join([*lines, ""])


def _line_of(stacks: Sequence[str]) -> str:
    """The stacks of a line: `c000, c001, c002 and 97 more`."""
    return some_of(stacks, _NAMES)


def _in(stacks: Sequence[str], found: FleetChange) -> str:
    """The stacks of which something is said alike: `all 100 stacks`, or their names."""
    different = list(dict.fromkeys(stacks))
    return f"all {len(different)} stacks" if len(different) == found.stacks > FEW else some_of(different)


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
