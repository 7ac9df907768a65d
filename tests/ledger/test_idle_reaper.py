"""What gives back the GPUs of idle jobs, under a real Prometheus: four hours of the GPUs' exporter, read every half
minute, and the keeper's turns of each minute at a stand-in API server with a job of each kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.components.k8s.api_server import refused
from tests.ledger.month import STALE
from tests.ledger.prometheus import Prometheus, needs_prometheus
from trainyard.components.k8s.keepers import idle as keeper
from trainyard.components.k8s.keepers.idle import EVICT, KEEP, RESUME, WARN
from trainyard.conventions import GPU_RESOURCE
from trainyard.monitoring.alerts.gpu import BUSY_FROM, SCRAPE_SECONDS
from trainyard.monitoring.names import BUSY

pytestmark = [needs_prometheus]

START = int(datetime(2026, 12, 20, 8, tzinfo=UTC).timestamp())
MINUTES = 240
GPUS, RANKS = 2, 2
NAMESPACE = "team-vision"
Row = tuple[str, dict[str, str], int, float]


@dataclass
class Job:
    """A job of two pods, and what the exporter says of each GPU: rank, GPU and minute to the busy share, or nothing."""

    name: str
    busy: Any
    """Called with rank, GPU and minute; None where the exporter says nothing."""
    stays: bool
    exporters: Any = lambda _: 1
    """Which exporter says it in a minute: another number is one that was started anew, under another address."""
    labels: Mapping[str, str] = field(default_factory=dict)

    def rows(self) -> Iterator[Row]:
        for rank in range(RANKS):
            for gpu in range(GPUS):
                before: dict[str, str] | None = None
                for at in range(START, START + MINUTES * 60, SCRAPE_SECONDS):
                    minute = (at - START) / 60
                    value = self.busy(rank, gpu, minute)
                    labels = {
                        "namespace": NAMESPACE,
                        "pod": f"{self.name}-{rank}",
                        "UUID": f"GPU-{self.name}-{rank}-{gpu}",
                        "gpu": str(gpu),
                        "instance": f"10.0.{rank}.{self.exporters(minute)}:9400",
                        **self.labels,
                    }
                    if before is not None and (value is None or labels != before):
                        yield BUSY, before, at, STALE
                        before = None
                    if value is not None:
                        yield BUSY, labels, at, value
                        before = labels


def idle(*_: Any) -> float:
    return 0.0


def busy(_rank: int, _gpu: int, minute: float) -> float:
    return 0.0 if minute % 30 < 5 else 0.85  # it saves a checkpoint now and then


JOBS = (
    Job("idle", idle, stays=False),
    Job("idle-later", lambda _r, _g, minute: 0.9 if minute < 100 else 0.0, stays=False),
    Job("hardly", lambda *_: 0.01, stays=False),
    Job("slices", idle, stays=False, labels={"GPU_I_ID": "3", "GPU_I_PROFILE": "1g.10gb"}),
    Job("busy", busy, stays=True),
    Job("half-busy", lambda rank, *_: 0.9 if rank else 0.0, stays=True),
    Job("one-gpu-busy", lambda rank, gpu, _: 0.9 if (rank, gpu) == (1, 1) else 0.0, stays=True),
    Job("a-step-in-forty-minutes", lambda _r, _g, minute: 0.5 if minute % 40 == 0 else 0.0, stays=True),
    Job("without-figures", lambda *_: None, stays=True),
    Job("one-rank-without", lambda rank, *_: None if rank else 0.0, stays=True),
    Job("one-gpu-without", lambda _r, gpu, _m: None if gpu else 0.0, stays=True),
    Job("few-figures", lambda _r, _g, minute: 0.0 if minute % 3 < 2 else None, stays=True),
    Job("lost-its-figures", lambda _r, _g, minute: 0.9 if minute < 20 else None, stays=True),
    Job("no-number", lambda *_: float("nan"), stays=True),
    Job(
        "busy-through-a-restart",
        lambda rank, gpu, minute: None if 60 <= minute < 66 else busy(rank, gpu, minute),
        stays=True,
        exporters=lambda minute: 1 if minute < 60 else 2,
    ),
    Job(
        "exporter-starts-every-half-hour",
        idle,
        stays=True,  # no exporter has seen three quarters of an hour
        exporters=lambda minute: 1 + int(minute // 30),
    ),
    Job("idle-through-a-restart", idle, stays=False, exporters=lambda minute: 1 if minute < 30 else 2),
)


class Cluster:
    """The API server with these jobs: merges of the version that it has, and conflicts of another."""

    def __init__(self) -> None:
        ready = datetime.fromtimestamp(START, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        container = {"name": "train", "resources": {"limits": {GPU_RESOURCE: str(GPUS)}}}
        spec = {"containers": [container]}
        self.workloads = {
            job.name: {
                "metadata": {
                    "name": f"job-{job.name}", "namespace": NAMESPACE, "resourceVersion": "1", "annotations": {},
                    "ownerReferences": [{"kind": "Job", "name": job.name, "uid": job.name}],
                },
                "spec": {"active": True, "podSets": [{"count": RANKS, "template": {"spec": spec}}]},
                "status": {"conditions": [{"type": "PodsReady", "status": "True", "lastTransitionTime": ready}]},
            }
            for job in JOBS
        }  # fmt: skip
        self.owners: dict[str, dict[str, Any]] = {job.name: {"metadata": {"annotations": {}}} for job in JOBS}
        self.spec = spec
        self.events: list[Mapping[str, Any]] = []

    def pods(self) -> list[dict[str, Any]]:
        return [
            {
                "metadata": {"name": f"{name}-{rank}", "labels": {"batch.kubernetes.io/job-name": name}},
                "spec": self.spec,
                "status": {"phase": "Running"},
            }
            for name, workload in self.workloads.items()
            for rank in range(RANKS)
            if workload["spec"]["active"]
        ]

    def ask(self, path: str, body: Any = None, _manager: str = "", *, merge: bool = False) -> dict[str, Any]:
        place, _, _ = path.partition("?")
        if body is None:
            if place.endswith("/workloads"):
                return {"items": list(self.workloads.values())}
            if place.endswith("/pods"):
                return {"items": self.pods()}
            return self.owners[place.rpartition("/")[2]]
        if not merge:
            self.events.append(body)
            return dict(body)
        found = self.workloads[place.rpartition("/job-")[2]]
        metadata = found["metadata"]
        if body["metadata"]["resourceVersion"] != metadata["resourceVersion"]:
            raise refused(409)
        for key, value in body["metadata"]["annotations"].items():
            metadata["annotations"].pop(key, None) if value is None else metadata["annotations"].update({key: value})
        found["spec"] |= body.get("spec", {})
        metadata["resourceVersion"] = str(int(metadata["resourceVersion"]) + 1)
        return found


@dataclass
class Ran:
    cluster: Cluster
    said: list[dict[str, Any]]
    minutes: list[float]
    """When each line was said."""

    def of(self, name: str) -> list[tuple[str, float]]:
        return [(line["what"], minute) for line, minute in zip(self.said, self.minutes, strict=True)
                 if line.get("job") == name and "what" in line]  # fmt: skip


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    cluster, said, minutes = Cluster(), list[dict[str, Any]](), list[float]()
    told: set[tuple[str, ...]] = set()
    with pytest.MonkeyPatch.context() as patched, Prometheus(tmp_path_factory.mktemp("reaper")) as prometheus:
        rows = [row for job in JOBS for row in job.rows()]
        for start in range(START, START + MINUTES * 60, 1800):  # in the order of time, as they would have come
            prometheus.take(row for row in rows if start <= row[2] < start + 1800)
        patched.setattr(keeper, "ask", cluster.ask)
        configuration = {
            "prometheus": prometheus.url, "metric": BUSY, "busy_from": BUSY_FROM, "namespaces": [NAMESPACE],
            "resource": GPU_RESOURCE, "idle_seconds": 2700, "grace_seconds": 900, "sample_seconds": SCRAPE_SECONDS,
        }  # fmt: skip
        for minute in range(MINUTES):
            now = START + 60.0 * minute + 5
            patched.setattr(keeper, "say", lambda minute=minute, **what: (said.append(what), minutes.append(minute)))
            if minute == 200:  # somebody needs it, and its job goes on from its last checkpoint
                until = datetime.fromtimestamp(now + 86_400, UTC).isoformat()
                cluster.owners["idle"]["metadata"]["annotations"][KEEP] = until
            assert keeper.turn(configuration, now, told)
        yield Ran(cluster, said, minutes)


@pytest.mark.parametrize("job", [job.name for job in JOBS if job.stays])
def test_a_job_that_computes_or_is_not_fully_seen_is_left_alone(job: str, ran: Ran) -> None:
    assert EVICT not in [what for what, _ in ran.of(job)]
    assert ran.cluster.workloads[job]["spec"]["active"] is True


@pytest.mark.parametrize(
    "job", ["busy", "half-busy", "one-gpu-busy", "without-figures", "one-rank-without", "no-number"]
)
def test_nor_is_it_warned(job: str, ran: Ran) -> None:
    assert ran.of(job) == []


@pytest.mark.parametrize("job", [job.name for job in JOBS if not job.stays])
def test_a_job_that_does_nothing_is_warned_and_evicted(job: str, ran: Ran) -> None:
    (warned, evicted, *rest) = ran.of(job)
    assert (warned[0], evicted[0]) == (WARN, EVICT)
    assert evicted[1] - warned[1] == 15
    assert bool(rest) is (job == "idle")
    assert warned[1] >= 45


def test_when(ran: Ran) -> None:
    first = {job.name: ran.of(job.name)[0][1] for job in JOBS if not job.stays}
    assert first["idle"] == first["hardly"] == first["slices"] <= 47
    assert 145 <= first["idle-later"] <= 147
    assert first["idle-through-a-restart"] > 60, "no exporter has seen enough of it before"


def test_an_evicted_job_is_resumed_where_somebody_needs_it(ran: Ran) -> None:
    assert ran.of("idle")[2] == (RESUME, 200)
    assert ran.cluster.workloads["idle"]["spec"]["active"] is True
    kinds = [event["regarding"]["kind"] for event in ran.cluster.events if event["regarding"]["name"].endswith("idle")]
    assert set(kinds) == {"Workload", "Job"}
