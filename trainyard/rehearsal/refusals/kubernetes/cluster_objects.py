"""Volumes, classes, quotas, rights, namespaces and admission: inputs that the API server weighs together.

Source: pkg/apis/core, storage, scheduling, rbac and admissionregistration of Kubernetes 1.35 (their validation), and
the Pod Security admission, as generally known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.quantities import quantity
from trainyard.rehearsal.context import View, listed, show

_DATA_KEY: Final = re.compile(r"(?!\.$)(?!\.\.)[-._a-zA-Z0-9]{1,253}")
_HIGHEST_USER_PRIORITY: Final = 1_000_000_000
_ONLY_ONE: Final = "ReadWriteOncePod"
_PSA_LEVELS: Final = ("privileged", "baseline", "restricted")
_PSA_MODES: Final = ("enforce", "audit", "warn")
_RBAC: Final = "rbac.authorization.k8s.io"
_SECRET_KEYS: Final = {
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
}
"""What a Secret of a type has to hold."""
_POD_SCOPES: Final = frozenset(
    {"Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity"}
)
_NO_BOOL: Final = re.compile(
    r"\s*(?:request\.(?:operation|name|namespace|uid|subResource|kind(?:\.\w+)?|resource(?:\.\w+)?"
    r"|userInfo(?:\.(?:username|uid|groups))?)"
    r"|'[^']*'|\"[^\"]*\"|-?\d+(?:\.\d+)?|size\([^()]*\)|[\w.]+\.size\(\))\s*"
)
"""Expressions of CEL whose type is known before any request, and is not bool; what lies in `object` has any type."""
_UNSCOPED: Final = ("services", "persistentvolumeclaims", "configmaps", "secrets", "requests.storage")
"""What a quota with a scope cannot count."""


def check(view: View, kind: str) -> None:
    """What the API server refuses of an object that pods use or that limits them."""
    rule = _RULES.get(kind)
    if rule is not None:
        rule(view)


def _modes(view: View) -> None:
    modes = view.entries("spec.accessModes")
    if view.lacks("spec.accessModes") or (modes == [] and not view.is_unknown("spec.accessModes")):
        if not view.is_unknown("spec"):
            view.error("k8s-access-mode", "spec.accessModes", "is missing", allowed="at least one access mode")
    elif _ONLY_ONE in modes and len(modes) > 1:
        view.error("k8s-access-mode", "spec.accessModes", f"{_ONLY_ONE} beside others", allowed=f"{_ONLY_ONE} alone")


def _claim(view: View) -> None:
    _modes(view)
    size = "spec.resources.requests.storage"
    if view.lacks(size):
        view.error("k8s-claim", size, "is missing", allowed="a size such as 100Gi")
    _above_zero(view, size)


def _volume(view: View) -> None:
    _modes(view)
    if view.lacks("spec.capacity.storage"):
        view.error("k8s-volume", "spec.capacity.storage", "is missing", allowed="a size such as 100Gi")
    _above_zero(view, "spec.capacity.storage")
    sources = ("csi", "nfs", "hostPath", "local", "awsElasticBlockStore", "iscsi", "fc")
    given = [key for key in sources if view.has(f"spec.{key}")]
    if len(given) > 1:
        view.error("k8s-volume", f"spec.{given[1]}", f"{' and '.join(given)} given", allowed="one source a volume")
    if given == ["local"] and view.lacks("spec.nodeAffinity"):
        view.error("k8s-volume", "spec.nodeAffinity", "is missing", allowed="needed for a local volume")
    if view.text("spec.persistentVolumeReclaimPolicy") == "Recycle" and given and given[0] not in ("nfs", "hostPath"):
        view.error("k8s-volume", "spec.persistentVolumeReclaimPolicy", "Recycle", allowed="Retain or Delete")


def _above_zero(view: View, path: str) -> None:
    number = quantity(view.value(path))
    if number is not None and number <= 0:
        view.error("k8s-claim", path, f"got {show(view.value(path))}", allowed="more than 0")


def _storage_class(view: View) -> None:
    if view.text("reclaimPolicy") == "Recycle":
        view.error("k8s-enum", "reclaimPolicy", "got 'Recycle'", allowed="one of Delete, Retain")


def _priority_class(view: View) -> None:
    value, name = view.number("value"), view.text("metadata.name")
    if value is not None and value > _HIGHEST_USER_PRIORITY:
        view.error("k8s-priority", "value", f"got {value:.0f}", allowed=f"at most {_HIGHEST_USER_PRIORITY}")
    if name is not None and name.startswith("system-"):
        view.error("k8s-priority", "metadata.name", f"got {show(name)}", allowed="no name that begins with system-")


def _limit_range(view: View) -> None:
    for path, entry in view.items("spec.limits"):
        if entry.get("type") == "Pod":
            for key in ("default", "defaultRequest"):
                if entry.get(key):
                    view.error("k8s-limit-range", f"{path}.{key}", "given for type Pod", allowed="type Container")
        if entry.get("type") == "PersistentVolumeClaim" and not entry.get("min") and not entry.get("max"):
            view.error("k8s-limit-range", path, "has no min and no max", allowed="one of them for claims")
        for low, high in (("min", "defaultRequest"), ("min", "default"), ("min", "max"), ("defaultRequest", "default"),
                          ("defaultRequest", "max"), ("default", "max")):  # fmt: skip
            _ordered(view, path, low, high)


def _ordered(view: View, path: str, low: str, high: str) -> None:
    below, above = view.mapping(f"{path}.{low}"), view.mapping(f"{path}.{high}")
    for name, value in below.items():
        one, other = quantity(value), quantity(above.get(name))
        if one is not None and other is not None and one > other:
            here = f"{path}.{high}[{name!r}]"
            view.error("k8s-limit-range", here, f"{above[name]} is below {low} {value}", allowed=f"at least {low}")


def _quota(view: View) -> None:
    selected = {entry.get("scopeName") for _, entry in view.items("spec.scopeSelector.matchExpressions")}
    scopes = ({*view.texts("spec.scopes")} | selected) & _POD_SCOPES
    for name in view.mapping("spec.hard"):
        if scopes and (name.startswith("services.") or name in _UNSCOPED):
            view.error("k8s-quota-scope", f"spec.hard[{name!r}]", f"{name} with a scope", allowed="pods, cpu, memory")
    for path, entry in view.items("spec.scopeSelector.matchExpressions"):
        operator, values = entry.get("operator"), entry.get("values")
        if operator in ("In", "NotIn") and values in (None, []):
            view.error("k8s-selector", f"{path}.values", f"is missing with operator {operator}", allowed="values")
        if operator in ("Exists", "DoesNotExist") and values not in (None, [], UNKNOWN):
            view.error("k8s-selector", f"{path}.values", f"given with operator {operator}", allowed="none")
        if entry.get("scopeName") in _POD_SCOPES - {"PriorityClass"} and operator not in ("Exists", UNKNOWN, None):
            view.error("k8s-selector", f"{path}.operator", f"{operator} with {entry['scopeName']}", allowed="Exists")


def _rules(view: View) -> None:
    for path, entry in view.items("rules"):
        if entry.get("verbs") in (None, []):
            view.error("k8s-role", f"{path}.verbs", "is missing", allowed="at least one verb")
        urls, resources = entry.get("nonResourceURLs"), entry.get("resources")
        if urls and view.text("kind") == "Role":
            view.error("k8s-role", f"{path}.nonResourceURLs", "given in a Role", allowed="a ClusterRole")
        if urls and (resources or entry.get("apiGroups")):
            view.error("k8s-role", f"{path}.nonResourceURLs", "given beside resources", allowed="a rule of its own")
        if not urls:
            for key in ("apiGroups", "resources"):
                if entry.get(key) in (None, []):
                    view.error("k8s-role", f"{path}.{key}", "is missing", allowed="at least one; '' is the core group")


def _binding(view: View) -> None:
    group, kind = view.text("roleRef.apiGroup"), view.text("roleRef.kind")
    if group not in (None, "", _RBAC):
        view.error("k8s-role", "roleRef.apiGroup", f"got {show(group)}", allowed=_RBAC)
    kinds = ("ClusterRole",) if view.text("kind") == "ClusterRoleBinding" else ("ClusterRole", "Role")
    if kind is not None and kind not in kinds:
        hint = nearest(kind, kinds)
        view.error("k8s-role", "roleRef.kind", f"got {show(kind)}", allowed=f"one of {', '.join(kinds)}", hint=hint)
    groups = {"ServiceAccount": ("",), "User": (_RBAC,), "Group": (_RBAC,)}
    for path, entry in view.items("subjects"):
        of, api = entry.get("kind"), entry.get("apiGroup")
        if isinstance(of, str) and of in groups and isinstance(api, str) and api and api not in groups[of]:
            view.error("k8s-subject", f"{path}.apiGroup", f"got {show(api)}", allowed=groups[of][0] or "none")


def _namespace(view: View) -> None:
    prefix = "pod-security.kubernetes.io/"
    for key, value in view.mapping("metadata.labels").items():
        if not key.startswith(prefix) or not isinstance(value, str):
            continue
        mode, path = key.removeprefix(prefix), f"metadata.labels.{key}"
        if mode in _PSA_MODES and value not in _PSA_LEVELS:
            hint = nearest(value, _PSA_LEVELS)
            view.error("k8s-pod-security", path, f"got {show(value)}", allowed=f"one of {', '.join(_PSA_LEVELS)}",
                       hint=hint)  # fmt: skip
        elif mode.endswith("-version") and not re.fullmatch(r"latest|v1\.\d+", value):
            view.error("k8s-pod-security", path, f"got {show(value)}", allowed="latest, or a version such as v1.35")
        elif mode.removesuffix("-version") not in _PSA_MODES:
            known = [f"{prefix}{item}" for item in _PSA_MODES]
            view.warning("k8s-pod-security", path, f"{show(key)} says nothing", allowed=f"one of {', '.join(known)}",
                         hint=nearest(key, known))  # fmt: skip


def _data(view: View) -> None:
    seen: set[str] = set()
    for part in ("data", "binaryData") if view.text("kind") == "ConfigMap" else ("data", "stringData"):
        for key in view.mapping(part):
            if not _DATA_KEY.fullmatch(key):
                view.error("k8s-data-key", f"{part}[{key!r}]", f"got {show(key)}", allowed="letters, digits and -_.")
            if key in seen and part == "binaryData":
                view.error("k8s-data-key", f"{part}[{key!r}]", "is in data too", allowed="one of them")
            seen.add(key)
    needed = _SECRET_KEYS.get(view.text("type") or "", ())
    open_ = any(view.is_unknown(part) or view.is_secret(part) for part in ("data", "stringData"))
    for key in needed if view.text("kind") == "Secret" and not (open_ and not seen) else ():
        if key not in seen:
            view.error("k8s-secret", "data", f"a Secret of type {view.text('type')} holds {key}", allowed=f"add {key}")


def _admission_binding(view: View) -> None:
    actions = listed(view.value("spec.validationActions"))
    if {"Deny", "Warn"} <= {item for item in actions if isinstance(item, str)}:
        view.error("k8s-validation-actions", "spec.validationActions", "Deny and Warn", allowed="one of these two")
    if view.lacks("spec.policyName") and not view.is_unknown("spec"):
        view.error("k8s-required", "spec.policyName", "is missing", allowed="the name of a policy")


def _admission_policy(view: View) -> None:
    if view.lacks("spec.validations") and view.lacks("spec.auditAnnotations") and not view.is_unknown("spec"):
        view.error("k8s-admission", "spec.validations", "is missing", allowed="validations or auditAnnotations")
    names: set[str] = set()
    for path, entry in view.items("spec.variables"):
        name = entry.get("name")
        if isinstance(name, str):
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
                view.error("k8s-admission", f"{path}.name", f"got {show(name)}", allowed="a name in CEL: no '-' or '.'")
            if name in names:
                view.error("k8s-admission", f"{path}.name", f"{show(name)} is given twice", allowed="each name once")
            names.add(name)
    for where in ("spec.matchConditions", "spec.validations"):
        for path, entry in view.items(where):
            given = entry.get("expression")
            if isinstance(given, str) and _NO_BOOL.fullmatch(given):
                view.error(
                    "k8s-admission", f"{path}.expression", f"{show(given)} is no yes or no: must evaluate to bool",
                    allowed="a comparison",
                )  # fmt: skip
    for path, entry in view.items("spec.validations"):
        text = entry.get("message")
        if isinstance(text, str) and "\n" in text:
            view.error("k8s-admission", f"{path}.message", "has several lines", allowed="one line")


def _webhooks(view: View) -> None:
    for path, entry in view.items("webhooks"):
        name, seconds = entry.get("name"), view.number(f"{path}.timeoutSeconds")
        if isinstance(name, str) and name.count(".") < 2:
            view.error("k8s-webhook", f"{path}.name", f"got {show(name)}", allowed="a name of three parts: a.b.c")
        if seconds is not None and not 1 <= seconds <= 30:
            view.error("k8s-webhook", f"{path}.timeoutSeconds", f"got {seconds:g}", allowed="must be 1 to 30")
        if entry.get("sideEffects") not in ("None", "NoneOnDryRun", UNKNOWN):
            got = show(entry.get("sideEffects"))
            view.error("k8s-webhook", f"{path}.sideEffects", f"got {got}", allowed="one of None, NoneOnDryRun")
        client = entry.get("clientConfig")
        if isinstance(client, Mapping) and (client.get("url") is None) == (client.get("service") is None):
            view.error("k8s-webhook", f"{path}.clientConfig", "says no place or two", allowed="one of url, service")


def _device_claim(view: View, at: str = "spec") -> None:
    """What a claim of devices asks for (validation of `resource.k8s.io/v1`)."""
    names: list[str] = []
    # Before v1beta2 a request says itself what it asks for.
    is_old = (view.text("apiVersion") or "").endswith("/v1beta1")
    kinds = ("deviceClassName", "firstAvailable") if is_old else ("exactly", "firstAvailable")
    for path, entry in view.items(f"{at}.devices.requests"):
        given = [key for key in kinds if entry.get(key)]
        if len(given) != 1 and UNKNOWN not in entry.values():
            view.error(
                "k8s-device-claim", path, f"has {' and '.join(given) or 'neither'}",
                allowed=f"one of {', '.join(kinds)}",
            )  # fmt: skip
        names.append(str(entry.get("name")))
        mode, count = view.text(f"{path}.exactly.allocationMode"), view.number(f"{path}.exactly.count")
        if mode == "All" and count:
            view.error(
                "k8s-device-claim", f"{path}.exactly.count", "given with allocationMode All", allowed="ExactCount"
            )  # fmt: skip
        if mode != "All" and count is not None and count < 0:  # 0 is as good as nothing said, which is 1
            view.error("k8s-device-claim", f"{path}.exactly.count", f"got {count:g}", allowed="1 or more")
    if view.blurred(f"{at}.devices.requests"):
        return
    for where in (f"{at}.devices.constraints", f"{at}.devices.config"):
        for path, _ in view.items(where):
            for index, name in enumerate(view.texts(f"{path}.requests")):
                if name.partition("/")[0] not in names:
                    view.error(
                        "k8s-device-claim", f"{path}.requests[{index}]", f"no request is named {show(name)}",
                        allowed=f"one of {', '.join(names)}", hint=nearest(name, names),
                    )  # fmt: skip


def _device_template(view: View) -> None:
    _device_claim(view, "spec.spec")


_RULES: Final[Mapping[str, Callable[[View], None]]] = {
    "ClusterRole": _rules,
    "ClusterRoleBinding": _binding,
    "ConfigMap": _data,
    "LimitRange": _limit_range,
    "MutatingWebhookConfiguration": _webhooks,
    "Namespace": _namespace,
    "PersistentVolume": _volume,
    "PersistentVolumeClaim": _claim,
    "PriorityClass": _priority_class,
    "ResourceClaim": _device_claim,
    "ResourceClaimTemplate": _device_template,
    "ResourceQuota": _quota,
    "Role": _rules,
    "RoleBinding": _binding,
    "Secret": _data,
    "StorageClass": _storage_class,
    "ValidatingAdmissionPolicy": _admission_policy,
    "ValidatingAdmissionPolicyBinding": _admission_binding,
    "ValidatingWebhookConfiguration": _webhooks,
}
