"""What a plan says for given requests, and where each value comes from."""

import json
from typing import Any

import pytest

from tests.plan.stack_files import bought, gpu_pool, keys, node_range, people, plan_of
from trainyard import catalog
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


@pytest.mark.parametrize("profile", ["medium", "large"])
def test_every_number_has_a_decision(profile):
    plan = plan_of(profile=profile)
    found = {decision.key for decision in plan.core.decisions}
    document = plan.as_dict()
    del document["core"]["decisions"], document["core"]["pins"]
    (cluster,) = document["clusters"]
    checked = 0
    for path in (*numbers(document["core"]), *numbers(document["ground"]), *numbers(cluster)):
        parts = path.split(".")
        if parts[0] == "pools" and parts[2] == "node" and parts[-1] != "root_disk_gib":
            path = f"pools.{parts[1]}.instance_type"  # facts of the instance, which is the decision
        path = path.replace(".node.", ".") if parts[0] == "pools" else path
        path = (
            path.replace("lustre", "storage.lustre")
            .replace("system_nodes", "cluster.system_nodes")
            .replace("cpu_pool", "cluster.cpu_pool")
            .replace("control_planes", "cluster")
        )
        prefixes = {".".join(path.split(".")[:i]) for i in range(1, len(path.split(".")) + 1)}
        assert prefixes & found, f"no decision for {path}"
        checked += 1
    assert checked > 100
    assert all(decision.value and len(decision.source) > 3 for decision in plan.core.decisions)


def test_the_demo_team():
    plan = plan_of(gpuPools={"train": gpu_pool(reserved=bought("cr-0123456789abcdef0", 2, "us-east-1b"))})
    (cluster,) = plan.clusters
    train, tune, dev = cluster.pools
    assert [(g.name, g.max_nodes, g.zones, g.placement_group) for g in train.node_groups] == [
        ("train-reserved", 2, ("us-east-1b",), False),
        ("train-spot", 2, ("us-east-1b",), True),
        ("train-on-demand", 1, ("us-east-1b",), True),  # the reservation holds two nodes
    ]
    assert (train.node.instance_type, train.node.fabric.interfaces, train.node.network_cards) == ("p4d.24xlarge", 4, 4)
    assert tune.node_groups[0].instance_types == ("g6e.12xlarge", "g6e.24xlarge")
    spot, on_demand = tune.node_groups
    assert len({*spot.zones, *on_demand.zones}) == 2, "a zone each, and another if one runs dry"
    assert dev.node.fabric is None
    assert [flavor.name for flavor in cluster.scheduling.flavors] == [
        "dev-on-demand", "tune-spot", "tune-on-demand", "train-reserved", "train-spot", "train-on-demand",
    ]  # fmt: skip
    assert plan.core.budget.monthly_usd == 53_200
    held = next(item for item in plan.core.idle_floor.items if "reservation" in item.what)
    assert held.monthly_usd == pytest.approx(2 * 730 * 21.957642, abs=0.01), "billed from creation"


def test_a_capacity_block_is_not_in_the_idle_floor():
    block = bought("cr-0123456789abcdef0", 4, "us-east-1b", "capacity-block", 3)
    plan = plan_of(gpuPools={"train": gpu_pool(reserved=block)})
    (cluster,) = plan.clusters
    assert cluster.node_groups[0].reservation.kind == "block"
    assert cluster.node_groups[0].max_nodes == 3
    assert not any("train" in item.what for item in plan.core.idle_floor.items)


def test_minimum_nodes_are_in_the_idle_floor():
    plain = plan_of()
    kept = plan_of(gpuPools={"dev": gpu_pool(on_demand=node_range(min_nodes=2))})
    more = kept.core.idle_floor.monthly_usd - plain.core.idle_floor.monthly_usd
    assert more == pytest.approx(2 * 730 * 0.9776, abs=0.02)


def test_a_region_without_the_first_choice_falls_back_and_says_so():
    plan = plan_of(region="me-central-1")
    assert [pool.node.instance_type for pool in plan.clusters[0].pools] == [
        "g6e.48xlarge",
        "g6e.12xlarge",
        "g6.2xlarge",
    ]
    (why,) = [d.source for d in plan.core.decisions if d.key == "pools.train.instance_type"]
    assert "me-central-1 does not sell p4d.24xlarge, p4de.24xlarge" in why


def test_fewer_gpus_a_node_make_more_nodes():
    plan = plan_of(gpuPools={"train": gpu_pool(instance_type="g6e.12xlarge")})
    assert sum(group.max_nodes for group in plan.clusters[0].pools[0].node_groups) == 6, "24 GPUs in nodes of four"


def test_whole_nodes_hold_no_more_gpus_than_the_profile_s_most():
    """19 GPUs of 20 are three nodes of eight, which are 24: more than the profile lets a stack have."""
    plan = plan_of(teamSize=19, teams=None, gpuPools={"tune": gpu_pool(instance_type="g6e.48xlarge")})
    tune = plan.clusters[0].pool("tune")
    assert sum(group.max_nodes for group in tune.node_groups) * tune.node.gpus == 16
    small = plan_of(gpuPools={"dev": gpu_pool(instance_type="g6e.48xlarge")}).clusters[0].pool("dev")
    assert [group.max_nodes for group in small.node_groups] == [1], "a pool has a node at least"


def test_gpu_alone_takes_the_cheapest_with_the_profile_s_count():
    plan = plan_of(gpuPools={"train": gpu_pool(gpu="H100"), "own": gpu_pool(gpu="L4", spot=node_range(0, 3))})
    (cluster,) = plan.clusters
    assert cluster.pools[0].node.instance_type == "p5.48xlarge"
    own = cluster.pools[-1]
    assert (own.name, own.node.instance_type, own.purpose) == ("own", "g6.xlarge", "pool own")


def test_a_job_that_was_late_once_may_be_left_out_for_good():
    assert plan_of(scheduler=keys(requeue_limit=0)).clusters[0].scheduling.requeue_limit == 0


def test_overrides_reach_the_plan():
    plan = plan_of(
        teamSize=15,
        kubernetesVersion="1.36",
        apiAccess=keys(cidrs=["203.0.113.0/24"]),
        monthlyBudgetUsd=50_000,
        budget=keys(anomaly_threshold_usd=77),
        logRetentionDays=731,
        protect=False,
        gpuPools={
            "dev": gpu_pool(enabled=False),
            "tune": gpu_pool(
                spot=node_range(1, 4),
                on_demand=node_range(max_nodes=0),
                spot_instance_types=[],
                root_disk_gib=99,
                purpose="p",
            ),
            "train": gpu_pool(zone="us-east-1c"),
        },
        network=keys(cidr="10.8.0.0/18", service_cidr="10.100.0.0/16", zones=["us-east-1c", "us-east-1a"]),
        storage=keys(
            lustre=keys(capacity_gib=1200, throughput_mbps_per_tib=1000, zone="us-east-1a"),
            shared_file_system=True,
            checkpoint_expire_days=9,
            checkpoint_keep_versions=8,
            multipart_cleanup_days=2,
            artifact_retention_days=500,
            artifact_transition_days=31,
        ),
        mlflow=keys(
            replicas=4,
            cpu="3",
            memory="5Gi",
            workers=6,
            database=keys(storage_gib=600, multi_az=False, backup_retention_days=35),
        ),
        scheduler=keys(
            pods_ready_timeout_minutes=45,
            requeue_limit=3,
            scale_down_after_minutes=25,
            priorities={"standard": 400, "urgent": 2000},
        ),
        aws=keys(
            account_id="123456789012",
            admin_principals=["arn:aws:iam::123456789012:role/admin"],
            anomaly_detection=False,
            activate_cost_tags=True,
            nat_per_zone=True,
            flow_log_retention_days=400,
            database_instance_class="db.m7g.xlarge",
            create_autoscaling_role=True,
        ),
    )
    (cluster,) = plan.clusters
    assert plan.core.team_size == 15
    add_ons = plan.ground.control_plane(cluster.name).add_ons
    kube_proxy = next(add_on for add_on in add_ons if add_on.name == "kube-proxy")
    assert kube_proxy.version.startswith("v1.36.")
    assert [zone.name for zone in plan.ground.network.zones] == ["us-east-1a", "us-east-1c"], "whatever their order"
    assert (plan.ground.network.cidr, plan.ground.network.service_cidr, plan.ground.network.nat_gateways) == (
        "10.8.0.0/18",
        "10.100.0.0/16",
        2,
    )
    assert (
        plan.ground.network.flow_log_retention_days,
        plan.ground.control_plane(cluster.name).log_retention_days,
    ) == (
        400,
        731,
    )
    assert [pool.name for pool in cluster.pools] == ["train", "tune"]
    assert cluster.pools[0].node_groups[0].zones == ("us-east-1c",)
    (group,) = cluster.pools[1].node_groups
    assert (group.name, group.min_nodes, group.max_nodes, group.instance_types) == (
        "tune-spot",
        1,
        4,
        ("g6e.12xlarge",),
    )
    assert (cluster.pools[1].node.root_disk_gib, cluster.pools[1].purpose) == (99, "p")
    lustre = plan.ground.lustre
    assert (lustre.capacity_gib, lustre.throughput_mbps_per_tib, lustre.zone) == (1200, 1000, "us-east-1a")
    storage = plan.core.storage
    assert (plan.ground.shared_file_system, storage.checkpoint_expire_days, storage.checkpoint_keep_versions) == (
        True,
        9,
        8,
    )
    assert (storage.multipart_cleanup_days, storage.artifact_retention_days, storage.artifact_transition_days) == (
        2,
        500,
        31,
    )
    assert not plan.core.protect and not plan.ground.database.deletion_protection
    assert not plan.ground.control_plane(cluster.name).deletion_protection
    database = plan.ground.database
    assert (database.instance_class, database.storage_gib, database.max_storage_gib) == ("db.m7g.xlarge", 600, 1200)
    assert (database.multi_az, database.backup_retention_days) == (False, 35)
    mlflow = plan.core.mlflow
    assert (mlflow.replicas, mlflow.cpu, mlflow.memory, mlflow.workers) == (4, "3", "5Gi", 6)
    assert [(p.name, p.value) for p in cluster.scheduling.priorities] == [
        ("urgent", 2000), ("production", 1000), ("standard", 400), ("development", -100),
    ]  # fmt: skip
    scheduling = cluster.scheduling
    assert (scheduling.pods_ready_timeout_minutes, scheduling.requeue_limit) == (45, 3)
    assert scheduling.scale_down_after_minutes == 25
    assert (
        plan.core.budget.monthly_usd,
        plan.core.budget.anomaly_threshold_usd,
        plan.ground.alerts.activate_cost_tags,
    ) == (
        50_000,
        77,
        True,
    )
    assert (plan.ground.account_id, plan.ground.create_autoscaling_role) == ("123456789012", True)
    assert not plan.ground.alerts.anomaly_detection
    assert cluster.public_access_cidrs == ("203.0.113.0/24",)
    assert plan.ground.control_plane(cluster.name).admin_principal_arns == ("arn:aws:iam::123456789012:role/admin",)


def test_what_can_be_switched_off():
    plan = plan_of(
        storage=keys(lustre=keys(enabled=False)), mlflow=keys(enabled=False), gpuPools={"train": gpu_pool(fabric=False)}
    )
    (cluster,) = plan.clusters
    assert plan.ground.lustre is None
    assert not plan.core.mlflow.enabled
    assert not any("Lustre" in item.what or "database" in item.what for item in plan.core.idle_floor.items)
    assert cluster.pools[0].node.fabric is None
    assert [len(group.zones) for pool in cluster.pools for group in pool.node_groups] == [1] * 5
    assert cluster.pools[0].whole_nodes_only, "the pool trains on whole nodes, whatever joins them"


@pytest.mark.parametrize(
    ("name", "pool", "whole", "in_nodes"),
    [
        ("train", {"fabric": False}, True, True),
        ("train", {"fabric": False, "instance_type": "g6.12xlarge"}, True, True),
        ("train", {"fabric": False, "whole_nodes_only": False}, False, True),
        ("train", {"fabric": False, "whole_nodes_only": False, "instance_type": "g6.12xlarge"}, False, False),
        ("tune", {}, False, False),
        ("tune", {"instance_type": "g6.48xlarge"}, False, True),
        ("more", {"instance_type": "g6.48xlarge", "fabric": False, "onDemand": node_range(0, 2)}, True, True),
        ("more", {"instance_type": "g6.12xlarge", "fabric": False, "onDemand": node_range(0, 2)}, False, False),
        ("more", {"instance_type": "g6.48xlarge", "fabric": False, "onDemand": node_range(0, 2),
                  "sharing": keys(time_slices=2, across_teams=True)}, False, False),
    ],
)  # fmt: skip
def test_whole_machines_are_shared_out_in_nodes_with_a_fabric_or_without(
    name: str, pool: dict[str, Any], whole: bool, in_nodes: bool
):
    (cluster,) = plan_of(gpuPools={name: gpu_pool(**pool)}).clusters
    planned = cluster.pool(name)
    assert (planned.whole_nodes_only, planned.is_shared_out_in_nodes) == (whole, in_nodes)
    flavors = {group.name for group in planned.node_groups}
    nodes = {quota.nodes is not None for team in cluster.teams for quota in team.quotas if quota.flavor in flavors}
    assert nodes == {in_nodes}


def test_nobody_named_is_one_team_of_everybody():
    plan = plan_of(teams=None, teamSize=9)
    (everyone,) = plan.core.teams
    assert (everyone.name, everyone.members, everyone.share_percent) == ("everyone", 9, 100.0)
    assert plan.clusters[0].team("everyone").namespace == "team-everyone"
    smallest = plan_of(teams=None, profile="large")
    assert (smallest.core.team_size, smallest.core.profile, smallest.ground.network.nat_gateways) == (20, "large", 3)


def test_shares_win_over_members():
    teams = [people("a", 11, 25.0), people("b", 1, 75.0)]
    plan = plan_of(teams=teams, gpuPools={"train": gpu_pool(gang_nodes=1)})
    assert [team.share_percent for team in plan.core.teams] == [75.0, 25.0]
    # Of 3 train nodes 1 and 2, not 6 and 18 GPUs of them; of 12 and 4 GPUs elsewhere 3 and 1.
    assert [sum(quota.gpus for quota in team.quotas) for team in plan.clusters[0].teams] == [28, 12]


def test_a_plan_is_json():
    plan = plan_of()
    assert json.loads(json.dumps(plan.as_dict()))["ground"]["region"] == "us-east-1"
    assert hash(plan) == hash(plan_of())


@pytest.mark.parametrize("region", catalog.regions())
@pytest.mark.parametrize(("profile", "size"), [("medium", 5), ("medium", 10_000), ("large", 20), ("large", 10_000)])
def test_the_profiles_fit_every_region_that_has_gpus(region, profile, size):
    changes = {"region": region, "profile": profile, "teams": None, "teamSize": size}
    if not any(catalog.offered(item.type, region) for item in catalog.instances() if item.gpus):
        with pytest.raises(SettingsError, match=f"region: got {region}; sells no GPU instance"):
            plan_of(**changes)
        return
    plan = plan_of(**changes)
    (cluster,) = plan.clusters
    assert [pool.name for pool in cluster.pools] == ["train", "tune", "dev"]
    assert cluster.pools[0].node.fabric
    assert plan.core.idle_floor.monthly_usd < plan.core.budget.monthly_usd / 3


def test_an_unknown_price_is_unknown_and_not_nothing():
    (kind, region) = next(
        (item.type, region)
        for item in catalog.instances()
        if item.usd_per_hour is None and item.gpus and not item.min_driver
        for region in catalog.offered_regions(item.type)
        if len(catalog.zones(region)) > 1 and set(catalog.offered_zones(item.type, region)) & set(catalog.zones(region))
    )
    own = gpu_pool(instance_type=kind, on_demand=node_range(1, 1))
    plan = plan_of(region=region, gpuPools={"own": own}, monthlyBudgetUsd=1_000_000)
    floor = plan.core.idle_floor
    assert floor.unpriced == (f"own-on-demand: 1 {kind} at least",)
    said = next(decision.value for decision in plan.core.decisions if decision.key == "idle_floor")
    assert floor.unpriced[0] in said
    job = next(job for job in plan.clusters[0].smoke.jobs if job.pool == "own")
    assert job.usd_per_node_hour is None


def test_spot_nodes_stand_where_every_named_type_is_sold():
    """EKS makes no node group with a type that one of its zones does not sell (random settings files found it)."""
    alternatives = {"instance_type": "g6.xlarge", "spot_instance_types": ["gr6.4xlarge"]}
    own = gpu_pool(**alternatives, spot=node_range(0, 2), on_demand=node_range(0, 2))
    (pool,) = [
        pool for pool in plan_of(region="eu-west-2", gpuPools={"own": own}).clusters[0].pools if pool.name == "own"
    ]
    spot, on_demand = pool.node_groups
    assert len(spot.zones) == len(on_demand.zones) == 1
    assert set(spot.zones) <= set(catalog.offered_zones("gr6.4xlarge", "eu-west-2"))
