"""The room stays linear: two hundred teams on twenty flavors."""

from __future__ import annotations

from functools import partial

from tests.rehearsal.refusals.builders import obj
from tests.rehearsal.works.effort import calls
from tests.rehearsal.works.queues.test_false_alarms import IN_QUEUE, flavor, group, job, kueue, queue, release
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.works.queues.check import check

CONTEXT = ValueContext(kubernetes_version="1.35", region="us-east-1")


def stack(teams: int) -> Stack:
    resources = [release()]
    flavors = {}
    for index in range(20):
        resources.append(group(f"pool-{index}", ["p4d.24xlarge"], labels={"pool": str(index)}))
        resources.append(flavor(f"pool-{index}", {"pool": str(index)}))
        flavors[f"pool-{index}"] = {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": str(32 // teams)}
    for index in range(teams):
        name = f"team-{index}"
        resources += [
            obj("v1", "Namespace", name),
            queue(name, flavors, cohortName="all"),
            kueue("LocalQueue", "main", name, spec={"clusterQueue": name}),
            job(f"train-{index}", name, IN_QUEUE, {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "1"}),
        ]
    return Stack(resources, CONTEXT)


def test_four_times_the_teams_take_no_more_than_some_four_times_as_much():
    # From 33 teams on, where all own the same: nothing of a flavor, so that each of them only borrows.
    few, many = (calls(partial(check, stack(teams))) for teams in (50, 200))
    assert many < 6 * few, (few, many)
