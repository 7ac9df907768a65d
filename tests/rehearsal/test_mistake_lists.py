"""No list of mistakes is left out of the pages that tell of them, and the pages are what is written of the lists."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from importlib import import_module
from typing import Any, Final

import pytest

from tests.mistakes_page import mistakes_pages
from tests.rehearsal.mistake_areas import areas
from tests.rehearsal.mistake_lists import HERE, Area, of_value
from tests.rehearsal.works.mistakes import Mistake
from tests.shared import ROOT

RIGHT: Final = {"HEALTHY", "SOUND", "RIGHT", "GOOD_CHANGES"}
"""How what is right is called: changes in the same form that must not be told."""
NAMES: Final = {
    "MISTAKES", "REFUSED", "SILENT", "TAKEN", "LATER", "TOLD", "MORE", "FURTHER", "WRONG", "ROWS", "BROKEN",
}  # fmt: skip
"""How lists of mistakes are called that are of no form that a test could know them by."""
LIST_FILE: Final = re.compile(r"works/mistakes_\w+\.py|refusals/(?!test_)\w*(?:mistakes|forty|sixty)\.py")
LITERAL: Final = re.compile(rf"^(?:{'|'.join(NAMES)})(?:: [^=\n]+)? = [\[({{]\n *(?![*\s])", flags=re.MULTILINE)
"""A list that is written out, and not one that gathers what others hold."""
NO_LIST: Final = {
    "change/test_judge.py": "changes of what stands, which the judge of changes tells",
    "change/test_judge_gcp.py": "the same on Google Cloud",
    "engine/test_light_sdk.py": "arguments of the SDK, for the engine alone",
    "works/mistakes_chart_values.py": "mistakes of references, which the room's list has",
    "works/mistakes_times.py": "the same",
    "works/test_healthy.py": "healthy stacks",
    "works/test_managed_sets.py": "what other lists hold, and alarms that are right and wrong, beside a rule",
    "works/test_tired.py": "rules of the lists, which are on the pages",
}


@pytest.fixture(scope="module")
def every() -> list[Area]:
    return areas()


@pytest.fixture(scope="module")
def named(every: list[Area]) -> frozenset[str]:
    return frozenset(row.what for area in every for listed in area.lists for row in listed.rows)


@pytest.fixture(scope="module")
def modules(every: list[Area]) -> frozenset[str]:
    return frozenset(name for area in every for listed in area.lists for name in listed.modules)


def files() -> Iterator[tuple[str, str]]:
    """Each file of the rehearsal's tests, by its path below them, with what stands in it."""
    for path in sorted(HERE.rglob("*.py")):
        if HERE / "projects" not in path.parents:
            yield path.relative_to(HERE).as_posix(), path.read_text("utf-8")


def held(path: str) -> dict[str, Any]:
    module = import_module(f"tests.rehearsal.{path.removesuffix('.py').replace('/', '.')}")
    return {name: value for name, value in vars(module).items() if name.isupper() and name not in RIGHT}


def forgotten(values: dict[str, Any], named: Collection[str]) -> set[str]:
    """Mistakes of a module, of any form that can be known as one, that no page names."""
    return {what for name, value in values.items() for what in _mistakes(name, value)} - set(named)


def _mistakes(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mistake):
        yield value.what
    elif isinstance(value, (list, tuple)):
        for one in value:
            if isinstance(one, Mistake):
                yield one.what
            elif isinstance(one, tuple) and len(one) > 3 and not callable(one[2]) and isinstance(one[3], str):
                # A resource, its input, a wrong value and the rule; without a rule it is right.
                yield from (of_value(*one[:3]),) if one[3] else ()
    elif isinstance(value, dict) and name in NAMES:
        yield from (what if " " in what else what.replace("-", " ") for what in value)


def test_the_pages_are_what_is_written_of_the_lists(every: list[Area]) -> None:
    for file, text in mistakes_pages().items():
        assert (ROOT / "docs" / file).read_text("utf-8") == text, f"docs/{file}: make golden"
    pages = {path.stem for path in (ROOT / "docs" / "mistakes").iterdir()}
    assert pages == {area.file for area in every}


def test_every_file_of_mistakes_is_on_a_page(modules: frozenset[str]) -> None:
    lists = {path for path, text in files() if LIST_FILE.fullmatch(path) or LITERAL.search(text)}
    on_pages = {f"{name.replace('.', '/')}.py" for name in modules}
    assert sorted(lists - on_pages - set(NO_LIST)) == []
    assert sorted(set(NO_LIST) - lists) == []


def test_every_mistake_is_on_a_page(named: frozenset[str], modules: frozenset[str]) -> None:
    places = {path for path, text in files() if "Mistake(" in text and "/test_" not in path}
    places |= {f"{name.replace('.', '/')}.py" for name in modules if name != "test_mistakes"}
    assert {path: left for path in sorted(places) if (left := forgotten(held(path), named))} == {}


def test_a_forgotten_mistake_is_seen() -> None:
    mistake = Mistake("own", "one that no page names", list, "some-rule")
    row = ("cluster", "name", "-acme", "aws-model", "")
    known = {"another"}
    assert forgotten({"NEWEST": [mistake]}, known) == {"one that no page names"}
    assert forgotten({"NEWEST": [row, (*row[:3], "", "")]}, known) == {"`cluster`, `name`: `-acme`"}
    assert forgotten({"MORE": {"a-slug": ("demo", list), "another": ("demo", list)}}, known) == {"a slug"}


def test_what_nothing_tells_says_why(every: list[Area]) -> None:
    rows = [row for area in every for listed in area.lists for row in listed.rows]
    assert [row.what for row in rows if row.rule is None and not row.why] == []
    titles = [(area.file, listed.title) for area in every for listed in area.lists]
    assert len(set(titles)) == len(titles)
    assert all((HERE / listed.put).exists() for area in every for listed in area.lists)
