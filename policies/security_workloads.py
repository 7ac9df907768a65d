"""Security: what runs on the cluster. No privileges, fenced namespaces, images that cannot change under their name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pulumi_policy import Severity

from trainyard.catalog import pins
from trainyard.conventions.aws import CACHED_REGISTRIES
from trainyard.conventions.gcp import CACHED_REGISTRIES as CACHED_ON_GOOGLE
from trainyard.policies import node_daemons, pods
from trainyard.policies.network_peers import every_port, fenced_namespaces, from_anywhere
from trainyard.policies.rules import Config, StackViolation, resource_rule, stack_rule
from trainyard.policies.stack_settings import texts_of
from trainyard.policies.teams import team_namespaces
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_on, list_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import NAMESPACE, NETWORK_POLICY, TRAIN_JOB

_DIGEST = re.compile(r".+@sha256:[0-9a-f]{64}")
_OF_GOOGLE = r"[a-z0-9-]+-docker\.pkg\.dev/[^/]+/[a-z0-9-]+"
"""The beginning of a name in a remote repository of a project, without the repository's suffix."""
_OWN_REGISTRY = re.compile(r"\d{12}\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com(\.cn)?/")


@resource_rule(
    "privileged-pod",
    "No pod is privileged, shares the host's namespaces or mounts its files, but the named ones of the system.",
    types=(*pods.TYPES, TRAIN_JOB),
    severity=Severity.CRITICAL,
    controls=("CIS EKS 1.5.0 4.2.1", "NIST 800-53r5 AC-6", "ISO 27001:2022 A.8.2"),
    fix="Drop the privilege, or name the workload in systemWorkloads.",
    config=pods.system_workloads(
        ["kube-system/team-logs", *node_daemons.AGENTS],
        "Workloads that may, as namespace/name (globs). The agents read the runtime's files, or prepare the nodes.",
    ),
)
def privileged_pod(resource: RecordedResource, config: Config) -> Iterator[str]:
    """What charts install is fenced by the namespace (namespace-without-pod-security), it is not seen here."""
    if pods.is_of_the_system(resource, config):
        return
    daemon = node_daemons.NOTHING
    for where, spec in pods.pod_specs(resource):
        for key in ("hostNetwork", "hostPID", "hostIPC"):
            if is_on(spec, key):
                yield f"{where}.{key} is on"
        daemon = node_daemons.allowed(spec)
        for volume in list_at(spec, "volumes"):
            if value_at(volume, "hostPath") is not None and value_at(volume, "name") not in daemon.volumes:
                path = value_at(volume, "hostPath", "path")
                yield f"{where}: volume {value_at(volume, 'name')} mounts {path} of the host"
    for where, container in pods.containers(resource):
        context = value_at(container, "securityContext")
        for key in ("privileged", "allowPrivilegeEscalation"):
            if is_on(context, key):
                yield f"{where}: {key} is on"
        added = [str(capability) for capability in list_at(context, "capabilities", "add")]
        if added and where != f"container {daemon.container}":
            yield f"{where}: adds capabilities {', '.join(added)}"


@stack_rule(
    "team-namespace-without-default-deny",
    "A team's namespace denies all traffic that no other policy of it allows.",
    types=(NAMESPACE, NETWORK_POLICY),
    severity=Severity.HIGH,
    controls=("CIS EKS 1.5.0 4.3.2", "NIST 800-53r5 SC-7", "ISO 27001:2022 A.8.22"),
    fix="Use the team namespaces as they are; each has a policy default-deny.",
)
def team_namespace_without_default_deny(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """Wants a policy for both directions and every pod that allows nothing itself."""
    fenced = fenced_namespaces(resources, allowing=False)
    for namespace in team_namespaces(resources):
        name = value_at(namespace.inputs, "metadata", "name")
        if name not in fenced:
            yield namespace, f"{name} has no network policy that denies by default"


@stack_rule(
    "team-namespace-open",
    "No network policy lets everything into a team's namespace, or everything out of it.",
    types=(NAMESPACE, NETWORK_POLICY),
    severity=Severity.HIGH,
    controls=("CIS EKS 1.5.0 4.3.2", "NIST 800-53r5 SC-7", "ISO 27001:2022 A.8.22"),
    fix="Name the pods, the namespaces or the network that are meant, and the ports of what goes out.",
)
def team_namespace_open(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """Policies add up: one that allows everything undoes the default deny. HTTPS may go out to anywhere."""
    yield from team_namespace_open_flaws(resources)


def team_namespace_open_flaws(resources: Resources) -> Iterator[tuple[RecordedResource, str]]:
    """Network policies of teams' namespaces that let everything by, with what they let by. Raises UnknownInput."""
    teams = {value_at(namespace.inputs, "metadata", "name") for namespace in team_namespaces(resources)}
    for policy in resources.of(NETWORK_POLICY):
        if value_at(policy.inputs, "metadata", "namespace") not in teams:
            continue
        for rule in list_at(policy.inputs, "spec", "ingress"):
            if from_anywhere(rule, "from"):
                yield policy, "lets every namespace or the internet in"
        for rule in list_at(policy.inputs, "spec", "egress"):
            if from_anywhere(rule, "to") and every_port(rule):
                yield policy, "lets everything out to anywhere"


@resource_rule(
    "image-without-digest",
    "Images are named by digest: what was checked is what runs.",
    types=(*pods.TYPES, TRAIN_JOB),
    severity=Severity.MEDIUM,
    controls=("CIS EKS 1.5.0 5.1.1", "NIST 800-53r5 SI-7", "ISO 27001:2022 A.8.19"),
    fix="Pin the image in trainyard/catalog/versions.yaml as name:tag@sha256:…",
)
def image_without_digest(resource: RecordedResource, _: Config) -> Iterator[str]:
    """Images of charts are pinned through the chart's version (unpinned-version). A pinned one whose digest nobody
    has read is let by, from its registry or through the account's cache of it, and `versions.yaml` says so."""
    for where, container in pods.containers(resource):
        image = str(value_at(container, "image", default=""))
        if image and not _DIGEST.fullmatch(image) and not any(_is(image, pinned) for pinned in pins().without_digest()):
            yield f"{where}: {image}"


def _is(image: str, pinned: str) -> bool:
    """Whether an image is a pinned one, as its registry calls it, a pull-through cache, or the stack file's mirror."""
    head, _, rest = pinned.partition("/")
    registry, path = (head, rest) if "." in head else ("docker.io", pinned)
    _, prefix = CACHED_REGISTRIES.get(registry, ("", ""))
    if image == pinned or (prefix and _OWN_REGISTRY.match(image) and image.endswith(f"/{prefix}/{path}")):
        return True
    _, suffix = CACHED_ON_GOOGLE.get(registry, ("", ""))
    if suffix and re.fullmatch(rf"{_OF_GOOGLE}-{suffix}/{re.escape(path)}", image):
        return True
    mirror = texts_of("images", "mirrors").get(registry)
    return mirror is not None and image == f"{mirror}/{path}"
