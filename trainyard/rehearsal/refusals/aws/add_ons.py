"""EKS add-ons: names, versions, and the settings of the network plugin, which are a text of JSON.

Source: EKS user guide and the network plugin's own list of variables, as generally known (2026-11). EKS checks the
settings against the schema of the add-on's version, which only the service has: so a name is refused here only where
it all but repeats a known one, and any other unknown name passes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.types import ADD_ON
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.kubernetes.pod_parts import PARTS, check_expressions
from trainyard.rehearsal.refusals.rules import Rules

KNOWN_ADD_ONS = (
    "vpc-cni", "coredns", "kube-proxy", "eks-pod-identity-agent", "aws-ebs-csi-driver", "aws-efs-csi-driver",
    "aws-fsx-csi-driver", "aws-mountpoint-s3-csi-driver", "eks-node-monitoring-agent", "metrics-server",
    "amazon-cloudwatch-observability", "cert-manager", "kube-state-metrics", "prometheus-node-exporter", "external-dns",
    "adot", "aws-guardduty-agent", "amazon-sagemaker-hyperpod-taskgovernance", "snapshot-controller",
    "aws-network-flow-monitoring-agent", "aws-secrets-store-csi-driver-provider",
)  # fmt: skip
"""Add-ons that EKS offers as generally known (2026-11); others exist, so an unknown name is a warning."""


def add_on(view: View) -> None:
    """An add-on has a name, a version and settings that EKS knows."""
    name = view.text("addonName")
    if name is not None and name not in KNOWN_ADD_ONS:
        view.warning(
            "eks-addon-name", "addonName", f"{show(name)} is no add-on known here", hint=nearest(name, KNOWN_ADD_ONS)
        )
    version = view.text("addonVersion")
    if version is not None and not re.fullmatch(r"v\d+\.\d+\.\d+-eks-?build\.\d+", version):
        view.error(
            "eks-addon-version", "addonVersion", f"got {show(version)}", allowed="must look like v1.20.0-eksbuild.1"
        )
    _parts(view)
    if name in _BELOW:
        _beside(view, name)
    if name == "vpc-cni":
        _network_plugin(view)
    elif name in _KEYS:
        _known_keys(view, name)


_SETTINGS = (
    "enableNetworkPolicy", "enableWindowsIpam", "enableWindowsPrefixDelegation", "env", "eniConfig", "init",
    "nodeAgent", "livenessProbeTimeoutSeconds", "readinessProbeTimeoutSeconds", "podAnnotations", "podLabels",
    "resources", "tolerations", "affinity",
)  # fmt: skip
_VARIABLES = (
    "AWS_VPC_K8S_CNI_LOGLEVEL", "AWS_VPC_K8S_CNI_EXTERNALSNAT", "AWS_VPC_K8S_CNI_RANDOMIZESNAT",
    "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "AWS_VPC_K8S_CNI_EXCLUDE_SNAT_CIDRS", "AWS_VPC_ENI_MTU", "POD_MTU",
    "WARM_ENI_TARGET", "WARM_IP_TARGET", "MINIMUM_IP_TARGET", "MAX_ENI", "ENABLE_PREFIX_DELEGATION",
    "WARM_PREFIX_TARGET", "ENABLE_POD_ENI", "POD_SECURITY_GROUP_ENFORCING_MODE", "ENABLE_IPv4", "ENABLE_IPv6",
    "DISABLE_INTROSPECTION", "DISABLE_METRICS", "ENABLE_SUBNET_DISCOVERY", "ENABLE_V6_EGRESS",
    "ENABLE_BANDWIDTH_PLUGIN", "ADDITIONAL_ENI_TAGS", "NETWORK_POLICY_ENFORCING_MODE", "ENI_CONFIG_LABEL_DEF",
)  # fmt: skip

_OF_PODS: Final = ("affinity", "nodeSelector", "podAnnotations", "podLabels", "resources", "tolerations",
                   "topologySpreadConstraints", "priorityClassName")  # fmt: skip
_KEYS: Final = {
    "coredns": (
        *_OF_PODS, "autoScaling", "computeType", "corefile", "livenessProbe", "podDisruptionBudget", "readinessProbe",
        "replicaCount",
    ),
    "metrics-server": (),
    "aws-ebs-csi-driver": ("controller", "defaultStorageClass", "node", "sidecars", "volumeAttributesClass"),
}  # fmt: skip
"""Settings of add-ons, as far as they are generally known (2026-11). The lists need not be whole: only what is spelt
almost like one of them is told."""
_BELOW: Final = ("aws-ebs-csi-driver", "aws-efs-csi-driver", "aws-fsx-csi-driver")
"""Add-ons of several kinds of pods: what every pod takes stands below `controller` or `node`, never beside them."""
_MISTAKEN: Final = {("coredns", "replicas"): "replicaCount"}
"""Settings that are called otherwise elsewhere."""


def _settings(view: View) -> dict[str, Any]:
    """The settings of an add-on; none where they are no JSON object, which others tell."""
    try:
        settings = json.loads(view.text("configurationValues") or "{}")
    except json.JSONDecodeError:
        return {}
    return settings if isinstance(settings, dict) else {}


def _parts(view: View) -> None:
    """What goes into the add-on's pods as it is: the add-on degrades where the API server refuses it."""
    own = _settings(view)
    for prefix, part in (("", own), *((f".{key}", item) for key, item in own.items() if isinstance(item, dict))):
        for key, check in PARTS.items():
            check(view, f"configurationValues{prefix}.{key}", part.get(key))
            check_expressions(view, f"configurationValues{prefix}.{key}", part.get(key))


def _beside(view: View, name: str) -> None:
    """Settings of pods at the top, where the schemas of drivers have none."""
    settings = _settings(view)
    for key in ("affinity", "nodeSelector", "tolerations", "topologySpreadConstraints"):
        if key in settings:
            view.error(
                "eks-addon-settings", "configurationValues", f"{name} has no setting {show(key)} of its own",
                hint=f"controller.{key} or node.{key}",
            )  # fmt: skip


def _known_keys(view: View, name: str) -> None:
    text = view.text("configurationValues")
    try:
        settings = json.loads(text) if text is not None else {}
    except json.JSONDecodeError:
        return  # told by the check of the format
    if not isinstance(settings, dict):
        view.error("eks-addon-settings", "configurationValues", f"got {show(settings)}", allowed="a JSON object")
        return
    _near_misses(view, settings, _KEYS[name], name)
    for key in settings:
        meant = _MISTAKEN.get((name, key))
        if meant is not None:
            view.error("eks-addon-settings", "configurationValues", f"{name} has no setting {show(key)}", hint=meant)
    if name == "coredns" and settings.get("replicaCount") == 0:
        view.error("eks-addon-settings", "configurationValues", "replicaCount is 0: no pod finds a name", allowed="2")
    corefile = settings.get("corefile")
    if name == "coredns" and isinstance(corefile, str) and ".:53" in corefile and "forward" not in corefile:
        view.error(
            "eks-addon-settings", "configurationValues", "corefile forwards nothing: no pod finds a name outside",
            allowed="forward . /etc/resolv.conf",
        )  # fmt: skip
    for part in (settings, *(item for item in settings.values() if isinstance(item, dict))):
        _pod_settings(view, part)


def _pod_settings(view: View, part: dict[str, Any]) -> None:
    """What every pod takes: the schemas of the add-ons hold the kinds of Kubernetes itself."""
    selector, tolerations, count = part.get("nodeSelector"), part.get("tolerations"), part.get("replicaCount")
    path = "configurationValues"
    if selector is not None and not (
        isinstance(selector, dict) and all(isinstance(value, str) for value in selector.values())
    ):
        view.error("eks-addon-settings", path, f"nodeSelector is {show(selector)}", allowed="a map of texts")
    if tolerations is not None and not isinstance(tolerations, list):
        view.error("eks-addon-settings", path, f"tolerations is {show(tolerations)}", allowed="a list")
    for entry in tolerations if isinstance(tolerations, list) else ():
        if not isinstance(entry, dict):
            continue
        for key, choices in (
            ("operator", ("Equal", "Exists")), ("effect", ("NoSchedule", "PreferNoSchedule", "NoExecute")),
        ):  # fmt: skip
            if isinstance(entry.get(key), str) and entry[key] and entry[key] not in choices:
                view.error("eks-addon-settings", path, f"a toleration's {key} is {show(entry[key])}",
                           allowed=f"one of {', '.join(choices)}")  # fmt: skip
    if count is not None and (isinstance(count, bool) or not isinstance(count, int)):
        view.error("eks-addon-settings", path, f"replicaCount is {show(count)}", allowed="a whole number")


_BOOLEANS: Final = ("true", "false", "True", "False", "TRUE", "FALSE", "t", "f", "T", "F", "1", "0")
_CHOICES: Final = {
    "NETWORK_POLICY_ENFORCING_MODE": ("standard", "strict"),
    "POD_SECURITY_GROUP_ENFORCING_MODE": ("standard", "strict"),
    "ENABLE_PREFIX_DELEGATION": _BOOLEANS,
    "ENABLE_POD_ENI": _BOOLEANS,
    "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": _BOOLEANS,
    "AWS_VPC_K8S_CNI_EXTERNALSNAT": _BOOLEANS,
}
"""What the plugin takes for a variable: with anything else it does what was not meant, and tells its log alone."""


def _network_plugin(view: View) -> None:
    text = view.text("configurationValues")
    try:
        settings = json.loads(text) if text is not None else {}
    except json.JSONDecodeError:
        return  # told by the check of the format
    if not isinstance(settings, dict):
        view.error("eks-addon-settings", "configurationValues", f"got {show(settings)}", allowed="a JSON object")
        return
    variables = settings.get("env", {})
    _near_misses(view, settings, _SETTINGS)
    if not isinstance(variables, dict):
        view.error("eks-addon-settings", "configurationValues", f"env is {show(variables)}", allowed="a JSON object")
        return
    _near_misses(view, variables, _VARIABLES)
    for key, value in {"enableNetworkPolicy": settings.get("enableNetworkPolicy", ""), **variables}.items():
        if not isinstance(value, str):
            view.error(
                "eks-addon-settings", "configurationValues", f"{key} is {show(value)}", allowed="text, also for numbers"
            )
        elif key in _NUMBERS and not value.isdigit():
            view.error(
                "eks-addon-settings", "configurationValues", f"{key} is {show(value)}", allowed="a whole number as text"
            )
        elif key in _CHOICES and value not in _CHOICES[key]:
            view.error(
                "eks-addon-settings",
                "configurationValues",
                f"{key} is {show(value)}",
                allowed=" or ".join(_CHOICES[key][:2]),
            )
    _starts(view, variables)


def _starts(view: View, variables: dict[str, Any]) -> None:
    """Variables with which the plugin ends at once, so that no node is ever ready (aws-vpc-cni, `validateEnvVars`).

    The add-on keeps one prefix warm where nothing else is said.
    """
    none = [key for key in _WARM if str(variables.get(key, "1" if key == _PREFIX else "0")) == "0"]
    if len(none) == len(_WARM) and str(variables.get("ENABLE_PREFIX_DELEGATION")).lower() in ("true", "t", "1"):
        words, allowed = f"{_PREFIX} is 0 with ENABLE_PREFIX_DELEGATION: the plugin does not start", "1 or more"
        view.error("eks-addon-settings", "configurationValues", words, allowed=allowed)
    name = variables.get("AWS_VPC_K8S_CNI_VETHPREFIX")
    if isinstance(name, str) and (len(name) > _LONGEST_PREFIX or name in _TAKEN):
        words = f"AWS_VPC_K8S_CNI_VETHPREFIX is {show(name)}: the plugin does not start"
        allowed = f"at most {_LONGEST_PREFIX} letters, and none of {', '.join(_TAKEN)}"
        view.error("eks-addon-settings", "configurationValues", words, allowed=allowed)


_PREFIX: Final = "WARM_PREFIX_TARGET"
_WARM: Final = (_PREFIX, "WARM_IP_TARGET", "MINIMUM_IP_TARGET")
_LONGEST_PREFIX: Final = 4
_TAKEN: Final = ("eth", "lo", "vlan")
_NUMBERS: Final = (
    "WARM_PREFIX_TARGET", "WARM_IP_TARGET", "MINIMUM_IP_TARGET", "WARM_ENI_TARGET", "MAX_ENI", "AWS_VPC_ENI_MTU",
    "POD_MTU", "IP_COOLDOWN_PERIOD",
)  # fmt: skip


def _near_misses(view: View, given: dict[str, Any], known: Collection[str], add_on: str = "vpc-cni") -> None:
    for key in given:
        hint = "" if key in known else nearest(key, known)
        if hint:
            view.error("eks-addon-settings", "configurationValues", f"{add_on} has no setting {show(key)}", hint=hint)


RULES: Final[Rules] = {
    add_on: (ADD_ON,),
}
