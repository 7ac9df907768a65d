"""Label selectors, as the API server evaluates them (apimachinery, LabelSelectorAsSelector, Kubernetes 1.35).

All requirements hold together. `NotIn` and `DoesNotExist` hold for a label that is absent. An empty selector selects
everything; who has none at all decides what that means.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.recorded.read import UnreadableInput, mapping_at, mappings_at, texts_at, value_at


def selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a selector selects what has these labels.

    Raises:
        UnknownInput: a part of the selector is not known yet.
        UnreadableInput: it has an operator that does not exist.
    """
    if any(labels.get(key) != value for key, value in mapping_at(selector, "matchLabels").items()):
        return False
    return all(_holds(requirement, labels) for requirement in mappings_at(selector, "matchExpressions"))


def _holds(requirement: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, operator = str(value_at(requirement, "key")), value_at(requirement, "operator")
    values = texts_at(requirement, "values")
    match operator:
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
    raise UnreadableInput("operator", f"{operator!r} is none of In, NotIn, Exists, DoesNotExist")


def chosen_for(selector: Mapping[str, Any]) -> dict[str, str]:
    """The fewest labels that somebody writes on a pod for a selector to select it. Raises as `selects` does."""
    labels = {key: str(value) for key, value in mapping_at(selector, "matchLabels").items()}
    for requirement in mappings_at(selector, "matchExpressions"):
        operator, values = value_at(requirement, "operator"), texts_at(requirement, "values")
        if operator == "In" and values:
            labels.setdefault(str(value_at(requirement, "key")), values[0])
        elif operator == "Exists":
            labels.setdefault(str(value_at(requirement, "key")), "")
    return labels
