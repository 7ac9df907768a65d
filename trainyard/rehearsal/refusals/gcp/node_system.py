"""What the system of GKE's nodes is told: the kubelet's settings, the kernel's, the machine's metadata.

Source: descriptions of `NodeKubeletConfig`, `LinuxNodeConfig` and `NodeConfig` in the discovery document
`container.v1beta1` (google-api-python-client 2.202.0) and in pulumi_gcp 10.2.0; signals of eviction and parameters of
the kernel with the names that Kubernetes and Linux give them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.conventions.quantities import MEBIBYTE
from trainyard.problems import nearest
from trainyard.recorded.quantities import quantity
from trainyard.recorded.read import as_number
from trainyard.recorded.types import GKE_CLUSTER, GKE_NODE_POOL
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.rules import Rules

_KUBELET: Final[Mapping[str, tuple[float, float]]] = {
    "podPidsLimit": (1024, 4_194_304),
    "imageGcLowThresholdPercent": (10, 85),
    "imageGcHighThresholdPercent": (10, 85),
    "containerLogMaxFiles": (2, 10),
    "maxParallelImagePulls": (2, 5),
    "evictionMaxPodGracePeriodSeconds": (0, 300),
}
"""Settings of the kubelet with the least and the most that GKE takes."""
_HIGH_BY_DEFAULT, _LOW_BY_DEFAULT = 85, 80
_PERIOD: Final = re.compile(r"(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+")
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)")
_UNITS: Final = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_SIGNALS: Final = (
    "memoryAvailable", "nodefsAvailable", "nodefsInodesFree", "imagefsAvailable", "imagefsInodesFree", "pidAvailable",
)  # fmt: skip
_SHARES: Final = {
    "imagefsAvailable": 15,
    "imagefsInodesFree": 5,
    "nodefsAvailable": 10,
    "nodefsInodesFree": 5,
    "pidAvailable": 10,
}
_LEAST_MEMORY: Final = 100 * MEBIBYTE
_MOST_SHARE, _MOST_RECLAIM = 50, 10
"""Per cent of a disk, its inodes or process ids: where a soft eviction may begin, by signal, and how much it frees."""
_UNSAFE: Final = re.compile(r"(kernel\.shm|kernel\.msg|kernel\.sem|fs\.mqueue\.|net\.)[\w.*-]*")
_SYSCTLS: Final = frozenset(
    """
    net.core.busy_poll net.core.busy_read net.core.netdev_max_backlog net.core.rmem_max net.core.rmem_default
    net.core.wmem_default net.core.wmem_max net.core.optmem_max net.core.somaxconn net.ipv4.neigh.default.gc_thresh1
    net.ipv4.neigh.default.gc_thresh2 net.ipv4.neigh.default.gc_thresh3 net.ipv4.tcp_rmem net.ipv4.tcp_wmem
    net.ipv4.tcp_tw_reuse net.ipv4.tcp_mtu_probing net.ipv4.tcp_max_orphans net.ipv4.tcp_max_tw_buckets
    net.ipv4.tcp_syn_retries net.ipv4.tcp_ecn net.ipv4.tcp_congestion_control net.netfilter.nf_conntrack_max
    net.netfilter.nf_conntrack_buckets net.netfilter.nf_conntrack_tcp_timeout_close_wait
    net.netfilter.nf_conntrack_tcp_timeout_time_wait net.netfilter.nf_conntrack_tcp_timeout_established
    net.netfilter.nf_conntrack_acct kernel.keys.maxkeys kernel.keys.maxbytes kernel.shmmni kernel.shmmax kernel.shmall
    kernel.core_pattern kernel.perf_event_paranoid kernel.sched_rt_runtime_us kernel.softlockup_panic
    kernel.yama.ptrace_scope kernel.kptr_restrict kernel.dmesg_restrict kernel.sysrq fs.aio-max-nr fs.file-max
    fs.inotify.max_user_instances fs.inotify.max_user_watches fs.nr_open vm.dirty_background_ratio
    vm.dirty_background_bytes vm.dirty_expire_centisecs vm.dirty_ratio vm.dirty_bytes vm.dirty_writeback_centisecs
    vm.max_map_count vm.overcommit_memory vm.overcommit_ratio vm.vfs_cache_pressure vm.swappiness
    vm.watermark_scale_factor vm.min_free_kbytes net.ipv6.conf.all.disable_ipv6 net.ipv6.conf.default.disable_ipv6
    """.split()  # noqa: SIM905 (a list of sixty in quotes is sixty lines)
)
"""Parameters of the kernel that GKE sets; the last two are of the SDK's own documentation."""
_WORDS: Final = ("net.ipv4.tcp_congestion_control", "kernel.core_pattern")
_THREE: Final = ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem")
_RESERVED: Final = (
    "cluster-location", "cluster-name", "cluster-uid", "configure-sh", "containerd-configure-sh", "enable-oslogin",
    "gci-ensure-gke-docker", "gci-metrics-enabled", "gci-update-strategy", "instance-template", "kube-env",
    "startup-script", "user-data", "disable-address-manager", "windows-startup-script-ps1", "common-psm1",
    "k8s-node-setup-psm1", "install-ssh-psm1", "user-profile-psm1",
)  # fmt: skip
"""Keys of a machine's metadata that GKE keeps for itself."""
_PAGES: Final = {"hugepageSize2m": 2 / 1024, "hugepageSize1g": 1.0}
_WITHOUT_1G: Final = ("e2-", "n1-", "n2-", "n2d-", "t2", "g2-", "c2-")


def node_pool(view: View) -> None:
    """Everything that a pool's nodes are told."""
    for base in (
        ("nodeConfig",) if view.type == GKE_NODE_POOL else ("nodeConfig", "nodePoolDefaults.nodeConfigDefaults")
    ):
        if view.mapping(base):
            _kubelet(view, f"{base}.kubeletConfig")
            _kernel(view, f"{base}.linuxNodeConfig")
            _metadata(view, f"{base}.metadata")


def _kubelet(view: View, base: str) -> None:
    for key, (low, high) in _KUBELET.items():
        path = f"{base}.{key}"
        number = view.number(path)
        if number is not None and not low <= number <= high:
            view.error("gke-kubelet", path, show(number), allowed=f"{low:.0f} to {high:.0f}")
    _images(view, base)
    path = f"{base}.containerLogMaxSize"
    size = view.text(path)
    if size is not None and not re.fullmatch(r"\d+(Ki|Mi|Gi)?", size):
        view.error("gke-kubelet", path, show(size), allowed="like 100Mi: 10Mi to 500Mi")
    elif size is not None and (mib := _mib(size)) is not None and not 10 <= mib <= 500:
        view.error("gke-kubelet", path, show(size), allowed="10Mi to 500Mi")
    path = f"{base}.cpuCfsQuotaPeriod"
    period = view.text(path)
    seconds = _duration(period)
    if period is not None and (seconds is None or not 1e-3 <= seconds <= 1):
        view.error("gke-kubelet", path, show(period), allowed="like 100ms: 1ms to 1s")
    for index, name in enumerate(view.texts(f"{base}.allowedUnsafeSysctls")):
        if not _UNSAFE.fullmatch(name):
            allowed = "kernel.shm*, kernel.msg*, kernel.sem, fs.mqueue.*, net.*"
            view.error("gke-kubelet", f"{base}.allowedUnsafeSysctls[{index}]", show(name), allowed=allowed)
    _evictions(view, base)


def _images(view: View, base: str) -> None:
    """Images are cleared up from the higher share of the disk down to the lower, the younger ones later."""
    shares = [f"{base}.imageGc{which}ThresholdPercent" for which in ("Low", "High")]
    low, high = map(view.number, shares)
    if (low is not None or high is not None) and not any(map(view.is_unknown, (base, *shares))):
        from_, to = high if high is not None else _HIGH_BY_DEFAULT, low if low is not None else _LOW_BY_DEFAULT
        if to >= from_:
            which = "Low" if low is not None else "High"
            words = f"from {from_:g} % down to {to:g} %"
            view.error("gke-kubelet", f"{base}.imageGc{which}ThresholdPercent", words, allowed="low below high")
    for key, most in (("imageMinimumGcAge", 120), ("imageMaximumGcAge", None)):
        path = f"{base}.{key}"
        text = view.text(path)
        seconds = _duration(text)
        if text is not None and (seconds is None or (most is not None and not 0 < seconds <= most)):
            allowed = "like 2m0s: at most two minutes" if most is not None else "like 24h"
            view.error("gke-kubelet", path, show(text), allowed=allowed)
    least, most_ = (_duration(view.text(f"{base}.image{which}GcAge")) for which in ("Minimum", "Maximum"))
    if most_ and most_ <= (least if least is not None else 120):
        path = f"{base}.imageMaximumGcAge"
        view.error("gke-kubelet", path, show(view.text(path)), allowed="longer than imageMinimumGcAge, 2m0s by default")


def _evictions(view: View, base: str) -> None:
    """A soft eviction has a threshold and a time to wait: one without the other is refused by the kubelet."""
    soft, grace = view.mapping(f"{base}.evictionSoft"), view.mapping(f"{base}.evictionSoftGracePeriod")
    hidden = view.is_unknown(base) or view.is_unknown(f"{base}.evictionSoft")
    hidden = hidden or view.is_unknown(f"{base}.evictionSoftGracePeriod")
    for key in _SIGNALS:
        given = [one.get(key) is not None for one in (soft, grace)]
        if given == [True, False] and not hidden:
            path = f"{base}.evictionSoftGracePeriod.{key}"
            view.error("gke-kubelet", path, "is missing beside evictionSoft", allowed="like 2m")
        elif given == [False, True] and not hidden:
            path = f"{base}.evictionSoft.{key}"
            view.error("gke-kubelet", path, "is missing beside evictionSoftGracePeriod", allowed="like 500Mi or 15%")
    reclaim = view.mapping(f"{base}.evictionMinimumReclaim")
    for what, values in (("evictionSoft", soft), ("evictionMinimumReclaim", reclaim)):
        for key, value in values.items():
            if isinstance(value, str) and (allowed := _not_an_amount(what, str(key), value)):
                view.error("gke-kubelet", f"{base}.{what}.{key}", show(value), allowed=allowed)
    for key, value in grace.items():
        seconds = _duration(value) if isinstance(value, str) else None
        if isinstance(value, str) and (seconds is None or seconds > 300):
            path = f"{base}.evictionSoftGracePeriod.{key}"
            view.error("gke-kubelet", path, show(value), allowed="like 2m: less than five minutes")


def _not_an_amount(what: str, key: str, value: str) -> str:
    """What an amount of a signal may be, where it is none."""
    share = re.fullmatch(r"(\d+(?:\.\d+)?)%", value)
    if what == "evictionMinimumReclaim":
        return "" if share and float(share[1]) <= _MOST_RECLAIM else f"a share up to {_MOST_RECLAIM}%"
    if key == "memoryAvailable":
        amount = quantity(value)
        return "" if amount is not None and amount >= _LEAST_MEMORY else "100Mi or more"
    low = _SHARES.get(key, 0)
    return "" if share and low <= float(share[1]) <= _MOST_SHARE else f"a share, {low}% to {_MOST_SHARE}%"


def _kernel(view: View, base: str) -> None:
    for key, value in view.mapping(f"{base}.sysctls").items():
        path = f"{base}.sysctls.{str(key).replace('.', '~')}"
        for words, allowed, hint in _sysctl(str(key), value):
            # What GKE sets grows: only a name that is nearly one of these is surely a slip.
            note = view.error if hint or key in _SYSCTLS else view.warning
            note("gke-sysctl", path, words, allowed=allowed, hint=hint)
    machine = view.text("nodeConfig.machineType") or ""
    for key in _PAGES:
        count = view.number(f"{base}.hugepagesConfig.{key}")
        if count and key == "hugepageSize1g" and machine.startswith(_WITHOUT_1G):
            words = f"{count:g}; {machine} has no pages of 1 GiB"
            view.warning("gke-hugepages", f"{base}.hugepagesConfig.{key}", words, allowed="hugepageSize2m")


def _sysctl(key: str, value: Any) -> Iterator[tuple[str, str, str]]:
    number = as_number(value)
    if key not in _SYSCTLS:
        hint = nearest(key, sorted(_SYSCTLS))
        yield f"{show(key)} is no parameter that GKE sets", "one of those that it does, as net.core.rmem_max", hint
    elif key in _WORDS or not isinstance(value, str):
        return
    elif key in _THREE:
        if not re.fullmatch(r"\d+[ \t]+\d+[ \t]+\d+", value):
            yield show(value), "three numbers: '4096 87380 6291456'", ""
    elif number is None:
        yield show(value), "a whole number", ""
    elif key == "vm.max_map_count" and not 65_536 <= number <= 2_147_483_647:
        yield show(value), "65536 to 2147483647", ""
    elif key == "vm.overcommit_memory" and number not in (0, 1, 2):
        yield show(value), "0, 1 or 2", ""
    elif key == "vm.swappiness" and not 0 <= number <= 200:
        yield show(value), "0 to 200", ""


def _metadata(view: View, base: str) -> None:
    given = view.mapping(base)
    size = 0
    for key, value in given.items():
        path = f"{base}.{str(key).replace('.', '~')}"
        if key in _RESERVED:
            view.error("gke-metadata", path, f"{show(key)} is GKE's own", allowed="another key")
        elif not re.fullmatch(r"[A-Za-z0-9_-]{1,127}", str(key)):
            view.error("gke-metadata", path, f"key {show(key)}", allowed="1 to 127 letters, digits, '_' and '-'")
        elif isinstance(value, str) and len(value.encode()) > 32 * 1024:
            view.error("gke-metadata", path, f"{len(value.encode())} bytes", allowed="at most 32768")
        elif key == "disable-legacy-endpoints" and str(value).lower() not in ("true", "false"):
            view.error("gke-metadata", path, show(value), allowed="true")
        size += len(str(key)) + len(str(value))
    if size > 512 * 1024:
        view.error("gke-metadata", base, f"{size} bytes", allowed="at most 524288 in all")


def _duration(text: str | None) -> float | None:
    if text is None or not _PERIOD.fullmatch(text):
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))


def _mib(text: str) -> float | None:
    match = re.fullmatch(r"(\d+)(Ki|Mi|Gi)?", text)
    return int(match[1]) * {None: 1 / 1024**2, "Ki": 1 / 1024, "Mi": 1, "Gi": 1024}[match[2]] if match else None


RULES: Rules = {node_pool: (GKE_NODE_POOL, GKE_CLUSTER)}
