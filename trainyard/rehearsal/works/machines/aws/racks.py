"""Where nodes with a fabric are put: close together, or it is slower than what it is paid for.

Source: EC2 User Guide, "Placement groups" (a spread group puts each instance on hardware of its own, at most seven a
zone; a cluster group packs them inside a zone) and "Get started with EFA" (2026-11).
"""

from __future__ import annotations

from trainyard.recorded.node_groups import EFA_INTERFACES, EKS_NODE_GROUP, LAUNCH_TEMPLATE
from trainyard.recorded.types import PLACEMENT_GROUP
from trainyard.rehearsal.context import Stack


def check(stack: Stack) -> None:
    """Every template with interfaces of EFA whose placement group the stack makes; a group of one node is nowhere."""
    for group in stack.of_type(EKS_NODE_GROUP):
        template = group.referred("launchTemplate", LAUNCH_TEMPLATE)
        placed = template.referred("placement.groupName", PLACEMENT_GROUP) if template is not None else None
        if template is None or placed is None or group.number("scalingConfig.maxSize") == 1:
            continue
        kinds = {one.get("interfaceType") for _, one in template.items("networkInterfaces")}
        if placed.text("strategy") == "spread" and kinds & set(EFA_INTERFACES):
            placed.warning(
                "machines-placement", "strategy",
                f"is spread, and nodes of {group.name} have EFA: each is on a rack of its own, at most seven a zone",
                allowed="cluster",
            )  # fmt: skip
