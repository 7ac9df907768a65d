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


def profile_of(settings: Settings) -> ProfileName | None:
    """The profile that settings come to; None where they are wrong of the team's size."""
    _, found, known = size_and_profile(settings, None, Ledger())
    return cast(ProfileName, found.name) if known else None


def size_and_profile(settings: Settings, kept: ProfileName | None, ledger: Ledger) -> tuple[int, Profile, bool]:
    """Team size and profile, and whether they are the settings' own rather than stand-ins for wrong ones.

    `kept` is the profile that the stack's lock has: one person more does not make another environment.
    """
    stand_in = profile(_STAND_IN_PROFILE)
    size = _team_size(settings, ledger)
    if size is None:
        return int(stand_in.figure("team_size.minimum").value), stand_in, False
    if settings.profile is None:
        name: str = ledger.decide("profile", resolve_profile(size), f"{size} people: bounds of the profiles")
    else:
        name = ledger.decide("profile", settings.profile, "setting profile")
    if kept is not None and name != kept:
        key, got = ("profile", name) if settings.profile else ("teamSize", f"{size}, which is the {name} profile")
        hint = f"set profile: {kept} to stay; or `trainyard plan STACK --relock profile` says what it would replace"
        ledger.problem(key, got, f"the stack's lock keeps the {kept} profile", hint)
        return size, profile(kept), True
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
    """The teams of the settings, the largest first; one of everybody where they name none.

    Whoever comes first wins a tie over a node: that must not be for the order of a list to say, or another order would
    hand out nodes anew and prove them again.
    """
    if context.settings.teams:
        return tuple(sorted(context.settings.teams, key=lambda team: (-(team.share or team.members), team.name)))
    name = context.ledger.decide("teams", EVERYONE, "no teams in the settings: one team of all")
    return (Team(name=name, members=context.team_size),)


def plan_teams(teams: Sequence[Team], monthly_usd: int, context: Context) -> tuple[TeamPlan, ...]:
    """Each team with its budget: its own, or its share of what those leave of the whole, in whole dollars."""
    weights, source = weights_of(teams)
    whole = sum(weights)
    named = sum(team.monthly_budget_usd or 0 for team in teams)
    if named > monthly_usd:
        allowed = f"must be at most {monthly_usd} together, the monthly budget"
        context.ledger.problem("teams", f"budgets of {named} USD", allowed, "raise monthlyBudgetUsd")
    others = [
        weight if team.monthly_budget_usd is None else Fraction(0) for team, weight in zip(teams, weights, strict=True)
    ]
    shared = largest_remainder(max(0, monthly_usd - named), others) if any(others) else [0] * len(teams)
    # In whole dollars: of what little is left the smallest may get none. A whole that is too little is told as that.
    without = [
        team.name for team, part in zip(teams, shared, strict=True) if team.monthly_budget_usd is None and not part
    ]
    if without and 0 < named <= monthly_usd:
        allowed = f"must leave more of {monthly_usd}, the monthly budget, or {', '.join(without)} may spend nothing"
        hint = "raise monthlyBudgetUsd, or set monthlyBudgetUsd of each team"
        context.ledger.problem("teams", f"budgets of {named} USD", allowed, hint)
    elif not any(others) and not named:
        allowed = "must be above 0 for one of them: nobody may spend anything"
        context.ledger.problem(
            "teams: monthlyBudgetUsd", "0 for every team", allowed, "leave it out to share the budget"
        )
    decide = context.ledger.decide

    def budget(team: Team, part: int) -> int:
        key = f"teams.{team.name}.monthly_budget_usd"
        if team.monthly_budget_usd is not None:
            return decide(key, team.monthly_budget_usd, "setting teams: monthlyBudgetUsd")
        rest = f" less {named} USD of teams with one of their own" if named else ""
        return decide(key, part, f"{source}; of the monthly budget{rest}")

    return tuple(
        TeamPlan(
            name=team.name,
            members=decide(f"teams.{team.name}.members", team.members, "setting teams"),
            principals=tuple(team.principals),
            people=tuple(team.people),
            share_percent=decide(f"teams.{team.name}.share_percent", round(float(100 * weight / whole), 2), source),
            monthly_budget_usd=budget(team, part),
        )
        for team, weight, part in zip(teams, weights, shared, strict=True)
    )
