"""What judges practise on (`trainyard/review/practice`), of the rehearsals of the example stacks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.types import ADMISSION_POLICY
from trainyard.rehearsal.rehearse import Rehearsal
from trainyard.review.practice import FOLDER

OF: Final = {"aws": "demo", "gcp": "demo-gcp"}
"""By cloud, the stack that it is of. What others have besides would take memory that few stacks need."""


_EACH: Final = (ADMISSION_POLICY,)
"""Types of which each is another expression to compile."""


def practice_texts(rehearsed: Mapping[str, Rehearsal]) -> dict[Path, str]:
    """The files by their paths; one resource a line, without what does not say anything of any of them."""
    return {FOLDER / f"{cloud}.json": _text(rehearsed[stack]) for cloud, stack in OF.items()}


def _text(run: Rehearsal) -> str:
    wanted = {resource.urn for resource in chosen(run.resources)}
    told = run.as_json()
    head = {
        "settings": told["settings"],
        "context": {
            "kubernetes_version": run.plan["clusters"][0]["kubernetes_version"],
            "region": run.plan["ground"]["region"],
            "ours": True,
        },
    }
    kept = [_kept(each, wanted) for each in told["resources"] if each["urn"] in wanted]
    lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in kept)
    return f'{json.dumps(head, ensure_ascii=False)[:-1]}, "resources": [\n{lines}\n]}}\n'


def chosen(resources: Iterable[RecordedResource]) -> list[RecordedResource]:
    """The first of each type, and each of the types that are all worth it."""
    first: dict[tuple[str, str], RecordedResource] = {}
    for resource in resources:
        first.setdefault((resource.type, resource.name if resource.type in _EACH else ""), resource)
    return list(first.values())


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
