"""A command's dataclasses as typer's options."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from trainyard.advice import Request
from trainyard.cli import recommend, training_options
from trainyard.cli.option_groups import grouped
from trainyard.cli.training_options import CloudOptions, TrainingOptions, read_request


@dataclass(frozen=True)
class Size:
    width: Annotated[int, typer.Option("--width", help="In metres.")] = 1
    unit: Annotated[str | None, typer.Option("--unit")] = None


@dataclass(frozen=True)
class Required:
    width: int


def test_the_fields_of_a_group_are_options_and_reach_the_command():
    got = []

    @grouped
    def command(size: Size, loud: Annotated[bool, typer.Option("--loud")] = False) -> None:
        """Does it."""
        got.append((size, loud))

    app = typer.Typer()
    app.command()(command)
    shown = CliRunner().invoke(app, ["--help"]).stdout
    assert "In metres." in shown and "Does it." in shown
    assert CliRunner().invoke(app, ["--width", "3", "--loud"]).exit_code == 0
    assert CliRunner().invoke(app, ["--unit", "m"]).exit_code == 0
    assert got == [(Size(3), True), (Size(1, "m"), False)]
    assert CliRunner().invoke(app, ["--width", "wide"]).exit_code == 2


def test_two_options_of_one_name_are_refused():
    def command(size: Size, width: int = 1) -> None:
        raise AssertionError

    with pytest.raises(TypeError, match="width needs a default and a name of its own"):
        grouped(command)


def test_a_group_without_a_default_is_refused():
    def command(size: Required) -> None:
        raise AssertionError

    with pytest.raises(TypeError, match="width needs a default"):
        grouped(command)


GROUPS = (TrainingOptions, CloudOptions, recommend.LimitOptions, recommend.SearchOptions)


def test_every_field_of_a_request_is_an_option():
    names = [training_options.REQUEST_FIELDS.get(field.name, field.name) for group in GROUPS for field in fields(group)]
    assert sorted([*names, "today"]) == sorted(field.name for field in fields(Request))


def test_quantities_are_read_and_what_cannot_be_is_told_and_left_out():
    problems = []
    request = read_request(
        problems,
        TrainingOptions(params="7B", dataset_size="1.5TB", global_batch="2M", images="many"),
        recommend.LimitOptions(deadline="2w", budget="50k"),
    )
    assert (request.params, request.dataset_gb, request.global_batch_tokens) == (7e9, 1500, 2e6)
    assert (request.deadline_hours, request.budget_usd) == (336, 50e3)
    assert request.images is None
    (problem,) = problems
    assert (problem.key, problem.got) == ("--images", "many")
