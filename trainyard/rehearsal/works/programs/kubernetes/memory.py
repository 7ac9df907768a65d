"""Memory and cores that a program is given, against what it needs to start, and against what it is told of them.

Sources: GOMEMLIMIT, Go's `runtime` package ("Environment Variables"); `-Xmx`, the `java` command; V8's
`--max-old-space-size`, the `node` command; squid's `cache_mem` (`src/cf.data.pre`); what programs hold right after
their start, as generally known (2026-11), halved and rounded down, so that nothing which runs is told of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from trainyard.conventions.quantities import MEBIBYTE
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import follow, known_texts
from trainyard.rehearsal.context import View, listed
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod

_LEAST: Final = {
    "cluster-autoscaler": {"resources": 64},
    "dcgm-exporter": {"resources": 96},
    "jobset": {"controller.resources": 32},
    "karpenter": {"controller.resources": 128},
    "kube-prometheus-stack": {
        "grafana.resources": 64, "prometheus.prometheusSpec.resources": 192, "prometheusOperator.resources": 32,
    },
    "kubeflow-trainer": {"manager.resources": 32},
    "kueue": {"controllerManager.manager.resources": 96},
}  # fmt: skip
"""MiB that the programs of charts hold before they do anything, by the path of their resources in the chart's values.
The autoscaler and Kueue keep a copy of the cluster's objects in memory, DCGM the fields of each GPU."""
_CORES: Final = 0.03
"""Cores below which a manager does not renew its lease in the ten seconds that it has, and is started again."""
_MLFLOW_MI: Final = 120
"""MiB that each worker of MLflow's server holds with its modules read."""
_SQUID_MI: Final = 48
_PYTHON_MI: Final = 16
"""MiB that CPython holds with the modules of TLS and HTTP read, halved."""
_UNITS: Final = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_HEAPS: Final = (
    ("GOMEMLIMIT", re.compile(r"^(\d+)([KMGT]?)(?:iB|B)?$")),
    ("JAVA_TOOL_OPTIONS", re.compile(r"-Xmx(\d+)([kKmMgGtT]?)\b")),
    ("JAVA_OPTS", re.compile(r"-Xmx(\d+)([kKmMgGtT]?)\b")),
    ("NODE_OPTIONS", re.compile(r"--max[-_]old[-_]space[-_]size=(\d+)()")),
)
_XMX: Final = re.compile(r"^-Xmx(\d+)([kKmMgGtT]?)$")
_WORKERS: Final = re.compile(r"--workers[= ](\d+)")
_DEFAULT_WORKERS: Final = 4


def check(cluster: Cluster) -> None:
    """Every container and every chart whose programs are known."""
    for release in cluster.releases:
        chart = (release.text("chart") or "").rstrip("/").rpartition("/")[2]
        for path, least in _LEAST.get(chart, {}).items():
            _release(release, f"values.{path}", least)
    for pod in cluster.pods:
        for container in pod.containers:
            _container(pod, container)


def _release(release: View, path: str, least: int) -> None:
    memory, cores = (quantity(release.value(f"{path}.limits.{name}")) for name in ("memory", "cpu"))
    if memory is not None and memory < least * MEBIBYTE:
        release.error(
            "programs-memory", f"{path}.limits.memory",
            f"is {release.value(f'{path}.limits.memory')}, and the program holds {least} MiB and more before it does "
            "anything: it is killed as it starts", allowed=f"{2 * least}Mi or more",
        )  # fmt: skip
    if cores is not None and cores < _CORES:
        release.warning(
            "programs-cores", f"{path}.limits.cpu",
            f"is {release.value(f'{path}.limits.cpu')}: it is held up longer than its lease and its probes allow",
            allowed="100m or more, or no limit",
        )  # fmt: skip


def _container(pod: Pod, container: Container) -> None:
    given = follow(container.body, "resources", "limits", "memory")
    limit = quantity(given) if isinstance(given, (str, int, float)) else None
    if limit is None:
        return
    path = f"{container.path}.resources.limits.memory"
    for place, words, told in _heaps(container):
        if told > limit:
            pod.view.error(
                "programs-memory", f"{container.path}.{place}",
                f"lets the program grow to {words}, and its container is killed at {given}",
                allowed="less than the limit of the container's memory",
            )  # fmt: skip
    said = " ".join(text for key in ("command", "args") for _, text in known_texts(container.body.get(key)))
    least = 0
    if re.search(r"\bmlflow server\b", said) and not container.is_init:
        workers = _WORKERS.search(said)
        least = _MLFLOW_MI * (int(workers[1]) if workers else _DEFAULT_WORKERS)
    elif re.search(r"(^|[/\s])squid(\s|$)", said) or re.search(r"/squid[:@]", str(container.body.get("image"))):
        least = _SQUID_MI
    elif re.match(r"(\S*/)?python[\d.]*(\s|$)", said):
        least = _PYTHON_MI
    if limit < least * MEBIBYTE:
        pod.view.error(
            "programs-memory", path,
            f"is {given}, and the program holds {least} MiB and more before it does anything: it is killed as it "
            "starts", allowed=f"{2 * least}Mi or more",
        )  # fmt: skip


def _heaps(container: Container) -> Iterator[tuple[str, str, float]]:
    """What a program is told of its memory: the place, the words, and bytes."""
    for index, one in enumerate(listed(container.body.get("env"))):
        value = one.get("value") if isinstance(one, Mapping) else None
        for name, pattern in _HEAPS:
            found = pattern.search(value) if isinstance(value, str) and one.get("name") == name else None
            if found:
                unit = MEBIBYTE if name == "NODE_OPTIONS" else _UNITS[found[2].upper()]
                yield f"env[{index}].value", found[0], float(found[1]) * unit
    for key in ("command", "args"):
        for below, text in known_texts(container.body.get(key)):
            found = _XMX.match(text)
            if found:
                yield f"{key}{below}", text, float(found[1]) * _UNITS[found[2].upper()]
