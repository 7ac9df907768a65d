"""What a policy check has to say: plain frozen data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
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
