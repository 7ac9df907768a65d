"""Collectors of the nodes' logs: which files a container really sees, whether it may read them, and what it keeps.

Sources: Kubernetes documentation, "Logging Architecture" (files of `/var/log/containers` are links to `/var/log/pods`,
which the kubelet makes for root alone); Fluent Bit's manual, "Buffering & Storage" (`Mem_Buf_Limit` is an input's own,
what is sent on is a copy of it) and "Tail" (`DB`) (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.model import has_unknown
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import follow, known_texts
from trainyard.rehearsal.context import View, listed
from trainyard.rehearsal.works.programs.kubernetes.fluent_bit import is_configuration, sections_of
from trainyard.rehearsal.works.programs.kubernetes.listening import configurations
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod

_LINKS: Final = "/var/log/containers"
_FILES: Final = "/var/log/pods"
_READS_ALL: Final = frozenset({"ALL", "DAC_OVERRIDE", "DAC_READ_SEARCH", "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH"})
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([KMG]?)i?B?", re.IGNORECASE)
_UNITS: Final = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}
_LIMITS: Final = ("mem_buf_limit", "buffer_max_size", "buffer_chunk_size")
_WRITTEN: Final = ("db", "storage.path", "store_dir")
"""Options whose value Fluent Bit writes to: a file, or a folder."""


def check(cluster: Cluster) -> None:
    """Every container that mounts logs of its node, and every one that mounts a configuration of Fluent Bit."""
    for pod in cluster.pods:
        volumes = {str(one.get("name")): one for one in listed(pod.spec.get("volumes")) if isinstance(one, Mapping)}
        for container in pod.containers:
            mounts = [one for one in listed(container.body.get("volumeMounts")) if isinstance(one, Mapping)]
            if has_unknown(mounts) or has_unknown(volumes):
                continue
            hosts = {
                str(one.get("mountPath")).rstrip("/"): str(path).rstrip("/")
                for one in mounts
                if isinstance(path := follow(volumes.get(str(one.get("name")), {}), "hostPath", "path"), str)
            }
            words = [text for key in ("command", "args") for _, text in known_texts(container.body.get(key))]
            told = " ".join((*words, *(text for _, _, text in configurations(pod, container, cluster))))
            _seen(pod, container, hosts, told)
            for view, path, text in _configurations(pod, mounts, volumes, cluster):
                _kept(pod, container, mounts, volumes, view, path, text)


def _seen(pod: Pod, container: Container, hosts: Mapping[str, str], told: str) -> None:
    """The links lead to the files at the same path as on the node, and root alone may read those.

    Many mount `/` or `/var/log` for something else (figures of the node, the kernel's log): a collector is what its
    command or its configuration (`told`) names the containers' logs to.
    """
    links = [at for at, source in hosts.items() if _is_within(_LINKS, source)] if _LINKS in told else []
    sources = [at for at, source in hosts.items() if _is_within(_FILES, source)]
    if links and not any(_is_within(_FILES, at) for at in sources):
        pod.view.error(
            "programs-node-logs", f"{container.path}.volumeMounts",
            f"{links[0]} holds links to {_FILES}, which is not mounted at that path: {pod.title} finds names of files "
            "and opens none", allowed="/var/log of the node, at /var/log",
        )  # fmt: skip
        return
    own, of_pod = container.body.get("securityContext"), pod.spec.get("securityContext")
    if not links and not (sources and _FILES in told):
        return
    user = next(
        (given for one in (own, of_pod) if isinstance(one, Mapping) and (given := one.get("runAsUser")) is not None), 0
    )
    groups = [follow(own, "runAsGroup"), follow(of_pod, "runAsGroup"), *listed(follow(of_pod, "supplementalGroups"))]
    added = {str(one) for one in listed(follow(own, "capabilities", "add"))}
    if isinstance(user, (int, float)) and user != 0 and 0 not in groups and not added & _READS_ALL:
        pod.view.error(
            "programs-node-logs",
            f"{container.path}.securityContext.runAsUser",
            f"is {user:g}, and the kubelet writes {_FILES} for root alone: {pod.title} opens no file",
            allowed="0, group 0, or the capability DAC_READ_SEARCH",
        )


def _is_within(path: str, folder: str) -> bool:
    return f"{path}/".startswith(f"{folder}/")


def _configurations(
    pod: Pod, mounts: list[Mapping[str, Any]], volumes: Mapping[str, Mapping[str, Any]], cluster: Cluster
) -> Iterator[tuple[View, str, str]]:
    for mount in mounts:
        name = follow(volumes.get(str(mount.get("name")), {}), "configMap", "name")
        view = cluster.find("ConfigMap", pod.namespace or "", name) if isinstance(name, str) else None
        for key, text in view.mapping("data").items() if view is not None else ():
            if view is not None and isinstance(text, str) and is_configuration(text):
                yield view, f"data.{key}", text


def _kept(
    pod: Pod,
    container: Container,
    mounts: list[Mapping[str, Any]],
    volumes: Mapping[str, Mapping[str, Any]],
    view: View,
    path: str,
    text: str,
) -> None:
    """What an input may hold in memory fits into the container's, and its place is kept where it may write."""
    given = follow(container.body, "resources", "limits", "memory")
    limit = quantity(given) if isinstance(given, (str, int, float)) else None
    held: float = 0
    _buffered(view, path, text)
    for section in sections_of(text):
        sizes = [size for key in _LIMITS if (size := _bytes(section.keys.get(key, ""))) is not None]
        held += max(sizes, default=0) if section.title == "INPUT" else 0
        for key in _WRITTEN:
            _writable(pod, mounts, volumes, view, path, f"line {section.line}: {key}", section.keys.get(key, ""))
    if limit is not None and held > limit:
        view.error(
            "programs-node-logs", path,
            f"lets its inputs hold {held / 10**6:g} MB in memory, and {pod.title} is killed at {given}: what is held "
            "is lost", allowed="less than half of the limit of the container's memory",
        )  # fmt: skip


def _buffered(view: View, path: str, text: str) -> None:
    """What an input keeps on disk lies below the service's `storage.path`; without one it does not start.

    A text without a service is included by another one, as AWS's application-log.conf is, and that one says the folder.
    """
    sections = list(sections_of(text))
    services = [one for one in sections if one.title == "SERVICE"]
    has_path = any(one.keys.get("storage.path") for one in services)
    of_disk = [one for one in sections if one.title == "INPUT" and one.keys.get("storage.type") == "filesystem"]
    if of_disk and services and not has_path and "@INCLUDE" not in text.upper():
        view.error(
            "programs-node-logs", path, f"line {of_disk[0].line}: an input keeps on disk, and [SERVICE] has no folder "
            "for it: it does not start", allowed="storage.path in [SERVICE]",
        )  # fmt: skip


def _bytes(text: str) -> float | None:
    found = _SIZE.fullmatch(text.strip())
    return float(found[1]) * _UNITS[found[2].upper()] if found else None


def _writable(
    pod: Pod,
    mounts: list[Mapping[str, Any]],
    volumes: Mapping[str, Mapping[str, Any]],
    view: View,
    path: str,
    where: str,
    target: str,
) -> None:
    over = [one for one in mounts if target.startswith(str(one.get("mountPath")).rstrip("/") + "/")]
    if not over:
        return
    nearest = max(over, key=lambda one: len(str(one.get("mountPath"))))
    kinds = volumes.get(str(nearest.get("name")), {})
    if nearest.get("readOnly") is True or any(kind in kinds for kind in ("configMap", "secret", "projected")):
        view.error(
            "programs-node-logs", path,
            f"{where} is {target}, and {pod.title} mounts {nearest.get('mountPath')} to be read alone: Fluent Bit ends",
            allowed="below a volume that may be written, such as an emptyDir",
        )  # fmt: skip
