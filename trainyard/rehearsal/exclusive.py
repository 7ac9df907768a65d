"""Resources that stand for several of another type: each of these as if the program had written it out.

Rules then need not know that the same can be said in two ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from trainyard.recorded.model import RecordedResource, bare
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
            urn=f"{resource.urn}#{place}",
            type=type_,
            inputs={"policyArn": arn, who: resource.inputs.get(f"{who}Name")},
            property_dependencies=made_of,
            id=f"{resource.id}-{place}" if isinstance(resource.id, str) else resource.id,
            outputs={},
            secret_paths=(),
        )
