"""Claims of devices (dynamic resource allocation): made where pods name them, of a class that is there, and used.

Sources: Kubernetes documentation, "Dynamic Resource Allocation" (a pod whose template is not in its namespace is not
started; a container that names none of its pod's claims sees no device); GKE, "Allocate network resources by using
GKE managed DRANET"; NVIDIA, "DRA Driver for GPUs", as generally known (2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trainyard.recorded.model import has_unknown
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod

_CLASSES: Final = (
    "mrdma.google.com", "netdev.google.com", "tpu.google.com", "gpu.google.com", "gpu.nvidia.com", "mig.nvidia.com",
    "vfio.gpu.nvidia.com", "compute-domain-daemon.nvidia.com", "compute-domain-default-channel.nvidia.com",
    "neuron.aws.com", "efa.networking.k8s.aws", "gpu.amd.com", "dra.net", "dranet",
)  # fmt: skip
"""Classes that clouds and drivers bring."""
_TEMPLATE: Final = "ResourceClaimTemplate"
_GROUP: Final = "resource.k8s.io"


def check(cluster: Cluster) -> None:
    """Every template, every claim and every pod that names one."""
    for view in _of(cluster, _TEMPLATE):
        _classes(view, "spec.spec.devices.requests", cluster)
    for view in _of(cluster, "ResourceClaim"):
        _classes(view, "spec.devices.requests", cluster)
    for pod in cluster.pods:
        _used(pod)
        for index, reference in enumerate(listed(pod.spec.get("resourceClaims"))):
            name = reference.get("resourceClaimTemplateName") if isinstance(reference, Mapping) else None
            if isinstance(name, str):
                _made(pod, f"{pod.path}.resourceClaims[{index}].resourceClaimTemplateName", name, cluster)


def _of(cluster: Cluster, kind: str) -> list[View]:
    return cluster.of(kind, f"{kind}.{_GROUP}")


def _classes(view: View, path: str, cluster: Cluster) -> None:
    made = [str(one.text("metadata.name")) for one in _of(cluster, "DeviceClass")]
    for at, request in view.items(path):
        asked = [(f"{at}.exactly", request.get("exactly"))]
        asked += [(f"{at}.firstAvailable[{n}]", one) for n, one in enumerate(listed(request.get("firstAvailable")))]
        for here, one in asked:
            name = one.get("deviceClassName") if isinstance(one, Mapping) else None
            if not isinstance(name, str) or name in (*made, *_CLASSES):
                continue
            hint = nearest_of(name, (*made, *_CLASSES))
            if hint or cluster.makes_everything:
                # A class of another name may be made by hand, with its driver.
                tell = view.error if hint else view.warning
                tell(
                    "reference-device-class", f"{here}.deviceClassName",
                    f"no DeviceClass {show(name)} is there: pods with the claim wait for ever",
                    allowed=f"one of {', '.join((*made, *_CLASSES[:4]))}, or a DeviceClass that the stack makes",
                    hint=f"did you mean {hint}?" if hint else "",
                )  # fmt: skip


def _made(pod: Pod, path: str, name: str, cluster: Cluster) -> None:
    """A runtime's pods run in every team's namespace: where one team has the template, all have to."""
    if pod.view.text("kind") != "ClusterTrainingRuntime":
        return  # of pods in a namespace of their own `training` tells what is nearly the name of one that is there
    spaces = [str(view.text("metadata.name")) for view in cluster.of("Namespace")]
    teams = [space for space in spaces if cluster.is_teams(space) and _has_queue(space, cluster)]
    have = {space: cluster.names(_kind(cluster, space), space) for space in teams}
    lacking = [space for space in teams if name not in have[space]]
    if not lacking or cluster.is_rendered_elsewhere:
        return
    if len(lacking) == len(teams) and not nearest_of(name, {one for names in have.values() for one in names}):
        if all(have.values()) and cluster.makes_everything:
            pod.view.warning(
                "reference-class", path,
                f"the stack makes {', '.join(sorted(have[teams[0]])[:3])} for each team, and no {_TEMPLATE} "
                f"{show(name)}: no pod of a job with this runtime starts", allowed="a template that is made",
            )  # fmt: skip
        return
    near = nearest_of(name, {one for space in lacking for one in have[space]})
    pod.view.error(
        "reference-class", path,
        f"no {_TEMPLATE} {show(name)} is in {', '.join(lacking[:3])}: no pod of a job with this runtime starts there",
        allowed="a template in the namespace of each team", hint=f"did you mean {near}?" if near else "",
    )  # fmt: skip


def _has_queue(space: str, cluster: Cluster) -> bool:
    return bool(cluster.names("LocalQueue.kueue.x-k8s.io", space))


def _kind(cluster: Cluster, space: str) -> str:
    return _TEMPLATE if cluster.names(_TEMPLATE, space) else f"{_TEMPLATE}.{_GROUP}"


def _used(pod: Pod) -> None:
    """A claim that no container of the pod names is allocated, and its devices are seen by nobody.

    Network interfaces belong to the pod: of those a container need name none, so that this is a warning.
    """
    given = pod.spec.get("resourceClaims")
    if not pod.containers_are_known or has_unknown(given):
        return
    named: set[Any] = set()
    for container in pod.containers:
        resources = container.body.get("resources")
        if has_unknown(resources):
            return
        for one in listed(resources.get("claims")) if isinstance(resources, Mapping) else ():
            named.add(one.get("name") if isinstance(one, Mapping) else None)
    own = pod.spec.get("resources")
    for one in listed(own.get("claims")) if isinstance(own, Mapping) else ():
        named.add(one.get("name") if isinstance(one, Mapping) else None)
    main = {
        one.get("name")
        for container in pod.containers
        if not container.is_init or container.body.get("restartPolicy") == "Always"
        for one in listed((container.body.get("resources") or {}).get("claims"))
        if isinstance(one, Mapping)
    }
    for index, one in enumerate(listed(given)):
        name = one.get("name") if isinstance(one, Mapping) else None
        if isinstance(name, str) and name not in named:
            words = "is named by no container: unless its devices are the pod's network, no program sees them"
            pod.view.warning("reference-device-claim", f"{pod.path}.resourceClaims[{index}].name", words)
        elif isinstance(name, str) and name not in main and not isinstance(own, Mapping):
            words = (
                "is named by first containers alone: unless its devices are the pod's network, its program sees none"
            )
            pod.view.warning("reference-device-claim", f"{pod.path}.resourceClaims[{index}].name", words)
