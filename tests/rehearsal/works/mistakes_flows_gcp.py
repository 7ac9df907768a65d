"""Walls that shut what is needed on Google Cloud: mistakes put into the network of the demo stack."""

from __future__ import annotations

from typing import Any

from tests.rehearsal.works.mistakes import Change, Mistake, Recorded, both, drop, edit, put
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.types import GCP_FIREWALL, GCP_NAT, GCP_SUBNETWORK, GKE_CLUSTER, NETWORK_POLICY

STACK = "demo-gcp"
NETWORK = "gcp:compute/network:Network"
RECORDS = "gcp:dns/recordSet:RecordSet"
VPC = "projects/acme-ml/global/networks/network-vpc"


def firewall(name: str, **inputs: Any) -> Change:
    """Adds a firewall rule to the stack's network."""

    def change(resources: Recorded) -> list[RecordedResource]:
        urn = f"urn:pulumi:demo-gcp::trainyard::{GCP_FIREWALL}::{name}"
        body = {"network": VPC, **inputs}
        return [*resources, RecordedResource(urn, GCP_FIREWALL, name, "", "network", True, "p::p", body, id=name)]

    return change


def policy(name: str, path: str, value: Any) -> Change:
    return edit(NETWORK_POLICY, name, put(path, value))


def mistake(name: str, what: str, change: Change, rule: str | None, why: str = "") -> Mistake:
    return Mistake(name, what, change, rule, why=why, stack=STACK)


EVERYTHING = [{"protocol": "all"}]
MISTAKES = [
    mistake(
        "no private access",
        "the subnet's nodes may not reach Google's services by private access",
        edit(GCP_SUBNETWORK, "network-nodes", put("privateIpGoogleAccess", False)),
        "flows-google",
    ),
    mistake(
        "no NAT",
        "the NAT is gone, and images come from registries outside",
        drop(GCP_NAT, "network-nat"),
        "flows-images",
    ),
    mistake(
        "a NAT for another range",
        "the NAT is for the services' range alone",
        edit(
            GCP_NAT,
            "network-nat",
            put("subnetworks[0].sourceIpRangesToNats", ["LIST_OF_SECONDARY_IP_RANGES"]),
        ),
        "flows-images",
    ),
    mistake(
        "no route out",
        "the network is made without the default route",
        edit(NETWORK, "network-vpc", put("deleteDefaultRoutesOnCreate", True)),
        "flows-google",
    ),
    mistake(
        "webhooks without a firewall rule",
        "the control plane may not call webhooks on their own port",
        drop(GCP_FIREWALL, "network-webhooks"),
        "flows-webhooks",
    ),
    mistake(
        "a port too few",
        "the rule for webhooks forgets the queue manager's port",
        edit(GCP_FIREWALL, "network-webhooks", put("allows[0].ports", ["443", "8443", "10250"])),
        "flows-webhooks",
    ),
    mistake(
        "a rule of another control plane",
        "the rule for webhooks lets another range by",
        edit(GCP_FIREWALL, "network-webhooks", put("sourceRanges", ["10.9.32.0/28"])),
        "flows-webhooks",
    ),
    mistake(
        "a rule that is off",
        "somebody switched the rule for webhooks off",
        edit(GCP_FIREWALL, "network-webhooks", put("disabled", True)),
        "flows-webhooks",
    ),
    mistake(
        "a rule that denies first",
        "everything that comes in is denied before GKE's own rules are asked",
        firewall("deny-in", direction="INGRESS", priority=900, denies=EVERYTHING, sourceRanges=["10.0.0.0/8"]),
        "flows-kubelet",
    ),
    mistake(
        "a rule that denies last",
        "everything that no other rule lets in is denied, as it is anyway",
        firewall("deny-rest", direction="INGRESS", priority=65000, denies=EVERYTHING, sourceRanges=["0.0.0.0/0"]),
        None,
        "what is denied so comes in nowhere without it either",
    ),
    mistake(
        "nothing goes out",
        "everything that goes out is denied",
        firewall("deny-out", direction="EGRESS", denies=EVERYTHING, destinationRanges=["0.0.0.0/0"]),
        "flows-nodes-to-api",
    ),
    mistake(
        "out of some nodes",
        "a rule denies what goes out of machines with a tag",
        firewall(
            "deny-some", direction="EGRESS", denies=EVERYTHING, destinationRanges=["0.0.0.0/0"], targetTags=["bastion"]
        ),
        None,
        "whether nodes have the tag is GKE's to say",
    ),
    mistake(
        "the database's port denied",
        "a rule denies PostgreSQL to private addresses",
        firewall(
            "deny-sql", direction="EGRESS", denies=[{"protocol": "tcp", "ports": ["5000-6000"]}],
            destinationRanges=["10.0.16.0/20"],
        ),
        "flows-database",
    ),
    mistake(
        "the database's old range",
        "the tracking server is let out to the range that the database had before",
        policy("mlflow-server-egress", "spec.egress[1].to[0].ipBlock.cidr", "10.0.48.0/20"),
        "flows-database",
    ),
    mistake(
        "the tracking server without its identity",
        "the policy forgets the metadata server",
        policy("mlflow-server-egress", "spec.egress[4].ports[0].port", 988),
        "flows-identity",
    ),
    mistake(
        "a team without identities",
        "the team's policy for the metadata server has another address",
        policy("teams-vision-allow-pod-identity", "spec.egress[0].to[0].ipBlock.cidr", "169.254.170.23/32"),
        "flows-identity",
    ),
    mistake(
        "a team without its data",
        "the policy for Google's services is gone",
        drop(NETWORK_POLICY, "teams-vision-allow-object-store"),
        "flows-object-store",
    ),
    mistake(
        "restricted where it was private",
        "the network's names lead to the other four addresses, which no policy lets out to",
        edit(
            RECORDS, "google-apis-private",
            put("rrdatas", ["199.36.153.4", "199.36.153.5", "199.36.153.6", "199.36.153.7"]),
        ),
        "flows-object-store",
    ),
    mistake(
        "a team without names",
        "the policy for lookups selects other pods",
        policy(
            "teams-vision-allow-dns", "spec.egress[0].to[0].podSelector.matchLabels", {"k8s-app": "coredns"},
        ),
        "flows-names",
    ),
    mistake(
        "controllers without the API",
        "the queue manager is let out to another control plane",
        both(
            policy("kueue-allow-platform", "spec.egress[0].to[0].ipBlock.cidr", "10.9.32.0/28"),
            policy("kueue-allow-platform", "spec.egress[0].to[1].ipBlock.cidr", "172.20.0.7/32"),
        ),
        "flows-api",
    ),
    mistake(
        "the API may not call the queue manager",
        "the policy lets another control plane in to the webhook",
        policy("kueue-allow-platform", "spec.ingress[0].from[0].ipBlock.cidr", "10.9.32.0/28"),
        "flows-webhooks",
    ),
    mistake(
        "policies that nobody enforces",
        "the cluster has neither Dataplane V2 nor the add-on",
        edit(GKE_CLUSTER, "cluster-cluster", put("datapathProvider", "LEGACY_DATAPATH")),
        None,
        "nothing that is needed is shut; that walls are missing is told by the policies",
    ),
]  # fmt: skip
