"""What a scaling efficiency is compared with: what the same run lets expect."""

from __future__ import annotations

import pytest

from tests.smoke_jobs.test_gates import a_job
from trainyard.smoke_jobs.ddp import check_scaling
from trainyard.smoke_jobs.ddp.check_collectives import factor
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


PEAK = 312e12
"""Dense bf16 of an A100, FLOP/s (catalog/gpus.csv)."""


@pytest.mark.parametrize("efficiency", [0.27, 0.35])
def test_a_healthy_pair_of_p4d_is_not_held_to_what_bert_reaches(efficiency):
    """0.27 to 0.35 is what a pair can reach with these gradients (smoke facts, section 7: calculated)."""
    job = a_job("p4d.24xlarge", 2)
    width, depth, size = check_scaling._sizes(job)
    parameters = depth * width * width
    assert 4 * parameters == pytest.approx(403e6, rel=0.01), "the gradients of that calculation"
    published = job.threshold("all_reduce", 2**30)
    assert published is not None and published.value == 57
    reduction = 4 * parameters * factor("all_reduce", 16) / (published.value * 1e9)
    step = reduction * efficiency / (1 - efficiency)
    assert 0.2 < 6 * parameters * size / step / PEAK < 0.6, "a rate of computing that an A100 has"
    found = passed("", figure=Figure("scaling efficiency", efficiency, ""))
    told = job.judge(found, "scaling_efficiency", "")
    assert told.verdict == "pass" and told.threshold is not None
    assert (told.threshold["kind"], told.threshold["met"]) == ("reference", False), "BERT's share is told only"
    assert judged(told, expected(step, reduction)).verdict == "pass"
    assert (
        judged(passed("", figure=Figure("scaling efficiency", efficiency / 2, "")), expected(step, reduction)).verdict
        == "below"
    )


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
