"""What Capacity Blocks are offered at now, from EC2 in each region that they are sold in.

Google's rows of `blocks.csv` stay: flex-start and calendar mode are in no price API under their machine types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from statistics import median
from typing import Any

from botocore.exceptions import ClientError

from trainyard.refresh.aws_prices import told_clearly
from trainyard.refresh.model import Found, Quote, Skipped
from trainyard.refresh.tables import Table

TABLE = "blocks.csv"
KIND = "capacity-block"

# EC2's general error codes (API reference, "Error codes for the Amazon EC2 API"; as generally known, 2026-11-21).
_NOT_ENABLED = ("AuthFailure", "OptInRequired")
_NOT_SOLD = ("InvalidParameterValue", "InvalidParameterCombination", "Unsupported", "UnsupportedOperation")


class _Refused(Exception):  # noqa: N818 (an answer: there is no offer, and why)
    def __init__(self, reason: str, *, region: bool) -> None:
        self.reason = reason
        self.region = region  # nothing else is to be had there either
        super().__init__(reason)


def block_quotes(client: Callable[[str], Any], tables: Mapping[str, Table], today: date) -> Found:
    """The Capacity Blocks of `blocks.csv`: the median of what is offered for one machine for the shortest time.

    `client` makes an EC2 client of a region. These rows are of the region that each names, whatever region the
    catalogue is refreshed for.

    Raises:
        RefreshError: no credentials, no permission, or no network.
    """
    quotes, skipped = [], []
    clients: dict[str, Any] = {}
    closed: dict[str, str] = {}  # region to why nothing is to be had there
    for row in tables[TABLE].rows:
        if (row["cloud"], row["kind"]) != ("aws", KIND):
            continue
        type_, region = row["match"], row["region"]
        name = f"{region} {type_}"
        if region in closed:
            skipped.append(Skipped(TABLE, name, closed[region]))
            continue
        if region not in clients:
            clients[region] = client(region)
        hours = int(24 * float(row["shortest_days"] or 1))
        try:
            prices = list(_offers(clients[region], type_, hours))
        except _Refused as refused:
            if refused.region:
                closed[region] = refused.reason
            skipped.append(Skipped(TABLE, name, refused.reason))
            continue
        if not prices:
            skipped.append(Skipped(TABLE, name, f"no Capacity Block of {hours} hours is offered now"))
            continue
        value = round(median(prices), 4)
        spread = f"{min(prices):.10g} to {max(prices):.10g}" if len(set(prices)) > 1 else f"{value:.10g}"
        offers = f"{len(prices)} offer{'s' if len(prices) > 1 else ''} of {hours} hours at {spread}"
        cells = {
            "usd_per_hour": f"{value:.10g}",
            "source": f"EC2 DescribeCapacityBlockOfferings, {offers}; days and nodes: EC2 user guide",
            "date": today.isoformat(),
        }
        key = (("cloud", "aws"), ("kind", KIND), ("match", type_), ("region", region))
        quotes.append(Quote(TABLE, key, "usd_per_hour", value, "USD an hour", cells))
    return Found(tuple(quotes), tuple(skipped))


def _offers(ec2: Any, type_: str, hours: int) -> Iterator[float]:
    """USD an hour of one machine, of each offer in dollars.

    Raises:
        _Refused: the account cannot use the region, or the type is not sold so there.
    """
    with told_clearly():
        pages = ec2.get_paginator("describe_capacity_block_offerings").paginate(
            InstanceType=type_, InstanceCount=1, CapacityDurationHours=hours
        )
        try:
            for page in pages:
                for offer in page["CapacityBlockOfferings"]:
                    # A block ends at 11:30 UTC, so that one that begins at once has hours and minutes.
                    length = offer["CapacityBlockDurationHours"] + offer.get("CapacityBlockDurationMinutes", 0) / 60
                    if offer["CurrencyCode"] == "USD" and length > 0:
                        yield round(float(offer["UpfrontFee"]) / (offer["InstanceCount"] * length), 4)
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "")
            if code in _NOT_ENABLED:
                raise _Refused("the account has not enabled the region", region=True) from error
            if code in _NOT_SOLD:
                told = error.response["Error"].get("Message", code)
                raise _Refused(f"EC2 has no such offer: {told}", region=False) from error
            raise
