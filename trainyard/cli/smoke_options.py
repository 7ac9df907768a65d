"""Options of `trainyard smoke`: the job as it is wanted, and what only some targets need."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from trainyard.cli.project import file_option
from trainyard.cli.training_options import option

JOB, PLACE = "The job", "Where it runs"
"""Panels of `--help`."""


class Target(StrEnum):
    """Where the job runs."""

    local = "local"
    kubernetes = "kubernetes"
    trainjob = "trainjob"
    slurm = "slurm"
    sagemaker = "sagemaker"
    vertex = "vertex"


class CapacityName(StrEnum):
    """How the nodes are paid for (`trainyard.conventions.Capacity`)."""

    reserved = "reserved"
    spot = "spot"
    on_demand = "on-demand"
    flex_start = "flex-start"


class Transport(StrEnum):
    """What NCCL has to take between nodes (`smoke_jobs.ddp.options.TRANSPORTS`)."""

    efa = "efa"
    gpudirect = "gpudirect"
    ib = "ib"


class Level(StrEnum):
    """Which checks (`smoke_jobs.ddp.options.LEVELS`)."""

    quick = "quick"
    standard = "standard"
    full = "full"


def _job(name: str, help_: str, metavar: str | None = None) -> Any:
    return option(name, help_, JOB, metavar)


def _place(name: str, help_: str, **more: Any) -> Any:
    return option(name, help_, PLACE, **more)


def _file(name: str, help_: str, **more: Any) -> Any:
    return file_option(name, help=help_, panel=JOB, **more)


def _minutes(name: str, help_: str) -> Any:
    return _place(name, help_, min=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOptions:
    """The job as the command line wants it; None and empty texts were not given. Timeouts in minutes."""

    nproc: Annotated[
        int | None, typer.Option("--nproc", min=1, help="Processes a node. Default: one a GPU; 2 here without GPUs.")
    ] = None
    level: Annotated[
        Level | None,
        typer.Option("--level", help="Which checks. Default: the stack's, else quick; swept: standard."),
    ] = None
    timeout: Annotated[
        float | None, typer.Option("--timeout", min=0.1, help="Minutes for the checks. Default: 15, 25 or 60 by level.")
    ] = None
    breaks: Annotated[
        list[str] | None, typer.Option("--break", metavar="NAME", help="Break a check on purpose. May be repeated.")
    ] = None
    checks: Annotated[
        list[str] | None, typer.Option("--check", metavar="NAME", help="Run this check only. May be repeated.")
    ] = None
    baseline: Annotated[
        Path | None, file_option("--baseline", help="Compare the figures with this baseline.", panel=JOB)
    ] = None
    record_baseline: Annotated[
        Path | None, file_option("--record-baseline", help="Keep the figures of a pass as one.", panel=JOB)
    ] = None
    set_options: Annotated[list[str] | None, _job("--set", "Any option of the worker: --set kills=3.", "KEY=VALUE")] = (
        None
    )
    checkpoint_uri: Annotated[str, _job("--checkpoint-uri", "Checkpoint tier: s3://bucket/prefix or a folder.")] = ""
    data_path: Annotated[str, _job("--data-path", "Folder of the data tier.")] = ""
    tracking_uri: Annotated[str, _job("--tracking-uri", "MLflow server; 'none' skips that check.")] = ""
    pool: Annotated[str | None, _place("--pool", "GPU pool of the stack. Default: its first.")] = None
    capacity: Annotated[CapacityName | None, _place("--capacity", "Nodes of this capacity only (a cluster's).")] = None
    team: Annotated[str | None, _place("--team", "Team whose queue it uses. Default: who owns most there.")] = None
    nodes: Annotated[int | None, _place("--nodes", "Nodes. Default: up to 2 of the pool's, else 1.", min=1)] = None
    image: Annotated[str, _place("--image", "Container image with torch.")] = ""
    instance: Annotated[str, _place("--instance", "Instance or machine type.")] = ""
    gpu: Annotated[str, _place("--gpu", "GPU model, such as H100.")] = ""
    gpus: Annotated[int | None, _place("--gpus", "GPUs a node.", min=0)] = None
    transport: Annotated[
        Transport | None, _place("--transport", "What NCCL has to take between nodes. Default: what the pool promises.")
    ] = None
    env: Annotated[
        list[str] | None, _place("--env", "Variable of the worker's processes. May be repeated.", metavar="NAME=VALUE")
    ] = None
    start_timeout: Annotated[float, _minutes("--start-timeout", "Minutes for nodes and image.")] = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetOptions:
    """What only some targets need; empty where it was not given. `queue_timeout` in minutes."""

    result_dir: Annotated[
        Path | None,
        file_option("--result-dir", help="Keep result.json and the ranks' errors (local).", metavar="DIR", panel=JOB),
    ] = None
    queue_timeout: Annotated[float, _minutes("--queue-timeout", "Minutes to wait for quota.")] = 60
    sweep: Annotated[bool, _place("--sweep", "On every node of the pool or partition, then on pairs.")] = False
    keep: Annotated[bool, _place("--keep/--no-keep", "Leave the job's objects on the cluster.")] = False
    context: Annotated[str | None, _place("--context", "Context of the kubeconfig.")] = None
    partition: Annotated[str, _place("--partition", "Slurm partition.")] = ""
    account: Annotated[str, _place("--account", "Slurm account.")] = ""
    python: Annotated[str, _place("--python", "Python with torch on Slurm nodes.")] = "python3"
    container: Annotated[bool, _place("--container/--no-container", "Slurm: run in --image with Pyxis.")] = False
    bucket: Annotated[str, _place("--bucket", "s3:// or gs:// for code and result.")] = ""
    role_arn: Annotated[str, _place("--role-arn", "SageMaker execution role.")] = ""
    subnets: Annotated[list[str] | None, _place("--subnet", "SageMaker.")] = None
    security_groups: Annotated[list[str] | None, _place("--security-group", "SageMaker.")] = None
    kms_key: Annotated[
        str, _place("--kms-key", "Key of disks and output: an ARN (SageMaker), or its name (Vertex AI).")
    ] = ""
    tags: Annotated[
        list[str] | None, _place("--tag", "A tag of the job (SageMaker), or a label (Vertex AI).", metavar="KEY=VALUE")
    ] = None
    spot: Annotated[bool, _place("--spot/--no-spot", "Spot capacity (SageMaker, Vertex AI).")] = True
    region: Annotated[str, _place("--region", "Region. Default: the stack's.")] = ""
    gcp_project: Annotated[str, _place("--gcp-project", "Google Cloud project.")] = ""
    service_account: Annotated[str, _place("--service-account", "Vertex AI: as whom the job runs.")] = ""


def tags_of(options: TargetOptions) -> dict[str, str]:
    """The tags of `--tag KEY=VALUE`. Raises LaunchError."""
    from trainyard.smoke_jobs.launch.job import LaunchError

    found = {}
    for text in options.tags or ():
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise LaunchError(f"--tag {text}: KEY=VALUE is needed")
        found[key] = value
    return found
