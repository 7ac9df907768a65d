"""What is right on Google Cloud, beside what is wrong and looks nearly so."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rehearsal.refusals.builders import resource
from trainyard.recorded.model import UNKNOWN
from trainyard.rehearsal.context import ValueContext
from trainyard.rehearsal.refusals.check import check_values

CLUSTER, POOL = "gcp:container/cluster:Cluster", "gcp:container/nodePool:NodePool"


def told(type_: str, rule: str, **inputs: Any) -> list[str]:
    """Levels of what a rule tells of one resource."""
    found = check_values([resource(type_, "one", inputs)], ValueContext("1.35", "europe-west4"))
    return [finding.level for finding in found if finding.rule == rule]


@pytest.mark.parametrize(
    ("machine", "asked", "rule", "found"),
    [
        ("c4-standard-96", {"minCpuPlatform": "Intel Granite Rapids"}, "gke-processor", []),
        ("c5-standard-96", {"minCpuPlatform": "Intel Granite Rapids"}, "gke-processor", ["warning"]),
        ("e2-standard-8", {"minCpuPlatform": "Intel Ice Lake"}, "gke-processor", ["error"]),
        ("t2d-standard-8", {"minCpuPlatform": "AMD Milan"}, "gke-processor", ["error"]),
        ("n2d-standard-8", {"confidentialNodes": {"enabled": True}}, "gke-confidential", []),
        ("c4-standard-8", {"confidentialNodes": {"enabled": True}}, "gke-confidential", ["warning"]),
        ("e2-standard-8", {"confidentialNodes": {"enabled": True}}, "gke-confidential", ["error"]),
        ("n4-standard-8", {"advancedMachineFeatures": {"threadsPerCore": 1}}, "gke-processor", []),
        ("c4a-standard-8", {"advancedMachineFeatures": {"threadsPerCore": 1}}, "gke-processor", ["warning"]),
        ("t2d-standard-8", {"advancedMachineFeatures": {"threadsPerCore": 1}}, "gke-processor", ["error"]),
    ],
)
def test_what_a_newer_family_takes_is_not_known(machine: str, asked: dict[str, Any], rule: str, found: Any) -> None:
    assert told(POOL, rule, nodeConfig={"machineType": machine, **asked}) == found


@pytest.mark.parametrize(
    ("nodes", "control", "found"),
    [
        ("1.35.2-gke.1000", "1.35.2-gke.2000", []),
        ("1.35.2-gke.1000", "1.35.2", []),
        ("1.35", "1.35.2", []),
        ("1.34.9-gke.1000", "1.35.2-gke.1000", ["warning"]),
        ("1.35.10", "1.35.9", ["error"]),
    ],
)
def test_nodes_are_not_newer_than_their_control_plane(nodes: str, control: str, found: list[str]) -> None:
    assert told(CLUSTER, "gke-version", nodeVersion=nodes, minMasterVersion=control) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("// don't let others in\nassertion.repository == 'acme/ml'", []),
        ("assertion.url == 'https://acme.example' // OR another", []),
        ("assertion[?'ref'].or(optional.of('')).value() == 'main'", []),
        ("assertion.ref == 'main' or assertion.ref == 'next'", ["error"]),
        ("assertion.ref == 'main' OR (assertion.ref == 'next')", ["error"]),
        ("assertion.ref == 'main", ["error"]),
    ],
)
def test_comments_and_methods_of_optionals_are_no_operators(text: str, found: list[str]) -> None:
    type_ = "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider"
    assert told(type_, "gcp-condition", attributeCondition=text) == found


@pytest.mark.parametrize(
    ("owner", "parent", "found"),
    [
        ("projects/acme-ml", "projects/123456789012", []),
        ("projects/123456789012", "projects/acme-ml", []),
        ("projects/acme-ml", "projects/acme-dev", ["error"]),
    ],
)
def test_a_policys_project_may_be_told_by_its_number(owner: str, parent: str, found: list[str]) -> None:
    name = f"{owner}/policies/compute.requireOsLogin"
    assert told("gcp:orgpolicy/policy:Policy", "gcp-org-policy", name=name, parent=parent) == found


@pytest.mark.parametrize(
    ("sysctl", "found"),
    [
        ({"net.core.rmem_max": "134217728"}, []),
        ({"net.core.rmem_maximum": "134217728"}, ["error"]),
        ({"kernel.randomize_va_space": "2"}, ["warning"]),
        ({"vm.swappiness": "201"}, ["error"]),
    ],
)
def test_a_parameter_that_nobody_knows_may_be_a_new_one(sysctl: dict[str, str], found: list[str]) -> None:
    config = {"linuxNodeConfig": {"sysctls": sysctl}}
    assert told(POOL, "gke-sysctl", nodeConfig=config) == found


@pytest.mark.parametrize(
    ("purpose", "found"),
    [
        ("PRIVATE", []),
        ("PRIVATE_NAT", ["warning"]),
        ("PRIVATE_SERVICE_CONNECT", ["warning"]),
        ("REGIONAL_MANAGED_PROXY", ["error"]),
    ],
)
def test_private_access_of_a_subnet_without_machines(purpose: str, found: list[str]) -> None:
    given = {"purpose": purpose, "privateIpGoogleAccess": True}
    assert told("gcp:compute/subnetwork:Subnetwork", "gcp-subnet-purpose", **given) == found


@pytest.mark.parametrize(("role", "found"), [("", []), ("ACTIVE", ["error"])])
def test_an_empty_role_of_a_subnet_is_none(role: str, found: list[str]) -> None:
    assert told("gcp:compute/subnetwork:Subnetwork", "gcp-subnet-purpose", role=role) == found


@pytest.mark.parametrize(
    ("kubelet", "found"),
    [
        ({"evictionSoft": {"memoryAvailable": "1.5Gi"}, "evictionSoftGracePeriod": {"memoryAvailable": "2m"}}, []),
        (
            {"evictionSoft": {"memoryAvailable": "0.05Gi"}, "evictionSoftGracePeriod": {"memoryAvailable": "2m"}},
            ["error"],
        ),
        (
            {"evictionSoft": {"memoryAvailable": "15%"}, "evictionSoftGracePeriod": {"memoryAvailable": "2m"}},
            ["error"],
        ),
        ({"imageGcLowThresholdPercent": 85, "imageGcHighThresholdPercent": UNKNOWN}, []),
        ({"imageGcLowThresholdPercent": UNKNOWN, "imageGcHighThresholdPercent": 70}, []),
        ({"imageGcLowThresholdPercent": 85}, ["error"]),
        ({"imageGcLowThresholdPercent": 80, "imageGcHighThresholdPercent": 75}, ["error"]),
    ],
)
def test_amounts_and_shares_of_the_kubelet(kubelet: dict[str, Any], found: list[str]) -> None:
    assert told(POOL, "gke-kubelet", nodeConfig={"kubeletConfig": kubelet}) == found


def _reserved(kind: str) -> dict[str, Any]:
    name = {"key": "compute.googleapis.com/reservation-name", "values": ["train"]}
    return {"nodeConfig": {"machineType": "a3-highgpu-8g", "reservationAffinity": {
        "consumeReservationType": kind, **name}}}  # fmt: skip


IMAGES = "gcp:artifactregistry/repository:Repository"
MACHINE = "gcp:compute/instance:Instance"
NAMED = {"specificReservation": {"key": "compute.googleapis.com/reservation-name", "values": ["train"]}}


@pytest.mark.parametrize(
    ("type_", "inputs", "found"),
    [
        (IMAGES, {"format": "docker", "dockerConfig": {"immutableTags": True}}, []),
        (IMAGES, {"format": UNKNOWN, "dockerConfig": {"immutableTags": True}}, []),
        (IMAGES, {"format": "MAVEN", "dockerConfig": {"immutableTags": True}}, ["warning"]),
        (POOL, _reserved("SPECIFIC_RESERVATION"), []),
        (POOL, _reserved("ANY_RESERVATION"), ["warning", "warning"]),
        (MACHINE, {"reservationAffinity": {"type": "SPECIFIC_RESERVATION", **NAMED}}, []),
        (MACHINE, {"reservationAffinity": {"type": "ANY_RESERVATION", **NAMED}}, ["error"]),
        (MACHINE, {"reservationAffinity": {"type": ["ANY_RESERVATION"], **NAMED}}, []),
    ],
)
def test_what_goes_with_a_value_alone(type_: str, inputs: dict[str, Any], found: list[str]) -> None:
    assert told(type_, "gcp-only-where", **inputs) == found


@pytest.mark.parametrize(
    ("type_", "region", "found"),
    [
        ("gcp:vertex/aiIndex:AiIndex", "us", []),
        ("gcp:vertex/aiIndex:AiIndex", "uss", ["error"]),
        ("gcp:compute/address:Address", "us", ["error"]),
    ],
)
def test_vertex_has_places_of_several_regions(type_: str, region: str, found: list[str]) -> None:
    assert told(type_, "gcp-location", region=region) == found


def test_a_copy_of_a_disk_is_of_another_region_and_a_subnet_is_not() -> None:
    other = "projects/acme-ml/regions/us-east1"
    disk = {"region": "us-central1", "asyncPrimaryDisk": {"disk": f"{other}/disks/first"}}
    assert told("gcp:compute/regionDisk:RegionDisk", "gcp-region", **disk) == []
    machine = {"zone": "us-central1-a", "networkInterfaces": [{"subnetwork": f"{other}/subnetworks/nodes"}]}
    assert told(MACHINE, "gcp-region", **machine) == ["error"]


@pytest.mark.parametrize(
    ("type_", "rule", "role", "found"),
    [
        ("gcp:bigquery/datasetIamMember:DatasetIamMember", "gcp-role-resource", "roles/bigquery.dataViewer", []),
        ("gcp:bigquery/datasetIamMember:DatasetIamMember", "gcp-role-resource", "roles/datacatalog.viewer", []),
        ("gcp:bigquery/datasetIamMember:DatasetIamMember", "gcp-role-resource", "roles/storage.objectUser", ["error"]),
        ("gcp:beyondcorp/securityGatewayIamMember:SecurityGatewayIamMember", "gcp-role",
         "roles/beyondcorp.securityGatewayUser", []),
        ("gcp:beyondcorp/securityGatewayIamMember:SecurityGatewayIamMember", "gcp-role",
         "roles/beyondcorp.gateways", ["warning"]),
    ],
)  # fmt: skip
def test_roles_of_one_resource(type_: str, rule: str, role: str, found: list[str]) -> None:
    assert told(type_, rule, role=role, member="group:research@acme.example") == found


@pytest.mark.parametrize(
    ("limits", "found"),
    [
        ({"cpu": "4", "memory": "2Gi"}, []),
        ({"cpu": "4", "memory": "1Gi"}, ["error"]),
        ({"cpu": "4"}, ["error"]),
        ({"cpu": "4", "memory": UNKNOWN}, []),
        ({"cpu": "4", "nvidia.com/gpu": "1"}, []),
    ],
)
def test_memory_beside_processors(limits: dict[str, Any], found: list[str]) -> None:
    template = {"containers": [{"image": "example", "resources": {"limits": limits}}]}
    service = check_values(
        [resource("gcp:cloudrunv2/service:Service", "one", {"template": template})], ValueContext("1.35", "")
    )
    assert [one.level for one in service if one.path.endswith("limits.memory")] == found


def test_bits_below_a_prefix_may_be_taken() -> None:
    subnet = "gcp:compute/subnetwork:Subnetwork"
    assert told(subnet, "gcp-range", ipCidrRange="10.0.0.0/20") == []
    assert told(subnet, "gcp-range", ipCidrRange="10.0.0.1/20") == ["warning"]
    assert told(subnet, "gcp-range", ipCidrRange="10.0.0.1/99") == ["error"]
