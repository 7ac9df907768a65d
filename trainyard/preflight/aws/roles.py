"""The service-linked roles that services act by in an account: most make their own, given the right to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from trainyard.account.aws import Account, RefusedError, tags_in
from trainyard.preflight.aws.subject import AwsSubject
from trainyard.preflight.model import Answer, Lines, lines_of

NAME: Final = "service-linked roles"
_line = lines_of(NAME)

AUTOSCALING: Final = "AWSServiceRoleForAutoScaling"


@dataclass(frozen=True, slots=True)
class Linked:
    """A role by its fixed name, and the service that it is made for."""

    role: str
    service: str
    types: tuple[str, ...]  # of resources that need it


LINKED: Final = (
    Linked("AWSServiceRoleForAmazonEKS", "eks.amazonaws.com", ("aws:eks/cluster:Cluster",)),
    Linked("AWSServiceRoleForAmazonEKSNodegroup", "eks-nodegroup.amazonaws.com", ("aws:eks/nodeGroup:NodeGroup",)),
    Linked(AUTOSCALING, "autoscaling.amazonaws.com", ("aws:eks/nodeGroup:NodeGroup", "aws:autoscaling/group:Group")),
    Linked("AWSServiceRoleForRDS", "rds.amazonaws.com", ("aws:rds/instance:Instance",)),
    Linked("AWSServiceRoleForAmazonFSx", "fsx.amazonaws.com", ("aws:fsx/lustreFileSystem:LustreFileSystem",)),
    Linked(
        "AWSServiceRoleForAmazonElasticFileSystem",
        "elasticfilesystem.amazonaws.com",
        ("aws:efs/fileSystem:FileSystem",),
    ),
    Linked("AWSServiceRoleForAmazonGuardDuty", "guardduty.amazonaws.com", ("aws:guardduty/detector:Detector",)),
)
"""Names and services: IAM User Guide and the services' own pages on service-linked roles, 2026-11."""

SPOT: Final = Linked("AWSServiceRoleForEC2Spot", "spot.amazonaws.com", ())


def check(subject: AwsSubject, account: Account) -> Lines:
    """Each role that the recorded types need: there, made on first use, or missing where a key's policy names it."""
    wanted = [linked for linked in LINKED if subject.resources.of(*linked.types)]
    if any(group.capacity == "spot" for cluster in subject.plan.clusters for group in cluster.node_groups):
        wanted.append(SPOT)
    made = subject.plan.ground.create_autoscaling_role
    for linked in wanted:
        there, create = (
            _is_there(account, linked.role),
            f"aws iam create-service-linked-role --aws-service-name {linked.service}",
        )
        if linked.role == AUTOSCALING and made and there and not _is_own(account):
            told = "it is there, and aws.createAutoscalingRole would make it once more"
            yield _line(linked.role, Answer.FAILS, told, "take aws.createAutoscalingRole out")
        elif there or (linked.role == AUTOSCALING and made):
            yield _line(linked.role, Answer.FINE, "it is there" if there else "the stack makes it")
        elif linked.role == AUTOSCALING:
            told = "it is not there, and a key whose policy names a role that is not there is refused"
            yield _line(
                linked.role, Answer.FAILS, told, "make it, or set aws.createAutoscalingRole for the first `up`", create
            )
        else:
            told = f"it is not there; {linked.service} makes it on first use, as whoever deploys may let it"
            yield _line(linked.role, Answer.FINE, told, "where nobody may make roles by the way, make it first", create)


def _is_there(account: Account, role: str) -> bool:
    try:
        account.call("iam", "get_role", RoleName=role)
    except RefusedError as error:
        if error.is_absence:
            return False
        raise
    return True


def _is_own(account: Account) -> bool:
    """Whether a stack of ours made the role, as its tags say."""
    role = account.call("iam", "get_role", RoleName=AUTOSCALING)["Role"]
    return tags_in(role).get("managed-by") == "trainyard"
