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
def table() -> dict[str, Any]:
    """Version, date and document by path and name; the file names its source."""
    text = files("trainyard.rehearsal.works.rights.aws").joinpath("managed_policies.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)["policies"]
    return found


def managed_by_aws(arn: str) -> bool:
    """Whether an ARN is of a policy that AWS keeps."""
    return _ARN.fullmatch(arn) is not None


def managed_policy(arn: str, urn: str = "") -> Document | None:
    """The document of a policy that AWS keeps; None where the table lacks it."""
    found = _ARN.fullmatch(arn)
    entry = table().get(found["name"]) if found else None
    return (
        read_document(entry, "document", what=f"the managed policy {arn.rsplit('/', 1)[-1]}", urn=urn)
        if entry
        else None
    )
