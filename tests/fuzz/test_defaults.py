"""No default of a profile breaks our own rules, wherever an environment stands and however large its team is."""

import pytest

from tests.fuzz.defaults import REGIONS, SIZES, default_case
from tests.fuzz.judge import spotless
from tests.shared import as_configuration
from trainyard import catalog
from trainyard.plan.resolve import resolve
from trainyard.problems import SettingsError

LARGEST = 60
WITHOUT_CLUSTER = range(1, SIZES[0])


def _planned(region, size):
    return resolve(as_configuration({**default_case(region, size).values, "teamSize": str(size)}), "dev").plan


def _one_of_each_choice():
    """The first region of each choice of instances for the least medium team, of each for training for a large one."""
    seen = {}
    for region in REGIONS:
        train, *others = (pool.node.instance_type for pool in _planned(region, SIZES[0]).clusters[0].pools)
        seen.setdefault((SIZES[0], train, *others), (region, SIZES[0]))
        seen.setdefault((20, train), (region, 20))
    return tuple(seen.values())


def test_every_region_and_size_is_planned_or_refused_in_words():
    for region in catalog.regions():
        for size in range(1, LARGEST + 1):
            # Without a cluster a team may also work where no GPU is sold for one: SageMaker's list is another.
            if region in REGIONS or size in WITHOUT_CLUSTER:
                assert _planned(region, size).core.idle_floor.unpriced == (), (region, size)
                continue
            with pytest.raises(SettingsError) as refused:
                _planned(region, size)
            assert {problem.key for problem in refused.value.problems} == {"region"}, (region, size)


@pytest.mark.parametrize(("region", "size"), _one_of_each_choice())
def test_a_stack_that_leaves_all_to_its_profile_is_clean(region, size, tmp_path):
    outcome = spotless(default_case(region, size), tmp_path)
    assert (outcome.kind, outcome.why) == ("accepted", "")
