"""Walls around the network: the proxy lets out to the names on its list, and to nothing inside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from pulumi_policy import Severity

from trainyard.policies.proxy_rules import CannotSay, Connect, doors, lets_by
from trainyard.policies.rules import Config, resource_rule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import mapping_at, value_at
from trainyard.recorded.types import CONFIG_MAP

_TRIED: Final = (
    (Connect("registry.attacker.example"), "to any name"),
    (Connect("203.0.113.1"), "to any address"),
    (Connect("10.0.0.1"), "to the network's own addresses"),
    (Connect("169.254.169.254"), "to the identity of nodes"),
)


@resource_rule(
    "proxy-lets-everything-out",
    "A proxy lets out to the names on its list, and to no address inside.",
    types=(CONFIG_MAP,),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 SC-7(8)", "NIST 800-53r5 AC-4", "ISO 27001:2022 A.8.23"),
    fix="Leave the proxy's rules as they are, and name what is needed besides in the egress settings.",
)
def proxy_lets_everything_out(resource: RecordedResource, _: Config) -> Iterator[str]:
    """Squid's rules, asked as Squid asks them. What cannot be worked out is not told."""
    for key in mapping_at(resource.inputs, "data"):
        text = str(value_at(resource.inputs, "data", key, unknown=""))
        if "http_access " not in text:
            continue
        for request, where in _TRIED:
            if any(_lets_by(text, replace(request, door=door)) for door in (*doors(text), None)):
                yield f"{key} lets whoever asks out {where}"


def _lets_by(text: str, request: Connect) -> bool:
    try:
        return lets_by(text, request)
    except CannotSay:
        return False
