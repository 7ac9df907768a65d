"""Recorded resources of Google Cloud as Terraform's language has them, for a scanner that reads nothing else.

Checkov has no plug-in for Pulumi. What it judges is the configuration of the provider that Pulumi bridges: its inputs
are Terraform's arguments in another spelling. What refers to another resource's id is written as a reference, since
some checks follow those.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from trainyard.recorded.model import UNKNOWN, RecordedResource, bare

SINGULAR = {
    "allows": "allow",
    "denies": "deny",
    "guestAccelerators": "guest_accelerator",
    "lifecycleRules": "lifecycle_rule",
    "maintenanceExclusions": "maintenance_exclusion",
    "secondaryIpRanges": "secondary_ip_range",
    "subnetworks": "subnetwork",
    "taints": "taint",
}
"""Blocks that Pulumi calls by a plural, and Terraform, which repeats them, by a singular."""

MAPS = frozenset({"labels", "resourceLabels", "userLabels", "metadata", "defaultLabels"})
"""Arguments that are maps, whose keys stay as they are; other mappings are blocks."""

TYPES = {
    "gcp:container/cluster:Cluster": "google_container_cluster",
    "gcp:container/nodePool:NodePool": "google_container_node_pool",
    "gcp:sql/databaseInstance:DatabaseInstance": "google_sql_database_instance",
    "gcp:storage/bucket:Bucket": "google_storage_bucket",
    "gcp:storage/bucketIAMMember:BucketIAMMember": "google_storage_bucket_iam_member",
    "gcp:compute/network:Network": "google_compute_network",
    "gcp:compute/subnetwork:Subnetwork": "google_compute_subnetwork",
    "gcp:compute/firewall:Firewall": "google_compute_firewall",
    "gcp:compute/router:Router": "google_compute_router",
    "gcp:compute/routerNat:RouterNat": "google_compute_router_nat",
    "gcp:kms/keyRing:KeyRing": "google_kms_key_ring",
    "gcp:kms/cryptoKey:CryptoKey": "google_kms_crypto_key",
    "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember": "google_kms_crypto_key_iam_member",
    "gcp:projects/iAMMember:IAMMember": "google_project_iam_member",
    "gcp:serviceaccount/account:Account": "google_service_account",
    "gcp:artifactregistry/repository:Repository": "google_artifact_registry_repository",
    "gcp:pubsub/topic:Topic": "google_pubsub_topic",
    "gcp:cloudrunv2/service:Service": "google_cloud_run_v2_service",
    "gcp:cloudrunv2/job:Job": "google_cloud_run_v2_job",
    "gcp:cloudrunv2/serviceIamMember:ServiceIamMember": "google_cloud_run_v2_service_iam_member",
    "gcp:vertex/aiMetadataStore:AiMetadataStore": "google_vertex_ai_metadata_store",
    "gcp:vertex/aiTensorboard:AiTensorboard": "google_vertex_ai_tensorboard",
}
"""What Checkov has checks for, or what its checks follow."""


def terraform(resources: Iterable[RecordedResource]) -> str:
    """A configuration of the resources that Checkov knows."""
    known = [resource for resource in resources if resource.type in TYPES and resource.is_made]
    references = {
        resource.id: f"{TYPES[resource.type]}.{_label(resource.name)}.id" for resource in known if resource.id
    }
    return "\n".join(_resource(resource, references) for resource in known)


def _resource(resource: RecordedResource, references: Mapping[str, str]) -> str:
    lines = [f'resource "{TYPES[resource.type]}" "{_label(resource.name)}" {{']
    lines += _body(bare(resource.inputs), references, "  ")
    if resource.protect:
        lines += ["  lifecycle {", "    prevent_destroy = true", "  }"]
    return "\n".join([*lines, "}"])


def _body(values: Mapping[str, Any], references: Mapping[str, str], indent: str) -> list[str]:
    lines: list[str] = []
    for key, value in values.items():
        if value is None or value is UNKNOWN:
            continue
        name = SINGULAR.get(key) or snake(key)
        if isinstance(value, Mapping) and key not in MAPS:
            lines += [f"{indent}{name} {{", *_body(value, references, indent + "  "), f"{indent}}}"]
        elif isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
            for item in value:
                lines += [f"{indent}{name} {{", *_body(item, references, indent + "  "), f"{indent}}}"]
        elif isinstance(value, list):
            lines.append(f"{indent}{name} = [{', '.join(_scalar(item, references) for item in value)}]")
        else:
            lines.append(f"{indent}{name} = {_scalar(value, references)}")
    return lines


def _scalar(value: Any, references: Mapping[str, str]) -> str:
    if isinstance(value, str) and value in references:
        return references[value]
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key)} = {_scalar(item, references)}" for key, item in value.items()) + "}"
    return json.dumps(value if not isinstance(value, str) else value.replace("${", "$${"))


def snake(name: str) -> str:
    """`enablePrivateNodes` as Terraform spells it."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _label(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "-", name)
