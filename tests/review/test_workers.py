"""Many stacks in several processes: the same outcome as in one, in the order of the files, whatever becomes of one."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.shared import ROOT
from trainyard.review.formats.names import Format
from trainyard.review.processes import EndedError, Worker, interrupts_held, started, way_to_start
from trainyard.review.review import failed
from trainyard.review.told import Asked, Told, tell, told
from trainyard.review.verdict import State
from trainyard.review.workers import MOST_WORKERS, StacksLeft, tell_all, workers, workers_for

FORMATS = tuple(Format)


def asked(**more):
    return Asked(ROOT, FORMATS, **more)


def judged(asked_for: Asked, file: Path, _earlier: object = None) -> Told:
    """Stands for judging a stack; what is to become of it is in its name."""
    if "killed" in file.name:
        os.kill(os.getpid(), signal.SIGKILL)
    if "exits" in file.name:
        raise SystemExit(3)
    if "unsendable" in file.name:
        return lambda: None
    if "slow" in file.name:
        time.sleep(0.5)
    return told(asked_for, failed(ROOT, file, f"in process {os.getpid()}"))


def of(names):
    return [Path(f"/nowhere/Pulumi.{name}.yaml") for name in names]


def test_as_many_workers_as_there_are_cores_and_work_for(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(64), raising=False)
    assert [workers_for(stacks) for stacks in (0, 1, 3, 4, 6, 1000)] == [1, 1, 1, 2, 3, MOST_WORKERS]
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(2), raising=False)
    assert workers_for(1000) == 2


def test_stacks_that_are_alike_go_to_one_worker_while_it_has_any(tmp_path):
    for number in range(6):
        text = f"config:\n  trainyard:client: c{number}\n  trainyard:teamSize: {number % 2}\n"
        (tmp_path / f"Pulumi.c{number}.yaml").write_text(text, encoding="utf-8")
    left = StacksLeft([*sorted(tmp_path.iterdir()), *of(["gone"])])
    assert [left.next_for(worker) for worker in (0, 1, 1, 0, 0)] == [0, 1, 3, 2, 4]
    assert left.next_for(0) == 6, "which nobody knows the like of"
    assert left.next_for(0) == 5, "the other's, rather than nothing"
    assert not left


def test_stacks_that_are_all_alike_are_judged_in_their_order(tmp_path):
    for number in range(4):
        (tmp_path / f"Pulumi.c{number}.yaml").write_text(f"config:\n  trainyard:client: c{number}\n", encoding="utf-8")
    left = StacksLeft(sorted(tmp_path.iterdir()))
    assert [left.next_for(worker) for worker in (0, 1, 0, 1)] == [0, 1, 2, 3]


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
def test_a_worker_that_is_killed_fails_its_stack_and_no_other():
    names = ["slow-a", "killed-b", "c", "d", "killed-e", "f"]
    with workers(2) as among:
        found = list(tell_all(asked(), of(names), {}, among=among, judge_one=judged))
    assert [one.verdict.stack for one in found] == names
    killed = [one for one in found if "killed" in one.verdict.stack]
    assert all(one.verdict.state is State.BROKEN and one.verdict.exit_code == 70 for one in killed)
    assert all("ended from outside" in one.verdict.headline for one in killed)
    assert all(set(one.parts) == set(FORMATS) for one in killed), "every format tells it"
    assert all("in process" in one.verdict.headline for one in found if one not in killed)


@pytest.mark.parametrize(("name", "said"), [("exits", "RuntimeError: SystemExit: 3"), ("unsendable", "RuntimeError: ")])
def test_a_stack_that_exits_or_whose_outcome_cannot_be_sent_says_so(name, said):
    with workers(2) as among:
        processes = [worker._process for worker in among]
        found = list(tell_all(asked(), of([name, "c", "d"]), {}, among=among, judge_one=judged))
        assert [worker._process for worker in among] == processes, "none was ended by it"
    assert found[0].verdict.state is State.BROKEN
    assert said in found[0].verdict.headline
    assert all("in process" in one.verdict.headline for one in found[1:])
    with workers(2) as among, pytest.raises(RuntimeError):
        list(tell_all(asked(debug=True), of([name, "c", "d"]), {}, among=among, judge_one=judged))


def test_an_exception_of_trainyards_own_is_that_stacks_outcome(monkeypatch):
    def broken(*_arguments, **_more):
        raise TypeError("unsupported operand")

    monkeypatch.setattr("trainyard.review.told.judge", broken)
    [found] = tell_all(asked(), of(["shop"]), {})
    assert (found.verdict.state, found.verdict.exit_code) == (State.BROKEN, 70)
    assert "TypeError: unsupported operand (test_workers.py:" in found.verdict.headline
    with pytest.raises(TypeError):
        list(tell_all(asked(debug=True), of(["shop"]), {}))


def test_processes_tell_what_one_tells(tmp_path):
    stack = (ROOT / "stacks" / "Pulumi.uae-aws.yaml").read_text(encoding="utf-8")
    files = [ROOT / "stacks" / "Pulumi.demo.yaml"]
    for name, text in (("open", f"{stack}  trainyard:protect: false\n"), ("odd", f"{stack}  trainyard:teem: x\n")):
        files.append(tmp_path / f"Pulumi.{name}.yaml")
        files[-1].write_text(text, encoding="utf-8")
    with workers(2) as among:
        together = list(tell_all(asked(), files, {}, among=among))
    alone = [tell(asked(), file) for file in files]
    assert [one.verdict for one in together] == [one.verdict for one in alone]
    assert [one.verdict.exit_code for one in together] == [0, 1, 2]
    for form in (Format.SARIF, Format.MARKDOWN, Format.TEXT):
        assert [one.parts[form] for one in together] == [one.parts[form] for one in alone]


@pytest.mark.skipif(sys.platform == "win32", reason="interrupts by signal")
@pytest.mark.parametrize("threads", [0, 1])
def test_ctrl_c_while_a_worker_starts_is_held_and_not_lost(threads):
    ended = threading.Event()
    others = [threading.Thread(target=ended.wait) for _ in range(threads)]  # such as the one that draws a spinner
    for other in others:
        other.start()
    reached = False
    try:
        with pytest.raises(KeyboardInterrupt), interrupts_held():
            deaf = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(deaf.pid, signal.SIGINT)
            with pytest.raises(subprocess.TimeoutExpired):
                deaf.wait(1)
            deaf.kill()
            deaf.wait()
            reached = True
    finally:
        ended.set()
        for other in others:
            other.join()
    assert reached, "the block is not cut off"
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("Ctrl-C must end a command again")


def doubled(number: int) -> int:
    """Stands for a piece of work."""
    if number < 0:
        raise ValueError(f"{number} is too small")
    return 2 * number


def ends_itself() -> None:
    os._exit(3)


def does_nothing() -> None:
    """What a worker begins with."""


def test_a_worker_sends_back_what_its_work_gives_or_raises_and_is_begun_again_where_it_was_ended():
    with started(2, does_nothing) as (one, other):
        one.do(doubled, 4)
        other.do(doubled, -1)
        done = []
        while len(done) < 2:
            done += [worker for worker in Worker.among([one, other]) if worker not in done]
        assert one.result() == 8
        with pytest.raises(ValueError, match="-1 is too small") as raised:
            other.result()
        assert any("in doubled" in note for note in raised.value.__notes__), "where it was raised"
        one.do(ends_itself)
        assert Worker.among([one, other]) == [one]
        with pytest.raises(EndedError):
            one.result()
        one.begin_again()
        one.do(doubled, 5)
        assert Worker.among([one]) == [one] and one.result() == 10
        other._process.kill()  # while it has nothing to do
        other._process.join()
        other.do(doubled, 6)
        assert Worker.among([other]) == [other] and other.result() == 12
        processes = [one._process, other._process]
    assert not any(process.is_alive() for process in processes)


def closes_all_that_is_open() -> None:
    os.closerange(3, 256)
    time.sleep(600)


def test_one_that_lost_its_connection_is_ended_before_another_takes_its_place():
    with started(1, does_nothing) as [one]:
        lost = one._process
        one.do(closes_all_that_is_open)
        assert Worker.among([one]) == [one]
        with pytest.raises(EndedError):
            one.result()
        one.begin_again()
        assert not lost.is_alive()
        one.do(doubled, 5)
        assert Worker.among([one]) == [one] and one.result() == 10


def test_workers_are_ended_where_their_block_fails():
    with pytest.raises(KeyError), started(1, does_nothing) as [one]:
        one.do(time.sleep, 600)
        process = one._process
        raise KeyError
    assert not process.is_alive()


IN_A_PROCESS_OF_ITS_OWN = """
import sys, threading
from tests.review.test_workers import does_nothing
from trainyard.review.processes import Worker, started, way_to_start
sys.setrecursionlimit(1234)  # which no process that is started anew has
print(way_to_start())
with started(2, does_nothing) as workers:
    for worker in workers:
        worker.do(sys.getrecursionlimit)
        Worker.among([worker])
        print(worker.result())
ended = threading.Event()
threading.Thread(target=ended.wait).start()
print(way_to_start())
ended.set()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="forks on Linux alone")
def test_a_process_of_one_thread_is_forked_and_one_of_more_never():
    found = subprocess.run(
        [sys.executable, "-c", IN_A_PROCESS_OF_ITS_OWN], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert found.stdout.split("\n") == ["fork", "1234", "1234", "spawn", ""], found.stderr


def test_elsewhere_than_on_linux_no_process_is_forked(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert way_to_start() == "spawn"


ENDED_FROM_OUTSIDE = """
import os, signal
from tests.review.test_workers import does_nothing
from trainyard.review.processes import started
with started(2, does_nothing) as workers:
    print(*(worker._process.pid for worker in workers), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="kills by signal, and looks into /proc")
def test_workers_end_with_the_command_that_started_them_whatever_ends_it():
    found = subprocess.run(
        [sys.executable, "-c", ENDED_FROM_OUTSIDE], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert found.returncode == -signal.SIGKILL, found.stderr
    last = time.monotonic() + 60
    for pid in map(int, found.stdout.split()):
        while runs(pid) and time.monotonic() < last:
            time.sleep(0.05)
        assert not runs(pid)


def runs(pid: int) -> bool:
    """Whether there is such a process that has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
