"""From where the API of a cluster on Google Cloud is reached: its DNS name, and by address where networks are named."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.plan.stack_files import keys, plan_of
from tests.shared import ROOT
from trainyard.problems import SettingsError
from trainyard.recorded.read import value_at
from trainyard.rehearsal.rehearse import rehearse

GOOGLE: dict[str, Any] = {
    "cloud": "gcp",
    "region": "europe-west4",
    "gcp": keys(project="acme-ml", project_number="123456789012"),
}


def networks(**given: str) -> tuple[tuple[str, str], ...]:
    own = {**GOOGLE["gcp"], "apiNetworks": given} if given else GOOGLE["gcp"]
    (control_plane,) = plan_of(**{**GOOGLE, "gcp": own}).ground.control_planes
    return control_plane.api_networks


def test_nobody_reaches_it_by_address_where_nothing_is_said() -> None:
    assert networks() == ()


def test_networks_are_named_for_people() -> None:
    assert networks(runners="198.51.100.7/32", office="203.0.113.0/24") == (
        ("office", "203.0.113.0/24"),
        ("runners", "198.51.100.7/32"),
    )


@pytest.mark.parametrize("cidr", ["0.0.0.0/0", "10.0.0.0/8", "203.0.113.5/24", "office"])
def test_the_whole_internet_and_private_networks_are_refused(cidr: str) -> None:
    with pytest.raises(SettingsError, match=r"gcp\.apiNetworks\.office"):
        networks(office=cidr)


def test_the_component_opens_the_address_for_these_alone(rehearsed: Any) -> None:
    own = yaml.safe_load((ROOT / "stacks" / "Pulumi.eu-gcp.yaml").read_text())["config"]["trainyard:gcp"]
    opened = rehearse(ROOT, "eu-gcp", config_overrides={"gcp": {**own, "apiNetworks": {"office": "203.0.113.0/24"}}})
    assert [str(finding) for finding in (*opened.errors, *opened.findings)] == []
    for found, private, blocks in (
        (rehearsed("eu-gcp"), True, []),
        (opened, False, [{"cidrBlock": "203.0.113.0/24", "displayName": "office"}]),
    ):
        (cluster,) = (item for item in found.resources if item.type == "gcp:container/cluster:Cluster")
        assert value_at(cluster.inputs, "privateClusterConfig", "enablePrivateEndpoint") is private
        assert value_at(cluster.inputs, "masterAuthorizedNetworksConfig", "cidrBlocks") == blocks
