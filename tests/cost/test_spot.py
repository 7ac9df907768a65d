import pytest

from trainyard import catalog
from trainyard.catalog.commitments import commitments
from trainyard.catalog.spot_prices import spot_rows
from trainyard.cost.assumptions import assumptions_for
from trainyard.cost.model import UnitPrice
from trainyard.cost.spot import family_of, spot_discount

MEDIUM = assumptions_for("medium")


def discount(type_, region, assumptions=MEDIUM, usd=None):
    listed = UnitPrice(usd or catalog.instance(type_).usd_per_hour, "hour", "us-east-1", "a list", "2026-07-20")
    return spot_discount(listed, type_, region, assumptions)


def test_a_price_of_the_region_is_what_an_hour_costs():
    """Savings are of the region's on-demand price, which is not the one that the stack is reckoned with."""
    quoted = [row for row in spot_rows() if row.cloud == "aws" and row.usd]
    assert len(quoted) > 60
    for row in quoted:
        found = discount(row.match, row.region)
        hour = [found.listed.usd * (1 - saved) for saved in (found.saved.high, found.saved.typical, found.saved.low)]
        assert hour == pytest.approx(list(row.usd)), row
        assert found.saved.low >= 0, "the ceiling is never below spot"
        assert f"{row.usd.typical:g} USD an hour on spot in {row.region}" in found.note


def test_a_region_cheaper_than_the_list_price_keeps_that_as_the_ceiling():
    found = discount("p5.48xlarge", "eu-north-1")
    assert found.listed.usd == 55.04
    assert found.saved.typical == pytest.approx(1 - 10.5722 / 55.04), "not the 82 % of 58.8928 there"
    assert "81 % below the on-demand price of us-east-1, which is the ceiling" in found.note
    assert found.unit.source.startswith("a list; spot: SkyPilot") and found.unit.date == found.date


def test_where_spot_costs_more_than_the_list_price_its_highest_is_the_ceiling():
    found = discount("p5.48xlarge", "ap-southeast-2")
    assert (found.listed.usd, found.listed.region) == (71.552, "ap-southeast-2")
    assert found.saved.typical == pytest.approx(0.044, abs=0.001), "what the table says of that region"
    assert "which is above the on-demand price of us-east-1, 55.04" in found.note
    assert found.unit.source == found.source


def test_without_a_price_of_the_region_the_closest_saving_holds():
    assert discount("p4d.24xlarge", "ap-south-1").saved.typical == pytest.approx(0.457), "the family anywhere"
    assert discount("p4d.24xlarge", "eu-west-1").saved.typical == pytest.approx(0.34), "no USD in that row"
    assert discount("g5.12xlarge", "us-east-1").saved.typical == pytest.approx(0.534), "another size of the family here"


def test_a_type_that_no_row_has_takes_the_assumption():
    found = discount("m7i.xlarge", "us-east-1", usd=0.2)
    assert found.saved == (0.4, 0.6, 0.8)
    assert found.source.startswith("agency guide")


def test_a_given_saving_replaces_the_table():
    found = discount("p4d.24xlarge", "us-west-2", MEDIUM.with_values({"spot_saving_percent": 20}))
    assert found.saved == (0.2, 0.2, 0.2)
    assert found.listed.region == "us-east-1"


def test_commitments_without_a_figure_are_not_offers():
    offers = {offer.kind: offer for offer in commitments("aws", "p5.48xlarge", family_of("p5.48xlarge"))}
    assert set(offers) == {"reserved-1y", "reserved-3y"}, "Capacity Blocks have no quote"
    one, three = offers["reserved-1y"].savings, offers["reserved-3y"].savings
    assert one.low <= one.typical < three.typical
