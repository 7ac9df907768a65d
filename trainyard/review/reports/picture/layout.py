"""Which box of a picture stands where: the places of one drawing for one width."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from trainyard.problems import count
from trainyard.review.reports.picture.blocks import Beside, Block, Frame, Grid, Heading, Lines, Stack
from trainyard.review.reports.picture.figures import Bar
from trainyard.review.reports.picture.layout_compute import cluster_block, teams_block
from trainyard.review.reports.picture.lettering import PLAIN, SOFT, TITLE
from trainyard.review.reports.picture.look import Look, facts
from trainyard.review.reports.picture.model import (
    EDITORS,
    OWN_KEY,
    PROTECTED,
    UNTOLD,
    Budget,
    Network,
    Picture,
    Store,
    Zone,
)
from trainyard.review.reports.picture.shapes import Drawing, moved
from trainyard.review.reports.picture.told import not_drawn

WIDTHS: Final = {"wide": 960.0, "middle": 700.0, "narrow": 362.0}
"""Widths of the three drawings of a page: a desk's screen or a sheet of paper, a tablet, a telephone of 390 pixels."""

_EDGE: Final = 1.0  # room for half a line around the outermost boxes
_MOST_SUBNETS: Final = 12  # of one zone
_MOST_OTHERS: Final = 12


def drawings(picture: Picture) -> tuple[Drawing, ...]:
    """The picture at each of `WIDTHS`."""
    return tuple(draw(picture, name, width) for name, width in WIDTHS.items())


def draw(picture: Picture, name: str, width: float) -> Drawing:
    """The picture at one width."""
    placed = _whole(picture).place(width - 2 * _EDGE)
    shapes = tuple(moved(shape, _EDGE, _EDGE) for shape in placed.shapes)
    return Drawing(name, width, placed.height + 2 * _EDGE, shapes)


def _whole(picture: Picture) -> Block:
    """Networks and clusters, beside them what is kept and what it costs, below them who uses it."""
    look = Look.of(picture)
    inside: dict[str, list[Block]] = {network.urn: [] for network in picture.networks if network.urn}
    outside: list[Block] = []
    for cluster in picture.clusters:
        inside.get(cluster.network, outside).append(cluster_block(cluster, look))
    networks = [_network(network, inside.get(network.urn, ()), look) for network in picture.networks]
    kept = [*_storage(picture, look), *_tracking(picture, look)]
    budgets = [_budget(budget, picture, look) for budget in picture.budgets]
    return Stack(
        (
            facts(*picture.places),
            Beside((*networks, *outside), kept, budgets, share=0.68, least=900),
            teams_block(picture.teams, look),
            _others(picture),
        )
    )


def _network(network: Network, clusters: Sequence[Block], look: Look) -> Block:
    nats = sum(zone.nat_gateways for zone in network.zones)
    endpoints = f"Reached without the internet: {', '.join(network.endpoints)}" if network.endpoints else ""
    body = (
        Heading(f"Network {network.name}".removesuffix(" network"), network.cidr, TITLE),
        facts(
            "internet gateway" if network.has_internet_gateway else "",
            count(nats, "NAT gateway") if nats else "",
            f"flow logs of {network.flow_logs} traffic" if network.flow_logs else "",
        ),
        look.marks(network.urn),
        Grid([_zone(zone) for zone in network.zones], 190),
        Lines(endpoints, SOFT),
        *clusters,
    )
    return Frame("network", Stack(body))


def _zone(zone: Zone) -> Frame:
    nats = "NAT gateway" if zone.nat_gateways == 1 else count(zone.nat_gateways, "NAT gateway")
    rows: list[Block] = [Heading(zone.name, nats if zone.nat_gateways else "")]
    for subnet in zone.subnets[:_MOST_SUBNETS]:
        heading = Heading(subnet.reach or "subnet", subnet.cidr, PLAIN)
        rows.append(Frame(f"subnet {subnet.reach.replace(' ', '-')}".rstrip(), heading, hint=subnet.name, padding=4))
    rest = len(zone.subnets) - _MOST_SUBNETS
    rows.append(Lines(f"and {count(rest, 'subnet')} more" if rest > 0 else "", SOFT))
    return Frame("zone", Stack(rows, gap=4))


def _storage(picture: Picture, look: Look) -> Iterator[Block]:
    if picture.stores:
        frames = [_store(store, look) for store in picture.stores]
        yield Frame("kept", Stack((Heading("Storage", style=TITLE), Grid(frames, 240))))


def _store(store: Store, look: Look) -> Frame:
    safe = (PROTECTED, OWN_KEY)
    marks = [("mark safe" if mark in safe else "mark", mark) for mark in store.marks]
    body = (Heading(store.name, store.kind), facts(*store.facts), look.marks(store.urn, *marks))
    return Frame("store", Stack(body, gap=4))


def _tracking(picture: Picture, look: Look) -> Iterator[Block]:
    if not picture.services and not picture.databases:
        return
    title = "Tracking" if picture.services else "Databases"
    if any(service.name == EDITORS for service in picture.services):
        title = "Editors and tracking"
    servers = [
        Frame("store", Stack((Heading(service.name), facts(*service.facts), look.marks(service.urn)), gap=4))
        for service in picture.services
    ]
    frames = [*servers, *(_store(database, look) for database in picture.databases)]
    yield Frame("kept", Stack((Heading(title, style=TITLE), Grid(frames, 240))))


def _budget(budget: Budget, picture: Picture, look: Look) -> Block:
    limit, expected = budget.limit, picture.expected_usd
    amount = f"{limit:,.0f}" if limit is not None else UNTOLD
    body: list[Block] = [Heading("Budget", f"{amount} {budget.unit} {budget.period}", TITLE), look.marks(budget.urn)]
    if limit and expected is not None and (budget.unit, budget.period) == ("USD", "a month"):
        part = expected / limit
        scale = max([part, 1.0, *(percent / 100 for percent, _ in budget.thresholds)])
        marks = [percent / 100 / scale for percent, _ in budget.thresholds]
        body.append(Bar([("over" if part > 1 else "used", part / scale)], marks))
        body.append(Lines(f"{expected:,.0f} USD expected, {100 * part:.0f} % of it"))
    spent, forecast = (_percents(budget, forecasts=forecasts) for forecasts in (False, True))
    alerts = " and ".join(filter(None, (spent and f"{spent} spent", forecast and f"{forecast} forecast")))
    body.append(facts(f"alerts at {alerts}" if alerts else "no alerts", *budget.facts))
    return Frame("kept", Stack(body, gap=6))


def _percents(budget: Budget, *, forecasts: bool) -> str:
    found = [f"{percent:g}" for percent, forecast in budget.thresholds if forecast is forecasts]
    return f"{', '.join(found)} %" if found else ""


def _others(picture: Picture) -> Block:
    """What is not drawn, in a sentence; in boxes where there is nothing else to see."""
    drawn = (picture.networks, picture.clusters, picture.stores, picture.databases, picture.services, picture.teams)
    if not any(drawn):
        frames = [Frame("store", Heading(name, count(number, "resource"))) for name, number in picture.others]
        return Grid(frames, 160)
    return Lines(not_drawn(picture.others, _MOST_OTHERS), SOFT)
