"""JSON of a check: verdict, policies, plan and price of every stack, which a later check can be compared with."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from typing import Any

from trainyard.recorded.model import masked
from trainyard.review.review import Outcome, Unjudged


def stack_json(outcome: Outcome) -> dict[str, Any]:
    """One stack: its verdict with everything behind it, as far as it was judged; secrets masked."""
    told: dict[str, Any] = {
        "stack": outcome.verdict.stack,
        "file": outcome.file,
        "verdict": outcome.verdict.as_json(),
    }
    if isinstance(outcome, Unjudged):
        return {**told, "problems": [mistake.as_json() for mistake in outcome.mistakes]}
    policies = outcome.policies.as_json() if outcome.policies is not None else {"violations": [], "accepted": []}
    policies.pop("stack", None)
    return {
        **told,
        **({"change": outcome.change.as_json()} if outcome.change is not None else {}),
        "findings": [finding.as_json() for finding in outcome.rehearsal.findings],
        **policies,
        "plan": masked(outcome.rehearsal.plan),
        "cost": masked(outcome.cost.as_json()) if outcome.cost is not None else {},
    }


def part(outcome: Outcome) -> str:
    """One stack as a JSON text."""
    return json.dumps(stack_json(outcome), indent=2)


def whole(parts: Sequence[str]) -> str:
    """All stacks as one JSON document."""
    inside = ",\n".join(textwrap.indent(text, "    ") for text in parts)
    return f'{{\n  "stacks": [\n{inside}\n  ]\n}}\n' if parts else '{\n  "stacks": []\n}\n'
