"""Where clusters, pools and teams stand in a picture."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.problems import count
from trainyard.review.reports.picture.blocks import Block, Frame, Grid, Heading, Lines, Stack
from trainyard.review.reports.picture.figures import Bar, Chips, Nodes
from trainyard.review.reports.picture.lettering import SOFT, TITLE
from trainyard.review.reports.picture.look import Look, facts
from trainyard.review.reports.picture.model import UNTOLD, Cluster, NodeGroupFigures, Pool, Quota, Team


def cluster_block(cluster: Cluster, look: Look) -> Block:
    """A cluster: first the nodes without a GPU or TPU chips, below them the pools with some."""
    bare = [_pool(pool, look) for pool in cluster.pools if not (pool.gpu or pool.chips_per_node)]
    of_jobs = [_pool(pool, look) for pool in cluster.pools if pool.gpu or pool.chips_per_node]
    legend = "A full square is a node that always runs; an empty one starts when a job needs it."
    body = (
        Heading(f"Cluster {cluster.name}", f"Kubernetes {cluster.version}" if cluster.version else "", TITLE),
        facts(f"API {cluster.reach}" if cluster.reach else "", *cluster.facts),
        look.marks(cluster.urn),
        Grid(bare, 280),
        Grid(of_jobs, 190),
        Lines(legend if cluster.pools else "", SOFT),
    )
    return Frame("cluster", Stack(body))


def _pool(pool: Pool, look: Look) -> Frame:
    groups = [_group(group, look) for group in pool.groups]
    if pool.chips_per_node and not pool.gpu:
        each = " or ".join(map(str, pool.chips_per_node))
        most = count(pool.chips, "chip") if pool.chips is not None else f"{UNTOLD} chips"
        about = (Heading(f"Pool {pool.name}", f"{each} × TPU"), Lines(f"{most} at most", SOFT))
        return Frame(f"pool {look.colour(pool.name)}", Stack((*about, *groups), gap=5))
    if not pool.gpu:
        unreadable = any(group.max_nodes is None for group in pool.groups)
        return Frame("pool", Stack((Heading(f"Pool {pool.name}", UNTOLD if unreadable else "no GPU"), *groups), gap=5))
    each = " or ".join(map(str, pool.gpus_per_node))
    most = count(pool.gpus, "GPU") if pool.gpus is not None else f"{UNTOLD} GPUs"
    about = (Heading(f"Pool {pool.name}", f"{each} × {pool.gpu}"), Lines(f"{most} at most", SOFT))
    return Frame(f"pool {look.colour(pool.name)}", Stack((*about, *groups), gap=5))


def _group(group: NodeGroupFigures, look: Look) -> Block:
    where = group.zones[0] if len(group.zones) == 1 else count(len(group.zones), "zone") if group.zones else ""
    what = ", ".join(group.instance_types) or "no instance type given"
    body = (
        Heading(group.capacity or UNTOLD, _size(group)),
        Nodes(group.min_nodes or 0, group.max_nodes or 0),
        facts(what, where, *group.facts),
        look.marks(group.urn),
    )
    return Frame(f"group {group.capacity or 'untold'}", Stack(body, gap=5), hint=group.name, padding=6)


def _size(group: NodeGroupFigures) -> str:
    """How many nodes a group may have: `0 to 2 nodes`."""
    if group.min_nodes is None or group.max_nodes is None:
        return f"{UNTOLD} nodes"
    if group.min_nodes == group.max_nodes:
        return count(group.max_nodes, "node")
    return f"{group.min_nodes} to {count(group.max_nodes, 'node')}"


def teams_block(teams: Sequence[Team], look: Look) -> Block:
    """The teams with what they own, those that own most first."""
    if not teams:
        return Stack(())
    total = sum(team.gpus for team in teams)
    largest = max(team.gpus for team in teams)
    chips = sum(team.chips for team in teams)
    aside = "GPUs and TPU chips that each owns" if chips else "GPUs that each owns"
    if all(team.lends for team in teams):
        aside += "; what one leaves idle others use until it wants it back"
    frames = [_team(team, total, largest, chips, look) for team in sorted(teams, key=lambda team: -team.gpus)]
    return Frame("teams", Stack((Heading("Teams", aside, TITLE), Grid(frames, 300))))


def _team(team: Team, total: float, largest: float, chips: float, look: Look) -> Frame:
    if team.quotas is None:
        return Frame("team", Stack((Heading(team.name, f"{UNTOLD} GPUs"), look.marks(team.urn)), gap=5))
    owned = [quota for quota in team.quotas if quota.gpus]
    shares = [f"{team.gpus:g} of {count(total, 'GPU')}"] if owned else []
    shares += [f"{team.chips:g} of {count(chips, 'chip')}"] if team.slices else []
    share = ", ".join(shares) or "owns none"
    labels = [(quota.pool, _amount(quota)) for quota in owned]
    labels += [(pool, count(number, "chip")) for pool, number in team.slices]
    body = (
        Heading(team.name, share),
        Bar([(f"part {look.colour(quota.pool)}", quota.gpus / largest) for quota in owned]),
        Chips([(f"chip {look.colour(pool)}", f"{pool} {amount}") for pool, amount in labels]),
        look.marks(team.urn),
    )
    return Frame("team", Stack(body, gap=5))


def _amount(quota: Quota) -> str:
    """In whole nodes where it is whole nodes."""
    return count(quota.nodes, "node") if quota.nodes else count(quota.gpus, "GPU")
