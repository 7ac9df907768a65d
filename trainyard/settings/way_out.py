"""Settings: whether anything outside of AWS can be reached from the network at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainyard.problems import Problem, some_of

if TYPE_CHECKING:
    from trainyard.settings.common import Settings

NO_WAY_OUT = "none"
"""What `aws.wayOut` and `aws.existingNetwork.wayOut` are where AWS's endpoints are all that is reached."""


def is_closed(settings: Settings) -> bool:
    """Whether the network has no way out: neither an internet gateway nor a NAT, a transit gateway or a peering."""
    if settings.cloud != "aws":
        return False
    there = settings.aws.existing_network
    return (there.way_out if there is not None else settings.aws.way_out) == NO_WAY_OUT


def way_out_key(settings: Settings) -> str:
    """The key that says so."""
    return "aws.wayOut" if settings.aws.existing_network is None else "aws.existingNetwork.wayOut"


def way_out_checks(settings: Settings) -> Iterator[Problem]:
    """Nothing is asked for that would need a way out where there is none."""
    own = settings.aws
    if settings.cloud != "aws":
        return
    if own.existing_network is not None and own.way_out == NO_WAY_OUT:
        allowed = "is of a network of the environment's own, and aws.existingNetwork has its own wayOut"
        yield Problem("aws.wayOut", own.way_out, allowed, "leave it out")
    if not is_closed(settings):
        return
    key = way_out_key(settings)
    if own.nat_per_zone:
        yield Problem("aws.natPerZone", "true", f"makes NAT gateways, and {key} is none", "leave it out")
    egress = settings.network.egress
    if egress.mode == "internet":
        yield Problem("network.egress.mode", "internet", f"must be left out: {key} is none")
    if egress.allow:
        allowed = f"names nothing that can be reached, as {key} is none"
        yield Problem("network.egress.allow", some_of(egress.allow), allowed, "serve packages and models from S3")
    if settings.mlflow.sign_on is not None:
        allowed = f"asks an identity provider outside for its keys, and {key} is none"
        yield Problem("mlflow.signOn", settings.mlflow.sign_on.issuer, allowed, "leave it out")
    if settings.images.cache:
        allowed = f"pulls from registries outside at first, through the network's way out, and {key} is none"
        yield Problem("images.cache", "true", allowed, "fill a registry of the account, and name it in images.mirrors")
