"""A rank that is a fork of its agent is a process of its own, as one that torchrun starts anew; so is a wrapper that is
a fork of a process with torch, and its agent."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

from tests.smoke_jobs.ddp.conftest import WITHOUT_COMPILER, clean_environment
from tests.smoke_jobs.ddp.forked_wrappers import started

START = """
    import os, sys, types
    from sitecustomize import STARTS_RANKS
    sys.modules[STARTS_RANKS] = types.ModuleType("starts_ranks")  # torch's, which takes a second
    {before}
    from forked_ranks import ForkedRank
    {agent}
    rank = ForkedRank(
        [sys.executable, "-u", "rank.py"], env={{**os.environ, "OMP_NUM_THREADS": "3"}},
        stdout=open("out", "w"), stderr=open("err", "w"), start_new_session=True,
    )
    {then}
    print("ended with", rank.wait(20))
"""


def ran(folder: Path, rank: str = "", *, before: str = "", agent: str = "", then: str = "") -> tuple[str, str, str]:
    """What the agent, the rank, and the rank's errors say."""
    (folder / "rank.py").write_text(textwrap.dedent(rank))
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(START).format(before=before, agent=agent, then=then)],
        cwd=folder,
        env=clean_environment({"PYTHONPATH": str(WITHOUT_COMPILER)}),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    out, err = (path.read_text() if path.exists() else "" for path in (folder / "out", folder / "err"))
    return done.stdout + done.stderr, out, err


def test_a_rank_is_there_for_signals_when_it_is_started(tmp_path):
    slow = "import time; own = os.setsid; os.setsid = lambda: (time.sleep(0.5), own())"
    said, _, _ = ran(
        tmp_path, "import time; time.sleep(20)", agent=slow, then="import signal; os.killpg(rank.pid, signal.SIGTERM)"
    )
    assert said == "ended with -15\n"


def test_what_the_agent_does_at_its_end_is_no_ranks(tmp_path):
    said, told, errors = ran(
        tmp_path,
        """
        import atexit, multiprocessing.util, weakref
        class Held: pass
        held = Held()
        weakref.finalize(held, print, "held")
        atexit.register(print, "rank's")
        multiprocessing.util.Finalize(None, print, ("process's",), exitpriority=1)
        """,
        before="import atexit, weakref, multiprocessing.util; atexit.register(print, 'of a module')",
        agent="weakref.finalize(ForkedRank, print, 'agent held'); atexit.register(lambda: print('agent ends'))",
    )
    assert errors == "" and sorted(told.splitlines()) == ["held", "of a module", "process's", "rank's"]
    assert said.splitlines() == ["ended with 0", "agent ends", "agent held", "of a module"]


def test_a_rank_that_cannot_begin_says_why(tmp_path):
    said, _, errors = ran(tmp_path, agent="os.sysconf = None")
    assert said == "ended with 1\n" and "in _become" in errors and "TypeError" in errors


def test_a_rank_has_the_threads_that_its_environment_says(tmp_path):
    _, told, _ = ran(tmp_path, "import torch; print(torch.get_num_threads())", before="import torch")
    assert told == "3\n"


def test_another_python_is_told_what_is_missing(tmp_path):
    said, _, _ = ran(
        tmp_path, before="import subprocess; subprocess.Popen._execute_child = lambda self, args, environment: None"
    )
    assert (
        "RuntimeError: ranks as forks need subprocess.Popen._execute_child with args, env, c2pwrite, errwrite" in said
    )
    assert "has (self, args, environment)" in said


WRAPPER = """
    import atexit, json, os, subprocess, sys

    def told(**more):
        shown = open("/proc/self/environ", "rb").read().rstrip(b"\\0").split(b"\\0")
        own = [each.decode().partition("=")[::2] for each in shown]
        print(json.dumps({
            "argv": sys.argv[1:], "pid": os.getpid(), "parent": os.getppid(), "session": os.getsid(0),
            "folder": os.getcwd(), "shown": dict(own) == dict(os.environ), "marker": os.environ["MARKER"],
            "torch": "torch" in sys.modules, "files": sorted(map(int, os.listdir("/proc/self/fd")))[:3], **more,
        }), flush=True)

    if sys.argv[1] == "agent":
        told(stdin=sys.stdin.read())
        sys.exit(7)
    told(read=sys.stdin.read())
    atexit.register(print, "the wrapper ends", flush=True)
    agent = subprocess.Popen([sys.executable, sys.argv[0], "agent", "x"], env={**os.environ, "MARKER": "agent's"},
                             start_new_session=True)
    code = agent.wait()
    print(json.dumps({"agent": agent.pid, "code": code}), flush=True)
    new = [sys.executable, "-c", "import sys; print('torch' in sys.modules, flush=True)"]
    subprocess.run(new, check=True)
    sys.exit(3)
"""


def test_a_wrapper_and_its_agent_are_processes_of_their_own(preloaded, tmp_path):
    program = tmp_path / "wrapper.py"
    program.write_text(textwrap.dedent(WRAPPER))
    env = clean_environment({"MARKER": "wrapper's"})
    process = started(preloaded, [sys.executable, str(program), "first"], env)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 3, said
    wrapper, agent, ended, new, last = said.splitlines()
    assert (new, last) == ("False", "the wrapper ends")
    wrapper, agent, ended = map(json.loads, (wrapper, agent, ended))
    assert wrapper == {
        "argv": ["first"], "pid": process.pid, "parent": os.getpid(), "session": os.getsid(0), "folder": "/",
        "shown": True, "marker": "wrapper's", "torch": True, "files": [0, 1, 2], "read": "",
    }  # fmt: skip
    assert agent == {
        "argv": ["agent", "x"], "pid": ended["agent"], "parent": process.pid, "session": ended["agent"],
        "folder": "/", "shown": True, "marker": "agent's", "torch": True, "files": [0, 1, 2], "stdin": "",
    }  # fmt: skip
    assert ended["code"] == 7


def test_a_wrapper_gets_its_signals_and_its_errors_are_told(preloaded, tmp_path):
    program = tmp_path / "wrapper.py"
    program.write_text("import time; print('up', flush=True); time.sleep(60)")
    process = started(preloaded, [sys.executable, str(program)], clean_environment())
    assert process.stdout.readline() == "up\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == -signal.SIGTERM
    process.stdout.close()
    program.write_text("raise ValueError('no')")
    broken = started(preloaded, [sys.executable, str(program)], clean_environment())
    assert "ValueError: no" in broken.communicate(timeout=30)[0] and broken.returncode == 1
