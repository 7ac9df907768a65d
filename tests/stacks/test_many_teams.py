"""Many teams: what a stack costs to plan and to rehearse grows with them, and no faster."""

from __future__ import annotations

import time
from pathlib import Path

from tests.shared import ROOT
from trainyard.plan.resolve import resolve_stack
from trainyard.recorded.model import RecordedResource
from trainyard.rehearsal.rehearse import Rehearsal, rehearse


def stack_of(count: int, folder: Path) -> Path:
    teams = "".join(f"    - {{ name: t{index}, members: 1 }}\n" for index in range(count))
    file = folder / f"Pulumi.teams{count}.yaml"
    file.write_text(
        "config:\n  trainyard:client: acme\n  trainyard:cloud: aws\n  trainyard:region: us-east-1\n"
        f"  trainyard:monthlyBudgetUsd: 900000\n  trainyard:teams:\n{teams}"
    )
    return file


def of_one_team(resource: RecordedResource) -> bool:
    return "-t7" in resource.name


def test_a_thousand_teams_are_planned_in_two_seconds(tmp_path: Path) -> None:
    file = stack_of(1000, tmp_path)
    resolve_stack(ROOT, stack_of(8, tmp_path))  # what is read once
    started = time.process_time()
    plan = resolve_stack(ROOT, file).plan
    assert time.process_time() - started < 2
    assert len(plan.core.teams) == 1000


def test_a_team_s_objects_wait_for_nothing_of_the_other_teams(tmp_path: Path) -> None:
    """With every object waiting for every team's identity, 200 teams took 85 s to rehearse; now 19 s."""

    def dependencies(rehearsal: Rehearsal) -> int:
        found = [len(resource.dependencies) for resource in rehearsal.resources if of_one_team(resource)]
        assert len(found) > 15
        return max(found)

    few, many = (rehearse(ROOT, stack_of(count, tmp_path)) for count in (8, 16))
    assert not many.errors
    assert dependencies(few) == dependencies(many)


def test_a_smoke_job_waits_for_its_team_s_identity(rehearsed) -> None:
    resources = rehearsed("demo").resources
    identities = {
        resource.inputs["namespace"]: resource.urn
        for resource in resources
        if resource.type.endswith(":PodIdentityAssociation") and "team-" in resource.name
    }
    jobs = [r for r in resources if r.type == "kubernetes:batch/v1:Job" and r.name.startswith("smoke-")]
    assert {job.inputs["metadata"]["namespace"] for job in jobs} <= identities.keys()
    assert len(jobs) > 1
    assert all(identities[job.inputs["metadata"]["namespace"]] in job.dependencies for job in jobs)
