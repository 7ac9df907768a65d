"""torchrun on this node, and how it ends."""

import subprocess
import sys
from pathlib import Path

from tests.smoke_jobs.ddp.conftest import WITHOUT_COMPILER, clean_environment

ENDS_TOLD_TWICE = """
import atexit, os, signal, sys
from trainyard.smoke_jobs.ddp import agent

atexit.register(lambda: print("told again", os.kill(os.getpid(), signal.SIGTERM), flush=True))
sys.exit(agent.main(["agent", "", "--standalone", "--nproc-per-node", "1", sys.argv[1]]))
"""
TELLS_ITS_AGENT = "import os, signal, time; os.kill(os.getppid(), signal.SIGTERM); time.sleep(60)"


def test_a_signal_that_comes_while_it_ends_changes_nothing(tmp_path):
    rank = tmp_path / "rank.py"
    rank.write_text(TELLS_ITS_AGENT)
    root = Path(__file__).resolve().parents[3]
    ran = subprocess.run(
        [sys.executable, "-c", ENDS_TOLD_TWICE, str(rank)],
        env=clean_environment({"PYTHONPATH": f"{WITHOUT_COMPILER}:{root}"}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 128 + 15, ran.stderr
    assert "told again None" in ran.stdout
    assert "smoke: torchrun was told to stop (SIGTERM)" in ran.stderr and "Traceback" not in ran.stderr
