"""What a change consists of: a step a resource, as `pulumi preview` would print it."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trainyard.recorded.model import RecordedResource


class Operation(enum.StrEnum):
    """What becomes of one resource."""

    SAME = "same"
    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Difference:
    """One input that has another value. `UNKNOWN`: what comes out of a resource that is made anew."""

    path: str  # "scalingConfig.maxSize"
    before: Any  # None: it was not there
    after: Any
    of: str = ""  # URN of what is made anew, or of what has another version, where its value comes from there


@dataclass(frozen=True, slots=True)
class Step:
    """What becomes of one resource, and why."""

    operation: Operation
    was: RecordedResource | None  # None: it is new
    now: RecordedResource | None  # None: it goes
    differences: tuple[Difference, ...] = ()  # without what is ignored
    forced_by: tuple[str, ...] = ()  # the inputs that do not change in place; of a replacement alone
    made_with: str = ""  # URN of the provider or the dependency with which it has to go
    deleted_first: bool = False  # of a replacement: the old one goes before the new one is made
    known: bool = True  # False: nobody has said which inputs of the type replace it

    @property
    def resource(self) -> RecordedResource:
        """The resource as it will be, or was where it goes."""
        found = self.now or self.was
        if found is None:
            raise ValueError("a step without a resource")
        return found

    @property
    def urn(self) -> str:
        """The URN as it will be, or was where it goes."""
        return self.resource.urn

    @property
    def type(self) -> str:
        """The resource's type."""
        return self.resource.type

    @property
    def goes(self) -> bool:
        """Whether what stands there today is deleted, with or without something in its place."""
        return self.operation in (Operation.REPLACE, Operation.DELETE)

    def changed(self, path: str) -> Difference | None:
        """The difference at a path, or within it; None where there is none."""
        return next((found for found in self.differences if within(found.path, path)), None)


def within(path: str, outer: str) -> bool:
    """Whether a path is `outer` or lies in it; `*` in `outer` stands for every part."""
    inner, around = parts(path), parts(outer)
    return len(inner) >= len(around) and all(wanted in ("*", part) for wanted, part in zip(around, inner, strict=False))


def parts(path: str) -> list[str]:
    """A path's parts, indices among them: `taints[0].key` is taints, 0, key."""
    return [part for part in path.replace("[", ".").replace("]", "").split(".") if part]


def without_indices(path: str) -> str:
    """`ingress.protocol` for `ingress[3].protocol`."""
    return ".".join(part for part in parts(path) if not part.isdigit())


@dataclass(frozen=True, slots=True)
class Effect:
    """Somebody or something that a change interrupts."""

    what: str  # "pool train (spot)", "the tracking server"
    happens: str  # a sentence without a full stop
    seconds: float  # how long at least; 0: not known, or as long as it takes
    urn: str

    def as_json(self) -> dict[str, Any]:
        """All fields, in a fixed order."""
        return {"what": self.what, "happens": self.happens, "seconds": self.seconds, "urn": self.urn}


@dataclass(frozen=True, slots=True)
class Change:
    """From what is there to what a program makes: a step a resource, in the order in which the program makes them.

    Deletions come last, as they do in an engine.
    """

    source: str  # in words, what the stack is compared with: "main (1a2b3c4)"
    deployed: bool  # whether that is the state of an engine, rather than what a program would make
    steps: tuple[Step, ...]
    before: Mapping[str, RecordedResource]  # by URN
    after: Mapping[str, RecordedResource]
    unseen: int = 0  # inputs that could not be compared: secret, or known to an engine alone
    notes: tuple[str, ...] = field(default=())

    def of(self, *operations: Operation) -> Sequence[Step]:
        """The steps of some kinds."""
        return [step for step in self.steps if step.operation in operations]

    def of_type(self, *types: str) -> Iterator[Step]:
        """The steps that do something to resources of some types."""
        return (step for step in self.steps if step.type in types and step.operation is not Operation.SAME)

    def step_of(self, urn: str) -> Step | None:
        """The step of the resource with a URN."""
        return next((step for step in self.steps if step.urn == urn), None)
