"""Capacity Blocks, from hand-made answers of DescribeCapacityBlockOfferings."""

from datetime import date

import pytest

from tests.refresh.answers import Clients
from trainyard.catalog.blocks import block_offer
from trainyard.refresh.aws_blocks import block_quotes
from trainyard.refresh.model import RefreshError
from trainyard.refresh.tables import Table, apply, compare

TODAY = date(2026, 11, 21)
TYPE = "p4de.24xlarge"
OPERATION = "describe_capacity_block_offerings"


@pytest.fixture
def clients():
    return Clients()


def ask(folder, clients):
    found = block_quotes(
        lambda region: clients("ec2", region), {"blocks.csv": Table(folder, "blocks.csv")}, today=TODAY
    )
    clients.all_answered()
    return found


def refuse(clients, code, message="told by EC2"):
    clients.stubs["ec2"].add_client_error(OPERATION, code, message)


def test_the_median_of_all_pages_is_an_hour_of_one_machine(folder, clients):
    clients.blocks(TYPE, [(480.0, 24, 0)], [(456.0, 24, 0), (612.5, 24, 30)])
    clients.blocks(TYPE, [(425.088, 24, 0)])
    found = ask(folder, clients)
    changes, odd = compare(found.quotes, folder)
    assert odd == () and found.skipped == ()
    first, second = changes
    assert (first.quote.name, first.old, first.quote.value) == (f"aws capacity-block {TYPE} us-east-1", 17.712, 20.0)
    assert first.percent == pytest.approx(12.9, abs=0.05)
    assert second.quote.value == 17.712 and not second.differs, "confirmed"
    assert clients.asked == [("ec2", "us-east-1"), ("ec2", "us-west-2")]
    before = Table(folder, "blocks.csv").rows
    assert apply(changes, folder) == ("blocks.csv",)
    after = Table(folder, "blocks.csv").rows
    assert (after[0]["usd_per_hour"], after[0]["date"]) == ("20", "2026-11-21")
    assert after[0]["source"] == (
        "EC2 DescribeCapacityBlockOfferings, 3 offers of 24 hours at 19 to 25; days and nodes: EC2 user guide"
    )
    for column in ("shortest_days", "longest_days", "most_nodes", "region"):
        assert [row[column] for row in after] == [row[column] for row in before], "limits stay"
    assert after[2] == before[2], "Google's row stays"


def test_without_an_offer_the_row_stays_and_that_is_told(folder, clients):
    clients.blocks(TYPE, [])
    clients.blocks(TYPE, [(480.0, 24, 0)], currency="CNY")
    found = ask(folder, clients)
    assert found.quotes == ()
    assert [(entry.name, entry.reason) for entry in found.skipped] == [
        (f"us-east-1 {TYPE}", "no Capacity Block of 24 hours is offered now"),
        (f"us-west-2 {TYPE}", "no Capacity Block of 24 hours is offered now"),
    ]


def test_a_region_that_is_not_enabled_is_asked_once_and_the_rest_goes_on(folder, clients):
    path = folder / "blocks.csv"
    heading, east, west, *rest = path.read_text().splitlines()
    path.write_text("\n".join([heading, east, east.replace("p4de", "p5"), west, *rest]) + "\n")
    refuse(clients, "AuthFailure")
    clients.blocks(TYPE, [(480.0, 24, 0)])
    found = ask(folder, clients)
    assert [quote.value for quote in found.quotes] == [20.0]
    assert {entry.reason for entry in found.skipped} == {"the account has not enabled the region"}
    assert [entry.name for entry in found.skipped] == [f"us-east-1 {TYPE}", "us-east-1 p5.24xlarge"]


def test_a_type_that_is_not_sold_so_is_told_in_the_clouds_words(folder, clients):
    refuse(clients, "InvalidParameterValue", "p4de.24xlarge is not supported")
    clients.blocks(TYPE, [(480.0, 24, 0)])
    found = ask(folder, clients)
    assert found.skipped[0].reason == "EC2 has no such offer: p4de.24xlarge is not supported"
    assert len(found.quotes) == 1


def test_a_missing_permission_is_named(folder, clients):
    refuse(clients, "UnauthorizedOperation")
    with pytest.raises(RefreshError, match=r"UnauthorizedOperation: .*ec2:DescribeCapacityBlockOfferings"):
        ask(folder, clients)


def test_an_absurd_price_is_left_for_a_person(folder, clients):
    clients.blocks(TYPE, [(24_000.0, 24, 0)])
    clients.blocks(TYPE, [])
    changes, (odd,) = compare(ask(folder, clients).quotes, folder)
    assert changes == () and "1000 USD an hour in place of 17.712 cannot be right" in odd.reason


def test_the_rows_that_are_asked_for_are_those_that_prices_are_read_from(folder):
    for row in Table(folder, "blocks.csv").rows:
        offer = block_offer(row["cloud"], row["kind"], row["match"], row["region"])
        assert f"{offer.usd_per_hour:g}" == row["usd_per_hour"]
