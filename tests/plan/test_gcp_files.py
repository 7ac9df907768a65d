"""Managed Lustre and Filestore, planned from the settings that FSx for Lustre and EFS are planned from."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plan.stack_files import keys, plan_of
from trainyard.conventions.gcp_files import FILESTORE_TIERS, LUSTRE_TIERS
from trainyard.plan.gcp.parts import GcpPlan
from trainyard.plan.parts import Plan
from trainyard.problems import SettingsError

GOOGLE: dict[str, Any] = {
    "cloud": "gcp",
    "region": "us-central1",
    "gcp": keys(project="acme-ml", project_number="123456789012"),
    "monthlyBudgetUsd": 900_000,
}


def on_google(**changes: Any) -> Plan[GcpPlan]:
    return plan_of(**{**GOOGLE, **changes})


def storage(**lustre: Any) -> dict[str, Any]:
    return {"storage": {"lustre": keys(**lustre)}}


def test_a_medium_team_has_neither_and_a_large_one_a_share_for_homes() -> None:
    plan = on_google()
    assert (plan.ground.lustre, plan.ground.shared_files) == (None, None)
    assert [claim for claim, _ in plan.clusters[0].smoke.mounts] == ["data", "checkpoints"]
    assert on_google(environment="production").ground.lustre is None
    large = on_google(teamSize=40, profile="large", assurance="standard")
    assert large.ground.lustre is None and large.ground.shared_files is not None
    assert large.ground.shared_files.capacity_gib == 1024
    assert on_google(teamSize=40, profile="large", environment="production").ground.lustre is not None


def test_scratch_space_grows_with_the_team_in_the_steps_that_are_sold() -> None:
    plan = on_google(**storage(enabled=True))
    assert plan.ground.lustre is not None
    assert (plan.ground.lustre.capacity_gib, plan.ground.lustre.throughput_mbps_per_tib) == (18_000, 500)
    assert plan.ground.lustre.zone in plan.ground.zones
    assert "scratch" in dict(plan.clusters[0].smoke.mounts)
    assert on_google(**storage(throughput_mbps_per_tib=1000)).ground.lustre.capacity_gib == 9000  # type: ignore[union-attr]
    assert plan.ground.kept([])["lustre"] == {"zone": plan.ground.lustre.zone, "capacityGib": 18_000}


def test_a_size_asks_for_a_share() -> None:
    plan = on_google(gcp={**GOOGLE["gcp"], "sharedFilesGib": 2048})
    assert plan.ground.shared_files is not None and plan.ground.shared_files.capacity_gib == 2048
    assert "home" in dict(plan.clusters[0].smoke.mounts)


def test_a_share_is_of_any_size_that_the_provider_takes() -> None:
    """Filestore's documentation has steps of 256 GiB; of those the rehearsal warns."""
    plan = on_google(gcp={**GOOGLE["gcp"], "sharedFilesGib": 1100})
    assert plan.ground.shared_files is not None and plan.ground.shared_files.capacity_gib == 1100


def test_both_are_on_the_bill_while_nothing_runs() -> None:
    plan = on_google(storage={"lustre": {"enabled": True}, "sharedFileSystem": True})
    items = {item.what: item for item in plan.core.idle_floor.items}
    assert items["Managed Lustre (18000 GiB)"].monthly_usd == pytest.approx(18_000 * 0.34)
    assert items["Filestore (1024 GiB)"].monthly_usd == pytest.approx(1024 * 0.45)
    assert "assumption" in items["Filestore (1024 GiB)"].source


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (storage(capacity_gib=20_000), "nearest: 18000 and 36000"),
        (storage(capacity_gib=2400), "nearest: 18000"),
        (storage(throughput_mbps_per_tib=400), "125, 250, 500, 1000"),
        (storage(zone="us-central1-z"), "no zone of us-central1"),
        (
            {"gcp": {**GOOGLE["gcp"], "sharedFilesGib": 2048}, "storage": {"sharedFileSystem": False}},
            "storage.sharedFileSystem is false",
        ),
        (
            {"gcp": {**GOOGLE["gcp"], "sharedFilesGib": 11_000}, "storage": {"sharedFileSystem": True}},
            "from 10,240 on in steps of 2,560",
        ),
    ],
)
def test_what_google_does_not_sell_is_said_with_what_it_does(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError) as failure:
        on_google(**changes)
    assert said in str(failure.value)


@pytest.mark.parametrize("throughput", LUSTRE_TIERS)
def test_a_size_that_is_proposed_is_sold(throughput: int) -> None:
    tier = LUSTRE_TIERS[throughput]
    sizes = (1, tier.step, tier.step + 1, tier.until, tier.until + 1, tier.most, tier.most + 1)
    for gib in sizes:
        assert tier.sells(tier.at_least(gib)) and tier.sells(tier.at_most(gib)), gib
        assert tier.at_most(gib) <= max(gib, tier.step)


def test_the_regional_tier_is_the_one_in_three_zones() -> None:
    assert FILESTORE_TIERS["REGIONAL"].regional and not FILESTORE_TIERS["ZONAL"].regional
