"""A client that stays on a release of its own: judged, brought up and asked for drift by that one alone."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from tests.fleet.fleets import clients, programs, project, pulumi, settings
from trainyard.cli import fleet_judging, fleet_releases
from trainyard.cli.main import app
from trainyard.fleet import pinned
from trainyard.fleet.clients import Entry, Fleet, fleet_text, with_stack
from trainyard.fleet.releases import Shelf
from trainyard.review.change.source import Source
from trainyard.review.told import Told
from trainyard.review.verdict import Money, State, Verdict, verdict_from, verdict_on_failure

VERDICT = Verdict(
    stack="acme",
    state=State.WARNED,
    headline="acme can be deployed; 1 warning",
    warnings=1,
    advisory=2,
    money=Money(100.0, 200.0, 300.0, 250.0, 400.0, 0),
    next_steps=("look at it",),
)

RELEASE = """#!{python}
import json, pathlib, sys
arguments = sys.argv[sys.argv.index("-c") + 2:]
pathlib.Path({asked!r}).open("a").write(json.dumps(arguments) + "\\n")
if "--json" in arguments and {answers}:
    out = pathlib.Path(arguments[arguments.index("--json") + 1])
    out.write_text({document!r})
else:
    sys.exit("its settings are newer than it is")
"""


def release(folder: Path, *, answers: bool = True) -> Path:
    """A Python whose Trainyard gives one verdict on whatever it is asked."""
    path = folder / "environment" / "bin" / "python"
    path.parent.mkdir(parents=True, exist_ok=True)
    document = json.dumps({"stacks": [{"stack": "acme", "verdict": VERDICT.as_json(), "change": {"steps": []}}]})
    text = RELEASE.format(python=sys.executable, asked=str(folder / "asked"), answers=answers, document=document)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def agency(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", programs(tmp_path / "bin"))
    monkeypatch.setenv("COLUMNS", "200")
    return project(tmp_path / "agency", {"acme": settings("acme")}, {"acme": {"pin": "0.0.9", "version": "0.0.8"}})


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The release that acme is pinned to, as it is installed aside."""
    python = release(tmp_path)
    monkeypatch.setattr(pinned, "python_of", lambda *_: python)
    return python


def run(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["fleet", *arguments, "--project", str(folder)])


def asked(folder: Path) -> list[list[str]]:
    path = folder / "asked"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_a_verdict_comes_back_as_it_went() -> None:
    assert verdict_from("acme", json.loads(json.dumps(VERDICT.as_json()))) == VERDICT
    failure = verdict_on_failure("acme", "no reason")
    assert verdict_from("acme", failure.as_json()) == failure


def test_its_own_release_judges_it(agency: Path, old: Path, tmp_path: Path) -> None:
    done = run(agency, "check", "--json", "-")
    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)["stacks"]
    assert row["verdict"]["headline"] == VERDICT.headline
    (question,) = asked(tmp_path)
    assert question[:2] == ["check", str(agency / "Pulumi.acme.yaml")]
    assert "0.0.8, pinned to 0.0.9" in run(agency, "list").output


def test_a_check_of_all_may_leave_pinned_stacks_to_their_release(agency: Path, tmp_path: Path) -> None:
    before = tmp_path / "before.json"
    stacks = [{"stack": "acme", "plan": {}, "violations": [], "cost": {}}]
    before.write_text(json.dumps({"stacks": stacks}))
    page = tmp_path / "page.md"
    options = ["check", "--all", "--skip-pinned", "--markdown", str(page), "--compare", str(before)]
    done = CliRunner().invoke(app, [*options, "--project", str(agency)])
    assert done.exit_code == 0, done.output
    assert "acme: pinned to another release, which `trainyard fleet check` asks" in done.output
    assert page.read_text().strip().endswith("## Trainyard check"), "neither judged nor told to be removed"
    wrong = CliRunner().invoke(app, ["check", "acme", "--skip-pinned", "--project", str(agency)])
    assert wrong.exit_code == 2 and "--skip-pinned goes with --all" in wrong.output


def test_a_release_that_cannot_judge_it_is_told(agency: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = release(tmp_path, answers=False)
    monkeypatch.setattr(pinned, "python_of", lambda *_: python)
    done = run(agency, "check", "--json", "-")
    assert done.exit_code == 70
    (row,) = json.loads(done.stdout)["stacks"]
    assert "release 0.0.9, to which it is pinned, gave no verdict: its settings are newer" in row["verdict"]["headline"]


@pytest.mark.parametrize("verb", [("check",), ("list",), ("drift",), ("upgrade", "--wave", "rest")])
def test_a_pin_that_is_not_to_be_had_is_told_and_nothing_else_takes_its_place(
    agency: Path, tmp_path: Path, verb: tuple[str, ...]
) -> None:
    more = ["--pulumi", str(pulumi(tmp_path))] if verb[0] in ("drift", "upgrade") else []
    done = run(agency, *verb, *more)
    assert done.exit_code == 2
    said = " ".join(done.output.split())
    assert (
        "fleet.yaml: stacks.acme.pin 0.0.9: got no wheel of it; must be a release whose wheel lies in wheels/" in said
    )
    assert not (tmp_path / "calls").exists()


def test_pulumi_runs_its_program_in_its_release_s_environment(agency: Path, old: Path) -> None:
    (client,) = clients(agency)
    (agency / "clients-note").write_text("one")
    for _ in range(2):  # made anew each time
        held = pinned.held(client, "1.0.0", Shelf(), agency / "homes")
    view = held.folder
    assert view != agency and held.python == old
    told = yaml.safe_load((view / "Pulumi.yaml").read_text())
    ours = yaml.safe_load((agency / "Pulumi.yaml").read_text())
    assert told["runtime"]["options"]["virtualenv"] == str(old.parent.parent)
    assert {**told, "runtime": ours["runtime"]} == ours, "nothing else is another"
    for name in ("Pulumi.acme.yaml", "__main__.py", "clients-note"):
        assert (view / name).resolve() == agency / name
    assert pinned.held(client, "0.0.9", Shelf(), agency / "homes") is client, "it is the installed one"


def test_an_upgrade_brings_it_to_its_pin_and_no_further(agency: Path, old: Path, tmp_path: Path) -> None:
    program = pulumi(tmp_path)
    text = program.read_text().replace('print("Updating", stack)', 'print("in", sys.argv[sys.argv.index("--cwd") + 1])')
    program.write_text(text)
    before = release(tmp_path / "before")
    done = run(agency, "upgrade", "--wave", "rest", "--pulumi", str(program), "--before", str(before))
    assert done.exit_code == 0, done.output
    assert yaml.safe_load((agency / "fleet.yaml").read_text())["stacks"]["acme"]["version"] == "0.0.9"
    (log,) = (agency / ".pulumi-homes" / "acme").glob("up-*.log")
    assert log.read_text().strip() == f"in {agency / '.pulumi-homes' / 'acme' / 'project'}"
    (rehearsed,), (judged,) = asked(tmp_path / "before"), asked(tmp_path)
    assert rehearsed[0] == "rehearse" and judged[0] == "check"
    assert Path(judged[judged.index("--from") + 1]).name == "before.json", "by its own release, from what it ran"
    again = run(agency, "upgrade", "--wave", "rest", "--pulumi", str(program))
    assert "0 of 0 stacks" in again.output
    diff = run(agency, "diff", "--before", str(before))
    assert "acme is pinned to 0.0.9: no other release touches it." in diff.output


def told_of(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Source]]:
    """What the stacks of each wave were compared with; what came of it is not asked here."""
    found: list[dict[str, Source]] = []

    def judged(_clients: Any, _jobs: Any, since: dict[str, Source]) -> dict[str, Told]:
        for source in since.values():
            assert source.file is None or json.loads(source.file.read_text())["deployment"]["resources"]
        found.append(since)
        return {}

    monkeypatch.setattr(fleet_judging, "judged", judged)
    return found


def upgraded(tmp_path: Path, **entry: str) -> tuple[Path, Result]:
    folder = project(tmp_path / "own", {"globex": settings("globex")}, {"globex": entry})
    return folder, run(folder, "upgrade", "--wave", "rest", "--pulumi", str(pulumi(tmp_path)))


def test_the_release_that_is_noted_is_what_an_upgrade_is_compared_with(
    agency: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = told_of(monkeypatch)
    monkeypatch.setattr(fleet_releases, "_python_of", lambda *_: Path(sys.executable))
    _, done = upgraded(tmp_path, version="0.0.8")
    assert done.exit_code == 0, done.output
    assert found == [{"globex": Source("0.0.8", interpreter=Path(sys.executable))}]


def test_a_noted_release_that_is_not_to_be_had_stops_the_wave(
    agency: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told_of(monkeypatch)
    _, done = upgraded(tmp_path, version="0.0.8")
    assert done.exit_code == 2
    said = " ".join(done.output.split())
    assert "fleet.yaml: stacks.globex.version 0.0.8: got no wheel of it" in said and "--before RELEASE" in said
    assert not (tmp_path / "calls").exists()


def test_without_a_noted_release_it_is_the_state_that_is_compared(
    agency: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = told_of(monkeypatch)
    (tmp_path / "state-globex.json").write_text(json.dumps({"deployment": {"resources": [{"type": "a"}]}}))
    folder, done = upgraded(tmp_path)
    assert done.exit_code == 0, done.output
    assert found[0]["globex"].words == "the state of globex"
    assert not list((folder / ".pulumi-homes" / "globex").glob("before-*")), "no copy of it stays"


@pytest.mark.parametrize("state", [None, '{"deployment": {}}'])
def test_where_nothing_is_there_yet_nothing_can_be_lost(
    agency: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str | None
) -> None:
    found = told_of(monkeypatch)
    if state is not None:
        (tmp_path / "state-globex.json").write_text(state)
    _, done = upgraded(tmp_path)
    assert (done.exit_code, found) == (0, [{}]), done.output


def test_a_state_that_cannot_be_read_stops_the_wave(
    agency: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told_of(monkeypatch)
    folder = project(tmp_path / "own", {"globex": settings("globex")}, {"globex": {}})
    program = pulumi(tmp_path)
    program.write_text(program.read_text().replace("error: no stack named", "error: AccessDenied:"))
    done = run(folder, "upgrade", "--wave", "rest", "--pulumi", str(program))
    assert done.exit_code == 2
    assert "nobody knows what an upgrade would lose" in done.output and "AccessDenied" in done.output
    assert "up" not in {line.split()[1] for line in (tmp_path / "calls").read_text().splitlines()}


def test_what_fleet_yaml_says_is_written_as_it_was_read(tmp_path: Path) -> None:
    fleet = Fleet.model_validate(
        {"index": "https://wheels.agency.example/simple", "stacks": {"acme": {"wave": "rest", "pin": "0.0.9"}}}
    )
    assert Fleet.model_validate(yaml.safe_load(fleet_text(fleet))) == fleet


def test_what_is_no_longer_said_of_a_stack_is_taken_out_and_the_rest_stays(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", {name: settings(name) for name in ("acme", "globex")})
    text = "# ours\nstacks:\n  acme:\n    wave: canary\n    frozen: a launch\n  globex: {wave: early}  # until June\n"
    (folder / "fleet.yaml").write_text(text)

    def thawed(entry: Entry) -> Entry:
        return entry.model_copy(update={"frozen": None})

    changed = with_stack(folder, ["acme", "globex"], "acme", thawed)
    assert yaml.safe_load(changed)["stacks"] == {"acme": {"wave": "canary"}, "globex": {"wave": "early"}}
    assert "# ours\n" in changed and "# until June\n" in changed
