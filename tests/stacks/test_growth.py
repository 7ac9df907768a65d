"""A small team gets a cluster: nothing that holds data is replaced, and what people have in managed training stays."""

import json
import re
import shutil

import pytest
import yaml
from typer.testing import CliRunner

from tests.rehearsal.change.changing import between, told
from tests.shared import ROOT
from trainyard.cli.main import app
from trainyard.problems import SettingsError
from trainyard.recorded.types import BUCKET
from trainyard.rehearsal.change.model import Operation
from trainyard.rehearsal.rehearse import rehearse

STACK = "small-aws"
PAGE = ROOT / "docs" / "how-to" / "outgrow-managed-training.md"


def grown(folder, stack=STACK, **changes):
    """A project in which a small example has six people, its profile relocked on purpose."""
    shutil.copy(ROOT / "Pulumi.yaml", folder)
    stacks = folder / "stacks"
    stacks.mkdir()
    for name in ("__main__.py", f"Pulumi.{stack}.yaml", f"Pulumi.{stack}.lock.yaml"):
        shutil.copy(ROOT / "stacks" / name, stacks)
    file = stacks / f"Pulumi.{stack}.yaml"
    content = yaml.safe_load(file.read_text())
    content["config"].update(
        {
            f"trainyard:{key}": value
            for key, value in {**({} if "teams" in changes else {"teamSize": 6}), **changes}.items()
        }
    )
    file.write_text(yaml.safe_dump(content))
    with pytest.raises(SettingsError, match="lock keeps the small profile"):
        rehearse(folder, stack)
    done = CliRunner().invoke(app, ["plan", stack, "--relock", "profile", "--project", str(folder)])
    assert done.exit_code == 0, done.stderr
    return rehearse(folder, stack)


@pytest.fixture(scope="module")
def small(rehearsed):
    return rehearsed(STACK)


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    return grown(tmp_path_factory.mktemp("beside"), managed={"beside": True})


def by_operation(change):
    found = {}
    for step in change.steps:
        found.setdefault(step.operation, []).append(step)
    return found


def steps_that_take_nothing_away(small, beside):
    """The steps by operation, of which none ends more than the proof, and the types that stay."""
    assert beside.findings == ()
    change = between(small.known.resources, beside.known.resources)
    steps = by_operation(change)
    assert set(steps) == {Operation.SAME, Operation.CREATE, Operation.UPDATE, Operation.DELETE}
    # What proved managed training: the cluster has smoke jobs of its own.
    proof = {"command:local:Command", "pulumi:providers:command", "trainyard:index:TrainingProof"}
    assert {step.type for step in steps[Operation.DELETE]} <= proof
    assert set(told(change).values()) <= {"warning", "info"}
    kept = {step.type for step in (*steps[Operation.SAME], *steps[Operation.UPDATE])}
    return steps, kept


def test_growing_makes_and_changes_but_takes_nothing_away(small, beside):
    steps, kept = steps_that_take_nothing_away(small, beside)
    assert {BUCKET, "aws:kms/key:Key", "aws:budgets/budget:Budget", "aws:sagemaker/domain:Domain"} <= kept
    assert [step.resource.name for step in steps[Operation.CREATE] if step.type == "aws:eks/cluster:Cluster"]
    assert not [step.type for step in steps[Operation.CREATE] if step.type in (BUCKET, "aws:kms/key:Key")]


def test_both_tracking_servers_are_named(small, beside):
    assert small.outputs["mlflowTrackingUri"] == beside.outputs["managedTrackingUri"]
    assert "mlflow." in str(beside.outputs["mlflowTrackingUri"])


def test_the_budget_counts_the_cluster_too(small, beside):
    (before,), (after,) = (
        [found for found in one.known.resources if found.type == "aws:budgets/budget:Budget"] for one in (small, beside)
    )
    assert "Amazon SageMaker" in json.dumps(before.inputs["costFilters"])
    assert "SageMaker" not in json.dumps(after.inputs["costFilters"])


def test_without_that_what_holds_data_is_named(small, tmp_path):
    change = between(small.known.resources, grown(tmp_path).known.resources)
    gone = {step.resource.name for step in change.steps if step.operation is Operation.DELETE and step.resource.protect}
    assert gone == {"studio", "tracking", "initech-research-everyone"}
    assert told(change)["change-protected"] == "error"
    assert not [step for step in change.steps if step.operation is Operation.DELETE and step.type == BUCKET]


def test_settings_that_nothing_would_read_are_refused(tmp_path):
    with pytest.raises(SettingsError, match=r"managed.idleMinutes.*cluster instead.*managed.beside"):
        rehearse(ROOT, "demo", config_overrides={"trainyard:managed": {"idleMinutes": 90}})
    with pytest.raises(SettingsError, match=r"managed.beside.*small profile has none"):
        rehearse(ROOT, STACK, config_overrides={"trainyard:managed": {"beside": True}})
    with pytest.raises(SettingsError, match=r"managed.overBudget.*cloud is gcp: a budget of Google's tells"):
        rehearse(ROOT, "small-gcp", config_overrides={"trainyard:managed": {"overBudget": "deny"}})


def test_explain_says_when_to_grow_and_what_both_cost():
    done = CliRunner().invoke(app, ["explain", STACK, "growth", "--project", str(ROOT), "--json", "-"])
    assert done.exit_code == 0, done.stderr
    said = done.stdout
    assert "over 10,000 USD a month" in said
    idle = re.search(r"([\d,]+) USD a month in place of ([\d,]+)", said)
    dear, cheap = (float(number.replace(",", "")) for number in idle.groups())
    first, last = (float(n.replace(",", "")) for n in re.search(r"([\d,]+) to ([\d,]+) USD of jobs", said).groups())
    assert cheap < 50 < dear
    assert dear - cheap < first < last < 10_000


def test_the_history_is_copied_once(tmp_path, monkeypatch):
    """The program of the guide, from one store to another: all steps, parameters and files, and no run twice."""
    from mlflow import MlflowClient  # takes seconds, which no worker but this one has to spend

    (program,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    uris = {name: f"sqlite:///{tmp_path}/{name}.db" for name in ("old", "new")}
    monkeypatch.setenv("OLD", uris["old"])
    monkeypatch.setenv("NEW", uris["new"])
    monkeypatch.chdir(tmp_path)
    old, new = MlflowClient(uris["old"]), MlflowClient(uris["new"])
    experiment = old.create_experiment("vision", artifact_location=str(tmp_path / "files"))
    run = old.create_run(experiment, start_time=5, run_name="first").info.run_id
    for step in range(1, 1102):
        old.log_metric(run, "loss", 1 / step, step=step) if step in (1, 1101) else None
    for number in range(101):
        old.log_param(run, f"p{number}", number)
    (tmp_path / "model.bin").write_text("weights")
    old.log_artifact(run, str(tmp_path / "model.bin"), "model")
    old.set_terminated(run, "FINISHED", end_time=9)
    for _ in range(2):
        exec(compile(program, str(PAGE), "exec"), {})
    target = new.get_experiment_by_name("vision").experiment_id
    (copy,) = new.search_runs([target])
    assert (copy.info.run_name, copy.info.start_time, copy.info.end_time, copy.info.status) == (
        "first",
        5,
        9,
        "FINISHED",
    )
    assert len(copy.data.params) == 101
    assert [(one.step, one.value) for one in new.get_metric_history(copy.info.run_id, "loss")] == [
        (1, 1.0),
        (1101, 1 / 1101),
    ]
    folder = new.download_artifacts(copy.info.run_id, "model", str(tmp_path))
    assert (tmp_path / "model" / "model.bin").read_text() == "weights", folder
