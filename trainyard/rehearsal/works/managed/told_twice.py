"""What a command that sends a job is told, beside the request that stands among what starts it again: places, accounts,
keys and subnets are the same in both, or the job looks where nothing is put.

A job on Vertex AI sees a bucket as `/gcs/BUCKET` (Vertex AI, "Prepare training code", 2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.read import known_texts
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.near import is_near
from trainyard.rehearsal.works.managed.aws import jobs as jobs_aws
from trainyard.rehearsal.works.managed.gcp import jobs as jobs_gcp

_URI: Final = re.compile(r"(?:gs|s3)://(?P<bucket>[^/\s]+)(?P<path>/\S*)?")
_PLACE: Final = re.compile(r"(?:(?:gs|s3)://|/gcs/)(?P<bucket>[^/\s]+)(?P<path>/\S*)?")
_SAME: Final[Mapping[str, re.Pattern[str]]] = {
    "roleArn": re.compile(r"arn:[^:]+:iam::\d+:role/.+"),
    "serviceAccount": re.compile(r"\S+@\S+\.iam\.gserviceaccount\.com"),
    "kmsKeyId": re.compile(r"arn:[^:]+:kms:.+"),
    "kmsKeyName": re.compile(r"projects/[^/]+/locations/[^/]+/keyRings/.+"),
    "subnets": re.compile(r"subnet-[0-9a-f]+"),
    "securityGroupIds": re.compile(r"sg-[0-9a-f]+"),
}
"""Members of a request, and how a variable looks that says the same."""


def check(stack: Stack) -> None:
    """Every job that a command sends."""
    for job in jobs_aws.jobs(stack):
        if job.place:
            _compare(job.view, job.place, job.inputs)
    for job_of_vertex in jobs_gcp.jobs(stack):
        _compare(job_of_vertex.view, job_of_vertex.place, job_of_vertex.body)


def _compare(view: View, place: str, request: Mapping[str, Any]) -> None:
    if view.blurred("environment"):
        return
    told = [value for value in view.mapping("environment").values() if isinstance(value, str)]
    places = [(found["bucket"], (found["path"] or "").strip("/")) for value in told if (found := _URI.fullmatch(value))]
    for path, text in known_texts(request) if places else ():
        found = _PLACE.match(text)
        if found is None:
            continue
        within = (found["path"] or "").strip("/")
        bucket = found["bucket"]
        if any(bucket == told_of and _is_below(within, top) for told_of, top in places):
            continue
        there = ", ".join(f"{told_of}/{top}" for told_of, top in places)
        message = f"{path}: {show(text)}, and the command that sends the job puts its files into {there}"
        # What a job reads may be anywhere: told is what looks for the same files, or is a slip of the bucket's name.
        if any(
            bucket != told_of and ((top and _is_below(within, top)) or is_near(bucket, told_of))
            for told_of, top in places
        ):
            view.error("managed-job-told-otherwise", place, message, allowed=there)
        elif any(bucket == told_of for told_of, _ in places):
            view.warning("managed-job-told-otherwise", place, message, allowed=there)
    for path, key, value in _members(request, ""):
        said = [one for one in told if _SAME[key].fullmatch(one)]
        if said and value not in said:
            message = f"{path}: {show(value)}, and the command that sends the job is told {', '.join(said)}"
            view.error("managed-job-told-otherwise", place, message, allowed=", ".join(said))


def _is_below(within: str, top: str) -> bool:
    return f"{within}/".startswith(f"{top}/" if top else "")


def _members(value: Any, path: str) -> Iterator[tuple[str, str, str]]:
    """The members that a command is told too: where, by which name, what."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            where = f"{path}.{key}" if path else str(key)
            if key in _SAME:
                yield from (
                    (where, key, one) for one in (item if isinstance(item, list) else [item]) if isinstance(one, str)
                )
            else:
                yield from _members(item, where)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _members(item, f"{path}[{index}]")
