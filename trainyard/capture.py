"""How the program hands its settings and plan to a rehearsal, and what it made of names by a digest, without knowing
that there is one.

`stacks/__main__.py` calls `publish(settings, plan)` once. Under `pulumi up` nobody listens and nothing happens; a
rehearsal listens through `capturing()`. The channel is a context variable, so that rehearsals in several threads
keep apart. It lies beside the rehearsal, not inside it: the program must not import what runs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(slots=True)
class Captured:
    """What the program published: both empty until it did. Plain JSON-like values."""

    settings: dict[str, Any] = field(default_factory=dict)
    plan: dict[str, Any] = field(default_factory=dict)


_stack_file: ContextVar[Path | None] = ContextVar("trainyard_stack_file", default=None)


def rehearsed_file() -> Path | None:
    """The stack's file, where a rehearsal runs this program: it may lie anywhere. None under an engine."""
    return _stack_file.get()


@contextmanager
def rehearsing(stack_file: Path) -> Iterator[None]:
    """Tells the program that runs within the block where its stack's file lies."""
    token = _stack_file.set(stack_file)
    try:
        yield
    finally:
        _stack_file.reset(token)


_listener: ContextVar[Captured | None] = ContextVar("trainyard_capture", default=None)


def publish(settings: Mapping[str, Any], plan: Mapping[str, Any]) -> None:
    """Shows the settings and the plan to the rehearsal that runs this program, if one does."""
    captured = _listener.get()
    if captured is not None:
        captured.settings = dict(settings)
        captured.plan = dict(plan)


@contextmanager
def capturing() -> Iterator[Captured]:
    """Listens for `publish` within the block."""
    captured = Captured()
    token = _listener.set(captured)
    try:
        yield captured
    finally:
        _listener.reset(token)


_noted: ContextVar[dict[str, Sequence[str]] | None] = ContextVar("trainyard_derived", default=None)


def derived(made: str, *of: str) -> str:
    """Tells a rehearsal that `made` is a digest, or a number by a digest, of other texts, and hands it on.

    Two clients that are alike differ in such texts too, and nobody can see from the text itself of what it was made.
    """
    noted = _noted.get()
    if noted is not None:
        noted[made] = of
    return made


@contextmanager
def noting_derived() -> Iterator[Mapping[str, Sequence[str]]]:
    """What is made of other texts by a digest within the block, in its order: what was made, and of what."""
    noted: dict[str, Sequence[str]] = {}
    token = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(token)
