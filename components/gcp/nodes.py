"""What every node of GKE has, whatever runs on it."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_gcp.container as container
import pulumi_gcp.projects as projects
import pulumi_gcp.serviceaccount as serviceaccount

from trainyard.conventions.gcp import HYPERDISK_FAMILIES

CLOUD_PLATFORM = "https://www.googleapis.com/auth/cloud-platform"
"""The one scope of nodes: what they may do is for the roles of their account to say."""

NODE_ROLES = ("roles/container.defaultNodeServiceAccount", "roles/artifactregistry.reader")
"""Roles of the nodes' own account: to join a cluster, write logs and metrics; to pull images."""

SHIELDED: container.NodePoolNodeConfigShieldedInstanceConfigArgsDict = {
    "enable_secure_boot": True,
    "enable_integrity_monitoring": True,
}
"""Secure boot takes the drivers that Google signs, which are the ones that GKE installs."""

MANAGEMENT: container.NodePoolManagementArgsDict = {"auto_repair": True, "auto_upgrade": True}

KUBELET: container.NodePoolNodeConfigKubeletConfigArgsDict = {"insecure_kubelet_readonly_port_enabled": "FALSE"}


def node_account(
    name: str, account_id: str, project: pulumi.Input[str], child: pulumi.ResourceOptions
) -> tuple[serviceaccount.Account, list[pulumi.Resource]]:
    """The account of all nodes, and its roles, which nodes wait for. Pods have identities of their own.

    Raises:
        ValueError: the id is none that Google takes.
    """
    account = serviceaccount.Account(
        f"{name}-nodes", account_id=check_account_id(account_id), display_name="Nodes of the GKE cluster", opts=child
    )
    member = account.email.apply(lambda email: f"serviceAccount:{email}")
    roles: list[pulumi.Resource] = [
        projects.IAMMember(
            f"{name}-nodes-{role.rpartition('.')[2]}", project=project, role=role, member=member, opts=child
        )
        for role in NODE_ROLES
    ]
    return account, roles


def check_account_id(account_id: str) -> str:
    """The id of a service account as it is. Raises ValueError for one that Google refuses."""
    good = 6 <= len(account_id) <= 30 and account_id[0].isalpha() and account_id[-1] != "-"
    if not good or not set(account_id) <= set("abcdefghijklmnopqrstuvwxyz0123456789-"):
        raise ValueError(f"account_id: got {account_id!r}; 6 to 30 of a-z, 0-9 and '-', a letter first, no '-' last")
    return account_id


def plain_config(
    machine_type: str,
    disk_gib: int,
    account_email: pulumi.Input[str],
    labels: Mapping[str, str],
    resource_labels: Mapping[str, pulumi.Input[str]],
    key_id: pulumi.Input[str] | None,
) -> container.NodePoolNodeConfigArgsDict:
    """`node_config` of any pool; `resource_labels` are the labels on the bill, which a provider's defaults reach not.

    Container-Optimized OS with containerd; pods reach the metadata server through GKE's own, so that none of them is
    the node; no legacy endpoints.
    """
    config: container.NodePoolNodeConfigArgsDict = {
        "machine_type": machine_type,
        "image_type": "COS_CONTAINERD",
        "disk_size_gb": disk_gib,
        "service_account": account_email,
        "oauth_scopes": [CLOUD_PLATFORM],
        "labels": dict(labels),
        "resource_labels": dict(resource_labels),
        "workload_metadata_config": {"mode": "GKE_METADATA"},
        "shielded_instance_config": SHIELDED,
        "metadata": {"disable-legacy-endpoints": "true"},
        "kubelet_config": KUBELET,
        "gcfs_config": {"enabled": True},  # images stream: a training image of 20 GiB starts in seconds
    }
    if machine_type.startswith(HYPERDISK_FAMILIES):
        config["disk_type"] = "hyperdisk-balanced"
    if key_id is not None:
        config["boot_disk_kms_key"] = key_id
    return config
