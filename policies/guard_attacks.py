"""What a member of a team would ask of the API server to get past the queues, and the like that is no attack.

Each attack has a twin, which is the same without it: a guard that lets the twin by and refuses the attack knows it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from trainyard.conventions import CPU_ONLY_PRIORITY, GPU_RESOURCE, TPU_RESOURCE
from trainyard.policies.guard_objects import CPU, GPU, KINDS, MEMBER, TPU, Made, asks, container, pod
from trainyard.rehearsal.works.rights.kubernetes.admission import CREATE, Request

JOB_CONTROLLER: Final = "system:serviceaccount:kube-system:job-controller"
POD_SET_LABEL: Final = "kueue.x-k8s.io/podset"
"""Kueue's own label of a pod whose job it has admitted."""
YEAR: Final = 31_536_000
FORGED: Final = {"apiVersion": "batch/v1", "kind": "Job", "name": "x", "uid": "1", "controller": True}
NFS: Final = {"volumes": [{"name": "v", "nfs": {"server": "10.0.0.1", "path": "/"}}]}


@dataclass(frozen=True, slots=True)
class Wall:
    """What has to be kept out, the requests that try it, and what a guard is believed by that cannot be worked out."""

    what: str
    group: str
    resource: str
    words: tuple[str, ...]  # of its expressions
    attacks: tuple[Request, ...]  # the first is tried in other clothes too
    twin: Request | None  # None: what is no attack depends on the stack
    operation: str = CREATE


def _owned(item: Made, **more: Any) -> Made:
    return {**item, "metadata": {**item["metadata"], "ownerReferences": [FORGED], **more}}


def _admitted(**spec: Any) -> Made:
    """A pod that looks as if a queue had admitted its job."""
    return _owned(pod(GPU, **spec), labels={POD_SET_LABEL: "main"})


def pods(what: str, words: tuple[str, ...], *specs: Made) -> Wall:
    """A wall against pods with these specifications; one without them is no attack."""
    return Wall(what, "", "pods", words, tuple(asks(pod(CPU, **spec)) for spec in specs), asks(pod(CPU)))


def _templates(what: str, words: tuple[str, ...], kind: str, *specs: Made) -> Wall:
    group, made = KINDS[kind]
    return Wall(f"{kind} {what}", group, kind, words, tuple(asks(made(**spec)) for spec in specs), asks(made()))


def _owners(kind: str, operation: str) -> Wall:
    group, made = KINDS[kind]
    old = made() if operation == "UPDATE" else None
    attack = asks(_owned(made()), operation=operation, old=old)
    what = f"{kind} that name an admitted one as their owner"
    words = ("ownerReferences", "request.userInfo")
    return Wall(what, group, kind, words, (attack,), asks(made(), operation=operation, old=old), operation)


_GPU_WORDS: Final = (f"{GPU_RESOURCE.partition('/')[0]}/", "containers", "initContainers", "request.userInfo")
_ENDS: Final = ("terminationGracePeriodSeconds",)

WALLS: Final = (
    Wall(
        "GPUs past the queue", "", "pods", _GPU_WORDS,
        (
            asks(_admitted()),
            asks(pod(GPU)),
            asks(_admitted(containers=[container(CPU)], initContainers=[container(GPU)])),
            asks(_admitted(
                containers=[container(CPU)], initContainers=[container(GPU)], priorityClassName=CPU_ONLY_PRIORITY,
            )),
        ),
        asks(_admitted(), user=JOB_CONTROLLER, groups=("system:serviceaccounts", "system:authenticated")),
    ),
    pods(
        "pods on GPU nodes without a GPU", ("nodeName", "tolerations"),
        {"nodeName": "ip-10-0-0-1.ec2.internal"},
        {"tolerations": [{"operator": "Exists"}]},
        {"tolerations": [{"key": GPU_RESOURCE, "operator": "Exists", "effect": "NoSchedule"}]},
    ),
    pods(
        "volumes past the storage tiers", ("volumes",), NFS,
        {"volumes": [{"name": "v", "csi": {"driver": "efs.csi.aws.com"}}]},
        {"volumes": [{"name": "u", "emptyDir": {}}, {"name": "v", "ephemeral": {"volumeClaimTemplate": {}}}]},
    ),
    pods("ends that keep GPUs for ever", _ENDS, {"terminationGracePeriodSeconds": YEAR}),
    Wall(
        "deletions that keep GPUs for ever", "", "pods", ("gracePeriodSeconds",),
        (replace(MEMBER, operation="DELETE", old=pod(GPU), options={"gracePeriodSeconds": YEAR}),),
        replace(MEMBER, operation="DELETE", old=pod(GPU), options={"gracePeriodSeconds": 30}), "DELETE",
    ),
    *(_owners(kind, operation) for kind in KINDS for operation in (CREATE, "UPDATE")),
    *(
        _templates("whose pods are refused one by one, and hold GPUs", ("volumes",), kind, NFS)
        for kind in KINDS
    ),
    *(
        _templates("whose pods end when they like", _ENDS, kind, {"terminationGracePeriodSeconds": YEAR})
        for kind in KINDS
    ),
    *(
        _templates("of privileged pods, which hold GPUs and never start", ("privileged",), kind,
                   {"containers": [container(GPU, name="node", securityContext={"privileged": True})]})
        for kind in KINDS
    ),
)  # fmt: skip
"""What every stack with queues keeps out."""

_TPU_WORDS: Final = (f"{TPU_RESOURCE.partition('/')[0]}/", *_GPU_WORDS[1:])
_COUNTED_TPU: Final = _owned(pod(TPU), labels={POD_SET_LABEL: "main"})
TPU_WALLS: Final = (
    Wall(
        "TPU chips past the queue", "", "pods", _TPU_WORDS,
        (
            asks(pod(TPU)),
            asks(_COUNTED_TPU),
            asks(pod(CPU, containers=[container(CPU)], initContainers=[container(TPU)])),
        ),
        asks(_COUNTED_TPU, user=JOB_CONTROLLER, groups=("system:serviceaccounts", "system:authenticated")),
    ),
    pods(
        "pods on TPU nodes without a chip", ("tolerations",),
        {"tolerations": [{"key": TPU_RESOURCE, "operator": "Exists", "effect": "NoSchedule"}]},
    ),
)  # fmt: skip
"""What a stack with TPU slices keeps out besides."""

_LARGE: Final = {**GPU, "memory": "1000000Gi"}
SIZES: Final = tuple(
    Wall(f"{kind} of pods that fit no node", group, kind, ("memory",), (asks(made(_LARGE)),), asks(made()))
    for kind, (group, made) in KINDS.items()
)
"""What a queue admits that counts GPUs alone: its pods wait for a node that there is not, and keep their GPUs."""
