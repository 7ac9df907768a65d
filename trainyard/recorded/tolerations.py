"""Tolerations of Kubernetes: which taints a pod stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.recorded.model import UNKNOWN


def tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    """Whether a toleration is of a taint."""
    if toleration.get("effect") not in (None, "", taint.get("effect")):
        return False
    if toleration.get("key") not in (None, "", taint.get("key")):
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(toleration.get("key")) and str(toleration.get("value") or "") == str(taint.get("value") or "")


def may_tolerate(toleration: Any, taint: Mapping[str, Any]) -> bool:
    """Whether a toleration is of a taint, or may be: a part of either is not known."""
    if not isinstance(toleration, Mapping):
        return toleration is UNKNOWN
    return UNKNOWN in (*toleration.values(), *taint.values()) or tolerates(toleration, taint)
