"""Programs behind a path of a shared address: they have to be told to serve below it.

Source: Grafana documentation, "Configure Grafana", `root_url` and `serve_from_sub_path` (without it a proxy has to take
the path away, as an Ingress does that rewrites it), 2026-11.
"""

from __future__ import annotations

from typing import Final

from trainyard.recorded.read import as_number, split_url
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_CHARTS: Final = {"kube-prometheus-stack": "values.grafana", "grafana": "values"}
"""Charts that bring Grafana, and where its values are."""
_GRAFANA_PORT: Final = 3000
_ROUTES: Final = ("HTTPRoute", "VirtualService.networking.istio.io")


def check(cluster: Cluster) -> None:
    """Every release that brings Grafana."""
    for release in cluster.releases:
        path = _CHARTS.get((release.text("chart") or "").rpartition("/")[2])
        if path is not None and not _is_taken_away(release, path, cluster):
            _served(release, path)
        if path is not None:
            _listens(release, path)


def _served(release: View, path: str) -> None:
    server = release.mapping(path).get("grafana.ini")
    told = server.get("server") if isinstance(server, dict) else None
    url = told.get("root_url") if isinstance(told, dict) else None
    if not isinstance(url, str) or not isinstance(told, dict) or "serve_from_sub_path" in told:
        return
    whole = url.replace("%(protocol)s", "http").replace("%(domain)s", "host").replace("%(http_port)s", "3000")
    parts = split_url(whole)  # of what is none Grafana says so itself
    path_of_it = parts.path if parts is not None else ""
    if path_of_it.strip("/"):
        release.warning(
            "programs-web-path", f"{path}.grafana.ini.server.root_url",
            f"is below {show(path_of_it)}, and Grafana answers at / alone: each page leads back to where nothing is",
            allowed="serve_from_sub_path true, or a proxy that takes the path away",
        )  # fmt: skip


def _listens(release: View, path: str) -> None:
    """Where Grafana listens, against where its service leads: 3000, unless both are told otherwise."""
    server = release.mapping(path).get("grafana.ini")
    told = server.get("server") if isinstance(server, dict) else None
    given = release.value(f"{path}.env.GF_SERVER_HTTP_PORT") or (
        told.get("http_port") if isinstance(told, dict) else None
    )
    target = as_number(release.value(f"{path}.service.targetPort")) or _GRAFANA_PORT
    number = as_number(given)
    if number is not None and number != target:
        release.error(
            "programs-web-path", f"{path}.service.targetPort",
            f"is {target:g}, and Grafana is told to listen on {number:g}: nobody is answered", allowed=f"{number:g}",
        )  # fmt: skip


def _is_taken_away(release: View, path: str, cluster: Cluster) -> bool:
    """Whether something of the stack may take the path away before Grafana is asked."""
    if cluster.of(*_ROUTES):
        return True
    ingress = [
        release.mapping(f"{path}.ingress.annotations"),
        *(one.mapping("metadata.annotations") for one in cluster.of("Ingress")),
    ]
    keys = [str(key) for found in ingress for key in found]
    return any(word in key for key in keys for word in ("rewrite", "strip", "middlewares"))
