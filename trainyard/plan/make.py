"""From the settings to a plan: everything that can be decided without a cloud.

Pure: the same settings and the same lock give the same plan; nothing is read but the catalogue and the profiles. Every
value of the plan
has a `Decision` that names the setting, the profile's figure or the rule it comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import cast

from trainyard import catalog
from trainyard.catalog import gcp
from trainyard.catalog.versions import Pins
from trainyard.conventions import NOBODYS
from trainyard.conventions.monitoring import RUNBOOKS
from trainyard.plan.aws.image_cache import cached
from trainyard.plan.aws.make import plan_aws
from trainyard.plan.aws.managed import OF_NO_USE as OF_NO_USE_ON_AWS
from trainyard.plan.aws.managed import UNREAD as UNREAD_ON_AWS
from trainyard.plan.aws.managed import plan_managed_aws
from trainyard.plan.aws.parts import AwsPlan
from trainyard.plan.budget import check_budget, plan_budget
from trainyard.plan.context import Context
from trainyard.plan.egress import no_wall, plan_egress
from trainyard.plan.gcp.image_cache import cached as cached_in_project
from trainyard.plan.gcp.make import plan_gcp
from trainyard.plan.gcp.managed import plan_managed_gcp
from trainyard.plan.gcp.managed import unread as unread_on_gcp
from trainyard.plan.gcp.parts import GcpPlan
from trainyard.plan.images import plan_allowed_images
from trainyard.plan.ledger import Ledger
from trainyard.plan.lock import NOTHING, Lock
from trainyard.plan.mirrors import mirrored, plan_mirrors, pulled_pins
from trainyard.plan.parts import ClusterPlan, Core, Decision, GroundPlan, IdleFloor, MlflowPlan, Plan, ProfileName
from trainyard.plan.people import plan_teams, size_and_profile, teams_of
from trainyard.plan.profiles import Profile
from trainyard.plan.storage import plan_storage
from trainyard.plan.tracking import NO_SERVER, plan_mlflow
from trainyard.problems import SettingsError
from trainyard.settings.clouds import CLOUD_NAMES, LEAVES
from trainyard.settings.common import Settings
from trainyard.settings.people import Team
from trainyard.settings.types import NAME_ALLOWED, NAME_PATTERN

MAX_PREFIX = 33
"""Longest `<client>-<environment>`, in characters: S3 allows 63, of which purpose and account id take up to 30."""

_REGIONS: Mapping[str, Callable[[], tuple[str, ...]]] = {"aws": catalog.regions, "gcp": gcp.regions}
"""The regions that the catalogue knows, by the cloud."""

_STAND_IN_REGIONS = {"aws": "us-east-1", "gcp": "us-central1"}
"""Region that stands in for one that the catalogue does not know, so that the rest of a stack file can still be
checked."""


def make_plan(settings: Settings, stack: str, lock: Lock = NOTHING, noted: Sequence[Decision] = ()) -> Plan:
    """The plan of an environment; `stack` is the stack's name, `lock` what was decided for it before, `noted` what was
    decided of the settings themselves.

    Raises:
        SettingsError: with everything that is wrong with the settings, each named by its key in a stack file.
    """
    ledger = Ledger(region_known=settings.region in _REGIONS[settings.cloud]())
    ledger.decisions.extend(noted)
    _check_region(settings, ledger)
    environment = _environment(settings, stack, ledger)
    team_size, figures, profile_known = size_and_profile(settings, lock.profile, ledger)
    region = settings.region if ledger.region_known else _STAND_IN_REGIONS[settings.cloud]
    context = Context(settings, _assured(figures, settings, ledger), team_size, region, ledger, lock)
    plan = _plan(context, environment, stack)
    if profile_known:
        check_budget(plan.core.budget.monthly_usd, plan.core.idle_floor, ledger)
    if ledger.problems:
        raise SettingsError(dict.fromkeys(ledger.problems))
    return plan


def _assured(figures: Profile, settings: Settings, ledger: Ledger) -> Profile:
    """The profile's figures under the assurance that the stack file asks for, or the profile does."""
    if settings.assurance is not None:
        return figures.under(ledger.decide("assurance", settings.assurance, "setting assurance"))
    return figures.under(ledger.decide("assurance", figures.figure("assurance").value, figures.source("assurance")))


def _check_region(settings: Settings, ledger: Ledger) -> None:
    known = _REGIONS[settings.cloud]()
    allowed = catalog.residency_regions(settings.residency, settings.cloud)
    name = CLOUD_NAMES[settings.cloud]
    if not catalog.is_served(settings.residency, settings.cloud):
        ledger.problem("residency", settings.residency, f"{name} has no region that it allows")
    if not ledger.region_known:
        # Names of regions are alike: two near misses are both named.
        close = " or ".join(get_close_matches(settings.region, known, n=2, cutoff=0.8))
        hint = f"did you mean {close}?" if close else f"known: {', '.join(known)}"
        ledger.problem("region", settings.region, f"no such {name} region in the catalogue", hint)
    elif allowed and settings.region not in allowed:
        ledger.problem("region", settings.region, f"residency allows {', '.join(allowed)} only")
    _tell_what_leaves(settings, ledger)


def _tell_what_leaves(settings: Settings, ledger: Ledger) -> None:
    """What has no region is not held to one: whoever chose a regime, or thinks of it, has to know of it."""
    ledger.decide(
        "residency.regime",
        settings.residency,
        "setting residency: policies hold everything that has a region to it"
        if settings.residency != "none"
        else f"no residency: what has a region is in {settings.region}, and no policy holds it there",
    )
    mail = ["alerts by mail"] if settings.alert_emails else []
    own = [LEAVES[settings.cloud]] if settings.cloud in LEAVES else []
    what = [*mail, "budgets, cost tools and identities, which are the account's and of no region", *own]
    source = (
        "a regime holds data, not these: they tell amounts of money, names of resources and who did what; without "
        "alertEmails the alerts stay in the region"
    )
    ledger.decide("residency.leaves", what, source)
    state = settings.state_backend or "where Pulumi.yaml says"
    state += f", in {settings.state_region}" if settings.state_region else ""
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
    managed = context.profile.name == "small"
    mlflow = NO_SERVER if managed else plan_mlflow(teams, context)
    storage = plan_storage(context)
    egress = no_wall(context) if managed and settings.cloud == "gcp" else plan_egress(context)
    clusters: tuple[ClusterPlan, ...] = ()
    ground: GroundPlan
    if managed:
        ground, floor = _managed_ground(name, environment, teams, context)
    else:
        ground, clusters, floor = _ground(name, environment, teams, mlflow, context)

    def pulled(image: str) -> str:
        found = mirrored(image, settings.images.mirrors)
        if isinstance(ground, AwsPlan):
            return cached(found, ground.image_cache)
        return cached_in_project(found, ground.image_cache) if isinstance(ground, GcpPlan) else found

    chart_mirror = plan_mirrors(context)
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
            allowed_images=()
            if managed  # of pods, and there are none
            else plan_allowed_images(
                pulled,
                clusters,
                context,
                [pool.image for pool in ground.tpu_pools] if isinstance(ground, GcpPlan) else (),
            ),
            mlflow=mlflow,
            budget=budget,
            idle_floor=floor,
            pins=_pins(pulled, chart_mirror, settings, ledger),
            chart_mirror=chart_mirror,
            protect=ledger.decide("protect", settings.protect, "setting protect"),
            decisions=tuple(ledger.decisions),
            runbooks=settings.monitoring.runbooks or RUNBOOKS,
        ),
        ground=ground,
        clusters=clusters,
    )


def _ground(
    name: str, environment: str, teams: Sequence[Team], mlflow: MlflowPlan, context: Context
) -> tuple[GroundPlan, tuple[ClusterPlan, ...], IdleFloor]:
    """What stands below everything else, and the clusters on it."""
    if context.settings.cloud == "gcp":
        return plan_gcp(name, _tag_values(context.settings, environment), teams, mlflow, context)
    return plan_aws(name, teams, mlflow, context)


def unread_without_cluster(settings: Settings) -> frozenset[str]:
    """The settings that nothing of managed training reads on the settings' cloud."""
    return unread_on_gcp(settings) if settings.cloud == "gcp" else UNREAD_ON_AWS


def of_no_use_without_cluster(settings: Settings) -> Mapping[str, str]:
    """Besides these, what managed training on the settings' cloud has no use for: setting -> why."""
    return {} if settings.cloud == "gcp" else OF_NO_USE_ON_AWS


def _managed_ground(
    name: str, environment: str, teams: Sequence[Team], context: Context
) -> tuple[GroundPlan, IdleFloor]:
    """The ground of managed training: for whom a cluster is too much to run."""
    if context.settings.cloud == "gcp":
        return plan_managed_gcp(name, _tag_values(context.settings, environment), teams, context)
    return plan_managed_aws(name, teams, context)


def _pins(pulled: Callable[[str], str], chart_mirror: str | None, settings: Settings, ledger: Ledger) -> Pins:
    """The pinned versions; of each image, who says that its digest is what its tag stands for."""
    given = {
        "mlflow": ("mlflow.image", settings.mlflow.image),
        "notebook": ("notebooks.image", settings.notebooks.image),
    }
    own = {name: image for name, (_, image) in given.items() if image}
    for pin in catalog.image_pins():
        if pin.name in own:
            ledger.decide(f"images.{pin.name}", pulled(own[pin.name]), f"setting {given[pin.name][0]}")
            continue
        read = f"read from its registry on {pin.read}" if pin.read else "`trainyard images check --write` asks for it"
        ledger.decide(f"images.{pin.name}", pulled(pin.image), f"catalog/versions.yaml: {pin.source}; {read}")
    return pulled_pins(catalog.pins().with_images(own), pulled, chart_mirror)


def _tags(settings: Settings, environment: str, ledger: Ledger) -> tuple[tuple[str, str], ...]:
    tags = _tag_values(settings, environment)
    ledger.decide("tags", [key for key, _ in tags], "every resource carries the same tags")
    return tags


def _tag_values(settings: Settings, environment: str) -> tuple[tuple[str, str], ...]:
    return (
        ("client", settings.client),
        ("environment", environment),
        ("team", NOBODYS),
        ("cost-centre", settings.cost_centre or settings.client),
        ("owner", settings.owner or settings.client),
        ("managed-by", "trainyard"),
        ("project", f"{settings.client}-{environment}"),
    )
