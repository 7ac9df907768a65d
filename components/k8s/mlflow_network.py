"""Who may talk to the MLflow server, and whom it may talk to.

Ingress: the tracking port from namespaces of teams, the metrics port from Prometheus. Egress: names, the
database, the object store of the artifacts and the ground's own services (the database's password) over HTTPS, what
hands out the pods' identity, and with single sign-on the way to the issuer's keys. Everything else of the namespace is
denied. The kubelet's probes come from the pod's own node, which a network policy does not hold back.
"""

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_kubernetes.meta.v1 as meta
import pulumi_kubernetes.networking.v1 as networking

from trainyard.components.k8s import network_rules as rules
from trainyard.components.k8s.mlflow_pod import METRICS_PORT, PORT
from trainyard.components.k8s.mlflow_sign_on import MlflowSignOnArgs, way_to_the_keys
from trainyard.conventions import TEAM_LABEL
from trainyard.conventions.monitoring import PROMETHEUS_LABELS


def network_policies(
    name: str,
    *,
    namespace: pulumi.Input[str],
    labels: Mapping[str, str],
    database_cidrs: Sequence[pulumi.Input[str]],
    database_port: pulumi.Input[int],
    addresses: rules.AddressesArgs | None,
    monitoring_namespace: str,
    sign_on: MlflowSignOnArgs | None,
    opts: pulumi.ResourceOptions,
) -> list[networking.NetworkPolicy]:
    """Makes the three policies of the namespace, for the server to wait for.

    `labels` select the server's pods; `opts` are of each policy.
    """
    ingress: list[networking.NetworkPolicyIngressRuleArgsDict] = [
        {
            "from_": [{"namespace_selector": {"match_expressions": [{"key": TEAM_LABEL, "operator": "Exists"}]}}],
            "ports": [{"protocol": "TCP", "port": PORT}],
        },
        {
            "from_": [
                {
                    "namespace_selector": rules.namespace_called(monitoring_namespace),
                    "pod_selector": {"match_labels": dict(PROMETHEUS_LABELS)},
                }
            ],
            "ports": [{"protocol": "TCP", "port": METRICS_PORT}],
        },
    ]
    egress: list[rules.Egress] = [
        rules.names(),
        {
            "to": [{"ip_block": {"cidr": cidr}} for cidr in database_cidrs],
            "ports": [{"protocol": "TCP", "port": database_port}],
        },
        *_to_the_ground(addresses),
        *way_to_the_keys(sign_on, addresses),
    ]
    server: meta.LabelSelectorArgsDict = {"match_labels": labels}
    specs: dict[str, networking.NetworkPolicySpecArgsDict] = {
        "default-deny": rules.DEFAULT_DENY,
        "server-ingress": {"pod_selector": server, "policy_types": ["Ingress"], "ingress": ingress},
        "server-egress": {"pod_selector": server, "policy_types": ["Egress"], "egress": egress},
    }
    return [
        networking.NetworkPolicy(
            f"{name}-{suffix}",
            metadata={"name": suffix, "namespace": namespace, "labels": labels},
            spec=spec,
            opts=opts,
        )
        for suffix, spec in specs.items()
    ]


def _to_the_ground(addresses: rules.AddressesArgs | None) -> list[rules.Egress]:
    """The object store and the ground's services; where nothing says where they are, HTTPS anywhere."""
    if addresses is None:
        return [rules.https(but=rules.LINK_LOCAL)]
    services = rules.blocks(addresses["cloud_services"])
    return [
        rules.https_to(rules.blocks_of(addresses["object_store"])),
        *([rules.https_to(services)] if services else []),
        *rules.to(addresses["identity"]),
    ]
