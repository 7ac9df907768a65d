"""Controllers that run more than once, and the ports that their charts lead requests to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from trainyard.recorded.read import as_number, follow
from trainyard.recorded.yaml_text import read_yaml
from trainyard.rehearsal.context import View, show


def check_leaders(release: View, known: Mapping[str, Any]) -> None:
    """Several pods of a controller elect one of them; without an election each of them acts."""
    leaders = known.get("leaders")
    if leaders is None:
        return
    replicas = release.number(f"values.{leaders['replicas']}")
    path, elects = _configured(release, leaders.get("text", ""), leaders["elects"])
    if replicas is not None and replicas > 1 and str(elects).lower() == "false":
        release.error(
            "charts-leader",
            path,
            f"{replicas:g} pods elect no leader: each acts on every object, one against the other",
            allowed=f"true, or {leaders['replicas']}: 1",
        )


def check_ports(release: View, known: Mapping[str, Any]) -> None:
    """Ports that a chart's service, probes and container name by number, which its configuration does not change."""
    ports = known.get("ports")
    if ports is None:
        return
    for name, fixed in ports["fixed"].items():
        path, given = _configured(release, ports.get("text", ""), name)
        number = as_number(str(given).rpartition(":")[2]) if isinstance(given, (str, int)) else None
        if number is not None and number != fixed:
            release.error(
                "charts-port",
                path,
                f"{name} is {show(given)}, and the chart leads to {fixed}: nobody answers there",
                allowed=str(fixed),
            )


def _configured(release: View, text: str, name: str) -> tuple[str, Any]:
    """Where a setting stands and what it is: a value, or one of a configuration that is a text among the values."""
    if not text:
        return f"values.{name}", release.value(f"values.{name}")
    try:
        held = read_yaml(release.text(f"values.{text}") or "")
    except yaml.YAMLError:
        held = None  # that it is none is told where the configuration is read
    return f"values.{text}", follow(held, *name.split(".")) if isinstance(held, Mapping) else None
