"""Money, where it goes: GPU models and counts, and the share of spot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pulumi_policy import EnforcementLevel, Severity

from trainyard.catalog import gpu_names, instance
from trainyard.plan.profiles import PROFILE_NAMES, Profile
from trainyard.policies.capacity import GANG
from trainyard.policies.rules import Config, NotApplicable, StackViolation, resource_rule, stack_rule
from trainyard.policies.stack_settings import setting, stack_profile
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import (
    LAUNCH_TEMPLATE,
    NODE_GROUP_PARTS,
    NodeGroup,
    gpu_model,
    gpu_node_groups,
    node_group,
    tpu_node_groups,
)
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources


@resource_rule(
    "gpu-model-outside-profile",
    "A stack uses the GPU models of its team-size profile; others are a decision to be written down.",
    types=NODE_GROUP_PARTS,
    severity=Severity.HIGH,
    controls=("ISO 27001:2022 A.8.6",),
    fix="Choose gpuPools.<pool>.gpu of the profile, or allow the model (allowedGpus) with whoever pays.",
    config={
        "allowedGpus": {
            "type": "array",
            "items": {"enum": list(gpu_names())},
            "default": [],
            "description": "GPU models by the catalogue's names; empty: those of the stack's profile.",
        },
        "unrestrictedProfiles": {
            "type": "array",
            "items": {"enum": list(PROFILE_NAMES)},
            "default": ["large"],
            "description": "Profiles whose teams choose freely: their stack files are reviewed by whoever pays.",
        },
    },
)
def gpu_model_outside_profile(resource: RecordedResource, config: Config) -> Iterator[str]:
    """The profile lists instance types a pool; their GPUs are what it allows."""
    if resource.type == LAUNCH_TEMPLATE:
        gpu = gpu_model(str(value_at(resource.inputs, "instanceType", default="")))
        models: tuple[str, ...] = (gpu,) if gpu else ()
    else:
        models = node_group(resource, Resources((resource,))).gpu_models
    if not models:
        return
    found = stack_profile()
    allowed = set(config["allowedGpus"]) or (_gpus_of(found) if found else set())
    if not allowed:
        raise NotApplicable("the stack names no profile, and allowedGpus is empty")
    if not config["allowedGpus"] and found and found.name in config["unrestrictedProfiles"]:
        raise NotApplicable(f"teams of the {found.name} profile choose freely")
    for model in models:
        if model not in allowed:
            yield f"{model}; allowed: {', '.join(sorted(allowed))}"


def _gpus_of(profile: Profile) -> set[str]:
    pools = profile.names("gpu_pools")
    return {instance(type_).gpu for pool in pools for type_ in profile.figure(f"gpu_pools.{pool}.instance_types").value}


@stack_rule(
    "gpu-count-over-profile",
    "A stack holds no more GPUs than its team-size profile allows.",
    types=NODE_GROUP_PARTS,
    severity=Severity.HIGH,
    controls=("ISO 27001:2022 A.8.6",),
    fix="Lower gpuPools.<pool>.*.maxNodes, or allow more (maxGpus) with whoever pays.",
    config={
        "maxGpus": {"type": "number", "minimum": 0, "default": 0, "description": "0: the sum of the profile's pools."}
    },
)
def gpu_count_over_profile(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """Compares all node groups at their maximum with the profile's largest pools."""
    groups = gpu_node_groups(resources)
    found = stack_profile()
    allowed = config["maxGpus"] or (_most_gpus(found) if found else 0)
    if not allowed:
        raise NotApplicable("the stack names no profile, and maxGpus is 0")
    total = sum(group.gpus for group in groups)
    if total > allowed:
        largest = max(groups, key=lambda group: group.gpus)
        yield largest.resource, f"{total} GPUs with all node groups at their maximum; {allowed:.0f} are allowed"


def _most_gpus(profile: Profile) -> float:
    return sum(_most_gpus_of(profile, pool) for pool in profile.names("gpu_pools"))


def _most_gpus_of(profile: Profile, pool: str) -> float:
    figure = profile.figure(f"gpu_pools.{pool}.gpus")
    return figure.maximum or float(figure.value)


@stack_rule(
    "spot-share-below-target",
    "Outside production at least half of the GPUs, and of the TPU chips, for training that are not reserved are spot.",
    types=NODE_GROUP_PARTS,
    severity=Severity.MEDIUM,
    level=EnforcementLevel.ADVISORY,
    controls=("ISO 27001:2022 A.8.6",),
    fix="Raise gpuPools.<pool>.spot.maxNodes or lower onDemand.maxNodes there; of TPU slices likewise maxSlices.",
    config={
        "minSpotPercent": {"type": "number", "minimum": 0, "maximum": 100, "default": 50},
        "production": {"type": "array", "items": {"type": "string"}, "default": ["production", "prod", "live"]},
    },
)
def spot_share_below_target(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """The agency guide asks for 50 % or more of non-production training on spot.

    People at work are no training: what the profile keeps on demand for them is not counted, and no more than that.
    Nor are the two nodes of a pool with a fabric that hold a job which does not depend on spot, or of a pool of TPU
    slices the one slice that does. GPUs and chips are apart: spot of one does not make up for the other.
    """
    everywhere = [*gpu_node_groups(resources), *tpu_node_groups(resources)]
    groups = [group for group in everywhere if group.capacity != "reserved" and not group.from_queue]
    if not groups:
        raise NotApplicable("no GPUs but reserved ones, or those of a queue, which cost less than on demand too")
    environment = setting("environment") or value_at(groups[0].resource.inputs, "tagsAll", "environment", default="")
    if environment in config["production"]:
        raise NotApplicable(f"{environment} is production")
    found = stack_profile()
    of_gpus = Counter(_never_on_spot(found) if found else {}) + _for_one_gang(resources)
    for unit, spared in (("GPUs", of_gpus), ("TPU chips", _for_one_slice(everywhere))):
        of_unit = [group for group in groups if bool(group.tpu_chips_per_node) == (unit == "TPU chips")]
        spot = sum(_units(group) for group in of_unit if group.capacity == "spot")
        on_demand = Counter[str]()
        for group in of_unit:
            on_demand[group.pool] += _units(group) if group.capacity == "on-demand" else 0
        on_demand -= spared
        total = spot + on_demand.total()
        percent = 100 * spot / total if total else 100
        if percent < config["minSpotPercent"]:
            counted = [group for group in of_unit if group.capacity == "on-demand" and on_demand[group.pool]]
            largest = max(counted, key=_units)
            target = f"the target is {config['minSpotPercent']:.0f} %"
            yield largest.resource, f"{percent:.0f} % of {total} {unit} for training are spot; {target}"


def _units(group: NodeGroup) -> int:
    """What a group is counted by: its TPU chips, or its GPUs."""
    return group.max_nodes * group.tpu_chips_per_node or group.gpus


def _for_one_slice(groups: Sequence[NodeGroup]) -> Counter[str]:
    """Chips on demand for one job on one slice, by pool, where no reservation holds such a job."""
    slices = [group for group in groups if group.tpu_chips_per_node]
    reserved = {group.pool for group in slices if group.capacity == "reserved"}
    kept = Counter[str]()
    for group in slices:
        if group.capacity == "on-demand" and group.pool not in reserved:
            several = bool(value_at(group.resource.inputs, "placementPolicy", "tpuTopology"))  # a node pool a slice
            kept[group.pool] = _units(group) if several else group.tpu_chips_per_node
    return kept


def _for_one_gang(resources: Resources) -> Counter[str]:
    """GPUs on demand for one job over several nodes, by pool with a fabric, where no reservation holds such a job."""
    groups = [group for group in gpu_node_groups(resources) if group.fabric_interfaces]
    reserved = {group.pool for group in groups if group.capacity == "reserved" and group.max_nodes >= GANG}
    kept = Counter[str]()
    for group in groups:
        if group.capacity == "on-demand" and group.pool not in reserved:
            kept[group.pool] = GANG * group.gpus_per_node
    return kept


def _never_on_spot(profile: Profile) -> dict[str, int]:
    """The pools that a profile keeps on demand, for sessions that must not be taken away, with their most GPUs."""
    kept = {}
    for pool in profile.names("gpu_pools"):
        if profile.figure(f"gpu_pools.{pool}.on_demand_percent").value == 100:
            kept[pool] = int(_most_gpus_of(profile, pool))
    return kept
