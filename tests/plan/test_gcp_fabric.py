"""Pools with a fast network on Google Cloud: a claim of all RDMA interfaces, one zone, an image with the plug-in."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plan.stack_files import bought, gpu_pool, keys, node_range, plan_of
from trainyard.plan.gcp.parts import GcpPlan
from trainyard.plan.parts import Plan, PoolPlan
from trainyard.plan.smoke import smoke_spec
from trainyard.smoke_jobs.launch.job import worker_options

IMAGE = f"us-docker.pkg.dev/acme-ml/images/torch-gib:2.13@sha256:{'1' * 64}"
GOOGLE: dict[str, Any] = {
    "cloud": "gcp",
    "region": "us-central1",
    "gcp": keys(project="acme-ml", project_number="123456789012"),
    "smoke": {"image": IMAGE},
    "monthlyBudgetUsd": 900_000,
}


def on_google(pool: dict[str, Any] | None = None, **changes: Any) -> Plan:
    pools = {"train": gpu_pool(**{"instance_type": "a3-ultragpu-8g", **(pool or {})})}
    return plan_of(**{**GOOGLE, "gpuPools": pools, **changes})


def train(plan: Plan) -> PoolPlan:
    return plan.clusters[0].pool("train")


def test_its_pods_claim_every_interface_of_a_node_and_leave_nccl_no_other_network() -> None:
    plan = on_google()
    fabric = train(plan).node.fabric
    assert fabric is not None
    assert (fabric.resource, fabric.device_class, fabric.interfaces) == ("", "mrdma.google.com", 8)
    variables = dict(fabric.environment)
    assert variables["NCCL_NET"] == "gIB"
    assert variables["NCCL_TUNER_CONFIG_PATH"].endswith("a3u.txtpb")
    (runtime,) = plan.clusters[0].runtimes
    assert (runtime.name, runtime.image) == ("torch-distributed-train", IMAGE)
    job = next(job for job in plan.clusters[0].smoke.jobs if job.pool == "train")
    spec = smoke_spec(plan, plan.clusters[0], job)
    assert (spec.fabric_claim, spec.fabric_interfaces, spec.transport) == ("fabric-train", 0, "gpudirect")
    assert worker_options(spec, "kubernetes").expect_adapters == 8, "one that is dead is missed"
    assert set(variables.items()) <= set(spec.environment)


def test_its_nodes_stand_in_one_zone_and_close_together_but_where_a_reservation_has_placed_them() -> None:
    reserved = bought("acme-h200", 2, "us-central1-b")
    pool = train(on_google({"reserved": reserved, "spot": node_range(0, 2), "onDemand": node_range(0, 2)}))
    assert {group.zones for group in pool.node_groups} == {("us-central1-b",)}
    assert {group.capacity: group.placement_group for group in pool.node_groups} == {
        "reserved": False,
        "spot": True,
        "on-demand": True,
    }


def test_without_a_fabric_it_is_as_any_pool() -> None:
    pool = train(on_google({"fabric": False}, smoke=None))
    assert pool.node.fabric is None
    assert not any(group.placement_group for group in pool.node_groups)


def test_a_pool_without_fast_interfaces_needs_no_image_of_its_own() -> None:
    assert train(plan_of(**{**GOOGLE, "smoke": None})).node.fabric is None


NETWORKS = keys(project="acme-ml", project_number="123456789012", fast_network="networks")


def test_networks_of_its_own_instead_of_claims() -> None:
    plan = on_google(gcp=NETWORKS)
    assert isinstance(plan.ground, GcpPlan)
    fabric, networks = train(plan).node.fabric, plan.ground.fabric_networks
    assert fabric is not None and networks is not None
    assert (fabric.resource, fabric.device_class, fabric.interfaces) == ("", "", 8)
    assert "rdma-7" in dict(fabric.pod_annotations)["networking.gke.io/interfaces"]
    (zone,) = train(plan).node_groups[0].zones
    assert (networks.zone, networks.gvnic_cidr, networks.rdma_cidrs[-1]) == (zone, "10.1.0.0/20", "10.1.128.0/20")
    job = next(job for job in plan.clusters[0].smoke.jobs if job.pool == "train")
    spec = smoke_spec(plan, plan.clusters[0], job)
    assert (spec.fabric_claim, spec.claimed_interfaces) == ("", 8)
    assert set(fabric.pod_annotations) <= set(spec.pod_annotations)
    assert worker_options(spec, "kubernetes").expect_adapters == 8


def test_by_default_gke_sets_the_interfaces_up() -> None:
    ground = on_google().ground
    assert isinstance(ground, GcpPlan)
    assert ground.fabric_networks is None


@pytest.mark.parametrize(
    ("machine", "how", "cidrs"),
    [
        ("a3-megagpu-8g", "tcpxo", ("10.1.0.0/20", "10.1.112.0/20")),
        ("a3-highgpu-8g", "tcpx", ("10.1.0.0/20", "10.1.48.0/20")),
    ],
)
def test_networks_over_tcp_where_a_setting_asks_for_their_daemon(
    machine: str, how: str, cidrs: tuple[str, str]
) -> None:
    asked = keys(project="acme-ml", project_number="123456789012", fast_network=how)
    plan = on_google({"instance_type": machine}, gcp=asked)
    assert isinstance(plan.ground, GcpPlan)
    fabric, networks = train(plan).node.fabric, plan.ground.fabric_networks
    assert fabric is not None and networks is not None
    assert (fabric.daemon, fabric.device_class, networks.transport) == (how, "", how)
    assert (networks.tcp_cidrs[0], networks.tcp_cidrs[-1], networks.rdma_cidrs) == (*cidrs, ())
    job = next(job for job in plan.clusters[0].smoke.jobs if job.pool == "train")
    spec = smoke_spec(plan, plan.clusters[0], job)
    assert (spec.fabric, spec.claimed_interfaces, spec.transport) == (how, fabric.interfaces, "gpudirect")
    assert f"gpudirect-{how}/tcpgpudmarxd-dev" in spec.fabric_daemon
    assert worker_options(spec, "kubernetes").expect_adapters == 0
    mirrored = on_google(
        {"instance_type": machine}, gcp=asked, images={"mirrors": {"us-docker.pkg.dev": "m.example/g"}}
    )
    job = next(job for job in mirrored.clusters[0].smoke.jobs if job.pool == "train")
    assert smoke_spec(mirrored, mirrored.clusters[0], job).fabric_daemon.startswith("m.example/g/gce-ai-infra/")


@pytest.mark.parametrize(
    ("machine", "how", "key", "said"),
    [
        ("a3-ultragpu-8g", "tcpxo", "gcp.fastNetwork", "is of a3-megagpu-8g"),
        ("a3-megagpu-8g", "tcpx", "gpuPools.train.fabric", "gcp.fastNetwork: tcpxo asks for"),
        ("a3-megagpu-8g", "networks", "gpuPools.train.fabric", "gcp.fastNetwork: tcpxo asks for"),
        ("a3-highgpu-8g", "dranet", "gpuPools.train.fabric", "gcp.fastNetwork: tcpx asks for"),
    ],
)
def test_another_machines_way_is_refused_by_its_name(
    problems: Any, machine: str, how: str, key: str, said: str
) -> None:
    asked = keys(project="acme-ml", project_number="123456789012", fast_network=how)
    found = problems(**{**GOOGLE, "gcp": asked, "gpuPools": {"train": gpu_pool(instance_type=machine)}})
    assert key in found
    assert said in str(found[key])


def test_nobody_stands_beside_a_daemon_that_is_root_of_the_node(problems: Any) -> None:
    asked = keys(project="acme-ml", project_number="123456789012", fast_network="tcpxo")
    pools = {"train": gpu_pool(instance_type="a3-megagpu-8g", whole_nodes_only=False)}
    found = problems(**{**GOOGLE, "gcp": asked, "gpuPools": pools})
    assert "is root of the node" in str(found["gpuPools.train.wholeNodesOnly"])
    plan = on_google({"instance_type": "a3-megagpu-8g", "whole_nodes_only": True}, gcp=asked)
    assert train(plan).whole_nodes_only


@pytest.mark.parametrize(
    ("pools", "changes", "key", "told"),
    [
        ({"train": gpu_pool(fabric=False)}, {}, "gcp.fastNetwork", "no pool has a fabric"),
        (
            {"train": gpu_pool(instance_type="a3-ultragpu-8g"),
             "more": gpu_pool(instance_type="a4-highgpu-8g", gang_nodes=1, spot=node_range(0, 2))},
            {"region": "europe-west4"}, "gcp.fastNetwork", "more in europe-west4-b",
        ),
        (
            {"train": gpu_pool(instance_type="a3-ultragpu-8g", spot=node_range(0, 300))},
            {"network": keys(cidr="10.0.0.0/18")}, "network.cidr", "each of their networks has 252 addresses",
        ),
    ],
    ids=["nothing to do", "two zones", "too many nodes"],
)  # fmt: skip
def test_networks_that_no_node_could_have_are_refused(
    problems: Any, pools: dict[str, Any], changes: dict[str, Any], key: str, told: str
) -> None:
    found = problems(**{**GOOGLE, "gcp": NETWORKS, "gpuPools": pools, **changes})
    assert key in found
    assert told in str(found[key])


@pytest.mark.parametrize(
    ("pool", "changes", "key", "told"),
    [
        ({}, {"smoke": None}, "smoke.image", "Google's plug-in of NCCL (gIB)"),
        ({"instance_type": "a3-megagpu-8g"}, {}, "gpuPools.train.fabric", "a daemon in each pod"),
        ({"instance_type": "a3-highgpu-8g"}, {}, "gpuPools.train.fabric", "a3-ultragpu-8g and a4-highgpu-8g do"),
        ({"instance_type": "g2-standard-48", "fabric": True}, {}, "gpuPools.train.fabric", "no fast interfaces"),
        ({"zone": "us-central1-a"}, {}, "gpuPools.train.zone", "does not sell a3-ultragpu-8g"),
        ({"instance_type": "ct6e-standard-4t"}, {}, "gpuPools.train.instanceType", "is one of gcp.tpuPools"),
        (
            {"reserved": bought("r", 1, "us-central1-b"), "zone": "us-central1-a"},
            {},
            "gpuPools.train.zone",
            "us-central1-b",
        ),
    ],
    ids=["no image", "TCPXO", "TCPX", "no interfaces", "a zone without it", "TPUs", "a zone beside the reservation's"],
)
def test_what_would_train_over_the_plain_network_is_refused(
    problems: Any, pool: dict[str, Any], changes: dict[str, Any], key: str, told: str
) -> None:
    made = gpu_pool(**{"instance_type": "a3-ultragpu-8g", **pool})
    found = problems(**{**GOOGLE, "gpuPools": {"train": made}, **changes})
    assert set(found) == {key}
    assert told in str(found[key])
