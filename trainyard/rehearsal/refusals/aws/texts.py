"""JSON texts that AWS reads as a structure of its own: containers of a task, jobs, what a state machine calls.

Each is held against Amazon's model of that structure: a key that the structure has not is read by nobody, and a value
is what the model says. Source: botocore's models; the AWS provider decodes the same texts into the same structures.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.read import as_number
from trainyard.recorded.types import BATCH_DEFINITION
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.aws.model_check import roots
from trainyard.rehearsal.refusals.aws.models import Shape
from trainyard.rehearsal.refusals.rules import Rules

RULE: Final = "aws-json"
TASK: Final = "aws:ecs/taskDefinition:TaskDefinition"
_TEXTS: Final = {
    (TASK, "containerDefinitions"): ("ecs.RegisterTaskDefinition.containerDefinitions", True),
    (BATCH_DEFINITION, "containerProperties"): ("batch.RegisterJobDefinition.containerProperties", False),
    (BATCH_DEFINITION, "nodeProperties"): ("batch.RegisterJobDefinition.nodeProperties", False),
    (BATCH_DEFINITION, "ecsProperties"): ("batch.RegisterJobDefinition.ecsProperties", False),
}
"""Which input is read as which structure, and whether as a list of it."""


def read(text: str | None) -> Any:
    """What a JSON text holds; None for what is none."""
    try:
        return None if text is None else json.loads(text)
    except ValueError:
        return None


def texts(view: View) -> None:
    """Every text of the type that is read so."""
    for (type_, path), (call, is_list) in _TEXTS.items():
        text = view.text(path) if type_ == view.type else None
        if text is None:
            continue
        held = read(text)
        if not isinstance(held, list if is_list else dict):
            allowed = "a JSON list of objects" if is_list else "a JSON object"
            view.error(RULE, path, f"got {show(text)}", allowed=allowed)
            continue
        (shape,) = roots((call,))
        for index, one in enumerate(held if is_list else [held]):
            walk(view, f"{path}[{index}]" if is_list else path, one, shape)


def walk(view: View, path: str, value: Any, shape: Shape) -> None:
    """Notes what of a value the structure has not, or what the model refuses."""
    if value is None:
        return
    if shape.kind == "structure":
        if isinstance(value, Mapping):
            _members(view, path, value, shape)
        elif not isinstance(value, str):
            view.error(RULE, path, f"got {show(value)}", allowed="an object")
    elif shape.kind == "list":
        if isinstance(value, list):
            for index, one in enumerate(value):
                walk(view, f"{path}[{index}]", one, shape.item)
        elif not isinstance(value, str):
            view.error(RULE, path, f"got {show(value)}", allowed="a list")
    elif shape.kind == "string" and isinstance(value, str):
        if shape.enum and value not in shape.enum and not _is_expression(value):
            view.error(
                RULE,
                path,
                f"got {show(value)}",
                allowed=f"one of {', '.join(shape.enum[:20])}",
                hint=nearest(value, shape.enum),
            )
    elif shape.kind in ("integer", "long", "float", "double") and not isinstance(value, bool):
        number = as_number(value)
        least, most = shape.least, shape.most
        if number is not None and ((least is not None and number < least) or (most is not None and number > most)):
            view.error(
                RULE,
                path,
                f"got {number:g}",
                allowed=" to ".join(f"{end:g}" for end in (least, most) if end is not None),
            )


def _is_expression(value: str) -> bool:
    return value.startswith(("{%", "$"))


def _members(view: View, path: str, value: Mapping[Any, Any], shape: Shape) -> None:
    known = {name.lower(): member for name, member in shape.members.items()}
    for key, held in value.items():
        if not isinstance(key, str):
            continue
        plain, computed = key.removesuffix(".$"), key.endswith(".$")
        member = known.get(plain.lower())
        if member is None:
            view.error(
                RULE,
                f"{path}.{key}",
                "is read by nobody",
                allowed=", ".join(list(shape.members)[:24]),
                hint=nearest(plain, list(shape.members)),
            )
        elif not computed:
            walk(view, f"{path}.{key}", held, member)
    if not any(isinstance(key, str) and key.endswith("*") for key in value):
        given = {str(key).removesuffix(".$").lower() for key in value}
        for name in shape.required:
            if name.lower() not in given and name not in shape.filled_in:
                view.error(RULE, f"{path}.{name}", "is missing", allowed=f"{name}, which AWS asks for")


RULES: Final[Rules] = {texts: tuple(dict.fromkeys(type_ for type_, _ in _TEXTS))}
