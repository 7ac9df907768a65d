"""Waves: in order, each stack once, whatever is killed meanwhile; a stand-in takes Pulumi's place."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path

import pytest

from tests.fleet.fleets import clients, project, pulumi, settings
from tests.shared import ROOT
from trainyard.fleet import asking
from trainyard.fleet.clients import Client
from trainyard.fleet.keeper import outcome
from trainyard.fleet.ledger import Ledger, Turn
from trainyard.fleet.pulumi import Pulumi, PulumiError
from trainyard.fleet.upgrade import brought_up_to_date, due, environment_of, home_of, turns, upgrade
from trainyard.problems import SettingsError

NOW = "20261126T080000Z"
WAVE = {"a": "rest", "b": "canary", "c": "early", "d": "canary"}


def fleet(folder: Path, **entries: dict[str, str]) -> Path:
    said = {name: {"wave": wave, **entries.get(name, {})} for name, wave in WAVE.items()}
    return project(folder, {name: settings(name) for name in WAVE}, said)


def bring(
    folder: Path,
    wave: str,
    program: Path,
    done: list[str] | None = None,
    at_once: int = 1,
    said: list[str] | None = None,
    held: str = "none",
    read: Sequence[Client] = (),
) -> list[Turn]:
    """`read`: the project's clients, where they are read already."""
    ledger = Ledger.read(folder / "ledger")
    found = read or clients(folder)
    if ledger is None:
        ledger = Ledger(folder / "ledger", "2.0.0", turns(found, "2.0.0"), NOW)
        ledger.write()
    heard = [] if done is None else done
    by_name, say = {client.stack: client for client in found}, (lambda _: None) if said is None else said.append
    return upgrade(
        ledger,
        by_name,
        wave,  # type: ignore[arg-type]
        str(program),
        folder / "homes",
        say,
        heard.append,
        lambda wave: wave == held,
        at_once,
    )


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def test_a_wave_comes_after_those_before_it_and_each_stack_once(tmp_path: Path) -> None:
    folder, program = fleet(tmp_path / "p"), pulumi(tmp_path)
    done: list[str] = []
    assert bring(folder, "canary", program, done) == []
    assert lines(tmp_path / "ended") == done == ["b", "d"]
    assert bring(folder, "rest", program, done) == []
    assert lines(tmp_path / "ended") == done == ["b", "d", "c", "a"]
    assert bring(folder, "rest", program, done) == []
    assert len(done) == 4


def test_a_wave_that_is_held_back_is_not_begun_and_none_after_it(tmp_path: Path) -> None:
    folder, program = fleet(tmp_path / "p"), pulumi(tmp_path)
    assert bring(folder, "rest", program, held="early") == []
    assert lines(tmp_path / "ended") == ["b", "d"]


def test_each_stack_has_its_own_backend_and_home(tmp_path: Path) -> None:
    folder, program = fleet(tmp_path / "p"), pulumi(tmp_path)
    bring(folder, "canary", program)
    assert lines(tmp_path / "calls") == [
        "b up s3://agency-b?region=us-east-1",
        "d up s3://agency-d?region=us-east-1",
    ]
    assert {path.name for path in (folder / "homes").iterdir()} == {"b", "d", ".plugins"}


def test_what_one_fetches_is_everybody_s(tmp_path: Path) -> None:
    folder = fleet(tmp_path / "p")
    homes = {client.stack: home_of(client, folder / "homes") for client in clients(folder)}
    (homes["a"] / "plugins" / "resource-aws-v7.0.0").mkdir()
    assert (homes["b"] / "plugins" / "resource-aws-v7.0.0").is_dir()
    (a, *_) = [client for client in clients(folder) if client.stack == "a"]
    asked = environment_of(a, homes["a"])
    assert asked["PULUMI_HOME"] == str(homes["a"]), "what asks for its state too"
    assert Pulumi("pulumi", a, homes["a"], homes["a"])._environment() == asked
    assert home_of(a, folder / "homes") == homes["a"], "once more"


def test_a_home_with_plugins_of_its_own_keeps_them(tmp_path: Path) -> None:
    folder = fleet(tmp_path / "p")
    (folder / "homes" / "a" / "plugins").mkdir(parents=True)
    (a, *_) = [client for client in clients(folder) if client.stack == "a"]
    assert not (home_of(a, folder / "homes") / "plugins").is_symlink()


def test_it_stops_where_one_fails_and_goes_on_there(tmp_path: Path) -> None:
    folder, program = fleet(tmp_path / "p"), pulumi(tmp_path)
    (tmp_path / "fail-d").touch()
    (failed,) = bring(folder, "rest", program)
    assert (failed.stack, failed.step) == ("d", "failed")
    assert failed.told.endswith("error: update failed: quota")
    assert lines(tmp_path / "ended") == ["b"]
    (tmp_path / "fail-d").unlink()
    assert bring(folder, "rest", program) == []
    assert lines(tmp_path / "ended") == ["b", "d", "c", "a"]


def test_what_is_frozen_or_of_that_release_is_left_alone(tmp_path: Path) -> None:
    folder = fleet(tmp_path, b={"frozen": "a launch"}, c={"version": "2.0.0"}, d={"version": "1.9.0"})
    assert [turn.stack for turn in turns(clients(folder), "2.0.0")] == ["d", "a"]
    assert [turn.stack for turn in turns(clients(folder), "2.0.0", again=True)] == ["d", "c", "a"]
    ledger = Ledger(tmp_path / "ledger", "2.0.0", turns(clients(folder), "2.0.0"), NOW)
    assert [turn.stack for turn in due(ledger, "early")] == ["d"]


def test_an_upgrade_under_way_follows_what_the_agency_says_by_then(tmp_path: Path) -> None:
    """A client that failed is frozen, so that the others can go on; one is added, one moved to another wave."""
    folder, program = fleet(tmp_path / "p"), pulumi(tmp_path)
    (tmp_path / "fail-d").touch()
    bring(folder, "rest", program)
    ledger = Ledger.read(folder / "ledger")
    assert ledger is not None
    project(folder, {"e": settings("e")})
    fleet(folder, b={"version": "2.0.0"}, d={"frozen": "a quota is asked for"}, c={"wave": "rest"})
    brought_up_to_date(ledger, clients(folder))
    assert [(turn.stack, turn.wave, turn.step) for turn in ledger.turns] == [
        ("b", "canary", "done"),
        ("a", "rest", "waiting"),
        ("c", "rest", "waiting"),
        ("e", "rest", "waiting"),
    ]
    ledger.write()
    assert bring(folder, "rest", program) == []
    assert lines(tmp_path / "ended") == ["b", "a", "c", "e"]
    fleet(folder, b={"version": "2.0.0"}, d={"wave": "rest"}, c={"version": "2.0.0"}, a={"version": "2.0.0"})
    again = Ledger.read(folder / "ledger")
    assert again is not None
    brought_up_to_date(again, clients(folder))
    assert [turn.stack for turn in again.left] == ["d"], "thawed; what is done stays done"


def test_what_ended_before_a_stack_was_frozen_is_not_what_ends_when_it_is_thawed(tmp_path: Path) -> None:
    """Its tries are counted anew, and its keeper is killed before it writes how the command ended."""
    folder, program = fleet(tmp_path / "p"), tmp_path / "pulumi"
    program.write_text("#!/bin/sh\nkill -9 $PPID\n")
    program.chmod(0o755)
    (folder / "homes" / "b").mkdir(parents=True)
    (folder / "homes" / "b" / f"up-{NOW}-1.code").write_text("0")
    (failed,) = bring(folder, "canary", program)
    assert (failed.stack, failed.step) == ("b", "failed")


def test_a_code_that_was_cut_is_none(tmp_path: Path) -> None:
    for text, code in (("0", 0), ("255", 255), ("-9", -9), ("", None), ("\n", None), ("\0\0", None)):
        (tmp_path / "up.code").write_text(text)
        assert outcome(tmp_path, "up") == code


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("printf '\\377\\376 rubbish'; exit 3", "stack export ended with 3: it did not say why"),
        ("printf '\\377no login' >&2; exit 1", "no login"),
        ("sleep 60", "gave no answer in 1 seconds"),
        ('read line; echo "$line" > PLACE; exit 4', "ended with 4"),
    ],
)
def test_a_program_that_answers_rubbish_or_not_at_all_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, said: str
) -> None:
    program = tmp_path / "pulumi"
    program.write_text("#!/bin/sh\n" + script.replace("PLACE", str(tmp_path / "heard")) + "\n")
    program.chmod(0o755)
    monkeypatch.setattr(asking, "ASKED_SECONDS", 1.0 if "sleep" in script else 300.0)
    (a, *_) = clients(fleet(tmp_path / "p"))
    with pytest.raises(PulumiError, match=said):
        Pulumi(str(program), a, tmp_path).state()
    assert not (tmp_path / "heard").exists() or not (tmp_path / "heard").read_text().strip(), "nobody is asked, unseen"


def test_a_file_that_is_no_program_is_told(tmp_path: Path) -> None:
    (tmp_path / "pulumi").touch(mode=0o755)
    (a, *_) = clients(fleet(tmp_path / "p"))
    with pytest.raises(PulumiError, match="cannot be run: Exec format error"):
        Pulumi(str(tmp_path / "pulumi"), a, tmp_path).output("kubeconfig")


def test_a_program_that_is_gone_is_a_failure(tmp_path: Path) -> None:
    (failed,) = bring(fleet(tmp_path), "canary", tmp_path / "nowhere")
    assert failed.stack == "b"
    assert "nowhere" in failed.told


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        '{"layout": 9}',
        *(
            json.dumps({"layout": 1, "release": "2", "begun": NOW, "turns": [], **wrong})
            for wrong in (
                {"turns": [1]},
                {"turns": [{"stack": "a", "wave": "first"}]},
                {"turns": [{"stack": "a", "wave": "rest", "step": "half done"}]},
                {"turns": [{"stack": "a", "wave": "rest", "tries": "two"}]},
                {"turns": [{"stack": 1, "wave": "rest"}]},
                {"begun": "../elsewhere"},
                {"begun": None},
            )
        ),
    ],
)
def test_a_file_that_is_no_ledger_is_refused_and_kept(tmp_path: Path, text: str) -> None:
    (tmp_path / "ledger").write_text(text)
    with pytest.raises(SettingsError, match="take it away to begin anew"):
        Ledger.read(tmp_path / "ledger")
    assert (tmp_path / "ledger").read_text() == text


def test_a_ledger_that_cannot_be_written_leaves_the_one_before_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(tmp_path / "ledger", "2.0.0", [Turn("a", "rest")], NOW)
    ledger.write()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        ledger.mark(ledger.turns[0], "running")
    assert [path.name for path in tmp_path.iterdir()] == ["ledger"]
    assert '"waiting"' in (tmp_path / "ledger").read_text()


DRIVER = """
import sys
from pathlib import Path
from tests.fleet.test_upgrade import bring
print("begun", flush=True)
failed = bring(Path(sys.argv[1]), "rest", Path(sys.argv[2]), at_once=int(sys.argv[3]))
assert not failed, failed
"""


def test_stacks_of_a_wave_run_at_once_and_waves_after_each_other(tmp_path: Path) -> None:
    folder, program = fleet(tmp_path / "p"), pulumi(tmp_path)
    (tmp_path / "meet").write_text("2")
    assert bring(folder, "canary", program, at_once=2) == [], "neither ends before the other has begun"
    (tmp_path / "meet").unlink()
    assert bring(folder, "rest", program, at_once=4) == []
    assert lines(tmp_path / "ended")[2:] == ["c", "a"], "early before rest, however many at once"


def test_where_one_fails_none_begins_and_what_runs_ends(tmp_path: Path) -> None:
    names = [f"c{number}" for number in range(6)]
    folder = project(tmp_path / "p", {name: settings(name) for name in names})
    program = pulumi(tmp_path, seconds=0.2)
    (tmp_path / "fail-c0").touch()
    (tmp_path / "slow-c1").touch()
    assert [turn.stack for turn in bring(folder, "rest", program, at_once=2)] == ["c0"]
    assert sorted(line.split()[0] for line in lines(tmp_path / "calls")) == ["c0", "c1"]
    assert lines(tmp_path / "ended") == ["c1"], "it ran beside the one that failed"
    ledger = Ledger.read(folder / "ledger")
    assert ledger is not None
    assert [turn.step for turn in ledger.turns] == ["failed", "done", *["waiting"] * 4]
    (tmp_path / "fail-c0").unlink()
    assert bring(folder, "rest", program, at_once=3) == []
    assert Counter(lines(tmp_path / "ended")) == dict.fromkeys(names, 1)


def test_a_ctrl_c_reaches_every_command_that_runs(tmp_path: Path) -> None:
    names = [f"c{number}" for number in range(4)]
    folder = project(tmp_path / "p", {name: settings(name) for name in names})
    program = pulumi(tmp_path, seconds=60)
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(folder), str(program), "2"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 300
    while len(lines(tmp_path / "calls")) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    driver.send_signal(signal.SIGINT)
    assert driver.wait(timeout=30) != 0
    assert sorted(line.split()[0] for line in lines(tmp_path / "calls")) == ["c0", "c1"], "no third one was begun"
    assert lines(tmp_path / "ended") == []


FORK = get_context("fork")
"""A process is there at once, with all that is imported here: twenty interpreters of their own take ten seconds."""


def drive(folder: Path, program: Path, at_once: int, read: Sequence[Client]) -> None:
    failed = bring(folder, "rest", program, at_once=at_once, read=read)
    assert not failed, failed


@pytest.mark.parametrize("at_once", [1, 3])
def test_twenty_kills_do_no_stack_twice_and_forget_none(tmp_path: Path, at_once: int) -> None:
    """The command alone is killed, as by a closed laptop: what it began goes on, and the next one waits for it.

    Every other time it is killed when it has begun a stack, however busy the machine is. Clients are read once: most of
    the other kills would come before anything is done, while each command reads them anew.
    """
    names = [f"c{number:02}" for number in range(40)]
    folder = project(tmp_path / "p", {name: settings(name) for name in names})
    program, read = pulumi(tmp_path, seconds=0.08 * at_once), clients(folder)
    for name in names[:20:3]:
        (tmp_path / f"slow-{name}").touch()  # it still runs when the next command comes, which has to wait
    chance, kills = random.Random(20261123), 0
    for _ in range(60):
        begun = len(lines(tmp_path / "calls"))
        driver = FORK.Process(target=drive, args=(folder, program, at_once, read))
        driver.start()
        if kills < 20:
            while kills % 2 and driver.is_alive() and len(lines(tmp_path / "calls")) == begun:
                time.sleep(0.01)
            time.sleep(chance.uniform(0.0, 0.25))
            driver.kill()
        driver.join(timeout=300)
        code = driver.exitcode
        kills += code == -signal.SIGKILL
        if code == 0:
            break
    assert code == 0
    assert kills == 20
    assert Counter(lines(tmp_path / "ended")) == dict.fromkeys(names, 1)
    assert Counter(line.split()[0] for line in lines(tmp_path / "calls")) == dict.fromkeys(names, 1)
