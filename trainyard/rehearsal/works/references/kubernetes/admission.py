"""Admission: policies, what binds them, their expressions and parameters, and what webhooks and policies are about.

Source: Kubernetes documentation, "Validating Admission Policy", "Dynamic Admission Control", as generally known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.alike import Sound
from trainyard.recorded.model import UNKNOWN
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.works.references.kubernetes.api_resources import CUSTOM, RESOURCES, VERSIONS
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_POLICY: Final = "ValidatingAdmissionPolicy"
_BINDING: Final = "ValidatingAdmissionPolicyBinding"
_TEXTS: Final = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")
_VARIABLE: Final = re.compile(r"(?<![\w.])variables\.([A-Za-z_]\w*)")
_PARAMS: Final = re.compile(r"(?<![\w.])params\b")
_ROOT: Final = re.compile(r"(?<![\w.)\]'\"?])\b([A-Za-z_]\w*)\b(?=\.)")
_ROOTS: Final = frozenset(
    {"object", "oldObject", "request", "params", "namespaceObject", "variables", "authorizer", "has", "self", "string"}
)
_MACRO: Final = re.compile(
    r"\.(?:all|exists|exists_one|map|filter|transformList|transformMap|bind|sortBy)\(\s*(\w+)\s*,"
)
_SECOND: Final = re.compile(r"\.(?:all|exists|existsOne|transformList|transformMap)\(\s*\w+\s*,\s*(\w+)\s*,")
_LIBRARIES: Final = frozenset({"cel", "optional", "math", "sets", "base64", "strings", "lists", "ip", "cidr", "format"})
_KNOWN: Final = {**RESOURCES, **CUSTOM}
_SPOKEN: Final = Sound(1024)


def check(cluster: Cluster) -> None:
    """Every check of a policy, a binding or a webhook."""
    policies = cluster.of(_POLICY)
    for view in policies:
        view.unless_sound(_SPOKEN, partial(_expressions, view))
        for path, _ in view.items("spec.matchConstraints.resourceRules"):
            _about(view, path)
    for view in cluster.of("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"):
        for hook, _ in view.items("webhooks"):
            for path, _ in view.items(f"{hook}.rules"):
                _about(view, path)
    bound = set()
    for view in cluster.of(_BINDING):
        bound.add(view.text("spec.policyName"))
        _binding(view, cluster)
    if None in bound or cluster.is_rendered_elsewhere:
        return
    for view in policies:
        name = view.text("metadata.name")
        if name is not None and name not in bound:
            view.error(
                "reference-policy-unbound",
                "metadata.name",
                f"no ValidatingAdmissionPolicyBinding names {show(name)}, so it judges nothing",
            )


def _binding(view: View, cluster: Cluster) -> None:
    name = view.text("spec.policyName")
    if name is None:
        return
    near = cluster.lacks(_POLICY, "", name)
    policy = cluster.find(_POLICY, "", name)
    if policy is None:
        if near is not None:
            hint = f"did you mean {near}?" if near else ""
            view.error("reference-policy", "spec.policyName", f"no {_POLICY} {show(name)}", hint=hint)
        return
    if policy.has("spec.paramKind") and view.lacks("spec.paramRef"):
        view.error(
            "reference-policy-params",
            "spec.paramRef",
            f"is missing, and the expressions of {name} read parameters of kind {policy.text('spec.paramKind.kind')}",
        )
    elif view.has("spec.paramRef") and policy.lacks("spec.paramKind"):
        view.error("reference-policy-params", "spec.paramRef", f"given, and {name} has no paramKind")
    elif view.has("spec.paramRef"):
        _parameter(view, policy, cluster)


def _parameter(view: View, policy: View, cluster: Cluster) -> None:
    api, kind = policy.text("spec.paramKind.apiVersion") or "", policy.text("spec.paramKind.kind") or ""
    group = api.partition("/")[0] if "/" in api else ""
    key = f"{kind}.{group}" if "." in group else kind
    name, namespace = view.text("spec.paramRef.name"), view.text("spec.paramRef.namespace")
    if name is None or (namespace is None and kind in ("ConfigMap", "Secret")):
        return
    near = cluster.lacks(key, namespace or "", name)
    if near is not None and (near or namespace):
        view.error(
            "reference-policy-params",
            "spec.paramRef.name",
            f"no {kind} {show(name)}" + (f" in namespace {show(namespace)}" if namespace else ""),
            hint=f"did you mean {near}?" if near else "",
        )


def _spoken(view: View) -> Iterator[tuple[str, str]]:
    for part in ("matchConditions", "variables", "validations", "auditAnnotations"):
        for path, entry in view.items(f"spec.{part}"):
            for key in ("expression", "messageExpression", "valueExpression"):
                if isinstance(entry.get(key), str):
                    yield f"{path}.{key}", entry[key]


def _expressions(view: View) -> None:
    """Variables are worked out in their order, so one sees only those before it; conditions see none."""
    if view.blurred("spec.variables"):
        return
    names = [str(entry.get("name")) for _, entry in view.items("spec.variables")]
    if any(entry.get("name") is UNKNOWN for _, entry in view.items("spec.variables")):
        return
    for path, text in _spoken(view):
        bare = _TEXTS.sub("''", text)
        seen = names
        if path.startswith("spec.variables["):
            seen = names[: int(path[len("spec.variables[") :].partition("]")[0])]
        elif path.startswith("spec.matchConditions"):
            seen = []
        for name in dict.fromkeys(_VARIABLE.findall(bare)):
            if name not in seen:
                view.error(
                    "reference-variable",
                    path,
                    f"reads variables.{name}, which "
                    + (
                        "comes later"
                        if name in names and seen
                        else "is not there"
                        if name not in names
                        else "it cannot see"
                    ),
                    allowed=f"one of {', '.join(seen)}" if seen else "",
                    hint=nearest(name, seen),
                )
        if _PARAMS.search(bare) and view.lacks("spec.paramKind"):
            view.error("reference-policy-params", path, "reads params, and the policy has no paramKind")
        bound = {*_MACRO.findall(bare), *_SECOND.findall(bare), *_ROOTS, *_LIBRARIES}
        for name in dict.fromkeys(_ROOT.findall(bare)):
            near = nearest_of(name, _ROOTS) if name not in bound else ""
            if near:
                view.error(
                    "reference-variable", path, f"reads {name}, which is not there", hint=f"did you mean {near}?"
                )


def _about(view: View, path: str) -> None:
    """A rule about resources that are in none of its groups judges nothing."""
    groups, resources = view.texts(f"{path}.apiGroups"), view.texts(f"{path}.resources")
    if view.blurred(f"{path}.apiGroups") or view.blurred(f"{path}.resources") or "*" in groups or not groups:
        return
    if any(group not in _KNOWN for group in groups):
        for group in groups:
            near = nearest_of(group, [known for known in _KNOWN if known]) if group not in _KNOWN else ""
            if near:
                view.error(
                    "reference-admission-rule",
                    f"{path}.apiGroups",
                    f"no API group {show(group)}, so it judges nothing of it",
                    hint=f"did you mean {near}?",
                )
        return
    versions = view.texts(f"{path}.apiVersions")
    served = {version for group in groups for version in VERSIONS.get(group, {"*"})}
    if versions and not view.blurred(f"{path}.apiVersions") and not {*versions} & {*served, "*"} and "*" not in served:
        view.error(
            "reference-admission-rule",
            f"{path}.apiVersions",
            f"API group {', '.join(map(show, groups))} is not served as {', '.join(versions)}, so it judges nothing",
            allowed=f"one of {', '.join(sorted(served))}, or *",
        )
    for resource in resources:
        plural = resource.partition("/")[0]
        if plural == "*" or any(plural in _KNOWN[group] for group in groups):
            continue
        elsewhere = sorted(group for group, names in _KNOWN.items() if plural in names)
        known = {name for group in groups for name in _KNOWN[group]}
        view.error(
            "reference-admission-rule",
            f"{path}.resources",
            f"API group {', '.join(map(show, groups))} has no {show(plural)}, so it judges nothing of it",
            allowed=f"API group {' or '.join(map(show, elsewhere))}" if elsewhere else "a resource by its plural",
            hint=nearest(plural, known),
        )
