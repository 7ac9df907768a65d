"""Grafana's dashboards: JSON in ConfigMaps, whose panels name sources of data and hold expressions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster


def dashboards(cluster: Cluster) -> Iterator[tuple[View, str, str]]:
    """The dashboards of a cluster: the ConfigMap, the path and the text of each."""
    for view in cluster.of("ConfigMap"):
        for key, text in view.mapping("data").items():
            if isinstance(text, str) and str(key).endswith(".json") and '"panels"' in text:
                yield view, f"data.{key}", text


@lru_cache(maxsize=64)
def expressions(text: str) -> tuple[str, ...]:
    """What the panels of a dashboard ask Prometheus."""
    found = (mapping.get("expr") for mapping in _mappings(read(text)))
    return tuple(dict.fromkeys(each for each in found if isinstance(each, str)))


@lru_cache(maxsize=64)
def legends(text: str) -> tuple[tuple[str, str], ...]:
    """Expressions of a dashboard with the legend of their answers."""
    found = ((one.get("expr"), one.get("legendFormat")) for one in _mappings(read(text)))
    return tuple((each, legend) for each, legend in found if isinstance(each, str) and isinstance(legend, str))


@lru_cache(maxsize=64)
def sources(text: str) -> tuple[str, ...]:
    """The Prometheus sources of data that a dashboard names; one without a name is the default."""
    named = (mapping.get("datasource") for mapping in _mappings(read(text)))
    found = (each.get("uid") for each in named if isinstance(each, Mapping) and each.get("type") == "prometheus")
    return tuple(dict.fromkeys(each for each in found if isinstance(each, str)))


@lru_cache(maxsize=64)
def read(text: str) -> Any:
    """The document of a dashboard, which nobody changes; None where it is no JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every mapping in a document, outer ones first."""
    if isinstance(value, Mapping):
        yield value
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    for item in inner:
        yield from _mappings(item)
