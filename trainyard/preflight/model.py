"""What a look ahead finds: one line a thing that was looked at, each fine, failing, or not to be known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic

from trainyard.plan.parts import OnGround, Plan
from trainyard.recorded.resources import Resources


class Answer(Enum):
    """What becomes of a thing at the first `pulumi up`."""

    FINE = "fine"
    FAILS = "will fail"
    UNKNOWN = "cannot know"


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that was looked at."""

    check: str  # "quotas"
    what: str  # "Running On-Demand P instances"
    answer: Answer
    told: str  # a sentence with the figures
    remedy: str = ""
    command: str = ""  # that does it, ready to be run

    def as_json(self) -> dict[str, str]:
        """All fields, in a fixed order."""
        return {
            "check": self.check,
            "what": self.what,
            "answer": self.answer.value,
            "told": self.told,
            "remedy": self.remedy,
            "command": self.command,
        }


@dataclass(frozen=True, slots=True)
class Subject(Generic[OnGround]):
    """The stack that is looked at: what is decided, and what its program makes."""

    stack: str
    plan: Plan[OnGround]
    resources: Resources


@dataclass(frozen=True, slots=True)
class Preflight:
    """All that was found."""

    stack: str
    lines: tuple[Line, ...]
    has_credentials: bool

    def of(self, answer: Answer) -> list[Line]:
        """The lines of one answer."""
        return [line for line in self.lines if line.answer is answer]

    def as_json(self) -> dict[str, Any]:
        """The contract of `trainyard preflight --json`."""
        return {
            "stack": self.stack,
            "credentials": self.has_credentials,
            **{answer.name.lower(): len(self.of(answer)) for answer in Answer},
            "lines": [line.as_json() for line in self.lines],
        }


def lines_of(check: str) -> Callable[..., Line]:
    """Makes the lines of one check."""

    def line(what: str, answer: Answer, told: str, remedy: str = "", command: str = "") -> Line:
        return Line(check, what, answer, told, remedy, command)

    return line


Lines = Iterator[Line]


def worst(answers: Sequence[Answer]) -> Answer:
    """Failing before not to be known before fine."""
    return next((each for each in (Answer.FAILS, Answer.UNKNOWN) if each in answers), Answer.FINE)
