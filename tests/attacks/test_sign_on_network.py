"""The way to an identity provider's keys: the tracking server's alone, to one name, and what Squid makes of it."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.shared import ROOT
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.rehearse import Rehearsal, rehearse
from trainyard.rehearsal.works.flows.aws.names import names_looked_up
from trainyard.rehearsal.works.flows.model import Port
from trainyard.rehearsal.works.flows.reach import Flows
from trainyard.review.policy_check.check import check_policies

KEYS_HOST = "login.acme.example"
SIGN_ON = {
    "issuer": f"https://{KEYS_HOST}/tenant",
    "audience": "6f1d3c0e",
    "keysUrl": f"https://{KEYS_HOST}/tenant/keys",
    "teams": {"vision": "ml-vision"},
}
PROXY, DOOR = Port(3128), Port(3129)


@pytest.fixture(scope="module", params=["allowlist", "internet"])
def signed_on(request: pytest.FixtureRequest) -> Rehearsal:
    """The stack demo, where people sign on."""
    egress: dict[str, Any] = {"mode": request.param}
    made = rehearse(ROOT, "demo", config_overrides={"mlflow": {"signOn": SIGN_ON}, "network": {"egress": egress}})
    assert not made.errors, made.errors
    return made


@pytest.fixture(scope="module")
def resources(signed_on: Rehearsal) -> Resources:
    return Resources(signed_on.resources)


@pytest.fixture(scope="module")
def walls(resources: Resources) -> Flows:
    return Flows.recorded(resources)


def _proxied(rehearsal: Rehearsal) -> bool:
    return rehearsal.settings["network"]["egress"]["mode"] == "allowlist"


def test_nothing_else_is_found_in_such_a_stack(signed_on: Rehearsal) -> None:
    assert [str(finding) for finding in signed_on.findings] == []


def test_no_policy_is_against_it(signed_on: Rehearsal) -> None:
    report = check_policies(signed_on.stack, signed_on.preview.resources, signed_on.known.resources, signed_on.settings)
    found = {violation.policy for violation in report.violations}
    # Who lets pods go everywhere is told so, single sign-on or not.
    assert found <= (set() if _proxied(signed_on) else {"team-namespace-open", "dns-open"}), found


def test_the_tracking_server_reaches_the_keys(signed_on: Rehearsal, walls: Flows) -> None:
    (server,) = walls.in_namespace("mlflow")
    if not _proxied(signed_on):
        assert walls.reaches(server, "internet", Port(443))
        return
    (proxy,) = walls.in_namespace("egress-proxy")
    assert walls.reaches(server, proxy, DOOR).reach == "all"
    assert walls.reaches(proxy, "internet", Port(443))


def test_and_goes_no_other_way(signed_on: Rehearsal, walls: Flows) -> None:
    (server,) = walls.in_namespace("mlflow")
    assert not walls.reaches(server, "internet", Port(80))
    if _proxied(signed_on):
        (proxy,) = walls.in_namespace("egress-proxy")
        assert not walls.reaches(server, proxy, PROXY), "that door leads to teams' names"
        assert not walls.reaches(server, "internet", Port(443))


def test_nobody_else_reaches_its_door(signed_on: Rehearsal, walls: Flows) -> None:
    if not _proxied(signed_on):
        assert walls.in_namespace("egress-proxy") == []
        return
    (proxy,) = walls.in_namespace("egress-proxy")
    others = [
        place
        for place in walls.places.values()
        if place.pods and place.pods.namespace not in ("mlflow", "egress-proxy")
    ]
    assert len(others) > 5
    for place, port in itertools.product(others, [DOOR]):
        assert not walls.reaches(place, proxy, port), place.name
    for team in walls.teams.values():
        assert walls.reaches(team, proxy, PROXY)


def test_the_name_is_looked_up_and_none_beside_it(signed_on: Rehearsal, resources: Resources) -> None:
    found = names_looked_up(resources)
    if not found.every:
        assert KEYS_HOST in found.allowed
        assert "*.acme.example" not in found.allowed
