"""A judged change in the terminal: what is wrong with it, whom it interrupts, then what is done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from trainyard.problems import count
from trainyard.recorded.model import Finding
from trainyard.rehearsal.change.words import minutes

if TYPE_CHECKING:
    from trainyard.review.change.review import ChangeReview

MOST_LINES: Final = 40
"""Lines of what is done; the JSON has all of them."""

_STYLES: Final = {"replaced": "bold red", "deleted": "bold red", "made": "green", "changed": "yellow"}


def parts(change: ChangeReview) -> Iterator[RenderableType]:
    """The change, under a heading of its own."""
    title = Text("Change", style="bold")
    title.append(f"  from {change.source}", style="dim")
    title.append(f": {change.summary}" if change.change is not None else ": not compared", style="dim")
    yield title
    yield from (Padding(_finding(finding), (0, 0, 0, 2)) for finding in change.findings)
    for what, happens, seconds in change.interrupted:
        text = Text("interrupts ", style="yellow")
        text.append(what, style="bold")
        text.append(f": {happens}")
        if seconds:
            text.append(f" ({minutes(seconds)} at least)", style="dim")
        yield Padding(text, (0, 0, 0, 2))
    lines = list(change.lines())
    for done, type_, names, reason in lines[:MOST_LINES]:
        text = Text(f"{done} ", style=_STYLES[done])
        text.append(f"{type_} ", style="dim")
        text.append(names)
        if reason:
            text.append(f": {reason}", style="dim")
        yield Padding(text, (0, 0, 0, 2))
    if len(lines) > MOST_LINES:
        yield Padding(
            Text(f"… and {count(len(lines) - MOST_LINES, 'line')} more, in --json", style="dim"), (0, 0, 0, 2)
        )
    if change.change is not None:
        notes = list(change.change.notes)
        if change.change.unseen:
            notes.append(f"{change.change.unseen} inputs could not be compared: secret, or known to an engine alone")
        yield from (Padding(Text(note, style="dim"), (0, 0, 0, 2)) for note in notes)


def _finding(finding: Finding) -> Text:
    text = Text(f"{finding.level} ", style="red" if finding.level == "error" else "yellow")
    text.append(f"{finding.rule}", style="dim")
    if finding.name:
        text.append(f"\n{finding.component} {finding.name}".rstrip(), style="bold")
    text.append(f"\n{finding.message}")
    if finding.hint:
        text.append(f"\n{finding.hint}", style="cyan")
    return text
