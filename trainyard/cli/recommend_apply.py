"""Writes a recommended pool into a stack file: checked first, whole or not at all, the rest of the file as it was."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from trainyard.advice import Option
from trainyard.problems import Problem, SettingsError
from trainyard.settings.one_entry import child, end, insert
from trainyard.user_files import compose_yaml, parse_yaml, read_text

KEY = "trainyard:gpuPools"
SCHEDULED = {
    "flex-start": "make a node pool with flex-start there, which Google fills when it has the machines",
    "calendar": "reserve the days there in calendar mode, and make a node pool on that reservation",
}
"""Sold by Google's Dynamic Workload Scheduler, and what to do in place of `--apply`."""

_REPLACED = ("gpu", "instanceType", "fabric", "zone", "spot", "onDemand")


@dataclass(frozen=True, slots=True)
class Reservation:
    """What was bought: an On-Demand Capacity Reservation or a Capacity Block, and the zone that it is in."""

    id: str
    zone: str


def pool_settings(option: Option, existing: dict[str, Any], reservation: Reservation | None) -> dict[str, Any]:
    """The pool's settings for an option: scale from zero to the nodes that it takes; other keys stay.

    Raises:
        SettingsError: the option takes a reservation and none is given, it takes none and one is, or it is of Google's
            scheduler, which no pool can be bound to.
    """
    _refuse_scheduled(option)
    bought = bool(option.price.months or option.price.block)
    if bought and reservation is None:
        raise SettingsError(
            [
                Problem(
                    "--apply",
                    option.capacity,
                    "must be bought first; then --reservation cr-... --zone ZONE bind the pool to it",
                    "--option N applies another of the ranked ones",
                )
            ]
        )
    if reservation is not None and not bought:
        raise SettingsError(
            [Problem("--reservation", reservation.id, f"is for a reserved option; this one is {option.capacity}")]
        )
    nodes = option.nodes * option.copies
    kept = {key: value for key, value in existing.items() if key not in _REPLACED}
    wanted: dict[str, Any] = {"instanceType": option.machine.type}
    if option.nodes > 1:
        wanted["fabric"] = option.machine.fabric
    elif option.machine.fabric and option.machine.cloud == "gcp":
        # A pool there has a fabric unless it says otherwise, and needs an image of its own; one node talks to nobody.
        wanted["fabric"] = False
    # A mapping each: YAML would write one that stands twice as an anchor and its alias.
    wanted["spot"] = {"minNodes": 0, "maxNodes": nodes if option.capacity == "spot" else 0}
    wanted["onDemand"] = {"minNodes": 0, "maxNodes": nodes if option.capacity == "on-demand" else 0}
    if reservation is not None:
        kind = "capacity-block" if option.capacity == "capacity-block" else "odcr"
        wanted["reserved"] = {
            "reservationId": reservation.id,
            "kind": kind,
            "nodes": nodes,
            "availabilityZone": reservation.zone,
        }
    return wanted | kept


def _refuse_scheduled(option: Option) -> None:
    if option.capacity in SCHEDULED:
        allowed = f"is Google's Dynamic Workload Scheduler, not a pool of a stack: {SCHEDULED[option.capacity]}"
        hint = "--option N applies another of the ranked ones, --cloud aws ranks those that a stack can have"
        raise SettingsError([Problem("--apply", option.capacity, allowed, hint)])


def gpu_pools(text: str) -> dict[str, Any]:
    """The pools of a stack file."""
    config = (parse_yaml(text, "the stack file") or {}).get("config") or {}
    return dict(config.get(KEY) or {})


def with_pool(text: str, pool: str, settings: dict[str, Any]) -> str:
    """The stack file with one pool set; nothing but that pool's lines changes, except a `gpuPools: {...}` on one line.

    Raises:
        SettingsError: the file is laid out in a way that cannot be changed without touching the rest.
    """
    flow = yaml.safe_dump(settings, default_flow_style=True, width=10_000, sort_keys=False).strip()
    changed = _edit(text, pool, flow)
    expected = parse_yaml(text, "the stack file")
    expected["config"].setdefault(KEY, {})
    expected["config"][KEY] = {**(expected["config"][KEY] or {}), pool: settings}
    if parse_yaml(changed, "the changed stack file") != expected:
        raise SettingsError([Problem("--apply", "an unusual layout", f"add by hand to {KEY}: {pool}: {flow}")])
    return changed


def _edit(text: str, pool: str, flow: str) -> str:
    root = compose_yaml(text, "the stack file")
    config = child(root, "config")
    if config is None or not isinstance(config[1], yaml.MappingNode) or config[1].flow_style:
        raise SettingsError([Problem("--apply", "no block of config:", "the stack file must have one")])
    block = config[1]
    pools = child(block, KEY)
    if pools is None:
        indent = " " * block.start_mark.column
        return insert(text, block, f"{indent}{KEY}:\n{indent}  {pool}: {flow}")
    key, value = pools
    if not isinstance(value, yaml.MappingNode) or value.flow_style:
        merged = gpu_pools(text)
        indent = " " * (key.start_mark.column + 2)
        lines = []
        for name, item in {**merged, pool: None}.items():
            dumped = flow if name == pool else yaml.safe_dump(item, default_flow_style=True, width=10_000,
                                                              sort_keys=False).strip()  # fmt: skip
            lines.append(f"\n{indent}{name}: {dumped}")
        return text[: key.end_mark.index] + ":" + "".join(lines) + text[end(text, value) :]
    entry = child(value, pool)
    if entry is None:
        return insert(text, value, f"{' ' * value.start_mark.column}{pool}: {flow}")
    return text[: entry[0].end_mark.index] + f": {flow}" + text[end(text, entry[1]) :]


def write_checked(
    folder: Path, file: Path, pool: str, option: Option, region: str, reservation: Reservation | None = None
) -> str:
    """The new text of a stack file, resolved with the pool in it; the file is not written.

    Raises:
        SettingsError: the option cannot be a pool, the stack is of another cloud or region, its pool is bound to a
            reservation, or the stack with the pool does not resolve.
    """
    from trainyard.plan.resolve import resolve_config
    from trainyard.rehearsal.engine.project import read_stack

    _refuse_scheduled(option)
    values = read_stack(folder, file).values  # refuses what is no text
    text = read_text(file, file.name)
    for key, wanted in (("cloud", option.machine.cloud), ("region", region)):
        found = values.get(f"trainyard:{key}", "")
        if found != wanted:
            raise SettingsError(
                [Problem(f"--{key}", wanted, f"must be the stack's {key}, which is {found or 'not set'}")]
            )
    existing = gpu_pools(text)
    before = existing.get(pool) or {}
    if before.get("reserved"):
        raise SettingsError(
            [Problem("--pool", pool, "is bound to a reservation of its instance type", "name another with --pool")]
        )
    settings = pool_settings(option, before, reservation)
    merged = {**existing, pool: settings}
    resolve_config(read_stack(folder, file, {"gpuPools": merged}))
    return with_pool(text, pool, settings)
