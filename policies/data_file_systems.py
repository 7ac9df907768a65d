"""Data: how a file system is met. It asks who mounts it, by TLS and a role, and nobody is root on it."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

from pulumi_policy import Severity

from trainyard.policies.access import everybody
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.recorded.policy_documents import GRANTING, granting, statements
from trainyard.recorded.read import as_number, is_set, list_at, mapping_at, texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    EFS,
    EFS_ACCESS_POINT,
    EFS_POLICY,
    FILESTORE,
    GCP_LUSTRE,
    LUSTRE,
    ROLE_POLICY,
)

_CLIENT = ("elasticfilesystem:clientmount", "elasticfilesystem:client*", "elasticfilesystem:*", "*")
_ROOT = ("elasticfilesystem:clientrootaccess", *_CLIENT[1:])
_ACCESS_POINT, _TLS = "elasticfilesystem:accesspointarn", "aws:securetransport"


@stack_rule(
    "file-system-open-to-the-network",
    "A file system asks who mounts it, and nobody is root on it.",
    types=(EFS, EFS_ACCESS_POINT, EFS_POLICY, LUSTRE, GCP_LUSTRE, FILESTORE, ROLE_POLICY, *GRANTING),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 AC-3", "ISO 27001:2022 A.8.3"),
    fix="EFS: a policy that wants TLS, a role, and an access point of a folder and a user. Lustre: root squash. "
    "Filestore: the ranges of the nodes that mount it.",
)
def file_system_open_to_the_network(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """Without a policy EFS lets in whoever reaches a mount target, as root; so does Lustre without squash."""
    for system in resources.of(EFS):
        policies = resources.referring(system, "fileSystemId", EFS_POLICY)
        if not policies:
            yield system, "has no file system policy: whoever reaches a mount target is in, as root"
        for policy in policies:
            found = statements(policy.inputs, "policy")
            for message in _holes(found):
                yield policy, message
            if not _wants_a_point(found) and any(_past_the_points(resources)):
                yield policy, "lets mounts past the access points to roles that may: denies none without one"
    for point in resources.of(EFS_ACCESS_POINT):
        for message in _of_a_point(point.inputs):
            yield point, message
    for system in resources.of(LUSTRE):
        squash = str(value_at(system.inputs, "rootSquashConfiguration", "rootSquash", default="0:0"))
        if "0" in squash.split(":"):
            yield system, "rootSquashConfiguration.rootSquash is not set: root of any node is root of all files"
        for nids in texts_at(system.inputs, "rootSquashConfiguration", "noSquashNids"):
            if "[" in nids or "*" in nids:
                yield system, f"noSquashNids {nids}: a range of nodes is root of all files"

    for system in resources.of(GCP_LUSTRE):
        for message in _of_managed_lustre(system.inputs):
            yield system, message
    for system in resources.of(FILESTORE):
        options = list_at(system.inputs, "fileShares", "nfsExportOptions")
        if not options:
            yield system, "fileShares.nfsExportOptions is empty: whoever reaches the share is in, as root"
        for option in options:
            ranges = texts_at(option, "ipRanges")
            if not ranges:
                yield system, "an export option names no ipRanges: whoever reaches the share is in"
            for text in filter(_is_wide, ranges):
                yield system, f"lets {text} in: more than the nodes of one network"


_MOST_CLIENTS = 2**16
"""Addresses of one range of clients: a /16. Larger ones are whole networks, with pods and offices in them."""


def _is_wide(text: str) -> bool:
    try:
        return ip_network(text, strict=False).num_addresses > _MOST_CLIENTS
    except ValueError:
        return False


def _of_managed_lustre(inputs: Any) -> Iterator[str]:
    """Whose root is root: of nobody by default, and of no more than the nodes that mount for pods."""
    own = value_at(inputs, "accessRulesOptions")
    squashed = value_at(own, "defaultSquashMode") == "ROOT_SQUASH" if own is not None else False
    if not squashed or not as_number(value_at(own, "defaultSquashUid", default=0)):
        yield "accessRulesOptions squashes no root by default: root of any machine is root of all files"
    for rule in list_at(inputs, "accessRulesOptions", "accessRules"):
        wide = [text for text in texts_at(rule, "ipAddressRanges") if _is_wide(text)]
        if value_at(rule, "squashMode") == "NO_SQUASH" and wide:
            yield f"root of {wide[0]} is root of all files: more than the nodes of one network"


def _of_a_point(inputs: Any) -> Iterator[str]:
    """What an access point lets happen: it is a wall where it has a folder of its own and says who one is there."""
    if not str(value_at(inputs, "rootDirectory", "path", default="/")).strip("/. "):
        yield "rootDirectory.path is /: the access point shows the whole file system"
    user = value_at(inputs, "posixUser")
    if user is None:
        yield "has no posixUser: whoever mounts by it says himself who he is, root too"
        return
    groups = [value_at(user, "gid"), *list_at(user, "secondaryGids")]
    if as_number(value_at(user, "uid")) == 0:
        yield "posixUser.uid is 0: whoever mounts by it is root"
    elif 0 in map(as_number, groups):
        yield "posixUser is of group 0: whoever mounts by it is of root's group"


def _holes(found: list[Any]) -> Iterator[str]:
    """What an EFS policy lets happen that it should not."""
    denied = [each for each in found if value_at(each, "Effect") == "Deny" and everybody(each)]
    allowed = [each for each in found if value_at(each, "Effect") == "Allow"]
    mounts = [each for each in allowed if _about(each, _CLIENT)]
    if any(everybody(each) for each in mounts):
        yield "lets everybody mount, without a role"
    if mounts and not any(_about(each, _CLIENT) and _tests(each, "Bool", _TLS, "false") for each in denied):
        yield "denies no mount without TLS"
    if not _wants_a_point(found) and not all(_asks(each, _ACCESS_POINT) for each in mounts):
        yield "lets mounts past the access points"
    never_root = any(_about(each, _ROOT) and not is_set(each, "Condition") for each in denied)
    if not never_root and any(_about(each, _ROOT) for each in allowed):
        yield "allows ClientRootAccess"


def _wants_a_point(found: list[Any]) -> bool:
    """Whether an EFS policy denies everybody a mount without an access point."""
    return any(
        value_at(each, "Effect") == "Deny"
        and everybody(each)
        and _about(each, _CLIENT)
        and _tests(each, "Null", _ACCESS_POINT, "true")
        for each in found
    )


def _past_the_points(resources: Resources) -> Iterator[bool]:
    """Whether a role's policy allows a mount and names no access point."""
    for policy in (*resources.of(ROLE_POLICY), *granting(resources)):
        for each in statements(policy.inputs, "policy"):
            mounts = any(str(action).lower() in _CLIENT[:-1] for action in list_at(each, "Action"))
            yield value_at(each, "Effect") == "Allow" and mounts and not _asks(each, _ACCESS_POINT)


def _about(statement: Any, actions: tuple[str, ...]) -> bool:
    return is_set(statement, "NotAction") or any(
        str(action).lower() in actions for action in list_at(statement, "Action")
    )


def _tests(statement: Any, operator: str, key: str, value: str) -> bool:
    """Whether a statement has this one condition and no other, which would narrow it."""
    conditions = [
        (name, tested.lower(), [str(each).lower() for each in list_at(test, tested)])
        for name, test in mapping_at(statement, "Condition").items()
        for tested in mapping_at(test)
    ]
    return conditions == [(operator, key, [value])]


def _asks(statement: Any, key: str) -> bool:
    tests = mapping_at(statement, "Condition")
    return any(
        operator in ("StringEquals", "StringLike", "ArnEquals", "ArnLike")
        and key in {str(each).lower() for each in test}
        for operator, test in tests.items()
    )
