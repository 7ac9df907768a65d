"""AWS instance types and where they are sold.

`aws_instances.csv`: GPU instances; `aws_cpu_instances.csv`: what nodes without GPUs are; `aws_instance_regions.csv`:
offerings by zone; `aws_regions.csv`: zones. Zone *names* of older regions stand for different places in each account;
the names here are those of the account that published the offerings.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from trainyard.catalog.records import records
from trainyard.catalog.tables import rows


@dataclass(frozen=True, slots=True)
class Instance:
    """A GPU instance type. Memory in GiB, local disk in GB, network in Gbit/s."""

    type: str
    gpu: str  # "A100-40GB"
    gpus: int  # 0: a fraction of one
    gpu_memory_gib: float  # per GPU, as EC2 reports it
    vcpus: int
    memory_gib: float
    nvlink: str  # "no", "NVLink" or "NVSwitch"
    network_gbps: float
    efa_interfaces: int  # at most; 0: no Elastic Fabric Adapter
    network_cards: int
    nvme_gb: int
    usd_per_hour: float | None  # Linux on-demand; None: not sold in the price's region
    price_source: str
    price_date: str
    capacity_block: bool
    min_driver: int | None  # NVIDIA driver that the GPU needs, where the usual AMI may not have it

    @property
    def family(self) -> str:
        """The type's family: `g6e` of g6e.12xlarge."""
        return self.type.partition(".")[0]

    @property
    def fabric_interfaces(self) -> int:
        """Fast interfaces between nodes, at most."""
        return self.efa_interfaces

    @property
    def usd_per_gpu_hour(self) -> float | None:
        """Price of one GPU for one hour; None where the price or a whole GPU is missing."""
        return self.usd_per_hour / self.gpus if self.usd_per_hour is not None and self.gpus else None


@dataclass(frozen=True, slots=True)
class CpuInstance:
    """An instance type without a GPU."""

    type: str
    vcpus: int
    memory_gib: float
    usd_per_hour: float
    price_source: str
    price_date: str


@dataclass(frozen=True, slots=True)
class ZoneFact:
    """An availability zone; `eks` is False where EKS cannot place its control plane."""

    name: str
    id: str
    eks: bool


@dataclass(frozen=True, slots=True)
class Region:
    """A region with its zones by name."""

    name: str
    zones: tuple[ZoneFact, ...]


@lru_cache(maxsize=1)
def _instances() -> dict[str, Instance]:
    return {item.type: item for item in records(Instance, "aws_instances.csv")}


@lru_cache(maxsize=1)
def _cpu_instances() -> dict[str, CpuInstance]:
    return {item.type: item for item in records(CpuInstance, "aws_cpu_instances.csv")}


@lru_cache(maxsize=1)
def _offerings() -> dict[str, dict[str, tuple[str, ...]]]:
    table: dict[str, dict[str, tuple[str, ...]]] = {}
    for row in rows("aws_instance_regions.csv"):
        zone_names = tuple(row["region"] + letter for letter in row["zones"].split())
        table.setdefault(row["type"], {})[row["region"]] = zone_names
    return table


@lru_cache(maxsize=1)
def _regions() -> dict[str, Region]:
    found: dict[str, tuple[ZoneFact, ...]] = {}
    for row in rows("aws_regions.csv"):
        fact = ZoneFact(row["zone"], row["zone_id"], row["eks"] == "yes")
        found[row["region"]] = (*found.get(row["region"], ()), fact)
    return {name: Region(name, facts) for name, facts in found.items()}


def instance(type_: str) -> Instance:
    """The GPU instance type of that name.

    Raises:
        KeyError: the catalogue has no such GPU instance.
    """
    return _instances()[type_]


def instances(gpu: str | None = None) -> tuple[Instance, ...]:
    """All GPU instance types, or those with one GPU model, in the catalogue's order."""
    return tuple(item for item in _instances().values() if gpu is None or item.gpu == gpu)


_BLACKWELL = ("B200", "B300", "GB200")
_LINK_GB_PER_S = 25.0
"""One way of an NVLink of the second to the fourth generation (V100, A100, H100); the fifth has twice as much."""


def nvlinks(gpu: str) -> int:
    """NVLinks of a GPU model by its name (`A100-40GB`): their rate together by that of one; 0 where it has none.

    Raises:
        KeyError: the model is not known.
    """
    row = {each["gpu"]: each for each in rows("gpus.csv")}[gpu]
    if row["interconnect"] != "NVLink":
        return 0
    link = 2 * _LINK_GB_PER_S if gpu in _BLACKWELL else _LINK_GB_PER_S
    return round(float(row["interconnect_gb_per_s"]) / link)


def gpu_names() -> tuple[str, ...]:
    """The GPU models, in the catalogue's order."""
    return tuple(dict.fromkeys(item.gpu for item in _instances().values()))


SMALLEST_NODE_GIB = 2
"""Below it the kubelet's own reserve leaves a node nothing."""


def cpu_instance(type_: str) -> CpuInstance:
    """The instance type without GPU of that name.

    Raises:
        KeyError: the catalogue has no such instance.
    """
    return _cpu_instances()[type_]


def cpu_instances() -> tuple[CpuInstance, ...]:
    """All instance types without GPU that a node may have; a smaller one stands in the table for what is no node."""
    return tuple(item for item in _cpu_instances().values() if item.memory_gib >= SMALLEST_NODE_GIB)


def offered(type_: str, region_name: str) -> bool:
    """Whether the region sells the type at all."""
    return bool(offered_zones(type_, region_name))


def offered_zones(type_: str, region_name: str) -> tuple[str, ...]:
    """Names of the zones that sell the type, in order; empty where the region does not."""
    return _offerings().get(type_, {}).get(region_name, ())


def offered_regions(type_: str) -> tuple[str, ...]:
    """The regions that sell the type, by name."""
    return tuple(_offerings().get(type_, {}))


def region(name: str) -> Region:
    """The region of that name.

    Raises:
        KeyError: the catalogue has no such region.
    """
    return _regions()[name]


def regions() -> tuple[str, ...]:
    """Names of all regions."""
    return tuple(_regions())


def zones(region_name: str) -> tuple[str, ...]:
    """Names of a region's zones that can hold an EKS cluster.

    Raises:
        KeyError: the catalogue has no such region.
    """
    return tuple(zone.name for zone in region(region_name).zones if zone.eks)
