"""The ports of GKE's policies of health checks: by kind, as numbers and as text, and where they are not known."""

from __future__ import annotations

from typing import Any

import pytest

from trainyard.recorded.health_checks import asked_ports
from trainyard.recorded.model import UNKNOWN, Secret

HTTP, GRPC = ("spec.default.config.httpHealthCheck.port", "spec.default.config.grpcHealthCheck.port")


@pytest.mark.parametrize(
    ("config", "ports"),
    [
        ({"type": "HTTP", "httpHealthCheck": {"port": 8080}}, [(HTTP, 8080)]),
        ({"grpcHealthCheck": {"port": "9000"}}, [(GRPC, 9000)]),
        ({"httpHealthCheck": {"portSpecification": "USE_SERVING_PORT"}}, []),
        ({"httpHealthCheck": {"port": Secret(8080)}}, [(HTTP, 8080)]),
        ({"httpHealthCheck": {"port": UNKNOWN}}, [(HTTP, None)]),
        ({"httpHealthCheck": UNKNOWN}, [(HTTP, None)]),
        ({"httpHealthCheck": {"port": "http"}}, [(HTTP, None)]),
        ({}, []),
    ],
)
def test_ports_that_pods_are_asked_at(config: dict[str, Any], ports: list[tuple[str, int | None]]) -> None:
    assert list(asked_ports({"spec": {"default": {"config": config}}})) == ports


def test_of_a_policy_that_is_not_known_no_port_is() -> None:
    assert {port for _, port in asked_ports({"spec": UNKNOWN})} == {None}
    assert list(asked_ports({})) == []
