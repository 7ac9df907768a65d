"""Filters of subscriptions against the attributes that notifications of buckets have.

Sources: Cloud Storage, "Pub/Sub notifications" (attributes of each message, `custom_attributes`); Pub/Sub, "Filter
messages" (a value is the whole of the attribute's), as generally known in 2026-11.
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.types import GCP_BUCKET_NOTIFICATION, GCP_SUBSCRIPTION, GCP_TOPIC
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.near import nearest_of

_ASKED: Final = re.compile(r'(?<![\w.])attributes\.(?P<key>[\w-]+)\s*=\s*"(?P<value>[^"]*)"')
_OWN: Final = (
    "notificationConfig", "eventType", "payloadFormat", "bucketId", "objectId", "objectGeneration", "eventTime",
    "overwrittenByGeneration", "overwroteGeneration",
)  # fmt: skip
"""Attributes that each notification has or may have."""
_EVENTS: Final = ("OBJECT_FINALIZE", "OBJECT_METADATA_UPDATE", "OBJECT_DELETE", "OBJECT_ARCHIVE")


def check(stack: Stack) -> None:
    """Every filter over a topic that buckets of the stack tell."""
    told: dict[str, list[View]] = {}
    for notification in stack.of_type(GCP_BUCKET_NOTIFICATION):
        if (topic := _topic(notification)) is not None:
            told.setdefault(topic.resource.urn, []).append(notification)
    for subscription in stack.of_type(GCP_SUBSCRIPTION) if told else ():
        topic, asked = _topic(subscription), subscription.text("filter")
        if topic is None or asked is None or re.search(r"\b(OR|NOT)\b|\s-attributes", asked):
            continue
        for match in _ASKED.finditer(asked):
            _compare(subscription, match["key"], match["value"], told.get(topic.resource.urn, []))


def _topic(view: View) -> View | None:
    found = view.referred("topic", GCP_TOPIC)
    return None if found is None or found.resource.read else found


def _compare(subscription: View, key: str, value: str, told: list[View]) -> None:
    """Whether any notification has an attribute as it is asked for; of a topic that others tell too, whether it is a
    slip of one."""
    if not told or any(one.blurred("customAttributes") or one.is_unknown("customAttributes") for one in told):
        return
    words = f"waits for {key} = {show(value)}, and notifications of {told[0].name} have "
    if key == "eventType" and value in _EVENTS:
        events = {event for one in told for event in one.texts("eventTypes")}
        if value not in events and all(one.texts("eventTypes") and not one.blurred("eventTypes") for one in told):
            subscription.error(
                "programs-attribute", "filter", f"{words}{', '.join(sorted(events))}: nothing comes",
                allowed=", ".join(sorted(events)),
            )  # fmt: skip
        return
    given = {str(one.mapping("customAttributes")[key]) for one in told if key in one.mapping("customAttributes")}
    if given and value not in given:
        near = nearest(value, given)
        if near:
            subscription.error(
                "programs-attribute", "filter", f"{words}{show(near)}: nothing comes", allowed=show(near), hint=near,
            )  # fmt: skip
    elif not given and key not in _OWN:
        names = {*_OWN, *(name for one in told for name in one.mapping("customAttributes"))}
        near = nearest_of(key, names)
        if near:
            subscription.error(
                "programs-attribute", "filter", f"waits for the attribute {key}, which no notification has",
                allowed=near, hint=f"did you mean {near}?",
            )  # fmt: skip
