"""The object store behind a proxy of the cluster's own: asked directly, or let by.

Sources: documentation of Cloud Storage and Amazon S3 (their hosts), of curl and Python's `urllib.request` (`no_proxy`),
and Squid, `http_access`, as generally known (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from trainyard.recorded.read import follow
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.works.programs.kubernetes.squid import lets_by
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, place

_PROXY: Final = re.compile(r"https?://(?P<name>[a-z0-9-]+)\.(?P<space>[a-z0-9-]+)\.svc\b")
_PAIRS: Final = (("HTTPS_PROXY", "NO_PROXY"), ("https_proxy", "no_proxy"))


def configurations(service: View, cluster: Cluster) -> Iterator[str]:
    """The configurations of Squid that the pods of a service mount."""
    wanted = service.mapping("spec.selector")
    for pod in cluster.pods_by_namespace.get(place(service) or "", ()) if wanted else ():
        if pod.labels is not None and wanted.items() <= pod.labels.items():
            for volume in listed(pod.spec.get("volumes")):
                name = follow(volume, "configMap", "name")
                view = cluster.find("ConfigMap", pod.namespace or "", name) if isinstance(name, str) else None
                for text in view.mapping("data").values() if view is not None else ():
                    if isinstance(text, str) and "http_port " in text:
                        yield text


def stores(view: View, env: Mapping[str, tuple[str, str]], namespace: str | None, cluster: Cluster) -> None:
    """Notes the object store that pods are told to use, where the proxy is asked for it and refuses.

    Args:
        view: what tells of the proxy.
        env: variables with the path of each.
        namespace: whose pods are told; None for those of any, as a runtime's.
        cluster: what is recorded.
    """
    for proxy, without in _PAIRS:
        found = _PROXY.match(env[proxy][1]) if proxy in env else None
        service = cluster.find("Service", found["space"], found["name"]) if found is not None else None
        if service is None:
            continue
        path, given = env.get(without, (env[proxy][0], ""))
        direct = [one.strip().lstrip(".") for one in given.split(",") if one.strip()]
        texts = list(configurations(service, cluster))
        for host in _hosts(namespace, cluster) if texts and "*" not in direct else ():
            if any(f".{host}".endswith(f".{one}") for one in direct):
                continue
            if all(lets_by(text, host) is False for text in texts):
                view.error(
                    "programs-proxy", path,
                    f"{without} leaves out {host}: {show(found[0] if found else '')} is asked for the object store, and"
                    " refuses", allowed=f"{host} among them",
                )  # fmt: skip


def _hosts(namespace: str | None, cluster: Cluster) -> set[str]:
    """The hosts of the stores whose URIs config maps tell the pods of a namespace."""
    region = cluster.stack.context.region
    found = set()
    for view in cluster.of("ConfigMap"):
        for text in view.mapping("data").values() if namespace in (None, place(view)) else ():
            if isinstance(text, str) and text.startswith("gs://"):
                found.add("storage.googleapis.com")
            elif isinstance(text, str) and text.startswith("s3://") and region:
                found.add(f"s3.{region}.amazonaws.com")
    return found
