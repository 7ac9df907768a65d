"""Monitoring: somebody is told, and figures last as long as a budget counts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml
from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.rules import Config, NotApplicable, StackViolation, stack_rule
from trainyard.problems import count
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.monitoring import SPEC, prometheus_stacks
from trainyard.recorded.read import is_set, number_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    ALERTMANAGER_CONFIG,
    AMP_ALERT_MANAGER,
    AMP_RULES,
    AMP_WORKSPACE,
    AMP_WORKSPACE_CONFIGURATION,
    CLUSTER_QUEUE,
    HELM_RELEASE,
)
from trainyard.recorded.yaml_text import read_yaml

_ALERTMANAGER = ("values", "alertmanager")
_ELSEWHERE = (
    (*_ALERTMANAGER, "alertmanagerSpec", "configSecret"),
    (*_ALERTMANAGER, "alertmanagerSpec", "alertmanagerConfiguration"),
    (*_ALERTMANAGER, "alertmanagerSpec", "alertmanagerConfigSelector"),
    (*_ALERTMANAGER, "alertmanagerSpec", "useExistingSecret"),
    (*_ALERTMANAGER, "stringConfig"),
    (*SPEC, "additionalAlertManagerConfigs"),
    (*SPEC, "additionalAlertManagerConfigsSecret"),
    (*SPEC, "alertingEndpoints"),
)
"""Values by which a route stands somewhere else than in the values."""
_KEPT_ELSEWHERE = ("thanos", "remoteWrite", "additionalRemoteWrite")
_SERVICE = "aps-workspaces"
"""In the address of a workspace of Amazon's service."""
_DAYS = {"y": 365.0, "w": 7.0, "d": 1.0, "h": 1 / 24, "m": 1 / 1440, "s": 1 / 86400, "ms": 1 / 86_400_000}
CHART_RETENTION = "10d"
"""What the chart keeps where its values do not say (kube-prometheus-stack 88.5.3)."""
WORKSPACE_DAYS = 150
"""What a workspace keeps where nobody says (Amazon Managed Service for Prometheus user guide, "Quotas", 2026-11)."""


@stack_rule(
    "alerts-reach-nobody",
    "Alerts of a cluster must leave it to somebody.",
    types=(HELM_RELEASE, ALERTMANAGER_CONFIG, AMP_WORKSPACE, AMP_RULES, AMP_ALERT_MANAGER),
    severity=Severity.MEDIUM,
    controls=("ISO 27001:2022 A.8.16", "NIST 800-53r5 SI-4(5)"),
    fix="Give alertmanager.config a receiver that tells somebody, and a route that leads there.",
)
def alerts_reach_nobody(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """A route that is kept in a Secret, in an AlertmanagerConfig or by another Alertmanager is not judged. A workspace
    of Amazon's service needs routes where it has rules, and rules where a Prometheus hands it all that it has."""
    del config
    judged = False
    for workspace in resources.of(AMP_WORKSPACE):
        rules = resources.referring(workspace, "workspaceId", AMP_RULES)
        if not rules and not _handed_on(resources):
            continue
        judged = True
        if not rules:
            yield workspace, "Prometheus hands its figures on and has no Alertmanager, and the workspace has no rules"
        routed = resources.referring(workspace, "workspaceId", AMP_ALERT_MANAGER)
        if not any(_told(_definition(each)) for each in routed):
            yield workspace, "no route of its alert manager leads to a receiver that tells anybody"
    for release in prometheus_stacks(resources):
        if value_at(release.inputs, *_ALERTMANAGER, "enabled", default=True) is False:
            continue
        if any(is_set(release.inputs, *path) for path in _ELSEWHERE):
            continue
        if resources.of(ALERTMANAGER_CONFIG):
            continue
        judged = True
        if not _told(value_at(release.inputs, *_ALERTMANAGER, "config", default={})):
            yield release, "no route of Alertmanager leads to a receiver that tells anybody"
    if not judged:
        raise NotApplicable("no Alertmanager whose routes are in the stack")


def _told(config: Any) -> set[str]:
    """Names of the receivers that tell somebody and that a route leads to."""
    top = value_at(config, "route", default={})
    return {str(value_at(route, "receiver", default="")) for route in (top, *_below(top))} & _receivers(config)


def _definition(resource: RecordedResource) -> Any:
    """Alertmanager's configuration in a definition of Amazon's service, which is a text of YAML in YAML."""
    try:
        whole = read_yaml(str(value_at(resource.inputs, "definition", default="")))
        return read_yaml(str(whole["alertmanager_config"]))
    except (yaml.YAMLError, KeyError, TypeError):
        return {}


def _handed_on(resources: Resources) -> bool:
    """Whether a Prometheus without an Alertmanager hands its figures on to Amazon's service."""
    return any(
        value_at(release.inputs, *_ALERTMANAGER, "enabled", default=True) is False
        and any(
            _SERVICE in str(value_at(each, "url", default="", unknown=_SERVICE))
            for each in value_at(release.inputs, *SPEC, "remoteWrite", default=[]) or ()
        )
        for release in prometheus_stacks(resources)
    )


def _receivers(config: Any) -> set[str]:
    """Names of the receivers that have an integration."""
    found = value_at(config, "receivers", default=[])
    return {
        str(value_at(receiver, "name", default=""))
        for receiver in found
        if isinstance(receiver, Mapping) and any(str(key).endswith("_configs") and receiver[key] for key in receiver)
    }


def _below(route: Any) -> Iterator[Any]:
    for each in value_at(route, "routes", default=[]) or ():
        yield each
        yield from _below(each)


@stack_rule(
    "figures-shorter-than-a-month",
    "Where teams have queues, figures must be kept longer than the month that is charged to them.",
    types=(HELM_RELEASE, CLUSTER_QUEUE, AMP_WORKSPACE, AMP_WORKSPACE_CONFIGURATION),
    severity=Severity.MEDIUM,
    level=EnforcementLevel.ADVISORY,
    controls=("ISO 27001:2022 A.8.15",),
    fix="Set monitoring.retentionDays to 32 or more; of a chart of your own, prometheusSpec.retention.",
    config={"minDays": {"type": "number", "minimum": 1, "default": 32}},
)
def figures_shorter_than_a_month(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """A Prometheus that hands its figures on keeps them there. A workspace of Amazon's service has 150
    days, unless it is told another number."""
    if not resources.of(CLUSTER_QUEUE):
        raise NotApplicable("no queues, so that nothing is charged")
    judged = False
    for workspace in resources.of(AMP_WORKSPACE):
        for told in resources.referring(workspace, "workspaceId", AMP_WORKSPACE_CONFIGURATION):
            judged = True
            kept = number_at(told.inputs, "retentionPeriodInDays", default=WORKSPACE_DAYS)
            if kept < config["minDays"]:
                yield told, f"keeps figures for {count(kept, 'day')}; a month takes {config['minDays']:g} days"
    for release in prometheus_stacks(resources):
        spec = value_at(release.inputs, *SPEC, default={})
        if any(is_set(spec, key) for key in _KEPT_ELSEWHERE):
            continue
        judged = True
        text = str(value_at(spec, "retention", default=CHART_RETENTION))
        days = _days(text)
        if days is not None and days < config["minDays"]:
            yield release, f"keeps figures for {text}; a month takes {config['minDays']:g} days"
    if not judged:
        raise NotApplicable("no Prometheus that keeps its figures itself")


def _days(text: str) -> float | None:
    """Days of a duration of Prometheus (`45d`, `1w2d`); None for what is none."""
    if not re.fullmatch(r"([0-9]+(ms|[ywdhms]))+", text):
        return None
    return sum(float(number) * _DAYS[unit] for number, unit in re.findall(r"([0-9]+)(ms|[ywdhms])", text))


POLICIES: Final = (alerts_reach_nobody, figures_shorter_than_a_month)
"""Those of this module."""
