"""Environments of several clusters and of none: what the clusters share, and what each has of its own."""

from __future__ import annotations

import dataclasses
import functools
import re

import pytest

from tests.pulumi_harness import Recorded, Recording, plain, record
from tests.shared import ROOT
from trainyard.plan import resolve as resolve_module
from trainyard.plan.parts import Plan
from trainyard.plan.resolve import resolve_stack
from trainyard.review.review import review
from trainyard.stacks.environment.build import build_environment

SHARED = {
    f"trainyard:index:{name}"
    for name in (
        "AuditTrail",
        "BackupAlerts",
        "BreakGlass",
        "BudgetAlerts",
        "Database",
        "DnsFirewall",
        "EnvironmentKey",
        "ImageCache",
        "Network",
        "SecurityAlerts",
        "StorageTiers",
        "ThreatDetection",
        "MlflowServer",
    )
}
"""Components that an environment has once, however many clusters there are."""
PROVIDERS = {"pulumi:providers:aws", "pulumi:providers:random", "pulumi:providers:tls"}


@functools.cache
def plan() -> Plan:
    return resolve_stack(ROOT, "large-aws").plan


def with_clusters(*names: str) -> Plan:
    """The example's cluster under each of these names."""
    whole = plan()
    (cluster,) = whole.clusters
    control_plane = whole.ground.control_plane(cluster.name)
    return dataclasses.replace(
        whole,
        ground=dataclasses.replace(
            whole.ground, control_planes=tuple(dataclasses.replace(control_plane, cluster=name) for name in names)
        ),
        clusters=tuple(dataclasses.replace(cluster, name=name) for name in names),
    )


@functools.cache
def environment(*further: str) -> tuple[Recording, dict]:
    outputs: dict = {}
    names = (plan().clusters[0].name, *further)
    recording = record(lambda: outputs.update(build_environment(with_clusters(*names))))
    return recording, outputs


def shared(resource: Recorded) -> bool:
    """Whether it belongs to the environment and not to one cluster."""
    return (
        resource.type in PROVIDERS
        or any(f"{component}$" in resource.urn for component in SHARED)
        or (resource.type in SHARED)
    )


def by_urn(recording: Recording) -> dict[str, Recorded]:
    return {resource.urn: resource for resource in recording.resources}


def test_no_two_resources_have_one_urn() -> None:
    recording, _ = environment("globex-production-burst")
    assert len(by_urn(recording)) == len(recording.resources)


def test_a_second_cluster_leaves_the_first_as_it_is() -> None:
    alone, beside = by_urn(environment()[0]), by_urn(environment("globex-production-burst")[0])
    assert alone.keys() <= beside.keys(), sorted(alone.keys() - beside.keys())
    changed = {urn for urn in alone if plain(alone[urn].inputs) != plain(beside[urn].inputs)}
    # The private subnets are tagged for both clusters, and the control planes of both may use the platform's key;
    # each counts against its part of the teams' budgets. Nothing else that stands is touched.
    names: dict[str, list[str]] = {}
    for urn in changed:
        names.setdefault(alone[urn].type, []).append(alone[urn].name)
    assert names.pop("aws:kms/key:Key") == ["platform-key"]
    assert all("-private-" in name for name in names.pop("aws:ec2/subnet:Subnet"))
    assert {kind.rpartition(":")[2]: len(found) for kind, found in names.items()} == {
        "Deployment": 1,
        "PrometheusRule": 1,
    }


def test_the_second_cluster_is_whole() -> None:
    (alone, _), (beside, _) = environment(), environment("globex-production-burst")
    known = by_urn(alone)
    of_first = {(r.type, r.name) for r in alone.resources if not shared(r)}
    added = [r for r in beside.resources if r.urn not in known]
    of_second = {(r.type, re.sub(r"^(smoke-)?burst-", r"\1", r.name)) for r in added if not shared(r)}
    tracking = {
        (type_, name)
        for type_, name in of_first
        if name.startswith(("mlflow", "random", "tls", "monitoring-certificates")) or name.endswith("-allow-mlflow")
    }
    assert of_first - tracking == of_second - tracking
    assert of_second & tracking == set()
    assert {"aws:eks/cluster:Cluster", "aws:eks/nodeGroup:NodeGroup", "kubernetes:batch/v1:Job"} <= {
        t for t, _ in of_second
    }


def test_what_is_shared_lets_both_in() -> None:
    recording, _ = environment("globex-production-burst")
    rules = [
        r.name
        for r in recording.of_type("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule")
        if r.name.endswith("ingress-burst-cluster")
    ]
    first = [name.replace("burst-", "") for name in rules]
    assert rules, "the database and the file systems know the second cluster"
    assert all(
        recording.one("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", name) is not None for name in first
    )


def test_objects_of_a_cluster_stay_on_it() -> None:
    """Each Kubernetes object is made with the provider of the cluster that its name belongs to."""
    recording, _ = environment("globex-production-burst")
    objects = [r for r in recording.resources if r.type.startswith("kubernetes:")]
    assert len(objects) > 200
    for resource in objects:
        of_second = "burst-" in resource.urn
        assert ("::burst-kubernetes" in resource.provider) == of_second, resource.urn


def test_jobs_beside_the_tracking_server_use_it_and_others_do_without() -> None:
    recording, outputs = environment("globex-production-burst")
    jobs = {r.name: str(plain(r.inputs)) for r in recording.of_type("kubernetes:batch/v1:Job") if "smoke-" in r.name}
    assert {("mlflow" in text) for name, text in jobs.items() if "burst" in name} == {False}
    assert {("mlflow" in text) for name, text in jobs.items() if "burst" not in name} == {True}
    (burst,) = outputs["furtherClusters"]
    assert burst["mlflowTrackingUri"] is None
    assert burst["clusterName"] == "globex-production-burst"
    assert burst["queues"].keys() == outputs["queues"].keys()


def test_two_jobs_write_nowhere_alike() -> None:
    recording, _ = environment("globex-production-burst")
    places = [
        str(plain(r.inputs["spec"]["template"]["spec"]["containers"][0]["args"]))
        for r in recording.of_type("kubernetes:batch/v1:Job")
        if "smoke-" in r.name
    ]
    assert len(places) == len(set(places)) > 2


def test_a_cluster_that_goes_renames_no_other() -> None:
    three, two = environment("globex-production-a", "globex-production-b")[0], environment("globex-production-b")[0]
    assert by_urn(two).keys() <= by_urn(three).keys()


def test_an_environment_without_a_cluster() -> None:
    bare = with_clusters()
    outputs: dict = {}
    recording = record(lambda: outputs.update(build_environment(bare)))
    assert len(by_urn(recording)) == len(recording.resources) > 20
    types = {r.type for r in recording.resources}
    assert not {
        t for t in types if t.startswith(("kubernetes:", "aws:eks/", "aws:rds/", "pulumi:providers:kubernetes"))
    }
    assert {
        "trainyard:index:Network",
        "trainyard:index:DnsFirewall",
        "trainyard:index:StorageTiers",
        "trainyard:index:BudgetAlerts",
    } <= types
    assert outputs["gpuPools"] == []
    assert "kubeconfig" not in outputs
    assert "furtherClusters" not in outputs


@pytest.mark.parametrize("further", [["globex-production", "globex-production-burst"], []], ids=["two", "none"])
def test_neither_cloud_nor_policy_refuses_it(further: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole review: what AWS and an API server would refuse, and every policy. No setting asks for it yet."""
    unusual = with_clusters(*further)
    monkeypatch.setattr(resolve_module, "make_plan", lambda *_: unusual)
    found = review(ROOT, ROOT / "stacks" / "Pulumi.large-aws.yaml")
    made = [r for r in found.rehearsal.resources if r.type == "aws:eks/cluster:Cluster"]
    assert len(made) == len(further)
    assert found.rehearsal.errors == ()
    assert found.judged.violations == ()


def test_a_teams_budget_is_divided_among_the_clusters_that_count() -> None:
    """Each has a ledger of its own, which sees no other's: given whole to each, it could be spent twice."""
    found = with_clusters("first", "second", "third")
    first, second, third = found.clusters
    third = dataclasses.replace(third, ledger=None)
    larger = tuple(
        dataclasses.replace(team, quotas=tuple(dataclasses.replace(own, gpus=own.gpus * 3) for own in team.quotas))
        for team in second.teams
    )
    uneven = dataclasses.replace(found, clusters=(first, dataclasses.replace(second, teams=larger), third))
    even = dataclasses.replace(found, clusters=(first, second, third))
    for team in found.core.teams:
        whole = team.monthly_budget_usd
        parts = [even.budget_usd_at(each, team.name) for each in even.clusters[:2]]
        assert sum(parts) == whole and max(parts) - min(parts) <= 1
        assert plan().budget_usd_at(plan().clusters[0], team.name) == whole
        assert uneven.budget_usd_at(uneven.clusters[1], team.name) == pytest.approx(0.75 * whole, abs=1)
