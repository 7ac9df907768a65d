"""Recorded grants of IAM: members, bindings and whole policies of buckets, folders, keys, secrets, repositories,
service accounts, topics and projects."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from trainyard.recorded.model import UNKNOWN, RecordedResource
from trainyard.recorded.read import follow, known_texts, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    GCP_ACCOUNT,
    GCP_BUCKET,
    GCP_CRYPTO_KEY,
    GCP_EDITOR_TEMPLATE,
    GCP_PROVIDER,
    GCP_REGIONAL_SECRET,
    GCP_RUN_JOB,
    GCP_RUN_SERVICE,
    GCP_SECRET,
    GCP_SUBSCRIPTION,
    GCP_TOPIC,
)

KEY_RING: Final = "gcp:kms/keyRing:KeyRing"
REGIONAL_SECRET: Final = GCP_REGIONAL_SECRET
REPOSITORY: Final = "gcp:artifactregistry/repository:Repository"

EDITOR_TEMPLATE: Final = GCP_EDITOR_TEMPLATE
SUBSCRIPTION: Final = GCP_SUBSCRIPTION
DATASET: Final = "gcp:bigquery/dataset:Dataset"

Kind = Literal["Member", "Binding", "Policy"]
_KINDS: Final[tuple[Kind, ...]] = ("Member", "Binding", "Policy")

_ON: Final[Mapping[str, tuple[str, str]]] = {
    "storage/bucketIAM": ("bucket", GCP_BUCKET),
    "storage/managedFolderIam": ("bucket", GCP_BUCKET),
    "kms/cryptoKeyIAM": ("cryptoKeyId", GCP_CRYPTO_KEY),
    "kms/keyRingIAM": ("keyRingId", KEY_RING),
    "secretmanager/secretIam": ("secretId", GCP_SECRET),
    "secretmanager/regionalSecretIam": ("secretId", REGIONAL_SECRET),
    "artifactregistry/repositoryIam": ("repository", REPOSITORY),
    "serviceaccount/iAM": ("serviceAccountId", GCP_ACCOUNT),
    "pubsub/topicIAM": ("topic", GCP_TOPIC),
    "pubsub/subscriptionIAM": ("subscription", SUBSCRIPTION),
    "bigquery/datasetIam": ("datasetId", DATASET),
    "bigquery/iam": ("datasetId", DATASET),
    "colab/runtimeTemplateIam": ("runtimeTemplate", EDITOR_TEMPLATE),
    "cloudrunv2/serviceIam": ("name", GCP_RUN_SERVICE),
    "cloudrunv2/jobIam": ("name", GCP_RUN_JOB),
    "cloudrun/iam": ("service", GCP_RUN_SERVICE),
    "iap/webCloudRunServiceIam": ("cloudRunServiceName", GCP_RUN_SERVICE),
    "iap/webIam": ("project", ""),
    "projects/iAM": ("project", ""),
    "folder/iAM": ("folder", ""),
    "organizations/iAM": ("orgId", ""),
}
"""Beginnings of the types of grants: the input that names what they are on, and its type; none of a whole project, or
of what a project is in (pulumi_gcp 10.2.0)."""

_IN_ID: Final = re.compile(r"projects/([^/_][^/]*)/")
"""The project at the beginning of an id."""

EVERYWHERE: Final = ""
"""As what a grant is on: the whole project."""
ANYWHERE: Final = "?"
"""As what a grant is on: nobody knows."""


@dataclass(frozen=True, slots=True)
class Grant:
    """Somebody has a role on something."""

    by: RecordedResource
    kind: Kind
    members: tuple[str, ...]
    some_unknown: bool  # whether there are members that nobody knows yet
    role: str  # empty where it is not known
    on: str  # the URN of a recorded resource, `EVERYWHERE` or `ANYWHERE`
    folder: str  # of a bucket, with a slash at its end; empty for all of it
    condition: str | None  # empty where there is none, None where it is not known
    path: str  # of the members in the inputs

    @property
    def in_list(self) -> tuple[object, ...]:
        """Which list of members it is in: two of one list may be at odds. What holds everywhere in a project may be the
        project's own, that of IAP in it, or that of what the project is in."""
        if self.on != EVERYWHERE:
            return self.on, self.folder
        beginning = self.by.type.rpartition(":")[0].removesuffix(self.kind)
        return beginning, *(str(self.by.inputs.get(key)) for key in ("project", "folder", "orgId"))

    def __str__(self) -> str:
        """The grant in words."""
        return f"{self.by.type.rpartition(':')[2]} {self.by.name} ({self.role or 'a role that is not known'})"


def token(beginning: str, kind: Kind) -> str:
    """The type of a grant: `gcp:storage/bucketIAMMember:BucketIAMMember`."""
    name = beginning.partition("/")[2]
    return f"gcp:{beginning}{kind}:{name[0].upper()}{name[1:]}{kind}"


def grants(resources: Resources, home: str = "") -> Iterator[Grant]:
    """Every recorded grant on something that is recorded too, or on a project that something recorded is in.

    `home` is the project of what names none, where that is known.
    """
    own = _projects(resources) | {home} if home else frozenset()
    for beginning, (key, type_) in _ON.items():
        for kind in _KINDS:
            for found in resources.of(token(beginning, kind)):
                on = _on(resources, found, key, type_, own)
                if on is not None:
                    yield from _read(found, kind, on)


def _on(resources: Resources, found: RecordedResource, key: str, type_: str, own: frozenset[str]) -> str | None:
    """What a grant is on; None for a thing of somebody else's."""
    if not type_:
        return None if key == "project" and _is_elsewhere(found, own) else EVERYWHERE
    named = value_at(found.inputs, key, unknown=UNKNOWN)
    things = resources.referred(found, key, type_) or [
        # A secret, a repository or a topic may be named by its short name.
        thing for thing in resources.of(type_)
        if isinstance(named, str) and named in (short(thing), thing.outputs.get("email"))
    ]  # fmt: skip
    if len(things) == 1:
        return things[0].urn
    return ANYWHERE if named is UNKNOWN or len(things) > 1 else None


def home_of(providers: Resources) -> str:
    """The project of the one provider that makes everything; empty where there are several, or none says it."""
    named = {provider.inputs.get("project") for provider in providers.of(GCP_PROVIDER)}
    home = named.pop() if len(named) == 1 else None
    return home if isinstance(home, str) else ""


def _projects(resources: Resources) -> frozenset[str]:
    """Ids of the projects that recorded things are in: a key, a network and what uses them may each have another.

    A grant says nothing of it: its project may be a slip, which is what is looked for.
    """
    of_grants = {token(beginning, kind) for beginning in _ON for kind in _KINDS}
    found: set[str] = set()
    for thing in resources.all:
        if thing.type in of_grants or not thing.type.startswith("gcp:"):
            continue
        named = value_at(thing.inputs, "project", default="", unknown="")
        in_id = _IN_ID.match(thing.id) if isinstance(thing.id, str) else None
        found |= {str(named).removeprefix("projects/"), in_id[1] if in_id is not None else ""}
    return frozenset(found - {""})


def _is_elsewhere(found: RecordedResource, own: frozenset[str]) -> bool:
    """Whether a grant is for sure on another project than where things are: named by its id, not its number."""
    named = value_at(found.inputs, "project", unknown=UNKNOWN)
    if not own or not isinstance(named, str) or named.removeprefix("projects/").isdigit():
        return False
    return named.removeprefix("projects/") not in own


def short(thing: RecordedResource) -> str:
    """The name of a secret, a repository or a topic within its project."""
    return str(
        next(
            (thing.inputs[key] for key in ("secretId", "repositoryId", "datasetId", "name") if key in thing.inputs),
            thing.name,
        )
    )


def _read(found: RecordedResource, kind: Kind, on: str) -> Iterator[Grant]:
    folder = value_at(found.inputs, "managedFolder", default="", unknown=UNKNOWN)
    if folder is UNKNOWN:
        on, folder = ANYWHERE, ""
    if kind == "Policy":
        yield from _of_policy(found, on, str(folder))
        return
    key = "member" if kind == "Member" else "members"
    yield _grant(found, kind, on, str(folder), found.inputs.get(key), found.inputs, key)


def _of_policy(found: RecordedResource, on: str, folder: str) -> Iterator[Grant]:
    text = value_at(found.inputs, "policyData", unknown=UNKNOWN)
    try:
        document = json.loads(text) if isinstance(text, str) else None
    except ValueError:
        document = None
    if not isinstance(document, Mapping):  # it may say anything
        yield Grant(found, "Policy", (), True, "", on, folder, None, "policyData")
        return
    for binding in document.get("bindings") or ():
        if isinstance(binding, Mapping):
            yield _grant(found, "Policy", on, folder, binding.get("members"), binding, "policyData")


def _grant(
    found: RecordedResource, kind: Kind, on: str, folder: str, members: Any, inputs: Mapping[str, Any], path: str
) -> Grant:
    known = tuple(text for _, text in known_texts(members))
    listed = members if isinstance(members, (list, tuple)) else [members]
    role = value_at(inputs, "role", default="", unknown="")
    condition = value_at(inputs, "condition", "expression", default="", unknown=None)
    if follow(inputs, "condition") is UNKNOWN:
        condition = None
    return Grant(found, kind, known, len(known) < len(listed), str(role), on, folder, condition, path)
