"""What the VPC CNI makes of network policies (EKS user guide, "Limit Pod traffic with Kubernetes network policies";
aws/amazon-vpc-cni-k8s README, 2026-11)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import UnreadableInput, is_on, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import ADD_ON
from trainyard.rehearsal.works.flows.kubernetes.network_policies import Enforcement

MODE: Final = "NETWORK_POLICY_ENFORCING_MODE"


def enforcement(resources: Resources) -> Enforcement:
    """What the recorded add-on enforces; nothing unless it is told to.

    Raises:
        UnknownInput: its configuration is not known yet.
        UnreadableInput: its configuration is no JSON object.
    """
    for add_on in resources.of(ADD_ON):
        if value_at(add_on.inputs, "addonName") == "vpc-cni":
            return enforced_by(add_on)
    return "off"


def enforced_by(add_on: RecordedResource) -> Enforcement:
    """What one add-on of the plugin enforces. Raises as `enforcement` does."""
    values = _configuration(value_at(add_on.inputs, "configurationValues"))
    if not is_on(values, "enableNetworkPolicy"):
        return "off"
    return "strict" if value_at(values, "env", MODE) == "strict" else "standard"


def _configuration(text: Any) -> Mapping[str, Any]:
    try:
        found = json.loads(str(text or "{}"))
    except ValueError as error:
        raise UnreadableInput("configurationValues", "no JSON") from error
    if not isinstance(found, Mapping):
        raise UnreadableInput("configurationValues", "no JSON object")
    return found
