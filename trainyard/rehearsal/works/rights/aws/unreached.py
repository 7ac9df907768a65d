"""What nobody reaches: rights on things of a kind are given, by name, and the one that is made is called otherwise.

A policy may name things of another stack beside the own ones; what is told is only a thing of the recording whose kind
policies of the recording give rights on, and none of them on it (Service Authorization Reference, SageMaker, 2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.policy_documents import statements, texts_of
from trainyard.recorded.read import UnreadableInput
from trainyard.recorded.types import IAM_POLICY, ROLE, ROLE_POLICY, ROLE_POLICY_ATTACHMENT, SAGEMAKER_MODEL_GROUP
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.managed.aws.editors import DOMAIN, USER_PROFILE
from trainyard.rehearsal.works.managed.aws.tracking import APP
from trainyard.rehearsal.works.rights.aws.patterns import names_action, names_resource
from trainyard.rehearsal.works.rights.aws.recorded_policies import arn_of

_KINDS: Final = {
    SAGEMAKER_MODEL_GROUP: (
        "sagemaker:CreateModelPackage", ":model-package-group/", "", "registers a model",
    ),
    APP: ("sagemaker:CallMlflowAppApi", ":mlflow-app/", "", "tracks a run"),
    DOMAIN: (
        "sagemaker:CreateApp", ":app/", "/somebody/JupyterLab/default", "opens an editor",
    ),
}  # fmt: skip
"""By type: what is done with it, the part of the ARN that says its kind there, what follows its name, in words."""


def check(stack: Stack) -> None:
    """Every thing whose kind somebody has a right on."""
    made = [(type_, view) for type_ in _KINDS for view in stack.of_type(type_) if not view.resource.read]
    allowed = list(_allowed(stack)) if made else []
    _opened_by(stack)
    for type_, view in made:
        action, kind, after, words = _KINDS[type_]
        arn = arn_of(view.resource)
        if not arn:
            continue
        start, _, last = arn.partition("/")
        name = view.text("modelPackageGroupName") or last
        asked = f"{start.rpartition(':')[0]}{kind}{name}{after}"
        patterns = [
            pattern
            for statement in allowed
            if any(names_action(one, action) for one in texts_of(statement.get("Action")))
            for pattern in texts_of(statement.get("Resource"))
            if kind in pattern or pattern == "*"
        ]
        if patterns and not any("${" in one or names_resource(one, asked, {}) for one in patterns):
            key = "modelPackageGroupName" if "PackageGroup" in type_ else "domainName" if "domain" in type_ else "name"
            view.error(
                "rights-nobody-reaches", key,
                f"nobody {words} there: {action} is allowed on {patterns[0]}, and not on {asked}",
                hint="a name that the policies mean, or policies that mean it",
            )  # fmt: skip


def _opened_by(stack: Stack) -> None:
    """The role of a domain's people opens its editors, where another role of the stack is who may."""
    opens: dict[str, bool] = {}
    for policy in stack.of_type(ROLE_POLICY):
        role = policy.referred("role", ROLE)
        if role is not None:
            allowed = any(
                names_action(one, "sagemaker:CreateApp")
                for statement in _statements(policy)
                for one in texts_of(statement.get("Action"))
            )
            opens[role.resource.urn] = opens.get(role.resource.urn, False) or allowed
    attached = {str(one.inputs.get("role")) for one in stack.resources.of(ROLE_POLICY_ATTACHMENT)}
    people = [(view, "defaultUserSettings.executionRole") for view in stack.of_type(DOMAIN)]
    people += [(view, "userSettings.executionRole") for view in stack.of_type(USER_PROFILE)]
    for domain, path in people:
        roles = [one for one in stack.of_type(ROLE) if arn_of(one.resource) == domain.text(path)]
        if len(roles) != 1 or opens.get(roles[0].resource.urn) is not False or not any(opens.values()):
            continue
        names = {roles[0].text("name"), str(roles[0].resource.id), arn_of(roles[0].resource)}
        if not names & attached and not roles[0].has("managedPolicyArns") and not roles[0].has("inlinePolicies"):
            words = f"role {roles[0].name} may not do sagemaker:CreateApp: nobody opens an editor"
            domain.error("rights-nobody-reaches", path, words, hint="the role of people")


_OF_AWS: Final = re.compile(r"policy/(.*/)?(AmazonSageMaker\w*|AdministratorAccess|PowerUserAccess)$")
"""Policies of AWS's own that give rights on all things of SageMaker."""


def _allowed(stack: Stack) -> Iterator[Mapping[str, Any]]:
    attached = [view.text("policyArn") for view in stack.of_type(ROLE_POLICY_ATTACHMENT)]
    attached += [arn for view in stack.of_type(ROLE) for arn in view.texts("managedPolicyArns")]
    if any(arn is None or _OF_AWS.search(arn) for arn in attached):
        yield {"Action": "*", "Resource": "*"}
    for view in (*stack.of_type(ROLE_POLICY), *stack.of_type(IAM_POLICY)):
        yield from _statements(view)


def _statements(view: View) -> Iterator[Mapping[str, Any]]:
    try:
        yield from (one for one in statements(view.resource.inputs, "policy") if one.get("Effect") == "Allow")
    except UnreadableInput:
        # What is not known may mean anything.
        yield {"Action": "*", "Resource": "*"}
