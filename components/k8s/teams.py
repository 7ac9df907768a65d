"""A namespace for every team: what it may use, whom it may talk to, and what its members may do."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_kubernetes.core.v1 as core
import pulumi_kubernetes.networking.v1 as networking
import pulumi_kubernetes.rbac.v1 as rbac
import pulumi_kubernetes.scheduling.v1 as scheduling

from trainyard.components.k8s import custom_resources as cr
from trainyard.components.k8s import network_rules as rules
from trainyard.components.k8s import pod_security
from trainyard.components.k8s.image_guard import image_guard
from trainyard.components.k8s.node_daemon import NodeDaemonArgs, node_daemon_guard
from trainyard.components.k8s.objects import NAMESPACE_TIMEOUTS, named, service_account
from trainyard.components.k8s.pod_rules import keeps_to_the_level
from trainyard.components.k8s.quantities import bound, whole
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions import (
    CPU_ONLY_PRIORITY,
    QUEUE_ANNOTATION,
    SYSTEM_PRIORITIES,
    TEAM_LABEL,
    TEAM_STORAGE,
    TRAINER_SERVICE_ACCOUNT,
    team_group,
)
from trainyard.conventions.team_rights import IN_THE_CLUSTER, IN_THE_OWN_NAMESPACE, Right

CPU_ONLY_VALUE = -1
"""Below 0, which the platform's pods have. Not below -10, where the Cluster Autoscaler starts no node for a pod
(its flag expendable-pods-priority-cutoff)."""

WITHIN_TEAM = "allow-within-team"
"""Name of the network policy by which a team's pods talk to each other."""

ROOM_FOR_CLAIMS = 2
"""Quota of claims, in what the platform makes of them: one that is replaced is counted until the quota has noticed that
the old one is gone."""

INSTANCE_METADATA = "169.254.169.254/32"
"""The node's own identity, at the same address in every cloud; no pod's business."""


class SubjectArgs(TypedDict):
    """Somebody, as RBAC names them."""

    kind: str
    """User or Group."""
    name: str
    """Name that the API server knows them by, such as ada@acme.example."""


class TeamArgs(TypedDict):
    """One team, and what it may use."""

    name: str
    """Short name: value of the label `ml.platform/team`, and `team:<name>` is its members' group."""
    namespace: str
    """Name of the team's namespace."""
    cpu_only_cores: int
    """CPU cores that the team's pods without GPUs may request together."""
    cpu_only_memory_gib: int
    """Memory that the team's pods without GPUs may request together, GiB."""
    cpu_only_pods: int
    """How many pods without GPUs the team may have."""
    claims: int
    """How many claims the platform makes in the namespace: nobody else makes any."""
    claims_gib: int
    """What these claims ask for together, GiB."""
    subjects: NotRequired[Sequence[SubjectArgs]]
    """Who is of the team, where the ground does not put them into its group. Default: nobody but the group."""
    service_account_annotations: NotRequired[Mapping[str, pulumi.Input[str]]]
    """What the ground wants on the service account of training pods for them to have a role in it. Default: none."""
    storage: NotRequired[Mapping[str, pulumi.Input[str]]]
    """Where the team's parts of the object store are, by the variable that a pod has them in (`CHECKPOINTS_URI`): the
    ConfigMap `storage`, ready for `envFrom`. Default: there is none."""
    cluster_queue: NotRequired[pulumi.Input[str]]
    """Name of the team's ClusterQueue, which an annotation tells. As an output of the queue it keeps the queue and
    Kueue until the namespace has gone: Workloads in it have a finalizer that Kueue alone takes away. Default: none."""


class ServiceAddressArgs(TypedDict):
    """Pods of another namespace that the teams may talk to."""

    namespace: str
    """Namespace of the pods."""
    port: int
    """The pods' port (TCP), not the service's."""


class DeviceClaimArgs(TypedDict):
    """Devices of a node that a pod claims whole (dynamic resource allocation)."""

    name: str
    """Name of the ResourceClaimTemplate, in every team's namespace."""
    device_class: str
    """DeviceClass of the devices, which their driver makes."""
    count: int
    """How many a pod gets: all of a node."""


class TeamNamespacesArgs(TypedDict):
    """Arguments of `TeamNamespaces`."""

    teams: Sequence[TeamArgs]
    """All teams of the environment."""
    mlflow: NotRequired[ServiceAddressArgs]
    """Where the MLflow server's pods are. Default: there is none."""
    addresses: NotRequired[rules.AddressesArgs]
    """Where the ground has what network policies name by address. Default: unknown; then pods reach nothing by
    address but HTTPS everywhere."""
    egress_proxy: NotRequired[ServiceAddressArgs]
    """Where the pods of the egress proxy are: the only way out of the network. Default: there is none, and pods reach
    HTTPS outside of the network."""
    device_claims: NotRequired[Sequence[DeviceClaimArgs]]
    """What pods may claim besides GPUs: a pool's fast interfaces, each as a template in every namespace; members make
    none. Default: nothing."""
    node_daemon: NotRequired[NodeDaemonArgs]
    """A daemon of the node's network beside the training, which pod security would refuse: the namespaces then enforce
    no level, and admission policies hold `baseline` for all but it. Kueue is told of it too. Default: there is none."""
    allowed_images: NotRequired[Sequence[pulumi.Input[str]]]
    """Registries, or what stands below one (`docker.io/pytorch`), that the teams' images may come from. Default:
    wherever they like."""


class TeamNamespaces(pulumi.ComponentResource):
    """The teams' namespaces.

    - Pod security: `baseline` is enforced (no privileged pods, no host paths or networks). `restricted` only warns and
      is audited: the stock PyTorch images run as root, and a job that is refused for it is admitted by the queue,
      takes quota and never makes a pod.
    - Pods with GPUs are rationed by Kueue alone. A ResourceQuota that counts them, or that counts other pods beside
      them, holds a job up after its admission, while it keeps its GPUs: pods that only wait count too.
    - Pods without GPUs are counted by a ResourceQuota of their own, by their PriorityClass (the admission policy
      `gpu_guard` sees to it that they have it, and no others). The class is below 0, so that they give way to
      pods of the platform's wherever both are, and evicts nobody. Requests have to be stated for the quota to count;
      the LimitRange states them for pods that do not, which else would be refused.
    - Claims and what they ask for are bounded by what the platform makes, and there are no pods of Kubernetes' own
      priority classes, which would evict the platform's.
    - Nothing comes in or goes out except what the network policies name. A network plugin that enforces them is the
      caller's part.

    Raises ValueError for two teams of one name or namespace.
    """

    namespaces: dict[str, pulumi.Output[str]]
    """Name of the namespace by team; carries the dependency on it and on its quota and defaults."""
    service_account: str
    """Name of the service account of training pods, the same in every namespace. It gets no API token; what it may do
    in the ground is bound to it there."""
    groups: dict[str, str]
    """Kubernetes group of a team's members, by team."""

    def __init__(self, name: str, args: TeamNamespacesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:TeamNamespaces", name, {}, opts)
        for what in ("name", "namespace"):
            values = [str(team[what]) for team in args["teams"]]
            twice = sorted({value for value in values if values.count(value) > 1})
            if twice:
                raise ValueError(f"two teams have the {what} {', '.join(twice)}")
        self._before = prerequisites(opts)
        self.service_account = TRAINER_SERVICE_ACCOUNT
        self.groups = {team["name"]: team_group(team["name"]) for team in args["teams"]}
        self._people = [subject for team in args["teams"] for subject in rbac_subjects(team.get("subjects", ()))]
        self._cpu_only = scheduling.PriorityClass(
            f"{name}-{CPU_ONLY_PRIORITY}",
            metadata={"name": CPU_ONLY_PRIORITY},
            value=CPU_ONLY_VALUE,
            preemption_policy="Never",
            description="Pods without GPUs in teams' namespaces, counted against each team's part of the CPU pool.",
            opts=self._child(),
        )
        self._level, self._held = pod_security.LEVEL, list[pulumi.Resource]()
        if "node_daemon" in args:
            self._level = "privileged"
            daemon = args["node_daemon"]
            self._held = node_daemon_guard(name, daemon, keeps_to_the_level(daemon), self)
        policies = network_policies(args.get("mlflow"), args.get("addresses"), args.get("egress_proxy"))
        claims = args.get("device_claims", ())
        self.namespaces = {
            team["name"]: self._team(f"{name}-{team['name']}", team, policies, claims) for team in args["teams"]
        }
        self._cluster_reader(name)
        if "allowed_images" in args:
            image_guard(name, args["allowed_images"], self)
        register(self)

    def _child(self, *depends_on: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self, depends_on=[*self._before, *depends_on])

    def _team(
        self,
        name: str,
        team: TeamArgs,
        policies: Mapping[str, networking.NetworkPolicySpecArgsDict],
        claims: Sequence[DeviceClaimArgs],
    ) -> pulumi.Output[str]:
        level = "pod-security.kubernetes.io"
        resource = core.Namespace(
            f"{name}-namespace",
            metadata={
                "name": team["namespace"],
                "labels": {
                    TEAM_LABEL: team["name"],
                    f"{level}/enforce": self._level,
                    f"{level}/warn": "restricted",
                    f"{level}/audit": "restricted",
                },
                **({"annotations": {QUEUE_ANNOTATION: team["cluster_queue"]}} if "cluster_queue" in team else {}),
            },
            opts=pulumi.ResourceOptions(
                parent=self,
                # What holds the level is there before the namespace, and goes after it.
                depends_on=[*self._before, *self._held],
                custom_timeouts=NAMESPACE_TIMEOUTS,
            ),
        )
        namespace = named(resource, team["namespace"])
        quota = core.ResourceQuota(
            f"{name}-quota",
            metadata={"name": "team", "namespace": namespace},
            spec={
                "hard": {
                    # Nothing in a team's namespace is reachable from outside of the cluster.
                    "services.loadbalancers": "0",
                    "services.nodeports": "0",
                    # Members make no claims, and nobody that acts for them makes disks outside of every budget.
                    "persistentvolumeclaims": whole(team["claims"] * ROOM_FOR_CLAIMS),
                    "requests.storage": bound(team["claims_gib"] * ROOM_FOR_CLAIMS),
                }
            },
            opts=self._child(),
        )
        no_system = core.ResourceQuota(
            f"{name}-no-system-priority",
            metadata={"name": "no-system-priority", "namespace": namespace},
            # With one of these classes a pod evicts the platform's own.
            spec={
                "hard": {"pods": "0"},
                "scope_selector": {
                    "match_expressions": [
                        {"scope_name": "PriorityClass", "operator": "In", "values": list(SYSTEM_PRIORITIES)}
                    ]
                },
            },
            opts=self._child(),
        )
        cpu_only = core.ResourceQuota(
            f"{name}-{CPU_ONLY_PRIORITY}",
            metadata={"name": CPU_ONLY_PRIORITY, "namespace": namespace},
            spec={
                "hard": {
                    "requests.cpu": whole(team["cpu_only_cores"]),
                    "requests.memory": bound(team["cpu_only_memory_gib"]),
                    "pods": whole(team["cpu_only_pods"]),
                },
                "scope_selector": {
                    "match_expressions": [
                        {"scope_name": "PriorityClass", "operator": "In", "values": [CPU_ONLY_PRIORITY]}
                    ]
                },
            },
            opts=self._child(self._cpu_only),
        )
        defaults = core.LimitRange(
            f"{name}-defaults",
            metadata={"name": "defaults", "namespace": namespace},
            # Requests only: a default limit would kill a job that never stated one.
            spec={"limits": [{"type": "Container", "default_request": {"cpu": "1", "memory": "4Gi"}}]},
            opts=self._child(),
        )
        if "storage" in team:
            core.ConfigMap(
                f"{name}-{TEAM_STORAGE}",
                metadata={"name": TEAM_STORAGE, "namespace": namespace},
                data=dict(team["storage"]),
                opts=self._child(),
            )
        service_account(
            f"{name}-{TRAINER_SERVICE_ACCOUNT}",
            TRAINER_SERVICE_ACCOUNT,
            namespace,
            annotations=team.get("service_account_annotations", {}),
            opts=self._child(),
        )
        for claim in claims:
            cr.CustomResource(
                f"{name}-{claim['name']}",
                cr.resource_claim_template(claim["name"], namespace, claim["device_class"], claim["count"]),
                self._child(),
            )
        for policy, spec in policies.items():
            networking.NetworkPolicy(
                f"{name}-{policy}",
                metadata={"name": policy, "namespace": namespace},
                spec=spec,
                opts=self._child(),
            )
        role = rbac.Role(
            f"{name}-member",
            metadata={"name": "team-member", "namespace": namespace},
            rules=role_rules(IN_THE_OWN_NAMESPACE),
            opts=self._child(),
        )
        rbac.RoleBinding(
            f"{name}-members",
            metadata={"name": "team-members", "namespace": namespace},
            role_ref={"api_group": "rbac.authorization.k8s.io", "kind": "Role", "name": named(role, "team-member")},
            subjects=[rbac_group(self.groups[team["name"]]), *rbac_subjects(team.get("subjects", ()))],
            opts=self._child(),
        )
        # A job that starts before quota and defaults are there would escape them.
        return pulumi.Output.all(resource.urn, quota.urn, no_system.urn, cpu_only.urn, defaults.urn).apply(
            lambda _: team["namespace"]
        )

    def _cluster_reader(self, name: str) -> None:
        role = rbac.ClusterRole(
            f"{name}-reader",
            metadata={"name": "team-queue-reader"},
            rules=role_rules(IN_THE_CLUSTER),
            opts=self._child(),
        )
        rbac.ClusterRoleBinding(
            f"{name}-readers",
            metadata={"name": "team-queue-readers"},
            role_ref={
                "api_group": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": named(role, "team-queue-reader"),
            },
            subjects=[
                *(rbac_group(group) for group in self.groups.values()),
                *self._people,
            ],
            opts=self._child(),
        )


def role_rules(rights: Sequence[Right]) -> list[rbac.PolicyRuleArgsDict]:
    """Rights as the rules of a Role."""
    return [
        {"api_groups": [right.group], "resources": list(right.resources), "verbs": list(right.verbs)}
        for right in rights
    ]


def rbac_subjects(people: Sequence[SubjectArgs]) -> list[rbac.SubjectArgsDict]:
    """Those whom a ground names itself, as the subjects of a binding."""
    return [{"kind": who["kind"], "name": who["name"], "api_group": "rbac.authorization.k8s.io"} for who in people]


def rbac_group(group: str) -> rbac.SubjectArgsDict:
    """A group as the subject of a binding."""
    return {"kind": "Group", "name": group, "api_group": "rbac.authorization.k8s.io"}


def network_policies(
    mlflow: ServiceAddressArgs | None,
    addresses: rules.AddressesArgs | None,
    egress_proxy: ServiceAddressArgs | None,
) -> Mapping[str, networking.NetworkPolicySpecArgsDict]:
    """The network policies of a team's namespace by name; each selects all of its pods.

    Volumes need none: they are mounted by the node's kernel or by pods of another namespace.
    """

    def egress(*allowed: rules.Egress) -> networking.NetworkPolicySpecArgsDict:
        return {"pod_selector": {}, "policy_types": ["Egress"], "egress": list(allowed)}

    policies: dict[str, networking.NetworkPolicySpecArgsDict] = {
        "default-deny": rules.DEFAULT_DENY,
        # The ranks of a job open connections among each other on ports that torch and NCCL choose.
        WITHIN_TEAM: {
            "pod_selector": {},
            "policy_types": ["Ingress", "Egress"],
            "ingress": [{"from_": [{"pod_selector": {}}]}],
            "egress": [{"to": [{"pod_selector": {}}]}],
        },
        "allow-dns": egress(rules.names()),
    }
    if addresses is None:
        policies["allow-https"] = egress(rules.https(but=INSTANCE_METADATA))
    else:
        policies["allow-object-store"] = egress(rules.https_to(rules.blocks_of(addresses["object_store"])))
        if egress_proxy is None:
            # Nothing inside of the network: the API server, webhooks and other teams answer there too.
            policies["allow-https"] = egress(rules.https_to(rules.outside(addresses)))
        if addresses["identity"]:
            policies["allow-pod-identity"] = egress(*rules.to(addresses["identity"]))
    for policy, service in (("allow-egress-proxy", egress_proxy), ("allow-mlflow", mlflow)):
        if service is not None:
            policies[policy] = egress(
                {
                    "to": [{"namespace_selector": rules.namespace_called(service["namespace"])}],
                    "ports": [{"protocol": "TCP", "port": service["port"]}],
                }
            )
    return policies
