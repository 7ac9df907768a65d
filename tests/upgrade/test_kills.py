"""The command is killed again and again, as by a closed laptop: each step is done, each `pulumi up` once."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path

from tests.fleet.fleets import pulumi
from tests.upgrade.standing import Standing
from trainyard.fleet.clients import Entry, read_client
from trainyard.fleet.pulumi import Pulumi
from trainyard.upgrade.ledger import FILE, Ledger, read_ledger, steps_of
from trainyard.upgrade.legs import Versions
from trainyard.upgrade.run import Options, carry_out, folder_of

KILLS = 6

FORK = get_context("fork")
"""A process is there at once, with all that is imported here."""


def drive(here: Path) -> None:
    """The command, from where it was left."""
    client = read_client(here / "project", here / "project" / "stacks" / "Pulumi.demo.yaml", Entry())
    folder = folder_of(client)
    through = [Versions("1.35", "1.35.6-20260714"), Versions("1.36", "1.36.2-20260714")]
    ledger = read_ledger(folder) or Ledger(folder / FILE, "now", steps_of(through))
    ledger.write()

    def kubectl(command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        whole = [str(here / "bin" / "kubectl"), "--kubeconfig", "x", "--request-timeout=60s", *command]
        return subprocess.run(whole, capture_output=True, text=True, check=False)

    program = Pulumi(str(here / "pulumi"), client, folder)
    carry_out(ledger, program, lambda: kubectl, lambda _: [], Options(1), lambda _: None)


def test_kills_do_no_up_twice_and_let_every_queue_go(tmp_path: Path) -> None:
    stack = Standing(tmp_path, "1.34", "1.34.9-20260625")
    pulumi(tmp_path, seconds=0.6)
    chance, kills, code = random.Random(20261123), 0, None
    for _ in range(40):
        driver = FORK.Process(target=drive, args=(tmp_path,))
        driver.start()
        if kills < KILLS:
            time.sleep(chance.uniform(0.0, 0.5))
            driver.kill()
        driver.join(timeout=300)
        code = driver.exitcode
        kills += code == -signal.SIGKILL
        if code == 0:
            break
    assert code == 0
    assert kills > 1
    assert Counter(stack.calls)["up"] == 2
    assert stack.versions == ("1.36", "1.36.2-20260714")
    assert set(stack.queues.values()) == {"None"}
