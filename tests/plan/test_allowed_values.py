"""What a setting may be is known to every table behind it: nothing is accepted that a later one has never heard of."""

from functools import lru_cache

import pytest

from trainyard import catalog
from trainyard.catalog.blocks import block_offer
from trainyard.catalog.spot_prices import closest_spot
from trainyard.catalog.tables import rows
from trainyard.cost.assumptions import assumptions_for
from trainyard.cost.spot import family_of
from trainyard.plan.aws.market import usable
from trainyard.plan.aws.parts import LUSTRE_THROUGHPUTS
from trainyard.plan.profiles import PROFILE_NAMES, profile
from trainyard.rehearsal.refusals.kubernetes.schema import definitions
from trainyard.settings.common import Settings
from trainyard.settings.mistakes import fields_of

SELLING = [name for name in catalog.regions() if any(usable(item, name) for item in catalog.instances())]


@lru_cache
def data_sheets():
    return {row["gpu"] for row in rows("gpus.csv")}


def choices(key):
    return fields_of(Settings)[key].annotation.__args__


@pytest.mark.parametrize("version", catalog.kubernetes_versions())
def test_a_kubernetes_version(version):
    entry = catalog.kubernetes_versions()[version]
    pinned, _ = catalog.add_on_pins(version)
    assert all(add_on.version for add_on in pinned)
    assert entry.cluster_autoscaler.startswith(f"v{version}.")
    assert "io.k8s.api.core.v1.Pod" in definitions(version)


@pytest.mark.parametrize("region", catalog.regions())
def test_a_region(region):
    """Zones for a cluster, nodes for its controllers; GPUs, or a refusal (`test_defaults`)."""
    assert len(catalog.zones(region)) >= 2
    for name in PROFILE_NAMES[1:]:
        wanted = profile(name).figure("system_nodes.instance_types").value
        assert any(set(catalog.zones(region)) <= set(catalog.offered_zones(type_, region)) for type_ in wanted), name


@pytest.mark.parametrize("region", SELLING)
def test_a_gpu_instance_of_a_region(region):
    """A type that a stack file may name there has a data sheet, a zone that EKS can use, and a price."""
    for item in catalog.instances():
        if not usable(item, region):
            continue
        assert item.gpu in data_sheets()
        assert set(catalog.offered_zones(item.type, region)) & set(catalog.zones(region)), item.type
        if item.usd_per_hour is None:  # in a block it may be had; by the hour the price is told as unknown
            assert item.capacity_block
            assert block_offer("aws", "capacity-block", item.type, region), item.type
        else:
            assert closest_spot("aws", item.type, family_of(item.type), region), item.type


def test_a_gpu_model_is_sold_somewhere_or_its_driver_is_too_old():
    for gpu in catalog.gpu_names():
        items = catalog.instances(gpu)
        driver, _ = catalog.ami_driver()
        assert any(usable(item, region) for item in items for region in SELLING) or all(
            (item.min_driver or 0) > driver or not item.gpus for item in items
        ), gpu


def test_a_throughput_of_the_fast_tier_has_a_price():
    for throughput in LUSTRE_THROUGHPUTS:
        assert catalog.service_price(f"fsx.lustre.persistent-2.ssd.{throughput}").usd


@pytest.mark.parametrize("name", PROFILE_NAMES[1:])
def test_what_a_profile_names(name):
    found = profile(name)
    for pool in found.names("gpu_pools"):
        for type_ in found.figure(f"gpu_pools.{pool}.instance_types").value:
            item = catalog.instance(type_)
            assert item.usd_per_hour is not None
            assert not found.figure(f"gpu_pools.{pool}.fabric").value or item.efa_interfaces
    for type_ in found.figure("system_nodes.instance_types").value:
        assert catalog.cpu_instance(type_).usd_per_hour
    class_ = found.figure("database.instance_class").value
    assert catalog.service_price(f"rds.postgres.{class_}").usd
    assert found.figure("storage.lustre.throughput_mbps_per_tib").value in LUSTRE_THROUGHPUTS
    assert assumptions_for(name)


def test_a_residency_regime_has_regions_that_sell_gpus():
    for regime in choices("residency"):
        if regime != "none":
            assert set(catalog.residency_regions(regime)) & set(SELLING), regime


def test_a_profile_that_may_be_chosen_has_its_file():
    assert profile("small").figure("team_size.minimum").value == 1
    assert {name for part in choices("profile") for name in getattr(part, "__args__", ())} == set(PROFILE_NAMES)
