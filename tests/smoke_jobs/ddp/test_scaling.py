"""What a scaling efficiency is compared with: what the same run lets expect."""

from __future__ import annotations

import pytest

from trainyard.smoke_jobs.ddp.check_scaling import SHARE, expected, judged
from trainyard.smoke_jobs.ddp.result import Figure, passed

# From published bus bandwidths and a step of the check's own size (smoke facts, section 7): (step, reduction) in s.
HEALTHY = {"two p4d": (0.009, 0.0134), "one g6e.12xlarge": (0.012, 0.047), "eight A100": (0.009, 0.0026)}


@pytest.mark.parametrize("machine", HEALTHY)
def test_a_healthy_machine_passes_whatever_its_ratio_of_compute_to_network(machine):
    step, reduction = HEALTHY[machine]
    outcome = judged(
        passed("", figure=Figure("scaling efficiency", expected(step, reduction), "")), expected(step, reduction)
    )
    assert outcome.verdict == "pass" and outcome.threshold is not None and outcome.threshold["met"]


# Where the network takes four fifths of a step, as within a g6e.12xlarge, such a rank shows in its own figures only.
@pytest.mark.parametrize("machine", ["two p4d", "eight A100"])
def test_a_rank_that_is_half_as_fast_does_not(machine):
    step, reduction = HEALTHY[machine]
    value = step / (2 * step + reduction)
    outcome = judged(passed("", figure=Figure("scaling efficiency", value, "")), expected(step, reduction))
    assert outcome.verdict == "below"
    assert "without any overlap" in outcome.reason and "lowered clocks" in outcome.reason


def test_the_share_leaves_room_for_the_measurement():
    assert 0.8 <= SHARE <= 0.9
