"""What a change of a stack file changes: two rehearsals, compared by URN and inputs as the engine compares them."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.shared import ROOT
from trainyard.rehearsal.rehearse import Rehearsal, rehearse

Config = dict[str, Any]


def stack_file(folder: Path, stack: str, **changes: Any) -> Path:
    """An example's stack file in a folder, with other values of some keys; None takes a key out."""
    content = yaml.safe_load((ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8"))
    for key, value in changes.items():
        content["config"][f"trainyard:{key}"] = value
    content["config"] = {key: value for key, value in content["config"].items() if value is not None}
    file = folder / f"Pulumi.{stack}.yaml"
    file.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return file


def rehearsed_with(folder: Path, stack: str, **changes: Any) -> Rehearsal:
    """The rehearsal of an example with other values of some keys."""
    found = rehearse(ROOT, stack_file(folder, stack, **changes))
    assert not found.errors, found.errors
    return found


@dataclass(frozen=True)
class Change:
    """What is new, gone, and other than it was: of the last, the inputs that differ by the resource's URN."""

    made: frozenset[str]
    gone: frozenset[str]
    other: Mapping[str, frozenset[str]]

    def of(self, *types: str) -> dict[str, frozenset[str]]:
        """What changes of resources of some types, by their names."""
        return {
            urn.rsplit("::", 1)[1]: keys
            for urn, keys in self.other.items()
            if urn.split("::")[2].rsplit("$", 1)[-1] in types
        }


def change(before: Rehearsal, after: Rehearsal) -> Change:
    """From one rehearsal to another, ignored inputs left out."""
    old, new = ({resource.urn: resource for resource in found.resources} for found in (before, after))
    other = {}
    for urn in old.keys() & new.keys():
        was, will = old[urn].inputs, sent(old[urn].inputs, new[urn].inputs, new[urn].ignore_changes)
        keys = frozenset(key for key in was.keys() | will.keys() if was.get(key) != will.get(key))
        if keys:
            other[urn] = keys
    return Change(frozenset(new.keys() - old.keys()), frozenset(old.keys() - new.keys()), other)


def sent(recorded: Mapping[str, Any], wanted: Mapping[str, Any], ignored: Sequence[str]) -> dict[str, Any]:
    """The inputs that a provider is called with: what is ignored has the value that the state records.

    pulumi/pulumi, pkg/resource/deploy, processIgnoreChanges (read 2026-11-23): each path is set in the new inputs to
    what the old inputs have there, and taken out where they have nothing.
    """
    inputs = copy.deepcopy(dict(wanted))
    for path in ignored:
        *above, last = path.split(".")
        target, source = inputs, dict(recorded)
        for step in above:
            target, source = target[step], source[step]
        if last in source:
            target[last] = source[last]
        else:
            target.pop(last, None)
    return inputs
