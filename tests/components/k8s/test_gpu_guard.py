from __future__ import annotations

from typing import Any

import cel
import pulumi
import pytest

from tests.components.k8s.checkers import check_plain_objects, depends_on
from tests.pulumi_harness import record
from trainyard.components.k8s.gpu_guard import GPU_GUARD, POD_SET_LABEL, gpu_guard


class Parent(pulumi.ComponentResource):
    def __init__(self) -> None:
        super().__init__("test:index:Parent", "parent")


def allowed(pod: dict[str, Any]) -> bool:
    """The policy's verdict, evaluated as the API server does: variables in order, then the one validation."""
    guard: Any = GPU_GUARD
    variables: dict[str, Any] = {}
    for variable in guard["variables"]:
        context = {"object": pod, "variables": dict(variables)}
        variables[variable["name"]] = cel.evaluate(variable["expression"], context)
    (validation,) = guard["validations"]
    return bool(cel.evaluate(validation["expression"], {"object": pod, "variables": variables}))


OWNER = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "1", "controller": True}
GPU = {"resources": {"limits": {"nvidia.com/gpu": "8", "cpu": "8"}}}


def pod(*, containers: list[dict[str, Any]], **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p", **metadata}, "spec": {"containers": containers}}


ADMITTED = {POD_SET_LABEL: "main", "kueue.x-k8s.io/queue-name": "vision"}


@pytest.mark.parametrize(
    ("which", "subject", "verdict"),
    [
        ("pod of an admitted job", pod(containers=[GPU], labels=ADMITTED, ownerReferences=[OWNER]), True),
        ("pod without GPUs", pod(containers=[{"resources": {"requests": {"cpu": "1"}}}]), True),
        ("pod without resources", pod(containers=[{}]), True),
        ("bare GPU pod", pod(containers=[GPU]), False),
        ("bare GPU pod that bears the label", pod(containers=[GPU], labels=ADMITTED), False),
        ("pod of a job that no queue admitted", pod(containers=[GPU], labels={}, ownerReferences=[OWNER]), False),
        (
            "pod of a deployment",
            pod(
                containers=[GPU],
                labels=ADMITTED,
                ownerReferences=[{**OWNER, "apiVersion": "apps/v1", "kind": "ReplicaSet"}],
            ),
            False,
        ),
        (
            "owned but not controlled",
            pod(containers=[GPU], labels=ADMITTED, ownerReferences=[{**OWNER, "controller": False}]),
            False,
        ),
        ("GPU in requests only", pod(containers=[{"resources": {"requests": {"nvidia.com/gpu": "1"}}}]), False),
        ("GPU slice", pod(containers=[{"resources": {"limits": {"nvidia.com/mig-1g.10gb": "1"}}}]), False),
        ("GPU of the second container", pod(containers=[{}, GPU]), False),
        ("GPU of an init container", {"metadata": {}, "spec": {"containers": [{}], "initContainers": [GPU]}}, False),
    ],
)
def test_gpu_guard(which: str, subject: dict[str, Any], verdict: bool) -> None:
    assert allowed(subject) is verdict, which


def test_gpu_guard_binds_team_namespaces_only_and_denies() -> None:
    recording = record(lambda: gpu_guard("queues", Parent()))
    assert check_plain_objects(recording) == 2
    policy = recording.one("kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy")
    binding = recording.one("kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding")
    assert binding.inputs["spec"]["policyName"] == policy.inputs["metadata"]["name"]
    assert binding.inputs["spec"]["validationActions"] == ["Deny"]
    assert binding.inputs["spec"]["matchResources"]["namespaceSelector"] == {
        "matchExpressions": [{"key": "ml.platform/team", "operator": "Exists"}]
    }
    assert policy.inputs["spec"]["failurePolicy"] == "Fail"
    assert policy.name in depends_on(recording, binding)
