"""The conversations of what runs in `kube-system` on EKS, and of the pods that mount buckets.

Namespace and pods are EKS's and the charts', so that what all of them need is allowed to all: no member of a team can
make a pod there, and a label that changes with a version stops no cluster. What comes in, and the internet, are allowed
by label. Pods on their node's own network (network plugin, kube-proxy, Pod Identity agent, node monitoring, parts of
the drivers) are outside of any network policy. Labels and ports of the FSx, EFS and
Mountpoint drivers and of node monitoring were read in their charts (2026-11), not all at the pinned version; those of
CoreDNS, the autoscaler and the metrics server are general knowledge.

CoreDNS is never ready without the API server, and no job starts without CoreDNS: these policies have to be there before
the first pod, which the control plane alone is needed for (`kube_system_walls`).
"""

from collections.abc import Sequence

import pulumi

from trainyard.components.k8s.flows import DNS, NAME_PORTS, Flow, Place, Pods, fence, tcp
from trainyard.components.k8s.monitoring_flows import READ_FROM_KUBE_SYSTEM
from trainyard.components.k8s.network_rules import AddressesArgs

NAMESPACE = "kube-system"
SYSTEM = Pods(NAMESPACE)
METRICS_SERVER = Pods(NAMESPACE, (("app.kubernetes.io/name", "metrics-server"),))
AUTOSCALER = Pods(NAMESPACE, (("app.kubernetes.io/instance", "cluster-autoscaler"),))
FSX_DRIVER = Pods(NAMESPACE, (("app", "fsx-csi-controller"),))
EFS_DRIVER = Pods(NAMESPACE, (("app", "efs-csi-controller"),))
BUCKET_MOUNTS = Pods("mount-s3")
"""Where the driver of Mountpoint for S3 makes a pod for every mount."""

KUBELET = 10250
METRICS_PORT = 10251
"""Where EKS's own build of the metrics server listens, so that it is not the kubelet's port."""

KUBE_SYSTEM_FLOWS: tuple[Flow, ...] = (
    Flow(SYSTEM, Place.API_SERVER, (tcp(443),), "controllers, drivers and CoreDNS watch their objects"),
    Flow(SYSTEM, DNS, NAME_PORTS, "they look names up"),
    Flow(SYSTEM, Place.IDENTITY, (), "drivers and autoscaler take their roles"),
    Flow(SYSTEM, Place.CLOUD_SERVICES, (tcp(443),), "drivers and autoscaler call EC2, Auto Scaling and KMS"),
    Flow(AUTOSCALER, Place.INTERNET, (tcp(443),), "the autoscaler describes node groups: EKS has no endpoint here"),
    Flow(FSX_DRIVER, Place.INTERNET, (tcp(443),), "the driver describes file systems: FSx has no endpoint here"),
    Flow(EFS_DRIVER, Place.INTERNET, (tcp(443),), "the driver describes mount targets: EFS has no endpoint here"),
    Flow(Place.NETWORK, DNS, NAME_PORTS, "every pod and node looks names up"),
    Flow(DNS, Place.RESOLVERS, NAME_PORTS, "names that are not the cluster's are asked of the network's resolver"),
    Flow(METRICS_SERVER, Place.NODES, (tcp(KUBELET),), "the metrics server asks the kubelets"),
    Flow(Place.API_SERVER, METRICS_SERVER, (tcp(METRICS_PORT),), "the API server hands on what nodes and pods use"),
    *READ_FROM_KUBE_SYSTEM,
    Flow(BUCKET_MOUNTS, Place.OBJECT_STORE, (tcp(443),), "a mount reads and writes its bucket"),
    Flow(BUCKET_MOUNTS, Place.IDENTITY, (), "a mount takes the role of the pod that uses it"),
    Flow(BUCKET_MOUNTS, DNS, NAME_PORTS, "a mount looks its bucket up"),
)
"""Every flow that pods of kube-system need. `Place.IDENTITY` brings its own port."""


def kube_system_walls(
    name: str, addresses: AddressesArgs, provider: pulumi.ProviderResource, before: Sequence[pulumi.Resource]
) -> list[pulumi.Resource]:
    """Makes the policies of `kube-system` as soon as the control plane answers; whatever runs on the cluster is to wait
    for them, and be gone before they are."""
    opts = pulumi.ResourceOptions(provider=provider, depends_on=list(before))
    return fence(name, NAMESPACE, KUBE_SYSTEM_FLOWS, addresses, opts=opts)
