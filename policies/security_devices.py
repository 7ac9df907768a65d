"""Security: the nodes' devices go to who asked for them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from trainyard.policies.rules import Config, NotApplicable, StackViolation, stack_rule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import EKS_NODE_GROUP, NODE_GROUP_PARTS, gpu_node_groups
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources

IGNORED_VARIABLE: Final = "accept-nvidia-visible-devices-envvar-when-unprivileged=false"
"""Value of NVIDIA's container toolkit with which a container's own variable gives it no GPU."""


@stack_rule(
    "gpus-by-a-variable",
    "A node gives GPUs to containers that asked for them, and not to whoever sets NVIDIA_VISIBLE_DEVICES.",
    types=NODE_GROUP_PARTS,
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 AC-3", "ISO 27001:2022 A.8.3"),
    fix="Use the GPU node groups as they are; their launch templates set the container toolkit.",
)
def gpus_by_a_variable(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """Bottlerocket has the setting by itself, and the nodes of GKE have no such runtime."""
    groups = [group for group in gpu_node_groups(resources) if group.resource.type == EKS_NODE_GROUP]
    if not groups:
        raise NotApplicable("no GPU node group whose nodes have NVIDIA's runtime by default")
    for group in groups:
        if str(value_at(group.resource.inputs, "amiType", default="")).startswith("BOTTLEROCKET"):
            continue
        template = group.template
        if template is None or IGNORED_VARIABLE not in user_data(template):
            yield (
                template or group.resource,
                f"user data lacks {IGNORED_VARIABLE}: a pod without a GPU may see them all",
            )


def user_data(template: RecordedResource) -> str:
    """What a node does first, as text; nothing where it is not base64, which EC2 refuses."""
    given = str(value_at(template.inputs, "userData", default=""))
    try:
        return base64.b64decode(given, validate=True).decode("utf-8", "replace")
    except binascii.Error:
        return ""
