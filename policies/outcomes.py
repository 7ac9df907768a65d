"""What a policy says of what it looks at."""

from __future__ import annotations

from dataclasses import dataclass

from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, UnknownValueError

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
    what: tuple[str, ...]  # the steps to it

    def as_error(self) -> UnknownValueError:
        """What Pulumi's analyser takes for it."""
        return UnknownValueError(UNKNOWN_STRING_VALUE, list(self.what))

    @property
    def message(self) -> str:
        """What is not known, in the analyser's words."""
        return str(self.as_error().message)


@dataclass(frozen=True, slots=True)
class Inapplicable:
    """A policy has nothing to say, for a reason."""

    policy: str
    reason: str


@dataclass(frozen=True, slots=True)
class Excepted:
    """A violation that an exception of the stack takes away."""

    policy: str
    urn: str
    exception: PolicyException


Outcome = Violated | Undecidable | Inapplicable | Excepted
