"""`trainyard estimate`: how long a training takes on hardware that is given, and whether it fits."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainyard.cli.option_groups import grouped
from trainyard.cli.project import fail_options
from trainyard.cli.training_options import (
    HARDWARE,
    CloudOptions,
    JsonOption,
    TrainingOptions,
    fail_with,
    option,
    read_request,
)
from trainyard.problems import Problem, SettingsError, nearest

if TYPE_CHECKING:
    from trainyard.advice import Machine, Ways

EXIT_DOES_NOT_FIT = 1
"""Exit code where the training fits in no allowed way, or no formula covers it."""
STRATEGIES = {
    "ddp": "DDP",
    "zero-2": "ZeRO-2",
    "fsdp": "FSDP",
    "zero-3": "FSDP",
    "offload": "FSDP + offload",
    "tp": "TP + PP",
}
HOW = "How"
"""A panel of `--help`."""


def _hardware(name: str, metavar: str, help_: str, **more: Any) -> Any:
    return option(name, help_, HARDWARE, metavar, **more)


@dataclass(frozen=True, slots=True)
class HardwareOptions:
    """What it runs on: an instance type, or a GPU with what surrounds it."""

    instance: Annotated[str | None, _hardware("--instance", "TYPE", "An instance type: p4d.24xlarge.")] = None
    nodes: Annotated[int | None, _hardware("--nodes", "N", "How many; 1 by default.", min=1)] = None
    gpu: Annotated[str | None, _hardware("--gpu", "NAME", "Instead: a GPU: A100-80GB, H100.")] = None
    gpus: Annotated[int | None, _hardware("--gpus", "N", "How many in all; 1 by default.", min=1)] = None
    gpus_per_node: Annotated[int | None, _hardware("--gpus-per-node", "N", "8 by default.", min=1)] = None
    network: Annotated[float | None, _hardware("--network", "GBPS", "Of a node, Gbit/s; as in the cloud.", min=0.1)] = (
        None
    )
    gpu_memory: Annotated[float | None, _hardware("--gpu-memory", "GIB", "Of a GPU, if not as usual.", min=1)] = None
    host_memory: Annotated[float | None, _hardware("--host-memory", "GIB", "Of a node, for offload.", min=1)] = None

    def problems(self, region: str | None) -> list[Problem]:
        """One problem for hardware that is missing, or described twice."""
        if (self.instance is None) == (self.gpu is None):
            return [Problem("--instance", self.instance or "nothing", "give either --instance or --gpu")]
        if self.gpu is not None:
            found = []
            if self.nodes is not None:
                found.append(Problem("--nodes", str(self.nodes), "is for --instance; --gpu takes --gpus"))
            if region is not None:
                found.append(Problem("--region", region, "is for --instance, which has a price"))
            return found
        of_gpu = {
            "--gpus": self.gpus,
            "--gpus-per-node": self.gpus_per_node,
            "--network": self.network,
            "--gpu-memory": self.gpu_memory,
            "--host-memory": self.host_memory,
        }
        return [
            Problem(key, f"{value:g}", "is for --gpu; an instance type has its own")
            for key, value in of_gpu.items()
            if value is not None
        ]

    def machines(self, cloud: str) -> tuple["Machine", int, tuple[str, ...]]:
        """A node, how many of them, and what was assumed of it. Raises SettingsError for hardware that is unknown."""
        from trainyard.advice.hardware import machine_of_type, nodes_with

        if self.instance is not None:
            return machine_of_type(cloud, self.instance), self.nodes or 1, ()
        return nodes_with(
            self.gpu or "",
            self.gpus or 1,
            per_node=self.gpus_per_node or 8,
            network_gbps=self.network,
            gpu_memory_gib=self.gpu_memory,
            host_memory_gib=self.host_memory,
        )


@dataclass(frozen=True, slots=True)
class WayOptions:
    """Which ways to train are allowed."""

    strategy: Annotated[str | None, option("--strategy", f"{', '.join(STRATEGIES)}; else all.", HOW, "NAME")] = None
    micro_batch: Annotated[
        int | None, option("--micro-batch", "Sequences a GPU; else the largest.", HOW, "N", min=1)
    ] = None
    recompute: Annotated[
        bool | None, option("--recompute/--no-recompute", "Activation checkpointing; else both ways.", HOW)
    ] = None
    mfu: Annotated[
        float | None, option("--mfu", "Share of the peak if you measured it: 0.42; else from tables.", HOW, "SHARE")
    ] = None

    def ways(self, problems: list[Problem]) -> "Ways":
        """The ways; what is wrong is added to `problems`."""
        from trainyard.advice import Ways
        from trainyard.advice.memory import STRATEGIES as ALL

        if self.mfu is not None and not 0 < self.mfu < 1:
            problems.append(Problem("--mfu", f"{self.mfu:g}", "must be a share between 0 and 1, like 0.42"))
        strategies = ALL
        if self.strategy is not None:
            known = {**STRATEGIES, **{name.lower(): name for name in ALL}}
            if self.strategy.lower() in known:
                strategies = tuple(name for name in ALL if name == known[self.strategy.lower()])
            else:
                allowed = f"must be one of {', '.join(STRATEGIES)}"
                problems.append(Problem("--strategy", self.strategy, allowed, nearest(self.strategy, STRATEGIES)))
        recompute = (False, True) if self.recompute is None else (self.recompute,)
        return Ways(strategies, recompute, self.micro_batch, self.mfu)


@grouped
def estimate(
    training: TrainingOptions,
    hardware: HardwareOptions,
    cloud: CloudOptions,
    how: WayOptions,
    as_json: JsonOption = False,
) -> None:
    """How long a training takes on given hardware, and in which ways it fits.

    Hours without start-up, as publications give them, and with it; the memory of every strategy; the cost where the
    hardware is an instance type. `trainyard recommend` looks for the hardware instead.

    Exit codes: 0 it fits; 1 it does not, with the reason; 2 the options are wrong.
    """
    problems: list[Problem] = []
    request = read_request(problems, training, cloud)
    problems += hardware.problems(cloud.region)
    ways = how.ways(problems)
    fail_with(problems, request)
    from trainyard import advice
    from trainyard.advice.request import check

    try:
        check(request)
        machine, nodes, assumed = hardware.machines(cloud.cloud)
        found = advice.estimate(request, machine, nodes, ways, assumed)
    except SettingsError as error:
        fail_options(error)
    if as_json:
        from trainyard.advice.report.as_json import estimate_as_json

        typer.echo(estimate_as_json(found), nl=False)
    else:
        from trainyard.advice.report import estimate_text
        from trainyard.output import console

        estimate_text.show(console(), found)
    if found.fit is None:
        raise typer.Exit(EXIT_DOES_NOT_FIT)
