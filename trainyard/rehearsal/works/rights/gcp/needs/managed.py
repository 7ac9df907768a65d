"""What managed jobs need: as whom they run, to their output and their checkpoints, and their agent to the key that they
name; and what people need who send some: to send them, and to act as the account that they run as.

Source: Vertex AI, "Use a custom service account" and "Customer-managed encryption keys"; IAM, "Roles for service
account authentication" (`iam.serviceAccounts.actAs`), as generally known in 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.types import GCP_BUCKET, GCP_CRYPTO_KEY, GCP_METADATA_STORE
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.managed.gcp.jobs import Job, jobs
from trainyard.rehearsal.works.rights.gcp.grants import EVERYWHERE
from trainyard.rehearsal.works.rights.gcp.members import Caller
from trainyard.rehearsal.works.rights.gcp.needs.keys import ROLE, agents
from trainyard.rehearsal.works.rights.gcp.needs.model import OWN, Deed, Need
from trainyard.rehearsal.works.rights.gcp.project import Project, object_name

_STORES: Final = ("storage.objects.get", "storage.objects.create", "storage.objects.delete")
"""A result is written over, which Cloud Storage counts as deleting what was there."""
_SENDS: Final = "aiplatform.customJobs.create"
_ACTS: Final = "iam.serviceAccounts.actAs"
CHECKPOINTS_TIER: Final = "checkpoints"
"""The label `tier` of the bucket that jobs keep what they go on from in (`components/gcp/storage.py`)."""
_USES: Final = ("cloudkms.cryptoKeyVersions.useToEncrypt", "cloudkms.cryptoKeyVersions.useToDecrypt")


def needs(stack: Stack, project: Project) -> Iterator[Need]:
    """What every job that the program sends has to be allowed."""
    keys = {str(key.id) for key in stack.resources.of(GCP_CRYPTO_KEY) if key.id and not key.read}
    accounts: set[str] = set()
    for job in jobs(stack):
        email = job.text("jobSpec", "serviceAccount")
        account = project.account(email) if email else None
        if account is not None:
            yield from _output(job, email, project)
        if account is not None and email not in accounts:
            accounts.add(email)
            yield from _checkpoints(stack, email, project)
            yield from _tracking(stack, email)
            yield from _people(stack, email, account, project)
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


def _tracking(stack: Stack, email: str) -> Iterator[Need]:
    """Runs are contexts of the metadata store: made, and told parameters and results (Vertex AI Experiments)."""
    for view in stack.of_type(GCP_METADATA_STORE):
        if view.text("name") != "default" or view.resource.read:
            continue  # experiments are kept in the store `default` alone
        who = (Caller(f"account {email}", account=email),)
        deeds = tuple(Deed(f"aiplatform.contexts.{do}", OWN) for do in ("create", "get", "update"))
        hint = "an IAMMember of the project with a role that has these"
        # A store is for notebooks too, and jobs may keep their runs elsewhere.
        yield Need(view, "", "rights-job", who, f"jobs, as {email},", "keep their runs", deeds, hint, sure=False)


def _checkpoints(stack: Stack, email: str, project: Project) -> Iterator[Need]:
    """A job that writes checkpoints reads them when it goes on, and writes the last one over."""
    who = (Caller(f"account {email}", account=email),)
    for view in stack.of_type(GCP_BUCKET):
        if view.text("labels.tier") != CHECKPOINTS_TIER or view.resource.read:
            continue
        given = [
            grant
            for grant in project.grants
            if grant.on == view.resource.urn
            and f"serviceAccount:{email}" in grant.members
            and _writes(project, grant.role)
        ]
        if not given or any(grant.condition != "" for grant in given):
            continue  # a condition may be of some objects alone
        hint = "a BucketIAMMember of the bucket that gives it roles/storage.objectUser"
        target = object_name(view.resource, f"{min(grant.folder for grant in given)}checkpoint")
        deeds = tuple(Deed(permission, target) for permission in _STORES)
        yield Need(
            view, "", "rights-job", who, f"jobs, as {email},", "go on from a checkpoint", deeds, hint, sure=False
        )


def _writes(project: Project, role: str) -> bool:
    return project.roles.holds(role, "storage.objects.create") is True


_PEOPLE: Final = ("user:", "group:", "domain:")


def _people(stack: Stack, email: str, account: RecordedResource, project: Project) -> Iterator[Need]:
    """Who may send jobs, and who may act as the account that they run as: each needs both."""
    told: set[tuple[str, str]] = set()
    for grant in project.grants:
        for has, lacks, on, purpose, hint in (
            (_ACTS, Deed(_SENDS, OWN), account.urn, f"send jobs, as which it may act as {email}",
             f"an IAMMember of the project with a role that has {_SENDS}"),
            (_SENDS, Deed(_ACTS, str(account.id)), EVERYWHERE, f"send jobs as {email}, which the stack's own run as",
             "a serviceaccount.IAMMember of that account with roles/iam.serviceAccountUser"),
        ):  # fmt: skip
            if grant.on != on or project.roles.holds(grant.role, has) is not True:
                continue
            for member in grant.members:
                if member.startswith(_PEOPLE) and (member, has) not in told:
                    told.add((member, has))
                    who, view = (Caller(member, member=member),), stack.view_of(grant.by)
                    # Somebody may have the other right by a group, or never mean to send a job.
                    yield Need(view, grant.path, "rights-people", who, member, purpose, (lacks,), hint, sure=False)
