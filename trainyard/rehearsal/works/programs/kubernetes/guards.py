"""Admission policies that are made and hold nobody back: bound to report alone, or to namespaces that they are not for.

Source: Kubernetes documentation, "Validating Admission Policy" (`validationActions`: `Warn` and `Audit` let the request
by; a binding's `matchResources` narrows what its policy is asked about), 2026-11. A policy that is tried out reports
first, so that one that reports alone is told only beside others that deny.
"""

from __future__ import annotations

from typing import Final

from trainyard.recorded.model import has_unknown
from trainyard.recorded.read import UnreadableInput
from trainyard.recorded.selectors import selects
from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, place
from trainyard.rehearsal.works.workloads.read import QUEUE_LABEL

_BINDING: Final = "ValidatingAdmissionPolicyBinding"
_POLICY: Final = "ValidatingAdmissionPolicy"
_QUEUE: Final = "LocalQueue.kueue.x-k8s.io"
_DENY: Final = "Deny"


def check(cluster: Cluster) -> None:
    """Every binding of a policy that the stack makes."""
    bindings = cluster.of(_BINDING)
    policies = {view.text("metadata.name"): view for view in cluster.of(_POLICY)}
    denied = [view for view in bindings if _DENY in view.texts("spec.validationActions")]
    names = {view.text("spec.policyName") for view in denied}
    for view in bindings:
        name = view.text("spec.policyName")
        if name not in policies or view.blurred("spec.validationActions") or view in denied:
            continue
        is_alone = name not in names or view.has("spec.matchResources.namespaceSelector")
        if view.texts("spec.validationActions") and is_alone and 2 * len(denied) > len(bindings):
            view.warning(
                "programs-guard", "spec.validationActions",
                f"is {', '.join(view.texts('spec.validationActions'))}: {name} lets everything by here, and most of "
                "the stack's policies deny", allowed=_DENY,
            )  # fmt: skip
    for name, policy in policies.items():
        if name is not None:
            _meant([view for view in bindings if view.text("spec.policyName") == name], policy, cluster)


def _meant(bindings: list[View], policy: View, cluster: Cluster) -> None:
    """A policy on what queues admit, bound to namespaces of which none has a queue."""
    queued = {place(queue) for queue in cluster.of(_QUEUE)} - {None}
    labels = [found for name, found in cluster.labels_of_namespaces.items() if name in queued]
    selectors = [view.value("spec.matchResources.namespaceSelector") for view in bindings]
    if QUEUE_LABEL not in str(policy.value("spec")) or not labels or not selectors:
        return
    if any(not isinstance(one, dict) or not one or has_unknown(one) for one in selectors):
        return
    try:
        if not any(selects(selector, found) for selector in selectors for found in labels):
            bindings[0].error(
                "programs-guard", "spec.matchResources.namespaceSelector",
                f"means none of {', '.join(sorted(map(str, queued)))}, where jobs are queued, and no other binding of "
                f"{policy.text('metadata.name')} does",
            )  # fmt: skip
    except UnreadableInput:
        return
