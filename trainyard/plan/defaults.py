"""What decides a setting that is left out: asked of the planner itself, for a medium and for a large team."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.plan.ledger import spell
from trainyard.plan.parts import Decision
from trainyard.plan.resolve import resolve
from trainyard.settings.schema import example, leaves

TYPICAL: Mapping[str, int] = {"medium": 12, "large": 40}
"""People of a typical team of each profile that can be planned today."""

_REQUIRED = {"client": "acme", "cloud": "aws", "region": "us-east-1"}
_STACK = "example"
_SIZE = ("teamSize", "profile")  # they are what the others depend on


@dataclass(frozen=True, slots=True)
class Default:
    """What a setting comes to where it is left out, for a team of one profile, and why."""

    profile: str
    people: int
    value: str
    source: str


def defaults() -> dict[str, tuple[Default, ...]]:
    """What the planner decides where a setting is left out, one entry for each profile, by the setting's path.

    A setting is found by its decision: planned with every setting given (`example.yaml`), the decision's source is the
    setting, and its value is the setting's. The same decision without the setting has the default and its source.
    """
    given = example()
    own = dict(_own_decisions(given))
    pools = {f"pools.{name}.": f" (pool {name})" for name in given["gpuPools"]}
    found: dict[str, list[Default]] = {}
    for profile, people in TYPICAL.items():
        decisions = {decision.key: decision for decision in _decisions({**_REQUIRED, "teamSize": str(people)})}
        for path, key in own.items():
            decision = decisions.get(key)
            if decision is not None and path not in _SIZE and not decision.source.startswith("setting "):
                of = next((text for prefix, text in pools.items() if key.startswith(prefix)), "")
                entry = Default(profile, people, f"{decision.value}{of}", decision.source)
                found.setdefault(path, []).append(entry)
    return {path: tuple(entries) for path, entries in found.items()}


def in_words(entries: tuple[Default, ...]) -> str:
    """The defaults of one setting in one phrase: one value where the profiles agree."""
    if len({entry.value for entry in entries}) == 1:
        return entries[0].value
    return ", ".join(f"{entry.value} for {entry.people} people" for entry in entries)


def _own_decisions(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The path of each setting with the key of the decision that is made by it alone."""
    values = {path: spell(value) for path, value in leaves(given)}
    pools = tuple(given["gpuPools"])
    decisions = _decisions({key: _text(value) for key, value in given.items()})
    for decision in decisions:
        word, _, rest = decision.source.partition(" ")
        path = rest.split(";")[0]
        for pool in pools:
            path = path.replace(f"gpuPools.{pool}.", "gpuPools.*.")
        if word == "setting" and values.get(path) == decision.value:
            yield path, decision.key


def _decisions(config: Mapping[str, str]) -> tuple[Decision, ...]:
    return tuple(resolve(config, _STACK).plan.core.decisions)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)
