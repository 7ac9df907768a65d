"""What resources of Google Cloud need of each other, in small stacks of somebody else: what is right, what is not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rehearsal.refusals.builders import resource
from trainyard.recorded.model import UNKNOWN, RecordedResource
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.refusals.gcp import run

CONTEXT = ValueContext("1.35", "europe-west4")
VPC, SUBNET, CLUSTER = "projects/p/global/networks/vpc", "projects/p/regions/europe-west4/subnetworks/s", "p/clusters/c"
RDMA = "projects/p/global/networks/rdma"
ROUTER = "projects/p/regions/europe-west4/routers/r"


def rules(*resources: RecordedResource) -> list[str]:
    return [finding.rule for finding in check_values(list(resources), CONTEXT)]


def network() -> RecordedResource:
    return resource("gcp:compute/network:Network", "vpc", {"autoCreateSubnetworks": False}, id_=VPC)


def subnet(pods: str = "10.4.0.0/14", **inputs: Any) -> RecordedResource:
    ranges = [
        {"rangeName": "pods", "ipCidrRange": pods},
        {"rangeName": "services", "ipCidrRange": "10.8.0.0/20"},
    ]
    given = {"network": VPC, "region": "europe-west4", "ipCidrRange": "10.0.0.0/20", "secondaryIpRanges": ranges}
    return resource("gcp:compute/subnetwork:Subnetwork", "s", given | inputs, id_=SUBNET)


def cluster(**inputs: Any) -> RecordedResource:
    given = {
        "location": "europe-west4",
        "network": VPC,
        "subnetwork": SUBNET,
        "minMasterVersion": "1.35",
        "ipAllocationPolicy": {"clusterSecondaryRangeName": "pods", "servicesSecondaryRangeName": "services"},
        "privateClusterConfig": {"enablePrivateNodes": True, "masterIpv4CidrBlock": "172.16.0.0/28"},
    }
    return resource("gcp:container/cluster:Cluster", "c", given | inputs, id_=CLUSTER)


def pool(**inputs: Any) -> RecordedResource:
    given = {
        "cluster": CLUSTER,
        "location": "europe-west4",
        "nodeConfig": {"machineType": "e2-standard-8"},
        "autoscaling": {"totalMinNodeCount": 0, "totalMaxNodeCount": 10},
    }
    return resource("gcp:container/nodePool:NodePool", "n", given | inputs)


def nat(**inputs: Any) -> list[RecordedResource]:
    given = {
        "router": ROUTER,
        "region": "europe-west4",
        "natIpAllocateOption": "AUTO_ONLY",
        "sourceSubnetworkIpRangesToNat": "LIST_OF_SUBNETWORKS",
        "subnetworks": [{"name": SUBNET, "sourceIpRangesToNats": ["ALL_IP_RANGES"]}],
    }
    router = resource("gcp:compute/router:Router", "r", {"region": "europe-west4", "network": VPC}, id_=ROUTER)
    return [router, resource("gcp:compute/routerNat:RouterNat", "nat", given | inputs)]


def webhooks(*sources: Any, ports: tuple[str, ...] = ("8443", "9443")) -> RecordedResource:
    given = {"network": VPC, "allows": [{"protocol": "tcp", "ports": list(ports)}], "sourceRanges": list(sources)}
    return resource("gcp:compute/firewall:Firewall", "f", {"direction": "INGRESS", **given})


def zone(**inputs: Any) -> RecordedResource:
    return resource("gcp:dns/managedZone:ManagedZone", "z", {"dnsName": "acme.example.", **inputs}, id_="zone-z")


def record(kind: str, *data: Any, name: str = "www.acme.example.") -> RecordedResource:
    given = {"managedZone": "zone-z", "name": name, "type": kind, "rrdatas": list(data), "ttl": 300}
    return resource("gcp:dns/recordSet:RecordSet", "www", given)


def bucket(network_id: Any = VPC, **ip_filter: Any) -> RecordedResource:
    given = {
        "mode": "Enabled",
        "allowAllServiceAgentAccess": True,
        "vpcNetworkSources": [{"network": network_id, "allowedIpCidrRanges": ["10.0.0.0/20"]}],
        **ip_filter,
    }
    kept = {key: value for key, value in given.items() if value is not None}
    return resource("gcp:storage/bucket:Bucket", "data", {"location": "europe-west4", "ipFilter": kept})


STACK = [network(), subnet(), cluster(), pool()]
MULTI = {"enableMultiNetworking": True, "datapathProvider": "ADVANCED_DATAPATH"}


def rdma(profile: Any = "projects/p/global/networkProfiles/europe-west4-b-vpc-roce") -> RecordedResource:
    given = {"autoCreateSubnetworks": False, "networkProfile": profile}
    return resource("gcp:compute/network:Network", "rdma", given, id_=RDMA)


def fast(zone: str = "europe-west4-b", **network_config: Any) -> RecordedResource:
    config = {"additionalNodeNetworkConfigs": [{"network": RDMA, "subnetwork": "rdma-0"}], **network_config}
    return pool(nodeLocations=[zone], networkConfig=config)


def rule_in(network_id: str) -> RecordedResource:
    given = {"network": network_id, "allows": [{"protocol": "tcp"}], "sourceRanges": ["10.0.0.0/20"]}
    return resource("gcp:compute/firewall:Firewall", "inside", {"direction": "INGRESS", **given})


@pytest.mark.parametrize(
    "stack",
    [
        STACK,
        [*STACK, *nat(), webhooks("172.16.0.0/28")],
        [network(), subnet(), cluster(location="europe-west4-b"), pool(location="europe-west4-b")],
        [subnet(region=UNKNOWN), cluster(), *nat()],
        [network(), subnet(secondaryIpRanges=UNKNOWN), cluster()],
        [cluster(subnetwork="projects/p/regions/europe-west4/subnetworks/shared")],
        # What lets the control plane by may be of another stack, or is a rule of another kind.
        [*STACK, webhooks("10.0.0.0/20")],
        [*STACK, webhooks("10.9.0.0/28", ports=("443",))],
        [*STACK, webhooks("10.9.0.0/28"), webhooks("172.16.0.0/12")],
        [*STACK, webhooks(UNKNOWN)],
        # A cluster on routes, and one whose pods have more ranges than one.
        [network(), subnet(), cluster(networkingMode="ROUTES", ipAllocationPolicy={}, privateClusterConfig={})],
        [network(), subnet("10.4.0.0/24"), cluster(ipAllocationPolicy={
            "clusterSecondaryRangeName": "pods", "additionalPodRangesConfig": {"podRangeNames": ["more"]}}), pool()],
        [network(), subnet("10.4.0.0/24"), cluster(), pool(networkConfig={"podRange": "more"})],
        [network(), subnet("10.4.0.0/21"), cluster(defaultMaxPodsPerNode=32), pool()],
        [zone(), record("A", "192.0.2.1", "192.0.2.2"), record("AAAA", "2001:db8::1"), record("TXT", '"v=spf1 -all"')],
        [zone(), record("MX", "10 mail.acme.example."), record("A", UNKNOWN),
         record("CNAME", "acme.example.", name="www.acme.example.")],
        [zone(), record("NS", "a.example.", "b.example.", name="acme.example."), zone(dnsName=UNKNOWN)],
        # Buckets of the cluster's network, of somebody else's network, of none where there is no cluster, of everybody.
        [*STACK, bucket()],
        [*STACK, bucket("projects/p/global/networks/shared")],
        [*STACK, bucket(UNKNOWN)],
        [*STACK, bucket(RDMA, mode="Disabled", allowAllServiceAgentAccess=None)],
        [bucket(vpcNetworkSources=None, publicNetworkSource={"allowedIpCidrRanges": ["203.0.113.0/24"]})],
        [network(), subnet(), cluster(privateClusterConfig={"masterIpv4CidrBlock": "100.64.32.0/28"})],
        # Further networks of nodes: of the pool's zone, of somebody else's, or not known yet.
        [network(), subnet(), rdma(), cluster(**MULTI), fast()],
        [network(), subnet(), cluster(**MULTI), fast()],
        [network(), subnet(), rdma(UNKNOWN), cluster(**MULTI), fast("europe-west4-a")],
        [network(), subnet(), rdma(None), cluster(**MULTI), fast("europe-west4-a"), rule_in(RDMA)],
        [network(), subnet(), rdma(), cluster(enableMultiNetworking=UNKNOWN, datapathProvider=UNKNOWN), fast()],
        [network(), subnet(), rdma(), rule_in(VPC)],
    ],
)  # fmt: skip
def test_what_is_right_is_left_alone(stack: list[RecordedResource]) -> None:
    assert rules(*stack) == []


@pytest.mark.parametrize(
    ("stack", "rule"),
    [
        ([*STACK, *nat(region="us-east4")], "gcp-region"),
        ([network(), subnet(region="us-east4"), cluster()], "gcp-region"),
        ([network(), subnet(region="us-east4"), *nat()], "gcp-region"),
        ([network(), subnet("10.4.0.0/22"), cluster(), pool()], "gke-pod-range"),
        ([network(), subnet(), cluster(ipAllocationPolicy={"clusterSecondaryRangeName": "pod"})], "gke-ranges"),
        ([network(), subnet(), cluster(ipAllocationPolicy={"servicesSecondaryRangeName": "svc"})], "gke-ranges"),
        (
            [network(), subnet(), cluster(privateClusterConfig={"masterIpv4CidrBlock": "10.4.0.0/28"})],
            "gcp-range-overlap",
        ),
        ([network(), subnet(), cluster(networkingMode="ROUTES")], "gke-networking"),
        ([*STACK, webhooks("172.16.1.0/28")], "gke-webhooks"),
        ([network(), subnet(), rdma(), cluster(**MULTI), fast("europe-west4-a")], "gke-fast-network"),
        (
            [network(), subnet(), rdma(), cluster(**{**MULTI, "enableMultiNetworking": False}), fast()],
            "gke-fast-network",
        ),
        ([network(), subnet(), rdma(), cluster(enableMultiNetworking=True), fast()], "gke-fast-network"),
        ([network(), subnet(), rdma(), cluster(**MULTI), fast(acceleratorNetworkProfile="auto")], "gke-fast-network"),
        ([rdma(), rule_in(RDMA)], "gcp-firewall"),
        ([*STACK, rdma(), bucket(RDMA)], "gcs-ip-filter"),
        ([*STACK, bucket(allowAllServiceAgentAccess=None)], "gcs-ip-filter"),
        ([*STACK, bucket(mode="ENABLED")], "gcs-ip-filter"),
        ([*STACK, bucket(vpcNetworkSources=None)], "gcs-ip-filter"),
        (
            [*STACK, bucket(vpcNetworkSources=None, publicNetworkSource={"allowedIpCidrRanges": ["203.0.113.0/24"]})],
            "gcs-ip-filter",
        ),
        ([zone(dnsName="acme.example")], "gcp-dns"),
        ([zone(), record("A", "192.0.2.1", name="www.acme.example")], "gcp-dns"),
        ([zone(), record("A", "192.0.2.1", name="www.acme.test.")], "gcp-dns"),
        ([zone(), record("A", "2001:db8::1")], "gcp-dns"),
        ([zone(), record("A", "www2.acme.example.")], "gcp-dns"),
        ([zone(), record("CNAME", "www2.acme.example")], "gcp-dns"),
        ([zone(), record("CNAME", "a.example.", "b.example.")], "gcp-dns"),
    ],
)
def test_what_does_not_go_together_is_told(stack: list[RecordedResource], rule: str) -> None:
    assert rule in rules(*stack)


def box(limits: dict[str, str], probe: dict[str, int], **more: Any) -> RecordedResource:
    container = {"image": "a", "resources": {"limits": limits}, "startupProbe": probe, **more}
    given = {"location": "europe-west4", "name": "a", "template": {"containers": [container]}}
    return resource("gcp:cloudrunv2/service:Service", "a", given)


GPU = {"nvidia.com/gpu": "1"}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (box({"cpu": "4", "memory": "2Gi"}, {"periodSeconds": 60, "failureThreshold": 10}), []),
        (box({"cpu": "4", "memory": "2Gi"}, {"periodSeconds": 60, "failureThreshold": 11}), ["gcp-run"]),
        (box({"cpu": "20"}, {}), ["gcp-run"]),
        (box({"cpu": "20", "memory": "80Gi", **GPU}, {"periodSeconds": 240, "failureThreshold": 7}), []),
        (box({"cpu": "20", **GPU}, {"periodSeconds": 240, "failureThreshold": 8}), ["gcp-run"]),
        (box({"cpu": "4", "memory": "2Gi"}, {"periodSeconds": 241, "failureThreshold": 1}), ["gcp-run"]),
    ],
)
def test_a_container_with_a_gpu_may_start_longer_and_be_larger(given: RecordedResource, told: list[str]) -> None:
    assert [rule for rule in rules(given) if rule == "gcp-run"] == told


def test_a_name_that_is_no_text_ends_no_rule() -> None:
    given = box({"cpu": "4", "memory": "2Gi"}, {}, name={"a": "b"})
    view = Stack([given], CONTEXT).views[0]
    run.service(view)
    assert view.findings == []
