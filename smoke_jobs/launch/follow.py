"""Reading a worker's log: which check is done, and the result at its end. The same on every target."""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from trainyard.smoke_jobs.ddp.options import LEVELS
from trainyard.smoke_jobs.ddp.result import EXIT, LINE_PREFIX
from trainyard.smoke_jobs.launch.start import PREFIX as DOCUMENT_PREFIX

_CHECK_DONE = re.compile(
    r"smoke: \[ *(?P<number>\d+)/(?P<total>\d+)\] (?P<name>\w+) +(?P<verdict>\w+) +(?P<seconds>[\d.]+) s ?(?P<text>.*)"
)

KEEP_LINES = 200
"""How much of a log is kept to explain a job that left no result."""


@dataclass(frozen=True, slots=True)
class CheckDone:
    """The line of a job's log that says a check is done."""

    name: str
    verdict: str
    seconds: float
    text: str
    number: int = 0  # of the checks of the job, from 1
    total: int = 0


class View(Protocol):
    """Who shows the progress."""

    def status(self, text: str) -> None:
        """Shows what the job is waiting for or doing."""

    def check_done(self, done: CheckDone) -> None:
        """Shows a finished check with its verdict."""

    def still_wanted(self) -> None:
        """Raises KeyboardInterrupt where the job has been given up; asked at every look at a job on a cluster."""


@dataclass(slots=True)
class Ended:
    """How a job ended. `document` is result.json, without curves where only the short line was found, or None."""

    exit_code: int
    document: dict[str, Any] | None
    reason: str = ""  # where there is no document, or the platform has something to add
    log: list[str] = field(default_factory=list)  # its last lines


class Follower:
    """Takes a log line by line, tells the view, and keeps the result."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.log: list[str] = []
        self.document: dict[str, Any] | None = None
        self.complete = False  # the document has its curves

    def line(self, text: str) -> None:
        """Takes one line of the log."""
        text = text.rstrip()
        if text.startswith(DOCUMENT_PREFIX):
            found = _decode(text.removeprefix(DOCUMENT_PREFIX))
            if found is not None:
                self.document, self.complete = found, True
            return
        if text.startswith(LINE_PREFIX):
            if not self.complete:
                self.document = _short(text.removeprefix(LINE_PREFIX)) or self.document
            return
        self.log = [*self.log[-KEEP_LINES:], text]
        done = _CHECK_DONE.match(text)
        if done is None:
            return
        number, total = int(done["number"]), int(done["total"])
        text = done["text"].strip()
        self._view.check_done(CheckDone(done["name"], done["verdict"], float(done["seconds"]), text, number, total))
        if number < total:
            names = next((names for names in LEVELS.values() if len(names) == total), ())
            self._view.status(f"check {number + 1} of {total}" + (f": {names[number]}" if names else ""))

    def lines(self, texts: Iterable[str]) -> None:
        """Takes several lines of the log."""
        for text in texts:
            self.line(text)

    def end(self, exit_code: int | None, reason: str = "") -> Ended:
        """The end of the job, with what the log said; see `ended`."""
        return ended(self.document, exit_code, reason, self.log)


def ended(document: dict[str, Any] | None, exit_code: int | None, reason: str = "", log: Sequence[str] = ()) -> Ended:
    """The end of a job; the result's own code wins over the platform's `exit_code`, which may hide it."""
    if document is not None:
        return Ended(int(document["exit_code"]), document, reason, list(log))
    known = exit_code is not None and exit_code != EXIT["pass"] and exit_code in EXIT.values()
    code = exit_code if known and exit_code is not None else EXIT["error"]
    return Ended(code, None, reason or "the job left no result", list(log))


def _decode(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(gzip.decompress(base64.b64decode(text, validate=True)))
    except (binascii.Error, OSError, EOFError, ValueError):
        return None  # a log collector cut the line; the short one says the rest
    return found if isinstance(found, dict) else None


def _short(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    for entry in found["checks"]:
        entry.setdefault("details", {})
    return {**found, "curves": {"bandwidth": [], "scaling": []}, "figures": []}
