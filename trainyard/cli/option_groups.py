"""Options in groups: a command takes a few frozen dataclasses, and each of their fields is an option of its own.

Typer reads options from a function's parameters. Where two commands share options, or one has dozens, these are fields
of dataclasses here, annotated as typer's parameters are.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

import typer


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command as typer takes it: a parameter that is a dataclass stands for its fields, in their order.

    A parameter of the type `typer.Context` is typer's own and stays as it is. Raises TypeError where two groups have a
    field of one name, or a group's field has no default.
    """
    groups: dict[str, type] = {}
    flat: dict[str, inspect.Parameter] = {}
    hints = get_type_hints(command, include_extras=True)
    for name, parameter in inspect.signature(command).parameters.items():
        if dataclasses.is_dataclass(hints[name]):
            groups[name] = hints[name]
            of_group = get_type_hints(hints[name], include_extras=True)
            added = {field.name: (of_group[field.name], field.default) for field in dataclasses.fields(hints[name])}
        elif hints[name] is typer.Context:
            flat[name] = parameter.replace(annotation=typer.Context, kind=inspect.Parameter.KEYWORD_ONLY)
            continue
        else:
            added = {name: (hints[name], parameter.default)}
        for option, (annotation, default) in added.items():
            if option in flat or default in (dataclasses.MISSING, inspect.Parameter.empty):
                raise TypeError(f"{command.__name__}: option {option} needs a default and a name of its own")
            kind = inspect.Parameter.KEYWORD_ONLY
            flat[option] = inspect.Parameter(option, kind, default=default, annotation=annotation)

    def flattened(**options: Any) -> None:
        for name, group in groups.items():
            options[name] = group(**{field.name: options.pop(field.name) for field in dataclasses.fields(group)})
        command(**options)

    flattened.__name__, flattened.__doc__ = command.__name__, command.__doc__
    flattened.__signature__ = inspect.Signature(list(flat.values()))  # type: ignore[attr-defined]
    flattened.__annotations__ = {name: parameter.annotation for name, parameter in flat.items()}
    return flattened
