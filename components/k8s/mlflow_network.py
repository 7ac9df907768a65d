"""Who may talk to the MLflow server, and whom it may talk to.

Ingress: the tracking port from namespaces of teams, the metrics port from the monitoring namespace. Egress: names, the
database, AWS over HTTPS, the Pod Identity agent of the node. Everything else of the namespace is denied. The kubelet's
probes come from the pod's own node, which the VPC CNI always lets in.
"""

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_kubernetes.meta.v1 as meta
import pulumi_kubernetes.networking.v1 as networking

from trainyard.components.k8s.mlflow_pod import METRICS_PORT, PORT
from trainyard.conventions import TEAM_LABEL

POD_IDENTITY_AGENT = "169.254.170.23/32"


def network_policies(
    name: str,
    *,
    namespace: pulumi.Input[str],
    labels: Mapping[str, str],
    database_cidrs: Sequence[pulumi.Input[str]],
    database_port: pulumi.Input[int],
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
            "from_": [{"namespace_selector": _namespace(monitoring_namespace)}],
            "ports": [{"protocol": "TCP", "port": METRICS_PORT}],
        },
    ]
    egress: list[networking.NetworkPolicyEgressRuleArgsDict] = [
        {
            "to": [
                {
                    "namespace_selector": _namespace("kube-system"),
                    "pod_selector": {"match_labels": {"k8s-app": "kube-dns"}},
                }
            ],
            "ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}],
        },
        {
            "to": [{"ip_block": {"cidr": cidr}} for cidr in database_cidrs],
            "ports": [{"protocol": "TCP", "port": database_port}],
        },
        # S3 and Secrets Manager: the gateway endpoint leaves S3 its public addresses.
        {
            "to": [{"ip_block": {"cidr": "0.0.0.0/0", "except_": ["169.254.0.0/16"]}}],
            "ports": [{"protocol": "TCP", "port": 443}],
        },
        {
            "to": [{"ip_block": {"cidr": POD_IDENTITY_AGENT}}],
            "ports": [{"protocol": "TCP", "port": 80}],
        },
    ]
    server: meta.LabelSelectorArgsDict = {"match_labels": labels}
    specs: dict[str, networking.NetworkPolicySpecArgsDict] = {
        "default-deny": {"pod_selector": {}, "policy_types": ["Ingress", "Egress"]},
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


def _namespace(name: str) -> meta.LabelSelectorArgsDict:
    return {"match_labels": {"kubernetes.io/metadata.name": name}}
