"""Recorded resources made by hand, in the shapes that a rehearsal records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from trainyard.cost.model import Cost
from trainyard.cost.price import price_stack
from trainyard.recorded.model import RecordedResource

TODAY = date(2026, 11, 26)

PROVIDER = RecordedResource(
    urn="urn:pulumi:test::trainyard::pulumi:providers:aws::aws",
    type="pulumi:providers:aws",
    name="aws",
    parent="",
    component="",
    custom=True,
    provider="",
    inputs={"region": "us-east-1"},
)


def resource(
    type_: str, name: str = "it", inputs: Mapping[str, Any] | None = None, *, id_: str | None = None, **more: Any
) -> RecordedResource:
    """One resource on the provider of us-east-1."""
    return RecordedResource(
        urn=f"urn:pulumi:test::trainyard::{type_}::{name}",
        type=type_,
        name=name,
        parent="",
        component=more.pop("component", "part"),
        custom=more.pop("custom", True),
        provider=f"{PROVIDER.urn}::id",
        inputs=inputs or {},
        id=id_ or f"id-of-{name}",
        **more,
    )


def node_group(
    name: str = "train-spot",
    *,
    types: Sequence[str] = ("p4d.24xlarge",),
    capacity: str = "on-demand",
    pool: str = "train",
    fewest: int = 0,
    most: int = 2,
    disk_gib: int | None = 200,
    monitored: bool = False,
    reservation: str = "",
) -> list[RecordedResource]:
    """A node group with its launch template."""
    template_inputs: dict[str, Any] = {"monitoring": {"enabled": monitored}}
    if disk_gib is not None:
        template_inputs["blockDeviceMappings"] = [{"ebs": {"volumeSize": disk_gib, "volumeType": "gp3"}}]
    if reservation:
        template_inputs["capacityReservationSpecification"] = {
            "capacityReservationTarget": {"capacityReservationId": reservation}
        }
    kind = {"on-demand": "ON_DEMAND", "reserved": "ON_DEMAND", "spot": "SPOT", "capacity-block": "CAPACITY_BLOCK"}
    template = resource("aws:ec2/launchTemplate:LaunchTemplate", f"{name}-template", template_inputs)
    group = resource(
        "aws:eks/nodeGroup:NodeGroup",
        name,
        {
            "instanceTypes": list(types),
            "capacityType": kind[capacity],
            "labels": {"ml.platform/pool": pool, "ml.platform/capacity": capacity},
            "scalingConfig": {"minSize": fewest, "maxSize": most, "desiredSize": fewest},
            "launchTemplate": {"id": template.id, "version": "1"},
        },
        property_dependencies={"launchTemplate": (template.urn,)},
    )
    return [template, group]


def priced(*resources: RecordedResource, plan: Mapping[str, Any] | None = None, **more: Any) -> Cost:
    """What they cost, on a fixed day."""
    more.setdefault("today", TODAY)
    return price_stack([PROVIDER, *resources], plan or {}, **more)
