"""What the plan counts on the system nodes is what is recorded there, and as few nodes as it lets by hold it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from tests.conftest import WHOLE, WITH_CLUSTERS
from trainyard.conventions import POOL_LABEL, SYSTEM_POOL
from trainyard.conventions.quantities import MEBIBYTE, quantity
from trainyard.plan.aws import allocatable as of_eks
from trainyard.plan.gcp import allocatable as of_gke
from trainyard.plan.system_pods import MONITORING, PLATFORM, Room, SystemPod, left_over
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.rehearse import Rehearsal
from trainyard.rehearsal.works.placement.kubernetes.nodes import Nodes
from trainyard.rehearsal.works.placement.room import COUNTED, STANDING, unpacked
from trainyard.rehearsal.works.placement.world import Verdict, World

ASKED = ("mlflow", "prometheus")
"""What a stack file sizes; the rest is the charts' and components' own."""
A_MIB = Fraction(1, 1000)
"""What the recording's floating-point numbers may be off."""


@pytest.fixture(params=[*WITH_CLUSTERS, WHOLE])
def stack(request: pytest.FixtureRequest, rehearsed: Callable[[str], Rehearsal]) -> Rehearsal:
    return rehearsed(request.param)


@pytest.fixture
def world(stack: Rehearsal) -> World:
    return World(Resources(stack.resources), stack.plan["ground"]["region"])


@pytest.fixture
def nodes(world: World) -> Nodes:
    [system] = [each for each in world.nodes or () if each.values(POOL_LABEL) == {SYSTEM_POOL}]
    return system


def standing(world: World, nodes: Nodes) -> list[Verdict]:
    """What runs on and on, on the system nodes."""
    return [
        one
        for one in world.verdicts
        if one.workload.kind in STANDING and not one.workload.is_template and nodes.name in {n.name for n in one.groups}
    ]


def size(requests: dict[str, float]) -> Room:
    cores, mib = (Fraction(str(round(requests.get(name, 0), 6))) for name in COUNTED)
    return Room(cores, mib / MEBIBYTE)


def ground(stack: Rehearsal):
    return of_eks if stack.plan["ground"]["kind"] == "aws" else of_gke


def planned(stack: Rehearsal) -> list[SystemPod]:
    """As the plan counts them, with what the stack file sizes."""
    [cluster], mlflow = stack.plan["clusters"], stack.plan["core"]["mlflow"]
    watched = cluster["monitoring"]

    def asked(of: dict[str, str]) -> Room:
        return Room(quantity(of["cpu"]), quantity(of["memory"]) / MEBIBYTE)

    server, beside = asked(mlflow), ground(stack).SIDECARS
    return [
        *PLATFORM,
        *ground(stack).OWN,
        *MONITORING,
        SystemPod("prometheus", 1, asked(watched)),
        SystemPod("mlflow", mlflow["replicas"], Room(server.cores + beside.cores, server.mib + beside.mib)),
    ]


def test_each_pod_that_is_recorded_is_counted_with_what_it_requests(stack, world, nodes):
    known = {pod.name: pod for pod in planned(stack)}
    found = {one.workload.name: one for one in standing(world, nodes)}
    assert set(ASKED) <= set(found) <= set(known)
    for name, one in found.items():
        assert (size(one.requests), one.workload.replicas) == (known[name].size, known[name].replicas), name


def test_a_node_has_what_is_counted_on(stack, world, nodes):
    """For pods that do not run on every node: less than the rehearsal counts on, and not much less."""
    taken = size(world.taken[nodes.name])
    for machine in nodes.machines:
        has = size(machine.likely).without(taken)
        each = room(stack, machine.name)
        assert has.cores * Fraction("0.95") <= each.cores <= has.cores + A_MIB
        assert has.mib * Fraction("0.9") <= each.mib <= has.mib + A_MIB


def room(stack: Rehearsal, type_: str) -> Room:
    if ground(stack) is of_gke:
        return of_gke.system_room(type_)
    return of_eks.allocatable(
        type_, team_logs=stack.plan["ground"]["audit"]["container_log_retention_days"] is not None
    )


def test_the_fewest_nodes_that_the_plan_lets_by_hold_all_while_a_server_is_updated(stack, world, nodes):
    """Both ways: none is left over on them, and with two nodes less some are."""
    pods = planned(stack)
    updating = [replace(pod, replicas=pod.replicas + (pod.name == "mlflow")) for pod in pods]
    type_ = min(nodes.machines, key=lambda one: size(one.likely).mib).name
    fewest = next(count for count in range(1, 20) if left_over(updating, room(stack, type_), count) is None)

    def left(count: int) -> list[tuple[Verdict, int]]:
        world.nodes = [replace(each, most=count) if each.name == nodes.name else each for each in world.nodes]
        found = unpacked(world, standing(world, nodes), surge=True)
        assert found is not None
        return found

    assert left(fewest) == []
    assert left(fewest - 2)
