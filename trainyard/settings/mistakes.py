"""What pydantic says of a stack file's values, as problems that its author can mend: key, value, what it may be."""

import re
from collections.abc import Iterator, Sequence
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from trainyard.problems import Problem, kind_of, nearest, shown, spell_path
from trainyard.settings.common import Settings

_M = TypeVar("_M")

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
_NAMESPACE_AGAIN = re.compile(r"^(trainyard|config)[.: /_-]+", re.IGNORECASE)
"""`trainyard.region` and `trainyard region` have no colon: the engine takes them for names within the namespace."""

_CONTAINERS = {"list_type", "dict_type", "model_type", "model_attributes_type"}
_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "less_than_equal": ("at most", "le"),
    "greater_than": ("above", "gt"),
    "less_than": ("below", "lt"),
}


def problem_of(detail: ErrorDetails, root: type[BaseModel] = Settings) -> Problem:
    """One of pydantic's errors of a model that a file was read for, in words."""
    path = detail["loc"]
    key = spell_path(step for step in path if step != "[key]")  # pydantic's mark for "the key itself is wrong"
    kind = detail["type"]
    context = detail.get("ctx", {})
    if kind == "missing":
        return Problem(key, "nothing", "this key is required")
    if kind == "extra_forbidden":
        got = kind_of(detail["input"])  # what is meant by it is not known: it may be a password
        known = sorted(fields_of(_model_at(path[:-1], root) or root))
        meant = _NAMESPACE_AGAIN.sub("", str(path[-1]))
        close = f"did you mean {meant}?" if meant in known else nearest(meant, known)
        return Problem(key, got, f"no such key; known here: {', '.join(known)}", close)
    got = shown(detail["input"])
    if kind == "literal_error":
        allowed = f"must be {context['expected'].replace(chr(39), '')}"
        return Problem(key, got, allowed, nearest(str(detail["input"]), _literals(path, root)))
    if kind == "value_error":
        return Problem(key, got, str(context["error"]))
    if kind in _KINDS:
        if kind in _CONTAINERS:
            got = kind_of(detail["input"])
        quoted = ", in quotes" if kind == "string_type" and isinstance(detail["input"], (int, float)) else ""
        return Problem(key, got, f"must be {_KINDS[kind]}{quoted}")
    if kind in _BOUNDS:
        word, bound = _BOUNDS[kind]
        return Problem(key, got, f"must be {word} {context[bound]:g}")
    text = detail["msg"].replace("Input should", "must").replace("should", "must")
    return Problem(key, got, text[:1].lower() + text[1:])


def fields_of(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields of a model by their names in a stack file."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def field_at(path: tuple[int | str, ...], root: type[BaseModel] = Settings) -> FieldInfo | None:
    """The field that a path leads to, None for an entry of a list or a mapping, or where there is none."""
    model = _model_at(path[:-1], root)
    return fields_of(model).get(str(path[-1])) if model else None


def models_in(annotation: Any) -> list[type[BaseModel]]:
    """The models that an annotation mentions, through lists, mappings and optional fields."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in models_in(part)]


def annotation_at(path: Sequence[int | str], root: type[BaseModel] = Settings) -> Any:
    """What the settings, or another model, say of the value that a path leads to, through lists, mappings and optional
    fields; None where there is no such place."""
    annotation: Any = root
    for step in path:
        annotation = next((found for part in _parts(annotation) if (found := _inside(part, step)) is not None), None)
    return annotation


def metadata_of(annotation: Any, kind: type[_M]) -> _M | None:
    """What an annotation says of its own value, not of what that holds, by an object of a type of ours."""
    for part in _parts(annotation):
        for item in getattr(part, "__metadata__", ()):
            if isinstance(item, kind):
                return item
    return None


def _parts(annotation: Any) -> Iterator[Any]:
    """An annotation's alternatives (`X | None`), with what is said of each."""
    if get_origin(annotation) in (Union, UnionType):
        for part in get_args(annotation):
            yield from _parts(part)
        return
    yield annotation
    if get_origin(annotation) is Annotated:
        yield from _parts(get_args(annotation)[0])


def _inside(annotation: Any, step: int | str) -> Any:
    if get_origin(annotation) is list:
        return get_args(annotation)[0] if isinstance(step, int) else None
    if get_origin(annotation) is dict:
        return get_args(annotation)[1]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        field = fields_of(annotation).get(str(step))
        if field is None:
            return None
        return Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
    return None


def _model_at(path: Sequence[int | str], root: type[BaseModel]) -> type[BaseModel] | None:
    """The model that a path leads to."""
    parts = _parts(annotation_at(path, root))
    return next((part for part in parts if isinstance(part, type) and issubclass(part, BaseModel)), None)


def _literals(path: tuple[int | str, ...], root: type[BaseModel]) -> list[str]:
    field = field_at(path, root)
    return _strings_in(field.annotation) if field else []


def _strings_in(annotation: Any) -> list[str]:
    if isinstance(annotation, str):
        return [annotation]
    return [text for part in get_args(annotation) for text in _strings_in(part)]
