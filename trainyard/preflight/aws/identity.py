"""Who asks, in which account, and whether it is the one that the stack is for."""

from __future__ import annotations

from typing import Final

from trainyard.account.aws import Account
from trainyard.preflight.aws.subject import AwsSubject
from trainyard.preflight.model import Answer, Lines, lines_of

NAME: Final = "identity"
_line = lines_of(NAME)


def check(subject: AwsSubject, account: Account) -> Lines:
    """Account and identity; the region, which may have to be switched on; and who the plan says deploys."""
    ground, found = subject.plan.ground, account.identity
    here, arn = found["account"], found["arn"]
    if ground.account_id not in (None, here):
        remedy = f"come in with credentials of {ground.account_id}, or correct aws.accountId"
        yield _line(
            "account", Answer.FAILS, f"these are credentials of {here}, the stack is for {ground.account_id}", remedy
        )
    else:
        yield _line("account", Answer.FINE, f"account {here}, as {arn}")
    if arn.endswith(":root"):
        remedy = "deploy as a role: the root user's doings cannot be limited"
        yield _line("root user", Answer.UNKNOWN, "these are credentials of the account's root user", remedy)
    yield from _named(subject, role_of(arn))
    yield from _region(account)


def _named(subject: AwsSubject, own: str | None) -> Lines:
    """Whether who asks is among those whom the settings name; where they name nobody, it is whoever deploys.

    Keys admit the deployers, or whoever deploys, and administrators; a cluster that names anybody admits those alone.
    """
    ground = subject.plan.ground
    named = (*ground.deployers, *ground.admin_principal_arns)
    if own is None or not named or any(own == given or _same_role(given, own) for given in named):
        return
    if ground.deployers:
        told = f"{own} is none of aws.deployers: the keys' policies would shut it out of what it makes"
        yield _line("deployers", Answer.FAILS, told, f"add {own} to aws.deployers, or come in as one of them")
    elif subject.plan.clusters:
        told = f"{own} is none of aws.adminPrincipals: it makes the cluster, and then nothing on it"
        remedy = f"add {own} to aws.adminPrincipals or aws.deployers, or come in as one of them"
        yield _line("administrators", Answer.FAILS, told, remedy)


def _region(account: Account) -> Lines:
    regions = list(account.each("ec2", "describe_regions", "Regions", RegionNames=[account.region], AllRegions=True))
    status = regions[0].get("OptInStatus", "opt-in-not-required") if regions else "unknown here"
    if status in ("opt-in-not-required", "opted-in"):
        yield _line("region", Answer.FINE, f"{account.region} is on in this account")
        return
    command = f"aws account enable-region --region-name {account.region}"
    told = f"{account.region} is not on in this account: {status}"
    yield _line("region", Answer.FAILS, told, "switch it on, which takes minutes to hours", command)


def role_of(arn: str) -> str | None:
    """The IAM identity behind an ARN of STS, without its path, which STS does not tell; None of the root user."""
    parts = arn.split(":", 5)
    if parts[2] == "sts" and parts[5].startswith("assumed-role/"):
        return f"arn:{parts[1]}:iam::{parts[4]}:role/{parts[5].split('/')[1]}"
    return arn if parts[2] == "iam" and parts[5] != "root" else None


def _same_role(given: str, found: str) -> bool:
    """Whether two ARNs are of one role, where one may lack its path."""
    return (given.split(":")[4], given.rpartition("/")[2]) == (found.split(":")[4], found.rpartition("/")[2])
