"""Kueue's manager as it is released: its chart and the configuration file among the chart's values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import HELM_RELEASE
from trainyard.recorded.yaml_text import read_yaml

_VERSION: Final = re.compile(r"v?(\d+)\.(\d+)")

MANAGER_CONFIGURATION = ("values", "managerConfig", "controllerManagerConfigYaml")
"""Where the Kueue chart's values keep the manager's configuration file, a text."""


def managers(resources: Resources) -> Iterator[tuple[RecordedResource, Mapping[str, Any]]]:
    """Every release of the Kueue chart with its manager's configuration; empty where that is not a mapping."""
    for release in resources.of(HELM_RELEASE):
        if is_kueue(release):
            yield release, manager_configuration(value_at(release.inputs, *MANAGER_CONFIGURATION))


def is_kueue(release: RecordedResource) -> bool:
    """Whether a Helm release is of the Kueue chart, wherever that is from. Raises UnknownInput."""
    return str(value_at(release.inputs, "chart", default="")).rpartition("/")[2] == "kueue"


def minor_version(release: RecordedResource) -> tuple[int, int] | None:
    """Major and minor version that a release pins; None where it pins none that is known."""
    found = _VERSION.match(str(value_at(release.inputs, "version", default="", unknown="")))
    return (int(found[1]), int(found[2])) if found else None


def manager_configuration(text: Any) -> Mapping[str, Any]:
    """What the manager's configuration file says; nothing where it is no mapping, over which the manager exits."""
    try:
        found = read_yaml(str(text or ""))
    except yaml.YAMLError:
        return {}  # the rehearsal has a rule for it
    return found if isinstance(found, Mapping) else {}
