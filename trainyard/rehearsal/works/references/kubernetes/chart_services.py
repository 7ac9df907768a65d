"""Services that a chart makes, where programs of the stack ask one of them by a name that it does not give.

Source: prometheus-community/helm-charts, charts/kube-prometheus-stack: `kube-prometheus-stack.fullname` of the helpers,
service.yaml of prometheus and alertmanager; the operator's own services are called `…-operated` (2026-11).
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.recorded.monitoring import CHART
from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_LONGEST: Final = 26
"""Letters that the chart leaves of the name that all of its objects begin with."""
_OF_CHART: Final = re.compile(r"[a-z0-9-]+-(prometheus|alertmanager)")


def meant(cluster: Cluster, namespace: str, name: str) -> str:
    """What the chart calls the service that a name means; empty where that may be its name, or it is not the chart's.

    Only where the chart is alone in its namespace: another one may make a service of any name.
    """
    found = _OF_CHART.fullmatch(name)
    if found is None:
        return ""
    here = [release for release in cluster.releases if release.text("namespace") in (namespace, None)]
    if len(here) != 1 or here[0].text("namespace") is None or not cluster.is_made_here(namespace, "Service"):
        return ""
    full = _full_name(here[0])
    own = f"{full}-{found[1]}"
    return "" if not full or own == name else own


def _full_name(release: View) -> str:
    """What names of the chart's objects begin with; empty where that is not known, or it is another chart."""
    chart = (release.text("chart") or "").rstrip("/").rpartition("/")[2]
    unknown = any(map(release.is_unknown, ("name", "values", "values.fullnameOverride", "values.nameOverride")))
    if chart != CHART or unknown:
        return ""
    given, of_release = release.text("values.fullnameOverride"), release.text("name") or ""
    base = release.text("values.nameOverride") or CHART
    if not given and not of_release:
        return ""
    name = given or (of_release if base in of_release else f"{of_release}-{base}")
    return name[:_LONGEST].removesuffix("-")
