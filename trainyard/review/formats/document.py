"""JSON of a check: policies, plan and price of every stack, which a later check can be compared with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from trainyard.recorded.model import masked
from trainyard.review.review import Review


def stack_json(review: Review) -> dict[str, Any]:
    """One stack: what the policies say, with plan and price; secrets masked."""
    return {
        **review.judged.as_json(),
        "file": review.file,
        "plan": masked(review.rehearsal.plan),
        "cost": masked(review.cost.as_json()) if review.cost is not None else {},
    }


def as_json(reviews: Sequence[Review]) -> str:
    """All stacks as one JSON document."""
    return json.dumps({"stacks": [stack_json(review) for review in reviews]}, indent=2) + "\n"
