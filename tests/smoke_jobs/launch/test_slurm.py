"""The sbatch rendering, on a real Slurm where its programs are installed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from tests.smoke_jobs.launch import private_slurm
from tests.smoke_jobs.launch.support import CPU, GPU_POOL, RecordedView
from trainyard.smoke_jobs.launch import slurm
from trainyard.smoke_jobs.launch.job import BASELINE, LaunchError
from trainyard.smoke_jobs.launch.slurm import SlurmSettings, render


def _directives(script: str) -> dict[str, str]:
    lines = [line.removeprefix("#SBATCH --") for line in script.splitlines() if line.startswith("#SBATCH --")]
    return dict(line.partition("=")[::2] for line in lines)


def test_directives():
    spec = replace(GPU_POOL, queue="gpu", priority="high", mounts=(), tracking_secret="")
    found = _directives(render(spec, SlurmSettings(account="ml")))
    assert found["nodes"] == "2"
    assert found["ntasks-per-node"] == "1"
    assert found["gpus-per-node"] == "8"
    assert (found["partition"], found["qos"], found["account"]) == ("gpu", "high", "ml")
    assert found["signal"] == "B:USR1@120"
    assert {"requeue", "exclusive"} <= found.keys()
    assert int(found["time"]) * 60 >= spec.run_timeout_s + 120
    assert "partition" not in _directives(render(replace(spec, queue="")))


@pytest.mark.parametrize("settings", [SlurmSettings(), SlurmSettings(container=True, python="/opt/my env/python")])
def test_it_is_a_script_that_bash_reads(settings):
    spec = replace(GPU_POOL, environment=(("NOTE", "it's $HOME"),), files={BASELINE: "{}"})
    answer = subprocess.run(["bash", "-n"], input=render(spec, settings), text=True, capture_output=True, check=False)
    assert (answer.returncode, answer.stderr) == (0, "")


def test_pyxis_gets_the_image_in_its_own_spelling():
    script = render(replace(GPU_POOL, image="nvcr.io/nvidia/pytorch:26.01-py3"), SlurmSettings(container=True))
    assert "--container-image='docker://nvcr.io#nvidia/pytorch:26.01-py3'" in script
    script = render(replace(GPU_POOL, image="pytorch/pytorch:2.13.0"), SlurmSettings(container=True))
    assert "--container-image=docker://pytorch/pytorch:2.13.0" in script
    for path in ("$SMOKE_HOME", GPU_POOL.checkpoint_uri):  # a container sees no folder of the host by itself
        assert f"{path}:{path}" in script.partition("--container-mounts=")[2].splitlines()[0]
    with pytest.raises(LaunchError, match="slurm needs image"):
        render(replace(GPU_POOL, image=""), SlurmSettings(container=True))


def test_several_nodes_have_their_tier_in_the_folder_that_they_share():
    bare = replace(GPU_POOL, checkpoint_uri="")
    assert ' --checkpoint-uri "$SMOKE_HOME/checkpoints"' in render(bare)
    assert "--checkpoint-uri" not in render(replace(bare, nodes=1)) + render(GPU_POOL)


def test_without_slurm_it_says_where_to_go(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(LaunchError, match="login node"):
        slurm.run(CPU, RecordedView())


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    lacking = private_slurm.missing()
    if lacking:
        pytest.skip(f"needs Slurm on this machine (Debian: slurm-wlm, munge); missing: {', '.join(lacking)}")
    with private_slurm.cluster(tmp_path_factory.mktemp("slurm")) as environment, pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        yield environment


ON_NODE = replace(CPU, queue="smoke", cpu=2)
SETTINGS = SlurmSettings(python=sys.executable)


@pytest.mark.parametrize(("breaks", "code"), [([], 0), (["devices"], 10)])
def test_a_real_run_keeps_the_exit_code(cluster, tmp_path, breaks, code):
    view = RecordedView()
    ended = slurm.run(replace(ON_NODE, options={**CPU.options, "breaks": breaks}), view, SETTINGS, tmp_path)
    assert ended.exit_code == code, "\n".join(ended.log)
    assert ended.document is not None
    assert ended.document["topology"]["world_size"] == 2
    assert ended.document["job"]["target"] == "slurm"
    assert [done.name for done in view.done[:2]] == ["rendezvous", "devices"]
    number = next(tmp_path.glob("smoke-*.log")).stem.removeprefix("smoke-")
    shown = subprocess.run(["scontrol", "show", "job", number], capture_output=True, text=True, check=True).stdout
    assert f"ExitCode={code}:0" in shown


def test_a_baseline_travels_with_the_script(cluster, tmp_path):
    ended = slurm.run(replace(ON_NODE, files={BASELINE: json.dumps({"wrong": 1})}), RecordedView(), SETTINGS, tmp_path)
    assert ended.exit_code == 1
    assert "does not hold a baseline" in "\n".join(ended.log) + str(ended.document)


def test_a_refused_job_says_why(cluster, tmp_path):
    with pytest.raises(LaunchError, match=r"Slurm refused the job: .*partition"):
        slurm.run(replace(ON_NODE, queue="nosuch"), RecordedView(), SETTINGS, tmp_path)


def test_the_notice_reaches_the_ranks_and_the_job_goes_back_into_the_queue(cluster, tmp_path):
    long = replace(ON_NODE, options={"checks": ["rendezvous", "interruption"], "kills": 50})
    script = tmp_path / "job.sbatch"
    script.write_text(render(long, SETTINGS))
    answer = subprocess.run(["sbatch", "--parsable", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    job = answer.stdout.strip()
    log = tmp_path / f"smoke-{job}.log"
    try:
        _until(lambda: log.exists() and "rendezvous" in log.read_text())
        subprocess.run(["scancel", "--batch", "--signal=USR1", job], check=True)
        _until(lambda: "Restarts=1" in _show(job))
        assert "back into the queue" in log.read_text()
        assert json.loads((tmp_path / f"smoke-{job}" / "result" / "result.json").read_text())["exit_code"] == 75
    finally:
        subprocess.run(["scancel", job], check=False)


class _Cancelling(RecordedView):
    """Cancels the job once its first check is done."""

    def __init__(self, folder) -> None:
        super().__init__()
        self.folder = folder

    def check_done(self, done) -> None:
        super().check_done(done)
        number = next(self.folder.glob("smoke-*.log")).stem.removeprefix("smoke-")
        subprocess.run(["scancel", number], check=False)


def test_a_cancelled_job_is_followed_to_its_end(cluster, tmp_path):
    long = replace(ON_NODE, options={"checks": ["rendezvous", "interruption"], "kills": 50})
    ended = slurm.run(long, _Cancelling(tmp_path), SETTINGS, tmp_path)
    assert ended.exit_code in (1, 75)
    number = next(tmp_path.glob("smoke-*.log")).stem.removeprefix("smoke-")
    assert "JobState=CANCELLED" in _show(number)
    assert "Restarts=0" in _show(number), "a cancelled job stays cancelled"


def _show(job: str) -> str:
    return subprocess.run(["scontrol", "show", "job", job, "-o"], capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize(("said", "times"), [("Socket timed out on send/recv operation", 3), ("Invalid job id", 1)])
def test_a_busy_controller_is_asked_again_and_a_job_that_is_gone_is_not(monkeypatch, tmp_path, said, times):
    """A job is cancelled where nobody follows it any more."""
    (tmp_path / "scontrol").write_text(
        f"#!/bin/sh\necho x >> {tmp_path}/asked\n"
        f'[ "$(/usr/bin/wc -l < {tmp_path}/asked)" -gt 2 ] && echo "JobState=RUNNING ExitCode=0:0" && exit 0\n'
        f'echo "slurm_load_jobs error: {said}" >&2\nexit 1\n'
    )
    (tmp_path / "scontrol").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(slurm, "INTERVAL_S", 0.01)
    if times == 1:
        with pytest.raises(LaunchError, match="Invalid job id"):
            slurm._state("7")
    else:
        assert slurm._state("7")["JobState"] == "RUNNING"
    assert len((tmp_path / "asked").read_text().split()) == times


def _until(ready, seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.2)


@pytest.fixture
def telling_cores(tmp_path):
    """A Python that says first how many cores it was given."""
    path = tmp_path / "python"
    path.write_text(f'#!/bin/sh\necho "cores $(nproc)"\nexec {sys.executable} "$@"\n')
    path.chmod(0o755)
    return replace(SETTINGS, python=str(path))


def test_the_step_gets_every_core_of_the_job_where_the_site_binds_them(cluster, tmp_path, telling_cores):
    ended = slurm.run(ON_NODE, RecordedView(), telling_cores, tmp_path)
    assert ended.exit_code == 0, "\n".join(ended.log)
    assert "cores 2" in ended.log
    script = tmp_path / "bare.sbatch"
    script.write_text(render(ON_NODE, telling_cores).replace(" --cpus-per-task=2 \\\n", " \\\n"))
    subprocess.run(["sbatch", "--wait", script], cwd=tmp_path, check=False, capture_output=True)
    logs = [path.read_text() for path in tmp_path.glob("smoke-*.log")]
    assert any("cores 1" in log for log in logs), "Slurm binds: without our asking the step would have one"


def test_two_nodes_of_a_real_slurm(machines, tmp_path, monkeypatch):
    lacking = private_slurm.missing()
    if lacking:
        pytest.skip(f"needs Slurm on this machine (Debian: slurm-wlm, munge); missing: {', '.join(lacking)}")
    home = tmp_path / "slurm"
    home.mkdir()
    work = tmp_path / "work"
    work.mkdir()
    with private_slurm.cluster(home, machines(["n1", "n2"])) as environment:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        assert slurm.nodes("") == ["n1", "n2"]
        both = replace(
            ON_NODE, nodes=2, hosts=("n1", "n2"), options={"checks": ["rendezvous", "collectives", "checkpoint"]}
        )
        ended = slurm.run(both, RecordedView(), SETTINGS, work)
    assert ended.exit_code == 0, "\n".join(ended.log)
    assert ended.document is not None
    topology = ended.document["topology"]
    assert (topology["nodes"], topology["world_size"]) == (2, 4)
    assert {host["host"] for host in topology["hosts"]} == {"n1", "n2"}
