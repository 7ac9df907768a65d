"""Beginnings of objects' names by which something of a bucket is chosen, and where in it anybody may write.

Where all who may write have the right below managed folders alone, what begins otherwise is written by nobody: a rule
of a lifecycle for it deletes nothing, and a notification tells of nothing. Source: Cloud Storage, "Object Lifecycle
Management" (`matchesPrefix`), "Managed folders", "Pub/Sub notifications", as generally known in 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from trainyard.recorded.types import GCP_BUCKET, GCP_BUCKET_NOTIFICATION
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.works.rights.gcp.grants import ANYWHERE, EVERYWHERE
from trainyard.rehearsal.works.rights.gcp.project import Project

_WRITES: Final = "storage.objects.create"


def check(stack: Stack, project: Project) -> None:
    """Every prefix of a recorded bucket."""
    chosen = list(_chosen(stack))
    for view, path, bucket, prefixes in chosen:
        folders = _written(project, bucket)
        # Of several, one that is written to is enough.
        if not folders or any(_meet(prefix, folder) for prefix in prefixes for folder in folders):
            continue
        words = f"{show(prefixes[0])}: whoever may write to {bucket.name} may so below {', '.join(sorted(folders)[:3])}"
        view.warning("rights-nobody-writes", path, f"{words} alone: nothing is meant", allowed="one of these folders")


def _chosen(stack: Stack) -> Iterator[tuple[View, str, View, list[str]]]:
    for bucket in stack.of_type(GCP_BUCKET):
        for path, rule in bucket.items("lifecycleRules"):
            condition = rule.get("condition")
            given = condition.get("matchesPrefixes") if isinstance(condition, Mapping) else None
            prefixes = given if isinstance(given, list) else []
            if prefixes and all(isinstance(one, str) for one in prefixes) and not bucket.resource.read:
                yield bucket, f"{path}.condition.matchesPrefixes", bucket, prefixes
    for view in stack.of_type(GCP_BUCKET_NOTIFICATION):
        prefix, of = view.text("objectNamePrefix"), view.referred("bucket", GCP_BUCKET)
        if prefix and of is not None and not of.resource.read:
            yield view, "objectNamePrefix", of, [prefix]


def _written(project: Project, bucket: View) -> set[str]:
    """Folders of a bucket below which alone something may be written; none where that is not known."""
    if bucket.flag("uniformBucketLevelAccess") is not True:
        return set()
    folders: set[str] = set()
    for grant in project.grants:
        if grant.on not in (bucket.resource.urn, EVERYWHERE, ANYWHERE):
            continue
        held = project.roles.holds(grant.role, _WRITES)
        if held is False:
            continue
        if held is None and grant.on == EVERYWHERE and not grant.role.startswith(_OF_STORAGE):
            continue  # a role of another service; basic ones are of people
        if not grant.folder:
            return set()
        folders.add(grant.folder)
    return folders


_OF_STORAGE: Final = ("roles/storage.", "roles/owner", "roles/editor", "projects/", "organizations/")


def _meet(prefix: str, folder: str) -> bool:
    return prefix.startswith(folder) or folder.startswith(prefix)
