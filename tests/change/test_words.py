"""What is only a word or an order ends no node and runs no smoke job again."""

import pytest

from tests.change.changes import change, rehearsed_with

LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
JOB = "kubernetes:batch/v1:Job"
AUTOSCALING_TAG = "aws:autoscaling/tag:Tag"
TEAMS = [{"name": "tabular", "members": 3}, {"name": "vision", "members": 5}, {"name": "language", "members": 4}]


@pytest.fixture(scope="module")
def of(tmp_path_factory, rehearsed):
    def changed(**changes):
        return change(rehearsed("demo"), rehearsed_with(tmp_path_factory.mktemp("words"), "demo", **changes))

    return changed


def test_owner_and_cost_centre_are_tags_that_change_in_place(of):
    found = of(owner="somebody.else@acme.example", costCentre="ml-1300")
    assert not found.made and not found.gone
    # The tags of a template itself make no version of it; those of what it launches would.
    assert set().union(*found.of(LAUNCH_TEMPLATE, NODE_GROUP, JOB).values()) == {"tagsAll"}
    tags = {name.split("-tag-")[1] for name in found.of(AUTOSCALING_TAG)}
    assert tags == {"owner", "cost-centre"}, "new nodes have the new ones"


def test_teams_in_another_order_are_the_same_teams(of):
    found = of(teams=TEAMS)
    assert not found.made and not found.gone
    assert not found.of(LAUNCH_TEMPLATE, NODE_GROUP, JOB)


def test_one_person_more_changes_no_claim_and_no_volume(of):
    found = of(teamSize=13, teams=[*TEAMS[:2], {"name": "language", "members": 5}])
    assert not found.gone
    volumes = found.of("kubernetes:core/v1:PersistentVolume", "kubernetes:core/v1:PersistentVolumeClaim")
    assert not volumes
