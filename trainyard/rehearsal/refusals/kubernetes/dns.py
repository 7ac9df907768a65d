"""Names in DNS and addresses, as the API server validates them (util/validation of k8s.io/apimachinery 1.35)."""

from __future__ import annotations

import ipaddress
import re
from typing import Final

DNS_LABEL: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
DNS_NAME: Final = re.compile(r"(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")


def address(text: str | None) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a text is; None where it is none."""
    try:
        return ipaddress.ip_address(text or "")
    except ValueError:
        return None
