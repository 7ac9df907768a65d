"""Security: what the API server keeps out of the teams' namespaces, so that nobody takes GPUs past the queue.

An admission policy is judged by what it looks at: whether it denies, in every team's namespace, on the requests that
matter, and whether what it asks names what an attack would use. Whether it then asks the right question only the API
server can tell; the project's own policies are tried with attacks (`tests/attacks/test_guard.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pulumi_policy import Severity

from trainyard.conventions import GPU_RESOURCE
from trainyard.policies.rules import Config, NotApplicable, StackViolation, stack_rule
from trainyard.policies.teams import team_namespaces
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import NODE_GROUP_PARTS, gpu_node_groups
from trainyard.recorded.queues import CLUSTER_QUEUE
from trainyard.recorded.read import is_set, mapping_at, mappings_at, texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.selectors import selects
from trainyard.recorded.types import ADMISSION_BINDING, ADMISSION_POLICY, NAMESPACE


@dataclass(frozen=True, slots=True)
class Wall:
    """What an admission policy has to look at to keep something out."""

    what: str  # it keeps out
    group: str
    resource: str
    operation: str
    words: tuple[str, ...]  # of its expressions


WALLS: Final = (
    Wall(
        "GPUs past the queue",
        "",
        "pods",
        "CREATE",
        (f"{GPU_RESOURCE.partition('/')[0]}/", "containers", "initContainers", "request.userInfo"),
    ),
    Wall("pods on GPU nodes without a GPU", "", "pods", "CREATE", ("nodeName", "tolerations")),
    Wall("volumes past the storage tiers", "", "pods", "CREATE", ("volumes",)),
    Wall("ends that keep GPUs for ever", "", "pods", "CREATE", ("terminationGracePeriodSeconds",)),
    Wall("deletions that keep GPUs for ever", "", "pods", "DELETE", ("gracePeriodSeconds",)),
    *(
        Wall(f"{resource} that name an admitted one as their owner", group, resource, operation, words)
        for group, resource in (
            ("batch", "jobs"),
            ("jobset.x-k8s.io", "jobsets"),
            ("trainer.kubeflow.org", "trainjobs"),
        )
        for operation in ("CREATE", "UPDATE")
        for words in (("ownerReferences", "request.userInfo"),)
    ),
)


@stack_rule(
    "gpus-past-the-queue",
    "In every team's namespace the API server refuses pods and jobs that take GPUs past the queue.",
    types=(NAMESPACE, ADMISSION_POLICY, ADMISSION_BINDING, CLUSTER_QUEUE, *NODE_GROUP_PARTS),
    severity=Severity.CRITICAL,
    controls=("NIST 800-53r5 SC-6", "NIST 800-53r5 AC-3", "ISO 27001:2022 A.8.6"),
    fix="Use the queues as they are; they bring the admission policies gpu-pods-need-a-queue and the like.",
)
def gpus_past_the_queue(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """A policy that is absent, ignores its own failures, only audits, or leaves a team or a container kind out."""
    teams = team_namespaces(resources)
    if not teams or not (resources.of(CLUSTER_QUEUE) or gpu_node_groups(resources)):
        raise NotApplicable("no team's namespace beside GPUs")
    policies = {value_at(policy.inputs, "metadata", "name"): policy for policy in resources.of(ADMISSION_POLICY)}
    bindings = resources.of(ADMISSION_BINDING)
    for wall in WALLS:
        fitting = {name: policy for name, policy in policies.items() if _looks_at(policy, wall)}
        denying = {name: policy for name, policy in fitting.items() if not _ignores(policy)}
        open_to = [
            str(value_at(team.inputs, "metadata", "name"))
            for team in teams
            if not any(_binds(binding, denying, team) for binding in bindings)
        ]
        if open_to:
            culprit, why = _why(fitting, denying, bindings)
            yield culprit, f"nothing keeps out {wall.what} in {', '.join(open_to)}: {why}"


def _looks_at(policy: RecordedResource, wall: Wall) -> bool:
    """Whether a policy judges the requests of a wall, all of them, and asks for its words."""
    constraints = mapping_at(policy.inputs, "spec", "matchConstraints")
    if _has_rule(constraints, "excludeResourceRules", wall) or is_set(constraints, "objectSelector"):
        return False
    asked = " ".join(
        str(value_at(part, "expression", default=""))
        for key in ("matchConditions", "variables", "validations")
        for part in mappings_at(policy.inputs, "spec", key)
    )
    return _has_rule(constraints, "resourceRules", wall) and all(word in asked for word in wall.words)


def _has_rule(constraints: Any, key: str, wall: Wall) -> bool:
    return any(
        {wall.group, "*"} & set(texts_at(rule, "apiGroups"))
        and {wall.resource, "*", "*/*"} & set(texts_at(rule, "resources"))
        and {wall.operation, "*"} & set(texts_at(rule, "operations"))
        and not is_set(rule, "resourceNames")
        for rule in mappings_at(constraints, key)
    )


def _ignores(policy: RecordedResource) -> bool:
    return bool(value_at(policy.inputs, "spec", "failurePolicy", default="Fail") != "Fail")


def _binds(binding: RecordedResource, policies: Mapping[Any, RecordedResource], team: RecordedResource) -> bool:
    """Whether a binding has one of the policies deny in a team's namespace."""
    policy = policies.get(value_at(binding.inputs, "spec", "policyName"))
    if policy is None or "Deny" not in texts_at(binding.inputs, "spec", "validationActions"):
        return False
    matched = mapping_at(binding.inputs, "spec", "matchResources")
    if any(is_set(matched, key) for key in ("objectSelector", "resourceRules", "excludeResourceRules")):
        return False
    labels = dict(mapping_at(team.inputs, "metadata", "labels"))
    labels["kubernetes.io/metadata.name"] = value_at(team.inputs, "metadata", "name")
    of_policy = mapping_at(policy.inputs, "spec", "matchConstraints", "namespaceSelector")
    return selects(mapping_at(matched, "namespaceSelector"), labels) and selects(of_policy, labels)


def _why(
    fitting: Mapping[Any, RecordedResource],
    denying: Mapping[Any, RecordedResource],
    bindings: list[RecordedResource],
) -> tuple[RecordedResource | None, str]:
    """What is nearest to a wall, and why it is none."""
    if not fitting:
        return None, "no admission policy looks at it"
    if not denying:
        name, policy = next(iter(fitting.items()))
        return policy, f"{name} lets everything in where it fails (failurePolicy)"
    name = next(iter(denying))
    for binding in bindings:
        if value_at(binding.inputs, "spec", "policyName") in denying:
            return binding, f"the binding of {name} does not deny there (validationActions, matchResources)"
    return denying[name], f"{name} is bound to nothing"
