"""Managed Lustre and Filestore: what Google refuses of one, and what is right beside it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rehearsal.refusals.builders import resource
from trainyard.recorded.model import UNKNOWN, RecordedResource
from trainyard.rehearsal.context import ValueContext
from trainyard.rehearsal.refusals.check import check_values

CONTEXT = ValueContext("1.35", "europe-west4")
VPC = "projects/p/global/networks/vpc"
KEY = "projects/p/locations/{}/keyRings/r/cryptoKeys/k"


def told(*resources: RecordedResource) -> list[tuple[str, str]]:
    return [(finding.level, finding.path) for finding in check_values(list(resources), CONTEXT)]


def lustre(**inputs: Any) -> RecordedResource:
    given = {
        "instanceId": "scratch",
        "location": "europe-west4-a",
        "network": VPC,
        "filesystem": "scratch",
        "capacityGib": "18000",
        "perUnitStorageThroughput": "500",
        "kmsKey": KEY.format("europe-west4"),
        "accessRulesOptions": {
            "defaultSquashMode": "ROOT_SQUASH",
            "defaultSquashUid": 65534,
            "accessRules": [{"name": "nodes", "ipAddressRanges": ["10.0.0.0/20"], "squashMode": "NO_SQUASH"}],
        },
    }
    return resource("gcp:lustre/instance:Instance", "l", {**given, **inputs})


def share(**inputs: Any) -> RecordedResource:
    given = {
        "location": "europe-west4",
        "tier": "REGIONAL",
        "fileShares": {"name": "home", "capacityGb": 1024},
        "networks": [{"network": VPC, "modes": ["MODE_IPV4"], "connectMode": "PRIVATE_SERVICE_ACCESS"}],
        "kmsKeyName": KEY.format("europe-west4"),
    }
    return resource("gcp:filestore/instance:Instance", "f", {**given, **inputs})


@pytest.mark.parametrize(
    "one",
    [
        lustre(),
        lustre(capacityGib=18000, perUnitStorageThroughput=500),
        lustre(capacityGib=UNKNOWN),
        lustre(capacityGib="3168000", perUnitStorageThroughput="500"),
        lustre(capacityGib="472000", perUnitStorageThroughput=None, dynamicTierOptions={"mode": "DEFAULT_CACHE"}),
        share(),
        share(tier="ZONAL", location="europe-west4-b", fileShares={"name": "home", "capacityGb": 10_240}),
        share(tier="BASIC_HDD", location="europe-west4-b", kmsKeyName=None, protocol="NFS_V3"),
        share(fileShares={"name": "home", "capacityGb": 1024, "nfsExportOptions": [{"ipRanges": ["10.0.0.0/20"]}]}),
    ],
)
def test_what_is_sold_is_not_accused(one: RecordedResource) -> None:
    assert told(one) == []


RULE = {"name": "nodes", "ipAddressRanges": ["10.0.0.0/20"], "squashMode": "NO_SQUASH"}
OPTION = {"ipRanges": ["10.0.0.0/20"]}


@pytest.mark.parametrize(
    ("one", "path"),
    [
        (lustre(capacityGib="20000"), "capacityGib"),
        (lustre(capacityGib="9000"), "capacityGib"),
        (lustre(capacityGib="3078000"), "capacityGib"),
        (lustre(perUnitStorageThroughput="400"), "perUnitStorageThroughput"),
        (lustre(perUnitStorageThroughput=None), "perUnitStorageThroughput"),
        (lustre(dynamicTierOptions={"mode": "DEFAULT_CACHE"}), "perUnitStorageThroughput"),
        (lustre(location="europe-west4"), "location"),
        (lustre(filesystem="scratchspace"), "filesystem"),
        (lustre(instanceId="Scratch"), "instanceId"),
        (lustre(network="vpc"), "network"),
        (lustre(kmsKey=KEY.format("europe-west1")), "kmsKey"),
        (lustre(accessRulesOptions={"defaultSquashMode": "ROOT_SQUASHED"}), "accessRulesOptions.defaultSquashMode"),
        (
            lustre(
                accessRulesOptions={"defaultSquashMode": "NO_SQUASH", "accessRules": [{**RULE, "name": "all-nodes"}]}
            ),
            "accessRulesOptions.accessRules[0].name",
        ),
        (
            lustre(accessRulesOptions={"defaultSquashMode": "NO_SQUASH", "accessRules": [RULE, {**RULE, "name": "b"}]}),
            "accessRulesOptions.accessRules[1].ipAddressRanges[0]",
        ),
        (share(location="europe-west4-a"), "location"),
        (share(tier="ZONAL"), "location"),
        (share(fileShares={"name": "Home", "capacityGb": 1024}), "fileShares.name"),
        (share(fileShares={"name": "home", "capacityGb": 64}), "fileShares.capacityGb"),
        (share(fileShares={"name": "home", "capacityGb": 11_000}), "fileShares.capacityGb"),
        (share(tier="ENTERPRISE", fileShares={"name": "home", "capacityGb": 1100}), "fileShares.capacityGb"),
        (share(tier="BASIC_SSD", location="europe-west4-b", fileShares={"name": "home", "capacityGb": 2560}), "tier"),
        (share(kmsKeyName=KEY.format("europe-west1")), "kmsKeyName"),
        (share(networks=[{"network": VPC, "modes": ["MODE_IPV4"]}] * 2), "networks"),
        (
            share(fileShares={"name": "home", "capacityGb": 1024, "nfsExportOptions": [{**OPTION, "anonUid": 1}]}),
            "fileShares.nfsExportOptions[0].squashMode",
        ),
        (
            share(fileShares={"name": "home", "capacityGb": 1024, "nfsExportOptions": [OPTION, OPTION]}),
            "fileShares.nfsExportOptions[1].ipRanges[0]",
        ),
    ],
)
def test_what_is_refused_is_told_at_its_input(one: RecordedResource, path: str) -> None:
    assert ("error", path) in told(one)


def test_a_size_that_two_documents_disagree_of_is_a_warning() -> None:
    assert told(share(fileShares={"name": "home", "capacityGb": 1100})) == [("warning", "fileShares.capacityGb")]


@pytest.mark.parametrize(("make", "path"), [(lustre, "network"), (share, "networks[0].network")])
def test_a_file_system_waits_for_the_private_connection(make: Any, path: str) -> None:
    network = resource("gcp:compute/network:Network", "vpc", {"autoCreateSubnetworks": False}, id_=VPC)
    peering = resource(
        "gcp:servicenetworking/connection:Connection",
        "peering",
        {"network": VPC, "service": "servicenetworking.googleapis.com", "reservedPeeringRanges": ["range"]},
    )
    assert ("error", path) in told(network, peering, make())
