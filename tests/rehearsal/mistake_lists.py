"""What a list of mistakes says of each, whatever form the list has: rows of the pages that `docs/mistakes.md` names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from tests.rehearsal.refusals.builders import DROP
from tests.rehearsal.works.mistakes import Mistake

HERE: Final = Path(__file__).parent
LONGEST_VALUE: Final = 80
"""Characters of a wrong value that a page shows."""
KINDS: Final = {"REFUSED": "refused", "SILENT": "taken", "TAKEN": "taken"}
"""What becomes of a mistake, by the name of its collection: a cloud or an API server refuses it, or takes it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One mistake, and what tells it."""

    what: str
    rule: str | None  # None: nothing tells it; "": something does, and the list does not say which rule
    why: str = ""  # where nothing tells it
    kind: str = ""  # `refused`, `taken`, or nobody wrote it down


@dataclass(frozen=True, slots=True)
class MistakeList:
    """Mistakes that one file of tests puts to the rehearsal, one at a time."""

    title: str
    put: str  # the file of tests, below tests/rehearsal
    modules: tuple[str, ...]  # which hold the mistakes, below tests.rehearsal
    rows: tuple[Row, ...]
    first: tuple[int, int] | None = None
    """Told at first sight, of so many, where they were written before any rule was read or mended for them."""
    words: str = ""


@dataclass(frozen=True, slots=True)
class Area:
    """Lists that share a page."""

    file: str  # below docs/mistakes
    title: str
    words: str
    lists: tuple[MistakeList, ...]


def module(name: str) -> Any:
    return import_module(f"tests.rehearsal.{name}")


def row(mistake: Mistake, kind: str = "") -> Row:
    return Row(mistake.what, mistake.rule, mistake.why, kind)


def of_mistakes(name: str, *collections: str) -> Iterator[Row]:
    """Rows of a module's mistakes; by default of all that it calls so, with what becomes of each where it says so."""
    held = module(name)
    if not collections and not hasattr(held, "MISTAKES"):
        collections = tuple(kind for kind in KINDS if hasattr(held, kind))
    if collections:
        for collection in collections:
            yield from (row(one, KINDS.get(collection, "")) for one in getattr(held, collection))
        return
    kinds = {
        one.name: kind
        for collection, kind in KINDS.items()
        for one in _listed(getattr(held, collection, ()))
        if isinstance(one, Mistake)
    }
    kinds |= {name: KINDS[which] for which in KINDS for name in getattr(held, which, ()) if isinstance(name, str)}
    yield from (row(one, kinds.get(one.name) or kinds.get(one.what, "")) for one in held.MISTAKES)


def _listed(found: Any) -> Sequence[Any]:
    return found if isinstance(found, (list, tuple)) else ()


def of_cases(name: str, at: int, *collections: str) -> Iterator[Row]:
    """Rows of mappings from what a mistake is to a tuple of which the rule is the one `at`."""
    for collection in collections:
        for what, case in getattr(module(name), collection).items():
            yield Row(what.replace("-", " ") if " " not in what else what, case[at], kind=KINDS.get(collection, ""))


def of_google(tests: str, *names: str) -> Iterator[Row]:
    """Rows of mappings of changes, the rules and reasons of which stand with their tests."""
    told = module(tests)
    for name in names:
        for collection in ("REFUSED", "SILENT"):
            for what in getattr(module(name), collection):
                yield Row(what, told.RULES.get(what), told.WHY.get(what, ""), KINDS[collection])


def of_tired(*names: str) -> Iterator[Row]:
    """The same, where policies tell some."""
    told = module("works.test_tired")
    for name in names:
        for collection in ("REFUSED", "SILENT"):
            for what in getattr(module(name), collection):
                rule = told.TOLD.get(what) or told.FORBIDDEN.get(what)
                yield Row(what, rule, told.WHY.get(what, ""), KINDS[collection])


def of_values(name: str, collection: str, kind: str = "refused") -> Iterator[Row]:
    """Rows of single wrong values: which resource, the input, the value and, where it is written down, the rule."""
    held = module(name)
    reasons: Mapping[tuple[str, str], str] = getattr(held, "WHY", {})
    for which, path, value, *rule in getattr(held, collection):
        if rule and not rule[0]:
            continue  # a right value between wrong ones
        why = "" if rule else reasons.get((which, path), "")
        yield Row(of_value(which, path, value), None if why else (rule[0] if rule else ""), why, kind)


def of_value(which: str, path: str, value: Any) -> str:
    """What a wrong value is called on a page."""
    given = "absent" if value is DROP else f"`{_short(str(value))}`" if value != "" else "an empty text"
    return f"`{which}`, `{path}`: {given}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def lists(
    title: str,
    put: str,
    *names: str,
    rows: Callable[[str], Iterable[Row]] = of_mistakes,
    first: tuple[int, int] | None = None,
    words: str = "",
) -> MistakeList:
    """A list of what some modules hold, all in the same form."""
    return MistakeList(title, put, names, tuple(one for name in names for one in rows(name)), first, words)
