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


def request_of(row: dict[str, str]) -> Request:
    """The request that a row of a published table stands for; what a table has no column for is as by default."""

    def number(column: str) -> float | None:
        return float(row[column]) if row.get(column) else None

    return Request(
        today=TODAY,
        task=row["task"],  # type: ignore[arg-type]  # a row of ours
        params=float(row["params"]),
        active_params=number("active_params"),
        layers=int(row["layers"]),
        hidden=int(row["hidden"]),
        vocabulary=int(row["vocabulary"]),
        tokens=number("tokens"),
        sequence_length=int(row["sequence"]),
        global_batch_tokens=number("batch_tokens"),
        precision=row["precision"],
        optimizer=row.get("optimizer", "adamw"),
        lora_rank=int(row["lora_rank"]) if row.get("lora_rank") else None,
    )
