"""What a client answered before anything was made for them: the assessment, kept beside the stack's file.

It says how people train today, what they train, where, under which rules and for how much. The recommender begins with
it (`advice.assessed`), `trainyard new` asks for it, and reports tell it: each field's description is the question.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args, get_origin

import yaml
from pydantic import AfterValidator, Field, ValidationError

from trainyard.advice.request import Task
from trainyard.advice.units import count, gigabytes
from trainyard.problems import SettingsError
from trainyard.settings.mistakes import fields_of, models_in, problem_of
from trainyard.settings.types import Label, Model

SUFFIX: Final = ".answers.yaml"
"""The end of the name of the file beside a stack's: `Pulumi.STACK.answers.yaml`."""

_HEAD = """\
# What {whose} answered, with the questions; `trainyard new --answers FILE` takes such a file.
"""

_BLANK_HEAD = """\
# What a client is asked before anything is made. Write each answer behind its key; what is not known stays open.
# `trainyard assess FILE --check` reads it; `trainyard report --proposal --answers FILE` and `trainyard new CLIENT
# --answers FILE` begin with it.
"""

_UNITS: Final = ("tokens", "images")


def _data(text: str) -> str:
    """Lets pass 200GB, 300B tokens and 1.28M images; raises ValueError for anything else."""
    amount, _, unit = text.strip().partition(" ")
    try:
        if unit in _UNITS:
            count(amount)
        else:
            gigabytes(text)
    except ValueError:
        raise ValueError("must be a size, tokens or images, like 200GB, 300B tokens or 1.28M images") from None
    return text


Data = Annotated[str, AfterValidator(_data)]
Amount = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]


class People(Model):
    """Who trains models."""

    team_size: int = Field(ge=1, le=10_000, description="How many people train models?")
    hourly_usd: Amount | None = Field(default=None, description="What does an hour of one of them cost, in US dollars?")


class Today(Model):
    """How they train now."""

    gpu: Label | None = Field(default=None, description="On which GPU do they train today, like A10G?")
    gpus: int | None = Field(default=None, ge=1, le=100_000, description="On how many GPUs in all?")
    hours_a_run: Amount | None = Field(default=None, description="How many hours does a training run take today?")
    wait_hours_a_run: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)] | None = Field(
        default=None, description="How many hours does a run wait before it begins?"
    )
    spend_usd: Amount | None = Field(default=None, description="What does training cost a month, in US dollars?")


class Training(Model):
    """What is trained: the largest training that comes again."""

    task: Task = Field(description="What kind of training is it?")
    model: str | None = Field(
        default=None,
        min_length=1,
        max_length=60,
        description="Which model, by its name or its parameters, like llama-3-8b, resnet-50 or 7B?",
    )
    data: Data | None = Field(
        default=None, description="How much data is one pass, like 200GB, 300B tokens or 1.28M images?"
    )
    epochs: Amount = Field(default=1, description="How many passes over the data does a run take?")
    runs_a_month: Amount | None = Field(default=None, description="How many such runs are there in a month?")
    hours_wanted: Amount | None = Field(default=None, description="How many hours may a run take in the end?")


class Place(Model):
    """Where it may be."""

    cloud: Literal["aws", "gcp"] = Field(description="Which cloud?")
    region: str = Field(min_length=1, max_length=40, description="Which of its regions, like eu-west-1?")
    residency: Literal["none", "eu", "uae", "us", "uk", "india"] = Field(
        default="none", description="Is there a place that the data must not leave?"
    )


class Money(Model):
    """What it may cost."""

    monthly_budget_usd: int | None = Field(
        default=None, ge=1, le=1_000_000_000, description="What may it cost a month, in whole US dollars?"
    )


class Compliance(Model):
    """Which rules hold."""

    rules: list[Label] = Field(
        default=[], max_length=20, description="Which rules or standards does the client answer to, like ISO 27001?"
    )
    log_days: int | None = Field(
        default=None, ge=1, le=3653, description="For how many days must the logs of the cluster be kept?"
    )


class Assessment(Model):
    """A client's answers."""

    people: People
    today: Today = Today()
    training: Training
    where: Place
    money: Money = Money()
    compliance: Compliance = Compliance()


@dataclass(frozen=True, slots=True)
class Question:
    """One question of the assessment."""

    part: str  # people
    key: str  # teamSize, as the file spells it
    text: str
    kind: Any  # the field's annotation
    required: bool

    @property
    def path(self) -> str:
        """The key with its part: `people.teamSize`."""
        return f"{self.part}.{self.key}"

    @property
    def choices(self) -> tuple[str, ...]:
        """What an answer may be, where only a few words are."""
        return tuple(choice for choice in get_args(self.kind) if isinstance(choice, str))

    @property
    def is_list(self) -> bool:
        """Whether there may be several answers."""
        return get_origin(self.kind) is list

    @property
    def is_number(self) -> bool:
        """Whether the answer is a number."""
        return any(kind in (int, float) for kind in _kinds(self.kind))


def _kinds(annotation: Any) -> Iterator[Any]:
    """The plain types that an annotation holds."""
    yield annotation
    for part in get_args(annotation):
        yield from _kinds(part)


def questions() -> tuple[Question, ...]:
    """Every question in the order in which it is asked."""
    return tuple(
        Question(part, key, str(field.description), field.annotation, field.is_required())
        for part, holder in fields_of(Assessment).items()
        for model in models_in(holder.annotation)
        for key, field in fields_of(model).items()
    )


def answer_at(assessment: Assessment, path: str) -> Any:
    """The answer to a question, by the question's path."""
    part, _, key = path.partition(".")
    return assessment.model_dump(by_alias=True)[part][key]


def answered(assessment: Assessment) -> Iterator[tuple[Question, str]]:
    """Each question that has an answer, with it, as a report tells it."""
    content = assessment.model_dump(by_alias=True)
    for question in questions():
        value = content[question.part][question.key]
        if value not in (None, [], "none"):
            yield question, ", ".join(value) if isinstance(value, list) else _plain(value)


def _plain(value: Any) -> str:
    return f"{value:,.10g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def assessment_path(stack_file: Path) -> Path:
    """Where a stack's answers are."""
    return stack_file.with_name(stack_file.name.removesuffix(stack_file.suffix) + SUFFIX)


def assessment_of(content: dict[Any, Any]) -> Assessment:
    """The answers that a mapping holds, where nothing behind a key is no answer.

    Raises `SettingsError`, each problem named as the file spells the question.
    """
    given = {part: _given(values) for part, values in content.items()}
    try:
        return Assessment.model_validate({part: values for part, values in given.items() if values is not None})
    except ValidationError as error:
        raise SettingsError(problem_of(found, Assessment) for found in error.errors(include_url=False)) from None


def _given(values: Any) -> Any:
    return {key: value for key, value in values.items() if value is not None} if isinstance(values, dict) else values


def blank_text() -> str:
    """The file with every question, for a client to fill in."""
    lines, part = [_BLANK_HEAD], ""
    for question in questions():
        if question.part != part:
            part = question.part
            lines.append(f"{part}:\n")
        among = f" One of: {', '.join(question.choices)}." if question.choices else ""
        lines.append(f"  # {question.text}{among}{' Has to be answered.' if question.required else ''}\n")
        lines.append(f"  {question.key}:\n")
    return "".join(lines)


def assessment_text(assessment: Assessment, whose: str) -> str:
    """The text of the file, each answer below its question; what was not answered is not there. `whose` they are: in
    words, like `the client of stack acme-prod`."""
    lines = [_HEAD.format(whose=whose)]
    content = assessment.model_dump(by_alias=True, mode="json")
    asked = {question.path: question.text for question in questions()}
    for part, values in content.items():
        given = {key: value for key, value in values.items() if value not in (None, [])}
        if not given:
            continue
        lines.append(f"{part}:\n")
        for key, value in given.items():
            lines.append(f"  # {asked[f'{part}.{key}']}\n")
            plain = int(value) if isinstance(value, float) and value.is_integer() else value
            lines.append(_indented(yaml.safe_dump({key: plain}, width=110, default_flow_style=False)))
    return "".join(lines)


def _indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines())
