"""The smoke job as a TrainJob of Kubeflow Trainer 2.3, on the platform's runtime: of the pool where it has a fabric.

What a member of a team may make: the Trainer makes the headless Service. The runtime restarts the job after a lost node
and after an error, and not after a verdict (`components/k8s/runtimes.py`); `cluster_watch` ends with the first verdict.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from trainyard.conventions import TORCH_RUNTIME, TRAINING_SHUTDOWN_SECONDS, pool_runtime
from trainyard.smoke_jobs.launch import payload
from trainyard.smoke_jobs.launch.job import SmokeSpec, check, worker_options
from trainyard.smoke_jobs.launch.kubernetes import (
    LAST_SECONDS,
    NEEDS,
    UNNAMED,
    config_map,
    labels,
    queue_labels,
)
from trainyard.smoke_jobs.launch.pod import (
    CODE_PATH,
    CODE_VOLUME,
    CREDENTIALS_VOLUME,
    RESULT_PATH,
    START,
    Manifest,
    environment,
    mounts,
    pool_affinity,
    resources,
    volumes,
)

MANAGER = "trainyard.ml.platform/smoke"
"""Who wrote the patch; Kueue adds one of its own to the same list."""

OF_THE_RUNTIME = ("HOME", "TORCH_DISABLE_SHARE_RDZV_TCP_STORE")
"""Variables that the runtime's container has already."""


@dataclass(frozen=True, slots=True)
class Rendering:
    """The two objects; `name` is that of the TrainJob."""

    name: str
    config_map: Manifest
    train_job: Manifest

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        """All objects, in the order in which they have to be made."""
        return self.config_map, self.train_job


def render(spec: SmokeSpec) -> Rendering:
    """The TrainJob and the worker's files. Storage tiers are those that the runtime mounts. Raises LaunchError."""
    check(spec, "trainjob", NEEDS)
    code = payload.files(spec.files)
    files = config_map(spec, code, spec.namespace)
    draft = _train_job(spec, UNNAMED.format(spec.name), files["metadata"]["name"])
    digest = payload.digest(json.dumps([draft, dict(spec.rerun_on)], sort_keys=True))
    name = f"{spec.name}-{digest}"
    return Rendering(name, files, _train_job(spec, name, files["metadata"]["name"]))


def runtime(spec: SmokeSpec) -> str:
    """The runtime that users of the pool name: its own where it has a fabric."""
    return pool_runtime(spec.pool) if spec.pool and spec.fabric_interfaces else TORCH_RUNTIME


def _train_job(spec: SmokeSpec, name: str, config: str) -> Manifest:
    options = worker_options(
        spec, "trainjob", CODE_PATH, result_dir=RESULT_PATH, shutdown_timeout_s=TRAINING_SHUTDOWN_SECONDS
    )
    ours = [variable for variable in environment(spec, options) if variable["name"] not in OF_THE_RUNTIME]
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": name, "namespace": spec.namespace, "labels": labels(spec) | queue_labels(spec)},
        "spec": {
            "runtimeRef": {"name": runtime(spec)},
            "activeDeadlineSeconds": spec.start_timeout_s + spec.run_timeout_s + LAST_SECONDS,
            "trainer": {
                "image": spec.image,
                "command": ["python3", START],
                "env": ours,
                "numNodes": spec.nodes,
                "numProcPerNode": spec.ranks_per_node,
                "resourcesPerNode": {"requests": resources(spec), "limits": resources(spec)},
            },
            "runtimePatches": [
                {
                    "manager": MANAGER,
                    "trainingRuntimeSpec": {
                        "template": {
                            "spec": {
                                "replicatedJobs": [
                                    {"name": "node", "template": {"spec": {"template": _patch(spec, config)}}}
                                ]
                            }
                        }
                    },
                }
            ],
        },
    }


def _patch(spec: SmokeSpec, config: str) -> Manifest:
    """What the runtime's pod lacks: the worker's files, the credentials, the pool."""
    lacks = (CODE_VOLUME, CREDENTIALS_VOLUME)
    added = [volume for volume in volumes(spec, config) if volume["name"] in lacks]
    where = [mount for mount in mounts(spec) if mount["name"] in lacks]
    pod: Manifest = {"volumes": added, "containers": [{"name": "node", "volumeMounts": where}]}
    if spec.pool:
        pod["affinity"] = pool_affinity(spec)
    return {"metadata": {"labels": labels(spec)}, "spec": pod}
