"""Money: tags that say whom a cost belongs to."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from trainyard import cards
from trainyard.cards.card import Free
from trainyard.policies.rules import Config, resource_rule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import LAUNCH_TEMPLATE
from trainyard.recorded.read import list_at, mapping_at, value_at

COSTED = (
    LAUNCH_TEMPLATE,  # free, but what it launches is not
    *(
        card.type
        for card in cards.BY_TYPE.values()
        if card.type.startswith("aws:") and card.taggable and not isinstance(card.price, Free)
    ),
)
LAUNCHED = ("instance", "volume")  # what a launch template starts, and provider tags do not reach


@resource_rule(
    "costed-resource-without-cost-tags",
    "What costs money must carry the cost tags, so that the bill can be split.",
    types=COSTED,
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
def costed_resource_without_cost_tags(resource: RecordedResource, config: Config) -> Iterator[str]:
    """Tags of the resource with its provider's; of a launch template, those of what it launches."""
    if resource.type == LAUNCH_TEMPLATE:
        specifications = list_at(resource.inputs, "tagSpecifications")
        tagged = {value_at(each, "resourceType"): mapping_at(each, "tags") for each in specifications}
        for launched in LAUNCHED:
            missing = [key for key in config["requiredTags"] if not tagged.get(launched, {}).get(key)]
            if missing:
                yield f"tagSpecifications: what it launches ({launched}) has no tag {', '.join(missing)}"
        return
    tags = mapping_at(resource.inputs, "tagsAll")
    missing = [key for key in config["requiredTags"] if not tags.get(key)]
    if missing:
        yield f"no tag {', '.join(missing)}"
