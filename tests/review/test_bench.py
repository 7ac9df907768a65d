"""What `make bench` measures of a command, whatever the command is."""

from __future__ import annotations

import subprocess

import pytest

from trainyard.review import bench


def test_a_command_is_measured_with_its_exit_code() -> None:
    found = bench._measured(["--version"])
    assert found.cpu_seconds > 0
    assert found.seconds > 0
    assert str(found).endswith(" MB")
    with pytest.raises(subprocess.CalledProcessError):
        bench._measured(["--version"], exit_code=3)
