"""The contract of a ground: whoever fills it in gets the workloads, without a word of AWS in them."""

from __future__ import annotations

import dataclasses
import json

import pulumi
import pulumi_kubernetes as kubernetes
import pulumi_kubernetes.core.v1 as core
import pulumi_random as random
import pytest

from tests.components.k8s.checkers import depends_on
from tests.pulumi_harness import Recording, plain, record
from tests.shared import ROOT
from tests.test_no_cloud import words
from trainyard.components.k8s.mlflow_args import MlflowDatabaseArgs
from trainyard.components.k8s.volumes import VolumeSourceArgs
from trainyard.plan.parts import Plan
from trainyard.plan.resolve import resolve_stack
from trainyard.stacks.environment import cluster
from trainyard.stacks.environment.ground import Ground, WorkloadIdentity

NFS: VolumeSourceArgs = {
    "driver": "nfs.csi.k8s.io",
    "handle": "nfs.example.internal#training",
    "attributes": {"server": "nfs.example.internal", "share": "/training"},
    "mount_options": ["nfsvers=4.2"],
    "access_mode": "ReadWriteMany",
    "capacity_gib": 500,
}
DATABASE: MlflowDatabaseArgs = {
    "address": "postgres.example.internal",
    "port": 5432,
    "name": "mlflow",
    "username": "mlflow",
    "password": {"source": "print()", "secret": "the-password-is-there", "interval_seconds": 60},
    "cidrs": ["10.9.0.0/24"],
}


@pytest.fixture(scope="module")
def plan() -> Plan:
    whole = resolve_stack(ROOT, "demo").plan
    (planned,) = whole.clusters
    unproven = dataclasses.replace(planned, smoke=dataclasses.replace(planned.smoke, jobs=()))
    return dataclasses.replace(whole, clusters=(unproven,))


def own_ground(plan: Plan) -> Ground:
    """A cluster that somebody has, with an NFS server and a database of their own."""
    role = core.ConfigMap("role")
    return Ground(
        providers=[kubernetes.Provider("kubernetes", kubeconfig="{}"), random.Provider("random")],
        volumes={team.name: {"data": NFS, "checkpoints": NFS} for team in plan.core.teams},
        volumes_wait_for=[core.ConfigMap("driver")],
        checkpoints_uri=pulumi.Output.from_input("file:///checkpoints"),
        artifacts_uri=pulumi.Output.from_input("file:///artifacts"),
        database=DATABASE,
        mlflow_identity=WorkloadIdentity(),
        team_identities={
            team.name: WorkloadIdentity(annotations={"example.com/role": team.name}, wait_for=[role])
            for team in plan.core.teams
        },
        identity_endpoints=[],
        environment={},
        device_plugins=[],
        unrationed_resources=[],
        node_images={},
        jobs_wait_for=[],
        outputs={},
    )


@pytest.fixture(scope="module")
def recording(plan: Plan) -> Recording:
    return record(lambda: cluster.build(plan, own_ground(plan)))


def test_the_workloads_of_another_ground_know_no_cloud(recording: Recording) -> None:
    assert len(recording.resources) > 50
    for resource in recording.resources:
        assert not words(json.dumps(plain(resource.inputs))), resource.name


def test_what_it_says_of_volumes_and_identities_reaches_the_cluster(plan: Plan, recording: Recording) -> None:
    team = plan.core.teams[0]
    volume = recording.one("kubernetes:core/v1:PersistentVolume", f"volumes-{team.name}-data-volume")
    assert volume.inputs["spec"]["csi"]["driver"] == "nfs.csi.k8s.io"
    assert "driver" in depends_on(recording, volume)
    account = recording.one("kubernetes:core/v1:ServiceAccount", f"teams-{team.name}-trainer")
    assert account.inputs["metadata"]["annotations"] == {"example.com/role": team.name}
    assert "role" in depends_on(recording, account)
    deployment = recording.one("kubernetes:apps/v1:Deployment", "mlflow-deployment")
    assert "the-password-is-there" in json.dumps(plain(deployment.inputs))
    assert "role" not in depends_on(recording, deployment)
