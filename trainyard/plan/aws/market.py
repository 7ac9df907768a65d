"""What a region of AWS sells, and which of it a pool gets."""

from __future__ import annotations

import math
from dataclasses import dataclass

from trainyard import catalog
from trainyard.catalog import Instance
from trainyard.catalog.blocks import block_offer
from trainyard.conventions.aws import RESERVATION_ID
from trainyard.plan.context import LOCKED, Context
from trainyard.problems import nearest
from trainyard.settings.pools import FlexStart, GpuPool, Reserved


@dataclass(frozen=True, slots=True)
class AwsMarket:
    """The EC2 instances of one region (`plan.pools.Market`)."""

    context: Context

    def sells_gpus(self) -> bool:
        """Whether the region has a GPU instance that the node image can drive."""
        region = self.context.region
        if any(usable(item, region) for item in catalog.instances()):
            return True
        selling = (name for name in catalog.regions() if any(usable(item, name) for item in catalog.instances()))
        self.context.ledger.regional("region", region, f"sells no GPU instance; these do: {', '.join(selling)}")
        return False

    def pick(self, name: str, pool: GpuPool, known: bool) -> Instance | None:
        """The named instance, the cheapest with the named GPU, or the profile's first that is sold."""
        context, region, ledger = self.context, self.context.region, self.context.ledger
        key = f"gpuPools.{name}"
        kept = context.lock.pools.get(name)
        if kept is not None:
            return self._kept(name, pool, kept.instance_type)
        if pool.instance_type is not None:
            item = self.named(f"{key}.instanceType", pool.instance_type)
            if item and pool.gpu and pool.gpu != item.gpu:
                ledger.problem(f"{key}.gpu", pool.gpu, f"{item.type} has {item.gpu}", "leave out gpu or instanceType")
            if item:
                ledger.decide(f"pools.{name}.instance_type", item.type, f"setting {key}.instanceType")
            return item
        path = f"gpu_pools.{name}.instance_types"
        wanted = tuple(context.figure(path)) if known else ()
        if pool.gpu is not None:
            return self._cheapest_with(name, pool.gpu, wanted)
        if not known:
            allowed = f"a pool that the profile {context.profile.name} lacks needs one"
            ledger.problem(key, "neither instanceType nor gpu", allowed)
            return None
        sold = [type_ for type_ in wanted if catalog.offered(type_, region)]
        if not sold:
            allowed = f"{region} sells none of {', '.join(wanted)}; choose one of {_sold_in(region)}"
            ledger.regional(f"{key}.instanceType", None, allowed, "or set enabled: false")
            return None
        skipped = wanted[: wanted.index(sold[0])]
        why = f"; {region} does not sell {', '.join(skipped)}" if skipped else ""
        ledger.decide(f"pools.{name}.instance_type", sold[0], context.source(path) + why)
        return catalog.instance(sold[0])

    def _kept(self, name: str, pool: GpuPool, type_: str) -> Instance | None:
        """The instance that the nodes of the pool are of; another one is another pool's."""
        context, key = self.context, f"gpuPools.{name}"
        if type_ not in [item.type for item in catalog.instances()]:
            allowed = "no such GPU instance in the catalogue"
            context.ledger.problem(f"lock: pools.{name}.instanceType", type_, allowed)
            return None
        item = catalog.instance(type_)
        instead = f"add a pool of it beside {name}, and take {name} away when its jobs are done"
        if pool.instance_type not in (None, type_):
            context.contradiction(f"{key}.instanceType", pool.instance_type, type_, f"pools.{name}", instead)
        elif pool.gpu not in (None, item.gpu):
            context.contradiction(f"{key}.gpu", pool.gpu, item.gpu, f"pools.{name}", instead)
        context.ledger.decide(f"pools.{name}.instance_type", type_, LOCKED)
        return item

    def named(self, key: str, type_: str) -> Instance | None:
        """The instance of that name, if it is a whole-GPU instance that the region sells and the image can drive."""
        region, ledger = self.context.region, self.context.ledger
        known = [item.type for item in catalog.instances()]
        if type_ not in known:
            hint = nearest(type_, known) or _sold_hint(region)
            ledger.problem(key, type_, "no such GPU instance in the catalogue", hint)
            return None
        item = catalog.instance(type_)
        driver, source = catalog.ami_driver()
        if not item.gpus:
            ledger.problem(key, type_, "has a fraction of a GPU, which queues and the device plugin cannot count")
            return None
        if item.min_driver and item.min_driver > driver:
            ledger.problem(key, type_, f"needs NVIDIA driver {item.min_driver}; the node image has {driver} ({source})")
            return None
        if not catalog.offered(type_, region):
            there = ", ".join(catalog.offered_regions(type_)) or "no region of the catalogue"
            similar = [other.type for other in catalog.instances() if other.gpus == item.gpus and usable(other, region)]
            hint = f"with {item.gpus} GPUs there: {', '.join(similar)}" if similar else _sold_hint(region)
            ledger.regional(key, type_, f"{region} does not sell it; it is in {there}", hint)
            return None
        return item

    def fabric(self, name: str, pool: GpuPool, known: bool, item: Instance) -> bool:
        """Whether the nodes use their Elastic Fabric Adapters."""
        context, ledger = self.context, self.context.ledger
        key = f"gpuPools.{name}.fabric"
        if pool.fabric is not None:
            if pool.fabric and not item.efa_interfaces:
                ledger.problem(key, True, f"{item.type} has no Elastic Fabric Adapter")
            wanted, source = pool.fabric, f"setting {key}"
        elif known:
            path = f"gpu_pools.{name}.fabric"
            wanted, source = bool(context.figure(path)), context.source(path)
        else:
            # One interface comes with any large instance; several mean that the instance is made for a fabric.
            wanted = item.efa_interfaces > 1
            source = "a new pool has a fabric where its instance has several interfaces"
        interfaces = item.efa_interfaces if wanted else 0
        source = f"{source}; catalogue: {item.efa_interfaces}"
        return ledger.decide(f"pools.{name}.fabric.interfaces", interfaces, source) > 0

    def spot_types(self, key: str, pool: GpuPool, item: Instance) -> tuple[str, ...] | None:
        """The named alternatives that have the pool's GPU and GPU count and are at least as large."""
        if pool.spot is None or pool.spot.instance_types is None:
            return None
        here, ledger = f"{key}.spot.instanceTypes", self.context.ledger
        kept = []
        for type_ in pool.spot.instance_types:
            other = self.named(here, type_)
            if other is None or other.type == item.type:
                continue
            if (other.gpu, other.gpus) != (item.gpu, item.gpus):
                ledger.problem(here, type_, f"has {other.gpus} {other.gpu}; the pool has {item.gpus} {item.gpu} a node")
            elif other.vcpus < item.vcpus or other.memory_gib < item.memory_gib:
                allowed = f"has fewer vCPUs or less memory than {item.type}, for which jobs are sized"
                ledger.problem(here, type_, allowed)
            else:
                kept.append(type_)
        return tuple(dict.fromkeys(kept))

    def flex_start(self, key: str, pool: GpuPool) -> FlexStart | None:
        """None: EC2 has no queue, which a warning of the settings tells."""
        del key, pool
        return None

    def check_reservation(self, key: str, reserved: Reserved, item: Instance | None) -> None:
        """An id of a capacity reservation, and a type that is sold in Capacity Blocks where it is one."""
        ledger = self.context.ledger
        if not RESERVATION_ID.fullmatch(reserved.reservation_id):
            allowed = "must look like cr-0123456789abcdef0"
            ledger.problem(f"{key}.reserved.reservationId", reserved.reservation_id, allowed)
        if item is not None and reserved.kind == "capacity-block" and not item.capacity_block:
            able = ", ".join(other.type for other in catalog.instances() if other.capacity_block)
            allowed = f"{item.type} is not sold in Capacity Blocks; {able} are"
            ledger.problem(f"{key}.reserved.kind", reserved.kind, allowed)
        elif item is not None and reserved.kind == "capacity-block":
            offer = block_offer("aws", "capacity-block", item.type, self.context.region)
            most = offer.block.most_nodes if offer is not None else None
            if most is not None and reserved.nodes > most:
                allowed = f"a Capacity Block has at most {most} instances"
                ledger.problem(f"{key}.reserved.nodes", reserved.nodes, allowed)

    def _cheapest_with(self, name: str, gpu: str, wanted: tuple[str, ...]) -> Instance | None:
        region, ledger = self.context.region, self.context.ledger
        key = f"gpuPools.{name}.gpu"
        if gpu not in catalog.gpu_names():
            # "A100" is two models: name both rather than the one that is spelt most alike.
            longer = [name for name in catalog.gpu_names() if gpu and name.startswith(f"{gpu}-")]
            close = f"did you mean {' or '.join(longer)}?" if longer else nearest(gpu, catalog.gpu_names())
            ledger.problem(key, gpu, f"must be one of {', '.join(catalog.gpu_names())}", close)
            return None
        sold = [item for item in catalog.instances(gpu) if usable(item, region)]
        if not sold:
            regions = sorted(
                {place for item in catalog.instances(gpu) if item.gpus for place in catalog.offered_regions(item.type)}
            )
            here = dict.fromkeys(item.gpu for item in catalog.instances() if usable(item, region))
            ledger.regional(
                key,
                gpu,
                f"{region} has no instance with it that the node image can drive; it is sold in {', '.join(regions)}",
                f"GPUs there: {', '.join(here)}",
            )
            return None
        count = catalog.instance(wanted[0]).gpus if wanted else None
        same = [item for item in sold if item.gpus == count] or sold
        # The catalogue's order breaks ties; an instance without a price comes last.
        best = min(same, key=lambda item: item.usd_per_hour if item.usd_per_hour is not None else math.inf)
        ledger.decide(f"pools.{name}.instance_type", best.type, f"setting {key}: the cheapest with {gpu} in {region}")
        return best


def usable(item: Instance, region: str) -> bool:
    """Whether the region sells the type, it has whole GPUs, and the node image can drive them."""
    driver, _ = catalog.ami_driver()
    return bool(item.gpus) and catalog.offered(item.type, region) and (item.min_driver or 0) <= driver


def _sold_in(region: str) -> str:
    return ", ".join(item.type for item in catalog.instances() if usable(item, region))


def _sold_hint(region: str) -> str:
    return f"{region} sells {_sold_in(region)}"
