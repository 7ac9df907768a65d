"""The way of an upgrade: one minor version of Kubernetes after the other, each rehearsed as a change of the one before.

What changes of a stack is its lock alone: `kubernetesVersion` and `nodeRelease`, from which the plan takes the pins.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from trainyard import catalog
from trainyard.plan.lock import Lock, lock_path, lock_text
from trainyard.plan.parts import Plan
from trainyard.plan.resolve import resolve_config
from trainyard.problems import Problem, SettingsError, nearest
from trainyard.rehearsal.change.earlier import Earlier
from trainyard.rehearsal.engine.project import StackConfig, read_stack
from trainyard.rehearsal.rehearse import Rehearsal, rehearse
from trainyard.review.change.review import ChangeReview, review_change
from trainyard.review.review import Review, review
from trainyard.review.verdict import Verdict
from trainyard.settings.common import Settings
from trainyard.settings.unseen import stand_in
from trainyard.upgrade.order import in_place, stages

PINNED: Final = "pinned"
"""What `--node-image` is given for the release that this Trainyard pins."""


@dataclass(frozen=True, slots=True)
class Versions:
    """What an upgrade changes: a minor version of Kubernetes, and a release of the nodes' images."""

    kubernetes: str
    node_release: str


@dataclass(frozen=True, slots=True)
class Pin:
    """One version that is another after a leg."""

    what: str  # "control plane", "add-on coredns", "chart kueue"
    was: str  # empty: it was not there
    now: str


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands before a leg, rehearsed as it is."""

    versions: Versions
    pins: tuple[Pin, ...]  # with nothing before them
    errors: int  # what would be refused of it, or would not work
    support: str  # until when the version is supported, in words

    def as_json(self) -> dict[str, Any]:
        """All of it, in plain values."""
        return {
            "versions": asdict(self.versions),
            "support": self.support,
            "pins": [asdict(pin) for pin in self.pins],
            "errors": self.errors,
        }


@dataclass(frozen=True, slots=True)
class Leg:
    """From one version to the next: what it installs, and what that does to what stands."""

    before: Standing
    now: Versions
    pins: tuple[Pin, ...]
    change: ChangeReview
    verdict: Verdict
    support: str  # until when the version is supported, in words
    stages: tuple[tuple[str, ...], ...]  # what `pulumi up` changes at the same time, stage after stage
    in_place: str  # what stays itself, in words; empty where something of it goes

    def as_json(self) -> dict[str, Any]:
        """All of it, in plain values."""
        return {
            "was": asdict(self.before.versions),
            "before": self.before.as_json(),
            "now": asdict(self.now),
            "support": self.support,
            "pins": [asdict(pin) for pin in self.pins],
            "stages": [list(stage) for stage in self.stages],
            "in_place": self.in_place,
            "verdict": self.verdict.as_json(),
            "change": self.change.as_json(),
        }


def versions_of(plan: Plan) -> Versions:
    """What a plan's cluster has. Raises `SettingsError` where there is none that is upgraded this way."""
    ground = plan.ground
    if ground.kind != "aws":
        got = f"a stack on {ground.kind}"
        raise SettingsError([Problem("cloud", got, "must be aws: on gcp the release channel upgrades the cluster")])
    if not plan.clusters:
        raise SettingsError([Problem("stage", "no cluster", "must be a stack with a cluster of its own to upgrade")])
    cluster = plan.clusters[0]
    return Versions(cluster.kubernetes_version, ground.control_plane(cluster.name).node_release)


def way(was: Versions, kubernetes: str | None, node_image: str | None) -> list[Versions]:
    """The versions to go through, the last one included; none where it is there already. Raises `SettingsError`."""
    known = list(catalog.known_kubernetes_versions())
    target = kubernetes or was.kubernetes
    if target in known and known.index(target) < known.index(was.kubernetes):
        allowed = f"must not be before {was.kubernetes}, which runs: EKS never goes back to an earlier version"
        raise SettingsError([Problem("--kubernetes", target, allowed)])
    if target != was.kubernetes and target not in catalog.kubernetes_versions():
        there = [version for version in catalog.kubernetes_versions() if _minor(version) > _minor(was.kubernetes)]
        allowed = f"must be one of {', '.join(there)}" if there else f"{was.kubernetes} is the newest with pins here"
        raise SettingsError([Problem("--kubernetes", target, allowed, nearest(target, there) if there else "")])
    release = _release(target, node_image, was)
    through = [
        Versions(version, catalog.node_release(version)[0])
        for version in known[known.index(was.kubernetes) + 1 : known.index(target) + 1]
    ]
    if through:
        return [*through[:-1], Versions(target, release)]
    return [Versions(target, release)] if release != was.node_release else []


def _release(version: str, asked: str | None, was: Versions) -> str:
    """The image of the nodes at the end."""
    if asked is None and version == was.kubernetes:
        return was.node_release
    if asked is None or asked == PINNED:
        return catalog.node_release(version)[0]
    if not asked.startswith(f"{version}."):
        allowed = f"must be a release for Kubernetes {version}: {version}.PATCH-DATE, or {PINNED}"
        hint = f"this Trainyard pins {catalog.node_release(version)[0]}"
        raise SettingsError([Problem("--node-image", asked, allowed, hint)])
    return asked


def _minor(version: str) -> int:
    return int(version.partition(".")[2])


def advanced(lock: Lock, to: Versions) -> Lock:
    """The lock with other versions: all else that was decided stays."""
    return lock.model_copy(update={"kubernetes_version": to.kubernetes, "node_release": to.node_release})


def contradictions(settings: Settings, file: str) -> Iterator[Problem]:
    """Settings that would hold a version where it is: the lock is the one place of what changes."""
    named = {"kubernetesVersion": settings.kubernetes_version, "aws.nodeRelease": settings.aws.node_release}
    for key, value in named.items():
        if value is not None:
            allowed = f"must not be in {file}: the stack's lock keeps it, and the upgrade changes it there"
            yield Problem(key, value, allowed, "take the key out; nothing changes by that")


def legs(project: Path, config: StackConfig, lock: Lock, through: Sequence[Versions]) -> Iterator[Leg]:
    """Rehearses the stack at each version and compares it with the one before. Raises `SettingsError`."""
    with tempfile.TemporaryDirectory(prefix="trainyard-upgrade-") as name:
        file = Path(name) / config.file.name
        shutil.copy(config.file, file)
        there = versions_of(resolve_config(config, lock).plan)
        lock_path(file).write_text(lock_text(advanced(lock, there), config.stack), encoding="utf-8")
        before = rehearse(project, file, stand_in=stand_in)
        plan = resolve_config(read_stack(project, file, stand_in=stand_in)).plan
        for versions in through:
            lock_path(file).write_text(lock_text(advanced(lock, versions), config.stack), encoding="utf-8")
            found = review(project, file)
            then = resolve_config(read_stack(project, file, stand_in=stand_in)).plan
            earlier = Earlier(f"Kubernetes {there.kubernetes}", tuple(before.known.resources))
            change = review_change(earlier, found.rehearsal)
            judged: Review = replace(found, change=change)
            yield Leg(
                _standing(there, plan, before),
                versions,
                tuple(pins(plan, then)),
                change,
                judged.verdict,
                support(versions.kubernetes),
                stages(change),
                in_place(change),
            )
            before, plan, there = found.rehearsal, then, versions


def _standing(versions: Versions, plan: Plan, rehearsal: Rehearsal) -> Standing:
    own = tuple(Pin(what, "", version) for what, version in _of_the_cluster(plan).items())
    return Standing(versions, own, len(rehearsal.errors), support(versions.kubernetes))


def pins(before: Plan, after: Plan) -> Iterator[Pin]:
    """What is installed in another version."""
    old, new = _installed(before), _installed(after)
    for what in (*old, *(name for name in new if name not in old)):
        if old.get(what, "") != new.get(what, ""):
            yield Pin(what, old.get(what, ""), new.get(what, ""))


def _installed(plan: Plan) -> dict[str, str]:
    charts = {f"chart {name}": pin.version for name, pin in plan.core.pins.charts}
    return {**_of_the_cluster(plan), **charts}


def _of_the_cluster(plan: Plan) -> dict[str, str]:
    """What is another with another version of Kubernetes; charts are a release of Trainyard's."""
    if plan.ground.kind != "aws":
        return {}
    control_plane = plan.ground.control_plane(plan.clusters[0].name)
    return {
        "control plane": plan.clusters[0].kubernetes_version,
        **{f"add-on {add_on.name}": add_on.version for add_on in control_plane.add_ons},
        "image of the nodes": control_plane.node_release,
        "cluster autoscaler": control_plane.autoscaler_image_tag,
    }


def support(version: str) -> str:
    """Until when a version is in standard support, in words."""
    entry = catalog.known_kubernetes_versions()[version]
    return f"standard support until {entry.standard_support_until or 'a date not established'} ({entry.source})"
