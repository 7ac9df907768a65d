"""Random settings files: plausible, as somebody may write them; wild, each value legal by itself; hostile."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

import yaml

from tests.fuzz.fields import POOLS, World, draw_model, world
from trainyard import catalog
from trainyard.plan.profiles import PROFILE_NAMES
from trainyard.settings.common import Settings
from trainyard.settings.read import MOVED

Style = Literal["plausible", "wild", "hostile"]
SHARES: dict[Style, int] = {"plausible": 50, "wild": 30, "hostile": 20}
"""How many in a hundred files are of each style."""

NAMESPACE = "trainyard"
SECRET = "hunter2-not-to-be-told"  # noqa: S105 (a marker)
"""Stands for a password under a key that is none, which must not reach a log."""

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One random settings file. `values` are the keys without their namespace; `text` is the whole file."""

    name: str
    style: Style
    values: Values
    text: str


def case(seed: str, style: Style | None = None) -> Case:
    """The file of a seed: always the same, whichever files were drawn before."""
    rng = Random(seed)
    drawn = rng.choices(tuple(SHARES), weights=tuple(SHARES.values()))[0]
    style = style or drawn
    place = world(rng)
    values = draw_model(Settings, rng, place)
    if style == "plausible":
        _settle(values, rng, place)
    if style == "hostile":
        for _ in range(rng.choice((1, 1, 2, 4))):
            rng.choice(ATTACKS)(values, rng)
    return Case(seed, style, values, file_text(values))


def file_text(values: Values) -> str:
    """A stack file of the project with these keys."""
    config = {f"{NAMESPACE}:{key}": value for key, value in values.items()}
    return yaml.dump({"config": config}, sort_keys=False, allow_unicode=True, Dumper=_Dumper)


class _Dumper(yaml.SafeDumper):
    """Writes anchors only for what the attack meant as one."""

    def ignore_aliases(self, data: Any) -> bool:
        return not isinstance(data, list) or len(data) < 9


# Plausible: what belongs together fits together


def _settle(values: Values, rng: Random, place: World) -> None:
    """Makes an author's file of unrelated values: the team is there, ranges are in order, money is enough."""
    values.pop("residency", None) if rng.random() < 0.8 else None
    if rng.random() < 0.8:
        values["alertEmails"] = ["ml-platform@acme.example"]
    _settle_people(values, rng)
    for name, pool in values.get("gpuPools", {}).items():
        _settle_pool(name, pool, rng, place)
    for block in (values.get("systemNodes", {}), values.get("mlflow", {}).get("database", {})):
        for low, high in (("minNodes", "maxNodes"), ("storageGib", "maxStorageGib")):
            if low in block and high in block:
                block[low], block[high] = sorted((block[low], block[high]))
                block[high] = max(block[high], block[low] * 2)
    network = values.get("network", {})
    network.pop("reservedCidrs", None)
    if len(network.get("zones", ())) < 2:
        network.pop("zones", None)
    if rng.random() < 0.7:
        values["monthlyBudgetUsd"] = rng.choice((40_000, 90_000, 400_000, 3_000_000, 50_000_000))


def _settle_people(values: Values, rng: Random) -> None:
    teams = list({team["name"]: team for team in values.get("teams", [])}.values())
    for team in teams:
        team["members"] = rng.randint(1, 15)
        team.pop("share", None)
    if teams and rng.random() < 0.4:
        cuts = sorted(rng.sample(range(1, 100), len(teams) - 1))
        for team, low, high in zip(teams, (0, *cuts), (*cuts, 100), strict=True):
            team["share"] = high - low
    if "teams" in values:
        values["teams"] = teams
    people = sum(team["members"] for team in teams)
    values["teamSize"] = max(people, rng.choice((5, 8, 12, 19, 20, 35, 60, 200)))
    if rng.random() < 0.8:
        values.pop("profile", None)
    elif values.get("profile") == PROFILE_NAMES[0]:
        values["profile"] = PROFILE_NAMES[1]
    smoke = values.get("smoke", {})
    if "team" in smoke:
        smoke["team"] = rng.choice([team["name"] for team in teams] or ["everyone"])


def _settle_pool(name: str, pool: Values, rng: Random, place: World) -> None:
    if name not in POOLS:
        pool.pop("enabled", None)
        if "gpu" not in pool:
            pool["instanceType"] = rng.choice(place.sold)
        pool.setdefault("onDemand", {})["maxNodes"] = rng.randint(1, 4)
    if "instanceType" in pool:
        pool.pop("gpu", None)
    for capacity in ("spot", "onDemand"):
        nodes = pool.get(capacity, {})
        nodes.pop("instanceTypes", None)
        for key in ("minNodes", "maxNodes"):
            if key in nodes:
                nodes[key] = min(nodes[key], rng.choice((1, 4, 16)))
        if "minNodes" in nodes:
            nodes["maxNodes"] = max(nodes["minNodes"], nodes.get("maxNodes", 2))
    item = catalog.instance(pool["instanceType"]) if "instanceType" in pool else None
    if item is None or not item.efa_interfaces:
        pool.pop("fabric", None)
    if not pool.get("fabric"):
        pool.pop("zone", None)
    reserved = pool.get("reserved")
    if reserved is not None:
        reserved["nodes"] = rng.randint(1, 8)
        reserved.pop("maxNodes", None)
        pool.pop("zone", None)
        if item is not None:
            zones = [zone for zone in catalog.offered_zones(item.type, place.region) if zone in place.zones]
            reserved["availabilityZone"] = rng.choice(zones or place.zones)
            if not item.capacity_block:
                reserved.pop("kind", None)


# Hostile: what comes of typing errors, of templates that were not filled in, and of malice

ODD: tuple[Any, ...] = (
    None, "", " ", "null", True, 0, -1, 1.5, 10**30, -(10**30), float("inf"), float("nan"), "NaN", "1e9", "0x10", "１２",
    "a" * 5000, "ünïcödé", "\u202e\u0000\u001b[31m", "日本", "{", "[", "{}", "[]", '{"a": 1}', "[1, 2]", "<script>alert(1)</script>",
    "${config:region}", "{{ region }}", "$(reboot)", "../../etc/passwd", "'; DROP TABLE runs; --", [], {}, [[]], {"a": {}},
    [None], {"secure": "AAABAQ=="}, datetime.date(2026, 12, 1), datetime.datetime(2026, 12, 1, 3, 4, 5), b"\x00\xff",  # noqa: DTZ001
    "0.0.0.0/0", "::/0", "10.0.0.0/0", "127.0.0.0/16", "us-east-1", "p4d.24xlarge", "yes", "on", "12:30:45", "1_000",
)  # fmt: skip


def _places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of everything that a file holds."""
    inside = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [found for key, value in inside for found in ((*path, key), *_places(value, (*path, key)))]


def _holder(values: Values, path: tuple[Any, ...]) -> Any:
    node: Any = values
    for step in path[:-1]:
        node = node[step]
    return node


def _odd_value(values: Values, rng: Random) -> None:
    path = rng.choice(_places(values))
    _holder(values, path)[path[-1]] = rng.choice(ODD)


def _odd_key(values: Values, rng: Random) -> None:
    mappings = [
        values,
        *(node for path in _places(values) if isinstance(node := _holder(values, path)[path[-1]], dict)),
    ]
    key: Any = rng.choice(
        (
            "password",
            "teamsize",
            "TeamSize",
            "on",
            True,
            1,
            None,
            2.5,
            "a.b",
            "",
            "x" * 3000,
            "gpu-pools",
            "a\nb",
            "\x1b[31mred",
        )
    )
    rng.choice(mappings)[key] = rng.choice((SECRET, {"token": SECRET}, [SECRET]))


def _misspelt(values: Values, rng: Random) -> None:
    path = rng.choice(_places(values))
    holder, key = _holder(values, path), path[-1]
    if isinstance(holder, dict) and isinstance(key, str) and len(key) > 2:
        cut = rng.randrange(len(key))
        holder[key[:cut] + rng.choice(("", "x", key[cut] * 2)) + key[cut + 1 :]] = holder.pop(key)


def _missing(values: Values, rng: Random) -> None:
    path = rng.choice(_places(values))
    holder = _holder(values, path)
    del holder[path[-1]]


def _as_text(values: Values, rng: Random) -> None:
    path = rng.choice(_places(values))
    holder = _holder(values, path)
    holder[path[-1]] = json.dumps(holder[path[-1]], default=str)


def _many(values: Values, rng: Random) -> None:
    lists = [node for path in _places(values) if isinstance(node := _holder(values, path)[path[-1]], list) and node]
    if lists:
        found = rng.choice(lists)
        found[:] = found * rng.choice((2, 50))


def _nested(values: Values, rng: Random) -> None:
    deep: Any = "x"
    for _ in range(rng.choice((5, 40))):
        deep = [deep] if rng.random() < 0.5 else {"a": deep}
    path = rng.choice(_places(values))
    _holder(values, path)[path[-1]] = deep


def _old_place(values: Values, rng: Random) -> None:
    """A key where older files have it, with whatever value."""
    node, (*above, last) = values, rng.choice(tuple(MOVED)).split(".")
    for step in above:
        node = node.setdefault(step, {}) if isinstance(node, dict) else {}
    if isinstance(node, dict):
        node[last] = rng.choice(ODD)


def _twice(values: Values, rng: Random) -> None:
    """An alias: the same mapping or list at a second place."""
    paths = _places(values)
    found, other = rng.choice(paths), rng.choice(paths)
    if other[: len(found)] != found and found[: len(other)] != other:
        _holder(values, other)[other[-1]] = _holder(values, found)[found[-1]]


ATTACKS: tuple[Callable[[Values, Random], None], ...] = (
    _odd_value, _odd_value, _odd_value, _odd_key, _misspelt, _missing, _as_text, _many, _nested, _old_place, _twice,
)  # fmt: skip
