"""The smoke job as an Indexed Job with a headless Service, through Kueue: any cluster, no custom resource.

A reclaimed node does not fail it: see `_failure_rules`. That may happen until `activeDeadlineSeconds`, which Kubernetes
counts from the admission, is over: two starts from zero and one run.

The Job is never updated: its name holds a hash of all of its content and of the worker, so a change makes another.
It says nothing of `suspend`, `nodeSelector` and `tolerations`, which belong to Kueue once it admits the Job.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from trainyard.capture import derived
from trainyard.conventions import (
    FABRIC,
    RERUN_ANNOTATION,
    SMOKE_POOL_LABEL,
    TRAINER_SERVICE_ACCOUNT,
    TRAINING_CONTAINER_SECURITY,
    TRAINING_GRACE_SECONDS,
    TRAINING_POD_SECURITY,
    TRAINING_SHUTDOWN_SECONDS,
)
from trainyard.conventions.gpudirect import TRANSPORTS
from trainyard.smoke_jobs.ddp.result import EXIT
from trainyard.smoke_jobs.launch import payload
from trainyard.smoke_jobs.launch.gcp_fabrics import FABRICS, Pod
from trainyard.smoke_jobs.launch.job import SmokeSpec, check, worker_options
from trainyard.smoke_jobs.launch.kueue_status import PRIORITY_LABEL, QUEUE_LABEL
from trainyard.smoke_jobs.launch.pod import (
    CODE_PATH,
    RESULT_PATH,
    START,
    Manifest,
    environment,
    fabric_check,
    mounts,
    pool_affinity,
    resources,
    volumes,
)

CONTAINER = "smoke"
UNASKED = "unasked"
"""Init container that asks for no GPU, says by its variables that it wants all, and expects to see none."""

_UNASKED_PROGRAM = f"""\
import glob, sys
seen = sorted(glob.glob("/dev/nvidia*"))
if seen:
    text = "a container that asked for no GPU sees " + ", ".join(seen)
    with open("/dev/termination-log", "w") as log:
        log.write(text)
    print(text)
    sys.exit({EXIT["fail"]})
"""

UNNAMED = "{}-00000000"
"""A job's name before its hash is known."""

LAST_SECONDS = 120
"""Seconds from the worker's own limit to the Job's: to stop the ranks and write the result."""

PERMANENT = tuple(code for verdict, code in EXIT.items() if verdict not in ("pass", "preempted"))
"""Exit codes that running it again will not mend: internal error, usage, failed, below threshold, timed out."""


@dataclass(frozen=True, slots=True)
class Deferred:
    """What the name's hash leaves out: values that an engine may know only once it has made other things.

    Whoever gives them replaces the Job where they change.
    """

    namespace: Any = None  # None: left out
    arguments: Sequence[Any] = ()  # of the worker, after the options, which they win over
    annotations: Mapping[str, Any] = field(default_factory=dict)  # of the Job


@dataclass(frozen=True, slots=True)
class Rendering:
    """The three objects, complete; `name` is that of the Job and the Service."""

    name: str
    config_map: Manifest
    service: Manifest
    job: Manifest
    more: tuple[Manifest, ...] = ()  # what the pods of a fabric ask for by name

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        """All objects, in the order in which they have to be made."""
        return self.config_map, self.service, *self.more, self.job


NEEDS = {
    "image": "image:tag@sha256:… with torch, --image",
    "namespace": "the team's namespace",
    "queue": "the LocalQueue of that namespace",
}


def render(spec: SmokeSpec, deferred: Deferred | None = None) -> Rendering:
    """The Job and what it needs; where something is `deferred`, its namespace is too. Raises LaunchError."""
    check(spec, "kubernetes", {name: NEEDS[name] for name in NEEDS if name != "namespace" or deferred is None})
    code = payload.files(spec.files)
    # First under a name of equal length, to take the hash of everything, then under its own.
    told = (repr(spec), tuple(code.items()))
    name = _NAMES.get(told)
    if name is None:
        draft = _objects(spec, UNNAMED.format(spec.name), code, Deferred())
        objects = [draft.job, draft.service, *draft.more]
        if len(_NAMES) >= _MOST_NAMES:
            _NAMES.clear()
        name = _NAMES[told] = f"{spec.name}-{payload.digest_with_files(told[1], objects)}"
    derived(name.rpartition("-")[2], told[0])  # the worker's own files are the same for every client
    return _objects(spec, name, code, deferred or Deferred(spec.namespace))


_MOST_NAMES = 256
_NAMES: dict[tuple[str, tuple[tuple[str, str], ...]], str] = {}
"""The names of jobs by all that they are made of: a preview and the run after it render the same job."""


def config_map(spec: SmokeSpec, code: dict[str, str], namespace: Any) -> Manifest:
    """The worker's files. Named by their own hash, so jobs with the same worker share it; its data never changes."""
    digest = derived(
        payload.digest_of_files(tuple(code.items())), *(f"{key} {text}" for key, text in spec.files.items())
    )
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": _metadata(spec, f"{spec.name}-code-{digest}", namespace),
        "immutable": True,
        "data": code,
    }


def _metadata(spec: SmokeSpec, name: str, namespace: Any) -> Manifest:
    where = {} if namespace is None else {"namespace": namespace}
    return {"name": name} | where | {"labels": labels(spec)}


def labels(spec: SmokeSpec) -> dict[str, str]:
    """Labels of everything that belongs to the job."""
    found = {"app.kubernetes.io/name": "trainyard-smoke", "app.kubernetes.io/instance": spec.name}
    return found | ({SMOKE_POOL_LABEL: spec.pool} if spec.pool else {})


def queue_labels(spec: SmokeSpec) -> dict[str, str]:
    """Labels that bring the job to Kueue."""
    return {QUEUE_LABEL: spec.queue} | ({PRIORITY_LABEL: spec.priority} if spec.priority else {})


def _annotated(spec: SmokeSpec) -> dict[str, Any]:
    """What a pod's metadata say besides its labels."""
    return {"annotations": dict(spec.pod_annotations)} if spec.pod_annotations else {}


def _objects(spec: SmokeSpec, name: str, code: dict[str, str], deferred: Deferred) -> Rendering:
    namespace = deferred.namespace
    files = config_map(spec, code, namespace)
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(spec, name, namespace),
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
        shutdown_timeout_s=TRAINING_SHUTDOWN_SECONDS,
    )
    container: Manifest = {
        "name": CONTAINER,
        "image": spec.image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["python3", START],
        **({"args": list(deferred.arguments)} if deferred.arguments else {}),
        "env": environment(spec, options),
        "resources": {"requests": resources(spec), "limits": resources(spec)},
        "securityContext": dict(TRAINING_CONTAINER_SECURITY),
        "volumeMounts": mounts(spec),
    }
    pod: Manifest = {
        "restartPolicy": "Never",
        "subdomain": name,
        "serviceAccountName": TRAINER_SERVICE_ACCOUNT,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": TRAINING_GRACE_SECONDS,
        "securityContext": dict(TRAINING_POD_SECURITY),
        "containers": [container],
        "volumes": volumes(spec, files["metadata"]["name"]),
    }
    if spec.fabric_claim:
        pod["resourceClaims"] = [{"name": FABRIC, "resourceClaimTemplateName": spec.fabric_claim}]
        container["resources"]["claims"] = [{"name": FABRIC}]
    first = [_unasked(spec)] if spec.isolated_gpus else []
    adapters = spec.fabric_interfaces or spec.claimed_interfaces
    if adapters:  # as the pool's runtime, which users name: what this proves is theirs
        claimed = bool(spec.fabric_claim)
        ethernet = spec.fabric in TRANSPORTS
        first.append(
            fabric_check(spec.image, adapters, spec.fabric_resource, claimed, spec.environment, ethernet=ethernet)
        )
    if first:
        pod["initContainers"] = first
    if spec.pool:
        pod["affinity"] = pool_affinity(spec)
    metadata = _metadata(spec, name, namespace)
    metadata["labels"] |= queue_labels(spec)
    rerun = {RERUN_ANNOTATION: json.dumps(dict(spec.rerun_on), sort_keys=True)} if spec.rerun_on else {}
    if annotations := rerun | dict(deferred.annotations):
        metadata["annotations"] = annotations
    job: Manifest = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {
            "completionMode": "Indexed",
            "completions": spec.nodes,
            "parallelism": spec.nodes,
            "backoffLimit": 0,
            "activeDeadlineSeconds": spec.start_timeout_s + spec.run_timeout_s + LAST_SECONDS,
            "podFailurePolicy": {"rules": _failure_rules(CONTAINER, *(each["name"] for each in first))},
            # The head ends with 0 only where every node has ended (`ddp/peers.py`). A node that is lost after that, and
            # before its own end, must not come again alone. Stable since Kubernetes 1.33.
            "successPolicy": {"rules": [{"succeededIndexes": "0"}]},
            "template": {"metadata": {"labels": labels(spec), **_annotated(spec)}, "spec": pod},
        },
    }
    more: list[Manifest] = []
    if spec.fabric:
        FABRICS[spec.fabric](Pod(name, labels(spec), namespace, job["spec"]["template"], more, spec.fabric_daemon))
    return Rendering(name, files, service, job, tuple(more))


def _unasked(spec: SmokeSpec) -> Manifest:
    """The container that must see no GPU: in the job's own pod, because no other of a team's gets to a GPU node."""
    needs = {"cpu": "1", "memory": "256Mi"}  # less than the job's own container, beside which it does not run
    return {
        "name": UNASKED,
        "image": spec.image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["python3", "-c", _UNASKED_PROGRAM],
        "env": [{"name": name, "value": "all"} for name in ("NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES")],
        "resources": {"requests": needs, "limits": dict(needs)},
        "securityContext": dict(TRAINING_CONTAINER_SECURITY),
    }


def _failure_rules(*containers: str) -> list[Manifest]:
    """A pod that the cluster took away does not count and is made again; a verdict ends the Job, with its code.

    The first rule that matches a failed pod decides about it. The pods that survive a lost node end with 75
    (`ddp/peers.py`), so all are made again and the job runs again as a whole; how the lost one ended decides. Without
    the condition, such as 137 of the out-of-memory killer, no rule matches: it counts, and one is one too many.
    """
    return [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {"action": "Ignore", "onExitCodes": _codes(CONTAINER, (EXIT["preempted"],))},
        *({"action": "FailJob", "onExitCodes": _codes(name, PERMANENT)} for name in containers),
    ]


def _codes(container: str, values: tuple[int, ...]) -> Manifest:
    return {"containerName": container, "operator": "In", "values": list(values)}


class _Dumper(yaml.SafeDumper):
    """Files as literal blocks, so that a rendering can be read and diffed."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def to_yaml(manifests: tuple[Manifest, ...]) -> str:
    """The manifests as one YAML stream, keys in their order."""
    return yaml.dump_all(manifests, Dumper=_Dumper, sort_keys=False, width=120, allow_unicode=True)
