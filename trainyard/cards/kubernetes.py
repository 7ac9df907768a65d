"""Objects of a Kubernetes cluster: they run on nodes that are paid for already, unless a rule says otherwise."""

from __future__ import annotations

from typing import Any, Final

from trainyard.cards.card import Card, Free, Priced, Seconds, estimate
from trainyard.conventions import SMOKE_COMPONENT_PREFIX

OBJECT: Final = estimate(2, "an object that the API server takes at once")
_READY: Final = "images are pulled and pods become ready"
_ON_NODES: Final = Free("an object of the cluster: it runs on the nodes, which are billed with their node groups")
_TEMPLATE: Final = "spec.template.spec"


def _card(type_: str, seconds: Seconds = OBJECT, price: Priced | Free = _ON_NODES, **more: Any) -> Card:
    """Objects have labels, not tags, and what they store lies in a volume that a cloud keeps."""
    return Card(f"kubernetes:{type_}", seconds, price, taggable=False, stateful=False, id="{object_id}", **more)


CARDS: Final = (
    _card("*"),
    _card(
        "helm.sh/v3:Release",
        estimate(60, _READY),
        Free("its pods run on the nodes, which are billed with their node groups"),
        outputs={
            "status": {
                "name": "{cloud_name}",
                "namespace": "{input:namespace|default}",
                "status": "deployed",
                "version": "{input:version}",
                "revision": 1,
            }
        },
    ),
    _card("apps/v1:DaemonSet", estimate(30, _READY), pod_spec=_TEMPLATE),
    _card("apps/v1:Deployment", estimate(40, _READY), pod_spec=_TEMPLATE),
    _card("apps/v1:ReplicaSet", pod_spec=_TEMPLATE),
    _card("apps/v1:StatefulSet", price=Priced("kubernetes.stateful_set"), pod_spec=_TEMPLATE),
    _card("batch/v1:CronJob", pod_spec="spec.jobTemplate.spec.template.spec"),
    _card(
        "batch/v1:Job",
        estimate(60, "on nodes that are there, with a small image"),
        pod_spec=_TEMPLATE,
        seconds_in={
            SMOKE_COMPONENT_PREFIX: estimate(
                960,
                "a GPU node from zero 3 minutes, an image of 10 GB 8 minutes (7 to 10), the ten checks 5 minutes",
            )
        },
    ),
    _card("core/v1:Pod", pod_spec="spec"),
    _card("core/v1:PersistentVolume", unchangeable=("spec.csi", "spec.claimRef")),
    _card("core/v1:PersistentVolumeClaim", price=Priced("kubernetes.volume_claim"), unchangeable=("spec.volumeName",)),
    _card(
        "core/v1:Service",
        estimate(11, "the provider waits for endpoints"),
        Priced("kubernetes.service"),
        outputs={"spec": {"clusterIP": "172.20.{octet}.{host}"}},
    ),
    _card("networking.k8s.io/v1:Ingress", price=Priced("kubernetes.ingress")),
    _card("kueue.x-k8s.io/v1beta2:LocalQueue", unchangeable=("spec.clusterQueue",)),
    _card("jobset.x-k8s.io/v1alpha2:JobSet", job_templates="spec.replicatedJobs"),
    _card(
        "trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime",
        job_templates="spec.template.spec.replicatedJobs",
        unchangeable=("spec.template.spec.failurePolicy",),
    ),
    _card("trainer.kubeflow.org/v1alpha1:TrainingRuntime", job_templates="spec.template.spec.replicatedJobs"),
)
