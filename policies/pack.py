"""The list of policies. Order is that of the report's areas; ids are unique."""

from __future__ import annotations

from typing import Final

from pulumi_policy import EnforcementLevel

from trainyard.policies import (
    checkpoints,
    data,
    exception_policy,
    money,
    money_gpus,
    money_idle,
    money_tags,
    reliability,
    residency,
    scheduling,
    scheduling_queues,
    scheduling_sharing,
    security_audit,
    security_encryption,
    security_exposure,
    security_identity,
    security_network,
    security_transport,
    security_workloads,
)
from trainyard.policies.rules import Rule

NAME: Final = "trainyard"
VERSION: Final = "0.1.0"
"""Version of the pack, as in PulumiPolicy.yaml, which is where the engine takes it from."""
DESCRIPTION: Final = "Money, checkpoints, security, residency, scheduling and reliability of training stacks."
LEVEL: Final = EnforcementLevel.MANDATORY

POLICIES: Final[tuple[Rule, ...]] = (
    money.budget_without_alerts,
    money.ceiling_spend_over_budget,
    money_tags.costed_resource_without_cost_tags,
    money_gpus.gpu_model_outside_profile,
    money_gpus.gpu_count_over_profile,
    money_gpus.spot_share_below_target,
    money_idle.gpu_pool_never_scales_down,
    money_idle.idle_gpus_keep_running,
    checkpoints.spot_pool_without_checkpoint_tier,
    checkpoints.lifecycle_deletes_newest_version,
    data.bucket_without_versioning,
    data.artifact_versions_kept_too_short,
    data.stateful_resource_unprotected,
    data.database_without_backups,
    data.lustre_without_durable_bucket,
    security_encryption.storage_without_environment_key,
    security_encryption.key_without_rotation,
    security_transport.bucket_accepts_plain_http,
    security_transport.database_accepts_plain_connections,
    security_exposure.public_bucket,
    security_exposure.public_database,
    security_exposure.public_cluster_endpoint,
    security_exposure.public_load_balancer,
    security_network.security_group_open_to_internet,
    security_network.node_with_public_address,
    security_identity.wildcard_admin,
    security_identity.long_lived_credentials,
    security_network.instance_metadata_v1,
    security_identity.node_role_with_workload_rights,
    security_workloads.privileged_pod,
    security_workloads.namespace_without_pod_security,
    security_workloads.team_namespace_without_default_deny,
    security_workloads.image_without_digest,
    security_audit.control_plane_logs_off,
    security_audit.logs_kept_too_short,
    residency.region_outside_residency,
    residency.silently_global_resource,
    scheduling.quota_exceeds_pool,
    scheduling_queues.team_without_queue,
    scheduling.production_does_not_outrank_development,
    scheduling_queues.queue_admits_everything,
    scheduling_sharing.owner_cannot_reclaim,
    scheduling_sharing.namespace_quota_counts_gpu_pods,
    scheduling.placement_group_with_reservation,
    reliability.pool_without_smoke_job,
    reliability.unsupported_kubernetes_version,
    reliability.unpinned_version,
    reliability.outdated_add_on,
    reliability.missing_disruption_budget,
    exception_policy.exception_expired,
)
