"""What a launcher may say to the smoke job: one frozen dataclass, from JSON and flags.

Order, later wins: the defaults below; the JSON document in `SMOKE_OPTIONS` (inline, or the path of a file); flags.
Every field is a key of the document and a flag (`nproc_per_node` is `--nproc-per-node`); `--break NAME` and
`--check NAME` may be repeated. All mistakes are reported at once, and exit with code 2.
"""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

CHECKS = (
    "rendezvous",
    "devices",
    "memory",
    "compute",
    "stragglers",
    "collectives",
    "alltoall",
    "transport",
    "adapters",
    "gradients",
    "checkpoint",
    "sharded",
    "interruption",
    "data",
    "storage",
    "tracking",
    "scaling",
    "dcgm",
    "counters",
)
"""All checks, in the order in which they run."""

_STANDARD = ("memory", "compute", "stragglers", "alltoall", "adapters", "counters")
_FULL = (*_STANDARD, "sharded", "storage", "dcgm")

LEVELS = {
    "quick": tuple(name for name in CHECKS if name not in _FULL),
    "standard": tuple(name for name in CHECKS if name not in _FULL or name in _STANDARD),
    "full": CHECKS,
}
"""The checks of each level: what a stack is proven with, what a node is that came back from repair, and what new
hardware is accepted with."""

TIMEOUT_S = {"quick": 900, "standard": 1500, "full": 3600}
"""Seconds that the checks of a level may take."""

BURN_S = {"quick": 10.0, "standard": 60.0, "full": 300.0}
"""Seconds of matrix products at a level: 300 as imbue-ai/cluster-health burns a GPU in (2024-08)."""

FAULTS = (*CHECKS, "collectives-large", "compute-wrong")
"""What can be broken on purpose: each check, and a check's second way to fail."""

TRANSPORTS = ("", "efa", "gpudirect", "ib")
"""What a plan may promise between nodes: nothing, AWS EFA, Google's GPUDirect (TCPX, TCPXO, RDMA), InfiniBand/RoCE."""


class UsageError(Exception):
    """The options are wrong; `problems` holds one sentence each."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(problems))


def _option(default: Any, text: str) -> Any:
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True, slots=True)
class Options:
    """All settings of one smoke run; each with unit and default in its help text (`python -m ddp --help`)."""

    job_name: str = _option("smoke", "name of the job, in results and on the tracking server")
    stack: str = _option("", "stack that is checked")
    pool: str = _option("", "GPU pool that is checked")
    target: str = _option("local", "launcher that rendered the job")
    instance: str = _option("", "instance type, selects thresholds; `cpu` where no GPU is found and none is given")
    capacity: str = _option("", "reserved, spot or on-demand; reported")
    image: str = _option("", "container image with digest; reported")
    code_version: str = _option("", "git commit of the job; else SMOKE_CODE_VERSION, else a hash of the package")

    nodes: int = _option(0, "number of nodes; 0: from the platform's environment, else 1")
    node_rank: int = _option(-1, "index of this node; -1: from the platform's environment, else 0")
    nproc_per_node: int = _option(0, "ranks a node; 0: one a GPU, or 1 without GPUs")
    head: str = _option("", "host name of node 0; empty: from the platform's environment, else this host")
    port: int = _option(29400, "rendezvous port on the head node; the roll call uses the next one (several nodes only)")
    expected_hosts: tuple[str, ...] = _option((), "host names of the nodes in rank order, to name one that is missing")

    expect_model: str = _option("", "text that the device model must contain, e.g. H100; empty: not compared")
    expect_devices: int = _option(0, "GPUs that every node must show; 0: nproc_per_node")
    expect_memory_gib: float = _option(0.0, "memory of a device in GiB, at least 0.9 of this; 0: not compared")
    expect_driver: str = _option("", "oldest NVIDIA driver that will do, e.g. 570.86; empty: not compared")
    expect_links: int = _option(0, "NVLinks that every GPU must have up; 0: compared with its neighbours' only")
    expect_transport: str = _option("", "what the plan promises between nodes: efa, gpudirect or ib; empty: nothing")

    timeout_s: float = _option(900.0, "wall-clock limit of the whole job; exit 124 past it")
    rendezvous_timeout_s: float = _option(300.0, "how long nodes wait for each other; cold nodes pull an image first")
    rank_timeout_s: float = _option(60.0, "how long started ranks wait for each other")
    collective_timeout_s: float = _option(90.0, "limit of one collective; above a checkpoint's longest transfer")
    shutdown_timeout_s: int = _option(100, "from SIGTERM to SIGKILL of the ranks; below the pod's grace period")
    max_restarts: int = _option(0, "restarts of the whole job by torchrun after a rank died")

    level: str = _option(
        "quick", "quick, standard or full: which checks belong to the job, and how long a GPU burns in"
    )
    checks: tuple[str, ...] = _option(
        LEVELS["quick"], "checks to run (rendezvous always does), instead of those of the level; the others are skipped"
    )
    breaks: tuple[str, ...] = _option(
        (), "seeded faults: a check that has to fail then, to prove that it can; `collectives-large` or `compute-wrong`"
    )
    seed: int = _option(20261120, "seed of data, weights and of the random kill")

    result_dir: str = _option("smoke-result", "folder for result.json and the errors of each rank")
    checkpoint_uri: str = _option("", "checkpoint tier: s3://bucket/prefix or a mounted folder; empty: scratch")
    data_path: str = _option("", "folder on the data tier; empty: scratch")
    data_glob: str = _option("", "existing files below data_path to read as fixed-size records, e.g. **/*.tar")
    scratch_dir: str = _option("", "local scratch; empty: a temporary folder that is removed")
    keep_files: bool = _option(False, "leave the samples and checkpoints on the tiers")

    tracking_uri: str = _option("local", "MLflow server; `local` starts one on loopback, `none` skips the check")
    tracking_client: str = _option("auto", "auto, mlflow (the package) or rest (standard library)")
    tracking_experiment: str = _option("", "experiment that gets the run; empty: trainyard-smoke-<MLflow user>")
    usd_per_node_hour: float = _option(0.0, "price of a node, for the cost of the run; 0: unknown")

    thresholds: str = _option("", "thresholds.csv to use instead of the one in the package")
    record_baseline: str = _option("", "write this run's figures to FILE as a baseline")
    baseline: str = _option("", "compare this run's figures with the baseline in FILE")
    baseline_drop: float = _option(0.15, "share by which a figure may be worse than the baseline's")

    max_message_mib: float = _option(0.0, "largest collective; 0: 2048 on GPUs, 4 on CPU")
    checkpoint_mib: float = _option(0.0, "size of the checkpoint; 0: 1024 on GPUs, 16 on CPU")
    checkpoint_rated_gb_s: float = _option(0.0, "rated write speed of the checkpoint tier in GB/s, gates at 0.6 of it")
    data_mib: float = _option(0.0, "samples to generate, all nodes together; 0: 4096 on GPUs, 48 on CPU")
    data_workers: int = _option(0, "loader processes a rank; 0: 4 on GPUs, 1 on CPU")
    samples_per_second: float = _option(0.0, "samples a second that one device consumes; 0: by device model")
    burn_s: float = _option(
        0.0,
        "seconds of matrix products in check compute; 0: "
        + ", ".join(f"{seconds:g} at level {level}" for level, seconds in BURN_S.items()),
    )
    expect_adapters: int = _option(0, "fabric adapters that every node must show and use; 0: not compared")
    storage_gib: float = _option(
        0.0,
        "GiB that each node writes and reads in check storage; 0: 16 on GPUs, of one node more than its memory, to 256",
    )
    dcgm_level: int = _option(2, "level of `dcgmi diag`, 1 to 4: 2 takes minutes, 3 a quarter of an hour, 4 hours")
    kills: int = _option(1, "random kills of a rank in the interruption check; each must resume exactly")


def from_document(document: Mapping[str, Any]) -> Options:
    """The options in a JSON object; raises UsageError with every unknown key and wrong type."""
    known = {f.name: f for f in dataclasses.fields(Options)}
    problems: list[str] = []
    values: dict[str, Any] = {}
    for key, value in document.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            problems.append(f"unknown option {key!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
            continue
        default = getattr(_DEFAULTS, key)
        if isinstance(default, tuple):
            right = isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
            value = tuple(value) if right else value
        elif isinstance(default, float):
            right = isinstance(value, int | float) and not isinstance(value, bool)
            value = float(value) if right else value
        else:
            right = type(value) is type(default)
        if right:
            values[key] = value
        else:
            kind = "list of strings" if isinstance(default, tuple) else type(default).__name__
            problems.append(f"option {key!r} is {value!r}; a {kind} is needed")
    if problems:
        raise UsageError(problems)
    if "checks" not in values:
        values["checks"] = LEVELS.get(values.get("level", _DEFAULTS.level), CHECKS)
    options = dataclasses.replace(_DEFAULTS, **values)
    problems = _problems(options)
    if problems:
        raise UsageError(problems)
    return options


def _problems(options: Options) -> list[str]:
    problems = []
    for label, names, known in (("checks", options.checks, CHECKS), ("breaks", options.breaks, FAULTS)):
        for name in names:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"one of {', '.join(known)}"
                problems.append(f"{label}: there is no check {name!r}; {hint}")
    if options.level not in LEVELS:
        problems.append(f"level is {options.level!r}; one of {', '.join(LEVELS)}")
    if not 1 <= options.dcgm_level <= 4:
        problems.append(f"dcgm_level is {options.dcgm_level}; 1 to 4")
    if options.expect_transport not in TRANSPORTS:
        problems.append(
            f"expect_transport is {options.expect_transport!r}; one of {', '.join(TRANSPORTS[1:])} or empty"
        )
    if options.tracking_client not in ("auto", "mlflow", "rest"):
        problems.append(f"tracking_client is {options.tracking_client!r}; one of auto, mlflow, rest")
    if options.checkpoint_uri.startswith("gs://"):
        problems.append("checkpoint_uri: gs:// is not spoken here; mount the bucket with Cloud Storage FUSE, or s3://")
    for name in ("timeout_s", "rendezvous_timeout_s", "rank_timeout_s", "collective_timeout_s", "shutdown_timeout_s"):
        if getattr(options, name) <= 0:
            problems.append(f"{name} is {getattr(options, name)}; a positive number of seconds is needed")
    for name in (
        "nodes",
        "nproc_per_node",
        "max_restarts",
        "data_workers",
        "expect_devices",
        "expect_links",
        "expect_adapters",
        "burn_s",
        "storage_gib",
    ):
        if getattr(options, name) < 0:
            problems.append(f"{name} is {getattr(options, name)}; it cannot be negative")
    if options.kills < 1:
        problems.append(f"kills is {options.kills}; at least 1")
    if not 0 < options.baseline_drop < 1:
        problems.append(f"baseline_drop is {options.baseline_drop}; a share between 0 and 1")
    if not 1024 <= options.port <= 65534:
        problems.append(f"port is {options.port}; 1024 to 65534")
    return problems


def listed(options: Options) -> tuple[str, ...]:
    """The checks that a result speaks of: those of the level, and those that were asked for besides."""
    level = LEVELS.get(options.level, CHECKS)
    return tuple(name for name in CHECKS if name in level or name in options.checks)


def to_json(options: Options) -> str:
    """The document that `parse` reads back to the same options."""
    return json.dumps(dataclasses.asdict(options))


class _Parser(argparse.ArgumentParser):
    """One whose mistakes are told as all others are."""

    def error(self, message: str) -> NoReturn:
        raise UsageError([message])


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m ddp", description="The checks of the DDP smoke job.", argument_default=argparse.SUPPRESS
    )
    for f in dataclasses.fields(Options):
        default = getattr(_DEFAULTS, f.name)
        flag = "--" + f.name.replace("_", "-")
        text = f"{f.metadata['help']} (default: {default!r})".replace("%", "%%")
        if f.name in ("breaks", "checks"):
            parser.add_argument("--" + f.name[:-1], dest=f.name, action="append", metavar="NAME", help=text)
        elif isinstance(default, bool):
            parser.add_argument(flag, dest=f.name, action=argparse.BooleanOptionalAction, help=text)
        elif isinstance(default, tuple):
            parser.add_argument(flag, dest=f.name, type=lambda s: [p for p in s.split(",") if p], help=text)
        else:
            parser.add_argument(flag, dest=f.name, type=type(default), metavar=type(default).__name__, help=text)
    return parser


def parse(argv: Sequence[str], environ: Mapping[str, str]) -> Options:
    """The options from `SMOKE_OPTIONS` and the flags.

    Raises UsageError; argparse itself exits with code 0 for --help.
    """
    document: dict[str, Any] = {}
    text = environ.get("SMOKE_OPTIONS", "").strip()
    if text and not text.startswith("{"):
        try:
            text = Path(text).read_text()
        except OSError as error:
            raise UsageError([f"SMOKE_OPTIONS names a file that cannot be read: {error}"]) from None
    if text:
        try:
            document = json.loads(text)
        except json.JSONDecodeError as error:
            raise UsageError([f"SMOKE_OPTIONS is not JSON: {error}"]) from None
        if not isinstance(document, dict):
            raise UsageError(["SMOKE_OPTIONS must hold a JSON object"])
    document.update(vars(_parser().parse_args(list(argv))))
    return from_document(document)


_DEFAULTS = Options()
