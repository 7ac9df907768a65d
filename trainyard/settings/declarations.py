"""The declarations of `Pulumi.yaml`, written from the settings: one description a key, for engine and people."""

import json
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from trainyard.settings.common import Settings
from trainyard.settings.mistakes import fields_of, models_in

WIDTH = 118

HEAD = """\
name: trainyard
description: Machine-learning training infrastructure, sized from a team profile and proven by a DDP smoke job.
runtime:
  name: python
  options:
    toolchain: pip
    virtualenv: .venv
{folder}requiredPulumiVersion: ">=3.219.0"
# The number of nodes that run is the autoscaler's. A change of a node group sends the number that the state has, so the
# state is read anew before every operation: without it, a raised maxNodes would end every node of the group.
options: {{ refresh: always }}
# Every key that a stack file may set; written from trainyard/settings by `make golden`. An optional scalar has the
# default "", which means: the team-size profile decides (the engine refuses a declared key that has neither a value nor
# a default). What the values may be is checked by the settings, all mistakes at once.
config:
"""


def project_file(
    program: str | None = None, stacks: str | None = None, defaults: Mapping[str, object] | None = None
) -> str:
    """The text of a `Pulumi.yaml` whose program and stack files lie in a folder each (the stack files in the program's,
    where nothing else is said), or beside it. `defaults` are what all stacks have, by key."""
    places = {"main": program, "stackConfigDir": stacks or program}
    head = HEAD.format(folder="".join(f"{key}: {folder}\n" for key, folder in places.items() if folder))
    given = defaults or {}
    return head + "".join(
        _declaration(key, field, _spelt(field, given[key]) if key in given else None)
        for key, field in fields_of(Settings).items()
    )


def _spelt(field: FieldInfo, value: object) -> str:
    """A value as a default of the engine's type: a scalar that is no boolean is text."""
    if _type(field) == "string" and not isinstance(value, str):
        return json.dumps(json.dumps(value))
    return json.dumps(value, ensure_ascii=False)


def _declaration(key: str, field: FieldInfo, default: str | None = None) -> str:
    lines = [f"  {key}:", f"    type: {_type(field)}"]
    if _type(field) == "array":
        (item,) = get_args(field.annotation)
        lines.append(f"    items: {{ type: {'object' if models_in(item) else 'string'} }}")
    if default is not None or not field.is_required():
        lines.append(f"    default: {_default(field) if default is None else default}")
    lines.append("    description: |-")
    lines += _wrapped(field.description or "", indent=6)
    for model in models_in(field.annotation):
        lines += _described(model, indent=6)
    return "\n".join(lines) + "\n"


def _described(model: type[BaseModel], indent: int) -> Iterator[str]:
    """What a mapping, or each entry of a list or mapping, may hold: a line a key, at every depth."""
    for key, field in fields_of(model).items():
        choices = _choices(field.annotation)
        of = f"; of {', '.join(choices)}" if choices else ""
        yield from _wrapped(f"- {key}: {field.description}{of}", indent, hanging=2)
        for inner in models_in(field.annotation):
            yield from _described(inner, indent + 2)


def _wrapped(text: str, indent: int, hanging: int = 0) -> list[str]:
    first, rest = " " * indent, " " * (indent + hanging)
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)


def _type(field: FieldInfo) -> str:
    """The engine's type. An optional scalar is text, because its default, nothing, has to be a value of the type."""
    annotation = field.annotation
    if get_origin(annotation) is list:
        return "array"
    if models_in(annotation) or get_origin(annotation) is dict:
        return "object"
    return "boolean" if annotation is bool else "string"


def default_text(key: str) -> str | None:
    """What a key comes to where nobody says anything of it, as it reaches a program; None for one that is required."""
    field = fields_of(Settings)[key]
    if field.is_required():
        return None
    return _default(field).removeprefix('""')


def _default(field: FieldInfo) -> str:
    default: Any = field.default
    if isinstance(default, bool):
        return "true" if default else "false"
    if default is None:
        return '""'
    return default if isinstance(default, str) else "[]" if isinstance(default, list) else "{}"


def _choices(annotation: Any) -> list[str]:
    if get_origin(annotation) is Literal:
        return [str(choice) for choice in get_args(annotation)]
    return [choice for part in get_args(annotation) for choice in _choices(part)]
