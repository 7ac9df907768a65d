"""Training jobs: those that the program makes, and the smoke job that it has a command send."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from trainyard import cards, catalog
from trainyard.recorded.types import (
    BUCKET_POLICY,
    SECURITY_GROUP,
    SECURITY_GROUP_INGRESS_RULE,
    SECURITY_GROUP_RULE,
)
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.refusals.aws import model_check

JOB: Final = "aws:sagemaker/trainingJob:TrainingJob"
COMMAND: Final = "command:local:Command"
_WORDS: Final = ("environment", "hyperParameters", "tags")
"""Members whose keys are somebody's own."""


@dataclass(frozen=True, slots=True)
class Job:
    """One job, its members spelled as the provider does, and where it is told of."""

    view: View
    inputs: Mapping[str, Any]
    place: str  # path within the resource that the request stands at; empty for the resource itself

    def at(self, path: str) -> Any:
        """What is at a path; None where it is absent, or not known."""
        if not self.place:
            return self.view.value(path)
        found: Any = self.inputs
        for step in path.split("."):
            found = found.get(step) if isinstance(found, Mapping) else None
        return found

    def lacks(self, path: str) -> bool:
        """Whether something is absent for sure."""
        return self.view.lacks(path) if not self.place else self.at(path) is None

    def number(self, path: str) -> float | None:
        """A known number."""
        if not self.place:
            return self.view.number(path)
        found = self.at(path)
        return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None

    def error(self, rule: str, path: str, message: str, hint: str = "") -> None:
        """Notes that the job would be refused, or end at once."""
        self.view.error(rule, self.place or path, message if not self.place else f"{path}: {message}", hint=hint)

    def warning(self, rule: str, path: str, message: str, hint: str = "") -> None:
        """Notes what is probably not meant."""
        self.view.warning(rule, self.place or path, message if not self.place else f"{path}: {message}", hint=hint)


Rule = Callable[[Job, Stack], None]


def jobs(stack: Stack) -> Iterator[Job]:
    """The recorded jobs, and requests of CreateTrainingJob among what starts a command again."""
    for view in stack.of_type(JOB):
        yield Job(view, view.inputs, "")
    for view in stack.of_type(COMMAND):
        for index, text in enumerate(view.entries("triggers")):
            request = _request(text)
            if request is not None:
                yield Job(view, _as_provider(request), f"triggers[{index}]")


def check(stack: Stack) -> None:
    """Looks at every job."""
    for job in jobs(stack):
        if job.place:  # the program's own jobs are held against the model with everything else
            _values(job, stack)
        for rule in _RULES:
            rule(job, stack)


def _values(job: Job, stack: Stack) -> None:
    """What the service's own model says of a request."""
    model = cards.BY_TYPE[JOB].model
    if model is None:
        return
    request = View(replace(job.view.resource, type=JOB, inputs=dict(job.inputs)), stack)
    model_check.check(request, model)
    for found in request.findings:
        job.error(found.rule, found.path, found.message, found.hint)


def _request(text: Any) -> Mapping[str, Any] | None:
    if not isinstance(text, str) or "TrainingJobName" not in text:
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "ResourceConfig" in found else None


def _as_provider(value: Any) -> Any:
    """A request of the API with the provider's spelling: `ResourceConfig` is `resourceConfig`."""
    if isinstance(value, list):
        return [_as_provider(item) for item in value]
    if not isinstance(value, dict):
        return value
    spelled = {key[:1].lower() + key[1:]: item for key, item in value.items()}
    return {key: item if key in _WORDS else _as_provider(item) for key, item in spelled.items()}


def _waits(job: Job, _: Stack) -> None:
    run, wait = (job.number(f"stoppingCondition.{key}") for key in ("maxRuntimeInSeconds", "maxWaitTimeInSeconds"))
    path = "stoppingCondition.maxWaitTimeInSeconds"
    if run is not None and wait is not None and wait < run:
        job.error("managed-wait-below-run", path, f"waits {wait:g} seconds in all and runs {run:g} of them")
    spot = job.at("enableManagedSpotTraining")
    if wait is not None and (spot is False or job.lacks("enableManagedSpotTraining")):
        hint = "leave it out, or set enableManagedSpotTraining"
        job.error("managed-wait-without-spot", path, "is for spot, and the job is on demand", hint)
    if spot is True and wait is None and job.lacks(path):
        job.error("managed-spot-without-wait", path, "a job on spot has to say how long it waits, its run included")


def _checkpoints(job: Job, _: Stack) -> None:
    if job.at("enableManagedSpotTraining") is True and job.lacks("checkpointConfig"):
        hint = "checkpointConfig with an s3Uri"
        message = "spot takes the machine away, and the job begins anew: it has no checkpoints"
        job.warning("managed-spot-without-checkpoints", "checkpointConfig", message, hint)


def _volume_key(job: Job, _: Stack) -> None:
    type_, path = job.at("resourceConfig.instanceType"), "resourceConfig.volumeKmsKeyId"
    if not isinstance(type_, str) or job.lacks(path):
        return
    if any(item.nvme_gb and f"ml.{item.type}" == type_ for item in catalog.instances()):
        message = f"{type_} has local disks with a key of their own, and SageMaker refuses one for a volume"
        job.error("managed-volume-key-on-local-disks", path, message, "leave it out")


def _machines(job: Job, _: Stack) -> None:
    groups = job.at("resourceConfig.instanceGroups")
    if groups and not (job.lacks("resourceConfig.instanceType") and job.lacks("resourceConfig.instanceCount")):
        message = "instanceGroups, and instanceType or instanceCount beside them: SageMaker takes one or the other"
        job.error("managed-type-and-groups", "resourceConfig", message)


def _peers(job: Job, stack: Stack) -> None:
    """Machines of a job find each other only where a group of theirs admits itself."""
    count = job.number("resourceConfig.instanceCount")
    ids = job.at("vpcConfig.securityGroupIds")
    if count is None or count < 2 or not isinstance(ids, list) or not ids:
        return
    admitting: set[str] = set()
    for rule in stack.of_type(SECURITY_GROUP_INGRESS_RULE):
        if not rule.text("securityGroupId"):
            return  # of a group that is not known yet: it may be this one's
        if rule.text("referencedSecurityGroupId") == rule.text("securityGroupId") or rule.text("cidrIpv4"):
            admitting.add(str(rule.text("securityGroupId")))
    if stack.of_type(SECURITY_GROUP_RULE):
        return
    recorded = {view.resource.id: view for view in stack.of_type(SECURITY_GROUP)}
    if not all(isinstance(each, str) and each in recorded for each in ids):
        return
    if any(each in admitting or recorded[each].has("ingress") for each in ids):
        return
    message = f"{count:g} machines, and no security group of theirs lets them reach each other"
    job.error("managed-peers-apart", "vpcConfig.securityGroupIds", message, "a group that admits itself, on all ports")


def _isolated(job: Job, _: Stack) -> None:
    environment = job.at("environment")
    tracked = isinstance(environment, Mapping) and "MLFLOW_TRACKING_URI" in environment
    if job.at("enableNetworkIsolation") is True and (tracked or not job.lacks("mlflowConfig")):
        message = "cuts the job off from everything but its channels, and it is told of a tracking server"
        job.error("managed-isolated-and-tracked", "enableNetworkIsolation", message)


def _output_key(job: Job, stack: Stack) -> None:
    """Without a key the service names S3's own, which a bucket that demands ours refuses."""
    path, place = "outputDataConfig.kmsKeyId", job.at("outputDataConfig.s3OutputPath")
    if not isinstance(place, str) or not job.lacks(path):
        return
    bucket = place.removeprefix("s3://").partition("/")[0]
    for policy in stack.of_type(BUCKET_POLICY):
        text = policy.text("policy") or ""
        if f":::{bucket}/" in text and "s3:x-amz-server-side-encryption-aws-kms-key-id" in text:
            message = f"the bucket {bucket} refuses what names another key than its own, and a job without one does"
            job.error("managed-output-without-key", path, message, "the bucket's key, as an ARN")
            return


_RULES: Final[tuple[Rule, ...]] = (
    _waits, _checkpoints, _volume_key, _machines, _peers, _isolated, _output_key,
)  # fmt: skip
