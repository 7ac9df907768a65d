"""Names that Pulumi makes longer, tags, ids and ARNs of other resources.

Pulumi appends `-` and seven hex digits to the logical name of a resource whose name is not given (checked in
pulumi_aws 7.51.1, 2026-11-21). Lengths: [P] the provider's, [U] the services' as generally known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from trainyard.recorded.model import leaves
from trainyard.rehearsal.refusals.context import Stack, View, show
from trainyard.rehearsal.refusals.rules import rule

SUFFIX: Final = 8
AUTO_NAMES: Final[dict[str, tuple[str, int, str]]] = {
    "aws:iam/role:Role": ("name", 64, r"[\w+=,.@-]+"),
    "aws:iam/policy:Policy": ("name", 128, r"[\w+=,.@-]+"),
    "aws:iam/rolePolicy:RolePolicy": ("name", 128, r"[\w+=,.@-]+"),
    "aws:iam/instanceProfile:InstanceProfile": ("name", 128, r"[\w+=,.@-]+"),
    "aws:eks/cluster:Cluster": ("name", 100, r"[0-9A-Za-z][0-9A-Za-z_-]*"),
    "aws:eks/nodeGroup:NodeGroup": ("nodeGroupName", 63, r"[0-9A-Za-z][0-9A-Za-z_-]*"),
    "aws:ec2/launchTemplate:LaunchTemplate": ("name", 128, r"[A-Za-z0-9()./_-]+"),
    "aws:ec2/placementGroup:PlacementGroup": ("name", 255, r"[ -~]+"),
    "aws:ec2/securityGroup:SecurityGroup": ("name", 255, r"(?!sg-).+"),
    "aws:rds/instance:Instance": ("identifier", 63, r"[a-zA-Z](?!.*--)[a-zA-Z0-9-]*"),
    "aws:rds/subnetGroup:SubnetGroup": ("name", 255, r"[a-z0-9 ._-]+"),
    "aws:rds/parameterGroup:ParameterGroup": ("name", 255, r"[a-z](?!.*--)[a-z0-9-]*"),
    "aws:sns/topic:Topic": ("name", 256, r"[A-Za-z0-9_-]+"),
    "aws:budgets/budget:Budget": ("name", 100, r"[^:\\]+"),
    "aws:cloudwatch/logGroup:LogGroup": ("name", 512, r"[._/#A-Za-z0-9-]+"),
    "aws:secretsmanager/secret:Secret": ("name", 512, r"[A-Za-z0-9/_+=.@-]+"),
}
"""Resource type -> the input that holds the name, its greatest length, the characters of a logical name."""

_TAG = re.compile(r"[\w .:/=+@\-]*")
_NOT_A_MAP = frozenset({"aws:autoscaling/tag:Tag"})


@rule(*AUTO_NAMES)
def automatic_name(view: View, stack: Stack) -> None:
    """The logical name with its suffix fits the service, where no name is given."""
    del stack
    key, most, pattern = AUTO_NAMES[view.type]
    if view.has(key) or view.has(key + "Prefix") or view.has("namePrefix"):
        return
    if len(view.name) + SUFFIX > most:
        view.error(
            "auto-name",
            key,
            f"the logical name has {len(view.name)} characters, and Pulumi appends {SUFFIX}",
            allowed=f"a logical name of at most {most - SUFFIX}, or {key}",
        )
    elif not re.fullmatch(pattern, view.name):
        view.error(
            "auto-name",
            key,
            f"the name is made of the logical name {show(view.name)}",
            allowed=f"a logical name that matches {pattern}, or {key}",
        )


@rule("")
def tags(view: View, stack: Stack) -> None:
    """Keys, values and number of tags, with the provider's default ones, on whatever AWS resource has them."""
    del stack
    if not view.type.startswith("aws:") or view.type in _NOT_A_MAP:
        return
    paths = ["tags", "tagsAll", *(f"{path}.tags" for path, _ in view.items("tagSpecifications"))]
    for path in paths:
        _tags(view, path, view.mapping("tags") if path == "tagsAll" else {})


def _tags(view: View, where: str, checked: Mapping[str, Any]) -> None:
    found = view.mapping(where)
    if len(found) > 50:
        view.error("tags", where, f"has {len(found)} tags", allowed="at most 50")
    for key, value in found.items():
        path = f"{where}.{key}"
        if key in checked:
            continue
        if key.lower().startswith("aws:"):
            view.error("tags", path, "begins with aws:", allowed="any other prefix")
        elif not 1 <= len(key) <= 128 or not _TAG.fullmatch(key):
            view.error("tags", path, f"key {show(key)}", allowed="1 to 128 letters, digits, spaces and _.:/=+-@")
        if isinstance(value, str) and (len(value) > 256 or not _TAG.fullmatch(value)):
            view.error("tags", path, f"got {show(value)}", allowed="at most 256 letters, digits, spaces and _.:/=+-@")


_IDS: Final = {
    "vpcId": "vpc-",
    "subnetId": "subnet-",
    "subnetIds": "subnet-",
    "securityGroupId": "sg-",
    "securityGroupIds": "sg-",
    "vpcSecurityGroupIds": "sg-",
    "referencedSecurityGroupId": "sg-",
    "routeTableId": "rtb-",
    "routeTableIds": "rtb-",
    "natGatewayId": "nat-",
    "allocationId": "eipalloc-",
    "fileSystemId": "fs-",
    "vpcEndpointId": "vpce-",
}
"""Inputs that take the id of another resource, and how such an id begins, on every AWS type."""


@rule("")
def references(view: View, stack: Stack) -> None:
    """An id of the right kind of resource, and an ARN where the name of the input says so."""
    del stack
    if not view.type.startswith("aws:"):
        return
    for path, value, _ in leaves(view.inputs):
        name = path.rpartition(".")[2].partition("[")[0]
        if not isinstance(value, str) or not value:
            continue
        prefix = _IDS.get(name)
        if prefix is not None and not value.startswith(prefix):
            view.error("aws-id", path, f"got {show(value)}", allowed=f"an id that begins with {prefix}")
        elif name.endswith(("Arn", "Arns")) and not value.startswith("arn:"):
            view.error("aws-arn", path, f"got {show(value)}", allowed="must be an ARN (arn:aws:service:…)")


@rule("aws:iam/role:Role", "aws:iam/policy:Policy")
def description(view: View, stack: Stack) -> None:
    """IAM descriptions take Latin-1 text only: no typographic quotes, no long dashes."""
    del stack
    text = view.text("description")
    if text is not None and view.type.endswith("Policy") and not re.fullmatch(r"[\t\n\r\x20-\x7e\xa1-\xff]*", text):
        view.error("iam-description", "description", f"got {show(text)}", allowed="Latin-1 characters")
