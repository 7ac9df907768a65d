"""The tables of facts against the collected schemas and charts that they were made from."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest
import yaml

from tests.rehearsal.refusals.builders import findings, resource
from tests.shared import shared
from trainyard.catalog import kubernetes_versions, pins
from trainyard.recorded.quantities import quantity
from trainyard.rehearsal.refusals import generate
from trainyard.rehearsal.refusals.kubernetes.schema import QUANTITY, definitions


def table(name: str) -> dict[str, Any]:
    return json.loads(files("trainyard.rehearsal.refusals.data").joinpath(name).read_text("utf-8"))


def test_the_tables_are_what_the_generator_writes() -> None:
    assert table("custom_resources.json") == json.loads(json.dumps(generate.custom_resources(shared("crds"))))
    assert table("charts.json") == json.loads(json.dumps(generate.charts(shared("charts"))))


def test_every_pinned_chart_is_in_the_table_at_its_version() -> None:
    """A chart whose values nobody knows is a chart whose misspelt values nobody notices."""
    known = table("charts.json")["charts"]
    for _, pin in pins().charts:
        name = pin.chart.rpartition("/")[2]
        assert name in known, pin
        assert known[name]["version"].removeprefix("v") == pin.version.removeprefix("v"), pin


def test_each_table_names_source_and_date() -> None:
    assert table("iam.json")["source"] and table("iam.json")["date"]
    for entry in table("custom_resources.json")["kinds"].values():
        assert "@" in entry["source"] and entry["licence"]
    for entry in table("charts.json")["charts"].values():
        assert "@" in entry["source"] and entry["version"]


def _cases() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(shared("crds", "cases.yaml").read_text("utf-8"))
    return found


def test_right_manifests_of_the_published_schemas_pass() -> None:
    """The right manifest of every kind in the table, as the schemas' own proof has it."""
    kinds = {tuple(key.split()) for key in table("custom_resources.json")["kinds"]}
    seen = set()
    for document in _manifests(_cases()):
        key = (document.get("apiVersion"), document.get("kind"))
        if key in kinds:
            token = f"kubernetes:{key[0]}:{key[1]}"
            found = findings([resource(token, "x", document)])
            shape = [
                str(f) for f in found if f.rule.startswith("k8s-") and f.rule not in ("k8s-namespace", "k8s-reference")
            ]
            assert shape == [], document
            seen.add(key)
    assert len(seen) == len(kinds)


def _manifests(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        if "apiVersion" in value and "kind" in value and ("metadata" in value or "spec" in value):
            return [value]
        return [found for item in value.values() for found in _manifests(item)]
    if isinstance(value, list):
        return [found for item in value for found in _manifests(item)]
    return []


@pytest.mark.parametrize("text", ["1", "500m", "1.5", "16Gi", "4Ti", "1e3", "100M", ".5", "5120Mi"])
def test_quantities(text: str) -> None:
    assert QUANTITY.fullmatch(text) and quantity(text) is not None


@pytest.mark.parametrize("text", ["2GB", "1 Gi", "ten", "", "1gi", "--1", "1KiB"])
def test_no_quantities(text: str) -> None:
    assert not QUANTITY.fullmatch(text)


def test_quantities_compare() -> None:
    assert quantity("1Gi") == 2**30
    assert quantity("500m") == 0.5
    assert quantity("1e3") == 1000


@pytest.mark.parametrize("version", kubernetes_versions())
def test_every_version_that_may_be_chosen_has_schemas(version: str) -> None:
    assert "io.k8s.api.apps.v1.Deployment" in definitions(version)


def test_a_version_newer_than_any_schema_takes_the_newest_and_an_ancient_one_fails() -> None:
    assert definitions("1.99") == definitions("1.37")
    with pytest.raises(LookupError, match=r"no schemas for Kubernetes 1\.2"):
        definitions("1.2")
