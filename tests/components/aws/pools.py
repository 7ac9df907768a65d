"""GPU pools as the plan gives them, for the tests of their node groups."""

from __future__ import annotations

from typing import Any

from tests.components.aws.api_shape import KEY_ARN

TAGS = {"client": "acme", "managed-by": "trainyard"}
ODCR = {"id": "cr-0123456789abcdef0", "kind": "odcr", "availability_zone": "us-east-1a"}
BLOCK = {"id": "cr-0fedcba9876543210", "kind": "capacity-block", "availability_zone": "us-east-1b"}


def group(name: str, capacity: str, **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "pool": name.split("-")[0],
        "capacity": capacity,
        "instance_types": ("g4dn.xlarge",),
        "min_nodes": 0,
        "max_nodes": 4,
        "zones": ("us-east-1a",),
        "placement_group": False,
        "reservation": None,
        **changes,
    }


def dev_pool() -> dict[str, Any]:
    """T4, no fabric, on two capacities and several zones."""
    return {
        "name": "dev",
        "instance_type": "g4dn.xlarge",
        "gpu": "T4",
        "gpus_per_node": 1,
        "efa_interfaces": 0,
        "network_cards": 1,
        "local_nvme_gb": 125,
        "root_disk_gib": 100,
        "node_groups": (
            group(
                "dev-spot",
                "spot",
                instance_types=("g4dn.xlarge", "g4dn.2xlarge"),
                zones=("us-east-1a", "us-east-1b", "us-east-1c"),
            ),
            group("dev-on-demand", "on-demand", min_nodes=1, zones=("us-east-1a", "us-east-1b")),
        ),
    }


def train_pool() -> dict[str, Any]:
    """A100 with a fabric, in all three capacities."""
    p4d = {"instance_types": ("p4d.24xlarge",)}
    return {
        "name": "train",
        "instance_type": "p4d.24xlarge",
        "gpu": "A100-40GB",
        "gpus_per_node": 8,
        "efa_interfaces": 4,
        "network_cards": 4,
        "local_nvme_gb": 8000,
        "root_disk_gib": 200,
        "node_groups": (
            group("train-reserved", "reserved", reservation=ODCR, min_nodes=2, max_nodes=2, **p4d),
            group("train-spot", "spot", **p4d),
            group("train-on-demand", "on-demand", placement_group=True, **p4d),
        ),
    }


def block_pool() -> dict[str, Any]:
    """H100 in a Capacity Block."""
    return {
        "name": "large",
        "instance_type": "p5.48xlarge",
        "gpu": "H100",
        "gpus_per_node": 8,
        "efa_interfaces": 32,
        "network_cards": 32,
        "local_nvme_gb": 30400,
        "root_disk_gib": 200,
        "node_groups": (
            group(
                "large-reserved",
                "reserved",
                instance_types=("p5.48xlarge",),
                reservation=BLOCK,
                zones=("us-east-1b",),
            ),
        ),
    }


def b300_pool() -> dict[str, Any]:
    """B300: one network card more than adapters."""
    return {
        **block_pool(),
        "name": "frontier",
        "gpu": "B300",
        "efa_interfaces": 16,
        "network_cards": 17,
        "node_groups": (group("frontier-on-demand", "on-demand", instance_types=("p6-b300.48xlarge",)),),
    }


def arguments(*pools: dict[str, Any], **changes: Any) -> Any:
    return {
        "cluster_name": "acme-production",
        "cluster_security_group_id": "sg-0cluster",
        "kubernetes_version": "1.35",
        "node_role_arn": "arn:aws:iam::123456789012:role/node",
        "vpc_id": "vpc-0",
        "subnet_ids": {f"us-east-1{letter}": f"subnet-0{letter}" for letter in "abc"},
        "key_arn": KEY_ARN,
        "pools": pools,
        "tags": TAGS,
        **changes,
    }
