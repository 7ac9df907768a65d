"""A stack in a network that somebody else made: the demo, with nodes in a second block of the VPC."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tests.shared import ROOT

VPC = "vpc-0123456789abcdef0"
TABLE = "rtb-0123456789abcdef0"


def subnets(letter: str, place: int) -> dict[str, Any]:
    """The three subnets of a zone."""
    return {
        "nodes": {"id": f"subnet-0000000000000000{letter}", "cidr": f"100.64.{place * 64}.0/18"},
        "controlPlane": {"id": f"subnet-0000000000000001{letter}", "cidr": f"10.20.0.{place * 32}/27"},
        "services": {"id": f"subnet-0000000000000002{letter}", "cidr": f"10.20.1.{place * 64}/26"},
    }


def existing(**changed: Any) -> dict[str, Any]:
    """The block `aws.existingNetwork`."""
    return {
        "vpcId": VPC,
        "secondaryCidrs": ["100.64.0.0/16"],
        "zones": {f"us-east-1{letter}": subnets(letter, place) for place, letter in enumerate("abc")},
        "routeTables": [TABLE],
        "wayOut": "nat",
    } | changed


def settings(aws: dict[str, Any] | None = None, **changed: Any) -> dict[str, Any]:
    """The demo's settings by their keys, in such a network."""
    demo = yaml.safe_load((ROOT / "stacks" / "Pulumi.demo.yaml").read_text())["config"]
    found = {key.removeprefix("trainyard:"): value for key, value in demo.items() if key.startswith("trainyard:")}
    network = {"cidr": "10.20.0.0/22", "serviceCidr": "172.20.0.0/16"}
    return {**found, "network": network, "aws": {"existingNetwork": existing(), **(aws or {})}, **changed}


def stack_file(folder: Path, stack: str = "joined", **changed: Any) -> Path:
    """A stack file of such settings."""
    config = {f"trainyard:{key}": value for key, value in settings(**changed).items()}
    file = folder / f"Pulumi.{stack}.yaml"
    file.write_text(yaml.safe_dump({"config": {**config, "pulumi:disable-default-providers": ["*"]}}))
    return file
