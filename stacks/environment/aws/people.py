"""Who deploys an environment and administers it, as AWS names them."""

from __future__ import annotations

import pulumi
import pulumi_aws
import pulumi_aws.iam as iam

from trainyard.plan.aws.parts import AwsPlan
from trainyard.plan.parts import Plan


def deployer(aws: pulumi_aws.Provider) -> pulumi.Output[str]:
    """The IAM user or role that runs `pulumi up`; a session's own ARN has no path, and no cluster admits it."""
    invoke = pulumi.InvokeOutputOptions(provider=aws)
    caller = pulumi_aws.get_caller_identity_output(opts=invoke)
    context = iam.get_session_context_output(arn=caller.arn, opts=invoke)
    issuer: pulumi.Output[str] = context.issuer_arn
    return issuer


def administrators_of(plan: Plan[AwsPlan], deployed_by: pulumi.Input[str]) -> list[pulumi.Input[str]]:
    """Who may do what only administrators may with keys and, from anywhere, with buckets: those who deploy, by default
    whoever does, and the administrators of the clusters."""
    named = dict.fromkeys((*plan.ground.deployers, *plan.ground.admin_principal_arns))
    return [*named, *([] if plan.ground.deployers else [deployed_by])]
