"""What Kueue's manager is told, by the release of its chart; what its versions do where nothing is said."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.queue_manager import managers, minor_version
from trainyard.recorded.read import UnknownInput, as_number, follow
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.works.queues.kubernetes.fair import FINAL_SHARE, INITIAL_SHARE
from trainyard.rehearsal.works.queues.kubernetes.model import Manager

READY_BY_DEFAULT: Final = (0, 19)
"""Since this version a job whose pods are not ready in half an hour is evicted, unless it is told otherwise
(CHANGELOG-0.19.md of kubernetes-sigs/kueue, read 2026-11-22)."""
CLAIMS_SINCE: Final = (0, 18)
"""Since this version a job whose pods claim devices of a class that `deviceClassMappings` does not name is never
admitted; without the gate the next one keeps out every such job (workload_controller.go of 0.19.2)."""
CLAIMS_UNCOUNTED: Final = (
    "KueueDRAIntegration", "KueueDRAIntegrationExtendedResource", "KueueDRAIntegrationPartitionableDevices",
    "KueueDRARejectWorkloadsWhenDRADisabled",
)  # fmt: skip
"""Gates without which claims are nothing to it."""
UNDECLARED_SINCE: Final = (0, 19)
"""Since this version `quotaCheckStrategy` counts; before, its gate was off (kube_features.go of 0.19.2)."""
ELASTIC: Final = ("ElasticJobsViaWorkloadSlices", (0, 18))
TOPOLOGY: Final = ("TopologyAwareScheduling", (0, 14))
"""Gates, and since which version they are on where nothing is said (kube_features.go of 0.19.2)."""

CHARTS_FRAMEWORKS: Final = (
    "batch/job", "kubeflow.org/mpijob", "ray.io/rayjob", "ray.io/rayservice", "ray.io/raycluster",
    "jobset.x-k8s.io/jobset", "workload.codeflare.dev/appwrapper", "trainer.kubeflow.org/trainjob", "pod",
    "deployment", "statefulset", "leaderworkerset.x-k8s.io/leaderworkerset",
)  # fmt: skip
"""The chart's own configuration file names these (charts/kueue/values.yaml of 0.19.2)."""
ONLY_JOBS: Final = ("batch/job",)
"""Where a configuration file names none (apis/config/v1beta2/defaults.go of 0.19.2)."""

_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(h|ms|m|s)")
_SECONDS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def manager_of(resources: Resources) -> tuple[RecordedResource | None, Manager | None]:
    """The one release of Kueue's chart and what it tells the manager.

    None for the manager where there is no release, where there are several, or where what it says is not known.
    """
    try:
        released = list(managers(resources))
    except UnknownInput:
        return None, None
    if len(released) != 1:
        return None, None
    release, told = released[0]
    try:
        found = manager(minor_version(release), told)
        if follow(release.inputs, "values", "controllerManager", "featureGates"):
            # Gates may stand there too.
            found = replace(found, keeps_claims_out=False, is_elastic=None, sees_topology=None)
        return release, found
    except (UnknownInput, ValueError):
        return release, None


def manager(version: tuple[int, int] | None, told: Mapping[str, Any]) -> Manager:
    """What a configuration file means to a manager of some version. Raises ValueError for what it cannot read."""
    resources = _section(told, "resources")
    if resources.get("transformations") or resources.get("deviceClassMappings"):
        raise ValueError("resources are transformed, which is not modelled")
    frameworks = _section(told, "integrations").get("frameworks")
    if frameworks is not None and not isinstance(frameworks, list):
        raise ValueError("integrations.frameworks is no list")
    return Manager(
        version=version,
        strategies=_strategies(told),
        ignores_undeclared=resources.get("quotaCheckStrategy") == "IgnoreUndeclared"
        and version is not None
        and version >= UNDECLARED_SINCE,
        excluded=tuple(map(str, resources.get("excludeResourcePrefixes") or ())),
        frameworks=tuple(map(str, frameworks)) if frameworks else ONLY_JOBS if told else CHARTS_FRAMEWORKS,
        manages_unnamed=told.get("manageJobsWithoutQueueName") is True,
        namespaces=told.get("managedJobsNamespaceSelector"),
        waits_seconds=_waits(version, told),
        requeue_limit=_limit(told),
        keeps_claims_out=version is not None
        and version >= CLAIMS_SINCE
        and any(
            _section(told, "featureGates").get(gate, True) is True
            for gate in (CLAIMS_UNCOUNTED[0], CLAIMS_UNCOUNTED[-1])
        ),
        is_elastic=_is_on(version, told, *ELASTIC),
        sees_topology=_is_on(version, told, *TOPOLOGY),
    )


def _is_on(version: tuple[int, int] | None, told: Mapping[str, Any], gate: str, since: tuple[int, int]) -> bool | None:
    """Whether a gate is on; None where neither the file nor the version says so."""
    given = _section(told, "featureGates").get(gate)
    if isinstance(given, bool):
        return given
    return None if given is not None or version is None else version >= since


def _strategies(told: Mapping[str, Any]) -> tuple[str, ...]:
    fair = told.get("fairSharing")
    if not isinstance(fair, Mapping) or fair.get("enable") is False:
        return ()
    given = fair.get("preemptionStrategies")
    if given:
        return tuple(map(str, given))
    return (FINAL_SHARE, INITIAL_SHARE) if fair.get("enable") is True else ()


def _waits(version: tuple[int, int] | None, told: Mapping[str, Any]) -> float | None:
    given = told.get("waitForPodsReady")
    if not isinstance(given, Mapping):
        return 1800.0 if version is not None and version >= READY_BY_DEFAULT else None
    on = given.get("enable", version is None or version >= READY_BY_DEFAULT)
    if on is not True:
        return None
    timeout = given.get("timeout")
    if timeout is None:
        return 1800.0 if version is None or version >= READY_BY_DEFAULT else 300.0
    return seconds(str(timeout))


def _limit(told: Mapping[str, Any]) -> int | None:
    limit = as_number(_section(_section(told, "waitForPodsReady"), "requeuingStrategy").get("backoffLimitCount"))
    return None if limit is None else int(limit)


def seconds(duration: str) -> float:
    """A duration of Go's, "1h30m", in seconds. Raises ValueError."""
    parts = _PART.findall(duration)
    if "".join(f"{number}{unit}" for number, unit in parts) != duration or not parts:
        raise ValueError(f"{duration!r} is no duration")
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


def _section(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = value.get(name)
    return found if isinstance(found, Mapping) else {}
