"""What a plan says for given requests, and where each value comes from."""

from dataclasses import replace

import pytest

from trainyard import catalog
from trainyard.plan.plan import make_plan
from trainyard.plan.request import (
    DatabaseRequest,
    LustreRequest,
    MlflowRequest,
    NetworkRequest,
    PoolRequest,
    RangeRequest,
    ReservedRequest,
    SchedulingRequest,
    StorageRequest,
    TeamRequest,
)
from trainyard.problems import SettingsError


def numbers(node, path=""):
    """Paths of all numbers of a plan, list entries by their name."""
    if isinstance(node, dict):
        for key, child in node.items():
            yield from numbers(child, f"{path}.{key}" if path else key)
    elif isinstance(node, list | tuple):
        for child in node:
            name = child.get("name") if isinstance(child, dict) else None
            yield from numbers(child, f"{path}.{name}" if name else path)
    elif isinstance(node, int | float) and not isinstance(node, bool):
        yield path


CATALOGUE_FIELDS = ("gpus_per_node", "gpu_memory_gib", "vcpus", "memory_gib", "network_cards", "local_nvme_gb")


@pytest.mark.parametrize("profile", ["medium", "large"])
def test_every_number_has_a_decision(base, profile):
    plan = make_plan(replace(base, profile=profile))
    keys = {decision.key for decision in plan.decisions}
    document = plan.as_dict()
    del document["decisions"], document["pins"]
    checked = 0
    for path in numbers(document):
        parts = path.split(".")
        if parts[0] == "pools" and parts[-1] in CATALOGUE_FIELDS:
            path = f"pools.{parts[1]}.instance_type"  # facts of the instance, which is the decision
        prefixes = {".".join(path.split(".")[:i]) for i in range(1, len(path.split(".")) + 1)}
        assert prefixes & keys, f"no decision for {path}"
        checked += 1
    assert checked > 60
    assert all(decision.value and len(decision.source) > 3 for decision in plan.decisions)


def test_the_demo_team(base):
    plan = make_plan(
        replace(base, pools={"train": PoolRequest(reserved=ReservedRequest("cr-0123456789abcdef0", 2, "us-east-1b"))})
    )
    train, tune, dev = plan.pools
    assert [(g.name, g.max_nodes, g.zones, g.placement_group) for g in train.node_groups] == [
        ("train-reserved", 2, ("us-east-1b",), False),
        ("train-spot", 2, ("us-east-1b",), True),
        ("train-on-demand", 1, ("us-east-1b",), True),
    ]
    assert (train.instance_type, train.efa_interfaces, train.network_cards) == ("p4d.24xlarge", 4, 4)
    assert tune.node_groups[0].instance_types == ("g6e.12xlarge", "g6e.24xlarge")
    assert len(tune.node_groups[0].zones) == 3
    assert dev.efa_interfaces == 0
    assert [flavor.name for flavor in plan.scheduling.flavors] == [
        "dev-on-demand", "tune-spot", "tune-on-demand", "train-reserved", "train-spot", "train-on-demand",
    ]  # fmt: skip
    assert plan.storage.lustre.zone == "us-east-1b", "data next to the nodes that read it"
    assert plan.budget.monthly_usd == 43_000
    reservation = next(item for item in plan.idle_floor.items if "reservation" in item.what)
    assert reservation.monthly_usd == pytest.approx(2 * 730 * 21.957642, abs=0.01), "billed from creation"


def test_a_capacity_block_is_not_in_the_idle_floor(base):
    block = ReservedRequest("cr-0123456789abcdef0", 4, "us-east-1b", "capacity-block", 3)
    plan = make_plan(replace(base, pools={"train": PoolRequest(reserved=block)}))
    assert plan.node_groups[0].reservation.kind == "capacity-block"
    assert plan.node_groups[0].max_nodes == 3
    assert not any("train" in item.what for item in plan.idle_floor.items)


def test_minimum_nodes_are_in_the_idle_floor(base):
    plain = make_plan(base)
    kept = make_plan(replace(base, pools={"dev": PoolRequest(on_demand=RangeRequest(min_nodes=2))}))
    assert kept.idle_floor.monthly_usd - plain.idle_floor.monthly_usd == pytest.approx(2 * 730 * 0.9776, abs=0.02)


def test_a_region_without_the_first_choice_falls_back_and_says_so(base):
    plan = make_plan(replace(base, region="me-central-1"))
    assert [pool.instance_type for pool in plan.pools] == ["g6e.48xlarge", "g6e.12xlarge", "g6.2xlarge"]
    (why,) = [d.source for d in plan.decisions if d.key == "pools.train.instance_type"]
    assert "me-central-1 does not sell p4d.24xlarge, p4de.24xlarge" in why


def test_fewer_gpus_a_node_make_more_nodes(base):
    plan = make_plan(replace(base, pools={"train": PoolRequest(instance_type="g6e.12xlarge")}))
    assert sum(group.max_nodes for group in plan.pools[0].node_groups) == 6, "24 GPUs in nodes of four"


def test_gpu_alone_takes_the_cheapest_with_the_profile_s_count(base):
    plan = make_plan(
        replace(base, pools={"train": PoolRequest(gpu="H100"), "own": PoolRequest(gpu="L4", spot=RangeRequest(0, 3))})
    )
    assert plan.pools[0].instance_type == "p5.48xlarge"
    own = plan.pools[-1]
    assert (own.name, own.instance_type, own.purpose) == ("own", "g6.xlarge", "pool own")


def test_overrides_reach_the_plan(base):
    plan = make_plan(
        replace(
            base,
            team_size=15,
            kubernetes_version="1.34",
            public_access_cidrs=("203.0.113.0/24",),
            admin_principal_arns=("arn:aws:iam::123456789012:role/admin",),
            monthly_budget_usd=50_000,
            anomaly_threshold_usd=77,
            anomaly_detection=False,
            activate_cost_tags=True,
            log_retention_days=731,
            protect=False,
            pools={
                "dev": PoolRequest(enabled=False),
                "tune": PoolRequest(
                    spot=RangeRequest(1, 4), on_demand=RangeRequest(max_nodes=0), spot_instance_types=(),
                    root_disk_gib=99, purpose="p",
                ),
                "train": PoolRequest(zone="us-east-1c"),
            },
            network=NetworkRequest(
                vpc_cidr="10.8.0.0/18", service_cidr="10.100.0.0/16", zones=("us-east-1c", "us-east-1a"),
                nat_per_zone=True, flow_log_retention_days=400,
            ),
            storage=StorageRequest(
                lustre=LustreRequest(capacity_gib=1200, throughput_mbps_per_tib=1000, zone="us-east-1a"),
                shared_file_system=True, checkpoint_expire_days=9, checkpoint_keep_versions=8, multipart_cleanup_days=2,
                artifact_retention_days=500, artifact_transition_days=31,
            ),
            mlflow=MlflowRequest(
                replicas=5, cpu="3", memory="5Gi", workers=6,
                database=DatabaseRequest("db.m7g.xlarge", 600, None, False, 35),
            ),
            scheduling=SchedulingRequest(45, 3, {"standard": 400, "urgent": 2000}),
        )
    )  # fmt: skip
    assert plan.team_size == 15
    assert [add_on.version for add_on in plan.cluster.add_ons] == [None] * 7
    assert [zone.name for zone in plan.network.zones] == ["us-east-1c", "us-east-1a"], "in the stack file's order"
    assert (plan.network.cidr, plan.network.service_cidr, plan.network.nat_gateways) == (
        "10.8.0.0/18",
        "10.100.0.0/16",
        2,
    )
    assert (plan.network.flow_log_retention_days, plan.cluster.log_retention_days) == (400, 731)
    assert [pool.name for pool in plan.pools] == ["train", "tune"]
    assert plan.pools[0].node_groups[0].zones == ("us-east-1c",)
    (group,) = plan.pools[1].node_groups
    assert (group.name, group.min_nodes, group.max_nodes, group.instance_types) == (
        "tune-spot",
        1,
        4,
        ("g6e.12xlarge",),
    )
    assert (plan.pools[1].root_disk_gib, plan.pools[1].purpose) == (99, "p")
    lustre = plan.storage.lustre
    assert (lustre.capacity_gib, lustre.throughput_mbps_per_tib, lustre.zone) == (1200, 1000, "us-east-1a")
    assert lustre.throughput_mbps == pytest.approx(1171.875)
    storage = plan.storage
    assert (storage.shared_file_system, storage.checkpoint_expire_days, storage.checkpoint_keep_versions) == (
        True,
        9,
        8,
    )
    assert (storage.multipart_cleanup_days, storage.artifact_retention_days, storage.artifact_transition_days) == (
        2,
        500,
        31,
    )
    assert not plan.protect and not storage.protect and not plan.database.deletion_protection
    assert not plan.cluster.deletion_protection
    database = plan.database
    assert (database.instance_class, database.storage_gib, database.max_storage_gib) == ("db.m7g.xlarge", 600, 1200)
    assert (database.multi_az, database.backup_retention_days) == (False, 35)
    mlflow = plan.mlflow
    assert (mlflow.replicas, mlflow.cpu, mlflow.memory, mlflow.workers) == (5, "3", "5Gi", 6)
    assert mlflow.users == ("vision", "language", "platform")
    assert [(p.name, p.value) for p in plan.scheduling.priorities] == [
        ("urgent", 2000), ("production", 1000), ("standard", 400), ("development", 100),
    ]  # fmt: skip
    assert (plan.scheduling.pods_ready_timeout_minutes, plan.scheduling.requeue_limit) == (45, 3)
    assert (plan.budget.monthly_usd, plan.budget.anomaly_threshold_usd, plan.budget.activate_cost_tags) == (
        50_000,
        77,
        True,
    )
    assert not plan.budget.anomaly_detection
    assert plan.cluster.public_access_cidrs == ("203.0.113.0/24",)
    assert plan.cluster.admin_principal_arns == ("arn:aws:iam::123456789012:role/admin",)


def test_what_can_be_switched_off(base):
    plan = make_plan(
        replace(
            base,
            storage=StorageRequest(lustre=LustreRequest(enabled=False)),
            mlflow=MlflowRequest(enabled=False),
            pools={"train": PoolRequest(fabric=False)},
        )
    )
    assert plan.storage.lustre is None
    assert not plan.mlflow.enabled
    assert not any("Lustre" in item.what or "database" in item.what for item in plan.idle_floor.items)
    assert plan.pools[0].efa_interfaces == 0
    assert len(plan.pools[0].node_groups[0].zones) == 3


def test_nobody_named_is_one_team_of_everybody(base):
    plan = make_plan(replace(base, teams=(), team_size=9))
    (team,) = plan.teams
    assert (team.name, team.members, team.share_percent, team.namespace) == ("everyone", 9, 100.0, "team-everyone")
    smallest = make_plan(replace(base, teams=(), profile="large"))
    assert (smallest.team_size, smallest.profile, smallest.network.nat_gateways) == (20, "large", 3)


def test_shares_win_over_members(base):
    teams = (TeamRequest("a", 11, 25.0), TeamRequest("b", 1, 75.0))
    plan = make_plan(replace(base, teams=teams))
    assert [team.share_percent for team in plan.teams] == [25.0, 75.0]
    assert [sum(quota.gpus for quota in team.quotas) for team in plan.teams] == [10, 30]


def test_a_plan_is_json(base):
    import json

    plan = make_plan(base)
    assert json.loads(json.dumps(plan.as_dict()))["region"] == "us-east-1"
    assert hash(plan) == hash(make_plan(base))


@pytest.mark.parametrize("region", catalog.regions())
@pytest.mark.parametrize(("profile", "size"), [("medium", 5), ("medium", 10_000), ("large", 20), ("large", 10_000)])
def test_the_profiles_fit_every_region_that_has_gpus(base, region, profile, size):
    request = replace(base, region=region, profile=profile, teams=(), team_size=size)
    if not any(catalog.offered(item.type, region) for item in catalog.instances() if item.gpus):
        with pytest.raises(SettingsError, match=f"region: got {region}; sells no GPU instance"):
            make_plan(request)
        return
    plan = make_plan(request)
    assert [pool.name for pool in plan.pools] == ["train", "tune", "dev"]
    assert plan.pools[0].fabric
    assert plan.idle_floor.monthly_usd < plan.budget.monthly_usd / 3
