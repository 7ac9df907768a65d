"""Sets of jobs and training runtimes: words that a rule waits for, nodes and policies that a trainer takes.

Sources: JobSet 0.12, API reference (`onJobFailureMessagePatterns` is compared with the message of the Job's condition);
Kubeflow Trainer 2.3, API reference and `pkg/webhooks` (one policy of a framework; each replicated job of a runtime has
one replica) (2026-11).
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from trainyard.recorded.model import UNKNOWN
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, place
from trainyard.rehearsal.works.references.kubernetes.training import SETS

_POLICIES: Final = ("torch", "mpi", "jax", "xgboost", "flux")


_RESERVED: Final = {
    "torch": ("PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT"),
}
"""Variables that a policy sets itself, and the webhook takes from no job (kubeflow/trainer 2.3, `constants.go`)."""


def check(cluster: Cluster) -> None:
    """Every set of jobs, every runtime, and what a job says of its runtime's own."""
    for view in cluster.of("TrainJob.trainer.kubeflow.org"):
        _reserved(view, cluster)
    for kind, path in SETS.items():
        for view in cluster.of(kind):
            _messages(view, path)
            if "Runtime" in kind:
                _policy(view, path)


def _policy(view: View, path: str) -> None:
    nodes = view.number("spec.mlPolicy.numNodes")
    if nodes is not None and nodes < 1:
        view.error(
            "reference-runtime-policy", "spec.mlPolicy.numNodes",
            f"is {nodes:g}: a job that does not say how many nodes it takes has none", allowed="1 or more",
        )  # fmt: skip
    given = [one for one in _POLICIES if view.value(f"spec.mlPolicy.{one}") is not None]
    if len(given) > 1:
        view.error(
            "reference-runtime-policy", f"spec.mlPolicy.{given[1]}",
            f"is given beside {given[0]}: the runtime is refused", allowed="one of them",
        )  # fmt: skip
    for job, entry in view.items(f"{path}.replicatedJobs"):
        replicas = view.number(f"{job}.replicas")
        if replicas is not None and replicas != 1:
            view.error(
                "reference-runtime-policy", f"{job}.replicas",
                f"is {replicas:g}: the trainer takes one {entry.get('name')} alone, and numNodes says how many pods it "
                "has", allowed="1, or left out",
            )  # fmt: skip


def _reserved(view: View, cluster: Cluster) -> None:
    """A variable of a job's trainer that its runtime's policy sets."""
    kind = view.text("spec.runtimeRef.kind") or "ClusterTrainingRuntime"
    space = place(view) if kind == "TrainingRuntime" else ""
    name = view.text("spec.runtimeRef.name")
    runtime = cluster.find(f"{kind}.trainer.kubeflow.org", space, name) if name and space is not None else None
    taken = [
        one
        for policy, names in _RESERVED.items()
        if runtime is not None and runtime.has(f"spec.mlPolicy.{policy}")
        for one in names
    ]
    for path, entry in view.items("spec.trainer.env"):
        if entry.get("name") in taken:
            view.error(
                "reference-runtime-policy", f"{path}.name",
                f"{entry['name']} is the runtime's to set: the job is refused",
                allowed="numNodes and numProcPerNode of the trainer",
            )  # fmt: skip


_MESSAGES: Final = {
    "BackoffLimitExceeded": "Job has reached the specified backoff limit",
    "DeadlineExceeded": "Job was active longer than specified deadline",
    "MaxFailedIndexesExceeded": "Job has exceeded the specified maximal number of failed indexes",
    "FailedIndexes": "Job has failed indexes",
}
"""What a Job says of its end, by its reason (kubernetes/kubernetes `pkg/controller/job/job_controller.go`, 2026-11)."""


_OF_NAMES: Final = re.compile(r"[Cc]ontainer|\b[Pp]ods?\b|condition")
"""Words of a pattern that names a container, a pod or a condition: none of their names are known here."""


@cache
def _is_said(pattern: str, reasons: tuple[str, ...]) -> bool:
    """Whether a Job can end with words that a pattern finds."""
    try:
        wanted = re.compile(pattern)
    except re.error:
        return True  # of another dialect, or refused as none
    said = [text for reason, text in _MESSAGES.items() if not reasons or reason in reasons]
    if not reasons or "PodFailurePolicy" in reasons:
        said += [
            f"Container {name} for pod n/p-0-0-x failed with exit code {code} matching FailJob rule at index {rule}"
            for name in ("node", "fabric")
            for code in range(1, 256)
            for rule in (0, 1)
        ]
        said += [
            f"Pod n/p-0-0-x has condition {kind} matching FailJob rule at index {rule}"
            for kind in ("DisruptionTarget", "ConfigIssue")
            for rule in (0, 1, 2)
        ]
    return any(map(wanted.search, said))


def _messages(view: View, path: str) -> None:
    """A rule about words that no Job ends with never holds."""
    for rule, entry in view.items(f"{path}.failurePolicy.rules"):
        if UNKNOWN in (entry.get("onJobFailureReasons"), entry.get("onJobFailureMessagePatterns")):
            continue
        reasons = tuple(map(str, listed(entry.get("onJobFailureReasons"))))
        for index, pattern in enumerate(view.texts(f"{rule}.onJobFailureMessagePatterns")):
            named = _OF_NAMES.search(pattern)
            if named is None and not _is_said(pattern, reasons):
                view.error(
                    "reference-failure-message", f"{rule}.onJobFailureMessagePatterns[{index}]",
                    f"no Job ends with words that {show(pattern)} finds: the rule never holds",
                    allowed="a pattern of 'Container NAME for pod NAMESPACE/NAME failed with exit code N matching "
                    "FailJob rule at index I'",
                )  # fmt: skip
