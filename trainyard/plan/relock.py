"""Deciding anew what a stack's lock keeps: on purpose, by name, and with what it would replace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.conventions import CAPACITIES
from trainyard.plan.lock import KEYS, Lock, LockedZone, entries, lock_of
from trainyard.plan.resolve import resolve_config
from trainyard.problems import Problem, SettingsError, nearest
from trainyard.rehearsal.engine.project import StackConfig

_PARTS = {"network": ("cidr", "serviceCidr", "id"), "lustre": ("zone", "capacityGib")}
"""Keys whose parts can be decided again one by one."""

_BY_NAME = ("pools", "nodeGroups", "proofTeams")

_NODES = "the node group, and with it the jobs that run there"

_REPLACES = {
    "profile": "what the profiles say differently: compare `trainyard explain STACK` before and after",
    "kubernetesVersion": "the control plane, then every node: `trainyard upgrade` goes there one minor at a time",
    "nodeRelease": "every node, and what runs there: `trainyard upgrade` waits for it first",
    "network.cidr": "the network, and everything in it",
    "network.id": "everything: nothing moves from one network to another, and what holds data is made anew, empty",
    "network.serviceCidr": "the control plane, and everything on the cluster",
    "controlPlaneZones": "nothing, or the update fails: a control plane keeps to the zones that it was made in",
    "restoredFrom": "the tracking database, with all that it has; its last snapshot stays",
    "lustre.zone": "the file system: what its data bucket has comes back, scratch space does not",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """What another lock would say of one thing, and what that would replace."""

    key: str
    was: str
    now: str
    replaces: str


def relocked(config: StackConfig, lock: Lock, keys: Sequence[str]) -> Lock:
    """The lock with some keys decided anew, and with what it did not know yet; raises `SettingsError`.

    A zone that stays keeps its slot and its place, so that no subnet moves.
    """
    kept = _without(lock, keys)
    if "zones" not in keys:
        return lock_of(resolve_config(config, kept).plan)
    found = lock_of(resolve_config(config, kept).plan).zones
    now = {zone.name: zone.nodes for zone in found}
    zones = [zone.model_copy(update={"nodes": now[zone.name]}) for zone in lock.zones if zone.name in now]
    taken = {zone.slot for zone in zones}
    for zone in found:
        if zone.name not in {known.name for known in zones}:
            slot = zone.slot if zone.slot not in taken else min(set(range(6)) - taken)
            zones.append(LockedZone(name=zone.name, slot=slot, nodes=zone.nodes))
            taken.add(slot)
    return lock_of(resolve_config(config, kept.model_copy(update={"zones": tuple(zones)})).plan)


def differences(was: Lock, now: Lock) -> list[Difference]:
    """What differs between two locks, by key."""
    old, new = _flat(was), _flat(now)
    return [
        Difference(key, _spelt(old.get(key)), _spelt(new.get(key)), _replaces(key, old.get(key), new.get(key)))
        for key in dict.fromkeys((*old, *new))
        if old.get(key) != new.get(key)
    ]


def check_keys(lock: Lock, keys: Sequence[str]) -> None:
    """Raises `SettingsError` for a key that cannot be decided again."""
    content = lock.as_json()
    known = [*KEYS, *(f"{key}.{part}" for key, parts in _PARTS.items() for part in parts)]
    known += [f"{key}.{name}" for key in _BY_NAME for name in content.get(key, {})]
    for key in keys:
        if key not in known:
            allowed = f"must be one of {', '.join(known)}"
            raise SettingsError([Problem("--relock", key, allowed, nearest(key, known))])


def _without(lock: Lock, keys: Sequence[str]) -> Lock:
    content = lock.as_json()
    for key in keys:
        above, _, name = key.partition(".")
        if not name:
            content.pop(above, None)
        else:
            content.get(above, {}).pop(name, None)
        for pool in [name] if name else lock.pools:
            for capacity in CAPACITIES if above == "pools" else ():
                content.get("nodeGroups", {}).pop(f"{pool}-{capacity}", None)
    return Lock.model_validate(content)


def _flat(lock: Lock) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in entries(lock).items():
        if isinstance(value, dict):
            found |= {f"{key}.{part}": item for part, item in value.items()}
        else:
            found[key] = value
    return found


def _spelt(value: Any) -> str:
    if value is None:
        return "nothing"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _replaces(key: str, was: Any, now: Any) -> str:
    above, last = key.partition(".")[0], key.rpartition(".")[2]
    if key == "restoredFrom":
        return _REPLACES[key]
    if was is None:
        return "nothing: it is new"
    if above == "zones":
        if isinstance(now, str):
            return "the node groups that stand in the zone, and a file system of its; first add another beside it"
        return "the zone's subnets, and what stands in them" if now is not None else "its subnets go"
    if above == "proofTeams":
        return "the proof, which runs again for the other team" if now is not None else "nothing: it is gone"
    if above in _BY_NAME:
        return f"{_NODES}; first add another beside it" if now is not None else "nothing: it is not in the stack file"
    if key == "lustre.capacityGib" and now is not None:
        return "nothing: it grows in place" if now > was else "the file system, which cannot shrink"
    if now is None:
        return "it goes, and what it holds"
    return _REPLACES.get(key, f"what depends on {last}")
