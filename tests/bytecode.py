"""What the workers compile of the project: each a part of it, which all of them read.

To compile the modules and to rewrite the assertions of the tests is half of all collecting. Workers collect the same
files in the same order at the same time: each would do all of it, also where it is kept for the next run.
"""

from __future__ import annotations

import compileall
import os
import sys
from pathlib import Path

import pytest
from _pytest.assertion import rewrite

from tests.shared import ROOT

MODULES = ("trainyard", "components", "policies", "smoke_jobs", "stacks")
"""The packages of the project; all but the first are linked into it."""


def compile_share(config: pytest.Config) -> None:
    """Compiles a worker's share of everything, where the whole suite is asked for.

    Nothing where no bytecode is kept (`PYTHONDONTWRITEBYTECODE`), and nothing that is there already.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if worker and not sys.dont_write_bytecode and [Path(arg).resolve() for arg in config.args] == [ROOT / "tests"]:
        number, workers = int(worker.removeprefix("gw")), int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        _compile(config, _files()[number::workers])


def _files() -> list[Path]:
    """Largest first: the shares are of about one size."""
    found = (path for name in (*MODULES, "tests") for path in (ROOT / name).rglob("*.py"))
    return sorted(found, key=lambda path: (-path.stat().st_size, path))


def _compile(config: pytest.Config, files: list[Path]) -> None:
    """Writes what Python and pytest write themselves when they import a module."""
    for path in files:
        if not path.name.startswith("test_"):
            compileall.compile_file(path, quiet=2)
        else:
            rewritten = rewrite.get_cache_dir(path) / f"{path.stem}{rewrite.PYC_TAIL}"
            if rewrite._read_pyc(path, rewritten) is None and rewrite.try_makedirs(rewritten.parent):
                stamp, code = rewrite._rewrite_test(path, config)
                rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, stamp, rewritten)
