"""Google Cloud's machines, where they are sold and what they and its services cost.

`gcp_instances.csv`: machines with GPUs, priced in `HOME_REGION`; `gcp_cpu_instances.csv`: what nodes without GPUs are;
`gcp_tpus.csv` with `gcp_tpu_prices.csv`: TPU machines by the chip; `gcp_region_prices.csv`: the machines' prices in
other regions; `gcp_regions.csv`: zones; `gcp_zones.csv`: which zones sell a GPU machine; `gcp_services.csv`: everything
else. A price that was read for no other region is that of `HOME_REGION`, and says so by its region.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from trainyard.catalog.records import records
from trainyard.catalog.services import ServicePrice
from trainyard.catalog.tables import rows
from trainyard.conventions.gcp import FABRIC_INTERFACES

HOME_REGION: Final = "us-central1"
"""The region that prices are of where the table has none of another."""

GLOBAL: Final = "global"
"""The region of a price that is the same in all of them."""


@dataclass(frozen=True, slots=True)
class GcpInstance:
    """A machine type with GPUs. Memory in GiB, network in Gbit/s; the price is that of `HOME_REGION`."""

    type: str
    gpu: str
    gpus: int
    gpu_memory_gib: float
    memory_gib: float
    vcpus: int
    nvlink: str
    network_gbps: float
    usd_per_hour: float | None
    on_demand: bool  # False: sold as spot, by calendar or from Google's queue only
    price_source: str
    price_date: str

    @property
    def family(self) -> str:
        """The type without its size: a3-highgpu of a3-highgpu-8g."""
        return family(self.type)

    @property
    def fabric_interfaces(self) -> int:
        """Fast interfaces between nodes, besides the plain ones."""
        return FABRIC_INTERFACES.get(self.type, 0)


@dataclass(frozen=True, slots=True)
class GcpCpuInstance:
    """A machine type without GPUs, priced in `HOME_REGION`. An N1 machine may have GPUs attached."""

    type: str
    vcpus: int
    memory_gib: float
    usd_per_hour: float
    price_source: str
    price_date: str


@dataclass(frozen=True, slots=True)
class Tpu:
    """A machine type with TPU chips; `accelerator` is what GKE labels its nodes with, `topologies` are how the chips of
    a slice of it are joined, the usual ones by size."""

    type: str
    accelerator: str
    chips: int
    topologies: tuple[str, ...]
    vcpus: int
    memory_gib: float


@dataclass(frozen=True, slots=True)
class _TpuPrice:
    accelerator: str
    region: str
    zones: tuple[str, ...]
    usd_per_chip_hour: float
    source: str
    date: str


@dataclass(frozen=True, slots=True)
class MachinePrice:
    """USD an hour of one machine on demand, of the region that it was read for."""

    usd: float
    region: str
    source: str
    date: str


def family(type_: str) -> str:
    """A machine type without its size: a3-highgpu of a3-highgpu-8g."""
    return type_.rpartition("-")[0]


@lru_cache(maxsize=1)
def _instances() -> dict[str, GcpInstance]:
    return {item.type: item for item in records(GcpInstance, "gcp_instances.csv")}


@lru_cache(maxsize=1)
def _cpu_instances() -> dict[str, GcpCpuInstance]:
    return {item.type: item for item in records(GcpCpuInstance, "gcp_cpu_instances.csv")}


@lru_cache(maxsize=1)
def _tpus() -> dict[str, Tpu]:
    return {item.type: item for item in records(Tpu, "gcp_tpus.csv")}


@lru_cache(maxsize=1)
def _tpu_prices() -> dict[tuple[str, str], _TpuPrice]:
    return {(item.accelerator, item.region): item for item in records(_TpuPrice, "gcp_tpu_prices.csv")}


@lru_cache(maxsize=1)
def _region_prices() -> dict[tuple[str, str], MachinePrice]:
    return {
        (row["type"], row["region"]): MachinePrice(
            float(row["usd_per_hour"]), row["region"], row["source"], row["date"]
        )
        for row in rows("gcp_region_prices.csv")
    }


@lru_cache(maxsize=1)
def _services() -> dict[tuple[str, str], ServicePrice]:
    return {(price.key, price.region): price for price in records(ServicePrice, "gcp_services.csv")}


@lru_cache(maxsize=1)
def _zones() -> dict[str, tuple[str, ...]]:
    return {
        row["region"]: tuple(f"{row['region']}-{letter}" for letter in row["zones"].split())
        for row in rows("gcp_regions.csv")
    }


@lru_cache(maxsize=1)
def _sold() -> dict[str, dict[str, tuple[str, ...]]]:
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for row in rows("gcp_zones.csv"):
        names = tuple(f"{row['region']}-{letter}" for letter in row["zones"].split())
        found.setdefault(row["match"], {})[row["region"]] = names
    for tpu in _tpus().values():
        found.setdefault(tpu.type, dict(found.get(family(tpu.type), {})))
        for (accelerator, region), price in _tpu_prices().items():
            if accelerator == tpu.accelerator:
                found.setdefault(tpu.type, {})[region] = tuple(f"{region}-{letter}" for letter in price.zones)
    return found


def instance(type_: str) -> GcpInstance:
    """The GPU machine type of that name; raises KeyError where the catalogue has none."""
    return _instances()[type_]


def instances() -> tuple[GcpInstance, ...]:
    """All machine types with GPUs, in the catalogue's order."""
    return tuple(_instances().values())


def cpu_instance(type_: str) -> GcpCpuInstance:
    """The machine type without GPUs of that name; raises KeyError where the catalogue has none."""
    return _cpu_instances()[type_]


def cpu_instances() -> tuple[GcpCpuInstance, ...]:
    """All machine types without GPUs, in the catalogue's order."""
    return tuple(_cpu_instances().values())


def tpu(type_: str) -> Tpu:
    """The TPU machine type of that name; raises KeyError where the catalogue has none."""
    return _tpus()[type_]


def tpus() -> tuple[Tpu, ...]:
    """All machine types with TPU chips, in the catalogue's order."""
    return tuple(_tpus().values())


def regions() -> tuple[str, ...]:
    """Names of all regions."""
    return tuple(_zones())


def zones(region: str) -> tuple[str, ...]:
    """Names of a region's zones; raises KeyError for a region that the catalogue has not."""
    return _zones()[region]


def offered(type_: str) -> dict[str, tuple[str, ...]]:
    """Region to the zones in it that sell a GPU or TPU machine type; empty where no zone was read for it.

    A row of the type itself goes before one of its family. N1 machines are those with a T4 attached.
    """
    return _sold().get(type_) or _sold().get(family(type_), {})


def offered_zones(type_: str, region: str) -> tuple[str, ...]:
    """The zones of a region that sell a GPU or TPU machine type."""
    return offered(type_).get(region, ())


def offered_regions(type_: str) -> tuple[str, ...]:
    """The regions that sell a GPU or TPU machine type, by name."""
    return tuple(offered(type_))


def machine_price(type_: str, region: str) -> MachinePrice | None:
    """The list price of a machine an hour, GPUs or chips included; of `HOME_REGION` where none was read for `region`.

    None where no price was read at all.

    Raises:
        KeyError: the catalogue has no such machine type.
    """
    if type_ in _tpus():
        machine = _tpus()[type_]
        by_chip = _tpu_prices().get((machine.accelerator, region)) or _tpu_prices()[machine.accelerator, HOME_REGION]
        usd = round(machine.chips * by_chip.usd_per_chip_hour, 6)
        return MachinePrice(usd, by_chip.region, by_chip.source, by_chip.date)
    item = _instances().get(type_) or _cpu_instances()[type_]
    found = _region_prices().get((type_, region))
    if found is None and item.usd_per_hour is not None:
        found = MachinePrice(item.usd_per_hour, HOME_REGION, item.price_source, item.price_date)
    return found


def service_price(key: str, region: str) -> ServicePrice:
    """The price of a service, of `HOME_REGION` where none was read for `region`; of `GLOBAL` where there is but one.

    Raises:
        KeyError: the catalogue has no such price.
    """
    found = _services().get((key, region)) or _services().get((key, GLOBAL))
    return found or _services()[key, HOME_REGION]


def service_prices(prefix: str = "") -> tuple[ServicePrice, ...]:
    """All prices whose key begins with `prefix`."""
    return tuple(price for (key, _), price in _services().items() if key.startswith(prefix))
