"""Resources that stand for several of another type: each of these as if the program had written it out.

Rules and policies then need not know that the same can be said in two ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from trainyard.recorded.model import RecordedResource, bare
from trainyard.recorded.resources import Resources, matches
from trainyard.recorded.types import GROUP_POLICY_ATTACHMENT, ROLE_POLICY_ATTACHMENT, USER_POLICY_ATTACHMENT

_ATTACHMENTS: Final = {
    f"aws:iam/{who}PolicyAttachmentsExclusive:{who.title()}PolicyAttachmentsExclusive": (
        who, type_,
    )
    for who, type_ in (
        ("role", ROLE_POLICY_ATTACHMENT),
        ("user", USER_POLICY_ATTACHMENT),
        ("group", GROUP_POLICY_ATTACHMENT),
    )
}  # fmt: skip
"""What attaches all managed policies of a principal, and no other: the provider attaches those that are missing."""


_PART: Final = "#policyArns-"
"""Between the URN of what stands for several and the place of one of these in it."""


def with_whole(types: tuple[str, ...]) -> tuple[str, ...]:
    """Types, and those that stand for several resources of one of them."""
    whole = tuple(token for token, (_, type_) in _ATTACHMENTS.items() if matches(type_, types))
    return types + tuple(token for token in whole if token not in types)


def whole_urn(urn: str) -> str:
    """The URN of what the program has, for a part of it."""
    return urn.partition(_PART)[0]


def has_whole(resources: Resources) -> bool:
    """Whether a resource stands for several."""
    return bool(resources.of(*_ATTACHMENTS))


def written_out(resources: Iterable[RecordedResource]) -> Iterator[RecordedResource]:
    """The resources, and after one that stands for several these, which its URN is a part of."""
    for resource in resources:
        yield resource
        if resource.type in _ATTACHMENTS:
            yield from _attachments(resource)


def _attachments(resource: RecordedResource) -> Iterator[RecordedResource]:
    who, type_ = _ATTACHMENTS[resource.type]
    arns = bare(resource.inputs.get("policyArns"))
    of = {"policyArn": "policyArns", who: f"{who}Name"}
    made_of = {key: resource.property_dependencies.get(own, ()) for key, own in of.items()}
    for place, arn in enumerate(arns if isinstance(arns, (list, tuple)) else [arns]):
        yield replace(
            resource,
            urn=f"{resource.urn}{_PART}{place}",
            type=type_,
            inputs={"policyArn": arn, who: resource.inputs.get(f"{who}Name")},
            property_dependencies=made_of,
            id=f"{resource.id}-{place}" if isinstance(resource.id, str) else resource.id,
            outputs={},
            secret_paths=(),
        )
