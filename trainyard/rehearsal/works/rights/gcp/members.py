"""Whom a member of IAM names: the pods of a service account of Kubernetes, accounts of Google Cloud, everybody.

Source: GKE, "Authenticate to Google Cloud APIs from GKE workloads", and IAM, "Principal identifiers", as generally
known in 2026-11.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from trainyard.conventions.gcp import LOG_DELIVERY
from trainyard.rehearsal.works.rights.principals import Pod

Answer = Literal["yes", "no", "maybe"]

ACCOUNT_ANNOTATION: Final = "iam.gke.io/gcp-service-account"
"""Annotation of a service account of Kubernetes whose pods take an account of Google Cloud."""

_POOL: Final = r"//iam\.googleapis\.com/projects/[^/]+/locations/global/workloadIdentityPools/(?P<pool>[^/]+)/"
_POD: Final = re.compile(rf"principal:{_POOL}subject/ns/(?P<namespace>[^/]+)/sa/(?P<account>[^/]+)")
_OLD: Final = re.compile(r"serviceAccount:(?P<pool>[^\[/]+)\[(?P<namespace>[^/\]]+)/(?P<account>[^\]]+)\]")
_SET: Final = re.compile(rf"principalSet:{_POOL}(?P<which>.+)")
_OF_MANY: Final = ("group:", "domain:", "allAuthenticatedUsers", "projectEditor:", "projectOwner:", "projectViewer:")
"""Members that stand for whoever is in them, which nobody has recorded."""


_CALLED: Final = {"gcp-sa-logging": "cmek-p", "bigquery-encryption": "bq-", "storage-transfer-service": "project-"}
"""How the names of services' own accounts begin where they are not as the others', by their domain."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks Google Cloud for something."""

    words: str
    pod: Pod | None = None  # pods that ask as themselves
    pool: str = ""  # of the cluster's identities; empty where it is not known
    account: str = ""  # the e-mail address of an account
    agent: str = ""  # the domain of a service's own account: its project's number is in no recording
    group: str = ""  # the address of a group of Google's own
    member: str = ""  # people, as grants name them: user:ann@acme.example

    def __str__(self) -> str:
        """The caller in words."""
        return self.words


def pod_of(member: str) -> tuple[str, Pod] | None:
    """The pool and the pods that a member names; None for another."""
    found = _POD.fullmatch(member) or _OLD.fullmatch(member)
    return (found["pool"], Pod(found["namespace"], found["account"])) if found else None


def names(member: str, caller: Caller) -> Answer:
    """Whether a member names a caller."""
    if member == "allUsers":
        return "yes"
    if member == f"group:{LOG_DELIVERY}":
        return "yes" if caller.group == LOG_DELIVERY else "no"  # nobody of this project is in it
    if caller.member and member == caller.member:
        return "yes"
    if member.startswith(_OF_MANY):
        return "maybe"
    if caller.pod is not None:
        return _names_pod(member, caller.pod, caller.pool)
    if caller.agent and re.fullmatch(rf"serviceAccount:{_called(caller.agent)}[^@]+@{re.escape(caller.agent)}", member):
        return "yes"
    return "yes" if caller.account and member == f"serviceAccount:{caller.account}" else "no"


def _called(domain: str) -> str:
    """How the name of a service's own account begins. Cloud Logging has one for keys alone, cmek-p and the number; its
    other one, which writes to buckets, uses none (Cloud Logging, "Configure CMEK", as generally known in 2026-11)."""
    return _CALLED.get(domain.partition(".")[0], "service-")


def _names_pod(member: str, pod: Pod, pool: str) -> Answer:
    one = pod_of(member)
    if one is not None:
        same = (one[1].namespace, one[1].service_account) == (pod.namespace, pod.service_account)
        return "yes" if same and pool in ("", one[0]) else "no"
    several = _SET.fullmatch(member)
    if several is None:
        return "maybe" if member.startswith("principal") and "kubernetes.serviceaccount.uid" in member else "no"
    if pool not in ("", several["pool"]):
        return "no"
    which = several["which"]
    if which == "*":
        return "yes"
    if which.startswith("namespace/"):
        return "yes" if which == f"namespace/{pod.namespace}" else "no"
    return "maybe"  # of one cluster of those that share the pool, or of a kind that is not known here
