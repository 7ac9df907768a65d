"""A judged change as Markdown: a pull request's comment leads with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from trainyard.problems import count
from trainyard.rehearsal.change.words import minutes
from trainyard.review.formats.markdown_text import code, literal

if TYPE_CHECKING:
    from trainyard.review.change.review import ChangeReview

MOST_LINES: Final = 30


def lines(change: ChangeReview) -> Iterator[str]:
    """The section: what the way from what is there does."""
    if change.change is None:
        yield f"**Change** not judged: {literal(change.findings[0].message)}."
        yield ""
        return
    yield f"**Change** from {code(change.source)}: {literal(change.summary)}."
    yield ""
    told = [_finding(finding.as_json()) for finding in change.findings]
    yield from [*told, ""] if told else []
    if change.effects:
        yield "| interrupted | how | at least |"
        yield "| --- | --- | --- |"
        for what, happens, seconds in change.interrupted:
            took = minutes(seconds) if seconds else "–"
            yield f"| {literal(what)} | {literal(happens)} | {took} |"
        yield ""
    yield from _done(list(change.lines()))
    yield from (f"- {literal(note)}" for note in change.change.notes)
    if change.change.notes:
        yield ""


def _finding(item: Mapping[str, Any]) -> str:
    hint = f" ({literal(item['hint'])})" if item["hint"] else ""
    return f"- {item['level']} {code(item['rule'])} {code(item['name'])}: {literal(item['message'])}{hint}"


def _done(told: Sequence[tuple[str, str, str, str]]) -> Iterator[str]:
    if not told:
        return
    yield "| | resource | why |"
    yield "| --- | --- | --- |"
    for done, type_, names, reason in told[:MOST_LINES]:
        yield f"| {done} | {literal(type_)} {literal(names)} | {literal(reason)} |"
    yield ""
    if len(told) > MOST_LINES:
        yield f"… and {count(len(told) - MOST_LINES, 'line')} more."
        yield ""
