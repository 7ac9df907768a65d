"""Prices: every one with source and date, in order, in one currency, and flagged when old."""

from __future__ import annotations

from datetime import date

import pytest

from stacks.sizing.catalog.tables import rows
from stacks.sizing.recommend.hardware import CLOUDS, HOME_REGIONS, gpus, left_out, machines
from stacks.sizing.recommend.prices import Figure, price
from tests.sizing.recommend.asking import TODAY, ask

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
        ("managed_instances.csv", "source", "date"),
        ("onprem.csv", "source", "date"),
    ],
)
def test_every_row_has_a_source_and_a_date(table, sources, dates):
    for row in rows(table):
        assert row[sources], row
        assert date.fromisoformat(row[dates]) <= TODAY, row


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
        ("p4d.24xlarge", "us-east-1", 0.67),
        ("p4d.24xlarge", "us-west-2", 0.53),
        ("p4d.24xlarge", "eu-west-1", 0.34),
        ("g5.12xlarge", "us-east-1", 0.71),  # another size of the family in the region
        ("p4d.24xlarge", "ap-south-1", 0.55),  # the family anywhere
        ("p5.48xlarge", "us-east-1", 0.52),
    ],
)
def test_spot_takes_the_closest_figure(type_, region, saving):
    item = machine(type_)
    assert price(item, region, "spot").usd_per_hour.typical == pytest.approx(item.usd_per_hour * (1 - saving))


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
    assert {figure.date for figure in later.stale} == {"2026-07-20"}
    assert any("older than 180 days" in flag for flag in later.flags)
    spot = ask(spot=True)  # the advisor's table is of 2025
    assert any("older than 180 days" in flag for flag in spot.flags)


def test_peaks_fall_with_precision():
    for gpu in gpus().values():
        known = [gpu.peak_tflops(name) for name in ("fp32", "tf32", "bf16", "fp8")]
        present = [peak for peak in known if peak is not None]
        assert present == sorted(present), gpu.name
