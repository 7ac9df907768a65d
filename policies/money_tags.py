"""Money: tags that say whom a cost belongs to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from pulumi_policy import Severity

from trainyard import cards
from trainyard.cards.card import Free
from trainyard.conventions import CHANGING_TAGS
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import GKE_NODE_POOL, LAUNCH_TEMPLATE
from trainyard.recorded.read import list_at, mapping_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import CLOUD_SQL, GCP_ALERT_POLICY, GCP_PROVIDER, GKE_CLUSTER

COSTED = (
    LAUNCH_TEMPLATE,  # free, but what it launches is not
    *(
        card.type
        for card in cards.BY_TYPE.values()
        if card.type.startswith(("aws:", "gcp:"))
        and card.taggable
        # What people start in it is paid for, and has its tags.
        and (card.used_by_the_hour or not isinstance(card.price, Free))
    ),
)
LAUNCHED = ("instance", "volume")  # what a launch template starts, and provider tags do not reach
LABELLED_BY_HAND: Final = {
    GKE_NODE_POOL: ("nodeConfig", "resourceLabels"),
    CLOUD_SQL: ("settings", "userLabels"),
    GCP_ALERT_POLICY: ("userLabels",),
}
"""What a provider's labels do not reach on Google Cloud, with where its own stand: pools and databases are most of the
bill; alert policies are billed by condition."""


@stack_rule(
    "costed-resource-without-cost-tags",
    "What costs money must carry the cost tags, so that the bill can be split.",
    types=(*COSTED, GCP_PROVIDER),
    severity=Severity.MEDIUM,
    controls=("ISO 27001:2022 A.5.9", "NIST 800-53r5 CM-8"),
    fix="Set client, owner and costCentre; give every resource the environment's provider, which adds the tags.",
    config={
        "requiredTags": {
            "type": "array",
            "items": {"type": "string"},
            "default": ["client", "environment", "team", "cost-centre", "managed-by"],
        }
    },
)
def costed_resource_without_cost_tags(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """Tags of the resource with its provider's; of a launch template, those of what it launches."""
    for resource in resources.of(*COSTED):
        for message in _untagged(resource, resources, config):
            yield resource, message


def _untagged(resource: RecordedResource, resources: Resources, config: Config) -> Iterator[str]:
    if resource.type == LAUNCH_TEMPLATE:
        specifications = list_at(resource.inputs, "tagSpecifications")
        tagged = {value_at(each, "resourceType"): mapping_at(each, "tags") for each in specifications}
        # What may change stands on the Auto Scaling group: in a template, every change of it would end every node.
        lasting = [key for key in config["requiredTags"] if key not in CHANGING_TAGS]
        for launched in LAUNCHED:
            missing = [key for key in lasting if not tagged.get(launched, {}).get(key)]
            if missing:
                yield f"tagSpecifications: what it launches ({launched}) has no tag {', '.join(missing)}"
        return
    google = resource.type.startswith("gcp:")
    tags = labels_of(resource, resources) if google else mapping_at(resource.inputs, "tagsAll")
    missing = [key for key in config["requiredTags"] if not tags.get(key)]
    if missing:
        yield f"no {'label' if google else 'tag'} {', '.join(missing)}"


def labels_of(resource: RecordedResource, resources: Resources) -> dict[str, Any]:
    """The labels on the bill of a resource of Google Cloud, with those of its provider where they reach it."""
    if resource.type in LABELLED_BY_HAND:
        return mapping_at(resource.inputs, *LABELLED_BY_HAND[resource.type])
    own = mapping_at(resource.inputs, "resourceLabels" if resource.type == GKE_CLUSTER else "labels")
    provider = resources.provider_of(resource)
    default = value_at(provider.inputs, "defaultLabels") if provider is not None else None
    # A provider's objects are recorded as the engine has them: in JSON.
    given = json.loads(default) if isinstance(default, str) and default.startswith("{") else default
    return {**mapping_at(given), **own}
