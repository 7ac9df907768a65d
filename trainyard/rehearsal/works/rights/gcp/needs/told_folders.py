"""Folders of buckets that a config map tells the pods of its namespace, which may use another folder of them alone.

A bucket in which none of them may do anything is reached through somebody else, such as a tracking server. Source:
Cloud Storage, "Managed folders", as generally known in 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.types import CONFIG_MAP
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.rights.gcp.members import Caller
from trainyard.rehearsal.works.rights.gcp.needs.model import Deed, Need
from trainyard.rehearsal.works.rights.gcp.needs.objects import folder, reading, writing
from trainyard.rehearsal.works.rights.gcp.needs.pods import accounts_of
from trainyard.rehearsal.works.rights.gcp.project import Project
from trainyard.rehearsal.works.rights.principals import Pod

_ALONE: Final = re.compile(r"gs://(?P<bucket>[a-z0-9][a-z0-9._-]+)(?P<prefix>/\S*)?")


def needs(stack: Stack, project: Project) -> Iterator[Need]:
    """What whoever takes a config map as their environment is told to use."""
    for view in stack.of_type(CONFIG_MAP):
        told = [
            (f"data.{key}", found)
            for key, text in view.mapping("data").items()
            if isinstance(text, str) and (found := _ALONE.fullmatch(text)) is not None
        ]
        namespace = view.text("metadata.namespace") or "default"
        accounts = accounts_of(stack, namespace) if told else []
        callers = tuple(one for name in accounts if (one := project.pod(Pod(namespace, name))[0]) is not None)
        for path, found in told if callers else ():
            bucket = project.bucket(found["bucket"])
            if bucket is None or bucket.read:
                continue
            inside = folder(found["prefix"] or "")
            own = [one for one in _folders(project, bucket) if _may(project, callers, _deeds(bucket, one), "yes")]
            if own and not _may(project, callers, _deeds(bucket, inside), "yes", "unknown"):
                hint = f"a folder that they have a role on: {', '.join(sorted(own)[:3])}"
                yield Need(
                    view, path, "rights-pod-lacks", callers, f"pods of {namespace}", f"use {found[0]}",
                    _deeds(bucket, inside), hint,
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
