"""What a program says of itself: as Python reads it, and sooner."""

import ast
from pathlib import Path

import pytest

from tests.shared import ROOT
from trainyard.rehearsal.works.programs.kubernetes.mounted import docstring

FILES = sorted((ROOT / "components" / "k8s").rglob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_of_our_programs_it_is_what_python_reads(file: Path):
    text = file.read_text()
    assert docstring(text) == (ast.get_docstring(ast.parse(text), clean=False) or "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('"""Does."""\nimport os\n', "Does."),
        ('"""A "word"."""\nimport os\n', 'A "word".'),
        ('"""A \\"word\\"."""\nimport os\n', 'A "word".'),
        ('"""Does.""".strip()\nimport os\n', ""),
        ('r"""\\d"""\nimport os\n', "\\d"),
        ("'''Does.'''\nimport os\n", "Does."),
        ('# Ours.\n"""Does."""\nimport os\n', "Does."),
        ('import os\n"""Does."""\nimport sys\n', ""),
        ('"""Does."""\necho no Python\n', ""),
        ("", ""),
    ],
)
def test_however_it_is_written(text: str, said: str):
    assert docstring(text) == said
