"""Encrypted settings: what stands for them where nothing can decrypt, and which texts they are where something could.

Only a value that nothing of the plan depends on may be encrypted (an address, an id, who answers for something): a type
that has a `StandIn`. What decides what is made would be guessed at in a rehearsal, and what is part of names and tags
stands in the clear in the cloud and in the state anyway.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, get_args, get_origin

from trainyard.problems import Problem, spell_path
from trainyard.settings.mistakes import annotation_at, metadata_of, models_in
from trainyard.settings.read import MOVED, NAMESPACE, decode
from trainyard.settings.types import StandIn

Path = tuple[int | str, ...]


def stand_in(path: Path, number: int) -> str | Problem | None:
    """What stands in a rehearsal for the encrypted value at a place: a text of its form, different for every number.

    Returns:
        None for what is no setting; a problem for a setting that must stand in the clear.
    """
    namespace, _, key = str(path[0]).partition(":")
    if namespace != NAMESPACE:
        return None
    place = _today(key, *path[1:])
    annotation = annotation_at(place)
    if annotation is None:
        return None
    form = metadata_of(annotation, StandIn)
    if form is not None:
        return form.template.format(number=number)
    listed = _items(annotation)
    form = metadata_of(listed, StandIn)
    if form is not None and len(path) > 1:
        allowed = "must be a list: within a block, what is decrypted is text and no list"
        return Problem(spell_path(place), "an encrypted value", allowed, "encrypt its entries instead")
    if form is not None:  # the whole list is encrypted, as JSON: one entry stands for however many there are
        return json.dumps([form.template.format(number=number)])
    shown = spell_path(place)
    return Problem(
        shown,
        "an encrypted value",
        "must be in the clear: it decides what is made, or stands in names and tags, which hide nothing",
        "encrypt parts of it instead" if models_in(annotation) else "",
    )


def secret_texts(by_key: Mapping[str, str], secret: Collection[str]) -> frozenset[str]:
    """The texts that may be encrypted, of the keys of which the engine says that they hold something encrypted.

    Args:
        by_key: the settings by their keys, without the namespace, as the engine hands them to the program.
        secret: those of the keys that hold something encrypted.
    """
    found = set()
    for key in secret & by_key.keys():
        for path, text in _texts(decode(key, by_key[key]), _today(key)):
            annotation = annotation_at(path)
            # Exceptions reach policies and no resource; a name of two letters there would be in every text.
            if (
                path[0] != "policyExceptions"
                and annotation is not None
                and metadata_of(annotation, StandIn) is not None
            ):
                found.add(text)
    return frozenset(found)


def without_values(problems: Collection[Problem], secret: Collection[str]) -> list[Problem]:
    """The problems with nothing quoted of keys that hold something encrypted."""
    roots = {str(_today(key)[0]) for key in secret}
    return [
        Problem(problem.key, f"a value that is not shown: {root} is encrypted", problem.allowed, problem.hint)
        if (root := problem.key.partition("[")[0].partition(".")[0]) in roots and problem.got != "nothing"
        else problem
        for problem in problems
    ]


def _today(key: str, *inner: int | str) -> Path:
    """A place, where the key has moved the new one."""
    for old, new in MOVED.items():
        steps = tuple(old.split("."))
        if (key, *inner)[: len(steps)] == steps:
            return (*new.split("."), *(key, *inner)[len(steps) :])
    return (key, *inner)


def _items(annotation: Any) -> Any:
    """What an entry of a list is; None for what is no list."""
    for part in (annotation, *get_args(annotation)):
        if get_origin(part) is list:
            return get_args(part)[0]
    return None


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, _today(str(path[0]), *path[1:], key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index))
    elif isinstance(value, str):
        yield path, value
