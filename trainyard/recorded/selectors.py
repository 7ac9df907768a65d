"""Label selectors of Kubernetes: which labels a selector means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trainyard.recorded.read import UnreadableInput, list_at, mapping_at, mappings_at, value_at

NAME_LABEL: Final = "kubernetes.io/metadata.name"
"""Label that the API server puts on every namespace: its name."""


def selects(selector: Any, labels: Mapping[str, Any]) -> bool:
    """Whether a selector means an object with these labels; an empty one means every object.

    Source: Kubernetes API reference, LabelSelector (read 2026-11). Raises `UnknownInput`, and
    `UnreadableInput` for an operator that does not exist.
    """
    return all(labels.get(key) == value for key, value in mapping_at(selector, "matchLabels").items()) and all(
        _meets(expression, labels) for expression in mappings_at(selector, "matchExpressions")
    )


def chosen_for(selector: Any) -> dict[str, str]:
    """The fewest labels that somebody writes on an object for a selector to mean it. Raises `UnknownInput`."""
    labels = {key: str(value) for key, value in mapping_at(selector, "matchLabels").items()}
    for expression in mappings_at(selector, "matchExpressions"):
        operator, values = value_at(expression, "operator"), list_at(expression, "values")
        if operator in ("In", "Exists"):
            labels.setdefault(str(value_at(expression, "key")), str(values[0]) if values else "")
    return labels


def _meets(expression: Any, labels: Mapping[str, Any]) -> bool:
    key, operator = str(value_at(expression, "key")), value_at(expression, "operator")
    if operator in ("Exists", "DoesNotExist"):
        return (key in labels) is (operator == "Exists")
    if operator in ("In", "NotIn"):  # `NotIn` holds for an object without the label too
        return (labels.get(key) in list_at(expression, "values")) is (operator == "In")
    raise UnreadableInput("operator", f"{operator!r} is none of In, NotIn, Exists, DoesNotExist")
