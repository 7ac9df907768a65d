"""The configuration file of Kueue's manager, a text among the chart's values.

The manager reads it once, strictly, and exits over an unknown field or a combination that it refuses: the release then
waits for a Deployment that never becomes ready. Fields: apis/config/v1beta2/configuration_types.go of Kueue (read
2026-11-21), with what a live 0.19.2 refuses besides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import yaml

from trainyard.problems import nearest
from trainyard.recorded.queue_manager import minor_version
from trainyard.recorded.yaml_text import read_yaml
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.near import nearest_of

_PATH: Final = "values.managerConfig.controllerManagerConfigYaml"
_RULE: Final = "kueue-configuration"

_FIELDS: Final = (
    "apiVersion", "kind", "namespace", "manageJobsWithoutQueueName", "managedJobsNamespaceSelector",
    "internalCertManagement", "waitForPodsReady", "clientConnection", "integrations", "multiKueue", "fairSharing",
    "admissionFairSharing", "resources", "featureGates", "objectRetentionPolicies", "metrics", "webhook", "health",
    "leaderElection", "controller", "pprofBindAddress", "visibilityServer", "tls",
)  # fmt: skip
_SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "managedJobsNamespaceSelector": ("matchLabels", "matchExpressions"),
    "internalCertManagement": ("enable", "webhookServiceName", "webhookSecretName"),
    "waitForPodsReady": ("enable", "timeout", "blockAdmission", "requeuingStrategy", "recoveryTimeout"),
    "waitForPodsReady.requeuingStrategy": ("timestamp", "backoffLimitCount", "backoffBaseSeconds", "backoffMaxSeconds"),
    "clientConnection": ("qps", "burst"),
    "integrations": ("frameworks", "externalFrameworks", "labelKeysToCopy", "podOptions"),
    "fairSharing": ("enable", "preemptionStrategies"),
    "resources": ("excludeResourcePrefixes", "transformations", "deviceClassMappings", "quotaCheckStrategy"),
    "metrics": ("bindAddress", "enableClusterQueueResources", "customLabels", "localQueueMetrics"),
    "webhook": ("port", "host", "certDir"),
    "health": ("healthProbeBindAddress", "readinessEndpointName", "livenessEndpointName"),
    "leaderElection": (
        "leaderElect", "leaseDuration", "renewDeadline", "retryPeriod", "resourceLock", "resourceName",
        "resourceNamespace",
    ),
    "controller": ("groupKindConcurrency", "cacheSyncTimeout"),
    "tls": ("minVersion", "cipherSuites"),
}  # fmt: skip
_STRATEGIES: Final = (
    ["LessThanOrEqualToFinalShare"], ["LessThanInitialShare"], ["LessThanOrEqualToFinalShare", "LessThanInitialShare"],
)  # fmt: skip
_CHOICES: Final[Mapping[str, tuple[Any, ...]]] = {
    "waitForPodsReady.requeuingStrategy.timestamp": ("Eviction", "Creation"),
    "leaderElection.resourceLock": ("leases",),
    "tls.minVersion": ("VersionTLS12", "VersionTLS13"),
}  # fmt: skip
"""Texts of the configuration that are one of a list (apis/config/v1beta2 and validation.go of 0.19.2)."""
_DISPATCHERS: Final = (
    "kueue.x-k8s.io/multikueue-dispatcher-all-at-once", "kueue.x-k8s.io/multikueue-dispatcher-incremental",
)  # fmt: skip
"""Kueue's own; another program's may have any name, and a slip of one of these passes and dispatches nothing."""
_CHECKS: Final = ("BlockUndeclared", "IgnoreUndeclared")
_CLAIMS: Final = "KueueDRAIntegration"
_NEED_CLAIMS: Final = {
    "KueueDRAIntegrationExtendedResource": (0, 19),
    "KueueDRAIntegrationPartitionableDevices": (0, 19),
    "KueueDRAIntegrationConsumableCapacity": (99, 0),
}
"""Gates that need it, with the version since which each is on by default (validation.go of 0.19.2)."""
_DURATION: Final = re.compile(r"0|(\d+(\.\d+)?(ns|us|ms|s|m|h))+")
_FRAMEWORKS: Final = (
    "batch/job", "kubeflow.org/mpijob", "ray.io/rayjob", "ray.io/rayservice", "ray.io/raycluster",
    "jobset.x-k8s.io/jobset", "kubeflow.org/paddlejob", "kubeflow.org/pytorchjob", "kubeflow.org/tfjob",
    "kubeflow.org/xgboostjob", "kubeflow.org/jaxjob", "trainer.kubeflow.org/trainjob",
    "workload.codeflare.dev/appwrapper", "sparkoperator.k8s.io/sparkapplication", "pod", "deployment", "statefulset",
    "leaderworkerset.x-k8s.io/leaderworkerset",
)  # fmt: skip


def check_manager(release: View) -> None:
    """Every rule about the configuration file of one release of the chart."""
    text = release.text(_PATH)
    if text is None:
        return
    try:
        config = read_yaml(text)
    except yaml.YAMLError as error:
        release.error(_RULE, _PATH, f"is no YAML: {error}", allowed="a Configuration")
        return
    if not isinstance(config, Mapping):
        release.error(_RULE, _PATH, "is empty", allowed="a Configuration")
        return
    if (config.get("apiVersion"), config.get("kind")) != ("config.kueue.x-k8s.io/v1beta2", "Configuration"):
        release.error(
            _RULE,
            _PATH,
            f"is {config.get('apiVersion')} {config.get('kind')}",
            allowed="config.kueue.x-k8s.io/v1beta2 Configuration",
        )
    _fields(release, "", config, _FIELDS)
    for path, known in _SECTIONS.items():
        section: Any = config
        for step in path.split("."):
            section = section.get(step) if isinstance(section, Mapping) else None
        if isinstance(section, Mapping):
            _fields(release, path, section, known)
        elif section is not None:
            release.error(_RULE, _PATH, f"{path} is {show(section)}", allowed=f"a mapping of {', '.join(known)}")
    _combinations(release, config)


def _fields(release: View, path: str, section: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in section:
        if key not in known:
            release.error(
                _RULE,
                _PATH,
                f"{show(f'{path}.{key}' if path else str(key))} is no field of the configuration: the manager exits",
                allowed=f"one of {', '.join(known)}",
                hint=nearest(str(key), known),
            )


def _combinations(release: View, config: Mapping[str, Any]) -> None:
    def section(name: str) -> Mapping[str, Any]:
        found = config.get(name)
        return found if isinstance(found, Mapping) else {}

    for framework in listed(section("integrations").get("frameworks")):
        if framework not in _FRAMEWORKS:
            release.error(
                _RULE,
                _PATH,
                f"integrations.frameworks has {show(framework)}, which Kueue does not manage",
                hint=nearest(str(framework), _FRAMEWORKS),
            )
    waits = section("waitForPodsReady")
    for key in ("timeout", "recoveryTimeout"):
        if key in waits and not (isinstance(waits[key], str) and _DURATION.fullmatch(waits[key])):
            release.error(
                _RULE,
                _PATH,
                f"waitForPodsReady.{key} is {show(waits[key])}: the manager exits",
                allowed="like 30m or 1h",
            )
    for path, known in _CHOICES.items():
        held: Any = config
        for step in path.split("."):
            held = held.get(step) if isinstance(held, Mapping) else None
        if held is not None and held not in known:
            release.error(
                _RULE, _PATH, f"{path} is {show(held)}: the manager exits",
                allowed=f"one of {', '.join(map(str, known))}",
                hint=nearest(str(held), list(map(str, known))),
            )  # fmt: skip
    dispatcher = section("multiKueue").get("dispatcherName")
    near = nearest_of(dispatcher, _DISPATCHERS) if isinstance(dispatcher, str) else ""
    if near:
        message = f"multiKueue.dispatcherName is {show(dispatcher)}: no job is sent on where nobody answers to it"
        release.warning(_RULE, _PATH, message, hint=near)
    for index, one in enumerate(listed(section("resources").get("transformations"))):
        if isinstance(one, Mapping) and one.get("strategy") not in (None, "Retain", "Replace"):
            release.error(
                _RULE, _PATH,
                f"resources.transformations[{index}].strategy is {show(one.get('strategy'))}: the manager exits",
                allowed="Retain or Replace",
            )  # fmt: skip
    resources = section("resources")
    if resources.get("quotaCheckStrategy") not in (None, *_CHECKS):
        release.error(
            _RULE,
            _PATH,
            f"resources.quotaCheckStrategy is {show(resources['quotaCheckStrategy'])}: the manager exits",
            allowed=f"one of {', '.join(_CHECKS)}",
        )
    if resources.get("quotaCheckStrategy") == "IgnoreUndeclared" and resources.get("excludeResourcePrefixes"):
        release.error(
            _RULE,
            _PATH,
            "excludeResourcePrefixes beside quotaCheckStrategy IgnoreUndeclared",
            allowed="one of them: with both the manager exits",
        )
    if "fairSharing" in config and section("fairSharing").get("preemptionStrategies") not in _STRATEGIES:
        release.error(
            _RULE,
            _PATH,
            f"fairSharing.preemptionStrategies is {show(section('fairSharing').get('preemptionStrategies'))}: "
            "the manager exits",
            allowed=" or ".join(f"[{', '.join(known)}]" for known in _STRATEGIES),
        )
    _gates(release, section("featureGates"))
    if release.value("values.controllerManager.featureGates") and config.get("featureGates"):
        release.error(
            _RULE,
            "values.controllerManager.featureGates",
            "given beside featureGates of the configuration",
            allowed="one of them",
        )


def _gates(release: View, gates: Mapping[str, Any]) -> None:
    """A gate that is on, by default too, and needs another that is turned off."""
    version = minor_version(release.resource)
    if gates.get(_CLAIMS) is not False or version is None:
        return
    for gate, since in _NEED_CLAIMS.items():
        if gates.get(gate, version >= since) is True:
            release.error(
                _RULE,
                _PATH,
                f"featureGates.{gate} is on {'' if gate in gates else 'by default '}and needs {_CLAIMS}, which is off: "
                "the manager exits",
                allowed=f"{gate}: false too",
            )
