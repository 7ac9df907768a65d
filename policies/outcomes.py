"""What policies say while they run, for whoever listens: Pulumi's analyser itself tells an outcome only as text."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

from trainyard.policies.exceptions import PolicyException


@dataclass(frozen=True, slots=True)
class Violated:
    """A policy is violated, and no exception covers it. No URN: by the stack as a whole."""

    policy: str
    urn: str
    message: str


@dataclass(frozen=True, slots=True)
class Undecidable:
    """A policy met a value that a preview does not know."""

    policy: str
    message: str


@dataclass(frozen=True, slots=True)
class Excepted:
    """A violation that an exception of the stack takes away."""

    policy: str
    urn: str
    exception: PolicyException


Outcome = Violated | Undecidable | Excepted

listener: ContextVar[list[Outcome] | None] = ContextVar("policy_outcomes", default=None)
"""The list that outcomes are added to, in the order in which they come about; None: nobody listens."""


def tell(outcome: Outcome) -> None:
    """Adds an outcome to the listener's list, if there is one."""
    heard = listener.get()
    if heard is not None:
        heard.append(outcome)
