"""On-demand prices from the AWS Price List API (`pricing:GetProducts`, endpoint in us-east-1).

`aws_products.csv` says which product a catalogue key is: service, attribute filters (`{}` is the part of the key that
its `*` stands for), usage type without the region's prefix, and the factor from the API's unit to ours. The filters
are from general knowledge of the price list (2026-11-21). A filter that matches no product, or products of different
prices, changes nothing and is told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from functools import lru_cache
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, PartialCredentialsError

from trainyard.catalog.tables import rows
from trainyard.cost.model import a_unit
from trainyard.refresh.model import Found, Quote, RefreshError, Skipped
from trainyard.refresh.tables import Table

PRICING_REGION = "us-east-1"
"""Where the Price List API is; it has the prices of every region."""

ACTIONS = (
    "pricing:GetProducts, ec2:DescribeSpotPriceHistory, ec2:DescribeReservedInstancesOfferings, "
    "ec2:DescribeCapacityBlockOfferings"
)
INSTANCE_TABLES = ("aws_instances.csv", "aws_cpu_instances.csv")
_ON_DEMAND_LINUX = {
    "operatingSystem": "Linux",
    "tenancy": "Shared",
    "preInstalledSw": "NA",
    "capacitystatus": "Used",
}
_REGION_PREFIX = r"(?:(?:[A-Z]{2,4}\d?|[a-z]{2}(?:-[a-z]+)+-\d)-)?"
"""Pattern of the region in a usage type: none for us-east-1, else `EU-`, `USE2-`, `us-east-1-`."""


class NoPriceError(Exception):
    """The price list has no such price, or several."""


@contextmanager
def told_clearly() -> Iterator[None]:
    """Turns what botocore raises into what a person has to set.

    Raises:
        RefreshError: no credentials, no permission, or no network.
    """
    try:
        yield
    except (NoCredentialsError, PartialCredentialsError) as error:
        raise RefreshError(
            "no AWS credentials: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, of an identity "
            f"that may {ACTIONS}"
        ) from error
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "an error")
        raise RefreshError(
            f"AWS refused {error.operation_name} with {code}: the identity needs {ACTIONS}, and a token that is valid"
        ) from error
    except BotoCoreError as error:
        raise RefreshError(f"AWS cannot be reached: {error}; set HTTPS_PROXY where a proxy is between") from error


@lru_cache(maxsize=1)
def _products() -> dict[str, dict[str, str]]:
    return {row["key"]: row for row in rows("aws_products.csv", "trainyard.refresh")}


def _product_of(key: str) -> tuple[dict[str, str], str] | None:
    """The row of a key and what its `*` stands for."""
    for pattern, row in _products().items():
        if pattern == key:
            return row, ""
        if pattern.endswith("*") and key.startswith(pattern[:-1]):
            return row, key[len(pattern) - 1 :]
    return None


def service_quotes(pricing: Any, tables: Mapping[str, Table], region: str, today: date) -> Found:
    """The services of `aws_services.csv`."""
    quotes, skipped = [], []
    name = "aws_services.csv"
    for row in tables[name].rows:
        key = row["key"]
        product = _product_of(key)
        if product is None:
            skipped.append(Skipped(name, key, "no product of the price list is known for it"))
            continue
        entry, rest = product
        filters = dict(part.split("=", 1) for part in entry["filters"].replace("{}", rest).split(";") if part)
        try:
            usd, sku = _price(pricing, entry["service_code"], filters, region, entry["usage_type"])
        except NoPriceError as error:
            skipped.append(Skipped(name, key, str(error)))
            continue
        value = round(usd * float(entry["factor"]), 10)
        cells = {"usd": f"{value:.10g}", "region": region, "source": _source(sku), "date": today.isoformat()}
        quotes.append(Quote(name, (("key", key),), "usd", value, f"USD {a_unit(row['unit'])}", cells))
    return Found(tuple(quotes), tuple(skipped))


def instance_quotes(pricing: Any, tables: Mapping[str, Table], region: str, today: date) -> Found:
    """The instance types of both tables: Linux, shared tenancy, on demand."""
    quotes, skipped = [], []
    for name in INSTANCE_TABLES:
        for row in tables[name].rows:
            filters = {**_ON_DEMAND_LINUX, "instanceType": row["type"]}
            try:
                usd, sku = _price(pricing, "AmazonEC2", filters, region, "")
            except NoPriceError as error:
                skipped.append(Skipped(name, row["type"], str(error)))
                continue
            cells = {
                "usd_per_hour": f"{usd:.10g}",
                "price_region": region,
                "price_source": _source(sku),
                "price_date": today.isoformat(),
            }
            quotes.append(Quote(name, (("type", row["type"]),), "usd_per_hour", usd, "USD an hour", cells))
    return Found(tuple(quotes), tuple(skipped))


def managed_quotes(pricing: Any, tables: Mapping[str, Table], region: str, today: date) -> Found:
    """What SageMaker asks for training on each type of `managed_prices.csv`.

    The filters are those that a public workshop names for the same list, with Training in place of Studio; a table
    that holds another region's prices becomes this region's.
    """
    quotes, skipped = [], []
    name = "managed_prices.csv"
    for row in tables[name].rows:
        filters = {"instanceName": f"ml.{row['type']}", "platoinstancetype": "Training"}
        try:
            usd, sku = _price(pricing, "AmazonSageMaker", filters, region, "")
        except NoPriceError as error:
            skipped.append(Skipped(name, row["managed"], str(error)))
            continue
        cells = {"usd_per_hour": f"{usd:.10g}", "region": region, "source": _source(sku), "date": today.isoformat()}
        key = (("cloud", "aws"), ("type", row["type"]))
        quotes.append(Quote(name, key, "usd_per_hour", usd, "USD an hour", cells))
    return Found(tuple(quotes), tuple(skipped))


def _source(sku: str) -> str:
    return f"AWS Price List API, SKU {sku}"


def _price(
    pricing: Any, service_code: str, filters: Mapping[str, str], region: str, usage_type: str
) -> tuple[float, str]:
    """The one price of what matches, with its SKU.

    Raises:
        NoPriceError: nothing matches, or products with different prices do.
    """
    terms = [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in filters.items()]
    terms.append({"Type": "TERM_MATCH", "Field": "regionCode", "Value": region})
    wanted = re.compile(_REGION_PREFIX + re.escape(usage_type))
    prices: dict[float, str] = {}
    with told_clearly():
        for page in pricing.get_paginator("get_products").paginate(ServiceCode=service_code, Filters=terms):
            for text in page["PriceList"]:
                item = json.loads(text) if isinstance(text, str) else text
                attributes = item["product"]["attributes"]
                if usage_type and not wanted.fullmatch(attributes.get("usagetype", "")):
                    continue
                usd = _first_priced_tier(item)
                if usd is not None:
                    prices.setdefault(usd, item["product"]["sku"])
    if not prices:
        raise NoPriceError(f"the price list of {service_code} has no such product in {region}")
    if len(prices) > 1:
        found = ", ".join(f"{usd:g}" for usd in sorted(prices))
        raise NoPriceError(f"the price list of {service_code} has several prices for it in {region}: {found}")
    return next(iter(prices.items()))


def _first_priced_tier(item: Mapping[str, Any]) -> float | None:
    """USD of the lowest tier that costs something; what is always free has none."""
    tiers = []
    for term in item.get("terms", {}).get("OnDemand", {}).values():
        for dimension in term["priceDimensions"].values():
            usd = float(dimension["pricePerUnit"].get("USD", 0))
            if usd > 0:
                tiers.append((float(dimension.get("beginRange") or 0), usd))
    return min(tiers)[1] if tiers else None
