"""Walls around the network: the proxy lets out to the names on its list, and to nothing inside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from pulumi_policy import Severity

from trainyard.policies.names import anybodys
from trainyard.policies.proxy_rules import CannotSay, Connect, doors, lets_by, names
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

_NO_WEB: Final = (22, 25, 3389)
"""Ports of logins and mail; a proxy for one of them on purpose has not all."""


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
        yield from (f"{key} {what}" for what in _by_names(text))


def _by_names(text: str) -> Iterator[str]:
    """What a name on the list opens besides what it is there for."""
    listed = names(text)
    for name in listed:
        host = f"anybodys{name}" if name.startswith(".") else name
        if name != "." and anybodys(name) and _lets_by(text, Connect(host)):
            yield f"lists {name}: a name below it is anybody's to have"
            return
    for name in listed[:1]:
        host = f"any{name}" if name.startswith(".") else name
        # Whoever has the name says where it leads.
        if any(_lets_by(text, Connect(host, address=inside)) for inside in ("10.0.0.1", "169.254.169.254")):
            yield "lets a name on its list lead to the network's own addresses"
        if all(_lets_by(text, Connect(host, port)) for port in _NO_WEB):
            yield "lets to any port of a name on its list"


def _lets_by(text: str, request: Connect) -> bool:
    try:
        return lets_by(text, request)
    except CannotSay:
        return False
