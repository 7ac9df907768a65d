"""What a team's pods may do on Google Cloud: below a folder of the team's, and read what the teams share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

from trainyard.conventions import TEAM_LABEL, data_prefix, team_prefix
from trainyard.policies.grants import GRANTS, grants, namespace_of
from trainyard.policies.rules import StackViolation
from trainyard.policies.teams import team_namespaces
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_on, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import GCP_BUCKET

_READS: Final = ("roles/storage.objectViewer",)
_WRITES: Final = ("roles/storage.objectUser", "roles/storage.objectCreator")
_SEES: Final = ("roles/gke.gcsfuse.profileUser", "roles/storage.bucketViewer", "roles/storage.insightsCollectorService")
"""Roles that show a bucket and none of its objects."""


def beyond_their_folders(resources: Resources, config: Mapping[str, Any]) -> Iterator[StackViolation]:
    """Grants to pods of a team's namespace that go beyond its folder, and beyond reading what is shared.

    A pod that acts as an account of Google's has that account's rights: they are not followed.
    """
    teams = {
        str(value_at(found.inputs, "metadata", "name")): str(value_at(found.inputs, "metadata", "labels", TEAM_LABEL))
        for found in team_namespaces(resources)
    }
    for bucket in resources.of(GCP_BUCKET) if teams else ():
        if not is_on(bucket.inputs, "uniformBucketLevelAccess"):
            yield bucket, "uniformBucketLevelAccess is off: access lists of objects go past the teams' folders"
    for holder in resources.of(*GRANTS) if teams else ():
        for grant in grants(holder):
            for member in grant.members:
                team = teams.get(namespace_of(member))
                excess = _excess(holder, grant.role, team, resources, config) if team else ""
                if excess:
                    yield holder, f"lets pods of team {team} {excess}"


def _excess(holder: RecordedResource, role: str, team: str, resources: Resources, config: Mapping[str, Any]) -> str:
    if any(fnmatchcase(role, glob) for glob in config["furtherActions"]):
        return ""
    kind = holder.type.partition("/")[2].partition(":")[0].lower()
    if kind.startswith("managedfolder"):
        folder = str(value_at(holder.inputs, "managedFolder", default=""))
        theirs = team_prefix(team), data_prefix(team)
        if not folder.startswith(theirs):
            return f"use folder {folder or 'without a name'}: theirs begin with {' and '.join(theirs)}"
        return "" if role in (*_READS, *_WRITES) else f"have {role}, which is no part of training"
    if not holder.type.startswith("gcp:storage/bucket"):
        return f"have {role}, which is no part of training"
    if role in _SEES:
        return ""
    if role not in _READS:
        return f"have {role} on a whole bucket"
    shared = [
        bucket
        for bucket in resources.referred(holder, "bucket", GCP_BUCKET)
        if any(fnmatchcase(bucket.name, glob) for glob in config["sharedBuckets"])
    ]
    return "" if shared else "read a whole bucket that the teams do not share"
