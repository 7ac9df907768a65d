"""What the stack file says, for policies that depend on it: profile, residency, exceptions.

The engine starts a policy pack with the stack's configuration in its environment, and `pulumi.Config` reads it there.
The offline check sets the same keys. Without any (a bare analyser) every setting is empty.
"""

from __future__ import annotations

import json
from contextlib import suppress

import pulumi

from trainyard.plan.profiles import PROFILE_NAMES, Profile, profile

NAMESPACE = "trainyard"


def setting(key: str) -> str:
    """The text of a key of the stack file; empty where it is not set."""
    return pulumi.Config(NAMESPACE).get(key) or ""


def team_size() -> int:
    """How many people the stack is for: `teamSize`, else the members of its teams; 0 where it does not say."""
    text = setting("teamSize")
    if text:
        return int(float(text))
    with suppress(json.JSONDecodeError):
        return sum(int(team.get("members", 0)) for team in json.loads(setting("teams") or "[]"))
    return 0


def stack_profile() -> tuple[Profile, int] | None:
    """The team-size profile of the stack with the team's size; None where the stack file names neither."""
    people, name = team_size(), setting("profile")
    for candidate in (name,) if name else PROFILE_NAMES:
        found = profile(candidate)
        smallest = int(found.figure("team_size.minimum").value)
        if name or smallest <= people <= int(found.figure("team_size.maximum").value):
            return found, people or smallest
    return None
