"""Security: what runs on the cluster. No privileges, fenced namespaces, images that cannot change under their name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from pulumi_policy import ResourceValidationArgs, Severity

from trainyard.conventions import TEAM_LABEL
from trainyard.policies import pods
from trainyard.policies.reading import at, given, items, true
from trainyard.policies.rules import Config, Resources, StackViolation, resource_rule, stack_rule

NAMESPACE = "kubernetes:core/v1:Namespace"
NETWORK_POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
ENFORCE = "pod-security.kubernetes.io/enforce"
_DIGEST = re.compile(r".+@sha256:[0-9a-f]{64}")


@resource_rule(
    "privileged-pod",
    "No pod is privileged, shares the host's namespaces or mounts its files, but the named ones of the system.",
    types=pods.TYPES,
    severity=Severity.CRITICAL,
    controls=("CIS EKS 1.5.0 4.2.1", "NIST 800-53r5 AC-6", "ISO 27001:2022 A.8.2"),
    fix="Drop the privilege, or name the workload in systemWorkloads.",
    config={
        "systemWorkloads": {
            "type": "array",
            "items": {"type": "string"},
            "default": [],
            "description": "Workloads that may, as namespace/name (globs).",
        }
    },
)
def privileged_pod(resource: ResourceValidationArgs, config: Config) -> Iterator[str]:
    """What charts install is fenced by the namespace (namespace-without-pod-security), it is not seen here."""
    place = f"{at(resource.props, 'metadata', 'namespace', default='')}/{at(resource.props, 'metadata', 'name')}"
    if any(fnmatchcase(place, pattern) for pattern in config["systemWorkloads"]):
        return
    for where, spec in pods.pod_specs(resource):
        for key in ("hostNetwork", "hostPID", "hostIPC"):
            if true(spec, key):
                yield f"{where}.{key} is on"
        for volume in items(spec, "volumes"):
            if at(volume, "hostPath") is not None:
                yield f"{where}: volume {at(volume, 'name')} mounts {at(volume, 'hostPath', 'path')} of the host"
    for where, container in pods.containers(resource):
        context = at(container, "securityContext")
        for key in ("privileged", "allowPrivilegeEscalation"):
            if true(context, key):
                yield f"{where}: {key} is on"
        added = [str(capability) for capability in items(context, "capabilities", "add")]
        if added:
            yield f"{where}: adds capabilities {', '.join(added)}"


@resource_rule(
    "namespace-without-pod-security",
    "Every namespace enforces a pod security standard.",
    types=(NAMESPACE,),
    severity=Severity.HIGH,
    controls=("CIS EKS 1.5.0 4.2.1", "NIST 800-53r5 CM-7", "ISO 27001:2022 A.8.9"),
    fix=f"Give the namespace the label {ENFORCE}: restricted, or baseline where training needs it.",
    config={
        "privileged": {
            "type": "array",
            "items": {"type": "string"},
            "default": [],
            "description": "Names of namespaces whose agents need the host.",
        }
    },
)
def namespace_without_pod_security(resource: ResourceValidationArgs, config: Config) -> Iterator[str]:
    """kube-system, which holds the node agents, is not made by a stack and stays outside."""
    enforced = at(resource.props, "metadata", "labels", ENFORCE)
    if enforced in ("restricted", "baseline"):
        return
    if given(resource.props, "metadata", "name") and at(resource.props, "metadata", "name") in config["privileged"]:
        return
    yield f"{ENFORCE} is {enforced or 'not set'}"


@stack_rule(
    "team-namespace-without-default-deny",
    "A team's namespace denies all traffic that no other policy of it allows.",
    types=(NAMESPACE, NETWORK_POLICY),
    severity=Severity.HIGH,
    controls=("CIS EKS 1.5.0 4.3.2", "NIST 800-53r5 SC-7", "ISO 27001:2022 A.8.22"),
    fix="Use the team namespaces as they are; each has a policy default-deny.",
)
def team_namespace_without_default_deny(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """Both directions, every pod, nothing allowed in the policy itself."""
    fenced = {
        at(policy.props, "metadata", "namespace")
        for policy in resources.of(NETWORK_POLICY)
        if not given(policy.props, "spec", "podSelector")
        and {"Ingress", "Egress"} <= set(items(policy.props, "spec", "policyTypes"))
        and not items(policy.props, "spec", "ingress")
        and not items(policy.props, "spec", "egress")
    }
    for namespace in resources.of(NAMESPACE):
        if given(namespace.props, "metadata", "labels", TEAM_LABEL):
            name = at(namespace.props, "metadata", "name")
            if name not in fenced:
                yield namespace, f"{name} has no network policy that denies by default"


@resource_rule(
    "image-without-digest",
    "Images are named by digest: what was checked is what runs.",
    types=pods.TYPES,
    severity=Severity.MEDIUM,
    controls=("CIS EKS 1.5.0 5.1.1", "NIST 800-53r5 SI-7", "ISO 27001:2022 A.8.19"),
    fix="Pin the image in trainyard/catalog/versions.yaml as name:tag@sha256:…",
)
def image_without_digest(resource: ResourceValidationArgs, _: Config) -> Iterator[str]:
    """Images of charts are pinned through the chart's version (unpinned-version)."""
    for where, container in pods.containers(resource):
        image = str(at(container, "image", default=""))
        if image and not _DIGEST.fullmatch(image):
            yield f"{where}: {image}"
