"""Names that Pulumi makes longer, tags, ids and ARNs of other resources.

Pulumi appends `-` and seven hex digits to the logical name of a resource whose name is not given (checked in
pulumi_aws 7.51.1, 2026-11-21).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from trainyard import cards
from trainyard.cards.card import AutomaticName
from trainyard.recorded.types import IAM_POLICY, MAINTENANCE_WINDOW_TASK
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.aws.made_up import is_made_up
from trainyard.rehearsal.refusals.rules import EVERY_TYPE, Rules

SUFFIX: Final = 8
AUTOMATIC_NAMES: Final[Mapping[str, AutomaticName]] = {
    card.type: card.automatic_name for card in cards.BY_TYPE.saying("automatic_name") if card.automatic_name is not None
}

_TAG = re.compile(r"[\w .:/=+@\-]*")
_OF_EC2: Final = ("aws:ec2", "aws:vpc/", "aws:ebs/", "aws:autoscaling/")
"""Types whose tags are EC2's, which takes any sign in them (EC2 User Guide, "Tag your resources", 2026-11)."""


def automatic_name(view: View) -> None:
    """The logical name with its suffix fits the service, where no name is given."""
    automatic = AUTOMATIC_NAMES[view.type]
    key, most, pattern = automatic.input, automatic.longest, automatic.pattern
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


def tags(view: View) -> None:
    """Keys, values and number of tags, with the provider's default ones, on whatever AWS resource has them."""
    if not view.type.startswith("aws:"):
        return
    paths = ["tags", "tagsAll", *(f"{path}.tags" for path, _ in view.items("tagSpecifications"))]
    for path in paths:
        _tags(view, path, view.mapping("tags") if path == "tagsAll" else {})


def _tags(view: View, where: str, checked: Mapping[str, Any]) -> None:
    found, takes_any = view.mapping(where), view.type.startswith(_OF_EC2)
    signs = "characters" if takes_any else "letters, digits, spaces and _.:/=+-@"
    if len(found) > 50:
        view.error("tags", where, f"has {len(found)} tags", allowed="at most 50")
    for key, value in found.items():
        path = f"{where}.{key}"
        if key in checked:
            continue
        if key.lower().startswith("aws:"):
            view.error("tags", path, "begins with aws:", allowed="any other prefix")
        elif not 1 <= len(key) <= 128 or not (takes_any or _TAG.fullmatch(key)):
            view.error("tags", path, f"key {show(key)}", allowed=f"1 to 128 {signs}")
        if isinstance(value, str) and (len(value) > 256 or not (takes_any or _TAG.fullmatch(value))):
            view.error("tags", path, f"got {show(value)}", allowed=f"at most 256 {signs}")


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


_NO_ARNS: Final = frozenset({(MAINTENANCE_WINDOW_TASK, "taskArn")})
"""Inputs that are called ARNs and take what has none too: the name of a document, which is run."""


def references(view: View) -> None:
    """An id of the right kind of resource, and an ARN where the name of the input says so."""
    if not view.type.startswith("aws:"):
        return
    for path, value in view.known_texts:
        if not value:
            continue
        name = path.rpartition(".")[2].partition("[")[0]
        prefix = _IDS.get(name)
        if prefix is not None:
            if not value.startswith(prefix) and not is_made_up(view, value):
                view.error("aws-id", path, f"got {show(value)}", allowed=f"an id that begins with {prefix}")
            continue
        is_arn = value.startswith("arn:") or value == "*" or (view.type, name) in _NO_ARNS
        if name.endswith(("Arn", "Arns")) and not is_arn and not is_made_up(view, value):
            view.error("aws-arn", path, f"got {show(value)}", allowed="must be an ARN (arn:aws:service:…)")


def description(view: View) -> None:
    """The description of a policy takes Latin-1 text only: no typographic quotes, no long dashes."""
    text = view.text("description")
    if text is not None and not re.fullmatch(r"[\t\n\r\x20-\x7e\xa1-\xff]*", text):
        view.error("iam-description", "description", f"got {show(text)}", allowed="Latin-1 characters")


RULES: Final[Rules] = {
    automatic_name: tuple(AUTOMATIC_NAMES),
    tags: (EVERY_TYPE,),
    references: (EVERY_TYPE,),
    description: (IAM_POLICY,),
}
