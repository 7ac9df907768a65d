"""Security: what happened is on record, and stays there for a year."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from trainyard.conventions.gcp import ROCE_NETWORK
from trainyard.policies.rules import Config, StackViolation, resource_rule, stack_rule
from trainyard.problems import count
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_on, is_set, list_at, number_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    EKS_CLUSTER,
    FLOW_LOG,
    GCP_LOG_BUCKET,
    GCP_NETWORK,
    GCP_SUBNETWORK,
    GKE_CLUSTER,
    LOG_GROUP,
    VPC,
)

_GKE_DEFAULT = ("SYSTEM_COMPONENTS", "WORKLOADS")
"""What a cluster logs that is told nothing, and one of Autopilot always (GKE, "View GKE logs", read 2026-11)."""
GKE_CONTROL_PLANE = ("SYSTEM_COMPONENTS", "WORKLOADS", "APISERVER", "SCHEDULER", "CONTROLLER_MANAGER")
CONTROL_PLANE = ("api", "audit", "authenticator", "controllerManager", "scheduler")


@resource_rule(
    "control-plane-logs-off",
    "The cluster's control plane writes all of its logs.",
    types=(EKS_CLUSTER, GKE_CLUSTER),
    severity=Severity.HIGH,
    controls=("CIS EKS 1.5.0 2.1.1", "NIST 800-53r5 AU-12", "ISO 27001:2022 A.8.15"),
    fix="Use the cluster as it is; the profile lists the log types.",
    config={"logTypes": {"type": "array", "items": {"enum": list(CONTROL_PLANE)}, "default": list(CONTROL_PLANE)}},
)
def control_plane_logs_off(resource: RecordedResource, config: Config) -> Iterator[str]:
    """GKE writes its audit log whatever it is told; the others are asked for by components."""
    if resource.type == GKE_CLUSTER:
        written = [str(each) for each in list_at(resource.inputs, "loggingConfig", "enableComponents")]
        if not is_set(resource.inputs, "loggingConfig") or is_on(resource.inputs, "enableAutopilot"):
            written += _GKE_DEFAULT
        missing = [each for each in GKE_CONTROL_PLANE if each not in written]
        if missing:
            yield f"loggingConfig.enableComponents lacks {', '.join(missing)}"
        return
    written = [str(type_) for type_ in list_at(resource.inputs, "enabledClusterLogTypes")]
    missing = [type_ for type_ in config["logTypes"] if type_ not in written]
    if missing:
        yield f"enabledClusterLogTypes lacks {', '.join(missing)}"


_WHO_TO_WHOM = ("srcaddr", "dstaddr", "dstport", "action")
"""Fields of a flow log without which it says nothing; AWS's default format has them."""


@stack_rule(
    "flow-logs-incomplete",
    "Every network logs all of its traffic, what was let through and what was refused.",
    types=(VPC, FLOW_LOG, GCP_SUBNETWORK, GCP_NETWORK),
    severity=Severity.MEDIUM,
    controls=("CIS AWS 3.0.0 3.7", "NIST 800-53r5 AU-12", "ISO 27001:2022 A.8.16"),
    fix="Use the network as it is; its flow log has trafficType ALL.",
)
def flow_logs_incomplete(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """What was stolen went out through what was let through: a log of refusals does not show it.

    RDMA passes no place where Google logs flows, and no way leads out of its network.
    """
    for subnetwork in resources.of(GCP_SUBNETWORK):
        private = value_at(subnetwork.inputs, "purpose", default="PRIVATE", unknown="PRIVATE") == "PRIVATE"
        if private and not _is_of_rdma(subnetwork, resources):
            if not is_set(subnetwork.inputs, "logConfig"):
                yield subnetwork, "has no logConfig: no flow is logged"
            elif not number_at(subnetwork.inputs, "logConfig", "flowSampling", default=0.5):
                yield subnetwork, "logConfig.flowSampling is 0: no flow is logged"
    for vpc in resources.of(VPC):
        logs = resources.referring(vpc, "vpcId", FLOW_LOG)
        for log in logs:
            fields = str(value_at(log.inputs, "logFormat", default=""))
            missing = [field for field in _WHO_TO_WHOM if f"${{{field}}}" not in fields] if fields else []
            if missing:
                yield log, f"its format lacks {', '.join(missing)}"
        if vpc.read and not logs:
            continue  # somebody else's, whose own logs are not here
        kinds = {str(value_at(log.inputs, "trafficType", default="ALL")) for log in logs}
        if "ALL" not in kinds and not {"ACCEPT", "REJECT"} <= kinds:
            yield vpc, f"its flow log has only trafficType {', '.join(sorted(kinds))}" if kinds else "has no flow log"


def _is_of_rdma(subnetwork: RecordedResource, resources: Resources) -> bool:
    return any(
        ROCE_NETWORK.search(str(value_at(network.inputs, "networkProfile", default="", unknown="")))
        for network in resources.referred(subnetwork, "network", GCP_NETWORK)
    )


@resource_rule(
    "logs-kept-too-short",
    "Logs are kept for a year.",
    types=(LOG_GROUP, GCP_LOG_BUCKET),
    severity=Severity.MEDIUM,
    controls=("NIST 800-53r5 AU-11", "ISO 27001:2022 A.8.15"),
    fix="Raise logRetentionDays or aws.flowLogRetentionDays.",
    config={"minDays": {"type": "number", "minimum": 1, "default": 365}},
)
def logs_kept_too_short(resource: RecordedResource, config: Config) -> Iterator[str]:
    """Passes a log group without a retention, or with 0: it is kept for ever."""
    if resource.type == GCP_LOG_BUCKET:
        days = number_at(resource.inputs, "retentionDays", default=30)  # what Google keeps
    else:
        days = number_at(resource.inputs, "retentionInDays", default=0)
    if 0 < days < config["minDays"]:
        yield f"kept {count(round(days), 'day')}; at least {config['minDays']:.0f} are required"
