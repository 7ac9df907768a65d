"""Security: actions of the cloud that make whoever has them somebody else. Never on any resource."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from pulumi_policy import Severity

from trainyard.policies.each import of_each
from trainyard.policies.grants import GRANTS, PROJECT_GRANTS, Grant, grants, is_agent
from trainyard.policies.privileges import ADMINISTRATIVE, PRIVILEGED_PERMISSIONS, PRIVILEGED_ROLES, PRIVILEGES
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.policy_documents import GRANTING, but_boundaries, called, statements
from trainyard.recorded.read import UnknownInput, is_set, list_at, mapping_at, texts_at, value_at
from trainyard.recorded.resources import Resources, refers
from trainyard.recorded.types import GCP_CUSTOM_ROLES, IAM_POLICY, ROLE, ROLE_POLICY
from trainyard.rehearsal.works.rights.aws.patterns import names_action

_ANY: Final = re.compile(
    r"[*?]+|arn:[^:]*:(?!s3:)[^:]*:[^:]*:[^:]*:([a-z-]+[:/])?\*+(/\*+)*|arn:[^:]*:s3:[^:]*:[^:]*:[*?]+(/.*)?"
)
"""A resource that is any, or any of its kind: `*`, `arn:aws:iam::*:role/*`, `arn:aws:kms:*:*:key/*`. Before the slash
of an object's ARN is no kind but its bucket."""
_OF_THE_REQUEST: Final = re.compile(
    r"aws:(SecureTransport|RequestedRegion|CurrentTime|UserAgent|ViaAWSService|PrincipalIsAWSService)", re.IGNORECASE
)
_NARROWING: Final = re.compile(
    r"(ForAnyValue:)?(StringEquals(IgnoreCase)?|StringLike|ArnEquals|ArnLike|IpAddress|Bool)"
)


@stack_rule(
    "privilege-on-any-resource",
    "No policy allows on any resource what makes its holder somebody else or takes a wall down.",
    types=(ROLE_POLICY, *GRANTING, *GRANTS, *GCP_CUSTOM_ROLES),
    severity=Severity.CRITICAL,
    controls=("CIS AWS 3.0.0 1.16", "NIST 800-53r5 AC-6", "ISO 27001:2022 A.8.2"),
    fix="Name the one role, key, secret, function or instance that is meant, or a condition that does.",
)
def privilege_on_any_resource(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """What wildcard-admin says, that everything of a service is allowed, it says alone.

    A role of the project's own is judged as what it is made for: to be given on the project, unless the stack gives it
    on single resources alone.
    """
    judges = {
        **dict.fromkeys(GCP_CUSTOM_ROLES, _permissions),
        **dict.fromkeys(PROJECT_GRANTS, _given),
        **dict.fromkeys((ROLE, ROLE_POLICY, IAM_POLICY), _allowed),
    }

    def told(resource: RecordedResource) -> list[str]:
        found = list(judges[resource.type](resource))
        narrow = found and resource.type in GCP_CUSTOM_ROLES and _on_resources_alone(resource, resources)
        return [] if narrow else found

    yield from of_each(but_boundaries(resources, *judges), told)


def _permissions(role: RecordedResource) -> Iterator[str]:
    for permission in texts_at(role.inputs, "permissions"):
        what = next((what for what, those in PRIVILEGED_PERMISSIONS.items() if permission in those), None)
        if what is not None:
            yield f"{permission} in a role of the project: whoever has it {what}"


def _on_resources_alone(role: RecordedResource, resources: Resources) -> bool:
    """Whether a role is given, and nowhere on a project or on what is above it."""
    own = f"/roles/{value_at(role.inputs, 'roleId', default='', unknown='')}"
    holders = [
        holder
        for holder in resources.of(*GRANTS)
        if refers(holder, "role", role)
        or refers(holder, "policyData", role)
        or any(grant.role.endswith(own) for grant in _readable(holder))
    ]
    return bool(holders) and all(holder.type not in PROJECT_GRANTS for holder in holders)


def _readable(holder: RecordedResource) -> list[Grant]:
    """What a resource gives; nothing where that is not known yet, of which its dependencies tell."""
    try:
        return list(grants(holder))
    except UnknownInput:
        return []


def _given(holder: RecordedResource) -> Iterator[str]:
    for grant in grants(holder):
        what = next((what for what, roles in PRIVILEGED_ROLES.items() if grant.role in roles), None)
        holders = [member for member in grant.members if not is_agent(member)] if what else []
        if holders and not grant.conditional:
            yield f"{grant.role} on a project: {holders[0]} {what}"


def _allowed(resource: RecordedResource) -> Iterator[str]:
    for document in (resource.inputs, *list_at(resource.inputs, "inlinePolicies")):
        for statement in statements(document, "policy"):
            if value_at(statement, "Effect") == "Allow" and _anywhere(statement):
                yield from _privileges(statement)


def _privileges(statement: Any) -> Iterator[str]:
    for pattern in map(str, list_at(statement, "Action")):
        if pattern.lower() in ADMINISTRATIVE or (_a_whole_service(pattern) and "*" in list_at(statement, "Resource")):
            continue
        for what, actions in PRIVILEGES.items():
            found = next((action for action in actions if names_action(pattern, action)), None)
            if found is not None:
                yield f"{called(statement)} allows {pattern} on any resource: it {what}"
                break


def _a_whole_service(pattern: str) -> bool:
    return pattern.endswith(":*")


def _anywhere(statement: Any) -> bool:
    """Whether a statement is about any resource of a kind, and no condition says which."""
    texts = [str(text) for text in list_at(statement, "Resource")]
    anything = is_set(statement, "NotResource") or any(_ANY.fullmatch(text) for text in texts)
    return anything and not any(
        not _OF_THE_REQUEST.fullmatch(key) and any(str(value).strip("*?") for value in list_at(test, key))
        for operator, test in mapping_at(statement, "Condition").items()
        if _NARROWING.fullmatch(operator)
        for key in mapping_at(test)
    )
