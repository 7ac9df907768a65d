"""Which smoke jobs a plan leads to, and what each takes from the cloud."""

from __future__ import annotations

import asyncio
import dataclasses
from types import SimpleNamespace
from typing import Any

import pulumi
import pulumi_kubernetes.core.v1 as core
import pytest

from tests.pulumi_harness import Recorded, record
from tests.shared import ROOT
from trainyard.conventions import NODE_IMAGE_ANNOTATION, gpu_node_labels
from trainyard.plan.parts import Plan
from trainyard.plan.resolve import resolve_stack
from trainyard.stacks.environment.build import build_environment
from trainyard.stacks.environment.ground import WorkloadIdentity
from trainyard.stacks.environment.smoke import smoke_jobs

JOB = "kubernetes:batch/v1:Job"


@pytest.fixture(scope="module")
def plan() -> Plan:
    return resolve_stack(ROOT, "demo").plan


def jobs_of(plan: Plan) -> tuple[dict[str, Recorded], list[str]]:
    """The Jobs by resource name, and the keys of what `smoke_jobs` returns."""
    keys: list[str] = []
    (cluster,) = plan.clusters

    def program() -> None:
        role = core.Namespace("role")
        ground: Any = SimpleNamespace(
            providers=[],
            checkpoints_uri=pulumi.Output.from_input("s3://checkpoints"),
            smoke_checkpoints=None,
            team_identities={team.name: WorkloadIdentity(wait_for=[role]) for team in cluster.teams},
            node_images={group.name: pulumi.Output.from_input(f"of {group.name}") for group in cluster.node_groups},
        )
        teams: Any = SimpleNamespace(namespaces={team.name: team.namespace for team in cluster.teams})
        keys.extend(smoke_jobs(plan, cluster, ground, teams, []))

    recording = record(program)
    return {resource.name: resource for resource in recording.resources if resource.type == JOB}, keys


def test_every_node_group_is_proven(plan: Plan) -> None:
    (cluster,) = plan.clusters
    jobs, keys = jobs_of(plan)
    assert keys == [group.name for group in cluster.node_groups]
    for group in cluster.node_groups:
        job = jobs[f"smoke-{group.name}-job"].inputs
        term = job["spec"]["template"]["spec"]["affinity"]["nodeAffinity"][
            "requiredDuringSchedulingIgnoredDuringExecution"
        ]["nodeSelectorTerms"][0]
        wanted = {item["key"]: item["values"] for item in term["matchExpressions"]}
        assert wanted == {"ml.platform/pool": [group.pool], "ml.platform/capacity": [group.capacity]}
        # every label that it asks for is one of every ground's (`Ground.flavor_labels`), and so of the flavor
        assert wanted == {key: [value] for key, value in gpu_node_labels(group.pool, group.capacity).items()}
        assert job["spec"]["completions"] <= group.max_nodes
        assert job["metadata"]["annotations"][NODE_IMAGE_ANNOTATION] == f"of {group.name}"
        assert job["metadata"]["labels"]["ml.platform/smoke-pool"] == group.pool
    # two jobs that run beside each other write to places of their own
    places = {str(job.inputs["spec"]["template"]["spec"]["containers"][0]["args"]) for job in jobs.values()}
    assert len(places) == len(jobs) == len(cluster.node_groups)


def test_only_planned_jobs_are_made(plan: Plan) -> None:
    (cluster,) = plan.clusters
    spot = tuple(job for job in cluster.smoke.jobs if job.capacity == "spot")
    fewer = dataclasses.replace(cluster, smoke=dataclasses.replace(cluster.smoke, jobs=spot))
    _, keys = jobs_of(dataclasses.replace(plan, clusters=(fewer,)))
    assert keys == [job.name for job in spot] != []


def test_spot_is_started_and_not_waited_for(plan: Plan) -> None:
    """That a market has no machines today fails no `up`; what is bought is waited for."""
    waited = {
        name: job.inputs["metadata"]["annotations"].get("pulumi.com/skipAwait") != "true"
        for name, job in jobs_of(plan)[0].items()
    }
    assert waited["smoke-train-reserved-job"] and waited["smoke-train-on-demand-job"]
    assert not waited["smoke-train-spot-job"]
    everything = resolve_stack(ROOT, "demo").plan
    (cluster,) = everything.clusters
    smoke = dataclasses.replace(cluster.smoke, advisory=())
    jobs, _ = jobs_of(dataclasses.replace(everything, clusters=(dataclasses.replace(cluster, smoke=smoke),)))
    assert not [job for job in jobs.values() if "pulumi.com/skipAwait" in job.inputs["metadata"]["annotations"]]


def test_a_job_that_is_waited_for_ends_before_the_wait_does(plan: Plan) -> None:
    """An hour at most, and then nothing of it runs on."""
    for name, job in jobs_of(plan)[0].items():
        if job.inputs["metadata"]["annotations"].get("pulumi.com/skipAwait") == "true":
            continue
        wait = int(job.custom_timeouts["create"].removesuffix("s"))
        assert job.inputs["spec"]["activeDeadlineSeconds"] < wait <= 62 * 60, name


def test_no_output_of_the_stack_hangs_on_a_proof() -> None:
    """Outputs are registered at once, when the last is known: one that waits for a Job that fails leaves none."""
    plan = resolve_stack(ROOT, "demo").plan
    found: dict[str, Any] = {}

    def program() -> None:
        for name, value in build_environment(plan).items():
            found[name] = asyncio.ensure_future(pulumi.Output.from_input(value).resources())

    record(program)
    made_of = {name: {resource._name for resource in task.result()} for name, task in found.items()}
    assert made_of["kubeconfig"], "it is made of the cluster"
    proofs = {name for names in made_of.values() for name in names if name.startswith("smoke-")}
    assert proofs == set()
