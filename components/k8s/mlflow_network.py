"""Who may talk to the MLflow server, and whom it may talk to.

Ingress: the tracking port from namespaces of teams, the metrics port from the monitoring namespace. Egress: names, the
database, HTTPS (the object store of the artifacts), what hands out the pods' identity. Everything else of the namespace
is denied. The kubelet's probes come from the pod's own node, which a network policy does not hold back.
"""

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_kubernetes.meta.v1 as meta
import pulumi_kubernetes.networking.v1 as networking

from trainyard.components.k8s import network_rules as rules
from trainyard.components.k8s.mlflow_pod import METRICS_PORT, PORT
from trainyard.conventions import TEAM_LABEL

LINK_LOCAL = "169.254.0.0/16"
"""Instance metadata and whatever else a node has for itself."""


def network_policies(
    name: str,
    *,
    namespace: pulumi.Input[str],
    labels: Mapping[str, str],
    database_cidrs: Sequence[pulumi.Input[str]],
    database_port: pulumi.Input[int],
    identity_endpoints: Sequence[rules.EndpointArgs],
    monitoring_namespace: str,
    opts: pulumi.ResourceOptions,
) -> None:
    """Makes the three policies of the namespace. `labels` select the server's pods; `opts` are of each policy."""
    ingress: list[networking.NetworkPolicyIngressRuleArgsDict] = [
        {
            "from_": [{"namespace_selector": {"match_expressions": [{"key": TEAM_LABEL, "operator": "Exists"}]}}],
            "ports": [{"protocol": "TCP", "port": PORT}],
        },
        {
            "from_": [{"namespace_selector": rules.namespace_called(monitoring_namespace)}],
            "ports": [{"protocol": "TCP", "port": METRICS_PORT}],
        },
    ]
    egress: list[rules.Egress] = [
        rules.names(),
        {
            "to": [{"ip_block": {"cidr": cidr}} for cidr in database_cidrs],
            "ports": [{"protocol": "TCP", "port": database_port}],
        },
        rules.https(but=LINK_LOCAL),
        *rules.to(identity_endpoints),
    ]
    server: meta.LabelSelectorArgsDict = {"match_labels": labels}
    specs: dict[str, networking.NetworkPolicySpecArgsDict] = {
        "default-deny": rules.DEFAULT_DENY,
        "server-ingress": {"pod_selector": server, "policy_types": ["Ingress"], "ingress": ingress},
        "server-egress": {"pod_selector": server, "policy_types": ["Egress"], "egress": egress},
    }
    for suffix, spec in specs.items():
        networking.NetworkPolicy(
            f"{name}-{suffix}",
            metadata={"name": suffix, "namespace": namespace, "labels": labels},
            spec=spec,
            opts=opts,
        )
