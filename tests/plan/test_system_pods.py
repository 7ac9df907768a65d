"""How pods are packed on system nodes: by size, and those that keep apart each on a node of its own."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.plan.stack_files import keys, plan_of
from trainyard.plan.system_pods import Room, SystemPod, left_over, system_pod

NODE = Room(Fraction(4), Fraction(16 * 1024))


def servers(replicas: int, cores: str = "1", *, spread: bool = True) -> SystemPod:
    return SystemPod("server", replicas, Room(Fraction(cores), Fraction(1024)), spread)


FILLS_A_NODE = system_pod("prometheus", 1, "4", 1024)


@pytest.mark.parametrize(
    ("pods", "nodes", "missing"),
    [
        pytest.param([FILLS_A_NODE, servers(3)], 3, "server", id="a full node keeps the second server off the others"),
        pytest.param([FILLS_A_NODE, servers(3, spread=False)], 3, None, id="which are not spread"),
        pytest.param([FILLS_A_NODE, servers(3)], 4, None, id="one node each"),
        pytest.param([servers(5)], 2, None, id="more than nodes, evenly"),
        pytest.param([servers(5, "1.5")], 2, "server", id="more than nodes and than they hold"),
        pytest.param([servers(2), system_pod("other", 1, "2", 1024)], 1, None, id="one node is even by itself"),
        pytest.param([servers(1)], 0, "server", id="no node"),
        pytest.param([servers(1, "5")], 3, "server", id="larger than a node"),
    ],
)
def test_what_is_left_over(pods, nodes, missing):
    found = left_over(pods, NODE, nodes)
    assert (found and found.name) == missing


def test_servers_that_keep_apart_fit_with_a_node_more():
    plan = plan_of(
        systemNodes=keys(min_nodes=1, max_nodes=4),
        mlflow=keys(replicas=3, cpu="0.5", memory="1600Mi"),
        monitoring={"cpu": "3.4"},
    )
    assert plan.core.mlflow.replicas == 3
