"""What answers for the queues besides the scheduler: admission checks, and the wait for pods."""

from __future__ import annotations

import re
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.queues import LOCAL_QUEUE
from trainyard.recorded.read import is_set, value_at
from trainyard.recorded.types import HELM_RELEASE, TRAINING_RUNTIME
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.works.queues.kubernetes.model import MULTIKUEUE, PROVISIONING
from trainyard.rehearsal.works.queues.room import Room

_CONTROLLERS: Final = (PROVISIONING, MULTIKUEUE)
_SLIP: Final = 0.9
_READY_SECONDS: Final = 300
"""A GPU node from zero takes 3 to 8 minutes to be ready, and its image as long again (platform.md of the project's
facts, 2026-11): a job that starts one is evicted again below this."""


def check_admission_check(view: View, room: Room) -> None:
    """Every rule about one admission check: something answers it, and has what it needs to."""
    controller = view.text("spec.controllerName")
    if controller is None:
        return
    near = nearest(controller, _CONTROLLERS)
    if controller not in _CONTROLLERS:
        if near and controller.startswith("kueue.x-k8s.io/"):
            view.error(
                "queues-admission-check",
                "spec.controllerName",
                f"nothing answers {show(controller)}: jobs keep their quota and wait for ever",
                allowed=f"one of {', '.join(_CONTROLLERS)}, or a controller of one's own",
                hint=near,
            )
        return
    check = room.configuration.checks.get(view.text("metadata.name") or "")
    if check is not None and not check.active:
        view.error(
            "queues-admission-check",
            "spec.parameters",
            "name no object that its controller can read: the check stays inactive, and every queue with it",
            allowed="apiGroup kueue.x-k8s.io, kind and name of a "
            + ("ProvisioningRequestConfig" if controller == PROVISIONING else "MultiKueueConfig"),
        )
    if controller == PROVISIONING:
        for release in room.resources.of(HELM_RELEASE):
            chart = str(value_at(release.inputs, "chart", default="", unknown=""))
            if chart.rpartition("/")[2] == "cluster-autoscaler" and not is_set(
                release.inputs, "values", "extraArgs", "enable-provisioning-requests"
            ):
                view.error(
                    "queues-admission-check",
                    "spec.controllerName",
                    f"the autoscaler of release {release.name} answers no provisioning requests: jobs wait for ever",
                    allowed="extraArgs.enable-provisioning-requests: true in its values",
                )


_OF_TRAINER: Final = ("trainer.kubeflow.org/trainjob", "jobset.x-k8s.io/jobset")
"""Frameworks through which a TrainJob gets to a queue: its own, or that of the JobSet that is made of it."""
_RUNTIMES: Final = (
    TRAINING_RUNTIME, "kubernetes:trainer.kubeflow.org/*:TrainingRuntime",
)  # fmt: skip


def check_frameworks(view: View | None, room: Room, *, ours: bool = False) -> None:
    """Whether the manager looks after the jobs that the stack's runtimes are for."""
    frameworks = room.manager.frameworks if room.manager is not None else None
    runtimes = room.resources.of(*_RUNTIMES)
    queues = room.resources.of(LOCAL_QUEUE)
    if view is None or frameworks is None or not runtimes or not queues:
        return
    is_stated = "frameworks:" in (view.text("values.managerConfig.controllerManagerConfigYaml") or "")
    if is_stated and not set(_OF_TRAINER) & set(frameworks):
        view.warning(
            "queues-framework",
            "values.managerConfig.controllerManagerConfigYaml",
            f"integrations.frameworks names no TrainJobs and no JobSets: those of {runtimes[0].name} pass queues by",
            allowed=f"{_OF_TRAINER[0]} in integrations.frameworks",
        )
    elif is_stated and ours and _OF_TRAINER[0] not in frameworks:
        # The queue's name is on the TrainJob, by which the guards go; its JobSet gets none of it.
        view.warning(
            "queues-framework", "values.managerConfig.controllerManagerConfigYaml",
            f"integrations.frameworks leaves TrainJobs out: a JobSet that is made of one of {runtimes[0].name} names "
            "no queue, and stays suspended", allowed=f"{_OF_TRAINER[0]} in integrations.frameworks",
        )  # fmt: skip


_GATES: Final = (
    "AdmissionCheckValidationRules", "AdmissionFairSharing", "ConfigurableResourceTransformations",
    "DynamicResourceAllocation", "ElasticJobsViaWorkloadSlices", "ExposeFlavorsInLocalQueue", "FlavorFungibility",
    "HierarchicalCohorts", "KeepQuotaForProvReqRetry", "LendingLimit", "LocalQueueDefaulting", "LocalQueueMetrics",
    "ManagedJobsNamespaceSelector", "MultiKueue", "MultiKueueBatchJobWithManagedBy", "ObjectRetentionPolicies",
    "PartialAdmission", "PrioritySortingWithinCohort", "QueueVisibility", "TASFailedNodeReplacement",
    "TASProfileLeastFreeCapacity", "TASProfileMixed", "TopologyAwareScheduling", "VisibilityOnDemand",
    "WorkloadResourceRequestsSummary",
)  # fmt: skip
"""Feature gates of Kueue (its documentation, "Installation", as generally known, 2026-11); versions bring and drop
some, so that only what all but repeats one is told."""
_GATE: Final = re.compile(r"^featureGates:\s*\n((?:[ \t]+\S.*\n?)+)", re.MULTILINE)
_ONCE: Final = re.compile(r"^\s+backoffLimitCount:\s*0\s*$", re.MULTILINE)
_TEXT: Final = "values.managerConfig.controllerManagerConfigYaml"


def check_gates(view: View | None) -> None:
    """Features by their names, and how often a job may come back."""
    text = (view.text(_TEXT) or "") if view is not None else ""
    found = _GATE.search(text)
    if view is None:
        return
    for line in found[1].splitlines() if found is not None else ():
        name = line.strip().partition(":")[0]
        hint = "" if name in _GATES else nearest(name, _GATES, cutoff=_SLIP)
        if hint:
            view.error("kueue-configuration", _TEXT, f"no feature is called {show(name)}: the manager ends", hint=hint)
    if _ONCE.search(text):
        view.warning(
            "kueue-configuration", _TEXT,
            "requeuingStrategy.backoffLimitCount is 0: a job whose pods were late once never comes back",
            allowed="1 or more",
        )  # fmt: skip


_BLOCKS: Final = re.compile(r"^\s+blockAdmission:\s*true\s*$", re.MULTILINE)


def _blocks(view: View | None, room: Room) -> None:
    """A job whose nodes start from zero keeps all others waiting, of every team."""
    starting = [group for groups in room.groups.values() for group in groups if group.min_nodes == 0]
    text = (view.text(_TEXT) or "") if view is not None else ""
    if view is not None and starting and len(room.configuration.queues) > 1 and _BLOCKS.search(text):
        view.warning(
            "queues-pods-ready", _TEXT,
            f"waitForPodsReady.blockAdmission is true: while a job waits for a node of {starting[0].name}, which start "
            f"from zero, no job of any of {len(room.configuration.queues)} queues is admitted", allowed="false",
        )  # fmt: skip


def check_manager(view: View | None, room: Room) -> None:
    """Whether the manager waits long enough for pods whose nodes have to start first, and lets others by meanwhile."""
    check_gates(view)
    _blocks(view, room)
    manager = room.manager
    if view is None or manager is None or manager.waits_seconds is None or manager.waits_seconds >= _READY_SECONDS:
        return
    starting = [group for groups in room.groups.values() for group in groups if group.min_nodes == 0]
    if starting:
        view.warning(
            "queues-pods-ready",
            "values.managerConfig.controllerManagerConfigYaml",
            f"waitForPodsReady.timeout is {manager.waits_seconds:g} s: a job that starts a node of {starting[0].name} "
            "is evicted before the node is there",
            allowed="more than node start and image pull take, such as 30m",
        )
