"""An account as it is: as whom the program comes in, and what every role that it makes has to have there."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
import pulumi_aws
from pulumi.runtime import register_stack_transformation

from trainyard.plan.aws.parts import AwsPlan, RolesPlan
from trainyard.plan.parts import Plan

ROLE = "aws:iam/role:Role"


def provider(plan: Plan[AwsPlan]) -> pulumi_aws.Provider:
    """The one provider of AWS, as the plan says who deploys; by default whoever the environment's credentials are."""
    login = plan.ground.login
    return pulumi_aws.Provider(
        "aws",
        region=plan.ground.region,
        allowed_account_ids=[plan.ground.account_id] if plan.ground.account_id else None,
        default_tags={"tags": dict(plan.core.tags)},
        profile=login.profile,
        assume_roles=[pulumi_aws.ProviderAssumeRoleArgs(role_arn=login.assume_role, session_name=SESSION)]
        if login.assume_role
        else None,
    )


SESSION = "trainyard"
"""Name of the sessions of the assumed role: the trail shows it."""


def token_options(plan: Plan[AwsPlan]) -> Sequence[str]:
    """Options by which `aws eks get-token` is the same principal as the provider."""
    login = plan.ground.login
    return (
        *(("--profile", login.profile) if login.profile else ()),
        *(("--role-arn", login.assume_role) if login.assume_role else ()),
    )


def bind_roles(roles: RolesPlan) -> None:
    """Gives every role that is made from here on the account's path and its boundary."""
    bound = {
        **({"path": roles.path} if roles.path != "/" else {}),
        **({"permissions_boundary": roles.boundary} if roles.boundary else {}),
    }
    if bound:
        register_stack_transformation(lambda args: _bound(args, bound))


def _bound(
    args: pulumi.ResourceTransformationArgs, bound: dict[str, str]
) -> pulumi.ResourceTransformationResult | None:
    if args.type_ != ROLE:
        return None
    return pulumi.ResourceTransformationResult(props={**args.props, **bound}, opts=args.opts)
