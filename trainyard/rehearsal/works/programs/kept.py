"""Buckets whose rules take away what jobs still need: checkpoints, data and artifacts that are the newest version.

Source: Amazon S3 user guide, "Lifecycle configuration elements" (`Expiration` of the current version); Cloud Storage,
"Object Lifecycle Management" (2026-11). That a job of days still finds its checkpoint takes longer than it runs.
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.problems import count
from trainyard.recorded.read import as_number
from trainyard.recorded.types import BUCKET, GCP_BUCKET, LIFECYCLE
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.programs.told import told
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_LEAST_DAYS: Final = 14
"""Days that what jobs write stays at the least: two weeks, longer than runs of this size take (as generally known)."""
_SCRATCH: Final = re.compile(r"(?:^|[-_.])(?:scratch|te?mp|temporary|cache|spill|shuffle)(?:[-_.]|$)")
"""Names of buckets of which everything is to go after days."""
_LASTING: Final = re.compile(r"checkpoint|artifact|data|model|weights")
"""Names of buckets of what is read again."""
_ARCHIVES: Final = ("GLACIER", "DEEP_ARCHIVE")
"""Classes of storage from which an object is restored for hours before it is read (S3 user guide, "Storage classes");
`GLACIER_IR` and those of Cloud Storage are read at once."""
_ARCHIVE_DAYS: Final = 180
"""Days after which what is archived may well be meant so."""
_NAMED: Final = re.compile(r"(?:s3|gs)://([a-z0-9][a-z0-9._-]+)")


def check(stack: Stack, cluster: Cluster) -> None:
    """Every rule that ends the newest version of what programs are told to write or read."""
    used = {name for _, _, text in told(cluster) if "://" in text for name in _NAMED.findall(text)}
    used |= {
        str(view.value(path))
        for view in cluster.of("PersistentVolume")
        for path in ("spec.csi.volumeAttributes.bucketName", "spec.csi.volumeHandle")
    }
    used = {name for name in used if _SCRATCH.search(name) is None}
    if not used:
        return
    for rules in stack.of_type(LIFECYCLE):
        bucket = rules.referred("bucket", BUCKET)
        name = rules.text("bucket") or (bucket.text("bucket") if bucket is not None else None)
        if name in used:
            for path, rule in rules.items("rules"):
                _archived(rules, path)
                days = rules.number(f"{path}.expiration.days")
                if (
                    days is not None
                    and days < _LEAST_DAYS
                    and rule.get("status") == "Enabled"
                    and _is_for_all(rules, path)
                ):
                    _ends(rules, f"{path}.expiration.days", days, str(name))
    for view in stack.of_type(GCP_BUCKET):
        name = view.text("name") or view.resource.outputs.get("name")
        if name in used:
            for path, rule in view.items("lifecycleRules"):
                days = as_number(view.value(f"{path}.condition.age"))
                others = set(view.mapping(f"{path}.condition")) - {"age", "withState"}
                is_live = view.value(f"{path}.condition.withState") in (None, "LIVE", "ANY")
                deletes = view.value(f"{path}.action.type") == "Delete"
                if days is not None and days < _LEAST_DAYS and deletes and is_live and not others and rule:
                    _ends(view, f"{path}.condition.age", days, str(name))


def _archived(rules: View, path: str) -> None:
    """What jobs read is moved to where nobody reads it at once: a choice, where old checkpoints are only kept."""
    for at, move in rules.items(f"{path}.transitions"):
        days = as_number(move.get("days"))
        enabled = rules.text(f"{path}.status") == "Enabled"
        if move.get("storageClass") in _ARCHIVES and enabled and days is not None and days < _ARCHIVE_DAYS:
            rules.warning(
                "programs-kept", f"{at}.storageClass",
                f"moves what jobs read to {move['storageClass']} after {count(days, 'day')}: each read "
                "fails until it is "
                "restored", allowed="GLACIER_IR, STANDARD_IA or INTELLIGENT_TIERING",
            )  # fmt: skip


def _is_for_all(rules: View, path: str) -> bool:
    """A rule without a prefix or a tag of its own."""
    prefix = rules.value(f"{path}.filter.prefix") or rules.value(f"{path}.prefix")
    return not prefix and not any(rules.has(f"{path}.filter.{key}") for key in ("tag", "and"))


def _ends(view: View, path: str, days: float, name: str) -> None:
    """Sure is it where the bucket's name says what it holds; another may hold what is to go after days."""
    note = view.error if _LASTING.search(name) else view.warning
    note(
        "programs-kept",
        path,
        f"takes away everything after {count(days, 'day')}, the newest checkpoint and the data that jobs read too",
        allowed=f"{_LEAST_DAYS} or more, or a rule for superseded versions alone",
    )
