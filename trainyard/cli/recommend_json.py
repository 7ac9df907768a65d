"""A recommendation as JSON: plain values, USD, hours, GiB and GB as the names say, in a stable order."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

from trainyard.advice import Comparison, Option, Recommendation, Request
from trainyard.advice.work import Asked


def as_json_text(recommendation: Recommendation, comparison: Comparison | None = None) -> str:
    """Everything but the points of the picture, indented; infinite figures are null."""
    data: dict[str, Any] = {
        "currency": "USD",
        "request": plain_request(recommendation.request),
        "region": recommendation.region,
        "deadline_hours": recommendation.deadline_hours,
        **plain_work(recommendation.asked),
        "refusal": recommendation.refusal or None,
        "options": [plain_option(option) for option in recommendation.options],
        "nearest": [plain_option(option) for option in recommendation.nearest],
        "drivers": [dataclasses.asdict(driver) for driver in recommendation.drivers],
        "assumptions": list(recommendation.assumptions),
        "flags": list(recommendation.flags),
        "stale": [dataclasses.asdict(figure) for figure in recommendation.stale],
        "opinion": recommendation.opinion or None,
        "left_out": list(recommendation.left_out),
        "comparison": dataclasses.asdict(comparison) | {"option": plain_option(comparison.option)}
        if comparison
        else None,
    }
    return json.dumps(plain(data), indent=2, allow_nan=False) + "\n"


def plain_request(request: Request) -> dict[str, Any]:
    """What was asked."""
    return dataclasses.asdict(request) | {"today": request.today.isoformat()}


def plain_work(asked: Asked) -> dict[str, Any]:
    """The keys `model` and `work`."""
    work = asked.work
    return {
        "model": dataclasses.asdict(work.model),
        "work": {
            "tokens": None if asked.convolutional else work.tokens,
            "images": asked.images,
            "sequence": work.sequence,
            "batch_tokens": work.batch_tokens,
        },
    }


def plain_option(option: Option) -> dict[str, Any]:
    """One way to run it."""
    machine = option.machine
    return {
        "instance_type": machine.type,
        "gpu": machine.gpu.name,
        "gpus_per_node": machine.gpus,
        "nodes": option.nodes,
        "copies": option.copies,
        "gpus": option.gpus * option.copies,
        "capacity": option.capacity,
        "usd_per_node_hour": dataclasses.asdict(option.price.usd_per_hour),
        "hours": dataclasses.asdict(option.hours),
        "cost_usd": dataclasses.asdict(option.cost_usd),
        "monthly_usd": dataclasses.asdict(option.monthly_usd) if option.monthly_usd else None,
        "meets_deadline": option.meets_deadline,
        "may_be_late": option.may_be_late,
        "in_budget": option.in_budget,
        "fit": dataclasses.asdict(option.fit) | {"utilisation": dataclasses.asdict(option.fit.utilisation)},
        "interruptions": dataclasses.asdict(option.interruptions),
        "data": dataclasses.asdict(option.data),
        "checkpoint": dataclasses.asdict(option.checkpoint),
        "flags": list(option.flags),
        "figures": [dataclasses.asdict(figure) for figure in option.price.figures],
    }


def plain(value: Any) -> Any:
    """Six digits of every number; null for infinite ones."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value
