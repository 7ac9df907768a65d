"""What roles of Google Cloud hold: the predefined ones, by tables of all that the usual ones hold and of who holds what
is asked for, and recorded custom ones.

Source: the roles as the IAM API lists them (`refusals/gcp/generate_roles.py`, 2026-08).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

from trainyard.recorded.read import UnreadableInput, texts_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import GCP_CUSTOM_ROLES

_PREDEFINED: Final = "roles/"


class Roles:
    """Roles by the name that grants give them."""

    def __init__(self, resources: Resources) -> None:
        self._custom = {
            str(role_id): role
            for role in resources.of(*GCP_CUSTOM_ROLES)
            if isinstance(role_id := role.inputs.get("roleId"), str)
        }

    def holds(self, role: str, permission: str) -> bool | None:
        """Whether a role holds a permission; None where no table knows the two, and nobody has recorded the role."""
        if role.startswith(_PREDEFINED):
            name = role.removeprefix(_PREDEFINED)
            whole = _whole().get(name)
            if whole is not None:
                return permission in whole
            holders = _holders().get(permission)
            return None if holders is None or name not in _names() else name in holders
        custom = self._custom.get(role.rpartition("/roles/")[2]) if "/roles/" in role else None
        if custom is None:
            return None
        try:
            return permission in texts_at(custom.inputs, "permissions")
        except UnreadableInput:
            return None


@cache
def _holders() -> Mapping[str, frozenset[str]]:
    """Names of predefined roles by a permission that they hold."""
    found = _table("gcp_holders.json")["holders"]
    return {permission: frozenset(names.split()) for permission, names in found.items()}


@cache
def _whole() -> Mapping[str, frozenset[str]]:
    """All permissions of the predefined roles that environments give, by name."""
    return {name: frozenset(found.split()) for name, found in _table("gcp_holders.json")["whole"].items()}


@cache
def _names() -> frozenset[str]:
    """Names of all predefined roles; those of a role that is newer than the table are not among them."""
    of_service = _table("gcp_roles.json")["roles"]
    return frozenset(
        f"{service}.{name}" if name else service for service, names in of_service.items() for name in names
    )


@cache
def _table(name: str) -> dict[str, dict[str, str]]:
    text = files("trainyard.rehearsal.refusals").joinpath("data", name).read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = json.loads(text)
    return found
