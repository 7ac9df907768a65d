"""The EKS cluster: control plane, access, add-ons, the nodes without GPUs and the role that all nodes have.

The order is the one that works on a real account, and the shortest: the encrypted log group and the role's policies
come before the control plane; network plugin, kube-proxy and Pod Identity agent before any node, because a node is
Ready only with them; what runs as Deployments after the system nodes.
"""

import hashlib
from collections.abc import Mapping, Sequence
from copy import copy
from typing import NotRequired, TypedDict

import pulumi
import pulumi_aws.cloudwatch as cloudwatch
import pulumi_aws.eks as eks
import pulumi_aws.iam as iam
import pulumi_aws.vpc as vpc

from trainyard.components.aws.add_ons import BEFORE_NODES, AddOnArgs, check_add_ons, make_add_on, make_role
from trainyard.components.aws.cpu_nodes import CpuNodeGroups, CpuPoolArgs, SystemNodesArgs, check_size
from trainyard.components.aws.identity import CLUSTER_ADMIN, check_role_name, control_role_name
from trainyard.components.aws.kubeconfig import kubeconfig
from trainyard.components.aws.nodes import agent_sessions
from trainyard.components.aws.policy_documents import allow, cluster_arn, document, service_trust
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites

REFUSED_REQUESTS = """\
fields @timestamp, user.username, verb, objectRef.resource, objectRef.namespace, responseStatus.code
| filter @logStream like /kube-apiserver-audit/
| filter responseStatus.code in [401, 403]
| sort @timestamp desc
| limit 200"""
"""Saved query over the audit log: who asked the API server for what, and was refused (CloudWatch Logs Insights)."""

_MANAGED = "arn:aws:iam::aws:policy"


class ClusterArgs(TypedDict):
    """What `Cluster` needs."""

    cluster_name: str
    """Name of the cluster: 1 to 100 letters, digits, `-` and `_`. Fixed, because its log group's name holds it."""
    region: pulumi.Input[str]
    """Region of the cluster, for its kubeconfig and its ARN."""
    account_id: pulumi.Input[str]
    """AWS account, 12 digits: the only one for whose cluster the roles of control plane and pods may be taken."""
    kubernetes_version: pulumi.Input[str]
    """Version of control plane and nodes, such as `1.35`."""
    node_release: NotRequired[pulumi.Input[str]]
    """Release of the nodes' image, such as `1.35.6-20260714`. Default: the newest, whenever a launch template
    changes."""
    service_cidr: pulumi.Input[str]
    """CIDR block of Kubernetes services: /12 to /24 in private address space, outside the VPC's."""
    subnet_ids: Sequence[pulumi.Input[str]]
    """Subnets of the control plane's interfaces, in at least two zones."""
    node_subnet_ids: Sequence[pulumi.Input[str]]
    """Subnets of the nodes without GPUs."""
    public_access_cidrs: Sequence[str]
    """Networks that reach the API server over the internet. Empty: it is reached from the VPC only."""
    api_clients: NotRequired[Mapping[str, pulumi.Input[str]]]
    """Security groups, by a short name that stays (`bastion`), that reach the API server's private address on 443: its
    own group admits nodes alone. Default: none."""
    api_client_cidrs: NotRequired[Sequence[str]]
    """Networks that reach it there. Default: none."""
    token_options: NotRequired[Sequence[str]]
    """Options of `aws eks get-token` by which the deployment is who its provider is: `--role-arn`, `--profile`.
    Default: none."""
    tunnel_port: NotRequired[int]
    """Local port through which the kubeconfig reaches the API server, where a tunnel leads there. Default: its own
    address."""
    log_types: Sequence[str]
    """Control-plane logs: api, audit, authenticator, controllerManager, scheduler."""
    log_retention_days: pulumi.Input[int]
    """Days that the control-plane logs are kept; a value that CloudWatch knows, such as 365."""
    key_arn: pulumi.Input[str]
    """KMS key of Kubernetes secrets, logs and volumes."""
    admin_principal_arns: Sequence[str]
    """IAM users and roles that administer the cluster, whoever runs `pulumi up` among them: making the cluster gives no
    right to it."""
    deployer_principal_arn: NotRequired[pulumi.Input[str]]
    """IAM user or role that runs `pulumi up` and administers the cluster, where none is named in
    `admin_principal_arns`. Its entry follows whoever runs it next."""
    group_principal_arns: NotRequired[Mapping[str, Sequence[str]]]
    """Kubernetes group to the IAM users and roles in it, without a right of EKS's own: what a group may do is for RBAC
    to say. Default: none."""
    add_ons: Sequence[AddOnArgs]
    """Managed add-ons; `vpc-cni`, `kube-proxy`, `eks-pod-identity-agent` and `coredns` must be among them."""
    system_nodes: SystemNodesArgs
    """The CPU nodes of the platform's own pods."""
    cpu_pool: NotRequired[CpuPoolArgs]
    """The CPU nodes of people's pods without GPUs. Default: none, and no such pod finds a node."""
    tags: Mapping[str, pulumi.Input[str]]
    """Tags of the nodes' instances, volumes and interfaces. Another value of one starts every node anew."""
    changing_tags: NotRequired[Mapping[str, pulumi.Input[str]]]
    """Tags of the nodes' instances that may change, such as `owner`: nodes that run keep what they have. Default:
    none."""
    deletion_protection: pulumi.Input[bool]
    """Whether EKS refuses to delete the cluster until this is lifted."""
    node_sessions: NotRequired[bool]
    """Whether Session Manager gets onto the nodes: their agent may ask it for sessions, and who starts one is a right
    of IAM. Default: it does not."""
    protect: NotRequired[bool]
    """Whether Pulumi refuses to delete or replace the cluster, as another `service_cidr` would, with all that runs on
    it. Default: it does not."""


class Cluster(pulumi.ComponentResource):
    """Control plane, add-ons, access entries and the nodes without GPUs.

    `ready` lists the resources that workloads wait for: administrators' entries, the add-ons and the system nodes.
    `api_ready` lists what objects that need no node wait for: control plane and access entries. `nodes_wait_for` lists
    what further node groups wait for, so that they start beside the system nodes instead of after them; `depends_on` is
    in it, and nothing else of the cluster waits for that.
    """

    cluster_name: pulumi.Output[str]
    """Name of the cluster."""
    cluster_arn: pulumi.Output[str]
    """ARN of the cluster, which the trust policies of its pods' roles name. Known before the cluster is made."""
    endpoint: pulumi.Output[str]
    """Address of the API server, https://…."""
    certificate_authority: pulumi.Output[str]
    """Certificate authority of the API server, base64."""
    security_group_id: pulumi.Output[str]
    """The security group that EKS makes: control plane and nodes talk within it."""
    node_role_arn: pulumi.Output[str]
    """ARN of the IAM role of all nodes."""
    node_role_name: pulumi.Output[str]
    """Name of the IAM role of all nodes."""
    kubeconfig: pulumi.Output[str]
    """Kubeconfig as JSON; the credentials come from `aws eks get-token`, none are in it: whoever uses it is himself."""
    own_kubeconfig: pulumi.Output[str]
    """The same for the deployment itself, with `token_options`."""

    def __init__(self, name: str, args: ClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for a missing add-on, an add-on named twice, or system nodes that cannot exist."""
        # Of `depends_on`, the nodes alone wait: a control plane takes ten minutes, and needs no way out of the network.
        way_out, opts = prerequisites(opts), copy(opts)
        if opts is not None:
            opts.depends_on = None
        super().__init__("trainyard:index:Cluster", name, None, opts)
        _check(args)
        self._name = name
        self._args = args
        self._child = pulumi.ResourceOptions(parent=self)
        self.cluster_arn = cluster_arn(args["cluster_name"], args["region"], args["account_id"])
        self._cluster = self._make_control_plane()
        self.cluster_name = self._cluster.name
        self.endpoint = self._cluster.endpoint
        self.certificate_authority = self._cluster.certificate_authority.apply(lambda authority: authority.data or "")
        self.security_group_id = self._cluster.vpc_config.apply(lambda vpc: vpc.cluster_security_group_id or "")
        self.kubeconfig, self.own_kubeconfig = [
            kubeconfig(
                args["cluster_name"],
                args["region"],
                self.endpoint,
                self.certificate_authority,
                tunnel=args.get("tunnel_port"),
                identity=identity,
            )
            for identity in ((), args.get("token_options", ()))
        ]
        admitted = [*self._admit_people(), *self._admit_clients()]
        self.api_ready: list[pulumi.Resource] = [self._cluster, *admitted]
        add_ons = {add_on["name"]: add_on for add_on in args["add_ons"]}
        permissions = self._make_node_role()
        first = [self._make_add_on(add_ons[key], after=()) for key in BEFORE_NODES]
        self.nodes_wait_for: list[pulumi.Resource] = [*permissions, *first, *way_out]
        without_gpus = CpuNodeGroups(
            name,
            cluster_name=self.cluster_name,
            security_group_id=self.security_group_id,
            kubernetes_version=args["kubernetes_version"],
            node_release=args.get("node_release"),
            node_role_arn=self.node_role_arn,
            subnet_ids=args["node_subnet_ids"],
            key_arn=args["key_arn"],
            tags=args["tags"],
            changing_tags=args.get("changing_tags", {}),
            opts=pulumi.ResourceOptions(parent=self, depends_on=list(self.nodes_wait_for)),
        )
        self.system_node_group = without_gpus.system(args["system_nodes"])
        if "cpu_pool" in args:
            without_gpus.cpu_pool(args["cpu_pool"])
        late = [
            self._make_add_on(add_on, after=[self.system_node_group])
            for key, add_on in add_ons.items()
            if key not in BEFORE_NODES
        ]
        self.ready: list[pulumi.Resource] = [*admitted, self.system_node_group, *first, *late]
        register(self)

    def _make_control_plane(self) -> eks.Cluster:
        name, args = self._name, self._args
        # EKS makes this group itself otherwise, without encryption and for ever.
        log_group = cloudwatch.LogGroup(
            f"{name}-logs",
            name=f"/aws/eks/{args['cluster_name']}/cluster",
            retention_in_days=args["log_retention_days"],
            kms_key_id=args["key_arn"],
            opts=self._child,
        )
        if "audit" in args["log_types"]:
            cloudwatch.QueryDefinition(
                f"{name}-refused-requests",
                name=f"{args['cluster_name']}/refused requests",
                log_group_names=[log_group.name],
                query_string=REFUSED_REQUESTS,
                opts=self._child,
            )
        role = iam.Role(
            check_role_name(control_role_name(name)),
            description="Control plane of the EKS cluster",
            assume_role_policy=service_trust("eks.amazonaws.com", args["account_id"], self.cluster_arn),
            opts=self._child,
        )
        before: list[pulumi.Resource] = [
            log_group,
            iam.RolePolicyAttachment(
                f"{name}-control-AmazonEKSClusterPolicy",
                role=role.name,
                policy_arn=f"{_MANAGED}/AmazonEKSClusterPolicy",
                opts=self._child,
            ),
            iam.RolePolicy(
                f"{name}-control-secrets",
                role=role.name,
                policy=document(
                    [allow("EncryptSecrets", ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt"], [args["key_arn"]])]
                ),
                opts=self._child,
            ),
        ]
        public = bool(args["public_access_cidrs"])
        return eks.Cluster(
            f"{name}-cluster",
            name=args["cluster_name"],
            role_arn=role.arn,
            version=args["kubernetes_version"],
            vpc_config={
                "subnet_ids": list(args["subnet_ids"]),
                "endpoint_private_access": True,
                "endpoint_public_access": public,
                "public_access_cidrs": list(args["public_access_cidrs"]) if public else None,
            },
            kubernetes_network_config={"service_ipv4_cidr": args["service_cidr"], "ip_family": "ipv4"},
            # Administrators have entries, which can be seen and taken away; a creator's right could not be. It cannot
            # be changed later without a new cluster.
            access_config={"authentication_mode": "API", "bootstrap_cluster_creator_admin_permissions": False},
            encryption_config={"provider": {"key_arn": args["key_arn"]}, "resources": ["secrets"]},
            enabled_cluster_log_types=list(args["log_types"]),
            upgrade_policy={"support_type": "STANDARD"},  # extended support costs six times as much an hour
            deletion_protection=args["deletion_protection"],
            bootstrap_self_managed_addons=False,  # the managed ones below are the only ones
            opts=pulumi.ResourceOptions(parent=self, depends_on=before, protect=args.get("protect", False)),
        )

    def _admit_people(self) -> list[pulumi.Resource]:
        """Entries of administrators and members, which have to be there before anything is made on the cluster."""
        made: list[pulumi.Resource] = []
        administrators = self._args["admin_principal_arns"]
        groups: dict[str, list[str]] = {arn: [] for arn in administrators}
        for group, members in self._args.get("group_principal_arns", {}).items():
            for arn in members:
                groups.setdefault(arn, []).append(group)
        for arn, in_groups in groups.items():  # a principal has one entry, whatever it is
            # The digest keeps apart a user and a role of one name; an index would rename entries when one goes.
            kind = "admin" if arn in administrators else "member"
            entry_name = f"{self._name}-{kind}-{arn.rsplit('/', 1)[-1]}-{hashlib.sha256(arn.encode()).hexdigest()[:6]}"
            entry = self._entry(entry_name, arn, sorted(set(in_groups)))
            made.append(entry)
            if arn in administrators:
                made.append(self._administers(entry_name, arn, entry))
        if not administrators and "deployer_principal_arn" in self._args:
            name, deployer = f"{self._name}-deployer", self._args["deployer_principal_arn"]
            entry = self._entry(name, deployer, [])
            made += [entry, self._administers(name, deployer, entry)]
        return made

    def _admit_clients(self) -> list[pulumi.Resource]:
        """Rules for those who are no nodes, before anything is made on the cluster: whoever makes it may be one."""
        peers: list[tuple[str, pulumi.Input[str] | None, str | None]] = [
            *((client, group, None) for client, group in self._args.get("api_clients", {}).items()),
            *((cidr.replace("/", "-"), None, cidr) for cidr in self._args.get("api_client_cidrs", ())),
        ]
        return [
            vpc.SecurityGroupIngressRule(
                f"{self._name}-api-{client}",
                security_group_id=self.security_group_id,
                description=f"Kubernetes API from {client}",
                ip_protocol="tcp",
                from_port=443,
                to_port=443,
                referenced_security_group_id=group,
                cidr_ipv4=cidr,
                opts=self._child,
            )
            for client, group, cidr in peers
        ]

    def _entry(self, name: str, arn: pulumi.Input[str], groups: Sequence[str]) -> eks.AccessEntry:
        return eks.AccessEntry(
            name,
            cluster_name=self.cluster_name,
            principal_arn=arn,
            kubernetes_groups=list(groups) or None,
            type="STANDARD",
            opts=self._child,
        )

    def _administers(self, name: str, arn: pulumi.Input[str], entry: eks.AccessEntry) -> pulumi.Resource:
        return eks.AccessPolicyAssociation(
            name,
            cluster_name=self.cluster_name,
            principal_arn=arn,
            policy_arn=CLUSTER_ADMIN,
            access_scope={"type": "cluster"},
            opts=pulumi.ResourceOptions(parent=self, depends_on=[entry]),
        )

    def _make_node_role(self) -> list[pulumi.Resource]:
        """The role of every node: join the cluster, pull images. Pods have roles of their own."""
        role = iam.Role(
            check_role_name(f"{self._name}-node"),
            description="Nodes of the EKS cluster",
            assume_role_policy=service_trust("ec2.amazonaws.com"),
            opts=self._child,
        )
        self.node_role_arn, self.node_role_name = role.arn, role.name
        made: list[pulumi.Resource] = [
            iam.RolePolicyAttachment(
                f"{self._name}-node-{policy}", role=role.name, policy_arn=f"{_MANAGED}/{policy}", opts=self._child
            )
            for policy in ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly")
        ]
        if self._args.get("node_sessions"):
            name = f"{self._name}-node-sessions"
            made.append(iam.RolePolicy(name, role=role.name, policy=document([agent_sessions()]), opts=self._child))
        return made

    def _make_add_on(self, add_on: AddOnArgs, after: Sequence[pulumi.Resource]) -> eks.Addon:
        role = make_role(
            self._name, self.cluster_name, self.cluster_arn, add_on["name"], self._args["key_arn"], self._child
        )
        # The association comes first: a pod that starts without its role keeps failing until it is restarted.
        associations = role.associations if role is not None else []
        return make_add_on(
            self._name,
            self.cluster_name,
            add_on,
            pulumi.ResourceOptions(parent=self, depends_on=[*after, *associations]),
        )


def _check(args: ClusterArgs) -> None:
    check_add_ons(args["add_ons"])
    check_size("system_nodes", args["system_nodes"], fewest=1)
    if "cpu_pool" in args:
        check_size("cpu_pool", args["cpu_pool"], fewest=0)
