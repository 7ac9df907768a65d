"""One full run of all ten checks on two processes, as a user of a laptop has it; then what ends runs early."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trainyard.cli import smoke_sweep
from trainyard.smoke_jobs.ddp import result
from trainyard.smoke_jobs.ddp.ends import second_hand
from trainyard.smoke_jobs.ddp.options import LEVELS
from trainyard.smoke_jobs.launch.follow import Ended


@pytest.fixture(scope="module")
def full(smoke: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    baseline = tmp_path_factory.mktemp("baseline") / "baseline.json"
    ran = smoke(
        "--nproc-per-node", "2", "--usd-per-node-hour", "3.6", "--record-baseline", str(baseline),
        "--code-version", "0123abc", "--stack", "demo",
    )  # fmt: skip
    ran.baseline = baseline
    return ran


def test_all_ten_checks_have_a_verdict_and_the_run_passes(full: Any) -> None:
    assert full.code == 0, full.output
    verdicts = full.verdicts()
    assert tuple(verdicts) == LEVELS["quick"]
    assert verdicts.pop("transport") == "skipped"  # there is no fabric here, and none is promised
    assert "no GPU" in full.check("transport")["reason"]
    assert set(verdicts.values()) == {"pass"}


def test_the_result_keeps_the_schema_and_the_line_says_the_same(full: Any) -> None:
    assert result.problems(full.result) == []
    (line,) = [text for text in full.output.splitlines() if text.startswith(result.LINE_PREFIX)]
    short = json.loads(line.removeprefix(result.LINE_PREFIX))
    assert short["verdict"] == "pass" and len(short["checks"]) == 10
    assert "scaling efficiency" in full.output and "[10/10] scaling" in full.output


def test_topology_versions_and_cost(full: Any) -> None:
    topology = full.result["topology"]
    assert (topology["world_size"], topology["nodes"], topology["device"]) == (2, 1, "cpu")
    (host,) = topology["hosts"]
    assert host["ranks"] == [0, 1] and len({d["uuid"] for d in host["devices"]}) == 2
    assert full.result["versions"]["torch"].startswith("2.")
    seconds = full.result["timings"]["seconds"]
    assert full.result["cost"]["usd"] == pytest.approx(seconds / 1000, rel=0.01)  # 3.60 USD an hour
    assert full.result["job"]["code_version"] == "0123abc" and full.result["job"]["stack"] == "demo"


def test_curves_follow_the_formulas_of_nccl_tests(full: Any) -> None:
    points = full.result["curves"]["bandwidth"]
    assert {p["collective"] for p in points} == {"all_reduce", "all_gather", "reduce_scatter"}
    for p in points:
        factor = 1.0 if p["collective"] == "all_reduce" else 0.5  # 2(n-1)/n and (n-1)/n with two ranks
        assert p["algbw_gb_s"] == pytest.approx(p["bytes"] / p["seconds_median"] / 1e9)
        assert p["busbw_gb_s"] == pytest.approx(p["algbw_gb_s"] * factor)
        assert p["seconds_p95"] >= p["seconds_median"] > 0
    assert max(p["bytes"] for p in points) == 4 * 2**20
    one, two = full.result["curves"]["scaling"]
    assert (one["ranks"], two["ranks"]) == (1, 2)
    assert two["efficiency"] == pytest.approx(two["samples_per_second"] / 2 / one["samples_per_second"])


def test_interruption_tells_the_time_to_resume(full: Any) -> None:
    details = full.check("interruption")["details"]
    assert len(details["kill_to_resumed_seconds"]) == 1
    assert details["resumes"][0] == 0 and 0 < details["resumes"][1] <= details["resumes"][2]
    assert details["losses_compared"] > details["kills"][0]["step"]


def test_checkpoint_tells_speed_and_stall(full: Any) -> None:
    details = full.check("checkpoint")["details"]
    assert details["bytes"] > 12 * 2**20
    assert details["async_blocked_seconds"] < details["async_total_seconds"]
    assert details["steps_beside_async_save"] >= 3


def test_nothing_is_left_running_or_lying_about(full: Any) -> None:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                environment = (folder / "environ").read_bytes()
            except OSError:
                continue
            assert str(full.folder).encode() not in environment
    assert sorted(p.name for p in full.folder.iterdir()) == ["progress.json", "ranks", "result.json"]


def test_a_drop_against_the_recorded_baseline_ends_below(full: Any, smoke: Callable[..., Any]) -> None:
    document = json.loads(full.baseline.read_text())
    # Not of the collective and the message size that the check shows.
    document["figures"]["busbw all_gather 2 MiB"]["value"] = 1e6  # GB/s, far above what any machine gives
    full.baseline.write_text(json.dumps(document))
    ran = smoke("--nproc-per-node", "2", "--baseline", str(full.baseline), checks=("collectives",))
    assert ran.code == 20 and result.problems(ran.result) == []
    assert "busbw all_gather 2 MiB is" in "".join(ran.check("collectives")["details"]["baseline"])
    assert "worse than the recorded baseline: busbw" in ran.check("collectives")["reason"]
    document["identity"]["world_size"] = 16
    full.baseline.write_text(json.dumps(document))
    ran = smoke("--nproc-per-node", "2", "--baseline", str(full.baseline), checks=("devices",))
    assert ran.code == 1
    assert "is of another machine: world_size 16 against 2 here" in ran.result["errors"][0]["message"]


def test_four_processes(smoke: Callable[..., Any]) -> None:
    ran = smoke("--nproc-per-node", "4", checks=("devices", "collectives", "gradients", "checkpoint"))
    assert ran.code == 0, ran.output
    assert ran.check("rendezvous")["figure"]["value"] == 4
    assert ran.result["topology"]["hosts"][0]["ranks"] == [0, 1, 2, 3]


def test_plain_torchrun_without_the_wrapper(mounted: Path, tmp_path: Path) -> None:
    import sys

    ran = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
         str(mounted / "__main__.py"), "--result-dir", str(tmp_path), "--check", "devices"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    document = json.loads((tmp_path / "result.json").read_text())
    assert result.problems(document) == [] and document["verdict"] == "pass"


def wait_for(path: Path, seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.1)


def test_sigterm_ends_as_preempted_with_what_was_done(start: Callable[..., Any], tmp_path: Path) -> None:
    process = start(tmp_path, "--nproc-per-node", "2", "--check", "devices", "--check", "interruption")
    wait_for(tmp_path / "progress.json")
    time.sleep(3)  # in the middle of the interruption check
    process.send_signal(signal.SIGTERM)
    before = time.monotonic()
    output, _ = process.communicate(timeout=90)
    assert process.returncode == 75, output
    assert time.monotonic() - before < 60, "not by a limit"
    document = json.loads((tmp_path / "result.json").read_text())
    assert result.problems(document) == []
    verdicts = {c["name"]: c for c in document["checks"]}
    assert verdicts["devices"]["verdict"] == "pass"
    assert verdicts["interruption"]["verdict"] == "skipped"
    assert "told to stop (SIGTERM)" in verdicts["interruption"]["reason"]
    assert "smoke: torchrun was told to stop (SIGTERM)" in output and "Traceback" not in output


def test_running_out_of_time_ends_with_124_and_names_the_check(smoke: Callable[..., Any]) -> None:
    ran = smoke("--nproc-per-node", "2", "--timeout-s", "25", "--kills", "50", checks=("interruption",))
    assert ran.code == 124, ran.output
    assert "ran out of its 25 s in check interruption" in ran.check("scaling")["reason"]
    assert ran.result["verdict"] == "timeout" and result.problems(ran.result) == []


def test_a_rank_that_is_killed_is_named(start: Callable[..., Any], tmp_path: Path) -> None:
    process = start(tmp_path, "--nproc-per-node", "2", "--check", "interruption")
    wait_for(tmp_path / "progress.json")
    pid = json.loads((tmp_path / "ranks" / "rank-1.json").read_text())["pid"]
    os.kill(pid, signal.SIGKILL)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1, output
    document = json.loads((tmp_path / "result.json").read_text())
    (error,) = document["errors"]
    assert error["rank"] == 1 and f"process {pid} was ended by SIGKILL" in error["message"]
    assert document["verdict"] == "error"


@pytest.mark.parametrize("victim", [0, 1], ids=["rank 0", "another"])
def test_a_rank_that_is_told_to_stop_is_named(start: Callable[..., Any], tmp_path: Path, victim: int) -> None:
    process = start(tmp_path, "--nproc-per-node", "2", "--check", "interruption")
    wait_for(tmp_path / "progress.json")
    os.kill(json.loads((tmp_path / "ranks" / f"rank-{victim}.json").read_text())["pid"], signal.SIGTERM)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1, output
    (error,) = json.loads((tmp_path / "result.json").read_text())["errors"]
    assert error["rank"] == victim and "ended by SIGTERM" in error["message"]


@pytest.mark.parametrize(("ranks", "victim"), [(2, 0), (4, 3)])
def test_a_rank_that_hangs_is_named_within_its_limit(
    start: Callable[..., Any], tmp_path: Path, ranks: int, victim: int
) -> None:
    limit_s = 12
    flags = ("--nproc-per-node", str(ranks), "--rank-timeout-s", str(limit_s), "--check", "gradients")
    process = start(tmp_path, *flags, "--check", "scaling")
    wait_for(tmp_path / "progress.json")
    pid = json.loads((tmp_path / "ranks" / f"rank-{victim}.json").read_text())["pid"]
    os.kill(pid, signal.SIGSTOP)
    before = time.monotonic()
    output, _ = process.communicate(timeout=limit_s + 60)
    assert time.monotonic() - before < limit_s + 15
    assert process.returncode == 10, output
    document = json.loads((tmp_path / "result.json").read_text())
    assert result.problems(document) == []
    (error,) = document["errors"]
    assert error["rank"] == victim and "no sign of life" in error["message"]
    assert any(f"rank {victim} on" in check["reason"] for check in document["checks"] if check["verdict"] == "fail")
    stat = Path(f"/proc/{pid}/stat")
    assert not stat.exists() or ") Z " in stat.read_text(), "ended, be it that nobody has asked how"


def test_a_rank_that_keeps_the_others_for_a_while_is_named(start: Callable[..., Any], tmp_path: Path) -> None:
    """Its sign of life comes back before anybody misses it; the collective of the others has ended by its limit."""
    flags = ("--nproc-per-node", "2", "--collective-timeout-s", "8", "--rank-timeout-s", "60", "--check", "scaling")
    process = start(tmp_path, *flags)
    wait_for(tmp_path / "progress.json")
    pid = json.loads((tmp_path / "ranks" / "rank-1.json").read_text())["pid"]
    os.kill(pid, signal.SIGSTOP)
    time.sleep(17)  # more than twice the limit: others of a loaded machine are held up for seconds, too
    os.kill(pid, signal.SIGCONT)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 10, output
    (check,) = [c for c in json.loads((tmp_path / "result.json").read_text())["checks"] if c["verdict"] == "fail"]
    assert check["reason"].startswith("rank 1 on ") and "gave no sign of life for" in check["reason"], check
    assert "its process or its GPU was held up" in check["reason"]
    # A time-out of the one, or the closed connection that it left the other.
    assert len(check["details"]["stood_in"]) == 2 and second_hand(check["details"]["seen"])


def test_a_check_that_breaks_down_does_not_take_the_others_along(smoke: Callable[..., Any]) -> None:
    ran = smoke("--nproc-per-node", "2", "--data-path", "/dev/null/tier", checks=("data", "scaling"))
    assert ran.code == 10
    assert "the data tier /dev/null/tier cannot be used" in ran.check("data")["reason"]
    assert ran.check("scaling")["verdict"] == "pass"  # the process groups were made anew
    assert ran.check("scaling")["figure"]["value"] > 0


def test_a_sweep_finds_the_figures_that_it_compares_nodes_by(smoke: Callable[..., Any]) -> None:
    checks = ("compute", "memory", "alltoall", "collectives")
    ran = smoke("--nproc-per-node", "2", "--level", "standard", "--burn-s", "0.5", checks=checks)
    assert ran.code == 0, ran.output
    found = smoke_sweep.read(("a",), Ended(0, ran.result)).figures
    gpus_only = {"memory host", "memory device"}
    for start in {*smoke_sweep.FIGURES, "busbw all_reduce 4 MiB"} - gpus_only:
        assert any(name.startswith(start) for name in found), (start, found)
