"""What single checks decide without a job around them."""

import resource
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.distributed as dist

from trainyard.smoke_jobs.ddp import check_collectives, check_data, check_tracking, check_transport, nccl_log, samples
from trainyard.smoke_jobs.ddp.options import Options


def test_several_nodes_without_a_shared_folder_skip_the_data_check() -> None:
    job: Any = SimpleNamespace(nodes=2, options=Options())
    outcome = check_data.run(job)
    assert outcome.verdict == "skipped"
    assert "2 nodes need a folder that all of them reach" in outcome.reason


@pytest.mark.parametrize(
    ("seconds", "times"),
    [(0.0, 20), (0.1, 20), (0.5, 8), (7.0, 3)],
)
def test_a_slow_network_repeats_less_often_instead_of_running_out_of_time(seconds: float, times: int) -> None:
    assert check_collectives.repeats(20, seconds) == times
    assert times * seconds <= max(check_collectives.POINT_S, check_collectives.LEAST * seconds)


def test_what_is_measured_is_a_sum_of_zeros_as_ddp_s_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """NVLS takes floats for sums only: with any other operation healthy nodes would miss their published figures."""
    asked: list[tuple[torch.Tensor, Any]] = []

    def all_reduce(tensor: torch.Tensor, op: Any = dist.ReduceOp.SUM, **_: Any) -> None:
        asked.append((tensor, op))

    monkeypatch.setattr(dist, "all_reduce", all_reduce)
    for name in ("_all_gather", "_reduce_scatter"):
        monkeypatch.setattr(check_collectives, name, lambda *_: None)
    job: Any = SimpleNamespace(
        world_size=4, cuda=False, device=torch.device("cpu"), gather=lambda value: [value], synchronize=lambda: None
    )
    points = check_collectives._measure(job, 2**20)
    assert [point["collective"] for point in points] == ["all_reduce", "all_gather", "reduce_scatter"]
    assert len(asked) >= check_collectives.LEAST
    for tensor, op in asked:
        assert op == dist.ReduceOp.SUM and tensor.dtype == torch.float32 and not tensor.any()


def test_loaders_come_from_a_server_and_never_from_a_fork_of_the_rank() -> None:
    """Once EFA has pinned huge pages, a fork has to copy them."""
    made = samples.loader(samples.Samples([], 1, verify=False), 0, 1, workers=2, batch=1)
    context: Any = made.multiprocessing_context
    assert context.get_start_method() == "forkserver"


def test_teams_do_not_share_an_experiment_that_one_of_them_owns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "vision")
    assert check_tracking.experiment(Options()) == "trainyard-smoke-vision"
    assert check_tracking.experiment(Options(tracking_experiment="mine")) == "mine"
    monkeypatch.delenv("MLFLOW_TRACKING_USERNAME")
    assert check_tracking.experiment(Options()) == "trainyard-smoke"


@pytest.mark.parametrize(
    ("limit", "capabilities", "lockable"),
    [
        (8 << 20, "0000000000000000", 8),
        (2**50, "0000000000000000", 2**30),
        (resource.RLIM_INFINITY, "0000000000000000", None),
        (8 << 20, "00000000a80465fb", None),  # root with IPC_LOCK
        (8 << 20, "00000000a80425fb", 8),  # root without
    ],
)
def test_what_a_rank_may_lock(
    monkeypatch: pytest.MonkeyPatch, limit: int, capabilities: str, lockable: int | None
) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _: (limit, limit))
    monkeypatch.setattr("pathlib.Path.read_text", lambda _: f"Name:\tpython\nCapEff:\t{capabilities}\n")
    assert check_transport.lockable_mib(SimpleNamespace(cuda=True)) == lockable  # type: ignore[arg-type]
    assert check_transport.lockable_mib(SimpleNamespace(cuda=False)) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(("lockable", "told"), [(8, True), (None, False), (2**30, False)])
def test_a_fall_back_to_sockets_names_the_limit_of_locked_memory(
    monkeypatch: pytest.MonkeyPatch, lockable: int | None, told: bool
) -> None:
    monkeypatch.setattr(check_transport, "_evidence", lambda _: nccl_log.read(check_transport.FALLBACK))
    monkeypatch.setattr(check_transport, "lockable_mib", lambda _: lockable)
    job: Any = SimpleNamespace(
        options=Options(expect_transport="efa"), cuda=True, world_size=1, inventories=[{"host": "a"}],
        broken=lambda _: False, gather=lambda value: [value],
    )  # fmt: skip
    outcome = check_transport.run(job)
    assert outcome.verdict == "fail" and "aws-ofi-nccl" in outcome.reason
    assert ("may lock 8 MiB of memory only" in outcome.reason) is told
    assert outcome.details["lockable_mib"] == [lockable]
