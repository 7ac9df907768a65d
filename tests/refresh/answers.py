"""Answers of the price APIs, made by hand in the shapes that botocore's service models and the price list's guide
describe, and cut to what is read. The stub checks every question and answer against the service model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import botocore.session
from botocore.stub import ANY, Stubber

MOMENT = datetime(2026, 11, 20, 12, tzinfo=UTC)


def product(usd: float | Sequence[tuple[str, float]], usage_type: str = "", sku: str = "ABC123") -> str:
    """One entry of a price list: a JSON text, as GetProducts has it. Tiers are (beginRange, USD)."""
    tiers = [("0", usd)] if isinstance(usd, int | float) else usd
    dimensions = {
        f"{sku}.JRTCKXETXF.{index}": {"unit": "Hrs", "beginRange": begin, "pricePerUnit": {"USD": f"{price:.10f}"}}
        for index, (begin, price) in enumerate(tiers)
    }
    return json.dumps(
        {
            "product": {"sku": sku, "attributes": {"usagetype": usage_type}},
            "terms": {"OnDemand": {f"{sku}.JRTCKXETXF": {"priceDimensions": dimensions}}},
        }
    )


class Clients:
    """Clients that answer from a list, in order, and refuse any other question."""

    def __init__(self) -> None:
        session = botocore.session.Session()
        keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
        self._clients = {
            service: session.create_client(service, region_name="us-east-1", **keys) for service in ("pricing", "ec2")
        }
        self.stubs = {service: Stubber(client) for service, client in self._clients.items()}
        for stub in self.stubs.values():
            stub.activate()
        self.asked: list[tuple[str, str]] = []

    def __call__(self, service: str, region: str) -> Any:
        self.asked.append((service, region))
        return self._clients[service]

    def products(self, service_code: str, *pages: Sequence[str], **filters: str) -> None:
        """The pages that the price list answers to a question with these filters."""
        terms = [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in filters.items()]
        for index, page in enumerate(pages):
            expected: dict[str, Any] = {"ServiceCode": service_code, "Filters": terms}
            if index:
                expected["NextToken"] = f"page-{index}"
            answer: dict[str, Any] = {"PriceList": list(page), "FormatVersion": "aws_v1"}
            if index + 1 < len(pages):
                answer["NextToken"] = f"page-{index + 1}"
            self.stubs["pricing"].add_response("get_products", answer, expected)

    def instance(self, type_: str, *answers: str, region: str = "us-east-1") -> None:
        """What the price list answers for an instance type."""
        self.products(
            "AmazonEC2",
            list(answers),
            operatingSystem="Linux",
            tenancy="Shared",
            preInstalledSw="NA",
            capacitystatus="Used",
            instanceType=type_,
            regionCode=region,
        )

    def managed(self, type_: str, *answers: str, region: str = "us-east-1") -> None:
        """What the price list answers for training on a type."""
        self.products(
            "AmazonSageMaker",
            list(answers),
            instanceName=f"ml.{type_}",
            platoinstancetype="Training",
            regionCode=region,
        )

    def spot(self, type_: str, *prices: float) -> None:
        """Spot prices of a type."""
        history = [
            {"AvailabilityZone": "us-east-1a", "InstanceType": type_, "ProductDescription": "Linux/UNIX",
             "SpotPrice": f"{price:.6f}", "Timestamp": MOMENT}
            for price in prices
        ]  # fmt: skip
        self.stubs["ec2"].add_response(
            "describe_spot_price_history",
            {"SpotPriceHistory": history},
            {"InstanceTypes": [type_], "ProductDescriptions": ["Linux/UNIX"], "StartTime": ANY},
        )

    def reserved(self, type_: str, years: int, **offers: tuple[float, float]) -> None:
        """Offers of a term by way to pay: USD at the start and USD an hour."""
        seconds = years * 365 * 24 * 3600
        self.stubs["ec2"].add_response(
            "describe_reserved_instances_offerings",
            {
                "ReservedInstancesOfferings": [
                    {
                        "OfferingType": payment.replace("_", " "),
                        "Duration": seconds,
                        "FixedPrice": fixed,
                        "RecurringCharges": [{"Amount": hourly, "Frequency": "Hourly"}],
                    }
                    for payment, (fixed, hourly) in offers.items()
                ]
            },
            {
                "InstanceType": type_,
                "ProductDescription": "Linux/UNIX",
                "OfferingClass": "standard",
                "InstanceTenancy": "default",
                "IncludeMarketplace": False,
                "MinDuration": seconds,
                "MaxDuration": seconds,
            },
        )

    def blocks(self, type_: str, *pages: Sequence[tuple[float, int, int]], currency: str = "USD") -> None:
        """The pages of Capacity Blocks of one machine for a day: USD in all, hours, and minutes beside them."""
        for index, page in enumerate(pages):
            expected: dict[str, Any] = {"InstanceType": type_, "InstanceCount": 1, "CapacityDurationHours": 24}
            if index:
                expected["NextToken"] = f"page-{index}"
            answer: dict[str, Any] = {
                "CapacityBlockOfferings": [
                    {
                        "CapacityBlockOfferingId": f"cb-{index}-{place}",
                        "InstanceType": type_,
                        "InstanceCount": 1,
                        "CapacityBlockDurationHours": hours,
                        "CapacityBlockDurationMinutes": minutes,
                        "UpfrontFee": f"{usd:.4f}",
                        "CurrencyCode": currency,
                    }
                    for place, (usd, hours, minutes) in enumerate(page)
                ]
            }
            if index + 1 < len(pages):
                answer["NextToken"] = f"page-{index + 1}"
            self.stubs["ec2"].add_response("describe_capacity_block_offerings", answer, expected)

    def all_answered(self) -> None:
        """Fails where an answer was not asked for."""
        for stub in self.stubs.values():
            stub.assert_no_pending_responses()
