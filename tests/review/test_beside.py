"""Two things at once: the same answer as in one process, whatever becomes of the other."""

import errno
import importlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.rehearsal.refusals.builders import resource
from tests.review.test_workers import runs
from tests.shared import ROOT
from trainyard.recorded.model import UNKNOWN, Finding
from trainyard.rehearsal import judged
from trainyard.rehearsal.context import Case, Refused, ValueContext
from trainyard.review import beside, judging, practice, review
from trainyard.review.beside import SWITCH, Beside, can_do_two


@pytest.fixture
def two(monkeypatch):
    """A machine on which two things can be done at once."""
    monkeypatch.setattr(beside, "can_do_two", lambda: True)


def test_it_is_done_in_another_process(two):
    with Beside() as other:
        assert other.begin(lambda _: (os.getpid(), "x" * 1_000_000))  # more than a pipe holds
        process, text = other.answer()
    assert process != os.getpid()
    assert text == "x" * 1_000_000


def test_each_piece_of_what_is_left_is_done_by_whoever_gets_at_it_first(two):
    def share(take):
        return os.getpid(), list(iter(take, None))

    with Beside() as other:
        other.begin(lambda _: time.sleep(600), share, 3)
        assert [other.take() for _ in range(5)] == [0, 1, 2, None, None], "it is not there yet"
    assert other.take() is None
    reading, writing = os.pipe()
    with Beside() as other:
        other.begin(lambda _: 1, lambda take: (share(take), os.write(writing, b"."))[0], 3)
        assert os.read(reading, 1) == b".", "it has done all"
        assert other.take() is None
        process, pieces = other.found()
        assert process != os.getpid()
        assert pieces == [0, 1, 2]
        assert other.answer() == 1
    os.close(reading)
    os.close(writing)


def test_no_piece_is_done_twice_or_left_out(two):
    with Beside() as other:
        other.begin(lambda told: told(), lambda take: list(iter(take, None)), 255)
        other.tell(1)
        mine = list(iter(other.take, None))
        assert sorted([*mine, *other.found()]) == list(range(255))


def pid(_):
    return os.getpid()


def nothing(_):
    return None


def failing(*_):
    raise ValueError("wrong")


def killed(_):
    os.kill(os.getpid(), signal.SIGKILL)


def not_to_be_sent(_):
    return lambda: None


@pytest.mark.parametrize("work", [failing, killed, not_to_be_sent])
def test_without_an_answer_it_is_left_to_the_caller_and_nothing_is_told(two, capfd, work):
    with Beside() as other:
        other.begin(work, nothing)
        assert other.answer() is None
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("what", "times"), [("fork", 0), ("pipe", 0), ("pipe", 1), ("pipe", 2)])
def test_where_no_process_or_pipe_is_to_be_had_it_is_done_here(two, monkeypatch, what, times):
    real, done = getattr(os, what), []

    def refused():
        if len(done) >= times:
            raise OSError(errno.EAGAIN, "Resource temporarily unavailable")
        done.append(real())
        return done[-1]

    opened, mask = sorted(Path("/dev/fd").iterdir()), signal.pthread_sigmask(signal.SIG_BLOCK, set())
    with Beside() as other, monkeypatch.context() as patched:
        patched.setattr(os, what, refused)
        assert not other.begin(pid, nothing)
        assert other.take() is None
        assert other.answer() is None
    assert sorted(Path("/dev/fd").iterdir()) == opened
    assert signal.pthread_sigmask(signal.SIG_BLOCK, set()) == mask


def test_what_it_writes_is_not_lost_and_goes_by_no_proxy_of_a_spinner(two, monkeypatch, capfd):
    live, console = pytest.importorskip("rich.file_proxy"), pytest.importorskip("rich.console")
    monkeypatch.setattr(sys, "stdout", live.FileProxy(console.Console(), sys.stdout))
    monkeypatch.setattr(sys, "stderr", live.FileProxy(console.Console(stderr=True), sys.stderr))

    def work(_):
        print("said")
        print("a warning", file=sys.stderr)
        return [type(stream).__module__ for stream in (sys.stdout, sys.stderr)]

    with Beside() as other:
        other.begin(work, nothing)
        assert other.answer() == ["_io", "_io"]
    assert capfd.readouterr() == ("said\n", "a warning\n")


def test_what_nobody_waits_for_ends_with_the_block(two):
    with pytest.raises(KeyboardInterrupt), Beside() as other:
        other.begin(lambda _: time.sleep(600), nothing)
        process = other._process
        raise KeyboardInterrupt
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_one_that_ended_where_the_ends_of_processes_are_ignored_is_no_error(two):
    kept = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        with Beside() as other:
            other.begin(pid, nothing)
            last = time.monotonic() + 10
            while runs(other._process) and time.monotonic() < last:
                time.sleep(0.01)
    finally:
        signal.signal(signal.SIGCHLD, kept)


PARENT_KILLED = """
import os, signal, sys, time
from pathlib import Path
from trainyard.review import beside
beside.can_do_two = lambda: True
with beside.Beside() as other:
    other.begin(lambda _: (time.sleep(0.5), "x" * 1_000_000))  # more than a pipe holds
    Path(sys.argv[1]).write_text(str(other._process))
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="kills by signal, and looks into /proc")
def test_it_ends_where_its_parent_is_killed_before_its_answer_is_read(tmp_path):
    found = subprocess.run([sys.executable, "-c", PARENT_KILLED, str(tmp_path / "pid")], cwd=ROOT, timeout=60)
    assert found.returncode == -signal.SIGKILL
    process, last = int((tmp_path / "pid").read_text()), time.monotonic() + 10
    while runs(process) and time.monotonic() < last:
        time.sleep(0.05)
    ended = not runs(process)
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    assert ended


def test_a_ctrl_c_finds_its_handler_again(two):
    handler, mask = signal.getsignal(signal.SIGINT), signal.pthread_sigmask(signal.SIG_BLOCK, set())
    with Beside() as other:
        other.begin(pid, nothing)
        assert signal.getsignal(signal.SIGINT) is handler
        assert signal.pthread_sigmask(signal.SIG_BLOCK, set()) == mask
        assert other.answer() is not None


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """A process of one thread on two cores, as Linux tells; the folder of its threads."""
    (tmp_path / "1").mkdir()
    monkeypatch.setattr(beside, "_THREADS", tmp_path)
    monkeypatch.setattr(beside, "cores", lambda: 2)
    monkeypatch.setattr(threading, "enumerate", lambda: [threading.main_thread()])
    monkeypatch.delenv(SWITCH, raising=False)
    return tmp_path


def test_one_thread_and_two_cores_are_enough(alone):
    assert can_do_two()


def test_a_spinner_is_no_hindrance(alone, monkeypatch):
    live = pytest.importorskip("rich.live")
    (alone / "2").mkdir()
    spinner = live._RefreshThread(None, 1)
    monkeypatch.setattr(threading, "enumerate", lambda: [threading.main_thread(), spinner])
    assert can_do_two()


@pytest.mark.parametrize("why", ["a thread", "one core", "the switch", "not Linux"])
def test_where_it_may_not_be_the_same_all_is_done_here(alone, monkeypatch, why):
    if why == "a thread":
        (alone / "2").mkdir()
    elif why == "one core":
        monkeypatch.setattr(beside, "cores", lambda: 1)
    elif why == "the switch":
        monkeypatch.setenv(SWITCH, "1")
    else:
        monkeypatch.setattr(beside, "_THREADS", alone / "none")
    with Beside() as other:
        assert not other.begin(lambda _: 1, nothing, 2)
        assert other.answer() is None


def test_what_it_is_told_comes_one_after_the_other(two):
    with Beside() as other:
        other.begin(lambda told: [told(), told()])
        other.tell("x" * 1_000_000)  # more than a pipe holds
        other.tell({"of": Finding("error", "a-rule", "wrong")})
        assert other.answer() == ["x" * 1_000_000, {"of": Finding("error", "a-rule", "wrong")}]


def test_one_that_waits_to_be_told_more_than_there_is_has_no_answer(two, capfd):
    with Beside() as other:
        other.begin(lambda told: (told(), told()))
        other.tell(1)
        assert other.answer() is None
    assert capfd.readouterr() == ("", "")


def test_what_cannot_be_told_is_left_to_the_caller(two):
    with Beside() as other:
        other.begin(lambda told: told())
        other.tell(lambda: None)
        other.tell(1)
        assert other.answer() is None


def test_one_that_ended_is_told_nothing(two):
    with Beside() as other:
        other.begin(killed)
        other.tell("x" * 1_000_000)
        assert other.answer() is None


@pytest.mark.skipif(sys.platform != "linux", reason="pipes hold as much as each system says")
def test_what_it_may_practise_on_is_told_without_waiting_until_it_listens(two):
    with Beside() as other:
        other.begin(lambda _: time.sleep(600))
        started = time.monotonic()
        other.tell("x" * 500_000)
        assert time.monotonic() - started < 300


def test_a_thread_that_tells_and_the_block_that_is_left_end_it_once(two):
    opened = set(Path("/dev/fd").iterdir())
    for _ in range(20):
        with suppress(KeyboardInterrupt), Beside() as other:
            other.begin(lambda _: time.sleep(600))
            telling = threading.Thread(target=other.tell, args=["x" * 5_000_000])
            telling.start()
            os.kill(other._process, signal.SIGKILL)
            raise KeyboardInterrupt
        telling.join()
        assert other.answer() is None
    assert set(Path("/dev/fd").iterdir()) <= opened  # others' may be closed meanwhile


def test_it_imports_nothing_to_understand_what_it_is_told(two, monkeypatch, tmp_path):
    (tmp_path / "of_a_program.py").write_text("class Value(str):\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    with Beside() as other:
        other.begin(lambda told: told())
        value = importlib.import_module("of_a_program").Value("x")
        other.tell(value)
        assert other.answer() is None


@pytest.mark.skipif(sys.platform != "linux", reason="kills by signal, and looks into /proc")
def test_one_that_waits_to_be_told_ends_with_its_parent(tmp_path):
    told = PARENT_KILLED.replace('lambda _: (time.sleep(0.5), "x" * 1_000_000)', "lambda told: told()")
    assert told != PARENT_KILLED
    found = subprocess.run([sys.executable, "-c", told, str(tmp_path / "pid")], cwd=ROOT, timeout=60)
    assert found.returncode == -signal.SIGKILL
    process, last = int((tmp_path / "pid").read_text()), time.monotonic() + 10
    while runs(process) and time.monotonic() < last:
        time.sleep(0.05)
    assert not runs(process)


@pytest.fixture
def judge(rehearsed, monkeypatch):
    """Judges `demo-gcp` of the session's recording, as `trainyard rehearse` does."""
    run = rehearsed("demo-gcp")
    by_rules = []

    def rehearse(*_, elsewhere, **__):
        elsewhere.configured(judge.configuration)
        elsewhere.recorded(run, Case(run.known.resources, ValueContext("1.35", "")))
        by_rules.append(elsewhere.judged(Refused([], [])))
        return run

    monkeypatch.setattr(review, "rehearse", rehearse)

    def judge(**more):
        by_rules.clear()
        return review.review(ROOT, ROOT / "stacks" / "Pulumi.demo-gcp.yaml", **more)

    judge.by_rules, judge.configuration = by_rules, {}
    return judge


def test_a_stack_judged_alone_is_judged_beside(two, judge, monkeypatch):
    real, rules = judging.by_policies, judged.judged_by_rules
    monkeypatch.setattr(judging, "by_policies", lambda *of: replace(real(*of), stack=str(os.getpid())))
    monkeypatch.setattr(judged, "judged_by_rules", lambda *of: (rules(*of)[0], {"works": os.getpid()}))
    assert judge().policies.stack == str(os.getpid())
    assert judge.by_rules == [None]
    by_policies = judge(alone=True).policies.stack
    ((_, by_rules),) = judge.by_rules
    assert len({by_policies, str(by_rules["works"]), str(os.getpid())}) == 3, "three processes"


def test_the_verdict_is_the_same(two, judge):
    told, other = judge().as_json(), judge(alone=True).as_json()
    assert judge.by_rules == [([], {"refusals": pytest.approx(0, abs=60), "works": pytest.approx(0, abs=60)})]
    assert {**told, "seconds": 0} == {**other, "seconds": 0}


@pytest.mark.parametrize("cloud", ["aws", "gcp", "none that there is"])
def test_practice_changes_nothing(two, judge, cloud):
    whole = judge(alone=True).as_json()
    judge.configuration = {"trainyard:cloud": cloud}
    assert {**judge(alone=True).as_json(), "seconds": 0} == {**whole, "seconds": 0}
    assert judge.by_rules[0] is not None, "it was judged beside"


def test_practice_that_cannot_be_read_leaves_it_to_this_process(two, judge, monkeypatch, tmp_path):
    whole = judge(alone=True).as_json()
    (tmp_path / "gcp.json").write_text("{")
    monkeypatch.setattr(practice, "FOLDER", tmp_path)
    judge.configuration = {"trainyard:cloud": "gcp"}
    assert {**judge(alone=True).as_json(), "seconds": 0} == {**whole, "seconds": 0}
    assert judge.by_rules == [None]


def test_the_other_process_sees_that_there_is_more_to_hear(two):
    with Beside() as other:
        other.begin(
            lambda told: (told(), told.comes(), select.select([told._pipe], [], [])[0] != [], told.comes(), told())
        )
        other.tell("first")
        time.sleep(0.2)
        other.tell("second")
        assert other.answer() == ("first", False, True, True, "second")


def test_while_it_is_judged_beside_the_price_is_worked_out(two, judge, monkeypatch):
    asked = []
    found = judge(alone=True, meanwhile=lambda: asked.append(1))
    assert asked == [1]
    assert found.cost is not None and found.cost.as_json() == judge().cost.as_json()
    monkeypatch.setenv(SWITCH, "1")
    monkeypatch.setattr(beside, "can_do_two", can_do_two)
    judge(alone=True, meanwhile=lambda: asked.append(2))
    assert asked == [1], "nobody waits"


def test_a_price_that_fails_while_another_judges_fails_where_it_is_needed(two, judge, monkeypatch):
    monkeypatch.setattr("trainyard.cost.price.price_stack", failing)
    with pytest.raises(ValueError, match="wrong"):
        judge(alone=True)


def test_policies_that_fail_beside_fail_here(two, judge, monkeypatch):
    monkeypatch.setattr(judging, "by_policies", failing)
    with pytest.raises(ValueError, match="wrong"):
        judge(alone=True)


def test_rules_that_fail_beside_are_left_to_this_process(two, judge, monkeypatch):
    monkeypatch.setattr(judged, "judged_by_rules", failing)
    judge(alone=True)
    assert judge.by_rules == [None]


@pytest.mark.parametrize("wrong", [False, True])
def test_values_are_looked_at_before_it_is_known_what_is_of_a_wrong_kind(monkeypatch, wrong):
    bucket = resource("aws:s3/bucket:Bucket", "data", {"bucket": ["a", "b"], "tags": {"team": "vision"}})
    looked = []
    schema = [Finding("error", "wrong-type", "a list", urn=bucket.urn, path="bucket")] if wrong else []

    def check_values(resources, _):
        looked.append(resources[0].inputs["bucket"])
        if looked[-1] == ["a", "b"] and wrong:
            raise TypeError("no text")
        return []

    monkeypatch.setattr(judged, "check_values", check_values)
    monkeypatch.setattr(judged, "check_works", lambda *_, **__: [])

    class Nobody:
        take = staticmethod(lambda: None)
        found = staticmethod(lambda: None)

    case = Case([bucket], ValueContext("1.35", "us-east-1"))
    assert judged.judged_by_rules(case, lambda: Refused([], schema), Nobody())[0] == []
    assert looked == ([["a", "b"], UNKNOWN] if wrong else [["a", "b"]])
    looked.clear()
    assert judged.judged_by_rules(case, lambda: Refused([], schema))[0] == []
    assert looked == ([UNKNOWN] if wrong else [["a", "b"]]), "what is known before is not tried"
