"""A simulated month of three teams, step by step: jobs that come, hold GPUs and end; what was truly spent; what Kueue
and the GPUs' exporter tell of it. Whether a team may start a job is asked at each step."""

from __future__ import annotations

import random
import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from trainyard.conventions import GPU_RESOURCE, TPU_RESOURCE

START = int(datetime(2025, 12, 1, tzinfo=UTC).timestamp())
FIRST = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp())
END = FIRST + 2 * 86_400
STEP = 300
PRICES = {"train-spot": 1.25, "train-reserved": 2.5}
ACTIVE = 0.7
"""Share of the held GPUs that computed."""
WAITS = (60, 600, 600, 600, 1140)
"""Seconds that jobs wait, in turn."""
BUCKETS = (1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240, 20480, 40960)
"""Upper ends of Kueue's histogram of waits, seconds (pkg/metrics of Kueue 0.19.2)."""
GAP = (START + 4 * 86_400, START + 4 * 86_400 + 3600)
"""Prometheus is away: it reads nothing, evaluates nothing and answers nobody."""
UNREAD = (START + 6 * 86_400, START + 6 * 86_400 + 3600)
"""Kueue's managers are not read, and all else is."""

STALE = float(struct.unpack("<d", struct.pack("<Q", 0x7FF0_0000_0000_0002))[0])
"""What Prometheus notes of a series that is there no more (model/value of Prometheus)."""

Sample = tuple[str, dict[str, str], float]
"""A metric, its labels, and what it is."""


@dataclass
class Job:
    """GPUs of a flavor for a while."""

    flavor: str
    gpus: int
    start: int
    end: int
    waited: int
    evicted: bool
    """Whether it was preempted once, and went on."""


@dataclass
class Team:
    """A team with its jobs; it holds at most `most` GPUs, or chips."""

    name: str
    budget: float
    most: int
    prices: Mapping[str, float] = field(default_factory=lambda: PRICES)
    """Of the flavors that it may hold."""
    resource: str = GPU_RESOURCE
    jobs: list[Job] = field(default_factory=list)
    spent: dict[int, float] = field(default_factory=dict)
    """True USD since the month began, by the end of each step."""

    @property
    def queue(self) -> str:
        return self.name

    @property
    def namespace(self) -> str:
        return f"team-{self.name}"

    def held(self, flavor: str, at: int) -> int:
        return sum(job.gpus for job in self.running(at) if job.flavor == flavor)

    def running(self, at: int) -> list[Job]:
        return [job for job in self.jobs[-40:] if job.start <= at < job.end]


class Month:
    """What happens."""

    def __init__(self, *teams: Team, start: int = START) -> None:
        found = teams or (Team("vision", 20_000, 32), Team("language", 40_000, 24), Team("tabular", 25_000, 16))
        self.start = start
        self.teams = {team.name: team for team in found}
        self.crossed: dict[tuple[str, int], int] = {}
        """When a team had truly spent so many percent of its budget, in December."""
        self._chance = random.Random(20)

    def step(self, at: int, may_start: Callable[[Team], bool]) -> None:
        """Five minutes. Each team hands in a job whenever it has room; it starts where it may."""
        for team in self.teams.values():
            before = 0.0 if at == FIRST else team.spent.get(at, 0.0)
            free = team.most - sum(job.gpus for job in team.running(at))
            if free >= 8 and self._chance.random() < 0.05:
                hours = self._chance.choice((1, 3, 8, 20))
                flavor = self._chance.choice(sorted(team.prices))
                gpus = self._chance.choice((8, min(16, free)))
                number = len(team.jobs)
                waited, evicted = WAITS[number % len(WAITS)], number % 10 == 9
                if may_start(team):
                    team.jobs.append(Job(flavor, gpus, at, at + hours * 3600, waited, evicted))
            now = before + sum(usd * team.held(flavor, at) for flavor, usd in team.prices.items()) * STEP / 3600
            team.spent[at + STEP] = now
            for percent in (50, 80, 100):
                if at < FIRST and now >= team.budget * percent / 100:
                    self.crossed.setdefault((team.name, percent), at + STEP)

    def samples(self, at: int) -> Iterator[Sample]:
        """What Prometheus reads then; nothing while it is away."""
        if GAP[0] <= at < GAP[1]:
            return
        yield "kube_node_info", {"node": "node-1"}, 1
        for team in self.teams.values():
            yield from _of_gpus(team, at)
            if not UNREAD[0] <= at < UNREAD[1]:
                yield from _of_manager(team, at)
        yield from _of_nodes(self, at)
        chips = [team for team in self.teams.values() if team.resource == TPU_RESOURCE]
        if chips:
            paid = sum(usd * team.held(flavor, at) for team in chips for flavor, usd in team.prices.items())
            yield "trainyard:chip_provisioned_usd_per_hour", {}, paid + IDLE_CHIPS_USD


IDLE_CHIPS_USD = 5.0
"""An hour, of chips that no job holds."""
CPU_NODES, CPU_NODE_USD = 3, 0.4
PODS = {"team-vision": (2, 8), "team-language": (1, 16), "monitoring": (4, 16)}
"""What pods on nodes without GPUs ask for: cores and GiB, of 8 and 32 a node."""
CLAIMS_GIB = {"team-vision": 500, "monitoring": 200}
GIB_MONTH_USD = 0.08
RESERVED_GPUS = 40
"""They are there all the time, and more where jobs hold more."""


def _of_nodes(month: Month, at: int) -> Iterator[Sample]:
    """Nodes, pods and claims that stay as they are, what the nodes with GPUs cost, and the prices of the rest."""
    held = {flavor: sum(team.held(flavor, at) for team in month.teams.values()) for flavor in PRICES}
    reserved = max(RESERVED_GPUS, held["train-reserved"]) * PRICES["train-reserved"]
    yield "trainyard:gpu_provisioned_usd_per_hour", {}, reserved + held["train-spot"] * PRICES["train-spot"]
    yield "trainyard_node_hour_usd", {"instance_type": "m6i.2xlarge"}, CPU_NODE_USD
    yield "trainyard_volume_gib_month_usd", {"storageclass": "trainyard-gp3"}, GIB_MONTH_USD
    for number in range(CPU_NODES):
        node = f"cpu-{number}"
        yield "kube_node_labels", {"node": node, "label_node_kubernetes_io_instance_type": "m6i.2xlarge"}, 1
        for resource, amount in (("cpu", 8), ("memory", 32)):
            yield "kube_node_status_allocatable", {"node": node, "resource": resource}, amount
    for number, (namespace, asked) in enumerate(PODS.items()):
        pod = {"namespace": namespace, "pod": f"{namespace}-0"}
        yield "kube_pod_status_phase", {**pod, "phase": "Running"}, 1
        for resource, amount in zip(("cpu", "memory"), asked, strict=True):
            labels = {**pod, "container": "a", "node": f"cpu-{number}", "resource": resource}
            yield "kube_pod_container_resource_requests", labels, amount
    for namespace, gib in CLAIMS_GIB.items():
        claim = {"namespace": namespace, "persistentvolumeclaim": "a"}
        yield "kube_persistentvolumeclaim_info", {**claim, "storageclass": "trainyard-gp3"}, 1
        yield "kube_persistentvolumeclaim_resource_requests_storage_bytes", claim, gib * 1024**3


def _of_manager(team: Team, at: int) -> Iterator[Sample]:
    """What two replicas of Kueue's manager export; the follower has counted nothing."""
    for replica in ("leader", "follower"):
        of = {"cluster_queue": team.queue, "replica_role": replica, "pod": f"kueue-{replica}", "instance": replica}
        yield "kueue_cluster_queue_status", {**of, "status": "active"}, 1
        for flavor in team.prices:
            labels = {**of, "flavor": flavor, "resource": team.resource}
            yield "kueue_cluster_queue_resource_usage", labels, team.held(flavor, at)
        counted = [job for job in team.jobs if job.start <= at] if replica == "leader" else []
        wait = "kueue_admission_wait_time_seconds"
        labels = {**of, "priority_class": "standard"}
        yield f"{wait}_sum", labels, sum(job.waited for job in counted)
        yield f"{wait}_count", labels, len(counted)
        waits = sorted(job.waited for job in counted)
        for bound in (*BUCKETS, float("inf")):
            le = "+Inf" if bound == float("inf") else f"{bound:g}"
            yield f"{wait}_bucket", {**labels, "le": le}, bisect_right(waits, bound)
        evictions = sum(job.evicted for job in counted)
        yield "kueue_evicted_workloads_total", {**labels, "reason": "Preempted"}, evictions


def _of_gpus(team: Team, at: int) -> Iterator[Sample]:
    """What the GPUs' exporter says, with one series for all of a job's, and how each job ended."""
    for number, job in enumerate(team.jobs):
        if job.start <= at <= job.end and team.resource == GPU_RESOURCE:
            labels = {"namespace": team.namespace, "pod": f"job-{number}-0", "UUID": f"{team.name}-{number}"}
            yield "DCGM_FI_PROF_GR_ENGINE_ACTIVE", labels, ACTIVE * job.gpus if at < job.end else STALE
        if job.end <= at <= job.end + STEP:
            reason = "Failed" if number % 40 == 39 else "Succeeded"
            labels = {"namespace": team.namespace, "name": f"job-{number}", "type": "Finished", "reason": reason}
            yield "kueue_workload_condition_time", labels, job.end
