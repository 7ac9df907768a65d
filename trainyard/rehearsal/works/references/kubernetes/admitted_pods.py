"""Pods that controllers make of recorded templates, and the admission policies of the same stack that refuse them.

The object is taken, and its controller tries for ever. What the API server writes into a pod before a policy sees it is
written here too, above all the class of priority that is everybody's who names none.

Sources: Kubernetes documentation, "Admission Control" (`Priority`, `LimitRanger`, `DefaultTolerationSeconds` come
before `ValidatingAdmissionPolicy`), "Pod v1 core" for defaults, "Jobs"; Kueue, "Run a Kubernetes Job" (the label
of its pods), as generally known (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from typing import Any, Final

from trainyard.recorded.alike import content
from trainyard.recorded.model import has_unknown
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.works.references.kubernetes.admitted import DENIED, Kept, bound, denies, is_plain, judge_of
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod
from trainyard.rehearsal.works.rights.kubernetes.admission import Judge, Request, scope_of

_MAKERS: Final[Mapping[str, tuple[str, str, str]]] = {
    "Job": ("job-controller", "batch/v1", "Job"), "CronJob": ("job-controller", "batch/v1", "Job"),
    "JobSet": ("job-controller", "batch/v1", "Job"), "Deployment": ("replicaset-controller", "apps/v1", "ReplicaSet"),
    "DaemonSet": ("daemon-set-controller", "apps/v1", "DaemonSet"),
    "StatefulSet": ("statefulset-controller", "apps/v1", "StatefulSet"),
}  # fmt: skip
"""Whose account makes the pods of a kind, and who owns them."""
_MANAGER: Final = "system:kube-controller-manager"
_GROUPS: Final = ("system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated")
_ADMITTED: Final = {"kueue.x-k8s.io/podset": "main"}
_GIVEN: Final[Mapping[str, Any]] = {
    "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler", "enableServiceLinks": True, "preemptionPolicy": "PreemptLowerPriority",
    "priority": 0,
}  # fmt: skip
_OF_CONTAINERS: Final[Mapping[str, Any]] = {
    "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
    "imagePullPolicy": "IfNotPresent",
}  # fmt: skip
_WORD: Final = re.compile(r"\w+")
_LABELS: Final = r"object\.metadata\.labels"
_BY_KEY: Final = re.compile(rf"has\({_LABELS}\)|'[^']*' in {_LABELS}\b(?!\.)|{_LABELS}\[\??'[^']*'\]")
_WAITS: Final = tuple(
    {"key": f"node.kubernetes.io/{word}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for word in ("not-ready", "unreachable")
)


def check(cluster: Cluster) -> None:
    """Every template of our own stacks, whose policies are made for just these pods, against each that is bound there.

    In another's a webhook that nobody recorded may write more into a pod.
    """
    bindings = [view for view in cluster.of("ValidatingAdmissionPolicyBinding") if is_plain(view)]
    if not bindings or not cluster.stack.context.ours:
        return
    policies = {view.text("metadata.name"): view for view in cluster.of("ValidatingAdmissionPolicy")}
    defaults = [view for view in cluster.of("PriorityClass") if view.flag("globalDefault")]
    judges: dict[str, Judge] = {}
    found: dict[str | None, list[View]] = {}  # policies by namespace
    for pod in cluster.pods:
        place, kind = pod.namespace, pod.view.text("kind") or ""
        labels = cluster.labels_of_namespaces.get(place or "")
        template = pod.view.mapping(pod.path.removesuffix("spec") + "metadata")
        if labels is None or kind not in _MAKERS or has_unknown(pod.spec) or has_unknown(template):
            continue
        if place not in found:
            found[place] = list(bound(bindings, policies, labels, "", "pods"))
        if not (asked := found[place]):
            continue
        text = "\n".join(one for policy in asked for one in judge_of(judges, policy).texts)
        if not any(judge_of(judges, policy).tells_apart(place or "") for policy in asked):
            place, labels = "", {}
        item = _made(pod, kind, place or "", _ranges(pod, cluster), defaults, text)
        scopes = Kept(scope_of(request) for request in _requests(item, kind, place or "", labels))
        for policy in asked:
            made = content(item, labels, _MAKERS[kind])
            key = content(policy.content, made) if policy.content is not None and made is not None else None
            if DENIED.of(key, partial(denies, judges, policy, scopes)):
                name = item["spec"].get("priorityClassName")
                by_default = name is not None and "priorityClassName" not in pod.spec
                pod.view.error(
                    "reference-admission-refuses", f"{pod.path}.priorityClassName" if by_default else pod.path,
                    f"admission policy {policy.text('metadata.name')} of the same stack refuses its pods"
                    + (f", which get class {show(name)} by default" if by_default else "")
                    + ": they are tried for ever", allowed="what its validations say",
                )  # fmt: skip


def _ranges(pod: Pod, cluster: Cluster) -> list[Mapping[str, Any]]:
    """What a namespace says of containers that say nothing."""
    return [
        item
        for view in cluster.of("LimitRange")
        if view.text("metadata.namespace") == pod.namespace
        for _, item in view.items("spec.limits")
        if item.get("type") == "Container"
    ]


def _made(
    pod: Pod, kind: str, place: str, ranges: list[Mapping[str, Any]], defaults: list[View], text: str
) -> dict[str, Any]:
    """A pod as policies with such expressions see it: without what none of them names, so that pods which differ in
    nothing else are one, and are judged once."""
    words, only_by_key = _words(text)
    template = pod.view.mapping(pod.path.removesuffix("spec") + "metadata")
    owner = {"apiVersion": _MAKERS[kind][1], "kind": _MAKERS[kind][2], "name": "owner", "uid": "0"}
    spec = {**_GIVEN, "securityContext": {}, "serviceAccountName": "default", **pod.spec}
    if len(defaults) == 1 and "priorityClassName" not in pod.spec:
        spec["priorityClassName"] = defaults[0].text("metadata.name")
    spec["tolerations"] = [*listed(pod.spec.get("tolerations")), *_WAITS]
    for key in ("containers", "initContainers"):
        if key in pod.spec:
            bodies = (_container(one, ranges) for one in listed(pod.spec[key]) if isinstance(one, Mapping))
            spec[key] = [_named(body, words) for body in bodies]
    if "volumes" in spec:
        spec["volumes"] = _below(spec["volumes"], words)
    owners = [{**owner, "controller": True, "blockOwnerDeletion": True}]
    metadata = {**template, "name": "made", "namespace": place, "ownerReferences": owners}
    if only_by_key and "labels" in template:
        metadata["labels"] = {key: label for key, label in _mapping(template["labels"]).items() if key in text}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": _named(metadata, words), "spec": _named(spec, words)}


@lru_cache(maxsize=64)
def _words(text: str) -> tuple[frozenset[str], bool]:
    """The words of expressions, and whether they ask of labels by their keys alone."""
    return frozenset(_WORD.findall(text)), "labels" not in _BY_KEY.sub("", text)


def _named(fields: Mapping[str, Any], words: frozenset[str]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key in words}


def _below(value: Any, words: frozenset[str]) -> Any:
    """A value of which every field, at any depth, has a name of its own: without those that are not named."""
    if isinstance(value, Mapping):
        return {key: _below(part, words) for key, part in value.items() if key in words}
    return [_below(part, words) for part in value] if isinstance(value, list) else value


def _container(body: Mapping[str, Any], ranges: list[Mapping[str, Any]]) -> dict[str, Any]:
    given = body.get("resources")
    resources: dict[str, Any] = dict(given) if isinstance(given, Mapping) else {}
    for one in ranges:
        limits = {**_mapping(one.get("default")), **_mapping(resources.get("limits"))}
        asked = {**_mapping(one.get("defaultRequest")), **limits, **_mapping(resources.get("requests"))}
        resources = {**resources, "limits": limits, "requests": asked} if limits else {**resources, "requests": asked}
    if not ranges and _mapping(resources.get("limits")):
        resources["requests"] = {**_mapping(resources["limits"]), **_mapping(resources.get("requests"))}
    return {**_OF_CONTAINERS, **body, "resources": resources}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _requests(item: dict[str, Any], kind: str, place: str, labels: Mapping[str, Any]) -> Iterator[Request]:
    """The senders that may be, and what a queue writes into the pods that it admits."""
    plain = item.get("metadata", {})
    queued = {**plain, "labels": {**_mapping(plain.get("labels")), **_ADMITTED}}
    users = ((f"system:serviceaccount:kube-system:{_MAKERS[kind][0]}", _GROUPS), (_MANAGER, ("system:authenticated",)))
    for metadata in (queued, plain) if _MAKERS[kind][2] == "Job" else (plain,):
        for user, groups in users:
            yield Request({**item, "metadata": metadata}, user, groups, namespace=place, labels=labels)
