"""What JupyterHub's chart is told of its notebooks: when they end, and what their server loads.

Sources: jupyterhub/zero-to-jupyterhub-k8s 4.4.0, values.yaml, `cull` (`every` is how often it looks, `timeout` and
`maxAge` are seconds); JupyterHub documentation, `JupyterHub.last_activity_interval` (300 s: activity is known no
finer); Jupyter Server, "Extensions" (`jpserver_extensions` names modules that are imported), 2026-11.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from posixpath import basename, dirname
from typing import Any, Final

from trainyard.recorded.read import as_number
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_ACTIVITY_SECONDS: Final = 300
_NUMBERS: Final = ("timeout", "maxAge", "every")


def check(cluster: Cluster) -> None:
    """Every release of the chart."""
    for release in cluster.releases:
        if (release.text("chart") or "").rstrip("/").rpartition("/")[2] == "jupyterhub":
            _ends(release)
            _extensions(release)


def _ends(release: View) -> None:
    if release.value("values.cull.enabled") is False:
        return
    timeout, oldest, every = (as_number(release.value(f"values.cull.{key}")) for key in _NUMBERS)
    if timeout is not None and 0 < timeout < _ACTIVITY_SECONDS:
        release.error(
            "reference-notebooks", "values.cull.timeout",
            f"is {timeout:g} s, and the hub knows of activity every {_ACTIVITY_SECONDS} s: notebooks end while people "
            "work in them", allowed=f"seconds, {_ACTIVITY_SECONDS} or more",
        )  # fmt: skip
    if oldest and timeout is not None and oldest < timeout:
        release.error(
            "reference-notebooks", "values.cull.maxAge",
            f"is {oldest:g} s, less than timeout ({timeout:g} s): every notebook ends before it can be idle",
            allowed=f"seconds, {timeout:g} or more, or 0",
        )  # fmt: skip
    if every is not None and timeout is not None and every > timeout >= _ACTIVITY_SECONDS:
        release.warning(
            "reference-notebooks", "values.cull.every",
            f"is {every:g} s, more than timeout ({timeout:g} s): idle notebooks stay as long as that",
            allowed=f"seconds, {timeout:g} or less",
        )  # fmt: skip


def _extensions(release: View) -> None:
    """An extension that a file enables, and the module beside it that nothing enables."""
    folders = {
        part for key in ("PYTHONPATH",) for part in str(release.value(f"values.singleuser.extraEnv.{key}")).split(":")
    }
    files = [
        (f"values.singleuser.extraFiles.{name}", one)
        for name, one in release.mapping("values.singleuser.extraFiles").items()
        if isinstance(one, Mapping) and isinstance(one.get("mountPath"), str)
    ]
    modules = {
        basename(one["mountPath"]).removesuffix(".py"): path
        for path, one in files
        if dirname(one["mountPath"]) in folders and one["mountPath"].endswith(".py")
    }
    enabled = {name: path for path, one in files for name in _enabled(one)}
    unloaded = sorted(set(modules) - set(enabled))
    for name, path in enabled.items():
        if modules and name not in modules and "." not in name and len(unloaded) == len(modules) == 1:
            release.error(
                "reference-notebooks", f"{path}.stringData",
                f"has the server load {show(name)}, and the module that is mounted for it is {show(unloaded[0])}: "
                "nothing of it runs", allowed=unloaded[0],
            )  # fmt: skip


def _enabled(file: Mapping[str, Any]) -> Iterator[str]:
    text = file.get("stringData")
    try:
        told = json.loads(text) if isinstance(text, str) and text.lstrip().startswith("{") else file.get("data")
    except ValueError:
        return
    server = told.get("ServerApp") if isinstance(told, Mapping) else None
    found = server.get("jpserver_extensions") if isinstance(server, Mapping) else None
    for name, is_on in found.items() if isinstance(found, Mapping) else ():
        if is_on is True:
            yield str(name)
