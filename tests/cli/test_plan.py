import json
import shutil

import pytest
import yaml
from typer.testing import CliRunner

from tests.shared import ROOT
from trainyard.cli.main import app

STACKS = ROOT / "stacks"


@pytest.fixture
def project(tmp_path):
    """A project with the stack file of demo and its lock."""
    shutil.copy(ROOT / "Pulumi.yaml", tmp_path)
    (tmp_path / "stacks").mkdir()
    for name in ("__main__.py", "Pulumi.demo.yaml", "Pulumi.demo.lock.yaml"):
        shutil.copy(STACKS / name, tmp_path / "stacks")
    return tmp_path


def run(project, *arguments):
    return CliRunner().invoke(app, ["plan", "demo", *arguments, "--project", str(project)])


def edit(project, **changes):
    file = project / "stacks" / "Pulumi.demo.yaml"
    content = yaml.safe_load(file.read_text())
    for key, value in changes.items():
        content["config"][f"trainyard:{key}"] = value
    file.write_text(yaml.safe_dump(content))


def lock(project):
    return yaml.safe_load((project / "stacks" / "Pulumi.demo.lock.yaml").read_text())


def test_a_whole_lock_is_told_and_left_alone(project):
    before = (project / "stacks" / "Pulumi.demo.lock.yaml").read_bytes()
    for arguments in ([], ["--check"], ["--lock"]):
        result = run(project, *arguments)
        assert result.exit_code == 0, result.output
        assert (project / "stacks" / "Pulumi.demo.lock.yaml").read_bytes() == before
    assert json.loads(run(project, "--json", "-").stdout)["differences"] == []


def test_the_first_lock_is_that_of_the_plan(project):
    before = lock(project)
    (project / "stacks" / "Pulumi.demo.lock.yaml").unlink()
    assert run(project, "--check").exit_code == 1
    result = run(project)
    assert (result.exit_code, "There is no Pulumi.demo.lock.yaml" in result.stdout) == (0, True)
    assert run(project, "--lock").exit_code == 0
    assert lock(project) == before


def test_a_new_pool_is_added_and_nothing_else(project):
    before = lock(project)
    train = {"reserved": {"reservationId": "cr-0123456789abcdef0", "nodes": 1, "availabilityZone": "us-east-1b"}}
    edit(project, gpuPools={"train": train, "more": {"instanceType": "g6.xlarge", "onDemand": {"maxNodes": 2}}})
    assert run(project, "--check").exit_code == 1
    assert lock(project) == before
    result = run(project, "--lock")
    assert "nothing: it is new" in result.stdout
    after = lock(project)
    assert after["pools"].pop("more") == {"instanceType": "g6.xlarge"}
    del after["nodeGroups"]["more-on-demand"], after["proofTeams"]["more-on-demand"]
    assert after == before


def test_a_contradiction_is_refused_until_the_key_is_decided_again(project):
    edit(project, storage={"lustre": {"enabled": True, "capacityGib": 4800}})
    assert run(project, "--lock").exit_code == 0
    edit(project, storage={"lustre": {"enabled": True, "capacityGib": 7200}})
    result = run(project)
    assert result.exit_code == 2
    assert "--relock lustre.capacityGib" in result.stderr
    result = run(project, "--relock", "lustre.capacityGib")
    assert (result.exit_code, "it grows in place" in result.stdout) == (0, True), result.output
    assert lock(project)["lustre"] == {"zone": "us-east-1b", "capacityGib": 7200}
    assert run(project, "--check").exit_code == 0


def test_a_fourth_zone_keeps_the_others_their_places(project):
    before = lock(project)
    edit(project, network={"zones": ["us-east-1d", "us-east-1c", "us-east-1b", "us-east-1a"]})
    result = run(project, "--relock", "zones")
    assert result.exit_code == 0, result.output
    after = lock(project)
    assert after["zones"] == [*before["zones"], {"name": "us-east-1d", "slot": 3}]
    assert {**after, "zones": 0} == {**before, "zones": 0}, "control plane and node groups stay where they are"


def test_a_zone_that_something_stands_in_does_not_go_alone(project):
    edit(project, network={"zones": ["us-east-1a", "us-east-1b"]})
    result = run(project, "--relock", "zones")
    assert result.exit_code == 2
    assert "controlPlaneZones" in result.stderr and "nodeGroups.system" in result.stderr


def test_another_instance_type_says_what_it_ends(project):
    train = {"reserved": {"reservationId": "cr-0123456789abcdef0", "nodes": 1, "availabilityZone": "us-east-1b"}}
    edit(project, gpuPools={"train": {**train, "instanceType": "p5.48xlarge"}})
    result = run(project)
    assert result.exit_code == 2 and "add a pool of it beside train" in " ".join(result.stderr.split())
    result = run(project, "--relock", "pools.train", "--json", "-")
    assert result.exit_code == 0, result.output
    found = {each["key"]: each for each in json.loads(result.stdout)["differences"]}
    assert found["pools.train.instanceType"]["now"] == "p5.48xlarge"
    assert "jobs that run there" in found["nodeGroups.train-spot.instanceTypes"]["replaces"]
    assert "tune" not in " ".join(found)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--relock", "lustre.zome"], "did you mean lustre.zone?"),
        (["--check", "--lock"], "--check reads the lock"),
        (["--relock", ""], "--relock"),
    ],
)
def test_what_cannot_be_asked(project, arguments, told):
    result = run(project, *arguments)
    assert result.exit_code == 2
    assert told in " ".join(result.stderr.split())


def test_what_is_not_there_is_not_decided_again(project):
    (project / "stacks" / "Pulumi.demo.lock.yaml").unlink()
    result = run(project, "--relock", "zones")
    assert (result.exit_code, "--lock` writes it" in result.stderr) == (2, True)
    (project / "stacks" / "Pulumi.demo.lock.yaml").write_text("version: 3\n")
    result = run(project)
    assert (result.exit_code, "Pulumi.demo.lock.yaml: version" in result.stderr) == (2, True)


def test_a_lock_is_no_stack_file():
    result = CliRunner().invoke(app, ["plan", str(STACKS / "Pulumi.demo.lock.yaml"), "--project", str(ROOT)])
    assert (result.exit_code, "is a stack's lock" in result.stderr) == (2, True)
