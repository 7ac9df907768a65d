"""The JSON schema of a stack file, made from the settings: what an editor completes, describes and underlines.

It refuses what can be told of one value where it stands. What must fit together is told by the settings and the plan.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from trainyard.catalog.tables import tree
from trainyard.settings.common import Settings
from trainyard.settings.read import MOVED, NAMESPACE
from trainyard.settings.types import MAY_BE_ENCRYPTED

Schema = dict[str, Any]

_ENCRYPTED = {"$ref": "#/$defs/Encrypted"}
_DEFINITIONS = "$defs"


def stack_schema(defaults: Mapping[str, str]) -> Schema:
    """The schema of `Pulumi.<stack>.yaml`.

    Args:
        defaults: what decides a setting that is left out, in words, by the setting's path (`storage.lustre.zone`; a
            name that its author gives is `*`).
    """
    settings = Settings.model_json_schema(by_alias=True, schema_generator=_Generator)
    definitions: Schema = settings.pop(_DEFINITIONS)
    root: Schema = {"properties": settings["properties"]}
    _add_examples(root, definitions, example())
    for path, text in defaults.items():
        _node_at(root, definitions, path)["description"] += f" By default: {text}."
    _add_moved(root, definitions)
    for node in (root, *definitions.values()):
        _let_be_encrypted(node)
    root, definitions = _without_marks(root), _without_marks(definitions)
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Trainyard stack file",
        "description": "Pulumi.<stack>.yaml: an environment's settings. Written by `trainyard schema`.",
        "type": "object",
        "properties": {
            "config": {
                "type": "object",
                "description": f"The settings, each as {NAMESPACE}:key. Other namespaces are those of other packages.",
                "properties": {f"{NAMESPACE}:{key}": node for key, node in root["properties"].items()},
                "required": [f"{NAMESPACE}:{key}" for key in settings["required"]],
                "patternProperties": {f"^(?!{NAMESPACE}:)[^:]+:": {}},
                "additionalProperties": False,
            },
            "secretsprovider": {"type": "string", "description": "What encrypts the stack's secrets; Pulumi's own."},
            "encryptedkey": {"type": "string", "description": "The encrypted key of the secrets; Pulumi's own."},
            "encryptionsalt": {"type": "string", "description": "The salt of the passphrase; Pulumi's own."},
            "environment": {"description": "Pulumi ESC environments that add to the configuration; Pulumi's own."},
        },
        "required": ["config"],
        "additionalProperties": False,
        _DEFINITIONS: {
            **definitions,
            "Encrypted": {
                "type": "object",
                "description": "A value that `pulumi config set --secret` encrypted.",
                "properties": {"secure": {"type": "string", "description": "The ciphertext."}},
                "required": ["secure"],
                "additionalProperties": False,
            },
        },
    }


def example() -> dict[str, Any]:
    """A sound stack's settings that name every setting once (`example.yaml`), by their keys."""
    config = tree(files("trainyard.settings").joinpath("example.yaml"))["config"]
    return {key.removeprefix(f"{NAMESPACE}:"): value for key, value in config.items()}


class _Generator(GenerateJsonSchema):
    """Writes a schema for what people write: numbers and flags may be text, as `pulumi config set` leaves them."""

    def int_schema(self, schema: core_schema.IntSchema) -> JsonSchemaValue:
        """A whole number, or its digits as text."""
        return {**super().int_schema(schema), "type": ["integer", "string"], "pattern": "^[+-]?[0-9]+$"}

    def float_schema(self, schema: core_schema.FloatSchema) -> JsonSchemaValue:
        """A number, or its digits as text."""
        return {**super().float_schema(schema), "type": ["number", "string"], "pattern": r"^[+-]?[0-9]+(\.[0-9]+)?$"}

    def bool_schema(self, schema: core_schema.BoolSchema) -> JsonSchemaValue:
        """A flag, or its word as text."""
        return {**super().bool_schema(schema), "type": ["boolean", "string"], "enum": [True, False, "true", "false"]}

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        """A mapping in which a name that its pattern does not match is refused."""
        found = super().dict_schema(schema)
        if "patternProperties" in found:
            del found["propertyNames"]  # the pattern once more
            found["additionalProperties"] = False
        return found

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """The schema with its default, unless that is nothing: then something else decides."""
        found = super().default_schema(schema)
        if found.get("default", ...) is None:
            del found["default"]
        elif isinstance(found.get("default"), dict):
            found["default"] = {}
        return found

    def field_title_should_be_set(self, schema: Any) -> bool:
        """No titles: they would repeat the keys."""
        del schema
        return False


def _add_examples(root: Schema, definitions: Schema, settings: Mapping[str, Any]) -> None:
    """Puts each leaf of the example into its setting's schema."""
    for path, value in leaves(settings):
        _node_at(root, definitions, path)["examples"] = [value]


def leaves(value: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """The settings of an example by their paths, blocks apart; a name that its author gives, and an index, are `*`."""
    for key, item in value.items():
        here = f"{path}.{key}" if path else key
        if here in ("gpuPools", "gcp.tpuPools", "aws.existingNetwork.zones"):
            for pool in item.values():
                yield from leaves(pool, f"{here}.*")
        elif isinstance(item, dict) and here not in (
            "scheduler.priorities",
            "gpuPools.*.owners",
            "mlflow.signOn.teams",
            "teamBudgets.gpuHourUsd",
            "images.mirrors",
            "gcp.apiNetworks",
            "gcp.bucketNetworks",
        ):
            yield from leaves(item, here)
        elif isinstance(item, list) and item and isinstance(item[0], dict):
            yield from leaves(item[0], f"{here}.*")
        else:
            yield here, item.isoformat() if isinstance(item, datetime.date) else item


def _node_at(root: Schema, definitions: Schema, path: str) -> Schema:
    """The schema of a setting by its path."""
    node = root
    for step in path.split("."):
        node = _object_in(node, definitions)
        if step == "*":
            node = node.get("items") or next(iter(node["patternProperties"].values()))
        else:
            node = node["properties"][step]
    return node


def _object_in(node: Schema, definitions: Schema) -> Schema:
    """The schema of the mapping or list that a value may be, references followed."""
    if "$ref" in node:
        return _object_in(definitions[node["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in node:
        return next(_object_in(choice, definitions) for choice in node["anyOf"] if choice.get("type") != "null")
    return node


def _add_moved(root: Schema, definitions: Schema) -> None:
    """Describes keys at their old places: understood, and marked as such."""
    for old, new in MOVED.items():
        above, _, last = old.rpartition(".")
        place = _object_in(_node_at(root, definitions, above), definitions) if above else root
        told = f"Has moved to {new}; the old place is still understood."
        kept = {
            key: value
            for key, value in _node_at(root, definitions, new).items()
            if key not in ("default", "description", "examples")
        }
        place["properties"][last] = {**kept, "description": told, "deprecated": True, "deprecationMessage": told}


def _let_be_encrypted(node: Schema) -> None:
    """Lets every marked value inside of a schema be an encrypted one, and a list of them as a whole."""
    for key in ("properties", "patternProperties"):
        for name, inner in node.get(key, {}).items():
            _let_be_encrypted(inner)
            if _is_marked(inner) or _is_marked(inner.get("items")):
                node[key][name] = _or_encrypted(inner)
    if isinstance(node.get("items"), dict):
        _let_be_encrypted(node["items"])
        if _is_marked(node["items"]):
            node["items"] = _or_encrypted(node["items"])
    for choice in node.get("anyOf", []):
        _let_be_encrypted(choice)


def _is_marked(node: Any) -> bool:
    """Whether a value, or one of its kinds, may be encrypted."""
    return isinstance(node, dict) and (MAY_BE_ENCRYPTED in node or any(map(_is_marked, node.get("anyOf", []))))


def _without_marks(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _without_marks(item) for key, item in node.items() if key != MAY_BE_ENCRYPTED}
    return [_without_marks(item) for item in node] if isinstance(node, list) else node


def _or_encrypted(node: Schema) -> Schema:
    about = ("description", "default", "examples", "deprecated", "deprecationMessage")
    told = {key: value for key, value in node.items() if key in about}
    value = {key: item for key, item in node.items() if key not in about}
    return {**told, "anyOf": [*(value["anyOf"] if set(value) == {"anyOf"} else [value]), _ENCRYPTED]}
