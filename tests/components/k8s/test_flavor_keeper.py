"""What takes flavors without nodes out of the queues: what it decides, reads and may, and what the queues then do."""

from __future__ import annotations

import copy
import io
import json
import urllib.error
from dataclasses import replace
from email.message import Message
from typing import Any

import pytest

from tests.components.k8s.checkers import check_plain_objects, depends_on
from tests.components.k8s.test_kueue import run as kueue
from tests.rehearsal.refusals.builders import obj
from trainyard.components.k8s.flavors import FlavorKeeperArgs
from trainyard.components.k8s.keepers import flavors as keeper
from trainyard.components.k8s.keepers.flavors import Decision, Status, decide, patch, read_status, taken_out
from trainyard.rehearsal.context import ValueContext
from trainyard.rehearsal.works.check import check_works

NOW = 1_800_000_000.0
GROUPS = {"train-spot": "eks-acme-train-spot-", "train-on-demand": "eks-acme-train-on-demand-"}
DRY = Status(NOW - 10, {"eks-acme-train-spot-1234-abcd": "OutOfResource"})
FINE = Status(NOW - 10, {})
OUT = {"train-spot": (NOW - 600, "no nodes to be had: OutOfResource")}
LONG_OUT = {"train-spot": (NOW - 1900, "no nodes to be had: OutOfResource")}


def decided(out: Any, status: Status | None, spans: Any = None) -> list[Decision]:
    return decide(out, GROUPS, spans or {}, status, NOW, 1800)


@pytest.mark.parametrize(
    ("what", "out", "status", "expected"),
    [
        ("nodes are to be had", {}, FINE, []),
        ("a group in backoff goes out", {}, DRY, [Decision("train-spot", "no nodes to be had: OutOfResource")]),
        ("once", OUT, DRY, []),
        ("it stays out for a while", OUT, FINE, []),
        ("then it is tried again", LONG_OUT, FINE, [Decision("train-spot", "")]),
        ("not while the autoscaler still waits", LONG_OUT, DRY, []),
        ("no status, no conclusion", {}, None, []),
        ("nor is anything put back without one", LONG_OUT, None, []),
        ("an old status is none", {}, Status(NOW - 400, DRY.dry), []),
        ("an old status puts nothing back", LONG_OUT, Status(NOW - 400, {}), []),
        ("a group of another name", {}, Status(NOW, {"eks-acme-train-spotty-1": "OutOfResource"}), []),
    ],
)
def test_what_is_decided(what: str, out: Any, status: Status | None, expected: list[Decision]) -> None:
    assert decided(out, status) == expected, what


def test_a_capacity_block_takes_jobs_within_its_span_only() -> None:
    before, within, after = ({"train-spot": (NOW + start, NOW + end)} for start, end in ((9, 99), (-9, 99), (-99, -9)))
    assert decided({}, None, before) == [Decision("train-spot", "its nodes are not bought yet")]
    early = {"train-spot": (NOW - 9, "its nodes are not bought yet")}
    assert decided(early, None, before) == []
    assert decided(early, None, within) == [Decision("train-spot", "")], "it opens by the clock"
    assert decided({}, FINE, within) == []
    assert decided({}, FINE, after) == [Decision("train-spot", "its nodes go back soon")]
    assert decided({"train-spot": (NOW - 9, "its nodes go back soon")}, FINE, after) == []
    assert decided(OUT, FINE, after) == [Decision("train-spot", "its nodes go back soon")], "and not tried again"


STATUS = """\
time: "2027-01-15 08:00:00.546750398 +0000 UTC"
autoscalerStatus: "Running"
clusterWide:
  scaleUp:
    status: "InProgress"
nodeGroups:
  -
    name: "eks-acme-train-spot-1234"
    health:
      status: "Healthy"
      nodeCounts:
        registered:
          total: 0
    scaleUp:
      status: "Backoff"
      backoffInfo:
        errorCode: "placeholder-cannot-be-fulfilled"
        errorMessage: "AWS cannot provision any more instances for this node group"
      lastProbeTime: "2027-01-15T08:00:00Z"
    scaleDown:
      status: "NoCandidates"
  - name: eks-acme-dev-on-demand-99
    health:
      status: Unhealthy
    scaleUp:
      status: NoActivity
    scaleDown:
      status: CandidatesPresent
"""


@pytest.mark.parametrize("text", [STATUS, STATUS.replace('"', "")])
def test_the_autoscalers_status_is_read_as_it_writes_it(text: str) -> None:
    found = read_status(text)
    assert found is not None
    assert found.at == 1_799_999_999 + 1
    assert found.dry == {"eks-acme-train-spot-1234": "placeholder-cannot-be-fulfilled"}


@pytest.mark.parametrize("text", ["", "Cluster-wide:\n  Health: Healthy", "\x00 not a status", 'time: "2027-01-15"'])
def test_what_is_no_status_concludes_nothing(text: str) -> None:
    assert read_status(text) is None


def test_what_is_applied_is_read_back_and_taken_back() -> None:
    made = patch(Decision("train-spot", "no nodes"), NOW)
    assert taken_out(made) == (NOW, "no nodes")
    back = patch(Decision("train-spot", ""), NOW)
    assert back["spec"] == {}, "what an applier says no more is removed"
    assert taken_out(back) is None
    foreign = {"metadata": {}, "spec": {"nodeTaints": [{"key": "team", "value": "a", "effect": "NoSchedule"}]}}
    assert taken_out(foreign) is None, "somebody else's taint is not ours to take back"


class Server:
    """An API server with two flavors; `owned` have taints of somebody else's."""

    def __init__(self, status: str | None, owned: tuple[str, ...] = ()) -> None:
        self.status, self.owned, self.applied = status, owned, dict[str, Any]()

    def ask(self, path: str, body: dict[str, Any] | None = None, manager: str = "") -> dict[str, Any]:
        name = path.rpartition("/")[2]
        if path == keeper.STATUS:
            if self.status is None:
                raise self.answer(404)
            return {"data": {"status": self.status}}
        if body is None:
            return self.applied.get(name, {"metadata": {"name": name}, "spec": {}})
        if name in self.owned:
            raise self.answer(409)
        self.applied[name] = body
        return body

    def answer(self, code: int) -> urllib.error.HTTPError:
        return urllib.error.HTTPError("https://a", code, "no", Message(), io.BytesIO())


CONFIGURATION = {"flavors": GROUPS, "spans": {}, "retry_seconds": 1800}


def test_a_turn_takes_out_what_is_dry_and_later_puts_it_back(monkeypatch: Any, capsys: Any) -> None:
    server = Server(STATUS)
    monkeypatch.setattr(keeper, "ask", server.ask)
    keeper.turn(CONFIGURATION, NOW + 5)
    keeper.turn(CONFIGURATION, NOW + 35)
    assert set(server.applied) == {"train-spot"}
    server.status = STATUS.replace("Backoff", "NoActivity").replace("08:00:00.5", "09:00:00.5")
    keeper.turn(CONFIGURATION, NOW + 3600)
    assert server.applied["train-spot"]["spec"] == {}
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["flavor"], line["out"]) for line in lines] == [("train-spot", True), ("train-spot", False)]


def test_taints_of_somebody_else_stay(monkeypatch: Any, capsys: Any) -> None:
    server = Server(STATUS, owned=("train-spot",))
    monkeypatch.setattr(keeper, "ask", server.ask)
    keeper.turn(CONFIGURATION, NOW)
    assert server.applied == {}
    assert "somebody else" in capsys.readouterr().out


@pytest.mark.parametrize("code", [403, 404, 500])
@pytest.mark.parametrize("method", ["read", "apply"])
def test_a_flavor_that_is_refused_keeps_no_other_waiting(code: int, method: str, monkeypatch: Any, capsys: Any) -> None:
    server = Server(STATUS.replace("Backoff", "NoActivity"))

    def ask(path: str, body: dict[str, Any] | None = None, manager: str = "") -> dict[str, Any]:
        if path.endswith(first) and (body is not None) is (method == "apply"):
            raise server.answer(code)
        return server.ask(path, body, manager)

    first, second = GROUPS
    monkeypatch.setattr(keeper, "ask", ask)
    spans = {name: [0, NOW - 60] for name in GROUPS}
    assert keeper.turn({**CONFIGURATION, "spans": spans}, NOW) is False
    assert set(server.applied) == {second}
    assert f"HTTP Error {code}" in capsys.readouterr().out


def test_before_the_autoscaler_has_written_anything_nothing_changes(monkeypatch: Any) -> None:
    server = Server(None)
    monkeypatch.setattr(keeper, "ask", server.ask)
    keeper.turn(CONFIGURATION, NOW)
    assert server.applied == {}


# In the demo stack


def demo(rehearsed: Any) -> list[Any]:
    return list(rehearsed("demo").resources)


def test_it_may_change_its_flavors_and_read_one_status_and_nothing_else(rehearsed: Any) -> None:
    roles = [item for item in demo(rehearsed) if item.name.startswith("kueue-keeper") and item.type.endswith("Role")]
    rules = [rule for role in roles for rule in role.inputs["rules"]]
    assert all(rule["resourceNames"] for rule in rules)
    flavors = {item.inputs["metadata"]["name"] for item in demo(rehearsed) if item.type.endswith(":ResourceFlavor")}
    found = {(tuple(rule["resources"]), tuple(rule["verbs"])): set(rule["resourceNames"]) for rule in rules}
    assert found == {
        (("resourceflavors",), ("get", "patch")): flavors,
        (("configmaps",), ("get",)): {"cluster-autoscaler-status"},
    }


def test_the_program_of_a_stack_names_no_taints_of_a_flavor(rehearsed: Any) -> None:
    """What a program names it owns: the keeper's apply would be refused, or undone by the next `pulumi up`."""
    for item in demo(rehearsed):
        if item.type.endswith((":ResourceFlavor", ":ClusterQueue", ":LocalQueue")):
            assert not {"nodeTaints", "stopPolicy", "topologyName"} & set(item.inputs["spec"])


def gang(nodes: int) -> Any:
    spec = {"runtimeRef": {"name": "torch-distributed-train"}, "trainer": {"numNodes": nodes}}
    labels = {"labels": {"kueue.x-k8s.io/queue-name": "default"}}
    return obj("trainer.kubeflow.org/v1alpha1", "TrainJob", "pretrain", "team-language", metadata=labels, spec=spec)


def never_admitted(resources: list[Any]) -> bool:
    charts = tuple(sorted(item.urn for item in resources if item.type.endswith((":Release", ":Namespace"))))
    found = check_works([*resources, replace(gang(2), dependencies=charts)], ValueContext("1.35", "us-east-1"))
    return any(one.rule == "queues-never-admitted" and "pretrain" in str(one) for one in found)


def without(resources: list[Any], *flavors: str) -> list[Any]:
    """The recorded stack after the keeper's turn."""
    found = []
    for item in resources:
        if item.type.endswith(":ResourceFlavor") and item.inputs["metadata"]["name"] in flavors:
            inputs = copy.deepcopy(dict(item.inputs))
            inputs["spec"] = {**inputs["spec"], **patch(Decision("x", "dry"), NOW)["spec"]}
            item = replace(item, inputs=inputs)
        found.append(item)
    return found


def test_a_gang_goes_to_another_capacity_where_one_is_out(rehearsed: Any) -> None:
    """The queue's model plays it: two nodes on spot, and as many on demand."""
    resources = demo(rehearsed)
    assert not never_admitted(resources)
    assert not never_admitted(without(resources, "train-spot"))
    assert never_admitted(without(resources, "train-spot", "train-on-demand")), "one reserved node is no gang"


def test_it_is_made_of_valid_objects_after_its_flavors() -> None:
    args: FlavorKeeperArgs = {
        "image": f"org/python:3@sha256:{'0' * 64}",
        "groups": {"train-spot": "eks-acme-train-spot-"},
        "spans": {"train-spot": (1, 2)},
        "retry_minutes": 30,
    }
    recording = kueue(keeper=args)
    assert check_plain_objects(recording) > 6
    deployment = recording.one("kubernetes:apps/v1:Deployment", "queues-keeper-deployment")
    (container,) = deployment.inputs["spec"]["template"]["spec"]["containers"]
    assert json.loads(container["args"][0]) == {
        "flavors": {"train-spot": "eks-acme-train-spot-"},
        "spans": {"train-spot": [1, 2]},
        "retry_seconds": 1800,
    }
    assert "queues-flavor-train-spot" in depends_on(recording, deployment)
    assert not kueue().of_type("kubernetes:apps/v1:Deployment")
