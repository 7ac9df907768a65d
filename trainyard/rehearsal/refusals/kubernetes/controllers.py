"""Deployments, DaemonSets, StatefulSets, Jobs, CronJobs and autoscalers: inputs that the API server weighs together.

Source: pkg/apis/apps, batch and autoscaling of Kubernetes 1.35 (their validation and defaults) as generally known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import as_number
from trainyard.rehearsal.clock import is_cron
from trainyard.rehearsal.context import View, listed, show

_JOB_NAME_LIMIT: Final = 63
_CRON_MACROS: Final = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")


def check(view: View, kind: str) -> None:
    """What the API server refuses of an object that makes pods, beyond the pods themselves."""
    rule = _RULES.get(kind)
    if rule is not None:
        rule(view)


def _endless(view: View) -> None:
    """Pods of a controller that keeps them running are started anew, and have no end."""
    spec = "spec.template.spec"
    policy = view.text(f"{spec}.restartPolicy")
    if policy in ("Never", "OnFailure"):
        view.error("k8s-restart-policy", f"{spec}.restartPolicy", f"got {show(policy)}", allowed="Always")
    if view.has(f"{spec}.activeDeadlineSeconds"):
        path = f"{spec}.activeDeadlineSeconds"
        view.error("k8s-restart-policy", path, "given for pods that run on", allowed="none, or a Job")
    selector = view.value("spec.selector")
    if isinstance(selector, Mapping) and not any(selector.values()):
        view.error("k8s-selector", "spec.selector", "is empty: it means every pod", allowed="labels of the template")
    _at_least(view, 0, "spec.replicas", "spec.minReadySeconds", "spec.revisionHistoryLimit")


def _deployment(view: View) -> None:
    _endless(view)
    rolling = "spec.strategy.rollingUpdate"
    if view.text("spec.strategy.type") == "Recreate" and view.has(rolling):
        view.error("k8s-rollout", rolling, "given with type Recreate", allowed="type RollingUpdate")
    gone, more = _share(view, f"{rolling}.maxUnavailable"), _share(view, f"{rolling}.maxSurge")
    if gone == 0 and more == 0:
        view.error(
            "k8s-rollout", f"{rolling}.maxUnavailable", "0 beside a maxSurge of 0", allowed="one of them above 0"
        )
    ready, deadline = view.number("spec.minReadySeconds"), view.number("spec.progressDeadlineSeconds")
    if deadline is not None and deadline <= (ready or 0) and not view.is_unknown("spec.minReadySeconds"):
        view.error(
            "k8s-rollout", "spec.progressDeadlineSeconds", f"got {deadline:g}", allowed="more than minReadySeconds"
        )


def _daemon_set(view: View) -> None:
    _endless(view)
    rolling = "spec.updateStrategy.rollingUpdate"
    gone, more = _share(view, f"{rolling}.maxUnavailable", 1), _share(view, f"{rolling}.maxSurge", 0)
    if gone == 0 and more == 0:
        view.error(
            "k8s-rollout", f"{rolling}.maxUnavailable", "0 beside a maxSurge of 0", allowed="one of them above 0"
        )
    elif gone and more:
        default = " (1 where it is not given)" if view.lacks(f"{rolling}.maxUnavailable") else ""
        view.error(
            "k8s-rollout", f"{rolling}.maxSurge", f"given beside maxUnavailable{default}", allowed="maxUnavailable 0"
        )


def _share(view: View, path: str, default: float | None = None) -> float | None:
    """A number or percentage of pods; the default where it is absent, None where it is unknown."""
    if view.lacks(path):
        return default
    text = view.text(path)
    number = as_number(text.removesuffix("%")) if text is not None and text.endswith("%") else view.number(path)
    if text is not None and (not text.endswith("%") or number is None):
        view.error("k8s-percentage", path, f"got {show(text)}", allowed="a number, or a percentage such as '25%'")
        return None
    if number is not None and (number < 0 or (text is not None and number > 100 and "maxSurge" not in path)):
        view.error("k8s-percentage", path, f"got {show(view.value(path))}", allowed="0 to 100%")
    return number


def _job(view: View, spec: str = "spec") -> None:
    pod = f"{spec}.template.spec"
    policy = view.text(f"{pod}.restartPolicy")
    if view.lacks(f"{pod}.restartPolicy") or policy == "Always":
        view.error("k8s-job", f"{pod}.restartPolicy", f"got {show(policy)}", allowed="one of Never, OnFailure")
    numbers = ("completions", "parallelism", "backoffLimit", "ttlSecondsAfterFinished", "backoffLimitPerIndex")
    _at_least(view, 0, *(f"{spec}.{key}" for key in (*numbers, "maxFailedIndexes")))
    _at_least(view, 1, f"{spec}.activeDeadlineSeconds")
    indexed = view.text(f"{spec}.completionMode") == "Indexed"
    known = not view.is_unknown(f"{spec}.completionMode")
    if indexed and view.lacks(f"{spec}.completions"):
        view.error("k8s-job", f"{spec}.completions", "is missing", allowed="needed with completionMode Indexed")
    for key in ("backoffLimitPerIndex", "maxFailedIndexes", "successPolicy"):
        if known and not indexed and view.has(f"{spec}.{key}"):
            view.error("k8s-job", f"{spec}.{key}", "given without completionMode Indexed", allowed="Indexed")
    if view.has(f"{spec}.maxFailedIndexes") and view.lacks(f"{spec}.backoffLimitPerIndex"):
        view.error("k8s-job", f"{spec}.backoffLimitPerIndex", "is missing", allowed="needed with maxFailedIndexes")
    if view.has(f"{spec}.selector") and view.flag(f"{spec}.manualSelector") is not True:
        view.error("k8s-job", f"{spec}.selector", "is made by the Job controller", allowed="none")
    name, count = view.text("metadata.name"), view.number(f"{spec}.completions")
    if spec == "spec" and name is not None and indexed and count:
        longest = f"{name}-{count - 1:.0f}"
        if len(longest) > _JOB_NAME_LIMIT:
            view.error(
                "k8s-name", "metadata.name", f"the pod's host name {show(longest)} has {len(longest)} characters",
                allowed=f"at most {_JOB_NAME_LIMIT} with the index",
            )  # fmt: skip
    if view.has(f"{spec}.podFailurePolicy"):
        _failure_policy(view, spec, policy)
    rules = listed(view.value(f"{spec}.successPolicy.rules"))
    if view.has(f"{spec}.successPolicy") and not rules and not view.blurred(f"{spec}.successPolicy.rules"):
        view.error("k8s-job", f"{spec}.successPolicy.rules", "is empty", allowed="1 to 20 rules")
    for path, entry in view.items(f"{spec}.successPolicy.rules"):
        if entry.get("succeededIndexes") is None and entry.get("succeededCount") is None:
            view.error("k8s-job", path, "says nothing", allowed="succeededIndexes or succeededCount")


def _failure_policy(view: View, spec: str, policy: str | None) -> None:
    if policy == "OnFailure":
        view.error(
            "k8s-job", f"{spec}.template.spec.restartPolicy", "OnFailure beside podFailurePolicy", allowed="Never"
        )
    if view.text(f"{spec}.podReplacementPolicy") == "TerminatingOrFailed":
        view.error("k8s-job", f"{spec}.podReplacementPolicy", "beside podFailurePolicy", allowed="Failed")
    pod = f"{spec}.template.spec"
    lists = (f"{pod}.containers", f"{pod}.initContainers")
    names = {entry.get("name") for path in lists for _, entry in view.items(path)}
    unsure = UNKNOWN in names or any(view.is_unknown(path) or view.blurred(path) for path in lists)
    for path, entry in view.items(f"{spec}.podFailurePolicy.rules"):
        codes, conditions = entry.get("onExitCodes"), entry.get("onPodConditions")
        if bool(codes) == bool(conditions) and UNKNOWN not in (codes, conditions):
            view.error(
                "k8s-job", path, f"{'both' if codes else 'none'} given", allowed="onExitCodes or onPodConditions"
            )
        if entry.get("action") == "FailIndex" and view.lacks(f"{spec}.backoffLimitPerIndex"):
            view.error("k8s-job", f"{path}.action", "FailIndex without backoffLimitPerIndex", allowed="FailJob, Ignore")
        if isinstance(codes, Mapping):
            _exit_codes(view, f"{path}.onExitCodes", codes, None if unsure else names)


def _exit_codes(view: View, path: str, codes: Mapping[str, Any], names: set[Any] | None) -> None:
    values = [as_number(item) for item in listed(codes.get("values"))]
    known = [item for item in values if item is not None]
    if len(known) != len(values) or codes.get("values") is UNKNOWN:
        return
    if not values:
        view.error("k8s-job", f"{path}.values", "is empty", allowed="1 to 255 exit codes")
    elif known != sorted(set(known)):
        view.error("k8s-job", f"{path}.values", f"got {show(codes['values'])}", allowed="in order, each code once")
    elif codes.get("operator") == "In" and 0 in known:
        view.error("k8s-job", f"{path}.values", "0 with operator In", allowed="codes of failures")
    name = codes.get("containerName")
    if isinstance(name, str) and names is not None and name not in names:
        view.error("k8s-job", f"{path}.containerName", f"the pod has no container {show(name)}")


def _cron_job(view: View) -> None:
    _job(view, "spec.jobTemplate.spec")
    schedule, name = view.text("spec.schedule"), view.text("metadata.name")
    if schedule is not None and not _is_schedule(schedule):
        view.error("k8s-schedule", "spec.schedule", f"got {show(schedule)}", allowed="five fields such as '0 3 * * *'")
    if name is not None and len(name) > 52:
        view.error("k8s-name", "metadata.name", f"has {len(name)} characters", allowed="at most 52: jobs add a suffix")
    _at_least(view, 0, "spec.startingDeadlineSeconds", "spec.successfulJobsHistoryLimit", "spec.failedJobsHistoryLimit")


def _is_schedule(text: str) -> bool:
    if text.startswith("@"):
        return text in _CRON_MACROS or re.fullmatch(r"@every \S+", text) is not None
    return is_cron(text, last_day=6)  # robfig/cron v3, `spec.go`: Sunday is 0 and never 7


def _autoscaler(view: View) -> None:
    least, most = view.number("spec.minReplicas"), view.number("spec.maxReplicas")
    _at_least(view, 1, "spec.maxReplicas", "spec.minReplicas")
    if least is not None and most is not None and least > most:
        view.error("k8s-autoscaler", "spec.maxReplicas", f"{most:g} is below minReplicas {least:g}")


def _at_least(view: View, least: int, *paths: str) -> None:
    for path in paths:
        number = view.number(path)
        if number is not None and number < least:
            view.error("k8s-number", path, f"got {number:g}", allowed=f"at least {least}")


_LABEL_LENGTH: Final = 63
_SUFFIX: Final = 6
"""A dash and five letters, which a pod's name ends with."""


def _job_set(view: View) -> None:
    """Names of the jobs and pods that are made of a set (JobSet 0.12, `pkg/webhooks/jobset_webhook.go`)."""
    name = view.text("metadata.name")
    before: list[str] = []
    are_known = not any(entry.get("name") is UNKNOWN for _, entry in view.items("spec.replicatedJobs"))
    for path, entry in view.items("spec.replicatedJobs"):
        for here, other in view.items(f"{path}.dependsOn"):
            if isinstance(other.get("name"), str) and other["name"] not in before and are_known:
                allowed = f"one of {', '.join(before)}, which come before it" if before else "none for the first job"
                view.error("k8s-job-set", f"{here}.name", f"got {show(other['name'])}", allowed=allowed)
        before.append(str(entry.get("name") or ""))
        pods = view.number(f"{path}.template.spec.completions") or view.number(f"{path}.template.spec.parallelism") or 1
        jobs = view.number(f"{path}.replicas") or 1
        longest = f"{name}-{entry.get('name')}-{jobs - 1:.0f}-{pods - 1:.0f}"
        is_indexed = view.text(f"{path}.template.spec.completionMode") in (None, "Indexed")
        is_counted = is_indexed and view.has(f"{path}.template.spec.completions")  # else it looks at the job's alone
        length = len(longest) + _SUFFIX if is_counted else len(longest.rpartition("-")[0])
        if name is not None and isinstance(entry.get("name"), str) and length > _LABEL_LENGTH:
            view.error(
                "k8s-name", "metadata.name", f"with job {entry['name']} its pods have names of {length} characters",
                allowed=f"at most {max(1, len(name) - length + _LABEL_LENGTH)} characters",
            )  # fmt: skip


_RULES: Final[Mapping[str, Callable[[View], None]]] = {
    "CronJob": _cron_job,
    "DaemonSet": _daemon_set,
    "Deployment": _deployment,
    "HorizontalPodAutoscaler": _autoscaler,
    "Job": _job,
    "JobSet": _job_set,
    "ReplicaSet": _endless,
    "StatefulSet": _endless,
}
