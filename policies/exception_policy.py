"""Exceptions are rules too: an expired one is a violation. The offline check refuses one for no policy at all."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from trainyard.policies.exceptions import stack_exceptions, today
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.recorded.resources import Resources


@stack_rule(
    "exception-expired",
    "An exception holds until its last day.",
    types=(),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 CA-5", "ISO 27001:2022 A.5.36"),
    fix="Mend what the exception covers, or renew it in policyExceptions with whoever owns it.",
)
def exception_expired(_: Resources, __: Config) -> Iterator[StackViolation]:
    """One violation for each exception whose last day is over; what it covered is a violation again besides."""
    for exception in stack_exceptions():
        if exception.expired(today()):
            yield (
                None,
                f"{exception.policy} for {exception.resource} expired on {exception.expires} ({exception.owner}:"
                f" {exception.reason})",
            )
