"""What holds data, and what is protected: what an engine stops at, and what nobody stops."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard import cards
from trainyard.recorded.model import Finding
from trainyard.rehearsal.change.model import Change, Operation, Step
from trainyard.rehearsal.change.words import verb

PROTECTED = "change-protected"
LOSES_DATA = "change-loses-data"
LEFT_BEHIND = "change-left-behind"
UNPROTECTED = "change-unprotects"


def check(change: Change) -> Iterator[Finding]:
    """What goes and is protected, what goes with what it holds, and what is protected no longer."""
    for step in change.of(Operation.SAME, Operation.UPDATE):
        if step.was is not None and step.now is not None and step.was.protect and not step.now.protect:
            yield Finding.of(
                step.now,
                UNPROTECTED,
                "is protected, and would be no longer: the next change may delete or replace it",
                hint="keep it protected, unless it is to go",
                level="warning",
            )
    for step in change.of(Operation.REPLACE, Operation.DELETE):
        if step.was is None:
            continue
        holds = cards.of(step.was.type).stateful
        if step.was.protect:
            yield _protected(step, holds=holds)
        elif holds and step.was.retain_on_delete:
            yield _left_behind(step)
        elif holds:
            yield _lost(step)


def _protected(step: Step, *, holds: bool) -> Finding:
    copy = "copy what it holds, then " if holds else ""
    return Finding.of(
        step.resource,
        PROTECTED,
        f"is protected and would be {verb(step)}: the engine refuses, and an `up` that got so far stops halfway",
        path=_path(step),
        hint=f"take the change back; if it is meant, {copy}lift the protection by `pulumi state unprotect` first",
    )


def _lost(step: Step) -> Finding:
    new = "; the new one is empty" if step.operation is Operation.REPLACE else ""
    return Finding.of(
        step.resource,
        LOSES_DATA,
        f"holds data and would be {verb(step)}: what it holds is lost{new}, and nothing protects it",
        path=_path(step),
        hint="take the change back, or make the new one beside it and copy first",
    )


def _left_behind(step: Step) -> Finding:
    new = ", and the stack goes on with a new, empty one" if step.operation is Operation.REPLACE else ""
    return Finding.of(
        step.resource,
        LEFT_BEHIND,
        f"would be {verb(step)}: it is retained, so that it stays in the account, managed by nobody{new}",
        path=_path(step),
        hint="`pulumi import` brings it back under a stack",
        level="warning",
    )


def _path(step: Step) -> str:
    return step.forced_by[0] if step.forced_by else ""
