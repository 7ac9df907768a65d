"""The most that resources cost in an hour: every price or its lack by name, never a price of nothing."""

from dataclasses import replace

import pytest

from tests.cost.recorded import node_group, resource
from trainyard.catalog import cpu_instances, gcp
from trainyard.cost.bound import DEAREST_REGION, PLAIN_VCPU_USD, vcpus
from trainyard.cost.ceiling import hourly_ceiling
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.node_groups import EKS_NODE_GROUP
from trainyard.recorded.read import UnknownInput
from trainyard.recorded.resources import Resources

DATABASE = "aws:rds/instance:Instance"
SIZES = {"engine": "postgres", "instanceClass": "db.t4g.medium", "allocatedStorage": 20, "storageType": "gp3"}


def test_nodes_count_at_their_most_and_other_types_are_only_looked_at():
    stack = Resources([*node_group(capacity="spot", most=2, disk_gib=200), resource("aws:s3/bucket:Bucket", "b-data")])
    found = hourly_ceiling(stack, EKS_NODE_GROUP)
    assert found.usd == pytest.approx(2 * (21.957642 + 200 * 0.08 / 730), abs=1e-4)
    assert found.unpriced == ()


def test_a_capacity_block_counts_as_if_it_were_on_demand():
    block = node_group("block", types=["p5.48xlarge"], capacity="capacity-block", most=2, disk_gib=1)
    found = hourly_ceiling(Resources(block), EKS_NODE_GROUP)
    assert found.usd == pytest.approx(2 * 55.04, abs=1e-3)
    assert found.unpriced == ()


def test_a_block_of_what_is_not_sold_on_demand_counts_at_its_listed_price():
    """p5e has no price on demand: without that of its block every stack that has bought one would be refused."""
    block = node_group("block", types=["p5e.48xlarge"], capacity="capacity-block", most=2, disk_gib=1)
    there = resource("pulumi:providers:aws", "aws", {"region": "us-east-2"})
    block = [replace(part, provider=f"{there.urn}::id") for part in block]
    found = hourly_ceiling(Resources([there, *block]), EKS_NODE_GROUP)
    assert found.usd == pytest.approx(2 * 47.76, abs=1e-3)
    assert found.unpriced == ()
    nowhere = hourly_ceiling(Resources([replace(part, provider="") for part in block]), EKS_NODE_GROUP)
    assert [missing.what for _, missing in nowhere.unpriced] == ["2 p5e.48xlarge"]


def test_what_has_no_price_is_named_and_not_free():
    odd = resource(DATABASE, "odd", SIZES | {"instanceClass": "db.z9.huge"})
    nodes = node_group("n", types=["p9.huge"], most=1, disk_gib=1)
    found = hourly_ceiling(Resources([odd, *nodes]), DATABASE, EKS_NODE_GROUP)
    assert [(of.name, missing.what) for of, missing in found.unpriced] == [
        ("odd", "rds.postgres.db.z9.huge"),
        ("n", "up to 1 p9.huge"),
    ]


@pytest.mark.parametrize(
    ("type_", "found"),
    [
        ("m8g.2xlarge", 8), ("c7a.4xlarge", 16), ("t4g.micro", 2), ("m7i.metal-24xl", 96), ("r7iz.xlarge", 4),
        ("m7i.metal", None), ("p5.48xlarge", None), ("g6.xlarge", None), ("inf2.xlarge", None), ("trn2.48xlarge", None),
        ("u-6tb1.112xlarge", None), ("f2.6xlarge", None), ("m8g.huge", None), ("m7i-flex.2xlarge", 8),
        ("c4a-standard-8", 8), ("t2a-standard-4", 4), ("n2-custom-6-40960", 6), ("c3-standard-192-metal", 192),
        ("e2-medium", 2), ("a2-highgpu-1g", None), ("g2-standard-8", None), ("ct5lp-hightpu-4t", None),
    ],
)  # fmt: skip
def test_vcpus_of_plain_machines_by_their_names(type_, found):
    assert vcpus(type_) == found


@pytest.mark.parametrize(
    "type_",
    [
        "i2.xlarge", "i4i.metal-24xl", "im4gn.16xlarge", "x1e.16xlarge", "x2iedn.xlarge", "d3en.xlarge", "h1.2xlarge",
        "u7i-6tb.112xlarge", "r8gb.metal-24xl", "m8idb.4xlarge", "c3-standard-44-lssd", "z3-highmem-88",
        "m3-megamem-64", "x4-megamem-960-metal", "n1-custom-2-638976-ext",
    ],
)  # fmt: skip
def test_what_comes_with_disks_or_much_memory_has_no_bound(type_):
    """In São Paulo an hour of an i2.xlarge passes what a plain machine of four vCPUs costs anywhere."""
    assert vcpus(type_) is None
    nodes = node_group("n", types=[type_], most=1, disk_gib=1)
    assert [found.what for _, found in hourly_ceiling(Resources(nodes), EKS_NODE_GROUP).unpriced] == [
        f"up to 1 {type_}"
    ]


def test_what_the_catalogue_has_costs_less_than_the_bound():
    """In the dearest region too. A family that passes it has no bound: the ceiling would let a budget be passed."""
    known = [(row.type, row.usd_per_hour) for row in (*cpu_instances(), *gcp.cpu_instances())]
    assert len(known) > 20
    for type_, usd in known:
        assert usd is not None and usd * DEAREST_REGION <= (vcpus(type_) or 0) * PLAIN_VCPU_USD, type_


def test_plain_nodes_without_a_price_count_with_what_they_do_not_pass():
    nodes = node_group("n", types=["m8g.2xlarge", "m7g.xlarge"], most=5, disk_gib=1)
    found = hourly_ceiling(Resources(nodes), EKS_NODE_GROUP)
    assert found.unpriced == ()
    assert found.usd >= 5 * 8 * PLAIN_VCPU_USD


def test_an_unknown_size_decides_nothing():
    database = resource(DATABASE, "db", SIZES)
    assert hourly_ceiling(Resources([database]), DATABASE).usd > 0
    with pytest.raises(UnknownInput, match="allocatedStorage"):
        unknown = replace(database, inputs=SIZES | {"allocatedStorage": UNKNOWN})
        hourly_ceiling(Resources([unknown]), DATABASE)
