"""Refuses pods in team namespaces that would take GPUs, GPU nodes or CPU past what rations them.

With GPUs: a bare pod that tolerates the taints would take them past every quota. Kueue's own answer, its `pod`
integration, makes every pod of the cluster depend on its manager; an admission policy is evaluated by the API server
itself. A pod passes when it belongs to a Job, has the label that Kueue writes on admission, and is made by the Job
controller: anyone who may create pods can write the first two into one (seen on Kubernetes 1.35.4, 2026-11-22; the
controller drops the reference, and the pod runs on). Jobs of team namespaces cannot run without Kueue, so all three
together mean that a queue has counted it. JobSets and TrainJobs run as Jobs. That its template names no PriorityClass,
which the scheduler would use to evict single ranks of a running job, is asked of the job (`job_guard`).

Without GPUs: it stays off GPU nodes, which it would start or hold for nothing, and has the PriorityClass that counts it
against the team's part of the system nodes.
"""

import pulumi
import pulumi_kubernetes.admissionregistration.v1 as admission

from trainyard.components.k8s import pod_expressions as pods
from trainyard.components.k8s.objects import named
from trainyard.conventions import CPU_ONLY_PRIORITY, TEAM_LABEL

POLICY = "gpu-pods-need-a-queue"

POD_SET_LABEL = "kueue.x-k8s.io/podset"
"""Kueue writes this label into the pod template of every Job, JobSet and TrainJob that it admits
(Kueue v0.19.2, pkg/controller/jobframework/reconciler.go, getPodSetsInfoFromStatus; read 2026-11-21)."""

JOB_CONTROLLERS = ("system:serviceaccount:kube-system:job-controller", "system:kube-controller-manager")
"""Who makes the pods of Jobs: the second where the controllers share one identity
(kube-controller-manager without --use-service-account-credentials)."""

MESSAGES = {
    "queue": "GPU pods run through a queue: submit a Job, JobSet or TrainJob with the label kueue.x-k8s.io/queue-name.",
    "nodes": "Pods without GPUs stay off GPU nodes: take away the toleration of nvidia.com/gpu and the nodeName. "
    "The queue adds the toleration to pods that ask for GPUs.",
    "priority": f"Pods without GPUs state priorityClassName: {CPU_ONLY_PRIORITY}, which counts them against the team's "
    "part of the system nodes; pods with GPUs state none, the queue decides who goes first.",
}

GPU_GUARD: admission.ValidatingAdmissionPolicySpecArgsDict = {
    "failure_policy": "Fail",
    "match_constraints": {
        "resource_rules": [
            {"api_groups": [""], "api_versions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
        ]
    },
    "variables": [
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
    "validations": [
        {
            "expression": "!variables.usesGpus || variables.admitted",
            "message": MESSAGES["queue"],
            "reason": "Forbidden",
        },
        {
            "expression": f"variables.usesGpus || !{pods.reaches_gpu_nodes('object.spec')}",
            "message": MESSAGES["nodes"],
            "reason": "Forbidden",
        },
        {
            # A pod with GPUs may have another class: the default of the cluster. Its job's template may name none.
            "expression": f"variables.usesGpus != {pods.is_cpu_only('object.spec')}",
            "message": MESSAGES["priority"],
            "reason": "Forbidden",
        },
    ],
}
"""Refuses a pod with GPUs that is not a pod of an admitted Job, and one without that takes what is not its own. The
binding says where."""


def gpu_guard(name: str, parent: pulumi.Resource) -> None:
    """Makes the policy and binds it to the namespaces of teams."""
    in_team_namespaces(f"{name}-gpu-guard", POLICY, GPU_GUARD, parent)


def in_team_namespaces(
    name: str, policy_name: str, spec: admission.ValidatingAdmissionPolicySpecArgsDict, parent: pulumi.Resource
) -> None:
    """Makes an admission policy that denies, bound to the namespaces of teams."""
    policy = admission.ValidatingAdmissionPolicy(
        name,
        metadata={"name": policy_name},
        spec=spec,
        opts=pulumi.ResourceOptions(parent=parent),
    )
    admission.ValidatingAdmissionPolicyBinding(
        f"{name}-binding",
        metadata={"name": policy_name},
        spec={
            "policy_name": named(policy, policy_name),
            "validation_actions": ["Deny"],
            "match_resources": {
                "namespace_selector": {"match_expressions": [{"key": TEAM_LABEL, "operator": "Exists"}]}
            },
        },
        opts=pulumi.ResourceOptions(parent=parent),
    )
