"""Exceptions: violations that a stack file accepts for a while, as data (`policyExceptions`).

    policyExceptions:
      - policy: public-cluster-endpoint
        resource: cluster/*
        reason: the office has no VPN until March
        owner: ml-platform@acme.example
        expires: "2027-03-31"

`resource` is a glob on the URN, the logical name, or "component/name" with the component that the resource hangs under;
`*` for what concerns the stack as a whole. After its last day an exception covers nothing and is a violation itself.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from trainyard.policies.stack_settings import setting
from trainyard.recorded.model import RecordedResource

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

    def covers(self, policy: str, resource: RecordedResource | None) -> bool:
        """Whether it is about that policy and resource; None is the stack as a whole."""
        if policy != self.policy:
            return False
        if resource is None:
            return fnmatchcase("", self.resource)
        component = resource.parent.rsplit("::", 1)[-1]
        names = (resource.urn, resource.name, f"{component}/{resource.name}")
        return any(fnmatchcase(name, self.resource) for name in names)


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
        # A date without quotes reaches a program as midnight, which Go prints as 2027-03-31 00:00:00 +0000 UTC.
        day = entry["expires"].removesuffix("T00:00:00Z").removesuffix(" 00:00:00 +0000 UTC")
        expires = datetime.date.fromisoformat(day)
    except ValueError:
        raise ValueError(f"{place}.expires: got {entry['expires']!r}; must be a date like 2027-03-31") from None
    return PolicyException(entry["policy"], entry["resource"], entry["reason"], entry["owner"], expires)


def covering_exception(policy: str, resource: RecordedResource | None) -> PolicyException | None:
    """The stack's valid exception that takes this violation away; None where there is none."""
    for exception in stack_exceptions():
        if exception.covers(policy, resource) and not exception.expired(today()):
            return exception
    return None
