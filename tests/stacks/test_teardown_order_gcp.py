"""What has to be gone before what on Google Cloud: the twin of `test_teardown_order`.

Its own rules are those of the network: what stands in it, the balancer-free way out, Google's own network that the
database is in, and the keys that everything is encrypted with.
"""

from __future__ import annotations

import pytest

from tests.conftest import GKE
from tests.stacks.test_order import Order
from tests.stacks.test_teardown_order import NAMESPACE, RELEASE, named

NODES = "gcp:container/nodePool:NodePool"
CLUSTER = "gcp:container/cluster:Cluster"
DATABASE = "gcp:sql/databaseInstance:DatabaseInstance"
NETWORK = "gcp:compute/network:Network"
KEY_RIGHT = "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember"
PEERING = "gcp:servicenetworking/connection:Connection"
SUBNET = "gcp:compute/subnetwork:Subnetwork"
NAT = "gcp:compute/routerNat:RouterNat"

RULES = {
    "teams' namespaces, with the jobs in them, go before their controllers": (
        (NAMESPACE, "*teams-*"),
        (RELEASE, "*runtimes-*"),
    ),
    "teams' namespaces go before the queues' controller": ((NAMESPACE, "*teams-*"), (RELEASE, "*kueue*")),
    "monitors and rules go before their operator": (
        ("kubernetes:monitoring.coreos.com/*", "*"),
        (RELEASE, "*monitoring*"),
    ),
    "namespaces go before the system nodes": ((NAMESPACE, "*"), (NODES, "*cluster-system")),
    "charts go before the system nodes": ((RELEASE, "*"), (NODES, "*cluster-system")),
    "claims go before their volumes": (
        ("kubernetes:core/v1:PersistentVolumeClaim", "*ingest*"),
        ("kubernetes:core/v1:PersistentVolume", "*ingest*"),
    ),
    "nodes go before their cluster": ((NODES, "*"), (CLUSTER, "*")),
    "objects go before their cluster": (("kubernetes:*", "*"), (CLUSTER, "*")),
    "nodes have their way out to the end": ((NODES, "*"), (NAT, "*")),
    "a cluster goes before its subnet": ((CLUSTER, "*"), (SUBNET, "*")),
    "webhooks are reached while charts go": ((RELEASE, "*"), ("gcp:compute/firewall:Firewall", "*webhooks")),
    "a database goes before the peering that it stands behind": ((DATABASE, "*"), (PEERING, "*")),
    "the peering goes before its range": ((PEERING, "*"), ("gcp:compute/globalAddress:GlobalAddress", "*")),
    "the peering goes before the network": ((PEERING, "*"), (NETWORK, "*")),
    "a subnet goes before its network": ((SUBNET, "*"), (NETWORK, "*")),
    "the NAT goes before its router": ((NAT, "*"), ("gcp:compute/router:Router", "*")),
    "users go before their database": (("gcp:sql/user:User", "*"), (DATABASE, "*")),
    "what is encrypted keeps its key to the end": ((DATABASE, "*"), (KEY_RIGHT, "*tracking*")),
    "nodes keep their rights to the end": ((NODES, "*"), ("gcp:projects/iAMMember:IAMMember", "*node*")),
    "a name goes before its zone": (
        ("gcp:dns/recordSet:RecordSet", "*"),
        ("gcp:dns/managedZone:ManagedZone", "*"),
    ),
    "the API of clusters stays on for what is in them": (
        ("kubernetes:*", "*"),
        ("gcp:projects/service:Service", "*container*"),
    ),
    "the API of networks stays on for what is in them": (
        ("gcp:compute/*", "*"),
        ("gcp:projects/service:Service", "*compute*"),
    ),
}


@pytest.fixture(scope="module")
def orders(rehearsed):
    """By stack, who waits for whom."""
    return {stack: Order(rehearsed(stack).resources) for stack in GKE}


@pytest.mark.parametrize("stack", GKE)
@pytest.mark.parametrize("rule", RULES)
def test_it_goes_before_what_it_needs_to_go(orders, stack, rule):
    order, (goes, stays) = orders[stack], RULES[rule]
    first, then = named(order, *stays), named(order, *goes)
    assert first
    assert then
    assert order.missing((one, other) for one in first for other in then if one is not other) == []


@pytest.mark.parametrize("stack", GKE)
def test_claims_of_stateful_sets_go_with_them(rehearsed, stack):
    """Of Prometheus on the cluster; where Google collects, nothing is claimed."""
    for release in rehearsed(stack).resources:
        spec = (release.inputs.get("values") or {}).get("prometheus", {}).get("prometheusSpec")
        if release.type == RELEASE and spec:
            assert spec["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": "Delete"}
