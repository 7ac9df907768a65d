"""JSON of a check: verdict, policies, plan and price of every stack, which a later check can be compared with."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
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


def part(outcome: Outcome, told: Mapping[str, Any] | None = None) -> str:
    """One stack as a JSON text. `told`: its `stack_json`, where that was asked for already."""
    return indented(stack_json(outcome) if told is None else told)


def indented(value: Any) -> str:
    """What `json.dumps` with an indent of 2 gives, in half the time: that has no C, and a generator a container."""
    return _written(value, "\n")


def _written(value: Any, line: str) -> str:
    kind = type(value)
    if kind is str:
        return json.encoder.encode_basestring_ascii(value)
    inside = f"{line}  "
    if kind is dict and value:
        if not all(type(key) is str for key in value):
            return json.dumps(value, indent=2).replace("\n", line)  # numbers as keys, of which that has its rules
        quoted = json.encoder.encode_basestring_ascii
        items = [f"{inside}{quoted(key)}: {_written(item, inside)}" for key, item in value.items()]
        return f"{{{','.join(items)}{line}}}"
    if kind is list and value:
        return f"[{','.join([inside + _written(item, inside) for item in value])}{line}]"
    if isinstance(value, dict):
        return _written(dict(value), line) if value else "{}"
    if isinstance(value, list | tuple):
        return _written(list(value), line) if value else "[]"
    return json.dumps(value)  # without an indent, for which it would make an encoder each time


def whole(parts: Sequence[str]) -> str:
    """All stacks as one JSON document."""
    inside = ",\n".join(textwrap.indent(text, "    ") for text in parts)
    return f'{{\n  "stacks": [\n{inside}\n  ]\n}}\n' if parts else '{\n  "stacks": []\n}\n'
