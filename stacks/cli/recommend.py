"""`trainyard recommend`: what size a training needs, what it costs, and whether to own the hardware."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from stacks.cli.project import EXIT_SETTINGS, ProjectOption, fail_settings, find_project, find_stack
from stacks.problems import Problem, SettingsError

if TYPE_CHECKING:
    from stacks.sizing.recommend import Comparison, Recommendation, Request

EXIT_NONE = 1
"""Nothing can be recommended: nothing fits, is in time or in the budget, or no formula covers it."""


def recommend(
    params: Annotated[str | None, typer.Option("--params", metavar="N", help="Parameters: 7e9, 7B, 300M.")] = None,
    active_params: Annotated[
        str | None, typer.Option("--active-params", metavar="N", help="Of a mixture of experts: those a token uses.")
    ] = None,
    architecture: Annotated[
        str | None, typer.Option("--architecture", metavar="NAME", help="A known one: llama-3-8b, vit-l-16, resnet-50.")
    ] = None,
    task: Annotated[
        str, typer.Option("--task", metavar="TASK", help="language, vision, tabular, fine-tune or lora.")
    ] = "language",
    tokens: Annotated[str | None, typer.Option("--tokens", metavar="N", help="Tokens of one pass: 1e12, 300B.")] = None,
    dataset_size: Annotated[
        str | None, typer.Option("--dataset-size", metavar="SIZE", help="Instead: size of the data, 200GB, 1.5TB.")
    ] = None,
    images: Annotated[
        str | None, typer.Option("--images", metavar="N", help="Images of one pass, for vision: 1.28M.")
    ] = None,
    epochs: Annotated[float, typer.Option("--epochs", metavar="N", help="Passes over the data.")] = 1,
    sequence_length: Annotated[
        int | None, typer.Option("--sequence-length", metavar="N", help="Tokens of a sequence.")
    ] = None,
    global_batch: Annotated[
        str | None, typer.Option("--global-batch", metavar="N", help="Tokens of a step; bounds the number of GPUs.")
    ] = None,
    precision: Annotated[
        str, typer.Option("--precision", metavar="TYPE", help="bf16, fp16, fp8, tf32 or fp32.")
    ] = "bf16",
    deadline: Annotated[
        str | None, typer.Option("--deadline", metavar="TIME", help="12h, 30d, 2w; 30 days by default.")
    ] = None,
    monthly_runs: Annotated[
        float | None, typer.Option("--monthly-runs", metavar="N", help="Runs every month; makes commitments an option.")
    ] = None,
    sweep: Annotated[int, typer.Option("--sweep", metavar="N", help="Trials of a hyperparameter search.")] = 1,
    cloud: Annotated[str, typer.Option("--cloud", metavar="CLOUD", help="aws or gcp.")] = "aws",
    region: Annotated[
        str | None, typer.Option("--region", metavar="REGION", help="us-east-1 or us-central1 by default.")
    ] = None,
    budget: Annotated[
        str | None, typer.Option("--budget", metavar="USD", help="Of the run, or of a month with --monthly-runs: 50k.")
    ] = None,
    max_nodes: Annotated[
        int | None, typer.Option("--max-nodes", metavar="N", help="Nodes at most; 512 GPUs by default.")
    ] = None,
    spot: Annotated[
        bool | None, typer.Option("--spot/--no-spot", help="Spot only, or no spot; both ways by default.")
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Also compare managed training, an own cluster and owned hardware.")
    ] = False,
    assume: Annotated[
        list[str] | None,
        typer.Option("--assume", metavar="KEY=VALUE", help="Replace a figure of --compare; may be repeated."),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say where every figure comes from.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    html_file: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page with hours against cost; '-': print it.")
    ] = None,
    apply_to: Annotated[
        str | None, typer.Option("--apply", metavar="STACK", help="Write the pool into a stack's file.")
    ] = None,
    option: Annotated[
        int, typer.Option("--option", metavar="N", help="Which of the ranked options --apply writes.")
    ] = 1,
    pool: Annotated[str, typer.Option("--pool", metavar="NAME", help="The pool that --apply writes.")] = "train",
    project: ProjectOption = None,
) -> None:
    """What size a training needs and what it costs: instances, parallelism, hours and cost as ranges.

    Exit codes: 0 there is a recommendation; 1 there is none, with the reason; 2 the options are wrong.
    """
    from stacks.cli.recommend_units import count, gigabytes, hours

    problems: list[Problem] = []

    def read(key: str, text: str | None, reader: Callable[[str], float]) -> float | None:
        if text is None:
            return None
        try:
            return reader(text)
        except ValueError as error:
            problems.append(Problem(key, text, str(error)))
            return None

    values: dict[str, Any] = {
        "params": read("--params", params, count),
        "active_params": read("--active-params", active_params, count),
        "tokens": read("--tokens", tokens, count),
        "images": read("--images", images, count),
        "dataset_gb": read("--dataset-size", dataset_size, gigabytes),
        "global_batch_tokens": read("--global-batch", global_batch, count),
        "deadline_hours": read("--deadline", deadline, hours),
        "budget_usd": read("--budget", budget, count),
    }
    given = _assumptions(assume or [], problems)
    if assume and not compare:
        problems.append(Problem("--assume", assume[0], "is for --compare, which is not given"))
    from stacks.sizing.recommend import Request
    from stacks.sizing.recommend import compare as make_comparison
    from stacks.sizing.recommend import recommend as make

    request = Request(
        today=date.today(),
        task=task,  # type: ignore[arg-type]  # checked with the rest
        architecture=architecture,
        epochs=epochs,
        sequence_length=sequence_length,
        precision=precision,
        monthly_runs=monthly_runs,
        sweep=sweep,
        cloud=cloud,
        region=region,
        max_nodes=max_nodes,
        spot=spot,
        **values,
    )
    if problems:
        _fail(SettingsError([*problems, *_other_problems(request, problems)]))
    try:
        result = make(request)
        comparison = make_comparison(result, given) if compare and result.options else None
        _show(result, comparison, as_json=as_json, html_file=html_file, explain=explain)
        if apply_to is not None and result.options:
            _apply(result, apply_to, option, pool, project)
    except SettingsError as error:
        _fail(error)
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


def _other_problems(request: Request, unread: list[Problem]) -> tuple[Problem, ...]:
    """What else is wrong where some options could not be read; what only misses those is left out."""
    from stacks.sizing.recommend.request import check

    try:
        check(request)
    except SettingsError as error:
        keys = {problem.key for problem in unread}
        return tuple(problem for problem in error.problems if problem.key not in keys and problem.got != "nothing")
    return ()


def _show(
    result: Recommendation,
    comparison: Comparison | None,
    *,
    as_json: bool,
    html_file: Path | None,
    explain: bool,
) -> None:
    if html_file is not None:
        from stacks.cli.files import write_whole
        from stacks.cli.recommend_page import as_html

        write_whole(html_file, as_html(result, comparison))
        if str(html_file) == "-":
            return
    if as_json:
        from stacks.cli.recommend_json import as_json_text

        typer.echo(as_json_text(result, comparison), nl=False)
        return
    from stacks.cli import recommend_text

    recommend_text.show(recommend_text.console(), result, comparison, explain=explain)


def _apply(result: Recommendation, stack: str, place: int, pool: str, project: Path | None) -> None:
    from stacks.cli.files import write_whole
    from stacks.cli.recommend_apply import write_checked

    if not 1 <= place <= len(result.options):
        raise SettingsError([Problem("--option", str(place), f"must be 1 to {len(result.options)}")])
    folder = find_project(project)
    file = find_stack(folder, stack)
    chosen = result.options[place - 1]
    try:
        text = write_checked(folder, file, pool, chosen, result.region)
    except SettingsError as error:
        if any(problem.key.startswith("--") for problem in error.problems):
            raise
        fail_settings(stack, error)
    write_whole(file, text)
    typer.echo(
        f"{file.name}: gpuPools.{pool} is now {chosen.nodes * chosen.copies} {chosen.machine.type}, {chosen.capacity}",
        err=True,
    )


def _fail(error: SettingsError) -> NoReturn:
    """Lists every problem of the options on standard error and ends the command."""
    from rich.console import Console
    from rich.markup import escape

    out = Console(stderr=True, highlight=False)
    count = len(error.problems)
    out.print(f"[bold red]error[/]: {count} problem{'s' if count > 1 else ''} with the options")
    for problem in error.problems:
        hint = f" [dim]({escape(problem.hint)})[/]" if problem.hint else ""
        out.print(
            f"  [bold]{escape(problem.key)}[/]: got {escape(problem.got)}; {escape(problem.allowed)}{hint}",
            soft_wrap=True,
        )
    raise typer.Exit(EXIT_SETTINGS)
