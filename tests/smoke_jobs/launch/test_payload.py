from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile

import pytest

from tests.shared import ROOT
from trainyard.smoke_jobs.launch import payload


def test_every_module_and_data_file_of_the_worker_is_in():
    found = payload.files()
    there = {path.name for path in (ROOT / "smoke_jobs" / "ddp").iterdir() if path.is_file()}
    assert set(found) == there | {"start.py"}
    assert "thresholds.csv" in found


def test_keys_are_what_a_config_map_takes():
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz_.") for name in payload.files())


def test_there_is_room_left():
    assert sum(map(len, payload.files().values())) < payload.LIMIT_BYTES / 2


def test_a_worker_that_outgrew_a_config_map_is_refused():
    with pytest.raises(payload.PayloadTooLargeError, match="a ConfigMap takes 921600"):
        payload.files({"big.csv": "x" * payload.LIMIT_BYTES})


def test_the_archive_is_the_same_every_time_and_runs(tmp_path):
    data = payload.archive(payload.files())
    assert data == payload.archive(dict(reversed(payload.files().items())))
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        tar.extractall(tmp_path, filter="data")
    answer = subprocess.run(
        [sys.executable, str(tmp_path / "ddp" / "__main__.py"), "--help"],
        capture_output=True, text=True, check=False, env={"PATH": ""},
    )  # fmt: skip
    assert answer.returncode == 0
    assert "--rendezvous-timeout-s" in answer.stdout


def test_a_job_is_named_by_its_files_and_objects_as_by_one_text():
    code = {"b.py": "print('b')", "a.py": "\u00fc"}
    for objects in ([{"z": 1, "a": {"b": [None, "\u00e4"]}}], []):
        whole = payload.digest(json.dumps({"objects": objects, "code": code}, sort_keys=True))
        assert payload.digest_with_files(tuple(code.items()), objects) == whole
    assert payload.digest_with_files((("a.py", ""),), []) != payload.digest_with_files((("a.py", " "),), [])
