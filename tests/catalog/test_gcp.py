"""The catalogue of Google Cloud: every machine is sold somewhere, at a price that says where it is from."""

import datetime
from collections import Counter

import pytest

from trainyard import catalog
from trainyard.catalog import gcp
from trainyard.catalog.tables import rows
from trainyard.conventions.gcp import LOCAL_SSDS

PRICED = (
    ("gcp_services.csv", ("key", "region")),
    ("gcp_region_prices.csv", ("type", "region")),
    ("gcp_tpu_prices.csv", ("accelerator", "region")),
    ("gcp_cpu_instances.csv", ("type",)),
    ("gcp_zones.csv", ("match", "region")),
    ("gcp_regions.csv", ("region",)),
)


@pytest.mark.parametrize(("table", "key"), PRICED)
def test_a_row_says_where_it_is_from_and_is_there_once(table, key):
    found = list(rows(table))
    assert [
        name for name, times in Counter(tuple(row[part] for part in key) for row in found).items() if times > 1
    ] == []
    for row in found:
        assert row.get("source") or row["price_source"]
        day = row.get("date") or row["price_date"]
        assert datetime.date(2023, 1, 1) <= datetime.date.fromisoformat(day) <= datetime.date.today()


def test_zones_that_sell_machines_are_zones_of_their_region():
    for type_ in [item.type for item in (*gcp.instances(), *gcp.tpus())]:
        for region, zones in gcp.offered(type_).items():
            assert zones and set(zones) <= set(gcp.zones(region)), (type_, region)


def test_machines_that_have_a_price_are_sold_somewhere_and_priced_where_they_are():
    for item in gcp.instances():
        if item.usd_per_hour is None:
            continue
        assert gcp.offered_regions(item.type), item.type
        for region in gcp.offered_regions(item.type):
            price = gcp.machine_price(item.type, region)
            assert price is not None and price.region in (region, gcp.HOME_REGION)
            assert 0.5 < price.usd / item.usd_per_hour < 2, (item.type, region)


def test_a_price_of_another_region_says_that_it_is():
    here, elsewhere = (
        gcp.machine_price("a3-ultragpu-8g", "us-central1"),
        gcp.machine_price("a3-ultragpu-8g", "us-east4"),
    )
    assert here == elsewhere and elsewhere is not None and elsewhere.region == "us-central1"
    ours = gcp.machine_price("g2-standard-12", "europe-west4")
    assert ours is not None and (ours.usd, ours.region) == (1.051488, "europe-west4")
    assert gcp.service_price("disk.pd-ssd", "europe-west4").usd == 0.187
    assert gcp.service_price("kms.key-version", "europe-west4").region == "us-central1"


def test_what_is_not_sold_in_a_zone_is_not_offered_there():
    assert gcp.offered_zones("a3-ultragpu-8g", "europe-west4") == ("europe-west4-a",)
    assert gcp.offered_zones("a2-highgpu-8g", "europe-west4") == ("europe-west4-a", "europe-west4-b")
    assert gcp.offered_zones("g4-standard-12", "europe-west4") == ("europe-west4-a",)
    assert gcp.offered_zones("g4-standard-384", "europe-west4") == tuple(f"europe-west4-{zone}" for zone in "abc")
    assert gcp.offered_zones("a3-highgpu-8g", "europe-west2") == ()
    assert gcp.offered_zones("n1-standard-8", "europe-west2") == ("europe-west2-a", "europe-west2-b")
    assert gcp.offered_zones("a4x-highgpu-4g", "us-central1") == (), "no zone was read for it"


def test_tpus_are_priced_by_the_chip_with_their_host():
    price = gcp.machine_price("ct6e-standard-4t", "europe-west4")
    assert price is not None and price.usd == 4 * 2.97
    assert gcp.offered_zones("ct5p-hightpu-4t", "us-east5") == ("us-east5-a", "us-east5-b", "us-east5-c")
    with pytest.raises(KeyError):
        gcp.machine_price("ct9-standard-4t", "europe-west4")


def test_machines_with_local_disks_of_a_fixed_number_are_known():
    assert set(LOCAL_SSDS) <= {item.type for item in gcp.instances()}


def test_prices_without_a_source_are_called_assumptions():
    """What was not read anywhere says so: `trainyard catalog` and each line of a price show it."""
    for price in gcp.service_prices("lustre"):
        assert price.source.startswith("assumption")


def test_every_regime_but_the_emirates_is_served():
    for regime in catalog.regimes():
        assert catalog.is_served(regime, "gcp") is (regime != "uae")
        assert set(catalog.residency_regions(regime, "gcp")) <= set(gcp.regions())
    assert catalog.residency_regions("uae", "gcp") == ()
    assert "europe-west6" not in catalog.residency_regions("eu", "gcp"), "Zurich"
    assert "europe-west2" not in catalog.residency_regions("eu", "gcp"), "London"
    assert not set(catalog.residency_regions("eu")) & set(catalog.residency_regions("eu", "gcp"))
