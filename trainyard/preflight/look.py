"""A whole look ahead at a stack: the caller's own machine first, then the account that its ground is in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from trainyard.account.aws import Account
from trainyard.preflight import tools
from trainyard.preflight.aws import checks as aws
from trainyard.preflight.gcp import checks as gcp
from trainyard.preflight.model import Line, Preflight, Subject

GROUNDS: Final[Mapping[str, Callable[[Subject[Any], Account | None], tuple[list[Line], bool]]]] = {
    "aws": aws.look,
    "gcp": gcp.look,
}
"""Who asks about each ground: the lines, and whether there were credentials to ask with."""


def look_ahead(subject: Subject, account: Account | None = None) -> Preflight:
    """Everything that can be found out without creating anything.

    `account` stands in for the one that the plan's ground names.
    """
    lines = list(tools.check(subject))
    found, has_credentials = GROUNDS[subject.plan.ground.kind](subject, account)
    return Preflight(subject.stack, (*lines, *found), has_credentials)
