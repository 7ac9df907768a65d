"""Machines that can be rented, the same shape for every cloud, and facts of their GPUs.

AWS machines are those of `catalog/aws_instances.csv`; Google's of `catalog/gcp_instances.csv`; GPU facts in
`catalog/gpus.csv`. A machine without a price, without a whole GPU or whose GPU's peak is not established is left out
and listed by `left_out`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from trainyard import catalog
from trainyard.catalog import gcp
from trainyard.catalog.records import records
from trainyard.problems import Problem, SettingsError, nearest

CLOUDS = ("aws", "gcp")
HOME_REGIONS = {"aws": "us-east-1", "gcp": gcp.HOME_REGION}
"""The regions that the prices are of."""

PRECISIONS = ("bf16", "fp16", "fp8", "tf32", "fp32")
NETWORK_GBPS = 400.0
"""Network of a node, where the catalogue sells its GPU in no machine of that size. Assumption."""
HOST_GIB_PER_GPU = 128.0
"""Memory of such a node's host. Assumption: a little less than the 144 to 256 GiB a GPU of 8-GPU instances."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU model: dense peaks in TFLOPS by precision, bandwidths, MIG instances (0: no MIG)."""

    name: str
    memory_gb: float
    bf16_tflops: float | None
    fp16_tflops: float | None
    fp8_tflops: float | None
    tf32_tflops: float | None
    fp32_tflops: float | None
    memory_tb_per_s: float
    interconnect_gb_per_s: float  # one direction, one GPU
    mig_instances: int
    source: str
    date: str

    def peak_tflops(self, precision: str) -> float | None:
        """Dense peak; None where the GPU has no such units or the figure is not established."""
        peak: float | None = getattr(self, f"{precision}_tflops")
        return peak

    def training_tflops(self, precision: str) -> float | None:
        """Dense peak for training; fp16 stands in for bf16 on GPUs from before bf16 (T4, V100)."""
        peak = self.peak_tflops(precision)
        return self.peak_tflops("fp16") if peak is None and precision == "bf16" else peak


@dataclass(frozen=True, slots=True)
class Machine:
    """An instance type: memory in GiB, network in Gbit/s, price in USD an hour."""

    cloud: str
    type: str
    gpu: Gpu
    gpus: int
    gpu_memory_gib: float
    memory_gib: float
    vcpus: int
    nvlink: bool
    network_gbps: float
    fabric: bool  # RDMA between nodes: EFA, GPUDirect
    usd_per_hour: float
    on_demand: bool  # False: sold as spot or by calendar only
    price_region: str
    price_source: str
    price_date: str
    regions: tuple[str, ...]  # where it is sold; () never

    @property
    def family(self) -> str:
        """What spot and managed prices are looked up by: g6e of g6e.12xlarge, a3-highgpu of a3-highgpu-8g."""
        return self.type.partition(".")[0] if self.cloud == "aws" else self.type.rpartition("-")[0]


@lru_cache(maxsize=1)
def gpus() -> dict[str, Gpu]:
    """All GPU models by name."""
    return {gpu.name: gpu for gpu in records(Gpu, "gpus.csv", name="gpu")}


@lru_cache(maxsize=2)
def machines(cloud: str) -> tuple[Machine, ...]:
    """All machines of a cloud that have a price and a known GPU, in the catalogue's order.

    Raises:
        KeyError: the cloud is not one of `CLOUDS`.
    """
    return tuple(found for item in _sold(cloud) if (found := _machine(cloud, item)) is not None)


@lru_cache(maxsize=2)
def left_out(cloud: str) -> tuple[str, ...]:
    """Types of the catalogue that cannot be recommended, each with the reason."""
    known = {machine.type for machine in machines(cloud)}
    reasons = []
    for item in _sold(cloud):
        if item.type not in known:
            if not item.gpus:
                why = "a fraction of a GPU"
            else:
                why = "no price" if item.usd_per_hour is None else f"peak of {item.gpu} not established"
            reasons.append(f"{item.type}: {why}")
    return tuple(reasons)


def _sold(cloud: str) -> tuple[catalog.Instance, ...] | tuple[gcp.GcpInstance, ...]:
    return catalog.instances() if cloud == "aws" else gcp.instances()


def _machine(cloud: str, item: catalog.Instance | gcp.GcpInstance) -> Machine | None:
    gpu = gpus().get(item.gpu)
    peak = gpu is not None and any(gpu.peak_tflops(precision) for precision in PRECISIONS)
    if gpu is None or item.usd_per_hour is None or not item.gpus or not peak:
        return None
    if isinstance(item, gcp.GcpInstance):
        fabric, on_demand = item.network_gbps >= 1000, item.on_demand  # A3 and later: GPUDirect
        regions = gcp.offered_regions(item.type)
    else:
        fabric, on_demand, regions = item.efa_interfaces > 0, True, catalog.offered_regions(item.type)
    return Machine(
        cloud=cloud,
        type=item.type,
        gpu=gpu,
        gpus=item.gpus,
        gpu_memory_gib=item.gpu_memory_gib,
        memory_gib=item.memory_gib,
        vcpus=item.vcpus,
        nvlink=item.nvlink != "no",
        network_gbps=item.network_gbps,
        fabric=fabric,
        usd_per_hour=item.usd_per_hour,
        on_demand=on_demand,
        price_region=HOME_REGIONS[cloud],
        price_source=item.price_source,
        price_date=item.price_date,
        regions=regions,
    )


def machine_of_type(cloud: str, name: str) -> Machine:
    """The catalogue's machine of that name.

    Raises:
        SettingsError: there is none, or it has no price or no whole GPU.
    """
    found = {machine.type: machine for machine in machines(cloud)}
    if name not in found:
        elsewhere = [other for other in CLOUDS if any(machine.type == name for machine in machines(other))]
        hint = f"--cloud {elsewhere[0]}" if elsewhere else nearest(name, found)
        hint = hint or f"{cloud} has {len(found)} in the catalogue: trainyard catalog list"
        raise SettingsError([Problem("--instance", name, f"must be a GPU instance type of {cloud}", hint)])
    return found[name]


def nodes_with(
    gpu: str,
    count: int,
    *,
    per_node: int = 8,
    network_gbps: float | None = None,
    gpu_memory_gib: float | None = None,
    host_memory_gib: float | None = None,
) -> tuple[Machine, int, tuple[str, ...]]:
    """A node of `per_node` GPUs of a model, how many of them, and what was assumed of it.

    What is not given is that of the catalogue's machine with the same GPUs, the one with the fastest network.

    Raises:
        SettingsError: the GPU is unknown, or the nodes do not come out whole.
    """
    if gpu not in gpus():
        known = tuple(gpus())
        raise SettingsError([Problem("--gpu", gpu, f"must be one of {', '.join(known)}", nearest(gpu, known))])
    per_node = min(per_node, count)
    if count % per_node:
        raise SettingsError([Problem("--gpus", str(count), f"must be whole nodes of {per_node}", "--gpus-per-node")])
    fact = gpus()[gpu]
    if fact.training_tflops("bf16") is None:
        known = tuple(name for name, other in gpus().items() if other.training_tflops("bf16"))
        raise SettingsError([Problem("--gpu", gpu, f"its peak is not established; it may be {', '.join(known)}")])
    sold = [machine for cloud in CLOUDS for machine in machines(cloud) if machine.gpu.name == gpu]
    same = sorted((machine for machine in sold if machine.gpus == per_node), key=lambda machine: machine.network_gbps)
    like = same[-1] if same else None
    assumed = []
    network = network_gbps or (like.network_gbps if like else NETWORK_GBPS)
    if network_gbps is None and count > per_node:
        assumed.append(f"{network:g} Gbit/s between nodes, {f'as {like.type}' if like else 'a guess'}; --network")
    memory = gpu_memory_gib or (sold[0].gpu_memory_gib if sold else fact.memory_gb)
    node = Machine(
        cloud=like.cloud if like else "aws",
        type=f"{per_node} {gpu}",
        gpu=fact,
        gpus=per_node,
        gpu_memory_gib=memory,
        memory_gib=host_memory_gib or (like.memory_gib if like else HOST_GIB_PER_GPU * per_node),
        vcpus=like.vcpus if like else 0,
        nvlink=fact.interconnect_gb_per_s > 100,
        network_gbps=network,
        fabric=like.fabric if like and network_gbps is None else network >= 100,
        usd_per_hour=0.0,
        on_demand=False,
        price_region="",
        price_source="",
        price_date="",
        regions=(),
    )
    return node, count // per_node, tuple(assumed)
