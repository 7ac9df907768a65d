"""Whole blocks of settings that are right together, which chance draws one by one and seldom whole.

A plausible file gets a few of them. Each is right for any file of its cloud; what a file says against one of them, it
takes back (`tests.fuzz.files.without`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from tests.fuzz.fields import World, machine
from trainyard import catalog
from trainyard.catalog import gcp

Values = dict[str, Any]
Extra = Callable[[Values, Random, World], None]

LOGIN = "https://login.acme.example"


def _notebooks(values: Values, rng: Random, place: World) -> None:
    """A hub, of GitHub or of any provider, now and then with GPUs of its own."""
    sign_on: Values = {"provider": "github", "clientId": "0oa1b2c3", "groups": ["acme:ml", "acme"]}
    if rng.random() < 0.5:
        sign_on |= {"provider": "oidc", "groups": ["ML people"], "scopes": ["openid", "email", "groups"]}
        sign_on |= {f"{what}Url": f"{LOGIN}/{what}" for what in ("authorize", "token", "userdata")}
    hub = {"hub": True, "signOn": sign_on, "idleMinutes": rng.choice((5, 45, 720))}
    if rng.random() < 0.5:
        hub["gpus"] = {"dev": 1}
    values["notebooks"] = hub


def _team_budgets(values: Values, rng: Random, place: World) -> None:
    teams = [team["name"] for team in values.get("teams", [])] or ["everyone"]
    values["teamBudgets"] = {
        "hold": True,
        "exempt": teams[: len(teams) > 1],
        "drainAfterHours": rng.choice((0, 744)),
    }
    values["teamBudgets"]["gpuHourUsd"] = {"dev-on-demand": rng.choice((0.01, 1.9, 10_000))}
    for team in values.get("teams", []):
        team["monthlyBudgetUsd"] = rng.choice((0, 500, 40_000))


def _off_peak(values: Values, rng: Random, place: World) -> None:
    hours = rng.choice((("20:00", "07:00"), ("00:00", "23:59"), ("12:30", "13:00")))
    zone = rng.choice(("UTC", "America/St_Johns", "Pacific/Kiritimati"))
    values["offPeak"] = {"from": hours[0], "to": hours[1], "timeZone": zone, "developmentSleeps": True}


def _alerts(values: Values, rng: Random, place: World) -> None:
    percents = rng.choice(([50, 80, 100], [1, 2, 1000], [99, 100, 101]))
    values["monitoring"] = {"retentionDays": rng.choice((32, 730)), "alerts": {"budgetPercents": percents}}
    if place.cloud == "aws" and rng.random() < 0.5:
        values["monitoring"]["service"] = "managed"


def _shared_pool(values: Values, rng: Random, place: World) -> None:
    """GPUs that pods take turns on, of a machine without a fabric."""
    plain = [item for item in place.sold if not machine(item, place).fabric_interfaces]
    if plain:
        turns = {"timeSlices": rng.choice((2, 3, 48)), "acrossTeams": True}
        pool = {"instanceType": rng.choice(plain), "onDemand": {"maxNodes": rng.choice((1, 3))}, "sharing": turns}
        values.setdefault("gpuPools", {})["small"] = pool


def _capacity_block(values: Values, rng: Random, place: World) -> None:
    """A block of a fortnight, of a machine that is sold in blocks."""
    found = [item for item in place.sold if place.cloud == "aws" and catalog.instance(item).capacity_block]
    if not found:
        return
    item = rng.choice(found)
    zones = [zone for zone in catalog.offered_zones(item, place.region) if zone in place.zones]
    if not zones:
        return
    block = {"reservationId": "cr-0123456789abcdef1", "kind": "capacity-block", "nodes": rng.choice((1, 16))}
    block |= {"availabilityZone": zones[0], "start": "2027-01-04T11:30:00Z", "end": "2027-01-18T11:30:00Z"}
    values.setdefault("gpuPools", {})["block"] = {"instanceType": item, "reserved": block}


def _tpus(values: Values, rng: Random, place: World) -> None:
    """Slices of a machine that the region sells, of one machine and of several."""
    sold = [item for item in gcp.tpus() if place.cloud == "gcp" and gcp.offered_zones(item.type, place.region)]
    for number, item in enumerate(rng.sample(sold, min(len(sold), 2))):
        zone = rng.choice(gcp.offered_zones(item.type, place.region))
        capacity = rng.choice(("spot", "onDemand", "flexStart"))
        pool: Values = {"instanceType": item.type, "topology": rng.choice(item.topologies[:4]), "zone": zone}
        pool |= {"image": f"registry.example/jax:1@sha256:{'a' * 64}", capacity: {"maxSlices": rng.choice((1, 2))}}
        values.setdefault("gcp", {}).setdefault("tpuPools", {})[f"slices-{number}"] = pool


def _managed_types(values: Values, rng: Random, place: World) -> None:
    """What people of a small team may start; elsewhere it is taken back."""
    types = {"aws": (["m5.xlarge", "g5.xlarge"], ["t3.medium"]), "gcp": (["n1-standard-8"], ["e2-standard-4"])}
    training, editors = types[place.cloud]
    values.setdefault("managed", {}).update({"trainingTypes": training, "editorTypes": editors})


def _size(values: Values, rng: Random, place: World) -> None:
    """The smallest and the largest teams, and one person a team."""
    count = rng.choice((1, 2, 20, 60))
    values["teams"] = [{"name": f"team-{number}", "members": 1} for number in range(count)]
    values["teamSize"] = max(count, rng.choice((1, 5, 60, 200)))


EXTRAS: Mapping[str, tuple[Extra, ...]] = {
    "medium": (_notebooks, _team_budgets, _off_peak, _alerts, _shared_pool, _capacity_block, _tpus),
    "small": (_managed_types,),
}
"""By what a team has: a cluster, or managed training."""


def add_some(values: Values, rng: Random, place: World) -> None:
    """Puts a few blocks into a file, in the place of what chance drew there."""
    if rng.random() < 0.15:
        _size(values, rng, place)
    people = values.get("teamSize", 5)
    known = EXTRAS["small" if people < 5 else "medium"]
    for extra in rng.sample(known, min(len(known), rng.choice((0, 0, 1, 2, 3)))):
        extra(values, rng, place)
