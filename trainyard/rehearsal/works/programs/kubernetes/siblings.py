"""Volumes of the same purpose that teams have each: one of them lacks an option that all the others are mounted with.

Whether an option is needed nobody can say of one volume; of three that are alike, and a fourth that is not, one can.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_FEWEST: Final = 3
_WORD: Final = re.compile(r"[\w-]+(?::[\w-]+)*")


def check(cluster: Cluster) -> None:
    """The recorded volumes of a program that makes them for every team alike."""
    if not cluster.stack.context.ours:
        return
    alike: dict[tuple[str, str, tuple[str, ...]], list[View]] = {}
    for view in cluster.of("PersistentVolume"):
        driver, claim = view.text("spec.csi.driver"), view.text("spec.claimRef.name")
        space = view.text("spec.claimRef.namespace") or ""
        if driver and claim and cluster.is_teams(space) and not view.blurred("spec.mountOptions"):
            alike.setdefault((driver, claim, tuple(view.texts("spec.accessModes"))), []).append(view)
    for views in alike.values():
        if len(views) >= _FEWEST:
            _odd_one(views)


def _odd_one(views: list[View]) -> None:
    options = [{_key(one) for one in view.texts("spec.mountOptions")} for view in views]
    counted = Counter(key for own in options for key in own)
    by_others = {key for key, times in counted.items() if times == len(views) - 1}
    for view, own in zip(views, options, strict=True):
        missing = sorted(by_others - own)
        if missing:
            view.warning(
                "programs-mount-option", "spec.mountOptions",
                f"lacks {', '.join(missing)}, with which all other teams' volumes for the same purpose are mounted",
                allowed=", ".join(missing),
            )  # fmt: skip


def _key(option: str) -> str:
    """What an option is about, without its value."""
    found = _WORD.match(option.strip().lstrip("-"))
    words = found[0].split(":") if found else [""]
    return ":".join(words[:2])
