"""Which policies a stack file may violate, because it says what they are against.

A policy that is not named here may never speak of an accepted stack: what it refuses, the settings have to refuse, or
the planner has to decide otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from trainyard.policies.residency import GCP_REGION, REGION
from trainyard.settings.read import MOVED

Values = Mapping[str, Any]


def promised(words: str, values: Values) -> bool:
    """Whether a promise of the planner's, in the words of its check, holds for such settings at all."""
    return not any(text in words and asks(values) for text, asks in UNLESS.items())


def said(policy: str, values: Values, message: str | None = None) -> bool:
    """Whether the settings ask for what a policy refuses in those words; None: in one of its messages."""
    return policy in SAID and _means(policy, message) and SAID[policy](values)


def warned(rule: str, values: Values, message: str | None = None) -> bool:
    """Whether the settings ask for what the rehearsal warns of in those words; None: in one of the rule's messages."""
    return rule in WARNED and _means(rule, message) and WARNED[rule](values)


def _means(rule: str, message: str | None) -> bool:
    return message is None or re.search(ONLY.get(rule, ""), message) is not None


def at(values: Values, path: str) -> Iterator[Any]:
    """What stands at a path, `*` for every entry of a mapping; also at the old place of a key that has moved."""
    paths = [path, *(old for old, new in MOVED.items() if new == path)]
    for each in paths:
        nodes: list[Any] = [values]
        for step in each.split("."):
            inside = [node for node in nodes if isinstance(node, Mapping)]
            nodes = [value for node in inside for key, value in node.items() if step == "*" or key == step]
        yield from (node for node in nodes if node is not None)


def any_at(*paths: str) -> Callable[[Values], bool]:
    """Whether one of these keys says something."""
    return lambda values: any(value not in ({}, []) for path in paths for value in at(values, path))


def a_number(path: str, test: Callable[[float], bool]) -> Callable[[Values], bool]:
    """Whether a number at that path is such."""
    return lambda values: any(test(float(value)) for value in at(values, path))


def is_false(path: str) -> Callable[[Values], bool]:
    """Whether a switch at that path is off."""
    return lambda values: any(str(value).lower() == "false" for value in at(values, path))


def is_one_of(path: str, *values: object) -> Callable[[Values], bool]:
    """Whether one of these stands at that path."""
    return lambda found: any(value in values for value in at(found, path))


def counts_nothing(values: Values) -> bool:
    """Whether, on Google Cloud, neither the bill's account is named nor anything on the cluster watches."""
    unwatched = any(str(value).lower() == "false" for value in at(values, "monitoring.enabled"))
    return unwatched and "gcp" in at(values, "cloud") and not any(at(values, "gcp.billingAccount"))


def on_google(test: Callable[[Values], bool]) -> Callable[[Values], bool]:
    """Whether it holds, and the cloud is Google's."""
    return lambda values: "gcp" in at(values, "cloud") and test(values)


def administers(values: Values) -> bool:
    """Whether somebody of a team is among the administrators, or those who deploy, too."""
    teams = next(at(values, "teams"), [])
    people = {arn for team in teams if isinstance(team, Mapping) for arn in team.get("principals", ())}
    keys = ("aws.adminPrincipals", "aws.deployers")
    return any(arn in people for key in keys for arns in at(values, key) for arn in arns)


def names_a_region(*paths: str) -> Callable[[Values], bool]:
    """Whether one of these lists has the name of a host of a region: whoever allows it lets data go there."""
    return lambda values: any(
        REGION.search(name) or GCP_REGION.search(name)
        for path in paths
        for names in at(values, path)
        for name in map(str, names)
    )


def either(*tests: Callable[[Values], bool]) -> Callable[[Values], bool]:
    """Whether one of several holds."""
    return lambda values: any(test(values) for test in tests)


SAID: Mapping[str, Callable[[Values], bool]] = {
    # Money
    "budget-without-alerts": either(lambda values: not any(at(values, "alertEmails")), counts_nothing),
    "ceiling-spend-over-budget": any_at(
        "monthlyBudgetUsd", "profile", "systemNodes", "mlflow.database", "aws.databaseInstanceClass",
        "gpuPools.*.instanceType", "gpuPools.*.gpu", "gpuPools.*.rootDiskGib", "gpuPools.*.spot", "gpuPools.*.onDemand",
        "gpuPools.*.reserved", "gpuPools.*.flexStart", "storage.lustre.capacityGib",
        "storage.lustre.throughputMbpsPerTib",
    ),
    "gpu-model-outside-profile": any_at("gpuPools.*.gpu", "gpuPools.*.instanceType"),
    "gpu-count-over-profile": any_at(
        "gpuPools.*.instanceType", "gpuPools.*.spot", "gpuPools.*.onDemand", "gpuPools.*.reserved",
        "gpuPools.*.flexStart",
    ),
    "gpu-pool-never-scales-down": either(
        a_number("gpuPools.*.spot.minNodes", lambda nodes: nodes > 0),
        a_number("gpuPools.*.onDemand.minNodes", lambda nodes: nodes > 0),
    ),
    "idle-gpus-keep-running": a_number("scheduler.scaleDownAfterMinutes", lambda minutes: minutes > 60),
    "editor-never-stops": a_number("managed.idleMinutes", lambda minutes: minutes > 120),
    "idle-kernels-kept": a_number("managed.kernelIdleMinutes", lambda minutes: minutes > 120),
    "rights-change-unnoticed": lambda values: not any(at(values, "alertEmails")),
    # Data
    "stateful-resource-unprotected": is_false("protect"),
    "artifact-versions-kept-too-short": a_number("storage.artifactRetentionDays", lambda days: days < 90),
    "lifecycle-deletes-newest-version": a_number("storage.checkpointKeepVersions", lambda versions: versions < 2),
    "database-without-backups": either(
        a_number("mlflow.database.backupRetentionDays", lambda days: days < 7), is_false("mlflow.database.multiAz")
    ),
    "logs-kept-too-short": either(
        a_number("logRetentionDays", lambda days: days < 365),
        a_number("aws.flowLogRetentionDays", lambda days: days < 365),
        a_number("audit.containerLogs.retentionDays", lambda days: days < 365),
    ),
    "exception-expired": any_at("policyExceptions"),
    # Security
    "team-administers-cluster": administers,
    "record-can-be-changed": either(
        a_number("audit.trail.lockDays", lambda days: days < 30),
        # On Google Cloud the record is entries of a log, kept as long as the others where nothing else is said.
        on_google(a_number("logRetentionDays", lambda days: days < 30)),
        on_google(a_number("audit.trail.retentionDays", lambda days: days < 30)),
    ),
    "dns-open": either(
        is_one_of("aws.dnsFirewall", "alert", "off"),
        # Where pods may reach every name, each can be looked up, unless the file says otherwise.
        lambda values: "internet" in at(values, "network.egress.mode") and not any(at(values, "aws.dnsFirewall")),
    ),
    "public-editor": is_false("managed.privateDomain"),
    "region-outside-residency": names_a_region("network.egress.allow", "aws.dnsAllow"),
    "state-outside-residency": lambda values: next(at(values, "residency"), "none") not in ("none", "us"),
    # Reliability and queues
    "unsupported-kubernetes-version": is_one_of("gcp.releaseChannel", "EXTENDED"),
    "pool-without-smoke-job": either(is_false("smoke.enabled"), any_at("smoke.capacities")),
    "production-does-not-outrank-development": any_at("scheduler.priorities"),
}  # fmt: skip
"""Policy -> the settings that ask for what it is against."""

WARNED: Mapping[str, Callable[[Values], bool]] = {
    "gcp-filestore": any_at("gcp.sharedFilesGib"),
    "kueue-configuration": a_number("scheduler.requeueLimit", lambda times: times == 0),
    "programs-squid": any_at("network.egress.allow"),
    "programs-prometheus-memory": any_at("monitoring.memory"),
    "programs-prometheus-disk": any_at("monitoring.retentionDays", "monitoring.storageGib"),
}
"""Rule of the rehearsal's that warns, no more, of what a person chose in full -> the settings that chose it."""

ONLY: Mapping[str, str] = {
    "gcp-filestore": "Filestore's documentation has steps of",
    "kueue-configuration": "backoffLimitCount is 0",
    "programs-squid": r"lets \S+ by and not",
    "region-outside-residency": r"^(domains\[\d+\]|data\.squid\.conf) names ",
    "record-can-be-changed": r"(entries are kept|files are locked) \d",
    "unsupported-kubernetes-version": "releaseChannel.channel is EXTENDED",
}
"""Policy or rule -> the one of its messages that settings can ask for; of one that is not here, each."""

UNLESS: Mapping[str, Callable[[Values], bool]] = {
    "development gives way": any_at("scheduler.priorities"),
    "over all capacities, a share": any_at("gpuPools.*.owners"),
}
"""Words of a check of plans -> the settings that decide otherwise."""
