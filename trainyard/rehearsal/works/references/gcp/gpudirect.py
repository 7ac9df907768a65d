"""Pods with a daemon of GPUDirect over TCP (TCPX, TCPXO): its devices, and what their nodes need for it.

The daemon has no GPU of its own: the device injector gives it the node's by the pod's annotation, and an installer
brings the plug-in of NCCL. Without one of these the pod starts, and its program ends, or trains over sockets.

Source: container-engine-accelerators, 2026-06-11 (`gpudirect-tcpx/`, `gpudirect-tcpxo/`, `nri_device_injector/`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard.conventions.gpudirect import INJECTOR, Transport, of_image
from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.read import follow
from trainyard.recorded.types import DAEMON_SET
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.works.references.gcp.pod_networks import attached_of, chosen_nodes, path_of_annotations, steps
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod

_RULE: Final = "reference-gpudirect"
_INJECTORS: Final = f"nri-{INJECTOR}"


def check(cluster: Cluster) -> None:
    """Every pod with such a daemon."""
    for pod in cluster.pods:
        for name, transport in _daemons(pod):
            _has_devices(pod, name, transport)
            _nodes_are_prepared(pod, transport, cluster)
            _has_interfaces(pod, transport, cluster)


def _daemons(pod: Pod) -> Iterator[tuple[str, Transport]]:
    for container in pod.containers:
        image, name = container.body.get("image"), container.body.get("name")
        transport = of_image(image) if isinstance(image, str) else None
        if transport is not None and isinstance(name, str):
            yield name, transport


def _has_devices(pod: Pod, name: str, transport: Transport) -> None:
    """The annotation is of the container, and names all devices that it opens."""
    key, _ = transport.device_annotation
    key = f"{key.rpartition('.')[0]}.{name}"
    path = path_of_annotations(pod)
    annotations = follow(pod.view.inputs, *steps(path))
    text = annotations.get(key) if isinstance(annotations, dict) else None
    if annotations is not None and text is not None and not isinstance(text, str):
        return  # not known yet
    lacking = [device for device in transport.devices if text is None or device not in text]
    if lacking:
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        words = f"{pod.title}: {name} gets no {lacking[0]} of the node{more}"
        pod.view.error(_RULE, path, words, allowed=f"{key} with {', '.join(transport.devices)}")


def _nodes_are_prepared(pod: Pod, transport: Transport, cluster: Cluster) -> None:
    """Somebody brings the plug-in, and injects devices: where the program makes agents at all."""
    agents = [_images(view) for view in cluster.stack.of_type(DAEMON_SET)]
    if any(None in images for images in agents):
        return
    for what, mark in (
        ("the plug-in of NCCL onto the nodes", f"gpudirect-{transport.name}/nccl-plugin-gpudirecttcpx"),
        ("devices of the node to the daemon", _INJECTORS),
    ):
        if not any(mark in image for images in agents for image in images if image is not None):
            words = f"{pod.title} has {transport.daemon}, and no DaemonSet brings {what}"
            pod.view.error(_RULE, pod.path, words, allowed=f"a DaemonSet of {mark}… on these nodes")


def _has_interfaces(pod: Pod, transport: Transport, cluster: Cluster) -> None:
    """The nodes of the pod are of the transport's machine."""
    labels = chosen_nodes(pod)
    for pool in cluster.stack.of_type(GKE_NODE_POOL) if labels else ():
        own, machine = pool.mapping("nodeConfig.labels"), pool.text("nodeConfig.machineType")
        if machine is None or any(own.get(key) not in values for key, values in labels.items()):
            continue
        if machine != transport.machine and attached_of(pool) is not None:
            words = f"{pool.name} is of {show(machine)}, and {pod.title} has {transport.daemon}"
            pod.view.error(_RULE, pod.path, words, allowed=f"nodes of {transport.machine}")


def _images(agents: View) -> list[str | None]:
    """Images of a DaemonSet; None among them where one is not known."""
    path, found = "spec.template.spec", []
    for kind in ("initContainers", "containers"):
        if agents.blurred(f"{path}.{kind}"):
            return [None]
        for _, container in agents.items(f"{path}.{kind}"):
            image = container.get("image")
            found.append(image if isinstance(image, str) else None)
    return found
