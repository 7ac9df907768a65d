"""IAM policy documents among recorded inputs: JSON text, or a mapping where a program writes one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from trainyard.recorded.read import mappings_at, value_at


def document(inputs: Any, *path: str | int) -> Mapping[str, Any]:
    """The policy document at `path`; empty where there is none, or where it is no JSON object."""
    found = value_at(inputs, *path)
    if isinstance(found, str):
        try:
            found = json.loads(found)
        except json.JSONDecodeError:
            return {}
    return found if isinstance(found, Mapping) else {}


def statements(inputs: Any, *path: str | int) -> list[Mapping[str, Any]]:
    """The statements of the policy document at `path`; none where there is no document."""
    return mappings_at(document(inputs, *path), "Statement")


def texts_of(value: Any) -> list[str]:
    """The texts of a part of a statement, such as its actions: one text, or a list of them."""
    return [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]
