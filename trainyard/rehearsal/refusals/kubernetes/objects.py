"""Kubernetes objects: names, labels, selectors, pods, and what they refer to.

Source: API conventions and validation of Kubernetes 1.35 as generally known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from trainyard import cards
from trainyard.problems import nearest
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import as_number, follow
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.refusals.aws.format_kinds import NETWORK
from trainyard.rehearsal.refusals.kubernetes import (
    cluster_objects,
    controllers,
    extensions,
    networks,
    pod_parts,
    scaling,
    services,
    volume_inputs,
)
from trainyard.rehearsal.refusals.kubernetes.dns import DNS_LABEL, DNS_NAME
from trainyard.rehearsal.refusals.kubernetes.index import Objects, kind_of, object_namespace
from trainyard.rehearsal.refusals.kubernetes.pods import check_pod, check_port
from trainyard.rehearsal.refusals.labels import check_label, is_label_key

_NAMED_AS_LABEL: Final = frozenset({"Namespace", "Service", "TrainJob"})
_PATH_SEGMENT: Final = frozenset({"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"})
_BUILT_IN_NAMESPACES: Final = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})
_CARDS: Final = {card.type.rpartition(":")[2]: card for card in cards.BY_TYPE.saying("pod_spec", "job_templates")}
"""Cards of types that hold pods, by the object's kind, whatever the version of its API."""
_QUOTA_RESOURCES: Final = (
    "cpu", "memory", "ephemeral-storage", "pods", "services", "services.loadbalancers", "services.nodeports",
    "replicationcontrollers", "resourcequotas", "secrets", "configmaps", "persistentvolumeclaims", "requests.cpu",
    "requests.memory", "requests.storage", "requests.ephemeral-storage", "limits.cpu", "limits.memory",
    "limits.ephemeral-storage",
)  # fmt: skip
"""What a ResourceQuota may count without a slash in its name; `hugepages-` besides (Kubernetes 1.35, core
validation)."""
_SELECTORS: Final = frozenset(
    {
        "ClusterQueue",
        "NetworkPolicy",
        "PodDisruptionBudget",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    }
)
"""Kinds outside pods that hold label selectors somewhere in their specification."""
_ROOMS: Final = (controllers, scaling, services, networks, cluster_objects, volume_inputs, extensions)
"""Whose rules go by an object's kind."""
_SELECTING: Final = frozenset({"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"})


def check(view: View, objects: Objects) -> None:
    """Every check of one object."""
    _metadata(view, objects)
    kind = kind_of(view) or ""
    card = _CARDS.get(kind)
    if kind == "Pod":
        check_pod(view, "spec", view.mapping("spec"), objects)
    elif card is not None and card.pod_spec:
        path = card.pod_spec.removesuffix(".spec")
        _template(view, path, objects)
        _selector(view, kind, path)
    elif card is not None:
        for job, _ in view.items(card.job_templates):
            _template(view, f"{job}.template.spec.template", objects)
    if kind in ("NetworkPolicy", "PodDisruptionBudget", "Service"):
        _selecting(view, kind)
    if kind == "Service":
        _service(view)
    if kind == "NetworkPolicy":
        _network_policy(view)
    if kind in ("RoleBinding", "ClusterRoleBinding"):
        _binding(view, objects)
    if kind in _SELECTORS:
        pod_parts.check_selectors(view, "spec")
    for room in _ROOMS:
        room.check(view, kind)
    if kind == "ValidatingAdmissionPolicyBinding":
        _validation_actions(view)
    if kind == "ResourceQuota":
        _resource_quota(view)


def _metadata(view: View, objects: Objects) -> None:
    kind, name = kind_of(view) or "", view.text("metadata.name")
    pattern, allowed = DNS_NAME, "must be a DNS name: lower-case letters, digits, '-' and '.', at most 253"
    if kind in _NAMED_AS_LABEL:
        pattern, allowed = DNS_LABEL, "must be a DNS label: lower-case letters, digits and '-', at most 63"
    elif kind in _PATH_SEGMENT:
        pattern, allowed = re.compile(r"(?!\.{1,2}$)[^/%]+"), "must not hold / or %"
    if name is not None and not pattern.fullmatch(name):
        view.error("k8s-name", "metadata.name", f"got {show(name)}", allowed=allowed)
    elif kind == "Service" and name is not None and not name[0].isalpha():
        view.error("k8s-name", "metadata.name", f"got {show(name)}", allowed="a service's name begins with a letter")
    elif all(view.lacks(f"metadata.{key}") for key in ("name", "generateName")) and not view.is_unknown("metadata"):
        named = pattern.fullmatch(view.name + "-01234567")  # as Pulumi does: `-` and eight hex digits
        if named is None:
            view.error(
                "k8s-name", "metadata.name", f"the name is made of the logical name {show(view.name)}", allowed=allowed
            )
    for key, value in view.mapping("metadata.labels").items():
        check_label(view, f"metadata.labels.{key}", key, value)
    for key in view.mapping("metadata.annotations"):
        if not is_label_key(key):
            view.error(
                "k8s-annotation-key", f"metadata.annotations.{key}", f"key {show(key)}", allowed="name or prefix/name"
            )
    namespace = object_namespace(view)
    if namespace and namespace not in _BUILT_IN_NAMESPACES and objects.lacks("Namespace", "", namespace):
        view.error(
            "k8s-namespace",
            "metadata.namespace",
            f"namespace {show(namespace)} is made by nothing in this stack",
            hint=nearest(namespace, objects.names("Namespace", "")),
        )


def _template(view: View, path: str, objects: Objects) -> None:
    for key, value in view.mapping(f"{path}.metadata.labels").items():
        check_label(view, f"{path}.metadata.labels.{key}", key, value)
    spec = view.mapping(f"{path}.spec")
    if spec:
        check_pod(view, f"{path}.spec", spec, objects)


def _selector(view: View, kind: str, path: str) -> None:
    if kind not in _SELECTING:
        return
    wanted, labels = view.mapping("spec.selector.matchLabels"), view.value(f"{path}.metadata.labels")
    if view.lacks("spec.selector"):
        return
    for key, value in wanted.items():
        given = labels.get(key) if isinstance(labels, Mapping) else None
        if (
            value is not UNKNOWN
            and given is not UNKNOWN
            and given != value
            and not view.is_unknown(f"{path}.metadata.labels")
        ):
            view.error(
                "k8s-selector",
                f"spec.selector.matchLabels.{key}",
                f"got {show(value)}, the template's label is {show(given)}",
                allowed="the labels of the template",
            )


def _selecting(view: View, kind: str) -> None:
    path = {"NetworkPolicy": "spec.podSelector.matchLabels", "PodDisruptionBudget": "spec.selector.matchLabels"}.get(
        kind, "spec.selector"
    )
    for key, value in view.mapping(path).items():
        check_label(view, f"{path}.{key}", key, value)
    if kind == "PodDisruptionBudget" and view.has("spec.minAvailable") and view.has("spec.maxUnavailable"):
        view.error("k8s-disruption-budget", "spec.maxUnavailable", "given beside minAvailable", allowed="one of them")


def _service(view: View) -> None:
    ports = list(view.items("spec.ports"))
    for path, entry in ports:
        check_port(view, f"{path}.port", entry.get("port"))
        if entry.get("targetPort") != 0:  # as if it were not given (Kubernetes, pkg/apis/core/v1/defaults.go)
            check_port(view, f"{path}.targetPort", entry.get("targetPort"))
        if len(ports) > 1 and entry.get("name") in (None, ""):
            view.error(
                "k8s-port-name", f"{path}.name", "is missing", allowed="needed where a service has several ports"
            )
        node_port = as_number(entry.get("nodePort"))
        if node_port is not None and not 30000 <= node_port <= 32767:
            view.error("k8s-port", f"{path}.nodePort", f"got {node_port:g}", allowed="must be 30000 to 32767")


def _network_policy(view: View) -> None:
    for side in ("ingress", "egress"):
        for path, _ in view.items(f"spec.{side}"):
            for here, entry in view.items(f"{path}.ports"):
                check_port(view, f"{here}.port", entry.get("port"))
                start, end = as_number(entry.get("port")), as_number(entry.get("endPort"))
                if (
                    end is not None
                    and entry.get("port") is not UNKNOWN
                    and (start is None or isinstance(entry.get("port"), str) or end < start)
                ):
                    view.error("k8s-port", f"{here}.endPort", f"got {end:g}", allowed="a number of at least port")
            for peer, entry in view.items(f"{path}.{'from' if side == 'ingress' else 'to'}"):
                # An empty selector is one too: it means every pod, or every namespace.
                selectors = [entry.get(key) for key in ("podSelector", "namespaceSelector")]
                if entry.get("ipBlock") is not None and any(one not in (None, UNKNOWN) for one in selectors):
                    view.error("k8s-network-peer", peer, "has ipBlock and a selector", allowed="one of them")
                block = follow(entry, "ipBlock", "cidr")
                if isinstance(block, str) and not NETWORK.accepts(block):
                    view.error("k8s-cidr", f"{peer}.ipBlock.cidr", f"got {show(block)}", allowed=NETWORK.allowed)


def _binding(view: View, objects: Objects) -> None:
    for path, entry in view.items("subjects"):
        name, namespace = entry.get("name"), entry.get("namespace")
        if entry.get("kind") != "ServiceAccount" or not isinstance(name, str):
            continue
        if namespace is None and kind_of(view) == "RoleBinding":
            namespace = object_namespace(view)  # of an account without one RBAC takes the binding's own
        elif namespace is None:
            view.error("k8s-subject", f"{path}.namespace", "is missing", allowed="needed for a service account")
        if (
            isinstance(namespace, str)
            and objects.names("ServiceAccount", namespace)
            and objects.lacks("ServiceAccount", namespace, name)
        ):
            view.error(
                "k8s-reference",
                f"{path}.name",
                f"no service account {show(name)} in namespace {show(namespace)}",
                hint=nearest(name, objects.names("ServiceAccount", namespace)),
            )
    kind, role = view.text("roleRef.kind"), view.text("roleRef.name")
    where = object_namespace(view) if kind == "Role" else ""
    if kind == "Role" and role and where is not None and objects.lacks("Role", where, role):
        view.error(
            "k8s-reference",
            "roleRef.name",
            f"no Role {show(role)} in namespace {show(where)}",
            hint=nearest(role, objects.names("Role", where)),
        )


def _counts_nothing(name: str) -> bool:
    """Whether a name is an extended resource's without `requests.` before it (Kubernetes, "Resource Quotas")."""
    domain, slash, _ = name.partition("/")
    is_prefixed = name.startswith(("requests.", "count/"))
    of_class = ".storageclass.storage.k8s.io" in name or ".deviceclass.resource.k8s.io" in name
    return bool(slash) and "." in domain and not is_prefixed and not of_class and "kubernetes.io" not in domain


def _resource_quota(view: View) -> None:
    for name in view.mapping("spec.hard"):
        if _counts_nothing(name):
            view.error(
                "k8s-quota-resource",
                f"spec.hard[{name!r}]",
                f"{show(name)} is taken and never counted: a quota counts what pods ask for of an extended resource",
                allowed=f"requests.{name.removeprefix('limits.')}",
            )
            continue
        if "/" in name or name in _QUOTA_RESOURCES or name.startswith(("hugepages-", "requests.hugepages-")):
            continue
        view.error(
            "k8s-quota-resource",
            f"spec.hard[{name!r}]",
            f"{show(name)} is nothing that a quota counts",
            allowed="a standard resource, or one with a slash such as requests.nvidia.com/gpu or count/jobs.batch",
            hint=nearest(name, _QUOTA_RESOURCES),
        )


def _validation_actions(view: View) -> None:
    known = ("Deny", "Warn", "Audit")
    if view.lacks("spec.validationActions"):
        view.error("k8s-validation-actions", "spec.validationActions", "is missing", allowed="one of Deny, Warn, Audit")
    for index, action in enumerate(listed(view.value("spec.validationActions"))):
        if isinstance(action, str) and action not in known:
            view.error(
                "k8s-validation-actions",
                f"spec.validationActions[{index}]",
                f"got {show(action)}",
                allowed=f"one of {', '.join(known)}",
                hint=nearest(action, known),
            )
