"""Buckets that programs are told: one that is named as the stack's own are, and that nobody makes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.read import known_texts
from trainyard.recorded.types import BUCKET, GCP_BUCKET
from trainyard.rehearsal.context import Stack, show
from trainyard.rehearsal.near import is_near
from trainyard.rehearsal.works.programs.told import told
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_NAMED: Final = {
    BUCKET: re.compile(r"(?<![\w.-])s3a?://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?=[/\s\"',;]|$)"),
    GCP_BUCKET: re.compile(r"(?<![\w.-])gs://([a-z0-9][a-z0-9._-]{1,61}[a-z0-9])(?=[/\s\"',;]|$)"),
}
_OTHER_BUCKETS: Final = (
    "aws:s3/bucketV2:BucketV2", "aws:s3/directoryBucket:DirectoryBucket", "aws-native:s3:Bucket",
)  # fmt: skip
_WORDS_ALIKE: Final = 2
"""Words at the beginning that two names of one stack have in common: `acme-demo-data`, `acme-demo-logs`."""


def check(stack: Stack, cluster: Cluster) -> None:
    """Every address of a bucket in what programs are told."""
    for type_, pattern in _NAMED.items():
        made: set[str] = set()
        for view in [*stack.of_type(type_), *(one for other in _OTHER_BUCKETS for one in stack.of_type(other))]:
            answered = (view.resource.outputs.get("bucket"), view.resource.outputs.get("name"))
            names = (view.text("bucket"), view.text("name"), view.resource.id, *answered)
            made |= {str(name) for name in names if isinstance(name, str)}
        named = [
            (view, path, name) for view, path, text in told(cluster) if "://" in text for name in pattern.findall(text)
        ]
        if not made or all(name in made for _, _, name in named):
            continue
        elsewhere = _named_elsewhere(stack)
        for view, path, name in dict.fromkeys(named):
            if name not in made and not _says(elsewhere, name) and _is_ours(name, made):
                view.error(
                    "programs-bucket",
                    path,
                    f"names the bucket {show(name)}, which the stack does not make, and no policy speaks of it",
                    allowed=f"one of {', '.join(sorted(made))}",
                    hint=nearest(name, made),
                )


def _named_elsewhere(stack: Stack) -> str:
    """What the resources of clouds say of buckets, as one text: policies, links to file systems, members."""
    return "\n".join(
        text
        for resource in stack.resources.all
        if not resource.type.startswith("kubernetes:")
        for _, text in known_texts(dict(resource.inputs))
    )


def _says(text: str, name: str) -> bool:
    """Whether it is named as a bucket: in an ARN, in an address, or as a whole input."""
    named = re.escape(name)
    return re.search(rf"(?::::|//|buckets/){named}(?=[/\s\"',]|$)|^{named}$", text, re.MULTILINE) is not None


def _is_ours(name: str, made: Iterable[str]) -> bool:
    """Whether a name is like those of the stack's buckets: nearly one, or of the same first words."""
    words = name.split("-")
    return any(
        is_near(name, other)
        or (len(words) > _WORDS_ALIKE and words[:_WORDS_ALIKE] == other.split("-")[:_WORDS_ALIKE])
        or other.startswith(f"{name}-")
        for other in made
    )
