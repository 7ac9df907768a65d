"""Pods that ask the node's name servers, and are told names that the cluster's alone know.

Source: Kubernetes documentation, "DNS for Services and Pods" (`Default` is the node's own resolution; a pod in the
node's network has that as well unless it says `ClusterFirstWithHostNet`), 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import known_texts
from trainyard.rehearsal.context import show
from trainyard.rehearsal.works.programs.kubernetes.listening import configurations
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod

_NAME: Final = re.compile(r"(?<![\w.*-])((?:[a-z0-9]([a-z0-9-]*[a-z0-9])?\.){2}svc(?:\.cluster\.local)?)(?![\w-])")
_LISTS: Final = frozenset({"NO_PROXY", "no_proxy"})


def check(cluster: Cluster) -> None:
    """Every pod that is not told the cluster's name servers."""
    for pod in cluster.pods:
        policy, in_node = pod.spec.get("dnsPolicy"), pod.spec.get("hostNetwork")
        if UNKNOWN in (policy, in_node) or pod.spec.get("dnsConfig"):
            continue
        if policy == "Default" or (in_node is True and policy in (None, "ClusterFirst")):
            name, path = next(_asked(pod, cluster), ("", ""))
            if name:
                why = "dnsPolicy is Default" if policy == "Default" else "it is in the node's network"
                pod.view.error(
                    "programs-names", f"{pod.path}.dnsPolicy",
                    f"asks the node's name servers, for {why}, and {pod.title} is told {show(name)} at {path}, which "
                    "they do not know", allowed="ClusterFirstWithHostNet" if in_node is True else "ClusterFirst",
                )  # fmt: skip


def _asked(pod: Pod, cluster: Cluster) -> Iterator[tuple[str, str]]:
    for container in pod.containers:
        for key in ("command", "args"):
            for below, text in known_texts(container.body.get(key)):
                yield from ((found[1], f"{container.path}.{key}{below}") for found in _NAME.finditer(text))
        for entry in container.body.get("env") or () if isinstance(container.body.get("env"), list) else ():
            if isinstance(entry, dict) and entry.get("name") not in _LISTS and isinstance(entry.get("value"), str):
                path = f"variable {entry.get('name')}"
                yield from ((found[1], path) for found in _NAME.finditer(entry["value"]))
        for view, path, text in configurations(pod, container, cluster):
            yield from ((found[1], f"{view.name} {path}") for found in _NAME.finditer(text))
