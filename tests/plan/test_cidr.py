"""Subnets: disjoint, inside the VPC, and stable when a zone is added at the end."""

import itertools
from ipaddress import IPv4Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.plan.aws.cidr import MAX_ZONES, RESERVED_BY_AWS, plan_zones, usable_addresses

NAMES = tuple(f"us-east-1{letter}" for letter in "abcdef")


def every(zone):
    return (zone.private_cidr, zone.public_cidr, zone.isolated_cidr, zone.control_cidr)


@st.composite
def vpcs(draw):
    prefix = draw(st.integers(16, 20))
    base = int(IPv4Network("10.0.0.0/8").network_address)
    return str(IPv4Network((base + (draw(st.integers(0, 2 ** (prefix - 8) - 1)) << (32 - prefix)), prefix)))


@given(vpcs(), st.integers(1, MAX_ZONES))
def test_subnets_are_disjoint_and_inside(cidr, count):
    zones = plan_zones(cidr, NAMES[:count])
    vpc = IPv4Network(cidr)
    subnets = [IPv4Network(c) for zone in zones for c in every(zone)]
    assert all(subnet.subnet_of(vpc) for subnet in subnets)
    ordered = sorted(subnets)
    assert all(not a.overlaps(b) for a, b in itertools.pairwise(ordered))
    assert all(16 <= subnet.prefixlen <= 28 for subnet in subnets), "what a VPC's subnets may be"
    for zone in zones:
        private, *others = [IPv4Network(c).num_addresses for c in every(zone)]
        assert private > others[0] == others[1] == others[2]
        assert others[0] - RESERVED_BY_AWS >= 16, "what EKS asks of a subnet of the control plane"


@given(vpcs(), st.integers(1, MAX_ZONES - 1))
def test_adding_a_zone_moves_none(cidr, count):
    assert plan_zones(cidr, NAMES[: count + 1])[:count] == plan_zones(cidr, NAMES[:count])


@given(vpcs())
def test_renaming_a_zone_moves_no_addresses(cidr):
    one, other = plan_zones(cidr, NAMES[:3]), plan_zones(cidr, ("x", "y", "z"))
    assert [every(z) for z in one] == [every(z) for z in other]


def test_the_documented_example():
    first = plan_zones("10.0.0.0/16", NAMES[:1])[0]
    assert every(first) == ("10.0.0.0/19", "10.0.192.0/23", "10.0.208.0/23", "10.0.224.0/23")
    assert usable_addresses("10.0.192.0/23") == 507


@pytest.mark.parametrize(
    ("cidr", "names"),
    [
        ("10.0.0.0/15", NAMES),
        ("10.0.0.0/21", NAMES),
        ("10.0.0.1/16", NAMES),
        ("10.0.0.0/16", (*NAMES, "g")),
        ("10.0.0.0/16", ("a", "a")),
    ],
)
def test_what_cannot_be_split_is_refused(cidr, names):
    with pytest.raises(ValueError):
        plan_zones(cidr, names)
