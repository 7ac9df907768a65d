from __future__ import annotations

from typing import Any

import pulumi
import pytest

from tests.components.k8s.admission import JOB_CONTROLLER, refusals
from tests.components.k8s.checkers import check_plain_objects, depends_on
from tests.pulumi_harness import record
from trainyard.components.k8s.gpu_guard import END_GUARD, POD_SET_LABEL, gpu_guard, guard_of_pods
from trainyard.components.k8s.pod_rules import MESSAGES

GPU_GUARD = guard_of_pods(())


class Parent(pulumi.ComponentResource):
    def __init__(self) -> None:
        super().__init__("test:index:Parent", "parent")


OWNER = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "1", "controller": True}
GPU = {"resources": {"limits": {"nvidia.com/gpu": "8", "cpu": "8"}}}


def pod(*, containers: list[dict[str, Any]], spec: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p", **metadata}, "spec": {"containers": containers, **(spec or {})}}


ADMITTED = {POD_SET_LABEL: "main", "kueue.x-k8s.io/queue-name": "vision"}
CPU = {"resources": {"requests": {"cpu": "1"}}}
OF_A_JOB = {"labels": ADMITTED, "ownerReferences": [OWNER]}


def test_a_pod_of_an_admitted_job_passes_where_the_job_controller_makes_it() -> None:
    made = pod(containers=[GPU], **OF_A_JOB)
    assert refusals(GPU_GUARD, made) == []
    assert refusals(GPU_GUARD, made, "system:kube-controller-manager") == []


@pytest.mark.parametrize("who", ["somebody", "system:serviceaccount:team-vision:job-controller", JOB_CONTROLLER + "x"])
def test_a_forged_pod_of_a_job_is_refused(who: str) -> None:
    """Whoever may create pods can write label and owner; the controller drops the reference and the pod runs on."""
    assert refusals(GPU_GUARD, pod(containers=[GPU], **OF_A_JOB), who) == [MESSAGES["queue"]]


@pytest.mark.parametrize(
    ("which", "subject"),
    [
        ("bare GPU pod", pod(containers=[GPU])),
        ("bare GPU pod that bears the label", pod(containers=[GPU], labels=ADMITTED)),
        ("pod of a job that no queue admitted", pod(containers=[GPU], labels={}, ownerReferences=[OWNER])),
        (
            "pod of a deployment",
            pod(
                containers=[GPU],
                labels=ADMITTED,
                ownerReferences=[{**OWNER, "apiVersion": "apps/v1", "kind": "ReplicaSet"}],
            ),
        ),
        (
            "owned but not controlled",
            pod(containers=[GPU], labels=ADMITTED, ownerReferences=[{**OWNER, "controller": False}]),
        ),
        ("GPU in requests only", pod(containers=[{"resources": {"requests": {"nvidia.com/gpu": "1"}}}])),
        ("GPU slice", pod(containers=[{"resources": {"limits": {"nvidia.com/mig-1g.10gb": "1"}}}])),
        ("GPU of the second container", pod(containers=[{}, GPU])),
        ("GPU of an init container", {"metadata": {}, "spec": {"containers": [{}], "initContainers": [GPU]}}),
    ],
)
def test_gpus_are_taken_through_a_queue_only(which: str, subject: dict[str, Any]) -> None:
    assert refusals(GPU_GUARD, subject) == [MESSAGES["queue"]], which


@pytest.mark.parametrize("resources", [CPU, {}, {"resources": {"limits": {"nvidia.com/gpu": "0", "cpu": "1"}}}])
def test_a_pod_without_gpus_is_counted_by_its_class(resources: dict[str, Any]) -> None:
    """With none, another or a GPU of 0 it would take CPU past every quota."""
    counted = pod(containers=[resources], spec={"priorityClassName": "cpu-only"})
    assert refusals(GPU_GUARD, counted, "somebody") == []
    for spec in ({}, {"priorityClassName": ""}, {"priorityClassName": "system-cluster-critical"}):
        assert refusals(GPU_GUARD, pod(containers=[resources], spec=spec)) == [MESSAGES["priority"]]


def test_a_pod_with_gpus_is_not_counted_with_those_without() -> None:
    """It would wait for the quota of CPU while it holds its GPUs."""
    counted = pod(containers=[GPU], spec={"priorityClassName": "cpu-only"}, **OF_A_JOB)
    assert refusals(GPU_GUARD, counted) == [MESSAGES["priority"]]


def test_a_pod_with_gpus_may_have_the_clusters_default_class() -> None:
    """A cluster that somebody has may give one to every pod; a job may not name it (`test_job_guard`)."""
    assert refusals(GPU_GUARD, pod(containers=[GPU], spec={"priorityClassName": "default"}, **OF_A_JOB)) == []


@pytest.mark.parametrize(
    "spec",
    [
        {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]},
        {"tolerations": [{"key": "other", "operator": "Exists"}, {"operator": "Exists"}]},
        {"nodeName": "ip-10-0-0-1"},
    ],
)
@pytest.mark.parametrize("admitted", [{}, OF_A_JOB])
def test_a_pod_without_gpus_stays_off_gpu_nodes(spec: dict[str, Any], admitted: dict[str, Any]) -> None:
    """One that waits there would start a node of eight GPUs. A queue admits it for nothing: it counts GPUs."""
    subject = pod(containers=[CPU], spec={"priorityClassName": "cpu-only", **spec}, **admitted)
    assert refusals(GPU_GUARD, subject) == [MESSAGES["nodes"]]


def test_a_pod_without_gpus_may_tolerate_other_things() -> None:
    spec = {"priorityClassName": "cpu-only", "tolerations": [{"key": "node.kubernetes.io/not-ready"}]}
    assert refusals(GPU_GUARD, pod(containers=[CPU], spec=spec)) == []


def test_a_pod_is_judged_again_when_its_spec_changes() -> None:
    """Tolerations can be added to a pod that stands; its node is the scheduler's word by then."""
    spec = {"priorityClassName": "cpu-only", "nodeName": "a", "tolerations": []}
    old = pod(containers=[CPU], spec=spec)
    new = pod(containers=[CPU], spec={**spec, "tolerations": [{"operator": "Exists"}]})
    assert refusals(GPU_GUARD, new, "somebody", operation="UPDATE", old=old) == [MESSAGES["nodes"]]
    harmless = pod(containers=[CPU], spec={**spec, "activeDeadlineSeconds": 5})
    assert refusals(GPU_GUARD, harmless, "somebody", operation="UPDATE", old=old) == []


def test_what_stood_before_the_policy_can_still_be_finished() -> None:
    """The job controller takes its finalizer off a pod with GPUs, and anyone may label one."""
    old = pod(containers=[GPU], spec={"nodeName": "a"})
    assert refusals(GPU_GUARD, {**old, "metadata": {}}, "somebody", operation="UPDATE", old=old) == []


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        ({}, False),
        ({"gracePeriodSeconds": None}, False),
        ({"gracePeriodSeconds": 0}, False),
        ({"gracePeriodSeconds": 600}, False),
        ({"gracePeriodSeconds": 601}, True),
        ({"gracePeriodSeconds": 31536000}, True),
    ],
)
def test_a_deletion_gives_a_pod_no_longer_than_it_may_ask_for(options: dict[str, Any], refused: bool) -> None:
    found = refusals(END_GUARD, None, "somebody", operation="DELETE", old=pod(containers=[GPU]), options=options)
    assert found == ([MESSAGES["grace"]] if refused else [])


def test_gpu_guard_binds_team_namespaces_only_and_denies() -> None:
    recording = record(lambda: gpu_guard("queues", (), Parent()))
    assert check_plain_objects(recording) == 4
    policies = recording.of_type("kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy")
    bindings = recording.of_type("kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding")
    for policy, binding in zip(policies, bindings, strict=True):
        assert binding.inputs["spec"]["policyName"] == policy.inputs["metadata"]["name"]
        assert binding.inputs["spec"]["validationActions"] == ["Deny"]
        assert binding.inputs["spec"]["matchResources"]["namespaceSelector"] == {
            "matchExpressions": [{"key": "ml.platform/team", "operator": "Exists"}]
        }
        assert policy.inputs["spec"]["failurePolicy"] == "Fail"
        assert policy.name in depends_on(recording, binding)
