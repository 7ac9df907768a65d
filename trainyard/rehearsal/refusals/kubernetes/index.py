"""The recorded Kubernetes objects by kind, namespace and name: what a reference can find."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from trainyard.recorded.read import follow
from trainyard.recorded.types import EKS_CLUSTER, GKE_CLUSTER, HELM_RELEASE
from trainyard.recorded.unseen import has_unseen_objects
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.refusals.kubernetes.schema import custom_resources

_RENDERERS: Final = frozenset(
    {
        ("HelmRelease", "helm.toolkit.fluxcd.io"),
        ("Kustomization", "kustomize.toolkit.fluxcd.io"),
        ("Application", "argoproj.io"),
        ("ApplicationSet", "argoproj.io"),
        ("HelmChart", "helm.cattle.io"),
    }
)
"""Kinds, with their API group, whose controllers make whatever a repository or a chart says, in any namespace."""
_SYSTEM_NAMESPACES: Final = ("kube-", "gke-", "gmp-", "amazon-", "aws-")
"""Namespaces in which a managed cluster keeps what is its own."""
_LOOKED_UP: Final = frozenset(
    {"Secret", "ConfigMap", "ServiceAccount", "PersistentVolumeClaim", "Role", "Namespace", "PriorityClass"}
)
"""Kinds that objects of another program often name."""
_OF_CLUSTERS: Final = frozenset(
    {"PriorityClass", "PersistentVolume", "ClusterRole", "StorageClass", "ValidatingAdmissionPolicy"}
)
"""Kinds of objects that are in no namespace."""
_MAKERS: Final = frozenset(
    {
        ("Certificate", "cert-manager.io"),
        ("ExternalSecret", "external-secrets.io"),
        ("ClusterExternalSecret", "external-secrets.io"),
        ("SealedSecret", "bitnami.com"),
        ("VaultStaticSecret", "secrets.hashicorp.com"),
        ("VaultDynamicSecret", "secrets.hashicorp.com"),
        ("SecretProviderClass", "secrets-store.csi.x-k8s.io"),
        ("Bundle", "trust.cert-manager.io"),
    }
)
"""Kinds, with their API group, whose controllers make secrets and config maps under names that stand elsewhere."""


_KINDS_OF_KUBERNETES: Final = frozenset(
    {
        "Binding", "ClusterRole", "ClusterRoleBinding", "ConfigMap", "CronJob", "DaemonSet", "Deployment", "Endpoints",
        "HorizontalPodAutoscaler", "Ingress", "IngressClass", "Job", "Lease", "LimitRange", "Namespace",
        "NetworkPolicy", "Node", "PersistentVolume", "PersistentVolumeClaim", "Pod", "PodDisruptionBudget",
        "PodTemplate", "PriorityClass", "ReplicaSet", "ReplicationController", "ResourceQuota", "Role", "RoleBinding",
        "RuntimeClass", "Secret", "Service", "ServiceAccount", "StatefulSet", "StorageClass",
        "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
    }
)  # fmt: skip
"""Its own kinds that something is asked of. Others have a Job (Volcano), a Service (Knative), a Role and a Policy (AWS
controllers), a NetworkPolicy (Calico) of their own, which are different things."""


def foreign_group(view: View) -> str:
    """The API group of an object that is not of Kubernetes itself; empty for one that is."""
    group = (view.text("apiVersion") or "").rpartition("/")[0]
    own = "." not in group or (group.endswith(".k8s.io") and not group.endswith(".x-k8s.io"))
    return "" if own else group


def kind_of(view: View) -> str | None:
    """The kind of an object, with its group where a kind of Kubernetes' own has the same name; None for no object."""
    kind = view.text("kind")
    group = foreign_group(view) if kind in _KINDS_OF_KUBERNETES else ""
    return f"{kind}.{group}" if group else kind


def is_of_unread(view: View) -> bool:
    """Whether an object is of a program's own API of which nothing here has a schema: what that program makes of it is
    not known, but that its names begin with the object's (`llm-head-svc` of Ray's service `llm`)."""
    group = foreign_group(view)
    return bool(group) and group not in _read_groups()


@cache
def _read_groups() -> frozenset[str]:
    return frozenset(key.rpartition("/")[0] for key in custom_resources()["kinds"])


@dataclass(slots=True)
class Objects:
    """The recorded objects by kind, namespace and name, and which of them have names that are not known yet.

    What is not recorded may still be there: a chart makes anything in its namespace, a controller makes secrets, and
    what stood before stands in a namespace or on a cluster that another program makes.
    """

    known: set[tuple[str, str, str]] = field(default_factory=set)
    blurred: set[tuple[str, str]] = field(default_factory=set)
    charted: set[str] = field(default_factory=set)  # namespaces that a chart is installed in
    makers: set[str] = field(default_factory=set)  # kinds whose controllers make secrets and config maps
    owners: dict[str, set[str]] = field(default_factory=dict)  # by namespace: `is_of_unread`, empty for no known name
    makes_the_cluster: bool = False
    is_rendered_elsewhere: bool = False

    @classmethod
    def of(cls, stack: Stack) -> Objects:
        """Everything of the recording that can be referred to."""
        objects = cls(known=set(stack.context.assumed_objects))
        objects.known |= {("ServiceAccount", *pair) for pair in stack.context.assumed_service_accounts}
        objects.makes_the_cluster = bool(stack.resources.of(EKS_CLUSTER, GKE_CLUSTER))
        objects.is_rendered_elsewhere = any(map(has_unseen_objects, stack.components))
        for view in stack.views:
            if view.type == HELM_RELEASE:
                objects.charted.add("*" if view.is_unknown("namespace") else bare(view.text("namespace") or ""))
                if view.flag("createNamespace") and view.text("namespace"):
                    objects.known.add(("Namespace", "", str(view.text("namespace"))))
                continue
            kind = kind_of(view)
            if not view.type.startswith("kubernetes:") or kind is None:
                continue
            name, namespace = object_name(view), object_namespace(view)
            of_group = (kind, (view.text("apiVersion") or "").partition("/")[0])
            objects.is_rendered_elsewhere |= of_group in _RENDERERS
            if of_group in _MAKERS:
                objects.makers.add(kind)
            elif namespace is not None and is_of_unread(view):
                objects.owners.setdefault(bare(namespace), set()).add(name or "")
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
        if (kind, name) in (("ServiceAccount", "default"), ("ConfigMap", "kube-root-ca.crt")):
            return False
        if self.is_after_another(namespace, name):
            return False
        if kind not in _LOOKED_UP:
            return True
        return bool(nearest_of(name, self.names(kind, namespace))) or not self.may_be_there(kind, namespace, name)

    def is_after_another(self, namespace: str, name: str) -> bool:
        """Whether a name begins with that of an object whose program may make others after it (`is_of_unread`)."""
        names = self.owners.get(bare(namespace))
        if not names:
            return False
        return bool(names & {"", name}) or any(name[:place] in names for place, sign in enumerate(name) if sign in "-.")

    def may_be_there(self, kind: str, namespace: str, name: str = "") -> bool:
        """Whether somebody else may have made an object (of that name) that is not recorded."""
        if self.is_rendered_elsewhere:
            return True
        if kind == "Namespace":
            return not self.makes_the_cluster or name.startswith(_SYSTEM_NAMESPACES)
        if kind in _OF_CLUSTERS:
            return not self.makes_the_cluster
        place = bare(namespace)
        if self.charted & {place, "*"} or place.startswith(_SYSTEM_NAMESPACES):
            return True
        if place and ("Namespace", "", place) not in self.known:
            return True
        return (not place and not self.makes_the_cluster) or (bool(self.makers) and kind in ("Secret", "ConfigMap"))

    def names(self, kind: str, namespace: str) -> list[str]:
        """The names of a kind in a namespace."""
        return sorted(item[2] for item in self.known if item[:2] == (kind, namespace))

    def answer(self, question: tuple[str, ...]) -> Any:
        """What it says to a question that `Asked` noted."""
        method, *given = question
        return getattr(self, method)(*given)


class Asked(Objects):
    """Recorded objects, and every question that a check asks of them with its answer."""

    def __init__(self, objects: Objects) -> None:
        super().__init__()
        self._objects = objects
        self.answers: dict[Hashable, Any] = {}

    def lacks(self, kind: str, namespace: str, name: str) -> bool:
        """As `Objects.lacks`."""
        found = self.answers["lacks", kind, namespace, name] = self._objects.lacks(kind, namespace, name)
        return found

    def is_after_another(self, namespace: str, name: str) -> bool:
        """As `Objects.is_after_another`."""
        found = self._objects.is_after_another(namespace, name)
        self.answers["is_after_another", namespace, name] = found
        return found

    def names(self, kind: str, namespace: str) -> list[str]:
        """As `Objects.names`."""
        found = self.answers["names", kind, namespace] = self._objects.names(kind, namespace)
        return found

    def may_be_there(self, kind: str, namespace: str, name: str = "") -> bool:
        """As `Objects.may_be_there`."""
        found = self.answers["may_be_there", kind, namespace, name] = self._objects.may_be_there(kind, namespace, name)
        return found


def bare(namespace: str) -> str:
    """A namespace as objects that name none have it: `default` is empty."""
    return "" if namespace == "default" else namespace


def object_name(view: View) -> str | None:
    """The name that the object has or will have; None where it is not known."""
    if view.has("metadata.name"):
        return view.text("metadata.name")
    found = follow(view.resource.outputs, "metadata", "name")
    return found if isinstance(found, str) else None


def object_namespace(view: View) -> str | None:
    """The namespace, empty for what has none, None where it is not known."""
    if view.is_unknown("metadata") or view.is_unknown("metadata.namespace"):
        return None
    return view.text("metadata.namespace") or ""
