"""Interruptions and checkpoint intervals: the published figures, and what must hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.advice.data_need import checkpoint_need, data_need
from trainyard.advice.ranges import Range
from trainyard.advice.spot import hardware_mttf_hours, hazard_per_hour, interruptions, young_hours


@pytest.mark.parametrize(("mttf_hours", "minutes"), [(47.7 * 24, 371), (7.9, 31)])
def test_young_gives_the_published_intervals_for_a_save_of_a_minute(mttf_hours, minutes):
    assert young_hours(mttf_hours, 60 / 3600) * 60 == pytest.approx(minutes, rel=0.01)


@pytest.mark.parametrize(("gpus", "hours"), [(8, 47.7 * 24), (1024, 7.9), (16_384, 1.8), (4, 2 * 47.7 * 24)])
def test_failures_are_as_rare_as_published(gpus, hours):
    assert hardware_mttf_hours(gpus) == pytest.approx(hours)


@given(st.integers(1, 30_000), st.integers(1, 30_000))
def test_more_gpus_fail_more_often(one, other):
    assert hardware_mttf_hours(max(one, other)) <= hardware_mttf_hours(min(one, other))


def test_the_share_reclaimed_in_a_month_is_read_as_a_chance():
    assert 1 - 2.718281828 ** (-hazard_per_hour(0.3) * 730) == pytest.approx(0.3)


shares = st.tuples(*[st.floats(0, 0.99)] * 3).map(lambda three: Range(*sorted(three)))


@given(st.floats(0.1, 20_000), st.integers(1, 64), st.floats(0.01, 4000), st.none() | shares)
def test_interruptions_stretch_a_run_and_stay_in_order(hours, nodes, save, reclaimed):
    got = interruptions(hours, nodes * 8, nodes, save, reclaimed)
    assert 1 <= got.stretch.low <= got.stretch.typical <= got.stretch.high
    assert 0 <= got.expected.low <= got.expected.high
    assert got.interval_minutes * 60 >= min(save, hours * 3600) * 0.999
    assert got.interval_minutes <= max(hours, 1 / 60) * 60 * 1.001


def test_spot_is_interrupted_more_often_and_saves_more_often():
    calm = interruptions(500, 64, 8, 30, None)
    spot = interruptions(500, 64, 8, 30, Range(0.22, 0.3, 0.6))
    assert spot.expected.typical > calm.expected.typical + 1
    assert spot.interval_minutes < calm.interval_minutes


def test_a_checkpoint_of_bloom_is_two_terabytes():
    assert checkpoint_need(176e9 * 14, 48, 400).size_gb == pytest.approx(2300, rel=0.1)
    assert checkpoint_need(12e9, 1, 400).size_gb == 12


def test_a_slow_network_slows_the_save():
    slow, fast = (checkpoint_need(7e9 * 14, 1, gbps).save_seconds for gbps in (5, 400))
    assert slow == pytest.approx(98 / (5 / 16))
    assert fast == pytest.approx(49)


@pytest.mark.parametrize(
    ("mb_per_s", "nodes", "cloud", "tier"),
    [
        (2, 1, "aws", "object storage, streamed"),
        (1286, 1, "aws", "FSx for Lustre, 2400 GiB at 1000 MB/s per TiB"),
        (1286, 8, "aws", "object storage, streamed"),
        (400, 1, "gcp", "Managed Lustre for 500 MB/s"),
        (9000, 1, "aws", "FSx for Lustre, 12000 GiB at 1000 MB/s per TiB"),
    ],
)
def test_the_tier_delivers_the_need_with_a_quarter_to_spare(mb_per_s, nodes, cloud, tier):
    assert data_need(mb_per_s, 8 * nodes, nodes, cloud).tier == tier
