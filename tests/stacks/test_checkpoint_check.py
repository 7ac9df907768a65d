"""The daily look at teams' own checkpoints: for each team, with its own rights, and only to read."""

import subprocess
import sys

import pytest

from tests.components.plugin_inputs import IMAGE
from tests.stacks.test_checkpoint_drill import plan
from trainyard.components.k8s.checkpoint_check import CheckpointCheck
from trainyard.problems import SettingsError
from trainyard.smoke_jobs.drill import files_of_look
from trainyard.smoke_jobs.drill.exits import DAMAGED, OLD


@pytest.fixture(scope="module", params=["demo", "demo-gcp"])
def looks(request, rehearsed):
    return [
        item.inputs
        for item in rehearsed(request.param).resources
        if item.type == "kubernetes:batch/v1:CronJob" and item.inputs["metadata"]["name"] != "checkpoint-drill"
    ]


def test_each_team_has_both_in_its_own_namespace(looks):
    made = {(look["metadata"]["namespace"], look["metadata"]["name"]) for look in looks}
    teams = {f"team-{team.name}" for team in plan().core.teams}
    assert made == {(team, name) for team in teams for name in ("checkpoint-check", "checkpoint-age")}


def test_they_go_the_way_of_a_teams_jobs_and_only_read(looks):
    for look in looks:
        job = look["spec"]["jobTemplate"]
        pod = job["spec"]["template"]["spec"]
        assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "default"
        assert (pod["serviceAccountName"], pod["priorityClassName"]) == ("trainer", "cpu-only")
        assert pod["automountServiceAccountToken"] is False
        [container] = pod["containers"]
        [tier] = [mount for mount in container["volumeMounts"] if mount["name"] == "checkpoints"]
        assert tier["readOnly"] is True and tier["mountPath"] == container["command"][3] == "/checkpoints"


def test_a_verdict_ends_the_job(looks):
    for look in looks:
        _, told = look["spec"]["jobTemplate"]["spec"]["podFailurePolicy"]["rules"]
        age = look["metadata"]["name"] == "checkpoint-age"
        assert told["onExitCodes"]["values"] == [OLD if age else DAMAGED]
        [container] = look["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
        assert container["command"][4:] == (["--younger-than-hours=24"] if age else [])


def test_it_runs_where_nothing_of_ours_is_installed(looks, tmp_path):
    for place, text in files_of_look().items():
        path = tmp_path / "programs" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    [container] = looks[0]["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    (tmp_path / "checkpoints").mkdir()
    command = [sys.executable, *container["command"][1:3], str(tmp_path / "checkpoints")]
    done = subprocess.run([command[0], "-S", *command[1:]], cwd=tmp_path, capture_output=True, text=True, env={})
    assert done.returncode == 0 and '"sound"' in done.stdout, done.stderr


def test_settings_say_whether_and_from_when():
    assert plan(monitoring={"checkpointCheck": False}).clusters[0].check is None
    assert plan(monitoring={"checkpointDrill": False}).clusters[0].check is not None
    assert plan(cpuPool={"maxNodes": 0}).clusters[0].check is None
    found = plan(monitoring={"alerts": {"checkpointHours": 6}}).clusters[0].monitoring
    assert found.thresholds.checkpoint_hours == 6
    with pytest.raises(SettingsError, match=r"monitoring\.checkpointCheck"):
        plan(monitoring={"checkpointCheck": True, "enabled": False})


def test_an_image_without_a_digest_is_refused():
    with pytest.raises(ValueError, match="digest"):
        CheckpointCheck("check", {"image": IMAGE.partition("@")[0], "namespace": "team-vision"})
