"""Budgets of AWS: services that nothing is billed as, and actions that act on nothing, or at once.

Sources: AWS Cost Management user guide, "Budget filters" and "Configuring budget actions"; the names of services as
Cost Explorer's dimension `SERVICE` has them, as generally known (2026-11). A service that is not listed may be new:
only what all but repeats a listed one, or is its short form, is told of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.read import as_number
from trainyard.recorded.types import AWS_BUDGET, BUDGET_ACTION, ROLE
from trainyard.rehearsal.context import Stack, View, show

_SERVICES: Final = {
    "AWS Budgets": (), "AWS CloudTrail": ("CloudTrail",), "AWS Config": ("Config",),
    "AWS Cost Explorer": ("Cost Explorer",), "AWS Glue": ("Glue",),
    "AWS Key Management Service": ("AWS KMS", "KMS"), "AWS Lambda": ("Lambda",),
    "AWS Secrets Manager": ("Secrets Manager",), "Amazon DynamoDB": ("DynamoDB",),
    "Amazon EC2 Container Registry (ECR)": ("Amazon ECR", "ECR", "Amazon Elastic Container Registry"),
    "Amazon Elastic Compute Cloud - Compute": ("Amazon EC2", "EC2", "Amazon Elastic Compute Cloud"),
    "Amazon Elastic Container Service for Kubernetes": ("Amazon EKS", "EKS", "Amazon Elastic Kubernetes Service"),
    "Amazon Elastic File System": ("Amazon EFS", "EFS"), "Amazon Elastic Load Balancing": ("ELB",),
    "Amazon FSx": ("FSx", "Amazon FSx for Lustre"), "Amazon GuardDuty": ("GuardDuty",),
    "Amazon Relational Database Service": ("Amazon RDS", "RDS"), "Amazon Route 53": ("Route 53",),
    "Amazon SageMaker": ("SageMaker",), "Amazon Simple Notification Service": ("Amazon SNS", "SNS"),
    "Amazon Simple Queue Service": ("Amazon SQS", "SQS"), "Amazon Simple Storage Service": ("Amazon S3", "S3"),
    "Amazon Virtual Private Cloud": ("Amazon VPC", "VPC"), "AmazonCloudWatch": ("Amazon CloudWatch", "CloudWatch"),
    "EC2 - Other": (), "Amazon SageMaker AI": ("SageMaker AI",),
}  # fmt: skip
"""Services as the bill names them, with what people call them besides."""
_NEAR: Final = 0.85


def check(stack: Stack) -> None:
    """Every budget and every action on one."""
    for budget in stack.of_type(AWS_BUDGET):
        for path, one in budget.items("costFilters"):
            if one.get("name") == "Service":
                _services(budget, path)
    for action in stack.of_type(BUDGET_ACTION):
        _action(action, stack)


def _services(budget: View, path: str) -> None:
    for index, value in enumerate(budget.texts(f"{path}.values")):
        if value in _SERVICES:
            continue
        meant = next((known for known, others in _SERVICES.items() if value in others), "")
        meant = meant or nearest(value, _SERVICES, cutoff=_NEAR)
        if meant:
            budget.error(
                "programs-budget", f"{path}.values[{index}]",
                f"no service is billed as {show(value)}: nothing is counted", allowed=meant,
            )  # fmt: skip


def _action(action: View, stack: Stack) -> None:
    names = {view.text("name") for view in stack.of_type(AWS_BUDGET)}
    said = action.text("budgetName")
    if said is not None and names and None not in names and said not in names:
        near = nearest(said, [str(name) for name in names], cutoff=_NEAR)
        if near:
            action.error("programs-budget-action", "budgetName", f"there is no budget {show(said)}", allowed=near)
    threshold = as_number(action.value("actionThreshold.actionThresholdValue"))
    kind = action.text("actionThreshold.actionThresholdType")
    if kind == "PERCENTAGE" and threshold is not None and 0 < threshold <= 1:
        action.error(
            "programs-budget-action", "actionThreshold.actionThresholdValue",
            f"acts at {threshold:g} per cent of the budget, that is in its first hours",
            allowed=f"{threshold * 100:g} for {threshold * 100:g} per cent",
        )  # fmt: skip
    _roles(action, stack)


def _roles(action: View, stack: Stack) -> None:
    """A policy that is to be put on roles of the stack, whose names are texts: they may name none."""
    made = {view.resource.outputs.get("name") or view.text("name") for view in stack.of_type(ROLE)}
    if not made or not all(isinstance(name, str) for name in made):
        return
    definition: Mapping[str, Any] = action.mapping("definition.iamActionDefinition")
    names = definition.get("roles")
    for index, name in enumerate(names if isinstance(names, list) else ()):
        if isinstance(name, str) and name not in made:
            near = nearest(name, [str(one) for one in made], cutoff=_NEAR)
            if near:
                action.error(
                    "programs-budget-action", f"definition.iamActionDefinition.roles[{index}]",
                    f"there is no role {show(name)}", allowed=near,
                )  # fmt: skip
