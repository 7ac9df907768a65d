"""Recorded jobs and pods that an admission policy of the same stack would refuse.

Source: Kubernetes documentation, "Validating Admission Policy" (read 2026-11). Whoever sends the object is not known,
nor what defaults and other controllers write into it before: so it has to be refused from several senders, and whether
it waits for a queue or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from trainyard.recorded.alike import Memo, content
from trainyard.recorded.model import has_unknown
from trainyard.recorded.read import follow
from trainyard.recorded.selectors import selects
from trainyard.rehearsal.context import View, listed
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster
from trainyard.rehearsal.works.rights.kubernetes.admission import CREATE, Judge, Request, scope_of

_KINDS: Final = {
    "Job": ("batch", "jobs"), "JobSet": ("jobset.x-k8s.io", "jobsets"), "Pod": ("", "pods"),
    "TrainJob": ("trainer.kubeflow.org", "trainjobs"), "Deployment": ("apps", "deployments"),
}  # fmt: skip
_SENDERS: Final = (("kubernetes-admin", ("system:masters", "system:authenticated")), ("deployer", ()))

DENIED: Final[Memo[bool]] = Memo(8192)
"""Whether a policy refuses an object for sure: a stack asks some three hundred times, most of it as the next one."""


def check(cluster: Cluster) -> None:
    """Every object of these kinds against every policy that is bound in its namespace."""
    bindings = [view for view in cluster.of("ValidatingAdmissionPolicyBinding") if is_plain(view)]
    policies = {view.text("metadata.name"): view for view in cluster.of("ValidatingAdmissionPolicy")}
    judges: dict[str, Judge] = {}
    for kind, (group, resource) in _KINDS.items():
        for view in cluster.of(kind):
            labels = cluster.labels_of_namespaces.get(view.text("metadata.namespace") or "")
            if labels is None or (view.content is None and has_unknown(view.inputs)):
                continue
            scopes = Kept(scope_of(request) for request in _requests(view, labels))
            for policy in bound(bindings, policies, labels, group, resource):
                digests = (policy.content, view.content)
                key = None if None in digests else content(*digests, labels)
                if DENIED.of(key, partial(denies, judges, policy, scopes)):
                    view.error(
                        "reference-admission-refuses", "spec",
                        f"admission policy {policy.text('metadata.name')} of the same stack refuses it",
                        allowed=_message(policy),
                    )  # fmt: skip


class Kept:
    """What an iterator gives, as far as somebody asked, for whoever asks next."""

    def __init__(self, source: Iterator[Any]) -> None:
        self._source = source
        self._found: list[Any] = []

    def __iter__(self) -> Iterator[Any]:
        yield from self._found
        for item in self._source:
            self._found.append(item)
            yield item


def denies(judges: dict[str, Judge], policy: View, scopes: Iterable[Any]) -> bool:
    """Whether a policy plainly refuses each of some requests."""
    judge = judge_of(judges, policy)
    return all(judge.denies(scope) for scope in scopes)


def judge_of(judges: dict[str, Judge], policy: View) -> Judge:
    """The judge of a policy, which `judges` keeps by its URN."""
    urn = policy.resource.urn
    if urn not in judges:
        judges[urn] = Judge(policy.inputs.get("spec"))
    return judges[urn]


def _message(policy: View) -> str:
    texts = [text for _, entry in policy.items("spec.validations") if isinstance(text := entry.get("message"), str)]
    return texts[0] if len(texts) == 1 else "what its validations say"


def is_plain(binding: View) -> bool:
    """Whether a binding denies for sure where its namespaces are: no parameters, nothing chosen by the object."""
    return (
        "Deny" in binding.texts("spec.validationActions")
        and not binding.has("spec.paramRef")
        and not has_unknown(binding.mapping("spec"))
        and set(binding.mapping("spec.matchResources")) <= {"namespaceSelector", "matchPolicy"}
    )


def bound(
    bindings: list[View],
    policies: Mapping[str | None, View],
    labels: Mapping[str, Any],
    group: str,
    resource: str,
) -> Iterator[View]:
    """The policies that are surely asked when an object of a kind is made in a namespace with such labels."""
    told = set()
    for binding in bindings:
        policy = policies.get(binding.text("spec.policyName"))
        if policy is None or policy.name in told or has_unknown(policy.mapping("spec")) or policy.has("spec.paramKind"):
            continue
        if set(policy.mapping("spec.matchConstraints")) - {"resourceRules", "matchPolicy"}:
            continue
        meets = any(
            {group, "*"} & set(listed(rule.get("apiGroups")))
            and resource in listed(rule.get("resources"))
            and {CREATE, "*"} & set(listed(rule.get("operations")))
            for _, rule in policy.items("spec.matchConstraints.resourceRules")
        )
        selector = follow(binding.inputs, "spec", "matchResources", "namespaceSelector")
        if meets and (not selector or selects(selector, labels)):
            told.add(policy.name)
            yield policy


def _requests(view: View, labels: Mapping[str, Any]) -> Iterator[Request]:
    spec = view.mapping("spec")
    for user, groups in _SENDERS:
        for waiting in ({}, {"suspend": True}, {"suspend": False}):
            item = {**view.inputs, "spec": {**spec, **waiting}}
            yield Request(item, user, groups, namespace=view.text("metadata.namespace") or "", labels=labels)
