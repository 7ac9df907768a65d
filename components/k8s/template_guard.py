"""Refuses jobs in team namespaces whose pods would be refused one by one, or would do what their author may not.

Such a job would be admitted by its queue, hold its GPUs and never have a pod: for what the guard of pods refuses
(`gpu_guard`), and for what the pod security level of the namespace does. And a job's controllers act with their own
rights: they may make claims for a JobSet, which no member may make, and they name owners, by which Kueue knows the
parts of a job that it has counted. Kueue believes any owner ("same-namespace ownership spoofing is out of scope",
v0.19.2, reconciler.go), so who wrote it is asked here.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType

import pulumi
import pulumi_kubernetes.admissionregistration.v1 as admission

from trainyard.components.k8s import node_daemon
from trainyard.components.k8s import pod_expressions as pods
from trainyard.components.k8s.admission import BY_A_CONTROLLER, BY_ITS_AUTHOR, SPEC_CHANGED, in_team_namespaces, rule
from trainyard.components.k8s.node_daemon import NodeDaemonArgs
from trainyard.components.k8s.pod_rules import Asked, Claimable, common_validations, forbid
from trainyard.components.k8s.pod_security import asks_for_no_profile_by_annotation, meets_level
from trainyard.conventions import ACCELERATORS, GPU_RESOURCE, TORCH_CPU_RUNTIME, TORCH_RUNTIME

POLICY = "{}-make-allowed-pods"
"""Name of the policy of a kind."""
OWNER_POLICY = "jobs-are-owned-by-controllers"

GROUPS = {"jobs": "batch", "jobsets": "jobset.x-k8s.io", "trainjobs": "trainer.kubeflow.org"}
"""API group by the plural of the kinds that a queue admits."""

JOB_PODS = "[object.spec.template.spec]"
JOB_SET_PODS = "object.spec.replicatedJobs.map(j, j.template.spec.template.spec)"
"""The specs of the pods of a Job and of a JobSet."""
RUNTIME_JOBS = "trainingRuntimeSpec.template.spec.replicatedJobs"
"""Where a patch of a TrainJob's runtime has the jobs."""

_TEMPLATES = {
    "jobs": "[object.spec.template]",
    "jobsets": "object.spec.replicatedJobs.map(j, j.template.spec.template)",
    "trainjobs": f"{pods.listed('object.spec', 'runtimePatches')}"
    f".filter(p, {pods.present('p', RUNTIME_JOBS)})"
    f".map(p, p.{RUNTIME_JOBS}.filter(j, {pods.present('j', 'template.spec.template')})"
    ".map(j, j.template.spec.template))",
}
"""The templates of a kind's pods. Of a TrainJob the patches of its runtime, which is the platform's: a list each."""

CLAIMS_MESSAGE = (
    "A JobSet makes no claims: the storage tiers have one each in the team's namespace. Take away volumeClaimPolicies."
)
RUNTIME_MESSAGE = (
    f"A TrainJob that asks for GPUs in resourcesPerNode runs in {TORCH_RUNTIME}, one that asks for none in "
    f"{TORCH_CPU_RUNTIME}, which counts its pods against the team's part of the nodes for them."
)
POOL_RUNTIME_MESSAGE = (
    "The runtime {} takes a node with all of its GPUs or TPU chips: leave resourcesPerNode out, or name {} there, "
    "because the Trainer starts a process for each core of what is named there without GPUs."
)
SLICE_MESSAGE = "A job in {} takes a slice whole, of {} nodes: leave trainer.numNodes out, or say as many."
OWNER_MESSAGE = "Owners of a job are written by the platform's controllers: take away metadata.ownerReferences."


def template_guard(
    name: str,
    pool_runtimes: Sequence[str],
    claimable: Sequence[Claimable],
    parent: pulumi.Resource,
    slices: Mapping[str, int] = MappingProxyType({}),
    daemon: NodeDaemonArgs | None = None,
) -> None:
    """Makes the policies and binds them to the namespaces of teams.

    `pool_runtimes` are the runtimes whose pods have GPUs or TPU chips whatever a TrainJob says, `claimable` what pods
    may claim, `slices` the nodes of a slice by the runtime whose jobs take one whole, `daemon` what pods may have of
    their node.
    """
    for kind, spec in template_guards(pool_runtimes, claimable, slices, daemon).items():
        in_team_namespaces(f"{name}-{kind}-pods-guard", POLICY.format(kind), spec, parent)
    in_team_namespaces(f"{name}-owner-guard", OWNER_POLICY, OWNER_GUARD, parent)


def _guard(
    kind: str,
    *validations: admission.ValidationArgsDict,
    claimable: Sequence[Claimable] = (),
    daemon: NodeDaemonArgs | None = None,
    nested: bool = False,
) -> admission.ValidatingAdmissionPolicySpecArgsDict:
    """The policy of a kind: what is asked of every pod, and what is asked of this kind besides.

    Patches of a runtime, which are `nested`, have no daemon of their own, and leave the runtime's alone.
    """
    own = None if nested else daemon

    def of_templates(asked: Asked) -> str:
        inner = f"!has(t.spec) || {asked('t.spec')}"
        return f"variables.templates.all(l, l.all(t, {inner}))" if nested else f"variables.templates.all(t, {inner})"

    def of_metadata(expression: str) -> str:
        annotated = f"!has(t.metadata) || {expression}"
        inner = f"l.all(t, {annotated})" if nested else annotated
        return f"variables.templates.all({'l' if nested else 't'}, {inner})"

    of_daemon = []
    if daemon is not None:
        devices = forbid(of_metadata(node_daemon.asks_for_no_other_device("t.metadata", daemon)), "devices")
        devices["message"] = node_daemon.DEVICES_MESSAGE.format(daemon["annotation_prefix"])
        of_daemon.append(devices)
        if nested:
            untouched = partial(node_daemon.patches_nothing_of_it, daemon=daemon, runtime=_RUNTIME)
            of_daemon.append(forbid(of_templates(untouched), "security"))
    return {
        "failure_policy": "Fail",
        "match_constraints": {"resource_rules": [rule(GROUPS[kind], kind)]},
        "match_conditions": [
            {"name": "by-its-author", "expression": BY_ITS_AUTHOR},
            {"name": "spec-changed", "expression": SPEC_CHANGED},
        ],
        "variables": [{"name": "templates", "expression": _TEMPLATES[kind]}],
        "validations": [
            *validations,
            forbid(of_templates(lambda pod: f"!{pods.names_its_node(pod)}"), "nodes"),
            *common_validations(of_templates, claimable, own),
            forbid(of_templates(partial(meets_level, daemon=own)), "security"),
            forbid(of_metadata(asks_for_no_profile_by_annotation("t.metadata")), "security"),
            *of_daemon,
        ],
    }


def _of_pods(of: str) -> list[admission.ValidationArgsDict]:
    """What is asked where the templates say whether the pods have GPUs; `of` are their specs."""
    return [
        forbid(f"{of}.all(s, {pods.uses_gpus('s')} || !{pods.tolerates_reserved_nodes('s')})", "nodes"),
        forbid(f"{of}.all(s, {pods.names_priority_of_its_kind('s')})", "priority"),
    ]


_RUNTIME = "object.spec.runtimeRef.name"
_TRAIN_JOB_NODE = "object.spec.trainer.resourcesPerNode"
_TRAIN_JOB_GPUS = (
    f"({pods.present('object.spec', 'trainer.resourcesPerNode')} && "
    # `dyn`: the literal's own type would make every other field of a pod a list of containers.
    f"[dyn({{'containers': [{{'resources': {_TRAIN_JOB_NODE}}}]}})].exists(s, {pods.uses_gpus('s')}))"
)
_OF_THEIR_RUNTIME = {TORCH_RUNTIME: _TRAIN_JOB_GPUS, TORCH_CPU_RUNTIME: f"!{_TRAIN_JOB_GPUS}"}
_SAYS_NOTHING = f"!({pods.present('object.spec', 'trainer.resourcesPerNode')})"


def template_guards(
    pool_runtimes: Sequence[str],
    claimable: Sequence[Claimable] = (),
    slices: Mapping[str, int] = MappingProxyType({}),
    daemon: NodeDaemonArgs | None = None,
) -> dict[str, admission.ValidatingAdmissionPolicySpecArgsDict]:
    """The policies by the plural of the kind that they are about. A TrainJob claims by its pool's runtime alone."""
    of_train_jobs = [*_of_train_jobs(pool_runtimes, slices), *_of_slices(slices)]
    return {
        "jobs": _guard("jobs", *_of_pods(JOB_PODS), claimable=claimable, daemon=daemon),
        "jobsets": _guard(
            "jobsets",
            *_of_pods(JOB_SET_PODS),
            {
                "expression": f"{pods.listed('object.spec', 'volumeClaimPolicies')}.size() == 0",
                "message": CLAIMS_MESSAGE,
                "reason": "Forbidden",
            },
            claimable=claimable,
            daemon=daemon,
        ),
        "trainjobs": _guard("trainjobs", *of_train_jobs, daemon=daemon, nested=True),
    }


def _of_train_jobs(pool_runtimes: Sequence[str], slices: Mapping[str, int]) -> list[admission.ValidationArgsDict]:
    """What is asked of a TrainJob: its GPUs, and those of its runtime."""
    found: list[admission.ValidationArgsDict] = [
        {
            "expression": " && ".join(
                f"({_RUNTIME} != {pods.text(runtime)} || {fits})" for runtime, fits in _OF_THEIR_RUNTIME.items()
            ),
            "message": RUNTIME_MESSAGE,
            "reason": "Invalid",
        }
    ]
    is_pools = f"({_RUNTIME} in [{', '.join(map(pods.text, pool_runtimes))}])" if pool_runtimes else "false"
    if pool_runtimes:
        counted = [GPU_RESOURCE] if not slices else ACCELERATORS
        found.append(
            {
                "expression": f"!{is_pools} || {_SAYS_NOTHING} || {_TRAIN_JOB_GPUS}",
                "message": POOL_RUNTIME_MESSAGE.format(", ".join(pool_runtimes), " or ".join(counted)),
                "reason": "Invalid",
            }
        )
    return [
        *found,
        forbid(
            f"{is_pools} || {_TRAIN_JOB_GPUS} || variables.templates.all(l, l.all(t, "
            f"!has(t.spec) || !{pods.tolerates_reserved_nodes('t.spec')}))",
            "nodes",
        ),
        forbid(f"!({pods.present('object.spec', 'trainer.resourcesPerNode.claims')})", "devices"),
    ]


def _of_slices(slices: Mapping[str, int]) -> list[admission.ValidationArgsDict]:
    """What is asked of a TrainJob that takes a slice: as many pods as it has nodes, else its chips find no partner."""
    count = "object.spec.trainer.numNodes"
    return [
        {
            "expression": f"{_RUNTIME} != {pods.text(runtime)} || !({pods.present('object.spec', 'trainer.numNodes')}) "
            f"|| {count} == {nodes}",
            "message": SLICE_MESSAGE.format(runtime, nodes),
            "reason": "Invalid",
        }
        for runtime, nodes in slices.items()
    ]


_OWNERS = "(has(object.metadata.ownerReferences) ? object.metadata.ownerReferences : [])"
_OWNERS_BEFORE = (
    "(request.operation == 'UPDATE' && has(oldObject.metadata.ownerReferences) ? "
    "oldObject.metadata.ownerReferences : [])"
)
OWNER_GUARD: admission.ValidatingAdmissionPolicySpecArgsDict = {
    "failure_policy": "Fail",
    "match_constraints": {"resource_rules": [rule(group, kind) for kind, group in GROUPS.items()]},
    "match_conditions": [{"name": "by-a-person", "expression": f"!{BY_A_CONTROLLER}"}],
    "validations": [
        {
            "expression": f"{_OWNERS}.all(o, o in {_OWNERS_BEFORE})",
            "message": OWNER_MESSAGE,
            "reason": "Forbidden",
        }
    ],
}
"""Refuses an owner of a job that somebody other than a controller writes."""
