"""The recorded cluster as references see it: objects by name, pods by namespace, and where others may have made more.

What is not recorded may still be there: a controller makes secrets, a chart that no table knows makes anything in its
namespace, people make pods in a team's. `Cluster.is_open` and `Cluster.lacks` know, so that only what is surely missing
is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from trainyard import cards
from trainyard.conventions import TEAM_LABEL
from trainyard.recorded.model import UNKNOWN, has_unknown
from trainyard.recorded.read import as_number
from trainyard.recorded.selectors import NAME_LABEL, selects
from trainyard.recorded.types import HELM_RELEASE
from trainyard.rehearsal.context import Stack, View, listed
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.refusals.kubernetes.index import (
    Objects,
    bare,
    foreign_group,
    is_of_unread,
    object_name,
    object_namespace,
)
from trainyard.rehearsal.works.flows.kubernetes.pods import Workload, of_charts
from trainyard.rehearsal.works.workloads.charts import is_known

BUILT_IN_NAMESPACES: Final = frozenset({"", "kube-system", "kube-public", "kube-node-lease"})
_CLASSES_OF_CLOUDS: Final = frozenset(
    {
        "gp2", "ebs-csi-default-sc", "auto-ebs-sc", "standard", "standard-rwo", "premium-rwo", "standard-rwx",
        "premium-rwx", "enterprise-rwx", "enterprise-multishare-rwx", "zonal-rwx", "regional-rwx", "dynamic-rwo",
        "parallelstore-rwx", "gcsfusecsi-training", "gcsfusecsi-checkpointing", "gcsfusecsi-serving",
    }
)  # fmt: skip
"""Storage classes that EKS with its add-on for disks (`defaultStorageClass`) and GKE with its drivers bring (their user
guides, "Storage classes", as generally known)."""


class _Anything:
    """A label's value that is given in the cluster: equal to each."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


ANYTHING: Final = _Anything()


@dataclass(frozen=True, slots=True)
class Container:
    """One container, and where it stands."""

    path: str
    body: Mapping[str, Any]
    is_init: bool

    @property
    def name(self) -> str:
        """The object's name."""
        return str(self.body.get("name") or "")

    @property
    def ports(self) -> list[Mapping[str, Any]]:
        """The ports that it declares."""
        return [port for port in listed(self.body.get("ports")) if isinstance(port, Mapping)]

    @property
    def ports_are_known(self) -> bool:
        """Whether every port can be read."""
        return not has_unknown(self.body.get("ports"))


@dataclass(frozen=True, slots=True)
class Pod:
    """The pods of one template."""

    view: View
    path: str  # of their spec
    spec: Mapping[str, Any]
    namespace: str | None  # None: not known, or one of each job that uses the template
    labels: Mapping[str, Any] | None  # None: not known
    job: str = ""  # of a set of jobs, the one

    @property
    def containers(self) -> list[Container]:
        """All containers, those that start first among them."""
        return [
            Container(f"{self.path}.{kind}[{index}]", body, kind == "initContainers")
            for kind in ("initContainers", "containers")
            for index, body in enumerate(listed(self.spec.get(kind)))
            if isinstance(body, Mapping)
        ]

    @property
    def containers_are_known(self) -> bool:
        """Whether every container can be read."""
        return all(
            self.spec.get(kind) is not UNKNOWN and UNKNOWN not in listed(self.spec.get(kind))
            for kind in ("initContainers", "containers")
        )

    @property
    def title(self) -> str:
        """By which it is told."""
        return f"{self.view.text('kind')} {object_name(self.view) or self.view.name}"

    def port_names(self) -> dict[str, int]:
        """Its named ports."""
        return {
            port["name"]: int(as_number(port.get("containerPort")) or 0)
            for container in self.containers
            for port in container.ports
            if isinstance(port.get("name"), str)
        }

    def port_numbers(self) -> set[int]:
        """The numbers of the ports that it declares."""
        return {
            int(number)
            for container in self.containers
            for port in container.ports
            for number in [as_number(port.get("containerPort"))]
            if number is not None
        }

    @property
    def ports_are_known(self) -> bool:
        """Whether each port of each container can be read."""
        return self.containers_are_known and all(container.ports_are_known for container in self.containers)


@dataclass(frozen=True, slots=True)
class ChartPod:
    """Pods that a chart or an add-on makes, of those that a table knows."""

    title: str
    labels: Mapping[str, Any]
    ports: Mapping[str, int]


@dataclass(slots=True)
class _Found:
    names: dict[tuple[str, str], dict[str, View]] = field(default_factory=dict)
    blurred: set[tuple[str, str]] = field(default_factory=set)


class Cluster:
    """What a recording has of a cluster, looked through once."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.views = [view for view in stack.views if view.type.startswith("kubernetes:")]
        self.releases = [view for view in self.views if view.type == HELM_RELEASE]
        everything = [view for view in self.views if view.type != HELM_RELEASE and view.has("kind")]
        self.objects = [view for view in everything if not view.is_patch]
        self._asked: dict[str, bool] = {}
        self._by_kind: dict[str, list[View]] = {}
        self._found = _Found()
        for view in self.objects:
            kind = kind_of(view)
            self._by_kind.setdefault(kind, []).append(view)
            name, namespace = object_name(view), place(view)
            if name is None or namespace is None:
                self._found.blurred.add((kind, "*" if namespace is None else namespace))
            else:
                self._found.names.setdefault((kind, namespace), {})[name] = view
        self._patched: set[str] = set()
        for view in everything:
            if view.is_patch:  # of an object that is there, of which the recording has a part
                namespace = place(view)
                self._patched.add("*" if namespace is None else namespace)
                self._found.blurred.add((kind_of(view), "*" if namespace is None else namespace))
        self._objects = stack.once(Objects.of)
        self.is_rendered_elsewhere = self._objects.is_rendered_elsewhere

    def of(self, *kinds: str) -> list[View]:
        """The recorded objects of some kinds (`Service`, `TrainJob.trainer.kubeflow.org`)."""
        return [view for kind in kinds for view in self._by_kind.get(kind, ())]

    def find(self, kind: str, namespace: str, name: str) -> View | None:
        """The recorded object of that name."""
        return self._found.names.get((kind, bare(namespace)), {}).get(name)

    def names(self, kind: str, namespace: str) -> list[str]:
        """The recorded names of a kind in a namespace."""
        return sorted(self._found.names.get((kind, bare(namespace)), ()))

    def is_blurred(self, kind: str, namespace: str) -> bool:
        """Whether there is an object of the kind whose name or namespace is not known yet."""
        return bool(self._found.blurred & {(kind, bare(namespace)), (kind, "*")})

    def lacks(self, kind: str, namespace: str, name: str) -> str | None:
        """Whether no object of that name is there: None where one is or may be, else what was meant, or an empty text.

        In a namespace where others may make objects only what is nearly a recorded name is surely missing.
        """
        namespace = bare(namespace)
        if self.find(kind, namespace, name) is not None or self.is_blurred(kind, namespace):
            return None
        assumed = self.stack.context
        if (kind, namespace, name) in assumed.assumed_objects or self._objects.is_after_another(namespace, name):
            return None
        near = nearest_of(name, self.names(kind, namespace))
        if near:
            return near
        return None if self.is_open(namespace, kind) else ""

    def is_open(self, namespace: str, kind: str = "") -> bool:
        """Whether somebody other than the recorded program may make objects (of a kind) in a namespace."""
        if namespace in BUILT_IN_NAMESPACES - {""}:
            return True
        return self._objects.may_be_there(kind, namespace)

    def is_made_here(self, namespace: str, kind: str) -> bool:
        """Whether a namespace is the recorded program's, and nothing in it makes objects of a kind but the program and
        charts of which a table knows what they make."""
        namespace = bare(namespace)
        return not (
            self.is_rendered_elsewhere
            or self._objects.makers
            or self._patched & {namespace, "*"}
            or self.is_blurred(kind, namespace)
            or self.find("Namespace", "", namespace) is None
            or self.is_teams(namespace)
            or not self.charts_are_known
        )

    @cached_property
    def charts_are_known(self) -> bool:
        """Whether a table knows every chart and add-on of the recording."""
        return all(is_known(one.resource) for one in self.stack.of_type(HELM_RELEASE))

    @property
    def makes_the_cluster(self) -> bool:
        """Whether the recording makes the cluster itself."""
        return self._objects.makes_the_cluster

    @property
    def makes_everything(self) -> bool:
        """Whether the recording makes the cluster, and nothing on it is of charts or programs that nobody knows."""
        return self._objects.makes_the_cluster and self.charts_are_known and not self.is_rendered_elsewhere

    def lacks_class(self, name: str) -> str | None:
        """Whether no storage class of that name is there: None where one is or may be, else what was meant, or an
        empty text. Clouds bring classes of their own, charts that no table knows may too."""
        made = self.names("StorageClass", "")
        if name in made or self.is_blurred("StorageClass", "") or name in _CLASSES_OF_CLOUDS:
            return None
        near = nearest_of(name, made)
        if near:
            return near
        assumed = ("StorageClass", "", name) in self.stack.context.assumed_objects
        is_sure = self.makes_everything
        return "" if is_sure and not assumed and not self._patched else None

    def is_teams(self, namespace: str) -> bool:
        """Whether people make pods in a namespace."""
        found = self.find("Namespace", "", namespace)
        return found is not None and TEAM_LABEL in found.mapping("metadata.labels")

    @cached_property
    def _installed(self) -> list[Workload]:
        return list(of_charts(self.stack.resources))

    @cached_property
    def _unknown_charts(self) -> set[str]:
        return {bare(one.pods.namespace) for one in self._installed if not one.pods.labels}

    @cached_property
    def chart_pods(self) -> dict[str, list[ChartPod]]:
        """The pods of charts and add-ons by namespace, as far as a table knows them."""
        found: dict[str, list[ChartPod]] = {}
        for one in self._installed:
            if one.pods.labels:
                pod = ChartPod(one.name, one.pods.labels, one.pods.ports)
                found.setdefault(bare(one.pods.namespace), []).append(pod)
        return found

    def pods_are_known(self, namespace: str) -> bool:
        """Whether every pod in a namespace is one that the recording makes, or that a table knows of its charts."""
        namespace = bare(namespace)
        return not bool(
            self.is_rendered_elsewhere
            or namespace in BUILT_IN_NAMESPACES
            or namespace in self._unknown_charts
            or self._patched & {namespace, "*"}
            or self._blurred_pods & {namespace, "*"}
            or self.find("Namespace", "", namespace) is None
            or self.is_teams(namespace)
        )

    @cached_property
    def labels_of_namespaces(self) -> dict[str, dict[str, Any]]:
        """The labels of every namespace that is known, by its name; each has its name as one."""
        found: dict[str, dict[str, Any]] = {
            name: {NAME_LABEL: name} for name in ("default", *BUILT_IN_NAMESPACES) if name
        }
        for view in self.of("Namespace"):
            name = object_name(view)
            if name is not None and not has_unknown(view.mapping("metadata.labels")):
                found[name] = {NAME_LABEL: name, **view.mapping("metadata.labels")}
        return found

    @cached_property
    def _pairs_of_namespaces(self) -> set[tuple[str, str]]:
        return {(key, str(value)) for labels in self.labels_of_namespaces.values() for key, value in labels.items()}

    def selects_a_namespace(self, selector: Mapping[str, Any]) -> bool:
        """Whether a selector means a namespace that is known. Raises `UnreadableInput`."""
        text = repr(selector)
        if text not in self._asked:
            wanted = selector.get("matchLabels")
            if set(selector) == {"matchLabels"} and isinstance(wanted, Mapping) and len(wanted) == 1:
                key, value = next(iter(wanted.items()))
                self._asked[text] = (key, str(value)) in self._pairs_of_namespaces
            else:
                self._asked[text] = any(selects(selector, labels) for labels in self.labels_of_namespaces.values())
        return self._asked[text]

    @cached_property
    def pods(self) -> list[Pod]:
        """The pods of every recorded template."""
        return [pod for view in self.objects for pod in _pods(view)]

    @cached_property
    def _blurred_pods(self) -> set[str]:
        """Namespaces with pods of which nothing is known yet; `*`: any may have some."""
        found = set()
        for view in self.objects:
            card = cards.BY_TYPE.get(view.type)
            path = (card.pod_spec or card.job_templates) if card is not None else ""
            namespace = place(view)
            is_template_unknown = path and (namespace is None or _is_unknown_above(view, path))
            if is_template_unknown or (is_of_unread(view) and _runs_pods(view.value("spec"))):
                found.add("*" if namespace is None else namespace)
        return found

    @cached_property
    def pods_by_namespace(self) -> dict[str, list[Pod]]:
        """The pods whose namespace is known."""
        found: dict[str, list[Pod]] = {}
        for pod in self.pods:
            if pod.namespace is not None:
                found.setdefault(pod.namespace, []).append(pod)
        return found

    def selected(self, selector: Any, namespace: str) -> list[Pod]:
        """The recorded pods in a namespace that a selector means. Raises `UnknownInput`."""
        return [
            pod
            for pod in self.pods_by_namespace.get(bare(namespace), ())
            if pod.labels is None or selects(selector, pod.labels)
        ]

    def selected_of_charts(self, selector: Any, namespace: str) -> list[ChartPod]:
        """The pods of charts in a namespace that a selector means. Raises `UnknownInput`."""
        return [pod for pod in self.chart_pods.get(bare(namespace), ()) if selects(selector, pod.labels)]


_JOB: Final = ("batch.kubernetes.io/job-name", "job-name")
_GIVEN: Final = {
    "Job": ("batch.kubernetes.io/controller-uid", "controller-uid", "batch.kubernetes.io/job-completion-index"),
    "CronJob": (*_JOB, "batch.kubernetes.io/controller-uid", "controller-uid"),
    "Deployment": ("pod-template-hash",),
    "ReplicaSet": ("pod-template-hash",),
    "DaemonSet": ("controller-revision-hash", "pod-template-generation"),
    "StatefulSet": (
        "controller-revision-hash",
        "statefulset.kubernetes.io/pod-name",
        "apps.kubernetes.io/pod-index",
    ),
}
"""Labels that a controller puts on its pods (Kubernetes, well-known labels, 1.35), by kind; of a set of jobs all below
`jobset.sigs.k8s.io`."""
_OF_SETS: Final = tuple(
    f"jobset.sigs.k8s.io/{word}"
    for word in (
        "jobset-name", "jobset-uid", "replicatedjob-name", "replicatedjob-replicas", "job-index", "job-key",
        "job-global-index", "job-group-index", "global-replicas", "restart-attempt", "group-name", "group-replicas",
        "coordinator",
    )
)  # fmt: skip


def _pods(view: View) -> Iterator[Pod]:
    card = cards.BY_TYPE.get(view.type)
    if card is None or not (card.pod_spec or card.job_templates):
        return
    kind, namespace = view.text("kind") or "", place(view)
    if card.pod_spec:
        spec = view.mapping(card.pod_spec)
        path = card.pod_spec.removesuffix("spec") + "metadata.labels"
        given: dict[str, Any] = dict.fromkeys(_GIVEN.get(kind, ()), ANYTHING)
        if kind == "Job":
            given |= dict.fromkeys(_JOB, object_name(view) or ANYTHING)
        if spec:
            yield Pod(view, card.pod_spec, spec, namespace, _labels(view, path, given))
        return
    if kind.startswith("ClusterTraining") or kind == "TrainingRuntime":
        namespace = None
    for here, job in view.items(card.job_templates):
        path = f"{here}.template.spec.template"
        spec = view.mapping(f"{path}.spec")
        given = dict.fromkeys((*_JOB, *_GIVEN["Job"], *_OF_SETS), ANYTHING)
        if kind == "JobSet":
            given |= {"jobset.sigs.k8s.io/jobset-name": object_name(view) or ANYTHING}
            given |= {"jobset.sigs.k8s.io/replicatedjob-name": job.get("name") or ANYTHING}
        if spec:
            labels = _labels(view, f"{path}.metadata.labels", given)
            yield Pod(view, f"{path}.spec", spec, namespace, labels, str(job.get("name") or ""))


def _labels(view: View, path: str, given: Mapping[str, Any]) -> Mapping[str, Any] | None:
    outer = path.rpartition(".")[0]
    if view.is_unknown(path) or view.is_unknown(outer) or view.is_unknown(outer.rpartition(".")[0]):
        return None
    found = {key: ANYTHING if value is UNKNOWN else value for key, value in view.mapping(path).items()}
    return {**given, **found}


_OF_PODS: Final = frozenset({"containers", "image", "instances", "nodeSets", "podSpec", "replicas"})
"""Keys below which programs' own objects say what pods are to be made of them, or how many."""


def _runs_pods(given: Any) -> bool:
    """Whether a program's own object may have pods made of it, by its keys at any depth."""
    if isinstance(given, Mapping):
        return not _OF_PODS.isdisjoint(given) or any(map(_runs_pods, given.values()))
    return given is UNKNOWN or (isinstance(given, list) and any(map(_runs_pods, given)))


def _is_unknown_above(view: View, path: str) -> bool:
    """Whether an input, or one that it lies in, is not known."""
    parts = path.split(".")
    return any(view.is_unknown(".".join(parts[:count])) for count in range(1, len(parts) + 1))


def kind_of(view: View) -> str:
    """A kind by which objects are found: with its group where it is not one of Kubernetes' own."""
    kind, group = view.text("kind") or "", foreign_group(view)
    return f"{kind}.{group}" if group else kind


def values_from_elsewhere(release: View) -> bool:
    """Whether a chart's values may come from somewhere that nothing here reads: an unknown, or files of the user's."""
    return release.is_unknown("values") or release.has("valueYamlFiles")


def place(view: View) -> str | None:
    """An object's namespace: empty for what has none and for `default`, None where it is not known."""
    namespace = object_namespace(view)
    return None if namespace is None else bare(namespace)
