"""Options that `trainyard recommend` and `trainyard estimate` share, and from options to a request."""

from dataclasses import dataclass, fields
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainyard.cli.project import fail_options
from trainyard.problems import Problem, SettingsError

if TYPE_CHECKING:
    from trainyard.advice import Request

TRAINED, HARDWARE, OUTPUT = "What is trained", "On what", "Output"
"""Panels of `--help`."""


def option(name: str, help_: str, panel: str, metavar: str | None = None, **more: Any) -> Any:
    """An option in a panel of `--help`; `more` goes to typer."""
    return typer.Option(name, metavar=metavar, help=help_, rich_help_panel=panel, **more)


def _trained(name: str, metavar: str, help_: str) -> Any:
    return option(name, help_, TRAINED, metavar)


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """What is trained. Quantities are texts here, so that all that cannot be read is told at once."""

    params: Annotated[str | None, _trained("--params", "N", "Parameters: 7e9, 7B, 300M.")] = None
    active_params: Annotated[
        str | None, _trained("--active-params", "N", "Of a mixture of experts: those a token uses.")
    ] = None
    architecture: Annotated[
        str | None, _trained("--architecture", "NAME", "A known one: llama-3-8b, vit-l-16, resnet-50.")
    ] = None
    layers: Annotated[
        int | None, _trained("--layers", "N", "With --hidden: the shape, else derived from --params.")
    ] = None
    hidden: Annotated[int | None, _trained("--hidden", "N", "Width of a layer.")] = None
    vocabulary: Annotated[int | None, _trained("--vocabulary", "N", "Tokens of the vocabulary; 50,257 by default.")] = (
        None
    )
    task: Annotated[str, _trained("--task", "TASK", "language, vision, tabular, fine-tune, lora or qlora.")] = (
        "language"
    )
    tokens: Annotated[str | None, _trained("--tokens", "N", "Tokens of one pass: 1e12, 300B.")] = None
    dataset_size: Annotated[
        str | None, _trained("--dataset-size", "SIZE", "Instead: size of the data, 200GB, 1.5TB.")
    ] = None
    images: Annotated[str | None, _trained("--images", "N", "Images of one pass, for vision: 1.28M.")] = None
    epochs: Annotated[float, _trained("--epochs", "N", "Passes over the data.")] = 1
    sequence_length: Annotated[int | None, _trained("--sequence-length", "N", "Tokens of a sequence.")] = None
    global_batch: Annotated[
        str | None, _trained("--global-batch", "N", "Tokens (vision: images) of a step; bounds the number of GPUs.")
    ] = None
    precision: Annotated[
        str, _trained("--precision", "TYPE", "bf16, fp16, fp8 (mixed), bf16-true (all in 16 bits), tf32 or fp32.")
    ] = "bf16"
    optimizer: Annotated[str, _trained("--optimizer", "NAME", "adamw, adamw-8bit, adafactor or sgd.")] = "adamw"
    lora_rank: Annotated[int | None, _trained("--lora-rank", "N", "Rank of the adapters; 16 by default.")] = None


@dataclass(frozen=True, slots=True)
class CloudOptions:
    """Options that name the cloud whose machines are meant, and where."""

    cloud: Annotated[str, option("--cloud", "aws or gcp.", HARDWARE, "CLOUD")] = "aws"
    region: Annotated[str | None, option("--region", "us-east-1 or us-central1 by default.", HARDWARE, "REGION")] = None


JsonOption = Annotated[bool, option("--json", "Print JSON instead of tables.", OUTPUT)]

REQUEST_FIELDS = {
    "global_batch": "global_batch_tokens",
    "dataset_size": "dataset_gb",
    "deadline": "deadline_hours",
    "budget": "budget_usd",
}
"""Fields of a request that are not called as the option."""


def read_request(problems: list[Problem], *groups: Any) -> "Request":
    """The request in some groups of options, whose fields are a request's; today's date is the clock's.

    A quantity that cannot be read is added to `problems`, and stands as not given in the request.
    """
    from trainyard.advice import Request
    from trainyard.advice.units import count, gigabytes, hours

    readers = {"dataset_size": gigabytes, "deadline": hours} | dict.fromkeys(
        ("params", "active_params", "tokens", "images", "global_batch", "budget"), count
    )
    values: dict[str, Any] = {}
    for group in groups:
        for field in fields(group):
            value = getattr(group, field.name)
            if field.name in readers and value is not None:
                try:
                    value = readers[field.name](value)
                except ValueError as error:
                    problems.append(Problem("--" + field.name.replace("_", "-"), value, str(error)))
                    value = None
            values[REQUEST_FIELDS.get(field.name, field.name)] = value
    return Request(today=date.today(), **values)


def fail_with(problems: list[Problem], request: "Request") -> None:
    """Ends the command where there are problems, with what else is wrong in the request.

    What only misses an option that could not be read is left out.
    """
    if not problems:
        return
    from trainyard.advice.request import check

    others: tuple[Problem, ...] = ()
    try:
        check(request)
    except SettingsError as error:
        keys = {problem.key for problem in problems}
        others = tuple(problem for problem in error.problems if problem.key not in keys and problem.got != "nothing")
    fail_options(SettingsError([*problems, *others]))
