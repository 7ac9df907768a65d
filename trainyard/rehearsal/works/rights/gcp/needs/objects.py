"""Reading and writing objects of recorded buckets. The key of a bucket is used by Cloud Storage itself, not by who asks
(Cloud Storage, "Customer-managed encryption keys", as generally known in 2026-11)."""

from __future__ import annotations

from trainyard.recorded.model import RecordedResource
from trainyard.rehearsal.works.rights.gcp.needs.model import Deed
from trainyard.rehearsal.works.rights.gcp.project import LIST_PREFIX, full_name, object_name


def reading(bucket: RecordedResource, prefix: str) -> tuple[Deed, ...]:
    """Listing and reading objects whose names begin with `prefix`, which is empty or ends with a slash."""
    return (
        Deed("storage.objects.list", full_name(bucket), {LIST_PREFIX: prefix}),
        Deed("storage.objects.get", object_name(bucket, f"{prefix}object")),
    )


def writing(bucket: RecordedResource, prefix: str) -> tuple[Deed, ...]:
    """Writing objects, and overwriting them, for which those before are deleted."""
    name = object_name(bucket, f"{prefix}object")
    return Deed("storage.objects.create", name), Deed("storage.objects.delete", name)


def folder(text: str) -> str:
    """A path as the beginning of objects' names: with a slash at its end only."""
    inner = text.strip("/")
    return f"{inner}/" if inner else ""
