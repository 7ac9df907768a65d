"""Security: what a pod may do once somebody is in it. No root, no token of the API, no memory without an end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pulumi_policy import Severity

from trainyard.policies import node_daemons, pods
from trainyard.policies.rules import Config, resource_rule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_set, list_at, value_at
from trainyard.recorded.types import TRAIN_JOB


@resource_rule(
    "pod-as-root",
    "No container runs as root, but in the named workloads of the system.",
    types=(*pods.TYPES, TRAIN_JOB),
    severity=Severity.HIGH,
    controls=("CIS EKS 1.5.0 4.2.6", "NIST 800-53r5 AC-6", "ISO 27001:2022 A.8.2"),
    fix="Set runAsNonRoot and a runAsUser above 0, or name the workload in systemWorkloads.",
    config=pods.system_workloads(
        ["kube-system/team-logs", *node_daemons.AGENTS],
        "Workloads that may, as namespace/name (globs). The files of runtime and node are root's.",
    ),
)
def pod_as_root(resource: RecordedResource, config: Config) -> Iterator[str]:
    """A container's own security context goes before its pod's. Where neither says anything, the image decides.

    What a TrainJob says nothing of, its runtime says, which is judged.
    """
    patches = pods.is_train_job(resource)
    found = [message for _, spec in pods.pod_specs(resource) for message in _roots(spec, patch=patches)]
    # Asked last: at a first preview nobody knows yet what the namespace is called.
    if found and not pods.is_of_the_system(resource, config):
        yield from found


def _roots(spec: Any, *, patch: bool) -> Iterator[str]:
    if patch and not list_at(spec, "containers"):  # what it says of the pod is for the runtime's container
        spec = {"containers": [{"name": "node"}], "securityContext": value_at(spec, "securityContext")}
    daemon = node_daemons.allowed(spec)
    for kind in ("initContainers", "containers"):
        for container in list_at(spec, kind):
            if daemon.container and value_at(container, "name") == daemon.container:
                continue
            user, guarded = (_context(spec, container, key) for key in ("runAsUser", "runAsNonRoot"))
            where = f"container {value_at(container, 'name')}"
            if user == 0:
                yield f"{where}: runAsUser is 0"
            elif patch and guarded in (False, "false"):
                yield f"{where}: runAsNonRoot is false"
            elif not patch and user is None and guarded not in (True, "true"):
                yield f"{where}: neither runAsNonRoot nor runAsUser is set, the image decides"


def _context(spec: Any, container: Any, key: str) -> Any:
    own = value_at(container, "securityContext", key)
    return value_at(spec, "securityContext", key) if own is None else own


@resource_rule(
    "container-without-limits",
    "Every container has a limit of memory: what leaks takes itself down, not its neighbours.",
    types=(*pods.TYPES, TRAIN_JOB),
    severity=Severity.MEDIUM,
    controls=("NIST 800-53r5 SC-6", "ISO 27001:2022 A.8.6"),
    fix="Set resources.limits.memory. A limit of CPU is not asked for: it slows down where nobody needs the rest.",
)
def container_without_limits(resource: RecordedResource, _: Config) -> Iterator[str]:
    """A limit of the pod, or of each container. A training runtime leaves it to the TrainJob, which is judged."""
    if resource.type in pods.RUNTIMES:
        return
    if resource.type not in pods.TYPES:
        if not is_set(resource.inputs, "spec", "trainer", "resourcesPerNode", "limits", "memory"):
            yield "trainer.resourcesPerNode.limits.memory is not set"
        return
    for _where, template in pods.pod_specs(resource):
        if is_set(template, "resources", "limits", "memory"):
            continue
        for kind in ("initContainers", "containers"):
            for item in list_at(template, kind):
                if not is_set(item, "resources", "limits", "memory"):
                    yield f"container {value_at(item, 'name')}: resources.limits.memory is not set"
