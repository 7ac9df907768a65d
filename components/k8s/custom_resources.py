"""Manifests of the custom resources that the platform writes: Kueue's and the Kubeflow Trainer's.

One function a kind, each returning a plain dict that the tests hold against the schemas of the pinned versions, and one
resource that takes such a dict. `pulumi_kubernetes.apiextensions.CustomResource` is not used because it has `metadata`
and `spec` only: a `WorkloadPriorityClass` keeps its `value` beside them.

Quantities are text throughout: the server keeps `24` as `"24"` and every preview would show the difference.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import pulumi

from trainyard import cards
from trainyard.components.k8s.quantities import whole

Manifest = dict[str, Any]
"""A Kubernetes object as JSON would have it; values may be outputs."""

KUEUE = "kueue.x-k8s.io/v1beta2"
TRAINER = "trainer.kubeflow.org/v1alpha1"


EXCLUSIVE_TOPOLOGY: Final = "alpha.jobset.sigs.k8s.io/exclusive-topology"
"""Annotation of a JobSet, or of the template of one of its jobs: a label of nodes by whose values jobs stand apart
(JobSet, "Concepts", read 2026-11; of a template, as generally known)."""


class CustomResource(pulumi.CustomResource):
    """A custom resource, registered exactly as its manifest says; replaced when what cannot be changed changes."""

    def __init__(self, name: str, manifest: Manifest, opts: pulumi.ResourceOptions | None = None) -> None:
        type_ = f"kubernetes:{manifest['apiVersion']}:{manifest['kind']}"
        unchangeable = cards.of(type_).unchangeable
        if unchangeable:
            opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(replace_on_changes=[*unchangeable]))
        super().__init__(type_, name, dict(manifest), opts)


def resource_flavor(name: str, node_labels: Mapping[str, str], tolerations: Sequence[Mapping[str, str]]) -> Manifest:
    """A ResourceFlavor: the nodes that carry `node_labels`.

    Kueue adds labels and tolerations to the pods that it admits into the flavor. It does not look at nodes: a taint
    that `tolerations` leaves out keeps admitted pods Pending, with their quota taken. `nodeTaints` is left out on
    purpose: it would make Kueue refuse every job that does not state the tolerations itself. At most 8 labels and 8
    tolerations.
    """
    return {
        "apiVersion": KUEUE,
        "kind": "ResourceFlavor",
        "metadata": {"name": name},
        "spec": {"nodeLabels": dict(node_labels), "tolerations": [dict(toleration) for toleration in tolerations]},
    }


def cohort(name: str) -> Manifest:
    """A Cohort: queues that lend each other what they do not use. Its quota is what its queues bring."""
    return {"apiVersion": KUEUE, "kind": "Cohort", "metadata": {"name": name}, "spec": {}}


def cluster_queue(
    name: str,
    *,
    cohort_name: str,
    namespace_labels: Mapping[str, str],
    quotas: Mapping[str, Sequence[tuple[str, int]]],
    when_can_borrow: str,
    weight: int | str,
    checked: Sequence[str] = (),
    reclaims: bool = True,
) -> Manifest:
    """A ClusterQueue that rations resources, each over flavors of its own, tried in the given order.

    `quotas` are pairs of flavor and nominal quota by resource, in its units (0 lets the team borrow there and owns
    nothing). A resource without any is not covered, and a job that asks for it is refused with a message that says so.

    - `namespaceSelector` names the one team: a LocalQueue may point to anybody's ClusterQueue, so this is the fence.
    - `reclaimWithinCohort: Any`: an owner gets lent quota back at once, whatever the borrower's priority, for a job
      that fits its quota of one flavor. `Never` where `reclaims` is false: it takes nothing that anybody has.
    - `borrowWithinCohort: Never`, the only policy that goes with fair sharing; any other is accepted and ignored. Any
      team may call its jobs `production`; that must not cost other teams theirs.
    - `withinClusterQueue: LowerPriority`: a production job preempts a development one of its own team.
    - `fairSharing.weight`: its part of what others leave idle, in proportion to the other queues' weights. Above 0: a
      queue of weight 0 is behind everybody for ever. As text it is a quantity below 1.
    - No `stopPolicy`: an administrator holds a queue by hand, and a manifest that says `None` makes the next apply fail
      (409) or lifts the hold.
    - `when_can_borrow` (`TryNextFlavor`, `MayStopSearch`): own quota of later flavors before borrowing, or not.
    - `whenCanPreempt: TryNextFlavor`: a free flavor comes before somebody's eviction.
    - `checked` are flavors whose jobs wait for an admission check of the flavor's name; the others' do not.
    - `BestEffortFIFO`: a job that can never fit does not hold up those behind it.
    """
    groups = [
        {
            "coveredResources": [resource],
            "flavors": [
                {"name": flavor, "resources": [{"name": resource, "nominalQuota": whole(quota)}]}
                for flavor, quota in of_flavors
            ],
        }
        for resource, of_flavors in quotas.items()
        if of_flavors
    ]
    return {
        "apiVersion": KUEUE,
        "kind": "ClusterQueue",
        "metadata": {"name": name},
        "spec": {
            "cohortName": cohort_name,
            "queueingStrategy": "BestEffortFIFO",
            "namespaceSelector": {"matchLabels": dict(namespace_labels)},
            # Left out without quotas: the manager, which writes its finalizer, does not keep an empty list.
            **({"resourceGroups": groups} if groups else {}),
            **({"admissionChecksStrategy": {"admissionChecks": _checks(checked)}} if checked else {}),
            "preemption": {
                "reclaimWithinCohort": "Any" if reclaims else "Never",
                "borrowWithinCohort": {"policy": "Never"},
                "withinClusterQueue": "LowerPriority",
            },
            "flavorFungibility": {"whenCanBorrow": when_can_borrow, "whenCanPreempt": "TryNextFlavor"},
            "fairSharing": {"weight": whole(weight) if isinstance(weight, int) else weight},
        },
    }


def _checks(flavors: Sequence[str]) -> list[Manifest]:
    return [{"name": flavor, "onFlavors": [flavor]} for flavor in flavors]


def provisioning_check(name: str, config: str) -> Manifest:
    """An AdmissionCheck: a job has its quota, and starts once the autoscaler has all of its nodes."""
    parameters = {"apiGroup": KUEUE.partition("/")[0], "kind": "ProvisioningRequestConfig", "name": config}
    return {
        "apiVersion": KUEUE,
        "kind": "AdmissionCheck",
        "metadata": {"name": name},
        "spec": {"controllerName": "kueue.x-k8s.io/provisioning-request", "parameters": parameters},
    }


def provisioning_config(name: str, class_name: str, resource: str, max_run_seconds: int) -> Manifest:
    """A ProvisioningRequestConfig: what is asked of the autoscaler for a job, and how often where it is refused.

    A job asks for less time by the annotation `provreq.kueue.x-k8s.io/maxRunDurationSeconds`.
    """
    return {
        "apiVersion": KUEUE,
        "kind": "ProvisioningRequestConfig",
        "metadata": {"name": name},
        "spec": {
            "provisioningClassName": class_name,
            "managedResources": [resource],
            "parameters": {"maxRunDurationSeconds": str(max_run_seconds)},
            "retryStrategy": {"backoffLimitCount": 2, "backoffBaseSeconds": 60, "backoffMaxSeconds": 1800},
            "podSetMergePolicy": "IdenticalPodTemplates",
        },
    }


def local_queue(name: str, namespace: pulumi.Input[str], cluster_queue_name: str) -> Manifest:
    """A LocalQueue: the name under which a namespace's jobs reach a ClusterQueue (which can never be changed)."""
    return {
        "apiVersion": KUEUE,
        "kind": "LocalQueue",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"clusterQueue": cluster_queue_name},
    }


def resource_claim_template(name: str, namespace: pulumi.Input[str], device_class: str, count: int) -> Manifest:
    """A ResourceClaimTemplate: each pod that names it claims so many devices of one node (resource.k8s.io/v1)."""
    exactly = {"deviceClassName": device_class, "allocationMode": "ExactCount", "count": count}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"spec": {"devices": {"requests": [{"name": "devices", "exactly": exactly}]}}},
    }


def workload_priority_class(name: str, value: int, description: str) -> Manifest:
    """A WorkloadPriorityClass: who goes first within a team. Higher `value` (int32) first."""
    return {
        "apiVersion": KUEUE,
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": name},
        "value": value,
        "description": description,
    }


def cluster_training_runtime(
    name: str,
    *,
    pod: Manifest,
    max_restarts: int,
    permanent_exit_codes: Sequence[int] = (),
    checked_by: Sequence[str] = (),
    pod_annotations: Mapping[str, str] | None = None,
    nodes: int = 1,
    framework: Literal["torch", "jax"] = "torch",
    alone_in: str | None = None,
) -> Manifest:
    """A ClusterTrainingRuntime for `torch.distributed`, one pod a node; for JAX one that starts no launcher: each pod
    is a process.

    `nodes` are those of a job that says no number. `alone_in` is a label of nodes: the pods of a job stand where it has
    one value, and no other job's there (JobSet, "Exclusive placement"; the annotation of a job's own template).

    `pod` is the pod's spec; its training container has to be called `node`, as has the replicated job, for the Trainer
    to find them. A rank is never restarted alone (`backoffLimit: 0`): the others would hang in a collective until
    NCCL's timeout. The job set restarts whole, from its last checkpoint:

    - where a pod was taken away (condition DisruptionTarget: eviction, spot reclaim, lost node), however often. A long
      job on spot nodes is reclaimed more often than any number that would still stop a fault in time. The price: a job
      that is evicted through its own doing, as one that fills the disk of its node, starts again without end. What
      bounds it is the job's own: `activeDeadlineSeconds` of the TrainJob, and a limit of `ephemeral-storage` in its
      `resourcesPerNode`, above which a pod fails without that condition and is counted;
    - after any other failure at most `max_restarts` times. That includes the survivors of a lost node whose torchrun
      gave up (exit code 1, measured) before the lost pod was found to have failed;
    - never where the container, or one of the init containers `checked_by`, ended with one of
      `permanent_exit_codes`, 1 to 255.

    Both kinds reach the job set as one reason, `PodFailurePolicy`: the rule on exit codes tells them apart by the
    message of the job controller ("Container node for pod ... failed with exit code 10 matching FailJob rule ...").
    """
    pod_rules: list[Manifest] = [
        {"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    ]
    job_rules: list[Manifest] = [
        {
            "name": "disruption",
            "action": "RestartJobSetAndIgnoreMaxRestarts",
            "onJobFailureReasons": ["PodFailurePolicy"],
        }
    ]
    if permanent_exit_codes:
        codes = sorted(permanent_exit_codes)
        pod_rules += [
            {"action": "FailJob", "onExitCodes": {"containerName": container, "operator": "In", "values": codes}}
            for container in ("node", *checked_by)
        ]
        job_rules.insert(
            0,
            {
                "name": "permanent",
                "action": "FailJobSet",
                "onJobFailureReasons": ["PodFailurePolicy"],
                "onJobFailureMessagePatterns": [f"failed with exit code ({'|'.join(map(str, codes))}) "],
            },
        )
    job = {
        "name": "node",
        "template": {
            "metadata": {
                "labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"},
                **({"annotations": {EXCLUSIVE_TOPOLOGY: alone_in}} if alone_in else {}),
            },
            "spec": {
                "backoffLimit": 0,
                "podFailurePolicy": {"rules": pod_rules},
                "template": {
                    **({"metadata": {"annotations": dict(pod_annotations)}} if pod_annotations else {}),
                    "spec": pod,
                },
            },
        },
    }
    failure_policy = {"maxRestarts": max_restarts, "rules": job_rules}
    return {
        "apiVersion": TRAINER,
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": name, "labels": {"trainer.kubeflow.org/framework": framework}},
        "spec": {
            "mlPolicy": {"numNodes": nodes, **({"torch": {}} if framework == "torch" else {})},
            "template": {"spec": {"failurePolicy": failure_policy, "replicatedJobs": [job]}},
        },
    }
