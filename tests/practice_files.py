"""What judges practise on (`trainyard/review/practice`), of the rehearsals of the example stacks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from trainyard.rehearsal.rehearse import Rehearsal
from trainyard.review.practice import FOLDER, chosen

FIRST: Final = {"aws": "demo", "gcp": "demo-gcp"}
"""The stack that most of it is of, with its settings, by cloud; the others give what types it has not."""


def practice_texts(rehearsed: Mapping[str, Rehearsal]) -> dict[Path, str]:
    """The files by their paths; one resource a line, without what does not say anything of any of them."""
    return {FOLDER / f"{cloud}.json": _text(cloud, rehearsed) for cloud in FIRST}


def of_cloud(cloud: str, rehearsed: Mapping[str, Rehearsal]) -> list[Rehearsal]:
    """The rehearsals of a cloud's examples, that of the first stack first."""
    first = rehearsed[FIRST[cloud]]
    return [first, *(run for run in rehearsed.values() if run.settings["cloud"] == cloud and run is not first)]


def _text(cloud: str, rehearsed: Mapping[str, Rehearsal]) -> str:
    runs = of_cloud(cloud, rehearsed)
    wanted = {resource.urn for resource in chosen(resource for run in runs for resource in run.resources)}
    told = {each["urn"]: each for run in runs for each in run.as_json()["resources"] if each["urn"] in wanted}
    head = {
        "settings": runs[0].as_json()["settings"],
        "context": {
            "kubernetes_version": runs[0].plan["clusters"][0]["kubernetes_version"],
            "region": runs[0].plan["ground"]["region"],
            "ours": True,
        },
    }
    lines = ",\n".join(json.dumps(_kept(each, wanted), ensure_ascii=False) for each in told.values())
    return f'{json.dumps(head, ensure_ascii=False)[:-1]}, "resources": [\n{lines}\n]}}\n'


def _kept(each: Mapping[str, Any], wanted: set[str]) -> dict[str, Any]:
    there = {key: value for key, value in each.items() if value not in ([], {}, False, "")}
    waits = {
        "dependencies": [urn for urn in each["dependencies"] if urn in wanted],
        "propertyDependencies": {
            key: found
            for key, urns in each["propertyDependencies"].items()
            if (found := [urn for urn in urns if urn in wanted])
        },
    }
    return {**there, **waits}
