"""Exceptions: violations that a stack file accepts for a while, as data (`policyExceptions`).

    policyExceptions:
      - policy: public-cluster-endpoint
        resource: cluster/*
        reason: the office has no VPN until March
        owner: ml-platform@acme.example
        expires: 2027-03-31

`resource` is a glob on the URN, the logical name, or "component/name" with the component that the resource hangs under;
`*` for what concerns the stack as a whole. After its last day an exception covers nothing and is a violation itself.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from trainyard.policies.stack_settings import setting

KEYS = ("policy", "resource", "reason", "owner", "expires")


@dataclass(frozen=True, slots=True)
class PolicyException:
    """One accepted violation; `expires` is its last day (UTC)."""

    policy: str
    resource: str
    reason: str
    owner: str
    expires: datetime.date

    def expired(self, today: datetime.date) -> bool:
        """Whether its last day is over."""
        return today > self.expires

    def covers(self, policy: str, urn: str, name: str, parent: str | None) -> bool:
        """Whether it is about that policy and resource; an empty URN is the stack as a whole."""
        if policy != self.policy:
            return False
        component = parent.rsplit("::", 1)[-1] if parent else ""
        candidates = (urn, name, f"{component}/{name}") if urn else ("",)
        return any(fnmatchcase(candidate, self.resource) for candidate in candidates)


@dataclass(frozen=True, slots=True)
class Covered:
    """A violation that an exception took away."""

    policy: str
    urn: str
    exception: PolicyException


heard: ContextVar[list[Covered] | None] = ContextVar("policy_exceptions_heard", default=None)
"""Where a caller that set a list hears of what exceptions took away."""


def today() -> datetime.date:
    """The day that decides on expiry and on end of support: today in UTC."""
    return datetime.datetime.now(tz=datetime.UTC).date()


def stack_exceptions() -> tuple[PolicyException, ...]:
    """The exceptions of the stack that is being judged."""
    return parse(setting("policyExceptions"))


@lru_cache(maxsize=16)
def parse(text: str) -> tuple[PolicyException, ...]:
    """Exceptions from their JSON text. Raises `ValueError` for a malformed one, naming its place."""
    entries: Any = json.loads(text) if text.strip() else []
    if not isinstance(entries, list):
        raise ValueError("policyExceptions: must be a list")
    return tuple(_one(f"policyExceptions[{index}]", entry) for index, entry in enumerate(entries))


def _one(place: str, entry: Any) -> PolicyException:
    if not isinstance(entry, Mapping) or set(entry) != set(KEYS):
        raise ValueError(f"{place}: must have exactly the keys {', '.join(KEYS)}")
    for key in KEYS:
        if not isinstance(entry[key], str) or not entry[key].strip():
            raise ValueError(f"{place}.{key}: must be a text")
    try:
        # A date without quotes reaches a program as midnight where the engine has read it as a timestamp.
        expires = datetime.date.fromisoformat(entry["expires"].removesuffix("T00:00:00Z"))
    except ValueError:
        raise ValueError(f"{place}.expires: got {entry['expires']!r}; must be a date like 2027-03-31") from None
    return PolicyException(entry["policy"], entry["resource"], entry["reason"], entry["owner"], expires)


def covered(policy: str, urn: str, name: str, parent: str | None) -> bool:
    """Whether a valid exception of the stack takes this violation away; tells whoever listens through `heard`."""
    for exception in stack_exceptions():
        if exception.covers(policy, urn, name, parent) and not exception.expired(today()):
            listener = heard.get()
            if listener is not None:
                listener.append(Covered(policy, urn, exception))
            return True
    return False
