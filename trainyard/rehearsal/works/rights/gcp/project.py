"""The recorded project: may pods, an account or a service of Google Cloud do something there?

A role that is granted on a thing, on the folder, bucket or ring that it is in, or on the project, is enough; nothing
takes away but deny policies, and what those say is not played: beside one a yes is not known. Nor is a no about
objects of a bucket that has access lists besides (IAM, "Policy inheritance" and "Deny policies"; Cloud Storage,
"Managed folders" and "Uniform bucket-level access", as generally known in 2026-11).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    GCP_ACCOUNT,
    GCP_BUCKET,
    GCP_CRYPTO_KEY,
    GCP_DATASET,
    GCP_IMAGE_REPOSITORY,
    GCP_KEY_RING,
    GCP_RUN_JOB,
    GCP_RUN_SERVICE,
    GCP_SECRET,
    GCP_SUBSCRIPTION,
    GCP_TOPIC,
    GKE_CLUSTER,
    SERVICE_ACCOUNT,
)
from trainyard.rehearsal.works.rights.gcp.conditions import holds
from trainyard.rehearsal.works.rights.gcp.grants import (
    ANYWHERE,
    EDITOR_TEMPLATE,
    EVERYWHERE,
    REGIONAL_SECRET,
    Grant,
    grants,
    short,
)
from trainyard.rehearsal.works.rights.gcp.members import ACCOUNT_ANNOTATION, Answer, Caller, names
from trainyard.rehearsal.works.rights.gcp.roles import Roles
from trainyard.rehearsal.works.rights.principals import Pod
from trainyard.rehearsal.works.rights.verdict import Verdict

DENY_POLICY: Final = "gcp:iam/denyPolicy:DenyPolicy"
LIST_PREFIX: Final = "storage.googleapis.com/objectListPrefix"
"""What a request for a list of objects says that their names begin with."""
_BUCKETS: Final = "projects/_/buckets/"

_TYPES: Final[Mapping[str, str]] = {
    GCP_BUCKET: "storage.googleapis.com/Bucket",
    GCP_CRYPTO_KEY: "cloudkms.googleapis.com/CryptoKey",
    GCP_KEY_RING: "cloudkms.googleapis.com/KeyRing",
    GCP_SECRET: "secretmanager.googleapis.com/Secret",
    REGIONAL_SECRET: "secretmanager.googleapis.com/Secret",
    GCP_IMAGE_REPOSITORY: "artifactregistry.googleapis.com/Repository",
    GCP_ACCOUNT: "iam.googleapis.com/ServiceAccount",
    EDITOR_TEMPLATE: "aiplatform.googleapis.com/NotebookRuntimeTemplate",
    GCP_RUN_SERVICE: "run.googleapis.com/Service",
    GCP_RUN_JOB: "run.googleapis.com/Job",
    GCP_TOPIC: "pubsub.googleapis.com/Topic",
    GCP_SUBSCRIPTION: "pubsub.googleapis.com/Subscription",
    GCP_DATASET: "bigquery.googleapis.com/Dataset",
}
"""Types of IAM by those of Pulumi."""

_MEMBERSHIP: Final = "gcp:cloudidentity/groupMembership:GroupMembership"
_ACTS_AS: Final = "roles/iam.serviceAccountUser"


@dataclass(frozen=True, slots=True)
class Target:
    """What a request is about."""

    name: str  # in full
    resource: RecordedResource | None  # None for the project, or something of somebody else's
    folders: tuple[str, ...] = ()  # of a bucket: beginnings of the names of objects that it is about
    is_object: bool = False

    @property
    def type(self) -> str:
        """Its type in IAM."""
        if self.is_object:
            return "storage.googleapis.com/Object"
        if self.resource is None:
            return "cloudresourcemanager.googleapis.com/Project"
        return _TYPES.get(self.resource.type, "")


class Project:
    """What is recorded of the grants in one project."""

    def __init__(self, resources: Resources, home: str = "") -> None:
        """`home`: the project that everything is in, where that is known."""
        self.resources = resources
        self._home = home
        self.roles = Roles(resources)

    @cached_property
    def grants(self) -> tuple[Grant, ...]:
        """Every recorded grant."""
        return tuple(grants(self.resources, self._home))

    @cached_property
    def pool(self) -> str:
        """The pool of the identities of pods; empty where there is none, or it is not known."""
        pools = {
            str(value_at(cluster.inputs, "workloadIdentityConfig", "workloadPool", default="", unknown=""))
            for cluster in self.resources.of(GKE_CLUSTER)
        }
        return pools.pop() if len(pools) == 1 else ""

    def pod(self, pod: Pod) -> tuple[Caller | None, str]:
        """Whom pods are on Google Cloud; None where they get no identity, with the reason in words."""
        email = self.account_of(pod)
        if not email:
            return Caller(f"pods of {pod.namespace}/{pod.service_account}", pod=pod, pool=self.pool), ""
        account = self.account(email)
        if account is not None:
            themselves = Caller(str(pod), pod=pod, pool=self.pool)
            verdict = self.may(themselves, "iam.serviceAccounts.getAccessToken", str(account.id))
            if verdict.refused:
                return None, f"{pod} may not take the account {email}: {verdict.words}"
        return Caller(f"account {email}", account=email), ""

    def account_of(self, pod: Pod) -> str:
        """The address of the account that a service account of Kubernetes is annotated with; else empty."""
        for found in self.resources.of(SERVICE_ACCOUNT):
            metadata = value_at(found.inputs, "metadata", default={}, unknown={})
            place = (
                value_at(metadata, "namespace", default="default", unknown=""),
                value_at(metadata, "name", unknown=""),
            )
            if place == (pod.namespace, pod.service_account):
                return str(value_at(metadata, "annotations", ACCOUNT_ANNOTATION, default="", unknown=""))
        return ""

    def account(self, email: str) -> RecordedResource | None:
        """The recorded account of that address."""
        return next((found for found in self.resources.of(GCP_ACCOUNT) if found.outputs.get("email") == email), None)

    def may(
        self, who: Caller | Pod, permission: str, resource: str, said: Mapping[str, object] | None = None
    ) -> Verdict:
        """Whether somebody may do something.

        Args:
            who: asks.
            permission: `storage.objects.get`.
            resource: the full name that IAM knows it by: `projects/_/buckets/data/objects/a`, a key's id, `projects/p`.
            said: attributes of the request, such as `LIST_PREFIX`.
        """
        if isinstance(who, Pod):
            caller, reason = self.pod(who)
            if caller is None:
                return Verdict("no", reason)
            who = caller
        said = said or {}
        target = self._target(resource, said)
        if target is None:
            return Verdict("unknown", f"{resource} is not of this environment")
        maybe: list[str] = []
        for grant in self._reaching(target):
            found = self._gives(grant, who, permission, target, said)
            if found == "yes" and self.resources.of(DENY_POLICY):
                return Verdict("unknown", f"{grant} gives it, and a deny policy may take it", grant.by.urn)
            if found == "yes":
                return Verdict("yes", f"{grant} allows {permission} on {resource}", grant.by.urn)
            if found == "maybe":
                maybe.append(str(grant))
        if maybe:
            return Verdict("unknown", f"{', '.join(maybe[:2])} may give {who} {permission}")
        if self._has_access_lists(target):
            return Verdict("unknown", f"access lists of {resource} decide beside IAM")
        return Verdict("no", f"no role that {who} has there holds {permission}")

    def _gives(self, grant: Grant, who: Caller, permission: str, target: Target, said: Mapping[str, object]) -> str:
        named = {self._names(member, who) for member in grant.members}
        answer = "yes" if "yes" in named else "maybe" if "maybe" in named or grant.some_unknown else "no"
        if answer == "no":
            return "no"
        held = self.roles.holds(grant.role, permission)
        if held is None:
            answer = "maybe"
        elif not held:
            return "no"
        if grant.condition is None:
            return "maybe"
        held = holds(grant.condition, target.name, target.type, said) if grant.condition else True
        if held is False and target.resource is None:
            return "maybe"  # the condition is of a thing in the project, and which of them is meant is not said
        if held is False:
            return "no"
        return "maybe" if held is None or grant.on == ANYWHERE else answer

    def _names(self, member: str, who: Caller) -> Answer:
        """Whether a member names somebody. A group that may act as an account is of people: that account itself is not
        among them, be the others in it who they may."""
        account = self.account(who.account) if who.account and member in self._people else None
        if account is not None and account.urn in self._people[member]:
            return "no"
        return names(member, who)

    @cached_property
    def _people(self) -> Mapping[str, frozenset[str]]:
        """Groups by the accounts that they may act as."""
        if self.resources.of(_MEMBERSHIP):
            return {}
        found: dict[str, set[str]] = {}
        for grant in self.grants:
            if grant.role == _ACTS_AS and grant.by.type.startswith("gcp:serviceaccount/"):
                for member in grant.members:
                    if member.startswith("group:"):
                        found.setdefault(member, set()).add(grant.on)
        return {member: frozenset(accounts) for member, accounts in found.items()}

    def _reaching(self, target: Target) -> Iterator[Grant]:
        """Grants on a target and on what it is in."""
        things = {EVERYWHERE, ANYWHERE}
        if target.resource is not None:
            things.add(target.resource.urn)
            things.update(ring.urn for ring in self.resources.referred(target.resource, "keyRing", GCP_KEY_RING))
        for grant in self.grants:
            inside = not grant.folder or any(name.startswith(grant.folder) for name in target.folders)
            if grant.on in things and inside:
                yield grant

    def _target(self, name: str, said: Mapping[str, object]) -> Target | None:
        if name.startswith(_BUCKETS):
            bucket, _, of_object = name.removeprefix(_BUCKETS).partition("/objects/")
            found = self.bucket(bucket)
            asked = of_object or str(said.get(LIST_PREFIX, ""))
            return Target(name, found, (asked,), bool(of_object)) if found is not None else None
        if name.count("/") == 1 and name.startswith("projects/"):
            return Target(name, None)
        found = self._by_id.get(name.partition("/versions/")[0])
        return Target(name, found) if found is not None else None

    def bucket(self, name: str) -> RecordedResource | None:
        """The recorded bucket of that name."""
        return self._buckets.get(name)

    @cached_property
    def _buckets(self) -> Mapping[str, RecordedResource]:
        return {
            name: bucket
            for bucket in self.resources.of(GCP_BUCKET)
            for name in (bucket.id, bucket.inputs.get("name"), bucket.outputs.get("name"))
            if isinstance(name, str)
        }

    @cached_property
    def _by_id(self) -> Mapping[str, RecordedResource]:
        return {str(found.id): found for found in self.resources.of(*_TYPES) if isinstance(found.id, str)}

    def _has_access_lists(self, target: Target) -> bool:
        """Whether objects may be let by besides: a bucket without uniform access has lists of its own."""
        found = target.resource
        if found is None or found.type != GCP_BUCKET:
            return False
        return value_at(found.inputs, "uniformBucketLevelAccess", unknown=None) is not True


def full_name(resource: RecordedResource) -> str:
    """The name that IAM knows a recorded thing by."""
    if resource.type == GCP_BUCKET:
        return f"{_BUCKETS}{bucket_name(resource)}"
    return str(resource.id)


def bucket_name(bucket: RecordedResource) -> str:
    """The name of a bucket in the cloud."""
    name = bucket.outputs.get("name") or bucket.inputs.get("name")
    return name if isinstance(name, str) else short(bucket)


def object_name(bucket: RecordedResource, name: str) -> str:
    """The name that IAM knows an object by."""
    return f"{full_name(bucket)}/objects/{name}"
