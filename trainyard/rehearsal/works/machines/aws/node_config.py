"""What a node is told when it starts: the user data of a launch template, by the image that reads it.

Source: nodeadm's API `node.eks.aws/v1alpha1` (awslabs/amazon-eks-ami, nodeadm/doc) and the EKS user guide, "Customize
managed nodes with launch templates".
"""

from __future__ import annotations

import base64
import binascii
import email
from collections.abc import Mapping
from typing import Any, Final

import yaml

from trainyard.problems import nearest
from trainyard.recorded.node_groups import EKS_NODE_GROUP, LAUNCH_TEMPLATE
from trainyard.recorded.yaml_text import read_yaml
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.works.machines.aws import node_settings
from trainyard.rehearsal.works.machines.aws.images import Image

API: Final = "node.eks.aws/v1alpha1"
SPEC: Final[Mapping[str, frozenset[str]]] = {
    "": frozenset({"cluster", "containerd", "instance", "kubelet", "featureGates"}),
    "cluster": frozenset({"name", "apiServerEndpoint", "certificateAuthority", "cidr", "enableOutpost", "id"}),
    "containerd": frozenset({"config", "baseRuntimeSpec"}),
    "instance": frozenset({"localStorage", "environment", "network"}),
    "instance.localStorage": frozenset({"strategy", "mountPath", "disabledMounts"}),
    "kubelet": frozenset({"config", "flags", "maxPodsExpression"}),
}
"""Keys of a NodeConfig's `spec`, by their path."""

STRATEGIES: Final = ("RAID0", "RAID10", "Mount")
JOINING: Final = ("name", "apiServerEndpoint", "certificateAuthority", "cidr")
"""What a node of a custom image needs of its cluster; EKS tells it to those of its own images."""

_SCRIPTS: Final = (
    "text/x-shellscript", "text/x-shellscript-per-boot", "text/x-shellscript-per-instance",
    "text/x-shellscript-per-once", "text/plain", "text/x-not-multipart", "text/cloud-boothook", "text/part-handler",
)  # fmt: skip
"""Types of parts that cloud-init runs, or looks for a script in by their first line (cloud-init's documentation, "User
data formats", and its `cloudinit/user_data.py`, 2026-11). Others it logs and leaves alone."""

KUBELET: Final = (
    "allowedUnsafeSysctls", "clusterDNS", "containerLogMaxFiles", "containerLogMaxSize", "cpuCFSQuota",
    "cpuManagerPolicy", "cpuManagerPolicyOptions", "cpuManagerReconcilePeriod", "enforceNodeAllocatable",
    "eventBurst", "eventRecordQPS", "evictionHard", "evictionMaxPodGracePeriod", "evictionMinimumReclaim",
    "evictionPressureTransitionPeriod", "evictionSoft", "evictionSoftGracePeriod", "featureGates",
    "imageGCHighThresholdPercent", "imageGCLowThresholdPercent", "imageMaximumGCAge", "imageMinimumGCAge",
    "kubeAPIBurst", "kubeAPIQPS", "kubeReserved", "logging", "maxParallelImagePulls", "maxPods",
    "memoryManagerPolicy", "nodeStatusReportFrequency", "nodeStatusUpdateFrequency", "podPidsLimit", "podsPerCore",
    "readOnlyPort", "registerWithTaints", "registryBurst", "registryPullQPS", "reservedMemory", "reservedSystemCPUs",
    "serializeImagePulls", "shutdownGracePeriod", "shutdownGracePeriodCriticalPods",
    "streamingConnectionIdleTimeout", "systemReserved", "topologyManagerPolicy", "topologyManagerPolicyOptions",
    "topologyManagerScope",
)  # fmt: skip
"""Fields of KubeletConfiguration (kubelet.config.k8s.io/v1beta1) that are set on nodes; a near miss is a mistake."""


def check(stack: Stack) -> None:
    """Looks at the user data of every template that a node group of EKS uses."""
    for group in stack.of_type(EKS_NODE_GROUP):
        template = group.referred("launchTemplate", LAUNCH_TEMPLATE)
        encoded = template.text("userData") if template is not None else None
        if template is not None and encoded:
            _read(template, encoded, Image(group.text("amiType") or ""))


def _read(template: View, encoded: str, image: Image) -> None:
    try:
        text = base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, ValueError):
        return  # the check of its form tells that
    if image.system == "BOTTLEROCKET":
        if text.lstrip().startswith(("MIME-Version", "#!", "Content-Type")):
            _note(template, "Bottlerocket reads TOML and nothing else", "settings as TOML")
        return
    parts = _parts(text)
    if parts is None:
        if image.system in ("AL2", "AL2023"):
            _note(
                template, "a managed node group's user data is a MIME multipart text", "Content-Type: multipart/mixed"
            )
        return
    for kind, body in parts:
        if image.system == "AL2023" and "/etc/eks/bootstrap.sh" in body:
            _note(
                template,
                "/etc/eks/bootstrap.sh is not in Amazon Linux 2023: nodeadm joins the cluster",
                f"a part of {API}",
            )
        if body.lstrip().startswith("#!") and kind not in _SCRIPTS:
            _note(template, f"nothing runs the script of the part {kind}", "Content-Type: text/x-shellscript")
        if kind == "application/node.eks.aws":
            _node_config(template, body, image)


def _parts(text: str) -> list[tuple[str, str]] | None:
    """Kind and text of each part of a MIME text; None for what is none."""
    message = email.message_from_string(text)
    if not message.is_multipart():
        return None
    return [(part.get_content_type(), str(part.get_payload())) for part in message.walk() if not part.is_multipart()]


def _node_config(template: View, body: str, image: Image) -> None:
    try:
        document = read_yaml(body)
    except yaml.YAMLError as error:
        _note(template, f"NodeConfig is no YAML: {str(error).splitlines()[0]}", "a document of kind NodeConfig")
        return
    if not isinstance(document, dict) or (document.get("apiVersion"), document.get("kind")) != (API, "NodeConfig"):
        _note(template, "the part application/node.eks.aws holds something else", f"apiVersion {API}, kind NodeConfig")
        return
    spec = document.get("spec") or {}
    for path, known in SPEC.items():
        _keys(template, f"spec.{path}".rstrip("."), _below(spec, path), known)
    strategy = _below(spec, "instance.localStorage").get("strategy")
    if strategy is not None and strategy not in STRATEGIES:
        _note(template, f"spec.instance.localStorage.strategy is {show(strategy)}", f"one of {', '.join(STRATEGIES)}")
    flags = _below(spec, "kubelet").get("flags") or []
    for flag in flags if isinstance(flags, list) else [flags]:
        if not isinstance(flag, str) or not flag.startswith("--"):
            _note(template, f"spec.kubelet.flags holds {show(flag)}", "flags such as --node-labels=a=b")
    for key in _below(spec, "kubelet.config"):
        meant = nearest(str(key), KUBELET, cutoff=0.85) if key not in KUBELET else ""
        if meant:
            _note(template, f"spec.kubelet.config has no field {show(key)}: kubelet would not start", meant)
    for what, should_be in node_settings.wrong(_below(spec, "")):
        _note(template, what, should_be)
    missing = [key for key in JOINING if not _below(spec, "cluster").get(key)]
    if image.system == "CUSTOM" and missing:
        _note(template, f"a node of a custom image does not learn its cluster's {', '.join(missing)}", "spec.cluster")


def _below(spec: Any, path: str) -> dict[Any, Any]:
    for key in path.split(".") if path else ():
        spec = spec.get(key) if isinstance(spec, dict) else None
    return spec if isinstance(spec, dict) else {}


def _keys(template: View, path: str, found: Mapping[Any, Any], known: frozenset[str]) -> None:
    for key in found:
        if key not in known:
            allowed = nearest(str(key), known) or f"one of {', '.join(sorted(known))}"
            _note(template, f"{path} of NodeConfig has no field {show(key)}: the node would not join", allowed)


def _note(template: View, what: str, allowed: str) -> None:
    template.error("machines-user-data", "userData", what, allowed=allowed)
