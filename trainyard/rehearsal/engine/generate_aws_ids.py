"""Writes `aws_ids.json`: how ids look of AWS types that nothing else here describes, as the SDK's pages show them.

    python -m trainyard.rehearsal.engine.generate_aws_ids

Each page of a resource says with what it is imported, which is its id. Told are those that an id of a made-up form
would be taken for a mistake of: ARNs, ids with a prefix of their own, UUIDs. Of an ARN the account, the region and the
last part are the resource's own; what stands before that is of the type.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from trainyard.rehearsal.engine.synthesised import is_written_down

FILE: Final = Path(__file__).with_name("aws_ids.json")
_IMPORT: Final = re.compile(r"\$ pulumi import (aws:[\w/]+:\w+) \S+ [\"']?([^\s\"']+)")
_ARN: Final = re.compile(r"arn:aws[\w-]*:([\w-]+):([a-z0-9-]*):(\d*):([^,;|#]+)")
_PREFIXED: Final = re.compile(r"([a-z]+(?:-[a-z]+)*-)([0-9a-f]{8,17})")
_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_NAME: Final = re.compile(r"(?!x+$)[A-Za-z]+(?:[-_][A-Za-z]+)*")
"""The last part of an ARN where that is the name: programs write such ARNs themselves, in policies."""
_OF_ANOTHER: Final = re.compile(
    r"(Policy|Policies|Attachment|Association|Exclusive|Permission|Configuration|Encryption)$"
)
"""How types end whose id is often that of what they belong to."""


def form(id_: str) -> str | None:
    """The form of an id, in the words of a card; None for one that may be any text."""
    arn = _ARN.fullmatch(id_)
    if arn is not None:
        service, region, account, resource = arn.groups()
        front, own = re.fullmatch(r"((?:[^:/]+[:/])*)(.*)", resource).groups()  # type: ignore[union-attr]
        where = f"{region and '{region}'}:{account and '{account}'}"
        name = "{cloud_name}" if _NAME.fullmatch(own) else "{cloud_name}-{hex:.8}"
        last = "{uuid}" if _UUID.fullmatch(own) else _digits(own) or name
        return f"arn:{{partition}}:{service}:{where}:{front}{last}"
    return _digits(id_) or ("{uuid}" if _UUID.fullmatch(id_) else None)


def _digits(text: str) -> str | None:
    prefixed = _PREFIXED.fullmatch(text)
    if prefixed is None or prefixed[1].endswith("id-"):  # `domain-id-12345678`: the page says no form
        return None
    return f"{prefixed[1]}{{hex:.{len(prefixed[2])}}}"


def forms(folder: Path) -> Iterator[tuple[str, str]]:
    """Each type with a page in a folder of the SDK that nothing describes, with the form of its id."""
    for page in sorted(folder.rglob("*.py")):
        found = _IMPORT.search(page.read_text(encoding="utf-8"))
        if found is None or is_written_down(found[1]) or _OF_ANOTHER.search(found[1]):
            continue
        written = form(found[2])
        if written is not None:
            yield found[1], written


if __name__ == "__main__":
    spec = find_spec("pulumi_aws")
    assert spec is not None and spec.origin is not None
    FILE.write_text(json.dumps(dict(sorted(forms(Path(spec.origin).parent))), indent=0) + "\n", encoding="utf-8")
