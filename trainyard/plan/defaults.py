"""What decides a setting that is left out: asked of the planner itself, for a medium and for a large team."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from trainyard.plan.ledger import spell
from trainyard.plan.parts import Decision
from trainyard.plan.resolve import resolve
from trainyard.settings.schema import example, leaves

TYPICAL: Mapping[str, int] = {"medium": 12, "large": 40}
"""People of a typical team of each profile with a cluster."""

MANAGED_PEOPLE = 3
"""People of a typical small team, of which the block `managed` is the only one that no other profile reads."""

_REQUIRED = {"client": "acme", "cloud": "aws", "region": "us-east-1"}
_ON_GOOGLE = {
    **{"client": "acme", "cloud": "gcp", "region": "us-central1"},
    **{"gcp": json.dumps({"project": "acme-ml", "projectNumber": "123456789012"}), "alertEmails": '["a@acme.example"]'},
}
_STACK = "example"
_SIZE = ("teamSize", "profile")  # they are what the others depend on


@dataclass(frozen=True, slots=True)
class Default:
    """What a setting comes to where it is left out, for a team of one profile, and why."""

    profile: str
    people: int
    value: str
    source: str


@cache
def defaults() -> dict[str, tuple[Default, ...]]:
    """What the planner decides where a setting is left out, one entry for each profile, by the setting's path.

    A setting is found by its decision: planned with every setting given (`example.yaml`), the decision's source is the
    setting, and its value is the setting's. The same decision without the setting has the default and its source.
    """
    given = example()
    own = list(_own_decisions({key: value for key, value in given.items() if key != "managed"}))
    pools = {f"pools.{name}.": f" (pool {name})" for name in given["gpuPools"]}
    found: dict[str, list[Default]] = {}
    for profile, people in TYPICAL.items():
        decisions = {decision.key: decision for decision in _decisions({**_REQUIRED, "teamSize": str(people)})}
        of_profile: dict[str, Default] = {}
        for path, key in own:  # several pools have the same setting, and the profile has some of them
            decision = decisions.get(key)
            if decision is not None and path not in _SIZE and not decision.source.startswith("setting "):
                of = next((text for prefix, text in pools.items() if key.startswith(prefix)), "")
                of_profile[path] = Default(profile, people, f"{decision.value}{of}", decision.source)
        for path, entry in of_profile.items():
            found.setdefault(path, []).append(entry)
    return {
        **{path: tuple(entries) for path, entries in found.items()},
        **_of_block("managed", _without(given, "managed", "beside"), {"small": MANAGED_PEOPLE}, _REQUIRED),
        **_of_block("gcp", given, TYPICAL, _ON_GOOGLE),
    }


def _of_block(
    block: str, given: Mapping[str, Any], sizes: Mapping[str, int], required: Mapping[str, str]
) -> dict[str, tuple[Default, ...]]:
    """The same of a block that none of those stacks reads, by stacks that do; `sizes` is people by profile."""
    found: dict[str, list[Default]] = {}
    for profile, people in sizes.items():
        left_out = {**required, "teamSize": str(people)}
        whole = {**left_out, block: _text({**json.loads(required.get(block, "{}")), **given[block]})}
        own = {decision.source: decision.key for decision in _decisions(whole)}
        default = {decision.key: decision for decision in _decisions(left_out)}
        for key in given[block]:
            decision = default.get(own.get(f"setting {block}.{key}", ""))
            if decision is not None and not decision.source.startswith(("setting ", "no ")):
                entry = Default(profile, people, decision.value, decision.source)
                found.setdefault(f"{block}.{key}", []).append(entry)
    return {path: tuple(entries) for path, entries in found.items()}


def _without(given: Mapping[str, Any], block: str, key: str) -> dict[str, Any]:
    """Settings without one of a block, which the stacks that read the others do not."""
    return {**given, block: {own: value for own, value in given[block].items() if own != key}}


def in_words(entries: tuple[Default, ...]) -> str:
    """The defaults of one setting in one phrase: one value where the profiles agree."""
    if len({entry.value for entry in entries}) == 1:
        return entries[0].value
    return ", ".join(f"{entry.value} for {entry.people} people" for entry in entries)


def _own_decisions(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The path of each setting with the key of the decision that is made by it alone."""
    values: dict[str, set[str]] = {}  # of a pool's setting, one for each pool
    for path, value in leaves(given):
        values.setdefault(path, set()).add(spell(value))
    pools = tuple(given["gpuPools"])
    decisions = _decisions({key: _text(value) for key, value in given.items()})
    for decision in decisions:
        word, _, rest = decision.source.partition(" ")
        path = rest.split(";")[0]
        for pool in pools:
            path = path.replace(f"gpuPools.{pool}.", "gpuPools.*.")
        if word == "setting" and decision.value in values.get(path, ()):
            yield path, decision.key


def _decisions(config: Mapping[str, str]) -> tuple[Decision, ...]:
    return tuple(resolve(config, _STACK).plan.core.decisions)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)
