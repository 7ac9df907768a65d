"""Any valid team gives a plan that holds together."""

import itertools
from ipaddress import IPv4Network

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.plan.stack_files import STACK, bought, configuration, gpu_pool, keys, node_range, people
from trainyard import catalog
from trainyard.catalog import gcp
from trainyard.components.aws.nodes import LONGEST_NODE_GROUP_NAME
from trainyard.conventions import CAPACITIES
from trainyard.plan.resolve import resolve
from trainyard.problems import SettingsError

GPU_NODES = "gpu-nodes"
"""The component that makes the node groups, whose name begins theirs."""

NAMES = st.from_regex(r"[a-z](-?[a-z0-9]){0,9}", fullmatch=True)
GPU_REGIONS = [
    name
    for name in catalog.regions()
    if any(
        catalog.offered(t, name)
        for t in ("p4d.24xlarge", "g6e.48xlarge", "g5.48xlarge", "g6.48xlarge", "g4dn.12xlarge")
    )
]
TYPES = [item.type for item in catalog.instances() if item.gpus and not item.min_driver]


@st.composite
def team_lists(draw):
    names = draw(st.lists(NAMES, min_size=1, max_size=6, unique=True))
    if draw(st.booleans()):
        cuts = sorted(draw(st.lists(st.integers(1, 99), min_size=len(names) - 1, max_size=len(names) - 1, unique=True)))
        shares = [b - a for a, b in zip([0, *cuts], [*cuts, 100], strict=True)]
        return [people(n, draw(st.integers(1, 40)), float(s)) for n, s in zip(names, shares, strict=True)]
    return [people(n, draw(st.integers(1, 40))) for n in names]


@st.composite
def ranges(draw):
    most = draw(st.integers(1, 8))
    return node_range(draw(st.integers(0, min(1, most))), most)


@st.composite
def requests(draw):
    """Valid stack files: the profile's pools or some replaced, with and without a reservation, and own pools."""
    region = draw(st.sampled_from(GPU_REGIONS))
    pools = {}
    for name in draw(st.lists(st.one_of(st.sampled_from(["train", "tune", "dev"]), NAMES), max_size=3, unique=True)):
        sold = [t for t in TYPES if catalog.offered(t, region)]
        item = catalog.instance(draw(st.sampled_from(sold)))
        usable = [zone for zone in catalog.offered_zones(item.type, region) if zone in catalog.zones(region)]
        reserved = None
        if usable and draw(st.booleans()):
            kinds = ["odcr", "capacity-block"] if item.capacity_block else ["odcr"]
            size = draw(st.integers(1, 4))
            number = f"cr-{len(pools):017x}"
            zone = draw(st.sampled_from(usable))
            reserved = bought(number, size, zone, draw(st.sampled_from(kinds)), draw(st.integers(1, size)))
        pools[name] = gpu_pool(
            instance_type=item.type,
            reserved=reserved,
            spot=draw(st.none() | ranges()),
            on_demand=draw(ranges()),
            root_disk_gib=draw(st.none() | st.integers(50, 500)),
        )
    cidr = draw(st.sampled_from([None, "10.20.0.0/16", "192.168.0.0/16"]))
    return configuration(
        region=region,
        teams=draw(team_lists()),
        profile=draw(st.sampled_from(["medium", "large"])),
        gpuPools=pools,
        monthlyBudgetUsd=50_000_000,
        network=keys(cidr=cidr),
        protect=draw(st.booleans()),
    )


def plan_of(request):
    """The plan; no problem but that a drawn type stands in none of the zones, or that the nodes are too many."""
    try:
        return resolve(request, STACK).plan
    except SettingsError as error:
        fine = ("no zone of the environment", "too small: the nodes in")
        assert all(any(text in problem.allowed for text in fine) for problem in error.problems), error
        return None


@settings(max_examples=150, deadline=None)
@given(requests())
def test_a_plan_holds_together(request):
    plan = plan_of(request)
    if plan is None:
        return
    assert plan == resolve(request, STACK).plan, "the same stack file gives the same plan"
    check_network(plan)
    check_pools(plan)
    check_queues(plan)
    check_money(plan)
    assert len({decision.key for decision in plan.core.decisions}) == len(plan.core.decisions), "one source a value"
    assert dict(plan.core.tags).keys() == {
        "client",
        "environment",
        "team",
        "cost-centre",
        "owner",
        "managed-by",
        "project",
    }
    assert all(dict(plan.core.tags).values())


def check_network(plan):
    blocks = [IPv4Network(cidr) for cidr in plan.ground.network.cidrs]
    assert not any(block.overlaps(IPv4Network(plan.ground.network.service_cidr)) for block in blocks)
    existing = plan.ground.network.existing
    zones = [zone.name for zone in plan.ground.network.zones]
    assert 2 <= len(zones) == len(set(zones))
    assert set(zones) <= set(catalog.zones(plan.ground.region))
    subnets = sorted(
        IPv4Network(c)
        for z in plan.ground.network.zones
        for c in (z.public_cidr, z.private_cidr, z.isolated_cidr, z.control_cidr)
        if c or not existing
    )
    assert all(any(subnet.subnet_of(block) for block in blocks) for subnet in subnets)
    assert all(not a.overlaps(b) for a, b in itertools.pairwise(subnets))
    least = 0 if plan.ground.managed else 1  # what SageMaker runs needs no way out of its own
    assert plan.ground.network.nat_gateways in ((0,) if existing else (least, 1, len(zones)))
    assert not existing or [each.zone for each in existing.subnets] == zones
    assert plan.ground.lustre is None or plan.ground.lustre.zone in zones


def check_google(plan):
    """The network and the pools of a plan on Google Cloud."""
    own = plan.ground.network
    inside = [IPv4Network(cidr) for cidr in (own.node_cidr, own.pod_cidr)]
    apart = [IPv4Network(cidr) for cidr in (own.service_cidr, own.private_services_cidr, own.control_plane_cidr)]
    if own.shared is None:  # a host's network has its own addresses
        assert all(part.subnet_of(IPv4Network(own.cidr)) for part in inside)
    assert not any(a.overlaps(b) for a, b in itertools.combinations([*inside, *apart], 2))
    for cluster in plan.clusters:
        assert len({group.name for group in cluster.node_groups}) == len(cluster.node_groups)
        for pool in cluster.pools:
            for group in pool.node_groups:
                assert 0 <= group.min_nodes <= group.max_nodes >= 1
                assert group.instance_types == (pool.node.instance_type,), "a node pool has one machine type"
                assert group.zones and set(group.zones) <= set(gcp.zones(plan.ground.region))
                assert set(group.zones) <= set(gcp.offered_zones(pool.node.instance_type, plan.ground.region))
                assert (group.capacity == "reserved") == (group.reservation is not None)
                assert group.placement_group == (bool(pool.node.fabric) and group.reservation is None)
            if pool.node.fabric:
                assert pool.node.fabric.device_class and pool.node.fabric.environment
                assert len({group.zones for group in pool.node_groups}) == 1, "a fabric has one zone"


def check_pools(plan):
    (cluster,) = plan.clusters
    zones = [zone.name for zone in plan.ground.network.zones]
    assert len({group.name for group in cluster.node_groups}) == len(cluster.node_groups)
    for pool in cluster.pools:
        item = catalog.instance(pool.node.instance_type)
        assert catalog.offered(item.type, plan.ground.region)
        assert pool.node_groups, "a pool without nodes is refused"
        order = [CAPACITIES.index(group.capacity) for group in pool.node_groups]
        assert order == sorted(set(order)), "reserved, spot, on-demand"
        if pool.node.fabric:
            assert pool.node.fabric.interfaces == item.efa_interfaces
            assert len({group.zones for group in pool.node_groups}) == 1, "a fabric has one zone"
        for group in pool.node_groups:
            assert 0 <= group.min_nodes <= group.max_nodes >= 1
            assert len(f"{GPU_NODES}-{group.name}") <= LONGEST_NODE_GROUP_NAME
            assert group.zones
            assert set(group.zones) <= set(zones)
            assert (len(group.zones) == 1) or not (pool.node.fabric or group.reservation)
            assert (group.capacity == "reserved") == (group.reservation is not None)
            assert group.placement_group == (bool(pool.node.fabric) and group.reservation is None)
            assert group.instance_types[0] == pool.node.instance_type
            assert len(group.instance_types) == len(set(group.instance_types))
            assert group.capacity == "spot" or len(group.instance_types) == 1
            if group.reservation:
                assert group.zones == (group.reservation.availability_zone,)
            for name in group.instance_types:
                other = catalog.instance(name)
                assert (other.gpu, other.gpus) == (item.gpu, item.gpus)
                assert other.vcpus >= pool.node.vcpus
                assert other.memory_gib >= pool.node.memory_gib
                assert not pool.node.fabric or other.efa_interfaces == pool.node.fabric.interfaces
                assert all(zone in catalog.offered_zones(name, plan.ground.region) for zone in group.zones)


def check_queues(plan):
    (cluster,) = plan.clusters
    machine = catalog.instance if plan.ground.kind == "aws" else gcp.instance
    flavors = cluster.scheduling.flavors
    assert {flavor.name for flavor in flavors} == {group.name for group in cluster.node_groups}
    pools = {pool.name: pool for pool in cluster.pools}
    groups = {group.name: group for group in cluster.node_groups}
    machines = [(machine(pools[flavor.pool].node.instance_type), pools[flavor.pool].node) for flavor in flavors]
    prices = [
        found.usd_per_hour / found.gpus / node.pods_per_gpu if found.usd_per_hour else float("inf")
        for found, node in machines
    ]
    # The plan has a machine's price to six places: who is dearer by less is as cheap.
    assert all(first <= second + 1e-5 for first, second in itertools.pairwise(prices)), "cheapest pool first"
    notebooks = cluster.notebooks.profiles if cluster.notebooks is not None else ()
    kept = {profile.node_group: profile.most for profile in notebooks if profile.gpu}
    for flavor in flavors:
        offered = groups[flavor.name].max_nodes * pools[flavor.pool].node.gpus_offered
        assert flavor.gpus == offered - kept.get(flavor.name, 0), "all that pods are told of, but notebooks'"
        quotas = [quota for team in cluster.teams for quota in team.quotas if quota.flavor == flavor.name]
        assert sum(quota.gpus for quota in quotas) == flavor.gpus
        node = pools[flavor.pool].node
        whole_machine = node.gpus >= 8 and node.pods_per_gpu == 1
        if pools[flavor.pool].whole_nodes_only or whole_machine or (node.gpus > 1 and node.fabric):
            assert sum(quota.nodes for quota in quotas) == groups[flavor.name].max_nodes, "each node is one team's"
            assert all(quota.gpus == quota.nodes * node.gpus for quota in quotas), "wholly"
            continue
        assert {quota.nodes for quota in quotas} == {None}
        for team, quota in zip(plan.core.teams, quotas, strict=True):
            exact = flavor.gpus * team.share_percent / 100
            assert exact - 1.01 <= quota.gpus <= exact + 1.01, "a share is its exact part, rounded"
    for pool in cluster.pools:
        names = {group.name for group in pool.node_groups}
        nodes = sum(group.max_nodes for group in pool.node_groups)
        for team, queue in zip(plan.core.teams, cluster.teams, strict=True):
            owned = [quota.nodes for quota in queue.quotas if quota.flavor in names]
            if None not in owned:
                exact = nodes * team.share_percent / 100
                assert exact - 1.01 <= sum(owned) <= exact + 1.01, "over all capacities, a share is its exact part"
    for team in cluster.teams:
        assert [quota.flavor for quota in team.quotas] == [flavor.name for flavor in flavors]
        assert team.weight == max(1, sum(quota.gpus for quota in team.quotas)), "0 would be behind everybody for ever"
        without_gpus = (team.cpu_only_cores, team.cpu_only_memory_gib, team.cpu_only_pods)
        assert min(without_gpus) > 0 if cluster.cpu_pool else max(without_gpus) == 0
        assert len(team.namespace) <= 63
    said = {decision.key: decision.source for decision in plan.core.decisions}
    for job in cluster.smoke.jobs:
        if said[f"smoke.jobs.{job.name}.team"].startswith("setting smoke.team"):
            continue
        mine = {team.name: sum(q.gpus for q in team.quotas if q.flavor == job.name) for team in cluster.teams}
        assert mine[job.team] == max(mine.values()) > 0, "nobody owns more of what the job proves"
    values = [priority.value for priority in cluster.scheduling.priorities]
    assert values == sorted(values, reverse=True)
    assert values[-1] < 0, "development gives way to jobs without a priority, which have 0"


def check_money(plan):
    given_out = sum(team.monthly_budget_usd for team in plan.core.teams)
    # Less where every team's is the client's word: the rest is nobody's.
    assert 0 < given_out <= plan.core.budget.monthly_usd
    assert 0 < plan.core.idle_floor.monthly_usd <= plan.core.budget.monthly_usd
    floor = plan.core.idle_floor
    machines = (*catalog.instances(), *gcp.instances())
    priceless = {item.type for item in machines if item.usd_per_hour is None}
    for item in floor.items:
        assert item.source
        if item.monthly_usd is None:
            assert item.what in floor.unpriced
            assert priceless & set(item.what.split()), "the catalogue has no price of it"
        else:
            assert item.monthly_usd >= 0
    assert len(plan.core.budget.actual_percents) + len(plan.core.budget.forecast_percents) <= 5, (
        "a budget's notifications"
    )
