"""The smoke job as a Vertex AI CustomJob: pool 0 is the first node, pool 1 the others, the worker from Cloud Storage.

Vertex mounts every bucket that the service account may read below /gcs, so the worker, its options and the result lie
in one folder of a bucket; CLUSTER_SPEC tells the worker its place.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from trainyard.conventions.gcp import VERTEX_ACCELERATORS
from trainyard.smoke_jobs.ddp.result import EXIT
from trainyard.smoke_jobs.launch import payload
from trainyard.smoke_jobs.launch.extras import GCP, imported
from trainyard.smoke_jobs.launch.follow import Ended, View, ended
from trainyard.smoke_jobs.launch.gcp_fabrics import TCPXO_SCRIPT, TRANSPORT, sourced
from trainyard.smoke_jobs.launch.job import (
    ENVIRONMENT,
    OPTIONS,
    LaunchError,
    SmokeSpec,
    check,
    document,
    submission_name,
    worker_options,
)

INTERVAL_S = 10.0

NO_QUOTA = "exceed quota limits"
"""What Vertex AI says where a project has no quota for the machines (RESOURCE_EXHAUSTED, as public reports of 2025
quote it)."""

HYPERDISK = ("a3-ultragpu-", "a4-", "a4x-", "g4-")
"""Machine types without Persistent Disk (Compute Engine's documentation of its accelerator machines, 2026-11)."""


TCPXO = "a3-megagpu-"
"""Machine types whose NCCL takes TCPXO only with Google's own variables, and else falls from 340 to 4 GB/s unseen."""


@dataclass(frozen=True, slots=True)
class VertexSettings:
    """What only Vertex AI has to be told."""

    bucket: str  # gs://bucket/prefix for code, checkpoints and output
    project: str = ""
    region: str = ""
    service_account: str = ""  # empty: Vertex AI's own
    network: str = ""  # projects/<number>/global/networks/<name>
    spot: bool = True
    disk_gib: int = 200
    kms_key: str = ""  # projects/<id>/locations/<region>/keyRings/…/cryptoKeys/…: of disks and of what it keeps
    labels: tuple[tuple[str, str], ...] = ()  # on the bill, besides managed-by


def _check(spec: SmokeSpec, settings: VertexSettings) -> None:
    check(
        spec,
        "vertex",
        {
            "image": "an image in Artifact Registry, --image",
            "instance": "a machine type such as g2-standard-48, --instance",
        },
    )
    if not settings.bucket.startswith("gs://"):
        raise LaunchError(f"bucket is {settings.bucket!r}: gs://bucket/prefix, --bucket")
    if spec.gpus_per_node and spec.gpu not in VERTEX_ACCELERATORS:
        raise LaunchError(f"gpu is {spec.gpu!r}: one of {', '.join(VERTEX_ACCELERATORS)}, --gpu")
    if _over_tcpxo(spec) and spec.transport not in ("", TRANSPORT):
        raise LaunchError(f"transport is {spec.transport}: {spec.instance} has {TRANSPORT}, --transport")


def _over_tcpxo(spec: SmokeSpec) -> bool:
    return spec.nodes > 1 and spec.instance.startswith(TCPXO)


def root(settings: VertexSettings, name: str) -> str:
    """Where the nodes see the job's folder of the bucket."""
    return f"/gcs/{settings.bucket.removeprefix('gs://').rstrip('/')}/{name}"


def _boot_disk(machine_type: str) -> str:
    """A3 Ultra and what came after it boot from Hyperdisk only."""
    return "hyperdisk-balanced" if machine_type.startswith(HYPERDISK) else "pd-ssd"


def files(spec: SmokeSpec, settings: VertexSettings, name: str) -> dict[str, str]:
    """Objects of the job's folder, by their path in it."""
    home = root(settings, name)
    options = worker_options(
        replace(spec, transport=TRANSPORT) if _over_tcpxo(spec) else spec,
        "vertex",
        f"{home}/code/{payload.FOLDER}",
        result_dir="/tmp/result",  # noqa: S108 - the container's; a bucket's mount cannot rename
        # The device calls itself "NVIDIA A100-SXM4-40GB".
        expect_model=spec.gpu.partition("-")[0],
        checkpoint_uri=spec.checkpoint_uri,
    )
    return payload.in_folder(spec.files, "code/") | {f"code/{OPTIONS}": document(options)}


def render(spec: SmokeSpec, settings: VertexSettings, name: str) -> dict[str, Any]:
    """The body of projects.locations.customJobs.create. Raises LaunchError."""
    _check(spec, settings)
    home = root(settings, name)
    variables = {
        "SMOKE_OPTIONS": f"{home}/code/{OPTIONS}",
        "SMOKE_RESULT_DIR": "/tmp/result",  # noqa: S108
        "SMOKE_TELL": "1",
        "SMOKE_RESULT_COPY": f"{home}/result.json",
        **ENVIRONMENT,
    } | dict(spec.environment)
    command = ["python3", f"{home}/code/{payload.FOLDER}/start.py"]
    # A T4 is attached to a machine, and the catalogue's name of the two is none of Google's.
    machine: dict[str, Any] = {"machineType": spec.instance.partition("+")[0]}
    if spec.gpus_per_node:
        machine |= {"acceleratorType": VERTEX_ACCELERATORS[spec.gpu], "acceleratorCount": spec.gpus_per_node}
    pool: dict[str, Any] = {
        "machineSpec": machine,
        "diskSpec": {"bootDiskType": _boot_disk(spec.instance), "bootDiskSizeGb": settings.disk_gib},
        "containerSpec": {
            "imageUri": spec.image,
            "command": sourced(TCPXO_SCRIPT, command) if _over_tcpxo(spec) else command,
            "env": [{"name": key, "value": value} for key, value in variables.items()],
        },
    }
    pools = [{**pool, "replicaCount": "1"}]
    if spec.nodes > 1:
        pools.append({**pool, "replicaCount": str(spec.nodes - 1)})
    job: dict[str, Any] = {
        "workerPoolSpecs": pools,
        "scheduling": {
            "timeout": f"{spec.run_timeout_s + 300}s",
            # A check that failed would be retried, and paid, three times more; so would a preempted job be, unseen.
            "disableRetries": True,
            "strategy": "SPOT" if settings.spot else "STANDARD",
        },
        "baseOutputDirectory": {"outputUriPrefix": f"{settings.bucket.rstrip('/')}/{name}"},
    }
    if settings.service_account:
        job["serviceAccount"] = settings.service_account
    if settings.network:
        job["network"] = settings.network
    body: dict[str, Any] = {
        "displayName": name,
        "jobSpec": job,
        "labels": {"managed-by": "trainyard", **dict(settings.labels)},
    }
    if settings.kms_key:
        body["encryptionSpec"] = {"kmsKeyName": settings.kms_key}
    return body


@dataclass(frozen=True, slots=True)
class Clients:
    """What submitting needs of the Google packages."""

    jobs: Any  # aiplatform_v1.JobServiceClient
    storage: Any  # storage.Client
    from_json: Callable[[str], Any]  # aiplatform_v1.CustomJob.from_json
    errors: type[Exception]  # google.api_core.exceptions.GoogleAPIError


def connect(settings: VertexSettings) -> Clients:
    """Clients of Vertex AI and Cloud Storage. Raises LaunchError without the packages, project or region."""
    purpose = "submitting to Vertex AI"
    exceptions = imported("google.api_core.exceptions", GCP, purpose)
    aiplatform = imported("google.cloud.aiplatform_v1", GCP, purpose)
    storage = imported("google.cloud.storage", GCP, purpose)
    if not settings.project or not settings.region:
        raise LaunchError("Vertex AI needs a project and a region: --gcp-project and --region")
    endpoint = {"api_endpoint": f"{settings.region}-aiplatform.googleapis.com"}
    return Clients(
        jobs=aiplatform.JobServiceClient(client_options=endpoint),
        storage=storage.Client(project=settings.project),
        from_json=aiplatform.CustomJob.from_json,
        errors=exceptions.GoogleAPIError,
    )


def run(
    spec: SmokeSpec,
    settings: VertexSettings,
    view: View,
    clients: Clients,
    pause: Callable[[float], None] = time.sleep,
) -> Ended:
    """Uploads the worker, submits the job and follows it; Ctrl-C cancels the job. Raises LaunchError."""
    name = submission_name(spec, time.time())  # also the folder of the bucket
    body = render(spec, settings, name)
    bucket_name, _, prefix = settings.bucket.removeprefix("gs://").rstrip("/").partition("/")
    folder = f"{prefix}/{name}" if prefix else name
    try:
        view.status("uploading the worker")
        bucket = clients.storage.bucket(bucket_name)
        for key, text in files(spec, settings, name).items():
            bucket.blob(f"{folder}/{key}").upload_from_string(text)
        job = clients.jobs.create_custom_job(
            parent=f"projects/{settings.project}/locations/{settings.region}",
            custom_job=clients.from_json(json.dumps(body)),
        )
        try:
            state = _wait(clients.jobs, job.name, view, pause)
        except KeyboardInterrupt:
            clients.jobs.cancel_custom_job(name=job.name)
            raise
        blob = bucket.blob(f"{folder}/result.json")
        found = json.loads(blob.download_as_bytes()) if blob.exists() else None
    except clients.errors as error:
        raise LaunchError(_refused(str(error))) from None
    code = EXIT["timeout"] if state == "JOB_STATE_EXPIRED" else None
    return ended(found, code, "" if found else f"{name} ended {state} and left no result; see its log")


def _refused(said: str) -> str:
    """What Google Cloud says, and of a quota that is too small, what to do: its text names the metric."""
    if NO_QUOTA in said:
        how = "ask for more under IAM & Admin, Quotas, Vertex AI; `trainyard preflight STACK` names what is missing"
        return f"the project has no quota for the job: {said} ({how})"
    return f"Google Cloud refused: {said}"


def _wait(jobs: Any, name: str, view: View, pause: Callable[[float], None]) -> str:
    ends = ("SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED", "PARTIALLY_SUCCEEDED")
    while True:
        state = str(jobs.get_custom_job(name=name).state.name)
        if state.removeprefix("JOB_STATE_") in ends:
            return state
        view.status(f"job is {state.removeprefix('JOB_STATE_').lower()}")
        pause(INTERVAL_S)
