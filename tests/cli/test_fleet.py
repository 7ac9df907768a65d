"""`trainyard new` and `trainyard fleet`, as an agency calls them."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from tests.account.answers import aws, refusal
from tests.fleet.fleets import programs, project, pulumi, settings
from tests.fleet.test_live import GOOD, budget, state, usd
from tests.shared import ROOT
from trainyard.account import aws as account_aws
from trainyard.cli import files, fleet_judging, fleet_releases
from trainyard.cli.main import app
from trainyard.cli.project import fail
from trainyard.fleet.clients import Client
from trainyard.fleet.known import HOMES, Smoke, Spend, known_of, note, now
from trainyard.review import bench

OWN = (
    "--team-size", "8", "--alert-email", "ml@acme.example", "--owner", "ann@acme.example", "--cost-centre", "cc",
    "--state-backend", "s3://agency-acme?region=us-east-1", "--secrets-provider", "awskms://alias/acme",
)  # fmt: skip


def run(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments, "--project", str(folder)])


def names(folder: Path) -> set[str]:
    """What is there, but for the folder of locks and of what is known, which every command may make."""
    return {path.name for path in folder.iterdir()} - {HOMES}


@pytest.fixture
def agency(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", programs(tmp_path / "bin"))
    return project(tmp_path / "agency", {"globex": settings("globex")}, {"globex": {"wave": "early"}})


def test_a_client_is_one_command(agency: Path) -> None:
    done = run(agency, "new", "acme", *OWN, "--wave", "canary", "--called", "Acme: Robotics")
    assert done.exit_code == 0, done.output
    assert "acme-prod is sound" in done.output
    assert "USD a month: " in done.output
    written = yaml.safe_load((agency / "Pulumi.acme-prod.yaml").read_text())
    assert written["secretsprovider"] == "awskms://alias/acme"
    assert written["config"]["trainyard:client"] == "acme"
    assert written["config"]["trainyard:teamSize"] == 8
    assert yaml.safe_load((agency / "Pulumi.acme-prod.lock.yaml").read_text())["zones"]
    assert yaml.safe_load((agency / "fleet.yaml").read_text()) == {
        "stacks": {"acme-prod": {"wave": "canary", "called": "Acme: Robotics"}, "globex": {"wave": "early"}}
    }
    checked = run(agency, "fleet", "check")
    assert checked.exit_code == 0, checked.output
    assert "Nothing that is one client's is another's." in checked.output


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (("--alert-email", "ml@globex.example"), 1, "another's address: ml@globex.example"),
        (("--owner", "ann@globex.example"), 1, "is another's: ann@globex.example"),
        (("--state-backend", "s3://agency-globex?region=us-east-1"), 1, "two clients' state is in one place"),
        (
            ("--state-backend", "s3://agency-globex?region=us-east-1"),
            1,
            ": --state-backend 's3://BUCKET/acme?region=REGION'",
        ),
        (("--monthly-budget", "100"), 2, "--monthly-budget: got 100; must be at least"),
        (("--region", "mars"), 2, "--region: got mars"),
        (("--called", ""), 2, "--called: got 0 characters; must have 1 to 80"),
        (("--wave", "first"), 2, "--wave: got first; must be one of canary, early, rest"),
        (("--team-size", "0"), 2, '--team-size: got "0"; must be at least 1'),
        (("--monthly-budget", "0"), 2, "--monthly-budget: got"),
    ],
)
def test_what_is_wrong_or_another_s_is_refused_and_nothing_is_written(
    agency: Path, more: tuple[str, ...], code: int, said: str
) -> None:
    before = names(agency)
    done = run(agency, "new", "acme", *OWN, *more)
    assert done.exit_code == code, done.output
    assert said in " ".join(done.output.split())
    assert names(agency) == before
    assert "acme" not in (agency / "fleet.yaml").read_text()


def test_a_stack_that_is_there_is_not_written_over(agency: Path) -> None:
    (agency / "Pulumi.acme-prod.yaml").write_text("mine\n")
    done = run(agency, "new", "acme", *OWN)
    assert done.exit_code == 2
    assert "is there already" in done.output
    assert (agency / "Pulumi.acme-prod.yaml").read_text() == "mine\n"


def test_leftovers_of_a_copy_are_a_violation(agency: Path) -> None:
    copy = (agency / "Pulumi.globex.yaml").read_text().replace("trainyard:client: globex", "trainyard:client: initech")
    (agency / "Pulumi.initech.yaml").write_text(copy)
    done = run(agency, "fleet", "check", "--json", "-")
    assert done.exit_code == 1
    document: dict[str, Any] = json.loads(done.stdout)
    assert {each["rule"] for each in document["shared"]} >= {"fleet-shared-address", "fleet-shared-owner"}
    assert [each["verdict"]["state"] for each in document["stacks"]] == ["sound", "sound"], "each alone is well"


def test_the_list_says_what_each_is_and_costs(agency: Path) -> None:
    done = run(agency, "fleet", "list", "--json", "-")
    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)["stacks"]
    assert (row["stack"], row["client"], row["cloud"], row["wave"]) == ("globex", "globex", "aws", "early")
    assert row["profile"] == "medium", "of eight people"
    assert row["version"] is None, "never brought up"
    assert row["verdict"]["money"]["expected"] > 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("stacks: {globx: {wave: early}}", "did you mean globex?"),
        ("stacks: {globex: {wave: first}}", "wave"),
        ("stacks: {globex: {wav: rest}}", "wav"),
        ("[1]", "must be a mapping"),
    ],
)
def test_a_wrong_fleet_file_is_told(agency: Path, text: str, said: str) -> None:
    (agency / "fleet.yaml").write_text(text)
    for verb in ("list", "check"):
        done = run(agency, "fleet", verb)
        assert done.exit_code == 2
        assert said in done.output


@pytest.mark.parametrize(
    ("broken", "wrong", "said"),
    [
        ("config: [\n", ("?", "?", "?"), "Pulumi.acme.yaml: got no YAML"),
        ("confg:\n  trainyard:client: acme\n", ("?", "aws", "us-east-1"), "confg: got a mapping"),
        (
            "config:\n  trainyard:client: acme\n  trainyard:teamSize: 0\n",
            ("acme", "aws", "us-east-1"),
            "teamSize: got",
        ),
    ],
)
def test_a_client_s_broken_file_is_told_and_hides_no_other(
    agency: Path, broken: str, wrong: tuple[str, ...], said: str
) -> None:
    (agency / "Pulumi.acme.yaml").write_text(broken)
    for verb, code in (("list", 0), ("check", 2)):
        done = run(agency, "fleet", verb)
        assert done.exit_code == code, done.output
        lines = {line.split()[0]: line.split() for line in reversed(done.output.splitlines()) if line.strip()}
        assert lines["globex"][1:4] == ["globex", "aws", "us-east-1"] and "sound" in lines["globex"]
        told = " ".join(done.output.split())
        assert "acme has wrong settings: " in told and f"mend {said}" in told.replace(
            "Pulumi.acme.yaml: confg", "confg"
        )
    rows = {row["stack"]: row for row in json.loads(run(agency, "fleet", "list", "--json", "-").stdout)["stacks"]}
    assert [rows["acme"][key] or "?" for key in ("client", "cloud", "region")] == list(wrong)
    if wrong[1] == "?":  # what cannot be read is brought up by nobody, and nobody past it
        assert run(agency, "fleet", "upgrade", "--pulumi", "true").exit_code == 2


def test_where_every_file_is_broken_the_project_is_wrong(agency: Path) -> None:
    (agency / "Pulumi.globex.yaml").write_text("config: [\n")
    done = run(agency, "fleet", "check")
    assert done.exit_code == 2 and "Pulumi.globex.yaml: got no YAML" in " ".join(done.output.split())


def test_an_upgrade_brings_a_wave_up_and_notes_it(agency: Path, tmp_path: Path) -> None:
    program = str(pulumi(tmp_path))
    nothing = run(agency, "fleet", "upgrade", "--pulumi", program)
    assert nothing.exit_code == 0, nothing.output
    assert "0 of 1 stacks were brought to" in nothing.output
    assert "1 in later waves" in nothing.output
    (tmp_path / "fail-globex").touch()
    failed = run(agency, "fleet", "upgrade", "--wave", "early", "--pulumi", program)
    assert failed.exit_code == 1
    assert "globex failed" in failed.output
    assert "update failed: quota" in failed.output
    (tmp_path / "fail-globex").unlink()
    (tmp_path / "state-globex.json").write_text(json.dumps(state(GOOD)))
    done = run(agency, "fleet", "upgrade", "--wave", "rest", "--pulumi", program)
    assert done.exit_code == 0, done.output
    assert "version" in yaml.safe_load((agency / "fleet.yaml").read_text())["stacks"]["globex"]
    assert known_of("globex", agency / HOMES).smoke == Smoke("pass", GOOD["created"], "pulumi up")
    again = run(agency, "fleet", "upgrade", "--wave", "rest", "--pulumi", program)
    assert "0 of 0 stacks" in again.output


def test_a_later_wave_waits_for_a_smoke_job_that_failed_on_an_earlier_one(
    agency: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project(agency, {"acme": settings("acme")}, {"acme": {"wave": "canary"}, "globex": {"wave": "early"}})
    program = str(pulumi(tmp_path))
    note("acme", agency / HOMES, smoke=Smoke("fail", "2020-01-01T10:00:00+00:00", "kubernetes"))
    first = run(agency, "fleet", "upgrade", "--wave", "canary", "--pulumi", program)
    assert first.exit_code == 0, first.output
    note("acme", agency / HOMES, smoke=Smoke("fail", now(), "kubernetes"))
    stopped = run(agency, "fleet", "upgrade", "--wave", "early", "--pulumi", program)
    assert stopped.exit_code == 1
    assert "no stack is touched: the smoke job of acme failed on" in " ".join(stopped.output.split())
    assert "globex" not in (tmp_path / "ended").read_text()
    note("acme", agency / HOMES, smoke=Smoke("pass", now(), "kubernetes"))
    assert run(agency, "fleet", "upgrade", "--wave", "early", "--pulumi", program).exit_code == 0
    assert (tmp_path / "ended").read_text().split() == ["acme", "globex"]


def test_a_later_wave_of_the_same_command_waits_for_a_smoke_job_that_failed_meanwhile(
    agency: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project(agency, {"acme": settings("acme")}, {"acme": {"wave": "canary"}, "globex": {"wave": "early"}})
    program = str(pulumi(tmp_path))

    def failed(folder: Path, client: Client, _: str) -> None:
        note(client.stack, folder / HOMES, smoke=Smoke("fail", now(), "kubernetes"))

    monkeypatch.setattr(fleet_releases, "ask_smoke", failed)
    told = tmp_path / "told.json"
    done = run(agency, "fleet", "upgrade", "--wave", "rest", "--pulumi", program, "--json", str(told))
    assert done.exit_code == 1
    assert "the smoke job of acme failed on" in " ".join(done.output.split())
    assert "1 of 2 stacks are done" in " ".join(done.output.split())
    assert (tmp_path / "ended").read_text().split() == ["acme"]
    assert [turn["step"] for turn in json.loads(told.read_text())["turns"]] == ["done", "waiting"]
    files.note_stack(agency, "acme", lambda entry: entry.model_copy(update={"frozen": "its proof is looked into"}))
    assert run(agency, "fleet", "upgrade", "--wave", "rest", "--pulumi", program).exit_code == 0
    assert (tmp_path / "ended").read_text().split() == ["acme", "globex"]


def test_what_people_wrote_into_the_fleet_s_file_stays(agency: Path, tmp_path: Path) -> None:
    (agency / "fleet.yaml").write_text("# by hand\nstacks:\n  globex: {wave: canary}  # Ann asks first\n# the end\n")
    assert run(agency, "fleet", "upgrade", "--pulumi", str(pulumi(tmp_path))).exit_code == 0
    assert run(agency, "new", "acme", *OWN).exit_code == 0
    assert (agency / "fleet.yaml").read_text() == (
        f"# by hand\nstacks:\n  globex: {{wave: canary, version: {version('trainyard')}}}  # Ann asks first\n"
        "  acme-prod:\n    wave: rest\n# the end\n"
    )


def test_a_fleet_file_that_cannot_be_written_leaves_no_half_of_a_client(
    agency: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = names(agency)

    def full(path: Path, *_: Any, **__: Any) -> None:
        fail(f"{path}: cannot be written: No space left on device")

    monkeypatch.setattr(files, "write_whole", full)
    done = run(agency, "new", "acme", *OWN)
    assert (done.exit_code, names(agency)) == (2, before)
    assert "No space left" in done.output


@pytest.mark.parametrize("ends", [KeyboardInterrupt(), OSError(errno.EROFS, "Read-only file system")])
def test_a_command_that_ends_before_the_fleet_s_file_is_written_leaves_no_half_of_a_client(
    agency: Path, monkeypatch: pytest.MonkeyPatch, ends: BaseException
) -> None:
    """A Ctrl-C comes while another command holds the lock."""
    before = names(agency)

    def held(*_: Any) -> None:
        raise ends

    monkeypatch.setattr(fcntl, "flock", held)
    assert run(agency, "new", "acme", *OWN).exit_code != 0
    assert names(agency) == before


def test_two_commands_do_not_write_the_fleet_s_file_over_each_other(agency: Path) -> None:
    project(agency, {f"c{number}": settings(f"c{number}") for number in range(8)})

    def told(number: int) -> None:
        files.note_stack(agency, f"c{number}", lambda entry: entry.model_copy(update={"version": f"1.0.{number}"}))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(told, range(8)))
    stacks = yaml.safe_load((agency / "fleet.yaml").read_text())["stacks"]
    assert {stack: said.get("version") for stack, said in stacks.items()} == {
        "globex": None, **{f"c{number}": f"1.0.{number}" for number in range(8)}
    }  # fmt: skip


def test_the_fleet_s_file_can_be_written_over_nfs(agency: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which gives a lock of one's own only to who may write: `flock(2)`."""
    flock = fcntl.flock

    def over_nfs(file: Any, operation: int) -> None:
        descriptor = file if isinstance(file, int) else file.fileno()
        if operation & fcntl.LOCK_EX and not fcntl.fcntl(descriptor, fcntl.F_GETFL) & (os.O_WRONLY | os.O_RDWR):
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", over_nfs)
    files.note_stack(agency, "globex", lambda entry: entry.model_copy(update={"version": "1.0.0"}))
    assert yaml.safe_load((agency / "fleet.yaml").read_text())["stacks"]["globex"]["version"] == "1.0.0"


@pytest.mark.usefixtures("judged")
@pytest.mark.parametrize("written", ["[1,", "[]", '{"deployment": {"resources": [1, {}]}}', "\\377\\376"])
def test_a_pulumi_that_writes_rubbish_leaves_the_list_as_it_is(agency: Path, tmp_path: Path, written: str) -> None:
    program = tmp_path / "odd"
    program.write_text(
        "#!/bin/sh\nprintf '\\377\\033[31m@'\n"
        f'while [ $# -gt 0 ]; do [ "$1" = --file ] && printf \'{written}\' > "$2"; shift; done; exit 0\n'
    )
    program.chmod(0o755)
    done = run(agency, "fleet", "list", "--live", "--pulumi", str(program))
    assert done.exit_code == 0, done.output
    assert "globex: smoke verdict unknown: " in done.output
    assert known_of("globex", agency / HOMES).smoke is None


def test_no_stack_is_touched_where_one_must_not_be_deployed(agency: Path, tmp_path: Path) -> None:
    file = agency / "Pulumi.globex.yaml"
    file.write_text(file.read_text().replace("  - ml@globex.example", "").replace("alertEmails:", "alertEmails: []"))
    done = run(agency, "fleet", "upgrade", "--wave", "rest", "--pulumi", str(pulumi(tmp_path)))
    assert done.exit_code == 1
    assert "no stack is touched: globex must not be deployed" in done.output
    asked = [line.split()[1] for line in (tmp_path / "calls").read_text().splitlines()]
    assert asked == ["stack-export"], "its state, which nothing is noted of, and nothing else"


def test_drift_is_told(agency: Path, tmp_path: Path) -> None:
    program = str(pulumi(tmp_path))
    assert run(agency, "fleet", "drift", "--pulumi", program).exit_code == 0
    assert (tmp_path / "calls").read_text() == "globex preview s3://agency-globex?region=us-east-1\n"
    (tmp_path / "fail-globex").touch()
    done = run(agency, "fleet", "drift", "--pulumi", program)
    assert done.exit_code == 1
    assert "globex: drifted, or could not be asked" in done.output


def test_the_list_remembers_what_drift_was_told(agency: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    program, once = str(pulumi(tmp_path)), fleet_judging.judged(fleet_judging.clients_of(agency), None)
    monkeypatch.setattr(fleet_judging, "judged", lambda *_: once)

    def listed() -> tuple[str, dict[str, Any]]:
        file = tmp_path / "list.json"
        done = run(agency, "fleet", "list", "--json", str(file))
        assert done.exit_code == 0, done.output
        return done.output, json.loads(file.read_text())["stacks"][0]["drift"]

    assert listed()[1] is None
    run(agency, "fleet", "drift", "--pulumi", program)
    text, drift = listed()
    assert drift["drifted"] is False and drift["asked"][:10] in text
    (tmp_path / "fail-globex").touch()
    run(agency, "fleet", "drift", "--pulumi", program)
    text, drift = listed()
    assert drift["drifted"] is True and "yes, or not asked" in text


@pytest.fixture
def judged(agency: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The agency's verdicts, which these tests are not about, made once; and a wide terminal."""
    once = fleet_judging.judged(fleet_judging.clients_of(agency), None)
    monkeypatch.setattr(fleet_judging, "judged", lambda *_: once)
    monkeypatch.setenv("COLUMNS", "200")


@pytest.mark.usefixtures("judged")
def test_what_nobody_asked_is_unknown_and_what_was_kept_has_its_date(agency: Path) -> None:
    listed = run(agency, "fleet", "list").output.splitlines()
    row = [line for line in listed if line.startswith("globex")][-1]
    assert row.split() == ["globex", "all", "hold", "unknown", "unknown", "unknown"]
    note("globex", agency / HOMES, smoke=Smoke("fail", "2026-11-20T10:00:00+00:00", "kubernetes"))
    old = Spend(1234.5, 2000.0, 500.0, "2026-10-31T10:00:00+00:00")
    note("globex", agency / HOMES, spend=old)
    said = run(agency, "fleet", "list").output
    assert "fail on 2026-11-20, kubernetes" in said
    assert "unknown; 1,234 of 500 in 2026-10" in said, "another month's figure says nothing of this one"
    (row,) = json.loads(run(agency, "fleet", "list", "--json", "-").stdout)["stacks"]
    assert row["smoke"] == {"verdict": "fail", "at": "2026-11-20T10:00:00+00:00", "by": "kubernetes"}
    assert (row["spend"]["usd"], row["spend"]["month"]) == (1234.5, "2026-10")
    assert row["verdict"]["counts"]["mandatory"] == 0


@pytest.mark.usefixtures("judged")
def test_live_asks_state_and_budget_and_keeps_both(
    agency: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = str(pulumi(tmp_path))
    (tmp_path / "state-globex.json").write_text(json.dumps(state(GOOD)))
    spent = budget(ActualSpend=usd("1234.56"), ForecastedSpend=usd("80000"))
    with aws(monkeypatch, {"budgets.DescribeBudget": spent}) as account:
        monkeypatch.setattr(account_aws, "account_of", lambda *_: account)
        done = run(agency, "fleet", "list", "--live", "--pulumi", program)
    assert done.exit_code == 0, done.output
    assert "pass on 2026-11-20, pulumi up" in done.output
    assert "1,235 of 70,000, 80,000 foreseen on " in done.output
    assert (tmp_path / "calls").read_text().split()[:2] == ["globex", "stack-export"]
    assert not list((agency / HOMES / "globex").glob("state-*")), "no copy of the state stays"
    offline = run(agency, "fleet", "list").output
    assert "1,235 of 70,000" in offline and "pass on 2026-11-20" in offline


@pytest.mark.usefixtures("judged")
def test_live_says_what_it_could_not_learn_and_keeps_what_was_known(
    agency: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = str(pulumi(tmp_path))
    note("globex", agency / HOMES, smoke=Smoke("pass", "2026-11-20T10:00:00+00:00", "pulumi up"))
    with aws(monkeypatch, {"budgets.DescribeBudget": refusal("AccessDeniedException")}) as account:
        monkeypatch.setattr(account_aws, "account_of", lambda *_: account)
        done = run(agency, "fleet", "list", "--live", "--pulumi", program)
    assert done.exit_code == 0
    assert "globex: smoke verdict unknown: pulumi stack export ended with 255" in done.output
    assert "globex: spend unknown: the identity may not call DescribeBudget; allow it" in done.output
    assert "pass on 2026-11-20, pulumi up" in done.output
    assert known_of("globex", agency / HOMES).spend is None


def test_a_kept_file_that_is_none_is_told(agency: Path) -> None:
    (agency / HOMES / "globex").mkdir(parents=True)
    (agency / HOMES / "globex" / "known.json").write_text("{}")
    done = run(agency, "fleet", "list")
    assert done.exit_code == 2
    assert "take it away to ask anew" in done.output


def test_without_pulumi_it_says_how_to_get_it(agency: Path) -> None:
    done = run(agency, "fleet", "upgrade", "--pulumi", "no-such-pulumi")
    assert done.exit_code == 2
    assert "https://www.pulumi.com/docs/install" in done.output


def test_explain_says_what_comes_from_the_project(agency: Path) -> None:
    text = (agency / "Pulumi.yaml").read_text()
    assert '  logRetentionDays:\n    type: string\n    default: ""' in text
    (agency / "Pulumi.yaml").write_text(
        text.replace(
            '  logRetentionDays:\n    type: string\n    default: ""',
            '  logRetentionDays:\n    type: string\n    default: "400"',
        )
    )
    sources = {row["key"]: row["source"] for row in json.loads(run(agency, "explain", "globex", "--json", "-").stdout)}
    found = {key: source for key, source in sources.items() if "in Pulumi.yaml for every stack" in source}
    assert found
    assert set(found.values()) == {"setting logRetentionDays, in Pulumi.yaml for every stack"}
    assert not any("setting region, in" in source for source in sources.values())


@pytest.fixture(scope="module")
def another_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python whose Trainyard names the tracking database otherwise, which no database can be changed to."""
    folder = tmp_path_factory.mktemp("release")
    python = bench.another_release(folder)
    prices = folder / "trainyard" / "catalog" / "aws_instances.csv"
    text = prices.read_text()
    assert ",21.957642," in text, "p4d.24xlarge, of which the pool train is made"
    prices.write_text(text.replace(",21.957642,", ",20.957642,"))
    return python


def test_a_release_that_replaces_a_database_stops_the_wave(agency: Path, another_release: Path, tmp_path: Path) -> None:
    found = run(agency, "fleet", "diff", "--before", str(another_release), "--json", "-")
    assert found.exit_code == 3, found.output
    (row,) = json.loads(found.stdout)["stacks"]
    assert row["change"]["counts"]["replaced"] >= 1
    assert {finding["rule"] for finding in row["change"]["findings"]} == {"change-protected"}
    price = row["change"]["price"]
    assert 0 < price["after"] - price["before"] < 730 * 8, "an hour of its eight-GPU nodes costs a dollar more"
    assert row["change"]["policies"] == {"new": [], "gone": []}
    program = str(pulumi(tmp_path))
    stopped = run(agency, "fleet", "upgrade", "--wave", "rest", "--pulumi", program, "--before", str(another_release))
    assert stopped.exit_code == 1
    assert "no stack is touched: globex must not be changed like this" in stopped.output
    assert not (tmp_path / "calls").exists()


def test_a_fleet_s_wave_stops_at_every_client_whose_database_would_be_replaced(
    another_release: Path, tmp_path: Path
) -> None:
    """Two of the hundred that `make bench` compares."""
    folder = bench.clients(ROOT, tmp_path, 2)
    found = CliRunner().invoke(
        app, ["fleet", "diff", "--before", str(another_release), "--json", "-", "--project", str(folder)]
    )
    assert found.exit_code == 3, found.output
    rows = json.loads(found.stdout)["stacks"]
    assert [row["stack"] for row in rows] == ["c000", "c001"]
    for row in rows:
        assert row["verdict"]["state"] == "unsafe-change"
        (lost,) = row["change"]["findings"]
        assert (lost["rule"], lost["type"]) == ("change-protected", "aws:rds/instance:Instance"), lost


def test_the_same_release_changes_nothing(agency: Path) -> None:
    found = run(agency, "fleet", "diff", "--before", sys.executable, "--json", "-")
    assert found.exit_code == 0, found.output
    (row,) = json.loads(found.stdout)["stacks"]
    assert row["change"]["steps"] == []
    assert row["change"]["price"]["before"] == pytest.approx(row["change"]["price"]["after"], abs=0.01)


def test_a_release_that_is_not_there_is_told(agency: Path) -> None:
    found = run(agency, "fleet", "diff", "--before", str(agency / "python"))
    assert found.exit_code == 2
    assert "neither a file that is there nor a version" in found.output
