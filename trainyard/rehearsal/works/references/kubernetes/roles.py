"""Roles and bindings: what a rule speaks of exists, and who is bound is somebody.

Source: Kubernetes documentation, "Using RBAC Authorization", as generally known. A rule for a resource in the wrong
group is accepted and allows nothing; so does a binding to a role, or of somebody, that is not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trainyard.conventions import TEAM_LABEL
from trainyard.problems import nearest
from trainyard.recorded.model import UNKNOWN, has_unknown
from trainyard.recorded.read import UnreadableInput
from trainyard.recorded.selectors import selects
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.works.references.kubernetes.api_resources import CUSTOM, RESOURCES, SUBRESOURCES, VERBS
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, place
from trainyard.rehearsal.works.rights.kubernetes.built_in import ROLES

_KNOWN: Final[Mapping[str, frozenset[str]]] = {**RESOURCES, **CUSTOM}
_NAMED_VERBS: Final = ("create", "deletecollection")
_OF_HTTP: Final[Mapping[str, str]] = {"post": "create", "put": "update"}
"""Verbs of HTTP by those of RBAC that they are."""
_OWN_DOMAIN: Final = TEAM_LABEL.partition("/")[0]
"""What labels begin with that no chart gives its roles; a release's roles may well have those of other domains."""


def _gathered(cluster: Cluster) -> None:
    """A role that is gathered from others: its own rules are overwritten, with nothing where no other is meant."""
    roles = cluster.of("ClusterRole", "ClusterRole.rbac.authorization.k8s.io")
    for view in roles:
        if view.lacks("aggregationRule") or view.is_unknown("aggregationRule"):
            continue
        if view.entries("rules"):
            # The same as what is gathered may stand there, as of an object that was taken over from a cluster.
            view.warning(
                "reference-aggregation", "rules",
                "are overwritten: the controller writes there what it gathers by aggregationRule", allowed="none",
            )  # fmt: skip
        wanted = [one for _, one in view.items("aggregationRule.clusterRoleSelectors")]
        if has_unknown(wanted) or any(other.blurred("metadata.labels") for other in roles):
            continue
        keys = [key for one in wanted for key in _keys(one)]
        of_releases = bool(cluster.releases) and not all(_OWN_DOMAIN in key.partition("/")[0] for key in keys)
        try:
            found = any(selects(one, other.mapping("metadata.labels")) for one in wanted for other in roles)
        except UnreadableInput:
            continue
        by_others = of_releases or any("kubernetes.io" in key for key in keys)
        if wanted and not found and cluster.makes_everything and not by_others:
            view.error(
                "reference-aggregation", "aggregationRule", "means no role of the stack: whoever has it may do nothing",
                allowed="labels of ClusterRoles",
            )  # fmt: skip


def _keys(selector: Mapping[str, object]) -> list[str]:
    """The keys of the labels that a selector asks for."""
    labels, expressions = selector.get("matchLabels"), listed(selector.get("matchExpressions"))
    by_value = [str(key) for key in labels] if isinstance(labels, Mapping) else []
    return by_value + [str(one.get("key")) for one in expressions if isinstance(one, Mapping)]


def check(cluster: Cluster) -> None:
    """Every check of a role or a binding."""
    _gathered(cluster)
    for view in cluster.of("Role", "ClusterRole"):
        for path, rule in view.items("rules"):
            _rule(view, path, rule)
    for view in cluster.of("RoleBinding", "ClusterRoleBinding"):
        _binding(view, cluster)


def _rule(view: View, path: str, rule: Mapping[str, object]) -> None:
    verbs, groups, resources = (view.texts(f"{path}.{key}") for key in ("verbs", "apiGroups", "resources"))
    if any(view.blurred(f"{path}.{key}") for key in ("verbs", "apiGroups", "resources")):
        return
    for verb in verbs:
        near = nearest_of(verb.lower(), VERBS) if verb not in VERBS else ""
        near = near or (verb.lower() if verb not in VERBS and verb.lower() in VERBS else "")
        if _OF_HTTP.get(verb.lower()) in verbs:
            continue  # it allows nothing, and what is meant is allowed beside it
        if near or verb in ("read", "write", "edit", "view", "exec", "all", "post", "put"):
            view.error(
                "reference-role-verb",
                f"{path}.verbs",
                f"{show(verb)} is no verb of a request, so the rule allows nothing by it",
                allowed=f"one of {', '.join(sorted(VERBS))}",
                hint=f"did you mean {near}?" if near else "",
            )
    if "*" in groups or not groups:
        return
    for group in groups:
        if group not in _KNOWN:
            _unknown_group(view, path, group)
    for resource in resources:
        _resource(view, path, resource, groups)
    # What is below an object is created by the object's name: a token of one account, a binding of one pod.
    below = all("/" in resource for resource in resources)
    if not below and rule.get("resourceNames") not in (None, [], UNKNOWN) and verbs and set(verbs) <= set(_NAMED_VERBS):
        view.error(
            "reference-role-names",
            f"{path}.resourceNames",
            f"given for {' and '.join(verbs)}, which no request asks by name, so the rule allows nothing",
        )


def _unknown_group(view: View, path: str, group: str) -> None:
    if group in ("v1", "core", "batch/v1", "apps/v1") or "/" in group:
        bare = {"v1": "", "core": ""}.get(group, group.partition("/")[0])
        view.error("reference-role-group", f"{path}.apiGroups", f"no API group {show(group)}", allowed=show(bare))
        return
    # Groups of the project's own beside Kubernetes (`cluster.x-k8s.io`) are no slips for those that it brings.
    near = nearest_of(group, [known for known in _KNOWN if known and _is_beside(known) >= _is_beside(group)])
    near = near or next((known for known in sorted(_KNOWN) if group and known.startswith(f"{group}.")), "")
    if near:
        view.error(
            "reference-role-group", f"{path}.apiGroups", f"no API group {show(group)}", hint=f"did you mean {near}?"
        )


def _is_beside(group: str) -> bool:
    return group.endswith(".x-k8s.io")


def _home(plural: str, groups: list[str]) -> str | None:
    """The first of some groups that has a resource; None where none has."""
    return next((group for group in groups if plural in _KNOWN.get(group, ())), None)


def _lacking(group: str, resource: str) -> frozenset[str] | None:
    """What a resource of a group has below it, where that is not what is asked for; None where that is there.

    Of what lies below kinds that are not Kubernetes' own nothing is known: it may be there.
    """
    plural, _, sub = resource.partition("/")
    subs = SUBRESOURCES.get((group, plural))
    return None if not sub or subs is None or sub in subs | {"*", "finalizers"} else subs


def _is_there(resource: str, groups: list[str]) -> bool:
    """Whether one of some groups has a resource, and what is asked for below it."""
    home = _home(resource.partition("/")[0], groups)
    return home is not None and _lacking(home, resource) is None


def _is_allowed(view: View, resource: str, groups: list[str], verbs: list[str]) -> bool:
    """Whether another rule of the same role allows all of this of a resource of one of these groups."""
    return any(
        {*view.texts(f"{path}.verbs")} >= {*verbs}
        and resource in view.texts(f"{path}.resources")
        and not {*groups}.isdisjoint(view.texts(f"{path}.apiGroups"))
        for path, _ in view.items("rules")
    )


def _resource(view: View, path: str, resource: str, groups: list[str]) -> None:
    plural, _, sub = resource.partition("/")
    if plural == "*" or any(group not in _KNOWN for group in groups):
        return
    # Rules of programs that have come of age list what was there once, and generated ones a status of everything:
    # beside what is there, be it in a rule of its own, it does no harm.
    beside = any(_is_there(one, groups) for one in view.texts(f"{path}.resources"))
    note = view.warning if beside or (sub and _is_allowed(view, plural, groups, [])) else view.error
    home = _home(plural, groups)
    if home is not None:
        subs = _lacking(home, resource)
        if subs is not None:
            note = view.error if nearest(sub, subs) else note
            note(
                "reference-role-resource",
                f"{path}.resources",
                f"{plural} have no subresource {show(sub)}",
                allowed=f"one of {', '.join(sorted(subs))}" if subs else "none",
                hint=nearest(sub, subs),
            )
        return
    elsewhere = sorted(group for group, names in _KNOWN.items() if plural in names)
    given = ", ".join(show(group) for group in groups)
    if elsewhere:
        if _is_allowed(view, resource, elsewhere, view.texts(f"{path}.verbs")):
            return
        note(
            "reference-role-resource",
            f"{path}.apiGroups",
            f"there are no {show(plural)} in API group {given}, so the rule allows nothing by it",
            allowed=f"API group {' or '.join(show(group) for group in elsewhere)}",
        )
        return
    known = {name for group in groups for name in _KNOWN[group]}
    lowered = plural.lower()
    right = next(
        (name for name in sorted(known) if lowered in (name, name.removesuffix("s"), name.removesuffix("es"))), ""
    )
    right = right or nearest_of(lowered, known)
    if right or all(group in RESOURCES for group in groups):
        note = view.error if right else note
        note(
            "reference-role-resource",
            f"{path}.resources",
            f"API group {given} has no {show(plural)}, so the rule allows nothing by it",
            allowed="a resource by its plural, in lower case",
            hint=f"did you mean {right}?" if right else "",
        )


def _binding(view: View, cluster: Cluster) -> None:
    kind, role = view.text("roleRef.kind"), view.text("roleRef.name")
    known = cluster.names("ClusterRole", "")
    if kind == "ClusterRole" and role is not None and role not in ROLES and not cluster.is_blurred("ClusterRole", ""):
        near = nearest_of(role, [*known, *ROLES]) if role not in known else ""
        if near:
            view.error("reference-role", "roleRef.name", f"no ClusterRole {show(role)}", hint=f"did you mean {near}?")
    namespace = place(view)
    is_missing = kind == "ClusterRole" and role not in known and role not in ROLES
    if is_missing and namespace and role in cluster.names("Role", namespace):
        view.error(
            "reference-role",
            "roleRef.kind",
            f"there is no ClusterRole {show(role)}, and a Role of that name in namespace {show(namespace)}",
            allowed="Role",
        )
    _subjects(view, cluster)


def _subjects(view: View, cluster: Cluster) -> None:
    for path, entry in view.items("subjects"):
        kind, name, namespace = entry.get("kind"), entry.get("name"), entry.get("namespace")
        if not isinstance(name, str):
            continue
        if kind == "ServiceAccount":
            if entry.get("apiGroup") not in (None, "", UNKNOWN):
                view.error("reference-subject", f"{path}.apiGroup", "given for a service account", allowed='""')
            if isinstance(namespace, str):
                _account(view, path, name, namespace, cluster)
        elif kind in ("User", "Group"):
            if name.startswith("system:serviceaccount:") and kind == "User" and name.count(":") != 3:
                view.error(
                    "reference-subject",
                    f"{path}.name",
                    f"got {show(name)}",
                    allowed="system:serviceaccount:NAMESPACE:NAME",
                )
            elif kind == "Group" and name.startswith("system:serviceaccounts:"):
                near = nearest_of(name.rpartition(":")[2], cluster.names("Namespace", ""))
                if near and cluster.find("Namespace", "", name.rpartition(":")[2]) is None:
                    view.error(
                        "reference-subject", f"{path}.name", f"no namespace of {name}", hint=f"did you mean {near}?"
                    )


def _account(view: View, path: str, name: str, namespace: str, cluster: Cluster) -> None:
    if cluster.find("ServiceAccount", namespace, name) is not None or cluster.is_blurred("ServiceAccount", namespace):
        return
    near = nearest_of(namespace, cluster.names("Namespace", ""))
    if near and cluster.find("Namespace", "", namespace) is None:
        view.error(
            "reference-subject", f"{path}.namespace", f"no namespace {show(namespace)}", hint=f"did you mean {near}?"
        )
        return
    elsewhere = [
        str(place(account))
        for account in cluster.of("ServiceAccount")
        if account.text("metadata.name") == name and place(account) is not None
    ]
    if elsewhere and not cluster.is_open(namespace) and name != "default":
        view.error(
            "reference-subject",
            f"{path}.namespace",
            f"no service account {show(name)} in {show(namespace)}; there is one in {', '.join(elsewhere[:3])}",
        )
