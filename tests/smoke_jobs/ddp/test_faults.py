"""Each check can fail: a seeded fault makes exactly that check fail, with its exit code and words to act on."""

from collections.abc import Callable
from typing import Any

import pytest

from trainyard.smoke_jobs.ddp import result
from trainyard.smoke_jobs.ddp.options import CHECKS, FAULTS

SAYS = {
    "rendezvous": ("fail", "rank 1 of 2 did not reach the barrier within 5 s", "security groups or network policies"),
    "devices": ("fail", "rank 1 on ", "uncorrected memory errors", "drain the node"),
    "collectives": ("fail", "the data of rank 1", "element 5 is 13 instead of 12", "take its node out"),
    "transport": ("fail", "the plan promises efa, rank 0", "uses socket", "aws-ofi-nccl"),
    "memory": ("fail", "rank 1 on ", "1 words of its memory did not keep", "the first at byte 8388628", "replace the"),
    "compute": ("below", "rank 1 on ", "the median is", "its clocks and its cooling"),
    "stragglers": ("below", "slowest step against the median", "rank 1 on ", "without any communication"),
    "alltoall": ("fail", "what rank 1 (", "sent to rank 0 (", "arrived changed"),
    "adapters": ("fail", "adapter rdmap0 of ", "next to nothing", "look at the link"),
    "sharded": ("fail", "saved by 2 ranks is another one where 1 load it"),
    "storage": ("fail", "rank 1 on ", "what rank 0 wrote comes back changed"),
    "dcgm": ("fail", "dcgm test memory failed on GPU 3: row remap failed"),
    "counters": ("fail", "2 uncorrected memory errors more than before the run", "drain the node"),
    "gradients": ("fail", "parameter 0.weight differs on rank 1", "skips the all-reduce"),
    "checkpoint": ("fail", "none is whole", "sha256 differs from the manifest", "mount options"),
    "interruption": ("fail", "the uninterrupted run had", "lacks a part of the state"),
    "data": ("below", "accelerator utilisation", "samples/s, 300 are consumed", "loader processes"),
    "tracking": ("fail", "the MLflow server http://127.0.0.1:9 cannot be used", "network policy"),
    "scaling": ("below", "scaling efficiency", "a slow rank or a slow network", "lowered clocks"),
}

GATES = {
    "compute": ("compute_to_median",),
    "stragglers": ("step_to_median",),
    "data": ("accelerator_utilisation",),
    "scaling": ("scaling_efficiency",),
}
"""Metrics that a fault makes worse, which no machine meets then."""


def test_one_wrong_value_in_a_large_message_is_found(smoke: Callable[..., Any]) -> None:
    ran = smoke("--nproc-per-node", "2", checks=("collectives", "devices"), breaks=("collectives-large",))
    assert ran.code == 10, ran.output
    reason = ran.check("collectives")["reason"]
    assert "reduce-scatter of 4 MiB of float32: element" in reason
    for text in ("all-reduce of 4 MiB of bfloat16", "seen by rank 0 on", "seen by rank 1 on"):
        assert text in reason
    assert ran.check("devices")["verdict"] == "pass"


def test_a_product_that_gives_two_answers_is_found(smoke: Callable[..., Any]) -> None:
    ran = smoke("--nproc-per-node", "2", "--burn-s", "0.5", checks=("compute",), breaks=("compute-wrong",))
    assert ran.code == 10, ran.output
    assert "the same matrix product gave two answers under load; drain the node" in ran.check("compute")["reason"]


def test_a_fault_that_nobody_looks_for_is_no_pass(smoke: Callable[..., Any]) -> None:
    ran = smoke(checks=("gradients",), breaks=("gradients",))
    assert ran.code == 10, ran.output
    said = ran.check("gradients")["reason"]
    assert said == "gradients was seeded, and nobody looked for it: one rank: there is no gradient to exchange"


ROWS: tuple[tuple[tuple[str, ...], tuple[str, ...], int], ...] = (
    (("devices", "scaling"), ("rendezvous",), 10),
    (("devices", "collectives", "gradients", "checkpoint", "scaling"), ("collectives",), 10),
    (("devices", "collectives", "transport"), ("devices",), 10),
    (("collectives", "transport", "gradients"), ("transport",), 10),
    (("collectives", "gradients", "checkpoint"), ("gradients",), 10),
    (("gradients", "checkpoint"), ("checkpoint",), 10),
    (("checkpoint", "interruption"), ("interruption",), 10),
    (("data", "devices"), ("data",), 20),
    (("tracking", "devices"), ("tracking",), 10),
    (("collectives", "scaling"), ("scaling",), 20),
    (("memory", "devices"), ("memory",), 10),
    (("compute", "devices"), ("compute",), 20),
    (("stragglers", "devices"), ("stragglers",), 20),
    (("alltoall", "devices"), ("alltoall",), 10),
    (("adapters", "devices"), ("adapters",), 10),
    (("sharded", "storage"), ("sharded",), 10),
    (("storage", "sharded"), ("storage",), 10),
    (("dcgm", "devices"), ("dcgm",), 10),
    (("counters", "devices"), ("counters",), 10),
)
"""Checks that run, what is broken of them, and the exit code."""


def test_every_check_has_its_fault_and_every_second_way_to_fail_a_test() -> None:
    assert {name for _, (name,), _ in ROWS} == set(SAYS) == set(CHECKS)
    assert all(name in checks or name == "rendezvous" for checks, (name,), _ in ROWS)
    assert set(FAULTS) - set(CHECKS) == {"collectives-large", "compute-wrong"}, "the two tests above"


@pytest.mark.parametrize(
    ("checks", "breaks", "code"),
    ROWS,
    ids=lambda value: value[0] if isinstance(value, tuple) and len(value) == 1 else "",
)
def test_exactly_the_broken_check_fails(
    smoke: Callable[..., Any], checks: tuple[str, ...], breaks: tuple[str, ...], code: int
) -> None:
    (name,) = breaks
    ran = smoke("--nproc-per-node", "2", checks=checks, breaks=breaks, metrics=GATES.get(name, ()))
    verdict, *texts = SAYS[name]
    bad = {check: v for check, v in ran.verdicts().items() if v in ("fail", "below")}
    assert bad == {name: verdict}, ran.output
    assert ran.code == code
    for text in texts:
        assert text in ran.check(name)["reason"]
    assert result.problems(ran.result) == []
    for other in set(checks) - set(breaks):
        if ran.verdicts()[other] == "skipped" and other != "transport":
            assert ran.check(other)["reason"] == f"needs {name}, which failed"


def test_a_failure_and_a_slow_figure_together_exit_as_a_failure(smoke: Callable[..., Any]) -> None:
    ran = smoke("--nproc-per-node", "2", checks=("devices", "data"), breaks=("devices", "data"), metrics=GATES["data"])
    assert ran.code == 10
    assert (ran.check("devices")["verdict"], ran.check("data")["verdict"]) == ("fail", "below")
