"""Prices: every one with source and date, in order, in one currency, and flagged when old."""

from __future__ import annotations

from datetime import date

import pytest

from tests.advice.asking import ask
from trainyard import catalog
from trainyard.advice.hardware import CLOUDS, HOME_REGIONS, gpus, left_out, machines
from trainyard.advice.prices import Figure, price
from trainyard.catalog.tables import rows

EVERY = [(machine, capacity) for cloud in CLOUDS for machine in machines(cloud) for capacity in
         ("spot", "on-demand", "reserved-1y", "reserved-3y")]  # fmt: skip


def machine(type_, cloud="aws"):
    return next(item for item in machines(cloud) if item.type == type_)


@pytest.mark.parametrize(
    ("table", "sources", "dates"),
    [
        ("gpus.csv", "source", "date"),
        ("gcp_instances.csv", "price_source", "price_date"),
        ("spot.csv", "source", "date"),
        ("commitments.csv", "source", "date"),
        ("spot.csv", "reclaimed_source", "reclaimed_date"),
        ("managed_instances.csv", "source", "date"),
        ("managed_prices.csv", "source", "date"),
        ("blocks.csv", "source", "date"),
        ("onprem.csv", "source", "date"),
    ],
)
def test_every_row_has_a_source_and_a_date(table, sources, dates):
    for row in rows(table):
        assert row[sources], row
        assert date.fromisoformat(row[dates]) <= date.today(), row


@pytest.mark.parametrize(("item", "capacity"), EVERY, ids=lambda value: getattr(value, "type", value))
def test_a_price_is_in_order_and_below_the_list(item, capacity):
    offer = price(item, HOME_REGIONS[item.cloud], capacity)
    if offer is None:
        assert capacity != "spot"
        assert not item.on_demand
        return
    usd = offer.usd_per_hour
    assert 0 < usd.low <= usd.typical <= usd.high <= item.usd_per_hour
    assert all(figure.source and figure.date for figure in offer.figures)
    assert (offer.reclaimed_per_month is not None) == (capacity == "spot")
    assert (offer.months > 0) == capacity.startswith("reserved")


@pytest.mark.parametrize(
    ("type_", "region", "saving"),
    [
        ("p4d.24xlarge", "eu-west-1", 0.34),  # this type here, without its USD
        ("g5.12xlarge", "us-east-1", 0.534),  # another size of the family in the region
        ("p4d.24xlarge", "ap-south-1", 0.457),  # the family anywhere
        ("p4de.24xlarge", "eu-west-1", 0.331),
    ],
)
def test_spot_without_a_price_of_the_region_takes_the_closest_saving(type_, region, saving):
    item = machine(type_)
    offer = price(item, region, "spot")
    assert offer.usd_per_hour.typical == pytest.approx(item.usd_per_hour * (1 - saving))
    assert offer.figures[0].what.startswith(f"{type_} in us-east-1"), "the price that it is a part of"


QUOTED = [row for row in rows("spot.csv") if row["usd"]]


@pytest.mark.parametrize("row", QUOTED, ids=lambda row: f"{row['match']}-{row['region']}")
def test_spot_costs_what_the_table_says_of_that_type_and_region(row):
    """Whatever on-demand costs in us-east-1: savings are of the region's own price."""
    offer = price(machine(row["match"], row["cloud"]), row["region"], "spot")
    usd = offer.usd_per_hour
    assert usd.typical == float(row["usd"])
    assert (usd.low, usd.high) == (float(row["usd_low"]), float(row["usd_high"]))
    assert f"{usd.typical:g} USD an hour there" in offer.figures[0].what
    assert offer.figures[0].date == row["date"]


@pytest.mark.parametrize(
    ("type_", "kind", "saving"),
    [
        ("a3-highgpu-8g", "reserved-1y", 0.306),  # the family's list price, not the assumption of all
        ("a3-highgpu-8g", "reserved-3y", 0.561),
        ("g2-standard-12", "reserved-1y", 0.37),
        ("a2-ultragpu-8g", "reserved-1y", 0.32),  # no list price: what is assumed of all
    ],
)
def test_a_commitment_takes_the_most_precise_figure(type_, kind, saving):
    item = machine(type_, "gcp")
    offer = price(item, "us-central1", kind)
    assert offer.usd_per_hour.typical == pytest.approx(item.usd_per_hour * (1 - saving))
    assert ("assumption" in offer.figures[-1].source) == (type_ == "a2-ultragpu-8g")


def test_the_usd_of_spot_are_the_savings_of_the_region():
    assert len(QUOTED) > 60
    for row in QUOTED:
        low, usd, high = (float(row[f"usd{bound}"]) for bound in ("_low", "", "_high"))
        assert 0 < low <= usd <= high, row
        list_price = usd / (1 - float(row["savings_percent"]) / 100)
        assert high <= list_price * 1.003, row
    row = next(row for row in QUOTED if (row["region"], row["match"]) == ("us-east-1", "p5.48xlarge"))
    assert float(row["usd"]) == pytest.approx(55.04 * (1 - float(row["savings_percent"]) / 100), rel=0.003)
    figures = price(machine("p5.48xlarge"), "us-east-1", "spot").figures
    assert [figure.what.partition(":")[0] for figure in figures] == [
        "spot p5.48xlarge in us-east-1",
        "reclaimed in a month, p5.48xlarge in us-east-1",
    ]
    assert figures[1].date == "2025-06-28"


def test_a_capacity_block_costs_its_region_and_has_limits():
    item = machine("p5.48xlarge")
    here, there = (price(item, region, "capacity-block") for region in ("us-east-1", "eu-west-2"))
    assert (here.usd_per_hour.typical, there.usd_per_hour.typical) == (41.528, 37.76)
    assert here.months == 0 and here.reclaimed_per_month is None
    assert here.block.holds(64, 182 * 24) and not here.block.holds(65, 24) and not here.block.holds(1, 183 * 24)
    assert (here.block.paid_hours(1), here.block.paid_hours(24), here.block.paid_hours(25)) == (24, 24, 48)
    assert price(item, "ca-central-1", "capacity-block") is None, "not sold there"
    assert price(machine("g6.12xlarge"), "us-east-1", "capacity-block") is None


def test_the_workload_scheduler_has_prices_and_its_own_limits():
    flex = price(machine("a3-highgpu-8g", "gcp"), "us-central1", "flex-start")
    assert flex.usd_per_hour.typical == pytest.approx(8 * 4.79)
    assert flex.block.holds(1000, 7 * 24) and not flex.block.holds(1, 7 * 24 + 1)
    assert flex.block.paid_hours(1.5) == 1.5, "by use"
    calendar = price(machine("a4-highgpu-8g", "gcp"), "us-central1", "calendar")
    assert calendar.usd_per_hour.typical == 90.22


def test_blocks_are_of_types_of_the_catalogue():
    known = {item.type for item in catalog.instances()} | {row["type"] for row in rows("gcp_instances.csv")}
    sold = {item.type: catalog.offered_regions(item.type) for item in catalog.instances() if item.capacity_block}
    for row in rows("blocks.csv"):
        assert row["match"] in known
        assert row["cloud"] == "gcp" or row["match"] in sold, row


def test_what_is_not_sold_on_demand_is_only_offered_as_spot():
    item = machine("a3-highgpu-1g", "gcp")
    assert price(item, "us-central1", "on-demand") is None
    assert price(item, "us-central1", "reserved-1y") is None
    assert price(item, "us-central1", "spot") is not None


def test_what_cannot_be_recommended_is_listed_with_the_reason():
    aws = left_out("aws")
    assert "p5e.48xlarge: no price" in aws
    assert "g6f.large: a fraction of a GPU" in aws
    assert "g7e.48xlarge: peak of RTX PRO 6000 not established" in aws
    assert "a4x-highgpu-4g: no price" in left_out("gcp")


def test_a_price_is_old_after_180_days():
    figure = Figure("x", "y", "2026-05-25")
    assert not figure.stale(date(2026, 11, 21))
    assert figure.stale(date(2026, 11, 22))


def test_old_prices_are_flagged_wherever_they_are_used():
    now, later = ask(spot=False), ask(spot=False, today=date(2027, 2, 1))
    assert now.stale == ()
    assert {figure.date for figure in later.stale} == {"2026-07-20", "2026-07-22"}
    assert any("older than 180 days" in flag for flag in later.flags)
    spot = ask(spot=True)  # the advisor's table is of 2025
    assert any("older than 180 days" in flag for flag in spot.flags)


def test_peaks_fall_with_precision():
    for gpu in gpus().values():
        known = [gpu.peak_tflops(name) for name in ("fp32", "tf32", "bf16", "fp8")]
        present = [peak for peak in known if peak is not None]
        assert present == sorted(present), gpu.name


def test_a_machine_of_google_costs_what_its_region_lists():
    item = machine("g2-standard-48", "gcp")
    here, there = price(item, "us-central1", "on-demand"), price(item, "europe-west4", "on-demand")
    assert here is not None and there is not None
    assert there.usd_per_hour.typical == 4.20595 != here.usd_per_hour.typical
    assert "europe-west4" in there.figures[0].what
    spot = price(item, "europe-west4", "spot")
    assert spot is not None and spot.usd_per_hour.typical == pytest.approx(4.20595 * 0.6)
    elsewhere = price(machine("a3-ultragpu-8g", "gcp"), "europe-west4", "on-demand")
    assert elsewhere is not None and "us-central1" in elsewhere.figures[0].what, "none was read for the Netherlands"


def test_machines_of_google_are_sold_where_their_zones_are():
    assert "europe-west4" in machine("a2-highgpu-8g", "gcp").regions
    assert "europe-west2" not in machine("a3-highgpu-8g", "gcp").regions
