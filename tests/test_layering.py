"""Imports run one way (pyproject.toml, import-linter)."""

from importlinter.application.use_cases import lint_imports
from importlinter.application.user_options import UserOptions  # noqa: F401  (fails here if the library moves it)
from importlinter.configuration import configure

from tests.shared import ROOT


def test_imports_run_one_way(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    configure()
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml"), cache_dir=None), capsys.readouterr().out
