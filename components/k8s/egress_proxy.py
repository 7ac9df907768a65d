"""The way out for teams' pods: a proxy that opens HTTPS to the names of an allow-list and to nothing else.

Squid, with no cache and no look into what it carries: it sees the name that a client asks for (`CONNECT`), compares it,
and passes bytes on. Whoever may use a name may send to it what he likes, uploads included: the list is of whom the
client trusts with its data. Pods of teams have no other way out of the network (`teams.network_policies`).

Where people sign on, at the tracking server or at the hub of notebooks, it has a door of its own, another port, that
leads to their identity providers and nowhere else: what these may reach the teams' pods may not.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_kubernetes.apps.v1 as apps
import pulumi_kubernetes.core.v1 as core

from trainyard.components.k8s.flows import fence
from trainyard.components.k8s.network_rules import AddressesArgs
from trainyard.components.k8s.notebooks_flows import notebooks_out_flow
from trainyard.components.k8s.objects import (
    add_on_namespace,
    disruption_budget,
    named,
    service,
    service_account,
)
from trainyard.components.k8s.platform_flows import (
    EGRESS_PROXY,
    PLATFORM_FLOWS,
    PROXY_PORT,
    SIGN_ON_PORT,
    sign_on_flow,
)
from trainyard.components.k8s.pod_parts import system_toleration
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions import EGRESS_CONFIG_MAP, SYSTEM_NODES

NAME = "egress-proxy"
LABELS = {"app.kubernetes.io/name": NAME}
SQUID_UID = 13
"""User `proxy` of Debian and Ubuntu, as which their Squid runs."""
CONFIGURATION = "/etc/squid/trainyard.conf"
NEVER = (
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "::1/128",
    "fc00::/7",
    "fe80::/10",
)
"""Where no name of the list may lead: hosts' own, private and shared networks (IANA special-purpose registries,
2026-11)."""


class SignOnPodsArgs(TypedDict):
    """Pods at which people sign on."""

    namespace: str
    """Namespace that they run in."""
    labels: NotRequired[Mapping[str, str]]
    """Labels that they have. Default: all pods of the namespace."""


class SignOnDoorArgs(TypedDict):
    """The door of those at which people sign on."""

    pods: Sequence[SignOnPodsArgs]
    """Who may go through it."""
    names: Sequence[str]
    """Domain names of the identity providers and of their keys."""


class EgressProxyArgs(TypedDict):
    """Arguments of `EgressProxy`."""

    image: str
    """Image with Squid, `image:tag@sha256:...`."""
    allow: Sequence[str]
    """Domain names that may be reached over HTTPS; one that begins with a dot is the name and all below it."""
    addresses: AddressesArgs
    """Where the ground has what network policies name by address."""
    direct: Sequence[str]
    """Names that clients reach without the proxy (`NO_PROXY`), such as the object store's."""
    team_namespaces: Mapping[str, pulumi.Input[str]]
    """Namespace by team; each gets the variables that clients need, as the ConfigMap `egress`."""
    sign_on: NotRequired[SignOnDoorArgs]
    """A door for those at which people sign on. Default: none."""
    notebooks: NotRequired[bool]
    """Whether people's notebooks go out by it too. Default: there are none."""
    node_selector: NotRequired[Mapping[str, str]]
    """Labels of the nodes that it runs on. Default: the system nodes', `ml.platform/pool: system`."""


class EgressProxy(pulumi.ComponentResource):
    """The proxy as two replicas, and what its clients need to know.

    Raises ValueError for an image without a digest.
    """

    url: str
    """Address of the proxy inside of the cluster."""
    namespace: pulumi.Output[str]
    """Namespace that the proxy runs in."""

    def __init__(self, name: str, args: EgressProxyArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:EgressProxy", name, {}, opts)
        if "@sha256:" not in args["image"]:
            raise ValueError(f"the image of {name} has to be pinned by its digest, got {args['image']}")
        before = prerequisites(opts)
        child = pulumi.ResourceOptions(parent=self, depends_on=before)
        namespace = add_on_namespace(f"{name}-namespace", EGRESS_PROXY.namespace, self, depends_on=before)
        self.namespace = named(namespace, EGRESS_PROXY.namespace)
        self.url = proxy_url()
        door = args.get("sign_on")
        walls = fence(
            name,
            EGRESS_PROXY.namespace,
            [
                *PLATFORM_FLOWS,
                *(
                    sign_on_flow(pods["namespace"], tuple(pods.get("labels", {}).items()))
                    for pods in (door["pods"] if door else ())
                ),
                *([notebooks_out_flow()] if args.get("notebooks") else []),
            ],
            args["addresses"],
            inside=self.namespace,
            opts=child,
        )
        self._serve(name, args, pulumi.ResourceOptions(parent=self, depends_on=[*before, *walls]))
        for team, in_namespace in args["team_namespaces"].items():
            core.ConfigMap(
                f"{name}-clients-{team}",
                metadata={"name": EGRESS_CONFIG_MAP, "namespace": in_namespace},
                data=client_environment(args["direct"]),
                opts=child,
            )
        register(self)

    def _serve(self, name: str, args: EgressProxyArgs, opts: pulumi.ResourceOptions) -> None:
        text = squid_configuration(args["allow"], args["sign_on"]["names"] if "sign_on" in args else ())
        config = core.ConfigMap(
            f"{name}-configuration",
            metadata={"name": NAME, "namespace": self.namespace, "labels": LABELS},
            data={"squid.conf": text},
            opts=opts,
        )
        account = service_account(
            f"{name}-service-account", NAME, self.namespace, labels=LABELS, annotations={}, opts=opts
        )
        checksum = hashlib.sha256(text.encode()).hexdigest()
        apps.Deployment(
            f"{name}-deployment",
            metadata={"name": NAME, "namespace": self.namespace, "labels": LABELS},
            spec={
                "replicas": 2,
                "revision_history_limit": 3,
                "selector": {"match_labels": LABELS},
                "strategy": {"type": "RollingUpdate", "rolling_update": {"max_surge": 1, "max_unavailable": 0}},
                "template": {
                    # Another list is another pod: Squid reads its configuration when it starts.
                    "metadata": {"labels": LABELS, "annotations": {"trainyard.dev/configuration": checksum}},
                    "spec": _pod(args, named(account, NAME), named(config, NAME)),
                },
            },
            opts=opts,
        )
        more: list[core.ServicePortArgsDict] = [{"name": "sign-on", "port": SIGN_ON_PORT, "target_port": SIGN_ON_PORT}]
        service(
            f"{name}-service",
            NAME,
            self.namespace,
            LABELS,
            {"name": "proxy", "port": PROXY_PORT, "target_port": PROXY_PORT},
            opts,
            *(more if "sign_on" in args else ()),
        )
        disruption_budget(f"{name}-disruption-budget", NAME, self.namespace, LABELS, opts)


def _pod(args: EgressProxyArgs, account: pulumi.Input[str], configuration: pulumi.Input[str]) -> core.PodSpecArgsDict:
    ports: list[core.ContainerPortArgsDict] = [{"name": "proxy", "container_port": PROXY_PORT, "protocol": "TCP"}]
    if "sign_on" in args:
        ports.append({"name": "sign-on", "container_port": SIGN_ON_PORT, "protocol": "TCP"})
    return {
        "service_account_name": account,
        "automount_service_account_token": False,
        "enable_service_links": False,
        "node_selector": dict(args.get("node_selector", SYSTEM_NODES)),
        "tolerations": [system_toleration()],
        "topology_spread_constraints": [
            {
                "max_skew": 1,
                "topology_key": "kubernetes.io/hostname",
                "when_unsatisfiable": "ScheduleAnyway",
                "label_selector": {"match_labels": LABELS},
            }
        ],
        "security_context": {
            "run_as_non_root": True,
            "run_as_user": SQUID_UID,
            "run_as_group": SQUID_UID,
            "seccomp_profile": {"type": "RuntimeDefault"},
        },
        "containers": [
            {
                "name": "squid",
                "image": args["image"],
                "image_pull_policy": "IfNotPresent",
                # In the foreground, what goes wrong on stderr. Not the image's own entry point, which wants root.
                "command": ["/usr/sbin/squid", "-N", "-d", "1", "-f", CONFIGURATION],
                "ports": ports,
                "readiness_probe": {"tcp_socket": {"port": PROXY_PORT}, "period_seconds": 5},
                "liveness_probe": {"tcp_socket": {"port": PROXY_PORT}, "period_seconds": 20, "failure_threshold": 6},
                "resources": {
                    "requests": {"cpu": "100m", "memory": "128Mi"},
                    "limits": {"cpu": "2", "memory": "512Mi"},
                },
                "security_context": {
                    "allow_privilege_escalation": False,
                    "read_only_root_filesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                },
                "volume_mounts": [
                    {"name": "configuration", "mount_path": CONFIGURATION, "sub_path": "squid.conf", "read_only": True},
                    {"name": "scratch", "mount_path": "/run"},
                ],
            }
        ],
        "volumes": [
            {"name": "configuration", "config_map": {"name": configuration}},
            {"name": "scratch", "empty_dir": {"size_limit": "16Mi"}},
        ],
    }


def proxy_url(port: int = PROXY_PORT) -> str:
    """Address of the proxy inside of the cluster; with `SIGN_ON_PORT`, of the door of those at which people sign on."""
    return f"http://{NAME}.{EGRESS_PROXY.namespace}.svc.cluster.local:{port}"


def client_environment(direct: Sequence[str]) -> dict[str, str]:
    """The variables by which programs find the proxy, in both spellings that programs read."""
    without = ",".join(["localhost", "127.0.0.1", ".svc", ".svc.cluster.local", *direct])
    values = {"HTTPS_PROXY": proxy_url(), "NO_PROXY": without}
    return {**values, **{key.lower(): value for key, value in values.items()}}


def squid_configuration(allow: Sequence[str], sign_on: Sequence[str] = ()) -> str:
    """What Squid is to do; `sign_on` are the names behind the door for signing on, which is not there without any.

    Names are compared as the client wrote them: an address is no name, and none is looked up for it, since whoever has
    an address says what it is called.
    """
    # A name that stands below another of the list stops Squid from starting.
    wide = {name for name in allow if name.startswith(".")}
    names = sorted(
        name for name in set(allow) if not any(name != other and f".{name}".endswith(other) for other in wide)
    )
    by_teams = "!allowed" if names else "all"
    return "\n".join(
        [
            f"http_port {PROXY_PORT}",
            *([f"http_port {SIGN_ON_PORT}", f"acl door localport {SIGN_ON_PORT}"] if sign_on else []),
            "acl secure port 443",
            "acl tunnel method CONNECT",
            f"acl inside dst {' '.join(NEVER)}",
            *(f"acl allowed dstdomain -n {name}" for name in names),
            *(f"acl keys dstdomain -n {name}" for name in sorted(set(sign_on))),
            "http_access deny !tunnel",
            "http_access deny !secure",
            *(["http_access deny door !keys", f"http_access deny !door {by_teams}"] if sign_on else []),
            *(["http_access deny !allowed"] if names and not sign_on else []),
            *(["http_access deny inside", "http_access allow tunnel"] if names or sign_on else []),
            "http_access deny all",
            "cache deny all",
            "cache_mem 0 MB",
            "memory_cache_shared off",
            "memory_pools off",
            "via off",
            "forwarded_for delete",
            "httpd_suppress_version_string on",
            "visible_hostname egress-proxy",
            "access_log stdio:/dev/stdout",
            "cache_log /dev/null",
            "pid_filename none",
            "coredump_dir none",
            "pinger_enable off",
            "netdb_filename none",
            "shutdown_lifetime 10 seconds",
            "",
        ]
    )
