"""The contract of a ground: whoever fills it in gets the workloads, without a word of AWS in them."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import textwrap

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
from trainyard.components.k8s.network_rules import AddressesArgs
from trainyard.components.k8s.volumes import VolumeSourceArgs
from trainyard.conventions import TPU_RESOURCE, gpu_node_labels
from trainyard.plan.parts import NodePlan, Plan
from trainyard.plan.resolve import resolve_stack
from trainyard.smoke_jobs.drill import files
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
    "password_secret": {"name": "the-password-is-there", "key": "password"},
    "cidrs": ["10.9.0.0/24"],
}


OWN_IMAGE = f"registry.example.com/torch:2.13@sha256:{'0' * 64}"


@pytest.fixture(scope="module")
def plan() -> Plan:
    whole = resolve_stack(ROOT, "demo").plan
    (planned,) = whole.clusters
    unproven = dataclasses.replace(
        planned,
        smoke=dataclasses.replace(planned.smoke, jobs=(), environment=()),
        drill=dataclasses.replace(planned.drill, image=OWN_IMAGE) if planned.drill else None,
        check=dataclasses.replace(planned.check, image=OWN_IMAGE) if planned.check else None,
        pools=tuple(dataclasses.replace(pool, node=on_infiniband(pool.node)) for pool in planned.pools),
        runtimes=tuple(dataclasses.replace(each, image=OWN_IMAGE) for each in planned.runtimes),
    )
    without = dataclasses.replace(whole.core, allowed_images=("docker.io/pytorch/pytorch",))  # no smoke job's image
    return dataclasses.replace(whole, core=without, clusters=(unproven,))


def on_infiniband(node: NodePlan) -> NodePlan:
    """A node with a fabric, on that of another ground."""
    if node.fabric is None:
        return node
    own = dataclasses.replace(node.fabric, name="ib", resource="rdma/hca", environment=(("NCCL_NET", "IB"),))
    return dataclasses.replace(node, fabric=own)


OWN_ADDRESSES: AddressesArgs = {
    "own": ["10.1.0.0/16"],
    "nodes": ["10.1.0.0/17"],
    "services": "10.96.0.0/12",
    "control_plane": ["10.1.255.0/28"],
    "api_service": "10.96.0.1/32",
    "resolvers": ["10.1.0.53/32"],
    "cloud_services": [],
    "object_store": ["10.9.0.10/32"],
    "identity": [],
}


def own_ground(plan: Plan) -> Ground:
    """A cluster that somebody has, with an NFS server and a database of their own."""
    role = core.ConfigMap("role")
    return Ground(
        kubeconfig=pulumi.Output.from_input("{}"),
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
        ingest_volume=NFS,
        ingest_identity=WorkloadIdentity(),
        addresses=OWN_ADDRESSES,
        direct_names=[".store.example.com"],
        environment={},
        own_registries=["registry.example.com"],
        system_nodes={},
        cpu_nodes={},
        node_labels={
            group.name: {**gpu_node_labels(group.pool, group.capacity), "example.com/rack": "7"}
            for group in plan.clusters[0].node_groups
        },
        gpu_add_ons=["dcgm-exporter"],
        autoscaled_groups={},
        device_plugins=[],
        unrationed_resources=[],
        node_images={},
        jobs_wait_for=[],
    )


@pytest.fixture(scope="module")
def recording(plan: Plan) -> Recording:
    return record(lambda: cluster.build(plan, plan.clusters[0], own_ground(plan)))


def test_an_environment_without_a_cluster_waits_for_no_sdk_of_kubernetes():
    """It takes a fifth of what a small stack's first rehearsal takes."""
    program = """
        import sys
        import trainyard.stacks.program
        import trainyard.stacks.environment.aws.build, trainyard.stacks.environment.gcp.build
        print([name for name in sys.modules if name.startswith("pulumi_kubernetes")])
    """
    told = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, capture_output=True, text=True)
    assert told.stdout.strip() == "[]"


def test_the_workloads_of_another_ground_know_no_cloud(recording: Recording) -> None:
    assert len(recording.resources) > 50
    for resource in recording.resources:
        inputs = plain(resource.inputs)
        if resource.name == "checkpoint-drill-programs":  # the smoke job's own text, which knows each store by its URI
            assert set(inputs.pop("data")) == {key.replace("/", ".") for key in files()}
        # A chip's resource is called after who makes it, as a GPU's is, and both are counted wherever they are.
        maker = f"{TPU_RESOURCE.partition('/')[0]}/"
        assert not words(json.dumps(inputs).replace(maker, "")), resource.name


def test_what_it_says_of_volumes_and_identities_reaches_the_cluster(plan: Plan, recording: Recording) -> None:
    team = plan.core.teams[0]
    volume = recording.one("kubernetes:core/v1:PersistentVolume", f"volumes-{team.name}-data-volume")
    assert volume.inputs["spec"]["csi"]["driver"] == "nfs.csi.k8s.io"
    assert "driver" in depends_on(recording, volume)
    account = recording.one("kubernetes:core/v1:ServiceAccount", f"teams-{team.name}-trainer")
    assert account.inputs["metadata"]["annotations"] == {"example.com/role": team.name}
    deployment = recording.one("kubernetes:apps/v1:Deployment", "mlflow-deployment")
    assert "the-password-is-there" in json.dumps(plain(deployment.inputs))
    assert "role" not in depends_on(recording, deployment)


def test_its_nodes_are_found_by_their_labels_and_its_add_ons_run_where_it_says(
    plan: Plan, recording: Recording
) -> None:
    flavors = [r for r in recording.resources if r.type.endswith(":ResourceFlavor")]
    assert len(flavors) == len(plan.clusters[0].node_groups)
    for flavor in flavors:
        labels = flavor.inputs["spec"]["nodeLabels"]
        assert labels.keys() == {"ml.platform/pool", "ml.platform/capacity", "example.com/rack"}
    # This cluster keeps no nodes apart for the rest, so nothing may ask for such.
    assert all('"ml.platform/pool": "system"' not in json.dumps(plain(r.inputs)) for r in recording.resources)
    deployment = recording.one("kubernetes:apps/v1:Deployment", "mlflow-deployment")
    assert "nodeSelector" not in deployment.inputs["spec"]["template"]["spec"], "an API server keeps no empty one"


@pytest.mark.parametrize("labels", [{}, {"ml.platform/pool": "train"}, {"example.com/rack": "7"}])
def test_a_ground_whose_nodes_no_job_would_find_is_refused(plan: Plan, labels: dict[str, str]) -> None:
    def program() -> None:
        ground = own_ground(plan)
        group = plan.clusters[0].node_groups[0].name
        broken = dataclasses.replace(ground, node_labels={**ground.node_labels, group: labels})
        cluster.build(plan, plan.clusters[0], broken)

    with pytest.raises(ValueError, match="jobs select by"):
        record(program)


def test_what_the_nodes_bring_is_not_brought_again(recording: Recording) -> None:
    releases = {r.name for r in recording.of_type("kubernetes:helm.sh/v3:Release")}
    assert "gpu-dcgm-exporter" in releases
    assert "gpu-nvidia-device-plugin" not in releases


def test_everything_in_the_contract_is_read() -> None:
    """A ground that fills a field in for nobody says something that is not so."""
    neutral = "".join(
        (ROOT / "stacks" / "environment" / name).read_text()
        for name in ("build.py", "cluster.py", "monitoring.py", "smoke.py", "tracking.py")
    )
    for field in dataclasses.fields(Ground):
        read = f"ground.{field.name}" if field.name != "node_labels" else "ground.flavor_labels("
        assert read in neutral, field.name
