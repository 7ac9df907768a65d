"""The catalogue against EC2's own data, as moto bundles it."""

import gzip
import json
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import moto.ec2
import pytest

from trainyard import catalog

RESOURCES = Path(moto.ec2.__file__).parent / "resources"
TYPES = [item.type for item in catalog.instances()]
CPU_TYPES = [*(item.type for item in catalog.cpu_instances()), "t3.nano"]


@lru_cache
def bundled(*parts: str):
    with gzip.open(RESOURCES.joinpath(*parts), "rt", encoding="utf-8") as file:
        return json.load(file)


@lru_cache
def offerings(kind: str, region: str) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for row in bundled("instance_type_offerings", kind, f"{region}.json.gz"):
        found.setdefault(row["Location"], set()).add(row["InstanceType"])
    return {place: frozenset(types) for place, types in found.items()}


@pytest.mark.parametrize("name", TYPES)
def test_gpu_instance_is_what_ec2_says(name):
    ours, theirs = catalog.instance(name), bundled("instance_types.json.gz")[name]
    (gpu,) = theirs["GpuInfo"]["Gpus"]
    network = theirs["NetworkInfo"]
    assert ours.gpus == gpu["Count"]
    assert ours.gpu_memory_gib == pytest.approx(gpu["MemoryInfo"]["SizeInMiB"] / 1024, abs=0.06)
    assert ours.gpu.split("-")[0] == gpu["Name"].replace(" Server", "")
    assert ours.vcpus == theirs["VCpuInfo"]["DefaultVCpus"]
    assert ours.memory_gib == theirs["MemoryInfo"]["SizeInMiB"] / 1024
    assert ours.efa_interfaces == network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0)
    assert ours.network_cards == network["MaximumNetworkCards"]
    assert ours.nvme_gb == theirs["InstanceStorageInfo"]["TotalSizeInGB"]
    assert ours.capacity_block == ("capacity-block" in theirs["SupportedUsageClasses"])
    assert {"on-demand", "spot"} <= set(theirs["SupportedUsageClasses"])
    assert theirs["ProcessorInfo"]["SupportedArchitectures"] == ["x86_64"], "the node image is x86_64"


@pytest.mark.parametrize("name", CPU_TYPES)
def test_cpu_instance_is_what_ec2_says(name):
    ours, theirs = catalog.cpu_instance(name), bundled("instance_types.json.gz")[name]
    assert ours.vcpus == theirs["VCpuInfo"]["DefaultVCpus"]
    assert ours.memory_gib == theirs["MemoryInfo"]["SizeInMiB"] / 1024
    assert "GpuInfo" not in theirs


@pytest.mark.parametrize("region", catalog.regions())
def test_offerings_are_what_ec2_says(region):
    by_zone = offerings("availability-zone", region)
    assert {zone.name for zone in catalog.region(region).zones} == set(by_zone)
    for name in TYPES + CPU_TYPES:
        assert set(catalog.offered_zones(name, region)) == {zone for zone, types in by_zone.items() if name in types}
        assert catalog.offered(name, region) == (name in offerings("region", region)[region])


@pytest.mark.parametrize("region", catalog.regions())
def test_zone_ids_sell_the_same_as_their_names(region):
    by_zone, by_id = offerings("availability-zone", region), offerings("availability-zone-id", region)
    zones = catalog.region(region).zones
    assert len({zone.id for zone in zones}) == len(zones) == len(by_id)
    for zone in zones:
        assert by_zone[zone.name] == by_id[zone.id]


def test_every_region_that_has_offerings_is_there():
    listed = {path.name.removesuffix(".json.gz") for path in (RESOURCES / "instance_type_offerings/region").iterdir()}
    assert set(catalog.regions()) == listed


def test_zones_leave_out_where_eks_cannot_be():
    assert {z.id for name in catalog.regions() for z in catalog.region(name).zones if not z.eks} <= {
        "use1-az3",
        "usw1-az2",
        "cac1-az3",
    }
    assert "us-east-1e" not in catalog.zones("us-east-1")
    assert all(len(catalog.zones(name)) >= 2 for name in catalog.regions())


def test_prices_have_source_and_date_and_agree_within_a_family():
    for item in catalog.instances():
        assert (item.usd_per_hour is None) == (not item.price_source) == (not item.price_date)
    assert catalog.instance("p5e.48xlarge").usd_per_hour is None
    assert catalog.instance("p4d.24xlarge").usd_per_gpu_hour == pytest.approx(2.745, abs=1e-3)
    assert catalog.instance("g6f.large").usd_per_gpu_hour is None, "a fraction of a GPU has no price of a GPU"
    # Sizes that differ in nothing but number cost in proportion.
    for half, whole in (
        ("g6e.24xlarge", "g6e.48xlarge"),
        ("g7e.12xlarge", "g7e.24xlarge"),
        ("m7i.xlarge", "m7i.2xlarge"),
    ):
        prices = [
            (catalog.cpu_instance(name) if name.startswith("m") else catalog.instance(name)).usd_per_hour
            for name in (half, whole)
        ]
        assert prices[1] == pytest.approx(2 * prices[0])


def test_look_ups():
    assert set(catalog.gpu_names()) == {
        "T4", "A10G", "L4", "L40S", "RTX PRO 4500", "RTX PRO 6000", "V100",
        "A100-40GB", "A100-80GB", "H100", "H200", "B200", "B300",
    }  # fmt: skip
    assert [item.type for item in catalog.instances("A100-40GB")] == ["p4d.24xlarge"]
    assert catalog.offered_regions("p6-b300.48xlarge")[-1] == "us-west-2"
    assert not catalog.offered("p4d.24xlarge", "me-central-1")
    for look_up, unknown in (
        (catalog.instance, "p4d"),
        (catalog.region, "us-east-9"),
        (catalog.service_price, "nothing"),
    ):
        with pytest.raises(KeyError):
            look_up(unknown)


UNITS = {
    "hundred thousand events",
    "million events",
    "vCPU-month",
    *("hour", "zone-hour", "unit-hour", "day", "month", "GB", "GB-month", "GiB-month", "IOPS-month", "MB/s-month"),
    "vCPU-hour",
    *("metric-month", "thousand requests", "ten thousand requests", "million lookups", "name-month"),
}


def test_every_service_price_has_a_source():
    prices = catalog.service_prices()
    assert len(prices) > 10
    for price in prices:
        assert price.usd > 0
        assert price.source
        assert len(price.date) == len("2026-11-21")
        assert price.unit in UNITS


def test_the_catalogue_needs_no_heavy_import():
    code = (
        "import sys; from trainyard import catalog; catalog.offered('p4d.24xlarge', 'us-east-1'); catalog.pins();"
        "print([m for m in ('pandas', 'numpy', 'pulumi', 'pydantic', 'boto3', 'botocore') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
