"""What every part that knows AWS must spell alike."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

from trainyard.conventions import ReservationKind

RESERVATION_ID: Final = re.compile(r"cr-([0-9a-f]{8}|[0-9a-f]{17})")
"""Id of a capacity reservation or a Capacity Block: 17 hex digits, 8 before 2016 (EC2 User Guide, "Resource IDs",
2026-11)."""

RESERVATION_KINDS: Final[Mapping[ReservationKind, Literal["odcr", "capacity-block"]]] = {
    "reservation": "odcr",
    "block": "capacity-block",
}
"""How stack files and components call what AWS sells ahead: On-Demand Capacity Reservations and Capacity Blocks."""

EFA_RESOURCE: Final = "vpc.amazonaws.com/efa"
"""The extended resource of AWS's fabric: one Elastic Fabric Adapter interface."""

EFA_HUGEPAGES_MIB: Final = 5120
"""2 MiB pages that the adapters pin on a node: the node's image sets them aside, and pods request them as AWS's EKS
examples do (smoke facts 2.5, 2026-11-20)."""

ROOT_USER: Final = "arn:aws:iam::{account}:root"
"""An account's root user, as `aws:PrincipalArn` names it. As a principal the same text is the whole account."""

TEAM_LOGS: Final = "team-logs"
"""Last part of the name of a log group of the teams' containers."""


def team_log_group(cluster: str) -> str:
    """The log group of what the teams' containers on a cluster write."""
    return f"/trainyard/{cluster}/{TEAM_LOGS}"
