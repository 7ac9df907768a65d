"""Figures that dashboards and alerts of Cloud Monitoring ask for, by their names.

Source: Cloud Monitoring, "Google Cloud metrics", the services below, and "Monitored resource types", as generally known
in 2026-11. What nobody sends is an empty graph. There are more kinds and services than these, so that of others nothing
is said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.types import GCP_ALERT_POLICY, GCP_DASHBOARD, GCP_LOG_METRIC
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.works.programs.gcp.monitored import LABELS

_TYPE: Final = re.compile(r"metric\.type\\*\"?\s*=\s*\\*\"([^\"\\]+)")
_KIND: Final = re.compile(r"resource\.type\\*\"?\s*=\s*\\*\"([^\"\\]+)")
_SENT: Final[Mapping[str, tuple[str, ...]]] = {
    "ml.googleapis.com/training/": (
        "accelerator/memory/utilization", "accelerator/utilization", "cpu/utilization", "disk/utilization",
        "memory/utilization", "network/received_bytes_count", "network/sent_bytes_count",
    ),
}  # fmt: skip
"""All figures of a service below a beginning."""
_KINDS: Final = tuple(
    sorted(
        {
            *LABELS, "aiplatform.googleapis.com/Endpoint", "gce_network", "http_load_balancer", "https_lb_rule",
            "internal_http_lb_rule", "logging_bucket", "organization", "tpu_worker",
        }
    )
)  # fmt: skip
_SLIP: Final = 0.85
_SERVICE_SLIP: Final = 0.75


def check(stack: Stack) -> None:
    """Every dashboard, alert and metric of logs."""
    for view in stack.of_type(GCP_DASHBOARD):
        _asked(view, "dashboardJson", view.text("dashboardJson") or "")
    for type_ in (GCP_ALERT_POLICY, GCP_LOG_METRIC):
        for view in stack.of_type(type_):
            for path, text in view.known_texts:
                if path.endswith("filter"):
                    _asked(view, path, text)


def _asked(view: View, path: str, text: str) -> None:
    for name in dict.fromkeys(_TYPE.findall(text)):
        for start, sent in _SENT.items():
            every = [f"{start}{one}" for one in sent]
            meant = name.startswith(start) or (
                name.startswith(start.partition("/")[0]) and "/prediction/" not in name and nearest(name, every, 0.6)
            )
            if meant and name not in every:
                hint = nearest(name, every, _SERVICE_SLIP)
                words = f"no figure is called {show(name)}: nothing is seen"
                view.error("programs-figure", path, words, allowed=", ".join(every), hint=hint)
    for kind in dict.fromkeys(_KIND.findall(text)):
        hint = "" if kind in _KINDS else nearest(kind, _KINDS, _SLIP)
        if hint:
            view.error("programs-figure", path, f"nothing that is monitored is of kind {show(kind)}", hint=hint)
