"""What another program writes is read whatever its bytes are: a stray one must not look like a bug of ours."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.shared import ROOT

FOLDERS = ("account", "cli", "fleet", "preflight", "review", "teardown", "upgrade")


def strict(source: str) -> list[int]:
    """Lines where a program's output is read as text and a byte that is none would end us."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("subprocess.run", "subprocess.Popen"):
            given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            if ("text" in given or "encoding" in given) and given.get("errors") != "'replace'":
                found.append(node.lineno)
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_output_of_programs_is_read_whatever_it_is(folder: str) -> None:
    files = sorted((Path(ROOT) / "trainyard" / folder).rglob("*.py"))
    assert files
    assert {str(file): lines for file in files if (lines := strict(file.read_text()))} == {}


def test_one_that_is_strict_is_found() -> None:
    assert strict("subprocess.run(['x'], text=True)\nsubprocess.run(['x'], text=True, errors='replace')") == [1]
