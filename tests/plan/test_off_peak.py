"""When work that can wait runs, and on what: as the settings say, where there is reserved capacity."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plan.stack_files import bought, gpu_pool, keys, people, plan_of
from trainyard.plan.parts import ClusterPlan, OffPeakPlan
from trainyard.problems import SettingsError

HOURS = {"from": "20:00", "to": "07:00", "timeZone": "Europe/Berlin"}
RESERVED = keys(gpu_pools={"train": gpu_pool(reserved=bought("cr-0123456789abcdef0", 1, "us-east-1b"))})


def cluster(**changes: Any) -> ClusterPlan:
    return plan_of(**{**RESERVED, **changes}).clusters[0]


def test_without_hours_there_is_no_queue_for_it() -> None:
    found = cluster()
    assert found.off_peak is None
    assert {team.off_peak_queue for team in found.teams} == {None}


def test_with_hours_every_team_has_one_on_reserved_nodes_alone() -> None:
    found = cluster(offPeak=HOURS)
    assert found.off_peak == OffPeakPlan("20:00", "07:00", "Europe/Berlin", ("train-reserved",), ())
    assert [team.off_peak_queue for team in found.teams] == [
        "vision-off-peak",
        "language-off-peak",
        "platform-off-peak",
    ]
    assert {flavor.capacity for flavor in found.scheduling.flavors} > {"reserved"}, "and there are others"


def test_development_sleeps_where_nothing_is_reserved_too() -> None:
    found = cluster(offPeak=HOURS | {"developmentSleeps": True}, gpuPools=None)
    assert found.off_peak == OffPeakPlan("20:00", "07:00", "Europe/Berlin", (), ("development",))
    assert {team.off_peak_queue for team in found.teams} == {None}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"offPeak": HOURS, "gpuPools": None}, "needs reserved nodes"),
        ({"offPeak": HOURS | {"to": "20:00"}}, r"must differ from offPeak\.from"),
        ({"offPeak": HOURS | {"from": "8pm"}}, r"offPeak\.from.*must be a time of day in quotes"),
        ({"offPeak": HOURS | {"to": "24:00"}}, r"offPeak\.to.*must be a time of day in quotes"),
        ({"offPeak": HOURS | {"timeZone": "Berlin"}}, r"offPeak\.timeZone.*IANA time zone database"),
        ({"offPeak": HOURS | {"timeZone": "../etc/passwd"}}, r"offPeak\.timeZone.*IANA time zone database"),
        ({"offPeak": {"from": "20:00", "to": "07:00"}}, r"offPeak\.timeZone: got nothing; must be set"),
        ({"offPeak": {"developmentSleeps": True}}, r"offPeak\.from: got nothing; must be set"),
        (
            {"offPeak": HOURS, "teams": [people("vision", 8), people("vision-off-peak", 4)]},
            "is the name of the off-peak queue of vision",
        ),
    ],
)
def test_what_cannot_be_is_told_with_its_setting(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        cluster(**changes)
