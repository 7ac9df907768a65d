"""Kinds that GKE itself brings to a cluster, and no chart.

Source: GoogleCloudPlatform/gke-networking-api (Apache-2.0), apis/network/v1/network_types.go and
gkenetworkparamset_types.go at 39b01c2, read 2026-11-25: fields and enumerations that a network of type Device has.
"""

from __future__ import annotations

from typing import Any, Final

_TEXT: Final = {"type": "string"}
_TEXTS: Final = {"type": "array", "items": _TEXT}


def _closed(required: tuple[str, ...], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": properties}


_NETWORK: Final = _closed(
    ("type",),
    type={"type": "string", "enum": ["L2", "L3", "Device"]},
    provider={"type": "string", "enum": ["GKE"]},
    nodeInterfaceMatcher=_closed((), interfaceName=_TEXT),
    l2NetworkConfig=_closed((), vlanID={"type": "integer"}, prefixLength4={"type": "integer"}),
    networkLifecycle={"type": "string", "enum": ["AnthosManaged", "UserManaged"]},
    routes={"type": "array", "items": _closed(("to",), to=_TEXT)},
    gateway4=_TEXT,
    dnsConfig=_closed(("nameservers",), nameservers=_TEXTS, searches=_TEXTS),
    externalDHCP4={"type": "boolean"},
    parametersRef=_closed(("group", "kind", "name"), group=_TEXT, kind=_TEXT, name=_TEXT, namespace=_TEXT),
    IPAMMode={"type": "string", "enum": ["Internal", "External"]},
    IPAMMode6={"type": "string", "enum": ["Internal", "External"]},
)
_PARAMETERS: Final = _closed(
    ("vpc", "vpcSubnet"),
    vpc=_TEXT,
    vpcSubnet=_TEXT,
    deviceMode={"type": "string", "enum": ["DPDK-VFIO", "NetDevice", "RDMA"]},
    podIPv4Ranges=_closed(("rangeNames",), rangeNames=_TEXTS),
)

KINDS: Final[dict[str, dict[str, Any]]] = {
    f"networking.gke.io/v1 {kind}": {"scope": "Cluster", "schema": {"type": "object", "properties": {"spec": spec}}}
    for kind, spec in (("Network", _NETWORK), ("GKENetworkParamSet", _PARAMETERS))
}
"""As the table of custom resources has them."""
