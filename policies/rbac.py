"""Who is bound to what in Kubernetes, for every policy that asks: teams, everybody, and what each was given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final

from trainyard.conventions import TEAM_LABEL, team_group
from trainyard.conventions.team_rights import Right
from trainyard.policies.teams import team_namespaces
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    ACCESS_ENTRY,
    NAMESPACE,
    RBAC_CLUSTER_ROLE,
    RBAC_CLUSTER_ROLE_BINDING,
    RBAC_ROLE,
    RBAC_ROLE_BINDING,
)
from trainyard.rehearsal.works.rights.aws.access_entries import entries
from trainyard.rehearsal.works.rights.kubernetes.built_in import SERVICE_ACCOUNTS
from trainyard.rehearsal.works.rights.kubernetes.cluster import Cluster, Grant, Subject

BINDINGS: Final = (RBAC_ROLE, RBAC_CLUSTER_ROLE, RBAC_ROLE_BINDING, RBAC_CLUSTER_ROLE_BINDING)
"""Types that a policy on bindings looks at, besides who is bound."""
TYPES: Final = (*BINDINGS, NAMESPACE, ACCESS_ENTRY)
"""The same with what says who is of a team."""

ACCOUNT: Final = "system:serviceaccount:"


class Bindings:
    """The recorded bindings of a cluster, and who is of which team."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._by_urn = {found.urn: found for found in resources.of(RBAC_ROLE_BINDING, RBAC_CLUSTER_ROLE_BINDING)}

    @cached_property
    def teams(self) -> Mapping[str, str]:
        """The team of each namespace that is one's."""
        return {
            str(value_at(found.inputs, "metadata", "name")): str(
                value_at(found.inputs, "metadata", "labels", TEAM_LABEL)
            )
            for found in team_namespaces(self._resources)
        }

    @cached_property
    def _people(self) -> Mapping[str, tuple[str, ...]]:
        """Groups of who signs in through an access entry, by name."""
        return {entry.person.name: entry.person.groups for entry in entries(self._resources)}

    def grants(self) -> Iterator[tuple[RecordedResource, Grant]]:
        """Every recorded binding with what it gives. Raises `UnknownInput`."""
        for grant in Cluster(self._resources).bindings:
            yield self._by_urn[grant.urn], grant

    def teams_of(self, subject: Subject) -> set[str]:
        """The teams that a subject is of: their groups, who has such a group, and the pods of their namespaces."""
        kind, name = subject
        groups = self._people.get(name, ()) if kind == "User" else (name,)
        found = {team for team in self.teams.values() if team_group(team) in groups}
        namespace = name.removeprefix(f"{SERVICE_ACCOUNTS}:") if kind == "Group" else namespace_of(name)
        return found | ({self.teams[namespace]} if namespace in self.teams else set())


def namespace_of(user: str) -> str:
    """The namespace of a service account by its user name; empty for another user."""
    return user.removeprefix(ACCOUNT).partition(":")[0] if user.startswith(ACCOUNT) else ""


def place_of(user: str) -> str:
    """`namespace/name` of a service account by its user name; empty for another user."""
    return user.removeprefix(ACCOUNT).replace(":", "/", 1) if user.startswith(ACCOUNT) else ""


def words(subject: Subject) -> str:
    """A subject in words."""
    kind, name = subject
    return f"service account {place_of(name)}" if place_of(name) else f"{kind.lower()} {name}"


def is_within(grant: Grant, rights: Iterable[Right]) -> bool:
    """Whether a grant gives nothing but these rights. One whose rules are not known gives more."""
    allowed = {
        (right.group, resource, verb) for right in rights for resource in right.resources for verb in right.verbs
    }
    return grant.rules is not None and all(
        not rule.urls
        and {(group, resource, verb) for group in rule.groups for resource in rule.resources for verb in rule.verbs}
        <= allowed
        for rule in grant.rules
    )
