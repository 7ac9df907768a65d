"""The README's examples print what the golden files hold."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from tests.advice.golden_examples import ESTIMATES, EXAMPLES, FOLDER, examples


@pytest.fixture(scope="module")
def texts():
    return examples()


def test_the_golden_files_are_those_of_the_examples(texts):
    assert {path.name for path in FOLDER.glob("*.txt")} == set(texts)
    assert len(texts) == 9 + len(ESTIMATES)


@pytest.mark.parametrize("name", [*EXAMPLES, *ESTIMATES])
def test_an_example_prints_its_golden_text(texts, name):
    assert texts[f"{name}.txt"] == (FOLDER / f"{name}.txt").read_text(encoding="utf-8"), "make golden"


@pytest.mark.parametrize("name", [*EXAMPLES, *ESTIMATES])
def test_an_example_fits_100_columns(texts, name):
    command, *lines = texts[f"{name}.txt"].splitlines()
    assert command.startswith(f"$ trainyard {'estimate' if name in ESTIMATES else 'recommend'} ")
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_command_asks_for_the_same(name, monkeypatch):
    """The options in the text and the request beside it are one."""
    import typer

    from trainyard import advice as sizing
    from trainyard.cli import recommend as verb

    asked = []
    real = sizing.recommend

    def keep(request):
        asked.append(request)
        return real(request)

    monkeypatch.setattr(sizing, "recommend", keep)
    app = typer.Typer()
    app.command()(verb.recommend)
    options, request, _ = EXAMPLES[name]
    result = CliRunner().invoke(app, options.split())
    assert result.exit_code == (1 if name == "refused" else 0)
    assert [item.__class__(**{**_fields(item), "today": request.today}) for item in asked] == [request]


def _fields(request):
    return {name: getattr(request, name) for name in request.__slots__}
