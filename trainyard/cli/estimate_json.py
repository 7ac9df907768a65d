"""An estimate as JSON: plain values in the units that the names say."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from trainyard.advice import Estimate
from trainyard.cli.recommend_json import plain, plain_option, plain_request, plain_work


def as_json_text(estimate: Estimate) -> str:
    """Everything, indented; infinite figures are null."""
    data: dict[str, Any] = {
        "currency": "USD",
        "request": plain_request(estimate.request),
        **plain_work(estimate.asked),
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
        "offers": [plain_option(offer) for offer in estimate.offers],
        "assumptions": list(estimate.assumptions),
        "flags": list(estimate.flags),
    }
    return json.dumps(plain(data), indent=2, allow_nan=False) + "\n"


def _range(value: Any) -> Any:
    return dataclasses.asdict(value) if value is not None else None
