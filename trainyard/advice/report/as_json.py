"""Recommendations and estimates as JSON: USD, hours, GiB and GB as the names say, keys in a stable order.

Numbers have six digits, infinite ones are null.
"""

from __future__ import annotations

import dataclasses
import json
import math
from datetime import date
from typing import Any

from trainyard.advice import Comparison, Estimate, Option, Recommendation
from trainyard.advice.workload import Workload


def recommendation_as_json(recommendation: Recommendation, comparison: Comparison | None = None) -> str:
    """All of a recommendation but the points of the page's picture."""
    data: dict[str, Any] = {
        "currency": "USD",
        "request": recommendation.request,
        "region": recommendation.region,
        "deadline_hours": recommendation.deadline_hours,
        **_work(recommendation.workload),
        "refusal": recommendation.refusal or None,
        "options": [_option(option) for option in recommendation.options],
        "nearest": [_option(option) for option in recommendation.nearest],
        "drivers": recommendation.drivers,
        "assumptions": recommendation.assumptions,
        "flags": recommendation.flags,
        "stale": recommendation.stale,
        "opinion": recommendation.opinion or None,
        "left_out": recommendation.left_out,
        "comparison": dataclasses.asdict(comparison) | {"option": _option(comparison.option)} if comparison else None,
    }
    return json.dumps(_plain(data), indent=2, allow_nan=False) + "\n"


def estimate_as_json(estimate: Estimate) -> str:
    """Everything that an estimate says, as a JSON document."""
    data: dict[str, Any] = {
        "currency": "USD",
        "request": estimate.request,
        **_work(estimate.workload),
        "hardware": {
            "instance_type": estimate.machine.type if estimate.machine.regions else None,
            "gpu": estimate.machine.gpu.name,
            "gpus": estimate.gpus,
            "gpus_per_node": estimate.machine.gpus,
            "nodes": estimate.nodes,
            "gpu_memory_gib": estimate.machine.gpu_memory_gib,
            "network_gbps": estimate.machine.network_gbps,
        },
        "fits": estimate.fit is not None,
        "refusal": estimate.refusal or None,
        "training_hours": estimate.training_hours,
        "hours": estimate.hours,
        "gpu_hours": estimate.gpu_hours,
        "fit": estimate.fit,
        "memory": [
            dataclasses.asdict(verdict) | {"needed_gib": verdict.needed_gib, "tight": verdict.tight}
            for verdict in estimate.verdicts
        ],
        "interruptions": estimate.interruptions,
        "offers": [_option(offer) for offer in estimate.offers],
        "assumptions": estimate.assumptions,
        "flags": estimate.flags,
    }
    return json.dumps(_plain(data), indent=2, allow_nan=False) + "\n"


def _work(workload: Workload) -> dict[str, Any]:
    """The document's keys `model` and `work`."""
    work = workload.work
    return {
        "model": work.model,
        "work": {
            "tokens": None if workload.convolutional else work.tokens,
            "images": workload.images,
            "sequence": work.sequence,
            "batch_tokens": work.batch_tokens,
        },
    }


def _option(option: Option) -> dict[str, Any]:
    """One way to run the training, as plain values."""
    machine = option.machine
    return {
        "instance_type": machine.type,
        "gpu": machine.gpu.name,
        "gpus_per_node": machine.gpus,
        "nodes": option.nodes,
        "copies": option.copies,
        "gpus": option.gpus * option.copies,
        "capacity": option.capacity,
        "usd_per_node_hour": option.price.usd_per_hour,
        "hours": option.hours,
        "cost_usd": option.cost_usd,
        "monthly_usd": option.monthly_usd,
        "meets_deadline": option.meets_deadline,
        "may_be_late": option.may_be_late,
        "in_budget": option.in_budget,
        "fit": option.fit,
        "interruptions": option.interruptions,
        "data": option.data,
        "checkpoint": option.checkpoint,
        "flags": option.flags,
        "figures": option.price.figures,
    }


def _plain(value: Any) -> Any:
    """Fields of dataclasses, ISO dates, six digits of every number and null for infinite ones."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value
