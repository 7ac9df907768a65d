"""`trainyard estimate`: how long a training takes on hardware that is given, and whether it fits."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainyard.cli.project import fail_options
from trainyard.cli.recommend_options import (
    HARDWARE,
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
    from trainyard.advice import Machine, Ways

EXIT_DOES_NOT_FIT = 1
"""It fits in no allowed way, or no formula covers it."""
_STRATEGIES = {
    "ddp": "DDP",
    "zero-2": "ZeRO-2",
    "fsdp": "FSDP",
    "zero-3": "FSDP",
    "offload": "FSDP + offload",
    "tp": "TP + PP",
}
_WAY = "How"


def estimate(
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
    instance: Annotated[
        str | None,
        typer.Option("--instance", metavar="TYPE", help="An instance type: p4d.24xlarge.", rich_help_panel=HARDWARE),
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option("--nodes", metavar="N", help="How many; 1 by default.", min=1, rich_help_panel=HARDWARE),
    ] = None,
    gpu: Annotated[
        str | None,
        typer.Option("--gpu", metavar="NAME", help="Instead: a GPU: A100-80GB, H100.", rich_help_panel=HARDWARE),
    ] = None,
    gpus: Annotated[
        int | None,
        typer.Option("--gpus", metavar="N", help="How many in all; 1 by default.", min=1, rich_help_panel=HARDWARE),
    ] = None,
    gpus_per_node: Annotated[
        int | None,
        typer.Option("--gpus-per-node", metavar="N", help="8 by default.", min=1, rich_help_panel=HARDWARE),
    ] = None,
    network: Annotated[
        float | None,
        typer.Option(
            "--network", metavar="GBPS", help="Of a node, Gbit/s; as in the cloud.", min=0.1, rich_help_panel=HARDWARE
        ),
    ] = None,
    gpu_memory: Annotated[
        float | None,
        typer.Option("--gpu-memory", metavar="GIB", help="Of a GPU, if not as usual.", min=1, rich_help_panel=HARDWARE),
    ] = None,
    host_memory: Annotated[
        float | None,
        typer.Option("--host-memory", metavar="GIB", help="Of a node, for offload.", min=1, rich_help_panel=HARDWARE),
    ] = None,
    cloud: CloudOption = "aws",
    region: RegionOption = None,
    strategy: Annotated[
        str | None,
        typer.Option("--strategy", metavar="NAME", help=f"{', '.join(_STRATEGIES)}; else all.", rich_help_panel=_WAY),
    ] = None,
    micro_batch: Annotated[
        int | None,
        typer.Option(
            "--micro-batch", metavar="N", help="Sequences a GPU; else the largest.", min=1, rich_help_panel=_WAY
        ),
    ] = None,
    recompute: Annotated[
        bool | None,
        typer.Option(
            "--recompute/--no-recompute", help="Activation checkpointing; else both ways.", rich_help_panel=_WAY
        ),
    ] = None,
    mfu: Annotated[
        float | None,
        typer.Option(
            "--mfu",
            metavar="SHARE",
            help="Share of the peak if you measured it: 0.42; else from tables.",
            rich_help_panel=_WAY,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """How long a training takes on given hardware, and in which ways it fits.

    Hours without start-up, as publications give them, and with it; the memory of every strategy; the cost where the
    hardware is an instance type. `trainyard recommend` looks for the hardware instead.

    Exit codes: 0 it fits; 1 it does not, with the reason; 2 the options are wrong.
    """  # fmt: skip
    reader = Reader()
    values: dict[str, Any] = reader.work(
        params=params,
        active_params=active_params,
        tokens=tokens,
        dataset_size=dataset_size,
        images=images,
        global_batch=global_batch,
    )
    from trainyard.advice import Request
    from trainyard.advice import estimate as make
    from trainyard.advice.request import check

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
        cloud=cloud,
        region=region,
        **values,
    )
    given = {
        "--gpus": gpus, "--gpus-per-node": gpus_per_node, "--network": network, "--gpu-memory": gpu_memory,
        "--host-memory": host_memory,
    }  # fmt: skip
    reader.problems += _clashes(instance, gpu, nodes, region, given)
    if mfu is not None and not 0 < mfu < 1:
        reader.problems.append(Problem("--mfu", f"{mfu:g}", "must be a share between 0 and 1, like 0.42"))
    ways = _ways(strategy, micro_batch, recompute, mfu, reader)
    reader.fail_with(request)
    try:
        check(request)
        machine, node_count, assumed = _machine(cloud, instance, gpu, nodes or 1, gpus or 1, gpus_per_node, given)
        result = make(request, machine, node_count, ways, assumed)
    except SettingsError as error:
        fail_options(error)
    if as_json:
        from trainyard.cli.estimate_json import as_json_text

        typer.echo(as_json_text(result), nl=False)
    else:
        from trainyard.cli.estimate_text import show
        from trainyard.cli.recommend_text import console

        show(console(), result)
    if result.fit is None:
        raise typer.Exit(EXIT_DOES_NOT_FIT)


def _clashes(
    instance: str | None, gpu: str | None, nodes: int | None, region: str | None, given: dict[str, Any]
) -> list[Problem]:
    """Hardware that is missing, or described twice."""
    if (instance is None) == (gpu is None):
        return [Problem("--instance", instance or "nothing", "give either --instance or --gpu")]
    if gpu is not None:
        clashes = []
        if nodes is not None:
            clashes.append(Problem("--nodes", str(nodes), "is for --instance; --gpu takes --gpus"))
        if region is not None:
            clashes.append(Problem("--region", region, "is for --instance, which has a price"))
        return clashes
    return [
        Problem(key, f"{value:g}", "is for --gpu; an instance type has its own")
        for key, value in given.items()
        if value is not None
    ]


def _ways(
    strategy: str | None, micro_batch: int | None, recompute: bool | None, mfu: float | None, reader: Reader
) -> Ways:
    from trainyard.advice import Ways
    from trainyard.advice.memory import STRATEGIES
    from trainyard.problems import nearest

    strategies = STRATEGIES
    if strategy is not None:
        known = {**_STRATEGIES, **{name.lower(): name for name in STRATEGIES}}
        if strategy.lower() in known:
            strategies = tuple(name for name in STRATEGIES if name == known[strategy.lower()])
        else:
            allowed = f"must be one of {', '.join(_STRATEGIES)}"
            reader.problems.append(Problem("--strategy", strategy, allowed, nearest(strategy, _STRATEGIES)))
    return Ways(strategies, (False, True) if recompute is None else (recompute,), micro_batch, mfu)


def _machine(
    cloud: str,
    instance: str | None,
    gpu: str | None,
    nodes: int,
    gpus: int,
    per_node: int | None,
    given: dict[str, Any],
) -> tuple[Machine, int, tuple[str, ...]]:
    from trainyard.advice.estimation import hardware
    from trainyard.advice.estimation import instance as find

    if instance is not None:
        return find(cloud, instance), nodes, ()
    return hardware(
        gpu or "",
        gpus,
        per_node=per_node or 8,
        network_gbps=given["--network"],
        gpu_memory_gib=given["--gpu-memory"],
        host_memory_gib=given["--host-memory"],
    )
