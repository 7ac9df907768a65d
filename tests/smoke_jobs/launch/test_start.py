from __future__ import annotations

import json

import pytest

from tests.smoke_jobs.launch.support import RecordedView, run_start, unpack
from trainyard.smoke_jobs.launch import start
from trainyard.smoke_jobs.launch.follow import Follower
from trainyard.smoke_jobs.launch.payload import START

WORKER = """
import os, sys, json, pathlib
print("arguments", sys.argv[1:], "user", os.environ.get("MLFLOW_TRACKING_USERNAME"))
folder = pathlib.Path(os.environ["SMOKE_RESULT_DIR"])
if "--nothing" not in sys.argv:
    folder.mkdir(parents=True)
    check = {"name": "devices", "verdict": "fail", "reason": "one is missing"}
    (folder / "result.json").write_text(json.dumps({"exit_code": 10, "checks": [check]}))
sys.exit(10)
"""


@pytest.fixture
def program(tmp_path):
    return unpack({"start.py": START.read_text(), "__main__.py": WORKER}, tmp_path / "ddp")


def test_the_exit_code_is_the_workers(program, tmp_path):
    answer = run_start(program, {"SMOKE_RESULT_DIR": str(tmp_path / "r")}, "--flag")
    assert answer.returncode == 10
    assert "arguments ['--flag']" in answer.stdout
    assert start.PREFIX not in answer.stdout


def test_the_document_is_told_where_it_is_wanted_and_read_back(program, tmp_path):
    copy = tmp_path / "copy.json"
    answer = run_start(
        program, {"SMOKE_RESULT_DIR": str(tmp_path / "r"), "SMOKE_TELL": "1", "SMOKE_RESULT_COPY": str(copy)}
    )
    follower = Follower(RecordedView())
    follower.lines(answer.stdout.splitlines())
    assert follower.complete
    assert follower.document == json.loads(copy.read_text())
    assert follower.end(1).exit_code == 10


@pytest.mark.parametrize(
    ("pool", "index", "copied"), [("workerpool0", 0, True), ("workerpool0", 1, False), ("workerpool1", 0, False)]
)
def test_of_a_vertex_job_the_first_node_alone_writes_the_result(monkeypatch, tmp_path, pool, index, copied):
    (tmp_path / "result.json").write_text("{}")
    monkeypatch.setenv("SMOKE_RESULT_COPY", str(tmp_path / "copy.json"))
    monkeypatch.setenv("CLUSTER_SPEC", json.dumps({"task": {"type": pool, "index": index}}))
    start.tell(tmp_path, 0)
    assert (tmp_path / "copy.json").exists() is copied


def test_a_bucket_that_takes_nothing_does_not_change_the_exit_code(program, tmp_path):
    variables = {"SMOKE_RESULT_DIR": str(tmp_path / "r"), "SMOKE_RESULT_COPY": "/proc/none/result.json"}
    answer = run_start(program, variables)
    assert answer.returncode == 10 and "Traceback" not in answer.stderr
    assert "the result was not copied" in answer.stdout


def test_no_result_is_no_error_of_its_own(program, tmp_path):
    answer = run_start(program, {"SMOKE_RESULT_DIR": str(tmp_path / "r"), "SMOKE_TELL": "1"}, "--nothing")
    assert answer.returncode == 10
    assert "Traceback" not in answer.stderr


def test_credentials_come_from_files_and_name_the_server(program, tmp_path):
    secret = tmp_path / "secret"
    data = secret / "..2026_11_21"  # as the kubelet mounts it: links into a hidden folder
    data.mkdir(parents=True)
    for name, text in (("MLFLOW_TRACKING_URI", "http://m:5000\n"), ("MLFLOW_TRACKING_USERNAME", "vision")):
        (data / name).write_text(text)
        (secret / name).symlink_to(data / name)
    variables = {"SMOKE_RESULT_DIR": str(tmp_path / "r"), "SMOKE_CREDENTIALS": str(secret)}
    answer = run_start(program, variables)
    assert "['--tracking-uri', 'http://m:5000'] user vision" in answer.stdout
    answer = run_start(program, variables | {"SMOKE_RESULT_DIR": str(tmp_path / "r2")}, "--tracking-uri", "none")
    assert "['--tracking-uri', 'none'] user vision" in answer.stdout


def test_sagemaker_gets_a_reason(monkeypatch, tmp_path):
    monkeypatch.setattr(start, "SAGEMAKER_OUTPUT", tmp_path)
    folder = tmp_path / "data"
    folder.mkdir()
    checks = [
        {"name": "devices", "verdict": "fail", "reason": "x" * 2000},
        {"name": "data", "verdict": "pass", "reason": "fine"},
    ]
    (folder / "result.json").write_text(json.dumps({"checks": checks}))
    start.tell(folder, 10)
    text = (tmp_path / "failure").read_text()
    assert text.startswith("smoke job, exit 10. devices: xxx")
    assert len(text) == 1024
