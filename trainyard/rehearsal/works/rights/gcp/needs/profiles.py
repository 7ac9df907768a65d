"""What volumes of Google's profiles need: GKE counts a bucket's objects, and holds the volume's pods until it has.

A class is one of those that GKE brings, by its name, where no recorded one has it. Source: pkg/profiles/scanner.go of
Google's driver (scheduling gate `gke-gcsfuse/bucket-scan-pending`) and its examples/gcsfuse-profiles, read 2026-11-25;
that on GKE its own agent counts, cluster-toolkit, 2026-06-25.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard.recorded.drivers import FUSE_DRIVER
from trainyard.recorded.types import STORAGE_CLASS, VOLUME
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.rights.gcp.needs.keys import agents
from trainyard.rehearsal.works.rights.gcp.needs.model import Deed, Need
from trainyard.rehearsal.works.rights.gcp.needs.objects import folder
from trainyard.rehearsal.works.rights.gcp.project import LIST_PREFIX, Project, full_name

PROFILES: Final = frozenset({"gcsfusecsi-training", "gcsfusecsi-checkpointing", "gcsfusecsi-serving"})


def needs(stack: Stack, project: Project) -> Iterator[Need]:
    """What recorded buckets have to allow GKE, each once."""
    own = {view.text("metadata.name") for view in stack.of_type(STORAGE_CLASS)}
    asked: set[tuple[str, str]] = set()
    for view in stack.of_type(VOLUME):
        bucket = project.bucket(view.text("spec.csi.volumeHandle") or "")
        profile = view.text("spec.storageClassName")
        if (
            view.text("spec.csi.driver") != FUSE_DRIVER
            or profile not in PROFILES - own
            or bucket is None
            or bucket.read
        ):
            continue
        options = [option.strip() for option in view.texts("spec.mountOptions")]
        inside = next((folder(option[9:]) for option in options if option.startswith("only-dir")), "")
        if (bucket.urn, inside) in asked:
            continue
        asked.add((bucket.urn, inside))
        words, callers = agents(stack, "container")
        yield Need(
            view,
            "spec.storageClassName",
            "rights-profile",
            callers,
            words,
            f"count the objects of the volume, which {profile} asks for, and its pods are held until it has",
            (
                Deed("storage.buckets.get", full_name(bucket)),
                Deed("storage.objects.list", full_name(bucket), {LIST_PREFIX: inside}),
            ),
            f"a BucketIAMMember of {bucket.name} that gives it roles/storage.legacyBucketReader",
        )
