"""What high assurance decides, and what it costs more."""

import json

import pytest

from trainyard.plan.assurance import choices
from trainyard.plan.profiles import PROFILE_NAMES, profile
from trainyard.plan.resolve import resolve
from trainyard.problems import SettingsError

MEDIUM = {"client": "acme", "cloud": "aws", "region": "us-east-1", "teamSize": "12"}
LARGE = {**MEDIUM, "teamSize": "40"}


def planned(**settings):
    return resolve({**MEDIUM, **settings}, "test").plan


def test_a_medium_team_pays_for_no_standby_and_a_large_one_does():
    medium, large = planned(), resolve(LARGE, "test").plan
    assert medium.ground.lustre is None and large.ground.lustre is not None
    assert not medium.ground.database.multi_az and large.ground.database.multi_az
    assert (len(medium.ground.network.endpoint_zones), len(large.ground.network.endpoint_zones)) == (1, 3)


def test_a_switch_has_the_strict_values():
    high = planned(assurance="high")
    assert high.ground.lustre is not None and high.ground.database.multi_az
    assert {"ecr.api", "ecr.dkr"} <= set(high.ground.network.interface_endpoints)
    low = resolve({**LARGE, "assurance": "standard"}, "test").plan
    assert low.ground.lustre is None and not low.ground.database.multi_az


def test_a_setting_of_its_own_wins():
    mixed = planned(assurance="high", storage=json.dumps({"lustre": {"enabled": False}}))
    assert mixed.ground.lustre is None and mixed.ground.database.multi_az
    one = planned(mlflow=json.dumps({"database": {"multiAz": True}}), aws=json.dumps({"endpointZones": 2}))
    assert one.ground.database.multi_az and len(one.ground.network.endpoint_zones) == 2


@pytest.mark.parametrize("zones", [0, 4, -1])
def test_endpoints_are_in_zones_that_there_are(zones):
    with pytest.raises(SettingsError) as caught:
        planned(aws=json.dumps({"endpointZones": zones}))
    assert "aws.endpointZones" in str(caught.value) and "1 to 3" in str(caught.value)


def test_each_choice_is_told_with_both_prices():
    found = choices(resolve(MEDIUM, "test").settings, "test")
    assert {choice.setting for choice in found} == {
        "storage.lustre.enabled",
        "aws.endpointZones",
        "mlflow.database.multiAz",
    }
    floors = [planned(assurance=level).core.idle_floor.monthly_usd for level in ("standard", "high")]
    assert sum(choice.difference_usd for choice in found) == pytest.approx(floors[1] - floors[0])


def test_what_a_stack_file_says_itself_is_no_choice():
    given = {**MEDIUM, "mlflow": json.dumps({"database": {"multiAz": True}})}
    found = choices(resolve(given, "test").settings, "test")
    assert "mlflow.database.multiAz" not in {choice.setting for choice in found}


@pytest.mark.parametrize("name", PROFILE_NAMES[1:])
def test_the_decision_is_told_with_its_source(name):
    said = {decision.key: decision for decision in resolve({**MEDIUM, "profile": name}, "test").plan.core.decisions}
    assert said["assurance"].source.startswith(f"profile {name}, assurance: own choice")
    assert "setting assurance" in {found.source for found in planned(assurance="high").core.decisions}


def test_a_figure_of_high_assurance_has_a_source_of_its_own():
    high = [figure for figure in profile("medium").figures.values() if figure.high]
    assert high and all(figure.high.source and figure.high.source != figure.source for figure in high)
    assert all(figure.high is None for figure in (figure.high for figure in high))


def test_a_tracking_image_of_somebody_else_is_told_where_assurance_is_high():
    """Its digest nobody has read: what runs is whatever the tag stands for that day."""
    own = json.dumps({"image": f"registry.example/mlflow:3.17.2@sha256:{'0' * 64}"})
    for said, settings in (
        (True, {"assurance": "high"}),
        (False, {"assurance": "high", "mlflow": own}),
        (False, {"assurance": "high", "mlflow": json.dumps({"enabled": False})}),
        (False, {"assurance": "standard"}),
        (False, {}),
    ):
        warnings = resolve({**MEDIUM, **settings}, "test").warnings
        assert any(text.startswith("mlflow.image is not set") for text in warnings) is said, settings
