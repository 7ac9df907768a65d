"""What a region of Google Cloud sells, and which of it a pool gets."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from trainyard.catalog import gcp as catalog
from trainyard.catalog.gcp import GcpInstance
from trainyard.conventions import gpudirect
from trainyard.conventions.gcp import DRANET_FAMILIES, GIB_TUNERS, GKE_ACCELERATORS, TPU_FAMILIES
from trainyard.plan.context import LOCKED, Context
from trainyard.problems import nearest
from trainyard.settings.pools import FlexStart, GpuPool, Reserved

RESERVATION_FORM = re.compile(
    r"(projects/[a-z][a-z0-9-]{4,28}[a-z0-9]/reservations/)?[a-z]([-a-z0-9]{0,61}[a-z0-9])?"
    r"(/reservationBlocks/[a-z]([-a-z0-9]{0,61}[a-z0-9])?)?"
)
RESERVATION_WORDS = "must be NAME, projects/PROJECT/reservations/NAME, or that with /reservationBlocks/BLOCK"
"""How a reservation that is used by name is spelt, and how that is told."""


@dataclass(frozen=True, slots=True)
class GcpMarket:
    """The machines with GPUs of one region (`plan.pools.Market`)."""

    context: Context

    def sells_gpus(self) -> bool:
        """Whether the region has a machine with GPUs that a node pool can have."""
        region = self.context.region
        if _sold_in(region):
            return True
        selling = [name for name in catalog.regions() if _sold_in(name)]
        self.context.ledger.regional("region", region, f"sells no GPUs; these do: {', '.join(selling)}")
        return False

    def pick(self, name: str, pool: GpuPool, known: bool) -> GcpInstance | None:
        """The named machine, the cheapest with the named GPU, or the profile's first that is sold."""
        context, region, ledger = self.context, self.context.region, self.context.ledger
        key, path = f"gpuPools.{name}", f"gpu_pools.{name}.machine_types"
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
        wanted = tuple(context.figure(path)) if known else ()
        if pool.gpu is not None:
            return self._cheapest_with(name, pool.gpu, wanted)
        if not known:
            allowed = f"a pool that the profile {context.profile.name} lacks needs one"
            ledger.problem(key, "neither instanceType nor gpu", allowed)
            return None
        sold = [type_ for type_ in wanted if catalog.offered_zones(type_, region)]
        if not sold:
            here = ", ".join(item.type for item in _sold_in(region))
            allowed = f"{region} sells none of {', '.join(wanted)}; choose one of {here}"
            ledger.regional(f"{key}.instanceType", None, allowed, "or set enabled: false")
            return None
        skipped = wanted[: wanted.index(sold[0])]
        why = f"; {region} does not sell {', '.join(skipped)}" if skipped else ""
        ledger.decide(f"pools.{name}.instance_type", sold[0], context.source(path) + why)
        return catalog.instance(sold[0])

    def _kept(self, name: str, pool: GpuPool, type_: str) -> GcpInstance | None:
        """The machine that the nodes of the pool are of; another one is another pool's."""
        context, key = self.context, f"gpuPools.{name}"
        if type_ not in [item.type for item in catalog.instances()]:
            context.ledger.problem(f"lock: pools.{name}.instanceType", type_, "no such machine type in the catalogue")
            return None
        item = catalog.instance(type_)
        instead = f"add a pool of it beside {name}, and take {name} away when its jobs are done"
        if pool.instance_type not in (None, type_):
            context.contradiction(f"{key}.instanceType", pool.instance_type, type_, f"pools.{name}", instead)
        elif pool.gpu not in (None, item.gpu):
            context.contradiction(f"{key}.gpu", pool.gpu, item.gpu, f"pools.{name}", instead)
        context.ledger.decide(f"pools.{name}.instance_type", type_, LOCKED)
        return item

    def named(self, key: str, type_: str) -> GcpInstance | None:
        """The machine of that name, if the region sells it and a node pool can have it."""
        region, ledger = self.context.region, self.context.ledger
        known = [item.type for item in catalog.instances()]
        here = ", ".join(item.type for item in _sold_in(region))
        if type_.startswith(TPU_FAMILIES):
            allowed = "has TPU chips and no GPU: a pool of slices is one of gcp.tpuPools"
            ledger.problem(key, type_, allowed, f"GPU machines in {region}: {here}")
            return None
        if type_ not in known:
            hint = nearest(type_, known) or f"{region} sells {here}"
            ledger.problem(key, type_, "no such machine type with GPUs in the catalogue", hint)
            return None
        if not _is_served(catalog.instance(type_)):
            allowed = (
                "is no machine of a node pool here: its GPUs are attached, or GKE has no type of accelerator for it"
            )
            ledger.problem(key, type_, allowed, f"{region} sells {here}")
            return None
        if not catalog.offered_zones(type_, region):
            there = ", ".join(catalog.offered_regions(type_)) or "no region of the catalogue"
            ledger.regional(key, type_, f"{region} does not sell it; it is in {there}", f"{region} sells {here}")
            return None
        return catalog.instance(type_)

    def fabric(self, name: str, pool: GpuPool, known: bool, item: GcpInstance) -> bool:
        """Whether jobs get the machine's fast interfaces; a pool that would fall back to a tenth of its bandwidth
        without a word is refused."""
        context, key = self.context, f"gpuPools.{name}.fabric"
        has = item.fabric_interfaces if item.type.startswith(DRANET_FAMILIES) else 0
        plainly = f"or set {key}: false, and its nodes talk over the plain network"
        if pool.fabric and not has:
            context.ledger.problem(key, True, f"{item.type} has no fast interfaces")
        if pool.fabric is not None:
            wanted, source = pool.fabric, f"setting {key}"
        elif known:
            path = f"gpu_pools.{name}.fabric"
            wanted, source = bool(context.figure(path)), context.source(path)
        else:
            wanted, source = True, "a new pool has a fabric where its machine has fast interfaces"
        transport, how = gpudirect.OF_MACHINE.get(item.type), context.settings.gcp.fast_network
        if not (wanted and has):
            pass
        elif transport is not None and how != transport.name:
            allowed = (
                f"the fast interfaces of {item.type} need a daemon in each pod that is root of the node "
                f"({transport.name.upper()}), which gcp.fastNetwork: {transport.name} asks for; "
                f"{' and '.join(GIB_TUNERS)} do without"
            )
            context.ledger.problem(key, True, allowed, plainly.removeprefix("or "))
        elif transport is None and how is not None and how in gpudirect.TRANSPORTS:
            machine = gpudirect.TRANSPORTS[how].machine
            allowed = f"is of {machine}; pool {name} is of {item.type}, whose fast interfaces are RDMA"
            context.ledger.problem("gcp.fastNetwork", how, allowed, f"take dranet or networks, {plainly}")
        elif context.settings.smoke.image is None:
            what = (
                "Google's plug-in of NCCL (gIB) in /usr/local/gib"
                if transport is None
                else "an NCCL that Google's plug-in of the node goes with"
            )
            allowed = (
                f"pool {name} has a fabric: needs an image with torch and {what}, by digest, which its smoke job and "
                "its runtime are of; no public one is known"
            )
            context.ledger.problem("smoke.image", None, allowed, plainly)
        if wanted and transport is not None and how == transport.name and pool.whole_nodes_only is False:
            allowed = (
                f"the daemon that gcp.fastNetwork: {how} puts into each pod of {item.type} is root of the node, so a "
                "pod has its node to itself"
            )
            context.ledger.problem(f"gpuPools.{name}.wholeNodesOnly", False, allowed, f"leave it out, {plainly}")
        interfaces = has if wanted else 0
        context.ledger.decide(f"pools.{name}.fabric.interfaces", interfaces, f"{source}; {item.type} has {has}")
        return interfaces > 0

    def spot_types(self, key: str, pool: GpuPool, item: GcpInstance) -> tuple[str, ...] | None:
        """None: a node pool has one machine type, which the settings' own checks tell."""
        del key, pool, item
        return None

    def flex_start(self, key: str, pool: GpuPool) -> FlexStart | None:
        """Any machine of a pool may be waited for."""
        del key
        return pool.flex_start

    def check_reservation(self, key: str, reserved: Reserved, item: GcpInstance | None) -> None:
        """The name of a reservation that is used by name, or of a block of one."""
        del item
        if not RESERVATION_FORM.fullmatch(reserved.reservation_id):
            where = f"{key}.reserved.reservationId"
            self.context.ledger.problem(where, reserved.reservation_id, RESERVATION_WORDS)
        given = {"start": reserved.start, "end": reserved.end, "lastStartHours": reserved.last_start_hours}
        for name, value in {"kind": reserved.kind if reserved.kind != "odcr" else None, **given}.items():
            if value is not None:
                allowed = "is of AWS's Capacity Blocks; a reservation of Google's is there until it is given back"
                self.context.ledger.problem(f"{key}.reserved.{name}", value, allowed, "leave it out")

    def _cheapest_with(self, name: str, gpu: str, wanted: tuple[str, ...]) -> GcpInstance | None:
        region, ledger = self.context.region, self.context.ledger
        key, models = f"gpuPools.{name}.gpu", tuple(dict.fromkeys(item.gpu for item in catalog.instances()))
        if gpu not in models:
            longer = [model for model in models if gpu and model.startswith(f"{gpu}-")]
            close = f"did you mean {' or '.join(longer)}?" if longer else nearest(gpu, models)
            ledger.problem(key, gpu, f"must be one of {', '.join(models)}", close)
            return None
        sold = [item for item in _sold_in(region) if item.gpu == gpu]
        if not sold:
            here = ", ".join(dict.fromkeys(item.gpu for item in _sold_in(region)))
            ledger.regional(key, gpu, f"{region} has no machine with it", f"GPUs there: {here}")
            return None
        count = catalog.instance(wanted[0]).gpus if wanted else None
        same = [item for item in sold if item.gpus == count] or sold
        best = min(same, key=lambda item: usd_per_hour(item, region) or math.inf)
        ledger.decide(f"pools.{name}.instance_type", best.type, f"setting {key}: the cheapest with {gpu} in {region}")
        return best


def usd_per_hour(item: GcpInstance, region: str) -> float | None:
    """The list price of a machine, of the region where it is known."""
    price = catalog.machine_price(item.type, region)
    return price.usd if price is not None else None


def accelerator(item: GcpInstance) -> str:
    """What GKE calls the machine's GPUs; the H100 of A3 Mega has a name of its own."""
    names = [name for name, model in GKE_ACCELERATORS.items() if model == item.gpu]
    mega = item.type.startswith("a3-megagpu-")
    return next((name for name in names if ("mega" in name) == mega), names[0])


def _is_served(item: GcpInstance) -> bool:
    """Whether a node pool of ours can have it: its GPUs are its own, and GKE has a name for them."""
    return "+" not in item.type and item.gpu in GKE_ACCELERATORS.values()


def _sold_in(region: str) -> list[GcpInstance]:
    return [item for item in catalog.instances() if _is_served(item) and catalog.offered_zones(item.type, region)]
