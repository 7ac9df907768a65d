"""`trainyard new` as it begins: with options, a client's answers, a questionnaire, and what all clients have."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from tests.advice.test_assessment import ANSWERS
from trainyard.cli.main import app
from trainyard.problems import SettingsError


def own(client: str, region: str = "eu-west-1") -> list[str]:
    """What is a client's own, and nobody else's."""
    return [
        "--alert-email", f"ml@{client}.example", "--owner", f"ann@{client}.example", "--cost-centre", client,
        "--state-backend", f"s3://state-{client}?region={region}",
        "--secrets-provider", f"awskms://alias/{client}?region={region}",
    ]  # fmt: skip


@pytest.fixture
def agency(tmp_path: Path) -> Path:
    return repository(tmp_path / "agency")


def repository(folder: Path, *defaults: str) -> Path:
    options = [part for value in defaults for part in ("--default", value)]
    made = CliRunner().invoke(app, ["init", str(folder), *options])
    assert made.exit_code == 0, made.output
    return folder


def new(folder: Path, *arguments: str, said: str | None = None) -> Result:
    return CliRunner().invoke(app, ["new", *arguments, "--project", str(folder)], input=said)


def answers(folder: Path, **changes: dict[str, Any]) -> str:
    """A file of answers, with other ones in some of its parts; None takes one away."""
    content = copy.deepcopy(ANSWERS)
    content["money"] = {"monthlyBudgetUsd": 40000}
    for part, values in changes.items():
        content[part] = {key: value for key, value in {**content[part], **values}.items() if value is not None}
    path = folder / "told.yaml"
    path.write_text(yaml.safe_dump(content))
    return str(path)


def written(folder: Path, stack: str) -> dict[str, Any]:
    content = yaml.safe_load((folder / "clients" / f"Pulumi.{stack}.yaml").read_text())["config"]
    return {key.removeprefix("trainyard:"): value for key, value in content.items()}


def nothing_written(folder: Path) -> bool:
    return [path.name for path in (folder / "clients").iterdir()] == ["README.md"]


def test_a_client_s_answers_are_the_start_and_are_kept(agency: Path) -> None:
    done = new(agency, "acme", "--answers", answers(agency), *own("acme"), "--wave", "canary")
    assert done.exit_code == 0, done.output
    assert "Recommended: 1 p4d.24xlarge, spot: a run " in done.output
    config = written(agency, "acme-prod")
    assert (config["teamSize"], config["region"], config["residency"]) == (8, "eu-west-1", "eu")
    assert (config["monthlyBudgetUsd"], config["logRetentionDays"]) == (40000, 400)
    assert config["gpuPools"] == {"train": {"instanceType": "p4d.24xlarge", "fabric": True}}
    kept = yaml.safe_load((agency / "clients" / "Pulumi.acme-prod.answers.yaml").read_text())
    assert kept["today"] == ANSWERS["today"]
    listed = CliRunner().invoke(app, ["explain", "acme-prod", "region", "--project", str(agency)])
    assert listed.exit_code == 0, "answers beside a stack's file are no stack"
    told = CliRunner().invoke(
        app, ["explain", str(agency / "clients" / "Pulumi.acme-prod.answers.yaml"), "--project", str(agency)]
    )
    assert (told.exit_code, "holds answers" in told.output) == (2, True)


SAID = {
    "people.teamSize": "3", "people.hourlyUsd": "", "today.gpu": "T4", "today.gpus": "1", "today.hoursARun": "20",
    "today.waitHoursARun": "", "today.spendUsd": "1,500", "training.task": "vision", "training.model": "resnet-50",
    "training.data": "1.28M images", "training.epochs": "90", "training.runsAMonth": "4", "training.hoursWanted": "24",
    "where.cloud": "aws", "where.region": "us-east-1", "where.residency": "", "money.monthlyBudgetUsd": "6000",
    "compliance.rules": "SOC 2, ISO 27001", "compliance.logDays": "",
}  # fmt: skip


def typed(*skipped: str, **again: str) -> str:
    """What somebody types at the questionnaire, in its order; wrong answers come before the right one of a question."""
    lines = []
    for path, text in SAID.items():
        if path not in skipped:
            lines += [again[key] for key in again if key == path.replace(".", "_")] + [text]
    return "".join(f"{line}\n" for line in lines)


def test_a_questionnaire_is_answered_at_a_terminal(agency: Path) -> None:
    wrong = {"people_teamSize": "few", "training_task": "visoin", "training_data": "1.28M pictures"}
    more = "us-east-1\n\n"  # asked again: the region, and the place that the data must not leave
    text = typed("where.cloud", **wrong).replace("us-east-1\n\n", "us-east-1\neu\n") + more
    done = new(agency, "tiny", "--ask", "--cloud", "aws", *own("tiny", "us-east-1"), said=text)
    assert done.exit_code == 0, done.output
    for told in ("must be a whole number", "must be", "like 200GB, 300B tokens or 1.28M images", "are asked again"):
        assert told in done.output
    assert "Which cloud?" not in done.output, "an option said it"
    kept = yaml.safe_load((agency / "clients" / "Pulumi.tiny-prod.answers.yaml").read_text())
    assert kept["people"] == {"teamSize": 3}
    assert kept["today"] == {"gpu": "T4", "gpus": 1, "hoursARun": 20, "spendUsd": 1500}
    assert kept["compliance"] == {"rules": ["SOC 2", "ISO 27001"]}
    assert kept["where"] == {"cloud": "aws", "region": "us-east-1", "residency": "none"}
    assert "gpuPools" not in written(agency, "tiny-prod"), "managed training has no pools"


def test_at_a_terminal_it_asks_where_nobody_says_how_large_the_team_is(
    agency: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainyard.cli.client_answers.at_terminal", lambda: True)
    done = new(agency, "tiny", *own("tiny"), said="few\n")
    assert "How many people train models?" in done.output
    found = judged(monkeypatch)
    new(agency, "tiny", *own("tiny"), "--team-size", "3")
    assert found, "an option says it: nobody is asked"


def test_whoever_goes_away_leaves_nothing(agency: Path) -> None:
    done = new(agency, "tiny", "--ask", *own("tiny"), said="3\n\nT4\n")
    assert done.exit_code == 2
    assert "nobody answers: today.gpus is left open; nothing is written" in done.output
    assert nothing_written(agency)


@pytest.mark.parametrize(
    ("changes", "options", "said"),
    [
        ({"where": {"region": "us-east-1"}}, (), "where.region: got us-east-1; data must not leave eu"),
        ({"training": {"runsAMonth": 400}}, (), "400 runs of 72 h are 28,800 h of a GPU at least"),
        ({"money": {"monthlyBudgetUsd": 500}}, (), "the answers cannot be met: nothing within 6 h costs at most 500"),
        ({"training": {"hoursWanted": 0.2}}, (), "the answers cannot be met: nothing"),
        ({"compliance": {"logDays": 11}}, (), "compliance.logDays: got 11"),
        ({"people": {"teamSiz": 3}}, (), "did you mean teamSize?"),
        ({}, ("--region", "us-east-1"), "--region: got us-east-1; told.yaml says eu-west-1: say it once"),
        ({}, ("--team-size", "9"), "--team-size: got 9; told.yaml says 8"),
        ({}, ("--ask",), "--answers and --ask"),
    ],
)
def test_what_contradicts_is_refused_before_anything_is_rehearsed(
    agency: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], options: tuple[str, ...], said: str
) -> None:
    monkeypatch.setattr("trainyard.review.review.judge", lambda *_: pytest.fail("it is rehearsed"))
    done = new(agency, "acme", "--answers", answers(agency, **changes), *own("acme"), *options)
    assert done.exit_code == 2, done.output
    assert said in " ".join(done.output.split())
    assert nothing_written(agency)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (own("acme"), "--team-size: got nothing; must be given; or --answers FILE, or --ask at a terminal"),
        (["--team-size", "8"], "--alert-email: got nothing; somebody must be told"),
        (["--answers", "none.yaml", *own("acme")], "--answers none.yaml: there is no such file"),
        (["--team-size", "8", "--cloud", "gcp", *own("acme")], "--gcp-project: got nothing"),
    ],
)
def test_what_is_missing_is_told(agency: Path, arguments: list[str], said: str) -> None:
    done = new(agency, "acme", *arguments)
    assert done.exit_code == 2, done.output
    assert said in " ".join(done.output.split())
    assert nothing_written(agency)


def judged(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The settings of stacks that would be rehearsed; they are not, which a test of their own does."""
    found: list[dict[str, Any]] = []

    def note(project: Path, draft: Path) -> None:
        found.append(yaml.safe_load(draft.read_text())["config"])
        raise SettingsError([])

    monkeypatch.setattr("trainyard.review.review.judge", note)
    return found


def test_what_all_clients_have_is_not_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repository(
        tmp_path / "agency", "region=eu-west-1", "cloud=aws", "teamSize=8", "alertEmails=[ops@agency.example]"
    )
    found = judged(monkeypatch)
    new(folder, "acme", "--state-backend", "s3://state-acme?region=eu-west-1", "--secrets-provider", "awskms://a")
    assert found and not {"trainyard:region", "trainyard:cloud", "trainyard:teamSize"} & set(found[0])


def test_a_region_is_the_cloud_s_own_where_nobody_names_one(agency: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = judged(monkeypatch)
    new(agency, "a", "--team-size", "8", *own("a"))
    project = ("--gcp-project", "acme-train-1", "--gcp-project-number", "123456789012")
    new(agency, "b", "--team-size", "8", "--cloud", "gcp", *project, *own("b"))
    assert [each["trainyard:region"] for each in found] == ["us-east-1", "us-central1"]
    assert found[1]["trainyard:gcp"] == {"project": "acme-train-1", "projectNumber": "123456789012"}


def test_a_recommended_machine_that_is_no_pool_is_told(agency: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = judged(monkeypatch)

    def pool(self: object, plan: object) -> dict[str, Any]:
        return {"train": {"instanceType": "p9.huge", "fabric": True}}

    monkeypatch.setattr("trainyard.cli.first_pool.Start.pool", pool)
    done = new(agency, "acme", "--answers", answers(agency), *own("acme"))
    assert "no pool of this stack, which keeps its profile's: gpuPools.train.instanceType" in done.output
    assert "trainyard:gpuPools" not in found[0]
