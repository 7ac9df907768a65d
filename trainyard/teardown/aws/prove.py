"""The proof: every known kind listed by its own service, and all that the tagging service knows besides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from trainyard.account.aws import Account, CannotAskError, NoCredentialsError
from trainyard.account.marks import marks_of
from trainyard.plan.parts import Plan
from trainyard.teardown.aws import machines, stores
from trainyard.teardown.aws.search import Finder, Search, kind_of
from trainyard.teardown.model import Kept, Left, Proof, Unseen, less

FINDERS: Final[Mapping[str, tuple[Finder, tuple[str, ...]]]] = {**machines.FINDERS, **stores.FINDERS}

FREE_KINDS: Final = frozenset(
    (
        "autoscaling:autoScalingGroup", "budgets:budget", "ec2:dhcp-options", "ec2:fleet",
        "ec2:internet-gateway", "ec2:launch-template", "ec2:network-acl", "ec2:placement-group",
        "ec2:route-table", "ec2:security-group", "ec2:security-group-rule", "ec2:spot-instances-request",
        "ec2:subnet", "ec2:vpc-peering-connection", "eks:access-entry", "eks:addon", "eks:nodegroup",
        "eks:podidentityassociation", "elasticfilesystem:access-point", "elasticloadbalancing:listener",
        "elasticloadbalancing:listener-rule", "elasticloadbalancing:targetgroup", "events:rule",
        "fsx:association", "fsx:task", "iam:instance-profile", "iam:oidc-provider", "iam:policy",
        "iam:role", "logs:query-definition", "rds:pg", "rds:subgrp", "route53resolver:firewall-rule-group",
        "sagemaker:domain", "sagemaker:experiment", "sagemaker:mlflow-app", "sagemaker:model-package",
        "sagemaker:model-package-group", "sagemaker:studio-lifecycle-config", "sagemaker:training-job",
        "sagemaker:user-profile", "sns",
    )
)  # fmt: skip
"""Kinds of ARN that cost nothing while nothing uses them: what works in them is listed by itself. As the cards say of
the types that make them, and the services' pricing pages (2026-11)."""


def prove(plan: Plan, account: Account, kept: Iterable[Kept] = ()) -> Proof:
    """Everything of an environment that is left in its region, and what has its tags where services have no region.

    Raises:
        NoCredentialsError: there is nobody to ask as, so that nothing is proven of anything.
    """
    unseen: list[Unseen] = []
    marks = marks_of(plan.core.tags)
    tagged: dict[str, str] = {}
    for region in dict.fromkeys((account.region, account.global_region)):
        try:
            tagged |= {arn: kind_of(arn) for arn in _tagged(account, region, marks)}
        except NoCredentialsError:
            raise
        except CannotAskError as error:
            unseen.append(Unseen(f"what has the environment's tags in {region}", str(error), error.remedy))
    names = tuple(each.cluster for each in plan.ground.control_planes)
    search = Search(account, marks, plan.core.name, names, tagged)
    left: list[Left] = []
    looked: set[str] = set()
    for name, (find, kinds) in FINDERS.items():
        try:
            left += find(search)
        except NoCredentialsError:
            raise
        except CannotAskError as error:
            unseen.append(Unseen(name, str(error), error.remedy))
        looked.update(kinds)
    left += _others(search, looked, {each.arn for each in left})
    return Proof(less(left, kept), tuple(unseen))


def _tagged(account: Account, region: str, marks: Mapping[str, str]) -> Iterator[str]:
    filters = [{"Key": key, "Values": [value]} for key, value in marks.items()]
    for each in account.each(
        "resourcegroupstaggingapi", "get_resources", "ResourceTagMappingList", region=region, TagFilters=filters
    ):
        yield each["ResourceARN"]


def _others(search: Search, looked: set[str], seen: set[str]) -> Iterator[Left]:
    """What has the tags and no service of its own here.

    What a service was asked for itself and did not list is gone: the tagging service tells it for hours. One that is
    of another region was not asked for.
    """
    for arn, kind in search.tagged.items():
        elsewhere = arn.split(":")[3] not in ("", search.region)
        if arn in seen or (kind in looked and not elsewhere):
            continue
        price = 0.0 if kind in FREE_KINDS else None
        told = "costs nothing by itself" if price == 0.0 else "nobody here knows what it costs"
        yield Left(kind, arn.rpartition(":")[2], "tag", price, told, arn)
