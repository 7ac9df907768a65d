"""`trainyard recommend`: what size a training needs, what it costs, and whether to own the hardware."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainyard.cli.project import ProjectOption, fail_options, fail_settings, find_project, find_stack
from trainyard.cli.recommend_options import (
    HARDWARE,
    OUTPUT,
    ActiveParamsOption,
    ArchitectureOption,
    CloudOption,
    DatasetSizeOption,
    EpochsOption,
    GlobalBatchOption,
    HiddenOption,
    ImagesOption,
    JsonOption,
    LayersOption,
    LoraRankOption,
    OptimizerOption,
    ParamsOption,
    PrecisionOption,
    Reader,
    RegionOption,
    SequenceOption,
    TaskOption,
    TokensOption,
    VocabularyOption,
)
from trainyard.problems import Problem, SettingsError

if TYPE_CHECKING:
    from trainyard.advice import Comparison, Recommendation

EXIT_NONE = 1
"""Nothing can be recommended: nothing fits, is in time or in the budget, or no formula covers it."""
WISHES, COMPARISON, APPLYING = "By when, for how much", "Managed, own cluster or owned", "Into a stack"
"""Panels of `--help`."""


def recommend(
    params: ParamsOption = None,
    active_params: ActiveParamsOption = None,
    architecture: ArchitectureOption = None,
    layers: LayersOption = None,
    hidden: HiddenOption = None,
    vocabulary: VocabularyOption = None,
    task: TaskOption = "language",
    tokens: TokensOption = None,
    dataset_size: DatasetSizeOption = None,
    images: ImagesOption = None,
    epochs: EpochsOption = 1,
    sequence_length: SequenceOption = None,
    global_batch: GlobalBatchOption = None,
    precision: PrecisionOption = "bf16",
    optimizer: OptimizerOption = "adamw",
    lora_rank: LoraRankOption = None,
    deadline: Annotated[
        str | None,
        typer.Option("--deadline", metavar="TIME", help="12h, 30d, 2w; 30 days by default.", rich_help_panel=WISHES),
    ] = None,
    monthly_runs: Annotated[
        float | None,
        typer.Option(
            "--monthly-runs", metavar="N", help="Runs every month; makes commitments an option.", rich_help_panel=WISHES
        ),
    ] = None,
    sweep: Annotated[
        int, typer.Option("--sweep", metavar="N", help="Trials of a hyperparameter search.", rich_help_panel=WISHES)
    ] = 1,
    cloud: CloudOption = "aws",
    region: RegionOption = None,
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="USD",
            help="Of the run, or of a month with --monthly-runs: 50k.",
            rich_help_panel=WISHES,
        ),
    ] = None,
    max_nodes: Annotated[
        int | None,
        typer.Option("--max-nodes", metavar="N", help="Nodes at most; 512 GPUs by default.", rich_help_panel=HARDWARE),
    ] = None,
    spot: Annotated[
        bool | None,
        typer.Option("--spot/--no-spot", help="Spot only, or no spot; both ways by default.", rich_help_panel=HARDWARE),
    ] = None,
    compare: Annotated[
        bool,
        typer.Option(
            "--compare",
            help="Also compare managed training, an own cluster and owned hardware.",
            rich_help_panel=COMPARISON,
        ),
    ] = False,
    assume: Annotated[
        list[str] | None,
        typer.Option(
            "--assume",
            metavar="KEY=VALUE",
            help="Replace a figure of --compare; may be repeated.",
            rich_help_panel=COMPARISON,
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say where every figure comes from.", rich_help_panel=OUTPUT)
    ] = False,
    as_json: JsonOption = False,
    html_file: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="FILE",
            help="Write a page with hours against cost; '-': print it.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    apply_to: Annotated[
        str | None,
        typer.Option("--apply", metavar="STACK", help="Write the pool into a stack's file.", rich_help_panel=APPLYING),
    ] = None,
    option: Annotated[
        int | None,
        typer.Option(
            "--option",
            metavar="N",
            help="Which of the ranked options --apply writes; the first by default.",
            rich_help_panel=APPLYING,
        ),
    ] = None,
    pool: Annotated[
        str | None,
        typer.Option(
            "--pool", metavar="NAME", help="The pool that --apply writes; train by default.", rich_help_panel=APPLYING
        ),
    ] = None,
    reservation: Annotated[
        str | None,
        typer.Option(
            "--reservation",
            metavar="ID",
            help="Of a reserved option that --apply writes: cr-...",
            rich_help_panel=APPLYING,
        ),
    ] = None,
    zone: Annotated[
        str | None,
        typer.Option("--zone", metavar="ZONE", help="The reservation's zone.", rich_help_panel=APPLYING),
    ] = None,
    project: ProjectOption = None,
) -> None:
    """What size a training needs and what it costs: instances, parallelism, hours and cost as ranges.

    Exit codes: 0 there is a recommendation; 1 there is none, with the reason; 2 the options are wrong.
    """
    from trainyard.cli.recommend_units import count, hours

    reader = Reader()
    values: dict[str, Any] = reader.work(
        params=params,
        active_params=active_params,
        tokens=tokens,
        dataset_size=dataset_size,
        images=images,
        global_batch=global_batch,
    ) | {
        "deadline_hours": reader.read("--deadline", deadline, hours),
        "budget_usd": reader.read("--budget", budget, count),
    }
    given = _assumptions(assume or [], reader.problems)
    if assume and not compare:
        reader.problems.append(Problem("--assume", assume[0], "is for --compare, which is not given"))
    if (reservation is None) != (zone is None):
        reader.problems.append(Problem("--reservation", reservation or "nothing", "is given with --zone"))
    if apply_to is None:
        for key, value in (("--option", option), ("--pool", pool), ("--reservation", reservation)):
            if value is not None:
                reader.problems.append(Problem(key, str(value), "is for --apply, which is not given"))
    printed = str(html_file) == "-"
    if as_json and printed:
        reader.problems.append(Problem("--json", "--html -", "prints too; give --html a file"))
    if explain and (as_json or printed):
        reader.problems.append(Problem("--explain", "--json" if as_json else "--html -", "has every source anyway"))
    from trainyard.advice import Request
    from trainyard.advice import compare as make_comparison
    from trainyard.advice import recommend as make

    request = Request(
        today=date.today(),
        task=task,  # type: ignore[arg-type]  # checked with the rest
        architecture=architecture,
        layers=layers,
        hidden=hidden,
        vocabulary=vocabulary,
        epochs=epochs,
        sequence_length=sequence_length,
        precision=precision,
        optimizer=optimizer,
        lora_rank=lora_rank,
        monthly_runs=monthly_runs,
        sweep=sweep,
        cloud=cloud,
        region=region,
        max_nodes=max_nodes,
        spot=spot,
        **values,
    )
    reader.fail_with(request)
    try:
        result = make(request)
        comparison = make_comparison(result, given) if compare and result.options else None
        _show(result, comparison, as_json=as_json, html_file=html_file, explain=explain)
        if apply_to is not None and result.options:
            place = 1 if option is None else option
            _apply(result, apply_to, place, "train" if pool is None else pool, project, (reservation, zone))
    except SettingsError as error:
        fail_options(error)
    if not result.options:
        raise typer.Exit(EXIT_NONE)


def _assumptions(given: list[str], problems: list[Problem]) -> dict[str, float]:
    found = {}
    for text in given:
        key, _, value = text.partition("=")
        try:
            found[key.strip()] = float(value)
        except ValueError:
            problems.append(Problem("--assume", text, "must be KEY=VALUE with a number, like owned_utilisation=0.8"))
    return found


def _show(
    result: Recommendation,
    comparison: Comparison | None,
    *,
    as_json: bool,
    html_file: Path | None,
    explain: bool,
) -> None:
    if html_file is not None:
        from trainyard.cli.files import write_whole
        from trainyard.cli.recommend_page import as_html

        write_whole(html_file, as_html(result, comparison))
        if str(html_file) == "-":
            return
    if as_json:
        from trainyard.cli.recommend_json import as_json_text

        typer.echo(as_json_text(result, comparison), nl=False)
        return
    from trainyard.cli import recommend_text

    recommend_text.show(recommend_text.console(), result, comparison, explain=explain)


def _apply(
    result: Recommendation,
    stack: str,
    place: int,
    pool: str,
    project: Path | None,
    reserved: tuple[str | None, str | None],
) -> None:
    from trainyard.cli.files import write_whole
    from trainyard.cli.recommend_apply import Reservation, write_checked

    reservation, zone = reserved
    bought = Reservation(reservation, zone) if reservation and zone else None

    if not 1 <= place <= len(result.options):
        raise SettingsError([Problem("--option", str(place), f"must be 1 to {len(result.options)}")])
    folder = find_project(project)
    file = find_stack(folder, stack)
    chosen = result.options[place - 1]
    try:
        text = write_checked(folder, file, pool, chosen, result.region, bought)
    except SettingsError as error:
        if any(problem.key.startswith("--") for problem in error.problems):
            raise
        fail_settings(stack, error)
    write_whole(file, text)
    typer.echo(
        f"{file.name}: gpuPools.{pool} is now {chosen.nodes * chosen.copies} {chosen.machine.type}, {chosen.capacity}",
        err=True,
    )
