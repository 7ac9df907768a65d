"""Every type token that several readers ask for stands once, in `trainyard/recorded/types.py`."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.shared import ROOT
from trainyard.recorded import types

READERS = ("trainyard", "policies")
TABLE = 4
"""As many tokens in one literal are rows of a table, which is data: what a card, a limit or a name is said of."""
_TOKEN = re.compile(  # as Pulumi writes it, or of any version
    r"(?:aws|gcp|kubernetes|pulumi|trainyard):(?:[\w.-]+(?:/[\w.-]+|/\*)*:[A-Za-z]\w*|providers:\w+)"
)
_LITERALS = (ast.Dict, ast.Tuple, ast.List, ast.Set, ast.Call)


def spelt(text: str) -> Iterator[str]:
    """Tokens that a module spells, those in tables left out."""

    def tokens(node: ast.AST) -> Iterator[str]:
        for each in ast.walk(node):
            if isinstance(each, ast.Constant) and isinstance(each.value, str) and _TOKEN.fullmatch(each.value):
                yield each.value

    def outside(node: ast.AST) -> Iterator[str]:
        if isinstance(node, _LITERALS) and len(set(tokens(node))) >= TABLE:
            return
        if isinstance(node, ast.Constant):
            yield from tokens(node)
        for child in ast.iter_child_nodes(node):
            yield from outside(child)

    yield from outside(ast.parse(text))


def twice(modules: dict[str, str]) -> dict[str, list[str]]:
    """Tokens that more than one module spells, with the modules."""
    where = defaultdict(set)
    for name, text in modules.items():
        for token in spelt(text):
            where[token].add(name)
    return {token: sorted(names) for token, names in where.items() if len(names) > 1}


def modules() -> dict[str, str]:
    """Every module that reads what was recorded."""
    found = [path for folder in READERS for path in sorted((ROOT / folder).rglob("*.py")) if not _is_link(path)]
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in found}


def _is_link(path: Path) -> bool:
    return any(each.is_symlink() for each in (path, *path.parents) if each.is_relative_to(ROOT))


def test_a_token_is_spelt_in_one_file() -> None:
    found = modules()
    assert len(found) > 800
    assert twice(found) == {}


def test_types_have_one_name_each() -> None:
    named = [value for name, value in vars(types).items() if name.isupper() and isinstance(value, str)]
    assert len(named) > 200
    assert all(_TOKEN.fullmatch(value) for value in named)
    assert len(named) == len(set(named))


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        pytest.param('A = "aws:sqs/queue:Queue"', 'call("aws:sqs/queue:Queue")', True, id="name-and-argument"),
        pytest.param(
            'def f(t):\n    match t:\n        case "kubernetes:batch/v1:Job": ...',
            'A = ("kubernetes:batch/v1:Job", "b")',
            True,
            id="case-and-pair",
        ),
        pytest.param('A = "aws:sqs/queue:Queue"', "A = QUEUE", False, id="one"),
        pytest.param(
            'A = "aws:sqs/queue:Queue"',
            'T = {"aws:sqs/queue:Queue": 1, "aws:a/b:B": 2, "aws:a/c:C": 3, "aws:a/d:D": 4}',
            False,
            id="table",
        ),
        pytest.param('A = "arn:aws:sqs"', 'B = "arn:aws:sqs"', False, id="no-token"),
    ],
)
def test_what_counts(first: str, second: str, found: bool) -> None:
    assert bool(twice({"a.py": first, "b.py": second})) is found
