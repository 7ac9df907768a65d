"""What every program of `keepers/` is held to: it runs in an image with Python and nothing else."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from trainyard.components.k8s.keepers import HEARTBEAT, checksum, sources

PROGRAMS = sorted(path.stem for path in Path("components/k8s/keepers").glob("*.py") if "def main(" in path.read_text())
"""Those that a pod runs; the others are what these share."""


@pytest.mark.parametrize("program", PROGRAMS)
def test_it_imports_the_standard_library_and_what_is_sent_with_it(program: str) -> None:
    sent = sources(program)
    assert {f"{program}.py", f"{HEARTBEAT}.py"} <= sent.keys()
    for text in sent.values():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                assert {name.name.partition(".")[0] for name in node.names} <= sys.stdlib_module_names
            if isinstance(node, ast.ImportFrom):
                assert node.module
                assert (
                    (node.level == 1 and f"{node.module}.py" in sent)
                    or node.module in sys.stdlib_module_names
                    or (node.module.partition(".")[0] in sys.stdlib_module_names)
                )


@pytest.mark.parametrize("program", PROGRAMS)
def test_it_starts_from_where_its_pod_has_it(program: str, tmp_path: Path) -> None:
    folder = tmp_path / "keepers"
    folder.mkdir()
    for name, text in sources(program).items():
        (folder / name).write_text(text)
    ran = subprocess.run(
        [
            sys.executable,
            "-I",
            "-c",
            f"import sys; sys.path.insert(0, {str(tmp_path)!r}); "
            f"from keepers.{program} import main; sys.exit(main([]))",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2, ran.stderr
    assert "CONFIGURATION" in ran.stderr


def test_another_text_is_another_checksum() -> None:
    assert len({checksum(program) for program in PROGRAMS}) == len(PROGRAMS)
