"""What was decided once for a stack and stays: `Pulumi.STACK.lock.yaml`, beside the stack's file.

Some of what a plan decides cannot be decided anew while the environment lives: another slot of addresses replaces a
subnet with what stands in it, another zone replaces a node group or a file system, another instance type ends the
nodes that run. The plan takes such things from the lock, where it has them, and decides only what is new. The lock is
reviewed as code is, and changed on purpose: `trainyard plan STACK --relock KEY`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import yaml
from pydantic import Field, ValidationError

from trainyard.conventions import CPU_POOL, SYSTEM_POOL
from trainyard.conventions.monitoring import CHECKPOINT_DRILL
from trainyard.plan.parts import Plan, ProfileName
from trainyard.problems import Problem, SettingsError, shown, some_of, spell_path
from trainyard.settings.types import Model
from trainyard.user_files import read_yaml

VERSION: Final = 1
"""Version of the file's layout. One of another is refused."""

SUFFIX = ".lock.yaml"

_HEAD = """\
# What was decided once for stack {stack} and stays as long as the environment. Reviewed as code is; written by
# `trainyard plan {stack} --lock`, changed by `trainyard plan {stack} --relock KEY`, which says what that replaces.
"""

Slot = Annotated[int, Field(ge=0, le=5)]


class LockedNetwork(Model):
    """Address ranges: another one of the network replaces it, another one of services the control plane. With the
    network's id where somebody else made it: in another one everything is made anew."""

    cidr: str | None = None
    service_cidr: str | None = None
    id: str | None = None


class LockedZone(Model):
    """A zone and the slot of its subnets in the network's range; of a network that somebody else made, the subnet that
    its nodes stand in."""

    name: str
    slot: Slot
    nodes: str | None = None


class LockedPool(Model):
    """What the nodes of a GPU pool are; with a fabric, the one zone that they stand in."""

    instance_type: str
    zone: str | None = None


class LockedNodeGroup(Model):
    """Where a node group stands and what it may be of. Neither is changed in place: it makes another group."""

    zones: tuple[str, ...]
    instance_types: tuple[str, ...]


class LockedLustre(Model):
    """The file system: another zone or a smaller size replaces it, and nothing backs it up."""

    zone: str | None = None
    capacity_gib: int | None = None


class Lock(Model):
    """What is decided. A part that is not there is not decided yet."""

    version: Literal[1] = VERSION
    profile: ProfileName | None = None
    kubernetes_version: str | None = None
    node_release: str | None = None
    network: LockedNetwork | None = None
    zones: tuple[LockedZone, ...] = ()
    control_plane_zones: tuple[str, ...] = ()
    pools: Mapping[str, LockedPool] = {}
    node_groups: Mapping[str, LockedNodeGroup] = {}
    lustre: LockedLustre | None = None
    restored_from: str | None = None
    proof_teams: Mapping[str, str] = {}
    teams: tuple[str, ...] = ()

    @property
    def zone_names(self) -> tuple[str, ...]:
        """The zones, in the order in which they came."""
        return tuple(zone.name for zone in self.zones)

    @property
    def slots(self) -> dict[str, int]:
        """The slot of each zone."""
        return {zone.name: zone.slot for zone in self.zones}

    def as_json(self) -> dict[str, Any]:
        """What the file holds."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


NOTHING = Lock()
"""The lock of a stack that has none: everything is decided anew."""

KEYS = tuple(key for key in NOTHING.model_dump(by_alias=True) if key != "version")
"""What can be locked, and decided again by name."""


def lock_path(stack_file: Path) -> Path:
    """Where the lock of a stack lies: beside its file."""
    return stack_file.with_name(stack_file.name.removesuffix(".yaml").removesuffix(".yml") + SUFFIX)


def read_lock(path: Path) -> Lock | None:
    """The lock in a file; None where there is no file.

    Raises:
        SettingsError: the file is no lock, or one of a later layout.
    """
    if not path.is_file():
        return None
    content = read_yaml(path, path.name)
    if not isinstance(content, dict):
        raise SettingsError([Problem(path.name, shown(content), "must be a lock, as `trainyard plan` writes it")])
    if content.get("version") != VERSION:
        allowed = f"must be {VERSION}, the layout that this Trainyard writes"
        raise SettingsError([Problem(f"{path.name}: version", shown(content.get("version")), allowed)])
    try:
        lock = Lock.model_validate(content)
    except ValidationError as error:
        raise SettingsError(_problems(path.name, error)) from None
    twice = [names for names in (lock.zone_names, lock.slots.values()) if len(set(names)) < len(lock.zones)]
    if twice:
        allowed = "each zone must be there once, with a slot of its own"
        raise SettingsError([Problem(f"{path.name}: zones", ", ".join(map(str, twice[0])), allowed)])
    return lock


def _problems(file: str, error: ValidationError) -> Iterable[Problem]:
    for detail in error.errors(include_url=False):
        got = shown(detail["input"]) if detail["type"] != "missing" else "nothing"
        yield Problem(f"{file}: {spell_path(detail['loc'])}", got, detail["msg"].lower(), "`trainyard plan` writes it")


def lock_text(lock: Lock, stack: str) -> str:
    """The text of the lock's file."""
    return _HEAD.format(stack=stack) + yaml.safe_dump(lock.as_json(), sort_keys=False, width=120)


def entries(lock: Lock) -> dict[str, Any]:
    """What is decided, by key: of pools, node groups and zones, each by its name."""
    found: dict[str, Any] = {}
    for key, value in lock.as_json().items():
        if key in ("pools", "nodeGroups", "proofTeams"):
            found |= {f"{key}.{name}": entry for name, entry in value.items()}
        elif key == "teams":
            found |= {f"teams.{name}": name for name in value}
        elif key == "zones":
            found |= {f"zones.{zone['name']}": zone.get("nodes", zone["slot"]) for zone in value}
        elif key != "version" and value:
            found[key] = value
    return found


def unlocked_text(plan: Plan, lock: Lock) -> Iterator[str]:
    """That a plan decided more than its lock keeps, a line; none where there is no lock at all."""
    kept = entries(lock)
    new = [key for key, value in entries(lock_of(plan)).items() if key not in kept or _moves(key, value, kept)]
    new = new if lock != NOTHING else []
    if new:
        yield f"not in the stack's lock yet: {some_of(new)}; `trainyard plan {plan.core.stack} --lock` keeps it"


def _moves(key: str, value: Any, kept: Mapping[str, Any]) -> bool:
    """Whether a proof runs for another team than the lock's: where that is gone, or `smoke.team` names one."""
    return key.startswith("proofTeams.") and kept[key] != value


def gone_text(plan: Plan, lock: Lock) -> Iterator[str]:
    """What the lock knows and the stack file no longer names, a line each: the next `up` ends it."""
    teams = [team.name for team in plan.core.teams]
    gone, new = ([name for name in lock.teams if name not in teams], [name for name in teams if name not in lock.teams])
    for name in gone:
        another = f". {some_of(new)} would be another team, with claims of its own: nothing is renamed" if new else ""
        yield (
            f"team {name} is in the stack's lock and not in its file: its namespace and all that runs there end with "
            f"the next `up`, what it wrote to the buckets stays; let its jobs finish first{another}"
        )
    pools = [pool.name for cluster in plan.clusters for pool in cluster.pools]
    for name in lock.pools if plan.clusters else ():
        if name not in pools:
            yield (
                f"pool {name} is in the stack's lock and not in its file: its nodes, and the jobs on them, end with "
                "the next `up`; take it out when nothing runs there"
            )


def lock_of(plan: Plan) -> Lock:
    """What a plan decided that stays."""
    groups = {
        group.name: LockedNodeGroup.model_validate({"zones": group.zones, "instanceTypes": group.instance_types})
        for cluster in plan.clusters
        for group in cluster.node_groups
    }
    for cluster in plan.clusters:
        for name, nodes in ((SYSTEM_POOL, cluster.system_nodes), (CPU_POOL, cluster.cpu_pool)):
            if nodes is not None:
                standing = {"zones": nodes.zones, "instanceTypes": nodes.instance_types}
                groups[name] = LockedNodeGroup.model_validate(standing)
    proofs = {job.name: job.team for cluster in plan.clusters for job in cluster.smoke.jobs}
    for cluster in plan.clusters:
        if cluster.drill is not None:
            proofs[CHECKPOINT_DRILL] = cluster.drill.team
    content: dict[str, Any] = {
        "profile": plan.core.profile,
        # Versions of control plane and nodes: a newer Trainyard's defaults are for new environments.
        "kubernetesVersion": plan.clusters[0].kubernetes_version if plan.clusters else None,
        **plan.ground.kept([cluster.name for cluster in plan.clusters]),
        "pools": {
            pool.name: {
                "instanceType": pool.node.instance_type,
                "zone": pool.node_groups[0].zones[0] if pool.node.fabric and pool.node_groups else None,
            }
            for cluster in plan.clusters
            for pool in cluster.pools
        },
        "nodeGroups": groups,
        "proofTeams": proofs,
        "teams": sorted(team.name for team in plan.core.teams),
    }
    if not plan.core.mlflow.enabled:
        content.pop("restoredFrom", None)
    return Lock.model_validate(content)
