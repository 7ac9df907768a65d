"""Actions of a topic's own policy: SNS takes those that are done to one topic, by their names.

Another is refused, and so are `sns:*` and `*`: "Invalid parameter: Policy statement action out of service scope!".

Source: Amazon SNS Developer Guide, "SNS API permissions"; reports of the refusal of `sns:CreateTopic`, of
`sns:SetSubscriptionAttributes` and of every action at once (read 2026-11).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from trainyard.recorded.types import SNS_TOPIC, SNS_TOPIC_POLICY
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.refusals.rules import Rules

_TAKEN: Final = frozenset(
    f"sns:{name}".lower()
    for name in (
        "AddPermission", "DeleteTopic", "GetDataProtectionPolicy", "GetTopicAttributes", "ListSubscriptionsByTopic",
        "ListTagsForResource", "Publish", "PutDataProtectionPolicy", "Receive", "RemovePermission",
        "SetTopicAttributes", "Subscribe", "TagResource", "UntagResource",
    )
)  # fmt: skip
_EVERY: Final = ("*", "sns:*")


def actions(view: View) -> None:
    """Every action that a statement names whole; of a part with a star nothing is said."""
    for index, statement in enumerate(_statements(view.value("policy"))):
        given = statement.get("Action")
        for action in [given] if isinstance(given, str) else listed(given):
            if not isinstance(action, str):
                continue
            name = action.lower()
            if name in _EVERY or not (name in _TAKEN or "*" in name or "?" in name):
                view.error(
                    "sns-policy-action", f"policy.Statement[{index}].Action",
                    f"got {show(action)}, which SNS refuses in the policy of a topic",
                    allowed="actions on a topic by their names, such as sns:Publish and sns:Subscribe",
                )  # fmt: skip


def _statements(document: Any) -> list[Mapping[str, Any]]:
    """The statements of a policy, as far as it can be read: what is wrong with its form others tell."""
    if isinstance(document, str):
        try:
            document = json.loads(document)
        except ValueError:
            return []
    found = document.get("Statement") if isinstance(document, Mapping) else None
    return [one for one in ([found] if isinstance(found, Mapping) else listed(found)) if isinstance(one, Mapping)]


RULES: Final[Rules] = {actions: (SNS_TOPIC, SNS_TOPIC_POLICY)}
