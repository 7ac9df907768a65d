"""The pod of one node of the job, for the Indexed Job and for what patches a TrainJob's runtime."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from trainyard.conventions import (
    CHECKPOINTS_URI,
    FABRIC,
    GPU_RESOURCE,
    HOSTNAME_LABEL,
    MLFLOW_CREDENTIALS_PATH,
    POOL_LABEL,
    TEAM_STORAGE,
    TRAINER_SERVICE_ACCOUNT,
    TRAINING_CONTAINER_SECURITY,
    gpu_node_labels,
)
from trainyard.smoke_jobs.ddp.options import Options
from trainyard.smoke_jobs.launch.job import ENVIRONMENT, SmokeSpec, document
from trainyard.smoke_jobs.launch.payload import FOLDER

CODE_PATH = f"/smoke/{FOLDER}"
RESULT_PATH = "/tmp/result"  # noqa: S108 - an emptyDir of the pod
START = f"{CODE_PATH}/start.py"

CODE_VOLUME, CREDENTIALS_VOLUME = "smoke-code", "smoke-tracking"

SCRATCH_GIB = 24
"""Size of /tmp at most: 4 GiB of samples and the few 1 GiB checkpoints of a job without tiers, three times over. A pod
that writes more is evicted by itself and fails; without a limit it would fill the node's disk, and the eviction would
look like the cluster's doing, after which the job runs again until its deadline."""

LOGS_GIB = 1
"""Local storage (GiB) that the container is given for its logs, besides `SCRATCH_GIB`."""

Manifest = dict[str, Any]


def resources(spec: SmokeSpec) -> dict[str, str]:
    """What a node's container requests, and its limits: the same, so that nothing else moves in beside a measurement.

    Quantities are spelt as the server keeps them, or every preview would show a change.
    """
    found = {
        "cpu": str(spec.cpu),
        "memory": f"{spec.memory_gib}Gi",
        "ephemeral-storage": f"{SCRATCH_GIB + LOGS_GIB}Gi",
    }
    if spec.gpus_per_node:
        found[GPU_RESOURCE] = str(spec.gpus_per_node)
    if spec.fabric_interfaces:
        found[spec.fabric_resource] = str(spec.fabric_interfaces)
    if spec.hugepages_mib:
        gib, rest = divmod(spec.hugepages_mib, 1024)
        found["hugepages-2Mi"] = f"{spec.hugepages_mib}Mi" if rest else f"{gib}Gi"
    return found


IN_TEAM_STORAGE = f"$({CHECKPOINTS_URI})"
"""The team's part of the checkpoint tier, as the kubelet fills it in: the bucket's name is known to the cluster."""


def environment(spec: SmokeSpec, options: Options) -> list[dict[str, Any]]:
    """Variables of the container; no secret is among them."""
    values = {
        "SMOKE_OPTIONS": document(options),
        "SMOKE_RESULT_DIR": RESULT_PATH,
        "SMOKE_TELL": "1",
        "HOME": "/tmp",  # noqa: S108 - the image's user has no home that may be written
        "USER": TRAINER_SERVICE_ACCOUNT,  # the numeric user has no name, which some libraries ask for
        **ENVIRONMENT,
    }
    if spec.tracking_secret:
        values["SMOKE_CREDENTIALS"] = MLFLOW_CREDENTIALS_PATH
    values |= dict(spec.environment)
    told: list[dict[str, Any]] = []
    if IN_TEAM_STORAGE in options.checkpoint_uri:  # first: the kubelet fills in what stands before
        told = [
            {
                "name": CHECKPOINTS_URI,
                "valueFrom": {"configMapKeyRef": {"name": TEAM_STORAGE, "key": CHECKPOINTS_URI}},
            }
        ]
    return [*told, *({"name": name, "value": value} for name, value in values.items())]


def volumes(spec: SmokeSpec, config_map: str) -> list[Manifest]:
    """The worker's code, shared memory, scratch, credentials and storage tiers."""
    found: list[Manifest] = [
        {"name": CODE_VOLUME, "configMap": {"name": config_map}},
        # A container's usual 64 MiB are too few for data loaders and NCCL.
        {"name": "smoke-shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": f"{spec.shared_memory_gib}Gi"}},
        {"name": "smoke-tmp", "emptyDir": {"sizeLimit": f"{SCRATCH_GIB}Gi"}},
    ]
    if spec.tracking_secret:
        # 0440 (288): the group is the pod's fsGroup
        secret = {"secretName": spec.tracking_secret, "defaultMode": 288}
        found.append({"name": CREDENTIALS_VOLUME, "secret": secret})
    found += [{"name": claim, "persistentVolumeClaim": {"claimName": claim}} for claim, _ in spec.mounts]
    return found


def mounts(spec: SmokeSpec) -> list[Manifest]:
    """The container's volume mounts."""
    found: list[Manifest] = [
        {"name": CODE_VOLUME, "mountPath": CODE_PATH, "readOnly": True},
        {"name": "smoke-shared-memory", "mountPath": "/dev/shm"},  # noqa: S108
        {"name": "smoke-tmp", "mountPath": "/tmp"},  # noqa: S108
    ]
    if spec.tracking_secret:
        found.append({"name": CREDENTIALS_VOLUME, "mountPath": MLFLOW_CREDENTIALS_PATH, "readOnly": True})
    return found + [{"name": claim, "mountPath": path} for claim, path in spec.mounts]


def fabric_check(
    image: str,
    adapters: int,
    resource: str,
    claimed: bool,
    environment: Iterable[tuple[str, str]],
    *,
    ethernet: bool = False,
) -> Manifest:
    """The first container of a pod that trains over a fabric: it ends the pod where NCCL could not use it.

    Args:
        image: of the pod's own container, whose plug-in is looked for.
        adapters: that a node has, and the pod is given.
        resource: the extended resource that gives them; empty where a claim does.
        claimed: whether the pod's claim gives them, which both containers share.
        environment: of the pod's own container, which may tell the loader where the plug-in is.
        ethernet: whether the interfaces are ordinary ones, and the plug-in the node's, which only a container with
            GPUs has.
    """
    given = {"cpu": "1", "memory": "256Mi"}  # less than the pod's own container, beside which it does not run
    given |= {resource: str(adapters)} if resource else {}
    paths = [{"name": name, "value": value} for name, value in environment if name == "LD_LIBRARY_PATH"]
    return {
        "name": FABRIC,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["python3", "-c", fabric_program(), str(adapters), *(["ethernet"] if ethernet else [])],
        **({"env": paths} if paths else {}),
        "resources": {
            "requests": given,
            "limits": dict(given),
            **({"claims": [{"name": FABRIC}]} if claimed else {}),
        },
        "securityContext": dict(TRAINING_CONTAINER_SECURITY),
    }


def fabric_program() -> str:
    """The text of `fabric_check.py`."""
    return Path(__file__).with_name("fabric_check.py").read_text(encoding="utf-8")


def pool_affinity(spec: SmokeSpec) -> Manifest:
    """The pool, and one capacity of it where the job proves one, by affinity.

    Both labels are the flavors' too, so Kueue admits the job to that capacity or not at all. Not by `nodeSelector`:
    Kueue writes there on admission, and applying the same Job again would be refused.
    """
    wanted = gpu_node_labels(spec.pool, spec.capacity) if spec.capacity else {POOL_LABEL: spec.pool}
    expressions = [{"key": key, "operator": "In", "values": [value]} for key, value in wanted.items()]
    if spec.hosts:
        expressions.append({"key": HOSTNAME_LABEL, "operator": "In", "values": list(spec.hosts)})
    term = {"matchExpressions": expressions}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
