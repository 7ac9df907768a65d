"""Roles that people give to their jobs: one that the jobs run as.

Whoever sends a job passes it a role (`iam:PassRole`), and is refused without. Source: SageMaker AI Developer Guide,
"How to use SageMaker AI execution roles"; IAM user guide, "Grant a user permissions to pass a role" (2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trainyard.recorded.policy_documents import statements, texts_of, title_of
from trainyard.recorded.read import UnreadableInput
from trainyard.recorded.types import MLFLOW_APP, MLFLOW_SERVER, ROLE, ROLE_POLICY, ROLE_POLICY_ATTACHMENT
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.managed.aws.jobs import jobs
from trainyard.rehearsal.works.rights.aws.patterns import names_action, names_resource
from trainyard.rehearsal.works.rights.aws.recorded_policies import arn_of

_SERVICE: Final = "sagemaker.amazonaws.com"


def check(stack: Stack) -> None:
    """Every role that may send jobs, where the stack has a job whose role it makes."""
    roles = {arn_of(role.resource): role for role in stack.of_type(ROLE)}
    run_as = {role for job in jobs(stack) if isinstance(role := job.at("roleArn"), str) and role in roles}
    if not run_as:
        return
    kept = {view.text("roleArn") for type_ in (MLFLOW_APP, MLFLOW_SERVER) for view in stack.of_type(type_)}
    fit = {arn for arn, role in roles.items() if role.resource.read or (arn not in kept and _is_trusted(role))}
    attached = {view.text("role") for view in stack.of_type(ROLE_POLICY_ATTACHMENT)}
    by_role: dict[str, list[tuple[View, int, Mapping[str, Any]]]] = {}
    for policy in stack.of_type(ROLE_POLICY):
        for index, one in enumerate(_allowed(policy)):
            by_role.setdefault(policy.text("role") or "", []).append((policy, index, one))
    for name, held in by_role.items():
        passing = [found for found in held if _names(found[2], "iam:PassRole")]
        sends = any(_names(one, "sagemaker:CreateTrainingJob") for _, _, one in held)
        if not name or name in attached or not passing or not sends:
            continue
        if any("Resource" not in one for _, _, one in passing):
            continue
        passed = [text for _, _, one in passing for text in texts_of(one["Resource"])]
        if passed and not any(names_resource(text, arn, {}) for text in passed for arn in run_as | fit):
            policy, index, one = passing[0]
            given = ", ".join(text.rpartition("/")[2] for text in passed)
            message = (
                f"{title_of(one, index)} passes {given}, which is no role of jobs in this stack: unless there is one "
                "elsewhere, whoever sends a job is refused"
            )
            allowed = ", ".join(sorted(roles[arn].name for arn in run_as))
            policy.warning("managed-role-not-passed", f"policy.Statement[{index}]", message, allowed=allowed)


def _is_trusted(role: View) -> bool:
    return _SERVICE in (role.text("assumeRolePolicy") or _SERVICE)


def _names(statement: Mapping[str, Any], action: str) -> bool:
    return any(names_action(word, action) for word in texts_of(statement.get("Action")))


def _allowed(policy: View) -> list[Mapping[str, Any]]:
    """Its statements; one that forbids is empty, so that places stay."""
    try:
        found = list(statements(policy.resource.inputs, "policy"))
    except UnreadableInput:
        return []
    return [one if one.get("Effect") == "Allow" else {} for one in found]
