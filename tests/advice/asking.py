"""Requests of the recommender's tests."""

from __future__ import annotations

from datetime import date
from typing import Any

from trainyard.advice import Recommendation, Request, recommend

TODAY = date(2026, 11, 21)


def ask(**fields: Any) -> Recommendation:
    """A recommendation for 1B parameters and 20B tokens, with other fields as given."""
    wanted: dict[str, Any] = {"today": TODAY}
    if "architecture" not in fields and fields.get("task") != "tabular":
        wanted["params"] = 1e9
    if not {"images", "dataset_gb"} & set(fields) and fields.get("task") != "tabular":
        wanted["tokens"] = 20e9
    return recommend(Request(**(wanted | fields)))
