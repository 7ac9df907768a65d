"""From a request to a plan: everything that can be decided without a cloud.

Pure: the same request gives the same plan; nothing is read but the catalogue and the profiles. Every value of the plan
has a `Decision` that names the setting, the profile's figure or the rule it comes from.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from typing import cast

from trainyard import catalog
from trainyard.plan.floor import check_budget, plan_floor
from trainyard.plan.ledger import Ledger
from trainyard.plan.model import Plan, PoolPlan, SmokePlan, TeamPlan
from trainyard.plan.network import check_addresses, plan_cluster, plan_network
from trainyard.plan.placement import choose_zones, place
from trainyard.plan.pools import draft_pools
from trainyard.plan.profiles import PROFILE_NAMES, Profile, profile
from trainyard.plan.request import PlanRequest, ProfileName, SmokeRequest, TeamRequest
from trainyard.plan.sharing import MAX_PREFIX, check_name, check_teams, plan_scheduling, plan_teams
from trainyard.plan.tiers import plan_budget, plan_database, plan_mlflow, plan_storage
from trainyard.problems import SettingsError, nearest

# What a wrong region or profile is replaced with, so that the rest of a stack file can still be checked.
_STAND_IN_REGION = "us-east-1"
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


def make_plan(request: PlanRequest) -> Plan:
    """The plan of an environment.

    Raises:
        SettingsError: with everything that is wrong with the request, each named by its key in a stack file.
    """
    ledger = Ledger(region_known=request.region in catalog.regions())
    _check_place(request, ledger)
    if not ledger.region_known:
        request = replace(request, region=_STAND_IN_REGION)
    for key, name in (("client", request.client), ("environment", request.environment)):
        check_name(key, name, ledger)
    prefix = f"{request.client}-{request.environment}"
    if len(prefix) > MAX_PREFIX:
        allowed = f"client and environment must be at most {MAX_PREFIX - 1} long together: names begin with both"
        ledger.problem("environment", request.environment, allowed)
    check_teams(request.teams, request.team_size, ledger)
    team_size, figures, sure = _team_size_and_profile(request, ledger)
    plan = _plan(replace(request, teams=_teams(request, team_size, ledger)), team_size, figures, sure, ledger)
    if ledger.problems:
        raise SettingsError(dict.fromkeys(ledger.problems))
    return replace(plan, decisions=tuple(ledger.decisions))


def _check_place(request: PlanRequest, ledger: Ledger) -> None:
    if request.cloud != "aws":
        ledger.problem("cloud", request.cloud, "only aws can be planned in this version")
    known = catalog.regions()
    if not ledger.region_known:
        # Names of regions are alike: two near misses are both named.
        close = " or ".join(get_close_matches(request.region, known, n=2, cutoff=0.8))
        hint = f"did you mean {close}?" if close else f"known: {', '.join(known)}"
        ledger.problem("region", request.region, "no such AWS region in the catalogue", hint)
    elif request.allowed_regions and request.region not in request.allowed_regions:
        ledger.problem("region", request.region, f"residency allows {', '.join(request.allowed_regions)} only")


def _team_size_and_profile(request: PlanRequest, ledger: Ledger) -> tuple[int, Profile, bool]:
    """Team size and profile, and whether they are the request's own rather than stand-ins for wrong ones."""
    stand_in = profile(_STAND_IN_PROFILE)
    size = _team_size(request, ledger)
    if size is None:
        return int(stand_in.figure("team_size.minimum").value), stand_in, False
    if request.profile is None:
        name: str = ledger.decide("profile", resolve_profile(size), f"{size} people: bounds of the profiles")
    else:
        name = ledger.decide("profile", request.profile, "setting profile")
    if name not in PROFILE_NAMES:
        ledger.problem("profile", name, f"must be one of {', '.join(PROFILE_NAMES)}", nearest(name, PROFILE_NAMES))
        return size, stand_in, False
    if name == "small":
        key, got = ("profile", name) if request.profile else ("teamSize", f"{size}, which is the small profile")
        allowed = "the small profile's managed training is not available yet in this version"
        ledger.problem(key, got, allowed, "set profile: medium for a cluster of your own")
        return size, stand_in, False
    return size, profile(name), True


def _team_size(request: PlanRequest, ledger: Ledger) -> int | None:
    members = sum(team.members for team in request.teams)
    if request.team_size is not None:
        size, source = request.team_size, "setting teamSize"
    elif request.teams:
        size, source = members, "members of all teams"
    elif request.profile in PROFILE_NAMES:
        size = int(profile(request.profile).figure("team_size.minimum").value)
        source = f"smallest team of profile {request.profile}"
    else:
        ledger.problem("teamSize", None, "give teamSize (people), or profile, or teams with their members")
        return None
    if not 1 <= size <= _LARGEST_TEAM:
        key = "teams" if request.team_size is None else "teamSize"
        ledger.problem(key, size, f"must be 1 to {_LARGEST_TEAM} people")
        return None
    return ledger.decide("team_size", size, source)


def _teams(request: PlanRequest, team_size: int, ledger: Ledger) -> tuple[TeamRequest, ...]:
    """The teams; one of everybody where the stack file names none. Wrong ones are mended for the checks to come."""
    if not request.teams:
        name = ledger.decide("teams", "everyone", "no teams in the settings: one team of all")
        return (TeamRequest(name, team_size),)
    sound = all(team.share_percent is not None and team.share_percent > 0 for team in request.teams)
    return tuple(
        replace(team, members=max(1, team.members), share_percent=team.share_percent if sound else None)
        for team in request.teams
    )


def _plan(request: PlanRequest, team_size: int, figures: Profile, figures_sure: bool, ledger: Ledger) -> Plan:
    """The plan; where the ledger has problems, with stand-ins in their place."""
    drafts = draft_pools(request.pools, figures, team_size, request.region, ledger)
    zone_names = choose_zones(
        request.network.zones, request.storage.lustre.zone, drafts, figures, request.region, ledger
    )
    network = plan_network(request.network, zone_names, figures, ledger)
    cluster = plan_cluster(request, zone_names, figures, ledger)
    placed = (place(draft, zone_names, figures, request.region, ledger) for draft in drafts)
    pools = tuple(pool for pool in placed if pool is not None)
    check_addresses(network, pools, cluster.system_nodes, figures, ledger)
    scheduling = plan_scheduling(request.scheduling, pools, figures, ledger)
    budget = plan_budget(request, team_size, figures, ledger)
    storage = plan_storage(request.storage, zone_names, pools, team_size, request.protect, figures, ledger)
    database = plan_database(request.mlflow, request.protect, figures, ledger)
    mlflow = plan_mlflow(request.mlflow, request.teams, figures, ledger)
    floor = plan_floor(network, cluster, pools, drafts, storage.lustre, database, mlflow, request.region, ledger)
    if figures_sure:
        check_budget(budget.monthly_usd, floor, ledger)
    teams = plan_teams(request.teams, pools, scheduling, budget.monthly_usd, figures, ledger)
    return Plan(
        client=request.client,
        environment=request.environment,
        name=f"{request.client}-{request.environment}",
        stack=request.stack,
        cloud="aws",
        region=request.region,
        profile=cast(ProfileName, figures.name),
        team_size=team_size,
        account_id=request.account_id,
        tags=_tags(request, ledger),
        network=network,
        cluster=cluster,
        pools=pools,
        scheduling=scheduling,
        teams=teams,
        storage=storage,
        database=database,
        mlflow=mlflow,
        smoke=_smoke(request.smoke, teams, pools, ledger),
        budget=budget,
        idle_floor=floor,
        pins=catalog.pins(),
        protect=ledger.decide("protect", request.protect, "setting protect"),
        create_autoscaling_role=request.create_autoscaling_role,
        decisions=(),
    )


def _smoke(
    request: SmokeRequest, teams: tuple[TeamPlan, ...], pools: tuple[PoolPlan, ...], ledger: Ledger
) -> SmokePlan:
    names = [team.name for team in teams]
    if request.team is not None and request.team not in names:
        allowed = f"must be one of the teams: {', '.join(names)}"
        ledger.problem("smoke.team", request.team, allowed, nearest(request.team, names))
    for pool in pools if request.enabled else ():
        has = [group.capacity for group in pool.node_groups]
        if has and not set(has) & set(request.capacities):  # a pool without nodes has its own problem
            got = ", ".join(request.capacities) or "none"
            allowed = f"must name a capacity of pool {pool.name}, which has {', '.join(has)} nodes"
            ledger.problem("smoke.capacities", got, allowed, "to prove none: smoke.enabled false")
    source = "setting smoke.team" if request.team else "the first team"
    image_source = "setting smoke.image" if request.image else "catalog/versions.yaml: it has the plugin of the fabric"
    return SmokePlan(
        enabled=ledger.decide("smoke.enabled", request.enabled, "setting smoke.enabled; on unless turned off"),
        image=ledger.decide("smoke.image", request.image or catalog.pins().image("smoke"), image_source),
        team=ledger.decide("smoke.team", request.team or names[0], source),
        capacities=ledger.decide("smoke.capacities", request.capacities, "setting smoke.capacities; all by default"),
    )


def _tags(request: PlanRequest, ledger: Ledger) -> tuple[tuple[str, str], ...]:
    tags = (
        ("client", request.client),
        ("environment", request.environment),
        ("team", "shared"),
        ("cost-centre", request.cost_centre),
        ("owner", request.owner),
        ("managed-by", "trainyard"),
        ("project", f"{request.client}-{request.environment}"),
    )
    ledger.decide("tags", [key for key, _ in tags], "every resource carries the same tags")
    return tags
