"""Which instance type a pool gets."""

from __future__ import annotations

import math

from trainyard import catalog
from trainyard.catalog import Instance
from trainyard.plan.ledger import Ledger
from trainyard.plan.profiles import Profile
from trainyard.plan.request import PoolRequest
from trainyard.problems import nearest


def pick_instance(
    name: str, request: PoolRequest, profile: Profile, known: bool, region: str, ledger: Ledger
) -> Instance | None:
    """The instance of a pool: the named one, the cheapest with the named GPU, or the profile's first that is sold."""
    key = f"gpuPools.{name}"
    if request.instance_type is not None:
        item = named_instance(f"{key}.instanceType", request.instance_type, region, ledger)
        if item and request.gpu and request.gpu != item.gpu:
            ledger.problem(f"{key}.gpu", request.gpu, f"{item.type} has {item.gpu}", "leave out gpu or instanceType")
        if item:
            ledger.decide(f"pools.{name}.instance_type", item.type, f"setting {key}.instanceType")
        return item
    path = f"gpu_pools.{name}.instance_types"
    wanted = tuple(profile.figure(path).value) if known else ()
    if request.gpu is not None:
        return _cheapest_with(name, request.gpu, wanted, region, ledger)
    if not known:
        ledger.problem(key, "neither instanceType nor gpu", f"a pool that the profile {profile.name} lacks needs one")
        return None
    sold = [type_ for type_ in wanted if catalog.offered(type_, region)]
    if not sold:
        ledger.regional(
            f"{key}.instanceType",
            None,
            f"{region} sells none of {', '.join(wanted)}; choose one of {_sold_in(region)}",
            "or set enabled: false",
        )
        return None
    skipped = wanted[: wanted.index(sold[0])]
    why = f"; {region} does not sell {', '.join(skipped)}" if skipped else ""
    ledger.decide(f"pools.{name}.instance_type", sold[0], profile.source(path) + why)
    return catalog.instance(sold[0])


def named_instance(key: str, type_: str, region: str, ledger: Ledger) -> Instance | None:
    """The instance of that name, if it is a whole-GPU instance that the region sells and the node image can drive."""
    known = [item.type for item in catalog.instances()]
    if type_ not in known:
        ledger.problem(key, type_, "no such GPU instance in the catalogue", nearest(type_, known) or _sold_hint(region))
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


def _cheapest_with(name: str, gpu: str, wanted: tuple[str, ...], region: str, ledger: Ledger) -> Instance | None:
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
