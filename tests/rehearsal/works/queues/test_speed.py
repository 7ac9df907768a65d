"""The room stays linear: two hundred teams on twenty flavors."""

from __future__ import annotations

import time

from tests.rehearsal.refusals.builders import obj
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


def seconds(teams: int) -> float:
    made = stack(teams)
    before = time.process_time()
    check(made)
    return time.process_time() - before


def test_ten_times_the_teams_take_no_more_than_some_twenty_times_as_long():
    few, many = (min(seconds(teams) for _ in range(2)) for teams in (20, 200))
    assert many < 2, many
    assert many < 25 * max(few, 0.05), (few, many)
