"""What a NodeConfig sets and what starts with it then refuses: kubelet, containerd, and the limits of every container.

Sources: kubelet's own checks (kubernetes/kubernetes, `pkg/kubelet/apis/config/validation/validation.go`,
`pkg/kubelet/eviction/helpers.go` and `cmd/kubelet/app/options/options.go`, release 1.35), KubeletConfiguration's
defaults (kubernetes.io, "Kubelet Configuration (v1beta1)") and nodeadm's, which come before them
(awslabs/amazon-eks-ami, `nodeadm/internal/kubelet/config.go`, 2026-11: images are not pulled one by one), setrlimit(2):
a soft limit is no higher than the hard one.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.read import as_number
from trainyard.rehearsal.context import show

Said = tuple[str, str]
"""What is wrong, and what it should be."""

_ENUMS: Final[Mapping[str, tuple[str, ...]]] = {
    "cpuManagerPolicy": ("none", "static"),
    "memoryManagerPolicy": ("None", "Static"),
    "topologyManagerPolicy": ("none", "best-effort", "restricted", "single-numa-node"),
    "topologyManagerScope": ("container", "pod"),
}
_SIGNALS: Final = (
    "allocatableMemory.available", "containerfs.available", "containerfs.inodesFree", "imagefs.available",
    "imagefs.inodesFree", "memory.available", "nodefs.available", "nodefs.inodesFree", "pid.available",
)  # fmt: skip
_PERCENTS: Final = (("imageGCLowThresholdPercent", 80), ("imageGCHighThresholdPercent", 85))
"""Both with kubelet's default: the first is lower than the second."""
_LIMITS: Final = frozenset(
    f"RLIMIT_{name}"
    for name in (
        "AS", "CORE", "CPU", "DATA", "FSIZE", "LOCKS", "MEMLOCK", "MSGQUEUE", "NICE", "NOFILE", "NPROC", "RSS",
        "RTPRIO", "RTTIME", "SIGPENDING", "STACK",
    )
)  # fmt: skip
_OWN_LABELS: Final = re.compile(
    r"(.+\.)?(kubelet|node)\.kubernetes\.io/.+|(beta\.)?kubernetes\.io/(hostname|os|arch|instance-type)"
    r"|failure-domain\.beta\.kubernetes\.io/(zone|region)|topology\.kubernetes\.io/(zone|region)"
)
"""Labels of Kubernetes that a kubelet may give its node."""
_DURATION: Final = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")


def wrong(spec: Mapping[Any, Any]) -> Iterator[Said]:
    """Everything in a NodeConfig's `spec` that keeps the node from joining, or its containers from starting."""
    containerd = _mapping(spec.get("containerd"))
    yield from _limits(_mapping(_mapping(containerd.get("baseRuntimeSpec")).get("process")).get("rlimits"))
    if isinstance(text := containerd.get("config"), str):
        try:
            tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            yield f"spec.containerd.config is no TOML: {error}", "settings of containerd as TOML"
    kubelet = _mapping(spec.get("kubelet"))
    yield from _kubelet(_mapping(kubelet.get("config")))
    flags = kubelet.get("flags")
    for flag in flags if isinstance(flags, list) else []:
        name, _, value = str(flag).partition("=")
        for label in value.split(",") if name == "--node-labels" else ():
            if is_reserved(label.partition("=")[0]):
                yield f"kubelet may not label its node {show(label)}, and does not start", "a label of another prefix"


def is_reserved(label: str) -> bool:
    """Whether a label is one of Kubernetes that a kubelet refuses to give its node."""
    prefix, slash, _ = label.partition("/")
    return bool(slash) and f".{prefix}".endswith((".kubernetes.io", ".k8s.io")) and not _OWN_LABELS.fullmatch(label)


def _limits(limits: Any) -> Iterator[Said]:
    for limit in map(_mapping, limits if isinstance(limits, list) else ()):
        kind, soft, hard = limit.get("type"), as_number(limit.get("soft")), as_number(limit.get("hard"))
        if isinstance(kind, str) and kind not in _LIMITS:
            yield f"{show(kind)} is no limit of processes: no container starts", "one such as RLIMIT_MEMLOCK"
        elif soft is not None and hard is not None and soft > hard:
            yield (
                f"{kind}'s soft limit {soft:.0f} is above its hard one {hard:.0f}: no container starts",
                f"at most {hard:.0f}",
            )


def _kubelet(config: Mapping[Any, Any]) -> Iterator[Said]:
    for key, known in _ENUMS.items():
        if isinstance(text := config.get(key), str) and text not in known:
            yield f"{_at(key)} is {show(text)}: kubelet does not start", f"one of {', '.join(known)}"
    if config.get("memoryManagerPolicy") == "Static" and not config.get("reservedMemory"):
        yield f"{_at('memoryManagerPolicy')} is Static without reservedMemory: kubelet does not start", "reservedMemory"
    (low, usual_low), (high, usual_high) = _PERCENTS
    lower, higher = as_number(config.get(low, usual_low)), as_number(config.get(high, usual_high))
    if lower is not None and higher is not None and lower >= higher:
        yield (
            f"{low} is {lower:.0f} and {high} {higher:.0f}, which has to be more: kubelet does not start",
            f"{low} below {high}",
        )
    yield from _eviction(config)
    pulls, one_by_one = as_number(config.get("maxParallelImagePulls")), config.get("serializeImagePulls")
    if pulls is not None and pulls > 1 and one_by_one is True:
        yield f"{_at('maxParallelImagePulls')} goes with serializeImagePulls alone: kubelet does not start", "false"
    files = as_number(config.get("containerLogMaxFiles"))
    if files is not None and files < 2:
        yield f"{_at('containerLogMaxFiles')} is {files:.0f}: kubelet does not start", "at least 2"
    whole, critical = (_seconds(config.get(f"shutdownGracePeriod{part}")) for part in ("", "CriticalPods"))
    if critical is not None and critical > (whole or 0):
        yield (
            f"{_at('shutdownGracePeriodCriticalPods')} is longer than shutdownGracePeriod, which it is a part of: "
            "kubelet does not start",
            "at most shutdownGracePeriod",
        )


def _eviction(config: Mapping[Any, Any]) -> Iterator[Said]:
    for key in ("evictionHard", "evictionSoft", "evictionSoftGracePeriod", "evictionMinimumReclaim"):
        for signal in _mapping(config.get(key)):
            if signal not in _SIGNALS:
                yield f"{_at(key)} has {show(signal)}: kubelet does not start", f"one of {', '.join(_SIGNALS)}"
    soft, graces = _mapping(config.get("evictionSoft")), _mapping(config.get("evictionSoftGracePeriod"))
    for signal in soft:
        if signal not in graces:
            yield (
                f"{_at('evictionSoft')} has {signal} without a grace period: kubelet does not start",
                f"evictionSoftGracePeriod.{signal}",
            )


def _at(key: str) -> str:
    return f"spec.kubelet.config.{key}"


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}


def _seconds(value: Any) -> int | None:
    found = _DURATION.fullmatch(value) if isinstance(value, str) and value else None
    if found is None:
        return None
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return hours * 3600 + minutes * 60 + seconds
