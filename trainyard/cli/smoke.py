"""`trainyard smoke`: the DDP smoke job, here or on a platform."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainyard.cli import smoke_targets
from trainyard.cli.files import check_outputs, write_whole
from trainyard.cli.fleet_live import keep_smoke_of_target
from trainyard.cli.option_groups import grouped
from trainyard.cli.project import HtmlOption, JsonOption, ProjectOption, fail, find_project, find_stack, read_plan
from trainyard.cli.smoke_options import JobOptions, Target, TargetOptions
from trainyard.review.exit_codes import EXIT_INTERRUPTED

if TYPE_CHECKING:
    from trainyard.cli.smoke_targets import Launcher
    from trainyard.smoke_jobs.launch.follow import Ended
    from trainyard.smoke_jobs.launch.job import SmokeSpec


@grouped
def smoke(
    invocation: typer.Context,
    *,
    stack: Annotated[
        str | None,
        typer.Argument(metavar="STACK", help="A stack's name or file: its pool, team and queue. Not needed locally."),
    ] = None,
    target: Annotated[Target, typer.Option("--target", "-t", help="Where the job runs.")] = Target.local,
    render: Annotated[
        bool, typer.Option("--render", help="Print what would be submitted, and submit nothing.")
    ] = False,
    json_file: JsonOption = None,
    html_file: HtmlOption = None,
    job: JobOptions,
    where: TargetOptions,
    project: ProjectOption = None,
) -> None:
    """Run the checks of the DDP smoke job, on this machine or where the stack's jobs run.

    Exit codes: 0 pass; 10 a check failed; 20 below a threshold; 75 preempted, run it again; 124 out of time; 1 the job
    broke; 2 the command line or the settings are wrong, or a package is missing.
    """
    from trainyard.cli import smoke_fit, smoke_managed, smoke_spec
    from trainyard.plan.parts import NoSuchName
    from trainyard.rehearsal.engine.project import stack_of
    from trainyard.smoke_jobs.launch.job import LaunchError

    check_outputs({"--json": json_file, "--html": html_file, "--record-baseline": job.record_baseline})
    plan = read_plan(project, stack) if stack is not None else None
    if plan is None and target in (Target.kubernetes, Target.trainjob):
        fail(f"--target {target}: name the STACK, whose team, queue and GPU pool the job uses")
    try:
        smoke_fit.check_options(smoke_fit.given_options(invocation), target)
        swept = where.sweep
        spec = (
            smoke_spec.of_stack(plan, target, job, sweep=swept)
            if plan
            else smoke_spec.of_command_line(target, job, sweep=swept)
        )
        if where.partition:
            spec = replace(spec, queue=where.partition)
        if plan and not where.region:
            where = replace(where, region=plan.ground.region)
        if plan and not plan.clusters and target is not Target.local:
            given = smoke_fit.given_options(invocation)
            where = smoke_managed.placed(plan, where, find_project(project), given)
        if where.sweep:
            raise typer.Exit(_sweep(spec, target, where, json_file))
        launcher = smoke_targets.launcher(spec, target, where, plan)
        if render:
            typer.echo(launcher.render(), nl=False)
            return
        ended = _watch(launcher)
    except (LaunchError, NoSuchName) as error:
        fail(str(error))
    except KeyboardInterrupt:
        fail("stopped; the job was cancelled", code=EXIT_INTERRUPTED)
    if stack is not None and target is not Target.local:  # this machine says nothing of a stack
        verdict = str((ended.document or {"verdict": "error"})["verdict"])
        folder = find_project(project)
        keep_smoke_of_target(folder, stack_of(find_stack(folder, stack)), verdict, target.value)
    _report(ended, json_file, html_file, job.record_baseline)
    raise typer.Exit(ended.exit_code)


def _sweep(spec: "SmokeSpec", target: Target, where: TargetOptions, json_file: Path | None) -> int:
    """Runs the sweep, tells it, and returns its exit code."""
    from rich.console import Console

    from trainyard.smoke_jobs.report.terminal import Progress

    with Progress(Console(stderr=True, highlight=False)) as view:
        text, document, code = smoke_targets.sweep(spec, target, where, view)
    if str(json_file) != "-":
        typer.echo(text)
    if json_file is not None:
        write_whole(json_file, json.dumps(document, indent=1) + "\n")
    return code


def _watch(launcher: "Launcher") -> "Ended":
    """Runs the job with its progress on standard error: standard output is the result's."""
    from rich.console import Console

    from trainyard.smoke_jobs.report.terminal import Progress

    with Progress(Console(stderr=True, highlight=False)) as view:
        return launcher.run(view)


def _report(ended: "Ended", json_file: Path | None, html_file: Path | None, record_baseline: Path | None) -> None:
    from rich.console import Console

    from trainyard.output import console
    from trainyard.smoke_jobs.report.terminal import show

    if "-" not in (str(json_file), str(html_file)):
        show(ended, console(), Console(stderr=True, highlight=False))
    if json_file is not None:
        without = {"verdict": "error", "exit_code": ended.exit_code, "reason": ended.reason, "log": ended.log}
        write_whole(json_file, json.dumps(ended.document or without, indent=1) + "\n")
    if ended.document is None:
        for path in (html_file, record_baseline):
            if path is not None:
                typer.echo(f"{path} was not written: the job left no result", err=True)
        return
    if html_file is not None:
        from trainyard.smoke_jobs.report.html import page

        write_whole(html_file, page(ended.document))
    if record_baseline is not None:
        _record(record_baseline, ended.document)


def _record(path: Path, document: dict[str, Any]) -> None:
    from trainyard.smoke_jobs.ddp.thresholds import write_baseline

    if document["verdict"] != "pass":
        typer.echo(
            f"{path} was not written: a baseline is the figures of a pass, this is {document['verdict']}", err=True
        )
    elif not document["figures"]:
        typer.echo(f"{path} was not written: the log held the short result only, which has no figures", err=True)
    else:
        try:
            write_baseline(path, document)
        except OSError as error:
            fail(f"{path}: cannot be written: {error.strerror}")
