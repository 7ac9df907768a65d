"""Who asks AWS for something: roles, users, services, accounts and nobody in particular."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

_ARN: Final = re.compile(r"arn:[^:]+:(iam|sts)::(?P<account>[0-9]{12}):(?P<kind>[a-z-]+)(/(?P<name>.+))?")
_ACCOUNT: Final = re.compile(r"[0-9]{12}")


@dataclass(frozen=True, slots=True)
class Caller:
    """A principal of a request to AWS."""

    arn: str = ""  # of the role or user; a service's name; empty for an anonymous caller
    account: str = ""  # empty for a service and for an anonymous caller
    tags: Mapping[str, str] = field(default_factory=dict)  # of the principal and of its session
    words: str = ""

    @property
    def is_service(self) -> bool:
        """Whether a service of AWS asks on its own behalf."""
        return self.arn.endswith((".amazonaws.com", ".amazonaws.com.cn"))

    @property
    def is_anonymous(self) -> bool:
        """Whether nobody has signed the request."""
        return not self.arn

    @property
    def name(self) -> str:
        """The last part of the ARN, the name of a role or user."""
        return self.arn.rsplit("/", 1)[-1]

    def __str__(self) -> str:
        """The caller in words."""
        return self.words or self.arn or "an anonymous caller"


ANONYMOUS: Final = Caller()


def principal(arn: str, tags: Mapping[str, str] | None = None, words: str = "") -> Caller:
    """A role, a user or an account's root by its ARN. Raises ValueError for another text."""
    found = _ARN.fullmatch(arn)
    if found is None:
        raise ValueError(f"{arn!r} is no ARN of a role, a user or an account's root")
    return Caller(arn, found["account"], tags or {}, words)


def service(name: str) -> Caller:
    """A service by its principal's name: `logs.us-east-1.amazonaws.com`."""
    return Caller(name, words=f"the service {name}")


def account_of(text: str) -> str:
    """The account that an entry of `Principal` names as a whole: its number, or its root's ARN; else empty."""
    if _ACCOUNT.fullmatch(text):
        return text
    found = _ARN.fullmatch(text)
    return found["account"] if found and found["kind"] == "root" else ""
