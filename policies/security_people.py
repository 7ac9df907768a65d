"""Security: who signs in to the cluster. Of one team, or of the platform."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from trainyard.conventions import team_group
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import ACCESS_ENTRY
from trainyard.rehearsal.works.rights.aws.access_entries import entries


@stack_rule(
    "person-of-several-teams",
    "Whoever signs in to the cluster is of one team.",
    types=(ACCESS_ENTRY,),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 AC-5", "ISO 27001:2022 A.5.3"),
    fix="Let them sign in with a role a team, or name the principal in ofSeveralTeams.",
    config={
        "ofSeveralTeams": {
            "type": "array",
            "items": {"type": "string"},
            "default": [],
            "description": "ARNs of principals that are of several teams on purpose.",
        }
    },
)
def person_of_several_teams(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """With both teams' rights at once what one keeps from the other is one command away, by mistake as well."""
    for entry in entries(resources):
        teams = sorted(group for group in set(entry.person.groups) if group.startswith(team_group("")))
        if len(teams) > 1 and entry.arn not in config["ofSeveralTeams"]:
            yield entry.resource, f"{entry.arn} is of {' and '.join(teams)}"
