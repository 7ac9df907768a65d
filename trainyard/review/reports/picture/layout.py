"""Which box of a picture stands where: the places of one drawing for one width."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from trainyard.review.reports.picture.blocks import Beside, Block, Frame, Grid, Heading, Lines, Stack
from trainyard.review.reports.picture.figures import Bar, Chips, Nodes
from trainyard.review.reports.picture.lettering import NO_BREAK, PLAIN, SOFT, TITLE
from trainyard.review.reports.picture.model import (
    UNTOLD,
    Budget,
    Cluster,
    Network,
    NodeGroupFigures,
    Picture,
    Pool,
    Store,
    Team,
    Zone,
)
from trainyard.review.reports.picture.shapes import Drawing, moved

WIDTHS: Final = {"wide": 1096.0, "middle": 700.0, "narrow": 362.0}
"""Of the three drawings of a page: a desk's screen, a sheet of paper or a tablet, a telephone of 390 pixels."""

_EDGE: Final = 1.0  # room for half a line around the outermost boxes
COLOURS: Final = 8
_MOST_SUBNETS: Final = 12  # of one zone
_MOST_OTHERS: Final = 12
_SHORT: Final = 16  # characters


def drawings(picture: Picture) -> tuple[Drawing, ...]:
    """The picture at each of `WIDTHS`."""
    return tuple(draw(picture, name, width) for name, width in WIDTHS.items())


def draw(picture: Picture, name: str, width: float) -> Drawing:
    """The picture at one width."""
    placed = whole(picture).place(width - 2 * _EDGE)
    shapes = tuple(moved(shape, _EDGE, _EDGE) for shape in placed.shapes)
    return Drawing(name, width, placed.height + 2 * _EDGE, shapes)


def whole(picture: Picture) -> Block:
    """Network and clusters, beside them what is kept and what it costs, below them who uses it."""
    colours = {name: index % COLOURS for index, name in enumerate(_pool_names(picture))}
    inside: dict[str, list[Block]] = {network.urn: [] for network in picture.networks}
    outside: list[Block] = []
    for cluster in picture.clusters:
        inside.get(cluster.network, outside).append(_cluster(cluster, colours))
    networks = [_network(network, inside[network.urn]) for network in picture.networks]
    kept = [*_storage(picture.stores), *_tracking(picture), *(_budget(one, picture) for one in picture.budgets)]
    return Stack(
        (
            _facts(*picture.places),
            Beside(Stack((*networks, *outside)), Stack(kept), share=0.66, least=900),
            _teams(picture.teams, colours),
            _others(picture),
        )
    )


def _pool_names(picture: Picture) -> Iterator[str]:
    """Pools with GPUs, each once, then those that only a queue names."""
    drawn = (pool.name for cluster in picture.clusters for pool in cluster.pools if pool.gpu)
    owned = (quota.pool for team in picture.teams for quota in team.quotas or ())
    yield from dict.fromkeys((*drawn, *owned))


def _network(network: Network, clusters: Sequence[Block]) -> Block:
    nats = sum(zone.nat_gateways for zone in network.zones)
    facts = [
        "internet gateway" if network.has_internet_gateway else "",
        _count(nats, "NAT gateway") if nats else "",
        f"flow logs of {network.flow_logs} traffic" if network.flow_logs else "",
    ]
    endpoints = f"Reached without the internet: {', '.join(network.endpoints)}" if network.endpoints else ""
    body = (
        Heading(f"Network {network.name}".removesuffix(" network"), network.cidr, TITLE),
        _facts(*facts),
        Grid([_zone(zone) for zone in network.zones], 190),
        Lines(endpoints, SOFT),
        *clusters,
    )
    return Frame("network", Stack(body))


def _zone(zone: Zone) -> Frame:
    rows: list[Block] = [Heading(zone.name, _count(zone.nat_gateways, "NAT gateway") if zone.nat_gateways else "")]
    for subnet in zone.subnets[:_MOST_SUBNETS]:
        heading = Heading(subnet.reach or "subnet", subnet.cidr, PLAIN)
        rows.append(Frame(f"subnet {subnet.reach}".rstrip(), heading, hint=subnet.name, padding=4))
    rest = len(zone.subnets) - _MOST_SUBNETS
    rows.append(Lines(f"and {_count(rest, 'subnet')} more" if rest > 0 else "", SOFT))
    return Frame("zone", Stack(rows, gap=4))


def _cluster(cluster: Cluster, colours: Mapping[str, int]) -> Block:
    version = f"Kubernetes {cluster.version}" if cluster.version else ""
    reach = f"API {cluster.reach}" if cluster.reach else ""
    bare = [_pool(pool, colours) for pool in cluster.pools if not pool.gpu]
    with_gpus = [_pool(pool, colours) for pool in cluster.pools if pool.gpu]
    body = (
        Heading(f"Cluster {cluster.name}", version, TITLE),
        _facts(reach, *cluster.facts),
        Grid(bare, 280),
        Grid(with_gpus, 190),
        Lines(
            "A full square is a node that always runs; an empty one starts when a job needs it."
            if cluster.pools
            else "",
            SOFT,
        ),
    )
    return Frame("cluster", Stack(body))


def _pool(pool: Pool, colours: Mapping[str, int]) -> Frame:
    if not pool.gpu:
        unreadable = any(group.max_nodes is None for group in pool.groups)
        about: list[Block] = [Heading(f"Pool {pool.name}", UNTOLD if unreadable else "no GPU")]
        style = "pool"
    else:
        each = " or ".join(map(str, pool.gpus_per_node)) or UNTOLD
        gpus = f"{pool.gpus:,}" if pool.gpus is not None else UNTOLD
        about = [Heading(f"Pool {pool.name}", f"{each} × {pool.gpu}"), Lines(f"{gpus} GPUs at most", SOFT)]
        style = f"pool k{colours[pool.name]}"
    return Frame(style, Stack((*about, *(_group(group) for group in pool.groups)), gap=5))


def _group(group: NodeGroupFigures) -> Block:
    where = group.zones[0] if len(group.zones) == 1 else f"{len(group.zones)} zones" if group.zones else ""
    what = ", ".join(group.instance_types) or "its launch template says which"
    body: list[Block] = [Heading(group.capacity or UNTOLD, _size(group))]
    if group.min_nodes is not None and group.max_nodes is not None:
        body.append(Nodes(group.min_nodes, group.max_nodes))
    body.append(_facts(what, where, *group.facts))
    return Frame(f"group {group.capacity or 'untold'}", Stack(body, gap=4), hint=group.name)


def _size(group: NodeGroupFigures) -> str:
    """`0 to 2 nodes`."""
    if group.min_nodes is None or group.max_nodes is None:
        return f"{UNTOLD} nodes"
    if group.min_nodes == group.max_nodes:
        return _count(group.max_nodes, "node")
    return f"{group.min_nodes} to {_count(group.max_nodes, 'node')}"


def _storage(stores: Sequence[Store]) -> Iterator[Block]:
    if stores:
        yield Frame("kept", Stack((Heading("Storage", style=TITLE), Grid([_store(store) for store in stores], 240))))


def _store(store: Store) -> Frame:
    body = (
        Heading(store.name, store.kind),
        _facts(*store.facts),
        Chips([(f"mark {'safe' if mark in ('protected', 'own key') else ''}", mark) for mark in store.marks]),
    )
    return Frame("store", Stack(body, gap=4))


def _tracking(picture: Picture) -> Iterator[Block]:
    if not picture.services and not picture.databases:
        return
    title = "Tracking" if picture.services else "Databases"
    servers = [
        Frame("store", Stack((Heading(service.name), _facts(*service.facts)), gap=4)) for service in picture.services
    ]
    frames = [*servers, *(_store(database) for database in picture.databases)]
    yield Frame("kept", Stack((Heading(title, style=TITLE), Grid(frames, 240))))


def _budget(budget: Budget, picture: Picture) -> Block:
    limit, expected = budget.limit, picture.expected_usd
    amount = f"{limit:,.0f} {budget.unit} {budget.period}" if limit is not None else f"{UNTOLD} {budget.unit}"
    body: list[Block] = [Heading("Budget", amount, TITLE)]
    top = max([1.0, *(percent / 100 for percent, _ in budget.thresholds)])
    if limit and expected is not None and budget.period == "a month" and budget.unit == "USD":
        part = expected / limit
        body.append(Bar([("over" if part > 1 else "used", part / max(top, part))], _marks(budget, max(top, part))))
        body.append(Lines(f"{expected:,.0f} USD expected, {100 * part:.0f} % of it"))
    spent, forecast = (_percents(budget, forecasts=forecasts) for forecasts in (False, True))
    alerts = " and ".join(filter(None, (spent and f"{spent} spent", forecast and f"{forecast} forecast")))
    body.append(_facts(f"alerts at {alerts}" if alerts else "no alerts", *budget.facts))
    return Frame("kept", Stack(body, gap=6))


def _marks(budget: Budget, top: float) -> list[float]:
    return [percent / 100 / top for percent, _ in budget.thresholds]


def _percents(budget: Budget, *, forecasts: bool) -> str:
    found = [f"{percent:g}" for percent, forecast in budget.thresholds if forecast is forecasts]
    return f"{', '.join(found)} %" if found else ""


def _teams(teams: Sequence[Team], colours: Mapping[str, int]) -> Block:
    if not teams:
        return Stack(())
    total = sum(team.gpus for team in teams)
    largest = max(team.gpus for team in teams) or 1.0
    lent = "GPUs that each owns; what one leaves idle others use until it wants it back"
    aside = lent if all(team.lends for team in teams) else "GPUs that each owns"
    frames = [_team(team, total, largest, colours) for team in sorted(teams, key=lambda team: -team.gpus)]
    return Frame("teams", Stack((Heading("Teams", aside, TITLE), Grid(frames, 300))))


def _team(team: Team, total: float, largest: float, colours: Mapping[str, int]) -> Frame:
    if team.quotas is None:
        return Frame("team", Heading(team.name, f"{UNTOLD} GPUs"))
    owned = [quota for quota in team.quotas if quota.gpus]
    share = f"{team.gpus:g} of {_count(total, 'GPU')}" if owned else "owns none"
    chips = [
        (
            f"chip k{colours[quota.pool]}",
            f"{quota.pool} {_count(quota.nodes, 'node') if quota.nodes else _count(quota.gpus, 'GPU')}",
        )
        for quota in owned
    ]
    bar = Bar([(f"part k{colours[quota.pool]}", quota.gpus / largest) for quota in owned])
    return Frame("team", Stack((Heading(team.name, share), bar, Chips(chips)), gap=5))


def _others(picture: Picture) -> Block:
    """What is not drawn, in a sentence; in boxes where there is nothing else to see."""
    drawn = (picture.networks, picture.clusters, picture.stores, picture.databases, picture.services, picture.teams)
    if not any(drawn):
        frames = [Frame("store", Heading(name, _count(count, "resource"))) for name, count in picture.others]
        return Grid(frames, 160)
    named = [f"{name} {count}" for name, count in picture.others[:_MOST_OTHERS]]
    rest = sum(count for _, count in picture.others[_MOST_OTHERS:])
    return Lines(f"Not drawn: {', '.join([*named, *([f'others {rest}'] if rest else [])])}." if named else "", SOFT)


def _facts(*facts: str) -> Block:
    """Those that there are, with dots between; a short one stays on one line."""
    kept = (fact.replace(" ", NO_BREAK) if len(fact) <= _SHORT else fact for fact in facts if fact)
    return Lines(f"{NO_BREAK}· ".join(kept), SOFT)


def _count(number: float, noun: str) -> str:
    return f"{number:,g} {noun}{'' if number == 1 else 's'}"
