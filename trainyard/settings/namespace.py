"""Keys of a stack file as a whole: which are ours, and which were meant to be.

A key under a misspelt namespace (`trainyrd:residency`) is another program's to the engine, which passes it on in
silence. What it asks for would never happen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher

from trainyard.problems import LONGEST_VALUE, Problem, kind_of, nearest_word
from trainyard.settings.common import Settings
from trainyard.settings.mistakes import fields_of
from trainyard.settings.read import MOVED, NAMESPACE

ALIKE = 0.85
"""How alike a namespace is to ours that was meant to be ours: a letter or two missing, too many, wrong or exchanged."""

_OURS_AS_PART = re.compile(rf"{NAMESPACE}\s*[.:/_ -]", re.IGNORECASE)


def namespace_values(configuration: Mapping[str, str]) -> dict[str, str]:
    """The values of the project's own keys, without their namespace; the misspelt ones too, so that none is lost."""
    prefix = f"{NAMESPACE}:"
    return {key.removeprefix(prefix): value for key, value in configuration.items() if key.startswith(prefix)}


def misplaced_keys(configuration: Mapping[str, str]) -> Iterator[Problem]:
    """Keys under a namespace that is nearly ours or empty; those of any other belong to whoever reads them."""
    for key, value in configuration.items():
        namespace, _, name = key.partition(":")
        if namespace == NAMESPACE:
            continue
        if not namespace.strip() or _is_meant(namespace) or _OURS_AS_PART.match(name):
            meant = _OURS_AS_PART.sub("", name)
            known = [*fields_of(Settings), *MOVED]
            close = meant if meant in known else nearest_word(meant, known)
            hint = f"did you mean {NAMESPACE}:{close}?" if close else f"did you mean the namespace {NAMESPACE}?"
            shown = key if len(key) <= LONGEST_VALUE else f"{key[: LONGEST_VALUE - 1]}…"
            allowed = f"nothing reads this namespace; a setting's key is {NAMESPACE}: and its name"
            yield Problem(shown, kind_of(value), allowed, hint)


def bare_keys(configuration: Mapping[str, str], project: str) -> Iterator[str]:
    """Warnings, a line each: settings without a namespace, which the engine puts under the project's name.

    They are mistakes where the project has another name than ours; not for certain, since a program of its own may read
    keys that are called alike.
    """
    if project == NAMESPACE:
        return
    for key in configuration:
        namespace, _, name = key.partition(":")
        if namespace == project and (name in fields_of(Settings) or name in MOVED):
            yield f"{key} is not a setting of this environment, whose keys begin with {NAMESPACE}: ({NAMESPACE}:{name})"


def _is_meant(namespace: str) -> bool:
    letters = re.sub(r"[^a-z0-9]", "", namespace.casefold())
    return SequenceMatcher(None, letters, NAMESPACE).ratio() >= ALIKE
