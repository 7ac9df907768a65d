"""What the components on a cluster have in common: names that carry a dependency, service accounts, namespaces."""

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_kubernetes.core.v1 as core
import pulumi_kubernetes.meta.v1 as meta
import pulumi_kubernetes.policy.v1 as policy

NAMESPACE_TIMEOUTS = pulumi.CustomTimeouts(delete="30m")
"""A namespace is gone when its last pod is. Pods may take `pod_expressions.LONGEST_GRACE_SECONDS` to end, as
Prometheus' do: ten minutes, which is all that the provider waits by default, and then volumes and finalizers."""


def named(resource: pulumi.Resource, name: str) -> pulumi.Output[str]:
    """A fixed name that carries the dependency on the resource that has it.

    Known at the first preview too, where the provider of a cluster that does not exist yet leaves the resource's own
    `metadata` unknown.
    """
    return resource.urn.apply(lambda _: name)


def service_account(
    name: str,
    account: str,
    namespace: pulumi.Input[str],
    *,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, pulumi.Input[str]],
    opts: pulumi.ResourceOptions,
) -> core.ServiceAccount:
    """A service account whose pods get no API token. `annotations` are what gives them a role in the ground."""
    metadata: meta.ObjectMetaArgsDict = {"name": account, "namespace": namespace}
    if labels:
        metadata["labels"] = labels
    if annotations:
        metadata["annotations"] = annotations
    return core.ServiceAccount(name, metadata=metadata, automount_service_account_token=False, opts=opts)


def add_on_namespace(
    name: str,
    namespace: str,
    parent: pulumi.Resource,
    *,
    pod_security: str = "restricted",
    depends_on: Sequence[pulumi.Resource] = (),
) -> core.Namespace:
    """The namespace of an add-on, ours so that it outlives the release and is not left behind by it.

    `pod_security` is the level that is enforced (`restricted`, `baseline`, `privileged`).
    """
    return core.Namespace(
        name,
        metadata={"name": namespace, "labels": {"pod-security.kubernetes.io/enforce": pod_security}},
        opts=pulumi.ResourceOptions(parent=parent, depends_on=list(depends_on), custom_timeouts=NAMESPACE_TIMEOUTS),
    )


def service(
    name: str,
    service_name: str,
    namespace: pulumi.Input[str],
    labels: Mapping[str, str],
    port: core.ServicePortArgsDict,
    opts: pulumi.ResourceOptions,
    *more: core.ServicePortArgsDict,
) -> core.Service:
    """A Service inside the cluster, of a TCP port or several, for the pods that carry `labels`."""
    return core.Service(
        name,
        metadata={
            "name": service_name,
            "namespace": namespace,
            "labels": labels,
            # The pods may be made after the Service, which would otherwise be waited for in vain.
            "annotations": {"pulumi.com/skipAwait": "true"},
        },
        spec={
            "type": "ClusterIP",
            "selector": labels,
            "ports": [{**each, "protocol": "TCP"} for each in (port, *more)],
        },
        opts=opts,
    )


def disruption_budget(
    name: str, budget: str, namespace: pulumi.Input[str], labels: Mapping[str, str], opts: pulumi.ResourceOptions
) -> policy.PodDisruptionBudget:
    """Lets a drain take one of the pods that carry `labels` at a time, and those that are not ready at once."""
    return policy.PodDisruptionBudget(
        name,
        metadata={"name": budget, "namespace": namespace, "labels": labels},
        # Not minAvailable: 1, with which a single replica could never leave its node.
        spec={
            "max_unavailable": 1,
            "unhealthy_pod_eviction_policy": "AlwaysAllow",
            "selector": {"match_labels": labels},
        },
        opts=opts,
    )
