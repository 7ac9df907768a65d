import csv
from datetime import date

import botocore.session
import pytest
from botocore.config import Config

from tests.refresh.answers import Clients, product
from trainyard.catalog import service_prices
from trainyard.refresh import aws_market, aws_prices
from trainyard.refresh.model import RefreshError
from trainyard.refresh.refresh import aws_client, refresh
from trainyard.refresh.tables import Table, apply, catalog_folder

TODAY = date(2026, 11, 21)
NAT = {"productFamily": "NAT Gateway", "regionCode": "us-east-1"}


@pytest.fixture
def clients():
    """Answers for the small catalogue: p4d is cheaper, g6 as it was, m7i gone, one service dearer."""
    found = Clients()
    found.instance("g6.xlarge", product(0.8048))
    found.instance("p4d.24xlarge", product(20.0, sku="P4D"))
    found.instance("m7i.xlarge")
    found.products("AmazonEC2", [product(0.05, "NatGateway-Hours"), product(9, "NatGateway-Bytes")], **NAT)
    found.products(
        "AWSDataTransfer",
        [product([("0", 0.0), ("100", 0.09), ("10240", 0.085)], "DataTransfer-Out-Bytes")],
        regionCode="us-east-1",
    )
    found.products(
        "AmazonEC2",
        [],
        [product(40.96, "EBS:VolumeP-Throughput.gp3")],
        productFamily="Provisioned Throughput",
        regionCode="us-east-1",
    )
    found.managed("g6.xlarge", product(1.2, "USE1-Train:ml.g6.xlarge", sku="ML"))
    found.managed("p4d.24xlarge")
    found.spot("g6.xlarge", 0.4024, 0.2012, 0.3219)
    found.spot("p4d.24xlarge")
    found.reserved("g6.xlarge", 1, No_Upfront=(0, 0.52), All_Upfront=(0.48 * 8760, 0.0), Partial_Upfront=(2190, 0.25))
    found.reserved("g6.xlarge", 3)
    found.reserved("p4d.24xlarge", 1, No_Upfront=(0, 13.0))
    found.reserved("p4d.24xlarge", 3, No_Upfront=(0, 9.0))
    found.blocks("p4de.24xlarge", [(480.0, 24, 0)], [(456.0, 24, 0), (612.5, 24, 30)])  # us-east-1
    found.blocks("p4de.24xlarge", [])  # us-west-2
    return found


def rows(folder, name, **key):
    found = csv.DictReader((folder / name).read_text().splitlines())
    return [row for row in found if all(row[column] == value for column, value in key.items())]


@pytest.fixture
def found(folder, clients):
    result = refresh(folder, today=TODAY, clouds=["aws"], client=clients)
    clients.all_answered()
    return result


def test_prices_are_compared_and_nothing_is_written(folder, found, clients):
    different = {
        (change.quote.table, change.quote.name): (change.old, change.quote.value) for change in found.different
    }
    assert different["aws_instances.csv", "p4d.24xlarge"] == (21.957642, 20.0)
    assert different["aws_services.csv", "nat-gateway"] == (0.045, 0.05)
    assert ("aws_instances.csv", "g6.xlarge") not in different, "confirmed"
    assert rows(folder, "aws_instances.csv", type="p4d.24xlarge")[0]["usd_per_hour"] == "21.957642"
    assert ("pricing", "us-east-1") in clients.asked and ("ec2", "us-east-1") in clients.asked


def test_the_first_tier_that_costs_something_counts_and_units_are_ours(found):
    by_name = {change.quote.name: change for change in found.changes}
    assert by_name["transfer.internet-out"].quote.value == 0.09
    assert by_name["ebs.gp3.throughput"].quote.value == pytest.approx(0.04)
    assert not by_name["ebs.gp3.throughput"].differs


def test_spot_prices_become_savings_and_a_new_row_keeps_its_familys_reclaims(folder, found):
    change = next(change for change in found.changes if change.quote.table == "spot.csv")
    assert change.quote.name == "aws us-east-1 g6.xlarge"
    assert change.old is None
    apply(found.changes, folder)
    (row,) = rows(folder, "spot.csv", match="g6.xlarge", region="us-east-1")
    assert [row[f"savings{part}_percent"] for part in ("_low", "", "_high")] == ["50.0", "60.0", "75.0"]
    assert [row[f"reclaimed{part}_percent"] for part in ("_low", "", "_high")] == ["11", "19", "60"]
    assert row["reclaimed_source"].startswith("AWS spot advisor") and row["reclaimed_date"] == "2025-06-28"
    assert [row[f"usd{part}"] for part in ("_low", "", "_high")] == ["0.2012", "0.3219", "0.4024"]
    assert any(entry.name == "us-east-1 p4d.24xlarge" and "no spot price" in entry.reason for entry in found.skipped)


def test_reservations_become_savings_over_their_term(folder, found):
    apply(found.changes, folder)
    (year,) = rows(folder, "commitments.csv", kind="reserved-1y", match="g6.xlarge")
    # 0.48, 0.50 and 0.52 an hour against 0.8048.
    assert [year[f"savings{part}_percent"] for part in ("_low", "", "_high")] == ["35.4", "37.9", "40.4"]
    assert (year["months"], year["evidence"]) == ("12", "quote of the EC2 API")
    (three,) = rows(folder, "commitments.csv", kind="reserved-3y", match="p4d.24xlarge")
    assert three["savings_percent"] == "55.0", "against the new price of 20"
    assert any("reserved-3y g6.xlarge" in entry.name for entry in found.skipped)


def test_managed_training_takes_the_services_own_price(folder, found):
    change = next(change for change in found.changes if change.quote.table == "managed_prices.csv")
    assert (change.quote.name, change.old, change.quote.value) == ("aws g6.xlarge", 1.127, 1.2)
    apply(found.changes, folder)
    (row,) = rows(folder, "managed_prices.csv", type="g6.xlarge")
    assert (row["usd_per_hour"], row["region"], row["source"]) == ("1.2", "us-east-1", "AWS Price List API, SKU ML")
    reasons = {entry.name: entry.reason for entry in found.skipped if entry.table == "managed_prices.csv"}
    assert "has no such product" in reasons["SageMaker ml.p4d.24xlarge"]


def test_what_the_list_does_not_have_stays_and_is_told(found):
    reasons = {(entry.table, entry.name): entry.reason for entry in found.skipped}
    assert "has no such product in us-east-1" in reasons["aws_cpu_instances.csv", "m7i.xlarge"]
    assert "no product of the price list is known" in reasons["aws_services.csv", "eks.control-plane.extended"]


def test_applied_prices_carry_their_source_date_and_region(folder, found):
    before = (folder / "aws_services.csv").read_text().splitlines()
    written = apply(found.changes, folder)
    assert set(written) == {
        "aws_instances.csv",
        "aws_services.csv",
        "managed_prices.csv",
        "spot.csv",
        "commitments.csv",
        "blocks.csv",
    }
    (row,) = rows(folder, "aws_instances.csv", type="p4d.24xlarge")
    assert (row["usd_per_hour"], row["price_source"], row["price_date"]) == (
        "20", "AWS Price List API, SKU P4D", "2026-11-21",
    )  # fmt: skip
    assert row["gpu"] == "A100-40GB", "facts stay"
    after = (folder / "aws_services.csv").read_text().splitlines()
    unchanged = [line for line in before if line.startswith("eks.control-plane.extended")]
    assert unchanged[0] in after and len(after) == len(before)


def test_several_prices_for_one_key_change_nothing(folder):
    clients = Clients()
    clients.products("AmazonEC2", [product(0.05, "NatGateway-Hours"), product(0.06, "USE1-NatGateway-Hours")], **NAT)
    ask = clients("pricing", "us-east-1"), "AmazonEC2", {"productFamily": "NAT Gateway"}, "us-east-1"
    with pytest.raises(aws_prices.NoPriceError, match=r"several prices for it in us-east-1: 0\.05, 0\.06"):
        aws_prices._price(*ask, "NatGateway-Hours")


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ("NatGateway-Hours", True),
        ("USE2-NatGateway-Hours", True),
        ("EU-NatGateway-Hours", True),
        ("us-east-1-NatGateway-Hours", True),
        ("Outposts-NatGateway-Hours", False),
        ("USE2-NatGateway-Hours-Extra", False),
    ],
)
def test_usage_types_carry_a_prefix_of_the_region(usage, counts):
    clients = Clients()
    clients.products("AmazonEC2", [product(0.05, usage)], regionCode="us-east-1")
    ask = clients("pricing", "us-east-1"), "AmazonEC2", {}, "us-east-1", "NatGateway-Hours"
    if counts:
        assert aws_prices._price(*ask) == (0.05, "ABC123")
    else:
        with pytest.raises(aws_prices.NoPriceError, match="no such product"):
            aws_prices._price(*ask)


def test_every_product_is_of_a_key_of_the_catalogue():
    keys = [price.key for price in service_prices()]
    patterns = aws_prices._products()
    for pattern in patterns:
        assert any(key == pattern or (pattern.endswith("*") and key.startswith(pattern[:-1])) for key in keys), pattern
    known = [key for key in keys if aws_prices._product_of(key)]
    assert len(known) >= 0.75 * len(keys)
    assert "ecr.storage" in known
    row, rest = aws_prices._product_of("rds.postgres.db.t4g.small")
    assert (rest, row["service_code"]) == ("db.t4g.small", "AmazonRDS")


def test_without_credentials_the_error_says_what_to_set(folder, monkeypatch, tmp_path):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(RefreshError, match=r"aws: no AWS credentials: set AWS_PROFILE.*pricing:GetProducts"):
        refresh(folder, today=TODAY, clouds=["aws"], client=aws_client)


def test_a_refusal_names_the_actions(folder):
    clients = Clients()
    clients.stubs["pricing"].add_client_error("get_products", "AccessDeniedException")
    with pytest.raises(
        RefreshError, match="refused GetProducts with AccessDeniedException: the identity needs pricing:"
    ):
        refresh(folder, today=TODAY, clouds=["aws"], client=clients)


def test_no_network_is_told(folder):
    def unreachable(service, region):
        session = botocore.session.Session()
        return session.create_client(
            service, region_name=region, endpoint_url="http://127.0.0.1:9", aws_access_key_id="testing",
            aws_secret_access_key="testing", config=Config(retries={"max_attempts": 0}),
        )  # fmt: skip

    with pytest.raises(RefreshError, match="AWS cannot be reached"):
        refresh(folder, today=TODAY, clouds=["aws"], client=unreachable)


def test_the_real_tables_can_be_read_and_are_as_they_are_written():
    for name in (
        "aws_services.csv",
        "aws_instances.csv",
        "aws_cpu_instances.csv",
        "spot.csv",
        "commitments.csv",
        "blocks.csv",
    ):
        assert Table(catalog_folder(), name).text == (catalog_folder() / name).read_text(encoding="utf-8")


def test_blocks_are_refreshed_with_the_rest(folder, found, clients):
    (change,) = [change for change in found.changes if change.quote.table == "blocks.csv"]
    assert (change.quote.name, change.quote.value) == ("aws capacity-block p4de.24xlarge us-east-1", 20.0)
    assert ("ec2", "us-west-2") in clients.asked, "each row is of its own region"
    reasons = {entry.name: entry.reason for entry in found.skipped if entry.table == "blocks.csv"}
    assert reasons == {"us-west-2 p4de.24xlarge": "no Capacity Block of 24 hours is offered now"}


def test_spot_of_a_family_without_reclaims_makes_no_row(folder):
    """A row of spot without them cannot be read."""
    table = Table(folder, "aws_instances.csv")
    table.rows.append(table.rows[0] | {"type": "g6f.large"})
    tables = {"aws_instances.csv": table, "spot.csv": Table(folder, "spot.csv")}
    on_demand = {"p4d.24xlarge": 20.0, "g6.xlarge": 0.8, "g6f.large": 0.2}
    types = [row["type"] for row in table.rows]
    asked = Clients()
    for type_ in types[:-1]:
        asked.spot(type_, on_demand[type_] / 2)
    result = aws_market.spot_quotes(asked("ec2", "us-east-1"), tables, on_demand, "us-east-1", TODAY)
    asked.all_answered()
    assert [quote.key[2][1] for quote in result.quotes] == types[:-1]
    assert [(entry.name, entry.reason) for entry in result.skipped] == [
        ("us-east-1 g6f.large", "no row says how often g6f is reclaimed")
    ]
