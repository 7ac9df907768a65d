"""AWS's own managed policies: those that a stack of ours attaches or that a mistake would, with their statements."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from typing import Any, Final

from trainyard.rehearsal.works.rights.aws.documents import Document, read_document

_ARN: Final = re.compile(r"arn:[^:]+:iam::aws:policy/(?P<name>.+)")


@cache
def _text() -> str:
    return files("trainyard.rehearsal.works.rights.aws").joinpath("managed_policies.json").read_text(encoding="utf-8")


def table() -> dict[str, Any]:
    """Version, date and document by path and name; the file names its source."""
    found: dict[str, Any] = json.loads(_text())["policies"]
    return found


@cache
def _entry(name: str) -> dict[str, Any] | None:
    """One of the table, which has a line for each: a stack names a few of a hundred."""
    _, _, behind = _text().partition(f"\n  {json.dumps(name)}: ")
    entry: dict[str, Any] | None = json.loads(behind.partition("\n")[0].removesuffix(",")) if behind else None
    return entry


def managed_by_aws(arn: str) -> bool:
    """Whether an ARN is of a policy that AWS keeps."""
    return _ARN.fullmatch(arn) is not None


def managed_policy(arn: str, urn: str = "") -> Document | None:
    """The document of a policy that AWS keeps; None where the table lacks it."""
    found = _ARN.fullmatch(arn)
    entry = _entry(found["name"]) if found else None
    return (
        read_document(entry, "document", what=f"the managed policy {arn.rsplit('/', 1)[-1]}", urn=urn)
        if entry
        else None
    )
