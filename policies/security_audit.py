"""Security: what happened is on record, and stays there for a year."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from trainyard.policies.rules import Config, resource_rule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import list_at, value_at
from trainyard.recorded.types import EKS_CLUSTER, LOG_GROUP

CONTROL_PLANE = ("api", "audit", "authenticator", "controllerManager", "scheduler")


@resource_rule(
    "control-plane-logs-off",
    "The cluster's control plane writes all of its logs.",
    types=(EKS_CLUSTER,),
    severity=Severity.HIGH,
    controls=("CIS EKS 1.5.0 2.1.1", "NIST 800-53r5 AU-12", "ISO 27001:2022 A.8.15"),
    fix="Use the cluster as it is; the profile lists the log types.",
    config={"logTypes": {"type": "array", "items": {"enum": list(CONTROL_PLANE)}, "default": list(CONTROL_PLANE)}},
)
def control_plane_logs_off(resource: RecordedResource, config: Config) -> Iterator[str]:
    """Checks EKS only: GKE always writes its audit log."""
    written = [str(type_) for type_ in list_at(resource.inputs, "enabledClusterLogTypes")]
    missing = [type_ for type_ in config["logTypes"] if type_ not in written]
    if missing:
        yield f"enabledClusterLogTypes lacks {', '.join(missing)}"


@resource_rule(
    "logs-kept-too-short",
    "Logs are kept for a year.",
    types=(LOG_GROUP,),
    severity=Severity.MEDIUM,
    controls=("NIST 800-53r5 AU-11", "ISO 27001:2022 A.8.15"),
    fix="Raise logRetentionDays or aws.flowLogRetentionDays.",
    config={"minDays": {"type": "number", "minimum": 1, "default": 365}},
)
def logs_kept_too_short(resource: RecordedResource, config: Config) -> Iterator[str]:
    """Passes a log group without a retention, or with 0: it is kept for ever."""
    days = value_at(resource.inputs, "retentionInDays", default=0)
    if 0 < days < config["minDays"]:
        yield f"kept {days:.0f} days; at least {config['minDays']:.0f} are required"
