import pytest

from stacks.cost.assumptions import assumptions_for
from stacks.cost.spot import commitments, spot_discount

MEDIUM = assumptions_for("medium")


def test_a_quote_of_the_region_goes_before_the_familys_figure():
    assert spot_discount("p4d.24xlarge", "us-west-2", MEDIUM).value == pytest.approx(0.397)
    assert spot_discount("p4d.24xlarge", "ap-south-1", MEDIUM).value == pytest.approx(0.457)


def test_a_type_that_no_row_has_takes_the_assumption():
    found = spot_discount("m7i.xlarge", "us-east-1", MEDIUM)
    assert (found.low, found.value, found.high) == (0.4, 0.6, 0.8)
    assert found.source.startswith("agency guide")


def test_a_given_saving_replaces_the_table():
    found = spot_discount("p4d.24xlarge", "us-west-2", MEDIUM.with_values({"spot_saving_percent": 20}))
    assert (found.low, found.value, found.high) == (0.2, 0.2, 0.2)


def test_commitments_without_a_figure_are_not_offers():
    offers = {offer.kind: offer for offer in commitments("p5.48xlarge")}
    assert set(offers) == {"reserved-1y", "reserved-3y"}, "Capacity Blocks have no quote"
    assert offers["reserved-1y"].low <= offers["reserved-1y"].value < offers["reserved-3y"].value
