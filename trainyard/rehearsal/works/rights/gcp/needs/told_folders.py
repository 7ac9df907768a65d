"""Folders of buckets that a config map tells the pods of its namespace, which may use another folder of them alone.

A bucket in which none of them may do anything may be reached through somebody else, such as a tracking server: told
unless the map says so. Source: Cloud Storage, "Managed folders", as generally known in 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trainyard.recorded.model import RecordedResource
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.rights.gcp.members import Caller
from trainyard.rehearsal.works.rights.gcp.needs.model import Deed, Need
from trainyard.rehearsal.works.rights.gcp.needs.objects import folder, reading, writing
from trainyard.rehearsal.works.rights.gcp.needs.pods import OWN_CREDENTIALS
from trainyard.rehearsal.works.rights.gcp.project import Project
from trainyard.rehearsal.works.rights.principals import Pod
from trainyard.rehearsal.works.rights.recorded_pods import accounts_of
from trainyard.rehearsal.works.rights.told import HINT, told

_ALONE: Final = re.compile(r"gs://(?P<bucket>[a-z0-9][a-z0-9._-]+)(?P<prefix>/\S*)?")


def needs(stack: Stack, project: Project) -> Iterator[Need]:
    """What whoever takes a config map as their environment is told to use."""
    for one in told(stack, _ALONE, OWN_CREDENTIALS):
        namespace, found = one.namespace, one.found
        bucket = project.bucket(found["bucket"])
        accounts = accounts_of(stack, namespace) if bucket is not None and not bucket.read else []
        everybody = [*accounts, "default"] if accounts and "default" not in accounts else accounts
        callers = tuple(who for name in everybody if (who := project.pod(Pod(namespace, name))[0]) is not None)
        if bucket is None or not callers:
            continue
        inside = folder(found["prefix"] or "")
        own = [name for name in _folders(project, bucket) if _may(project, callers, _deeds(bucket, name), "yes")]
        if (own or not one.is_served) and not _may(project, callers, _deeds(bucket, inside), "yes", "unknown"):
            hint = f"a folder that they have a role on: {', '.join(sorted(own)[:3])}" if own else HINT
            yield Need(
                one.view, one.path, "rights-pod-lacks", callers, f"pods of {namespace}", f"use {found[0]}",
                _deeds(bucket, inside), hint, sure=bool(own),
            )  # fmt: skip


def _deeds(bucket: RecordedResource, inside: str) -> tuple[Deed, ...]:
    return *reading(bucket, inside), *writing(bucket, inside)


def _folders(project: Project, bucket: RecordedResource) -> set[str]:
    return {grant.folder for grant in project.grants if grant.on == bucket.urn and grant.folder}


def _may(project: Project, callers: tuple[Caller, ...], deeds: tuple[Deed, ...], *answers: str) -> bool:
    """Whether one of them gets one of the answers for one of the deeds."""
    return any(
        project.may(who, deed.permission, deed.resource, deed.said).answer in answers
        for who in callers
        for deed in deeds
    )
