"""What the engine tells while it works: the event stream that Pulumi writes to a file, one JSON object a line.

The objects are `EngineEvent` of Pulumi's Automation API (`sdk/go/common/apitype/events.go`). A stream may end anywhere:
who wrote it may have been killed, in the middle of a line too.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trainyard.advice.units import minutes

ENVIRONMENT = {"PULUMI_DEBUG_COMMANDS": "true"}
"""Without it the command does not know `--event-log`; the Automation API sets it as well."""

_COLOUR = re.compile(r"<\{%.*?%\}>")
"""How the engine marks colours in a message, for whoever shows it (`sdk/go/common/diag/colors`)."""

_WORDS = (
    ("create", "made"),
    ("update", "changed"),
    ("replace", "replaced"),
    ("delete", "deleted"),
    ("same", "as they were"),
)
"""The operations of a summary that are told, in order; those of the halves of a replacement are in `replace`."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A resource at which the engine failed."""

    type: str
    name: str
    reason: str  # the first line of the error; empty where the engine gave none

    def __str__(self) -> str:
        """One line."""
        return f"{self.type} {self.name}: {self.reason or 'no reason was given'}"


@dataclass(slots=True)
class Stream:
    """What a stream told."""

    changes: Counter[str] = field(default_factory=Counter)  # resources by operation, of the summary
    seconds: int | None = None  # None: it was ended before its summary
    failures: list[Failure] = field(default_factory=list)

    @property
    def words(self) -> str:
        """What was done, in words; that nobody knows where the stream ended early."""
        if self.seconds is None:
            return "how far it came is not told: the engine was ended before its summary"
        counted = [f"{self.changes[operation]:,} {word}" for operation, word in _WORDS if self.changes[operation]]
        return f"{', '.join(counted) or 'nothing to do'}, in {minutes(self.seconds / 60)}"

    @property
    def ended_badly(self) -> str:
        """Where the engine failed, a line each; that it was ended before it could tell."""
        told = [str(failure) for failure in self.failures]
        return "\n".join(told if self.seconds is not None or self.failures else [self.words])


def read(path: Path) -> Stream:
    """What the stream of a file told; an empty one where there is no file, as of a Pulumi that never began."""
    found, reasons, failed = Stream(), dict[str, str](), dict[str, str]()
    for event in _events(path):
        match event:
            case {"diagnosticEvent": {"severity": "error", "urn": str(urn), "message": str(message)}}:
                reasons.setdefault(urn, _first_line(message))
            case {"resOpFailedEvent": {"metadata": {"urn": str(urn), "type": str(kind)}}}:
                failed[urn] = kind
            case {"summaryEvent": {"durationSeconds": int(seconds), "resourceChanges": dict(changes)}}:
                found.seconds = seconds
                found.changes.update({name: many for name, many in changes.items() if isinstance(many, int)})
    found.failures = [Failure(kind, urn.rsplit("::", 1)[-1], reasons.get(urn, "")) for urn, kind in failed.items()]
    return found


def _events(path: Path) -> Iterator[Any]:
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):  # cut where its writer was killed, or nothing of the engine's
                continue


def _first_line(message: str) -> str:
    plain = _COLOUR.sub("", message)
    return next((line.strip() for line in plain.splitlines() if line.strip()), "")
