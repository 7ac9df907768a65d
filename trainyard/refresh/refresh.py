"""A refresh of the catalogue: ask the clouds, compare, and write only when asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from trainyard.catalog.gcp import HOME_REGION
from trainyard.refresh import aws_blocks, aws_market, aws_prices, gcp_prices
from trainyard.refresh.model import Found, Refresh, RefreshError
from trainyard.refresh.tables import Table, compare

CLOUDS = ("aws", "gcp")
AWS_REGION, GCP_REGION = "us-east-1", HOME_REGION
"""Regions whose prices the catalogue holds unless it is refreshed for another one."""

_AWS_TABLES = (
    "aws_services.csv",
    *aws_prices.INSTANCE_TABLES,
    "managed_prices.csv",
    "spot.csv",
    "commitments.csv",
    aws_blocks.TABLE,
)

AwsClient = Callable[[str, str], Any]
"""Makes a client of a service in a region."""


def aws_client(service: str, region: str) -> Any:
    """A botocore client with the ambient credentials."""
    import botocore.session
    from botocore.config import Config

    with aws_prices.told_clearly():
        config = Config(connect_timeout=10, read_timeout=60, retries={"max_attempts": 5, "mode": "standard"})
        return botocore.session.get_session().create_client(service, region_name=region, config=config)


def refresh(
    folder: Path,
    *,
    today: date,
    clouds: Sequence[str] = CLOUDS,
    region: str = AWS_REGION,
    gcp_region: str = GCP_REGION,
    client: AwsClient = aws_client,
    gcp_endpoint: str = gcp_prices.ENDPOINT,
    environ: Mapping[str, str] | None = None,
) -> Refresh:
    """Current prices beside those in `folder`, of every cloud that answers. Nothing is written.

    A cloud without credentials or network is told in `failures`. The catalogue holds the prices of one region of
    AWS; a refresh for another region makes all that is sold there that region's. Capacity Blocks stay those of the
    regions that their rows name. Machines of Google Cloud have a row for each region that was asked for.

    Raises:
        RefreshError: none of the clouds answers; the text says what to set for each.
    """
    asks: dict[str, Callable[[], Found]] = {
        "aws": lambda: _aws(folder, region, today, client),
        "gcp": lambda: _gcp(folder, gcp_region, today, gcp_endpoint, environ),
    }
    found, answered, failures = Found(), [], {}
    for cloud in clouds:
        try:
            found += asks[cloud]()
            answered.append(cloud)
        except RefreshError as error:
            failures[cloud] = str(error)
    if not answered:
        raise RefreshError("; ".join(f"{cloud}: {reason}" for cloud, reason in failures.items()))
    changes, odd = compare(found.quotes, folder)
    return Refresh(changes, found.skipped + odd, tuple(answered), failures)


def _aws(folder: Path, region: str, today: date, client: AwsClient) -> Found:
    tables = {name: Table(folder, name) for name in _AWS_TABLES}
    pricing, ec2 = client("pricing", aws_prices.PRICING_REGION), client("ec2", region)
    instances = aws_prices.instance_quotes(pricing, tables, region, today)
    on_demand = {quote.name: quote.value for quote in instances.quotes}
    return (
        instances
        + aws_prices.service_quotes(pricing, tables, region, today)
        + aws_prices.managed_quotes(pricing, tables, region, today)
        + aws_market.spot_quotes(ec2, tables, on_demand, region, today)
        + aws_market.reserved_quotes(ec2, tables, on_demand, region, today)
        + aws_blocks.block_quotes(lambda place: ec2 if place == region else client("ec2", place), tables, today)
    )


def _gcp(folder: Path, region: str, today: date, endpoint: str, environ: Mapping[str, str] | None) -> Found:
    tables = {name: Table(folder, name) for name in gcp_prices.TABLES}
    if environ is None:
        return gcp_prices.instance_quotes(tables, region, today, endpoint=endpoint)
    return gcp_prices.instance_quotes(tables, region, today, endpoint=endpoint, environ=environ)
