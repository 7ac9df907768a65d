"""Containers that start before the others: each has to end, and has what it needs from those before it alone.

Source: Kubernetes documentation, "Init Containers" and "Sidecar Containers" (2026-11): they run one after the other,
each to its end, unless it has `restartPolicy: Always`; the pod's own containers start after the last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.model import has_unknown
from trainyard.recorded.read import known_texts
from trainyard.rehearsal.context import listed
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod

_OWN: Final = re.compile(r"\b(?:localhost|127\.0\.0\.1)[: ](\d{2,5})\b")
_WAITS: Final = re.compile(r"\b(until|while)\b")
_FOR_EVER: Final = re.compile(r"\bsleep (?:infinity|inf)\b|\btail -[fF] /dev/null\b|\bwhile (?:true|:) *;")
_ENDS: Final = re.compile(r"\b(break|exit)\b")


def check(cluster: Cluster) -> None:
    """Every pod whose containers are all known."""
    for pod in cluster.pods:
        if pod.containers_are_known:
            first = [one for one in pod.containers if one.is_init]
            for index, container in enumerate(first):
                _ends(pod, container)
                _asks(pod, container, first[:index])
                _reads(pod, container, first[: index + 1])


def _stays(container: Container) -> bool:
    return container.body.get("restartPolicy") == "Always"


def _said(container: Container) -> str:
    return " ".join(text for key in ("command", "args") for _, text in known_texts(container.body.get(key)))


def _ends(pod: Pod, container: Container) -> None:
    """What runs on and on, or serves, keeps the pod from starting."""
    if _stays(container) or has_unknown(container.body.get("restartPolicy")):
        return
    said = _said(container)
    if _FOR_EVER.search(said) and not _ENDS.search(said):
        why = "never ends"
    elif container.ports:
        why = f"serves port {container.ports[0].get('containerPort')}"
    else:
        return
    pod.view.error(
        "reference-init", f"{container.path}.restartPolicy",
        f"is missing, and {container.name or 'the container'} {why}: the containers after it never start",
        allowed="Always, or a program that ends",
    )  # fmt: skip


def _asks(pod: Pod, container: Container, before: list[Container]) -> None:
    """A wait for a port of the pod itself, which a later container opens."""
    said = _said(container)
    if _stays(container) or not _WAITS.search(said):
        return
    opened = {port.get("containerPort") for one in before if _stays(one) for port in one.ports}
    later = {
        port.get("containerPort"): one.name
        for one in pod.containers
        if one is not container and one.path not in [each.path for each in before]
        for port in one.ports
    }
    for found in _OWN.finditer(said):
        number = int(found[1])
        if number in later and number not in opened:
            pod.view.error(
                "reference-init", f"{container.path}.command",
                f"waits for port {number} of the pod itself, which {later[number]} opens, and that starts after it",
                allowed="a sidecar before it, with restartPolicy Always",
            )  # fmt: skip
            return


def _reads(pod: Pod, container: Container, until: list[Container]) -> None:
    """A folder of the pod that is only read here, and filled by nobody who comes before."""
    if _stays(container):
        return
    empty = {
        str(one.get("name"))
        for one in listed(pod.spec.get("volumes"))
        if isinstance(one, Mapping) and "emptyDir" in one
    }
    paths = {one.path for one in until}
    for path, name, only_read in _mounts(container):
        if name not in empty or not only_read:
            continue
        if any(name == other and not read for one in until for _, other, read in _mounts(one)):
            continue
        filler = next(
            (
                one.name
                for one in pod.containers
                if one.path not in paths and any(name == other and not read for _, other, read in _mounts(one))
            ),
            "",
        )
        if filler:
            pod.view.error(
                "reference-init", path,
                f"reads volume {name}, which {filler} fills, and that starts after it: it finds nothing",
                allowed="the container that fills it before the one that reads it",
            )  # fmt: skip


def _mounts(container: Container) -> Iterator[tuple[str, str, bool]]:
    for index, one in enumerate(listed(container.body.get("volumeMounts"))):
        if isinstance(one, Mapping):
            read: Any = one.get("readOnly")
            yield f"{container.path}.volumeMounts[{index}]", str(one.get("name")), read is True
