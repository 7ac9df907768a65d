"""Ids of Google Cloud's types that no card tells: as the provider imports a resource, so it calls it.

`google_ids.json` is written from the installed SDK, whose page of each type says how one is imported:

    python -m trainyard.rehearsal.engine.google_ids
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Protocol

from trainyard.recorded.model import bare

NUMBER: Final = "555512345678"
"""The number of the project in what is synthesised."""
_FILE: Final = Path(__file__).with_name("google_ids.json")
_TYPE: Final = re.compile(r"__self__\)\.__init__\(\s*'(gcp:[^']+)'")
_FORM: Final = re.compile(r"^\s*\* `(projects/[^`]+)`", re.MULTILINE)
_FIELD: Final = re.compile(r"\{\{([\w.-]+)\}\}")
_ACCESS: Final = re.compile(r"(IAM|Iam)(Member|Binding|Policy|AuditConfig)$")
_PLACES: Final = ("region", "location", "zone")


class Named(Protocol):
    """What an id is made of."""

    @property
    def type(self) -> str:
        """The type of the resource."""

    @property
    def inputs(self) -> Mapping[str, Any]:
        """What was asked for."""

    @property
    def cloud_name(self) -> str:
        """The name in the cloud."""


@cache
def _forms() -> Mapping[str, str]:
    found: Mapping[str, str] = json.loads(_FILE.read_text(encoding="utf-8"))
    return found


def identity(subject: Named, region: str, project: str) -> str | None:
    """The id of a resource in a region and a project, where it names none itself; None for a type whose id nobody has
    written down.
    """
    form = _forms().get(subject.type)
    return None if form is None else _FIELD.sub(lambda match: _value(match[1], subject, region, project), form)


def full_name(type_: str, identity: str) -> str | None:
    """The name of a resource whose id is made of something else than a name that was given: the id, in IAM with the
    project's number. None for others."""
    if "{{name}}" in _forms().get(type_, "{{name}}"):
        return None
    return re.sub(r"^projects/[^/]+", f"projects/{NUMBER}", identity) if type_.startswith("gcp:iam/") else identity


def _value(field: str, subject: Named, region: str, project: str) -> str:
    first, *others = re.split("[_-]", field.partition(".")[0])  # `instance.name` is what `instance` ends in
    key = first + "".join(word.capitalize() for word in others)
    value = bare(subject.inputs.get(key))
    text = value if isinstance(value, str) and value else ""
    if key in ("project", "projectId"):
        return text.removeprefix("projects/") or project
    if text:
        return text.rpartition("/")[2]
    if key in _PLACES:
        return region
    return subject.cloud_name


def written(sources: Path) -> dict[str, str]:
    """By type, the first way in which the SDK's page imports one: the id that the provider gives it."""
    found = {}
    for path in sorted(sources.rglob("*.py")):
        type_, form = _read(path.read_text(encoding="utf-8"))
        if form and not _ACCESS.search(type_):
            found[type_] = form
    return found


def _read(text: str) -> tuple[str, str]:
    named = _TYPE.search(text)
    at = text.find("## Import")
    form = _FORM.search(text, at, at + 1500) if named and at >= 0 else None
    return (named[1] if named else "", form[1] if form else "")


if __name__ == "__main__":
    where = find_spec("pulumi_gcp")
    assert where is not None and where.origin is not None
    _FILE.write_text(json.dumps(written(Path(where.origin).parent), indent=0, sort_keys=True) + "\n", encoding="utf-8")
