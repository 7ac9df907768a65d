"""Security: what teams may do in the cluster. Their list, in their own namespace, and nothing for everybody."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Final

from pulumi_policy import Severity

from trainyard.conventions import team_group, team_namespace
from trainyard.conventions.team_rights import IN_THE_CLUSTER, IN_THE_OWN_NAMESPACE, Right
from trainyard.policies import rbac
from trainyard.policies.grants import PROJECT_GRANTS, grants
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.recorded.read import is_on, mapping_at, texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import ACCESS_ENTRY, ACCESS_POLICY_ASSOCIATION, CONFIG_MAP, GKE_CLUSTER, NAMESPACE
from trainyard.rehearsal.works.rights.aws.access_entries import entries
from trainyard.rehearsal.works.rights.kubernetes.built_in import AUTHENTICATED, ROLES, SERVICE_ACCOUNTS, UNAUTHENTICATED
from trainyard.rehearsal.works.rights.kubernetes.cluster import Grant, Subject
from trainyard.rehearsal.works.rights.kubernetes.rules import Rule, ask, rule

_ALL_SIGNED_IN: Final = tuple(
    rules for name, rules in ROLES.items() if name in ("system:discovery", "system:basic-user")
)


@stack_rule(
    "team-rights-beyond-its-list",
    "A team's people and pods may do in the cluster what is on the list of a team's rights, and nothing else.",
    types=rbac.TYPES,
    severity=Severity.CRITICAL,
    controls=("CIS EKS 1.5.0 4.1.8", "NIST 800-53r5 AC-6", "ISO 27001:2022 A.8.2"),
    fix="Take the right away, or name it in furtherRights where every team is to have it.",
    config={
        "furtherRights": {
            "type": "array",
            "items": {"type": "string", "pattern": "^[a-z]+ [a-z.]+(/[a-z]+)?$"},
            "default": [],
            "description": "Rights besides the list, as verb and resource: get deployments.apps, create pods/attach.",
        }
    },
)
def team_rights_beyond_its_list(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """Whoever is bound in a team's namespace counts as of the team, but service accounts of other namespaces."""
    bindings, further = rbac.Bindings(resources), [_further(text) for text in config["furtherRights"]]
    for binding, grant in bindings.grants():
        of_team = {subject for subject in grant.subjects if bindings.teams_of(subject)}
        if grant.namespace in bindings.teams:
            of_team |= {subject for subject in grant.subjects if not rbac.place_of(subject[1])}
        elif grant.namespace:
            continue  # binding-across-teams tells it
        if not of_team:
            continue
        who = ", ".join(sorted(map(rbac.words, of_team)))
        allowed = [*map(_rule, IN_THE_CLUSTER), *(found for rules in _ALL_SIGNED_IN for found in rules), *further]
        allowed += map(_rule, IN_THE_OWN_NAMESPACE) if grant.namespace else ()
        for excess in _beyond(grant, allowed):
            yield binding, f"{grant.words} lets {who} {excess} in {grant.namespace or 'the whole cluster'}"


def _beyond(grant: Grant, allowed: Iterable[Rule]) -> Iterator[str]:
    if grant.rules is None:
        yield "do what a role allows that nothing records"
        return
    allowed = list(allowed)
    for found in grant.rules:
        for url in sorted(found.urls):
            if not any(url in other.urls and found.verbs <= other.verbs for other in allowed):
                yield f"{_verbs(found)} {url}"
        for group in sorted(found.groups):
            for resource in sorted(found.resources):
                verbs = sorted(verb for verb in found.verbs if not _covered(verb, group, resource, allowed))
                if verbs:
                    yield f"{'/'.join(verbs)} {resource}{f'.{group}' if group else ''}"


def _covered(verb: str, group: str, resource: str, allowed: list[Rule]) -> bool:
    return any(verb in found.verbs and group in found.groups and resource in found.resources for found in allowed)


def _rule(right: Right) -> Rule:
    return rule(right.verbs, right.resources, (right.group,))


def _further(text: str) -> Rule:
    asked = ask(*text.split(" ", 1))
    return rule((asked.verb,), (asked.resource,), (asked.group,))


def _verbs(found: Rule) -> str:
    return "/".join(sorted(found.verbs))


@stack_rule(
    "binding-across-teams",
    "Nobody of a team is bound in a namespace that is not the team's.",
    types=rbac.TYPES,
    severity=Severity.CRITICAL,
    controls=("CIS EKS 1.5.0 4.1.1", "NIST 800-53r5 AC-3", "ISO 27001:2022 A.8.3"),
    fix="Bind the team in its own namespace, or name the namespace in sharedNamespaces.",
    config={
        "sharedNamespaces": {
            "type": "array",
            "items": {"type": "string"},
            "default": [],
            "description": "Namespaces that teams share (globs).",
        }
    },
)
def binding_across_teams(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """A team is its group, who has it through an access entry, and the service accounts of its namespace."""
    bindings = rbac.Bindings(resources)
    for binding, grant in bindings.grants():
        if not grant.namespace or any(fnmatchcase(grant.namespace, glob) for glob in config["sharedNamespaces"]):
            continue
        for subject in sorted(grant.subjects):
            teams = bindings.teams_of(subject)
            if teams and bindings.teams.get(grant.namespace) not in teams:
                yield binding, f"{grant.words} lets {rbac.words(subject)} into {grant.namespace}"


@stack_rule(
    "binding-to-everybody",
    "No binding is for everybody: whoever signs in or does not, every pod, or every pod without an account of its own.",
    types=(*rbac.BINDINGS, ACCESS_ENTRY, GKE_CLUSTER),
    severity=Severity.CRITICAL,
    controls=("CIS EKS 1.5.0 4.1.5", "NIST 800-53r5 AC-3", "ISO 27001:2022 A.8.3"),
    fix="Bind the group, or the service account of the one workload, that needs it.",
)
def binding_to_everybody(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """What every cluster binds to everybody, discovery and the version, may be bound again."""
    for cluster in resources.of(GKE_CLUSTER):
        if is_on(cluster.inputs, "enableLegacyAbac"):
            yield cluster, "enableLegacyAbac is on: every service account may do everything, whatever RBAC says"
        for key, who in _INSECURE.items():
            if is_on(cluster.inputs, "rbacBindingConfig", key):
                yield cluster, f"rbacBindingConfig.{key} is on: rights may be bound to {who}"
    for binding, grant in rbac.Bindings(resources).grants():
        if grant.role in ("system:discovery", "system:basic-user", "system:public-info-viewer"):
            continue
        for subject in sorted(grant.subjects):
            who = _everybody(subject)
            if who:
                yield binding, f"{grant.words} is for {who}"


_INSECURE: Final = {
    "enableInsecureBindingSystemAuthenticated": "whoever has an account of Google",
    "enableInsecureBindingSystemUnauthenticated": "whoever reaches the API",
}
"""What of the cluster's own settings lets rights be bound to everybody, and who that is (GKE API, `RBACBindingConfig`,
as generally known, 2026-11)."""


def _everybody(subject: Subject) -> str:
    _, name = subject
    if name in (AUTHENTICATED, UNAUTHENTICATED, SERVICE_ACCOUNTS):
        return f"the group {name}"
    if name.startswith(f"{SERVICE_ACCOUNTS}:"):
        return f"every pod of {name.removeprefix(f'{SERVICE_ACCOUNTS}:')}"
    if rbac.place_of(name) and name.endswith(":default"):
        return f"every pod of {rbac.namespace_of(name)} that names no service account"
    return "whoever does not sign in" if name == "system:anonymous" else ""


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
