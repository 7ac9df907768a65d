"""JupyterHub: notebooks for people, in a namespace that is no team's, on GPUs that the queues do without.

What it manages: the namespace with its quota and network policies, the chart, and the right of the teams' members to
forward a port to it. The chart makes its own secrets (the hub's cookie secret, the proxy's token) on the cluster, and
keeps those that are there: none is a value. The client secret of the identity provider is in the Secret
`notebooks-sign-on`, made here without a content: whoever runs the platform puts its key `client-secret` in, and the
hub's pod does not start before.

A notebook has no service account, no role in the cloud, no volume but its person's own, and reaches nothing inside of
the network but the hub: what teams keep is out of its reach.
"""

from collections.abc import Sequence
from typing import NotRequired, TypedDict
from urllib.parse import urlsplit

import pulumi
import pulumi_kubernetes.core.v1 as core
import pulumi_kubernetes.rbac.v1 as rbac

from trainyard.components.k8s.charts import ChartArgs, release
from trainyard.components.k8s.egress_proxy import client_environment, proxy_url
from trainyard.components.k8s.flows import fence
from trainyard.components.k8s.network_rules import AddressesArgs
from trainyard.components.k8s.notebooks_flows import notebooks_flows
from trainyard.components.k8s.notebooks_values import (
    HUB_DISK_GIB,
    NotebookProfileArgs,
    NotebookSignOnArgs,
    values,
)
from trainyard.components.k8s.objects import add_on_namespace, named
from trainyard.components.k8s.platform_flows import SIGN_ON_PORT
from trainyard.components.k8s.quantities import gibibytes, whole
from trainyard.components.k8s.teams import SubjectArgs, rbac_group, rbac_subjects, role_rules
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions import (
    FILLED_WITH_ANNOTATION,
    GPU_RESOURCE,
    NOTEBOOKS_NAMESPACE,
    NOTEBOOKS_SIGN_ON_KEY,
    NOTEBOOKS_SIGN_ON_SECRET,
    SYSTEM_NODES,
)
from trainyard.conventions.team_rights import AT_THE_NOTEBOOKS

RELEASE = "jupyterhub"
ROLE = "notebook-user"
OWN_PODS = 2
"""Pods of the hub and its proxy."""
SPARE_PODS = 2
"""More of them, while one that goes is still there."""


class NotebooksArgs(TypedDict):
    """Arguments of `Notebooks`."""

    chart: ChartArgs
    """The chart `jupyterhub`."""
    image: str
    """Image of a notebook, `image:tag@sha256:...`."""
    sign_on: NotebookSignOnArgs
    """Who may come in."""
    profiles: Sequence[NotebookProfileArgs]
    """What people choose from."""
    people: int
    """How many notebooks and volumes there may be."""
    storage_gib: int
    """Size of a person's volume, GiB."""
    kernel_idle_seconds: int
    """After how long a kernel that does nothing ends."""
    idle_seconds: int
    """After how long a notebook that does nothing ends, though its tab is open."""
    longest_seconds: int
    """After how long every notebook ends."""
    addresses: AddressesArgs
    """Where the ground has what network policies name by address."""
    groups: Sequence[str]
    """Kubernetes groups of the people who may forward a port to the hub."""
    subjects: NotRequired[Sequence[SubjectArgs]]
    """People besides, as RBAC names them. Default: nobody."""
    zone: NotRequired[str]
    """Zone that notebooks run in. Default: any."""
    storage_class: NotRequired[pulumi.Input[str]]
    """StorageClass of the volumes. Default: the cluster's default."""
    egress_direct: NotRequired[Sequence[str]]
    """Names that are reached without the egress proxy (`NO_PROXY`), where that is the way out. Default: there is no
    proxy."""
    node_selector: NotRequired[dict[str, str]]
    """Labels of the nodes of hub and proxy. Default: the system nodes', `ml.platform/pool: system`."""


class Notebooks(pulumi.ComponentResource):
    """JupyterHub with its walls.

    Raises ValueError for an image without a digest, for a sign-on that lets everybody in, and for a second profile with
    GPUs: a quota counts GPUs of the namespace, whichever nodes they are of.
    """

    namespace: pulumi.Output[str]
    """Namespace that it runs in."""

    def __init__(self, name: str, args: NotebooksArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:Notebooks", name, {}, opts)
        if "@sha256:" not in args["image"]:
            raise ValueError(f"the image of {name} has to be pinned by its digest, got {args['image']}")
        with_gpus = [each["name"] for each in args["profiles"] if each.get("gpus")]
        if len(with_gpus) > 1:
            raise ValueError(f"{name}: one profile may have GPUs, which a quota bounds; got {', '.join(with_gpus)}")
        before = prerequisites(opts)
        child = pulumi.ResourceOptions(parent=self, depends_on=before)
        made = add_on_namespace(f"{name}-namespace", NOTEBOOKS_NAMESPACE, self, depends_on=before)
        self.namespace = named(made, NOTEBOOKS_NAMESPACE)
        proxied = "egress_direct" in args
        walls = fence(
            name,
            NOTEBOOKS_NAMESPACE,
            notebooks_flows(proxied=proxied),
            args["addresses"],
            inside=self.namespace,
            opts=child,
        )
        quota = core.ResourceQuota(
            f"{name}-quota",
            metadata={"name": NOTEBOOKS_NAMESPACE, "namespace": self.namespace},
            spec={"hard": _quota(args)},
            opts=child,
        )
        sign_on = core.Secret(
            f"{name}-sign-on",
            metadata={
                "name": NOTEBOOKS_SIGN_ON_SECRET,
                "namespace": self.namespace,
                "annotations": {FILLED_WITH_ANNOTATION: NOTEBOOKS_SIGN_ON_KEY},
            },
            type="Opaque",
            # Empty: whoever runs the platform puts the key in, and no plan or state ever holds it.
            opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(ignore_changes=["data", "stringData"])),
        )
        self._members(name, args, child)
        proxy = urlsplit(proxy_url(SIGN_ON_PORT)).hostname or ""
        release(
            f"{name}-release",
            args["chart"],
            release_name=RELEASE,
            namespace=self.namespace,
            values=values(
                image=args["image"],
                sign_on=args["sign_on"],
                profiles=args["profiles"],
                storage_gib=args["storage_gib"],
                storage_class=args.get("storage_class"),
                zone=args.get("zone", ""),
                kernel_idle_s=args["kernel_idle_seconds"],
                idle_s=args["idle_seconds"],
                longest_s=args["longest_seconds"],
                node_selector=args.get("node_selector", SYSTEM_NODES),
                environment=client_environment(args["egress_direct"]) if "egress_direct" in args else {},
                sign_on_proxy=(proxy, SIGN_ON_PORT) if proxied else None,
            ),
            parent=self,
            depends_on=[*before, *walls, quota, sign_on],
        )
        register(self)

    def _members(self, name: str, args: NotebooksArgs, opts: pulumi.ResourceOptions) -> None:
        role = rbac.Role(
            f"{name}-user",
            metadata={"name": ROLE, "namespace": self.namespace},
            rules=role_rules(AT_THE_NOTEBOOKS),
            opts=opts,
        )
        rbac.RoleBinding(
            f"{name}-users",
            metadata={"name": f"{ROLE}s", "namespace": self.namespace},
            role_ref={"api_group": "rbac.authorization.k8s.io", "kind": "Role", "name": named(role, ROLE)},
            subjects=[*map(rbac_group, args["groups"]), *rbac_subjects(args.get("subjects", ()))],
            opts=opts,
        )


def _quota(args: NotebooksArgs) -> dict[str, str]:
    """What there may be: a volume and a notebook a person, and no GPU beyond those that the queues do without."""
    gpus = sum(each.get("most", 0) * each.get("gpus", 0) for each in args["profiles"])
    return {
        f"requests.{GPU_RESOURCE}": whole(gpus),
        "persistentvolumeclaims": whole(args["people"] + 1),
        "requests.storage": gibibytes(args["people"] * args["storage_gib"] + HUB_DISK_GIB),
        "pods": whole(args["people"] + OWN_PODS + SPARE_PODS),
        "services.loadbalancers": "0",
        "services.nodeports": "0",
    }
