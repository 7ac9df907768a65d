"""Refuses jobs in team namespaces that a queue would admit and no node would ever take.

Kueue counts GPUs and looks at no node. A pod that asks for more of anything than a node has is admitted, stays Pending,
and keeps its GPUs for the time that pods get to start, once for every retry. So a Job, JobSet or TrainJob is refused
when it is made: where one of its pods fits no node of a pool that the queue may send it to. A queue may send a pod to
every pool that its node selector or affinity leaves open and that has as many GPUs in one capacity.

A pool of whole nodes takes no smaller pod: four jobs of a GPU on a node each would keep four nodes from the jobs that
need whole ones, and the queue, which counts GPUs, would admit these all the same.

Of CPU and memory a pod must ask for less than a node has, because the kubelet and the drivers' pods always take some.
That is the least that is true on every ground: what is asked for closely below may fit no node either.
"""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_kubernetes.admissionregistration.v1 as admission

from trainyard.components.k8s import pod_expressions as pods
from trainyard.components.k8s.admission import BY_ITS_AUTHOR, SPEC_CHANGED, in_team_namespaces, rule
from trainyard.components.k8s.pod_rules import Claimable
from trainyard.components.k8s.template_guard import JOB_PODS, JOB_SET_PODS, RUNTIME_JOBS
from trainyard.conventions import GPU_RESOURCE, POOL_LABEL, TPU_RESOURCE

POLICY = "{}-fit-their-nodes"
"""Name of the policy of a kind."""


class PoolNodeArgs(TypedDict):
    """What a node of a pool has."""

    pool: str
    """Value of the nodes' label `ml.platform/pool`."""
    cpu: int
    """Cores."""
    memory_gib: float
    """Memory, GiB."""
    devices: Mapping[str, int]
    """Extended resources of a node: {"nvidia.com/gpu": 8}."""
    claim: NotRequired[str]
    """ResourceClaimTemplate of the teams' namespaces by which a pod gets all fast interfaces of a node. Default: an
    extended resource gives them, or there are none."""
    resource: NotRequired[str]
    """What the queue counts of it: GPUs (the default) or TPU chips, by the name of the resource."""
    largest_flavor_gpus: int
    """GPUs, or TPU chips, of the pool's largest node group: a queue sends no pod with more to the pool."""
    whole_nodes_only: NotRequired[bool]
    """Whether a pod has to take all GPUs of a node: small jobs on a node each would break up what a large one waits
    for, which the queue admits because it counts GPUs and not nodes. Default False."""
    slice_nodes: NotRequired[int]
    """Nodes of a slice of TPU chips, which a job takes whole. Default: nodes are taken one by one."""
    slice_label: NotRequired[str]
    """Label of nodes by which a slice is told from others; goes with a slice of several nodes."""
    runtime: NotRequired[str]
    """Name of the pool's own ClusterTrainingRuntime, whose pods take a node whole. Default: it has none."""


def claimable(nodes: Sequence[PoolNodeArgs]) -> list[Claimable]:
    """What pods may claim of the pools' nodes."""
    return [
        Claimable(
            node["claim"],
            node["pool"],
            node["devices"][GPU_RESOURCE],
            tuple(other["pool"] for other in nodes if other["pool"] != node["pool"]),
        )
        for node in nodes
        if "claim" in node
    ]


def job_guard(name: str, nodes: Sequence[PoolNodeArgs], parent: pulumi.Resource) -> None:
    """Makes a policy for each kind of job and binds it to the namespaces of teams; none where there are no pools."""
    for kind, spec in specs(nodes).items() if nodes else ():
        in_team_namespaces(f"{name}-{kind}-guard", POLICY.format(kind), spec, parent)


def specs(nodes: Sequence[PoolNodeArgs]) -> dict[str, admission.ValidatingAdmissionPolicySpecArgsDict]:
    """The policies by the plural of the kind that they are about."""
    own = [_own_pool(node) for node in nodes]
    return {
        "jobs": _spec("batch", "jobs", JOB_PODS, own, nodes),
        "jobsets": _spec("jobset.x-k8s.io", "jobsets", JOB_SET_PODS, own, nodes),
        # A TrainJob says what a node's container asks for; the rest stands in its runtime and in patches of it.
        "trainjobs": _spec(
            "trainer.kubeflow.org",
            "trainjobs",
            _train_job(nodes),
            [_patched_pool(node, nodes) for node in nodes],
            nodes,
        ),
    }


_NODE = "object.spec.trainer.resourcesPerNode"
_RUNTIME_NAME = "object.spec.runtimeRef.name"
_JOB_POD = "template.spec.template.spec"


def _own_pool(node: PoolNodeArgs) -> str:
    """Whether the pod of an `a`, by its own spec, may stand in a pool."""
    return pods.accepts_pool("a.pod", node["pool"])


def _train_job(nodes: Sequence[PoolNodeArgs]) -> str:
    """The pods of a TrainJob: what it asks for a node, or what the runtime of a pool does."""
    # `dyn`: the literal's own type would make every other field of a pod a list of containers.
    found = "[]"
    for node in nodes:
        if "runtime" in node:
            whole = f"{{{pods.text(counted(node))}: {pods.text(str(node['devices'][counted(node)]))}}}"
            its_own = f"[dyn({{'containers': [{{'resources': {{'limits': {whole}}}}}]}})]"
            found = f"({_RUNTIME_NAME} == {pods.text(node['runtime'])} ? {its_own} : {found})"
    asked = f"[dyn({{'containers': [{{'resources': {_NODE}}}]}})]"
    return f"({pods.present('object.spec', 'trainer.resourcesPerNode')} ? {asked} : {found})"


def _patched_pool(node: PoolNodeArgs, nodes: Sequence[PoolNodeArgs]) -> str:
    """Whether a TrainJob's runtime, and the patches of it, leave a pool open to it."""
    others = [other["runtime"] for other in nodes if "runtime" in other and other["pool"] != node["pool"]]
    runtime = " && ".join([f"{_RUNTIME_NAME} != {pods.text(other)}" for other in others])
    job = f"!({pods.present('j', _JOB_POD)}) || {pods.accepts_pool(f'j.{_JOB_POD}', node['pool'])}"
    patch = f"!({pods.present('p', RUNTIME_JOBS)}) || p.{RUNTIME_JOBS}.all(j, {job})"
    patched = f"(!has(object.spec.runtimePatches) || object.spec.runtimePatches.all(p, {patch}))"
    return f"({runtime} && {patched})" if runtime else patched


def _spec(
    group: str,
    kind: str,
    templates: str,
    open_to: Sequence[str],
    nodes: Sequence[PoolNodeArgs],
) -> admission.ValidatingAdmissionPolicySpecArgsDict:
    """The policy of a kind whose pods' specs are the list `templates`; `open_to` asks a pool each.

    `asks` are the pods with GPUs and what each needs, `verdicts` a list a pod with a number a pool: 0 the queue does
    not send it there, 1 it fits a node there, 2 it does not.
    """
    devices = sorted({device for node in nodes for device in node["devices"]})
    needs = ", ".join(f"{pods.text(name)}: dyn({pods.needs('s', name)})" for name in ("cpu", "memory", *devices))
    several = len({counted(node) for node in nodes}) > 1
    verdicts = [
        f"{accepts} && {_is_sent(node, several)} ? ({_fits(node, devices)} ? 1 : 2) : 0"
        for accepts, node in zip(open_to, nodes, strict=True)
    ]
    there = "; ".join(f"of {node['pool']} has {_described(node)}" for node in nodes)
    validations: list[admission.ValidationArgsDict] = [
        {
            "expression": "variables.verdicts.all(v, 1 in v && !(2 in v))",
            "message": "A pod of this job fits no node of a pool that its queue may send it to. Ask for less or choose "
            f"a pool by node selector or affinity on {POOL_LABEL} (a TrainJob in runtimePatches). "
            f"A node {there}; of cores and memory a pod gets less than that.",
            "reason": "Invalid",
        }
    ]
    return {
        "failure_policy": "Fail",
        "match_constraints": {"resource_rules": [rule(group, kind)]},
        "match_conditions": [
            {"name": "by-its-author", "expression": BY_ITS_AUTHOR},
            {"name": "spec-changed", "expression": SPEC_CHANGED},
        ],
        "variables": [
            {"name": "pods", "expression": templates},
            {
                "name": "asks",
                "expression": f"variables.pods.filter(s, {pods.uses_gpus('s')}).map(s, {{'pod': dyn(s), {needs}}})",
            },
            {"name": "verdicts", "expression": f"variables.asks.map(a, [{', '.join(verdicts)}])"},
        ],
        "validations": validations,
    }


def counted(node: PoolNodeArgs) -> str:
    """What the queue counts of a pool: GPUs, or TPU chips."""
    return node.get("resource", GPU_RESOURCE)


def _is_sent(node: PoolNodeArgs, several: bool) -> str:
    """Whether a queue may send the pod of an `a` to a pool that it leaves open; where `several` resources are counted,
    only one that asks for the pool's."""
    asked = f"a[{pods.text(counted(node))}]"
    enough = f"{asked} <= {float(node['largest_flavor_gpus'])}"
    return f"{asked} > 0.0 && {enough}" if several else enough


def _fits(node: PoolNodeArgs, devices: Sequence[str]) -> str:
    """Whether the pod of an `a` fits an empty node. A device that only other pools have is none here."""
    limits = {"cpu": f"< {float(node['cpu'])}", "memory": f"< {node['memory_gib'] * 2**30:.1f}"}
    limits |= {device: f"<= {float(node['devices'].get(device, 0))}" for device in devices}
    if node.get("whole_nodes_only"):
        limits[counted(node)] = f"== {float(node['devices'][counted(node)])}"
    return " && ".join(f"a[{pods.text(name)}] {limit}" for name, limit in limits.items())


def _described(node: PoolNodeArgs) -> str:
    devices = [f"{count} {device}" for device, count in node["devices"].items()]
    units = "TPU chips" if counted(node) == TPU_RESOURCE else "GPUs"
    taken = f"to be taken with all {node['devices'][counted(node)]} {units}"
    whole = [taken] if node.get("whole_nodes_only") else []
    return ", ".join([*devices, f"{node['cpu']} cores", f"{node['memory_gib']:g} GiB", *whole])
