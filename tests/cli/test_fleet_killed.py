"""`trainyard fleet upgrade` itself, killed while it brings stacks up: checks, ledger and fleet.yaml included."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import yaml

from tests.fleet.fleets import programs, project, pulumi, settings
from tests.fleet.test_events import WELL
from tests.fleet.test_upgrade import lines
from trainyard.cli.fleet_releases import LEDGER

KILLS = 4


def test_kills_of_the_command_do_no_stack_twice_and_forget_none(tmp_path: Path) -> None:
    """It is killed while a stack is brought up, by a stand-in that plays a recorded event stream."""
    names = [f"c{number}" for number in range(5)]
    small = {name: settings(name, teamSize=2) for name in names}
    for each in small.values():
        del each["apiAccess"]  # no cluster
    folder = project(tmp_path / "p", small, {name: {"wave": "rest"} for name in names})
    program = pulumi(tmp_path, seconds=0.5)
    (tmp_path / "events").write_text(WELL)
    (tmp_path / "bin").mkdir()
    command = [sys.executable, "-m", "trainyard.cli", "fleet", "upgrade", "--wave", "rest", "--at-once", "1"]
    command += ["--pulumi", str(program), "--project", str(folder)]
    environment = {**os.environ, "PATH": programs(tmp_path / "bin")}
    chance = random.Random(20261125)
    for kill in range(KILLS + 1):
        begun = len(lines(tmp_path / "calls"))
        running = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if kill < KILLS:
            deadline = time.monotonic() + 120
            while len(lines(tmp_path / "calls")) == begun and running.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
            time.sleep(chance.uniform(0.0, 0.4))
            running.send_signal(signal.SIGKILL)
        said, _ = running.communicate(timeout=240)
    assert running.returncode == 0, said
    assert f"5 of 5 stacks were brought to {version('trainyard')}." in said
    ups = Counter(line.split()[0] for line in lines(tmp_path / "calls") if line.split()[1] == "up")
    assert ups == dict.fromkeys(names, 1)
    assert Counter(lines(tmp_path / "ended")) == dict.fromkeys(names, 1)
    assert {turn["step"] for turn in json.loads((folder / LEDGER).read_text())["turns"]} == {"done"}
    noted = yaml.safe_load((folder / "fleet.yaml").read_text())["stacks"]
    assert {name: noted[name]["version"] for name in names} == dict.fromkeys(names, version("trainyard"))
