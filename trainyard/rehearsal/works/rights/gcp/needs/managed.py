"""What managed jobs need: as whom they run, to their output, and their agent to the key that they name.

Source: Vertex AI, "Use a custom service account" and "Customer-managed encryption keys", as generally known in 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard.recorded.types import GCP_CRYPTO_KEY
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.managed.gcp.jobs import Job, jobs
from trainyard.rehearsal.works.rights.gcp.members import Caller
from trainyard.rehearsal.works.rights.gcp.needs.keys import ROLE, agents
from trainyard.rehearsal.works.rights.gcp.needs.model import Deed, Need
from trainyard.rehearsal.works.rights.gcp.project import Project, object_name

_STORES: Final = ("storage.objects.get", "storage.objects.create", "storage.objects.delete")
"""A result is written over, which Cloud Storage counts as deleting what was there."""
_USES: Final = ("cloudkms.cryptoKeyVersions.useToEncrypt", "cloudkms.cryptoKeyVersions.useToDecrypt")


def needs(stack: Stack, project: Project) -> Iterator[Need]:
    """What every job that the program sends has to be allowed."""
    keys = {str(key.id) for key in stack.resources.of(GCP_CRYPTO_KEY) if key.id and not key.read}
    for job in jobs(stack):
        email = job.text("jobSpec", "serviceAccount")
        if email and project.account(email) is not None:
            yield from _output(job, email, project)
        key = job.text("encryptionSpec", "kmsKeyName")
        if key in keys:
            words, callers = agents(stack, "aiplatform")
            yield Need(
                job.view,
                job.place,
                "rights-key",
                callers,
                words,
                "start the job, whose disks are encrypted",
                tuple(Deed(use, key) for use in _USES),
                f"a CryptoKeyIAMMember of the key that gives it {ROLE}",
            )


def _output(job: Job, email: str, project: Project) -> Iterator[Need]:
    uri = job.text("jobSpec", "baseOutputDirectory", "outputUriPrefix")
    name, _, folder = uri.removeprefix("gs://").partition("/")
    bucket = project.bucket(name)
    if bucket is None:
        return
    target = object_name(bucket, f"{folder}/result.json".lstrip("/"))
    yield Need(
        job.view,
        job.place,
        "rights-job",
        (Caller(f"account {email}", account=email),),
        f"the job, as {email},",
        "keep its output",
        tuple(Deed(permission, target) for permission in _STORES),
        "a BucketIAMMember of the bucket that gives it roles/storage.objectUser",
    )
