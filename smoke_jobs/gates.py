"""What the smoke job asks of each instance type: published figures, and where there is none a floor from its network.

`thresholds.csv` of the worker holds both. Those that are derived are written by `make golden` from the catalogue, and
`docs/smoke.md` tells which gate applies to which instance.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trainyard.catalog import instances
from trainyard.catalog.tables import rows
from trainyard.smoke_jobs.ddp.options import LEVELS
from trainyard.smoke_jobs.ddp.thresholds import FIELDS, GPU, Threshold, load, select

FILE: Final = Path(__file__).parent / "ddp" / "thresholds.csv"
DATE: Final = "2026-11-22"
DERIVED: Final = "derived from the catalogue: "
"""What the source of a record begins with that nobody published."""

FABRIC_SHARE: Final = 0.5
"""The share of the adapters' line rate that GPUs on an NVSwitch must reach together. Published figures of two to four
nodes are 0.71 (a3-highgpu-8g, at 512 MB), 0.91 (p5en), 0.95 (a3-megagpu, p6-b200), 1.1 (p4d, p5); plain TCP stays far
below."""

HOST_SHARE: Final = 0.1
"""The share of the line rate that GPUs must reach whose data pass through the host (PCIe, no fabric): no
figure of theirs was found that could be trusted, so this tells apart only what works from what does not."""

SWITCH_SHARE: Final = 0.5
"""The share of its NVLinks' rate, one way, that a GPU on an NVSwitch must reach in its node. Published figures of eight
are 0.77 (A100), 0.82 (H200, ring) and 0.82 (B200, at 4 GiB); over PCIe it would be less than a tenth."""

MESH_SHARE: Final = 0.3
"""The same where NVLinks go from GPU to GPU without a switch (p3): a ring takes a part of them only."""

EXCHANGE_SHARE: Final = 0.3
"""The share of its part of the adapters' rate, or of its NVLinks', that each GPU must reach in an all-to-all, where it
does not go through the host. No figure of theirs was found; a part is the least that an exchange among many nodes
leaves a GPU, among two it has twice as much. Plain TCP stays far below."""

FROM_BYTES: Final = 2**30
"""The smallest message of which a share of the line rate is asked."""

FABRIC_GBPS: Final = 800
"""From this rate on a machine of Google's with an NVSwitch has a fabric for its GPUs (A3 High and later)."""

HOST_GBPS: Final = {"a3-highgpu": 200, "a3-megagpu": 200, "a3-ultragpu": 400, "a4-highgpu": 400, "a4x-highgpu": 400}
"""What of a machine's rate is its host's own interfaces', which NCCL's plug-in leaves to the host: one of 200 Gbit/s
(A3 High, Mega) or two (Compute Engine, "GPU machine types", as generally known). What is left is 200 or 400 Gbit/s an
interface of the fabric, of which there are as many as `conventions.gcp.FABRIC_INTERFACES` says."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What a gate is derived from."""

    type: str
    network_gbps: float  # of a fabric: without the host's own interfaces
    fabric: bool  # GPUs on an NVSwitch, and adapters that they reach without the host
    gpu: str = ""  # as in the catalogue: A100-40GB
    gpus: int = 1
    nvlink: str = "no"  # no, NVLink or NVSwitch


def machines() -> tuple[Machine, ...]:
    """Every type with a whole GPU that several nodes are made of, of both clouds."""
    ours = [
        Machine(
            item.type,
            item.network_gbps,
            item.nvlink == "NVSwitch" and item.efa_interfaces > 0,
            item.gpu,
            item.gpus,
            item.nvlink,
        )
        for item in instances()
        if item.gpus
    ]
    theirs = [
        Machine(row["type"], _gbps(row), _has_fabric(row), row["gpu"], int(row["gpus"]), row["nvlink"])
        for row in rows("gcp_instances.csv")
    ]
    return (*ours, *theirs)


def _has_fabric(row: dict[str, str]) -> bool:
    return row["nvlink"] == "NVSwitch" and float(row["network_gbps"]) >= FABRIC_GBPS


def _gbps(row: dict[str, str]) -> float:
    """What the GPUs of a machine of Google's share, in Gbit/s."""
    whole = float(row["network_gbps"])
    return whole - HOST_GBPS[row["type"].rpartition("-")[0]] if _has_fabric(row) else whole


def derived() -> Iterator[dict[str, str]]:
    """Records of thresholds.csv for each machine: the bus bandwidth of all-reduce over several nodes, and in one."""
    links = {row["gpu"]: row for row in rows("gpus.csv")}
    for machine in machines():
        if machine.gpus > 1:
            yield _in_node(machine, links[machine.gpu])
        yield from _exchanges(machine, links[machine.gpu])
        share = FABRIC_SHARE if machine.fabric else HOST_SHARE
        through = "" if machine.fabric else ", for its GPUs have no fabric but the host"
        text = f"{share:.0%} of its {machine.network_gbps:g} Gbit/s{through}"
        yield _of_bandwidth(machine, "2+", machine.network_gbps / 8, share, text)


def _in_node(machine: Machine, gpu: dict[str, str]) -> dict[str, str]:
    """What the GPUs of one node must reach together, from the line rate of what joins them."""
    rate = float(gpu["interconnect_gb_per_s"])
    share = {"NVSwitch": SWITCH_SHARE, "NVLink": MESH_SHARE}.get(machine.nvlink, HOST_SHARE)
    joined = "PCIe slot" if machine.nvlink == "no" else machine.nvlink
    if machine.nvlink == "no" and gpu["interconnect"] != "PCIe":
        raise ValueError(f"{machine.type}: the catalogue has the rate of {gpu['gpu']}'s NVLink, not of its slot")
    text = f"{share:.0%} of the {rate:g} GB/s one way of {gpu['gpu']} ({joined}; catalog/gpus.csv)"
    return _of_bandwidth(machine, "1", rate, share, text)


def _exchanges(machine: Machine, gpu: dict[str, str]) -> Iterator[dict[str, str]]:
    """What each GPU must reach in an all-to-all; nothing is said of those whose data pass through the host."""
    if machine.nvlink == "NVSwitch":
        rate = float(gpu["interconnect_gb_per_s"])
        text = f"{EXCHANGE_SHARE:.0%} of the {rate:g} GB/s one way of {gpu['gpu']} (NVSwitch; catalog/gpus.csv)"
        yield _of_bandwidth(machine, "1", rate, EXCHANGE_SHARE, text, "all_to_all")
    if machine.fabric:
        part = machine.network_gbps / 8 / machine.gpus
        text = f"{EXCHANGE_SHARE:.0%} of a GPU's part of its {machine.network_gbps:g} Gbit/s"
        yield _of_bandwidth(machine, "2+", part, EXCHANGE_SHARE, text, "all_to_all")


def _of_bandwidth(
    machine: Machine, nodes: str, value: float, share: float, text: str, metric: str = "all_reduce"
) -> dict[str, str]:
    return {
        "instance": machine.type,
        "nodes": nodes,
        "metric": metric,
        "min_bytes": str(FROM_BYTES),
        "max_bytes": "17179869184",
        "statistic": "median",
        "value": f"{value:g}",
        "unit": "GB/s",
        "better": "higher",
        "tolerance": f"{1 - share:g}",
        "kind": "gate",
        "nccl": "",
        "source": DERIVED + text,
        "date": DATE,
    }


MATMUL_SHARE: Final = 0.5
"""The share of the dense bf16 peak that a product of 8,192 x 8,192 must reach where the GPU has HBM. stas00's MAMF
table has 87 % for A100, 80 % for H100 and 77 % for B200."""

MATMUL_SHARE_PCIE: Final = 0.3
"""The same for GPUs that their power limit holds back long before (L4 at 72 W, A10G): it tells apart only what works
from what does not."""

COPY_SHARE: Final = 0.6
"""The share of the memory's bandwidth that a copy within the device must reach, read and write counted."""


def derived_devices() -> Iterator[dict[str, str]]:
    """Records of each GPU of the catalogue: matrix products and copies within its memory."""
    models: dict[str, dict[str, str]] = {}
    for row in rows("gpus.csv"):  # "A100-40GB" calls itself "NVIDIA A100-SXM4-40GB", and has the slower memory
        models.setdefault(row["gpu"].partition("-")[0], row)
    for model, row in models.items():
        bandwidth = float(row["memory_tb_per_s"])
        share = MATMUL_SHARE if row["interconnect"] == "NVLink" else MATMUL_SHARE_PCIE
        peak = float(row["bf16_tflops"] or row["fp16_tflops"] or 0)
        if peak:
            text = f"{share:.0%} of the dense peak of {peak:g} TFLOPS"
            yield _of_device(model, "compute_tflops", peak, "TFLOPS", share, text)
        text = f"{COPY_SHARE:.0%} of its memory's {bandwidth:g} TB/s"
        yield _of_device(model, "memory_bandwidth", 1000 * bandwidth, "GB/s", COPY_SHARE, text)


def _of_device(model: str, metric: str, value: float, unit: str, share: float, text: str) -> dict[str, str]:
    return dict.fromkeys(FIELDS, "") | {
        "instance": f"{GPU}{model}", "nodes": "*", "metric": metric, "statistic": "median", "value": f"{value:g}",
        "unit": unit, "better": "higher", "tolerance": f"{1 - share:g}", "kind": "gate", "source": DERIVED + text,
        "date": DATE,
    }  # fmt: skip


def thresholds_text() -> str:
    """`thresholds.csv` as it should be: what was published and chosen stays, what is derived is written anew."""
    with FILE.open(newline="") as stream:
        kept = [row for row in csv.DictReader(stream) if not row["source"].startswith(DERIVED)]
    out = io.StringIO()
    writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows([*kept, *derived(), *derived_devices()])
    return out.getvalue()


def page() -> str:
    """The text of `docs/smoke.md`."""
    records = load(FILE)
    lines = [
        _HEAD.format(
            fabric=FABRIC_SHARE,
            host=HOST_SHARE,
            switch=SWITCH_SHARE,
            mesh=MESH_SHARE,
            exchange=EXCHANGE_SHARE,
            standard=", ".join(_more("standard", "quick")),
            full=", ".join(_more("full", "standard")),
        )
    ]
    lines += ["| instance | nodes | bus bandwidth of | at | at least | of | source |", "|---|---|---|---|---|---|---|"]
    for machine in machines():
        for nodes in (1, 2, 4):
            lines += _gates(records, machine.type, nodes)
    lines += ["", "## Every instance", "", "| instance | nodes | figure | worst that passes | kind | source |"]
    lines += ["|---|---|---|---|---|---|"]
    lines += [
        f"| `{record.instance}` | {record.nodes} | {record.metric.replace('_', ' ')} | "
        f"{'>=' if record.better == 'higher' else '<='} {record.floor:.4g} {record.unit} | {record.kind} | "
        f"{record.source}, {record.date} |"
        for record in records
        if record.metric not in BANDWIDTHS
    ]
    lines += ["", *_OWN_HEAD]
    lines += [f"| {check} | {figure} | {limit} | {of} | {source} |" for check, figure, limit, of, source in own_gates()]
    return "\n".join(lines) + "\n"


def own_gates() -> tuple[tuple[str, str, str, str, str], ...]:
    """Gates that compare a figure with what the same run measured or was told: check, figure, limit, of what, source.

    Raises ImportError where torch is not installed, which the checks need.
    """
    from trainyard.smoke_jobs.ddp import (
        check_adapters,
        check_checkpoint,
        check_devices,
        check_gradients,
        check_memory,
        check_scaling,
    )
    from trainyard.smoke_jobs.ddp.options import Options
    from trainyard.smoke_jobs.sweep import OUTLIER

    copies = "Azure/azurehpc-health-checks asks 0.67 (A100) and 0.76 (H100); own choice below it"
    return (
        ("devices", "memory of a device", f">= {check_devices.MEMORY_SHARE:.0%}", "the plan's `expect_memory_gib`",
         "own choice: drivers and ECC keep some"),
        ("devices", "lanes of a PCIe slot", ">= 100%", "the most that its model has here, and half of its own",
         "AWS wires the L4 of g6 with half of them (aws-k8s-tester#806)"),
        ("memory", "host to device, device to host", f">= {check_memory.SLOT_SHARE:.0%}",
         "the slot's line rate, which the driver tells", copies),
        ("memory", "device to device, on a switch", f">= {check_memory.PEER_SHARE:.0%}",
         "the median of the node's pairs", "own choice: a link less is 0.94, the way through the host 0.1"),
        ("adapters", "bytes of an adapter", f">= {check_adapters.IDLE_SHARE:.0%}", "the median of its node's",
         "own choice: NCCL spreads its channels evenly"),
        ("gradients", "difference to one process", f"<= {check_gradients.TOLERANCE:.0e}", "the largest parameter",
         "rounding of float64 over five steps"),
        ("scaling", "scaling efficiency, on GPUs", f">= {check_scaling.SHARE:.0%}",
         "what the measured step and reduction give without overlap", "own choice: what measuring leaves open"),
        ("checkpoint", "write", f">= {check_checkpoint.RATED_SHARE:.0%}", "`checkpoint_rated_gb_s`, where it is given",
         "torchsnapshot's published runs reach 60-80 %"),
        ("every check", "each figure", f">= {1 - Options().baseline_drop:.0%}", "a recorded `--baseline`",
         "option `baseline_drop`; microsoft/superbenchmark asks 95 %"),
        ("sweep", "each figure of a node or pair", f">= {OUTLIER:.0%}", "the pool's median, of three and more",
         "as compute to median"),
    )  # fmt: skip


def _more(level: str, than: str) -> list[str]:
    return [name for name in LEVELS[level] if name not in LEVELS[than]]


BANDWIDTHS: Final = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")


def _gates(records: tuple[Threshold, ...], instance: str, nodes: int) -> Iterator[str]:
    """The gate of each collective that speaks of the largest message for which there is one."""
    for metric in BANDWIDTHS:
        sizes = sorted({record.min_bytes for record in records if record.applies(instance, nodes, metric, None, "")})
        gates = [select(records, instance=instance, nodes=nodes, metric=metric, size=size) for size in sizes]
        for gate in dict.fromkeys(gate for gate in gates if gate is not None and gate.kind == "gate"):
            yield (
                f"| {instance} | {nodes} | {metric.replace('_', '-')} | {gate.min_bytes / 1e9:.3g} GB and more | "
                f"{gate.floor:.4g} GB/s | {gate.value:g} GB/s | {gate.source}, {gate.date} |"
            )


_OWN_HEAD: Final = (
    "## Compared with what the run itself measures",
    "",
    "| check | figure | passes | of | source |",
    "|---|---|---|---|---|",
)

_HEAD: Final = """\
# The gates of the smoke job

Written by `make golden` from `trainyard/smoke_jobs/ddp/thresholds.csv`, which the job carries. A figure is compared at
its own message size, never as an average of a sweep; the job chooses its sizes so that each gate of its instance is
met by one, as far as the memory of the GPUs goes. `--baseline FILE` compares with a run of your own besides, which says
more than any published figure.

`--level` chooses the checks: quick is what an `up` proves; standard adds {standard}; full adds {full}. `--break NAME`
seeds a fault that each of them has to find.

What a GPU is asked is derived from its data sheet, by its own name; `dcgmi diag`, NVLink and Xid events are read where
the node lets them be read, and what was not read is said in the result. The paths that need a fabric adapter or DCGM
were proven with recorded answers and on CPUs, never on the hardware: `unproven` of a result names those that a run
took, and its table and report say it. Those that need a GPU ran on two models of it (below).

Where somebody has published a figure for an instance and a number of nodes, 85 % of it is asked for as a rule. Where
nobody has, the floor comes from the line rate of the adapters, without the host's own: {fabric:.0%} of it where GPUs
reach them without the host, {host:.0%} elsewhere, which tells only what works from what does not. In one node it comes
from the rate of what joins the GPUs: {switch:.0%} of their NVLinks' where they meet in a switch, {mesh:.0%} where they
do not, and {host:.0%} of a PCIe slot's. An all-to-all is asked for {exchange:.0%} of a GPU's part of the adapters, or
of its NVLinks. None of these gates between GPUs was met or missed on hardware by this project yet.

## Seen on hardware

One GPU in a virtual machine (16 CPU cores, driver 580.159.04, torch 2.11.0 for CUDA 13.0, NCCL 2.28.9), 2026-11-26:

| check | H200 | asked | H100 80GB HBM3 | asked |
|---|---|---|---|---|
| memory that kept two patterns | 111 GiB | | 62 GiB | |
| memory, within the device | 3.73 TB/s | 2.88 TB/s | 2.51 TB/s | 2.01 TB/s |
| memory, from the host and to it, of a slot of 63 GB/s | 55 GB/s | 35 GB/s | 54 GB/s | 35 GB/s |
| compute, answers the same bit for bit | 674 TFLOPS, 45 s | 495 TFLOPS | 672 TFLOPS, 40 s | 495 TFLOPS |
| checkpoint of 1 GiB on the machine's own disk | 3.0 s, beside the training 1.4 s | | 3.7 s, 2.2 s | |
| interruption, from a kill to the next step | 7.7 s | 60 s | not run | |
| data, from the disk and from memory | 15,200 and 45,200 samples/s | | 14,800 and 42,300 samples/s | |
| data, utilisation | 96 % | 90 % | 96 % | 90 % |
| collectives, alltoall | answers exact; 1.86 and 1.67 GB/s at 2 and 1 GiB | | not run | |
| gradients, from one process on the same batch | 3e-15 | 1e-9 | 3e-15 | 1e-9 |
| sharded checkpoint, 512 MiB in two shards | not run | | restored bit for bit, 1.1 GB/s | |
| scaling of two ranks on the one GPU | not run | | 0.023 | 0.018, derived in the run |

What exchanges data ran as two processes on the one GPU, with NCCL through sockets: its answers count, its rates do not.
`--break` of devices, memory, compute, compute-wrong, transport, adapters and checkpoint failed on the H200 with its
words, and so did `--expect-model H100`. Two GPUs in one node, NVLink, adapters and DCGM have not been seen. Two hosts
were played by two processes, each with an `NCCL_HOSTID` of its own, which NCCL needs to take one GPU twice.

## Bandwidth by instance, on one, two and four nodes
"""
