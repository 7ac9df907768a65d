"""Settings: who did what is on record, somebody is told of what looks like an attack, and there is a way in when all
others are shut. The block `audit` of a stack file."""

from typing import Annotated, Literal

from pydantic import Field

from trainyard.settings.types import Days, Model, StandIn, matching

Reason = Annotated[str, Field(min_length=10, max_length=500), StandIn("unseen reason {number}")]

UserWithMfa = Annotated[
    str,
    matching(
        r"arn:(aws|aws-cn|aws-us-gov|aws-iso|aws-iso-b):iam::[0-9]{12}:user/([!-.0-~]+/)*[A-Za-z0-9_+=,.@-]{1,64}",
        "must be the ARN of an IAM user, like arn:aws:iam::123456789012:user/name: the session of a role does not say "
        "whether its owner had a second factor",
    ),
    StandIn("arn:aws:iam::123456789012:user/unseen-{number}"),
]


class Trail(Model):
    """The trail: who did what in the account, and who read or wrote which object of the tiers."""

    by: Literal["stack", "organization", "none"] = Field(
        default="stack", description="whose trail it is: this stack's own, the organisation's, or none"
    )
    reason: Reason | None = Field(
        default=None, description="why it is so; must be there where it is not the stack's own"
    )
    retention_days: Days | None = Field(default=None, description="days that its files are kept")
    lock: Literal["governance", "compliance"] | None = Field(
        default=None,
        description="governance: who may bypass the lock can delete its files; compliance: nobody can, root neither",
    )
    lock_days: Days | None = Field(default=None, description="days in which nobody changes or deletes one of its files")


class ThreatDetection(Model):
    """Amazon GuardDuty, of which an account has one a region."""

    by: Literal["stack", "account", "none"] = Field(
        default="stack", description="whose it is: this stack's own, one that the account has already, or none"
    )
    reason: Reason | None = Field(
        default=None, description="why it is so; must be there where it is not the stack's own"
    )
    runtime: bool = Field(
        default=False, description="an agent on every node that sees what programs do; paid by the vCPU"
    )


class ContainerLogs(Model):
    """What the teams' containers write to stdout and stderr."""

    enabled: bool | None = Field(default=None, description="whether it is kept beyond the pod")
    retention_days: int | None = Field(default=None, description="days that it is kept; a value that CloudWatch takes")


class BreakGlass(Model):
    """A role for the day on which nobody else can reach the cluster; whoever takes it sets off an alarm."""

    principals: list[UserWithMfa] = Field(
        default=[], description="ARNs of the IAM users who may take it, with a second factor; none: there is no role"
    )


class Audit(Model):
    """Trail, threat detection, and the way in for emergencies."""

    trail: Trail = Field(default=Trail(), description="who did what, and who read or wrote which object of the tiers")
    threat_detection: ThreatDetection = Field(default=ThreatDetection(), description="findings of Amazon GuardDuty")
    container_logs: ContainerLogs = Field(
        default=ContainerLogs(), description="what the teams' containers write to stdout and stderr"
    )
    break_glass: BreakGlass = Field(default=BreakGlass(), description="the way in when all others are shut")
