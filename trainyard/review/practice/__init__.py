"""What whoever judges practises on while a stack is recorded: one resource of each type that a stack of ours has.

What comes of it is thrown away. What stays are the tables, models, patterns and compiled expressions that the rules
and policies ask for when they first see such a resource, without a list of them anywhere. So nothing of it has to be
true of any stack; a type that is missing costs a little time. `python -m tests.golden_files` writes the files anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, Final

from trainyard.recorded.model import RecordedResource, leaves
from trainyard.recorded.types import ADMISSION_POLICY
from trainyard.rehearsal.context import Case, ValueContext
from trainyard.rehearsal.engine.recorder import Recording
from trainyard.rehearsal.rehearse import Rehearsal

FOLDER: Final = Path(__file__).parent


def cloud_of(values: Mapping[str, str]) -> str:
    """The cloud that a stack's configuration names, by which a file of practice is called; empty where it does not."""
    kept = sorted(file.stem for file in FOLDER.glob("*.json"))
    named = (value for key, value in values.items() if key.endswith(":cloud") and value in kept)
    by_provider = (cloud for cloud in kept for key in values if key.startswith(f"{cloud}:"))
    return next(chain(named, by_provider), "")


def practise(cloud: str, by_policies: Callable[[Rehearsal], object], wanted: Callable[[], bool]) -> None:
    """Judges what is kept of a cloud, and stops between two parts where there is something to judge in earnest."""
    from trainyard.rehearsal.change.earlier import from_json
    from trainyard.rehearsal.refusals.check import check_values
    from trainyard.rehearsal.works.check import check_works
    from trainyard.rehearsal.works.rights.kubernetes.cel import make_ready

    document = json.loads((FOLDER / f"{cloud}.json").read_text(encoding="utf-8"))
    resources = from_json(document, cloud).resources
    run, case = _run(resources, document["settings"]), Case(resources, ValueContext(**document["context"]))
    parts: Sequence[Callable[[], object]] = (
        lambda: check_values(case.resources, case.context),
        lambda: by_policies(run),
        lambda: make_ready(text for one in resources if one.type == ADMISSION_POLICY for text in _expressions(one)),
        lambda: check_works(case.resources, case.context, plays=lambda _: not wanted()),
    )
    for part in parts:
        if wanted():
            return
        with suppress(Exception):  # whatever it is, it will be found in what is judged in earnest
            part()


def _expressions(policy: RecordedResource) -> Iterator[str]:
    """Those of an admission policy, which are compiled for nobody else while only one pod of each kind is judged."""
    return (text for path, text, _ in leaves(policy.inputs) if path.endswith(".expression") and isinstance(text, str))


def _run(resources: Sequence[RecordedResource], settings: Mapping[str, Any]) -> Rehearsal:
    known = Recording(False, list(resources))
    return Rehearsal(
        "practice", settings, {}, tuple(resources), {}, (), (), {}, Recording(True, list(resources)), known
    )
