"""The ports that GKE's policies of health checks ask pods at.

Source: GKE, "Configure Gateway resources using Policies" (a `HealthCheckPolicy` is of one kind, and its port is one of
pods), as generally known in 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import as_number, steps, value_at

HEALTH_CHECK_POLICY: Final = "kubernetes:networking.gke.io/*:HealthCheckPolicy"
_CONFIG: Final = "spec.default.config"
_KINDS: Final = ("httpHealthCheck", "httpsHealthCheck", "http2HealthCheck", "grpcHealthCheck", "tcpHealthCheck")


def asked_ports(inputs: Any) -> Iterator[tuple[str, int | None]]:
    """The ports that a policy says, each with its path; None for one that is not known or no number."""
    for kind in _KINDS:
        path = f"{_CONFIG}.{kind}.port"
        said = value_at(inputs, *steps(path), unknown=UNKNOWN)
        if said is not None:
            number = None if said is UNKNOWN else as_number(said)
            yield path, None if number is None else int(number)
