"""Money: tags that say whom a cost belongs to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_policy import ResourceValidationArgs, Severity

from trainyard import cards
from trainyard.cards.card import Free
from trainyard.policies.reading import at, given, items, mapping
from trainyard.policies.rules import Config, resource_rule

LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
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
def costed_resource_without_cost_tags(resource: ResourceValidationArgs, config: Config) -> Iterator[str]:
    """The provider's Check writes `tagsAll`; under a bare mock the provider's default tags are merged here."""
    if resource.resource_type == LAUNCH_TEMPLATE:
        tagged = {
            at(spec, "resourceType"): mapping(spec, "tags") for spec in items(resource.props, "tagSpecifications")
        }
        for launched in LAUNCHED:
            missing = [key for key in config["requiredTags"] if not tagged.get(launched, {}).get(key)]
            if missing:
                yield f"tagSpecifications: what it launches ({launched}) has no tag {', '.join(missing)}"
        return
    tags = _tags(resource)
    missing = [key for key in config["requiredTags"] if not tags.get(key)]
    if missing:
        yield f"no tag {', '.join(missing)}"


def _tags(resource: ResourceValidationArgs) -> Mapping[str, Any]:
    if given(resource.props, "tagsAll"):
        return mapping(resource.props, "tagsAll")
    defaults = at(resource.provider.props, "defaultTags") if resource.provider else None
    found = json.loads(defaults) if isinstance(defaults, str) else defaults
    return {**mapping(found, "tags"), **mapping(resource.props, "tags")}
