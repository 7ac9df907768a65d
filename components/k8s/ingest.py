"""Where the data come in: a namespace whose pods may write the data that every other pod only reads.

Kueue manages none of its jobs, and it has no GPUs. Its pods run beside the teams' pods without GPUs, counted like them.
"""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_kubernetes.admissionregistration.v1 as admission
import pulumi_kubernetes.core.v1 as core
import pulumi_kubernetes.networking.v1 as networking
import pulumi_kubernetes.rbac.v1 as rbac

from trainyard.components.k8s import gpu_guard
from trainyard.components.k8s import network_rules as rules
from trainyard.components.k8s.objects import add_on_namespace, named, prerequisites, service_account
from trainyard.components.k8s.quantities import bound, whole
from trainyard.components.k8s.teams import (
    WITHIN_TEAM,
    ServiceAddressArgs,
    SubjectArgs,
    network_policies,
    rbac_group,
    rbac_subjects,
    role_rules,
)
from trainyard.components.k8s.volumes import VolumeSourceArgs, static_claim, static_volume
from trainyard.components.outputs import register
from trainyard.conventions import ACCELERATORS, DATA_CLAIM, INGEST_GROUP, INGEST_NAMESPACE
from trainyard.conventions.team_rights import ALL_VERBS, READ_VERBS, Right

ROLE = "ingest-member"

MEMBER_RIGHTS: Sequence[Right] = (
    Right("batch", ("jobs",), ALL_VERBS),
    Right("", ("pods",), (*READ_VERBS, "delete")),
    Right("", ("pods/log",), ("get",)),
    Right("", ("pods/exec",), ("create",)),
    Right("", ("configmaps",), ALL_VERBS),
    Right("", ("events", "persistentvolumeclaims", "resourcequotas", "limitranges"), READ_VERBS),
    Right("events.k8s.io", ("events",), READ_VERBS),
)
"""What whoever ingests data may do in the namespace, and nowhere else: run Jobs."""


class IngestArgs(TypedDict):
    """Arguments of `Ingest`."""

    data: VolumeSourceArgs
    """The data, to write."""
    cores: int
    """CPU cores that the pods may request together."""
    memory_gib: int
    """Memory that the pods may request together, GiB."""
    pods: int
    """How many pods there may be."""
    addresses: NotRequired[rules.AddressesArgs]
    """Where the ground has what network policies can only name by address. Default: HTTPS goes everywhere."""
    egress_proxy: NotRequired[ServiceAddressArgs]
    """Where the pods of the egress proxy are: the only way out of the network. Default: there is none."""
    subjects: NotRequired[Sequence[SubjectArgs]]
    """Who runs the jobs, where the ground does not put them into the group `ingest`. Default: nobody but the group."""
    service_account_annotations: NotRequired[Mapping[str, pulumi.Input[str]]]
    """What the ground wants on the service account for its pods to have a role in it. Default: none."""


class Ingest(pulumi.ComponentResource):
    """The namespace `ingest`: a service account that the ground lets write the data, their volume, and who may use it.

    Its members are the group `ingest`. Pods keep to the `restricted` level and state the PriorityClass that counts pods
    without GPUs. Nothing comes in; what goes out is what goes out of a
    team's namespace.
    """

    namespace: pulumi.Output[str]
    """Name of the namespace; carries the dependency on it and on its quotas."""

    def __init__(self, name: str, args: IngestArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:Ingest", name, {}, opts)
        before = prerequisites(opts)
        child = pulumi.ResourceOptions(parent=self, depends_on=before)
        made = add_on_namespace(f"{name}-namespace", INGEST_NAMESPACE, self, depends_on=before)
        namespace = named(made, INGEST_NAMESPACE)
        quotas = self._quotas(name, args, namespace, child)
        self.namespace = pulumi.Output.all(made.urn, *(quota.urn for quota in quotas)).apply(lambda _: INGEST_NAMESPACE)
        service_account(
            f"{name}-account",
            INGEST_NAMESPACE,
            namespace,
            annotations=args.get("service_account_annotations", {}),
            opts=child,
        )
        ways_out = network_policies(None, args.get("addresses"), args.get("egress_proxy"))
        for policy, spec in ways_out.items():
            if policy == WITHIN_TEAM:  # its pods have nothing to say to each other
                continue
            networking.NetworkPolicy(
                f"{name}-{policy}", metadata={"name": policy, "namespace": namespace}, spec=spec, opts=child
            )
        self._members(name, args, namespace, child)
        self._keep_off_gpus(name, child)
        volume = static_volume(
            f"{name}-{DATA_CLAIM}",
            args["data"],
            volume_name=f"{INGEST_NAMESPACE}-{DATA_CLAIM}",
            claim=DATA_CLAIM,
            namespace=namespace,
            opts=child,
        )
        static_claim(
            f"{name}-{DATA_CLAIM}", args["data"], volume=volume, claim=DATA_CLAIM, namespace=namespace, opts=child
        )
        register(self)

    def _quotas(
        self, name: str, args: IngestArgs, namespace: pulumi.Input[str], opts: pulumi.ResourceOptions
    ) -> list[pulumi.Resource]:
        accelerators = {f"requests.{resource}": "0" for resource in ACCELERATORS}
        nothing = {**accelerators, "services.loadbalancers": "0", "services.nodeports": "0"}
        counted = {
            "requests.cpu": whole(args["cores"]),
            "requests.memory": bound(args["memory_gib"]),
            "pods": whole(args["pods"]),
        }
        return [
            core.ResourceQuota(
                f"{name}-quota",
                metadata={"name": INGEST_NAMESPACE, "namespace": namespace},
                spec={"hard": {**nothing, **counted}},
                opts=opts,
            ),
            core.LimitRange(
                f"{name}-defaults",
                metadata={"name": "defaults", "namespace": namespace},
                spec={"limits": [{"type": "Container", "default_request": {"cpu": "1", "memory": "4Gi"}}]},
                opts=opts,
            ),
        ]

    def _members(self, name: str, args: IngestArgs, namespace: pulumi.Input[str], opts: pulumi.ResourceOptions) -> None:
        role = rbac.Role(
            f"{name}-member",
            metadata={"name": ROLE, "namespace": namespace},
            rules=role_rules(MEMBER_RIGHTS),
            opts=opts,
        )
        rbac.RoleBinding(
            f"{name}-members",
            metadata={"name": f"{ROLE}s", "namespace": namespace},
            role_ref={"api_group": "rbac.authorization.k8s.io", "kind": "Role", "name": named(role, ROLE)},
            subjects=[rbac_group(INGEST_GROUP), *rbac_subjects(args.get("subjects", ()))],
            opts=opts,
        )

    def _keep_off_gpus(self, name: str, opts: pulumi.ResourceOptions) -> None:
        """The teams' guards, here too: the quota refuses GPUs that are asked for, the guards nodes that have some."""
        for policy in (gpu_guard.POLICY, gpu_guard.END_POLICY):
            admission.ValidatingAdmissionPolicyBinding(
                f"{name}-{policy}",
                metadata={"name": f"{policy}-{INGEST_NAMESPACE}"},
                spec={
                    "policy_name": policy,
                    "validation_actions": ["Deny"],
                    "match_resources": {"namespace_selector": rules.namespace_called(INGEST_NAMESPACE)},
                },
                opts=opts,
            )
