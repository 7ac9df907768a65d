"""What managed training on AWS asks for a machine above its price: what a cluster saves."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard import catalog
from trainyard.catalog.managed import listed_price
from trainyard.plan.aws.parts import ManagedPlan

PREMIUM = "SageMaker asks more than EC2 does"
PRICES = "on demand and list prices of us-east-1"


def premiums(managed: ManagedPlan) -> Iterator[float]:
    """By GPU type that people may train on: the part of SageMaker's price that is not EC2's."""
    bare = {item.type: item.usd_per_hour for item in catalog.instances()}
    for type_ in (each.removeprefix("ml.") for each in managed.training_types):
        listed, own = listed_price("aws", type_), bare.get(type_)
        if listed and own and own < listed:
            yield 1 - own / listed
