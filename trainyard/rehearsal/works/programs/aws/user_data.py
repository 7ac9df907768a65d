"""What machines run at their first start, as a text."""

from __future__ import annotations

import base64
import binascii

from trainyard.recorded.node_groups import LAUNCH_TEMPLATE
from trainyard.recorded.types import AUTOSCALING_GROUP
from trainyard.rehearsal.context import View


def script_of(view: View) -> str:
    """The user data of an instance or a template; empty where there is none, or it is not known or no text."""
    plain, encoded = view.text("userData"), view.text("userDataBase64")
    if view.type == LAUNCH_TEMPLATE:
        plain, encoded = None, plain
    if encoded is None:
        return plain or ""
    try:
        return base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, ValueError):  # packed, or in several parts that are
        return ""


def template_of(group: View) -> View | None:
    """The one template of the stack that a group of machines starts from; None where that is not certain."""
    mixed = "mixedInstancesPolicy.launchTemplate.launchTemplateSpecification"
    found = group.referred("launchTemplate", LAUNCH_TEMPLATE)
    if found is None and group.has(mixed):
        found = group.referred(mixed, LAUNCH_TEMPLATE) or group.referred("mixedInstancesPolicy", LAUNCH_TEMPLATE)
    return found if group.type == AUTOSCALING_GROUP and found is not None and not found.resource.read else None
