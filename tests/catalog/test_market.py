"""Spot, commitments and blocks: one reader of each table."""

import pytest

from trainyard.catalog.blocks import block_offer
from trainyard.catalog.commitments import commitments
from trainyard.catalog.spot_prices import closest_spot, spot_rows
from trainyard.catalog.spread import spread
from trainyard.catalog.tables import rows


def columns(low, value, high):
    return {"savings_low_percent": low, "savings_percent": value, "savings_high_percent": high}


def test_a_spread_is_three_columns_in_order():
    assert spread(columns("10", "20", "40"), "savings", "_percent") == (0.1, 0.2, 0.4)
    assert spread({"usd_low": "1", "usd": "2", "usd_high": "3"}, "usd") == (1, 2, 3)
    assert spread(columns("10", "", "40"), "savings", "_percent") is None, "not established"
    with pytest.raises(ValueError, match="savings not in order"):
        spread(columns("30", "20", "40"), "savings", "_percent")


def test_every_row_of_spot_is_read():
    assert len(spot_rows()) == len(list(rows("spot.csv")))
    assert all(row.savings.low >= 0 and row.savings.high < 1 for row in spot_rows())


@pytest.mark.parametrize(
    ("cloud", "type_", "family", "region", "found"),
    [
        ("aws", "p4d.24xlarge", "p4d", "us-west-2", ("us-west-2", "p4d.24xlarge")),
        ("aws", "g5.12xlarge", "g5", "us-east-1", ("us-east-1", "g5.48xlarge")),
        ("aws", "p4d.24xlarge", "p4d", "ap-south-1", ("*", "p4d")),
        ("gcp", "a3-highgpu-8g", "a3-highgpu", "us-east4", ("us-east4", "a3-highgpu")),
        ("gcp", "a4-highgpu-8g", "a4-highgpu", "us-east4", ("*", "*")),
    ],
)
def test_the_closest_row_of_spot(cloud, type_, family, region, found):
    row = closest_spot(cloud, type_, family, region)
    assert (row.region, row.match) == found
    assert (row.usd_of(type_, region) is not None) == (row.match == type_), "of no other size, nor of another region"


def test_a_cloud_is_not_answered_from_another():
    assert closest_spot("aws", "m7i.xlarge", "m7i", "us-east-1") is None, "the row of everything is Google's"


def test_the_most_precise_commitment_of_each_kind():
    one, three = commitments("gcp", "a3-highgpu-8g", "a3-highgpu")
    assert (one.kind, one.months, one.match) == ("reserved-1y", 12, "a3-highgpu")
    assert (three.kind, three.months, three.match) == ("reserved-3y", 36, "a3-highgpu")
    assert {offer.match for offer in commitments("aws", "p5.48xlarge", "p5")} == {"*"}


def test_a_block_is_of_its_cloud_kind_type_and_region():
    offer = block_offer("aws", "capacity-block", "p5.48xlarge", "eu-west-2")
    assert (offer.usd_per_hour, offer.block.most_nodes, offer.date) == (37.76, 64, "2026-07-22")
    assert block_offer("aws", "capacity-block", "p5.48xlarge", "ca-central-1") is None
    assert block_offer("gcp", "capacity-block", "p5.48xlarge", "eu-west-2") is None
    assert block_offer("gcp", "flex-start", "a3-highgpu-8g", "us-central1").block.most_nodes is None
