"""The command is killed again and again, as by a closed laptop: each step is done, each `pulumi up` once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from tests.fleet.fleets import pulumi
from tests.shared import ROOT
from tests.upgrade.standing import Standing

KILLS = 6

DRIVER = """
import sys
from pathlib import Path
from trainyard.fleet.clients import Entry, read_client
from trainyard.fleet.pulumi import Pulumi
from trainyard.upgrade import queues
from trainyard.upgrade.ledger import FILE, Ledger, read_ledger, steps_of
from trainyard.upgrade.legs import Versions
from trainyard.upgrade.run import Options, carry_out, folder_of
import subprocess

here = Path(sys.argv[1])
client = read_client(here / "project", here / "project" / "stacks" / "Pulumi.demo.yaml", Entry())
folder = folder_of(client)
through = [Versions("1.35", "1.35.6-20260714"), Versions("1.36", "1.36.2-20260714")]
ledger = read_ledger(folder) or Ledger(folder / FILE, "now", steps_of(through))
ledger.write()

def kubectl(command):
    whole = [str(here / "bin" / "kubectl"), "--kubeconfig", "x", "--request-timeout=60s", *command]
    return subprocess.run(whole, capture_output=True, text=True, check=False)

print("begun", flush=True)
pulumi = Pulumi(str(here / "pulumi"), client, folder)
carry_out(ledger, pulumi, lambda: kubectl, lambda _: [], Options(1), lambda _: None)
"""


def test_kills_do_no_up_twice_and_let_every_queue_go(tmp_path: Path) -> None:
    stack = Standing(tmp_path, "1.34", "1.34.9-20260625")
    pulumi(tmp_path, seconds=0.6)
    chance, kills, code = random.Random(20261123), 0, None
    for _ in range(40):
        driver = subprocess.Popen(
            [sys.executable, "-c", DRIVER, str(tmp_path)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert driver.stdout is not None
        driver.stdout.readline()
        if kills < KILLS:
            time.sleep(chance.uniform(0.0, 0.5))
            driver.send_signal(signal.SIGKILL)
        code = driver.wait(timeout=60)
        driver.stdout.close()
        kills += code == -signal.SIGKILL
        if code == 0:
            break
    assert code == 0
    assert kills > 1
    assert Counter(stack.calls)["up"] == 2
    assert stack.versions == ("1.36", "1.36.2-20260714")
    assert set(stack.queues.values()) == {"None"}
