"""The README's examples print what the golden files hold."""

from __future__ import annotations

import pytest

from tests.advice.golden_examples import EXAMPLES, FOLDER, examples


@pytest.fixture(scope="module")
def texts():
    return examples()


def test_the_golden_files_are_those_of_the_examples(texts):
    assert {path.name for path in FOLDER.glob("*.txt")} == set(texts)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_prints_its_golden_text(texts, name):
    assert texts[f"{name}.txt"] == (FOLDER / f"{name}.txt").read_text(encoding="utf-8"), "make golden"


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_fits_100_columns(texts, name):
    _, *lines = texts[f"{name}.txt"].splitlines()
    assert max(map(len, lines)) <= 100
