"""A stack judged, told in every format that is asked for, and forgotten: what is left is text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainyard import output
from trainyard.problems import in_one_line
from trainyard.review.formats import document, junit, markdown, sarif
from trainyard.review.formats.names import Format
from trainyard.review.reports import terminal
from trainyard.review.review import Outcome, Review, failed, judge
from trainyard.review.verdict import Verdict

if TYPE_CHECKING:
    from trainyard.review.change.source import Source


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be told of every stack."""

    project: Path
    formats: tuple[Format, ...]
    look: output.Look = output.PLAIN  # of the text
    alone: bool = False  # whether the text is of one stack alone, rather than of one among many
    policy_configuration: Mapping[str, Any] | None = None
    compared: bool = False  # whether there is an earlier check to compare with
    since: Source | None = None  # from what the change of every stack is judged
    stack_outputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # of other stacks, by name
    debug: bool = False  # whether a failure of Trainyard's own ends everything, with its traceback


@dataclass(frozen=True, slots=True)
class Told:
    """What is left of a stack."""

    verdict: Verdict
    warnings: tuple[str, ...] = ()  # what the program logged: keys at their old place
    parts: Mapping[Format, str] = field(default_factory=dict)


def tell(asked: Asked, stack_file: Path, earlier: Mapping[str, Any] | None = None) -> Told:
    """Judges one stack and tells it. `earlier`: what an earlier check said of it (`markdown.kept_for_comparison`)."""
    try:
        found = judge(
            asked.project,
            stack_file,
            policy_configuration=asked.policy_configuration,
            since=asked.since,
            stack_outputs=asked.stack_outputs,
        )
        return told(asked, found, earlier)
    except Exception as error:
        if asked.debug:
            raise
        return told(asked, failed(asked.project, stack_file, in_one_line(error)), earlier)


def told(asked: Asked, outcome: Outcome, earlier: Mapping[str, Any] | None = None) -> Told:
    """Tells an outcome in the formats that are asked for."""
    warnings = outcome.rehearsal.logged_warnings if isinstance(outcome, Review) else ()
    read = {Format.JSON, Format.MARKDOWN} <= set(asked.formats)
    stack = document.stack_json(outcome) if read else None  # what both are made of
    parts = {wanted: _part(wanted, asked, outcome, earlier, stack) for wanted in asked.formats}
    return Told(outcome.verdict, warnings, parts)


def _part(
    wanted: Format,
    asked: Asked,
    outcome: Outcome,
    earlier: Mapping[str, Any] | None,
    stack: dict[str, Any] | None,
) -> str:
    match wanted:
        case Format.JSON:
            return document.part(outcome, stack)
        case Format.SARIF:
            return sarif.part(outcome)
        case Format.JUNIT:
            return junit.part(outcome)
        case Format.MARKDOWN:
            return markdown.part(outcome, earlier, compared=asked.compared, stack=stack)
        case Format.TEXT:
            found = terminal.alone(outcome) if asked.alone else terminal.details(outcome)
            return "" if found is None else output.rendered(lambda console: console.print(found), asked.look)
