"""Writes docs/explanation/twins.md: which part of `demo` is what in `demo-gcp`, and which has no counterpart, and why.

`make golden` writes it from the two rehearsals. Whatever has neither a counterpart nor a reason in `twins.yaml` is a
mistake, and so is a row of it that nothing recorded needs any more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from trainyard.recorded.model import RecordedResource

FILE = Path(__file__).parent / "twins.yaml"
HEAD = """\
# The demo on both clouds

Written by `make golden` from the rehearsals of `demo` and `demo-gcp`: the same team, described in the same words,
once on AWS and once on Google Cloud. What runs on the cluster is made by the same components under the same names; what
stands below it is each cloud's own.
"""


class UntoldError(AssertionError):
    """The table does not fit what is recorded."""


def twins_page(aws: Iterable[RecordedResource], google: Iterable[RecordedResource]) -> str:
    """The page. Raises UntoldError for each part without a row, and for each row without a part."""
    told: Mapping[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    ours, theirs = _rooms(aws), _rooms(google)
    problems: list[str] = []
    below = list(_below(told, ours, theirs, problems))
    on_cluster = list(_on_cluster(told, ours, theirs, problems))
    only = list(_only_google(told, theirs, problems))
    if problems:
        raise UntoldError("\n".join(problems))
    parts = [
        HEAD,
        "## Below the cluster",
        "",
        "| room | on AWS | on Google Cloud, or why not |",
        "|---|---|---|",
        *below,
        "",
        "## On the cluster",
        "",
        "| room | objects of `demo` | under the same name in `demo-gcp` | what is missing, and why |",
        "|---|---|---|---|",
        *on_cluster,
        "",
        "## On Google Cloud alone",
        "",
        "| resource type | why |",
        "|---|---|",
        *only,
    ]
    return "\n".join(parts) + "\n"


def _rooms(resources: Iterable[RecordedResource]) -> dict[str, list[RecordedResource]]:
    """What is made, by the outermost component that makes it."""
    found: dict[str, list[RecordedResource]] = {}
    for item in resources:
        if not item.is_made or item.type.startswith("trainyard:"):
            continue
        parents = [part for part in item.urn.split("::")[2].split("$") if part.startswith("trainyard:")]
        found.setdefault(parents[0].rpartition(":")[2] if parents else "", []).append(item)
    return found


def _of_clouds(items: Iterable[RecordedResource]) -> Counter[str]:
    return Counter(item.type for item in items if item.package in ("aws", "gcp"))


def _objects(rooms: Mapping[str, list[RecordedResource]], room: str) -> set[tuple[str, str]]:
    return {(item.type, item.name) for item in rooms.get(room, ()) if item.package == "kubernetes"}


def _below(
    told: Mapping[str, Any],
    ours: Mapping[str, list[RecordedResource]],
    theirs: Mapping[str, list[RecordedResource]],
    problems: list[str],
) -> Iterator[str]:
    """A row a room and what becomes of it on Google Cloud, of resources of the clouds."""
    there = _of_clouds(item for items in theirs.values() for item in items)
    for room in sorted({*ours, *told["rooms"]}):
        types, rows = _of_clouds(ours.get(room, ())), told["rooms"].get(room, {})
        if rows and room not in ours:
            problems.append(f"rooms.{room}: demo has no such room")
        if "all" in rows:
            if types:
                yield f"| {room} | {_counted(types)} | {rows['all']} |"
            continue
        problems += [f"rooms.{room}: nothing is said of {type_}" for type_ in types if type_ not in rows]
        problems += [f"rooms.{room}: demo has no {type_} there" for type_ in rows if type_ not in types]
        for type_, twin in rows.items():
            if isinstance(twin, list):
                problems += [f"rooms.{room}.{type_}: demo-gcp has no {name}" for name in twin if name not in there]
            words = twin if isinstance(twin, str) else ", ".join(f"`{name}`" for name in twin)
            yield f"| {room} | {_counted({type_: types.get(type_, 0)})} | {words} |"


def _on_cluster(
    told: Mapping[str, Any],
    ours: Mapping[str, list[RecordedResource]],
    theirs: Mapping[str, list[RecordedResource]],
    problems: list[str],
) -> Iterator[str]:
    """A row a room, of objects of Kubernetes: as many under the same name, and why others are not there."""
    used: set[str] = set()
    for room in sorted(ours):
        wanted, there = _objects(ours, room), _objects(theirs, room)
        if not wanted:
            continue
        whole = told["rooms"].get(room, {}).get("all")
        why: dict[str, int] = {}
        for _, name in sorted(wanted - there):
            prefix = next((start for start in told["objects"] if name.startswith(start)), None)
            reason = whole if whole is not None else told["objects"].get(prefix)
            if reason is None:
                problems.append(f"objects: nothing is said of {name}, of {room or 'no room'}")
                continue
            if whole is None and prefix is not None:
                used.add(prefix)
            why[reason] = why.get(reason, 0) + 1
        missing = "; ".join(f"{count}: {reason}" for reason, count in why.items())
        yield f"| {room or 'of no component'} | {len(wanted)} | {len(wanted & there)} | {missing} |"
    problems += [
        f"objects.{start}: nothing of demo is missing that begins so" for start in told["objects"] if start not in used
    ]
    more = sorted(name for room in theirs for _, name in _objects(theirs, room) - _objects(ours, room))
    starts = told["only_google_objects"]
    problems += [
        f"only_google_objects: nothing is said of {name}" for name in more if not name.startswith(tuple(starts))
    ]
    for start, reason in starts.items():
        count = sum(name.startswith(start) for name in more)
        if not count:
            problems.append(f"only_google_objects.{start}: demo-gcp has none")
        yield f"| `{start}`, on Google Cloud alone | 0 | {count} | {reason} |"


def _only_google(
    told: Mapping[str, Any], theirs: Mapping[str, list[RecordedResource]], problems: list[str]
) -> Iterator[str]:
    """A row a resource type of Google Cloud that is nothing's counterpart."""
    twins = {
        name for rows in told["rooms"].values() for twin in rows.values() if isinstance(twin, list) for name in twin
    }
    types = _of_clouds(item for items in theirs.values() for item in items)
    for type_ in sorted(types):
        if type_ not in twins and type_ not in told["only_google"]:
            problems.append(f"only_google: nothing is said of {type_}")
    for type_, why in told["only_google"].items():
        if type_ not in types or type_ in twins:
            problems.append(f"only_google.{type_}: demo-gcp has none, or it is a counterpart")
        yield f"| {_counted({type_: types.get(type_, 0)})} | {why} |"


def _counted(types: Mapping[str, int]) -> str:
    return ", ".join(f"`{name}`" + (f" × {count}" if count > 1 else "") for name, count in sorted(types.items()))
