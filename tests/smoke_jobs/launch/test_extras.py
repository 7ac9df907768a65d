"""What an installation without extras lacks is named, with the command that installs it, before anything is started."""

import importlib.util
import subprocess
import sys

import pytest

from tests.smoke_jobs.ddp.conftest import WITHOUT_COMPILER
from tests.smoke_jobs.launch.support import RecordedView
from trainyard.smoke_jobs.launch import extras, local
from trainyard.smoke_jobs.launch.job import LaunchError, SmokeSpec


def without(monkeypatch, *names):
    """Makes modules look as if they were not installed."""
    real = importlib.util.find_spec
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name in names else real(name))


@pytest.mark.parametrize("name", ["torch", "numpy", "mlflow"])
def test_a_package_of_the_worker_that_is_missing_is_named_before_a_rank_starts(monkeypatch, name):
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("the job was started"))
    without(monkeypatch, name)
    with pytest.raises(LaunchError) as told:
        local.run(SmokeSpec(processes_per_node=1), RecordedView())
    assert str(told.value) == (
        f"the smoke job on this machine needs {name}, of the extra 'smoke': pip install 'trainyard[smoke]'"
    )


def test_s3_checkpoints_need_boto3(monkeypatch):
    without(monkeypatch, "boto3")
    with pytest.raises(LaunchError, match="needs boto3"):
        local.run(SmokeSpec(processes_per_node=1, checkpoint_uri="s3://bucket/prefix"), RecordedView())


@pytest.mark.parametrize(
    "spec",
    [
        SmokeSpec(processes_per_node=1, options={"checks": ["rendezvous"]}),
        SmokeSpec(processes_per_node=1, options={"checks": ["rendezvous"], "tracking_uri": "local"}),
    ],
)
def test_what_a_job_does_not_use_may_be_missing(monkeypatch, spec):
    without(monkeypatch, "mlflow", "boto3")
    monkeypatch.setenv("PYTHONPATH", str(WITHOUT_COMPILER))
    assert local.run(spec, RecordedView()).exit_code == 0


def test_the_rendering_needs_nothing(monkeypatch):
    without(monkeypatch, "torch", "numpy", "mlflow")
    assert sys.executable in local.render(SmokeSpec(processes_per_node=1))


def test_a_module_that_lacks_another_names_the_other(monkeypatch, tmp_path):
    (tmp_path / "half_installed.py").write_text("import not_installed_anywhere\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(LaunchError, match=r"needs not_installed_anywhere, of the extra 'gcp': .*trainyard\[gcp\]"):
        extras.imported("half_installed", extras.GCP, "testing")


def test_a_module_that_is_broken_is_not_called_missing(monkeypatch, tmp_path):
    (tmp_path / "broken_install.py").write_text("raise ImportError('libcudart.so.13: cannot open')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(LaunchError, match=r"is installed and cannot be imported: libcudart"):
        extras.imported("broken_install", extras.SMOKE, "testing")
