"""The way of an upgrade: which versions it goes through, and what each leg does to what stands."""

from __future__ import annotations

import re

import pytest

from tests.shared import ROOT
from trainyard import catalog
from trainyard.plan.lock import lock_path, read_lock
from trainyard.problems import SettingsError
from trainyard.recorded.types import DATABASE, EKS_CLUSTER
from trainyard.rehearsal.change.model import Operation
from trainyard.rehearsal.engine.project import read_stack
from trainyard.settings.unseen import stand_in
from trainyard.upgrade.legs import Leg, Versions, advanced, legs, way
from trainyard.upgrade.words import lines, standing_lines

GOLDEN = ROOT / "tests" / "golden" / "upgrade" / "demo.txt"
OLD = Versions("1.34", "1.34.9-20260625")


def demo() -> list[Leg]:
    config = read_stack(ROOT, "demo", stand_in=stand_in)
    lock = read_lock(lock_path(config.file))
    assert lock is not None
    return list(legs(ROOT, config, advanced(lock, OLD), way(OLD, "1.36", None)))


def text(found: list[Leg]) -> str:
    """What is told of legs, without how many resources stay as they are: that is any other change's."""
    told = [*standing_lines(found[0].before), *(line for leg in found for line in lines(leg))]
    return "".join(re.sub(r", \d+ as they are", "", line) + "\n" for _, line in told)


@pytest.fixture(scope="module")
def both() -> list[Leg]:
    return demo()


def test_two_minor_versions_are_two_changes_with_their_pins(both: list[Leg]) -> None:
    assert text(both) == GOLDEN.read_text(encoding="utf-8"), "python -m tests.upgrade.test_legs"


def test_nothing_that_holds_data_is_replaced_and_nothing_would_be_refused(both: list[Leg]) -> None:
    for leg in both:
        assert leg.change.change is not None
        gone = [step for step in leg.change.steps if step.operation in (Operation.REPLACE, Operation.DELETE)]
        assert {step.resource.name.split("-")[0] for step in gone} == {"smoke"}
        assert not [finding for finding in leg.change.findings if finding.level == "error"]
        assert leg.verdict.state.deployable
        assert [step.operation for step in leg.change.change.of_type(EKS_CLUSTER)] == [Operation.UPDATE]
        assert [step.operation for step in leg.change.change.of_type(DATABASE)] == [], "the database stays as it is"


def test_all_three_are_rehearsed_and_each_leg_is_in_place_and_in_order(both: list[Leg]) -> None:
    """1.34 as it stands, the change to 1.35, the change to 1.36: what is made before what."""
    stood = both[0].before
    assert (stood.versions, stood.errors) == (OLD, 0)
    assert "until 2026-12-02" in stood.support
    assert ["until 2027-03-27" in both[0].support, "until 2027-08-02" in both[1].support] == [True, True]
    assert both[1].before.versions == both[0].now, "each leg begins where the one before it ended"
    for leg in both:
        assert leg.in_place == "the control plane, node groups, the tracking database, buckets"
        assert leg.stages[0] == ("the control plane",)
        at = {name: number for number, stage in enumerate(leg.stages) for name in stage}
        pools = [name for name in at if name.startswith("pool ")]
        assert len(pools) == 8
        for pool in pools:
            assert at["add-on kube-proxy"] < at[pool]
        for job in (name for name in at if name.startswith("smoke job")):
            assert at[job] > max(at[pool] for pool in pools if pool.startswith("pool train"))
        pinned = {pin.what for pin in leg.pins}
        assert {"control plane", "add-on vpc-cni", "add-on kube-proxy", "image of the nodes"} <= pinned


def test_every_pool_is_named_that_is_drained(both: list[Leg]) -> None:
    (drained,) = (line for _, line in lines(both[0]) if "drained" in line)
    for pool in ("train (reserved)", "train (spot)", "tune (on-demand)", "dev (on-demand)", "system", "cpu"):
        assert f"pool {pool}" in drained


def test_a_leg_is_one_minor_version_with_the_image_that_is_pinned_for_it() -> None:
    assert way(OLD, "1.36", None) == [Versions("1.35", "1.35.6-20260714"), Versions("1.36", "1.36.2-20260714")]
    assert way(OLD, "1.36", "1.36.4-20260917")[-1] == Versions("1.36", "1.36.4-20260917")
    assert way(OLD, None, "1.34.11-20260901") == [Versions("1.34", "1.34.11-20260901")]
    assert way(Versions("1.34", "1.34.2-20260128"), None, "pinned") == [OLD]
    assert way(OLD, "1.34", None) == []
    assert way(Versions("1.34", "1.34.2-20260128"), "1.34", None) == [], "an image moves where it is asked to"


@pytest.mark.parametrize(
    ("version", "image", "told"),
    [
        ("1.33", None, "must be one of 1.35, 1.36"),
        ("1.99", None, "must be one of 1.35, 1.36"),
        ("next", None, "must be one of 1.35, 1.36"),
        ("1.36", "1.35.6-20260714", "must be a release for Kubernetes 1.36"),
        (None, "latest", "must be a release for Kubernetes 1.34"),
    ],
)
def test_where_it_cannot_go(version: str | None, image: str | None, told: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(told)):
        way(OLD, version, image)


def test_there_is_no_way_back() -> None:
    newest = list(catalog.kubernetes_versions())[-1]
    with pytest.raises(SettingsError, match="never goes back"):
        way(Versions(newest, catalog.node_release(newest)[0]), "1.34", None)


if __name__ == "__main__":
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(text(demo()), encoding="utf-8")
