"""What a recommendation is asked for, with every mistake told at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Literal

from trainyard import catalog
from trainyard.advice.architectures import Architecture, architectures
from trainyard.advice.hardware import CLOUDS, machines
from trainyard.advice.hardware import PRECISIONS as ARITHMETIC
from trainyard.advice.memory import OPTIMIZERS
from trainyard.problems import Problem, SettingsError, nearest

Task = Literal["language", "vision", "tabular", "fine-tune", "lora", "qlora"]
TASKS: tuple[Task, ...] = ("language", "vision", "tabular", "fine-tune", "lora", "qlora")
ADAPTER_TASKS = ("lora", "qlora")
PRECISIONS = (*ARITHMETIC, "bf16-true")
"""bf16, fp16 and fp8 are mixed, with an fp32 copy of the weights; bf16-true holds all in 16 bits."""


@dataclass(frozen=True, slots=True)
class Request:
    """A training to size. Fields are named as the command's options.

    The work is `tokens` or `images` a pass, or `dataset_gb` (10**9 bytes a pass), times `epochs`. `deadline_hours` is
    for one run, or for the whole sweep. `spot` True allows spot only, False forbids it. Without `monthly_runs` there
    is one run and no more; `budget_usd` is for it (or its sweep), else for a month. `params` of a mixture of experts
    are all; `active_params` those of a token. `layers`, `hidden` and `vocabulary` refine the shape that is otherwise
    derived from `params`. `global_batch_tokens` of a vision task are images.
    """

    today: date
    task: Task = "language"
    params: float | None = None
    active_params: float | None = None
    architecture: str | None = None
    layers: int | None = None
    hidden: int | None = None
    vocabulary: int | None = None
    tokens: float | None = None
    images: float | None = None
    dataset_gb: float | None = None
    epochs: float = 1
    sequence_length: int | None = None
    precision: str = "bf16"
    optimizer: str = "adamw"
    lora_rank: int | None = None
    global_batch_tokens: float | None = None
    deadline_hours: float | None = None
    monthly_runs: float | None = None
    sweep: int = 1
    cloud: str = "aws"
    region: str | None = None
    budget_usd: float | None = None
    max_nodes: int | None = None
    spot: bool | None = None


def check(request: Request) -> Architecture | None:
    """The known architecture that is named, if one is.

    Raises:
        SettingsError: with every problem, each named by the option.
    """
    problems = [*_ranges(request), *_choices(request), *_work(request)]
    if problems:
        raise SettingsError(problems)
    return architectures().get(request.architecture or "")


def _ranges(request: Request) -> Iterator[Problem]:
    bounds: tuple[tuple[str, float | None, float, float, str], ...] = (
        ("--params", request.params, 1e5, 1e14, "parameters, like 7e9 or 7B"),
        ("--active-params", request.active_params, 1e5, 1e14, "parameters a token uses"),
        ("--tokens", request.tokens, 1e3, 1e16, "tokens, like 1e12 or 1T"),
        ("--images", request.images, 1, 1e13, "images, like 1.28e6"),
        ("--dataset-size", request.dataset_gb, 1e-3, 1e9, "a size between 1MB and 1EB, like 200GB"),
        ("--epochs", request.epochs, 1e-3, 1e5, "passes over the data"),
        ("--sequence-length", request.sequence_length, 16, 1_048_576, "tokens"),
        ("--layers", request.layers, 1, 1000, "transformer layers"),
        ("--hidden", request.hidden, 16, 200_000, "width of a layer"),
        ("--vocabulary", request.vocabulary, 2, 10_000_000, "tokens of the vocabulary"),
        ("--lora-rank", request.lora_rank, 1, 4096, "rank of the adapters"),
        ("--global-batch", request.global_batch_tokens, 1 if request.task == "vision" else 16, 1e9, "a step"),
        ("--deadline", request.deadline_hours, 0.1, 24 * 365 * 3, "a time up to three years, like 30d or 12h"),
        ("--monthly-runs", request.monthly_runs, 0.01, 1e5, "runs a month"),
        ("--sweep", request.sweep, 1, 100_000, "trials"),
        ("--budget", request.budget_usd, 1, 1e12, "USD"),
        ("--max-nodes", request.max_nodes, 1, 10_000, "nodes"),
    )
    for key, value, low, high, unit in bounds:
        if value is not None and not low <= value <= high:
            yield Problem(key, f"{value:g}", f"must be {low:g} to {high:g}: {unit}")


def _choices(request: Request) -> Iterator[Problem]:
    known = tuple(architectures())
    for key, value, allowed in (
        ("--task", request.task, TASKS),
        ("--precision", request.precision, PRECISIONS),
        ("--optimizer", request.optimizer, OPTIMIZERS),
        ("--cloud", request.cloud, CLOUDS),
        ("--architecture", request.architecture, known),
    ):
        if value is not None and value not in allowed:
            yield Problem(key, value, f"must be one of {', '.join(allowed)}", nearest(value, allowed))
    if request.region is not None and request.cloud in CLOUDS:
        regions = set(catalog.regions()) if request.cloud == "aws" else _gcp_regions()
        if request.region not in regions:
            hint = nearest(request.region, regions) or f"{request.cloud} has {len(regions)} regions in the catalogue"
            yield Problem("--region", request.region, f"must be a region of {request.cloud}", hint)


def _gcp_regions() -> set[str]:
    return {region for machine in machines("gcp") for region in machine.regions}


def _work(request: Request) -> Iterator[Problem]:
    named = architectures().get(request.architecture or "")
    if request.params is None and request.architecture is None and request.task != "tabular":
        yield Problem("--params", "nothing", "give --params, or --architecture for a known one")
    if request.params is not None and request.architecture is not None:
        yield Problem("--params", f"{request.params:g}", "give --params or --architecture, not both")
    if (request.layers is None) != (request.hidden is None):
        missing = "--hidden" if request.hidden is None else "--layers"
        yield Problem(missing, "nothing", "--layers and --hidden are given together")
    if request.architecture is not None and (request.layers or request.hidden or request.vocabulary):
        yield Problem("--architecture", request.architecture, "has its own shape; give --params with --layers")
    if request.lora_rank is not None and request.task not in ADAPTER_TASKS:
        yield Problem("--lora-rank", str(request.lora_rank), f"is for the tasks {' and '.join(ADAPTER_TASKS)}")
    if request.active_params is not None and (request.params is None or request.active_params > request.params):
        yield Problem("--active-params", f"{request.active_params:g}", "needs --params, and must not be above it")
    if named is not None and (request.task == "vision") != (named.task == "vision"):
        yield Problem("--task", request.task, f"{named.name} is an architecture for {named.task}")
    if request.task == "vision" and request.architecture is None:
        wanted = ", ".join(item.name for item in architectures().values() if item.task == "vision")
        yield Problem("--architecture", "nothing", f"images a second depend on it; for vision it is one of {wanted}")
    given = [
        key
        for key, value in (
            ("--tokens", request.tokens),
            ("--images", request.images),
            ("--dataset-size", request.dataset_gb),
        )
        if value is not None
    ]
    if len(given) != 1 and request.task != "tabular":
        unit = "--images" if request.task == "vision" else "--tokens"
        yield Problem(unit, " and ".join(given) or "nothing", f"give either {unit} or --dataset-size")
    elif request.task == "vision" and request.tokens is not None:
        yield Problem("--tokens", f"{request.tokens:g}", "a vision task counts --images")
    elif request.task != "vision" and request.images is not None:
        yield Problem("--images", f"{request.images:g}", f"task {request.task} counts --tokens")
