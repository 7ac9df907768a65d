"""Every policy document of AWS among the recorded inputs, wherever it is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from trainyard.recorded.policy_documents import statements
from trainyard.recorded.read import UnreadableInput
from trainyard.recorded.types import (
    BUCKET_ACCESS_POINT_POLICY,
    ECR_REGISTRY_POLICY,
    EVENT_BUS_POLICY,
    IAM_POLICY,
    LOG_RESOURCE_POLICY,
    ROLE,
    ROLE_POLICY,
    VPC_ENDPOINT,
)
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.rights.aws.recorded_policies import GUARDED

OF_IDENTITIES: Final = (IAM_POLICY, ROLE_POLICY, "aws:iam/groupPolicy:GroupPolicy", "aws:iam/userPolicy:UserPolicy")
_OF_RESOURCES: Final = (
    *dict.fromkeys([*GUARDED, *(type_ for type_, _ in GUARDED.values())]),
    BUCKET_ACCESS_POINT_POLICY,
    ECR_REGISTRY_POLICY,
    EVENT_BUS_POLICY,
    VPC_ENDPOINT,
)


Document = tuple[View, str, list[Mapping[str, Any]]]


def documents(stack: Stack) -> Sequence[Document]:
    """The statements of each document that is known, with the view and the path that it is at."""
    return stack.once(_every)


def _every(stack: Stack) -> Sequence[Document]:
    return list(_documents(stack))


def _documents(stack: Stack) -> Iterator[Document]:
    for type_ in (*OF_IDENTITIES, *_OF_RESOURCES):
        for view in stack.of_type(type_):
            yield from _at(view, "policy")
    for view in stack.of_type(LOG_RESOURCE_POLICY):
        yield from _at(view, "policyDocument")
    for view in stack.of_type(ROLE):
        yield from _at(view, "assumeRolePolicy")
        for path, _ in view.items("inlinePolicies"):
            yield from _at(view, f"{path}.policy", "inlinePolicies", int(path.rpartition("[")[2].rstrip("]")), "policy")


def _at(view: View, path: str, *way: str | int) -> Iterator[Document]:
    if view.resource.read:
        return
    try:
        found = statements(view.resource.inputs, *(way or (path,)))
    except UnreadableInput:
        return
    if found:
        yield view, path, found
