"""Jobs that a queue would admit and no node would take are refused when they are made."""

from __future__ import annotations

from typing import Any

import pulumi
import pytest

from tests.components.k8s.admission import refusals
from tests.components.k8s.checkers import check_plain_objects
from tests.pulumi_harness import record
from trainyard.components.k8s.job_guard import PoolNodeArgs, job_guard, specs

EFA = "vpc.amazonaws.com/efa"


def node(pool: str, gpus: int, cpu: int, memory_gib: int, largest: int, **devices: int) -> PoolNodeArgs:
    return {
        "pool": pool,
        "cpu": cpu,
        "memory_gib": memory_gib,
        "devices": {"nvidia.com/gpu": gpus, **devices},
        "largest_flavor_gpus": largest,
    }


NODES = [node("train", 8, 96, 1152, 16, **{EFA: 4}), node("tune", 4, 48, 384, 8), node("dev", 1, 8, 32, 4)]
POLICIES = specs(NODES)
KINDS = ("jobs", "jobsets", "trainjobs")


class Parent(pulumi.ComponentResource):
    def __init__(self) -> None:
        super().__init__("test:index:Parent", "parent")


def container(**resources: str | int) -> dict[str, Any]:
    named = {"gpu": "nvidia.com/gpu", "efa": EFA}
    return {"resources": {"limits": {named.get(key, key): value for key, value in resources.items()}}}


def chosen(pool: str, how: str = "selector", operator: str = "In") -> dict[str, Any]:
    if how == "selector":
        return {"nodeSelector": {"ml.platform/pool": pool}}
    term = {"matchExpressions": [{"key": "ml.platform/pool", "operator": operator, "values": [pool]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {"affinity": {"nodeAffinity": required}}


def made(kind: str, containers: list[dict[str, Any]], **spec: Any) -> dict[str, Any]:
    """A job of a kind whose pods have these containers; a TrainJob has the first, and the rest in a patch."""
    pod = {"containers": containers, **spec}
    if kind == "jobs":
        return {"spec": {"template": {"spec": pod}}}
    if kind == "jobsets":
        job = {"template": {"spec": {"template": {"spec": pod}}}}
        return {"spec": {"replicatedJobs": [job]}}
    patch = {
        "template": {"spec": {"replicatedJobs": [{"name": "node", "template": {"spec": {"template": {"spec": spec}}}}]}}
    }
    patches = (
        {"runtimePatches": [{"manager": "kueue"}, {"manager": "me", "trainingRuntimeSpec": patch}]} if spec else {}
    )
    return {"spec": {"trainer": {"resourcesPerNode": containers[0]["resources"]}, **patches}}


def unfit(kind: str, item: dict[str, Any]) -> bool:
    found = refusals(POLICIES[kind], item)
    assert all("fits no node of a pool" in message for message in found), found
    return bool(found)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("what", "resources", "spec", "fits"),
    [
        ("a whole node", {"gpu": "8", "cpu": "94", "memory": "900Gi", EFA: "4"}, chosen("train"), True),
        ("the same by affinity", {"gpu": "8", "cpu": "94"}, chosen("train", "affinity"), True),
        ("two nodes' GPUs in a pod", {"gpu": "16"}, chosen("train"), False),
        ("by affinity likewise", {"gpu": "16"}, chosen("train", "affinity"), False),
        ("every core of a node", {"gpu": "8", "cpu": "96"}, chosen("train"), False),
        ("more cores than any node has", {"gpu": "1", "cpu": "500"}, {}, False),
        ("all of its memory", {"gpu": "8", "memory": "1152Gi"}, chosen("train"), False),
        ("in other units", {"gpu": "8", "memory": "1100000Mi", "cpu": "94500m"}, chosen("train"), True),
        ("more fabric than a node has", {"gpu": "8", EFA: "8"}, chosen("train"), False),
        ("fabric where there is none", {"gpu": "4", EFA: "1"}, chosen("tune"), False),
        ("a GPU anywhere", {"gpu": 1, "cpu": "4"}, {}, True),
        ("a GPU with a large node's memory, anywhere", {"gpu": "1", "memory": "100Gi"}, {}, False),
        ("the same where there is room", {"gpu": "1", "memory": "100Gi"}, chosen("tune"), True),
        ("anywhere but in the small pool", {"gpu": "1", "memory": "100Gi"}, chosen("dev", "affinity", "NotIn"), True),
        ("four GPUs that dev's quota could hold and no node of it", {"gpu": "4"}, {}, False),
        ("nine GPUs, which train alone could hold, and no node", {"gpu": "9"}, {}, False),
        ("a pool that there is not", {"gpu": "1"}, chosen("trian"), False),
        ("another label", {"gpu": "1", "cpu": "4"}, {"nodeSelector": {"ml.platform/capacity": "spot"}}, True),
    ],
)
def test_a_job_fits_every_node_that_its_queue_may_send_it_to(
    kind: str, what: str, resources: dict[str, Any], spec: dict[str, Any], fits: bool
) -> None:
    assert unfit(kind, made(kind, [container(**resources)], **spec)) is not fits, what


@pytest.mark.parametrize("kind", ["jobs", "jobsets"])
def test_containers_count_together_and_init_containers_each(kind: str) -> None:
    half = container(gpu="4", cpu="47")
    assert not unfit(kind, made(kind, [half, half], **chosen("train")))
    assert unfit(kind, made(kind, [half, half, half], **chosen("train")))
    assert unfit(kind, made(kind, [half], initContainers=[container(cpu="96")], **chosen("train")))
    assert not unfit(kind, made(kind, [half], initContainers=[container(cpu="95"), {}], **chosen("train")))
    assert unfit(kind, made(kind, [half], resources={"requests": {"cpu": "96"}}, **chosen("train"))), "of the whole pod"


def test_a_request_counts_before_its_limit() -> None:
    both = {"resources": {"requests": {"cpu": "90"}, "limits": {"nvidia.com/gpu": "8", "cpu": "200"}}}
    assert not unfit("jobs", made("jobs", [both], **chosen("train")))


def test_one_bad_job_of_a_set_is_enough() -> None:
    good, bad = (made("jobsets", [container(gpu=count)], **chosen("train")) for count in ("8", "9"))
    both = {"spec": {"replicatedJobs": [*good["spec"]["replicatedJobs"], *bad["spec"]["replicatedJobs"]]}}
    assert unfit("jobsets", both)


def test_a_train_job_that_says_nothing_of_its_nodes_passes() -> None:
    """It holds no GPUs; its runtime's pods are judged as a JobSet."""
    for spec in ({"runtimeRef": {"name": "torch"}}, {"trainer": {"numNodes": 2}}):
        assert refusals(POLICIES["trainjobs"], {"spec": spec}) == []


def test_the_message_says_what_a_node_has() -> None:
    (message,) = refusals(POLICIES["jobs"], made("jobs", [container(gpu="9")]))
    assert "A node of train has 8 nvidia.com/gpu, 4 vpc.amazonaws.com/efa, 96 cores, 1152 GiB; of tune has" in message
    assert "of dev has 1 nvidia.com/gpu, 8 cores, 32 GiB" in message
    assert "\n" not in message


def test_there_is_a_policy_for_every_kind_that_a_queue_takes_where_there_are_pools() -> None:
    recording = record(lambda: job_guard("queues", NODES, Parent()))
    assert check_plain_objects(recording) == 6
    policies = recording.of_type("kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy")
    ruled = {policy.inputs["spec"]["matchConstraints"]["resourceRules"][0]["resources"][0] for policy in policies}
    assert ruled == set(KINDS)
    assert {policy.inputs["metadata"]["name"] for policy in policies} == {f"{kind}-fit-their-nodes" for kind in KINDS}
    assert not record(lambda: job_guard("queues", [], Parent())).of_type(policies[0].type)


WHOLE: list[PoolNodeArgs] = [{**NODES[0], "whole_nodes_only": True, "runtime": "torch-distributed-train"}, *NODES[1:]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("gpus", "spec", "fits"),
    [
        ("8", chosen("train"), True),
        ("4", chosen("train"), False),
        ("1", {}, False),
        ("1", chosen("dev"), True),
        ("1", chosen("train", "affinity", "NotIn"), True),
        ("4", chosen("tune"), True),
    ],
)
def test_a_pool_of_whole_nodes_takes_no_smaller_pod(kind: str, gpus: str, spec: dict[str, Any], fits: bool) -> None:
    """Four jobs of one GPU, on a node each, would keep the next whole-node job waiting with its quota held."""
    item = made(kind, [container(gpu=gpus)], **spec)
    item["spec"].setdefault("runtimeRef", {"name": "torch-distributed"})
    found = refusals(specs(WHOLE)[kind], item)
    assert bool(found) is not fits
    assert all("to be taken with all 8 GPUs" in message for message in found)
