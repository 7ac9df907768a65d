"""README and CONTRIBUTING name what there is: paths, commands, targets, layers."""

import re

import pytest

from tests.house_map import layers
from tests.shared import ROOT
from trainyard.cli.main import app

DOCUMENTS = ("README.md", "CONTRIBUTING.md")
ELSEWHERE = {"Pulumi.dev.yaml", "Pulumi.STACK.yaml", "dist/", "out/site/", "policy-pack/"}
"""What is written or built, so that a clone does not have it."""


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def code(name):
    return re.findall(r"`([^`\n]+)`", text(name))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_paths_are_there(name):
    paths = {
        word
        for span in code(name)
        for word in span.split()
        if re.fullmatch(r"[\w./*-]+", word) and ("/" in word.strip("/") or word.endswith((".md", ".toml", ".txt")))
    }
    tops = {path.name for path in ROOT.iterdir()}
    ours = {path for path in paths if path.split("/")[0] in tops and not path.startswith(".venv/")}
    assert len(ours) > 10
    assert [path for path in sorted(ours - ELSEWHERE) if not list(ROOT.glob(path.rstrip("/")))] == []


def test_no_document_holds_a_merge_that_was_left_open():
    documents = [ROOT / name for name in DOCUMENTS] + list((ROOT / "docs").rglob("*.md"))
    assert [path for path in documents if re.search(r"^(<{7}|>{7}) ", path.read_text("utf-8"), flags=re.M)] == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_targets_and_commands_are_there(name):
    targets = set(re.findall(r"^([a-z]+):", text("Makefile"), flags=re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z]+)\b(?=[`\s])", "\n".join(_commands(name)))) <= targets
    verbs = {command.name or command.callback.__name__ for command in app.registered_commands}
    verbs |= {group.name for group in app.registered_groups}
    assert set(re.findall(r"\btrainyard ([a-z]+)\b", "\n".join(_commands(name)))) <= verbs


def test_the_readme_lists_every_command():
    table = text("README.md").partition("## Commands")[2]
    for command in app.registered_commands:
        assert f"`trainyard {command.name or command.callback.__name__} " in table


def test_the_layers_are_those_of_the_contract():
    table = text("CONTRIBUTING.md").partition("| layer |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1] for line in table.splitlines()[2:]]
    assert [re.findall(r"`(\w+)`", row) for row in rows] == layers()


def _commands(name):
    """What stands in code spans and code blocks."""
    return [*code(name), *re.findall(r"```sh\n(.+?)```", text(name), flags=re.DOTALL)]
