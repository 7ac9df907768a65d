"""Notebooks on the cluster: who, on which nodes, how long; and the GPUs that the queues do without for them.

A notebook is a pod that no queue lets in: it would take a GPU that Kueue counts as free. So a pool's GPUs are divided,
some for notebooks and the rest for the queues (`docs/decisions/0077-notebooks-beside-the-queues.md`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from trainyard.conventions import NOTEBOOKS_PORT_FORWARD, Capacity
from trainyard.conventions.quantities import GIBIBYTE, quantity
from trainyard.plan.context import Context
from trainyard.plan.parts import (
    CpuNodesPlan,
    NodeGroupPlan,
    NotebookProfilePlan,
    NotebookSignOnPlan,
    NotebooksPlan,
    PoolPlan,
)
from trainyard.problems import nearest, some_of
from trainyard.settings.notebooks import NotebookSignOn
from trainyard.settings.people import Team
from trainyard.settings.way_out import is_closed, way_out_key

if TYPE_CHECKING:
    from trainyard.plan.sharing import CpuRoom  # which asks here what notebooks keep from the queues

CPU_PROFILE: Final = "cpu"
SHARE_OF_A_NODE: Final = 0.8
"""Share of its GPU's part of a node, cores and memory, that a notebook gets: the rest is the node's own and of what
runs on every node. Own choice."""
_CHOICE: Final[tuple[Capacity, ...]] = ("on-demand", "reserved", "spot")
"""Whose GPUs are kept for notebooks, the first that a pool has: a notebook cannot be started anew from a checkpoint."""
_ORGANIZATION: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,37}[A-Za-z0-9])?(:[A-Za-z0-9_.-]{1,100})?")
_GITHUB_HOSTS: Final = ("github.com", "api.github.com")


def kept_from_queues(pools: Sequence[PoolPlan], context: Context) -> dict[str, int]:
    """GPUs of each node group that notebooks have and queues do not, by the group's name. Notes no problems."""
    own = context.settings.notebooks
    if not own.hub:
        return {}
    groups = {pool.name: _group(pool) for pool in pools}
    return {group.name: count for pool, count in own.gpus.items() if (group := groups.get(pool)) is not None}


def _group(pool: PoolPlan) -> NodeGroupPlan | None:
    found = {group.capacity: group for group in pool.node_groups}
    return next((found[capacity] for capacity in _CHOICE if capacity in found), None)


def plan_notebooks(
    pools: Sequence[PoolPlan],
    cpu_pool: CpuNodesPlan | None,
    teams: Sequence[Team],
    room: CpuRoom | None,
    context: Context,
) -> NotebooksPlan | None:
    """The hub and its profiles; None where the settings ask for none. `room`: of the nodes without GPUs."""
    own, ledger = context.settings.notebooks, context.ledger
    if not own.hub:
        for name in sorted(own.model_fields_set - {"hub"}):
            key = f"notebooks.{type(own).model_fields[name].alias}"
            ledger.problem(key, getattr(own, name), "is read where notebooks.hub is true", "set it, or leave this out")
        ledger.decide("notebooks", "none", "notebooks.hub is not set: editors and shells are everybody's own")
        return None
    profiles = [*_without_gpus(cpu_pool, room, context), *_with_gpus(pools, context)]
    if not profiles and not ledger.problems:
        allowed = "there are no nodes for a notebook: cpuPool.maxNodes is 0, and notebooks.gpus names no pool"
        ledger.problem("notebooks.hub", True, allowed, "give one of them")
    sign_on = _sign_on(own.sign_on, context)
    if sign_on is None:
        return None
    people = sum(team.members for team in teams)
    if own.idle_minutes > own.longest_hours * 60:
        allowed = f"must be at most {own.longest_hours * 60}: after notebooks.longestHours every notebook ends"
        ledger.problem("notebooks.idleMinutes", own.idle_minutes, allowed)

    def chosen(name: str, source: str) -> int:
        given = name in own.model_fields_set
        alias = type(own).model_fields[name].alias
        value = int(getattr(own, name))
        return ledger.decide(f"notebooks.{name}", value, f"setting notebooks.{alias}" if given else source)

    return NotebooksPlan(
        profiles=ledger.decide("notebooks.profiles", tuple(profiles), "the CPU pool, and the pools of notebooks.gpus"),
        people=ledger.decide("notebooks.people", people, "members of all teams: one notebook and one volume each"),
        storage_gib=chosen("storage_gib", "own choice: code, environments and a sample of data"),
        zone=_zone(profiles, pools, context),
        kernel_idle_minutes=chosen("kernel_idle_minutes", "agency guide, monitoring: reclaimed after 30 to 60 minutes"),
        idle_minutes=chosen("idle_minutes", "agency guide, monitoring: reclaimed after 30 to 60 minutes; the middle"),
        longest_hours=chosen("longest_hours", "own choice: a working day, so that none is left over night"),
        sign_on=sign_on,
    )


def _without_gpus(cpu_pool: CpuNodesPlan | None, room: CpuRoom | None, context: Context) -> list[NotebookProfilePlan]:
    own = context.settings.notebooks
    if cpu_pool is None:
        return []
    cores, size = quantity(own.cpu), quantity(own.memory)
    if cores is None or size is None:  # the settings tell
        return []
    for key, got, wanted, most, words in (
        (
            ("cpu", own.cpu, float(cores), room.node_cores, "cores"),
            ("memory", own.memory, float(size / GIBIBYTE), room.node_memory_gib, "GiB"),
        )
        if room is not None
        else ()
    ):
        if wanted > most:
            allowed = f"must be at most the {math.floor(most * 100) / 100:g} {words} that a node of the CPU pool has"
            context.ledger.problem(
                f"notebooks.{key}", got, f"{allowed} for a notebook", "or larger cpuPool.instanceTypes"
            )
    return [NotebookProfilePlan(CPU_PROFILE, "", "", 0, float(cores), round(float(size / GIBIBYTE), 2))]


def _with_gpus(pools: Sequence[PoolPlan], context: Context) -> list[NotebookProfilePlan]:
    own, ledger = context.settings.notebooks, context.ledger
    by_name: Mapping[str, PoolPlan] = {pool.name: pool for pool in pools}
    found: list[NotebookProfilePlan] = []
    if len(own.gpus) > 1:
        # A quota of Kubernetes counts GPUs of a namespace, whichever pool they are of.
        allowed = "must be one pool: a quota counts GPUs and not whose, and notebooks would take a queue's of the other"
        ledger.problem("notebooks.gpus", dict(own.gpus), allowed, "keep the GPUs of one pool")
        return []
    for name, count in own.gpus.items():
        key, pool = f"notebooks.gpus.{name}", by_name.get(name)
        if pool is None:
            names = sorted(by_name)
            ledger.problem(key, count, f"must be one of the GPU pools: {some_of(names)}", nearest(name, names))
            continue
        if pool.is_shared_out_in_nodes:
            allowed = "jobs take the nodes of this pool whole, and a notebook would keep one from them"
            ledger.problem(key, count, allowed, "take a pool for development, whose jobs share nodes")
            continue
        group, node = _group(pool), pool.node
        if group is None:
            ledger.problem(key, count, "has no nodes but those of flex-start, which jobs wait for in a queue")
            continue
        most = (group.max_nodes - 1) * node.gpus_offered
        if count > most:
            allowed = (
                f"must be at most {most}: {group.name} has {group.max_nodes * node.gpus_offered} at its most, and the "
                f"{node.gpus_offered} of a node stay for jobs, the smoke job's among them"
            )
            ledger.problem(key, count, allowed, f"a larger gpuPools.{name}, or another pool")
            continue
        what = node.gpu if node.pods_per_gpu == 1 else f"{node.mig_profile or f'1/{node.pods_per_gpu}'} of {node.gpu}"
        found.append(
            NotebookProfilePlan(
                name=name,
                node_group=group.name,
                gpu=what,
                most=count,
                cpu=max(1, math.floor(node.vcpus * SHARE_OF_A_NODE / node.gpus_offered)),
                memory_gib=max(1, math.floor(node.memory_gib * SHARE_OF_A_NODE / node.gpus_offered)),
            )
        )
    return found


def _zone(profiles: Sequence[NotebookProfilePlan], pools: Sequence[PoolPlan], context: Context) -> str:
    """A person's volume is a disk in one zone: a notebook in another could not have it."""
    names = {profile.node_group for profile in profiles}
    groups = [group for pool in pools for group in pool.node_groups if group.name in names]
    if not groups:
        return context.ledger.decide("notebooks.zone", "", "none: a volume is made where its first notebook runs")
    common = [zone for zone in groups[0].zones if all(zone in group.zones for group in groups)]
    if not common:
        told = ", ".join(f"{group.name} in {' and '.join(group.zones)}" for group in groups)
        allowed = f"notebooks of one person share a disk, which is in one zone; {told}"
        context.ledger.problem("notebooks.gpus", list(context.settings.notebooks.gpus), allowed, "keep those of one")
        return ""
    source = f"that of {groups[0].name}: a person's volume is a disk in one zone, for every kind of notebook"
    return context.ledger.decide("notebooks.zone", common[0], source)


def _sign_on(own: NotebookSignOn | None, context: Context) -> NotebookSignOnPlan | None:
    ledger, key = context.ledger, "notebooks.signOn"
    if own is None:
        allowed = "must be set: without an identity provider whoever reaches the hub would be whom he likes"
        ledger.problem(key, "nothing", allowed, "provider: github with groups, or oidc with its addresses")
        return None
    of_oidc = {"authorize_url": own.authorize_url, "token_url": own.token_url, "userdata_url": own.userdata_url}
    aliases = {name: f"{key}.{type(own).model_fields[name].alias}" for name in type(own).model_fields}
    if not own.groups:
        allowed = (
            "must name one: a provider knows more people than may use GPUs, and everybody has an account at GitHub"
        )
        ledger.problem(aliases["groups"], [], allowed)
    if own.provider == "github":
        for group in own.groups:
            if not _ORGANIZATION.fullmatch(group):
                allowed = "must be an organisation of GitHub, or a team of one as ORGANISATION:TEAM"
                ledger.problem(aliases["groups"], group, allowed)
        for name in ("authorize_url", "token_url", "userdata_url", "claim", "person_claim", "scopes"):
            if name in own.model_fields_set:
                ledger.problem(aliases[name], getattr(own, name), "is read where signOn.provider is oidc")
        hosts: tuple[str, ...] = _GITHUB_HOSTS
    else:
        if "openid" not in own.scopes:
            allowed = "must have openid: without it the provider does not say who somebody is"
            ledger.problem(aliases["scopes"], list(own.scopes), allowed)
        for name, value in of_oidc.items():
            if value is None:
                ledger.problem(aliases[name], "nothing", "must be set: the hub asks it who somebody is")
        # The browser asks the first; the hub the other two.
        hosts = tuple(dict.fromkeys(urlsplit(url).hostname or "" for url in (own.token_url, own.userdata_url) if url))
    if is_closed(context.settings):
        allowed = f"the hub asks {' and '.join(hosts)} who somebody is, and nothing leaves the network"
        ledger.problem(aliases["provider"], own.provider, allowed, f"{way_out_key(context.settings)}, or no hub")
    address = context.settings.notebooks.address
    base = ledger.decide(
        "notebooks.address",
        address or NOTEBOOKS_PORT_FORWARD,
        "setting notebooks.address" if address else "kubectl port-forward; nothing is open to the outside",
    )
    return NotebookSignOnPlan(
        provider=own.provider,
        client_id=own.client_id,
        callback_url=f"{base}/hub/oauth_callback",
        hosts=ledger.decide(
            "notebooks.sign_on_hosts",
            hosts,
            "of GitHub"
            if own.provider == "github"
            else "of signOn's tokenUrl and userdataUrl: the hub alone reaches them",
        ),
        groups=tuple(own.groups),
        authorize_url=own.authorize_url or "",
        token_url=own.token_url or "",
        userdata_url=own.userdata_url or "",
        person_claim=own.person_claim,
        claim=own.claim,
        scopes=tuple(own.scopes),
    )
