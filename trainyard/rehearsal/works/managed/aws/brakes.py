"""Actions of a budget: what they attach, to whom, and whether that can ever be undone."""

from __future__ import annotations

from typing import Final

from trainyard.recorded.types import BUDGET_ACTION, ROLE
from trainyard.rehearsal.context import Stack, View, show

_DEFINITIONS: Final = {
    "APPLY_IAM_POLICY": "iamActionDefinition",
    "APPLY_SCP_POLICY": "scpActionDefinition",
    "RUN_SSM_DOCUMENTS": "ssmActionDefinition",
}
_ADDRESSES: Final = {"SNS": "the ARN of a topic, or type EMAIL", "EMAIL": "a mail address, or type SNS"}
_TARGETS: Final = ("roles", "users", "groups")


def check(stack: Stack) -> None:
    """Looks at every action."""
    for action in stack.of_type(BUDGET_ACTION):
        _told(action)
        wanted = _DEFINITIONS.get(action.text("actionType") or "")
        if wanted is None or action.is_unknown("definition"):
            continue
        if action.lacks(f"definition.{wanted}"):
            message = f"{action.text('actionType')} reads {wanted}, and there is none: the action does nothing"
            action.error("managed-brake-without-definition", "definition", message, allowed=wanted)
        elif wanted == "iamActionDefinition":
            _iam(action, stack)


def _told(action: View) -> None:
    """Who is told: a topic by its ARN, a person by an address."""
    for path, one in action.items("subscribers"):
        kind, address = one.get("subscriptionType"), one.get("address")
        if not isinstance(address, str) or kind not in ("SNS", "EMAIL"):
            continue
        if (kind == "SNS") != (address.startswith("arn:") and ":sns:" in address) or (
            kind == "EMAIL" and "@" not in address
        ):
            message = f"{show(address)} of type {kind}: the action is refused"
            action.error("managed-brake-told", f"{path}.address", message, allowed=_ADDRESSES[kind])


def _iam(action: View, stack: Stack) -> None:
    path = "definition.iamActionDefinition"
    if all(action.lacks(f"{path}.{kind}") or action.value(f"{path}.{kind}") == [] for kind in _TARGETS):
        message = "attaches its policy to nobody: neither roles nor users nor groups"
        action.error("managed-brake-holds-nobody", path, message)
    for kind in _TARGETS:
        for index, name in enumerate(action.entries(f"{path}.{kind}")):
            if isinstance(name, str) and name.startswith("arn:"):
                message = f"{show(name)} is an ARN, and the action looks for a name"
                allowed = name.rpartition("/")[2]
                action.error("managed-brake-arn", f"{path}.{kind}[{index}]", message, allowed=allowed)
    named = set(action.texts(f"{path}.roles"))
    for role in stack.of_type(ROLE):
        name = role.text("name") or role.resource.outputs.get("name")
        if (
            name in named
            and role.flag("forceDetachPolicies") is not True
            and not role.is_unknown("forceDetachPolicies")
        ):
            message = "an action of a budget attaches a policy behind the program's back, and then it is not deleted"
            role.warning("managed-brake-keeps-role", "forceDetachPolicies", message, allowed="true")
