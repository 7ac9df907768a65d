"""Guides say what is true: their commands and options are there, and their parts of stack files are taken."""

import shlex

import pytest
import typer.exceptions
import typer.main

from tests.documentation.documents import GUIDES, PAGES, TUTORIAL, commands, parts_of_stack_files
from tests.shared import ROOT
from trainyard.cli.main import app
from trainyard.plan.lock import NOTHING
from trainyard.plan.resolve import resolve_config
from trainyard.problems import SettingsError
from trainyard.rehearsal.engine.project import read_stack


def problem_of(line):
    """What is wrong with a command of ours as it is written; None: nothing is, or it is another program's."""
    line = line.partition(" && ")[0]
    if line.split()[:1] != ["trainyard"]:
        return None
    words = shlex.split(line)
    command, words = typer.main.get_command(app), words[1:]
    while hasattr(command, "commands"):
        if not words or words[0] not in command.commands:
            return f"{line}: no such verb"
        command, words = command.commands[words[0]], words[1:]
    try:
        command.make_context(line, words)
    except typer.exceptions.TyperException as error:
        return f"{line}: {error.format_message()}"
    return None


def test_the_commands_are_there():
    said = [(page.relative_to(ROOT).as_posix(), line) for page in PAGES for line in commands(page)]
    assert [f"{page}: {problem}" for page, line in said if (problem := problem_of(line))] == []


def test_most_pages_have_commands_and_settings():
    assert sum(bool(commands(page)) for page in (TUTORIAL, *GUIDES)) > 5
    assert sum(bool(parts_of_stack_files(page)) for page in GUIDES) > 4


def test_a_command_that_is_not_there_is_told():
    assert "no such verb" in problem_of("trainyard rehurse demo")
    assert "--form" in problem_of("trainyard rehearse demo --form main")
    assert "CLIENT" in problem_of("trainyard new --team-size 8 --alert-email a@b.example")
    assert "--team-size" in problem_of("trainyard new globex --team-size few")
    assert problem_of("kubectl get pods --form") is None


def taken(part):
    """The plan of the demo stack with these settings in place of its own; raises where they are refused."""
    region = {"trainyard:gpuPools": {}} if "trainyard:region" in part else {}  # a reservation is in a zone of its own
    return resolve_config(read_stack(ROOT, "demo", config_overrides={**region, **part}), NOTHING)


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_the_parts_of_stack_files_are_taken(page):
    for part in parts_of_stack_files(page):
        assert taken(part)


def test_a_setting_that_is_not_there_is_refused():
    with pytest.raises(SettingsError, match="queueHour"):
        taken({"trainyard:monitoring": {"alerts": {"queueHour": 4}}})
