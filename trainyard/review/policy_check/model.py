"""What a policy check has to say: plain frozen data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

Level = Literal["mandatory", "advisory"]

SEVERITIES = ("critical", "high", "medium", "low", "unspecified")
"""Severities in order of weight, the heaviest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A policy that a stack breaks, with the resource that breaks it; no URN: the stack as a whole."""

    policy: str
    level: Level
    severity: str
    component: str = ""  # "environment/storage"
    type: str = ""
    name: str = ""
    message: str  # what is wrong, here
    description: str  # what the policy asks for
    remediation: str  # the setting to change
    controls: tuple[str, ...]  # "NIST 800-53r5 SC-28"
    urn: str = ""

    def as_json(self) -> dict[str, Any]:
        """All fields by name, in their order, as JSON has them."""
        return {**asdict(self), "controls": list(self.controls)}

    def __str__(self) -> str:
        """Policy, place and what is wrong, on one line."""
        where = " ".join(part for part in (self.component and f"{self.component}:", self.type, self.name) if part)
        return f"{self.policy}: {where}: {self.message}" if where else f"{self.policy}: {self.message}"


@dataclass(frozen=True, slots=True)
class Undecided:
    """A policy that a first preview cannot decide for a resource, because it does not know a value."""

    policy: str
    urn: str
    message: str


@dataclass(frozen=True, slots=True)
class Accepted:
    """A violation that an exception of the stack covers."""

    policy: str
    urn: str
    resource: str  # the exception's pattern
    reason: str
    owner: str
    expires: str  # ISO date


@dataclass(frozen=True, slots=True)
class PolicyReport:
    """The outcome for one stack: violations with the weightiest first, then by place."""

    stack: str
    policies: int  # that were evaluated
    violations: tuple[Violation, ...]
    undecided: tuple[Undecided, ...]  # by a first preview; the known run has decided them
    accepted: tuple[Accepted, ...]
    not_applicable: tuple[tuple[str, str], ...]  # (policy, reason): it had nothing to say about this stack
    seconds: float

    @property
    def mandatory(self) -> tuple[Violation, ...]:
        """The violations that stop a deployment."""
        return tuple(violation for violation in self.violations if violation.level == "mandatory")

    def for_the_next(self, template: Callable[[str], str | None]) -> PolicyReport | None:
        """The report with `template` of each text that may name a client; None where something was found, be it
        accepted, or a text cannot be said of another client."""
        texts = [
            [template(text) for text in texts]
            for texts in (
                *((item.policy, item.urn, item.message) for item in self.undecided),
                *self.not_applicable,
            )
        ]
        if self.violations or self.accepted or any(None in each for each in texts):
            return None
        plain = [tuple(map(str, each)) for each in texts]
        undecided = tuple(Undecided(*each) for each in plain[: len(self.undecided)])
        silent = tuple((policy, reason) for policy, reason in plain[len(self.undecided) :])
        return replace(self, stack="", undecided=undecided, not_applicable=silent)

    def of_the_next(self, stack: str, filled: Callable[[str], str], seconds: float) -> PolicyReport:
        """What `for_the_next` made, of another client's stack."""
        undecided = [Undecided(item.policy, filled(item.urn), filled(item.message)) for item in self.undecided]
        return replace(
            self,
            stack=stack,
            undecided=in_order(undecided),
            not_applicable=tuple(sorted((policy, filled(reason)) for policy, reason in self.not_applicable)),
            seconds=seconds,
        )

    def as_json(self) -> dict[str, Any]:
        """Plain values in a stable order; equal between runs except for `seconds`."""
        return {
            "stack": self.stack,
            "policies": self.policies,
            "violations": [violation.as_json() for violation in self.violations],
            "accepted": [asdict(accepted) for accepted in self.accepted],
            "undecided": [asdict(undecided) for undecided in self.undecided],
            "not_applicable": [{"policy": policy, "reason": reason} for policy, reason in self.not_applicable],
            "seconds": round(self.seconds, 3),
        }


def in_order(undecided: Iterable[Undecided]) -> tuple[Undecided, ...]:
    """Each once, by policy and resource."""
    return tuple(sorted(dict.fromkeys(undecided), key=lambda item: (item.policy, item.urn)))
