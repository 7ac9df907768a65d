"""Refuses Jobs and JobSets in team namespaces that take a part of a TPU slice, or may stand across two.

A slice of several machines is one thing: chips of a part of it find no partner, and two jobs that have half of two
slices each wait for ever while their chips are paid for. Queues count chips and see neither. A TrainJob has all this of
its pool's runtime; what is asked here is for jobs that bring their own template, as one of several slices (Multislice)
has to: the Trainer takes a runtime with one replicated job of one replica, and a slice is a replica.
"""

from collections.abc import Sequence
from typing import Any, Final

import pulumi
import pulumi_kubernetes.admissionregistration.v1 as admission

from trainyard.components.k8s import pod_expressions as pods
from trainyard.components.k8s.admission import BY_ITS_AUTHOR, SPEC_CHANGED, in_team_namespaces, rule
from trainyard.components.k8s.custom_resources import EXCLUSIVE_TOPOLOGY
from trainyard.components.k8s.job_guard import PoolNodeArgs
from trainyard.conventions import TPU_RESOURCE

POLICY: Final = "{}-take-slices-whole"
"""Name of the policy of a kind."""

_IS_A_PART: Final = (
    "(has(object.metadata.ownerReferences) && "
    "object.metadata.ownerReferences.exists(o, o.kind in ['JobSet', 'TrainJob'] && has(o.controller) && o.controller))"
)
"""Whether it is made for a job that was asked already. Only controllers write owners (`template_guard`)."""


def slice_guard(name: str, nodes: Sequence[PoolNodeArgs], parent: pulumi.Resource) -> None:
    """Makes the policies where there are slices of several machines, and binds them to the namespaces of teams."""
    for kind, spec in specs(nodes).items():
        in_team_namespaces(f"{name}-{kind}-slices-guard", POLICY.format(kind), spec, parent)


def specs(nodes: Sequence[PoolNodeArgs]) -> dict[str, admission.ValidatingAdmissionPolicySpecArgsDict]:
    """The policies by the plural of the kind that they are about; none without slices of several machines."""
    several = [node for node in nodes if node.get("slice_nodes", 1) > 1]
    if not several:
        return {}
    return {
        "jobs": _spec("batch", "jobs", "[object]", _job_alone, several),
        "jobsets": _spec(
            "jobset.x-k8s.io", "jobsets", "object.spec.replicatedJobs.map(j, j.template)", _job_set_alone, several
        ),
    }


def _spec(
    group: str, kind: str, jobs: str, alone: Any, nodes: Sequence[PoolNodeArgs]
) -> admission.ValidatingAdmissionPolicySpecArgsDict:
    """The policy of a kind whose templates of jobs are the list `jobs`."""
    found: list[admission.ValidationArgsDict] = []
    for node in nodes:
        count, label = node["slice_nodes"], node["slice_label"]
        elsewhere = f"!{pods.accepts_pool('j.spec.template.spec', node['pool'])}"
        whole = (
            f"(has(j.spec.parallelism) && j.spec.parallelism == {count} && "
            f"has(j.spec.completions) && j.spec.completions == {count})"
        )
        mode = "j.spec.completionMode == 'Indexed'"  # which JobSet's webhook makes of none
        indexed = f"(has(j.spec.completionMode) ? {mode} : {'false' if kind == 'jobs' else 'true'})"
        found += [
            {
                "expression": f"variables.ofChips.all(j, {elsewhere} || ({whole} && {indexed}))",
                "message": f"A job in {node['pool']} takes a slice whole, a pod on each of its {count} nodes: "
                f"parallelism and completions are {count}, completionMode is Indexed; more slices are more replicas "
                "of a JobSet's replicated job. Or choose another pool by its label.",
                "reason": "Invalid",
            },
            {
                "expression": f"variables.ofChips.all(j, {elsewhere} || {alone(label)})",
                "message": f"A job in {node['pool']} stands on one slice, and no other job does: {_ways(kind, label)}. "
                "A TrainJob has that of its runtime.",
                "reason": "Invalid",
            },
        ]
    asks = pods.needs("j.spec.template.spec", TPU_RESOURCE)
    return {
        "failure_policy": "Fail",
        "match_constraints": {"resource_rules": [rule(group, kind)]},
        "match_conditions": [
            {"name": "by-its-author", "expression": BY_ITS_AUTHOR},
            {"name": "spec-changed", "expression": SPEC_CHANGED},
            {"name": "not-a-part", "expression": f"!{_IS_A_PART}"},
        ],
        "variables": [{"name": "ofChips", "expression": f"{jobs}.filter(j, {asks} > 0.0)"}],
        "validations": found,
    }


def _ways(kind: str, label: str) -> str:
    if kind == "jobsets":
        return f"the annotation {EXCLUSIVE_TOPOLOGY} of the JobSet, or of its replicated job's template, is {label}"
    return f"make it a JobSet with the annotation {EXCLUSIVE_TOPOLOGY}: {label}"


def _job_set_alone(label: str) -> str:
    """Whether each replica of a replicated job stands on a slice of its own, by JobSet's exclusive placement."""

    def says(root: str) -> str:
        path = f"{root}.metadata.annotations"
        there = f"has({root}.metadata) && has({path}) && {pods.text(EXCLUSIVE_TOPOLOGY)} in {path}"
        return f"({there} && {path}[{pods.text(EXCLUSIVE_TOPOLOGY)}] == {pods.text(label)})"

    return f"({says('object')} || {says('j')})"


def _job_alone(label: str) -> str:
    """Whether the pods of a Job, which has no such placement, keep off the slices of others; and name theirs, since
    nothing else holds them together."""
    path = "affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"
    pod = "j.spec.template.spec"
    terms = f"({pods.present(pod, path)} && {pod}.{path}.exists(t, t.topologyKey == {pods.text(label)}))"
    nodes = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
    selector = f"(has({pod}.nodeSelector) && {pods.text(label)} in {pod}.nodeSelector)"
    named = f"t.matchExpressions.exists(e, e.key == {pods.text(label)} && e.operator == 'In' && e.values.size() == 1)"
    affinity = (
        f"({pods.present(pod, nodes)} && {pod}.{nodes}.nodeSelectorTerms.all(t, has(t.matchExpressions) && {named}))"
    )
    return f"({terms} && ({selector} || {affinity}))"
