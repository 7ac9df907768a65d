"""What gives back GPUs of idle jobs: what it decides, over any course of things, and what it never does."""

from __future__ import annotations

import copy
import io
import json
import random
import urllib.error
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from email.message import Message
from typing import Any

import pytest

from tests.components.k8s.checkers import check_plain_objects
from tests.components.k8s.test_kueue import run as kueue
from trainyard.components.k8s.keepers import idle as keeper
from trainyard.components.k8s.keepers.idle import (
    BUSY_AGAIN,
    EVICT,
    KEEP,
    RESUME,
    WARN,
    Gang,
    Seen,
    decide,
    expressions,
    gang_of,
    kept_until,
)
from trainyard.conventions import GPU_RESOURCE

IMAGE = f"org/python:3@sha256:{'0' * 64}"
NOW = datetime(2026, 12, 20, 12, tzinfo=UTC).timestamp()
MINUTE = 60.0
LIMITS = {"idle_seconds": 45 * MINUTE, "grace_seconds": 15 * MINUTE, "sample_seconds": 30.0, "busy_from": 0.02}
TILL_TOMORROW = "2026-12-21T12:00:00+00:00"
TWO_NODES = Gang(
    "team-vision", "job-pretrain-1a2b", "Job", "pretrain", 2, {"pretrain-0": 8.0, "pretrain-1": 8.0},
    NOW - 60 * MINUTE, True, "", None, False, "7",
)  # fmt: skip
IDLE = {"pretrain-0": Seen(0.0, 90.0, 8.0), "pretrain-1": Seen(0.01, 90.0, 8.0)}


def said(gang: Gang = TWO_NODES, seen: Mapping[str, Seen] | None = None, now: float = NOW) -> list[str]:
    return [one.what for one in decide([gang], {"team-vision": IDLE if seen is None else seen}, now, **LIMITS)]


WARNED = replace(TWO_NODES, warned=NOW - 15 * MINUTE)
OFF = replace(TWO_NODES, active=False, evicted=True, ranks={}, ready_since=None)
HALF = IDLE | {"pretrain-1": Seen(0.9, 90.0, 8.0)}


@pytest.mark.parametrize(
    ("what", "found", "expected"),
    [
        ("idle on all ranks is told", said(), [WARN]),
        ("a rank that computes keeps them all", said(seen=HALF), []),
        ("and takes a warning back", said(WARNED, HALF), [BUSY_AGAIN]),
        ("after its time of grace it goes", said(WARNED), [EVICT]),
        ("not before", said(replace(WARNED, warned=NOW - 14 * MINUTE)), []),
        ("a warning of long ago is none", said(replace(WARNED, warned=NOW - 61 * MINUTE)), [WARN]),
        ("one that began within the window", said(replace(WARNED, ready_since=NOW - 44 * MINUTE)), []),
        ("pods that are not all ready", said(replace(WARNED, ready_since=None)), []),
        ("a pod that does not run", said(replace(WARNED, ranks={"pretrain-0": 8.0})), []),
        ("no figures", said(WARNED, {}), []),
        ("no figures of one rank", said(WARNED, {"pretrain-0": IDLE["pretrain-0"]}), []),
        ("a GPU without figures", said(WARNED, IDLE | {"pretrain-1": Seen(0.0, 90.0, 7.0)}), []),
        ("too few samples", said(WARNED, IDLE | {"pretrain-1": Seen(0.0, 71.0, 8.0)}), []),
        ("just enough of them", said(WARNED, IDLE | {"pretrain-1": Seen(0.0, 72.0, 8.0)}), [EVICT]),
        ("somebody needs it", said(replace(WARNED, keep=TILL_TOMORROW)), [BUSY_AGAIN]),
        ("and is not warned again", said(replace(TWO_NODES, keep=TILL_TOMORROW)), []),
        ("a keep of yesterday keeps nothing", said(replace(WARNED, keep="2026-12-19T12:00:00+00:00")), [EVICT]),
        ("what is off stays off", said(OFF), []),
        ("till somebody needs it", said(replace(OFF, keep=TILL_TOMORROW)), [RESUME]),
        ("what a person switched off is theirs", said(replace(OFF, keep=TILL_TOMORROW, evicted=False)), []),
    ],
)
def test_what_is_decided(what: str, found: list[str], expected: list[str]) -> None:
    assert found == expected, what


@pytest.mark.parametrize(
    "text", ["", "tomorrow", "2026-12-21T12:00:00", "2026-12-20T11:00:00+00:00", "2027-12-21T12:00Z"]
)
def test_what_keeps_nothing(text: str) -> None:
    assert kept_until(text, NOW) is None


def test_the_message_says_what_to_do() -> None:
    (warning,) = decide([TWO_NODES], {"team-vision": IDLE}, NOW, **LIMITS)
    assert "nothing was computed on its 16 GPUs for 45 minutes" in warning.because
    assert f"unless {KEEP} on its Job says, such as 2026-12-21T12:00+00:00" in warning.because
    assert kept_until("2026-12-21T12:00+00:00", NOW) is not None


def test_a_thousand_courses_of_jobs_and_none_is_taken_wrongly() -> None:
    """Random jobs that compute, wait, lose pods or figures, minute by minute: judged by what truly happened."""
    draw = random.Random(20261123)
    evicted = warned = unseen = 0
    for _ in range(1000):
        ranks = draw.choice((1, 1, 2, 4))
        gpus = draw.choice((1, 4, 8))
        names = [f"p-{index}" for index in range(ranks)]
        idles_from = draw.choice((None, 0, draw.randint(0, 150)))  # all ranks, for good; None: never
        busy_again = idles_from is not None and draw.random() < 0.25
        back = (idles_from or 0) + draw.randint(20, 90)
        lazy = draw.randrange(ranks) if draw.random() < 0.3 else None  # a rank that never computes
        silent = sorted(draw.sample(range(200), 2)) if draw.random() < 0.3 else None  # no figures between these
        if draw.random() < 0.1:
            silent = [0, 200]  # none at all, all the time
        busy: list[list[float]] = [[] for _ in names]
        gang = replace(TWO_NODES, wanted=ranks, ranks=dict.fromkeys(names, float(gpus)), ready_since=NOW)
        for minute in range(200):
            idle = idles_from is not None and minute >= idles_from and not (busy_again and minute >= back)
            for index in range(ranks):
                computes = not idle and index != lazy and (index != 0 or minute % 30 < 25)
                known = silent is None or not silent[0] <= minute < silent[1]
                busy[index].append((draw.uniform(0.3, 1.0) if computes else 0.0) if known else -1.0)
            now = NOW + minute * MINUTE
            window = [[sample for sample in row[-45:] if sample >= 0] for row in busy]
            seen = {
                name: Seen(max(row), len(row) * 2.0, float(gpus))
                for name, row in zip(names, window, strict=True)
                if row
            }
            for one in decide([gang], {"team-vision": seen}, now, **LIMITS):
                computed = any(sample > 0 for row in busy for sample in row[-36:] if sample >= 0)
                assert not (one.what in (WARN, EVICT) and computed), "it computed"
                if one.what == WARN:
                    gang, warned = replace(gang, warned=now), warned + 1
                elif one.what == BUSY_AGAIN:
                    gang = replace(gang, warned=None)
                elif one.what == EVICT:
                    assert minute >= 45
                    assert gang.warned is not None and now - gang.warned >= 15 * MINUTE
                    gang, evicted = replace(gang, active=False, evicted=True), evicted + 1
        if idles_from is not None and not busy_again and silent is None and idles_from <= 200 - 45 - 16 - 1:
            assert not gang.active, "it was idle to the end, and kept its GPUs"
        if silent == [0, 200]:
            assert gang.active and gang.warned is None, "nothing was known of it"
            unseen += 1
        if idles_from is None and not (lazy == 0 and ranks == 1):
            assert gang.active and gang.warned is None
    assert evicted > 200
    assert unseen > 50
    assert warned >= evicted


def workload(**more: Any) -> dict[str, Any]:
    ready = datetime.fromtimestamp(NOW - 60 * MINUTE, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    container = {"name": "train", "resources": {"limits": {GPU_RESOURCE: "8"}}}
    return {
        "metadata": {
            "name": "job-pretrain-1a2b", "namespace": "team-vision", "resourceVersion": "7",
            "ownerReferences": [{"kind": "Job", "name": "pretrain", "uid": "u"}],
        },
        "spec": {"active": True, "podSets": [{"count": 2, "template": {"spec": {"containers": [container]}}}]},
        "status": {"conditions": [{"type": "PodsReady", "status": "True", "lastTransitionTime": ready}]},
        **more,
    }  # fmt: skip


def pod(index: int, phase: str = "Running") -> dict[str, Any]:
    labels = {"batch.kubernetes.io/job-name": "pretrain"}
    return {
        "metadata": {"name": f"pretrain-{index}", "labels": labels},
        "spec": {"containers": [{"name": "train", "resources": {"limits": {GPU_RESOURCE: "8"}}}]},
        "status": {"phase": phase},
    }


def test_a_gang_is_read_as_it_stands() -> None:
    assert gang_of(workload(), [pod(0), pod(1)], {}, GPU_RESOURCE) == TWO_NODES
    kept = gang_of(workload(), [pod(0)], {"metadata": {"annotations": {KEEP: TILL_TOMORROW}}}, GPU_RESOURCE)
    assert kept is not None
    assert (kept.keep, dict(kept.ranks)) == (TILL_TOMORROW, {"pretrain-0": 8.0})
    finished = {"conditions": [{"type": "Finished", "status": "True"}]}
    assert gang_of(workload(status=finished), [pod(0)], {}, GPU_RESOURCE) is None
    without = workload(spec={"podSets": [{"count": 1, "template": {"spec": {"containers": [{"name": "a"}]}}}]})
    assert gang_of(without, [pod(0)], {}, GPU_RESOURCE) is None


class Cluster:
    """A stand-in API server with one job: merges of the version that it has, and conflicts of another."""

    def __init__(self) -> None:
        self.workload = workload()
        self.job: dict[str, Any] = {"metadata": {"name": "pretrain"}}
        self.pods = [pod(0), pod(1)]
        self.events: list[Mapping[str, Any]] = []
        self.meanwhile = False  # whether somebody changes the Workload between a look and a change

    def ask(
        self, path: str, body: Mapping[str, Any] | None = None, manager: str = "", *, merge: bool = False
    ) -> dict[str, Any]:
        if body is None:
            found = {
                "workloads?limit=500": {"items": [copy.deepcopy(self.workload)], "metadata": {}},
                "pods?limit=500": {"items": self.pods, "metadata": {}},
                "jobs/pretrain": self.job,
            }
            return next(value for end, value in found.items() if path.endswith(end))
        if not merge:
            self.events.append(body)
            return dict(body)
        assert path.endswith("/namespaces/team-vision/workloads/job-pretrain-1a2b")
        metadata = self.workload["metadata"]
        if self.meanwhile or body["metadata"]["resourceVersion"] != metadata["resourceVersion"]:
            raise urllib.error.HTTPError(path, 409, "no", Message(), io.BytesIO())
        notes = metadata.setdefault("annotations", {})
        for key, value in body["metadata"]["annotations"].items():
            notes.pop(key, None) if value is None else notes.__setitem__(key, value)
        self.workload["spec"] |= body.get("spec", {})
        metadata["resourceVersion"] = str(int(metadata["resourceVersion"]) + 1)
        return self.workload


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    found = Cluster()
    monkeypatch.setattr(keeper, "ask", found.ask)
    return found


CONFIGURATION = {
    "prometheus": "http://prometheus", "metric": "ACTIVE", "namespaces": ["team-vision"], "resource": GPU_RESOURCE,
    **LIMITS,
}  # fmt: skip


def figures_of(most: float) -> Any:
    def figures(_: str, expression: str, __: float) -> list[tuple[Mapping[str, str], float]]:
        value = 90.0 if expression.startswith("min") else 8.0 if expression.startswith("count") else most
        return [({"namespace": "team-vision", "pod": f"pretrain-{index}"}, value) for index in range(2)]

    return figures


def test_an_idle_job_is_warned_evicted_and_goes_on_when_it_is_let(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(keeper, "figures", figures_of(0.0))
    told: set[tuple[str, ...]] = set()
    for minute in range(17):
        keeper.turn(CONFIGURATION, NOW + minute * MINUTE, told)
    assert cluster.workload["spec"]["active"] is False
    assert [(each["reason"], each["regarding"]["kind"]) for each in cluster.events] == [
        ("IdleWarning", "Workload"), ("IdleWarning", "Job"), ("IdleEvicted", "Workload"), ("IdleEvicted", "Job"),
    ]  # fmt: skip
    cluster.pods = []
    keeper.turn(CONFIGURATION, NOW + 20 * MINUTE, told)
    assert cluster.workload["spec"]["active"] is False
    cluster.job["metadata"]["annotations"] = {KEEP: TILL_TOMORROW}
    keeper.turn(CONFIGURATION, NOW + 21 * MINUTE, told)
    assert cluster.workload["spec"]["active"] is True
    assert cluster.workload["metadata"]["annotations"] == {}
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["what"] for line in lines] == [WARN, EVICT, RESUME]


def test_without_prometheus_nothing_happens_and_one_line_says_so(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def gone(*_: Any) -> Any:
        raise OSError("no answer")

    monkeypatch.setattr(keeper, "figures", gone)
    told: set[tuple[str, ...]] = set()
    for minute in range(90):
        keeper.turn(CONFIGURATION, NOW + minute * MINUTE, told)
    assert cluster.workload == workload()
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_what_changed_meanwhile_is_looked_at_again(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "figures", figures_of(0.0))
    cluster.meanwhile = True
    keeper.turn(CONFIGURATION, NOW, set())
    assert cluster.workload == workload()
    assert cluster.events == []


def test_a_namespace_that_refuses_keeps_no_other_waiting(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def ask(path: str, *more: Any, **named: Any) -> dict[str, Any]:
        if "team-closed" in path:
            raise urllib.error.HTTPError(path, 403, "Forbidden", Message(), io.BytesIO())
        return cluster.ask(path, *more, **named)

    monkeypatch.setattr(keeper, "ask", ask)
    monkeypatch.setattr(keeper, "figures", figures_of(0.0))
    keeper.turn({**CONFIGURATION, "namespaces": ["team-closed", "team-vision"]}, NOW, set())
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["namespace"], line.get("what", "failed")) for line in lines] == [
        ("team-closed", "failed"), ("team-vision", WARN),
    ]  # fmt: skip


def test_an_event_that_is_refused_is_told_and_undoes_nothing(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def ask(path: str, *more: Any, **named: Any) -> dict[str, Any]:
        if path.endswith("/events"):
            raise urllib.error.HTTPError(path, 403, "Forbidden", Message(), io.BytesIO())
        return cluster.ask(path, *more, **named)

    monkeypatch.setattr(keeper, "ask", ask)
    monkeypatch.setattr(keeper, "figures", figures_of(0.0))
    assert keeper.turn(CONFIGURATION, NOW, set()) is False
    assert keeper.WARNED in cluster.workload["metadata"]["annotations"]
    assert "no event of it" in capsys.readouterr().out


def test_a_keep_that_cannot_be_read_is_told_once(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(keeper, "figures", figures_of(0.9))
    cluster.job["metadata"]["annotations"] = {KEEP: "tomorrow"}
    told: set[tuple[str, ...]] = set()
    keeper.turn(CONFIGURATION, NOW, told)
    keeper.turn(CONFIGURATION, NOW + MINUTE, told)
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["unread"] == f"{KEEP}: tomorrow"


def test_the_queries_are_about_whole_pods() -> None:
    assert expressions(CONFIGURATION) == (
        'max by (namespace, pod) (max_over_time(ACTIVE{pod!=""}[2700s]))',
        'min by (namespace, pod) (max by (namespace, pod, UUID, GPU_I_ID) (count_over_time(ACTIVE{pod!=""}[2700s])))',
        'count by (namespace, pod) (max by (namespace, pod, UUID, GPU_I_ID) (count_over_time(ACTIVE{pod!=""}[2700s])))',
    )


def test_its_rights_are_of_the_teams_and_of_workloads_only() -> None:
    recording = kueue(idle_jobs={"image": IMAGE, "after_minutes": 45, "grace_minutes": 15})
    resources = recording.resources
    roles = [one for one in resources if one.type.endswith(":Role") and "-idle-role-" in one.name]
    assert roles
    changed = {
        (group, kind, verb)
        for role in roles
        for rule in role.inputs["rules"]
        for group in rule["apiGroups"]
        for kind in rule["resources"]
        for verb in rule["verbs"]
        if verb not in ("get", "list")
    }
    assert changed == {("kueue.x-k8s.io", "workloads", "patch"), ("events.k8s.io", "events", "create")}
    (made,) = [one for one in resources if one.name.endswith("-idle-deployment")]
    configuration = json.loads(made.inputs["spec"]["template"]["spec"]["containers"][0]["args"][0])
    assert set(configuration) == set(CONFIGURATION)
    assert configuration["idle_seconds"] == 2700
    assert check_plain_objects(recording) > 6
