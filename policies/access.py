"""Who is let in: statements of IAM policy documents, and networks that are the internet."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping
from typing import Any

from trainyard.recorded.read import list_at, mappings_at, value_at


def internet(network: Any) -> bool:
    """Whether a CIDR is the internet or a large part of it: wider than a /8 (IPv4) or a /16 (IPv6).

    Two halves of everything are everything; 10.0.0.0/8 is the widest network that anybody has at home.
    """
    try:
        found = ipaddress.ip_network(str(network), strict=False)
    except ValueError:
        return False
    return found.prefixlen < (8 if found.version == 4 else 16)


def statements(inputs: Any, *path: str | int) -> list[Mapping[str, Any]]:
    """The statements of the IAM policy document at `path`, JSON text or a mapping; none where there is no document."""
    document = value_at(inputs, *path)
    if isinstance(document, str):
        try:
            document = json.loads(document)
        except json.JSONDecodeError:
            return []
    return mappings_at(document, "Statement")


def everybody(statement: Any) -> bool:
    """Whether a statement is about everybody, with an account or without one."""
    principal = value_at(statement, "Principal")
    return principal == "*" or "*" in list_at(principal, "AWS")
