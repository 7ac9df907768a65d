"""What the stack file says, for policies that depend on it: profile, residency, exceptions.

The engine starts a policy pack with the stack's configuration in its environment, and `pulumi.Config` reads it there.
The offline check sets the same keys. Without any (a bare analyser) every setting is empty.
"""

from __future__ import annotations

import json
from contextlib import suppress

import pulumi

from trainyard.plan.people import resolve_profile
from trainyard.plan.profiles import Profile, profile
from trainyard.problems import SettingsError

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


def stack_profile() -> Profile | None:
    """The team-size profile of the stack; None where the stack file names neither one nor a size that one covers."""
    with suppress(SettingsError):
        return profile(setting("profile") or resolve_profile(team_size()))
    return None
