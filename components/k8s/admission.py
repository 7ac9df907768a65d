"""Admission policies of the teams' namespaces: where they hold, what they judge, and whose word they take.

The API server evaluates them itself, so that nothing is let in while a webhook is down. A member may write any label,
annotation and owner into what he makes; who sends a request is the one thing that he cannot.
"""

from collections.abc import Sequence

import pulumi
import pulumi_kubernetes.admissionregistration.v1 as admission

from trainyard.components.k8s import kueue_manager, runtimes
from trainyard.components.k8s.objects import named
from trainyard.components.k8s.pod_expressions import text
from trainyard.conventions import TEAM_LABEL

JOB_CONTROLLERS = ("system:serviceaccount:kube-system:job-controller", "system:kube-controller-manager")
"""Who makes the pods of Jobs: the second where the controllers share one identity
(kube-controller-manager without --use-service-account-credentials)."""

CONTROLLER_NAMESPACES = (
    "kube-system",
    runtimes.JOBSET_NAMESPACE,
    runtimes.TRAINER_NAMESPACE,
    kueue_manager.NAMESPACE,
)
"""Namespaces whose service accounts are the controllers of jobs, which a team has no rights in: that of the cluster's
own (the garbage collector writes owners too), JobSet's, the Trainer's and Kueue's."""

_OF_CONTROLLERS = " || ".join(
    f"request.userInfo.username.startsWith({text(f'system:serviceaccount:{namespace}:')})"
    for namespace in CONTROLLER_NAMESPACES
)
BY_A_CONTROLLER = f"({_OF_CONTROLLERS} || request.userInfo.username == {text(JOB_CONTROLLERS[1])})"
"""Whether a controller of the platform sends the request."""

SPEC_CHANGED = "(request.operation != 'UPDATE' || object.spec != oldObject.spec)"
"""Whether there is something new to judge. Else nobody could take a finalizer off what stood before its policy."""

ANNOTATIONS_CHANGED = (
    "(request.operation != 'UPDATE' || has(object.metadata.annotations) != has(oldObject.metadata.annotations) || "
    "(has(object.metadata.annotations) && object.metadata.annotations != oldObject.metadata.annotations))"
)
"""The like, of what an object's annotations ask for."""

BY_ITS_AUTHOR = f"(request.operation == 'CREATE' || !{BY_A_CONTROLLER})"
"""Whether a job is made, or changed by who wrote it. What Kueue writes into a job that it admits or takes the nodes of
is not judged: it could not suspend one that stood before its policy, whose GPUs nobody would get back."""


def rule(
    group: str, *resources: str, operations: Sequence[str] = ("CREATE", "UPDATE")
) -> admission.NamedRuleWithOperationsArgsDict:
    """The requests that a policy judges, in every version of the group."""
    return {
        "api_groups": [group],
        "api_versions": ["*"],
        "operations": list(operations),
        "resources": list(resources),
    }


def in_team_namespaces(
    name: str, policy_name: str, spec: admission.ValidatingAdmissionPolicySpecArgsDict, parent: pulumi.Resource
) -> pulumi.Resource:
    """Makes an admission policy that denies, bound to the namespaces of teams: the binding."""
    policy = admission.ValidatingAdmissionPolicy(
        name,
        metadata={"name": policy_name},
        spec=spec,
        opts=pulumi.ResourceOptions(parent=parent),
    )
    return admission.ValidatingAdmissionPolicyBinding(
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
