"""What the machines of an Auto Scaling group are: nodes of Kubernetes, container instances of Amazon ECS, or neither.

Sources: Amazon ECS Developer Guide, "Amazon ECS container agent configuration" (`ECS_CLUSTER`), "Amazon ECS capacity
providers for the EC2 launch type" (a group's tag `AmazonECSManaged`) and "Retrieving Amazon ECS-optimized Linux AMI
metadata"; EKS user guide, "Launch self-managed Amazon Linux nodes" (2026-11).
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

from trainyard.recorded.model import RecordedResource, bare, has_unknown
from trainyard.recorded.read import mappings_at, value_at
from trainyard.recorded.resources import Resources, refers
from trainyard.recorded.types import (
    AUTOSCALING_GROUP,
    CAPACITY_PROVIDER,
    EC2_INSTANCE,
    ECS_CLUSTER,
    EKS_NODE_GROUP,
    LAUNCH_TEMPLATE,
    SPOT_INSTANCE_REQUEST,
)

JOINS_ECS: Final = re.compile(r"ECS_CLUSTER=[\"']?(?P<name>[\w$-]+)")
"""What a script says of the cluster of ECS that its machine joins."""
ECS_IMAGES: Final = "aws/service/ecs/optimized-ami"
"""Part of the names of parameters that hold the images for machines of ECS."""
MACHINE_PARTS: Final = (AUTOSCALING_GROUP, CAPACITY_PROVIDER, ECS_CLUSTER, EC2_INSTANCE, SPOT_INSTANCE_REQUEST)
"""Types that a reader of launch templates' machines needs beside the templates."""
_ECS_TAG: Final = "AmazonECSManaged"
_JOINING: Final = ("bootstrap", "nodeadm", "node.eks.aws", "kube", "eks")
"""Words of a script by which a machine may join a cluster of Kubernetes."""
_MIXED: Final = "mixedInstancesPolicy"


def may_be_nodes(group: RecordedResource, resources: Resources) -> bool:
    """Whether machines of a group may be nodes of Kubernetes.

    Those of ECS are none, nor those of a template whose script and tags name no cluster.
    """
    if are_of_ecs(group, resources):
        return False
    templates = resources.referred(group, "launchTemplate", LAUNCH_TEMPLATE)
    if len(templates) != 1 or has_unknown(group.inputs.get("tags")):
        return True
    script = _script(templates[0])
    return script is None or any(word in found.lower() for word in _JOINING for found in (script, *_tags(group)))


def are_of_ecs(group: RecordedResource, resources: Resources) -> bool:
    """Whether machines of a group are container instances of ECS, as a capacity provider, a tag or a script says."""
    providers = resources.referring(group, "autoScalingGroupProvider", CAPACITY_PROVIDER)
    if providers or _ECS_TAG in _tags(group):
        return True
    key = "launchTemplate" if group.inputs.get("launchTemplate") is not None else _MIXED
    templates = [one for one in resources.of(LAUNCH_TEMPLATE) if refers(group, key, one)]
    return bool(templates) and all(_joins_ecs(template, resources) for template in templates)


def machines_of(template: RecordedResource, resources: Resources) -> list[RecordedResource]:
    """The groups and single machines that start from a template."""
    return [
        *resources.referring(template, "launchTemplate", AUTOSCALING_GROUP, EC2_INSTANCE, SPOT_INSTANCE_REQUEST),
        *resources.referring(template, _MIXED, AUTOSCALING_GROUP),
    ]


def starts_no_node(template: RecordedResource, resources: Resources) -> bool:
    """Whether something starts from a template, and none of it is a node of Kubernetes.

    Of a template that nobody in the stack starts from it is not known: Karpenter and node groups elsewhere may.
    """
    started = machines_of(template, resources)
    if not started or resources.referring(template, "launchTemplate", EKS_NODE_GROUP):
        return False
    return not any(one.type == AUTOSCALING_GROUP and may_be_nodes(one, resources) for one in started)


def _joins_ecs(template: RecordedResource, resources: Resources) -> bool:
    if any(refers(template, "userData", cluster) for cluster in resources.of(ECS_CLUSTER)):
        return True
    image = value_at(template.inputs, "imageId", default="", unknown="")
    return ECS_IMAGES in str(image) or JOINS_ECS.search(_script(template) or "") is not None


def _tags(group: RecordedResource) -> set[str]:
    """The keys of a group's tags; one that is not known is as good as any."""
    return {str(value_at(tag, "key", unknown="kube")) for tag in mappings_at(group.inputs, "tags")}


def _script(template: RecordedResource) -> str | None:
    """The user data of a template; None where it is not known, or packed."""
    text = bare(value_at(template.inputs, "userData", default="", unknown=None))
    try:
        return base64.b64decode(text, validate=True).decode() if isinstance(text, str) else None
    except (binascii.Error, UnicodeDecodeError):
        return None
