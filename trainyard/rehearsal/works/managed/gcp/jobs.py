"""Custom jobs of Vertex AI: the smoke job that the program has a command send."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from trainyard.conventions.gcp import VERTEX_ACCELERATORS, VERTEX_REGISTRIES, vertex_quota
from trainyard.recorded.types import GCP_ACCOUNT, GCP_QUOTA_OVERRIDE
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.managed.gcp import model
from trainyard.rehearsal.works.managed.gcp.machines import mistake

COMMAND: Final = "command:local:Command"

_GPUS: Final[Mapping[str, tuple[str, ...]]] = {
    accelerator: tuple(gpu for gpu, name in VERTEX_ACCELERATORS.items() if name == accelerator)
    for accelerator in VERTEX_ACCELERATORS.values()
}
"""What else an accelerator is called."""

_DISKS: Final = ("pd-ssd", "pd-standard", "hyperdisk-balanced")
"""Boot disks of a job (Vertex AI, DiskSpec)."""

_LABEL: Final = re.compile(r"[a-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class Job:
    """One request of customJobs.create, and where it is told of."""

    view: View
    body: Mapping[str, Any]
    place: str

    @property
    def spec(self) -> Mapping[str, Any]:
        """What the job is."""
        spec: Mapping[str, Any] = self.body["jobSpec"]
        return spec

    @property
    def pools(self) -> list[Mapping[str, Any]]:
        """Its pools of machines."""
        return [pool for pool in self.spec["workerPoolSpecs"] if isinstance(pool, Mapping)]

    def text(self, *path: str) -> str:
        """A text at a path; empty where there is none."""
        found: Any = self.body
        for step in path:
            found = found.get(step) if isinstance(found, Mapping) else None
        return found if isinstance(found, str) else ""

    def error(self, rule: str, message: str, hint: str = "") -> None:
        """Notes that the job would be refused, or end at once."""
        self.view.error(rule, self.place, message, hint=hint)

    def warning(self, rule: str, message: str, hint: str = "") -> None:
        """Notes what is probably not meant."""
        self.view.warning(rule, self.place, message, hint=hint)


def jobs(stack: Stack) -> Iterator[Job]:
    """Requests of customJobs.create among what starts a command again."""
    for view in stack.of_type(COMMAND):
        for index, text in enumerate(view.entries("triggers")):
            body = _request(text)
            if body is not None:
                yield Job(view, body, f"triggers[{index}]")


def _request(text: Any) -> Mapping[str, Any] | None:
    if not isinstance(text, str) or "workerPoolSpecs" not in text:
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return None
    spec = found.get("jobSpec") if isinstance(found, dict) else None
    return found if isinstance(spec, dict) and isinstance(spec.get("workerPoolSpecs"), list) else None


def check(stack: Stack) -> None:
    """Looks at every job."""
    for job in jobs(stack):
        for rule in _RULES:
            rule(job, stack)


def _members(job: Job, _: Stack) -> None:
    """What Google's own description of a job says of the request."""
    for path, why in model.wrong(job.body):
        job.error("managed-job-value", f"{path}: {why}")


def _task(job: Job, _: Stack) -> None:
    """A job has a name and something to run (Vertex AI, CustomJob and WorkerPoolSpec, 2026-11)."""
    if not job.text("displayName"):
        job.error("managed-job-incomplete", "has no displayName")
    if not job.pools:
        job.error("managed-job-incomplete", "jobSpec.workerPoolSpecs is empty: there is no machine")
    for index, pool in enumerate(job.pools):
        tasks = [key for key in ("containerSpec", "pythonPackageSpec") if pool.get(key)]
        if len(tasks) != 1:
            what = "both a container and a package" if tasks else "neither a container nor a package"
            job.error("managed-job-incomplete", f"workerPoolSpecs[{index}] has {what}")
        image = pool.get("containerSpec")
        if isinstance(image, Mapping) and not image.get("imageUri"):
            job.error("managed-job-incomplete", f"workerPoolSpecs[{index}].containerSpec has no imageUri")


def _disk(job: Job, _: Stack) -> None:
    for index, pool in enumerate(job.pools):
        disk = pool.get("diskSpec")
        kind = disk.get("bootDiskType") if isinstance(disk, Mapping) else None
        if isinstance(kind, str) and kind not in _DISKS:
            job.error(
                "managed-job-value", f"workerPoolSpecs[{index}].diskSpec.bootDiskType: {kind!r}", ", ".join(_DISKS)
            )


def _known_account(job: Job, stack: Stack) -> None:
    """An account of the same project that nobody makes: the others are made here."""
    named = job.text("jobSpec", "serviceAccount")
    made = {view.text("email") or str(view.resource.outputs.get("email") or "") for view in stack.of_type(GCP_ACCOUNT)}
    project = named.partition("@")[2]
    if named and named not in made and any(email.partition("@")[2] == project for email in made):
        job.warning("managed-job-account", f"runs as {named}, which nothing here makes", ", ".join(sorted(made)))


def _key(job: Job, stack: Stack) -> None:
    """A key stands in the region of what it encrypts; whatever is outside it has none."""
    key = re.match(r"projects/[^/]+/locations/([^/]+)/", job.text("encryptionSpec", "kmsKeyName"))
    if key is not None and key[1] != stack.context.region:
        job.error("managed-job-key", f"the key is in {key[1]}, and the job in {stack.context.region}")


def _machines(job: Job, _: Stack) -> None:
    for index, pool in enumerate(job.pools):
        machine = pool.get("machineSpec")
        if not isinstance(machine, Mapping) or not isinstance(machine.get("machineType"), str):
            job.error("managed-machine", f"workerPoolSpecs[{index}] has no machineSpec.machineType")
            continue
        told = mistake(machine["machineType"], machine.get("acceleratorType"), machine.get("acceleratorCount"))
        if told:
            job.error("managed-machine", f"workerPoolSpecs[{index}].machineSpec: {told}")
    if job.pools and str(job.pools[0].get("replicaCount", "1")) != "1":
        job.error("managed-first-pool", "workerPoolSpecs[0] has one replica, and further machines another pool")


def _network(job: Job, _: Stack) -> None:
    if job.spec.get("network") and job.spec.get("pscInterfaceConfig"):
        job.error("managed-two-networks", "network and pscInterfaceConfig: Vertex AI takes one or the other")


def _account(job: Job, _: Stack) -> None:
    if not job.text("jobSpec", "serviceAccount"):
        message = "names no serviceAccount, so that it runs as Google's agent for custom code, which Google lets read "
        job.warning("managed-job-without-account", f"{message}and write every bucket of the project")


def _image(job: Job, _: Stack) -> None:
    for index, pool in enumerate(job.pools):
        container = pool.get("containerSpec")
        image = container.get("imageUri") if isinstance(container, Mapping) else None
        if not isinstance(image, str):
            continue
        host = image.partition("/")[0]
        if ("." in host or ":" in host) and "/" in image and not VERTEX_REGISTRIES.fullmatch(host):
            message = (
                f"workerPoolSpecs[{index}]: Vertex AI pulls from Artifact Registry and Docker Hub, not from {host}"
            )
            job.error("managed-image-registry", message, "copy the image into the environment's repository")


def _bill(job: Job, _: Stack) -> None:
    labels = job.body.get("labels")
    for key, value in labels.items() if isinstance(labels, Mapping) else ():
        if not isinstance(value, str) or not _LABEL.fullmatch(value) or not _LABEL.fullmatch(key):
            job.error("managed-label", f"label {key}: {value!r}; a label has lower-case letters, digits, _ and - alone")


def _ceiling(job: Job, stack: Stack) -> None:
    """A GPU whose quota the program itself sets to nothing."""
    spot = job.text("jobSpec", "scheduling", "strategy") == "SPOT"
    for override in stack.of_type(GCP_QUOTA_OVERRIDE):
        metric = unquote(override.text("metric") or "").rpartition("/")[2]
        if override.text("overrideValue") != "0":
            continue
        for pool in job.pools:
            accelerator = (pool.get("machineSpec") or {}).get("acceleratorType")
            if any(metric == vertex_quota(gpu, spot=spot) for gpu in _GPUS.get(str(accelerator), ())):
                message = f"{accelerator}: {override.resource.name} sets the quota of it to 0, and the job is refused"
                job.error("managed-job-above-ceiling", message, "a machine type of managed.trainingTypes")


Rule = Callable[[Job, Stack], None]
_RULES: Final[tuple[Rule, ...]] = (
    _members,
    _task,
    _disk,
    _machines,
    _network,
    _account,
    _known_account,
    _key,
    _image,
    _bill,
    _ceiling,
)
