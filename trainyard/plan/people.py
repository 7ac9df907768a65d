"""Who an environment is for: the team's size, its profile, the teams and their shares."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import cast

from trainyard.plan.context import Context
from trainyard.plan.ledger import Ledger
from trainyard.plan.ownership import largest_remainder
from trainyard.plan.parts import ProfileName, TeamPlan
from trainyard.plan.profiles import PROFILE_NAMES, Profile, profile
from trainyard.problems import SettingsError
from trainyard.settings.common import Settings
from trainyard.settings.people import Team

EVERYONE = "everyone"
"""The team of an environment whose stack file names none."""

_STAND_IN_PROFILE = "medium"
_LARGEST_TEAM = 10_000


def resolve_profile(team_size: int) -> ProfileName:
    """The profile for a team of that many people.

    Raises:
        SettingsError: the size is below 1 or above what the large profile covers.
    """
    for name in PROFILE_NAMES:
        bounds = profile(name)
        least, most = (int(bounds.figure(f"team_size.{end}").value) for end in ("minimum", "maximum"))
        if least <= team_size <= most:
            return cast(ProfileName, name)
    ledger = Ledger()
    ledger.problem("teamSize", team_size, f"must be 1 to {_LARGEST_TEAM} people")
    raise SettingsError(ledger.problems)


def size_and_profile(settings: Settings, ledger: Ledger) -> tuple[int, Profile, bool]:
    """Team size and profile, and whether they are the settings' own rather than stand-ins for wrong ones."""
    stand_in = profile(_STAND_IN_PROFILE)
    size = _team_size(settings, ledger)
    if size is None:
        return int(stand_in.figure("team_size.minimum").value), stand_in, False
    if settings.profile is None:
        name: str = ledger.decide("profile", resolve_profile(size), f"{size} people: bounds of the profiles")
    else:
        name = ledger.decide("profile", settings.profile, "setting profile")
    if name == "small":
        key, got = ("profile", name) if settings.profile else ("teamSize", f"{size}, which is the small profile")
        allowed = "the small profile's managed training is not available yet in this version"
        ledger.problem(key, got, allowed, "set profile: medium for a cluster of your own")
        return size, stand_in, False
    return size, profile(name), True


def _team_size(settings: Settings, ledger: Ledger) -> int | None:
    """The number of people; None where nothing says it, which the settings' own checks tell."""
    if settings.team_size is not None:
        size, source = settings.team_size, "setting teamSize"
    elif settings.teams:
        size, source = sum(team.members for team in settings.teams), "members of all teams"
    elif settings.profile is not None:
        size = int(profile(settings.profile).figure("team_size.minimum").value)
        source = f"smallest team of profile {settings.profile}"
    else:
        return None
    if size > _LARGEST_TEAM:
        ledger.problem("teams", size, f"must be 1 to {_LARGEST_TEAM} people")
        return None
    return ledger.decide("team_size", size, source)


def weights_of(teams: Sequence[Team]) -> tuple[list[Fraction], str]:
    """What each team's part is in proportion to, and where that comes from: shares where all have one, else members."""
    shares = [team.share for team in teams if team.share is not None]
    if len(shares) == len(teams):
        return [Fraction(str(share)) for share in shares], "setting teams: shares"
    return [Fraction(team.members) for team in teams], "setting teams: in proportion to members"


def teams_of(context: Context) -> tuple[Team, ...]:
    """The teams of the settings; one of everybody where they name none."""
    if context.settings.teams:
        return tuple(context.settings.teams)
    name = context.ledger.decide("teams", EVERYONE, "no teams in the settings: one team of all")
    return (Team(name=name, members=context.team_size),)


def plan_teams(teams: Sequence[Team], monthly_usd: int, context: Context) -> tuple[TeamPlan, ...]:
    """Each team with its share of the budget: whole dollars that add up to it."""
    weights, source = weights_of(teams)
    budgets = largest_remainder(monthly_usd, weights)
    whole = sum(weights)
    decide = context.ledger.decide
    return tuple(
        TeamPlan(
            name=team.name,
            members=decide(f"teams.{team.name}.members", team.members, "setting teams"),
            principals=tuple(team.principals),
            people=tuple(team.people),
            share_percent=decide(f"teams.{team.name}.share_percent", round(float(100 * weight / whole), 2), source),
            monthly_budget_usd=decide(
                f"teams.{team.name}.monthly_budget_usd", budget, f"{source}; of the monthly budget"
            ),
        )
        for team, weight, budget in zip(teams, weights, budgets, strict=True)
    )
