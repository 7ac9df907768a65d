"""Buckets that a trail is to record and that commands of the program are told, against those that the stack makes.

Source: AWS CloudTrail user guide, "Logging data events" (a selector of `resources.ARN` means objects by the beginning
of their ARN; one of a bucket that there is not records nothing), 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trainyard.recorded.read import known_texts
from trainyard.recorded.types import BUCKET, TRAIL
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.near import nearest_of

_COMMAND: Final = "command:local:Command"
_ARN: Final = re.compile(r"arn:aws[a-z-]*:s3:::([a-z0-9][a-z0-9.-]+)")
_ADDRESS: Final = re.compile(r"s3://([a-z0-9][a-z0-9.-]+)")


def check(stack: Stack) -> None:
    """Only a name that is nearly one of the stack's: another, and the next of numbered ones, may be somebody else's."""
    made = {str(name) for view in stack.of_type(BUCKET) for name in (view.text("bucket"), view.resource.id) if name}
    for view, path, name in _named(stack) if made else ():
        if name not in made and (near := nearest_of(name, made)):
            view.warning(
                "programs-bucket", path, f"names the bucket {show(name)}, which the stack does not make",
                hint=f"did you mean {near}?",
            )  # fmt: skip


def _named(stack: Stack) -> Iterator[tuple[View, str, str]]:
    for view in stack.of_type(TRAIL):
        for key in ("advancedEventSelectors", "eventSelectors"):
            for below, text in known_texts(view.value(key)):
                for name in _ARN.findall(text):
                    yield view, f"{key}{below}", name
    for view in stack.of_type(_COMMAND):
        for below, text in known_texts(view.value("environment")):
            for name in _ADDRESS.findall(text):
                yield view, f"environment.{below}", name
