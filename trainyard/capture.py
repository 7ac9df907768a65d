"""How the program hands its settings and plan to a rehearsal, without knowing that there is one.

`stacks/__main__.py` calls `publish(settings, plan)` once. Under `pulumi up` nobody listens and nothing happens; a
rehearsal listens through `capturing()`. The channel is a context variable, so that rehearsals in several threads
keep apart. It lies beside the rehearsal, not inside it: the program must not import what runs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Captured:
    """What the program published: both empty until it did. Plain JSON-like values."""

    settings: dict[str, Any] = field(default_factory=dict)
    plan: dict[str, Any] = field(default_factory=dict)


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
