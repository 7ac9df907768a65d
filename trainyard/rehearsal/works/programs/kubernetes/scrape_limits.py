"""Scrapes that lose what rules ask for: more samples than are let in, labels that are called otherwise.

Sources: prometheus-operator, "API reference" (`sampleLimit`: a scrape with more fails whole; `honorLabels`: without it
a label that the target has too is called `exported_`...), NVIDIA/dcgm-exporter README (`namespace`, `pod` and
`container` are of who has the GPU), Kueue 0.19, "Metrics", 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from trainyard.recorded.model import has_unknown
from trainyard.recorded.monitoring import SCRAPED
from trainyard.recorded.read import follow, known_texts
from trainyard.rehearsal.context import View, listed
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_NAME: Final = "app.kubernetes.io/name"
_OWN_LABELS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "dcgm-exporter": ("DCGM_", ("namespace", "pod", "container")),
    "kueue": ("kueue_", ("namespace",)),
    "kube-state-metrics": ("kube_", ("namespace", "pod", "container", "service", "endpoint")),
}
"""By exporter: how its figures begin, and labels of theirs that a target has too."""


def check(cluster: Cluster) -> None:
    """Every monitor of an exporter that a table knows."""
    expressions = [
        text
        for view in cluster.of("PrometheusRule.monitoring.coreos.com")
        for path, text in known_texts(view.value("spec.groups"))
        if path.endswith("expr")
    ]
    for kind, endpoints in SCRAPED:
        for view in cluster.of(kind):
            name = str(view.mapping("spec.selector.matchLabels").get(_NAME))
            if name == "dcgm-exporter":
                _limit(view, cluster)
            if name in _OWN_LABELS:
                # Where one is asked under its own labels, the others tell of the exporter itself: how it fares.
                is_own = any(entry.get("honorLabels") is True for _, entry in view.items(endpoints))
                for path, entry in () if is_own else view.items(endpoints):
                    _honoured(view, path, entry, name, expressions)


def _limit(view: View, cluster: Cluster) -> None:
    most = view.number("spec.sampleLimit")
    fields = [
        line
        for release in cluster.releases
        if (release.text("chart") or "").rpartition("/")[2] == "dcgm-exporter"
        for line in (release.text("values.customMetrics") or "").splitlines()
        if line.strip() and not line.lstrip().startswith("#") and ", label," not in line
    ]
    gpus = max((_gpus(pod.spec) for pod in cluster.pods), default=0) or 1
    if most and fields and most < len(fields) * gpus:
        view.error(
            "programs-scrape", "spec.sampleLimit",
            f"is {most:g}, and the exporter tells {len(fields)} figures of each of {gpus} GPUs: such a scrape fails, "
            "and nothing of it is kept", allowed=f"{2 * len(fields) * gpus} or more",
        )  # fmt: skip


def _gpus(spec: Mapping[str, Any]) -> int:
    """GPUs of one machine at least, by what pods ask for."""
    counts = [
        int(str(limits.get("nvidia.com/gpu")))
        for one in listed(spec.get("containers"))
        if isinstance(limits := follow(one, "resources", "limits"), Mapping)
        if str(limits.get("nvidia.com/gpu")).isdigit()
    ]
    return sum(counts)


def _honoured(view: View, path: str, entry: Mapping[str, Any], name: str, expressions: list[str]) -> None:
    if entry.get("honorLabels") is True or has_unknown(entry):
        return
    try:
        dropped = [
            re.compile(str(one.get("regex", "(.*)")))
            for one in listed(entry.get("relabelings"))
            if isinstance(one, Mapping) and str(one.get("action")).lower() == "labeldrop"
        ]
    except re.error:
        return  # an expression of RE2's own: what it drops is not known here
    prefix, labels = _OWN_LABELS[name]
    lost = [label for label in labels if not any(one.fullmatch(label) for one in dropped)]
    asked = [
        label
        for label in lost
        if any(prefix in text and re.search(rf"(?<!exported_)\b{label}\b", text) for text in expressions)
        and not any(prefix in text and f"exported_{label}" in text for text in expressions)
    ]
    renamed = [one for one in listed(entry.get("metricRelabelings")) if "exported_" in str(one)]
    if asked and not renamed:
        # A rule may mean the namespace of the exporter itself, or a label of another figure that it joins.
        view.warning(
            "programs-scrape", f"{path}.honorLabels",
            f"is not true: {', '.join(asked)} of the figures are called exported_{asked[0]} and so on, and where rules "
            f"ask for {asked[0]} it is the exporter's own", allowed="true",
        )  # fmt: skip
