"""Kubernetes objects: names, labels, selectors, pods, and what they refer to.

Source: API conventions and validation of Kubernetes 1.35 as generally known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from stacks.problems import nearest
from stacks.rehearsal.model import UNKNOWN
from stacks.rehearsal.values.aws.formats import NETWORK
from stacks.rehearsal.values.context import Stack, View, as_number, follow, show
from stacks.rehearsal.values.kubernetes.schema import quantity
from stacks.rehearsal.values.labels import check_label, is_label_key

_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_SUBDOMAIN = re.compile(r"(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
_NAMED_AS_LABEL: Final = frozenset({"Namespace", "Service", "TrainJob"})
_PATH_SEGMENT: Final = frozenset({"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"})
_BUILT_IN_NAMESPACES: Final = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})
_BUILT_IN_CLASSES: Final = frozenset({"system-cluster-critical", "system-node-critical"})
_TEMPLATES: Final = {
    "Deployment": "spec.template", "StatefulSet": "spec.template", "DaemonSet": "spec.template",
    "ReplicaSet": "spec.template", "Job": "spec.template", "CronJob": "spec.jobTemplate.spec.template",
}  # fmt: skip
_SELECTING: Final = frozenset({"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"})


@dataclass(slots=True)
class Objects:
    """The recorded objects by kind, namespace and name, and which of them have names that are not known yet."""

    known: set[tuple[str, str, str]] = field(default_factory=set)
    blurred: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def of(cls, stack: Stack) -> Objects:
        """Everything of the recording that can be referred to."""
        objects = cls(known=set(stack.context.assumed_objects))
        objects.known |= {("ServiceAccount", *pair) for pair in stack.context.assumed_service_accounts}
        for view in stack.views:
            if view.type == "kubernetes:helm.sh/v3:Release":
                if view.flag("createNamespace") and view.text("namespace"):
                    objects.known.add(("Namespace", "", str(view.text("namespace"))))
                continue
            kind = view.text("kind")
            if not view.type.startswith("kubernetes:") or kind is None:
                continue
            name, namespace = object_name(view), object_namespace(view)
            if name is None or namespace is None:
                objects.blurred.add((kind, namespace or ""))
                if namespace is None:
                    objects.blurred.add((kind, "*"))
            else:
                objects.known.add((kind, namespace, name))
        return objects

    def lacks(self, kind: str, namespace: str, name: str) -> bool:
        """Whether nothing of that name exists for sure."""
        if (kind, namespace, name) in self.known or (kind, namespace) in self.blurred or (kind, "*") in self.blurred:
            return False
        return not (kind == "ServiceAccount" and name == "default") and not (
            kind == "ConfigMap" and name == "kube-root-ca.crt"
        )

    def names(self, kind: str, namespace: str) -> list[str]:
        """The names of a kind in a namespace."""
        return sorted(item[2] for item in self.known if item[:2] == (kind, namespace))


def object_name(view: View) -> str | None:
    """The name that the object has or will have; None where it is not known."""
    if view.has("metadata.name"):
        return view.text("metadata.name")
    found = follow(view.resource.outputs, "metadata.name")
    return found if isinstance(found, str) else None


def object_namespace(view: View) -> str | None:
    """The namespace, empty for what has none, None where it is not known."""
    if view.is_unknown("metadata") or view.is_unknown("metadata.namespace"):
        return None
    return view.text("metadata.namespace") or ""


def check(view: View, stack: Stack, objects: Objects) -> None:
    """Every check of one object."""
    _metadata(view, objects)
    kind = view.text("kind") or ""
    path = _TEMPLATES.get(kind)
    if kind == "Pod":
        _pod(view, "spec", view.mapping("spec"), objects)
    elif path is not None:
        _template(view, path, objects)
        _selector(view, kind, path)
    elif kind in ("JobSet", "ClusterTrainingRuntime", "TrainingRuntime"):
        outer = "spec" if kind == "JobSet" else "spec.template.spec"
        for job, _ in view.items(f"{outer}.replicatedJobs"):
            _template(view, f"{job}.template.spec.template", objects)
    if kind in ("NetworkPolicy", "PodDisruptionBudget", "Service"):
        _selecting(view, kind)
    if kind == "Service":
        _service(view)
    if kind == "NetworkPolicy":
        _network_policy(view)
    if kind in ("RoleBinding", "ClusterRoleBinding"):
        _binding(view, objects)
    if kind == "Job":
        _job(view)
    del stack


def _metadata(view: View, objects: Objects) -> None:
    kind, name = view.text("kind") or "", view.text("metadata.name")
    pattern, allowed = _SUBDOMAIN, "must be a DNS name: lower-case letters, digits, '-' and '.', at most 253"
    if kind in _NAMED_AS_LABEL:
        pattern, allowed = _LABEL, "must be a DNS label: lower-case letters, digits and '-', at most 63"
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
        _pod(view, f"{path}.spec", spec, objects)


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


def _pod(view: View, path: str, spec: Mapping[str, Any], objects: Objects) -> None:
    volumes: dict[str, str] = {}
    named = [follow(volume, "name") for volume in view.entries(f"{path}.volumes")]
    for here, volume in view.items(f"{path}.volumes"):
        name = volume.get("name")
        if isinstance(name, str):
            if not _LABEL.fullmatch(name):
                view.error("k8s-volume", f"{here}.name", f"got {show(name)}", allowed="must be a DNS label")
            volumes[name] = here
        _volume_sources(view, here, volume, objects)
    seen: set[str] = set()
    every_volume_known = not view.is_unknown(f"{path}.volumes") and UNKNOWN not in view.entries(f"{path}.volumes")
    for key in ("initContainers", "containers"):
        for here, container in view.items(f"{path}.{key}"):
            _container(view, here, container, seen, objects)
            for mount, entry in view.items(f"{here}.volumeMounts"):
                name = entry.get("name")
                claims = view.items("spec.volumeClaimTemplates")
                templates = {str(follow(claim, "metadata.name")) for _, claim in claims}
                if (
                    isinstance(name, str)
                    and every_volume_known
                    and UNKNOWN not in named
                    and name not in volumes
                    and name not in templates
                ):
                    view.error(
                        "k8s-volume-mount",
                        f"{mount}.name",
                        f"the pod has no volume {show(name)}",
                        hint=nearest(name, volumes),
                    )
    for key, value in view.mapping(f"{path}.nodeSelector").items():
        check_label(view, f"{path}.nodeSelector.{key}", key, value)
    account, namespace = spec.get("serviceAccountName"), object_namespace(view)
    cluster_wide = view.text("kind") == "ClusterTrainingRuntime"
    if (
        isinstance(account, str)
        and namespace is not None
        and not cluster_wide
        and objects.lacks("ServiceAccount", namespace, account)
    ):
        view.error(
            "k8s-reference",
            f"{path}.serviceAccountName",
            f"no service account {show(account)} in namespace {show(namespace)}",
            hint=nearest(account, objects.names("ServiceAccount", namespace)),
        )
    for here, entry in view.items(f"{path}.tolerations"):
        operator = entry.get("operator")
        if operator == "Exists" and entry.get("value") not in (None, ""):
            view.error("k8s-toleration", f"{here}.value", "given with operator Exists", allowed="no value")
        if entry.get("key") in (None, "") and operator != "Exists":
            view.error("k8s-toleration", f"{here}.operator", "no key", allowed="Exists tolerates every key")
    priority = spec.get("priorityClassName")
    if isinstance(priority, str) and priority not in _BUILT_IN_CLASSES and objects.lacks("PriorityClass", "", priority):
        view.error(
            "k8s-reference",
            f"{path}.priorityClassName",
            f"no priority class {show(priority)}",
            hint=nearest(priority, [*objects.names("PriorityClass", ""), *_BUILT_IN_CLASSES]),
        )


def _container(view: View, path: str, container: Mapping[str, Any], seen: set[str], objects: Objects) -> None:
    name = container.get("name")
    if isinstance(name, str):
        if not _LABEL.fullmatch(name):
            view.error("k8s-container-name", f"{path}.name", f"got {show(name)}", allowed="must be a DNS label")
        if name in seen:
            view.error(
                "k8s-container-name", f"{path}.name", f"{show(name)} is given twice", allowed="each name once in a pod"
            )
        seen.add(name)
    for here, port in view.items(f"{path}.ports"):
        _port(view, f"{here}.containerPort", port.get("containerPort"))
        label = port.get("name")
        if isinstance(label, str) and not re.fullmatch(r"(?=.*[a-z])(?!.*--)[a-z0-9]([a-z0-9-]{0,13}[a-z0-9])?", label):
            view.error(
                "k8s-port-name",
                f"{here}.name",
                f"got {show(label)}",
                allowed="at most 15 lower-case letters, digits and '-'",
            )
    names: set[str] = set()
    for here, entry in view.items(f"{path}.env"):
        label = entry.get("name")
        if isinstance(label, str):
            if label in names:
                view.error(
                    "k8s-duplicate", here, f"{show(label)} is given twice", allowed="each environment variable once"
                )
            names.add(label)
        if entry.get("value") not in (None, "") and entry.get("valueFrom") is not None:
            view.error("k8s-env", here, "has both value and valueFrom", allowed="one of them")
        for key, kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
            _refer(view, f"{here}.valueFrom.{key}", kind, "name", objects)
    for here, _ in view.items(f"{path}.envFrom"):
        for key, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
            _refer(view, f"{here}.{key}", kind, "name", objects)
    requests, limits = view.mapping(f"{path}.resources.requests"), view.mapping(f"{path}.resources.limits")
    for key, value in requests.items():
        wanted, most = quantity(value), quantity(limits.get(key))
        here = f"{path}.resources.requests.{key}"
        if wanted is not None and most is not None and wanted > most:
            view.error("k8s-resources", here, f"{value} is above the limit {limits[key]}", allowed="requests <= limits")
        known = (
            value is not UNKNOWN and limits.get(key) is not UNKNOWN and not view.is_unknown(f"{path}.resources.limits")
        )
        if "/" in key and known and wanted != most:
            view.error(
                "k8s-resources",
                here,
                f"{value}, and the limit is {limits.get(key)}",
                allowed="requests equal to limits for an extended resource",
            )
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        found = view.mapping(f"{path}.{probe}")
        handlers = [key for key in ("exec", "httpGet", "tcpSocket", "grpc") if found.get(key) is not None]
        if found and len(handlers) != 1:
            view.error(
                "k8s-probe",
                f"{path}.{probe}",
                f"has {len(handlers)} handlers",
                allowed="one of exec, httpGet, tcpSocket, grpc",
            )
        success = as_number(found.get("successThreshold"))
        if probe != "readinessProbe" and success is not None and success != 1:
            view.error("k8s-probe", f"{path}.{probe}.successThreshold", f"got {success:g}", allowed="1")


def _volume_sources(view: View, path: str, volume: Mapping[str, Any], objects: Objects) -> None:
    sources = [key for key, value in volume.items() if key != "name" and value is not None]
    if len(sources) > 1:
        view.error("k8s-volume", path, f"has {' and '.join(sources)}", allowed="one source a volume")
    _refer(view, f"{path}.configMap", "ConfigMap", "name", objects)
    _refer(view, f"{path}.secret", "Secret", "secretName", objects)
    _refer(view, f"{path}.persistentVolumeClaim", "PersistentVolumeClaim", "claimName", objects)
    for here, _ in view.items(f"{path}.projected.sources"):
        _refer(view, f"{here}.configMap", "ConfigMap", "name", objects)
        _refer(view, f"{here}.secret", "Secret", "name", objects)


def _refer(view: View, path: str, kind: str, key: str, objects: Objects) -> None:
    reference, namespace = view.mapping(path), object_namespace(view)
    name = reference.get(key)
    if not isinstance(name, str) or namespace is None or reference.get("optional") is True:
        return
    if view.text("kind") == "ClusterTrainingRuntime":
        return  # it is used in the namespace of each job
    if objects.lacks(kind, namespace, name):
        view.error(
            "k8s-reference",
            f"{path}.{key}",
            f"no {kind} {show(name)} in namespace {show(namespace)}",
            hint=nearest(name, objects.names(kind, namespace)),
        )


def _port(view: View, path: str, value: Any) -> None:
    number = as_number(value) if not isinstance(value, str) else None
    if number is not None and not 1 <= number <= 65535:
        view.error("k8s-port", path, f"got {number:g}", allowed="must be 1 to 65535")


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
        _port(view, f"{path}.port", entry.get("port"))
        _port(view, f"{path}.targetPort", entry.get("targetPort"))
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
                _port(view, f"{here}.port", entry.get("port"))
                start, end = as_number(entry.get("port")), as_number(entry.get("endPort"))
                if (
                    end is not None
                    and entry.get("port") is not UNKNOWN
                    and (start is None or isinstance(entry.get("port"), str) or end < start)
                ):
                    view.error("k8s-port", f"{here}.endPort", f"got {end:g}", allowed="a number of at least port")
            for peer, entry in view.items(f"{path}.{'from' if side == 'ingress' else 'to'}"):
                if entry.get("ipBlock") is not None and (entry.get("podSelector") or entry.get("namespaceSelector")):
                    view.error("k8s-network-peer", peer, "has ipBlock and a selector", allowed="one of them")
                block = follow(entry, "ipBlock.cidr")
                if isinstance(block, str) and not NETWORK.accepts(block):
                    view.error("k8s-cidr", f"{peer}.ipBlock.cidr", f"got {show(block)}", allowed=NETWORK.allowed)


def _binding(view: View, objects: Objects) -> None:
    for path, entry in view.items("subjects"):
        name, namespace = entry.get("name"), entry.get("namespace")
        if entry.get("kind") != "ServiceAccount" or not isinstance(name, str):
            continue
        if namespace is None:
            view.error("k8s-subject", f"{path}.namespace", "is missing", allowed="needed for a service account")
        elif (
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


def _job(view: View) -> None:
    policy = view.value("spec.template.spec.restartPolicy")
    if view.lacks("spec.template.spec.restartPolicy") or policy == "Always":
        view.error(
            "k8s-job", "spec.template.spec.restartPolicy", f"got {show(policy)}", allowed="one of Never, OnFailure"
        )
