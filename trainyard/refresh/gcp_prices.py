"""On-demand prices from the Cloud Billing Catalog API.

Google sells cores, memory and GPUs apart: a machine's price is the sum. `gcp_products.csv` says by what words the
SKUs of a family are described (general knowledge of the catalogue, 2026-11-21). Families that include local disks
(A2 Ultra, A3 and later) are not in it: their sum would lack the disks.
"""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from datetime import date
from functools import lru_cache
from typing import Any

from trainyard.catalog.gcp import HOME_REGION
from trainyard.catalog.tables import rows
from trainyard.refresh.model import Found, Quote, RefreshError, Skipped
from trainyard.refresh.tables import Table

ENDPOINT = "https://cloudbilling.googleapis.com"
COMPUTE_ENGINE = "6F81-5844-456A"
"""Compute Engine's service id."""

TIMEOUT_SECONDS = 60.0
TABLES = ("gcp_instances.csv", "gcp_cpu_instances.csv")
"""Machines, with their prices in the catalogue's own region."""
REGION_PRICES = "gcp_region_prices.csv"
"""Their prices in other regions."""
_CREDENTIALS = "set GOOGLE_API_KEY (a key that may call the Cloud Billing API) or GOOGLE_OAUTH_ACCESS_TOKEN"


@lru_cache(maxsize=1)
def _products() -> dict[str, dict[str, str]]:
    return {row["family"]: row for row in rows("gcp_products.csv", "trainyard.refresh")}


def instance_quotes(
    tables: Mapping[str, Table],
    region: str,
    today: date,
    *,
    endpoint: str = ENDPOINT,
    environ: Mapping[str, str] = os.environ,
) -> Found:
    """The machine types of the catalogue whose families are sold as cores, memory and GPUs, in one region.

    Raises:
        RefreshError: no credentials, or the API refuses or cannot be reached.
    """
    prices = _on_demand_prices(_skus(endpoint, environ), region)
    quotes, skipped = [], []
    for table, row in ((name, row) for name in TABLES for row in tables[name].rows):
        type_ = row["type"]
        family = "-".join(type_.split("-")[:2])
        words = _products().get(family)
        if words is None:
            reason = f"{family} includes local disks, shares its cores or has no list price: not a sum of SKUs"
            skipped.append(Skipped(table, type_, reason))
            continue
        parts = {"core": float(row["vcpus"]), "memory": float(row["memory_gib"]), "gpu": float(row.get("gpus", 0))}
        parts = {part: amount for part, amount in parts.items() if amount}
        found = {part: _matching(prices, words[part]) for part in parts}
        missing = [f"{words[part]} …" for part, usd in found.items() if len(usd) != 1]
        if missing:
            reason = f"no single SKU in {region} is described by {', '.join(missing)}"
            skipped.append(Skipped(table, type_, reason))
            continue
        usd = round(sum(amount * next(iter(found[part])) for part, amount in parts.items()), 6)
        source, day = f"Cloud Billing Catalog API, {region}: cores, memory and GPUs", today.isoformat()
        if region == HOME_REGION:
            cells = {"usd_per_hour": f"{usd:.10g}", "price_source": source, "price_date": day}
            quotes.append(Quote(table, (("type", type_),), "usd_per_hour", usd, "USD an hour", cells))
        else:
            cells = {"usd_per_hour": f"{usd:.10g}", "source": source, "date": day}
            key = (("type", type_), ("region", region))
            quotes.append(Quote(REGION_PRICES, key, "usd_per_hour", usd, "USD an hour", cells))
    return Found(tuple(quotes), tuple(skipped))


def _matching(prices: Mapping[str, float], words: str) -> set[float]:
    return {usd for description, usd in prices.items() if description.startswith(words)}


def _on_demand_prices(skus: Iterator[Mapping[str, Any]], region: str) -> dict[str, float]:
    """USD an hour by description, of on-demand SKUs that the region sells."""
    prices = {}
    for sku in skus:
        if sku["category"].get("usageType") != "OnDemand" or region not in sku.get("serviceRegions", ()):
            continue
        rates = sku["pricingInfo"][-1]["pricingExpression"]["tieredRates"] if sku.get("pricingInfo") else []
        amounts = [int(rate["unitPrice"].get("units", 0)) + rate["unitPrice"].get("nanos", 0) / 1e9 for rate in rates]
        priced = [usd for usd in amounts if usd > 0]
        if priced:
            prices[sku["description"]] = priced[0]
    return prices


def _skus(endpoint: str, environ: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
    key, token = environ.get("GOOGLE_API_KEY"), environ.get("GOOGLE_OAUTH_ACCESS_TOKEN")
    if not key and not token:
        raise RefreshError(f"no Google credentials: {_CREDENTIALS}")
    page = ""
    while True:
        query = {"currencyCode": "USD", "pageSize": "5000", **({"pageToken": page} if page else {})}
        url = f"{endpoint}/v1/services/{COMPUTE_ENGINE}/skus?{urllib.parse.urlencode(query)}"
        answer = _get(url, {"X-Goog-Api-Key": key} if key else {"Authorization": f"Bearer {token}"})
        yield from answer.get("skus", ())
        page = answer.get("nextPageToken", "")
        if not page:
            return


def _get(url: str, headers: Mapping[str, str]) -> dict[str, Any]:
    request = urllib.request.Request(url, headers=dict(headers))  # noqa: S310 (the scheme is the endpoint's)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:  # noqa: S310
            answer: dict[str, Any] = json.load(response)
    except urllib.error.HTTPError as error:
        raise RefreshError(f"Google refused the price list with HTTP {error.code}: {_CREDENTIALS}") from error
    except (urllib.error.URLError, TimeoutError) as error:
        reason = getattr(error, "reason", error)
        raise RefreshError(f"Google cannot be reached: {reason}; set HTTPS_PROXY where a proxy is between") from error
    except json.JSONDecodeError as error:
        raise RefreshError(f"Google's answer is not JSON: {error}; something between answers in its place") from error
    return answer
