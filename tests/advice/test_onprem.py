"""Managed, cluster or owned: arithmetic, inputs, and the agency guide's rule of 70 % and two to three years."""

from __future__ import annotations

import dataclasses
import math
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.advice.asking import ask
from trainyard.advice import compare
from trainyard.advice.assumed import assumptions, defaults
from trainyard.advice.hardware import CLOUDS, machines
from trainyard.advice.managed import managed_price
from trainyard.advice.prices import price
from trainyard.advice.ranges import exactly
from trainyard.catalog.tables import rows
from trainyard.problems import SettingsError


@pytest.fixture(scope="module")
def busy():
    return ask(params=7e9, tokens=300e9, monthly_runs=1)


def way(comparison, name):
    return next(item for item in comparison.ways if item.name == name)


def server(recommendation):
    """The key of the price of a server with the GPUs that are compared."""
    return f"server_usd.{compare(recommendation, {}).option.machine.gpu.name}"


def test_every_assumption_is_an_input_with_range_and_source():
    for item in defaults().values():
        assert item.range.low <= item.value <= item.range.high
        assert item.source
        assert item.evidence
        assert not item.given


def test_the_parts_add_up(busy):
    for item in compare(busy, {}).ways:
        assert sum(line.usd for line in item.lines) == pytest.approx(item.monthly_usd.typical)
        assert item.monthly_usd.low <= item.monthly_usd.typical <= item.monthly_usd.high


def test_the_work_fills_the_servers_at_the_stated_utilisation(busy):
    result = compare(busy, {"owned_utilisation": 0.7})
    need = result.gpu_hours_per_month / (730 * 8)
    assert result.servers == math.ceil(need / 0.7)
    assert compare(busy, {"owned_utilisation": 1.0}).servers == math.ceil(need)


def test_payback_is_the_purchase_over_what_it_saves(busy):
    result = compare(busy, {})
    owned = way(result, "owned hardware")
    running = sum(line.usd for line in owned.lines if line.what != "depreciation")
    saving = way(result, "own cluster, on demand").monthly_usd.typical - running
    assert result.payback_months.typical == pytest.approx(result.purchase_usd.typical / saving)
    assert result.payback_months.low <= result.payback_months.typical <= result.payback_months.high
    assert result.payback_cheapest_months >= result.payback_months.typical


def test_at_the_break_even_a_month_costs_the_same(busy):
    given_ = {"engineer_usd_per_year": 0.0, "cluster_base_usd_per_month": 0.0}
    first = compare(busy, given_)
    utilisation = first.break_even_utilisation
    assert 0 < utilisation < 1
    # One server at that utilisation, spelt out.
    by_key = {item.key: item.value for item in first.assumptions}
    gpu = first.option.machine.gpu.name
    purchase = by_key[f"server_usd.{gpu}"] * (1 + by_key["network_storage_share"])
    kw = by_key[f"server_kw.{gpu}"]
    load = utilisation + (1 - utilisation) * by_key["idle_power_share"]
    owned = (
        purchase * (1 - by_key["residual_share"]) / by_key["depreciation_months"]
        + kw * load * by_key["power_usage_effectiveness"] * 730 * by_key["electricity_usd_per_kwh"]
        + kw * by_key["colocation_usd_per_kw_month"]
        + purchase * by_key["support_share_per_year"] / 12
    )
    hour = first.option.machine.usd_per_hour / (1 - by_key["cluster_idle_share"])
    assert owned == pytest.approx(utilisation * 730 * hour)


def test_hardware_that_stands_idle_never_pays_back():
    result = compare(ask(params=7e9, tokens=1e9, spot=False), {})
    assert math.isinf(result.payback_months.typical)
    assert result.cheapest != "owned hardware"
    assert any("most of it would stand idle" in note for note in result.notes)


def test_a_payback_above_three_years_is_pointed_out(busy):
    dear = compare(busy, {server(busy): 3_000_000.0})
    assert dear.payback_months.typical > 36
    assert any("36 months" in note for note in dear.notes)


@settings(max_examples=30, deadline=None)
@given(st.floats(20_000, 900_000), st.floats(1, 3))
def test_a_dearer_server_never_pays_back_sooner(usd, factor):
    result = ask(params=7e9, tokens=300e9, monthly_runs=1)
    cheap, dear = (compare(result, {server(result): paid}) for paid in (usd, usd * factor))
    assert cheap.payback_months.typical <= dear.payback_months.typical
    assert cheap.break_even_utilisation <= dear.break_even_utilisation


def test_a_given_figure_has_no_spread_and_is_marked(busy):
    item = next(item for item in compare(busy, {"electricity_usd_per_kwh": 0.3}).assumptions
                if item.key == "electricity_usd_per_kwh")  # fmt: skip
    assert item.given
    assert item.range.low == item.range.high == 0.3


def test_old_figures_of_the_comparison_are_named(busy):
    (note,) = [note for note in compare(busy, {}).notes if "older than 180 days" in note]
    machine = compare(busy, {}).option.machine
    assert f"spot {machine.type} in us-east-1" in note
    assert "reclaimed in a month" in note  # the advisor's table of 2025
    assert "server_usd" not in note
    later = dataclasses.replace(busy, request=dataclasses.replace(busy.request, today=date(2027, 6, 1)))
    given_ = {server(busy).replace("usd", "kw"): 6.0}
    (note,) = [note for note in compare(later, given_).notes if "older than 180 days" in note]
    assert f"{server(busy)} (2026-06-14)" in note
    assert "server_kw" not in note
    assert "server_usd.H100" not in note


@pytest.mark.parametrize(
    ("given_", "text"),
    [
        ({"owned_utilization": 0.5}, "did you mean owned_utilisation?"),
        ({"owned_utilisation": 1.5}, "must be 0 to 1"),
        ({"owned_utilisation": 0.0}, "must be above 0"),
        ({"depreciation_months": -1.0}, "must be 0 or more"),
        ({"electricity_usd_per_kwh": float("nan")}, "must be 0 or more"),
    ],
)
def test_a_wrong_assumption_is_refused(given_, text):
    with pytest.raises(SettingsError, match="--assume") as caught:
        assumptions(given_)
    assert text in str(caught.value)


def test_a_gpu_without_a_purchase_price_is_refused():
    small = ask(params=7e9, tokens=5e7, task="lora", region="me-central-1", spot=False, max_nodes=1)
    result = small.__class__(**{**{f: getattr(small, f) for f in small.__slots__}, "options": ()})
    with pytest.raises(SettingsError, match="a server's price is known for"):
        compare(result, {})


def test_the_services_own_price_goes_before_the_factor():
    """p5 has a SageMaker price that was read, p5en has none."""
    by_type = {item.type: item for item in machines("aws")}
    listed = managed_price(by_type["p5.48xlarge"], exactly(55.04))
    assert (listed.usd_per_hour, listed.told) == (exactly(63.296), "list price")
    other = managed_price(by_type["p5en.48xlarge"], exactly(63.296))
    assert other.usd_per_hour.typical == pytest.approx(63.296 * 1.15)
    assert other.usd_per_hour.low < other.usd_per_hour.typical < other.usd_per_hour.high
    assert other.told == "1.15 times the machine"
    vertex = managed_price(next(iter(machines("gcp"))), exactly(1.0))
    assert vertex.name == "Vertex AI custom training"
    assert all(offer.figure.source and offer.figure.date for offer in (listed, other, vertex))


def test_every_managed_price_is_of_a_machine_and_above_it():
    known = {(item.cloud, item.type): item for cloud in CLOUDS for item in machines(cloud)}
    offers = [row for row in rows("managed_prices.csv") if (row["cloud"], row["type"]) in known]
    assert len(offers) > 20
    for row in offers:
        factor = float(row["usd_per_hour"]) / known[row["cloud"], row["type"]].usd_per_hour
        assert 1.1 < factor < 1.45, row


def test_capacity_blocks_are_compared_where_they_are_sold():
    """Three days and a half are paid as four."""
    result = compare(ask(params=7e9, tokens=300e9, monthly_runs=1, spot=False, region="us-east-1"), {})
    block = price(result.option.machine, "us-east-1", "capacity-block")
    assert block.block.paid_hours(84.0) == 96
    hours = result.option.hours.typical
    days = math.ceil(hours / 24)
    nodes = result.option.nodes * result.option.copies
    first = way(result, "own cluster, capacity-block").lines[0]
    assert first.what == "GPU nodes, whole days"
    assert first.usd == pytest.approx(block.usd_per_hour.typical * nodes * days * 24)
    assert any(figure.what.startswith("capacity-block") for figure in result.figures)
    assert any(figure.what.startswith("SageMaker") for figure in result.figures)


def test_a_run_longer_than_a_block_is_not_compared_in_one():
    result = compare(ask(params=7e9, tokens=300e9, cloud="gcp", deadline_hours=24 * 365), {})
    assert result.option.hours.typical > 7 * 24
    assert not any("flex-start" in item.name for item in result.ways), "seven days at most"
