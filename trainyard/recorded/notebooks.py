"""Releases of JupyterHub: what a policy and a price know of the notebooks of a cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import HELM_RELEASE

CHART: Final = "jupyterhub"
KERNELS: Final = "MappingKernelManager"
"""Class of Jupyter Server that culls kernels."""


def is_hub(release: RecordedResource) -> bool:
    """Whether a Helm release is of the chart; one whose chart is not known is none."""
    return str(value_at(release.inputs, "chart", default="", unknown="")).rpartition("/")[2] == CHART


def hubs(resources: Resources) -> Iterator[RecordedResource]:
    """Every release of the chart, wherever it is from."""
    for release in resources.of(HELM_RELEASE):
        if is_hub(release):
            yield release


def server_settings(release: RecordedResource, section: str) -> Mapping[str, Any]:
    """What notebooks' servers are told in a section of their configuration, by the files that the values mount.

    A configuration in Python, or one that lies in the image, is not seen. Raises `UnknownInput`.
    """
    found: dict[str, Any] = {}
    files = value_at(release.inputs, "values", "singleuser", "extraFiles", default={})
    for name in files if isinstance(files, Mapping) else ():
        data = value_at(files, name, "data")
        if data is None:
            try:
                data = json.loads(str(value_at(files, name, "stringData", default="")))
            except ValueError:
                continue
        own = value_at(data, section, default={}) if isinstance(data, Mapping) else {}
        found |= {key: value_at(own, key) for key in own} if isinstance(own, Mapping) else {}
    return found
