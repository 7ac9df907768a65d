"""What no pod of a team's may be, whoever makes it and whether it has GPUs: asked of pods, and of the jobs' templates.

A template is asked all that a pod is: a job whose pods are refused one by one is admitted and holds its GPUs.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pulumi_kubernetes.admissionregistration.v1 as admission

from trainyard.components.k8s import node_daemon, pod_security
from trainyard.components.k8s import pod_expressions as pods
from trainyard.components.k8s.node_daemon import NodeDaemonArgs
from trainyard.components.k8s.pod_security import LEVEL
from trainyard.conventions import CPU_ONLY_PRIORITY, GPU_RESOURCE

MESSAGES = {
    "queue": "GPU pods run through a queue: submit a Job, JobSet or TrainJob with the label kueue.x-k8s.io/queue-name.",
    "nodes": "Pods name no node, and those without GPUs stay off the nodes of GPU pools and of the platform: take away "
    "nodeName, and tolerations without a key or of nvidia.com/gpu and the like. The queue adds the toleration to pods "
    "that ask for GPUs.",
    "priority": f"Pods without GPUs state priorityClassName: {CPU_ONLY_PRIORITY}, which counts them against the team's "
    "part of the nodes for them; pods with GPUs state none, the queue decides who goes first.",
    "devices": "Pods ask for GPUs by nvidia.com/gpu, which the queue counts: take away the resource claims.",
    "volumes": f"Volumes are {', '.join(pods.VOLUME_KINDS[:-1])} or {pods.VOLUME_KINDS[-1]}: the storage tiers have a "
    "claim each in the team's namespace.",
    "grace": f"terminationGracePeriodSeconds is at most {pods.LONGEST_GRACE_SECONDS}: a pod that ends keeps its GPUs.",
    "security": f"The pods of this job break the pod security level {LEVEL} of the namespace and would never start: "
    "take away host namespaces and ports, privileges, added capabilities, unconfined profiles and unsafe sysctls.",
    "level": f"Pods keep to the pod security level {LEVEL}, but for the daemon of the fast network as the pool's "
    "runtime has it: take away host namespaces and ports, privileges, added capabilities, unconfined profiles and "
    "unsafe sysctls, and what differs in the daemon.",
}
"""What is said of each rule that is broken."""

CLAIMS_MESSAGE = (
    "Pods ask for GPUs by nvidia.com/gpu, which the queue counts. A claim is of {}, by its template, of a pod with all "
    "GPUs of a node of that pool and of no other pool: take other resource claims away."
)
"""What is said of a claim where a pool's fast interfaces are claimed."""

Asked = Callable[[str], str]


def forbid(expression: str, message: str) -> admission.ValidationArgsDict:
    """A validation of a policy, which passes where the expression is true."""
    return {"expression": expression, "message": MESSAGES[message], "reason": "Forbidden"}


class Claimable(NamedTuple):
    """Devices of a pool's nodes that a pod may claim, together with all GPUs of the node, which the queue counts."""

    template: str
    """The ResourceClaimTemplate."""
    pool: str
    gpus: int
    """GPUs that a node has."""
    others: tuple[str, ...]
    """The other pools."""


def claims_what_it_may(pod: str, claimable: Sequence[Claimable]) -> str:
    """Whether it claims no devices, or those of the one pool that it may stand in, of which it takes a node whole.

    The queue sends a pod to any pool that it leaves open, and looks at no claim.
    """
    ways = [f"!{pods.claims_devices(pod)}"]
    for one in claimable:
        closed = [f"!{pods.accepts_pool(pod, other)}" for other in one.others]
        whole = f"{pods.needs(pod, GPU_RESOURCE)} == {float(one.gpus)}"
        ways.append(f"({' && '.join([pods.claims_by(pod, one.template), whole, *closed])})")
    return ways[0] if len(ways) == 1 else f"({' || '.join(ways)})"


def common_validations(
    ask: Callable[[Asked], str], claimable: Sequence[Claimable], daemon: NodeDaemonArgs | None = None
) -> Sequence[admission.ValidationArgsDict]:
    """What is asked of every pod alike; `ask` puts a question to the pod, or to all pods, that a policy is about.

    `daemon` is what a pod may have of its node beside the training.
    """
    devices = forbid(ask(lambda pod: claims_what_it_may(pod, claimable)), "devices")
    if claimable:
        devices["message"] = CLAIMS_MESSAGE.format(", ".join(one.template for one in claimable))
    return (
        devices,
        forbid(ask(lambda pod: _has_allowed_volumes(pod, daemon)), "volumes"),
        forbid(ask(pods.ends_in_time), "grace"),
    )


def _has_allowed_volumes(pod: str, daemon: NodeDaemonArgs | None) -> str:
    if daemon is None:
        return pods.has_plain_volumes(pod)
    return node_daemon.has_its_volumes(pod, daemon, pods.PLAIN_VOLUME)


def keeps_to_the_level(daemon: NodeDaemonArgs) -> list[admission.ValidationArgsDict]:
    """What pod security would ask of a pod, where the namespace enforces no level for the sake of a daemon."""
    metadata, spec = "object.metadata", "object.spec"
    devices = forbid(node_daemon.asks_for_no_other_device(metadata, daemon), "devices")
    devices["message"] = node_daemon.DEVICES_MESSAGE.format(daemon["annotation_prefix"])
    return [
        forbid(pod_security.meets_level(spec, daemon), "level"),
        forbid(_has_allowed_volumes(spec, daemon), "volumes"),
        forbid(pod_security.asks_for_no_profile_by_annotation(metadata), "level"),
        devices,
    ]
