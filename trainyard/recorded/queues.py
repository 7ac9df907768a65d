"""Kueue's queues, read from what was recorded: their quotas of GPUs, by flavor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.conventions import ACCELERATORS, CAPACITY_LABEL, GPU_RESOURCE, POOL_LABEL
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import UnreadableInput, mapping_at, mappings_at, value_at

_KUEUE = "kubernetes:kueue.x-k8s.io/*:"
KUEUE_OBJECTS = f"{_KUEUE}*"
CLUSTER_QUEUE = f"{_KUEUE}ClusterQueue"
COHORT = f"{_KUEUE}Cohort"
LOCAL_QUEUE = f"{_KUEUE}LocalQueue"
RESOURCE_FLAVOR = f"{_KUEUE}ResourceFlavor"
PRIORITY_CLASS = f"{_KUEUE}WorkloadPriorityClass"
TOPOLOGY = f"{_KUEUE}Topology"
ADMISSION_CHECK = f"{_KUEUE}AdmissionCheck"


def cohort_of(queue: RecordedResource) -> str | None:
    """The cohort of a cluster queue: `cohortName`, which v1beta1 calls `cohort`.

    Raises:
        UnknownInput: it is not known yet.
    """
    name = value_at(queue.inputs, "spec", "cohortName", default=value_at(queue.inputs, "spec", "cohort"))
    return name if isinstance(name, str) else None


def gpu_quotas(queue: RecordedResource, resource: str = GPU_RESOURCE) -> Iterator[tuple[str, float]]:
    """Flavor and nominal GPUs of every quota of a cluster queue or cohort.

    `resource`: another one that is rationed as GPUs are.

    Raises:
        UnknownInput: a part of them is not known yet.
        UnreadableInput: a quota is no quantity of 0 or more.
    """
    yield from _quantities(nominal_gpus(queue, resource))


def accelerator_quotas(queue: RecordedResource) -> Iterator[tuple[str, float]]:
    """Flavor and nominal GPUs or TPU chips of every quota of a cluster queue or cohort; raises as `gpu_quotas` does."""
    for resource in ACCELERATORS:
        yield from gpu_quotas(queue, resource)


def _quantities(quotas: Iterator[tuple[str, str, Any]]) -> Iterator[tuple[str, float]]:
    for _, flavor, given in quotas:
        found = quantity(given)
        if found is None or found < 0:
            raise UnreadableInput("nominalQuota", f"{given!r} is not a quantity of 0 or more")
        yield flavor, found


def nominal_gpus(queue: RecordedResource, resource: str = GPU_RESOURCE) -> Iterator[tuple[str, str, Any]]:
    """Path, flavor and value as it is given, quantity or not, of every quota of GPUs of a cluster queue or cohort.

    `resource`: another one that is rationed as GPUs are.

    Raises:
        UnknownInput: a part of them is not known yet.
    """
    for at, group in enumerate(mappings_at(queue.inputs, "spec", "resourceGroups")):
        for place, flavor in enumerate(mappings_at(group, "flavors")):
            for index, quota in enumerate(mappings_at(flavor, "resources")):
                if value_at(quota, "name") == resource:
                    path = f"spec.resourceGroups[{at}].flavors[{place}].resources[{index}].nominalQuota"
                    yield path, str(value_at(flavor, "name")), value_at(quota, "nominalQuota")


def nodes_of_flavor(flavor: RecordedResource) -> tuple[str, str]:
    """Pool and capacity of the nodes that a resource flavor stands for, by their labels; empty where it names none.

    Raises:
        UnknownInput: the labels are not known yet.
    """
    labels = mapping_at(flavor.inputs, "spec", "nodeLabels")
    return str(labels.get(POOL_LABEL, "")), str(labels.get(CAPACITY_LABEL, ""))
