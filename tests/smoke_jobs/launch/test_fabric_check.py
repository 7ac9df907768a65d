"""What the first container of a pool's runtime asks, as it runs in the image: alone, by `python3 -c`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from trainyard.components.k8s.runtimes import PERMANENT_EXIT_CODES
from trainyard.smoke_jobs.launch.fabric_check import FAILED, plugins_of, problems
from trainyard.smoke_jobs.launch.kubernetes import PERMANENT
from trainyard.smoke_jobs.launch.pod import fabric_program


def test_without_adapters_and_plugin_the_pod_ends_for_good_and_says_why() -> None:
    """This machine has neither."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", fabric_program(), "4"], capture_output=True, text=True, check=False
    )
    assert done.returncode == FAILED
    assert FAILED in PERMANENT_EXIT_CODES and FAILED in PERMANENT
    assert "the pod has 0 of the node's 4 adapters" in done.stdout
    assert "the image has no plug-in of NCCL" in done.stdout
    assert "Traceback" not in done.stderr


def test_it_runs_without_anything_of_ours() -> None:
    assert "trainyard" not in fabric_program()


def test_adapters_are_counted() -> None:
    two = ["/dev/infiniband/uverbs0", "/dev/infiniband/uverbs1"]
    assert problems(2, two, ["libnccl-net.so"]) == []
    assert problems(4, two, ["libnccl-net.so"]) == ["the pod has 2 of the node's 4 adapters (/dev/infiniband/uverbs*)"]
    assert len(problems(2, two, [])) == 1


def test_the_plugin_is_looked_for_where_the_loader_looks(tmp_path: Path) -> None:
    there, elsewhere = tmp_path / "ofi-nccl", tmp_path / "elsewhere"
    for folder in (there, elsewhere):
        folder.mkdir()
        (folder / "libnccl-net.so").touch()
    assert plugins_of(f":{there}:/nosuch", "") == [os.fspath(there / "libnccl-net.so")]
    assert plugins_of("/nosuch", "") == [], "a file that no loader finds is none"
    cache = (
        "1 libs found\n\tlibnccl-net-ofi.so (libc6,x86-64) => /opt/x/libnccl-net-ofi.so\n"
        "\tlibnccl.so.2 (libc6) => /x/libnccl.so.2"
    )
    assert plugins_of("", cache) == ["/opt/x/libnccl-net-ofi.so"]
