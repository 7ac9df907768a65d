"""Writes `custom_job.json`: the members of a custom job of Vertex AI, with their kinds and values.

    python -m trainyard.rehearsal.works.managed.gcp.generate google_api_python_client-2.202.0-py3-none-any.whl

The wheel holds Google's discovery documents. What only Google writes (`readOnly`) is left out. Facts only: names, kinds
and values.
"""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

_DOCUMENT: Final = "googleapiclient/discovery_cache/documents/aiplatform.v1.json"
_COMMON: Final = "GoogleCloudAiplatformV1"
_FORMS: Final = {"google-duration": "duration", "int64": "int64"}


def main(wheel: Path) -> None:
    """Writes the table anew from the document in the wheel."""
    with zipfile.ZipFile(wheel) as packed:
        schemas = json.loads(packed.read(_DOCUMENT))["schemas"]
    found: dict[str, dict[str, Any]] = {}
    _walk("CustomJob", schemas, found)
    table = {"source": f"{wheel.name}, aiplatform.v1", "schemas": found}
    target = Path(__file__).with_name("custom_job.json")
    target.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _walk(name: str, schemas: Mapping[str, Any], found: dict[str, dict[str, Any]]) -> None:
    if name in found:
        return
    members = found[name] = {}
    for key, value in schemas[_COMMON + name].get("properties", {}).items():
        if not value.get("readOnly"):
            members[key] = _kind(value, schemas, found)


def _kind(value: Mapping[str, Any], schemas: Mapping[str, Any], found: dict[str, dict[str, Any]]) -> Any:
    """`string`, a list of values, {"of": schema}, {"list": kind} or {"map": kind}."""
    if "$ref" in value:
        name = value["$ref"].removeprefix(_COMMON)
        _walk(name, schemas, found)
        return {"of": name}
    if "enum" in value:
        return [each for each in value["enum"] if not each.endswith("_UNSPECIFIED")]
    if value["type"] == "array":
        return {"list": _kind(value["items"], schemas, found)}
    if value["type"] == "object":
        return {"map": _kind(value["additionalProperties"], schemas, found)}
    return _FORMS.get(value.get("format", ""), value["type"])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
