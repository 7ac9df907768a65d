"""Configuration of the pack, reconciled as the Pulumi engine does it for `--policy-pack-config FILE`.

The file maps a policy's id, or `all`, to an enforcement level, or to an object with `enforcementLevel` and the policy's
properties. Defaults of a policy's schema are filled in first, the file's values go over them, and the result is
validated against the schema. Beyond the engine, which ignores them, an unknown policy or property is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pulumi_policy import EnforcementLevel, Policy

from trainyard.problems import Problem, SettingsError, kind_of, nearest, shown
from trainyard.user_files import parse_json, read_text

ALL = "all"
_LEVELS = {level.value: level for level in EnforcementLevel}


@dataclass(frozen=True, slots=True)
class PolicyConfiguration:
    """What one policy is run with."""

    level: EnforcementLevel
    properties: Mapping[str, Any]


def read_configuration(path: Path) -> dict[str, Any]:
    """The content of a configuration file. Raises `SettingsError` where it is no JSON object."""
    text = read_text(path, str(path))
    content = parse_json(text, str(path)) if text.strip() else {}
    if not isinstance(content, dict):
        raise SettingsError([Problem(str(path), kind_of(content), "must be a JSON object")])
    return content


def reconcile(
    policies: Iterable[Policy], given: Mapping[str, Any] | None, pack_level: EnforcementLevel
) -> dict[str, PolicyConfiguration]:
    """Level and properties of every policy, by id. Raises `SettingsError` with all that is wrong with `given`."""
    given = given or {}
    known = {policy.name: policy for policy in policies}
    problems: list[Problem] = []
    for name in given:
        if name not in known and name != ALL:
            problems.append(Problem(name, "a configuration", "must be a policy of the pack", nearest(name, known)))
    all_level, _ = _split(ALL, given.get(ALL), problems)
    found = {}
    for name, policy in known.items():
        level, properties = _split(name, given.get(name), problems)
        found[name] = PolicyConfiguration(
            level or all_level or policy.enforcement_level or pack_level, _properties(policy, properties, problems)
        )
    if problems:
        raise SettingsError(problems)
    return found


def _split(name: str, value: Any, problems: list[Problem]) -> tuple[EnforcementLevel | None, dict[str, Any]]:
    """A file's entry as level and properties."""
    properties = dict(value) if isinstance(value, Mapping) else {}
    text = properties.pop("enforcementLevel", None) if isinstance(value, Mapping) else value
    if text is None:
        return None, properties
    if not isinstance(text, str) or text not in _LEVELS:
        problems.append(Problem(name, shown(text), f"must be an object or one of {', '.join(_LEVELS)}"))
        return None, properties
    return _LEVELS[text], properties


def _properties(policy: Policy, given: Mapping[str, Any], problems: list[Problem]) -> dict[str, Any]:
    schema = policy.config_schema
    fields: Mapping[str, Any] = schema.properties if schema else {}
    for key in given:
        if key not in fields:
            allowed = f"must be one of {', '.join(fields)}" if fields else "this policy has no properties"
            problems.append(Problem(f"{policy.name}.{key}", kind_of(given[key]), allowed, nearest(key, fields)))
    found = {key: field["default"] for key, field in fields.items() if "default" in field}
    found.update({key: value for key, value in given.items() if key in fields})
    if schema is not None and (given or not found.keys() >= set(schema.required or [])):
        # Imported where a file says something: with what it takes along, it costs more than all policies together.
        # Defaults alone are the pack's own, and a test holds each of them to its schema.
        from jsonschema import Draft7Validator  # type: ignore[import-untyped]

        document = {"type": "object", "properties": fields, "required": schema.required or []}
        for error in sorted(Draft7Validator(document).iter_errors(found), key=lambda error: list(error.path)):
            place = ".".join((policy.name, *(str(part) for part in error.path)))
            got = shown(error.instance)
            said = error.message if got == json.dumps(error.instance) else f"breaks the policy's rule {error.validator}"
            problems.append(Problem(place, got, said))
    return found
