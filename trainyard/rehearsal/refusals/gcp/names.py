"""Names: what each service takes, with the eight characters that Pulumi appends where a program names nothing.

Source: descriptions of the discovery documents (google-api-python-client 2.202.0, autumn 2026) and validators of the
provider (terraform-provider-google-beta, 2026-08-21).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from trainyard.recorded.types import (
    GCP_BACKUP_ASSOCIATION,
    GCP_BACKUP_PLAN,
    GCP_BACKUP_VAULT,
    GCP_BUCKET,
    GCP_LOG_SINKS,
)
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.rules import Rules

SUFFIX: Final = "-0123456"
"""What Pulumi appends to a logical name: a hyphen and seven hex digits."""


@dataclass(frozen=True, slots=True)
class _Name:
    """What a service takes as a name."""

    input: str
    pattern: str
    words: str
    automatic: bool = True  # whether Pulumi makes one where none is given


_PLAIN: Final = r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?"
_COMPUTE = _Name("name", _PLAIN, "1 to 63 of a-z, 0-9 and '-', a letter first, no '-' last")
_GKE = _Name("name", r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?", "at most 40 of a-z, 0-9 and '-', a letter first, no '-' last")
_KEY = "1 to 63 letters, digits, '_' and '-'"
_OF_LOGS = _Name(
    "name", r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}", "1 to 100 letters, digits, '_', '-' and '.'", automatic=False
)


def _of_pools(path: str) -> _Name:
    return _Name(path, r"(?!gcp-)[a-z0-9-]{4,32}", "4 to 32 of a-z, 0-9 and '-', not 'gcp-' first", automatic=False)


def _of_backups(path: str) -> _Name:
    return _Name(path, _PLAIN, "1 to 63 of a-z, 0-9 and '-', a letter first, no '-' last", automatic=False)


_NAMES: Final = {
    "gcp:compute/network:Network": _COMPUTE,
    "gcp:compute/subnetwork:Subnetwork": _COMPUTE,
    "gcp:compute/router:Router": _COMPUTE,
    "gcp:compute/routerNat:RouterNat": _COMPUTE,
    "gcp:compute/firewall:Firewall": _COMPUTE,
    "gcp:compute/address:Address": _COMPUTE,
    "gcp:compute/globalAddress:GlobalAddress": _COMPUTE,
    "gcp:compute/reservation:Reservation": _COMPUTE,
    "gcp:compute/resourcePolicy:ResourcePolicy": _COMPUTE,
    "gcp:container/cluster:Cluster": _GKE,
    "gcp:container/nodePool:NodePool": _GKE,
    "gcp:serviceaccount/account:Account": _Name(
        "accountId",
        r"[a-z]([-a-z0-9]{4,28}[a-z0-9])",
        "6 to 30 of a-z, 0-9 and '-', a letter first, no '-' last",
        automatic=False,
    ),
    "gcp:projects/iAMCustomRole:IAMCustomRole": _Name(
        "roleId", r"[a-zA-Z0-9_.]{3,64}", "3 to 64 letters, digits, '_' and '.', no '-'"
    ),
    "gcp:kms/keyRing:KeyRing": _Name("name", r"[a-zA-Z0-9_-]{1,63}", _KEY),
    "gcp:kms/cryptoKey:CryptoKey": _Name("name", r"[a-zA-Z0-9_-]{1,63}", _KEY),
    "gcp:secretmanager/secret:Secret": _Name(
        "secretId", r"[A-Za-z0-9_-]{1,255}", "1 to 255 letters, digits, '_' and '-'", automatic=False
    ),
    "gcp:secretmanager/regionalSecret:RegionalSecret": _Name(
        "secretId", r"[A-Za-z0-9_-]{1,255}", "1 to 255 letters, digits, '_' and '-'", automatic=False
    ),
    "gcp:cloudrunv2/service:Service": _Name(
        "name", r"[a-z]([-a-z0-9]{0,47}[a-z0-9])?", "below 50 of a-z, 0-9 and '-', a letter first, no '-' last"
    ),
    "gcp:pubsub/topic:Topic": _Name(
        "name", r"(?!goog)[a-zA-Z][a-zA-Z0-9._~%+-]{2,254}", "3 to 255 characters, a letter first, not 'goog'"
    ),
    "gcp:lustre/instance:Instance": _Name(
        "instanceId", r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", "1 to 63 of a-z, 0-9 and '-'", automatic=False
    ),
    "gcp:artifactregistry/repository:Repository": _Name(
        "repositoryId", _PLAIN, "1 to 63 of a-z, 0-9 and '-', a letter first, no '-' last", automatic=False
    ),
    "gcp:vertex/aiMetadataStore:AiMetadataStore": _Name(
        "name", r"[a-z0-9][a-z0-9-]{0,127}", "1 to 128 of a-z, 0-9 and '-', no '-' first", automatic=False
    ),
    **dict.fromkeys(GCP_LOG_SINKS, _OF_LOGS),
    "gcp:logging/projectExclusion:ProjectExclusion": _OF_LOGS,
    "gcp:dns/managedZone:ManagedZone": _COMPUTE,
    "gcp:filestore/instance:Instance": _COMPUTE,
    "gcp:workbench/instance:Instance": _COMPUTE,
    "gcp:cloudrunv2/job:Job": _Name(
        "name", r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", "below 64 of a-z, 0-9 and '-', a letter first, no '-' last"
    ),
    "gcp:cloudscheduler/job:Job": _Name("name", r"[A-Za-z0-9_-]{1,500}", "1 to 500 letters, digits, '_' and '-'"),
    "gcp:sql/databaseInstance:DatabaseInstance": _Name(
        "name", r"[a-z]([-a-z0-9]{0,96}[a-z0-9])?", "at most 98 of a-z, 0-9 and '-', a letter first, no '-' last"
    ),
    "gcp:organizations/iAMCustomRole:IAMCustomRole": _Name(
        "roleId", r"[a-zA-Z0-9_.]{3,64}", "3 to 64 letters, digits, '_' and '.', no '-'", automatic=False
    ),
    "gcp:iam/workloadIdentityPool:WorkloadIdentityPool": _of_pools("workloadIdentityPoolId"),
    "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider": _of_pools("workloadIdentityPoolProviderId"),
    GCP_BACKUP_PLAN: _of_backups("backupPlanId"),
    GCP_BACKUP_ASSOCIATION: _of_backups("backupPlanAssociationId"),
    GCP_BACKUP_VAULT: _of_backups("backupVaultId"),
    "gcp:bigquery/dataset:Dataset": _Name(
        "datasetId", r"[A-Za-z0-9_]{1,1024}", "letters, digits and '_'", automatic=False
    ),
}


def name(view: View) -> None:
    """The name that is given, or the logical name with Pulumi's suffix."""
    rule = _NAMES[view.type]
    given = view.text(rule.input)
    if given is not None:
        if not re.fullmatch(rule.pattern, given):
            view.error("gcp-name", rule.input, f"{show(given)} has {len(given)} characters", allowed=rule.words)
    elif rule.automatic and view.lacks(rule.input) and not re.fullmatch(rule.pattern, view.name + SUFFIX):
        view.error(
            "gcp-name",
            rule.input,
            f"the logical name with Pulumi's 8 characters, {show(view.name + SUFFIX)}, is no name here",
            allowed=rule.words,
            hint="name it, or shorten the logical name",
        )


_TEXTS: Final = {
    "gcp:serviceaccount/account:Account": (("displayName", 100), ("description", 256)),
    "gcp:projects/iAMCustomRole:IAMCustomRole": (("title", 100), ("description", 300)),
    "gcp:organizations/iAMCustomRole:IAMCustomRole": (("title", 100), ("description", 300)),
    "gcp:monitoring/alertPolicy:AlertPolicy": (("displayName", 512), ("documentation.subject", 255)),
    "gcp:monitoring/notificationChannel:NotificationChannel": (("displayName", 512), ("description", 1024)),
    "gcp:logging/projectSink:ProjectSink": (("description", 8000), ("filter", 20_000)),
    "gcp:logging/projectExclusion:ProjectExclusion": (("description", 8000), ("filter", 20_000)),
    "gcp:logging/metric:Metric": (("description", 8000), ("filter", 20_000)),
    "gcp:dns/managedZone:ManagedZone": (("description", 1024),),
    "gcp:compute/network:Network": (("description", 2048),),
    "gcp:compute/firewall:Firewall": (("description", 2048),),
    "gcp:filestore/instance:Instance": (("description", 2048),),
    "gcp:lustre/instance:Instance": (("description", 2048),),
    "gcp:colab/runtimeTemplate:RuntimeTemplate": (("displayName", 128),),
    "gcp:vertex/aiTensorboard:AiTensorboard": (("displayName", 128),),
}
"""Texts for people, with the characters that each may have."""


def text(view: View) -> None:
    """Titles and descriptions of the length that the service takes."""
    for path, most in _TEXTS[view.type]:
        found = view.text(path)
        if found is not None and len(found) > most:
            view.error("gcp-length", path, f"{len(found)} characters", allowed=f"at most {most} characters")


def bucket_name(view: View) -> None:
    """Names of buckets are everybody's: no `goog` in front, no `google` in them."""
    given = view.text("name")
    text = given if given is not None else view.name.lower() + SUFFIX if view.lacks("name") else None
    if text is None:
        return
    longest = 222 if "." in text else 63
    good = re.fullmatch(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?", text) and 3 <= len(text) <= longest
    if not good or text.startswith("goog") or "google" in text:
        allowed = "3 to 63 of a-z, 0-9, '-', '_' and '.', a letter or digit at both ends, no 'goog' first, no 'google'"
        view.error("gcs-name", "name", f"{show(text)} is no name of a bucket", allowed=allowed)


RULES: Rules = {name: tuple(_NAMES), text: tuple(_TEXTS), bucket_name: (GCP_BUCKET,)}
