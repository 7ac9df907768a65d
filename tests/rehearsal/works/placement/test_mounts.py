"""Room on nodes for what mounts buckets: pods of Mountpoint for S3, and GKE's container."""

import pytest

from tests.rehearsal.refusals.builders import obj, resource
from tests.rehearsal.works.placement.test_scheduler import CLUSTER, CONTEXT, NO_NODE, asking, group, pods, told
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import ADD_ON
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.placement.check import check
from trainyard.rehearsal.works.placement.room import most_at_once
from trainyard.rehearsal.works.placement.world import World

CLAIMED = {
    "volumes": [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in ("data", "checkpoints")]
}
PLUGIN = resource(ADD_ON, "cni", {"clusterName": "c", "addonName": "vpc-cni"})
"""It says that nodes hand out addresses one by one, so that their pods are counted: 29 on m5.large."""
CPU, MEMORY = "mountpointContainerResourcesRequestsCpu", "mountpointContainerResourcesRequestsMemory"


def volumes(driver="s3.csi.aws.com", **attributes):
    found = []
    for name in ("data", "checkpoints"):
        csi = {"driver": driver, "volumeHandle": name, "volumeAttributes": {"bucketName": "b", **attributes}}
        found.append(
            obj("v1", "PersistentVolume", f"v-{name}", "", spec={"csi": csi, "accessModes": ["ReadWriteMany"]})
        )
        found.append(obj("v1", "PersistentVolumeClaim", name, "web", spec={"volumeName": f"v-{name}"}))
    return found


def running(*resources):
    world = World(Resources(resources), CONTEXT.region)
    (verdict,) = (one for one in world.verdicts if one.workload.name == "web")
    return verdict, most_at_once(verdict, world)


def test_a_full_node_keeps_a_pod_off_whose_mounts_request_something():
    """Two pods of 400m beside one of 1500m: a node of two CPUs has room for the pod, and its volumes never come."""
    pod = pods(container=asking(cpu="1500m"), **CLAIMED)
    assert told(CLUSTER, group(), pod, *volumes()) == []
    assert told(CLUSTER, group(), pod, *volumes(**{CPU: "100m"})) == []
    wanting = (CLUSTER, group(), pod, *volumes(**{CPU: "400m", MEMORY: "128Mi"}))
    assert told(*wanting) == NO_NODE
    stack = Stack(wanting, CONTEXT)
    check(stack)
    assert "it requests 2.3, 0.8 of it for what mounts its volumes" in stack.findings[0].message
    assert told(CLUSTER, group(types=("m5.xlarge",)), pod, *volumes(**{CPU: "400m"})) == []


def test_pods_that_mount_take_places_of_their_node():
    """A node of m5.large has 29 places: 29 plain pods, nine with two buckets each."""
    pod = pods(replicas=9, container=asking(cpu="1m"), **CLAIMED)
    verdict, most = running(CLUSTER, PLUGIN, group(most=1), pod, *volumes())
    assert (verdict.places, most) == (3, 9)
    plain, most = running(CLUSTER, PLUGIN, group(most=1), pods(replicas=9, container=asking(cpu="1m")))
    assert (plain.places, most) == (1, 29)
    other, most = running(CLUSTER, PLUGIN, group(most=1), pod, *volumes("efs.csi.aws.com"))
    assert (other.places, most) == (1, 29), "other drivers mount in a pod that is on every node"


def test_what_runs_on_and_on_is_packed_with_its_mounts():
    crowd = [CLUSTER, PLUGIN, group(most=1), pods(replicas=12, container=asking(cpu="1m"), **CLAIMED)]
    assert told(*crowd) == []
    assert told(*crowd, *volumes()) != []


@pytest.mark.parametrize(
    ("annotations", "cpu", "memory"),
    [
        ({}, 1.25, 2**28),
        ({"gke-gcsfuse/cpu-request": "500m", "gke-gcsfuse/memory-request": "1Gi"}, 1.5, 2**30),
        ({"gke-gcsfuse/cpu-request": "0", "gke-gcsfuse/memory-request": "0"}, 1.0, None),
    ],
)
def test_the_container_that_gke_puts_beside_counts(annotations, cpu, memory):
    pod = pods(container=asking(cpu="1"), **CLAIMED)
    pod.inputs["spec"]["template"]["metadata"]["annotations"] = {"gke-gcsfuse/volumes": "true", **annotations}
    verdict, _ = running(CLUSTER, group(), pod, *volumes("gcsfuse.csi.storage.gke.io"))
    assert verdict.requests["cpu"] == pytest.approx(cpu)
    assert verdict.requests.get("memory") == memory
    assert verdict.places == 1, "it is of the pod"


def test_one_that_somebody_wrote_himself_is_not_counted_twice():
    pod = pods(container=asking(cpu="1"), **CLAIMED)
    own = {"name": "gke-gcsfuse-sidecar", "restartPolicy": "Always", **asking(cpu="100m")}
    pod.inputs["spec"]["template"]["spec"]["initContainers"] = [own]
    verdict, _ = running(CLUSTER, group(), pod, *volumes("gcsfuse.csi.storage.gke.io"))
    assert verdict.requests["cpu"] == pytest.approx(1.1)


def test_the_demo_counts_two_pods_for_each_training_pod(rehearsed):
    found = rehearsed("demo")
    world = World(Resources(found.known.resources), "us-east-1")
    jobs = [one for one in world.verdicts if one.workload.kind == "Job" and "smoke-train" in one.workload.name]
    assert len(jobs) == 3
    assert {one.places for one in jobs} == {3}
