"""The recorded cluster: may somebody do something with its objects?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_set, mapping_at, mappings_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.selectors import selects
from trainyard.recorded.types import (
    RBAC_CLUSTER_ROLE,
    RBAC_CLUSTER_ROLE_BINDING,
    RBAC_ROLE,
    RBAC_ROLE_BINDING,
    SERVICE_ACCOUNT,
)
from trainyard.rehearsal.works.rights.kubernetes.built_in import (
    AGGREGATED,
    AUTHENTICATED,
    BOUND,
    ROLES,
    SERVICE_ACCOUNTS,
    UNAUTHENTICATED,
)
from trainyard.rehearsal.works.rights.kubernetes.rules import Ask, Rule, ask, read_rules
from trainyard.rehearsal.works.rights.principals import Person, Pod
from trainyard.rehearsal.works.rights.verdict import Verdict

AGGREGATE_TO: Final = "rbac.authorization.k8s.io/aggregate-to-"

Subject = tuple[str, str]
"""Kind and name of who a grant is for; a service account's name is its user name."""


@dataclass(frozen=True, slots=True)
class Grant:
    """Rules that somebody has, in a namespace or, where that is empty, everywhere. No rules: they are not known.

    Access policies of EKS take wildcards in the namespace; a name of Kubernetes has none.
    """

    subjects: frozenset[Subject]
    rules: tuple[Rule, ...] | None
    namespace: str
    words: str  # "RoleBinding team-a/members to Role member"
    urn: str = ""
    role: str = ""  # its name, where a role is bound

    def reaches(self, asked: Ask) -> bool:
        """Whether it is about the place of a request."""
        return not self.namespace or (not asked.url and fnmatchcase(asked.namespace, self.namespace))


class Cluster:
    """What is recorded of the RBAC of a cluster, with what every cluster brings.

    `more` are grants of another authorizer, such as the access policies of EKS.
    """

    def __init__(self, resources: Resources, more: Sequence[Grant] = ()) -> None:
        self._resources = resources
        self._more = tuple(more)

    def may(self, who: Person | Pod, verb: str, thing: str, namespace: str = "", name: str = "") -> Verdict:
        """Whether the API server allows a request.

        Args:
            who: somebody with groups, or a pod with its service account.
            verb: `get`, `create`, `impersonate`, …
            thing: `pods`, `pods/exec`, `jobs.batch`, or a URL.
            namespace: where; empty for the whole cluster.
            name: of the one object that is meant.

        Raises:
            UnknownInput: a role or a binding is not known yet.
        """
        asked = ask(verb, thing, namespace, name)
        unknown = None
        for grant in self.grants_of(who):
            if not grant.reaches(asked):
                continue
            if grant.rules is None:
                unknown = unknown or Verdict("unknown", f"{grant.words}: its rules are not recorded", grant.urn)
            elif any(rule.allows(asked) for rule in grant.rules):
                return Verdict("yes", f"{grant.words} lets {who} {asked}", grant.urn)
        if unknown is not None:
            return unknown
        if isinstance(who, Pod) and not self._is_recorded(who):
            return Verdict("unknown", f"{who}: nothing records that service account, a chart may bring it with roles")
        return Verdict("no", f"no role of {who} allows to {asked}")

    def grants_of(self, who: Person | Pod) -> Iterator[Grant]:
        """Everything that somebody has been given, by name and by group."""
        mine = _subjects_of(who)
        return (grant for grant in self.grants if grant.subjects & mine)

    @cached_property
    def grants(self) -> tuple[Grant, ...]:
        """Every grant of the cluster: recorded bindings, what every cluster brings, and what others give."""
        return (*self.bindings, *_of_every_cluster(self.cluster_roles), *self._more)

    @cached_property
    def bindings(self) -> tuple[Grant, ...]:
        """What recorded bindings give."""
        return tuple(self._recorded())

    @cached_property
    def cluster_roles(self) -> dict[str, tuple[Rule, ...]]:
        """Rules by the name of the cluster role, with what others add to it by their labels."""
        recorded = {str(_metadata(role, "name")): role for role in self._resources.of(RBAC_CLUSTER_ROLE)}
        own = {name: read_rules(role.inputs) for name, role in recorded.items()}
        found = {**ROLES, **own}
        for name, role in recorded.items():
            for selector in mappings_at(role.inputs, "aggregationRule", "clusterRoleSelectors"):
                found[name] += _selected(selector, recorded.values(), own)
        for name, parts in AGGREGATED.items():
            for part in parts:
                found[name] += _selected({"matchLabels": {f"{AGGREGATE_TO}{part}": "true"}}, recorded.values(), own)
        return found

    def _recorded(self) -> Iterator[Grant]:
        roles = {
            (str(_metadata(role, "namespace")), str(_metadata(role, "name"))): read_rules(role.inputs)
            for role in self._resources.of(RBAC_ROLE)
        }
        for binding in self._resources.of(RBAC_ROLE_BINDING, RBAC_CLUSTER_ROLE_BINDING):
            wide = binding.type == RBAC_CLUSTER_ROLE_BINDING
            namespace = "" if wide else str(_metadata(binding, "namespace"))
            kind, role = value_at(binding.inputs, "roleRef", "kind"), str(value_at(binding.inputs, "roleRef", "name"))
            rules = self.cluster_roles.get(role) if kind == "ClusterRole" else roles.get((namespace, role))
            place = (
                f"ClusterRoleBinding {_metadata(binding, 'name')}"
                if wide
                else (f"RoleBinding {namespace}/{_metadata(binding, 'name')}")
            )
            subjects = frozenset(_subject(found, namespace) for found in mappings_at(binding.inputs, "subjects"))
            yield Grant(subjects, rules, namespace, f"{place} to {kind} {role}", binding.urn, role)

    def _is_recorded(self, pod: Pod) -> bool:
        return pod.service_account == "default" or any(
            (_metadata(found, "namespace"), _metadata(found, "name")) == (pod.namespace, pod.service_account)
            for found in self._resources.of(SERVICE_ACCOUNT)
        )


def _of_every_cluster(roles: dict[str, tuple[Rule, ...]]) -> Iterator[Grant]:
    for role, groups in BOUND.items():
        subjects = frozenset(("Group", group) for group in groups)
        yield Grant(subjects, roles[role], "", f"the cluster's own binding to ClusterRole {role}")


def _subjects_of(who: Person | Pod) -> frozenset[Subject]:
    if isinstance(who, Pod):
        groups = (SERVICE_ACCOUNTS, f"{SERVICE_ACCOUNTS}:{who.namespace}", AUTHENTICATED)
        return frozenset({("User", who.user), *(("Group", group) for group in groups)})
    signed_in = () if UNAUTHENTICATED in who.groups else (AUTHENTICATED,)
    return frozenset({("User", who.name), *(("Group", group) for group in (*who.groups, *signed_in))})


def _subject(found: Any, namespace: str) -> Subject:
    kind, name = str(value_at(found, "kind")), str(value_at(found, "name"))
    if kind == "ServiceAccount":
        return "User", f"system:serviceaccount:{value_at(found, 'namespace', default=namespace)}:{name}"
    return kind, name


def _selected(selector: Any, roles: Iterable[RecordedResource], rules: dict[str, tuple[Rule, ...]]) -> tuple[Rule, ...]:
    return tuple(
        rule
        for role in roles
        if is_set(role.inputs, "metadata", "labels")
        and selects(selector, mapping_at(role.inputs, "metadata", "labels"))
        for rule in rules[str(_metadata(role, "name"))]
    )


def _metadata(resource: RecordedResource, key: str) -> Any:
    return value_at(resource.inputs, "metadata", key)
