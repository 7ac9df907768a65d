"""Refuses pods in team namespaces that would take GPUs, GPU nodes or CPU past what rations them.

With GPUs: a bare pod that tolerates the taints would take them past every quota. Kueue's own answer, its `pod`
integration, makes every pod of the cluster depend on its manager; an admission policy is evaluated by the API server
itself. A pod passes when it belongs to a Job, has the label that Kueue writes on admission, and is made by the Job
controller: anyone who may create pods can write the first two into one (seen on Kubernetes 1.35.4, 2026-11-22; the
controller drops the reference, and the pod runs on). Jobs of team namespaces cannot run without Kueue, so all three
together mean that a queue has counted it. JobSets and TrainJobs run as Jobs. That its template names no PriorityClass,
which the scheduler would use to evict single ranks of a running job, is asked of the job (`job_guard`).

Without GPUs: it stays off GPU nodes, which it would start or hold for nothing, and has the PriorityClass that counts it
against the team's part of the nodes for such pods.

With or without: no node by name, no claims of devices but of a pool's fast interfaces with a whole node, volumes of the
kinds that a team needs, and an end in time. Whoever deletes a pod may give it longer than it asked for itself, so that
is judged too. A change can add tolerations and nothing else that is asked here; a container for debugging has no
resources, and pod security judges it.
"""

from collections.abc import Sequence

import pulumi
import pulumi_kubernetes.admissionregistration.v1 as admission

from trainyard.components.k8s import pod_expressions as pods
from trainyard.components.k8s.admission import JOB_CONTROLLERS, SPEC_CHANGED, in_team_namespaces, rule
from trainyard.components.k8s.node_daemon import NodeDaemonArgs
from trainyard.components.k8s.pod_rules import Claimable, common_validations, forbid

POLICY = "gpu-pods-need-a-queue"
END_POLICY = "pods-end-in-time"

POD_SET_LABEL = "kueue.x-k8s.io/podset"
"""Kueue writes this label into the pod template of every Job, JobSet and TrainJob that it admits
(Kueue v0.19.2, pkg/controller/jobframework/reconciler.go, getPodSetsInfoFromStatus; read 2026-11-21)."""

_GPU_GUARD: admission.ValidatingAdmissionPolicySpecArgsDict = {
    "failure_policy": "Fail",
    "match_constraints": {"resource_rules": [rule("", "pods")]},
    "match_conditions": [{"name": "spec-changed", "expression": SPEC_CHANGED}],
    "variables": [
        # The scheduler has given a pod its node, and the queue has let it in, when it is changed.
        {"name": "isNew", "expression": "request.operation == 'CREATE'"},
        {"name": "usesGpus", "expression": pods.uses_gpus("object.spec")},
        {
            "name": "admitted",
            "expression": "has(object.metadata.labels) && "
            f"'{POD_SET_LABEL}' in object.metadata.labels && "
            "has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, "
            "o.apiVersion == 'batch/v1' && o.kind == 'Job' && has(o.controller) && o.controller) && "
            f"request.userInfo.username in [{', '.join(map(pods.text, JOB_CONTROLLERS))}]",
        },
    ],
}
_OF_PODS = (
    forbid("!variables.isNew || !variables.usesGpus || variables.admitted", "queue"),
    forbid(
        f"!(variables.isNew && {pods.names_its_node('object.spec')}) && "
        f"(variables.usesGpus || !{pods.tolerates_reserved_nodes('object.spec')})",
        "nodes",
    ),
    # A pod with GPUs may have another class: the default of the cluster. Its job's template may name none.
    forbid(
        f"variables.usesGpus != {pods.is_cpu_only('object.spec')} && !{pods.outranks_the_platform('object.spec')}",
        "priority",
    ),
)


def guard_of_pods(
    claimable: Sequence[Claimable], daemon: NodeDaemonArgs | None = None
) -> admission.ValidatingAdmissionPolicySpecArgsDict:
    """Refuses a pod with GPUs that is not a pod of an admitted Job, and one that takes what is not its own. The binding
    says where."""
    common = common_validations(lambda asked: asked("object.spec"), claimable, daemon)
    return {**_GPU_GUARD, "validations": [*_OF_PODS, *common]}


_GRACE = "request.options.gracePeriodSeconds"
END_GUARD: admission.ValidatingAdmissionPolicySpecArgsDict = {
    "failure_policy": "Fail",
    "match_constraints": {"resource_rules": [rule("", "pods", operations=["DELETE"])]},
    "validations": [
        forbid(
            f"!(has(request.options) && request.options != null && has({_GRACE}) && {_GRACE} != null) || "
            f"{_GRACE} <= {pods.LONGEST_GRACE_SECONDS}",
            "grace",
        )
    ],
}
"""Refuses a deletion that leaves a pod its GPUs for longer than the pod may ask for itself."""


def gpu_guard(
    name: str, claimable: Sequence[Claimable], parent: pulumi.Resource, daemon: NodeDaemonArgs | None = None
) -> None:
    """Makes the policies and binds them to the namespaces of teams; `claimable` is what pods may claim, `daemon` what
    they may have of their node besides."""
    in_team_namespaces(f"{name}-gpu-guard", POLICY, guard_of_pods(claimable, daemon), parent)
    in_team_namespaces(f"{name}-end-guard", END_POLICY, END_GUARD, parent)
