"""From a stack's configuration to its settings and plan, or to one error that names every mistake."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from trainyard.plan.model import Plan
from trainyard.plan.plan import make_plan
from trainyard.problems import Problem, SettingsError, nearest
from trainyard.settings.model import Settings, cross_checks

NAMESPACE = "trainyard"

# Stand-ins for required keys that are missing or wrong, so that the rest of the file can still be checked.
_STAND_INS = {"client": "client", "cloud": "aws", "region": "us-east-1"}

_KINDS = {
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "float_type": "a number",
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "string_type": "text",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}


def resolve(config: Mapping[str, str], stack: str) -> tuple[Settings, Plan]:
    """The settings and the plan of a stack.

    Args:
        config: values of the project's namespace as the engine hands them to a program: every value text, objects
            and arrays as JSON.
        stack: the stack's name.

    Raises:
        SettingsError: with every problem of the settings, of what must fit together, and of the plan.
    """
    # An empty text is the default of Pulumi.yaml for "left out".
    values = {key: _decode(key, text) for key, text in config.items() if text != ""}
    settings, problems = _validate(values)
    wrong = {problem.key for problem in problems}
    found = list(cross_checks(settings))
    plan = None
    try:
        plan = make_plan(settings.request(stack))
    except SettingsError as error:
        stood_in = {key for key in _STAND_INS if key in wrong}
        found += [problem for problem in error.problems if problem.key not in stood_in]
    # A key that was taken out because its value is wrong is not missing as well.
    problems += [problem for problem in found if problem.got != "nothing" or problem.key not in wrong]
    if problems or plan is None:
        raise SettingsError(dict.fromkeys(problems))
    return settings, plan


def namespace_values(values: Mapping[str, str]) -> dict[str, str]:
    """The values of the project's own keys, without their namespace; the misspelt ones too, so that none is lost."""
    prefix = f"{NAMESPACE}:"
    return {key.removeprefix(prefix): value for key, value in values.items() if key.startswith(prefix)}


def _decode(key: str, text: str) -> Any:
    """Objects and arrays come as JSON; scalars stay text, which pydantic reads as the field's type wants."""
    field = _fields(Settings).get(key)
    if field is None or not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _validate(values: dict[str, Any]) -> tuple[Settings, list[Problem]]:
    """Validates, takes out what is wrong, and validates the rest, until something valid is left to check further."""
    problems: list[Problem] = []
    while True:
        try:
            return Settings.model_validate(values), problems
        except ValidationError as error:
            details = error.errors(include_url=False)
            problems += [_problem(detail) for detail in details]
            for detail in details:
                _take_out(values, detail["loc"])


def _take_out(values: dict[str, Any], path: tuple[int | str, ...]) -> None:
    top = str(path[0])
    node: Any = values
    parents: list[tuple[Any, int | str]] = []
    for step in path:
        inside = step in node if isinstance(node, dict) else isinstance(node, list) and isinstance(step, int)
        if not inside:
            break
        parents.append((node, step))
        node = node[step]
    reached = len(parents) == len(path)
    if reached and isinstance(parents[-1][0], dict) and (len(path) == 1 or not _is_required(path)):
        del parents[-1][0][path[-1]]
    else:
        # A part that is missing or that its list or mapping cannot do without: the whole entry goes.
        values.pop(top, None)
    if top in _STAND_INS and top not in values:
        values[top] = _STAND_INS[top]


def _is_required(path: tuple[int | str, ...]) -> bool:
    model = _model_at(path[:-1])
    field = _fields(model).get(str(path[-1])) if model else None
    return field is not None and field.is_required()


def _problem(detail: ErrorDetails) -> Problem:
    path = detail["loc"]
    key = _spell(path)
    kind = detail["type"]
    context = detail.get("ctx", {})
    if kind == "missing":
        return Problem(key, "nothing", "this key is required")
    got = json.dumps(detail["input"], default=str)
    got = got if len(got) <= 80 else f"{got[:77]}..."
    if kind == "extra_forbidden":
        known = sorted(_fields(_model_at(path[:-1]) or Settings))
        return Problem(key, got, f"no such key; known here: {', '.join(known)}", nearest(str(path[-1]), known))
    if kind == "literal_error":
        return Problem(
            key,
            got,
            f"must be {context['expected'].replace(chr(39), '')}",
            nearest(str(detail["input"]), _literals(path)),
        )
    if kind == "value_error":
        return Problem(key, got, str(context["error"]))
    if kind in _KINDS:
        return Problem(key, got, f"must be {_KINDS[kind]}")
    text = detail["msg"].replace("Input should", "must").replace("should", "must")
    return Problem(key, got, text[:1].lower() + text[1:])


def _spell(path: tuple[int | str, ...]) -> str:
    text = ""
    for step in path:
        if step == "[key]":  # pydantic's mark for "the key itself is wrong"
            continue
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def _fields(model: type[BaseModel]) -> dict[str, Any]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _model_at(path: tuple[int | str, ...]) -> type[BaseModel] | None:
    """The model that a path leads to, through lists, mappings and optional fields."""
    annotation: Any = Settings
    for step in path:
        models = _models_in(annotation)
        if get_origin(annotation) in (list, dict):  # the step is an index or a name, not a field
            annotation = get_args(annotation)[-1]
        elif models and (field := _fields(models[0]).get(str(step))) is not None:
            annotation = field.annotation
        else:
            return None
    models = _models_in(annotation) if get_origin(annotation) not in (list, dict) else []
    return models[0] if models else None


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]


def _literals(path: tuple[int | str, ...]) -> list[str]:
    model = _model_at(path[:-1])
    field = _fields(model).get(str(path[-1])) if model else None
    return _strings_in(field.annotation) if field else []


def _strings_in(annotation: Any) -> list[str]:
    if isinstance(annotation, str):
        return [annotation]
    return [text for part in get_args(annotation) for text in _strings_in(part)]
