"""What a bucket's access log needs: Google's own group writes it, and where it may not, none ever comes.

Source: Cloud Storage, "Usage logs & storage logs", as generally known in 2026-11; gcloud says so of `--log-bucket`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.conventions.gcp import LOG_DELIVERY
from trainyard.recorded.types import GCP_BUCKET
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.rights.gcp.members import Caller
from trainyard.rehearsal.works.rights.gcp.needs.model import Deed, Need
from trainyard.rehearsal.works.rights.gcp.project import Project, object_name


def needs(stack: Stack, project: Project) -> Iterator[Need]:
    """What the buckets that access is logged to have to allow, each once."""
    asked: set[str] = set()
    for view in stack.of_type(GCP_BUCKET):
        logs = project.bucket(view.text("logging.logBucket") or "")
        if view.resource.read or logs is None or logs.urn in asked:
            continue
        asked.add(logs.urn)
        words = f"Google's log delivery (group:{LOG_DELIVERY})"
        yield Need(
            view,
            "logging.logBucket",
            "rights-access-logs",
            (Caller(words, group=LOG_DELIVERY),),
            words,
            f"write the access log into bucket {logs.name}",
            (Deed("storage.objects.create", object_name(logs, "access_usage")),),
            f"a BucketIAMMember of {logs.name} that gives group:{LOG_DELIVERY} roles/storage.objectCreator",
        )
