"""What managed training has on every cloud: settings that only it reads or that only a cluster does, machine types, and
when it is outgrown."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from trainyard.plan.context import Context
from trainyard.plan.ledger import Ledger
from trainyard.plan.parts import IdleFloor
from trainyard.plan.profiles import profile
from trainyard.problems import nearest
from trainyard.settings.types import Model

OF_A_CLUSTER: Final = (
    "gpuPools", "idleJobs", "systemNodes", "cpuPool", "kubernetesVersion", "apiAccess", "scheduler",
    "teamBudgets", "offPeak", "notebooks", "charts",
    "images.allowedRegistries", "images.cache", "images.cacheLogins",
    "storage.lustre", "storage.sharedFileSystem",
    "mlflow.replicas", "mlflow.workers", "mlflow.cpu", "mlflow.memory", "mlflow.image", "mlflow.database",
    "mlflow.defaultPermission", "mlflow.passwordVersion", "mlflow.signOn",
    "smoke.team", "smoke.capacities", "smoke.advisory",
    "monitoring.service", "monitoring.retentionDays", "monitoring.storageGib", "monitoring.cpu", "monitoring.memory",
    "monitoring.checkpointDrill", "monitoring.checkpointCheck",
    "audit.containerLogs", "audit.breakGlass", "network.serviceCidr", "managed.beside",
)  # fmt: skip
"""Settings that say something of a cluster or of its server, whatever the cloud."""

MANAGED_LIMIT_USD: Final = 10_000
"""A month, from which managed training costs more than a platform of one's own with the people who run it (agency
guide, strategy section: managed services become cost-prohibitive above 10,000 dollars a month)."""


def camel(field: str) -> str:
    """The key of a stack file for a field's name: maxRuntimeHours of max_runtime_hours."""
    return re.sub("_(.)", lambda found: found[1].upper(), field)


def given_settings(model: Model, prefix: str = "") -> Iterator[tuple[str, object]]:
    """What the stack file says, key by key, blocks opened."""
    for name, field in type(model).model_fields.items():
        value, key = getattr(model, name), prefix + (field.alias or name)
        if isinstance(value, Model):
            yield from given_settings(value, f"{key}.")
        elif name in model.model_fields_set and value != field.default:
            yield key, value


@dataclass(frozen=True, slots=True)
class Shelf:
    """The machines that a cloud's managed training has."""

    word: str  # what the cloud calls one: `machine type`
    known: Sequence[str]
    sold: Callable[[str, str], bool]  # whether a type is sold in a region
    figures: str = "managed"  # where the profile's types are
    prefix: str = ""  # with which the service spells them


def plan_types(field: str, given: Sequence[str] | None, shelf: Shelf, context: Context) -> tuple[str, ...]:
    """Types as the service spells them: the stack file's, or those of the profile that the region sells."""
    key, ledger, region = f"managed.{camel(field)}", context.ledger, context.region
    if given is None:
        figure = f"{shelf.figures}.{field}"
        types, source = [each for each in context.figure(figure) if shelf.sold(each, region)], context.source(figure)
    else:
        types, source = list(given), f"setting {key}"
        for index, type_ in enumerate(given):
            where = f"{key}[{index}]"
            if type_ not in shelf.known:
                allowed = f"is no {shelf.word} that the catalogue knows"
                ledger.problem(where, type_, allowed, nearest(type_, shelf.known))
            elif not shelf.sold(type_, region):
                ledger.regional(where, type_, f"is not sold in {region}")
            elif type_ in given[:index]:
                ledger.problem(where, type_, "is there twice")
    return ledger.decide(f"managed.{field}", tuple(f"{shelf.prefix}{each}" for each in types), source)


def cluster_settings(also: Collection[str], read: Collection[str] = ()) -> frozenset[str]:
    """The settings that nothing of managed training reads.

    Args:
        also: the cloud's own keys.
        read: keys that the environment reads although it has no cluster.
    """
    return frozenset({*OF_A_CLUSTER, *also} - {*read})


def refuse_cluster_settings(keys: Collection[str], context: Context) -> None:
    """What would be read by nothing, as `cluster_settings` tells, is said so, with the profile that reads it."""
    for key, value in given_settings(context.settings):
        if any(key == each or key.startswith(f"{each}.") for each in keys):
            allowed = "is of a cluster, and the small profile has none: managed training instead"
            context.ledger.problem(key, value, allowed, "leave it out, or set profile: medium")
    if context.settings.stage == "account":
        allowed = "waits for a cluster, and the small profile has none"
        context.ledger.problem("stage", "account", allowed, "leave it out, or set profile: medium")


def refuse_managed_settings(context: Context) -> None:
    """What says something of managed training is read by nothing where there is none."""
    for key, value in given_settings(context.settings.managed, "managed."):
        allowed = f"is of managed training, and the {context.profile.name} profile has a cluster instead"
        context.ledger.problem(key, value, allowed, "leave it out; managed.beside: true keeps it for a while")


def plan_private(path: str, context: Context) -> bool:
    """Whether editors have the network's way out alone; `path` is of the profile's figure for the cloud."""
    given, residency, key = (
        context.settings.managed.private_domain,
        context.settings.residency,
        "managed.private_domain",
    )
    if given is None and residency != "none":
        why = f"residency {residency}: what leaves an editor goes through the network, where it is on record"
        return context.ledger.decide(key, True, why)
    return bool(context.take(path, "managed.privateDomain", given, key))


def beside(context: Context) -> Context:
    """What stays of managed training beside a cluster is planned from the small profile's figures."""
    context.ledger.decide("managed.beside", True, "setting managed.beside; without it what people have there goes")
    small = profile("small")
    return replace(context, profile=small.under(context.settings.assurance or small.figure("assurance").value))


def plan_growth(
    floor: IdleFloor,
    medium_floor: Callable[[Context], IdleFloor],
    premiums: Iterable[float],
    premium: str,
    prices: str,
    context: Context,
) -> None:
    """Records when to move to the medium profile, and the price of both.

    The medium profile is planned from the same settings by `medium_floor`; where it cannot be, for want of something
    that they say, its own mistakes come when it is asked for.

    Args:
        floor: what the managed environment costs idle.
        medium_floor: the idle floor of the medium profile, planned aside.
        premiums: parts of the managed service's price of a machine that are not the machine's own.
        premium: what they are, in words.
        prices: which prices they are of.
        context: settings, the small profile and the ledger.
    """
    ledger, medium = context.ledger, profile("medium")
    people = int(medium.figure("team_size.minimum").value)
    when = (
        f"jobs cost over {MANAGED_LIMIT_USD:,} USD a month, or people want hardware that is not among "
        f"managed.training_types, or data may not be with a managed service, or {people} people train"
    )
    ledger.decide("growth.when", when, "agency guide, strategy section: when to build instead of buying")
    aside = Ledger(ledger.region_known)
    figures = medium.under(context.settings.assurance or medium.figure("assurance").value)
    settings = context.settings.model_copy(update={"managed": type(context.settings.managed)()})
    grown = medium_floor(replace(context, settings=settings, profile=figures, ledger=aside))
    if aside.problems:
        return
    ledger.decide(
        "growth.idle_floor",
        f"{grown.monthly_usd:,.0f} USD a month in place of {floor.monthly_usd:,.0f}",
        "the medium profile planned from the same settings, while no job runs",
    )
    shares = sorted(premiums)
    if shares:
        more = grown.monthly_usd - floor.monthly_usd
        ledger.decide(
            "growth.pays_from",
            f"{more / shares[-1]:,.0f} to {more / shares[0]:,.0f} USD of jobs a month",
            f"that difference over what {premium}, {shares[0]:.0%} to {shares[-1]:.0%} of its price by type, {prices}; "
            "whoever runs the cluster comes on top",
        )
