"""From the settings to a plan: everything that can be decided without a cloud.

Pure: the same settings give the same plan; nothing is read but the catalogue and the profiles. Every value of the plan
has a `Decision` that names the setting, the profile's figure or the rule it comes from.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import cast

from trainyard import catalog
from trainyard.catalog.versions import Pins
from trainyard.plan.aws.image_cache import cached, cached_pins
from trainyard.plan.aws.make import plan_aws
from trainyard.plan.aws.parts import ImageCachePlan
from trainyard.plan.budget import check_budget, plan_budget
from trainyard.plan.context import Context
from trainyard.plan.egress import plan_egress
from trainyard.plan.images import plan_allowed_images
from trainyard.plan.ledger import Ledger
from trainyard.plan.parts import Core, Plan, ProfileName
from trainyard.plan.people import plan_teams, size_and_profile, teams_of
from trainyard.plan.storage import plan_storage
from trainyard.plan.tracking import plan_mlflow
from trainyard.problems import SettingsError
from trainyard.settings.common import Settings
from trainyard.settings.types import NAME_ALLOWED, NAME_PATTERN

MAX_PREFIX = 33
"""Longest `<client>-<environment>`, in characters: S3 allows 63, of which purpose and account id take up to 30."""

_GROUNDS = {"aws": plan_aws}
"""What plans the ground and the clusters on it, by the cloud."""

_STAND_IN_REGION = "us-east-1"
"""Region that stands in for one that the catalogue does not know, so that the rest of a stack file can still be
checked."""


def make_plan(settings: Settings, stack: str) -> Plan:
    """The plan of an environment; `stack` is the stack's name.

    Raises:
        SettingsError: with everything that is wrong with the settings, each named by its key in a stack file.
    """
    ledger = Ledger(region_known=settings.region in catalog.regions())
    _check_region(settings, ledger)
    environment = _environment(settings, stack, ledger)
    team_size, figures, profile_known = size_and_profile(settings, ledger)
    region = settings.region if ledger.region_known else _STAND_IN_REGION
    context = Context(settings, figures, team_size, region, ledger)
    plan = _plan(context, environment, stack)
    if profile_known:
        check_budget(plan.core.budget.monthly_usd, plan.core.idle_floor, ledger)
    if ledger.problems:
        raise SettingsError(dict.fromkeys(ledger.problems))
    return plan


def _check_region(settings: Settings, ledger: Ledger) -> None:
    known = catalog.regions()
    allowed = catalog.residency_regions(settings.residency)
    if not ledger.region_known:
        # Names of regions are alike: two near misses are both named.
        close = " or ".join(get_close_matches(settings.region, known, n=2, cutoff=0.8))
        hint = f"did you mean {close}?" if close else f"known: {', '.join(known)}"
        ledger.problem("region", settings.region, "no such AWS region in the catalogue", hint)
    elif allowed and settings.region not in allowed:
        ledger.problem("region", settings.region, f"residency allows {', '.join(allowed)} only")
    if allowed:
        _tell_what_leaves(settings, ledger)


def _tell_what_leaves(settings: Settings, ledger: Ledger) -> None:
    """What has no region is not held to one: whoever chose a regime has to know of it."""
    mail = ["alerts by mail"] if settings.alert_emails else []
    what = [*mail, "budgets, cost tools and identities, which are the account's and of no region"]
    source = (
        f"residency {settings.residency} holds data, not these: they tell amounts of money, names of resources and who "
        "did what; without alertEmails the alerts stay on topics in the region"
    )
    ledger.decide("residency.leaves", what, source)
    state = settings.state_backend or "where Pulumi.yaml says"
    ledger.decide("residency.state", state, "setting stateBackend" if settings.state_backend else "no stateBackend")


def _environment(settings: Settings, stack: str, ledger: Ledger) -> str:
    """The environment's name: the setting, or the stack's where that is a name too."""
    name = settings.environment or stack
    if not NAME_PATTERN.fullmatch(name):
        hint = "it is the stack's name unless the stack file names it"
        ledger.problem("environment", name, NAME_ALLOWED, hint)
    if len(f"{settings.client}-{name}") > MAX_PREFIX:
        allowed = f"client and environment must be at most {MAX_PREFIX - 1} long together: names begin with both"
        ledger.problem("environment", name, allowed)
    return name


def _plan(context: Context, environment: str, stack: str) -> Plan:
    """The plan; where the ledger has problems, with stand-ins in their place."""
    settings, ledger = context.settings, context.ledger
    name = f"{settings.client}-{environment}"
    teams = teams_of(context)
    budget = plan_budget(context)
    mlflow = plan_mlflow(teams, context)
    storage = plan_storage(context)
    egress = plan_egress(context)
    ground, clusters, floor = _GROUNDS[settings.cloud](name, teams, mlflow, context)
    return Plan(
        core=Core(
            client=settings.client,
            environment=environment,
            name=name,
            stack=stack,
            profile=cast(ProfileName, context.profile.name),
            team_size=context.team_size,
            tags=_tags(settings, environment, ledger),
            teams=plan_teams(teams, budget.monthly_usd, context),
            storage=storage,
            egress=egress,
            allowed_images=plan_allowed_images(lambda image: cached(image, ground.image_cache), context),
            mlflow=mlflow,
            budget=budget,
            idle_floor=floor,
            pins=_pins(ground.image_cache, settings, ledger),
            protect=ledger.decide("protect", settings.protect, "setting protect"),
            decisions=tuple(ledger.decisions),
        ),
        ground=ground,
        clusters=clusters,
    )


def _pins(cache: ImageCachePlan | None, settings: Settings, ledger: Ledger) -> Pins:
    """The pinned versions; of each image, who says that its digest is what its tag stands for."""
    own = {"mlflow": settings.mlflow.image} if settings.mlflow.image else {}
    for pin in catalog.image_pins():
        if pin.name in own:
            ledger.decide(f"images.{pin.name}", cached(own[pin.name], cache), f"setting {pin.name}.image")
            continue
        read = f"read from its registry on {pin.read}" if pin.read else "`trainyard images check --write` asks for it"
        ledger.decide(f"images.{pin.name}", cached(pin.image, cache), f"catalog/versions.yaml: {pin.source}; {read}")
    return cached_pins(catalog.pins().with_images(own), cache)


def _tags(settings: Settings, environment: str, ledger: Ledger) -> tuple[tuple[str, str], ...]:
    tags = (
        ("client", settings.client),
        ("environment", environment),
        ("team", "shared"),
        ("cost-centre", settings.cost_centre or settings.client),
        ("owner", settings.owner or settings.client),
        ("managed-by", "trainyard"),
        ("project", f"{settings.client}-{environment}"),
    )
    ledger.decide("tags", [key for key, _ in tags], "every resource carries the same tags")
    return tags
