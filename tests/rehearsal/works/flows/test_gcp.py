"""The network on Google Cloud: the firewall, ways out, and mistakes in them."""

from __future__ import annotations

import pytest

from tests.policies.truth import made
from tests.rehearsal.works.mistakes import DROP, edit, put
from tests.rehearsal.works.mistakes_flows_gcp import MISTAKES, STACK
from trainyard.conventions.gcp import GOOGLE_APIS_CIDR
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import NETWORK_POLICY
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.works.flows.addresses import Addresses
from trainyard.rehearsal.works.flows.check import check
from trainyard.rehearsal.works.flows.gcp.firewall import Firewall
from trainyard.rehearsal.works.flows.gcp.places import GOOGLE, google_addresses, places, private_services
from trainyard.rehearsal.works.flows.gcp.ways import WaysOut
from trainyard.rehearsal.works.flows.model import Flow, Place, Port, judge

FIREWALL = "gcp:compute/firewall:Firewall"


def findings(resources):
    """What the room says."""
    stack = Stack(resources, ValueContext("1.35", "us-central1"))
    check(stack)
    return stack.findings


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_told(rehearsed, mistake):
    found = findings(mistake.change(rehearsed(STACK).known.resources))
    assert (mistake.rule is None) == (not found), found
    assert mistake.rule in {None, *(finding.rule for finding in found)}, found


def test_a_finding_names_the_wall_and_the_remedy(rehearsed):
    (mistake,) = [one for one in MISTAKES if one.name == "no private access"]
    found = findings(mistake.change(rehearsed(STACK).known.resources))
    assert "subnet network-nodes has no private access" in found[0].message
    assert found[0].allowed == "privateIpGoogleAccess of the subnet"


def cluster(*rules, private=True, subnet=None, more=()):
    """A cluster with a network of its own, and firewall rules."""
    network = made("gcp:compute/network:Network", "net", {}, id="net")
    ranges = [
        {"rangeName": "pods", "ipCidrRange": "10.2.0.0/16"},
        {"rangeName": "services", "ipCidrRange": "10.4.0.0/20"},
    ]
    nodes = made(
        "gcp:compute/subnetwork:Subnetwork",
        "nodes",
        {"ipCidrRange": "10.0.0.0/20", "secondaryIpRanges": ranges, "network": "net", **(subnet or {})},
        id="nodes",
    )
    made_of = {
        "network": "net",
        "subnetwork": "nodes",
        "ipAllocationPolicy": {"clusterSecondaryRangeName": "pods", "servicesSecondaryRangeName": "services"},
        "privateClusterConfig": {"enablePrivateNodes": private, "masterIpv4CidrBlock": "10.9.0.0/28"},
    }
    gke = made("gcp:container/cluster:Cluster", "gke", made_of, id="gke")
    own = [made(FIREWALL, f"rule-{number}", {"network": "net", **rule}) for number, rule in enumerate(rules)]
    return Resources([network, nodes, gke, *own, *more])


API = Place("Kubernetes API", "service", Addresses.of("10.9.0.0/28"))
PODS = Place("pods", "pods", Addresses.of("10.2.0.0/16"))
INTERNET = Place("internet", "internet", Addresses.of("8.8.8.0/24"))
STORE = Place(GOOGLE, "object store", Addresses.of("199.36.153.8/30"))
TCP = {"protocol": "tcp"}


def through(wall, source, destination, port=443):
    return judge(Flow.between(source, destination, Port(port)), [wall])


def test_gke_lets_the_control_plane_in_on_two_ports_and_pods_among_themselves():
    wall = Firewall.recorded(cluster())
    assert through(wall, API, PODS, 443)
    assert through(wall, API, PODS, 10250)
    assert not through(wall, API, PODS, 9443)
    assert through(wall, PODS, PODS, 29500)
    assert through(wall, PODS, INTERNET)
    assert not through(wall, INTERNET, PODS)


@pytest.mark.parametrize(
    ("rules", "passes"),
    [
        (({"allows": [{**TCP, "ports": ["9000-9500"]}], "sourceRanges": ["10.9.0.0/28"]},), True),
        (({"allows": [{**TCP, "ports": ["9444"]}], "sourceRanges": ["10.9.0.0/28"]},), False),
        (({"allows": [{"protocol": "udp"}], "sourceRanges": ["10.9.0.0/28"]},), False),
        (({"allows": [{"protocol": "6"}], "sourceRanges": ["10.0.0.0/8"]},), True),
        (({"allows": [TCP], "sourceRanges": ["10.9.0.0/28"], "direction": "EGRESS"},), False),
        (
            (
                {"allows": [TCP], "sourceRanges": ["10.9.0.0/28"], "priority": 1000},
                {"denies": [TCP], "sourceRanges": ["10.9.0.0/28"], "priority": 1000},
            ),
            False,
        ),
        (
            (
                {"allows": [TCP], "sourceRanges": ["10.9.0.0/28"], "priority": 900},
                {"denies": [TCP], "sourceRanges": ["10.9.0.0/28"], "priority": 901},
            ),
            True,
        ),
    ],
    ids=["range", "other port", "other protocol", "by number", "other direction", "deny wins a tie", "lower first"],
)
def test_the_first_rule_decides(rules, passes):
    assert bool(through(Firewall.recorded(cluster(*rules)), API, PODS, 9443)) is passes


def test_a_network_of_somebody_elses_has_rules_that_nobody_knows():
    resources = Resources([found for found in cluster().all if "network:" not in found.type])
    assert through(Firewall.recorded(resources), API, PODS, 9443)


def nat(**inputs):
    return made("gcp:compute/routerNat:RouterNat", "nat", inputs)


def test_private_nodes_go_out_by_nat_and_by_private_access():
    every = nat(sourceSubnetworkIpRangesToNat="ALL_SUBNETWORKS_ALL_IP_RANGES")
    assert not through(WaysOut.recorded(cluster()), PODS, INTERNET)
    assert through(WaysOut.recorded(cluster(more=[every])), PODS, INTERNET)
    assert not through(WaysOut.recorded(cluster(more=[every])), PODS, STORE)
    assert through(WaysOut.recorded(cluster(subnet={"privateIpGoogleAccess": True})), PODS, STORE)
    assert through(WaysOut.recorded(cluster(private=False)), PODS, INTERNET)


def test_public_names_of_google_are_reached_by_nat_too():
    """Without a zone of the network's own the names lead to public addresses."""
    somewhere = Place(GOOGLE, "object store", Addresses.of("142.250.0.0/16", "199.36.153.8/30"))
    every = nat(sourceSubnetworkIpRangesToNat="ALL_SUBNETWORKS_ALL_PRIMARY_IP_RANGES")
    assert through(WaysOut.recorded(cluster(more=[every])), PODS, somewhere).reach == "some"
    assert not through(WaysOut.recorded(cluster()), PODS, somewhere)
    assert through(WaysOut.recorded(cluster(subnet={"privateIpGoogleAccess": True})), PODS, somewhere).reach == "all"


def test_the_internet_finds_public_addresses_alone():
    node = Place("nodes", "node", Addresses.of("10.0.0.0/20"))
    database = Place("database", "service", Addresses.of("10.5.0.0/20"), public_to=Addresses.of("8.8.8.0/30"))
    assert not through(WaysOut.recorded(cluster()), INTERNET, node)
    assert through(WaysOut.recorded(cluster(private=False)), INTERNET, node)
    assert not through(WaysOut.recorded(cluster(private=False)), INTERNET, PODS)
    assert through(WaysOut.recorded(cluster()), INTERNET, database).reach == "some"


def test_places_of_the_demo_stack(rehearsed):
    resources = Resources(rehearsed(STACK).resources)
    by_name = {place.name: place for place in places(resources)}
    assert google_addresses(resources) == Addresses.of("199.36.153.8/30")
    assert private_services(resources) == Addresses.of("10.0.16.0/20")
    assert by_name["database acme-demo-gcp-mlflow"].ports == (Port(5432),)
    assert by_name["nodes"].addresses == Addresses.of("10.0.0.0/20")
    assert "Kubernetes API, public endpoint" not in by_name


@pytest.mark.parametrize(
    ("cidr", "told"),
    [
        ("10.0.16.0/20", False),
        ("192.168.7.0/24", False),  # nobody knows which Google took
        ("10.0.0.0/20", True),  # the nodes'
        ("198.51.100.0/24", True),  # no private addresses
    ],
)
def test_a_range_that_google_picks_is_none_that_the_cluster_has(rehearsed, cidr, told):
    """What is let out to is believed, where it can be the database's."""
    picked = edit("gcp:compute/globalAddress:GlobalAddress", "network-private-services", put("address", DROP))
    to = [{"ipBlock": {"cidr": block}} for block in (cidr, "203.0.113.9/32")]
    let_out = edit(NETWORK_POLICY, "mlflow-server-egress", put("spec.egress[1].to", to))
    found = findings(let_out(picked(rehearsed(STACK).known.resources)))
    assert [(one.rule, one.level) for one in found] == ([("flows-database", "error")] if told else [])


@pytest.mark.parametrize(("project", "joined"), [("acme-own", True), ("acme-host", False)])
def test_whose_network_it_is_is_known_by_a_clusters_project_alone(project, joined):
    """Identities that are not known yet say nothing then, and hide nothing."""
    inputs = {
        "project": project,
        "network": "projects/acme-host/global/networks/shared",
        "workloadIdentityConfig": {"workloadPool": UNKNOWN},
    }
    gke = made("gcp:container/cluster:Cluster", "gke", inputs, id="gke")
    found = google_addresses(Resources([gke]))
    assert (found == Addresses.of(GOOGLE_APIS_CIDR)) is joined
