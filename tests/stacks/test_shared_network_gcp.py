"""demo-gcp in a Shared VPC: nothing of the network is made, all of it is used, and who has to do what is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.rehearsal.works.mistakes import DROP, edit, put
from tests.shared import ROOT, as_configuration
from trainyard.conventions.gcp import GOOGLE_APIS_CIDR
from trainyard.plan.lock import Lock, lock_of
from trainyard.plan.resolve import resolve
from trainyard.problems import SettingsError
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import GKE_CLUSTER, NETWORK_POLICY
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.rehearse import Rehearsal
from trainyard.rehearsal.works.flows.addresses import Addresses
from trainyard.rehearsal.works.flows.check import check as check_flows
from trainyard.rehearsal.works.flows.gcp.places import google_addresses
from trainyard.review.review import Review, review

HOST = "acme-network"
NETWORK = f"projects/{HOST}/global/networks/production"
SUBNET = f"projects/{HOST}/regions/us-central1/subnetworks/ml-us-central1"
CONTEXT = ValueContext("1.35", "us-central1")
SHARED: dict[str, Any] = {
    "network": "production",
    "subnetwork": "ml-us-central1",
    "nodeCidr": "10.8.0.0/20",
    "podRange": "ml-pods",
    "podCidr": "10.16.0.0/14",
    "serviceRange": "ml-services",
    "serviceCidr": "10.20.0.0/20",
    "controlPlaneCidr": "172.16.0.16/28",
    "privateServicesCidr": "10.24.0.0/20",
    "furtherCidrs": ["192.168.0.0/16"],
}
OF_A_NETWORK = (
    "gcp:compute/network:Network",
    "gcp:compute/subnetwork:Subnetwork",
    "gcp:compute/router:Router",
    "gcp:compute/routerNat:RouterNat",
    "gcp:compute/firewall:Firewall",
    "gcp:compute/globalAddress:GlobalAddress",
    "gcp:servicenetworking/connection:Connection",
    # Bound to the host's network, it would answer for every project that is joined to it.
    "gcp:dns/managedZone:ManagedZone",
    "gcp:dns/recordSet:RecordSet",
)
RIGHT = "gcp:compute/subnetworkIAMMember:SubnetworkIAMMember"


def settings(gcp: dict[str, Any] | None = None, **changed: Any) -> dict[str, Any]:
    """The settings of demo-gcp by their keys, in such a network, with both file systems."""
    demo = yaml.safe_load((ROOT / "stacks" / "Pulumi.demo-gcp.yaml").read_text())["config"]
    found = {key.removeprefix("trainyard:"): value for key, value in demo.items() if key.startswith("trainyard:")}
    own = {**found.pop("gcp"), "networkProject": HOST, "sharedNetwork": SHARED} | (gcp or {})
    files = {"lustre": {"enabled": True}, "sharedFileSystem": True}
    return {**found, "storage": files, "gcp": own} | changed


def stack_file(folder: Path, **changed: Any) -> Path:
    path = folder / "Pulumi.joined-gcp.yaml"
    config = {f"trainyard:{key}": value for key, value in settings(**changed).items()}
    path.write_text(yaml.safe_dump({"config": {**config, "pulumi:disable-default-providers": ["*"]}}))
    return path


def decided(lock: Lock | None = None, **changed: Any) -> Any:
    return resolve(as_configuration(settings(**changed)), "joined-gcp", **({"lock": lock} if lock else {})).plan


def refused(lock: Lock | None = None, **changed: Any) -> dict[str, str]:
    with pytest.raises(SettingsError) as caught:
        decided(lock, **changed)
    found: dict[str, str] = {}
    for problem in caught.value.problems:
        found[problem.key] = f"{found.get(problem.key, '')}{problem.allowed} "
    return found


@pytest.fixture(scope="module")
def joined(tmp_path_factory: pytest.TempPathFactory) -> Review:
    found = review(ROOT, stack_file(tmp_path_factory.mktemp("joined")))
    assert not found.rehearsal.errors, found.rehearsal.errors
    return found


@pytest.fixture(scope="module")
def entitled(tmp_path_factory: pytest.TempPathFactory) -> Review:
    """Where the stack gives Google's accounts their rights in the host project."""
    given = {"sharedNetwork": {**SHARED, "hostRights": "stack"}}
    return review(ROOT, stack_file(tmp_path_factory.mktemp("entitled"), gcp=given))


def of(rehearsal: Rehearsal, type_: str) -> list[Any]:
    return [one for one in rehearsal.known.resources if one.type == type_]


def test_nothing_of_the_network_is_made_and_nothing_is_accused(joined: Review, rehearsed: Any) -> None:
    assert [str(each) for each in joined.rehearsal.findings] == []
    assert [str(each) for each in joined.policies.violations] == []
    for type_ in OF_A_NETWORK:
        assert of(joined.rehearsal, type_) == [], type_
        assert of(rehearsed("demo-gcp"), type_), type_
    assert of(joined.rehearsal, RIGHT) == []


def test_all_that_stands_in_a_network_stands_in_the_hosts(joined: Review) -> None:
    (cluster,) = of(joined.rehearsal, GKE_CLUSTER)
    assert (cluster.inputs["network"], cluster.inputs["subnetwork"]) == (NETWORK, SUBNET)
    assert cluster.inputs["ipAllocationPolicy"] == {
        "clusterSecondaryRangeName": "ml-pods",
        "servicesSecondaryRangeName": "ml-services",
    }
    assert cluster.inputs["privateClusterConfig"]["masterIpv4CidrBlock"] == SHARED["controlPlaneCidr"]
    (database,) = of(joined.rehearsal, "gcp:sql/databaseInstance:DatabaseInstance")
    assert database.inputs["settings"]["ipConfiguration"]["privateNetwork"] == NETWORK
    (lustre,) = of(joined.rehearsal, "gcp:lustre/instance:Instance")
    (share,) = of(joined.rehearsal, "gcp:filestore/instance:Instance")
    assert (lustre.inputs["network"], share.inputs["networks"][0]["network"]) == (NETWORK, NETWORK)
    assert share.inputs["networks"][0]["connectMode"] == "PRIVATE_SERVICE_ACCESS"


def test_pods_are_walled_off_from_everything_else_that_the_network_reaches(joined: Review) -> None:
    plan = joined.rehearsal.plan["ground"]["network"]
    assert list(plan["shared"]["further_cidrs"]) == ["192.168.0.0/16"]
    exceptions = [
        each
        for one in of(joined.rehearsal, "kubernetes:networking.k8s.io/v1:NetworkPolicy")
        for rule in one.inputs["spec"].get("egress") or ()
        for peer in rule.get("to") or ()
        for each in (peer.get("ipBlock") or {}).get("except") or ()
    ]
    assert not exceptions or {"192.168.0.0/16", SHARED["nodeCidr"]} <= set(exceptions)
    open_ = [
        peer["ipBlock"]["cidr"]
        for one in of(joined.rehearsal, "kubernetes:networking.k8s.io/v1:NetworkPolicy")
        if str(one.inputs["metadata"]["namespace"]).startswith("team-")
        for rule in one.inputs["spec"].get("egress") or ()
        for peer in rule.get("to") or ()
        if "ipBlock" in peer
    ]
    assert open_ and "192.168.0.0/16" not in open_ and "0.0.0.0/0" not in open_


def test_rights_in_the_host_project_are_listed_or_given_before_the_cluster(joined: Review, entitled: Review) -> None:
    listed = {each["key"]: each for each in joined.rehearsal.plan["core"]["decisions"]}["network.host_rights"]
    assert "container-engine-robot" in str(listed) and "cloudservices" in str(listed)
    assert [str(each) for each in entitled.policies.violations] == []
    given = of(entitled.rehearsal, RIGHT)
    assert {one.inputs["member"].rpartition("@")[2] for one in given} >= {"cloudservices.gserviceaccount.com"}
    assert {(one.inputs["project"], one.inputs["role"]) for one in given} == {(HOST, "roles/compute.networkUser")}
    (host,) = [one for one in of(entitled.rehearsal, "gcp:projects/iAMMember:IAMMember") if one.name == "network-host"]
    assert (host.inputs["project"], host.inputs["role"]) == (HOST, "roles/container.hostServiceAgentUser")
    (cluster,) = of(entitled.rehearsal, GKE_CLUSTER)
    assert {host.urn, *(one.urn for one in given)} <= set(cluster.dependencies)


def test_the_zone_of_googles_names_is_a_duty_of_the_hosts(joined: Review) -> None:
    told = {each["key"]: each for each in joined.rehearsal.plan["core"]["decisions"]}["network.host_duties"]
    assert "a private zone for googleapis.com on network production" in str(told)
    believed = google_addresses(Resources(joined.rehearsal.known.resources))
    assert believed == Addresses.of(GOOGLE_APIS_CIDR), "else walls are asked about addresses that nobody goes to"


def test_the_way_out_is_on_the_hosts_bill() -> None:
    assert not [item.what for item in decided().core.idle_floor.items if "NAT" in item.what]


@pytest.mark.parametrize(
    ("changed", "key", "said"),
    [
        ({"gcp": {"networkProject": None}}, "gcp.networkProject", "must be the host project"),
        ({"gcp": {"sharedNetwork": None}}, "gcp.networkProject", "read only beside gcp.sharedNetwork"),
        ({"gcp": {"networkProject": "acme-ml"}}, "gcp.networkProject", "another project than gcp.project"),
        ({"network": {"cidr": "10.0.0.0/14"}}, "network.cidr", "is not read beside gcp.sharedNetwork"),
        (
            {"gcp": {"sharedNetwork": {**SHARED, "controlPlaneCidr": "172.16.0.0/24"}}},
            "gcp.sharedNetwork.controlPlaneCidr",
            "a /28",
        ),
        (
            {"gcp": {"sharedNetwork": {**SHARED, "podCidr": "10.8.0.0/16"}}},
            "gcp.sharedNetwork.podCidr",
            "must not overlap 10.8.0.0/20",
        ),
        (
            {"gcp": {"sharedNetwork": {**SHARED, "podCidr": "10.16.0.0/22"}}},
            "gcp.sharedNetwork.podCidr",
            "too small",
        ),
        (
            {"gcp": {"sharedNetwork": {**SHARED, "serviceRange": "ml-pods"}}},
            "gcp.sharedNetwork.serviceRange",
            "another range than podRange",
        ),
        (
            {"gcp": {"sharedNetwork": {key: value for key, value in SHARED.items() if key != "podRange"}}},
            "gcp.sharedNetwork.podRange",
            "",
        ),
        ({"gcp": {"fastNetwork": "networks"}}, "gcp.fastNetwork", "in another's"),
    ],
)
def test_what_does_not_fit_is_said_with_its_setting(changed: dict[str, Any], key: str, said: str) -> None:
    told_ = refused(**changed)
    assert said in told_[key], told_


def test_nothing_that_lives_moves_to_another_network() -> None:
    kept = lock_of(decided())
    assert kept.network is not None and kept.network.id == SUBNET
    assert decided(kept).ground.network.shared.subnetwork == "ml-us-central1"
    other = {"sharedNetwork": {**SHARED, "subnetwork": "other"}}
    assert SUBNET in refused(kept, gcp=other)["gcp.sharedNetwork.subnetwork"]
    own = {"networkProject": None, "sharedNetwork": None}
    assert "a network that somebody else made" in refused(kept, gcp=own)["gcp.sharedNetwork"]


@pytest.mark.parametrize("believed", [SHARED["privateServicesCidr"], ""])
@pytest.mark.parametrize(
    ("cidr", "level", "knows"),
    [
        (SHARED["privateServicesCidr"], None, "anybody"),
        ("10.24.0.0/16", None, "anybody"),
        ("10.24.8.0/21", "warning", "plan"),  # half of the range
        (SHARED["podCidr"], "error", "plan"),
        (SHARED["controlPlaneCidr"], "error", "anybody"),
        ("203.0.113.0/24", "error", "anybody"),
        ("34.1.0.0/16", "error", "anybody"),
    ],
)
def test_the_way_to_the_database_is_judged_by_what_is_known_of_its_range(
    joined: Review, cidr: str, level: str | None, knows: str, believed: str
) -> None:
    """By the stack file's range; without a plan, as one of the private addresses that nothing recorded has."""
    to = [{"ipBlock": {"cidr": block}} for block in (cidr, "203.0.113.9/32")]
    change = edit(NETWORK_POLICY, "mlflow-server-egress", put("spec.egress[1].to", to))
    stack = Stack(change(joined.rehearsal.known.resources), replace(CONTEXT, private_services=believed))
    check_flows(stack)
    told_ = [(finding.rule, finding.level) for finding in stack.findings]
    assert told_ == ([("flows-database", level)] if level and (believed or knows == "anybody") else []), told_


BLOCKS = {"clusterIpv4CidrBlock": "/14", "servicesIpv4CidrBlock": "/20"}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("ipAllocationPolicy", BLOCKS),  # GKE adds no range to a subnet of another project's
        ("ipAllocationPolicy", DROP),
        ("subnetwork", SUBNET.replace(HOST, "acme-ml")),
        ("subnetwork", SUBNET.replace("us-central1", "us-east4")),
    ],
)
def test_a_cluster_in_a_hosts_subnet_names_its_ranges(joined: Review, path: str, value: Any) -> None:
    change = edit(GKE_CLUSTER, "cluster-cluster", put(path, value))
    changed = change(joined.rehearsal.known.resources)
    assert "gke-shared-network" in {finding.rule for finding in check_values(changed, CONTEXT)}
    assert "gke-shared-network" not in {
        finding.rule for finding in check_values(joined.rehearsal.known.resources, CONTEXT)
    }
