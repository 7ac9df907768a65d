"""Security: nobody is an administrator by accident, and whoever takes a role that people take is seen."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_policy import Severity

from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.policy_documents import asks_whether, statements
from trainyard.recorded.read import list_at, mapping_at, value_at
from trainyard.recorded.resources import Resources, refers
from trainyard.recorded.types import ACCESS_POLICY_ASSOCIATION, EKS_CLUSTER, EVENT_RULE, EVENT_TARGET, ROLE

_USER = re.compile(r"arn:[^:]+:iam::[0-9]{12}:user/.+")
READ_ONLY_TOO = "ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS"
"""CloudTrail calls AssumeRole read-only, and a rule in the state ENABLED gets no such events."""

ADMIN_POLICIES = ("AmazonEKSClusterAdminPolicy", "AmazonEKSAdminPolicy")


@stack_rule(
    "people-take-role-unnoticed",
    "A role that users take asks for a second factor, and somebody is told when one takes it.",
    types=(ROLE, EVENT_RULE, EVENT_TARGET),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 AC-2(12)", "NIST 800-53r5 IA-2(1)", "ISO 27001:2022 A.8.2"),
    fix="Use the break-glass role as it is: audit.breakGlass.principals names who may take it.",
)
def people_take_role_unnoticed(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """Roles of services, of pods and of other roles are not taken by people. A rule is an alarm if it has a target."""
    for role in resources.of(ROLE):
        trusting = [found for found in statements(role.inputs, "assumeRolePolicy") if _trusts_users(found)]
        if not trusting:
            continue
        if not all(_asks_for_second_factor(found) for found in trusting):
            yield role, "lets users in without a second factor (aws:MultiFactorAuthPresent)"
        alarms = [rule for rule in resources.of(EVENT_RULE) if _tells_of(rule, role)]
        if not alarms:
            yield role, "no rule on events tells that somebody takes it"
        elif not any(value_at(rule.inputs, "state") == READ_ONLY_TOO for rule in alarms):
            yield role, f"the rule {alarms[0].name} never hears of it: its state is not {READ_ONLY_TOO}"
        elif not any(resources.referring(rule, "rule", EVENT_TARGET) for rule in alarms):
            yield role, f"the rule {alarms[0].name} tells nobody: it has no target"


def _trusts_users(statement: Mapping[str, Any]) -> bool:
    named = list_at(mapping_at(statement, "Principal"), "AWS")
    return value_at(statement, "Effect") == "Allow" and any(_USER.fullmatch(str(who)) for who in named)


def _asks_for_second_factor(statement: Mapping[str, Any]) -> bool:
    """`BoolIfExists` holds for a request without any, as of long-lived keys."""
    return asks_whether(statement, "aws:MultiFactorAuthPresent", "true")


def _tells_of(rule: RecordedResource, role: RecordedResource) -> bool:
    """Whether a rule is on the taking of a role: made of its ARN, and of no other event."""
    if not refers(rule, "eventPattern", role):
        return False
    text = value_at(rule.inputs, "eventPattern", unknown=None)
    if not isinstance(text, str):
        return True
    wanted = value_at(json.loads(text), "detail", "eventName")
    return wanted is None or "AssumeRole" in list_at(wanted)


@stack_rule(
    "cluster-creator-is-admin",
    "Nobody administers a cluster for having made it: administrators are named, and can be taken away.",
    types=(EKS_CLUSTER, ACCESS_POLICY_ASSOCIATION),
    severity=Severity.HIGH,
    controls=("CIS EKS 1.5.0 4.1.1", "NIST 800-53r5 AC-2", "ISO 27001:2022 A.8.2"),
    fix="Use the cluster as it is; aws.adminPrincipals names who administers it.",
)
def cluster_creator_is_admin(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """EKS makes the creator an administrator unless it is told not to; no list shows that one of old clusters."""
    for cluster in resources.of(EKS_CLUSTER):
        access = value_at(cluster.inputs, "accessConfig", default={})
        if value_at(access, "authenticationMode") not in ("API", "API_AND_CONFIG_MAP"):
            yield cluster, "accessConfig.authenticationMode is the config map alone: nothing lists its creator"
        elif value_at(access, "bootstrapClusterCreatorAdminPermissions") is not False:
            yield cluster, "bootstrapClusterCreatorAdminPermissions is on: who made it administers it for ever"
        elif not any(
            str(value_at(found.inputs, "policyArn")).rsplit("/", 1)[-1] in ADMIN_POLICIES
            for found in resources.referring(cluster, "clusterName", ACCESS_POLICY_ASSOCIATION)
        ):
            yield cluster, "nobody is named to administer it, and its creator does not either"
