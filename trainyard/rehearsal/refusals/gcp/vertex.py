"""Vertex AI and Colab Enterprise: machines and disks of editors, quotas that a project lowers.

Source: pulumi_gcp 10.2.0 (descriptions of its inputs); accelerators, `trainyard/conventions/gcp.py`; quotas, Service
Usage ("consumerOverrides", as generally known, 2026-11).
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from trainyard.conventions.gcp import VERTEX_ACCELERATORS
from trainyard.problems import nearest
from trainyard.recorded.types import GCP_EDITOR_TEMPLATE, GCP_QUOTA_OVERRIDE, GCP_WORKBENCH
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.gcp.nodes import machine_type
from trainyard.rehearsal.refusals.rules import Rules

_ACCELERATOR: Final = re.compile(r"(NVIDIA|TPU)_[A-Z0-9_]+")
_DISKS: Final = ("pd-standard", "pd-ssd", "pd-balanced", "pd-extreme", "hyperdisk-balanced")
_DISK_GB: Final = (10, 65_536)


def template(view: View) -> None:
    """The machine of a template, its accelerator as Vertex AI spells it, its disk."""
    machine_type(view, "machineSpec.machineType")
    _accelerator(view, "machineSpec.acceleratorType")
    path = "dataPersistentDiskSpec.diskType"
    kind = view.text(path)
    if kind is not None and kind not in _DISKS:
        view.error("gcp-disk", path, show(kind), allowed=", ".join(_DISKS), hint=nearest(kind, _DISKS))
    path = "dataPersistentDiskSpec.diskSizeGb"
    size = view.number(path)
    if size is not None and not _DISK_GB[0] <= size <= _DISK_GB[1]:
        view.error("gcp-disk", path, show(view.value(path)), allowed=f"{_DISK_GB[0]} to {_DISK_GB[1]} GB")


def workbench(view: View) -> None:
    """The machine of a Workbench instance, whose accelerators have their own spelling."""
    machine_type(view, "gceSetup.machineType")


def quota(view: View) -> None:
    """A whole number, of a metric of the service that is named."""
    value = view.text("overrideValue")
    if value is not None and not re.fullmatch(r"-1|\d+", value):
        view.error("gcp-quota", "overrideValue", show(value), allowed="a whole number of 0 or more, or -1 for no limit")
    service, metric = view.text("service"), view.text("metric")
    if service is not None and not re.fullmatch(r"[a-z0-9-]+\.googleapis\.com", service):
        view.error("gcp-quota", "service", show(service), allowed="like aiplatform.googleapis.com")
    elif service is not None and metric is not None:
        of = unquote(metric).partition("/")[0]
        # Some services count by metrics of others, so that only what is no service of Vertex AI's is told.
        if of == _VERTEX and service != _VERTEX:
            view.error("gcp-quota", "service", f"{show(service)}, and the metric is of {of}", allowed=of)


_VERTEX: Final = "aiplatform.googleapis.com"


def _accelerator(view: View, path: str) -> None:
    found = view.text(path)
    if found is not None and not _ACCELERATOR.fullmatch(found):
        known = sorted(set(VERTEX_ACCELERATORS.values()))
        hint = nearest(found.upper().replace("-", "_"), known)
        view.error(
            "gcp-accelerator", path, show(found), allowed=f"as Vertex AI spells it: {', '.join(known)}", hint=hint
        )


RULES: Rules = {template: (GCP_EDITOR_TEMPLATE,), workbench: (GCP_WORKBENCH,), quota: (GCP_QUOTA_OVERRIDE,)}
