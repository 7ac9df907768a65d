"""Amazon GuardDuty: a detector of the region, with what a training platform has to be watched.

An account has one detector a region; a second one is refused. What is not named here is switched off by name, because
a new detector takes most of what GuardDuty sells unless it is told not to, and each is paid for.
"""

from typing import TypedDict

import pulumi
import pulumi_aws.guardduty as guardduty

from trainyard.components.outputs import register

WATCHED = ("S3_DATA_EVENTS", "EKS_AUDIT_LOGS")
"""What is looked at besides management events, flow logs and DNS: objects, and what is asked of clusters."""

RUNTIME = "RUNTIME_MONITORING"
"""An agent on every node."""

NOT_WATCHED = ("EBS_MALWARE_PROTECTION", "RDS_LOGIN_EVENTS", "LAMBDA_NETWORK_LOGS")
"""What the environment has no need of: volumes that hold images and caches, a database without logins of people, no
function."""


class ThreatDetectionArgs(TypedDict):
    """What `ThreatDetection` needs."""

    runtime: bool
    """Whether GuardDuty keeps an agent on every node of every cluster. It is paid by the vCPU, and GuardDuty makes an
    interface endpoint and a security group in the VPC for it, which have to go before the VPC can."""


class ThreatDetection(pulumi.ComponentResource):
    """The detector and its features."""

    detector_id: pulumi.Output[str]
    """Id of the detector."""

    def __init__(self, name: str, args: ThreatDetectionArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Findings are told every fifteen minutes, the shortest that there is, and new ones at once."""
        super().__init__("trainyard:index:ThreatDetection", name, None, opts)
        detector = guardduty.Detector(
            f"{name}-detector",
            enable=True,
            finding_publishing_frequency="FIFTEEN_MINUTES",
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.detector_id = detector.id
        watched = (*WATCHED, *([RUNTIME] if args["runtime"] else ()))
        for feature in (*WATCHED, RUNTIME, *NOT_WATCHED):
            on = "ENABLED" if feature in watched else "DISABLED"
            guardduty.DetectorFeature(
                f"{name}-{feature.lower().replace('_', '-')}",
                detector_id=detector.id,
                name=feature,
                status=on,
                additional_configurations=[{"name": "EKS_ADDON_MANAGEMENT", "status": on}]
                if feature == RUNTIME
                else None,
                opts=pulumi.ResourceOptions(parent=self),
            )
        register(self)
