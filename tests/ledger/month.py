"""A simulated month of three teams: jobs that come, hold GPUs and end; what was truly spent; what Kueue told of it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tests.ledger.prometheus import Series

START = int(datetime(2025, 12, 1, tzinfo=UTC).timestamp())
FIRST = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp())
END = FIRST + 2 * 86_400
STEP = 300
PRICES = {"train-spot": 1.25, "train-reserved": 2.5}
ACTIVE = 0.7
"""Share of the held GPUs that computed."""
WAIT_SECONDS = 600
GAP = (START + 20 * 86_400, START + 20 * 86_400 + 3600)
"""Nothing was read in this hour."""


@dataclass
class Job:
    """GPUs of a flavor for a while."""

    flavor: str
    gpus: int
    start: int
    end: int


@dataclass
class Team:
    """A team with its jobs; it holds at most `most` GPUs."""

    name: str
    budget: float
    most: int
    jobs: list[Job] = field(default_factory=list)
    spent: dict[int, float] = field(default_factory=dict)
    """True USD since the month began, by the end of each step."""

    @property
    def queue(self) -> str:
        return self.name

    def held(self, flavor: str, at: int) -> int:
        return sum(job.gpus for job in self.jobs if job.flavor == flavor and job.start <= at < job.end)


@dataclass
class Month:
    """What happened."""

    teams: dict[str, Team]
    crossed: dict[tuple[str, int], int] = field(default_factory=dict)
    """When a team had truly spent so many percent of its budget, in December."""


def simulate(person_holds: tuple[str, int]) -> Month:
    """Each team starts a job whenever it has room and its queue is open: until its money is gone, or a person holds it.

    Args:
        person_holds: a team, and since when a person holds its queue.
    """
    chance = random.Random(20)
    teams = {
        team.name: team
        for team in (Team("vision", 20_000, 32), Team("language", 40_000, 24), Team("speech", 25_000, 16))
    }
    month = Month(teams)
    for at in range(START, END, STEP):
        for team in teams.values():
            before = 0.0 if at == FIRST else team.spent.get(at, 0.0)
            is_held = before >= team.budget or (team.name == person_holds[0] and at >= person_holds[1])
            free = team.most - sum(team.held(flavor, at) for flavor in PRICES)
            if not is_held and free >= 8 and chance.random() < 0.05:
                hours = chance.choice((1, 3, 8, 20))
                flavor = chance.choice(sorted(PRICES))
                team.jobs.append(Job(flavor, chance.choice((8, min(16, free))), at, at + hours * 3600))
            now = before + sum(usd * team.held(flavor, at) for flavor, usd in PRICES.items()) * STEP / 3600
            team.spent[at + STEP] = now
            for percent in (50, 80, 100):
                if at < FIRST and now >= team.budget * percent / 100:
                    month.crossed.setdefault((team.name, percent), at + STEP)
    return month


def kueue_series(month: Month) -> Sequence[Series]:
    """What two replicas of Kueue's manager export of it, as it was read every five minutes."""
    times = [at for at in range(START, END, STEP) if not GAP[0] <= at < GAP[1]]
    found: list[Series] = []
    for replica in ("leader", "follower"):
        of = {"replica_role": replica, "pod": f"kueue-{replica}", "instance": replica}
        for team in month.teams.values():
            queue = {"cluster_queue": team.queue, **of}
            found.append(("kueue_cluster_queue_status", {**queue, "status": "active"}, [(at, 1) for at in times]))
            for flavor in PRICES:
                labels = {**queue, "flavor": flavor, "resource": "nvidia.com/gpu"}
                samples = [(at, team.held(flavor, at)) for at in times]
                found.append(("kueue_cluster_queue_resource_usage", labels, samples))
            started = [sum(job.start <= at for job in team.jobs) for at in times]
            for what, each in (("sum", WAIT_SECONDS), ("count", 1)):
                metric = f"kueue_admission_wait_time_seconds_{what}"
                labels = {**queue, "priority_class": "standard"}
                found.append((metric, labels, [(at, each * count) for at, count in zip(times, started, strict=True)]))
    return [*found, *(series for team in month.teams.values() for series in _of_jobs(team, times))]


def _of_jobs(team: Team, times: Sequence[int]) -> Iterator[Series]:
    """What the GPUs' exporter says, with one series for all of a team's, and how each job ended."""
    busy = [(at, ACTIVE * sum(team.held(flavor, at) for flavor in PRICES)) for at in times]
    labels = {"namespace": f"team-{team.name}", "pod": "all", "UUID": team.name}
    yield "DCGM_FI_PROF_GR_ENGINE_ACTIVE", labels, busy
    for number, job in enumerate(team.jobs):
        if job.end < END - 600:
            reason = "Failed" if number % 20 == 0 else "Succeeded"
            labels = {"namespace": f"team-{team.name}", "name": f"job-{number}", "type": "Finished", "reason": reason}
            yield "kueue_workload_condition_time", labels, [(job.end, job.end), (job.end + 300, job.end)]
