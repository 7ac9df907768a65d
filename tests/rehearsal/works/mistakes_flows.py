"""Mistakes in the walls of a cluster's network, as they are made: each on a copy of the demo stack, one at a time."""

from __future__ import annotations

from typing import Any

from tests.policies.mutants import Change, drop, edit, put
from tests.rehearsal.works.mistakes import Mistake
from tests.rehearsal.works.mistakes_paths import EGRESS, INGRESS, all_of, every, pointing, without
from trainyard.recorded.types import NAMESPACE
from trainyard.recorded.types import NETWORK_POLICY as POLICY

TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
GROUP = "aws:ec2/securityGroup:SecurityGroup"


def rule_of(name: str, direction: str, index: int, **parts: Any) -> Change:
    """Changes one rule of a network policy; an underscore at the end of a key is dropped."""

    def into(inputs: dict[str, Any]) -> None:
        inputs["spec"][direction][index].update({key.rstrip("_"): value for key, value in parts.items()})

    return edit(POLICY, name, into)


def without_rule(name: str, direction: str, index: int) -> Change:
    """Takes one rule out of a network policy."""
    return edit(POLICY, name, lambda inputs: inputs["spec"][direction].pop(index))


MISTAKES = [
    Mistake(
        "database-admits-the-fabric",
        "the database lets the fabric's group in, which no node of the platform has",
        pointing(
            INGRESS,
            "acme-demo-mlflow-ingress-cluster",
            "referencedSecurityGroupId",
            at=("aws:ec2/securityGroup:SecurityGroup", "gpu-nodes-efa"),
        ),
        "flows-database",
    ),
    Mistake(
        "dns-tcp-alone",
        "a team may look up names over TCP alone",
        rule_of("teams-vision-allow-dns", "egress", 0, ports=[{"port": 53, "protocol": "TCP"}]),
        "flows-names",
    ),
    Mistake(
        "dns-wrong-label",
        "a team may ask pods that are called coredns, and the name server's are called kube-dns",
        edit(
            POLICY,
            "teams-language-allow-dns",
            put("spec", "egress", 0, "to", 0, "podSelector", value={"matchLabels": {"k8s-app": "coredns"}}),
        ),
        "flows-names",
    ),
    Mistake(
        "dns-wrong-namespace",
        "a team may ask the name server in the namespace dns",
        edit(
            POLICY,
            "teams-tabular-allow-dns",
            put(
                "spec",
                "egress",
                0,
                "to",
                0,
                "namespaceSelector",
                "matchLabels",
                value={"kubernetes.io/metadata.name": "dns"},
            ),
        ),
        "flows-names",
    ),
    Mistake("dns-forgotten", "nobody lets a team look up names", drop(POLICY, "teams-vision-allow-dns"), "flows-names"),
    Mistake(
        "dns-not-let-in",
        "the name server lets in its own namespace alone",
        all_of(
            without_rule("kube-system-allow-kube-dns", "ingress", 2),
            without_rule("kube-system-allow-kube-dns", "ingress", 1),
        ),
        "flows-names",
    ),
    Mistake(
        "dns-not-let-out",
        "the name server cannot ask the VPC's",
        edit(POLICY, "kube-system-allow-kube-dns", put("spec", "egress", value=[])),
        "flows-names-outside",
    ),
    Mistake(
        "mlflow-egress-without-dns",
        "the tracking server may look up no name",
        without_rule("mlflow-server-egress", "egress", 0),
        "flows-names",
    ),
    Mistake(
        "database-port-typo",
        "the tracking server is let out to 5423",
        rule_of("mlflow-server-egress", "egress", 1, ports=[{"port": 5423, "protocol": "TCP"}]),
        "flows-database",
    ),
    Mistake(
        "database-over-udp",
        "the tracking server is let out to the database over UDP",
        rule_of("mlflow-server-egress", "egress", 1, ports=[{"port": 5432, "protocol": "UDP"}]),
        "flows-database",
    ),
    Mistake(
        "database-subnet-forgotten",
        "one of the database's subnets is not let out to",
        edit(POLICY, "mlflow-server-egress", lambda inputs: inputs["spec"]["egress"][1]["to"].pop()),
        "flows-database",
    ),
    Mistake(
        "database-group-of-mysql",
        "the database's group admits 3306",
        edit(INGRESS, "acme-demo-mlflow-ingress-cluster", lambda rule: rule.update(fromPort=3306, toPort=3306)),
        "flows-database",
    ),
    Mistake(
        "database-group-admits-itself",
        "the database's group admits itself rather than the nodes",
        pointing(
            INGRESS,
            "acme-demo-mlflow-ingress-cluster",
            "referencedSecurityGroupId",
            at=(GROUP, "acme-demo-mlflow-access"),
        ),
        "flows-database",
    ),
    Mistake(
        "database-without-rule",
        "nobody wrote the database's ingress rule",
        drop(INGRESS, "acme-demo-mlflow-ingress-cluster"),
        "flows-database",
    ),
    Mistake(
        "webhook-port-of-service",
        "Kueue's pods admit the service's port rather than their own",
        rule_of("kueue-allow-platform", "ingress", 0, ports=[{"port": 443, "protocol": "TCP"}]),
        "flows-webhooks",
    ),
    Mistake(
        "webhook-from-node-subnets",
        "JobSet's pods admit the nodes' subnet rather than the control plane's",
        rule_of("runtimes-jobset-allow-platform", "ingress", 0, from_=[{"ipBlock": {"cidr": "10.0.0.0/19"}}]),
        "flows-webhooks",
    ),
    Mistake(
        "webhook-one-subnet-forgotten",
        "the trainer's pods admit two of three subnets of the control plane",
        edit(POLICY, "runtimes-trainer-allow-platform", lambda inputs: inputs["spec"]["ingress"][0]["from"].pop()),
        "flows-webhooks",
    ),
    Mistake(
        "webhook-without-policy",
        "Kueue's namespace has its default alone",
        drop(POLICY, "kueue-allow-platform"),
        "flows-webhooks",
    ),
    Mistake(
        "controller-without-api",
        "JobSet's controller is not let out to the API",
        without_rule("runtimes-jobset-allow-platform", "egress", 0),
        "flows-api",
    ),
    Mistake(
        "api-port-6443",
        "controllers are let out to the API's port of other distributions",
        rule_of("kueue-allow-platform", "egress", 0, ports=[{"port": 6443, "protocol": "TCP"}]),
        "flows-api",
    ),
    Mistake(
        "metrics-server-to-10255",
        "metrics-server is let out to the kubelet's old port",
        rule_of("kube-system-allow-metrics-server", "egress", 0, ports=[{"port": 10255, "protocol": "TCP"}]),
        "flows-kubelet",
    ),
    Mistake(
        "metrics-api-port",
        "metrics-server admits 443",
        rule_of("kube-system-allow-metrics-server", "ingress", 0, ports=[{"port": 443, "protocol": "TCP"}]),
        "flows-webhooks",
    ),
    Mistake(
        "identity-forgotten",
        "a team's pods may not ask the agent for credentials",
        drop(POLICY, "teams-vision-allow-pod-identity"),
        "flows-identity",
    ),
    Mistake(
        "identity-address-typo",
        "a team's pods may ask 169.254.170.2, the agent of another service",
        edit(
            POLICY,
            "teams-language-allow-pod-identity",
            put("spec", "egress", 0, "to", 0, "ipBlock", "cidr", value="169.254.170.2/32"),
        ),
        "flows-identity",
    ),
    Mistake(
        "identity-over-https",
        "a team's pods may ask the agent on 443",
        rule_of("teams-tabular-allow-pod-identity", "egress", 0, ports=[{"port": 443, "protocol": "TCP"}]),
        "flows-identity",
    ),
    Mistake(
        "object-store-port",
        "Mountpoint's pods are let out to S3 over plain HTTP",
        rule_of("drivers-mounts-allow-platform", "egress", 0, ports=[{"port": 80, "protocol": "TCP"}]),
        "flows-object-store",
    ),
    Mistake(
        "ranks-not-let-in",
        "a team's pods are let out to each other, and not in",
        edit(POLICY, "teams-vision-allow-within-team", lambda inputs: inputs["spec"].update(ingress=[])),
        "flows-ranks",
    ),
    Mistake(
        "ranks-rendezvous-alone",
        "a team's pods reach each other on the rendezvous port alone, and NCCL opens others",
        rule_of("teams-vision-allow-within-team", "ingress", 0, ports=[{"port": 29500, "protocol": "TCP"}]),
        "flows-ranks",
    ),
    Mistake(
        "ranks-by-wrong-label",
        "ranks are let in from pods that are called worker, and they are called trainyard-smoke",
        edit(
            POLICY,
            "teams-language-allow-within-team",
            put("spec", "ingress", 0, "from", 0, "podSelector", value={"matchLabels": {"role": "worker"}}),
        ),
        "flows-ranks",
    ),
    Mistake(
        "proxy-port",
        "the proxy admits 8080, and teams are told 3128",
        rule_of("egress-allow-platform", "ingress", 0, ports=[{"port": 8080, "protocol": "TCP"}]),
        "flows-services",
    ),
    Mistake(
        "proxy-not-let-out-to",
        "a team is not let out to the proxy that it is told of",
        drop(POLICY, "teams-vision-allow-egress-proxy"),
        "flows-services",
    ),
    Mistake(
        "proxy-label-of-team",
        "the proxy admits namespaces by a label that they do not have",
        edit(
            POLICY,
            "egress-allow-platform",
            put(
                "spec",
                "ingress",
                0,
                "from",
                0,
                "namespaceSelector",
                value={"matchExpressions": [{"key": "ml.platform/group", "operator": "Exists"}]},
            ),
        ),
        "flows-services",
    ),
    Mistake(
        "mlflow-not-let-in",
        "the tracking server admits 5001",
        rule_of("mlflow-server-ingress", "ingress", 0, ports=[{"port": 5001, "protocol": "TCP"}]),
        "flows-let-out",
    ),
    Mistake(
        "mlflow-namespace-renamed",
        "a team is let out to a namespace that is called tracking",
        edit(
            POLICY,
            "teams-language-allow-mlflow",
            put(
                "spec",
                "egress",
                0,
                "to",
                0,
                "namespaceSelector",
                "matchLabels",
                value={"kubernetes.io/metadata.name": "tracking"},
            ),
        ),
        "flows-let-in",
    ),
    Mistake(
        "team-label-lost",
        "a team's namespace loses the label that the tracking server admits teams by",
        edit(
            NAMESPACE, "teams-language-namespace", lambda inputs: inputs["metadata"]["labels"].pop("ml.platform/team")
        ),
        "flows-let-out",
    ),
    Mistake(
        "lustre-without-callback",
        "file servers do not get back to the nodes",
        without(EGRESS, "acme-demo-lustre-egress-cluster-988"),
        "flows-lustre",
    ),
    Mistake(
        "lustre-one-port",
        "the file system's group admits 988 and not 1018 to 1023",
        drop(INGRESS, "acme-demo-lustre-ingress-cluster-1018"),
        "flows-lustre",
    ),
    Mistake(
        "lustre-of-nfs",
        "the file system's group admits the port of NFS",
        edit(INGRESS, "acme-demo-lustre-ingress-cluster-988", lambda rule: rule.update(fromPort=2049, toPort=2049)),
        "flows-lustre",
    ),
    Mistake(
        "lustre-servers-apart",
        "file servers do not reach each other",
        drop(INGRESS, "acme-demo-lustre-ingress-self-988"),
        "flows-lustre",
    ),
    Mistake(
        "nodes-without-cluster-group",
        "GPU nodes have the fabric's group alone, which lets nothing but the fabric by",
        every(
            TEMPLATE,
            lambda inputs: [card["securityGroups"].pop(0) for card in inputs["networkInterfaces"]],
            of="gpu-nodes-train-spot",
        ),
        "flows-nodes-to-api",
    ),
]
