"""What the queues of demo-gcp and large-gcp do where jobs meet, played by Kueue's rules.

The scenarios are those of jobs larger than a team's quota of one flavor. On demo-gcp the pool of whole machines has no
fabric, on large-gcp it has one: both are shared out in whole nodes. Pools of parts of a machine have quotas in GPUs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trainyard.conventions import GPU_RESOURCE
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.works.queues.kubernetes.model import Admitted, Pending, PodSet, Verdict, Workload
from trainyard.rehearsal.works.queues.room import Room

Play = Callable[..., Verdict]


@pytest.fixture
def cluster(rehearsed: Any) -> Callable[[str], Play]:
    """An empty cluster of an example stack, as what submits a job to it in the name of a team."""

    def of(stack: str) -> Play:
        room = Room.of(Resources(list(rehearsed(stack).resources)))

        def submit(name: str, team: str, flavor: str, gpus: int, priority: str, *, pods: int = 1) -> Verdict:
            labels = dict(room.configuration.flavors[flavor].node_labels)
            shape = PodSet("main", pods, {GPU_RESOURCE: gpus}, selector=labels)
            return room.cluster.admit(Workload(name, f"team-{team}", "default", (shape,), priority))

        return submit

    return of


def evicted(verdict: Verdict) -> dict[str, str]:
    assert isinstance(verdict, Admitted), verdict
    return {one.workload: one.reason for one in verdict.preempted}


def waits(verdict: Verdict) -> bool:
    return isinstance(verdict, Pending) and not verdict.reserved


def test_a_whole_node_job_gets_its_own_teams_development_out_of_the_way(cluster: Callable[[str], Play]) -> None:
    submit = cluster("demo-gcp")
    assert evicted(submit("trial", "tabular", "train-on-demand", 8, "development")) == {}
    assert evicted(submit("run", "tabular", "train-on-demand", 8, "production")) == {"trial": "InClusterQueue"}


def test_the_owner_of_a_whole_machine_without_a_fabric_gets_it_back(cluster: Callable[[str], Play]) -> None:
    submit = cluster("demo-gcp")
    assert evicted(submit("theirs", "language", "train-on-demand", 8, "development")) == {}
    assert evicted(submit("whole", "tabular", "train-on-demand", 8, "production")) == {"theirs": "InCohortReclamation"}


def test_what_another_team_owns_is_waited_for(cluster: Callable[[str], Play]) -> None:
    submit = cluster("demo-gcp")
    submit("theirs", "tabular", "train-on-demand", 8, "development")
    assert waits(submit("whole", "vision", "train-on-demand", 8, "production"))


def test_gpus_of_parts_of_a_machine_are_given_back_by_the_gpu(cluster: Callable[[str], Play]) -> None:
    submit = cluster("demo-gcp")
    submit("theirs", "language", "tune-on-demand", 4, "production")
    assert evicted(submit("own", "vision", "tune-on-demand", 2, "standard")) == {"theirs": "InCohortReclamation"}


def test_no_small_development_of_another_team_ends_a_whole_node_run(cluster: Callable[[str], Play]) -> None:
    submit = cluster("demo-gcp")
    submit("run", "language", "train-on-demand", 8, "production")
    assert waits(submit("small", "vision", "train-on-demand", 4, "development"))


def test_every_owner_of_a_spot_node_gets_its_own_and_no_more(cluster: Callable[[str], Play]) -> None:
    submit = cluster("demo-gcp")
    for name in ("first", "second"):
        assert evicted(submit(name, "language", "train-spot", 8, "standard")) == {}
    assert evicted(submit("whole", "vision", "train-spot", 8, "standard")) == {"second": "InCohortReclamation"}
    assert waits(submit("late", "tabular", "train-spot", 8, "standard"))


def test_who_owns_whole_nodes_gets_all_of_them_back_for_one_gang(cluster: Callable[[str], Play]) -> None:
    submit = cluster("large-gcp")
    assert evicted(submit("all", "perception", "train-reserved", 8, "production", pods=4)) == {}
    gang = submit("gang", "foundation", "train-reserved", 8, "standard", pods=3)
    assert evicted(gang) == {"all": "InCohortReclamation"}
    assert evicted(submit("rest", "perception", "train-reserved", 8, "standard")) == {}, "its own node is left"


def test_a_team_without_a_node_of_a_flavor_borrows_and_takes_none_back(cluster: Callable[[str], Play]) -> None:
    submit = cluster("large-gcp")
    submit("own", "perception", "train-reserved", 8, "standard", pods=4)
    assert waits(submit("whole", "forecasting", "train-reserved", 8, "standard"))


def test_only_jobs_of_flex_start_wait_for_googles_queue(cluster: Callable[[str], Play]) -> None:
    submit = cluster("large-gcp")
    waiting = submit("asked", "foundation", "train-flex-start", 8, "standard", pods=3)
    assert isinstance(waiting, Pending) and waiting.reserved
    assert "admission check" in waiting.reason
    for flavor in ("train-reserved", "train-spot"):
        assert isinstance(submit(f"on-{flavor}", "foundation", flavor, 8, "standard"), Admitted)
