"""What was missed, and what was accused, when each noun of what the rehearsal promises was asked about by itself.

137 mistakes were written for its clauses, of placement, queues, references, rights, paths, machines and charts, before
any rule was read: 131 were told at first sight. The six that were not are here, with what is right beside each, and the
healthy changes that a policy accused.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.rehearsal.works.mistakes import Change, added, context_of, edit, put, tells
from trainyard.policies.pack import POLICIES
from trainyard.recorded.types import IAM_POLICY, ROLE, ROLE_POLICY_ATTACHMENT, VPC_ENDPOINT
from trainyard.rehearsal.refusals.check import check_values
from trainyard.review.policy_check.check import check_policies

CRON_JOB = "kubernetes:batch/v1:CronJob"
FLAVOR = "kubernetes:kueue.x-k8s.io/v1beta2:ResourceFlavor"
CHECKPOINTS = "checkpoint-check-vision-checkpoint-check"
QUEUE = "kueue~x-k8s~io/queue-name"
BOUNDARY = "arn:aws:iam::123456789012:policy/walls"
WALLS = "urn:pulumi:demo::trainyard::aws:iam/policy:Policy::walls"


def labelled(name: str) -> Change:
    """A CronJob whose jobs name a queue."""
    return edit(CRON_JOB, CHECKPOINTS, put(f"spec.jobTemplate.metadata.labels.{QUEUE}", name))


def mislabelled(inputs: dict[str, Any]) -> None:
    """The label on the CronJob, and on its jobs' pods, and not on its jobs."""
    labels = inputs["spec"]["jobTemplate"]["metadata"]["labels"]
    inputs["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = labels.pop("kueue.x-k8s.io/queue-name")


def huge(amount: str) -> Change:
    """A job of two nodes with EFA that asks for so much of huge pages."""

    def into(inputs: dict[str, Any]) -> None:
        for container in inputs["spec"]["template"]["spec"]["containers"]:
            if container["name"] == "smoke":
                for part in ("requests", "limits"):
                    container["resources"][part]["hugepages-2Mi"] = amount

    return edit("kubernetes:batch/v1:Job", "smoke-train-spot-job", into)


def calls(service: str) -> Change:
    """A webhook of one's own about Kueue's objects."""
    hook = {
        "name": "own.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Ignore",
        "clientConfig": {"service": {"name": service, "namespace": "kueue-system", "path": "/validate"}},
        "rules": [{"apiGroups": ["kueue.x-k8s.io"], "apiVersions": ["v1beta2"], "operations": ["CREATE"],
                   "resources": ["clusterqueues"]}],
    }  # fmt: skip
    return added("admissionregistration.k8s.io/v1:ValidatingWebhookConfiguration", "own", {"webhooks": [hook]})


def looks_in(*names: str) -> Change:
    """The monitor of Kueue in other namespaces."""
    monitor = "kubernetes:monitoring.coreos.com/v1:ServiceMonitor"
    return edit(monitor, "monitoring-queues", put("spec.namespaceSelector.matchNames", list(names)))


def trains_by(runtime: str) -> Change:
    """A TrainJob of a runtime."""
    spec = {"runtimeRef": {"name": runtime}, "trainer": {"numNodes": 1, "command": ["torchrun", "train.py"]}}
    return added("trainer.kubeflow.org/v1alpha1:TrainJob", "own", {"spec": spec}, "team-vision")


def called(service: str) -> Change:
    """An endpoint of another service."""
    return edit(VPC_ENDPOINT, "network-sts-interface", put("serviceName", f"com.amazonaws.us-east-1.{service}"))


TOLD: dict[str, tuple[str, Change]] = {
    "a CronJob's jobs in a queue that is not there": ("queues-no-local-queue", labelled("cpu")),
    "the queue's label on the CronJob itself": ("queues-label-place", edit(CRON_JOB, CHECKPOINTS, mislabelled)),
    "a CronJob's jobs of a priority that is not there": (
        "queues-no-priority",
        edit(CRON_JOB, CHECKPOINTS, put("spec.jobTemplate.metadata.labels.kueue~x-k8s~io/priority-class", "high")),
    ),
    "more huge pages than the driver of EFA reserves": ("placement-no-node", huge("64Gi")),
    "a webhook that calls a service which the chart calls otherwise": ("reference-missing", calls("kueue-webhook")),
    "a monitor that looks where no such pod is": ("reference-monitor-selects-nothing", looks_in("kueue")),
    "a monitor that looks in two namespaces, one of them misspelt": (
        "reference-monitor-selects-nothing",
        looks_in("kueue-sytem", "monitoring"),
    ),
    "a TrainJob of a runtime that nobody makes": ("reference-runtime", trains_by("torch-distributed-h100")),
}
RIGHT: dict[str, tuple[str, Change]] = {
    "a CronJob's jobs in another queue of the namespace": ("queues-no-local-queue", labelled("smoke")),
    "as many huge pages as are reserved": ("placement-no-node", huge("10Gi")),
    "a webhook that calls the chart's service": ("reference-missing", calls("kueue-webhook-service")),
    "a monitor that looks in two namespaces": (
        "reference-monitor-selects-nothing",
        looks_in("kueue-system", "monitoring"),
    ),
    "a TrainJob of a runtime that is there": ("reference-runtime", trains_by("torch-distributed-train")),
}


@pytest.mark.parametrize("what", TOLD)
def test_what_was_missed_is_told(rehearsed, what):
    rule, change = TOLD[what]
    assert rule in tells(rehearsed("demo"), change, rule, ours=True)


@pytest.mark.parametrize("what", RIGHT)
def test_what_is_right_beside_it_is_not(rehearsed, what):
    rule, change = RIGHT[what]
    assert rule not in tells(rehearsed("demo"), change, rule, ours=True)


@pytest.mark.parametrize(
    ("service", "meant"),
    [("security-token", "sts"), ("ecr", "ecr.api"), ("efs", "elasticfilesystem"), ("cloudwatch", "monitoring")],
)
def test_an_endpoint_that_is_called_as_its_service_is_elsewhere(rehearsed, service, meant):
    demo = rehearsed("demo")
    found = check_values(called(service)(demo.known.resources), context_of(demo))
    assert any(one.rule == "endpoint-service" and meant in one.allowed and one.level == "error" for one in found)


@pytest.mark.parametrize("service", ["ssm", "ecr.api", "aps-workspaces", "elasticfilesystem"])
def test_an_endpoint_that_is_called_as_it_is(rehearsed, service):
    demo = rehearsed("demo")
    found = check_values(called(service)(demo.known.resources), context_of(demo))
    assert "endpoint-service" not in {one.rule for one in found}


def violations(stack: Any, change: Change, *names: str) -> set[str]:
    """Of some policies those that a changed stack violates."""
    rules = [policy for policy in POLICIES if policy.name in names]
    changed = change(stack.known.resources)
    return {one.policy for one in check_policies("s", [], changed, stack.settings, policies=rules).violations}


@pytest.mark.parametrize(
    ("stack", "flavor", "label", "value", "told"),
    [
        ("demo", "dev-on-demand", "node~kubernetes~io/instance-type", "g6.2xlarge", False),
        ("demo", "train-spot", "eks~amazonaws~com/capacityType", "SPOT", False),
        ("demo-gcp", "dev-on-demand", "cloud~google~com/gke-accelerator", "nvidia-l4", False),
        ("demo", "dev-on-demand", "node~kubernetes~io/instance-type", "g5.2xlarge", True),
        ("demo-gcp", "dev-on-demand", "ml~platform/pool", "deve", True),
    ],
)
def test_quotas_of_a_flavor_whose_nodes_the_cloud_labels(rehearsed, stack, flavor, label, value, told):
    change = edit(FLAVOR, f"kueue-flavor-{flavor}", put(f"spec.nodeLabels.{label}", value))
    assert bool(violations(rehearsed(stack), change, "quota-exceeds-pool")) is told


def with_policy(of: Callable[[list[Any]], list[Any]]) -> Change:
    """A policy of one's own that lets everything through, and what is done with it."""

    def change(resources: Any) -> list[Any]:
        like = next(one for one in resources if one.type == ROLE and one.name == "mlflow-role")
        text = json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]})
        inputs = {"name": "walls", "policy": text}
        made = replace(
            like, urn=WALLS, type=IAM_POLICY, name="walls", inputs=inputs, outputs={**inputs, "arn": BOUNDARY},
            id=BOUNDARY, property_dependencies={},
        )  # fmt: skip
        return of([*resources, made])

    return change


def bounded(resources: list[Any]) -> list[Any]:
    """With the policy as the boundary of the tracking server's role."""
    role = next(one for one in resources if one.type == ROLE and one.name == "mlflow-role")
    made_of = {**role.property_dependencies, "permissionsBoundary": (WALLS,)}
    inputs = {**role.inputs, "permissionsBoundary": BOUNDARY}
    return [replace(one, inputs=inputs, property_dependencies=made_of) if one is role else one for one in resources]


def attached(resources: list[Any]) -> list[Any]:
    """With the policy attached to a role."""
    like = next(one for one in resources if one.type == ROLE_POLICY_ATTACHMENT)
    made_of = {**like.property_dependencies, "policyArn": (WALLS,)}
    inputs = {**like.inputs, "policyArn": BOUNDARY}
    return [
        *resources,
        replace(like, urn=f"{like.urn}-own", name="own", inputs=inputs, property_dependencies=made_of),
    ]


@pytest.mark.parametrize(
    ("of", "told"),
    [(bounded, False), (lambda found: found, True), (lambda found: attached(bounded(found)), True)],
    ids=["a boundary", "attached to nobody yet", "a boundary that is attached too"],
)
def test_a_policy_that_is_only_a_boundary_gives_nobody_a_right(rehearsed, of, told):
    assert ("wildcard-admin" in violations(rehearsed("demo"), with_policy(of), "wildcard-admin")) is told
