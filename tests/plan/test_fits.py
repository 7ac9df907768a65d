"""What fits is let by, what works and is seldom meant is a warning, and what the limits are made of adds up."""

from fractions import Fraction

import pytest

from tests.plan.stack_files import STACK, configuration, keys, people, plan_of
from trainyard import catalog
from trainyard.catalog.eks_nodes import VIRTUAL_MACHINE_SHARE
from trainyard.conventions.quantities import quantity
from trainyard.plan.aws.allocatable import DAEMONS_MIB, allocatable
from trainyard.plan.profiles import PROFILE_NAMES, profile
from trainyard.plan.resolve import resolve

ROLE = "arn:aws:iam::123456789012:role"


@pytest.mark.parametrize(
    "changes",
    [
        *({"mlflow": keys(cpu=cpu)} for cpu in ("1", "500m", "2.5", "0.05", "50m", "3.56", "3560m")),
        *({"mlflow": keys(memory=memory)} for memory in ("2Gi", "2147483648", "3G", "12756Mi", "1.5Gi", "4194304Ki")),
        {"mlflow": keys(memory="256Mi", workers=1)},
        {"mlflow": keys(cpu="3", replicas=4)},
        {"mlflow": keys(cpu="15", memory="48Gi"), "systemNodes": keys(instance_types=["m7i.4xlarge"])},
        {"mlflow": keys(enabled=False), "teams": (people("admin", 5),)},
        {"systemNodes": keys(instance_types=["m7i.large"], min_nodes=2, max_nodes=5)},
        *(
            {"network": keys(cidr=cidr)}
            for cidr in ("10.99.0.0/16", "172.31.0.0/16", "192.168.0.0/17", "100.64.0.0/16")
        ),
        {"network": keys(cidr="10.20.0.0/16", service_cidr="10.100.0.0/16")},
        *(
            {"apiAccess": keys(cidrs=(cidr,))}
            for cidr in ("8.8.8.0/24", "198.51.100.0/24", "203.0.113.7/32", "223.255.255.0/24")
        ),
        *(
            {"aws": keys(admin_principals=[arn])}
            for arn in (
                f"{ROLE}/admin",
                f"{ROLE}/a/path/to/Admin_1+=,.@-x",
                f"{ROLE}/aws-reserved/sso.amazonaws.com/eu-west-1/AWSReservedSSO_Admin_0123456789abcdef",
                "arn:aws:iam::123456789012:user/ann@acme.example",
            )
        ),
        {"alertEmails": ("a@b.example", "a+gpu@b.example", "o'neil@sub.b-c.example", "UPPER@B.EXAMPLE")},
        {"client": "sthreefold"},
        {"client": "my-sthree"},
        {"client": "amzn-s3-demonstration", "environment": "x"} | {"client": "amzn-s3-demos"},
        {"teams": (people("admins", 5),)},
        {"owner": "awsome: me"},
        *(
            {"smoke": keys(image=f"{name}@sha256:{'a' * 64}")}
            for name in (
                "pytorch",
                "pytorch/pytorch:2.13.0-cuda13.0",
                "123456789012.dkr.ecr.us-east-1.amazonaws.com/team/train_job:v1",
                "localhost:5000/a__b/c-d.e",
            )
        ),
    ],
    ids=str,
)
def test_what_can_run_is_planned(changes):
    assert plan_of(**changes)


@pytest.mark.parametrize(
    ("cidr", "words"),
    [
        ("11.0.0.0/16", "is not private"),
        ("198.19.0.0/16", "is not private"),
        ("172.17.0.0/16", "overlaps 172.17.0.0/16"),
        ("10.0.0.0/16", ""),
        ("100.64.0.0/16", ""),
    ],
)
def test_a_range_that_is_seldom_meant_is_a_warning(cidr, words):
    warnings = resolve(configuration(network=keys(cidr=cidr)), STACK).warnings
    assert [words in warning for warning in warnings] == ([True] if words else [])


def test_an_address_is_named_where_it_was_first(problems):
    assert "alertEmails[0] too" in problems(alertEmails=("a@b.example", "A@b.example"))["alertEmails[1]"].allowed


@pytest.mark.parametrize("item", catalog.cpu_instances(), ids=lambda item: item.type)
def test_a_system_node_has_less_for_pods_than_it_has(item):
    room = allocatable(item.type, team_logs=True)
    assert Fraction("0.8") * item.vcpus <= room.cores < item.vcpus
    assert Fraction("0.6") * 1024 * Fraction(item.memory_gib) <= room.mib < 1024 * Fraction(item.memory_gib)


def test_the_reserve_of_cores_is_the_published_one():
    """nodeadm reserves 70m of two vCPUs, 80m of four, 90m of eight, 110m of sixteen; daemons ask for 270m."""
    reserved = [item.vcpus - allocatable(item.type, team_logs=False).cores for item in catalog.cpu_instances()]
    assert {round(float(cores), 3) for cores in reserved} == {0.34, 0.35, 0.36, 0.38}


@pytest.mark.parametrize("name", [name for name in PROFILE_NAMES if name != "small"])
@pytest.mark.parametrize("type_", ["m7i.xlarge", "m6i.xlarge", "m5.xlarge"])
def test_the_profiles_own_servers_fit(name, type_):
    assert profile(name).figure("mlflow.cpu")
    assert plan_of(profile=name, systemNodes=keys(instance_types=[type_]))


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("500m", Fraction(1, 2)),
        ("2", 2),
        ("1.5", Fraction(3, 2)),
        ("4Gi", 4 * 2**30),
        ("4G", 4 * 10**9),
        ("1k", 1000),
        ("1Ki", 1024),
        ("250u", Fraction(1, 4000)),
        (".5", Fraction(1, 2)),
        ("1e3", None),
        ("4K", None),
        ("", None),
        ("Gi", None),
    ],
)
def test_a_quantity_is_an_amount(text, amount):
    assert quantity(text) == amount


@pytest.mark.parametrize(
    ("written", "spelt"), [("198.51.100.7", "198.51.100.7/32"), ("198.51.100.0/255.255.255.0", "198.51.100.0/24")]
)
def test_a_network_reaches_the_cloud_with_its_length(written, spelt):
    """EKS takes neither an address alone nor a netmask."""
    assert plan_of(apiAccess=keys(cidrs=[written])).clusters[0].public_access_cidrs == (spelt,)


def test_people_of_another_account_are_let_in():
    """A standard access entry may name a principal of any account (EKS User Guide, "Create access entries")."""
    arn = "arn:aws:iam::210987654321:role/contractors"
    plan = plan_of(aws=keys(account_id="123456789012", admin_principals=[arn]))
    assert plan.ground.control_planes[0].admin_principal_arns == (arn,)


@pytest.mark.parametrize(("type_", "reserved"), [("m7i.large", 1565), ("m7i.xlarge", 1565), ("m6i.4xlarge", 2929)])
def test_the_memory_that_a_node_keeps_grows_with_its_pods(type_, reserved):
    """255 MiB, 11 MiB a pod and 100 MiB of eviction threshold; a type of 16 vCPUs has addresses for 234 pods."""
    of_machine = Fraction(str(catalog.cpu_instance(type_).memory_gib)) * 1024 * (1 - VIRTUAL_MACHINE_SHARE)
    assert of_machine - allocatable(type_, team_logs=False).mib - DAEMONS_MIB == reserved
