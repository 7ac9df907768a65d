"""What jobs of services do with a role: a function that turns secrets, a schedule that calls, a plan that backs up.

Sources: AWS Secrets Manager User Guide, "Permissions for Lambda rotation functions"; EventBridge Scheduler User Guide,
"Setting up the execution role" and EventBridge User Guide, "Identity-based policies for targets"; AWS Backup Developer
Guide, "IAM service roles" (one managed policy backs up, another restores); AWS CodeBuild User Guide, "Allow CodeBuild
to interact with other services"; AWS Batch User Guide, "Instance role" and "Job role" (2026-11).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import follow
from trainyard.recorded.types import (
    BACKUP_SELECTION,
    BATCH_DEFINITION,
    BATCH_ENVIRONMENT,
    BUILD_PROJECT,
    EVENT_TARGET,
    FUNCTION,
    INSTANCE_PROFILE,
    ROLE_POLICY,
    ROLE_POLICY_ATTACHMENT,
    SCHEDULE,
    SECRET_ROTATION,
    SECRETS_MANAGER_SECRET,
)
from trainyard.rehearsal.context import View, listed
from trainyard.rehearsal.refusals.aws.texts import read
from trainyard.rehearsal.works.rights.aws.callers import service
from trainyard.rehearsal.works.rights.aws.needs.model import Deed, Need, refused
from trainyard.rehearsal.works.rights.aws.needs.places import Places
from trainyard.rehearsal.works.rights.aws.needs.services import words
from trainyard.rehearsal.works.rights.aws.patterns import names_action
from trainyard.rehearsal.works.rights.aws.recorded_policies import arn_of

_TURNED_BY: Final = tuple(
    f"secretsmanager:{action}"
    for action in ("DescribeSecret", "GetSecretValue", "PutSecretValue", "UpdateSecretVersionStage")
)
_CALLED_BY: Final = (
    (re.compile(r"arn:[\w-]+:lambda:.*:function:.+"), "lambda:InvokeFunction"),
    (re.compile(r"arn:[\w-]+:sns:.+"), "sns:Publish"),
    (re.compile(r"arn:[\w-]+:sqs:.+"), "sqs:SendMessage"),
    (re.compile(r"arn:[\w-]+:states:.*:stateMachine:.+"), "states:StartExecution"),
    (re.compile(r"arn:[\w-]+:codebuild:.*:project/.+"), "codebuild:StartBuild"),
    (re.compile(r"arn:[\w-]+:events:.*:event-bus/.+"), "events:PutEvents"),
)
"""The action by which a target is called with a role, by its ARN."""
_UNIVERSAL: Final = re.compile(r"arn:[\w-]+:scheduler:::aws-sdk:([a-z0-9]+):([a-zA-Z0-9]+)")
_PREFIXES: Final = frozenset({"batch", "codebuild", "ec2", "ecs", "eks", "glue", "rds", "sagemaker", "sqs", "ssm"})
"""Services whose actions are called in policies as in the scheduler."""
_RESTORES: Final = frozenset({"AWSBackupServiceRolePolicyForRestores", "AWSBackupServiceRolePolicyForS3Restore"})


def needs(places: Places) -> Iterator[Need]:
    """Needs of rotations and schedules; a plan that may only restore is told at once."""
    for rotation in places.stack.of_type(SECRET_ROTATION):
        yield from _turned(places, rotation)
    for schedule in places.stack.of_type(SCHEDULE):
        yield from _called(places, schedule, "target.roleArn", schedule.text("target.arn"))
    for target in places.stack.of_type(EVENT_TARGET):
        yield from _called(places, target, "roleArn", target.text("arn"))
    for project in places.stack.of_type(BUILD_PROJECT):
        yield from _built(places, project)
    for environment in places.stack.of_type(BATCH_ENVIRONMENT):
        yield from _joined(places, environment)
    for definition in places.stack.of_type(BATCH_DEFINITION):
        _taken(places, definition)
    for selection in places.stack.of_type(BACKUP_SELECTION):
        _backed_up(places, selection)


def _turned(places: Places, rotation: View) -> Iterator[Need]:
    function = rotation.referred("rotationLambdaArn", FUNCTION)
    secret = rotation.referred("secretId", SECRETS_MANAGER_SECRET)
    taken = places.role(function.text("role") or "") if function is not None else None
    target = arn_of(secret.resource) if secret is not None else ""
    if function is None or taken is None or not target:
        return
    role, caller = taken
    by = f"function {function.name}, with role {role.name},"
    deeds = tuple(Deed(action, target) for action in _TURNED_BY)
    yield Need(rotation, "rotationLambdaArn", "rights-role-lacks", (caller,), by, "change the secret", deeds)


def _called(places: Places, view: View, path: str, target: str | None) -> Iterator[Need]:
    taken = places.role(view.text(path) or "")
    if taken is None or target is None:
        return
    role, caller = taken
    by = f"{words(view)}, with role {role.name},"
    universal = _UNIVERSAL.fullmatch(target)
    if universal is not None and universal[1] in _PREFIXES:
        action = f"{universal[1]}:{universal[2][0].upper()}{universal[2][1:]}"
        # Of which thing is told in its input: any right to the action will do.
        if not _has_some(places, role, action):
            view.error(
                "rights-role-lacks", path, f"{by} cannot call {action}: no policy of the role names it",
                allowed=f"a policy with {action}",
            )  # fmt: skip
        return
    for pattern, action in _CALLED_BY:
        if pattern.fullmatch(target):
            yield Need(view, path, "rights-role-lacks", (caller,), by, "call its target", (Deed(action, target),))


def _built(places: Places, project: View) -> Iterator[Need]:
    """A build that cannot write its log ends before it begins."""
    taken = places.role(project.text("serviceRole") or "")
    logs = "logsConfig.cloudwatchLogs"
    name = project.text(f"{logs}.groupName") or ("" if project.has(f"{logs}.groupName") else project.text("name"))
    if taken is None or not name or project.text(f"{logs}.status") == "DISABLED":
        return
    group = name if project.text(f"{logs}.groupName") else f"/aws/codebuild/{name}"
    role, caller = taken
    arn = f"arn:{places.partition}:logs:{places.region}:{places.account.id}:log-group:{group}"
    deeds = tuple(
        Deed(f"logs:{action}", f"{arn}:log-stream:x", spellings=(arn,))
        for action in ("CreateLogStream", "PutLogEvents")
    )
    by = f"{words(project)}, with role {role.name},"
    yield Need(project, "serviceRole", "rights-role-lacks", (caller,), by, "write its log", deeds)


def _joined(places: Places, environment: View) -> Iterator[Need]:
    """Machines of a batch register with Amazon ECS; those of a batch on EKS are its cluster's."""
    if environment.has("eksConfiguration"):
        return
    named = environment.text("computeResources.instanceRole")
    profiles = [
        view for view in places.stack.of_type(INSTANCE_PROFILE)
        if named is not None and named in (arn_of(view.resource), view.text("name"))
    ]  # fmt: skip
    taken = places.role(profiles[0].text("role") or "") if profiles else None
    if taken is None:
        return
    role, caller = taken
    by = f"machines of {environment.name}, with role {role.name},"
    deeds = tuple(Deed(f"ecs:{action}") for action in ("DiscoverPollEndpoint", "RegisterContainerInstance"))
    path = "computeResources.instanceRole"
    yield Need(environment, path, "rights-role-lacks", (caller,), by, "join their cluster", deeds)


_TASKS: Final = "ecs-tasks.amazonaws.com"


def _taken(places: Places, definition: View) -> None:
    """Who runs as a job's role has to be let take it."""
    try:
        job = json.loads(definition.text("containerProperties") or "{}")
    except ValueError:
        return
    for key in ("jobRoleArn", "executionRoleArn"):
        named = job.get(key) if isinstance(job, dict) else None
        taken = places.role(named) if isinstance(named, str) else None
        if taken is None:
            continue
        take = Deed("sts:AssumeRole", arn_of(taken[0]), {"aws:SourceAccount": places.account.id})
        if refused(places.account, service(_TASKS), take):
            definition.error(
                "rights-role-untrusted", "containerProperties",
                f"{_TASKS} cannot take role {taken[0].name} for {words(definition)}: its trust policy does not let it",
                allowed=f"a trust policy that lets {_TASKS} do sts:AssumeRole",
            )  # fmt: skip


def _has_some(places: Places, role: RecordedResource, action: str) -> bool:
    """Whether some policy of a role names an action, or may."""
    stack = places.stack
    own_role = stack.view_of(role)
    if _attached(places, role.urn) or own_role.has("managedPolicyArns") or own_role.blurred("inlinePolicies"):
        return True
    inline = [view for view in stack.of_type(ROLE_POLICY) if _is_of(view, role.urn)]
    texts = [view.text("policy") for view in inline]
    texts += [own_role.text(f"{path}.policy") for path, _ in own_role.items("inlinePolicies")]
    if not texts:
        return True
    return any(_may_name(text, action) for text in texts)


def _may_name(text: str | None, action: str) -> bool:
    """Whether a policy has a statement that allows an action of something, or may have one; none that denies does."""
    statements = follow(read(text), "Statement")
    if text is None or statements is None:
        return True
    for one in statements if isinstance(statements, list) else [statements]:
        if not isinstance(one, dict):
            return True
        named = one.get("Action")
        if one.get("Effect") != "Allow":
            continue
        if named is None or any(names_action(str(each), action) for each in listed(named) or [named]):
            return True  # all but some is told where it is evaluated
    return False


def _is_of(view: View, role: str) -> bool:
    return role in view.resource.property_dependencies.get("role", ())


def _attached(places: Places, role: str) -> list[str]:
    """The names of the policies that are attached to a role; an unknown one's is empty."""
    views = [view for view in places.stack.of_type(ROLE_POLICY_ATTACHMENT) if _is_of(view, role)]
    return [(view.text("policyArn") or "").rpartition("/")[2] for view in views]


def _backed_up(places: Places, selection: View) -> None:
    taken = places.role(selection.text("iamRoleArn") or "")
    if taken is None:
        return
    role, _ = taken
    attached = _attached(places, role.urn)
    inline = [view for view in places.stack.of_type(ROLE_POLICY) if _is_of(view, role.urn)]
    given = role.inputs.get("managedPolicyArns") or role.inputs.get("inlinePolicies")
    if attached and not inline and not given and set(attached) <= _RESTORES:
        selection.error(
            "rights-role-lacks", "iamRoleArn", f"role {role.name} may restore backups and make none",
            allowed="AWSBackupServiceRolePolicyForBackup",
        )  # fmt: skip
