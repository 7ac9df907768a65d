"""The declarations of `Pulumi.yaml`, written from the settings: one description a key, for engine and people."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
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
# Every key that a stack file may set; written from trainyard/settings by `make golden`. An optional scalar has the
# default "", which means: the team-size profile decides (the engine refuses a declared key that has neither a value nor
# a default). What the values may be is checked by the settings, all mistakes at once.
config:
"""


def project_file(folder: str | None = None) -> str:
    """The text of a `Pulumi.yaml` whose program and stack files lie in a folder, or beside it."""
    head = HEAD.format(folder=f"main: {folder}\nstackConfigDir: {folder}\n" if folder else "")
    return head + "".join(_declaration(key, field) for key, field in fields_of(Settings).items())


def _declaration(key: str, field: FieldInfo) -> str:
    lines = [f"  {key}:", f"    type: {_type(field)}"]
    if _type(field) == "array":
        (item,) = get_args(field.annotation)
        lines.append(f"    items: {{ type: {'object' if models_in(item) else 'string'} }}")
    if not field.is_required():
        lines.append(f"    default: {_default(field)}")
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
