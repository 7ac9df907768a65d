"""Every value that a table of Amazon's or Google's has is put into its input, alone: what is refused of them says why.

A table of ours that has fewer words than the cloud refuses what is right. What a value needs beside it is left here
with its reason: one more is either a false alarm or one more reason.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

import pytest

from tests.rehearsal.refusals.builders import CONTEXT, resource
from trainyard import cards
from trainyard.recorded.read import steps
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.engine.sdk_imports import piecewise_imports
from trainyard.rehearsal.engine.sdk_types import Fields, FieldType, input_class, input_fields
from trainyard.rehearsal.refusals.aws import model_check
from trainyard.rehearsal.refusals.check import RULES
from trainyard.rehearsal.refusals.rules import EVERY_TYPE

DEPTH: Final = 4
"""Levels of inputs that are looked at: filters of budgets and the like hold themselves."""

BESIDE: Final[Mapping[tuple[str, str], str]] = {
    ("LaunchTemplate", "instanceMarketOptions.marketType"): "on-demand: the provider does not take it",
    ("Addon", "resolveConflictsOnCreate"): "PRESERVE is for an update alone",
    ("NodeGroup", "capacityType"): "CAPACITY_BLOCK needs a launch template",
    ("Key", "rotationPeriodInDays"): "needs enableKeyRotation",
    ("MetricAlarm", "metricQueries.metric.period"): "the model's least is 1, which only queries may ask for",
    ("MetricAlarm", "metricQueries.period"): "likewise",
    ("MetricAlarm", "period"): "likewise",
    ("Budget", "timeUnit"): "CUSTOM: the provider does not describe it",
    ("LustreFileSystem", "autoImportPolicy"): "needs importPath",
    ("LustreFileSystem", "automaticBackupRetentionDays"): "needs a persistent file system",
    ("LustreFileSystem", "perUnitStorageThroughput"): "likewise",
    ("LustreFileSystem", "storageCapacity"): "the model has the range of the number's type",
    ("Cluster", "loggingConfig.enableComponents"): "need SYSTEM_COMPONENTS beside them",
    ("Cluster", "monitoringConfig.enableComponents"): "likewise",
    ("Cluster", "maintenancePolicy.maintenanceExclusions.exclusionOptions.endTimeBehavior"): "needs a scope",
    ("NodePool", "autoscaling.maxNodeCount"): "0: an autoscaler that never makes a node",
    ("NodePool", "autoscaling.totalMaxNodeCount"): "likewise",
    ("CryptoKey", "versionTemplate.algorithm"): "belongs to another purpose than the default one",
    ("AlertPolicy", "conditions.conditionAbsent.aggregations.crossSeriesReducer"): "needs an aligner",
    ("AlertPolicy", "conditions.conditionThreshold.aggregations.crossSeriesReducer"): "likewise",
    ("AlertPolicy", "conditions.conditionThreshold.denominatorAggregations.crossSeriesReducer"): "likewise",
    ("Cluster", "nodeConfig.kubeletConfig.imageGcLowThresholdPercent"): "its end is not below the other's default",
    ("Cluster", "nodeConfig.kubeletConfig.imageGcHighThresholdPercent"): "its end is not above the other's default",
    ("Subnetwork", "role"): "needs the purpose of a proxy",
    ("FileSystem", "lifecyclePolicies.transitionToArchive"): "needs throughputMode elastic",
}
"""What is refused of an input's right values where it stands alone, and why: by type and path."""

GOOGLE: Final[Mapping[str, Any]] = json.loads(
    files("trainyard.rehearsal.refusals").joinpath("data", "gcp_values.json").read_text(encoding="utf-8")
)


@cache
def fields_of(token: str) -> Fields:
    package, module, name = token.split(":")
    with piecewise_imports():
        sdk = importlib.import_module(f"pulumi_{package}")
        place = module.split("/")[0].replace("lambda", "lambda_")
        args = input_class(getattr(getattr(sdk, place), name[0].upper() + name[1:]))  # one type has a small letter
    assert args is not None
    return input_fields(args)


def inputs_of(fields: Fields, path: str = "", depth: int = 0) -> Iterator[tuple[str, int]]:
    """Every input by its path, and of how many lists it is."""
    for name, type_ in fields.types.items():
        here, lists = f"{path}.{name}" if path else name, 0
        inner: FieldType = type_
        while inner.kind == "list" and inner.item is not None:
            inner, lists = inner.item, lists + 1
        yield here, lists
        if inner.kind == "object" and inner.cls is not None and depth < DEPTH - 1:
            yield from inputs_of(input_fields(inner.cls), here, depth + 1)


def nested(path: str, value: Any, lists: Mapping[str, int]) -> dict[str, Any]:
    """Inputs in which that value alone stands."""
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        for _ in range(lists.get(".".join(parts[:end]), 0)):
            value = [value]
        value = {parts[end - 1]: value}
    found: dict[str, Any] = value
    return found


def refused(token: str, path: str, value: Any, lists: Mapping[str, int]) -> bool:
    """Whether the checks of the type refuse the value where it stands."""
    stack = Stack([resource(token, "one", nested(path, value, lists))], CONTEXT)
    (view,) = stack.views
    model = cards.of(token).model
    if model is not None:
        model_check.check(view, model)
    for rule in (*RULES.get(token, ()), *RULES.get(EVERY_TYPE, ())):
        rule(view)
    told = [finding.path for finding in view.findings if finding.level == "error"]
    return any(".".join(part for part in steps(where) if isinstance(part, str)) == path for where in told)


def of_google() -> Iterator[tuple[str, str, list[Any], Mapping[str, int]]]:
    for token in sorted({*GOOGLE["values"], *GOOGLE["limits"]}):
        lists = dict(inputs_of(fields_of(token)))
        values, limits = GOOGLE["values"].get(token, {}), GOOGLE["limits"].get(token, {})
        for path in sorted({*values, *limits}):
            limit = limits.get(path, {})
            ends = [end for end in limit.get("range", ()) if end is not None]
            yield token, path, [*(limit.get("in") or values.get(path, ())), *ends], lists


def of_amazon() -> Iterator[tuple[str, str, list[Any], Mapping[str, int]]]:
    for card in cards.BY_TYPE.values():
        if card.model is None:
            continue
        lists, shapes = dict(inputs_of(fields_of(card.type))), {}
        for path in lists:
            above = model_check.roots(card.model.calls)
            parent = path.rpartition(".")[0]
            if parent:
                above = (shapes[parent],) if shapes.get(parent) else ()
            found = model_check.resolve(card.model, path, above)
            if found is None:
                continue
            shape = shapes[path] = model_check.inner(found)
            ends = [int(end) for end in (shape.least, shape.most) if end is not None]
            yield card.type, path, [*shape.enum, *(ends if shape.kind in ("integer", "long") else ())], lists


@pytest.mark.parametrize("rows", [of_google, of_amazon])
def test_what_is_refused_of_the_right_values_says_why(rows: Any) -> None:
    tried, found = 0, set()
    for token, path, values, lists in rows():
        for value in values:
            tried += 1
            if refused(token, path, value, lists):
                found.add((token.rpartition(":")[2], path))
    assert tried > 1_000
    assert found - BESIDE.keys() == set()
    other = of_amazon if rows is of_google else of_google
    assert BESIDE.keys() - found <= {(token.rpartition(":")[2], path) for token, path, _, _ in other()}


@pytest.mark.parametrize(
    ("token", "path", "value", "wrong"),
    [
        ("aws:s3/bucket:Bucket", "acl", "log-delivery-write", "logs-delivery-write"),
        ("aws:kms/key:Key", "customerMasterKeySpec", "ML_DSA_65", "ML_DSA_66"),
        ("aws:costexplorer/anomalyMonitor:AnomalyMonitor", "monitorDimension", "LINKED_ACCOUNT", "ACCOUNT"),
    ],
)
def test_words_that_the_provider_describes(token: str, path: str, value: str, wrong: str) -> None:
    assert not refused(token, path, value, {})
    assert refused(token, path, wrong, {})
