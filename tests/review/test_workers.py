"""Many stacks in several processes: the same outcome as in one, in the order of the files, whatever becomes of one."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.shared import ROOT
from trainyard.review.formats.names import Format
from trainyard.review.review import failed
from trainyard.review.told import Asked, Told, tell, told
from trainyard.review.verdict import State
from trainyard.review.workers import MOST_WORKERS, StacksLeft, interrupts_held, tell_all, workers_for

FORMATS = tuple(Format)


def asked(**more):
    return Asked(ROOT, FORMATS, **more)


def judged(asked_for: Asked, file: Path, _earlier: object = None) -> Told:
    """Stands for judging a stack; what is to become of it is in its name."""
    if "killed" in file.name:
        os.kill(os.getpid(), signal.SIGKILL)
    if "slow" in file.name:
        import time

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
    found = list(tell_all(asked(), of(names), {}, workers=2, judge_one=judged))
    assert [one.verdict.stack for one in found] == names
    killed = [one for one in found if "killed" in one.verdict.stack]
    assert all(one.verdict.state is State.BROKEN and one.verdict.exit_code == 70 for one in killed)
    assert all("ended from outside" in one.verdict.headline for one in killed)
    assert all(set(one.parts) == set(FORMATS) for one in killed), "every format tells it"
    assert all("in process" in one.verdict.headline for one in found if one not in killed)


def test_an_exception_of_trainyards_own_is_that_stacks_outcome(monkeypatch):
    def broken(*_arguments, **_more):
        raise TypeError("unsupported operand")

    monkeypatch.setattr("trainyard.review.told.judge", broken)
    [found] = tell_all(asked(), of(["shop"]), {}, workers=1)
    assert (found.verdict.state, found.verdict.exit_code) == (State.BROKEN, 70)
    assert "TypeError: unsupported operand (test_workers.py:" in found.verdict.headline
    with pytest.raises(TypeError):
        list(tell_all(asked(debug=True), of(["shop"]), {}, workers=1))


def test_processes_tell_what_one_tells(tmp_path):
    stack = (ROOT / "stacks" / "Pulumi.uae-aws.yaml").read_text(encoding="utf-8")
    files = [ROOT / "stacks" / "Pulumi.demo.yaml"]
    for name, text in (("open", f"{stack}  trainyard:protect: false\n"), ("odd", f"{stack}  trainyard:teem: x\n")):
        files.append(tmp_path / f"Pulumi.{name}.yaml")
        files[-1].write_text(text, encoding="utf-8")
    together = list(tell_all(asked(), files, {}, workers=2))
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
