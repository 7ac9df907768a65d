"""A pod of a team's that wants to run where the platform's own pods do, and work that needs a node to run on.

Nodes are the recorded node groups, a pod goes where it tolerates every taint and the labels are those that it selects.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from tests.attacks.test_guard import Wall, pod
from tests.conftest import EKS
from tests.policies.mutants import edit
from trainyard.conventions import SYSTEM_NODES, SYSTEM_TOLERATION
from trainyard.recorded.node_groups import EKS_NODE_GROUP
from trainyard.recorded.resources import Resources

STACKS = EKS
EFFECTS = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute"}
RUNTIME = "kubernetes:trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime"
TRIES = (
    [],
    [{"operator": "Exists"}],
    [{"key": "CriticalAddonsOnly", "operator": "Exists"}],
    [{"key": "CriticalAddonsOnly", "operator": "Equal", "value": "true", "effect": "NoSchedule"}],
    [{"key": "CriticalAddonsOnly", "value": "true"}],
    [{"key": "dedicated", "operator": "Exists"}],
    [{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}],
)


def tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    if toleration.get("effect") not in (None, "", EFFECTS[taint["effect"]]):
        return False
    if toleration.get("key") in (None, ""):
        return toleration.get("operator") == "Exists"
    same = toleration["key"] == taint["key"]
    return same and (toleration.get("operator") == "Exists" or toleration.get("value", "") == taint.get("value", ""))


def nodes_for(resources: Sequence[Any], spec: Mapping[str, Any]) -> set[str]:
    """The pools that have a node for a pod."""
    found = set()
    for group in Resources(resources).of(EKS_NODE_GROUP):
        labels, taints = group.inputs["labels"], group.inputs.get("taints") or ()
        fits = spec.get("nodeSelector", {}).items() <= labels.items()
        if fits and all(any(tolerates(entry, taint) for entry in spec.get("tolerations", ())) for taint in taints):
            found.add(labels["ml.platform/pool"])
    return found


@pytest.fixture(scope="module")
def made(rehearsed: Any, stack: str) -> Any:
    return rehearsed(stack).resources


def through(made: Any) -> list[dict[str, Any]]:
    """The specs of the pods that a member tries and the API server takes."""
    wall = Wall(made)
    tried = [
        pod(tolerations=tolerations, **selector)
        for tolerations in TRIES
        for selector in ({}, {"nodeSelector": dict(SYSTEM_NODES)}, {"nodeSelector": {"ml.platform/pool": "cpu"}})
    ]
    return [item["spec"] for item in tried if wall.said("pods", item) == []]


def test_no_pod_of_a_teams_gets_to_the_platforms_nodes(made: Any) -> None:
    let_by = through(made)
    assert let_by
    assert {pool for spec in let_by for pool in nodes_for(made, spec)} == {"cpu"}


def test_a_taint_that_is_gone_lets_pods_in(made: Any) -> None:
    system = next(group.name for group in Resources(made).of(EKS_NODE_GROUP) if group.name.endswith("cluster-system"))
    fallen = edit(EKS_NODE_GROUP, system, lambda inputs: inputs.pop("taints"))(made)
    assert "system" in {pool for spec in through(made) for pool in nodes_for(fallen, spec)}


def test_people_who_state_nothing_have_nodes(made: Any) -> None:
    assert nodes_for(made, pod()["spec"]) == {"cpu"}


def test_the_runtime_without_gpus_has_nodes(made: Any) -> None:
    (runtime,) = (item for item in made if item.type == RUNTIME and item.name.endswith("torch-cpu"))
    (job,) = runtime.inputs["spec"]["template"]["spec"]["replicatedJobs"]
    assert nodes_for(made, job["template"]["spec"]["template"]["spec"]) == {"cpu"}


def selecting(value: Any) -> Iterator[Mapping[str, Any]]:
    """Whatever selects the system nodes, at any depth, in JSON within text too."""
    if isinstance(value, str) and value.startswith("{"):
        try:
            value = json.loads(value)
        except json.JSONDecodeError:
            return
    if isinstance(value, Mapping):
        if value.get("nodeSelector") == SYSTEM_NODES:
            yield value
        for part in value.values():
            yield from selecting(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from selecting(part)


def test_what_selects_the_platforms_nodes_may_run_there(made: Any) -> None:
    found = {item.name: [*selecting(item.inputs)] for item in made}
    found = {name: specs for name, specs in found.items() if specs}
    assert len(found) >= 10, "CoreDNS, drivers, controllers, the proxy, the tracking server"
    for name, specs in found.items():
        for spec in specs:
            assert dict(SYSTEM_TOLERATION) in [dict(entry) for entry in spec.get("tolerations", ())], name
            assert nodes_for(made, spec) == {"system"}, name


def test_what_runs_once_selects_the_platforms_nodes(made: Any) -> None:
    """A pod of the platform's that selects no nodes would run beside people's, or, without these, nowhere."""
    for item in made:
        if item.type == "kubernetes:apps/v1:Deployment":
            assert [*selecting(item.inputs)], item.name
        if item.type == "aws:eks/addon:Addon" and item.inputs["addonName"] in ("coredns", "metrics-server"):
            assert [*selecting(item.inputs)], item.name
