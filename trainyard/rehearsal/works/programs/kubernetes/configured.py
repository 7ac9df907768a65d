"""Files that a program reads by itself where it is told of none: one that is mounted elsewhere is not read.

Source: the images' own `CMD` and documentation, as generally known (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from trainyard.rehearsal.context import listed
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod
from trainyard.rehearsal.works.references.kubernetes.keys import keys_of

_READS: Final = (
    (re.compile(r"(^|/)(aws-for-)?fluent-bit(?=[:@]|$)"), "/fluent-bit/etc/fluent-bit.conf"),
    (re.compile(r"(^|/)squid(?=[:@]|$)"), "/etc/squid/squid.conf"),
    (re.compile(r"(^|/)prometheus(?=[:@]|$)"), "/etc/prometheus/prometheus.yml"),
    (re.compile(r"(^|/)alertmanager(?=[:@]|$)"), "/etc/alertmanager/alertmanager.yml"),
    (re.compile(r"(^|/)opentelemetry-collector-contrib(?=[:@]|$)"), "/etc/otelcol-contrib/config.yaml"),
    (re.compile(r"(^|/)nginx(?=[:@]|$)"), "/etc/nginx/nginx.conf"),
)


def check(cluster: Cluster) -> None:
    """Every container that is started as its image says."""
    for pod in cluster.pods:
        for container in pod.containers:
            image = container.body.get("image")
            if not isinstance(image, str) or "command" in container.body or "args" in container.body:
                continue
            wanted = next((path for pattern, path in _READS if pattern.search(image)), "")
            if wanted:
                _mounted(pod, container, wanted, cluster)


def _mounted(pod: Pod, container: Container, wanted: str, cluster: Cluster) -> None:
    folder, _, file = wanted.rpartition("/")
    mounts = list(_mounts(container))
    if any(path in (wanted, folder) or folder.startswith(f"{path}/") for _, path, _ in mounts):
        return
    maps = {
        str(one.get("name")): one["configMap"]
        for one in listed(pod.spec.get("volumes"))
        if isinstance(one, Mapping) and isinstance(one.get("configMap"), Mapping)
    }
    for where, path, name in mounts:
        source = maps.get(name)
        found = cluster.find("ConfigMap", pod.namespace, str(source.get("name"))) if source and pod.namespace else None
        if source and found is not None and "items" not in source and file in (keys_of(found) or ()):
            pod.view.error(
                "programs-configuration", where,
                f"mounts {file} at {path}, and the image reads {wanted}: it runs with its own", allowed=folder,
            )  # fmt: skip
            return


def _mounts(container: Container) -> Iterator[tuple[str, str, str]]:
    for index, one in enumerate(listed(container.body.get("volumeMounts"))):
        if isinstance(one, Mapping) and isinstance(one.get("mountPath"), str):
            path = one["mountPath"].rstrip("/")
            yield f"{container.path}.volumeMounts[{index}].mountPath", path, str(one.get("name"))
