"""Budgets that count nothing of the stack, or tell at the wrong moment.

Source: AWS Cost Management user guide, "Creating a cost budget" (a threshold of the type PERCENTAGE is a number of per
cent; a tag filter is `user:KEY$VALUE`, in the tag's own letters); Cloud Billing documentation, "Budget filters"
(2026-11).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.read import as_number
from trainyard.recorded.types import AWS_BUDGET, GCP_BUDGET
from trainyard.rehearsal.context import Stack, View, show

_NUMBER: Final = re.compile(r"(?:\bprojects/|:service-)(\d{6,})\b")
_PROJECT: Final = re.compile(r"\bprojects/([a-z][a-z0-9-]{4,28}[a-z0-9])\b")
_ENOUGH: Final = 10
"""Resources that have a tag before it is called the stack's own."""


def check(stack: Stack) -> None:
    """Every budget of the stack."""
    budgets = [*stack.of_type(AWS_BUDGET), *stack.of_type(GCP_BUDGET)]
    if not budgets:
        return
    tags = _tags(stack, ("tagsAll", "tags"), "aws:")
    labels = _tags(stack, ("effectiveLabels", "labels", "userLabels", "resourceLabels"), "gcp:")
    for budget in stack.of_type(AWS_BUDGET):
        for path, one in budget.items("notifications"):
            _threshold(budget, path, one)
        _dollars(budget)
        for path, one in budget.items("costFilters"):
            if one.get("name") == "TagKeyValue":
                pairs = [str(value).removeprefix("user:").partition("$") for value in budget.texts(f"{path}.values")]
                _counted(budget, f"{path}.values", [(key, value) for key, _, value in pairs], tags, "tag")
    for budget in stack.of_type(GCP_BUDGET):
        given = [(str(key), str(value)) for key, value in budget.mapping("budgetFilter.labels").items()]
        _counted(budget, "budgetFilter.labels", given, labels, "label")
        _projects(budget, stack)


def _projects(budget: View, stack: Stack) -> None:
    """A budget of one project, where the whole recording is of another."""
    said = budget.texts("budgetFilter.projects")
    if len(said) != 1 or budget.blurred("budgetFilter.projects"):
        return
    own = said[0].removeprefix("projects/")
    pattern, others = (_NUMBER if own.isdigit() else _PROJECT), set()
    for view in stack.views:
        if view.type.startswith("gcp:") and view.type != GCP_BUDGET:
            if not own.isdigit() and (project := view.text("project")) is not None:
                others.add(project)
            for key in ("member", "members", "name"):
                others |= set(pattern.findall(str(view.value(key) or "")))
    if len(others) == 1 and own not in others:
        (only,) = others
        budget.warning(
            "programs-budget", "budgetFilter.projects",
            f"counts project {own}, and the stack's resources are in {only}",
            allowed=f"projects/{only}",
        )  # fmt: skip


def _threshold(budget: View, path: str, one: Mapping[str, Any]) -> None:
    threshold = as_number(one.get("threshold"))
    if one.get("thresholdType") == "PERCENTAGE" and threshold is not None and 0 < threshold <= 1:
        budget.error(
            "programs-budget",
            f"{path}.threshold",
            f"tells at {threshold:g} per cent of the budget, that is in its first hours",
            allowed=f"{threshold * 100:g} for {threshold * 100:g} per cent",
        )


def _dollars(budget: View) -> None:
    """A sum of money that was meant as a share: it looks like one, and the other thresholds are shares.

    Of a budget of little money a sum of that size is a share of it too, and a first dollar is told on purpose.
    """
    limit = budget.number("limitAmount")
    told = list(budget.items("notifications"))
    shares = {as_number(one.get("threshold")) for _, one in told if one.get("thresholdType") == "PERCENTAGE"} - {None}
    for path, one in told:
        threshold = as_number(one.get("threshold"))
        if threshold is None or limit is None or not shares:
            continue
        if one.get("thresholdType") == "ABSOLUTE_VALUE" and _LEAST_SHARE <= threshold <= min(100.0, limit / 100):
            budget.warning(
                "programs-budget", f"{path}.threshold",
                f"tells at {threshold:g} {budget.text('limitUnit') or ''} of {limit:g}, that is in its first hours: "
                "the others are shares", allowed=f"thresholdType PERCENTAGE for {threshold:g} per cent",
            )  # fmt: skip
        elif one.get("thresholdType") == "PERCENTAGE" and threshold >= _MOST_SHARE and threshold > limit / 100:
            budget.warning(
                "programs-budget", f"{path}.threshold", f"tells at {threshold:g} per cent of the budget",
                allowed="thresholdType ABSOLUTE_VALUE for a sum of money, or a share such as 80",
            )  # fmt: skip


_LEAST_SHARE: Final = 10
"""A threshold of fewer dollars is one that asks for the first of them."""
_MOST_SHARE: Final = 1000
"""Ten times the budget: of a share nobody means more."""


def _tags(stack: Stack, keys: tuple[str, ...], prefix: str) -> dict[str, Counter[str]]:
    """How many resources have each tag, by its key and value."""
    found: dict[str, Counter[str]] = {}
    for view in stack.views:
        if view.type.startswith(prefix) and view.type not in (AWS_BUDGET, GCP_BUDGET):
            for key, value in dict(_pairs(view, keys)).items():
                found.setdefault(key, Counter())[value] += 1
    return found


def _pairs(view: View, keys: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for key in keys:
        for name, value in view.mapping(key).items():
            if isinstance(value, str):
                yield str(name), value


def _counted(
    budget: View, path: str, given: list[tuple[str, str]], tags: Mapping[str, Counter[str]], word: str
) -> None:
    """A filter on a tag that is the stack's own, with another key or value than its resources have."""
    own = {key for key, values in tags.items() if len(values) == 1 and values.total() >= _ENOUGH}
    if not own or len(given) != 1:
        return
    ((key, value),) = given
    if key in own and value not in tags[key]:
        (only,) = tags[key]
        budget.error(
            "programs-budget", path, f"counts what has the {word} {key} {show(value)}, and the stack's resources have "
            f"{show(only)}: nothing is counted", allowed=f"{key}: {only}",
        )  # fmt: skip
    elif key not in tags and (hint := nearest(key.lower(), own, cutoff=0.8)):
        budget.error(
            "programs-budget", path, f"counts what has the {word} {show(key)}, which no resource of the stack has",
            hint=hint,
        )  # fmt: skip
