"""Webhooks that have to answer and stand in their own way, and policies that read what may not be there.

Source: Kubernetes documentation, "Admission Webhook Good Practices" (one that fails closed leaves its own pods and
kube-system out) and "Validating Admission Policy" (`oldObject` is null when something is made, `object` when it is
deleted; a key that is missing is an error, which `failurePolicy: Fail` refuses), 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.model import has_unknown
from trainyard.recorded.read import UnreadableInput
from trainyard.recorded.selectors import selects
from trainyard.rehearsal.context import View, listed
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_HOOKS: Final = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
_PODS: Final = ("pods", "*", "*/*")
_OBJECT: Final = re.compile(r"(?<![\w.])object\.")
_READ: Final = (
    r"(?<![\w.])(?:object(?:\.spec(?:\.jobTemplate\.spec)?\.template)?\.metadata\.(?:labels|annotations)"
    r"|object(?:\.spec(?:\.jobTemplate\.spec)?\.template)?\.spec\.(?:nodeSelector|priorityClassName|runtimeClassName"
    r"|hostNetwork|hostPID|hostIPC|shareProcessNamespace|nodeName)"
    r"|[a-z]\w*\.(?:resources\.(?:limits|requests)|securityContext\.(?:privileged|allowPrivilegeEscalation|runAsUser)))"
    r"(?:\[['\"][^'\"]*['\"]\]|\.[A-Za-z_]\w*)?"
)
"""What an object need not have, of its metadata, its pods and their containers."""
_OPTIONAL: Final = re.compile(_READ)
_FORBIDS: Final = (
    re.compile(rf"(?P<name>{_READ})\s*(?:!=\s*(?:'[^']+'|\"[^\"]+\"|true|[1-9]\d*)|==\s*(?:false|'0'|\"0\"|0\b))"),
    re.compile(rf"!\s*\(?\s*(?:(?:'[^']*'|\"[^\"]*\")\s+in\s+)?(?P<name>{_READ})"),
)
"""Conditions that what has none of it meets; where it is wanted, a missing one is refused as it is meant to be."""
_GUARDS: Final = ("has(", ".?", "[?", "variables.", "dyn(", ".orValue(", "optional.")
"""By which an expression may look whether something is there before it reads it."""


def check(cluster: Cluster) -> None:
    """Every recorded webhook and admission policy."""
    for view in cluster.of(*_HOOKS):
        for path, hook in view.items("webhooks"):
            _hook(view, path, hook, cluster)
    bound = {view.text("spec.policyName") for view in cluster.of("ValidatingAdmissionPolicyBinding")}
    for view in cluster.of("ValidatingAdmissionPolicy"):
        if view.text("metadata.name") in bound:
            _policy(view)


def _hook(view: View, path: str, hook: Mapping[str, Any], cluster: Cluster) -> None:
    if has_unknown(hook) or hook.get("failurePolicy") == "Ignore" or hook.get("objectSelector"):
        return
    namespace = view.text(f"{path}.clientConfig.service.namespace")
    service = cluster.find("Service", namespace or "", view.text(f"{path}.clientConfig.service.name") or "")
    if namespace is None or service is None or hook.get("matchConditions"):
        return
    if not any(_asks_for_pods(rule) for _, rule in view.items(f"{path}.rules")):
        return
    labels, selector = cluster.labels_of_namespaces.get(namespace), view.mapping(f"{path}.namespaceSelector")
    if labels is None:
        return
    try:
        pods = cluster.selected({"matchLabels": dict(service.mapping("spec.selector"))}, namespace)
        is_asked = not selector or selects(selector, labels)
    except UnreadableInput:
        return
    if pods and is_asked:
        view.error(
            "programs-webhook", path,
            f"has to answer before a pod is made, those of {pods[0].title} among them, who answer it: once none of "
            "them runs, none is let in any more", allowed=f"a namespaceSelector without {namespace}, or Ignore",
        )  # fmt: skip


def _asks_for_pods(rule: Mapping[str, Any]) -> bool:
    groups, resources, operations = (listed(rule.get(key)) for key in ("apiGroups", "resources", "operations"))
    of_core = "" in groups or "*" in groups
    return of_core and any(one in resources for one in _PODS) and ("CREATE" in operations or "*" in operations)


def _policy(view: View) -> None:
    if view.text("spec.failurePolicy") == "Ignore" or view.blurred("spec.validations"):
        return
    operations = {
        item for _, rule in view.items("spec.matchConstraints.resourceRules") for item in listed(rule.get("operations"))
    }
    conditions = [str(one.get("expression")) for _, one in view.items("spec.matchConditions")]
    ahead = " ".join(conditions)
    labelled = _labelled(view)
    for path, text in _expressions(view):
        if "oldObject." in text and operations & {"CREATE", "*"} and not _looks(text, ahead, "oldObject"):
            view.error(
                "programs-policy", path, "reads oldObject, of which there is none as something is made: each is "
                "refused", allowed="oldObject == null || …, or operations UPDATE alone",
            )  # fmt: skip
        elif "DELETE" in operations and _OBJECT.search(text) and not _looks(text, ahead, "object"):
            view.error(
                "programs-policy", path, "reads object, of which there is none as something is deleted: each is "
                "refused", allowed="oldObject for DELETE, or operations without it",
            )  # fmt: skip
        for name in _unguarded(path, text, ahead):
            if labelled.fullmatch(name):
                continue
            view.error(
                "programs-policy", path,
                f"reads {name}, which an object need not have, and does not look first: whatever has none is refused",
                allowed=f"has({name.partition('[')[0]}) before it",
            )  # fmt: skip


def _expressions(view: View) -> Iterator[tuple[str, str]]:
    """What is weighed for every object; a variable is only made where one of these reads it, maybe behind a look."""
    for key in ("matchConditions", "validations"):
        for path, entry in view.items(f"spec.{key}"):
            if isinstance(entry.get("expression"), str):
                yield f"{path}.expression", entry["expression"]


def _labelled(view: View) -> re.Pattern[str]:
    """What an object surely has that the policy selects by its labels: labels, and those that it is selected by."""
    selector = view.mapping("spec.matchConstraints.objectSelector")
    keys = {str(key) for key in view.mapping("spec.matchConstraints.objectSelector.matchLabels")}
    keys |= {
        str(one.get("key"))
        for _, one in view.items("spec.matchConstraints.objectSelector.matchExpressions")
        if one.get("operator") in ("In", "Exists")
    }
    labels = r"object\.metadata\.labels"
    if has_unknown(selector):
        return re.compile(rf"{labels}.*")
    any_of = "|".join(map(re.escape, sorted(keys)))
    return re.compile(rf"{labels}(?:\[['\"](?:{any_of})['\"]\]|\.(?:{any_of}))?" if keys else r"(?!)")


def _looks(text: str, ahead: str, name: str) -> bool:
    every = f"{text} {ahead}"
    return (
        "request.operation" in every
        or "variables." in text
        or bool(re.search(rf"(?<![\w.]){name}\s*[!=]=\s*null", every))
    )


def _unguarded(path: str, text: str, ahead: str) -> Iterator[str]:
    """What an expression reads and looks nowhere whether it is there."""
    if any(guard in text for guard in _GUARDS) or "has(" in ahead:
        return
    plain = re.sub(r"//[^\n]*", "", text)
    if path.startswith("spec.matchConditions"):
        found = {one[0] for one in _OPTIONAL.finditer(plain)}
    else:
        found = {one["name"] for pattern in _FORBIDS for one in pattern.finditer(plain)}
    yield from sorted(found)
