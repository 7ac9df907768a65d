"""Reliability: proven pools, versions that are pinned and supported, and updates that leave somebody at work."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.catalog import add_on_pins, default_kubernetes_version, known_kubernetes_versions
from trainyard.catalog.versions import AddOn
from trainyard.conventions import SMOKE_POOL_LABEL, STANDING
from trainyard.policies.exceptions import today
from trainyard.policies.rules import Config, StackViolation, resource_rule, stack_rule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import EKS_NODE_GROUP, NODE_GROUP_PARTS, gpu_node_groups, tpu_node_groups
from trainyard.recorded.read import is_set, mapping_at, number_at, value_at
from trainyard.recorded.replicas import is_like_its_source
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    ADD_ON,
    CLOUD_SQL,
    DATABASE,
    DEPLOYMENT,
    DISRUPTION_BUDGET,
    EKS_CLUSTER,
    GKE_CLUSTER,
    HELM_RELEASE,
    JOB,
    STATEFUL_SET,
)

DEPLOYMENTS = (DEPLOYMENT, STATEFUL_SET)
FLOATING = re.compile(r"[*^~<>|,\s]|\b[xX]\b|latest|default")
CHART_BUDGETS: dict[str, tuple[tuple[str, ...], ...]] = {
    "cluster-autoscaler": (("podDisruptionBudget",),),
    "kueue": (("controllerManager", "podDisruptionBudget", "enabled"),),
    "jobset": (("controller", "podDisruptionBudget", "enabled"),),
    "aws-fsx-csi-driver": (("controller", "podDisruptionBudget", "enabled"),),
    "aws-efs-csi-driver": (("controller", "podDisruptionBudget", "enabled"),),
}
"""Where the charts that have a disruption budget keep its switch (value paths of the pinned versions)."""


@stack_rule(
    "pool-without-smoke-job",
    "Every GPU pool is proven by a smoke job.",
    types=(*NODE_GROUP_PARTS, JOB),
    severity=Severity.MEDIUM,
    level=EnforcementLevel.MANDATORY,
    controls=("NIST 800-53r5 CA-2", "ISO 27001:2022 A.8.29"),
    fix="Leave `smoke.enabled` true, and in `smoke.capacities` one that the pool has.",
)
def pool_without_smoke_job(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """A Job with the label ml.platform/smoke-pool naming the pool; in which capacity it runs is not looked at.

    Pools of flex-start alone, whose nodes may take days to come, are left out.
    """
    proven = {str(value_at(job.inputs, "metadata", "labels", SMOKE_POOL_LABEL)) for job in resources.of(JOB)}
    unproven = {}
    for group in (*gpu_node_groups(resources), *tpu_node_groups(resources)):
        if group.pool not in proven and group.capacity in STANDING:
            unproven[group.pool] = group.resource
    for name, resource in sorted(unproven.items()):
        yield resource, f"no smoke job trains on pool {name}"


@resource_rule(
    "unsupported-kubernetes-version",
    "Clusters and nodes run a Kubernetes version that is in standard support.",
    types=(EKS_CLUSTER, EKS_NODE_GROUP, GKE_CLUSTER),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 SA-22", "ISO 27001:2022 A.8.8"),
    fix="Set kubernetesVersion to a supported version.",
    config={
        "asOf": {"type": "string", "pattern": "^([0-9]{4}-[0-9]{2}-[0-9]{2})?$", "default": "", "description": "Today."}
    },
)
def unsupported_kubernetes_version(resource: RecordedResource, config: Config) -> Iterator[str]:
    """The catalogue's versions; one without an established end of support passes. On GKE a release channel moves on."""
    if resource.type == GKE_CLUSTER:
        channel = value_at(resource.inputs, "releaseChannel", "channel")
        if channel == "UNSPECIFIED":
            yield "releaseChannel.channel is UNSPECIFIED: nobody moves the cluster out of an old version"
        if channel == "EXTENDED":
            yield "releaseChannel.channel is EXTENDED: old versions go on, at a price"
        return
    version = value_at(resource.inputs, "version")
    if version is None:
        return  # unpinned-version says so
    known = known_kubernetes_versions()
    if version not in known:
        yield f"version {version} is not one of {', '.join(known)}"
        return
    day = datetime.date.fromisoformat(config["asOf"]) if config["asOf"] else today()
    until = known[version].standard_support_until
    if until is not None and day > datetime.date.fromisoformat(until):
        yield f"standard support of version {version} ended on {until}"
    if value_at(resource.inputs, "upgradePolicy", "supportType") == "EXTENDED":
        yield "upgradePolicy.supportType is EXTENDED: old versions go on at six times the price"


_VERSIONS = {
    ADD_ON: "addonVersion",
    CLOUD_SQL: "databaseVersion",
    DATABASE: "engineVersion",
    GKE_CLUSTER: "minMasterVersion",  # a release channel moves on from it
}


@resource_rule(
    "unpinned-version",
    "What is installed has a version, so that the next deployment installs the same.",
    types=(EKS_CLUSTER, EKS_NODE_GROUP, ADD_ON, HELM_RELEASE, DATABASE, CLOUD_SQL, GKE_CLUSTER),
    severity=Severity.MEDIUM,
    controls=("NIST 800-53r5 CM-2", "ISO 27001:2022 A.8.9"),
    fix="Pin it in trainyard/catalog/versions.yaml.",
)
def unpinned_version(resource: RecordedResource, _: Config) -> Iterator[str]:
    """Add-ons, charts, the database engine, the cluster and its nodes."""
    key = _VERSIONS.get(resource.type, "version")
    if not is_set(resource.inputs, key):
        if not is_like_its_source(resource):
            yield f"{key} is not set"
    elif FLOATING.search(version := str(value_at(resource.inputs, key, unknown=""))):
        yield f"{key} {version} is a range: it moves by itself"


@resource_rule(
    "outdated-add-on",
    "Managed add-ons are not far behind the builds that the catalogue pins.",
    types=(ADD_ON,),
    severity=Severity.MEDIUM,
    controls=("NIST 800-53r5 SA-22", "ISO 27001:2022 A.8.8"),
    fix="Take the version in trainyard/catalog/versions.yaml.",
    config={"minorsBehind": {"type": "integer", "minimum": 0, "default": 3, "description": "Minor versions, at most."}},
)
def outdated_add_on(resource: RecordedResource, config: Config) -> Iterator[str]:
    """Compares minor versions; three is also how far behind the cluster Kubernetes lets kube-proxy be."""
    name = value_at(resource.inputs, "addonName")
    pinned = next((_minor(pin.version) for pin in _add_ons() if pin.name == name), None)
    version = value_at(resource.inputs, "addonVersion")
    found = _minor(str(version)) if version is not None else None  # unpinned-version says what is not set
    if pinned is None or found is None:
        return
    if found[0] < pinned[0] or (found[0] == pinned[0] and pinned[1] - found[1] > config["minorsBehind"]):
        newest = f"{pinned[0]}.{pinned[1]}"
        yield f"addonVersion {version} of {name} is over {config['minorsBehind']:g} minor versions behind {newest}"


def _add_ons() -> tuple[AddOn, ...]:
    return add_on_pins(default_kubernetes_version()[0])[0]


def _minor(version: str) -> tuple[int, int] | None:
    match = re.match(r"v?([0-9]+)\.([0-9]+)", version)
    return (int(match[1]), int(match[2])) if match else None


@stack_rule(
    "missing-disruption-budget",
    "What runs in several replicas keeps some of them through an upgrade of the nodes.",
    types=(*DEPLOYMENTS, DISRUPTION_BUDGET, HELM_RELEASE),
    severity=Severity.MEDIUM,
    controls=("NIST 800-53r5 CP-10", "ISO 27001:2022 A.8.14"),
    fix="Add a PodDisruptionBudget, or switch on the chart's.",
)
def missing_disruption_budget(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """Objects by their labels; charts by the value that makes their budget."""
    budgets = [
        (value_at(budget.inputs, "metadata", "namespace"), mapping_at(budget.inputs, "spec", "selector", "matchLabels"))
        for budget in resources.of(DISRUPTION_BUDGET)
        if value_at(budget.inputs, "spec", "minAvailable") not in (0, "0", "0%")
        and value_at(budget.inputs, "spec", "maxUnavailable") != "100%"  # either keeps nobody
    ]
    for workload in resources.of(*DEPLOYMENTS):
        labels = mapping_at(workload.inputs, "spec", "template", "metadata", "labels")
        namespace = value_at(workload.inputs, "metadata", "namespace")
        covered = any(place == namespace and selector.items() <= labels.items() for place, selector in budgets)
        if number_at(workload.inputs, "spec", "replicas", default=1) > 1 and not covered:
            yield workload, "several replicas and no PodDisruptionBudget that selects them"
    for release in resources.of(HELM_RELEASE):
        chart = str(value_at(release.inputs, "chart", default="")).rsplit("/", 1)[-1]
        for path in CHART_BUDGETS.get(chart, ()):
            if not is_set(release.inputs, "values", *path):
                yield release, f"values.{'.'.join(path)} is off"
