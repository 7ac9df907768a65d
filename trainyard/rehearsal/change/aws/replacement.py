"""What forces a replacement on AWS by its value, not by its name alone; and what another version of a template moves.

Read in the source of Terraform's AWS provider, 6.58.0 (2026-08-05): the functions that customise a resource's
differences, and the versions of launch templates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import LAUNCH_TEMPLATE
from trainyard.recorded.read import as_number, value_at
from trainyard.recorded.types import AWS_PROVIDER, EKS_CLUSTER, LUSTRE, VPC
from trainyard.rehearsal.change.model import Difference, within

PROVIDER: Final = AWS_PROVIDER

_GLOBAL: Final = ("aws:iam/", "aws:budgets/", "aws:costexplorer/", "aws:organizations/", "aws:cloudfront/")
"""Services without regions: a resource of theirs stays where the provider's region changes."""

_NO_VERSION: Final = ("tags", "tagsAll", "defaultVersion", "updateDefaultVersion")
"""Inputs of a launch template that make no version of it: its own tags, and which of its versions is the default."""


def forcing(
    was: RecordedResource,
    now: RecordedResource,
    differences: Sequence[Difference],
) -> Iterator[str]:
    """The inputs that force a replacement by what they change from and to."""
    for found in differences:
        if now.type == LUSTRE:
            shrinks = _smaller(found, "storageCapacity") or _smaller(found, "metadataConfiguration.iops")
            scratch = value_at(now.inputs, "deploymentType", unknown=None) == "SCRATCH_1"
            if shrinks or (scratch and found.path == "storageCapacity") or _older(found, "fileSystemTypeVersion"):
                yield found.path
        elif now.type == EKS_CLUSTER:
            if within(found.path, "encryptionConfig") and not now.inputs.get("encryptionConfig"):
                yield found.path
        elif (now.type, found.path) == (VPC, "instanceTenancy") and found.before != "dedicated":
            yield found.path
    if was.type != now.type:
        yield "type"


def moving(differences: Sequence[Difference]) -> Callable[[str], bool]:
    """Whether resources of a type are made anew with the provider: each lies in the region that it was made in."""
    if not any(found.path == "region" for found in differences):
        return lambda _: False
    return lambda type_: not type_.startswith(_GLOBAL)


def other_outputs(now: RecordedResource, differences: Sequence[Difference]) -> tuple[str, ...]:
    """The outputs that are others after a change in place: a launch template has another version."""
    if now.type == LAUNCH_TEMPLATE and any(
        not any(within(found.path, path) for path in _NO_VERSION) for found in differences
    ):
        return ("latestVersion", "defaultVersion") if now.inputs.get("updateDefaultVersion") else ("latestVersion",)
    return ()


def _smaller(found: Difference, path: str) -> bool:
    before, after = as_number(found.before), as_number(found.after)
    return within(found.path, path) and before is not None and after is not None and after < before


def _older(found: Difference, path: str) -> bool:
    before, after = _version(found.before), _version(found.after)
    return found.path == path and bool(before) and bool(after) and after < before


def _version(value: Any) -> tuple[int, ...]:
    """`2.15` as numbers; nothing for what is no version."""
    parts = str(value).split(".")
    return tuple(map(int, parts)) if all(part.isdigit() for part in parts) else ()
