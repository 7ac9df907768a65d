"""Recommendations and estimates as JSON: USD, hours, GiB and GB as the names say, keys in a stable order.

Numbers have six digits, infinite ones are null.
"""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

from trainyard.advice import Comparison, Estimate, Option, Recommendation, Request
from trainyard.advice.workload import Workload


def recommendation_as_json(recommendation: Recommendation, comparison: Comparison | None = None) -> str:
    """All of a recommendation but the points of the page's picture."""
    data: dict[str, Any] = {
        "currency": "USD",
        "request": _request(recommendation.request),
        "region": recommendation.region,
        "deadline_hours": recommendation.deadline_hours,
        **_work(recommendation.workload),
        "refusal": recommendation.refusal or None,
        "options": [_option(option) for option in recommendation.options],
        "nearest": [_option(option) for option in recommendation.nearest],
        "drivers": [dataclasses.asdict(driver) for driver in recommendation.drivers],
        "assumptions": list(recommendation.assumptions),
        "flags": list(recommendation.flags),
        "stale": [dataclasses.asdict(figure) for figure in recommendation.stale],
        "opinion": recommendation.opinion or None,
        "left_out": list(recommendation.left_out),
        "comparison": dataclasses.asdict(comparison) | {"option": _option(comparison.option)} if comparison else None,
    }
    return json.dumps(_plain(data), indent=2, allow_nan=False) + "\n"


def estimate_as_json(estimate: Estimate) -> str:
    """All of an estimate."""
    data: dict[str, Any] = {
        "currency": "USD",
        "request": _request(estimate.request),
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
        "training_hours": _range(estimate.training_hours),
        "hours": _range(estimate.hours),
        "gpu_hours": _range(estimate.gpu_hours),
        "fit": dataclasses.asdict(estimate.fit) if estimate.fit else None,
        "memory": [
            dataclasses.asdict(verdict) | {"needed_gib": verdict.needed_gib, "tight": verdict.tight}
            for verdict in estimate.verdicts
        ],
        "interruptions": dataclasses.asdict(estimate.interruptions) if estimate.interruptions else None,
        "offers": [_option(offer) for offer in estimate.offers],
        "assumptions": list(estimate.assumptions),
        "flags": list(estimate.flags),
    }
    return json.dumps(_plain(data), indent=2, allow_nan=False) + "\n"


def _request(request: Request) -> dict[str, Any]:
    return dataclasses.asdict(request) | {"today": request.today.isoformat()}


def _work(workload: Workload) -> dict[str, Any]:
    """The keys `model` and `work`."""
    work = workload.work
    return {
        "model": dataclasses.asdict(work.model),
        "work": {
            "tokens": None if workload.convolutional else work.tokens,
            "images": workload.images,
            "sequence": work.sequence,
            "batch_tokens": work.batch_tokens,
        },
    }


def _option(option: Option) -> dict[str, Any]:
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


def _plain(value: Any) -> Any:
    """Six digits of every number; null for infinite ones."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value


def _range(value: Any) -> Any:
    return dataclasses.asdict(value) if value is not None else None
