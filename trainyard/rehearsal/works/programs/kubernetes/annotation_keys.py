"""Annotations that controllers read: a key that all but is one of theirs, and a value that they do not read.

Source: documentation of the cluster autoscaler (FAQ, "What types of pods can prevent CA from removing a node?"), of the
AWS Load Balancer Controller 3 ("Service annotations", "Ingress annotations"), GKE ("LoadBalancer Service parameters",
"Cloud Storage FUSE CSI driver"), Kueue, Karpenter and Kubernetes ("Well-Known Labels, Annotations and Taints"), as
generally known (2026-11). A key of which nobody is known to read it may be somebody's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.problems import nearest_word
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_FLAG: Final = re.compile(r"true|false")
_NUMBER: Final = re.compile(r"-?\d+")
_BALANCER: Final = "service.beta.kubernetes.io/aws-load-balancer-"
_ENTRANCE: Final = "alb.ingress.kubernetes.io/"
_VALUES: Final[Mapping[str, re.Pattern[str]]] = {
    "cluster-autoscaler.kubernetes.io/safe-to-evict": _FLAG,
    "cluster-autoscaler.kubernetes.io/enable-ds-eviction": _FLAG,
    "cluster-autoscaler.kubernetes.io/scale-down-disabled": _FLAG,
    "storageclass.kubernetes.io/is-default-class": _FLAG,
    "ingressclass.kubernetes.io/is-default-class": _FLAG,
    "snapshot.storage.kubernetes.io/is-default-class": _FLAG,
    "eks.amazonaws.com/sts-regional-endpoints": _FLAG,
    "eks.amazonaws.com/skip-containers": re.compile(r"[a-z0-9-]+(\s*,\s*[a-z0-9-]+)*"),
    "gke-gcsfuse/volumes": _FLAG,
    "karpenter.sh/do-not-disrupt": _FLAG,
    "controller.kubernetes.io/pod-deletion-cost": _NUMBER,
    "networking.gke.io/load-balancer-type": re.compile(r"Internal"),
    "cloud.google.com/load-balancer-type": re.compile(r"[Ii]nternal"),
    "kueue.x-k8s.io/pod-group-total-count": re.compile(r"[1-9]\d*"),
    f"{_BALANCER}scheme": re.compile(r"internal|internet-facing"),
    f"{_BALANCER}internal": re.compile(r"true|false|0\.0\.0\.0/0"),
    f"{_BALANCER}nlb-target-type": re.compile(r"ip|instance"),
    f"{_BALANCER}type": re.compile(r"external|nlb|nlb-ip"),
    f"{_BALANCER}backend-protocol": re.compile(r"(?i)tcp|ssl|http|https|tls"),
    f"{_ENTRANCE}scheme": re.compile(r"internal|internet-facing"),
    f"{_ENTRANCE}target-type": re.compile(r"ip|instance"),
    f"{_ENTRANCE}ip-address-type": re.compile(r"ipv4|dualstack|dualstack-without-public-ipv4"),
    f"{_ENTRANCE}backend-protocol": re.compile(r"HTTP|HTTPS"),
}
"""Annotations, and what their controllers read there."""
_LABELS_OF_QUEUES: Final = (
    "kueue.x-k8s.io/queue-name",
    "kueue.x-k8s.io/priority-class",
    "kueue.x-k8s.io/pod-group-name",
)
"""What Kueue reads as a label, and never as an annotation."""
_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    _BALANCER: (
        "type", "nlb-target-type", "name", "internal", "scheme", "proxy-protocol", "ip-address-type",
        "access-log-enabled", "access-log-emit-interval", "access-log-s3-bucket-name", "access-log-s3-bucket-prefix",
        "cross-zone-load-balancing-enabled", "ssl-cert", "ssl-ports", "ssl-negotiation-policy", "backend-protocol",
        "additional-resource-tags", "healthcheck-healthy-threshold", "healthcheck-unhealthy-threshold",
        "healthcheck-timeout", "healthcheck-interval", "healthcheck-protocol", "healthcheck-port", "healthcheck-path",
        "healthcheck-success-codes", "eip-allocations", "private-ipv4-addresses", "ipv6-addresses",
        "target-group-attributes", "subnets", "alpn-policy", "target-node-labels", "attributes",
        "manage-backend-security-group-rules", "security-groups", "extra-security-groups", "connection-idle-timeout",
        "connection-draining-enabled", "connection-draining-timeout", "security-group-prefix-lists",
        "inbound-sg-rules-on-private-link-traffic", "multi-cluster-target-group", "enable-tcp-udp-listener",
        "minimum-load-balancer-capacity", "enable-prefix-for-ipv6-source-nat", "source-nat-ipv6-prefixes",
        "enable-icmp-for-path-mtu-discovery", "disable-nlb-sg", "quic-enabled-ports",
    ),
    _ENTRANCE: (
        "load-balancer-name", "group.name", "group.order", "tags", "ip-address-type", "scheme", "subnets",
        "security-groups", "manage-backend-security-group-rules", "customer-owned-ipv4-pool",
        "load-balancer-attributes", "wafv2-acl-arn", "waf-acl-id", "shield-advanced-protection", "listen-ports",
        "ssl-redirect", "inbound-cidrs", "security-group-prefix-lists", "certificate-arn", "ssl-policy", "target-type",
        "backend-protocol", "backend-protocol-version", "target-group-attributes", "healthcheck-port",
        "healthcheck-protocol", "healthcheck-path", "healthcheck-interval-seconds", "healthcheck-timeout-seconds",
        "healthy-threshold-count", "unhealthy-threshold-count", "success-codes", "auth-type", "auth-idp-cognito",
        "auth-idp-oidc", "auth-on-unauthenticated-request", "auth-scope", "auth-session-cookie",
        "auth-session-timeout", "target-node-labels", "mutual-authentication", "multi-cluster-target-group",
        "minimum-load-balancer-capacity", "wafv2-acl-name", "use-regex-path-match", "ipam-ipv4-pool-id",
    ),
    "cluster-autoscaler.kubernetes.io/": (
        "safe-to-evict", "safe-to-evict-local-volumes", "enable-ds-eviction", "scale-down-disabled",
        "daemonset-pod", "pod-scale-up-delay", "consume-provisioning-request", "provisioning-class-name",
    ),
    "karpenter.sh/": ("do-not-disrupt", "nodepool", "initialized", "registered", "capacity-type", "nodepool-hash",
                      "nodepool-hash-version"),
    "gke-gcsfuse/": ("volumes", "cpu-limit", "memory-limit", "ephemeral-storage-limit", "cpu-request",
                     "memory-request", "ephemeral-storage-request"),
}  # fmt: skip
"""What controllers read below a prefix."""
_OLD: Final[Mapping[str, str]] = {
    "karpenter.sh/do-not-evict": "karpenter.sh/do-not-disrupt",
    "karpenter.sh/do-not-consolidate": "karpenter.sh/do-not-disrupt",
    "scheduler.alpha.kubernetes.io/critical-pod": "spec.priorityClassName",
    "seccomp.security.alpha.kubernetes.io/pod": "spec.securityContext.seccompProfile",
}
"""Annotations of which nothing is read any more, and what took their place."""
_NEAR: Final = 0.8


def check(cluster: Cluster) -> None:
    """The annotations of every object and of the pods that it makes."""
    for view in cluster.objects:
        for path, given in _given(view):
            for key, value in given.items():
                if isinstance(value, str) and "/" in key:
                    _one(view, f"{path}[{key!r}]", key, value)


def _given(view: View) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield "metadata.annotations", view.mapping("metadata.annotations")
    for template in ("spec.template", "spec.jobTemplate.spec.template"):
        path = f"{template}.metadata.annotations"
        yield path, view.mapping(path)


def _one(view: View, path: str, key: str, value: str) -> None:
    if key in _OLD:
        view.error("programs-annotation", path, "is read by nothing any more", allowed=_OLD[key])
        return
    if key in _LABELS_OF_QUEUES:
        view.error("programs-annotation", path, "is an annotation, and Kueue goes by the label", allowed="a label")
        return
    read = _VALUES.get(key)
    if read is not None and not read.fullmatch(value):
        allowed = read.pattern.removeprefix("(?i)").replace("|", " or ") if len(read.pattern) < 60 else ""
        view.error(
            "programs-annotation", path, f"is {show(value)}, which its controller does not read", allowed=allowed
        )
        return
    for prefix, names in _KEYS.items():
        name = key.removeprefix(prefix)
        if (
            key.startswith(prefix)
            and name not in names
            and not name.startswith(("conditions.", "actions.", "transforms."))
        ):
            hint = nearest_word(name, names, cutoff=_NEAR)
            if hint:
                view.error(
                    "programs-annotation",
                    path,
                    "is read by no controller",
                    allowed=f"{prefix}{hint}",
                    hint=f"{prefix}{hint}",
                )
