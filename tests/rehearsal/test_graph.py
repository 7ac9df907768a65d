"""The critical path over hand-made graphs."""

from __future__ import annotations

import dataclasses

from trainyard.recorded.model import RecordedResource
from trainyard.rehearsal.graph import critical_path, proves, seconds_to_create


def made(urn: str, type_: str, *after: str, provider: str = "") -> RecordedResource:
    return RecordedResource(
        urn=urn,
        type=type_,
        name=urn,
        parent="",
        component="",
        custom=True,
        provider=provider,
        inputs={},
        dependencies=after,
    )


def test_longest_chain_through_a_provider() -> None:
    resources = [
        made("release", "kubernetes:helm.sh/v3:Release", provider="k8s::id"),
        made("k8s", "pulumi:providers:kubernetes", "cluster"),
        made("cluster", "aws:eks/cluster:Cluster", "role"),
        made("role", "aws:iam/role:Role"),
        made("nat", "aws:ec2/natGateway:NatGateway"),
    ]
    steps = critical_path(resources)
    assert [step.urn for step in steps] == ["role", "cluster", "release"]
    assert [step.finish for step in steps] == [7.0, 590.0, 650.0]


def test_what_a_component_waits_for_its_children_wait_for() -> None:
    """A component is registered after what it depends on, and what is in it after the component."""
    group = dataclasses.replace(made("group", "trainyard:index:Group", "nat"), custom=False)
    inside = dataclasses.replace(made("inside", "aws:iam/role:Role"), parent="group")
    beside = made("beside", "aws:iam/role:Role")
    steps = critical_path([inside, group, beside, made("nat", "aws:ec2/natGateway:NatGateway")])
    assert [step.urn for step in steps] == ["nat", "inside"]


def test_ten_thousand_in_a_row() -> None:
    chain = [made(f"r{i:05}", "aws:s3/bucket:Bucket", *([f"r{i - 1:05}"] if i else [])) for i in range(10_000)]
    steps = critical_path(chain)
    assert len(steps) == 10_000 and steps[-1].finish == 30_000.0


def test_a_smoke_job_takes_minutes_another_job_one_and_what_is_not_awaited_nothing_to_speak_of() -> None:
    def seconds(type_: str, component: str, **metadata: object) -> float:
        resource = made("one", type_)
        return seconds_to_create(dataclasses.replace(resource, component=component, inputs={"metadata": metadata}))

    assert seconds("kubernetes:batch/v1:Job", "smoke-train-spot") == 960
    assert seconds("kubernetes:batch/v1:Job", "lustre-folders") == 60
    assert seconds("kubernetes:core/v1:Service", "mlflow") == 11
    assert seconds("kubernetes:core/v1:Service", "mlflow", annotations={"pulumi.com/skipAwait": "true"}) == 2


def test_the_proof_is_told_apart_from_what_it_proves() -> None:
    job = dataclasses.replace(made("job", "kubernetes:batch/v1:Job", "cluster"), component="smoke-train-spot")
    other = dataclasses.replace(made("other", "kubernetes:batch/v1:Job"), component="lustre-folders")
    steps = critical_path([made("cluster", "aws:eks/cluster:Cluster"), job, other])
    assert [(step.urn, proves(step)) for step in steps] == [("cluster", False), ("job", True)]


def test_nothing_to_make() -> None:
    assert critical_path([]) == ()
