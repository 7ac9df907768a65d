"""The smoke job as an Indexed Job with a headless Service, through Kueue: any cluster, no custom resource.

A reclaimed node does not fail it: see `_failure_rules`. That may happen until `activeDeadlineSeconds`, which Kubernetes
counts from the admission, is over: two starts from zero and one run.

The Job is never updated: its name holds a hash of all of its content and of the worker, so a change makes another.
It says nothing of `suspend`, `nodeSelector` and `tolerations`, which belong to Kueue once it admits the Job.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import yaml

from trainyard.conventions import RERUN_ANNOTATION, SMOKE_POOL_LABEL
from trainyard.smoke_jobs.launch import payload
from trainyard.smoke_jobs.launch.job import SmokeSpec, check, worker_options
from trainyard.smoke_jobs.launch.pod import (
    CODE_PATH,
    GRACE_SECONDS,
    RESULT_PATH,
    START,
    Manifest,
    container_security,
    environment,
    mounts,
    pod_security,
    pool_affinity,
    resources,
    volumes,
)

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"

CONTAINER = "smoke"

LAST_SECONDS = 120
"""From the worker's own limit to the Job's: to stop the ranks and write the result."""

PERMANENT = (1, 2, 10, 20, 124)
"""Exit codes that running it again will not mend: internal error, usage, failed, below threshold, timed out."""

PREEMPTED = 75


@dataclass(frozen=True, slots=True)
class Rendering:
    """The three objects; `name` is that of the Job and the Service."""

    name: str
    config_map: Manifest
    service: Manifest
    job: Manifest

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        """In the order in which they have to be made."""
        return self.config_map, self.service, self.job


NEEDS = {
    "image": "image:tag@sha256:… with torch, --image",
    "namespace": "the team's namespace",
    "queue": "the LocalQueue of that namespace",
}


def render(spec: SmokeSpec) -> Rendering:
    """The Job and what it needs. Raises LaunchError."""
    check(spec, "kubernetes", NEEDS)
    code = payload.files(spec.files)
    # First under a name of equal length, to take the hash of everything, then under its own.
    draft = _objects(spec, f"{spec.name}-{'0' * 8}", code)
    for item in draft.manifests:
        del item["metadata"]["namespace"]  # known to the engine only where it makes the namespace too
    content = {"objects": [draft.job, draft.service], "code": code}
    digest = payload.digest(json.dumps(content, sort_keys=True))
    return _objects(spec, f"{spec.name}-{digest}", code)


def config_map(spec: SmokeSpec, code: dict[str, str]) -> Manifest:
    """The worker's files. Named by their own hash, so jobs with the same worker share it; its data never changes."""
    digest = payload.digest(json.dumps(code, sort_keys=True))
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": _metadata(spec, f"{spec.name}-code-{digest}"),
        "immutable": True,
        "data": code,
    }


def _metadata(spec: SmokeSpec, name: str) -> Manifest:
    return {"name": name, "namespace": spec.namespace, "labels": labels(spec)}


def labels(spec: SmokeSpec) -> dict[str, str]:
    """Labels of everything that belongs to the job."""
    found = {"app.kubernetes.io/name": "trainyard-smoke", "app.kubernetes.io/instance": spec.name}
    return found | ({SMOKE_POOL_LABEL: spec.pool} if spec.pool else {})


def _objects(spec: SmokeSpec, name: str, code: dict[str, str]) -> Rendering:
    files = config_map(spec, code)
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(spec, name),
        "spec": {
            "clusterIP": "None",
            # Ranks look for each other before they can say that they are ready.
            "publishNotReadyAddresses": True,
            "selector": {"batch.kubernetes.io/job-name": name},
        },
    }
    options = worker_options(
        spec,
        "kubernetes",
        CODE_PATH,
        head=f"{name}-0.{name}",
        expected_hosts=[f"{name}-{index}" for index in range(spec.nodes)],
        result_dir=RESULT_PATH,
        shutdown_timeout_s=GRACE_SECONDS - 20,
    )
    container = {
        "name": CONTAINER,
        "image": spec.image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["python3", START],
        "env": environment(spec, options),
        "resources": {"requests": resources(spec), "limits": resources(spec)},
        "securityContext": container_security(),
        "volumeMounts": mounts(spec),
    }
    pod: Manifest = {
        "restartPolicy": "Never",
        "subdomain": name,
        "serviceAccountName": spec.service_account,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": GRACE_SECONDS,
        "securityContext": pod_security(spec),
        "containers": [container],
        "volumes": volumes(spec, files["metadata"]["name"]),
    }
    if spec.pool:
        pod["affinity"] = pool_affinity(spec)
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": _metadata(spec, name),
        "spec": {
            "completionMode": "Indexed",
            "completions": spec.nodes,
            "parallelism": spec.nodes,
            "backoffLimit": 0,
            "activeDeadlineSeconds": spec.start_timeout_s + spec.run_timeout_s + LAST_SECONDS,
            "podFailurePolicy": {"rules": _failure_rules()},
            # The head ends with 0 only where every node has ended (`ddp/peers.py`). A node that is lost after that, and
            # before its own end, must not come again alone. Stable since Kubernetes 1.33.
            "successPolicy": {"rules": [{"succeededIndexes": "0"}]},
            "template": {"metadata": {"labels": labels(spec)}, "spec": pod},
        },
    }
    metadata: Manifest = job["metadata"]  # type: ignore[assignment]
    metadata["labels"] = labels(spec) | {QUEUE_LABEL: spec.queue}
    if spec.priority:
        metadata["labels"][PRIORITY_LABEL] = spec.priority
    if spec.rerun_on:
        metadata["annotations"] = {RERUN_ANNOTATION: json.dumps(dict(spec.rerun_on), sort_keys=True)}
    return Rendering(name, files, service, job)


def _failure_rules() -> list[Manifest]:
    """A pod that the cluster took away does not count and is made again; a verdict ends the Job, with its code.

    The first rule that matches a failed pod decides about it. The pods that survive a lost node end with 75
    (`ddp/peers.py`), so all are made again and the job runs again as a whole; how the lost one ended decides. Without
    the condition, such as 137 of the out-of-memory killer, no rule matches: it counts, and one is one too many.
    """
    return [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {"action": "Ignore", "onExitCodes": _codes((PREEMPTED,))},
        {"action": "FailJob", "onExitCodes": _codes(PERMANENT)},
    ]


def _codes(values: tuple[int, ...]) -> Manifest:
    return {"containerName": CONTAINER, "operator": "In", "values": list(values)}


class _Dumper(yaml.SafeDumper):
    """Files as literal blocks, so that a rendering can be read and diffed."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def to_yaml(manifests: tuple[Manifest, ...]) -> str:
    """The manifests as one YAML stream, keys in their order."""
    return yaml.dump_all(manifests, Dumper=_Dumper, sort_keys=False, width=120, allow_unicode=True)
