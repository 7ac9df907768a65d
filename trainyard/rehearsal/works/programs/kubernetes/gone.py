"""What is no longer where programs look for it: images that left their registry, folders that Docker had on a node.

Source: Bitnami, "Upcoming changes to the Bitnami catalog" (2025-08: tags moved to `bitnamilegacy`); kubebuilder, of its
images on gcr.io ("Action Required", 2025-03); Kubernetes documentation, "Container Runtimes" (dockershim is gone since
1.24; EKS and GKE run containerd), as generally known (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from trainyard.recorded.read import follow
from trainyard.rehearsal.context import listed, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_IMAGES: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"(?:(?:docker|registry-1\.docker|index\.docker)\.io/)?bitnami/[\w.-]+:(?!latest(?:@|$)).+"),
     "docker.io/bitnamilegacy, or another publisher's"),
    (re.compile(r"gcr\.io/kubebuilder/.+"), "registry.k8s.io/kubebuilder, quay.io/brancz/kube-rbac-proxy"),
)  # fmt: skip
"""Images that are gone, and where others are."""
_SOCKET: Final = re.compile(r"(?:/var)?/run/docker\.sock")
_FOLDER: Final = re.compile(r"/var/lib/docker(?:/.*)?")
_BESIDE: Final = re.compile(r"/var/log(?:/.*)?|/sys|/dev/disk")
"""Folders that collectors of logs and cAdvisor mount beside Docker's, to find what they look for with either one."""


def check(cluster: Cluster) -> None:
    """Every recorded pod."""
    for pod in cluster.pods:
        for container in pod.containers:
            image = container.body.get("image")
            for pattern, other in _IMAGES if isinstance(image, str) else ():
                if pattern.fullmatch(str(image)):
                    pod.view.error(
                        "programs-gone", f"{container.path}.image", f"{show(image)} is pulled from there no longer",
                        allowed=other,
                    )  # fmt: skip
        volumes = [one if isinstance(one, Mapping) else {} for one in listed(pod.spec.get("volumes"))]
        paths = [str(follow(one, "hostPath", "path") or "").rstrip("/") for one in volumes]
        finds_others = any(map(_BESIDE.fullmatch, paths))
        for index, path in enumerate(paths) if cluster.makes_the_cluster else ():
            if _SOCKET.fullmatch(path) or (_FOLDER.fullmatch(path) and not finds_others):
                pod.view.error(
                    "programs-gone", f"{pod.path}.volumes[{index}].hostPath.path",
                    f"{path} is Docker's, and the nodes run containerd: nothing lies there",
                    allowed="/var/log/pods, or containerd's socket /run/containerd/containerd.sock",
                )  # fmt: skip
