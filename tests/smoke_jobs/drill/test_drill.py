"""The drill restores what it left the last time, and tells what keeps it from that."""

import json
import os
import subprocess
import sys

import pytest

from trainyard.smoke_jobs.drill import files

torch = pytest.importorskip("torch")
from trainyard.smoke_jobs.drill import drill  # noqa: E402


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(drill, "WIDTH", 32)
    monkeypatch.setattr(drill, "DEPTH", 2)


def told(capsys, tier):
    code = drill.main(["--checkpoint-uri", str(tier)])
    return code, json.loads(capsys.readouterr().out.splitlines()[-1])


def weeks(capsys, tier, count):
    return [told(capsys, tier) for _ in range(count)]


def test_each_week_restores_what_the_week_before_left(tmp_path, capsys):
    first, *later = weeks(capsys, tmp_path / "drill", 5)
    assert first[0] == drill.FIRST and "no checkpoint to restore" in first[1]["reason"]
    assert [code for code, _ in later] == [drill.RESTORED] * 4
    assert [found["restored"] for _, found in later] == [1, 2, 3, 4]
    assert len(list((tmp_path / "drill").glob("step-*/manifest.json"))) == drill.KEPT


def test_one_changed_byte_is_told(tmp_path, capsys):
    weeks(capsys, tmp_path, 2)
    data = max((path for path in (tmp_path / "step-00000002").iterdir()), key=lambda path: path.stat().st_size)
    blob = bytearray(data.read_bytes())
    blob[len(blob) // 2] ^= 1
    data.write_bytes(blob)
    code, found = told(capsys, tmp_path)
    assert code == drill.FAILED and "sha256" in found["reason"] and found["whole"] == 1
    assert told(capsys, tmp_path)[0] == drill.FAILED, "it does not write over what has to be looked at"


def test_a_checkpoint_that_is_gone_is_no_success(tmp_path, capsys):
    weeks(capsys, tmp_path, 2)
    for path in [*tmp_path.glob("step-*/*"), *tmp_path.glob("*.json")]:
        path.unlink()
    assert told(capsys, tmp_path)[0] == drill.FIRST, "which the alert takes for a failure once the drill is a week old"


def test_a_model_that_does_not_do_what_the_saved_one_did_is_told(tmp_path, capsys, monkeypatch):
    weeks(capsys, tmp_path, 1)
    loss = drill._Sample.loss
    monkeypatch.setattr(drill._Sample, "loss", lambda sample: loss(sample) * 1.01)
    code, found = told(capsys, tmp_path)
    assert code == drill.FAILED and "its loss is" in found["reason"]


def test_a_tier_that_cannot_be_written_is_told(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    code, found = told(capsys, tmp_path / "file" / "below")
    assert code == drill.FAILED and "cannot be written" in found["reason"]


def test_it_runs_where_nothing_of_ours_is_installed(tmp_path):
    for place, text in files().items():
        path = tmp_path / "programs" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        assert "trainyard" not in "".join(line for line in text.splitlines() if line.startswith(("import", "from")))
    done = subprocess.run(
        [sys.executable, "-m", "programs.drill.drill", "--checkpoint-uri", str(tmp_path / "tier")],
        cwd=tmp_path,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == drill.FIRST, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["written"] == 1
