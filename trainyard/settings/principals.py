"""What must fit together of who signs in to the cloud: teams' members, administrators, deployers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainyard.partitions import partition_of
from trainyard.problems import Problem, shown
from trainyard.settings.aws import PRINCIPAL, PRINCIPAL_ALLOWED

if TYPE_CHECKING:
    from trainyard.settings.common import Settings


GCP_PRINCIPAL = re.compile(r"(user|group|serviceAccount):[A-Za-z0-9._%+'-]+@([a-z0-9-]+\.)+[a-z]{2,63}")
GCP_PRINCIPAL_ALLOWED = (
    "must be who it is to Google Cloud: user:, group: or serviceAccount: and an address, like group:vision@acme.example"
)


def principal_checks(settings: Settings) -> Iterator[Problem]:
    """Who somebody is to the cloud is spelt as that cloud spells it, is of the region's part of it, and of one team."""
    of_teams = [
        (index, f"teams[{index}].principals[{place}]", principal)
        for index, team in enumerate(settings.teams)
        for place, principal in enumerate(team.principals)
    ]
    yield from (_on_gcp if settings.cloud == "gcp" else _on_aws)(settings, of_teams)
    yield from _of_one_team(of_teams)


def _on_gcp(settings: Settings, of_teams: list[tuple[int, str, str]]) -> Iterator[Problem]:
    """People, groups and accounts; a group is one on the cluster where the organisation's domain is told."""
    domain = settings.gcp.organisation_domain
    named = [(key, principal) for _, key, principal in of_teams]
    named += [(f"storage.ingestPrincipals[{n}]", who) for n, who in enumerate(settings.storage.ingest_principals)]
    for key, principal in named:
        if not GCP_PRINCIPAL.fullmatch(principal):
            yield Problem(key, shown(principal), GCP_PRINCIPAL_ALLOWED)
        elif principal.startswith("group:") and not principal.endswith(f"@{domain}"):
            allowed = f"must be a group of the domain {domain}" if domain else "needs gcp.organisationDomain"
            yield Problem(key, shown(principal), f"{allowed}: GKE knows no other groups")


def _on_aws(settings: Settings, of_teams: list[tuple[int, str, str]]) -> Iterator[Problem]:
    named = [(key, principal) for _, key, principal in of_teams]
    named += [(f"aws.adminPrincipals[{place}]", arn) for place, arn in enumerate(settings.aws.admin_principals)]
    named += [(f"storage.ingestPrincipals[{n}]", arn) for n, arn in enumerate(settings.storage.ingest_principals)]
    named += [(f"aws.deployers[{place}]", arn) for place, arn in enumerate(settings.aws.deployers)]
    named += [("aws.assumeRole", arn) for arn in [settings.aws.assume_role] if arn is not None]
    named += [
        (f"audit.breakGlass.principals[{place}]", arn)
        for place, arn in enumerate(settings.audit.break_glass.principals)
    ]
    partition = partition_of(settings.region)
    for key, principal in named:
        found = PRINCIPAL.fullmatch(principal)
        if found is None:
            yield Problem(key, shown(principal), PRINCIPAL_ALLOWED)
        elif found[1] != partition:
            allowed = f"must be of the partition {partition}, as {settings.region} is: arn:{partition}:iam::…"
            yield Problem(key, shown(principal), allowed)
    yield from _of_the_account(settings)


def _of_the_account(settings: Settings) -> Iterator[Problem]:
    """No other account is deployed to: neither by the role that is taken, nor by roles with another's boundary."""
    own, aws = settings.aws.account_id, settings.aws
    for key, arn in (("aws.assumeRole", aws.assume_role), ("aws.permissionsBoundary", aws.permissions_boundary)):
        account = arn.split(":")[4] if arn else ""
        if own is not None and account.isdigit() and account != own:
            yield Problem(key, shown(arn), f"must be of the account {own}, which is aws.accountId")


def _of_one_team(of_teams: list[tuple[int, str, str]]) -> Iterator[Problem]:
    """With two teams' rights at once, what one keeps from the other is one command away. The policy
    `person-of-several-teams` says the same of what is made."""
    first: dict[str, tuple[int, str]] = {}
    for team, key, principal in of_teams:
        other, where = first.setdefault(principal, (team, key))
        if other != team:
            allowed = f"is {where} too, and who signs in to the cluster is of one team"
            yield Problem(key, shown(principal), allowed, "give each team a role of its own: a person may take both")
