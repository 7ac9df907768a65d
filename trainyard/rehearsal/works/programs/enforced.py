"""Network policies that nothing on the nodes enforces: every pod reaches every other, and nobody is told."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from trainyard.recorded.types import ADD_ON, EKS_CLUSTER, GKE_CLUSTER, HELM_RELEASE
from trainyard.rehearsal.context import Stack, View

_POLICY: Final = re.compile(r"kubernetes:networking(\.k8s\.io)?/v1:NetworkPolicy")
_MODE: Final = "NETWORK_POLICY_ENFORCING_MODE"
_ENFORCERS: Final = ("calico", "tigera", "cilium", "antrea", "kube-router", "canal", "aws-vpc-cni", "network-policy")
"""Parts of the names of charts and add-ons that enforce policies themselves."""


def check(stack: Stack) -> None:
    """One cluster's plug-in against the policies that are recorded."""
    policies = [view for view in stack.views if _POLICY.fullmatch(view.type)]
    charts = [(one.text("chart") or "").rpartition("/")[2] for one in stack.of_type(HELM_RELEASE)]
    if not policies or any(part in chart for chart in charts for part in _ENFORCERS) or "" in charts:
        return
    if len(stack.of_type(EKS_CLUSTER)) == 1 and not stack.of_type(GKE_CLUSTER):
        for add_on in stack.of_type(ADD_ON):
            if add_on.text("addonName") == "vpc-cni" and _is_off(add_on):
                add_on.error(
                    "programs-policies-off",
                    "configurationValues",
                    f"enableNetworkPolicy is not on: the {len(policies)} network policies hold nobody back",
                    allowed='{"enableNetworkPolicy": "true"}',
                )
    elif len(stack.of_type(GKE_CLUSTER)) == 1 and not stack.of_type(EKS_CLUSTER):
        cluster = stack.of_type(GKE_CLUSTER)[0]
        keys = ("datapathProvider", "networkPolicy", "enableAutopilot", "addonsConfig")
        if any(cluster.is_unknown(key) for key in keys) or cluster.flag("enableAutopilot"):
            return
        path, enabled = cluster.text("datapathProvider"), cluster.flag("networkPolicy.enabled")
        is_said = path is not None or enabled is not None or stack.context.ours
        if path != "ADVANCED_DATAPATH" and not enabled and is_said:
            cluster.error(
                "programs-policies-off",
                "datapathProvider",
                f"neither Dataplane V2 nor networkPolicy is on: the {len(policies)} network policies hold nobody back",
                allowed="ADVANCED_DATAPATH",
            )


def _is_off(add_on: View) -> bool:
    """Whether the plug-in is told to enforce nothing, or is told how to enforce and not to do it.

    It enforces nothing where nothing is said, too; policies are then often there for another cluster.
    """
    if add_on.is_unknown("configurationValues"):
        return False
    try:
        values = json.loads(add_on.text("configurationValues") or "{}")
    except ValueError:  # EKS takes YAML too
        return False
    if not isinstance(values, Mapping):
        return False
    given = values.get("enableNetworkPolicy")
    return str(given).lower() == "false" or (given is None and _MODE in str(values.get("env")))
