"""A change that was judged: its steps, what is wrong with it, whom it interrupts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from trainyard.recorded.model import UNKNOWN, Finding, masked
from trainyard.rehearsal.change.compare import compare
from trainyard.rehearsal.change.earlier import Earlier, Said
from trainyard.rehearsal.change.judge import effects, judged
from trainyard.rehearsal.change.model import Change, Effect, Operation, Step
from trainyard.rehearsal.change.words import where, why
from trainyard.rehearsal.rehearse import Rehearsal

_TOLD: Final = (Operation.REPLACE, Operation.DELETE, Operation.CREATE, Operation.UPDATE)
_DONE: Final = {
    Operation.CREATE: "made",
    Operation.UPDATE: "changed",
    Operation.REPLACE: "replaced",
    Operation.DELETE: "deleted",
    Operation.SAME: "as they are",
}


@dataclass(frozen=True, slots=True)
class ChangeReview:
    """From what is there to what a program makes, judged. Every report and format is made of this."""

    source: str  # in words, what the stack is compared with
    change: Change | None  # None: what is there could not be read; `findings` say why
    findings: tuple[Finding, ...]
    effects: tuple[Effect, ...] = ()
    said: Said | None = None  # of what is there, by its own release

    @property
    def steps(self) -> Sequence[Step]:
        """What is done to resources that a cloud or a cluster has, the weightiest first; none that stays."""
        if self.change is None:
            return ()
        return [
            step for operation in _TOLD for step in self.change.of(operation) if not step.type.startswith("pulumi:")
        ]

    @property
    def counts(self) -> dict[str, int]:
        """How many resources are made, changed, replaced, deleted, and as they are."""
        found = dict.fromkeys(_DONE.values(), 0)
        for step in self.change.steps if self.change is not None else ():
            if not step.type.startswith("pulumi:"):
                found[_DONE[step.operation]] += 1
        return found

    @property
    def summary(self) -> str:
        """`3 made, 11 changed, 2 replaced, 1 deleted, 490 as they are`; what is none is left out."""
        told = ", ".join(f"{number} {done}" for done, number in self.counts.items() if number)
        return told or "nothing is there, and nothing is made"

    @property
    def nothing(self) -> bool:
        """Whether nothing changes at all."""
        return self.change is not None and not self.steps

    @property
    def interrupted(self) -> Sequence[tuple[str, str, float]]:
        """Who is interrupted, how, and for how many seconds at least: once for all to whom the same happens."""
        return [(_names(names), happens, seconds) for names, happens, seconds in self.all_interrupted]

    @property
    def all_interrupted(self) -> Sequence[tuple[Sequence[str], str, float]]:
        """The same with everybody's name. In an order of its own: that of resources is another in each run."""
        together: dict[str, list[Effect]] = {}
        for effect in self.effects:
            together.setdefault(effect.happens, []).append(effect)
        return [
            (sorted({each.what for each in same}), happens, max(each.seconds for each in same))
            for happens, same in sorted(together.items())
        ]

    def lines(self) -> Iterator[tuple[str, str, str, str]]:
        """What is done, type, resources and why: one line for resources of a type to which the same is done."""
        together: dict[tuple[str, str, str], list[str]] = {}
        for step in self.steps:
            reason = why(step) if step.operation in (Operation.REPLACE, Operation.UPDATE) else ""
            key = (_DONE[step.operation], step.type.rsplit(":", 1)[1], reason)
            together.setdefault(key, []).append(where(step.resource))
        for (done, type_, reason), names in together.items():
            yield done, type_, _names(names), reason

    def as_json(self) -> dict[str, Any]:
        """The contract of `change` in JSON documents: secrets masked, in a stable order."""
        return {
            "from": self.source,
            "compared": self.change is not None,
            "counts": self.counts,
            "findings": [finding.as_json() for finding in self.findings],
            "effects": [effect.as_json() for effect in self.effects],
            "steps": [_step_json(step) for step in self.steps],
            "not_comparable": self.change.unseen if self.change is not None else 0,
            "notes": list(self.change.notes) if self.change is not None else [],
            **({"before": self.said.as_json()} if self.said is not None else {}),
        }


_MOST_NAMES: Final = 3


def _names(names: Sequence[str]) -> str:
    if len(names) <= _MOST_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[: _MOST_NAMES - 1])} and {len(names) - _MOST_NAMES + 1} more"


def _step_json(step: Step) -> dict[str, Any]:
    return {
        "operation": step.operation.value,
        "urn": step.urn,
        "was": step.was.urn if step.was is not None and step.was.urn != step.urn else "",
        "type": step.type,
        "name": step.resource.name,
        "differences": [
            _difference_json(found.path, found.before, found.after, found.of) for found in step.differences
        ],
        "forcedBy": list(step.forced_by),
        "madeWith": step.made_with,
        "deletedFirst": step.deleted_first,
    }


def _difference_json(path: str, before: Any, after: Any, of: str) -> Mapping[str, Any]:
    found: dict[str, Any] = {"path": path, "before": masked(before), "after": masked(after)}
    return {**found, "of": of} if after is UNKNOWN and of else found


def review_change(earlier: Earlier, rehearsal: Rehearsal) -> ChangeReview:
    """From what is there to what a rehearsed program makes. The program must be sound."""
    known, preview = rehearsal.known.resources, rehearsal.preview.resources
    change = compare(earlier, known, preview)
    return ChangeReview(earlier.source, change, judged(change), effects(change), earlier.said)


def not_compared(source: str, reason: str) -> ChangeReview:
    """Where what is there cannot be read: that is no mistake of the stack, and must be seen."""
    finding = Finding(
        "warning",
        "change-not-compared",
        f"what is there could not be read from {source}, and no change was judged: {reason}",
    )
    return ChangeReview(source, None, (finding,))
