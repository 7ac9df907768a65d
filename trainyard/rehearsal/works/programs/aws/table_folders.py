"""Tables over what a stream writes: their partitions are the folders that it makes.

Sources: Amazon Athena User Guide, "Set up partition projection" (`storage.location.template`, and values of a date or a
number as they are); Amazon Data Firehose Developer Guide, "Custom prefixes for Amazon S3 objects" (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trainyard.recorded.types import BUCKET
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.refusals.aws.streams import FIREHOSE

_TABLE: Final = "aws:glue/catalogTable:CatalogTable"
_BUCKET: Final = re.compile(r"s3a?://(?P<bucket>[^/]+)/(?P<key>.*)")
_FILLED: Final = re.compile(r"!\{(?:[^{}])*\}|\$\{(?P<column>[^{}]*)\}")
_PLAIN: Final = ("date", "integer")
"""Kinds of a projection whose values begin with a digit."""


def check(stack: Stack) -> None:
    """Every table of a bucket that one stream alone writes below the table's place."""
    tables = stack.of_type(_TABLE)
    if not tables:
        return
    written = list(_written(stack))
    for table in tables:
        path = "parameters.storage~location~template"
        template = table.mapping("parameters").get("storage.location.template")
        if str(table.mapping("parameters").get("projection.enabled")).lower() != "true":
            continue
        found = _BUCKET.fullmatch(template) if isinstance(template, str) else None
        if found is None:
            continue
        own = [(stream, prefix) for stream, bucket, prefix in written if bucket == found["bucket"]]
        base = _FILLED.split(found["key"])[0].rpartition("/")[0]
        below = [(stream, prefix) for stream, prefix in own if f"{prefix}/".startswith(f"{base}/")]
        if len(below) == 1 and base:
            _compared(table, path, found["key"], *below[0])


def _written(stack: Stack) -> Iterator[tuple[View, str, str]]:
    for stream in stack.of_type(FIREHOSE):
        at = "extendedS3Configuration"
        bucket, prefix = stream.referred(f"{at}.bucketArn", BUCKET), stream.text(f"{at}.prefix")
        name = bucket.text("bucket") if bucket is not None else None
        if name is not None and prefix:
            yield stream, name, prefix


def _compared(table: View, path: str, template: str, stream: View, prefix: str) -> None:
    """Folder by folder: a value of a date or a number is no more than itself."""
    for asked, made in zip(template.strip("/").split("/"), prefix.strip("/").split("/"), strict=False):
        if asked == made:
            continue
        head, column = _FILLED.split(asked)[0], _FILLED.search(asked)
        begun, filled = _FILLED.split(made)[0], _FILLED.search(made)
        kind = table.mapping("parameters").get(f"projection.{column['column']}.type") if column else None
        if filled is not None and column is not None and kind in _PLAIN and head != begun:
            table.error(
                "programs-table-folder", path.replace("~", "."),
                f"looks into folders such as {show(asked)}, and stream {stream.name} writes into {show(made)}: queries "
                "find nothing", allowed=f"{begun}${{…}}",
            )  # fmt: skip
        return
