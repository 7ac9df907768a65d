"""Objects against schemas: unknown fields refused at any depth, types, required fields, enums, duplicates.

Kubernetes' own kinds come from the JSON schemas that kubernetes-validate ships for every minor version, custom
resources from `data/custom_resources.json`. jsonschema is not used: it takes 0.1 s to import and checks 120 objects in
seconds, because it resolves each reference anew; this walker knows the few keywords that occur and takes milliseconds.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.model import UNKNOWN
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.kubernetes.enums import ENUMS
from trainyard.rehearsal.refusals.kubernetes.gke_kinds import KINDS

QUANTITY: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(([KMGTPE]i)|[numkMGTPE]|[eE][+-]?\d+)?")
QUANTITY_TEXT = "a number with one of n u m k M G T P E Ki Mi Gi Ti Pi Ei or an exponent, like 500m or 16Gi"
_PREFIX = "io.k8s."
_SERVED_UNREAD: Final = ("kueue.x-k8s.io/v1beta1",)
"""Versions that are served, with a warning, and of which no schema is here (seen on Kueue 0.19.2, 2026-11-22)."""
_LIMITS: Final[dict[type, tuple[str, str, str]]] = {
    str: ("minLength", "maxLength", "characters"),
    list: ("minItems", "maxItems", "entries"),
    dict: ("minProperties", "maxProperties", "entries"),
}
_TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "boolean": (bool,), "array": (list,), "object": (dict,)}
"""What a type takes; another one, such as `int`, is told of where it is defined, and takes anything here."""


def _minor(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


@cache
def _folders() -> dict[tuple[int, ...], Path]:
    found = importlib.util.find_spec("kubernetes_validate")
    if found is None or found.origin is None:
        raise LookupError("kubernetes-validate is not installed")
    return {
        _minor(path.name[1:].split("-")[0]): path
        for path in (Path(found.origin).parent / "kubernetes-json-schema").glob("v*-local-strict")
    }


@cache
def schema_folder(version: str) -> Path:
    """The schemas of the newest shipped version that is not newer than the planned one."""
    usable = [key for key in _folders() if key <= _minor(version)]
    if not usable:
        raise LookupError(f"kubernetes-validate ships no schemas for Kubernetes {version}")
    return _folders()[max(usable)]


def newer_than(version: str) -> list[str]:
    """The shipped versions after one, the next first."""
    return [".".join(map(str, key)) for key in sorted(_folders()) if key > _minor(version)]


@cache
def definitions(version: str) -> dict[str, Any]:
    """All definitions of a Kubernetes version by name (`io.k8s.api.core.v1.Pod`)."""
    loaded: dict[str, Any] = json.loads((schema_folder(version) / "_definitions.json").read_bytes())["$defs"]
    return loaded


@cache
def _kinds(version: str) -> dict[tuple[str, str], str]:
    found = {}
    for name, definition in definitions(version).items():
        for kind in definition.get("x-kubernetes-group-version-kind", ()):
            group = f"{kind['group']}/" if kind["group"] else ""
            found[f"{group}{kind['version']}", kind["kind"]] = name
    return found


@cache
def custom_resources() -> dict[str, Any]:
    """The table of custom resources: `apiVersion kind` -> {scope, schema, source}; GKE's own kinds among them."""
    text = files("trainyard.rehearsal.refusals.data").joinpath("custom_resources.json").read_text(encoding="utf-8")
    table: dict[str, Any] = json.loads(text)
    table["kinds"] |= KINDS
    return table


_FILLED_IN: Final = re.compile(r"metadata\.name|spec\.failurePolicy\.rules\[\d+\]\.name|roleRef\.apiGroup")
"""What is there before the API server looks: Pulumi names an object, a kind's own webhook fills in the second (JobSet,
"API reference"), the server the third (Kubernetes' defaults of RBAC, whose schema asks for it until 1.35)."""


def as_sent(schema: Any) -> Any:
    """A definition's schema under the names that Pulumi sends: Python's arguments are `x_kubernetes_int_or_string`."""
    if isinstance(schema, Mapping):
        return {_as_sent(key): as_sent(item) for key, item in schema.items()}
    return [as_sent(item) for item in schema] if isinstance(schema, list) else schema


def _as_sent(key: str) -> str:
    return key.replace("_", "-") if key.startswith("x_kubernetes_") else key


def _group(api_version: str) -> str:
    return api_version.partition("/")[0] if "/" in api_version else ""


def _matches(pattern: str, text: str) -> bool:
    """Whether a text has a match; True where the pattern is of RE2's own kind, which Python does not read."""
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return True


def _is_encoded(text: str) -> bool:
    """Whether Go's JSON takes a text as bytes: standard base64 with padding, ends of lines left out."""
    plain = text.replace("\n", "").replace("\r", "")
    return len(plain) % 4 == 0 and re.fullmatch(r"[A-Za-z0-9+/]*={0,2}", plain) is not None


class Checker:
    """Checks objects against the schemas of one Kubernetes version."""

    def __init__(self, version: str) -> None:
        self.version = version
        self._definitions = definitions(version)

    def check(self, view: View, document: Mapping[str, Any]) -> bool:
        """Notes what the API server would refuse; False where no schema for the kind is known."""
        api, kind = document.get("apiVersion"), document.get("kind")
        if not isinstance(api, str) or not isinstance(kind, str):
            return False
        name = _kinds(self.version).get((api, kind))
        if name is not None:
            self._check(view, document, "", {"$ref": name}, name)
            return True
        custom = custom_resources()["kinds"].get(f"{api} {kind}")
        if custom is not None:
            self.check_own(view, document, custom["schema"])
            return True
        known = [*_kinds(self.version), *(tuple(key.split()) for key in custom_resources()["kinds"])]
        served = [version for version, other in known if other == kind and _group(version) == _group(api)]
        if served and api not in _SERVED_UNREAD:
            view.error(
                "k8s-api-version", "apiVersion", f"{kind} is not served as {api}", allowed=f"one of {', '.join(served)}"
            )
            return True
        return False

    def check_own(self, view: View, document: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
        """Notes what the API server would refuse of a custom resource, by the schema of its definition."""
        if schema.get("x-kubernetes-preserve-unknown-fields"):
            return
        text = {"type": "string"}
        properties = {
            **schema.get("properties", {}),
            "metadata": {"$ref": "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"},
            "apiVersion": text,
            "kind": text,
        }
        self._check(view, document, "", {**schema, "properties": properties}, str(document.get("kind")))

    def check_part(self, view: View, value: Any, path: str, names: tuple[str, ...], *, listed: bool) -> None:
        """Notes what is wrong with a part of an object, of some definitions (`core.v1.Toleration`), or a list."""
        found = [self._definitions[f"{_PREFIX}api.{name}"] for name in names]
        merged = {
            "type": "object",
            "properties": {key: item for one in found for key, item in one["properties"].items()},
            "required": [key for key in found[0].get("required", ()) if len(found) == 1],
        }
        self._check(
            view, value, path, {"type": "array", "items": merged} if listed else merged, _PREFIX + "api." + names[0]
        )

    def check_texts(self, view: View, value: Any, path: str) -> None:
        """Notes what is no text of a map of texts: labels, annotations, a node selector."""
        texts = {"type": "object", "additionalProperties": {"type": "string"}}
        self._check(view, value, path, texts, "")

    def _resolve(self, schema: Mapping[str, Any], name: str) -> tuple[Mapping[str, Any], str]:
        while "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            without = schema.get("without")
            schema = self._definitions[name]
            if without:
                kept = {key: value for key, value in schema["properties"].items() if key not in without}
                schema = {**schema, "properties": kept}
        return schema, name

    def _check(self, view: View, value: Any, path: str, schema: Mapping[str, Any], name: str) -> None:
        if value is None or value is UNKNOWN:
            return
        schema, name = self._resolve(schema, name)
        if name.endswith("api.resource.Quantity") or schema.get("quantity"):
            self._quantity(view, value, path)
            return
        if ("oneOf" in schema and "type" not in schema) or schema.get("x-kubernetes-int-or-string"):
            if isinstance(value, (bool, list, dict)):
                view.error("k8s-type", path, f"got {show(value)}", allowed="must be a number or text")
            return
        if not self._is_type(view, value, path, schema):
            return
        if "enum" in schema and isinstance(value, str) and value not in schema["enum"]:
            view.error(
                "k8s-enum",
                path,
                f"got {show(value)}",
                allowed=f"one of {', '.join(map(str, schema['enum']))}",
                hint=nearest(value, [str(item) for item in schema["enum"]]),
            )
        if schema.get("format") == "byte" and isinstance(value, str) and not _is_encoded(value):
            view.error("k8s-base64", path, "is no base64", allowed="its bytes in base64, with padding")
        self._limits(view, value, path, schema)
        if isinstance(value, list):
            self._list(view, value, path, schema, name)
        elif isinstance(value, Mapping):
            self._object(view, value, path, schema, name)

    def _is_type(self, view: View, value: Any, path: str, schema: Mapping[str, Any]) -> bool:
        given = schema.get("type")
        names = [given] if isinstance(given, str) else [item for item in given or () if item != "null"]
        if not names:
            return True
        for kind in names:
            if kind in ("integer", "number"):
                whole = not isinstance(value, bool) and isinstance(value, (int, float))
                if whole and (kind == "number" or isinstance(value, int) or value.is_integer()):
                    return True
            elif isinstance(value, _TYPES.get(kind, (object,))):
                return True
        article = "an" if names[0][0] in "aeio" else "a"
        view.error(
            "k8s-type", path, f"got {show(value)}", allowed=f"must be {article} {names[0].replace('array', 'list')}"
        )
        return False

    def _limits(self, view: View, value: Any, path: str, schema: Mapping[str, Any]) -> None:
        if isinstance(value, (str, list, dict)):
            measured: float = len(value)
            least_key, most_key, unit = _LIMITS[type(value)]
        elif isinstance(value, bool):
            return
        else:
            measured, least_key, most_key, unit = value, "minimum", "maximum", ""
        least, most = schema.get(least_key), schema.get(most_key)
        if (least is not None and measured < least) or (most is not None and measured > most):
            bounds = [f"at least {least}"] if least is not None else []
            bounds += [f"at most {most}"] if most is not None else []
            got = f"has {measured} {unit}" if unit else f"got {show(value)}"
            view.error("k8s-limit", path, got, allowed=f"{' and '.join(bounds)} {unit}".strip())
        pattern = schema.get("pattern")
        if isinstance(value, str) and pattern is not None and not _matches(pattern, value):
            view.error("k8s-pattern", path, f"got {show(value)}", allowed=f"must match {pattern}")

    def _list(self, view: View, value: list[Any], path: str, schema: Mapping[str, Any], name: str) -> None:
        items = schema.get("items", {})
        keys = schema.get("x-kubernetes-list-map-keys")
        seen: list[tuple[Any, ...]] = []
        for index, item in enumerate(value):
            here = f"{path}[{index}]"
            if items:
                self._check(view, item, here, items, name)
            if keys and isinstance(item, Mapping):
                identity = tuple(item.get(key, "TCP" if key == "protocol" else None) for key in keys)
                if identity in seen and UNKNOWN not in identity and any(part is not None for part in identity):
                    view.error(
                        "k8s-duplicate",
                        here,
                        f"{', '.join(keys)} {', '.join(map(str, identity))} is given twice",
                        allowed=f"each {'/'.join(keys)} once",
                    )
                seen.append(identity)

    def _object(self, view: View, value: Mapping[str, Any], path: str, schema: Mapping[str, Any], name: str) -> None:
        properties: Mapping[str, Any] = schema.get("properties", {})
        extra = schema.get("additionalProperties")
        free = schema.get("x-kubernetes-preserve-unknown-fields") or (not properties and extra in (None, True))
        short = name.removeprefix(_PREFIX).removeprefix("api.").removeprefix("apimachinery.pkg.apis.")
        for given, item in value.items():
            here = f"{path}.{given}" if path else given
            key = given if given in properties else _as_sent(given)
            if key in properties:
                self._check(view, item, here, properties[key], name)
                self._enum(view, item, here, f"{short}.{key}")
            elif isinstance(extra, Mapping):
                self._check(view, item, here, extra, name)
            elif not free and not key.startswith("__"):
                view.error("k8s-unknown-field", here, "is no field of this object", hint=nearest(key, properties))
        for key in () if view.is_patch else schema.get("required", ()):  # which the object has already
            if value.get(key) is None and "default" not in properties.get(key, {}):
                here = f"{path}.{key}" if path else key
                if not _FILLED_IN.fullmatch(here):
                    view.error("k8s-required", here, "is missing", allowed="a required field")

    def _enum(self, view: View, value: Any, path: str, field: str) -> None:
        choices = ENUMS.get(field)
        if choices is None:
            return
        for index, item in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(item, str) and item not in choices:
                here = path if index is None else f"{path}[{index}]"
                view.error(
                    "k8s-enum",
                    here,
                    f"got {show(item)}",
                    allowed=f"one of {', '.join(choices)}",
                    hint=nearest(item, choices),
                )

    def _quantity(self, view: View, value: Any, path: str) -> None:
        if isinstance(value, str):
            if not QUANTITY.fullmatch(value):
                view.error("k8s-quantity", path, f"got {show(value)}", allowed=f"must be {QUANTITY_TEXT}")
        elif isinstance(value, (list, dict, bool)):
            view.error("k8s-quantity", path, f"got {show(value)}", allowed=f"must be {QUANTITY_TEXT}")
