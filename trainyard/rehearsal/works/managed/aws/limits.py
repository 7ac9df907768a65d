"""Limits that hold nobody, or everybody: the brake of a budget, and the groups and subnets that people are held to.

Sources: AWS Cost Management User Guide, "Configuring a budget action" (a threshold is a percentage or a sum of money);
Service Authorization Reference, "Amazon SageMaker" (2026-11).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.policy_documents import statements, texts_of
from trainyard.recorded.read import UnreadableInput
from trainyard.recorded.types import AWS_BUDGET, BUDGET_ACTION, IAM_POLICY, ROLE, ROLE_POLICY
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.managed.aws.ways import closed_to_s3
from trainyard.rehearsal.works.paths.aws.endpoints import Endpoints
from trainyard.rehearsal.works.paths.aws.groups import Groups
from trainyard.rehearsal.works.paths.aws.network import Network
from trainyard.rehearsal.works.rights.aws.patterns import names_action, names_resource
from trainyard.rehearsal.works.rights.aws.recorded_policies import arn_of

_BUDGET: Final = AWS_BUDGET
_BASE: Final = "definition.iamActionDefinition"
_STARTS: Final[Mapping[str, str]] = {
    "sagemaker:CreateApp": "sagemaker:app/x/x/x/x",
    "sagemaker:CreateEndpoint": "sagemaker:endpoint/x",
    "sagemaker:CreateHyperParameterTuningJob": "sagemaker:hyper-parameter-tuning-job/x",
    "sagemaker:CreateNotebookInstance": "sagemaker:notebook-instance/x",
    "sagemaker:CreateProcessingJob": "sagemaker:processing-job/x",
    "sagemaker:CreateTrainingJob": "sagemaker:training-job/x",
    "sagemaker:CreateTransformJob": "sagemaker:transform-job/x",
    "sagemaker:StartNotebookInstance": "sagemaker:notebook-instance/x",
    "ec2:RunInstances": "ec2:instance/x",
}
"""What starts machines that are paid for, and an example of what each makes or starts: its service and its resource.
To start an instance takes more (a subnet, an image), of which forbidding any one is enough."""
_SHARE: Final = 20
"""Below one part in so many of the budget, a sum of money is one that was meant as a percentage."""
_LEAST_MONEY: Final = 10
_GROUPS, _SUBNETS = "sagemaker:VpcSecurityGroupIds", "sagemaker:VpcSubnets"


def check(stack: Stack) -> None:
    """Every action of a budget, and every policy that says where jobs run."""
    for action in stack.of_type(BUDGET_ACTION):
        _threshold(action, stack)
        _forbids(action, stack)
    _held(stack)


def _threshold(action: View, stack: Stack) -> None:
    path = "actionThreshold.actionThresholdValue"
    kind, value = action.text("actionThreshold.actionThresholdType"), action.number(path)
    budget = next((one for one in stack.of_type(_BUDGET) if one.text("name") == action.text("budgetName")), None)
    limit = budget.number("limitAmount") if budget is not None else None
    if value is None or kind is None:
        return
    if kind == "PERCENTAGE" and 0 < value <= 1:
        message = f"the brake is pulled at {value:g} per cent of the budget"
        action.error("managed-brake-threshold", path, message, allowed=f"{value * 100:g} for {value * 100:g} per cent")
    elif kind == "PERCENTAGE" and limit is not None and value >= 1000 and value > limit / 100:
        message = f"the brake is pulled at {value:g} per cent of the budget"
        action.error("managed-brake-threshold", path, message, allowed="ABSOLUTE_VALUE for a sum of money")
    elif kind != "ABSOLUTE_VALUE" or budget is None or budget.text("timeUnit") != "MONTHLY":
        return  # of a year's money, a small part may be what is meant
    elif limit is not None and _LEAST_MONEY <= value <= min(150.0, limit / _SHARE):
        message = f"the brake is pulled at {value:g} of {limit:g}, that is in the month's first days"
        action.warning("managed-brake-threshold", path, message, allowed=f"PERCENTAGE for {value:g} per cent")


def _forbids(action: View, stack: Stack) -> None:
    """What the brake attaches forbids what those whom it holds may start."""
    arn, names = action.text(f"{_BASE}.policyArn"), set(action.texts(f"{_BASE}.roles"))
    policy = next((one for one in stack.of_type(IAM_POLICY) if arn_of(one.resource) == arn), None)
    if policy is None or policy.resource.read or action.blurred(f"{_BASE}.roles"):
        return
    denied = [one for one in _statements(policy) if one.get("Effect") == "Deny" and "Condition" not in one]
    if any(one.get("Effect") == "Deny" and "Condition" in one for one in _statements(policy)):
        return
    roles = [one for one in stack.of_type(ROLE) if {one.text("name"), str(one.resource.outputs.get("name"))} & names]
    may = dict(_started(stack, roles, _own_account(policy)))
    for start, things in may.items():
        words = [one for one in denied if any(names_action(word, start) for word in texts_of(one.get("Action")))]
        words += [
            one
            for one in denied
            if "NotAction" in one and not any(names_action(word, start) for word in texts_of(one["NotAction"]))
        ]
        left = [
            thing
            for thing in things
            if not any(names_resource(pattern, thing, {}) for one in words for pattern in texts_of(one.get("Resource")))
            and not any("NotResource" in one for one in words)
        ]
        if left:
            message = f"is attached when the money is spent, and does not forbid {start} on {left[0]}, which is allowed"
            policy.warning("managed-brake-leaves", "policy", message, allowed='"Deny" of it on "*"')
            return


def _own_account(policy: View) -> str:
    """The account that a policy is of, as its ARN tells."""
    parts = (arn_of(policy.resource) or "").split(":")
    return parts[4] if len(parts) > 4 else ""


def _started(stack: Stack, roles: list[View], account: str) -> Iterator[tuple[str, list[str]]]:
    """What starts machines and roles may do, with examples of things that they may do it on."""
    held = [
        one
        for policy in stack.of_type(ROLE_POLICY)
        if policy.referred("role", ROLE) in roles
        for one in _statements(policy)
        if one.get("Effect") == "Allow"
    ]
    for start, what in _STARTS.items():
        things = [
            thing
            for one in held
            if any(names_action(word, start) for word in texts_of(one.get("Action")))
            for pattern in texts_of(one.get("Resource"))
            if "${" not in pattern and (thing := _example(pattern, what, stack.context.region, account))
        ]
        if things:
            yield start, things


def _example(pattern: str, what: str, region: str, account: str) -> str:
    """A thing of a kind that a pattern means, of the own region and account where it means any; empty where it means
    none of that kind."""
    service, _, usual = what.partition(":")
    parts = [*pattern.split(":", 5), *["*"] * 5][:6] if pattern != "*" else ["arn", "aws", service, "*", "*", "*"]
    if not names_resource(parts[2], service, {}):
        return ""
    kind = f"{usual.partition('/')[0]}/"
    if names_resource(parts[5], usual, {}):
        parts[5] = usual
    elif not parts[5].startswith(kind):
        return ""
    own = ("arn", "aws", service, region or "us-east-1", account or "123456789012")
    return ":".join(
        by if "*" in part else part for part, by in zip(parts, (*own, parts[5].replace("*", "x")), strict=True)
    )


def _held(stack: Stack) -> None:
    """Groups and subnets that every job has to be in let a job fetch its data."""
    policies = [*stack.of_type(ROLE_POLICY), *stack.of_type(IAM_POLICY)]
    network = Network(stack)
    if not network.subnets:
        return
    endpoints, groups = Endpoints(network), Groups(network)
    for policy in policies:
        for index, one in enumerate(_statements(policy)):
            allowed = one.get("Effect") == "Allow" and any(
                names_action(word, "sagemaker:CreateTrainingJob") for word in texts_of(one.get("Action"))
            )
            walls, subnets = (_values(one, key) for key in (_GROUPS, _SUBNETS)) if allowed else ([], [])
            if not walls or not subnets:
                continue
            why = closed_to_s3(endpoints, groups, subnets, walls)
            if why:
                message = f"jobs are held to groups with no way to S3: {why}"
                policy.error("managed-held-nowhere", f"policy.Statement[{index}]", message, hint="the group of jobs")


def _values(statement: Mapping[str, Any], key: str) -> list[str]:
    given = statement.get("Condition")
    return [
        value
        for how, keys in (given.items() if isinstance(given, Mapping) else ())
        if "Not" not in how and how != "Null" and isinstance(keys, Mapping) and key in keys
        for value in texts_of(keys[key])
    ]


def _statements(view: View) -> list[Mapping[str, Any]]:
    try:
        return list(statements(view.resource.inputs, "policy"))
    except UnreadableInput:
        return []
