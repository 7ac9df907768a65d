"""Security: who administers the cluster. Nobody of a team, by the cloud's own rights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from trainyard.conventions import team_group, team_namespace
from trainyard.policies import rbac
from trainyard.policies.grants import PROJECT_GRANTS, grants
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.recorded.read import mapping_at, texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import ACCESS_ENTRY, ACCESS_POLICY_ASSOCIATION, CONFIG_MAP, NAMESPACE
from trainyard.rehearsal.works.rights.aws.access_entries import entries


@stack_rule(
    "team-administers-cluster",
    "No principal of a team has the cloud's own rights on the cluster: what a team may do is for RBAC to say.",
    types=(ACCESS_ENTRY, ACCESS_POLICY_ASSOCIATION, CONFIG_MAP, NAMESPACE, *rbac.BINDINGS, *PROJECT_GRANTS),
    severity=Severity.CRITICAL,
    controls=("CIS EKS 1.5.0 4.1.1", "NIST 800-53r5 AC-6", "ISO 27001:2022 A.8.2"),
    fix="Take the access policy away; whoever administers the cluster too signs in with another role for it.",
    config={
        "administrators": {
            "type": "array",
            "items": {"type": "string"},
            "default": [],
            "description": "ARNs of principals that are of a team and administer the cluster all the same.",
        }
    },
)
def team_administers_cluster(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """A team may see its own namespace. `system:masters` is nobody's: no rule of RBAC can take its rights away."""
    groups = {entry.arn: entry.person.groups for entry in entries(resources)}
    for association in resources.of(ACCESS_POLICY_ASSOCIATION):
        arn = str(value_at(association.inputs, "principalArn"))
        teams = [
            group.removeprefix(team_group("")) for group in groups.get(arn, ()) if group.startswith(team_group(""))
        ]
        if not teams or arn in config["administrators"]:
            continue
        policy = str(value_at(association.inputs, "policyArn")).rsplit("/", 1)[-1]
        places = set(texts_at(association.inputs, "accessScope", "namespaces"))
        if policy != "AmazonEKSViewPolicy" or not places or places - set(map(team_namespace, teams)):
            yield association, f"gives {policy} to {arn}, who is of team {', '.join(teams)}"
    for entry in entries(resources):
        if "system:masters" in entry.person.groups:
            yield entry.resource, f"{entry.arn} is of the group system:masters"
    for found in resources.of(CONFIG_MAP):
        if value_at(found.inputs, "metadata", "name") == "aws-auth":
            for key, text in mapping_at(found.inputs, "data").items():
                if "system:masters" in str(text):
                    yield found, f"aws-auth puts somebody of {key} into the group system:masters"
    yield from _by_the_project(resources, config)


_OF_THE_CLUSTER: Final = ("roles/container.admin", "roles/container.developer")
"""Roles of Google Cloud whose holders GKE asks no RBAC about (GKE documentation, "Create IAM policies", as generally
known, 2026-11)."""


def _by_the_project(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """Groups and people who are bound in a team's namespace, with a role on the project that is one on all of GKE."""
    teams = {
        name: grant.namespace
        for _, grant in rbac.Bindings(resources).grants()
        for kind, name in grant.subjects
        if grant.namespace and kind in ("Group", "User") and not rbac.place_of(name)
    }
    for holder in resources.of(*PROJECT_GRANTS) if teams else ():
        for grant in grants(holder):
            for member in grant.members if grant.role in _OF_THE_CLUSTER else ():
                name = member.partition(":")[2]
                if member.startswith(("group:", "user:")) and name in teams and name not in config["administrators"]:
                    yield holder, f"gives {grant.role} to {name}, who is bound in {teams[name]}"
