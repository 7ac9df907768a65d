"""Subnets of pods: with custom networking the VPC CNI gives a pod an address only where an ENIConfig says of which.

Source: Amazon EKS user guide, "Deploy Pods in alternate subnets with custom networking" (2026-11): a node without an
ENIConfig of its own gets no address for pods, and stays NotReady.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from trainyard.conventions import ZONE_LABEL
from trainyard.recorded.read import follow, is_on
from trainyard.recorded.types import ADD_ON
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.references.kubernetes.classes import zones_of
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_SWITCH: Final = "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"
_LABEL: Final = "ENI_CONFIG_LABEL_DEF"
_KIND: Final = "ENIConfig.crd.k8s.amazonaws.com"


def check(stack: Stack, cluster: Cluster) -> None:
    """The add-on of the plugin, where it gives pods subnets of their own."""
    for add_on in stack.of_type(ADD_ON):
        values = _values(add_on) if add_on.text("addonName") == "vpc-cni" else None
        env = values.get("env") if values is not None else None
        if values is None or not isinstance(env, Mapping) or str(env.get(_SWITCH)).lower() != "true":
            continue
        made = [one.text("metadata.name") for one in cluster.of(_KIND)]
        if is_on(values, "eniConfig", "create"):
            regions = follow(values, "eniConfig", "subnets")
            made += list(regions) if isinstance(regions, Mapping) else [None]
        if None in made:
            continue
        if not made and cluster.makes_everything:
            _error(add_on, "no ENIConfig is made", "an ENIConfig for each zone, or eniConfig in the add-on's values")
            continue
        lacking = sorted(zones_of(cluster) - set(map(str, made)))
        if made and lacking and env.get(_LABEL) == ZONE_LABEL and cluster.makes_everything:
            _error(add_on, f"no ENIConfig is called {' or '.join(lacking)}", "one of the name of each zone")


def _values(add_on: View) -> Mapping[str, Any] | None:
    try:
        found = json.loads(add_on.text("configurationValues") or "{}")
    except ValueError:
        return None
    return found if isinstance(found, Mapping) else None


def _error(add_on: View, why: str, allowed: str) -> None:
    add_on.error(
        "reference-pod-subnets", "configurationValues",
        f"{_SWITCH} is on, and {why}: nodes there give pods no address and stay NotReady", allowed=allowed,
    )  # fmt: skip
