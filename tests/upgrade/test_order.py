"""The order of an upgrade is that of the program's own dependencies: one `pulumi up` does one thing after the other."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import EKS_NODE_GROUP
from trainyard.recorded.types import ADD_ON, EKS_CLUSTER

JOB = "kubernetes:batch/v1:Job"


@pytest.fixture(scope="module")
def resources(rehearsed):
    return {each.urn: each for each in rehearsed("demo").known.resources}


def before(resource: RecordedResource, resources: dict[str, RecordedResource]) -> set[str]:
    """All that an engine has done before it begins with a resource."""
    found: set[str] = set()
    waiting = [resource.urn]
    while waiting:
        for urn in resources[waiting.pop()].dependencies:
            if urn in resources and urn not in found:
                found.add(urn)
                waiting.append(urn)
    return found


def of(resources: dict[str, RecordedResource], *types: str) -> list[RecordedResource]:
    return [each for each in resources.values() if each.type in types]


def named(resources: Iterable[RecordedResource], *ends: str) -> set[str]:
    found = {each.urn for each in resources if each.name.endswith(ends)}
    assert len(found) == len(ends)
    return found


def test_the_control_plane_goes_before_add_ons_and_nodes(resources):
    (cluster,) = of(resources, EKS_CLUSTER)
    for each in of(resources, ADD_ON, EKS_NODE_GROUP):
        assert cluster.urn in before(each, resources), each.name


def test_what_a_node_needs_goes_before_the_nodes(resources):
    needed = named(of(resources, ADD_ON), "-vpc-cni", "-kube-proxy", "-eks-pod-identity-agent")
    groups = of(resources, EKS_NODE_GROUP)
    assert len(groups) > 5
    for group in groups:
        assert needed <= before(group, resources), group.name


def test_each_smoke_job_runs_on_the_new_nodes_of_its_pool(resources):
    groups = {each.name.removeprefix("gpu-nodes-"): each.urn for each in of(resources, EKS_NODE_GROUP)}
    jobs = [each for each in of(resources, JOB) if each.name.startswith("smoke-")]
    assert len(jobs) > 3
    for job in jobs:
        pool = job.name.removeprefix("smoke-").removesuffix("-job")
        assert groups[pool] in before(job, resources), job.name


def test_smoke_jobs_come_in_by_a_queue_that_is_not_peoples(resources):
    queues = {
        job.inputs["metadata"]["labels"]["kueue.x-k8s.io/queue-name"]
        for job in of(resources, JOB)
        if job.name.startswith("smoke-")
    }
    assert queues == {"smoke"}
