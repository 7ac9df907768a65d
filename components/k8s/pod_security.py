"""The pod security level that the teams' namespaces enforce, asked of a pod's template in CEL.

The API server asks it of pods. A job whose pods it would refuse is admitted by its queue and holds GPUs without a pod,
so the same is asked of the job. Fields and values: Kubernetes 1.36, staging/src/k8s.io/pod-security-admission/policy
(check_*.go), all that the level has; read 2026-11-22. Host paths are no volume that a team may have at all
(`pod_rules`).
"""

from collections.abc import Sequence

from trainyard.components.k8s import node_daemon
from trainyard.components.k8s.node_daemon import NodeDaemonArgs
from trainyard.components.k8s.pod_expressions import every_container, listed, present, text

LEVEL = "baseline"
"""No privileged pods, nothing of the host's. `restricted` is warned of only: stock images run as root."""

_CAPABILITIES = (
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
    "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
)  # fmt: skip
_SELINUX_TYPES = ("", "container_t", "container_init_t", "container_kvm_t", "container_engine_t")
_PROFILES = ("RuntimeDefault", "Localhost")
_SYSCTLS = (
    "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range",
    "net.ipv4.ip_unprivileged_port_start", "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
)  # fmt: skip
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe", "lifecycle.postStart", "lifecycle.preStop")

_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
"""Prefix of the annotations that asked for a profile before there was a field, and are still judged."""


def meets_level(pod: str, daemon: NodeDaemonArgs | None = None) -> str:
    """Whether the spec of a pod keeps to the level, but for what a node's daemon beside the training may have."""
    host = [f"!(has({pod}.{field}) && {pod}.{field})" for field in ("hostNetwork", "hostPID", "hostIPC")]
    sysctls = f"{listed(pod, 'securityContext.sysctls')}.all(y, y.name in {_texts(_SYSCTLS)})"
    rules = _container(pod, _CAPABILITIES)
    if daemon is not None:
        added = daemon["container"]["securityContext"]["capabilities"]["add"]
        own = _container(pod, (*_CAPABILITIES, *added))
        rules = f"(c.name == {text(daemon['container']['name'])} ? ({own}) : ({rules}))"
        host.append(node_daemon.stands_alone(pod, daemon))
    containers = f"{every_container(pod)}.all(c, {rules})"
    return f"({' && '.join([*host, sysctls, *_context(pod), containers])})"


def asks_for_no_profile_by_annotation(metadata: str) -> str:
    """Whether the annotations of a template leave containers under the profile that the level wants."""
    meant = (
        f"!k.startsWith({text(_APP_ARMOR)}) || {metadata}.annotations[k] == 'runtime/default' || "
        f"{metadata}.annotations[k].startsWith('localhost/')"
    )
    return f"(!({present(metadata, 'annotations')}) || {metadata}.annotations.all(k, {meant}))"


def _container(pod: str, capabilities: Sequence[str]) -> str:
    field = "c.securityContext"
    user_namespace = f"has({pod}.hostUsers) && !{pod}.hostUsers"  # in which /proc may be unmasked
    probes = [
        f"(!({present('c', f'{probe}.{how}.host')}) || c.{probe}.{how}.host == '')"
        for probe in _PROBES
        for how in ("httpGet", "tcpSocket")
    ]
    rules = [
        f"!({present('c', 'securityContext.privileged')} && {field}.privileged)",
        f"{listed('c', 'securityContext.capabilities.add')}.all(a, a in {_texts(capabilities)})",
        f"{listed('c', 'ports')}.all(o, !has(o.hostPort) || o.hostPort == 0)",
        f"(!({present('c', 'securityContext.procMount')}) || {field}.procMount == 'Default' || ({user_namespace}))",
        *_context("c"),
        *probes,
    ]
    return " && ".join(rules)


def _context(holder: str) -> list[str]:
    """What is asked alike of the security context of a pod and of a container."""

    def one_of(path: str, values: Sequence[str]) -> str:
        path = f"securityContext.{path}"
        return f"(!({present(holder, path)}) || {holder}.{path} in {_texts(values)})"

    hosted = "securityContext.windowsOptions.hostProcess"
    return [
        one_of("seccompProfile.type", _PROFILES),
        one_of("appArmorProfile.type", _PROFILES),
        one_of("seLinuxOptions.type", _SELINUX_TYPES),
        one_of("seLinuxOptions.user", ("",)),
        one_of("seLinuxOptions.role", ("",)),
        f"!({present(holder, hosted)} && {holder}.{hosted})",
    ]


def _texts(values: Sequence[str]) -> str:
    return f"[{', '.join(map(text, values))}]"
