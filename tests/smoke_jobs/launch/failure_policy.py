"""How the controllers judge pods and jobs that failed, for tests of the rules that the manifests state.

Job: kubernetes `pkg/controller/job` (pod_failure_policy.go; the order in syncJob): the first rule that matches a failed
pod decides about it; any pod that a `FailJob` rule matches fails the Job, before failures are counted; pods of an
`Ignore` rule are not counted, others are, and more than `backoffLimit` fail the Job.
JobSet: kubernetes-sigs/jobset v0.12.0 `pkg/controllers/failure_policy.go`: the first rule whose reasons and patterns
match the failed Job's condition decides; without one the set restarts and that counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Pod:
    """A pod that has ended: exit code of its container, and whether it has the condition DisruptionTarget."""

    exit_code: int
    disrupted: bool = False


def _matches(rule: dict[str, Any], pod: Pod) -> bool:
    if "onExitCodes" in rule:
        wanted = rule["onExitCodes"]
        return pod.exit_code != 0 and (pod.exit_code in wanted["values"]) == (wanted["operator"] == "In")
    return pod.disrupted and {"type": "DisruptionTarget", "status": "True"} in rule["onPodConditions"]


def job_failure(job_spec: dict[str, Any], pods: Sequence[Pod]) -> tuple[str, str] | None:
    """Reason and message of the Job's `Failed` condition, or None where it goes on."""
    rules = job_spec.get("podFailurePolicy", {}).get("rules", [])
    failed = [pod for pod in pods if pod.exit_code != 0]
    matched = [
        (pod, next(((index, rule) for index, rule in enumerate(rules) if _matches(rule, pod)), None)) for pod in failed
    ]
    for pod, match in matched:
        if match is not None and match[1]["action"] == "FailJob":
            index, rule = match
            what = (
                f"Container node for pod ns/pod failed with exit code {pod.exit_code}"
                if "onExitCodes" in rule
                else "Pod ns/pod has condition DisruptionTarget"
            )
            return "PodFailurePolicy", f"{what} matching FailJob rule at index {index}"
    counted = [pod for pod, match in matched if match is None or match[1]["action"] == "Count"]
    if len(counted) > job_spec["backoffLimit"]:
        return "BackoffLimitExceeded", "Job has reached the specified backoff limit"
    return None


def job_goes_on(job_spec: dict[str, Any], pods: Sequence[Pod]) -> bool:
    """Whether the Job makes the failed pods again instead of failing."""
    return job_failure(job_spec, pods) is None


def job_set_action(job_set_spec: dict[str, Any], failure: tuple[str, str]) -> str:
    """What a JobSet does about a Job that failed with this reason and message."""
    reason, message = failure
    for rule in job_set_spec["failurePolicy"].get("rules", []):
        reasons, patterns = rule.get("onJobFailureReasons", []), rule.get("onJobFailureMessagePatterns", [])
        if (not reasons or reason in reasons) and (not patterns or any(re.search(p, message) for p in patterns)):
            return str(rule["action"])
    return "RestartJobSet"
