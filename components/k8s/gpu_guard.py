"""Refuses GPU pods in team namespaces that no queue has admitted.

A bare pod that tolerates the taints would take GPUs past every quota. Kueue's own answer, its `pod` integration, makes
every pod of the cluster depend on its manager; an admission policy is evaluated by the API server itself.

A pod passes when it belongs to a Job and has the label that Kueue writes on admission. Jobs of team namespaces cannot
run without Kueue, and a Job's pods are made by the Job controller, so both together mean that a queue has counted them.
JobSets and TrainJobs run as Jobs. Any resource of NVIDIA counts, slices (`nvidia.com/mig-...`) as well.
"""

import pulumi
import pulumi_kubernetes.admissionregistration.v1 as admission

from trainyard.components.k8s.objects import named
from trainyard.conventions import TEAM_LABEL

POLICY = "gpu-pods-need-a-queue"

POD_SET_LABEL = "kueue.x-k8s.io/podset"
"""Kueue writes this label into the pod template of every Job, JobSet and TrainJob that it admits
(Kueue v0.19.2, pkg/controller/jobframework/reconciler.go, getPodSetsInfoFromStatus; read 2026-11-21)."""

GPU_GUARD: admission.ValidatingAdmissionPolicySpecArgsDict = {
    "failure_policy": "Fail",
    "match_constraints": {
        "resource_rules": [
            {"api_groups": [""], "api_versions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
        ]
    },
    "variables": [
        {
            "name": "containers",
            "expression": "object.spec.containers + "
            "(has(object.spec.initContainers) ? object.spec.initContainers : [])",
        },
        {
            "name": "usesGpus",
            "expression": "variables.containers.exists(c, has(c.resources) && ("
            "(has(c.resources.limits) && c.resources.limits.exists(r, r.startsWith('nvidia.com/'))) || "
            "(has(c.resources.requests) && c.resources.requests.exists(r, r.startsWith('nvidia.com/')))))",
        },
        {
            "name": "admitted",
            "expression": "has(object.metadata.labels) && "
            f"'{POD_SET_LABEL}' in object.metadata.labels && "
            "has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, "
            "o.apiVersion == 'batch/v1' && o.kind == 'Job' && has(o.controller) && o.controller)",
        },
    ],
    "validations": [
        {
            "expression": "!variables.usesGpus || variables.admitted",
            "message": "GPU pods run through a queue: submit a Job, JobSet or TrainJob with the label "
            "kueue.x-k8s.io/queue-name.",
            "reason": "Forbidden",
        }
    ],
}
"""Refuses a pod with GPUs that is not a pod of an admitted Job. The binding says where."""


def gpu_guard(name: str, parent: pulumi.Resource) -> None:
    """Makes the policy and binds it to the namespaces of teams."""
    policy = admission.ValidatingAdmissionPolicy(
        f"{name}-gpu-guard",
        metadata={"name": POLICY},
        spec=GPU_GUARD,
        opts=pulumi.ResourceOptions(parent=parent),
    )
    admission.ValidatingAdmissionPolicyBinding(
        f"{name}-gpu-guard-binding",
        metadata={"name": POLICY},
        spec={
            "policy_name": named(policy, POLICY),
            "validation_actions": ["Deny"],
            "match_resources": {
                "namespace_selector": {"match_expressions": [{"key": TEAM_LABEL, "operator": "Exists"}]}
            },
        },
        opts=pulumi.ResourceOptions(parent=parent),
    )
