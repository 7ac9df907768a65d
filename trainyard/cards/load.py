"""Reads the cards: a YAML file a family of services, in it an entry a resource type, with the fields of a `Card`."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from importlib.resources.abc import Traversable
from types import NoneType, UnionType
from typing import Any, Final, get_args, get_origin, get_type_hints

from trainyard.cards.card import Card, Seconds
from trainyard.catalog.tables import tree
from trainyard.problems import nearest
from trainyard.when_asked import WhenAsked

API_CALL: Final = Seconds(3.0, "estimate: an API call and one poll", datetime.date(2026, 11, 21))
"""What `seconds: api_call` stands for."""

_NAMES: Final[Mapping[Any, str]] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    datetime.date: "a date",
    tuple: "a list",
}


def entries(file: Traversable) -> dict[str, tuple[Any, str]]:
    """The entries of a file by their types, in its order, each with what errors call it.

    Raises:
        yaml.MarkedYAMLError: the file is no YAML, or has a key twice.
    """
    return {type_: (entry, f"{file.name}: {type_}") for type_, entry in tree(file).items()}


def card(type_: str, entry: Any, where: str) -> Card:
    """The card of an entry.

    Args:
        type_: what it is of.
        entry: as its file has it.
        where: the file and the type, for errors.

    Raises:
        ValueError: it has a key that no card has, lacks one that each must have, or a value is of the wrong kind.
    """
    found: Card = _entry(Card, _value(Mapping[str, Any], entry, where), where, type=type_)
    return found


class Cards(WhenAsked[Card]):
    """Cards by their types, each made when it is first asked for.

    Args:
        entries: as files have them, by type, each with its file and type for errors.
    """

    def __init__(self, entries: Mapping[str, tuple[Any, str]]) -> None:
        super().__init__({type_: (type_, *given) for type_, given in entries.items()}, lambda given: card(*given))

    def saying(self, *fields: str) -> Iterator[Card]:
        """The cards whose entries give one of these fields."""
        return (self[type_] for type_, (_, entry, _) in self._names.items() if any(field in entry for field in fields))


@cache
def _shape(cls: type) -> tuple[Mapping[str, Any], frozenset[str]]:
    """The fields of a dataclass with their types, and which of them have no default."""
    required = (each.name for each in fields(cls) if each.default is MISSING and each.default_factory is MISSING)
    return get_type_hints(cls), frozenset(required)


def _entry(cls: type, given: Mapping[str, Any], where: str, **known: Any) -> Any:
    types, required = _shape(cls)
    allowed = [key for key in types if key not in known]
    for key in given:
        if key not in allowed:
            hint = nearest(key, allowed) or f"it may have {', '.join(allowed)}"
            raise ValueError(f"{where}: has no key {key!r}; {hint}")
    if missing := sorted(required - given.keys() - known.keys()):
        raise ValueError(f"{where}: lacks {', '.join(missing)}")
    return cls(**known, **{key: _value(types[key], value, f"{where}: {key}") for key, value in given.items()})


def _value(hint: Any, given: Any, where: str) -> Any:
    """A value of the file as its field has it: an object for a mapping, a tuple for a list."""
    if hint is Seconds and given == "api_call":
        return API_CALL
    if isinstance(hint, UnionType):
        if given is None and NoneType in get_args(hint):
            return None
        choices = [choice for choice in get_args(hint) if choice is not NoneType]
        hint = next((choice for choice in choices if is_dataclass(choice) == isinstance(given, Mapping)), choices[0])
    kind = get_origin(hint) or hint
    if kind is Any:
        return given
    if isinstance(kind, type) and is_dataclass(kind) and isinstance(given, Mapping):
        return _entry(kind, given, where)
    if kind is Mapping and isinstance(given, Mapping):
        return {key: _value(get_args(hint)[1], item, f"{where}: {key}") for key, item in given.items()}
    if kind is tuple and isinstance(given, list):
        return tuple(_value(get_args(hint)[0], item, where) for item in given)
    if kind is float and type(given) is int:
        return float(given)
    if type(given) is not kind:
        raise ValueError(f"{where}: got {given!r}; must be {_NAMES.get(kind, 'a mapping')}")
    return given
