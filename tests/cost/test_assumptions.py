import pytest

from trainyard.cost.assumptions import REPLACED, assumptions_for
from trainyard.plan.profiles import PROFILE_NAMES
from trainyard.problems import SettingsError


@pytest.mark.parametrize("profile", PROFILE_NAMES)
def test_every_assumption_has_a_range_a_unit_and_a_source(profile):
    for key, figure in assumptions_for(profile).as_json().items():
        assert figure["minimum"] <= figure["value"] <= figure["maximum"], key
        assert figure["unit"] and figure["source"] and figure["date"] >= "2026-01-01", key


def test_larger_profiles_use_more():
    small, medium, large = (assumptions_for(name) for name in PROFILE_NAMES)
    for key in small.as_json():
        assert small[key].value <= medium[key].value <= large[key].value, key


def test_the_seeds_figures():
    medium = assumptions_for("medium")
    assert (medium["utilisation_percent"].value, medium["spot_share_percent"].value) == (70, 50)
    assert medium["spot_saving_percent"].maximum == 80


def test_a_given_value_pulls_its_range_along():
    given = assumptions_for("medium").with_values({"nat_gb": 9000})
    assert (given["nat_gb"].value, given["nat_gb"].maximum, given["nat_gb"].source) == (9000, 9000, REPLACED)
    spot = assumptions_for("medium").with_values({"spot_saving_percent": 30})["spot_saving_percent"]
    assert (spot.minimum, spot.value, spot.maximum) == (30, 30, 30)
    assert assumptions_for("medium")["nat_gb"].value == 400, "the shipped ones are as they were"


def test_wrong_values_are_told_all_at_once():
    with pytest.raises(SettingsError) as caught:
        assumptions_for("medium").with_values({"nat_gbs": 1, "utilisation_percent": 101, "internet_gb": -1})
    near, percent, negative = caught.value.problems
    assert near.hint == "did you mean nat_gb?"
    assert percent.allowed.startswith("must be between 0 and 100")
    assert negative.allowed.startswith("must be 0 or more")


def test_an_unknown_profile_is_refused():
    with pytest.raises(ValueError, match="profile 'huge'; small, medium, large"):
        assumptions_for("huge")
