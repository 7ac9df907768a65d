"""What a team's pods may do on Google Cloud: asked of the evaluator, for every recorded thing that has grants.

Objects are asked for by folder: those that any grant or volume of the stack names, and one that none names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    GCP_ACCOUNT,
    GCP_BUCKET,
    GCP_CRYPTO_KEY,
    GCP_IMAGE_REPOSITORY,
    GCP_SECRET,
    GCP_TOPIC,
    VOLUME,
)
from trainyard.rehearsal.works.rights.gcp.grants import REGIONAL_SECRET
from trainyard.rehearsal.works.rights.gcp.needs.objects import folder
from trainyard.rehearsal.works.rights.gcp.project import LIST_PREFIX, bucket_name, full_name, object_name
from trainyard.rehearsal.works.rights.principals import Pod
from trainyard.rehearsal.works.rights.stack import Rights
from trainyard.review.reach.asked import Asked, Deeds, ask, row_of
from trainyard.review.reach.model import Row, Section

ELSEWHERE: Final = "elsewhere/"
"""A folder that no grant names."""

_OF_OBJECTS: Final[Deeds] = {
    "read": "storage.objects.get",
    "write": "storage.objects.create",
    "delete": "storage.objects.delete",
}
_OF_BUCKETS: Final[Deeds] = {
    "change its grants": "storage.buckets.setIamPolicy",
    "change it": "storage.buckets.update",
    "delete it": "storage.buckets.delete",
}
_READ_SECRET: Final[tuple[str, Deeds]] = ("secret", {"read": "secretmanager.versions.access"})
_OF_THE_REST: Final[Mapping[str, tuple[str, Deeds]]] = {
    GCP_CRYPTO_KEY: (
        "key",
        {
            "decrypt by itself": "cloudkms.cryptoKeyVersions.useToDecrypt",
            "encrypt by itself": "cloudkms.cryptoKeyVersions.useToEncrypt",
            "change its grants": "cloudkms.cryptoKeys.setIamPolicy",
            "destroy it": "cloudkms.cryptoKeyVersions.destroy",
        },
    ),
    GCP_SECRET: _READ_SECRET,
    REGIONAL_SECRET: _READ_SECRET,
    GCP_IMAGE_REPOSITORY: (
        "repository",
        {
            "pull": "artifactregistry.repositories.downloadArtifacts",
            "push": "artifactregistry.repositories.uploadArtifacts",
        },
    ),
    GCP_ACCOUNT: (
        "account",
        {"take it": "iam.serviceAccounts.getAccessToken", "change its grants": "iam.serviceAccounts.setIamPolicy"},
    ),
    GCP_TOPIC: ("topic", {"publish": "pubsub.topics.publish"}),
}


def in_gcp(rights: Rights, resources: Resources, namespace: str, service_accounts: Iterable[str]) -> Section:
    """What pods of a namespace may do with everything that is recorded, by service account.

    Raises:
        UnknownInput: a volume is not known yet.
    """
    rows: list[Row] = []
    for account in service_accounts:
        found = _of_pod(rights, resources, Pod(namespace, account))
        rows += (Row(row.what, row.may, f"{account}: {row.why}") for row in found)
    return Section("gcp", "Its pods on Google Cloud, by service account", tuple(rows))


def _of_pod(rights: Rights, resources: Resources, pod: Pod) -> tuple[Row, ...]:
    """First what it may, then in one row what not."""
    caller, reason = rights.gcp.pod(pod)
    if caller is None:
        return (Row(("anything",), (), reason),)
    rows: list[Row] = []
    refused: list[str] = []
    for bucket in resources.of(GCP_BUCKET):
        of_bucket = list(_bucket(rights, resources, pod, bucket))
        rows += of_bucket
        if not of_bucket:
            refused.append(f"bucket {bucket.name}")
    for type_, (kind, deeds) in _OF_THE_REST.items():
        for found in resources.of(type_):
            row = row_of(f"{kind} {found.name}", ask(rights, pod, deeds, full_name(found)))
            if row:
                rows.append(row)
            else:
                refused.append(f"{kind} {found.name}")
    return (*rows, *([Row(tuple(refused), (), f"no grant lets {caller} do anything")] if refused else []))


def _bucket(rights: Rights, resources: Resources, pod: Pod, bucket: RecordedResource) -> Iterator[Row]:
    told: dict[str, tuple[Asked, ...]] = {}
    for inside in sorted({ELSEWHERE, *_folders(rights, resources, bucket)}):
        listed = rights.may(pod, "storage.objects.list", full_name(bucket), {LIST_PREFIX: inside})
        asked = (Asked("list", listed), *ask(rights, pod, _OF_OBJECTS, object_name(bucket, f"{inside}object")))
        told[inside] = tuple(one for one in asked if not one.verdict.refused)
    everywhere = {one.deed for one in told[ELSEWHERE]}
    row = row_of(f"bucket {bucket.name}", (*told.pop(ELSEWHERE), *ask(rights, pod, _OF_BUCKETS, full_name(bucket))))
    if row:
        yield row
    for inside, asked in told.items():
        row = row_of(f"bucket {bucket.name}, {inside}", (one for one in asked if one.deed not in everywhere))
        if row:
            yield row


def _folders(rights: Rights, resources: Resources, bucket: RecordedResource) -> Iterator[str]:
    """Folders of a bucket that grants and volumes name."""
    yield from (grant.folder for grant in rights.gcp.grants if grant.on == bucket.urn and grant.folder)
    for volume in resources.of(VOLUME):
        if value_at(volume.inputs, "spec", "csi", "volumeHandle", default="") == bucket_name(bucket):
            for option in texts_at(volume.inputs, "spec", "mountOptions"):
                if option.startswith("only-dir"):
                    yield folder(option.partition("=")[2])
