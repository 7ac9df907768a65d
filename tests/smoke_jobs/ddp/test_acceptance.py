"""What the checks of acceptance decide without a job around them."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from trainyard.smoke_jobs.ddp import (
    check_adapters,
    check_counters,
    check_dcgm,
    check_interruption,
    check_memory,
    check_storage,
    check_stragglers,
    hardware,
)
from trainyard.smoke_jobs.ddp.job import Job
from trainyard.smoke_jobs.ddp.options import CHECKS, LEVELS, Options, from_document, listed
from trainyard.smoke_jobs.ddp.result import Figure, passed
from trainyard.smoke_jobs.ddp.thresholds import load


def test_each_level_holds_the_one_below() -> None:
    quick, standard, full = (set(LEVELS[name]) for name in ("quick", "standard", "full"))
    assert len(quick) == 10 and quick < standard < full == set(CHECKS)
    assert from_document({"level": "full"}).checks == CHECKS
    assert from_document({"level": "full", "checks": ["dcgm"]}).checks == ("dcgm",)
    assert from_document({}).checks == LEVELS["quick"] == Options().checks
    asked = from_document({"checks": ["compute"]})
    assert set(listed(asked)) == quick | {"compute"}, "what was asked for besides the level is told too"


GB = 10**9


@pytest.mark.parametrize(
    ("carried", "expected", "says"),
    [
        ({"a": 10 * GB, "b": 9 * GB, "c": 11 * GB, "d": 10 * GB}, 4, ""),
        ({"a": 10 * GB, "b": 9 * GB, "c": 11 * GB, "d": 5}, 4, "adapter d of n carried next to nothing"),
        ({"a": 10 * GB, "b": 9 * GB, "c": 11 * GB}, 4, "shows 3 adapters (a, b, c), the plan says 4"),
        ({}, 4, "shows 0 adapters (none)"),
        ({"a": 0, "b": 0}, 2, "no adapter of n carried anything"),
        # An instance with more adapters than the pod was given.
        ({"a": 10 * GB, "b": 10 * GB, "c": 10 * GB, "d": 0}, 3, ""),
        # Nobody says how many there have to be: four GPUs have an adapter each, and this one is dead.
        ({"a": 10 * GB, "b": 9 * GB, "c": 11 * GB, "d": 5}, 0, "adapter d of n carried next to nothing"),
        ({"a": 10 * GB, "b": 0}, 0, "adapter b of n carried next to nothing"),
        ({"a": 10 * GB, "b": 0, "c": 0, "d": 0}, 4, "adapter b, c, d of n carried next to nothing"),
        # A fifth one, of storage: it is none of the job's.
        ({"a": 10 * GB, "b": 9 * GB, "c": 11 * GB, "d": 10 * GB, "e": 0}, 0, ""),
    ],
)
def test_an_adapter_that_does_nothing_is_named(carried: dict[str, int], expected: int, says: str) -> None:
    wrong = check_adapters.idle("n", carried, expected, 4)
    assert (says in "; ".join(wrong)) if says else not wrong


def exchanged(monkeypatch: pytest.MonkeyPatch, moved: dict[str, int], expected: int = 0, gpus: int = 8) -> Any:
    """The check on the first of two nodes whose adapters moved so many bytes."""
    counted = iter([dict.fromkeys(moved, 0), moved])
    monkeypatch.setattr(
        hardware, "adapters", lambda: {name: {"tx_bytes": value} for name, value in next(counted).items()}
    )
    monkeypatch.setattr(check_adapters.dist, "all_reduce", lambda _: None)
    job: Any = SimpleNamespace(
        broken=lambda _: False, nodes=2, options=Options(expect_adapters=expected), gather=lambda value: [value],
        barrier=lambda: None, synchronize=lambda: None, cuda=False, device="cpu", host="n", local_rank=0,
        local_world_size=gpus,
    )  # fmt: skip
    return check_adapters.run(job)


def test_one_dead_of_eight_fails_with_and_without_a_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    roce = {f"mlx5_{number}": 10 * GB * (number != 3) for number in range(8)}
    for expected in (8, 0):
        outcome = exchanged(monkeypatch, roce, expected)
        assert outcome.verdict == "fail" and "adapter mlx5_3 of n carried next to nothing" in outcome.reason
    healthy = exchanged(monkeypatch, dict.fromkeys(roce, 10 * GB), 8)
    assert (healthy.verdict, healthy.reason) == ("pass", "8 adapters a node carry traffic")


def test_an_adapter_of_storage_is_told_and_not_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    moved = dict.fromkeys([f"mlx5_{number}" for number in range(8)], 10 * GB) | {"mlx5_8": 0, "mlx5_9": 0}
    outcome = exchanged(monkeypatch, moved)
    assert outcome.verdict == "pass" and outcome.figure.value == 10.0
    assert outcome.reason.startswith("8 adapters a node carry traffic; next to nothing: mlx5_8, mlx5_9 of n")


def counting(monkeypatch: pytest.MonkeyPatch, after: dict[str, int]) -> Any:
    uuid = "GPU-1"
    monkeypatch.setattr(hardware, "read", lambda _: hardware.Reading(counters=after))
    monkeypatch.setattr(hardware, "adapters", lambda: {})
    return check_counters.run(
        SimpleNamespace(  # type: ignore[arg-type]
            cuda=True,
            rank=0,
            local_rank=0,
            host="a",
            world_size=1,
            inventories=[{"device": {"uuid": uuid}}],
            counters_before={
                f"GPU {uuid}": {"ecc_corrected": 4, "ecc_uncorrected": 0, "nvlink_replay": 0, "nvlink_recovery": 0}
            },
            broken=lambda _: False,
            gather=lambda value: [value],
        )
    )


def test_a_hard_error_during_the_run_fails_and_what_mended_itself_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    same = counting(monkeypatch, {"ecc_corrected": 4, "ecc_uncorrected": 0, "nvlink_replay": 0, "new": 7})
    assert (same.verdict, same.reason) == ("pass", "no hard error during the run")
    mended = counting(monkeypatch, {"ecc_corrected": 9, "ecc_uncorrected": 0, "nvlink_replay": 0})
    assert mended.verdict == "pass" and "GPU GPU-1: 5 ecc corrected more" in mended.reason
    hard = counting(monkeypatch, {"ecc_corrected": 9, "ecc_uncorrected": 1, "nvlink_replay": 0})
    assert hard.verdict == "fail" and "a, GPU GPU-1: 1 uncorrected memory errors more" in hard.reason
    replayed = counting(monkeypatch, {"ecc_uncorrected": 0, "nvlink_replay": 3, "nvlink_recovery": 0})
    assert replayed.verdict == "pass" and "3 nvlink replay more" in replayed.reason, "a link mends it by itself"
    assert counting(monkeypatch, {"nvlink_recovery": 1}).verdict == "fail"


def test_traffic_is_no_error(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    counters = {"tx_bytes": 5, "rx_drops": 1, "retrans_pkts": 2, "rdma_read_wr_err": 0, "port_rcv_errors": 0}
    monkeypatch.setattr(hardware, "adapters", lambda: {"efa0": counters})
    job: Any = SimpleNamespace(cuda=False, local_rank=0)
    assert set(check_counters.take(job)["adapter efa0"]) == set(counters) - {"tx_bytes"}
    job.local_rank = 1
    assert check_counters.take(job) == {}, "a node's adapters are counted once"


def test_the_slow_rank_is_told_from_the_slow_node() -> None:
    ranks = [{"host": host} for host in ("a", "a", "b", "b")]
    assert check_stragglers.slow_node(ranks, [1.0, 1.1, 1.5, 1.6]) == "b"
    assert check_stragglers.slow_node(ranks, [1.0, 1.1, 1.0, 1.6]) == ""
    assert check_stragglers.node_medians(ranks, [1.0, 2.0, 3.0, 3.0]) == {"a": 1.5, "b": 3.0}


def test_what_dcgm_says_is_found_in_whatever_depth() -> None:
    passing = {"status": "Pass"}
    older = {"DCGM GPU Diagnostic": {"test_categories": [{"category": "Deployment", "tests": [
        {"name": "NVML Library", "results": [passing]},
        {"name": "PCIe", "results": [{"gpu_ids": "0", "status": "Pass"}, {"gpu_ids": "2", "status": "Fail",
                                      "warnings": "low bandwidth"}]},
        {"name": "EUD", "results": [{"status": "Skip"}]}]}]}}  # fmt: skip
    assert list(check_dcgm.problems(older)) == ["dcgm test PCIe failed on GPU 2: low bandwidth"]
    assert list(check_dcgm.problems(check_dcgm.BROKEN)) == ["dcgm test memory failed on GPU 3: row remap failed"]
    assert not list(check_dcgm.problems({"a": [passing]}))


def narrow(got: int) -> dict[str, Any]:
    text = f"GPU 0 is running at a PCI link width of {got}X, which is below the minimum allowed link width of 16"
    return {"name": "PCIe", "results": [{"gpu_id": "0", "status": "Fail", "warnings": [{"warning": text}]}]}


def test_dcgm_s_wish_for_sixteen_lanes_is_the_devices_matter() -> None:
    assert not list(check_dcgm.problems(narrow(8)))
    assert "link width of 4X" in next(iter(check_dcgm.problems(narrow(4))))
    both = narrow(8)
    both["results"][0]["warnings"].append({"warning": "bandwidth is 2.1 GB/s, below the minimum"})
    assert len(list(check_dcgm.problems(both))) == 1


def test_what_a_peer_does_not_answer_is_told_for_the_job_kills_some(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "unresponsive_remote_events" not in check_counters.FATAL
    monkeypatch.setattr(hardware, "adapters", lambda: {"efa0": {"unresponsive_remote_events": 2}})
    job: Any = SimpleNamespace(
        cuda=False, rank=0, local_rank=0, host="a", world_size=1, broken=lambda _: False, gather=lambda v: [v],
        counters_before={"adapter efa0": {"unresponsive_remote_events": 0}},
    )  # fmt: skip
    outcome = check_counters.run(job)
    assert outcome.verdict == "pass" and "2 unresponsive remote events more" in outcome.reason


def test_nothing_is_run_beside_us_on_gpus_that_take_one_process() -> None:
    job = object.__new__(Job)
    modes = {"a": "Default", "b": "Exclusive_Process"}
    job.__dict__ |= {
        "cuda": True, "options": Options(),
        "inventories": [{"host": host, "device": {"mode": mode}} for host, mode in modes.items()],
    }  # fmt: skip
    for check in (check_dcgm, check_interruption):
        outcome = check.run(job)
        assert outcome.verdict == "skipped"
        assert outcome.reason.startswith("the GPUs of b take one process each (compute mode Exclusive_Process)")


def node(host: str, first: int, count: int, links: int) -> list[dict[str, Any]]:
    return [{"host": host, "device": {"uuid": f"u{rank}", "links": links}} for rank in range(first, first + count)]


def all_pairs(first: int, count: int, **other: float) -> dict[tuple[int, int], float]:
    ranks = range(first, first + count)
    return {(a, b): other.get(f"r{a}_{b}", 300.0) for a in ranks for b in ranks if a != b}


def test_a_pair_of_devices_that_copies_slowly_is_named_where_a_switch_makes_all_alike() -> None:
    rates = all_pairs(0, 8) | all_pairs(8, 8, r9_12=30.0)
    inventories = [*node("a", 0, 8, 18), *node("b", 8, 8, 18)]
    (said,) = check_memory.slow_pairs(check_memory.Pairs(rates), inventories)
    assert said.startswith(
        "device u9 (rank 9) copies 30 GB/s to device u12 (rank 12) of b, the median of its pairs is 300"
    )
    mesh = check_memory.Pairs(all_pairs(0, 8, r0_7=48.0))
    assert not check_memory.slow_pairs(mesh, node("a", 0, 8, 6)), "without a switch pairs differ by their wiring"
    assert not check_memory.slow_pairs(check_memory.Pairs({}), inventories)


def fake_devices(monkeypatch: pytest.MonkeyPatch, ranks: int, reach: bool = True) -> Any:
    """A rank of a node whose devices are the host's memory: the others measured what it does, moved on by one."""
    monkeypatch.setattr(torch.cuda, "device_count", lambda: ranks)
    monkeypatch.setattr(torch.cuda, "can_device_access_peer", lambda *_: reach)
    zeros = torch.zeros
    monkeypatch.setattr(torch, "zeros", lambda *size, device=None, **more: zeros(*size, **more))
    monkeypatch.setattr(check_memory, "_pair", lambda *_: (torch.ones(4), torch.ones(4)))
    barriers: list[int] = []
    job: Any = SimpleNamespace(
        local_world_size=ranks, cuda=True, rank=5, local_rank=1, device=torch.device("cuda", 1), gather=lambda v: [v],
        barrier=lambda: barriers.append(1), synchronize=lambda: None, barriers=barriers,
    )  # fmt: skip
    return job


def test_the_devices_of_a_node_copy_from_the_host_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of an A100 or H100 node share the lanes to it, and would each show half of what a healthy slot gives."""
    together = threading.Barrier(4)
    at_work: list[int] = []
    entries: list[dict[str, Any]] = [
        {"rank": rank, "host": "a", "device": "u", "wrong": ["of before"] if rank == 3 else [], "gb_s": {}}
        for rank in range(4)
    ]

    def rate(job: Any, *_: object) -> float:
        at_work.append(job.local_rank)
        time.sleep(0.05)
        assert set(at_work) == {job.local_rank}, "nobody beside it"
        at_work.remove(job.local_rank)
        if job.local_rank == 2:
            raise RuntimeError("CUDA error: uncorrectable ECC error\nmore")
        return 25.0

    monkeypatch.setattr(check_memory, "_rate", rate)
    monkeypatch.setattr(check_memory, "_pair", lambda *_: ())

    def copies(rank: int) -> None:
        job: Any = SimpleNamespace(
            cuda=True, local_world_size=4, local_rank=rank, device="cuda", barrier=lambda: together.wait(timeout=60)
        )
        check_memory._to_the_host(job, entries[rank])

    with ThreadPoolExecutor(4) as ranks:
        list(ranks.map(copies, range(4)))
    assert [len(entry["gb_s"]) for entry in entries] == [2, 2, 0, 0]
    assert entries[2]["wrong"] == [
        "rank 2 on a, device u: its memory cannot be used: CUDA error: uncorrectable ECC error"
    ]


def test_every_device_of_a_node_is_copied_to_and_not_only_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    job = fake_devices(monkeypatch, 4)
    found = check_memory._pairs(job)
    assert set(found.rates) == {(5, 4), (5, 6), (5, 7)} and not found.notes and len(job.barriers) == 3
    apart = fake_devices(monkeypatch, 4, reach=False)
    found = check_memory._pairs(apart)
    assert found.notes == ("devices of a node do not reach each other's memory directly",) and not found.rates
    assert len(apart.barriers) == 3, "who measures nothing must not keep the others"


GIB = 2**30


def test_what_a_node_alone_reads_back_is_more_than_its_memory() -> None:
    wanted = check_storage.wanted_gib
    assert wanted(Options(), True, 1, 64.0) > 64
    assert wanted(Options(), True, 1, 8.0) == 16 and wanted(Options(), True, 1, 2000.0) == check_storage.MOST_GIB
    assert wanted(Options(), True, 2, 64.0) == 16, "another node has written it"
    assert wanted(Options(storage_gib=3.0), True, 1, 64.0) == 3


def test_a_slow_tier_and_a_full_one_are_written_less(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    job: Any = SimpleNamespace(options=Options(storage_gib=1.0), cuda=True, nodes=1, local_world_size=2, world_size=2)
    monkeypatch.setattr(check_storage.shutil, "disk_usage", lambda _: SimpleNamespace(free=100 * GIB))
    assert check_storage._blocks(job, tmp_path) * check_storage.BLOCK_BYTES == GIB // 2
    monkeypatch.setattr(check_storage.shutil, "disk_usage", lambda _: SimpleNamespace(free=GIB // 2))
    assert check_storage._blocks(job, tmp_path) * check_storage.BLOCK_BYTES == GIB // 8
    monkeypatch.setattr(check_storage, "WRITE_S", 0.0)
    rate, blocks = check_storage._write(tmp_path / "large", b"x" * 4096, 50)
    assert blocks == 1 and rate > 0 and (tmp_path / "large").stat().st_size == 4096


def test_an_all_to_all_is_held_to_the_gate_of_its_own_message() -> None:
    records = load(Path(check_adapters.__file__).with_name("thresholds.csv"))
    job = object.__new__(Job)
    job.__dict__ |= {"cuda": False, "instance": "p5.48xlarge", "nodes": 2, "nccl": "", "thresholds": records,
                     "inventories": []}  # fmt: skip
    slow = job.judge(passed("", figure=Figure("busbw all_to_all", 5.0, "GB/s")), "all_to_all", "look", 2**30)
    assert slow.verdict == "below" and "15 is needed (derived from the catalogue" in slow.reason
    healthy = job.judge(passed("", figure=Figure("busbw all_to_all", 60.0, "GB/s")), "all_to_all", "look", 2**30)
    assert healthy.verdict == "pass" and healthy.threshold is not None
    small = job.judge(passed("", figure=Figure("busbw all_to_all", 5.0, "GB/s")), "all_to_all", "look", 2**22)
    assert small.verdict == "pass" and small.threshold is None
