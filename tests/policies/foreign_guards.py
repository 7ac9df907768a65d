"""Admission policies that somebody else wrote, which keep out what ours do: in other words, one part a validation."""

from __future__ import annotations

from typing import Any

from tests.policies.truth import kubernetes
from trainyard.recorded.model import RecordedResource

POLICY = "admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"
KUEUE = "request.userInfo.username.startsWith('system:serviceaccount:kueue-system:')"
_ALL = "(object.spec.containers + (has(object.spec.initContainers) ? object.spec.initContainers : []))"

PODS = {
    "queue": f"request.operation != 'CREATE' || !{_ALL}.exists(c, has(c.resources) && has(c.resources.limits) && "
    "'nvidia.com/gpu' in c.resources.limits) || "
    "request.userInfo.username == 'system:serviceaccount:kube-system:job-controller'",
    "node": "request.operation == 'DELETE' || !has(object.spec.nodeName)",
    "tolerations": "request.operation == 'DELETE' || !has(object.spec.tolerations) || "
    "object.spec.tolerations.all(t, has(t.key) && !t.key.startsWith('nvidia.com'))",
    "volumes": "request.operation == 'DELETE' || !has(object.spec.volumes) || "
    "!object.spec.volumes.exists(v, has(v.nfs) || has(v.csi) || has(v.ephemeral) || has(v.hostPath))",
    "ends": "request.operation == 'DELETE' || object.spec.terminationGracePeriodSeconds <= 300",
    "deletions": "request.operation != 'DELETE' || request.options.gracePeriodSeconds <= 300",
}
"""What is asked of pods, which are also deleted."""

_SPECS = {
    "jobs": "[object.spec.template.spec]",
    "jobsets": "object.spec.replicatedJobs.map(j, j.template.spec.template.spec)",
}
_LARGE = "quantity({}.resources.limits.memory).isLessThan(quantity('4Ti'))"


def of_templates(kind: str) -> dict[str, str]:
    """What is asked of a kind of jobs. A TrainJob may patch nothing."""
    owners = f"!has(object.metadata.ownerReferences) || {KUEUE}"
    if kind == "trainjobs":
        size = "quantity(object.spec.trainer.resourcesPerNode.limits.memory).isLessThan(quantity('4Ti'))"
        nothing = "!has(object.spec.runtimePatches)"
        return {"owners": owners, "patches": nothing, "size": size}
    specs = _SPECS[kind]
    return {
        "owners": owners,
        "volumes": f"{specs}.all(s, !has(s.volumes) || !s.volumes.exists(v, has(v.nfs)))",
        "ends": f"{specs}.all(s, s.terminationGracePeriodSeconds < 301)",
        "privileged": f"{specs}.all(s, s.containers.all(c, !has(c.securityContext) || "
        "!has(c.securityContext.privileged) || !c.securityContext.privileged))",
        "size": f"{specs}.all(s, s.containers.all(c, {_LARGE.format('c')}))",
    }


GROUPS = {"pods": "", "jobs": "batch", "jobsets": "jobset.x-k8s.io", "trainjobs": "trainer.kubeflow.org"}
ASKED = {"pods": PODS, **{kind: of_templates(kind) for kind in ("jobs", "jobsets", "trainjobs")}}


def rule(group: str = "*", resource: str = "*", operations: tuple[str, ...] = ("*",), **more: Any) -> dict[str, Any]:
    """The requests that a policy is asked about."""
    return {"apiGroups": [group], "apiVersions": ["*"], "operations": list(operations), "resources": [resource], **more}


def policy(kind: str, asked: dict[str, str] | None = None, **spec: Any) -> RecordedResource:
    """The policy of a kind; `asked` instead of its expressions, `constraints` beside its rules."""
    matched = {"resourceRules": [rule(GROUPS[kind], kind)], **spec.pop("constraints", {})}
    validations = [{"expression": text} for text in (ASKED[kind] if asked is None else asked).values()]
    return kubernetes(POLICY, kind, spec={"matchConstraints": matched, "validations": validations, **spec})


def binding(kind: str, actions: tuple[str, ...] = ("Deny",), matched: Any = None, **spec: Any) -> RecordedResource:
    """A policy bound."""
    body = {"policyName": kind, "validationActions": list(actions), **spec}
    return kubernetes(f"{POLICY}Binding", kind, spec={**body, **({"matchResources": matched} if matched else {})})


def guards(**changed: RecordedResource | None) -> list[RecordedResource]:
    """All policies with their bindings; by kind, another policy for one, or None; a binding as `jobs_binding`."""
    found: list[RecordedResource | None] = []
    for kind in GROUPS:
        found.append(changed[kind] if kind in changed else policy(kind))
        found.append(changed[f"{kind}_binding"] if f"{kind}_binding" in changed else binding(kind))
    return [one for one in found if one is not None]
