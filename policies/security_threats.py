"""Security: somebody looks for what is wrong in what is on record."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from trainyard.policies.rules import Config, NotApplicable, StackViolation, stack_rule
from trainyard.policies.security_watch import ELSEWHERE, unless_elsewhere
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import BUCKET, DETECTOR, DETECTOR_FEATURE, EKS_CLUSTER, EVENT_RULE, EVENT_TARGET


@stack_rule(
    "no-threat-detection",
    "Somebody looks for attacks: GuardDuty watches the account, its objects and its clusters.",
    types=(DETECTOR, DETECTOR_FEATURE, BUCKET, EKS_CLUSTER, EVENT_RULE, EVENT_TARGET),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 SI-4", "ISO 27001:2022 A.8.16"),
    fix="Leave audit.threatDetection to the stack, or say in audit.threatDetection whose detector it is and why.",
    config=ELSEWHERE,
)
def no_threat_detection(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """Objects and audit logs are features that a detector may lack."""
    unless_elsewhere("threatDetection", config)
    needed = {
        feature: what
        for feature, type_, what in (
            ("S3_DATA_EVENTS", BUCKET, "objects"),
            ("EKS_AUDIT_LOGS", EKS_CLUSTER, "requests to clusters"),
        )
        if resources.of(type_)
    }
    if not needed:
        raise NotApplicable("there is nothing to watch")
    detectors = [found for found in resources.of(DETECTOR) if value_at(found.inputs, "enable") is not False]
    if not detectors:
        yield None, "no detector looks for attacks"
    for detector in detectors:
        features = resources.referring(detector, "detectorId", DETECTOR_FEATURE)
        on = {value_at(found.inputs, "name") for found in features if value_at(found.inputs, "status") == "ENABLED"}
        for feature, what in needed.items():
            if feature not in on:
                yield detector, f"does not look at {what} ({feature})"
    for rule in resources.of(EVENT_RULE):
        if "aws.guardduty" not in str(value_at(rule.inputs, "eventPattern", default="")):
            continue
        if str(value_at(rule.inputs, "state", default="ENABLED")) == "DISABLED":
            yield rule, "is DISABLED: nobody is told of what was found"
        elif not resources.referring(rule, "rule", EVENT_TARGET):
            yield rule, "has no target: nobody is told of what was found"
