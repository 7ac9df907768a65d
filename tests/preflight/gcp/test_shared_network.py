"""What a host project is asked of a Shared VPC, with a command that stands in for gcloud."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_way_in import Desk, out
from tests.stacks.test_shared_network_gcp import HOST, SHARED, decided
from trainyard.preflight.gcp import shared_network
from trainyard.preflight.model import Answer, Line, Subject
from trainyard.recorded.resources import Resources

FINE, FAILS = Answer.FINE, Answer.FAILS
NUMBER = "123456789012"
GKE = f"serviceAccount:service-{NUMBER}@container-engine-robot.iam.gserviceaccount.com"
MACHINES = f"serviceAccount:{NUMBER}@cloudservices.gserviceaccount.com"
SUBNET: dict[str, Any] = {
    "network": f"https://www.googleapis.com/compute/v1/projects/{HOST}/global/networks/production",
    "ipCidrRange": SHARED["nodeCidr"],
    "privateIpGoogleAccess": True,
    "secondaryIpRanges": [
        {"rangeName": "ml-pods", "ipCidrRange": SHARED["podCidr"]},
        {"rangeName": "ml-services", "ipCidrRange": SHARED["serviceCidr"]},
    ],
}
POLICY = {
    "bindings": [
        {"role": "roles/compute.networkUser", "members": [GKE, MACHINES]},
        {"role": "roles/container.hostServiceAgentUser", "members": [GKE]},
    ]
}
RIGHT: dict[str, Any] = {
    "get-host-project": {"name": HOST},
    "describe": SUBNET,
    "get-iam-policy": POLICY,
    "managed-zones": [
        {
            "name": "googles",
            "dnsName": "googleapis.com.",
            "privateVisibilityConfig": {"networks": [{"networkUrl": SUBNET["network"]}]},
        }
    ],
    "record-sets": [
        {"name": "*.googleapis.com.", "type": "CNAME", "rrdatas": ["private.googleapis.com."]},
        {"name": "private.googleapis.com.", "type": "A", "rrdatas": ["199.36.153.8", "199.36.153.9"]},
    ],
    "vpc-peerings": [{"reservedPeeringRanges": ["google"]}],
    "addresses": [{"name": "google", "address": "10.24.0.0", "prefixLength": 20}],
}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    (tmp_path / "desk").mkdir()
    found = Desk(tmp_path / "desk")
    monkeypatch.setenv("PATH", str(found.bin))
    return found


def asked(desk: Desk, **changed: Any) -> list[Line]:
    answers = {**copy.deepcopy(RIGHT), **{key.replace("_", "-"): value for key, value in changed.items()}}
    desk.put("gcloud", **{key: out(value) for key, value in answers.items()})
    return list(shared_network.check(Subject("joined-gcp", decided(), Resources([]))))


def failing(lines: list[Line]) -> list[str]:
    return [line.told for line in lines if line.answer is FAILS]


def test_a_network_that_is_as_the_stack_says_is_fine(desk: Desk) -> None:
    assert {line.answer for line in asked(desk)} == {FINE}


def test_nothing_is_asked_of_a_network_of_ones_own(desk: Desk) -> None:
    plan = decided(gcp={"networkProject": None, "sharedNetwork": None})
    assert list(shared_network.check(Subject("demo-gcp", plan, Resources([])))) == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"get_host_project": {}}, "has no host project"),
        ({"get_host_project": {"name": "other-host"}}, "the host project of acme-ml is other-host"),
        ({"describe": {**SUBNET, "network": "projects/x/global/networks/test"}}, "it is of network test"),
        ({"describe": {**SUBNET, "ipCidrRange": "10.9.0.0/20"}}, "its range is 10.9.0.0/20"),
        (
            {"describe": {**SUBNET, "secondaryIpRanges": SUBNET["secondaryIpRanges"][:1]}},
            "no secondary range ml-services",
        ),
        ({"describe": {**SUBNET, "privateIpGoogleAccess": False}}, "do not reach Google's services"),
        ({"record_sets": RIGHT["record-sets"][1:]}, "zone googles has no record of *.googleapis.com."),
        (
            {
                "record_sets": [
                    RIGHT["record-sets"][0],
                    {"name": "private.googleapis.com.", "type": "A", "rrdatas": ["199.36.153.4"]},
                ]
            },
            "zone googles answers with 199.36.153.4",
        ),
        ({"vpc_peerings": []}, "no private services access"),
        (
            {"addresses": [{"name": "google", "address": "10.99.0.0", "prefixLength": 20}]},
            "its ranges are 10.99.0.0/20",
        ),
    ],
)
def test_what_is_otherwise_is_told(desk: Desk, changed: dict[str, Any], said: str) -> None:
    (told,) = failing(asked(desk, **changed))
    assert said in told


def test_a_zone_of_googles_names_that_is_not_seen_may_be_elsewhere(desk: Desk) -> None:
    zone = RIGHT["managed-zones"][0]
    others = {"networks": [{"networkUrl": "projects/x/global/networks/test"}]}
    for zones in ([], [{**zone, "privateVisibilityConfig": others}], [{**zone, "dnsName": "acme.example."}]):
        (line,) = [line for line in asked(desk, managed_zones=zones) if line.answer is not FINE]
        assert line.answer is Answer.UNKNOWN and "no private zone googleapis.com. on network production" in line.told


def test_a_right_that_is_not_seen_may_be_inherited_and_is_told_with_the_command_that_gives_it(desk: Desk) -> None:
    conditional = {"bindings": [{**each, "condition": {"expression": "false"}} for each in POLICY["bindings"]]}
    nothing: dict[str, Any] = {"bindings": []}
    for policy in (nothing, conditional):
        lines = [line for line in asked(desk, get_iam_policy=policy) if line.answer is not FINE]
        assert [line.answer for line in lines] == [Answer.UNKNOWN] * 3
        assert all("add-iam-policy-binding" in line.command and HOST in line.command for line in lines)
        assert all("a folder, the organisation or a group" in line.told for line in lines)


def test_rights_that_the_stack_gives_are_not_asked_for(desk: Desk) -> None:
    desk.put("gcloud", **{key: out(value) for key, value in RIGHT.items() if key != "get-iam-policy"})
    plan = decided(gcp={"sharedNetwork": {**SHARED, "hostRights": "stack"}})
    lines = list(shared_network.check(Subject("joined-gcp", plan, Resources([]))))
    assert {line.answer for line in lines} == {FINE}
