"""A picture in words, for those who do not see it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.problems import count
from trainyard.review.reports.picture.model import UNTOLD, Cluster, Picture, Pool
from trainyard.review.reports.picture.told import not_drawn


def said_of(picture: Picture) -> str:
    """What is drawn, part by part, in the order in which it is drawn."""
    return " ".join(f"{said}." for said in _parts(picture)) or "Nothing is made."


def _parts(picture: Picture) -> Iterator[str]:
    for network in picture.networks:
        zones = ", ".join(zone.name for zone in network.zones)
        yield f"Network {network.name} {network.cidr}".rstrip() + (f" with subnets in {zones}" if zones else "")
    for cluster in picture.clusters:
        yield _cluster(cluster)
    if picture.stores:
        yield "Storage: " + ", ".join(_kept(store.name, store.kind, store.marks) for store in picture.stores)
    if picture.databases:
        yield "Databases: " + ", ".join(_kept(store.name, store.kind, store.marks) for store in picture.databases)
    for service in picture.services:
        yield f"{service.name}: {', '.join(service.facts)}"
    for budget in picture.budgets:
        limit = f"{budget.limit:,.0f}" if budget.limit is not None else UNTOLD
        yield f"Budget of {limit} {budget.unit} {budget.period}".rstrip()
    if picture.teams:
        owned = (
            f"{team.name} owns {f'{team.gpus:g}' if team.quotas is not None else UNTOLD} GPUs"
            + (f" and {team.chips:g} TPU chips" if team.slices else "")
            for team in picture.teams
        )
        yield "Teams: " + ", ".join(owned)
    if picture.others:
        yield not_drawn(picture.others, len(picture.others)).rstrip(".")


def _cluster(cluster: Cluster) -> str:
    pools = (f"pool {pool.name} {_offer(pool)}" for pool in cluster.pools)
    reach = f", API {cluster.reach}" if cluster.reach else ""
    version = f", Kubernetes {cluster.version}" if cluster.version else ""
    return "; ".join([f"Cluster {cluster.name}{version}{reach}", *pools])


def _offer(pool: Pool) -> str:
    if pool.gpu:
        return f"with {_many(pool.gpus, f'{pool.gpu} GPU')} at most"
    if pool.chips_per_node:
        return f"with {_many(pool.chips, 'TPU chip')} at most"
    return "without GPUs"


def _many(number: int | None, noun: str) -> str:
    return f"{UNTOLD} {noun}s" if number is None else count(number, noun)


def _kept(name: str, kind: str, marks: tuple[str, ...]) -> str:
    return f"{name} ({', '.join((kind, *marks))})"
