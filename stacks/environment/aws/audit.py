"""The record of what happens in an environment, and who is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pulumi

from trainyard.components.aws.break_glass import BreakGlass
from trainyard.components.aws.existing_network import AnyNetwork
from trainyard.components.aws.security_alerts import SecurityAlerts
from trainyard.components.aws.storage import StorageTiers
from trainyard.components.aws.threat_detection import ThreatDetection
from trainyard.components.aws.trail import AuditTrail
from trainyard.plan.aws.parts import AwsPlan
from trainyard.plan.parts import Plan
from trainyard.stacks.environment.aws.keys import Keys
from trainyard.stacks.environment.aws.storage import bound_to

if TYPE_CHECKING:
    from trainyard.stacks.environment.aws.cluster import MadeCluster


def make_audit(
    plan: Plan[AwsPlan],
    account: pulumi.Input[str],
    network: AnyNetwork,
    storage: StorageTiers,
    clusters: Sequence[MadeCluster],
    keys: Keys,
    administrators: Sequence[pulumi.Input[str]],
    opts: pulumi.ResourceOptions,
) -> dict[str, pulumi.Input[str]]:
    """Makes trail, detector, alerts and break-glass role, as far as they are the stack's; what it reports of them."""
    audit, region = plan.ground.audit, plan.ground.region
    outputs: dict[str, pulumi.Input[str]] = {}
    if audit.trail is not None:
        tiers = (storage.data_bucket, storage.checkpoints_bucket, storage.artifacts_bucket)
        trail = AuditTrail(
            f"{plan.core.name}-trail",
            {
                "trail_name": plan.core.name,
                "account_id": account,
                "region": region,
                "administrator_arns": administrators,
                "bucket_arns": [tier["arn"] for tier in tiers],
                "access_log_bucket": storage.log_target,
                "bound_to": bound_to(plan, account, network, administrators),
                "retention_days": audit.trail.retention_days,
                "lock": audit.trail.lock,
                "lock_days": audit.trail.lock_days,
                "protect": plan.core.protect,
            },
            opts,
        )
        outputs["trailBucket"] = trail.bucket_name
    if audit.threat_detection is not None:
        ThreatDetection("threat-detection", {"runtime": audit.threat_detection.runtime}, opts)
    roles: dict[str, pulumi.Input[str]] = {}
    if audit.break_glass_user_arns and clusters:  # it is a way into these
        role = BreakGlass(
            "break-glass",
            {
                "account_id": account,
                "region": region,
                "user_arns": audit.break_glass_user_arns,
                "cluster_names": [made.cluster.cluster_name for made in clusters],
            },
            opts,
        )
        roles["break-glass"] = outputs["breakGlassRole"] = role.role_arn
    if audit.records or audit.watched:
        alerts = SecurityAlerts(
            "security",
            {
                "key_arn": keys.platform.key_arn,
                "emails": plan.core.budget.alert_emails,
                "role_arns": roles,
                "findings": audit.watched,
            },
            opts,
        )
        outputs["securityTopic"] = alerts.topic_arn
    return outputs
