"""The tutorial, followed as far as it goes without an account."""

from dataclasses import replace

import pytest
import yaml
from typer.testing import CliRunner

from tests.documentation.documents import TUTORIAL, blocks, commands
from tests.rehearsal.refusals.builders import obj
from trainyard.cli.main import app
from trainyard.rehearsal.context import ValueContext
from trainyard.rehearsal.rehearse import rehearse
from trainyard.rehearsal.works.check import check_works

TITLED = dict(blocks(TUTORIAL, "yaml"))


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    """The project after every offline step, and what each printed."""
    folder, printed = tmp_path_factory.mktemp("tutorial"), {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for line in commands(TUTORIAL, "offline"):
            if line == "trainyard explain dev queues":
                file = folder / "Pulumi.dev.yaml"
                file.write_text(file.read_text().rstrip() + "\n" + TITLED["Pulumi.dev.yaml"])
            words = line.split()
            if words[0] == "cd":
                folder /= words[1]
                patch.chdir(folder)
                continue
            done = CliRunner().invoke(app, words[1:])
            assert (words[0], done.exit_code) == ("trainyard", 0), f"{line}\n{done.output}"
            printed[line] = done.output
    return folder, printed


def test_every_offline_step_works_and_shows_what_it_says(followed):
    folder, printed = followed
    assert len(printed) == 7
    assert "dev is sound" in printed["trainyard rehearse dev"]
    assert (
        "team-vision" in printed["trainyard explain dev queues"] or "vision" in printed["trainyard explain dev queues"]
    )
    assert (folder / "Pulumi.dev.lock.yaml").exists()


def test_the_mistake_is_told_as_the_tutorial_says(followed):
    folder, _ = followed
    text = (folder / "Pulumi.dev.yaml").read_text()
    (folder / "Pulumi.wrong.yaml").write_text(text.replace("trainyard:region:", "trainyard:regin:"))
    done = CliRunner().invoke(app, ["rehearse", "wrong", "--project", str(folder)])
    (folder / "Pulumi.wrong.yaml").unlink()
    assert done.exit_code == 2
    assert "regin" in done.output and "region" in done.output.replace("regin:", "")


def test_the_first_job_is_admitted_and_finds_a_node(followed):
    folder, _ = followed
    found = yaml.safe_load(TITLED["job.yaml"])
    resources = rehearse(folder, "dev").resources
    assert problems(resources, found) == set()
    asked = found["spec"]["template"]["spec"]["containers"][0]["resources"]
    asked["requests"]["memory"] = "64Gi"
    assert "placement-no-node" in problems(resources, found)


def problems(resources, job):
    """The rules that a job breaks beside these resources."""
    made = obj(job["apiVersion"], job["kind"], "first", "team-vision", metadata=job["metadata"], spec=job["spec"])
    first = tuple(sorted(item.urn for item in resources if item.type.endswith((":Release", ":Namespace"))))
    context = ValueContext(kubernetes_version="1.35", region="eu-west-1")
    return {finding.rule for finding in check_works([*resources, replace(made, dependencies=first)], context)}


def test_the_training_of_the_first_job_trains(monkeypatch, capsys):
    torch = pytest.importorskip("torch")
    program = yaml.safe_load(TITLED["job.yaml"])["spec"]["template"]["spec"]["containers"][0]["command"][2]
    assert "range(1000)" in program
    randn = torch.randn
    monkeypatch.setattr(torch, "randn", lambda *size, device: randn(64, *size[1:]))  # no GPU here, and less of it
    monkeypatch.setattr(torch.nn.Module, "cuda", lambda module: module)
    exec(compile(program.replace("range(1000)", "range(200)"), "job.yaml", "exec"), {})
    loss = float(capsys.readouterr().out.rpartition(" ")[2])
    assert loss < 30, "from 64"
