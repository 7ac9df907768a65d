"""Inputs of AWS resources against Amazon's own models: enums, lengths, ranges, patterns, list sizes.

A type's card names the operations that the provider calls. An input finds its member there by name,
whatever the case and whether singular or plural; the card lists the exceptions. A member that does not match in kind
(a list of the provider for a structure of the API) is followed into its item.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from trainyard.cards.card import ServiceModel
from trainyard.problems import nearest
from trainyard.recorded.alike import Sound, content
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import as_number
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.aws.made_up import is_made_up
from trainyard.rehearsal.refusals.aws.models import ModelMissingError, Shape, operation

MODEL_RULE = "aws-model"
_MACHINE: Final = re.compile(r"[a-z]+\d[a-z0-9-]*\.[a-z0-9-]+")
"""A kind of machine, among whatever else: `r7g.large` of `r7g.large.search`."""
_SOUND: Final = Sound(16_384)
_NUMBERS = frozenset({"integer", "long", "float", "double"})
_UNDESCRIBED = frozenset({"region", "tags", "namePrefix", "timeouts"})  # of every type: the provider's own


@cache
def roots(calls: tuple[str, ...]) -> tuple[Shape, ...]:
    """The structures that a type's inputs are looked up in."""
    found = []
    for call in calls:
        service, name, *members = call.split(".")
        shape = operation(service, name)
        for member in members:
            shape = inner(_member(shape, member))
        found.append(shape)
    return tuple(found)


def inner(shape: Shape) -> Shape:
    """The item of a list (of lists); any other shape itself."""
    while shape.kind == "list":
        shape = shape.item
    return shape


def _member(shape: Shape, name: str) -> Shape:
    members = inner(shape).members
    if name not in members:
        raise ModelMissingError(f"{shape.service}'s {shape.name} has no member {name}")
    return members[name]


def _spellings(name: str) -> tuple[str, ...]:
    """The forms under which the provider and the API may both know a name."""
    low = name.lower().replace("_", "")
    forms = [low, low + "s"]
    if low.endswith("ies"):
        forms.append(low[:-3] + "y")
    if low.endswith("s"):
        forms.append(low[:-1])
    forms.extend(low[: -len(tail)] for tail in ("lists", "list", "document") if low.endswith(tail))
    return tuple(forms)


@cache
def _index(shape: Shape) -> Mapping[str, Shape]:
    found: dict[str, Shape] = {}
    for name, member in shape.members.items():
        for form in _spellings(name):
            found.setdefault(form, member)
    return {**found, **{name.lower(): member for name, member in shape.members.items()}}


@cache
def _find(shape: Shape, name: str) -> Shape | None:
    index = _index(shape)
    return next((index[form] for form in _spellings(name) if form in index), None)


def resolve(model: ServiceModel, path: str, above: tuple[Shape, ...]) -> Shape | None:
    """The member that describes an input.

    Args:
        model: of the resource type.
        path: of the input, without indexes (`taints.key`).
        above: the structures to look in: the type's roots, or the shape of the input above.

    Raises:
        ModelMissingError: the card names a member that the model lacks.
    """
    name = path.rpartition(".")[2]
    target = model.names.get(path)
    if target is not None:
        bases = roots(model.calls) if target.startswith("/") else above
        for base in bases:
            try:
                shape = base
                for step in target.lstrip("/").split("."):
                    shape = _member(shape, step)
            except ModelMissingError:
                continue
            return shape
        raise ModelMissingError(f"{path}: none of {', '.join(model.calls)} has {target}")
    if path in model.undescribed or path in _UNDESCRIBED:
        return None
    structures = [base for base in above if base.kind == "structure"]
    found = next((found for base in structures if (found := _find(base, name))), None)
    if found is None and model.by_name:
        found = next((found for base in structures if (found := _find_deeper(base, name))), None)
    return found


@cache
def _find_deeper(shape: Shape, name: str) -> Shape | None:
    """The one member of a structure within a structure that has the name: the provider makes one block of the two."""
    found = {
        member: one
        for member, held in shape.members.items()
        if held.kind == "structure" and (one := _find(held, name)) is not None
    }
    return next(iter(found.values())) if len(found) == 1 else None


def check(view: View, model: ServiceModel) -> None:
    """Notes every input that the models refuse.

    A list or mapping in which nothing was wrong is not looked at again where another resource of the type has the same.
    """
    above = roots(model.calls)
    for name, value in view.inputs.items():
        digest = view.content_of(name) if type(value) in (dict, list) else None
        key = content(view.type, name, digest) if digest is not None else None
        if key is not None and key in _SOUND:
            continue
        noted = len(view.findings)
        _walk(view, model, {name: value}, "", "", above)
        if key is not None and len(view.findings) == noted:
            _SOUND.add(key)


def _walk(
    view: View, model: ServiceModel, inputs: Mapping[str, Any], path: str, plain: str, above: tuple[Shape, ...]
) -> None:
    for name, value in inputs.items():
        if value is None or value is UNKNOWN or name.startswith("__"):
            continue
        here = f"{path}.{name}" if path else name
        here_plain = f"{plain}.{name}" if plain else name
        shape = resolve(model, here_plain, above)
        if shape is None or (_is_unset(model, here_plain, value) and not _is_needed(shape, here_plain, model, above)):
            continue
        _value(view, model, value, here, here_plain, shape)


def _is_unset(model: ServiceModel, plain: str, value: Any) -> bool:
    """Whether the provider sends nothing: a text, list or mapping without anything in it, and here and there a 0."""
    return (isinstance(value, str | list | Mapping) and not value) or (
        (plain in model.unset_by_zero or model.by_name) and as_number(value) == 0
    )


def _is_needed(shape: Shape, plain: str, model: ServiceModel, above: tuple[Shape, ...]) -> bool:
    """Whether a request has to have the member that a shape is of, or the provider asks for the input."""
    if plain in model.required:
        return True
    holders = (holder for holder in (*above, *roots(model.calls)) if holder.kind == "structure")
    return any(shape == holder.members[name] for holder in holders for name in holder.required)


def _value(view: View, model: ServiceModel, value: Any, path: str, plain: str, shape: Shape) -> None:
    if value is None or value is UNKNOWN:
        return
    if isinstance(value, list):
        if shape.kind == "list":
            _size(view, path, len(value), shape, "entries")
        item = shape.item if shape.kind == "list" else shape
        for index, entry in enumerate(value):
            _value(view, model, entry, f"{path}[{index}]", plain, item)
    elif shape.kind == "list":
        _value(view, model, value, path, plain, shape.item)  # one block of the provider, a list of the API
    elif isinstance(value, Mapping):
        if shape.kind == "structure":
            _walk(view, model, value, path, plain, (shape,))
        elif shape.kind == "map":
            _size(view, path, len(value), shape, "entries")
            for key, entry in value.items():
                _scalar(view, path, str(key), shape.key, caseless=False)
                _value(view, model, entry, f"{path}.{key}", plain, shape.mapped)
    else:
        if not (model.by_name and _is_newer_machine(value, shape)):
            _scalar(view, path, value, shape, caseless=plain in model.caseless)


def _is_newer_machine(value: Any, shape: Shape) -> bool:
    """Whether a text is of the form of the machines that a list has: each year there are more."""
    if not isinstance(value, str) or not _MACHINE.search(value):
        return False
    around = _MACHINE.sub("", value)
    return any(_MACHINE.search(one) and _MACHINE.sub("", one) == around for one in shape.enum)


def _scalar(view: View, path: str, value: Any, shape: Shape, *, caseless: bool) -> None:
    if shape.kind == "string" and isinstance(value, str):
        _text(view, path, value, shape, caseless=caseless)
    elif shape.kind in _NUMBERS:
        number = as_number(value)
        if number is not None:
            least, most = shape.least, shape.most
            if (least is not None and number < least) or (most is not None and number > most):
                view.error(MODEL_RULE, path, f"got {show(value)}", allowed=_range(least, most, "must be"))


def _text(view: View, path: str, value: str, shape: Shape, *, caseless: bool) -> None:
    if shape.enum:
        other = value not in shape.enum and not (caseless and value.lower() in {word.lower() for word in shape.enum})
        if other and not is_made_up(view, value):
            view.error(
                MODEL_RULE, path, f"got {show(value)}", allowed=_one_of(shape.enum), hint=nearest(value, shape.enum)
            )
        return
    if _misses(value, shape) and is_made_up(view, value):
        return
    if _size(view, path, len(value), shape, "characters"):
        return
    pattern = shape.pattern
    if pattern is not None and value and not pattern.fullmatch(value):
        view.error(MODEL_RULE, path, f"got {show(value)}", allowed=f"must match {shape.pattern_text}")


def _misses(value: str, shape: Shape) -> bool:
    """Whether the length or the form of a text is none that the model has."""
    least, most, pattern = shape.least, shape.most, shape.pattern
    if (least is not None and len(value) < least) or (most is not None and len(value) > most):
        return True
    return pattern is not None and bool(value) and not pattern.fullmatch(value)


def _size(view: View, path: str, size: int, shape: Shape, unit: str) -> bool:
    least, most = shape.least, shape.most
    if (least is not None and size < least) or (most is not None and size > most):
        view.error(MODEL_RULE, path, f"has {size} {unit}", allowed=_range(least, most, "must have") + f" {unit}")
        return True
    return False


def _range(least: float | None, most: float | None, verb: str) -> str:
    if least is not None and most is not None:
        return f"{verb} {least:g} to {most:.15g}"
    return f"{verb} at least {least:g}" if least is not None else f"{verb} at most {most:.15g}"


def _one_of(values: tuple[str, ...]) -> str:
    shown = values if len(values) <= 24 else (*values[:12], f"… ({len(values)} in all)")
    return f"one of {', '.join(shown)}"
