"""`trainyard smoke`: the DDP smoke job, here or on a platform."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainyard.cli import smoke_targets
from trainyard.cli.files import write_whole
from trainyard.cli.project import ProjectOption, fail, fail_settings, find_project, find_stack
from trainyard.cli.smoke_targets import Launcher, Target, TargetOptions
from trainyard.problems import SettingsError

if TYPE_CHECKING:
    from trainyard.plan.parts import Plan
    from trainyard.smoke_jobs.launch.follow import Ended

EXIT_INTERRUPTED = 130
"""As a shell reports Ctrl-C."""

PLAIN_WIDTH = 160
"""Columns of the result where standard output is no terminal."""


_JOB, _PLACE = "The job", "Where it runs"


class CapacityName(StrEnum):
    """How the nodes are paid for (`trainyard.conventions.Capacity`)."""

    reserved = "reserved"
    spot = "spot"
    on_demand = "on-demand"


def smoke(
    stack: Annotated[
        str | None,
        typer.Argument(metavar="[STACK]", help="A stack's name or file: its pool, team and queue. Not needed locally."),
    ] = None,
    target: Annotated[Target, typer.Option("--target", "-t", help="Where the job runs.")] = Target.local,
    render: Annotated[
        bool, typer.Option("--render", help="Print what would be submitted, and submit nothing.")
    ] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON; '-' is standard output.")
    ] = None,
    html_file: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page for the browser.")
    ] = None,
    nproc: Annotated[
        int | None, typer.Option("--nproc", min=1, help="Processes a node. Default: one a GPU; 2 here without GPUs.")
    ] = None,
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="Minutes for the checks.")] = 15,
    breaks: Annotated[
        list[str] | None, typer.Option("--break", metavar="NAME", help="Break a check on purpose. May be repeated.")
    ] = None,
    checks: Annotated[
        list[str] | None, typer.Option("--check", metavar="NAME", help="Run this check only. May be repeated.")
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Compare the figures with this baseline.", rich_help_panel=_JOB)
    ] = None,
    record_baseline: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep the figures of a pass as one.", rich_help_panel=_JOB)
    ] = None,
    set_options: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Any option of the worker: --set kills=3.", rich_help_panel=_JOB
        ),
    ] = None,
    result_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep result.json and the ranks' errors (local).", rich_help_panel=_JOB),
    ] = None,
    checkpoint_uri: Annotated[
        str, typer.Option(help="Checkpoint tier: s3://bucket/prefix or a folder.", rich_help_panel=_JOB)
    ] = "",
    data_path: Annotated[str, typer.Option(help="Folder of the data tier.", rich_help_panel=_JOB)] = "",
    tracking_uri: Annotated[
        str, typer.Option(help="MLflow server; 'none' skips that check.", rich_help_panel=_JOB)
    ] = "",
    pool: Annotated[
        str | None, typer.Option(help="GPU pool of the stack. Default: its first.", rich_help_panel=_PLACE)
    ] = None,
    capacity: Annotated[
        CapacityName | None,
        typer.Option(help="Nodes of this capacity only (a cluster's).", rich_help_panel=_PLACE),
    ] = None,
    team: Annotated[
        str | None, typer.Option(help="Team whose queue it uses. Default: the first.", rich_help_panel=_PLACE)
    ] = None,
    nodes: Annotated[
        int | None, typer.Option(min=1, help="Nodes. Default: up to 2 of the pool's, else 1.", rich_help_panel=_PLACE)
    ] = None,
    image: Annotated[str, typer.Option(help="Container image with torch.", rich_help_panel=_PLACE)] = "",
    instance: Annotated[str, typer.Option(help="Instance or machine type.", rich_help_panel=_PLACE)] = "",
    gpu: Annotated[str, typer.Option(help="GPU model, such as H100.", rich_help_panel=_PLACE)] = "",
    gpus: Annotated[int | None, typer.Option(min=0, help="GPUs a node.", rich_help_panel=_PLACE)] = None,
    start_timeout: Annotated[
        float, typer.Option(min=1, help="Minutes for nodes and image.", rich_help_panel=_PLACE)
    ] = 30,
    queue_timeout: Annotated[
        float, typer.Option(min=1, help="Minutes to wait for quota.", rich_help_panel=_PLACE)
    ] = 60,
    keep: Annotated[bool, typer.Option(help="Leave the job's objects on the cluster.", rich_help_panel=_PLACE)] = False,
    context: Annotated[str | None, typer.Option(help="Context of the kubeconfig.", rich_help_panel=_PLACE)] = None,
    partition: Annotated[str, typer.Option(help="Slurm partition.", rich_help_panel=_PLACE)] = "",
    account: Annotated[str, typer.Option(help="Slurm account.", rich_help_panel=_PLACE)] = "",
    python: Annotated[str, typer.Option(help="Python with torch on Slurm nodes.", rich_help_panel=_PLACE)] = "python3",
    container: Annotated[bool, typer.Option(help="Slurm: run in --image with Pyxis.", rich_help_panel=_PLACE)] = False,
    bucket: Annotated[str, typer.Option(help="s3:// or gs:// for code and result.", rich_help_panel=_PLACE)] = "",
    role_arn: Annotated[str, typer.Option(help="SageMaker execution role.", rich_help_panel=_PLACE)] = "",
    subnets: Annotated[list[str] | None, typer.Option("--subnet", help="SageMaker.", rich_help_panel=_PLACE)] = None,
    security_groups: Annotated[
        list[str] | None, typer.Option("--security-group", help="SageMaker.", rich_help_panel=_PLACE)
    ] = None,
    spot: Annotated[bool, typer.Option(help="Spot capacity (SageMaker, Vertex AI).", rich_help_panel=_PLACE)] = True,
    region: Annotated[str, typer.Option(help="Region. Default: the stack's.", rich_help_panel=_PLACE)] = "",
    gcp_project: Annotated[str, typer.Option(help="Google Cloud project.", rich_help_panel=_PLACE)] = "",
    service_account: Annotated[str, typer.Option(help="Vertex AI.", rich_help_panel=_PLACE)] = "",
    project: ProjectOption = None,
) -> None:
    """Run the ten checks of the DDP smoke job, on this machine or where the stack's jobs run.

    Exit codes: 0 pass; 10 a check failed; 20 below a threshold; 75 preempted, run it again; 124 out of time; 1 the job
    broke; 2 the command line or the settings are wrong.
    """
    from trainyard.cli import smoke_spec
    from trainyard.plan.parts import NoSuchName
    from trainyard.smoke_jobs.launch.job import LaunchError

    options = smoke_spec.JobOptions(
        target=target,
        processes=nproc,
        nodes=nodes,
        capacity=capacity.value if capacity else None,
        image=image,
        instance=instance,
        gpu=gpu,
        gpus=gpus,
        timeout_s=max(1, round(timeout * 60)),
        start_timeout_s=round(start_timeout * 60),
        checkpoint_uri=checkpoint_uri,
        data_path=data_path,
        tracking_uri=tracking_uri,
        partition=partition,
        checks=tuple(checks or ()),
        breaks=tuple(breaks or ()),
        assignments=tuple(set_options or ()),
        baseline=baseline,
    )
    plan = _read_plan(stack, project)
    if plan is None and target in (Target.kubernetes, Target.trainjob):
        fail(f"--target {target}: name the STACK, whose team, queue and GPU pool the job uses")
    try:
        spec = smoke_spec.of_stack(plan, pool, team, options) if plan else smoke_spec.of_command_line(options)
        where = TargetOptions(
            limit_s=round(queue_timeout * 60) + spec.start_timeout_s + spec.run_timeout_s,
            result_dir=result_dir,
            context=context,
            keep=keep,
            account=account,
            python=python,
            container=container,
            bucket=bucket,
            role_arn=role_arn,
            subnets=tuple(subnets or ()),
            security_groups=tuple(security_groups or ()),
            spot=spot,
            region=region or (plan.ground.region if plan else ""),
            gcp_project=gcp_project,
            service_account=service_account,
        )
        launcher = smoke_targets.launcher(spec, target, where)
        if render:
            typer.echo(launcher.render(), nl=False)
            return
        ended = _watch(launcher)
    except (LaunchError, NoSuchName) as error:
        fail(str(error))
    except KeyboardInterrupt:
        fail("stopped; the job was cancelled", code=EXIT_INTERRUPTED)
    _report(ended, json_file, html_file, record_baseline)
    raise typer.Exit(ended.exit_code)


def _read_plan(stack: str | None, project: Path | None) -> Plan | None:
    if stack is None:
        return None
    from trainyard.plan.resolve import resolve_stack

    folder = find_project(project)
    file = find_stack(folder, stack)
    try:
        return resolve_stack(folder, file).plan
    except SettingsError as error:
        fail_settings(stack, error)


def _watch(launcher: Launcher) -> Ended:
    """Runs the job with its progress on standard error: standard output is the result's."""
    from rich.console import Console

    from trainyard.smoke_jobs.report.terminal import Progress

    with Progress(Console(stderr=True, highlight=False)) as view:
        return launcher.run(view)


def _report(ended: Ended, json_file: Path | None, html_file: Path | None, record_baseline: Path | None) -> None:
    from rich.console import Console

    from trainyard.smoke_jobs.report.terminal import show

    on_output = json_file is not None and str(json_file) == "-"
    if not on_output:
        wide = None if sys.stdout.isatty() else PLAIN_WIDTH
        show(ended, Console(highlight=False, width=wide), Console(stderr=True, highlight=False))
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
        write_baseline(path, document)
