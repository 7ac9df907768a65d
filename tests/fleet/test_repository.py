"""An agency's repository as `trainyard init` writes it: its pipelines keep the rules of ours, and its page is true."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
import typer
import yaml
from typer.testing import CliRunner

from tests.fleet.fleets import pulumi
from tests.shared import ROOT
from tests.test_workflows import checkouts, runs_code_of_the_branch
from trainyard.cli import fleet_judging
from trainyard.cli.main import app
from trainyard.fleet.clients import Client, Fleet
from trainyard.rehearsal.engine.project import stack_folder

WORKFLOWS = ("check", "drift", "stack", "upgrade")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("agency") / "clients of ours"
    done = CliRunner().invoke(app, ["init", str(folder), "--default", "owner=platform@agency.example"])
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def mine(made: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copytree(made, tmp_path / "mine"))


def workflow(folder: Path, name: str) -> dict[str, Any]:
    content = yaml.safe_load((folder / ".github" / "workflows" / f"{name}.yml").read_text())
    return {**content, "on": content[True]}  # YAML 1.1 takes the key `on` for a boolean


def jobs(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    return [(f"{name}: {job}", told) for name in WORKFLOWS for job, told in workflow(folder, name)["jobs"].items()]


def test_what_it_holds(made: Path) -> None:
    assert stack_folder(made) == made / "clients"
    assert yaml.safe_load((made / "fleet.yaml").read_text()) == {"stacks": {}}
    assert (made / "requirements.txt").read_text() == f"trainyard=={version('trainyard')}\n"
    assert (made / "requirements.lock").read_text() == (ROOT / "requirements.lock").read_text()
    assert (made / "ci" / "comment.py").read_text() == (ROOT / "docs" / "ci" / "comment.py").read_text()
    assert yaml.safe_load((made / "Pulumi.yaml").read_text())["config"]["owner"]["default"] == "platform@agency.example"
    assert sorted(path.stem for path in (made / ".github" / "workflows").iterdir()) == sorted(WORKFLOWS)
    for path in made.rglob("*"):
        assert not path.is_symlink()
        if path.is_file():
            assert not re.search(r"@[A-Z]+@", path.read_text()), path


def test_every_file_is_read_by_what_reads_it(made: Path) -> None:
    for path in made.rglob("*"):
        if path.suffix in (".yml", ".yaml"):
            assert isinstance(yaml.safe_load(path.read_text()), dict), path
        elif path.suffix == ".json":
            assert isinstance(json.loads(path.read_text()), dict), path
        elif path.suffix == ".py":
            compile(path.read_text(), str(path), "exec")
        elif path.parent.name == "ci" and path.is_file():
            subprocess.run(["sh", "-n", path], check=True)


def test_the_actions_are_those_of_our_own_pipelines(made: Path) -> None:
    ours = set(re.findall(r"uses: (.+)", (ROOT / ".github" / "workflows" / "trainyard.yml").read_text()))
    for name in WORKFLOWS:
        text = (made / ".github" / "workflows" / f"{name}.yml").read_text()
        assert set(re.findall(r"uses: (.+)", text)) <= ours
        assert set(re.findall(r"pulumi-version: (.+)", text)) <= {version("pulumi")}


def test_no_job_has_rights_that_it_does_not_use(made: Path) -> None:
    for name in WORKFLOWS:
        assert workflow(made, name)["permissions"] == {}
    for name, job in jobs(made):
        assert job["timeout-minutes"] <= 360
        granted = {scope for scope, right in job["permissions"].items() if right == "write"}
        assert granted <= {"id-token", "pull-requests", "contents"}, name
        assert ("id-token" in granted) == ("environment" in job), f"{name}: a role is an environment's"
        assert all(step["with"]["persist-credentials"] is False for step in checkouts(job)), name
        for step in job["steps"]:
            assert "${{" not in step.get("run", ""), f"{name}: what a person typed would be code of the shell"
            told = f"{step.get('env', '')}{step.get('with', '')}"
            assert "secrets." not in told
            if runs_code_of_the_branch(job):
                assert "github.token" not in told and not granted & {"contents", "pull-requests"}, name


def test_what_may_write_runs_nothing_of_the_repository(made: Path) -> None:
    for name, job in jobs(made):
        if {"contents", "pull-requests"} & {scope for scope, right in job["permissions"].items() if right == "write"}:
            text = "\n".join(step.get("run", "") for step in job["steps"])
            assert not re.search(r"\b(pip|make|sh ci)\b|\.venv", text), name
            assert all(program.startswith("-I target/") for program in re.findall(r"python3? (.+)", text)), name


def test_what_meets_a_cloud_runs_the_default_branch_in_an_environment_whose_role_says_so(made: Path) -> None:
    met = {name: job for name, job in jobs(made) if "id-token" in job["permissions"]}
    assert set(met) == {"drift: drift", "stack: look", "upgrade: upgrade"}
    for name, job in met.items():
        assert job["if"] == "github.ref == 'refs/heads/main'", name
        which = job["environment"].removeprefix("trainyard-")
        assert which == ("upgrade" if name.startswith("upgrade") else "read")
        [statement] = json.loads((made / "ci" / "aws" / f"{which}-role-trust.json").read_text())["Statement"]
        bound = statement["Condition"]["StringEquals"]
        assert bound["token.actions.githubusercontent.com:sub"].endswith(f":environment:{job['environment']}")


def test_the_rights_of_the_roles_are_the_least(made: Path) -> None:
    reads = re.compile(r"[a-z0-9]+:(Get|List|Describe|Decrypt)\w*|sts:AssumeRole")
    for which in ("read", "upgrade"):
        for statement in json.loads((made / "ci" / "aws" / f"{which}-role-rights.json").read_text())["Statement"]:
            assert all(not resource.startswith("*") and ":*" not in resource for resource in statement["Resource"])
            assert which == "upgrade" or all(reads.fullmatch(action) for action in statement["Action"])


def test_gitlab_s_jobs_keep_the_same_rules(made: Path) -> None:
    recipe = yaml.safe_load((made / ".gitlab-ci.yml").read_text())
    assert "default" not in recipe and "variables" not in recipe and "before_script" not in recipe
    told = {name.removeprefix("trainyard:"): job for name, job in recipe.items() if name.startswith("trainyard:")}
    assert set(told) == {"check", "comment", "drift", "look", "upgrade"}
    assert "environment" not in told["check"] and "id_tokens" not in told["check"]
    assert told["comment"]["variables"] == {"GIT_STRATEGY": "none"}
    assert "python3 -I /tmp/target/ci/comment.py trainyard.md" in told["comment"]["script"]
    for name in ("drift", "look", "upgrade"):
        assert all("$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH" in rule["if"] for rule in told[name]["rules"])
        assert told[name]["environment"]["name"] == f"trainyard/{'upgrade' if name == 'upgrade' else 'read'}"
        assert told[name]["image"].endswith(f":{version('pulumi')}")


def logged_in(made: Path, **given: str) -> dict[str, str]:
    """What a shell has after `ci/login`, with these variables of a pipeline and nothing else but its path."""
    script = '. ci/login && env && cat "${GOOGLE_APPLICATION_CREDENTIALS:-/dev/null}" > google'
    done = subprocess.run(
        ["sh", "-euc", script],
        cwd=made,
        env={"PATH": os.environ["PATH"], **given},
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(line.partition("=")[::2] for line in done.stdout.splitlines())


PROVIDER = "projects/1/locations/global/workloadIdentityPools/trainyard/providers/pipelines"
ACCOUNT = "trainyard-read@agency.iam.gserviceaccount.com"


@pytest.mark.parametrize(
    ("given", "source"),
    [
        (
            {"ACTIONS_ID_TOKEN_REQUEST_URL": "https://a/token?v=2", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "abc"},
            {
                "url": f"https://a/token?v=2&audience=https://iam.googleapis.com/{PROVIDER}",
                "headers": {"Authorization": "Bearer abc"},
                "format": {"type": "json", "subject_token_field_name": "value"},
            },
        ),
        ({"GOOGLE_TOKEN": "jwt"}, None),
    ],
    ids=["github", "gitlab"],
)
def test_a_pipeline_is_a_service_account_without_a_key(
    mine: Path, given: dict[str, str], source: dict[str, Any] | None
) -> None:
    found = logged_in(mine, TRAINYARD_GOOGLE_PROVIDER=PROVIDER, TRAINYARD_GOOGLE_ACCOUNT=ACCOUNT, **given)
    told = json.loads((mine / "google").read_text())
    assert (told["type"], told["audience"]) == ("external_account", f"//iam.googleapis.com/{PROVIDER}")
    assert told["service_account_impersonation_url"].endswith(f"/serviceAccounts/{ACCOUNT}:generateAccessToken")
    if source is None:
        assert Path(told["credential_source"]["file"]).read_text() == "jwt"
    else:
        assert told["credential_source"] == source
    assert found["CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE"] == found["GOOGLE_APPLICATION_CREDENTIALS"]


def test_a_pipeline_without_a_client_on_a_cloud_does_not_log_in_there(mine: Path) -> None:
    found = logged_in(mine, AWS_TOKEN="jwt", GOOGLE_TOKEN="jwt", TRAINYARD_GOOGLE_PROVIDER="")
    assert not {key for key in found if key.startswith(("AWS_ROLE", "GOOGLE_APPLICATION"))}
    found = logged_in(mine, AWS_TOKEN="jwt", TRAINYARD_ROLE="arn:aws:iam::1:role/read")
    assert found["AWS_ROLE_ARN"] == "arn:aws:iam::1:role/read"
    assert Path(found["AWS_WEB_IDENTITY_TOKEN_FILE"]).read_text() == "jwt"


def test_every_job_that_meets_a_cloud_has_both_clouds_programs_and_log_ins(made: Path) -> None:
    for name, job in jobs(made):
        if "id-token" not in job["permissions"]:
            continue
        last = next(step for step in job["steps"] if ".venv/bin/trainyard" in step.get("run", ""))
        assert last["run"].startswith(". ci/login\n"), name
        assert {"TRAINYARD_GOOGLE_PROVIDER", "TRAINYARD_GOOGLE_ACCOUNT"} <= set(last["env"]), name
        assert any(step.get("run") == "sh ci/programs" for step in job["steps"]), name
        (role,) = [step for step in job["steps"] if "aws-actions" in step.get("uses", "")]
        assert role["if"] == "vars.TRAINYARD_ROLE != ''", "an agency whose clients are all on Google Cloud has none"
    recipe = yaml.safe_load((made / ".gitlab-ci.yml").read_text())
    for name in ("drift", "look", "upgrade"):
        job = recipe[f"trainyard:{name}"]
        assert job["script"][1:3] == ["sh ci/programs", ". ci/login"], name
        assert set(job["id_tokens"]) == {"AWS_TOKEN", "GOOGLE_TOKEN"}, name


def test_programs_installs_what_is_missing_and_what_is_pinned_alone(mine: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "dirname", "id", "mktemp", "rm", "sha256sum"):
        (folder / name).symlink_to(str(shutil.which(name)))
    for name in ("apt-get", "sudo", "dpkg", "gpg", "tee"):
        (folder / name).write_text(f'#!/bin/sh\necho "{name} $*" >> {tmp_path}/asked\n')
        (folder / name).chmod(0o755)
    (folder / "curl").write_text(
        '#!/bin/sh\nwhile [ $# -gt 0 ]; do [ "$1" = --output ] && echo package > "$2"; shift; done\n'
    )
    (folder / "curl").chmod(0o755)

    def run(**given: str) -> tuple[int, str]:
        (tmp_path / "asked").write_text("")
        done = subprocess.run(["sh", "ci/programs"], cwd=mine, env={"PATH": str(folder), **given}, check=False)
        return done.returncode, (tmp_path / "asked").read_text()

    assert run() == (0, ""), "nothing is named, nothing is installed"
    code, asked = run(TRAINYARD_GOOGLE_PROVIDER=PROVIDER)
    assert (code, "google-cloud-cli-gke-gcloud-auth-plugin" in asked) == (0, True)
    (mine / "ci" / "session-manager-plugin").write_text(f"1.2.707.0 {'0' * 64}\n")
    code, asked = run()
    assert code != 0 and "dpkg" not in asked, "another package than the one that was trusted"
    digest = hashlib.sha256(b"package\n").hexdigest()
    (mine / "ci" / "session-manager-plugin").write_text(f"1.2.707.0 {digest}\n")
    code, asked = run()
    assert (code, "dpkg --install" in asked) == (0, True)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("owner", "must be KEY=VALUE"),
        ("ownr=a", "did you mean owner?"),
        ("client=acme", "is each client's own"),
        ("residency=mars", "must be"),
        ("network={reservedCidrs: [10.0.0.1/8]}", "without host bits"),
        ("network={reservedCidrs", "--default network"),
    ],
)
def test_a_default_that_no_client_could_have_is_refused(tmp_path: Path, option: str, said: str) -> None:
    done = CliRunner().invoke(app, ["init", str(tmp_path / "new"), "--default", option])
    assert done.exit_code == 2, done.output
    assert said in " ".join(done.output.split())
    assert not (tmp_path / "new").exists()


def test_defaults_reach_the_clients_as_what_they_are(tmp_path: Path) -> None:
    given = [
        "residency=eu",
        "teamSize=8",
        "protect=false",
        "network={reservedCidrs: [10.0.0.0/16]}",
        "region=eu-west-1",
    ]
    options = [part for value in given for part in ("--default", value)]
    done = CliRunner().invoke(app, ["init", str(tmp_path), *options])
    assert done.exit_code == 0, done.output
    declared = yaml.safe_load((tmp_path / "Pulumi.yaml").read_text())["config"]
    assert {key: declared[key]["default"] for key in ("residency", "teamSize", "protect", "network", "region")} == {
        "residency": "eu", "teamSize": "8", "protect": False, "network": {"reservedCidrs": ["10.0.0.0/16"]},
        "region": "eu-west-1",
    }  # fmt: skip


def test_the_agency_s_name_is_that_of_reports(tmp_path: Path) -> None:
    assert CliRunner().invoke(app, ["init", str(tmp_path / "a"), "--agency", "Rails & Sons"]).exit_code == 0
    assert yaml.safe_load((tmp_path / "a" / "fleet.yaml").read_text())["agency"] == {"name": "Rails & Sons"}
    told = CliRunner().invoke(app, ["init", str(tmp_path / "b"), "--agency", "x" * 81])
    assert (told.exit_code, "--agency" in told.output, (tmp_path / "b").exists()) == (2, True, False)


def test_what_its_page_says_of_the_agency_is_taken(made: Path) -> None:
    [block] = re.findall(r"^```yaml\n(.*?)^```", (made / "README.md").read_text(), flags=re.M | re.S)
    found = Fleet.model_validate(yaml.safe_load(block)).agency
    assert found is not None and found.prices is not None and found.prices.build == (60_000, 150_000)


def test_the_wheel_is_copied_where_it_is_the_installed_release_s(tmp_path: Path) -> None:
    wheel = tmp_path / f"trainyard-{version('trainyard')}-py3-none-any.whl"
    with ZipFile(wheel, "w") as archive:
        archive.writestr("trainyard/__init__.py", "")
    other = tmp_path / "trainyard-99.0-py3-none-any.whl"
    other.write_bytes(wheel.read_bytes())
    for wrong in (other, tmp_path / "none.whl", tmp_path):
        done = CliRunner().invoke(app, ["init", str(tmp_path / "new"), "--wheel", str(wrong)])
        assert done.exit_code == 2, done.output
        assert not (tmp_path / "new").exists()
    done = CliRunner().invoke(app, ["init", str(tmp_path / "new"), "--wheel", str(wheel)])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "new" / "wheels" / wheel.name).read_bytes() == wheel.read_bytes()


@pytest.mark.parametrize("option", [("--default", "owner=a"), ("--wheel", "a.whl"), ("--agency", "ours")])
def test_what_is_a_repository_s_is_none_of_a_first_stack(tmp_path: Path, option: tuple[str, str]) -> None:
    done = CliRunner().invoke(app, ["init", str(tmp_path), "--client", "acme", *option])
    assert done.exit_code == 2
    assert "is for an agency's repository" in " ".join(done.output.split())


def commands(folder: Path) -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```", (folder / "README.md").read_text(), flags=re.M | re.S)
    return [line.partition("  # ")[0].strip() for block in blocks for line in block.splitlines()]


def programs(folder: Path) -> dict[str, str]:
    """An environment in which `python3` makes a `.venv` whose programs do nothing but write down how they are called.

    `trainyard` there ends as a file `exit-VERB` says, with the first two words of a verb.
    """
    folder.mkdir()
    pulumi(folder)
    trainyard = (
        f'#!/bin/sh\necho "$*" >> {folder}/asked\n'
        'while [ $# -gt 0 ]; do case "$1" in --markdown|--output) echo report > "$2";; '
        f"list|check|diff) verb=$1;; esac; shift; done\n[ ! -f {folder}/exit-$verb ] || exit 3\n"
    )
    python = (
        '#!/bin/sh\n[ "$1 $2" = \'-m venv\' ] || exit 9\nmkdir -p "$3/bin"\n'
        f'cp {folder}/trainyard {folder}/pip "$3/bin/"\ntouch "$3/bin/python" "$3/bin/activate"\n'
    )
    pip = f'#!/bin/sh\necho "pip $*" >> {folder}/asked\n'
    aws = "#!/bin/sh\necho '[]'\n"  # no bastion yet: `tests/fleet/test_tunnel.py` has one
    plugin = "#!/bin/sh\n"
    own = {"trainyard": trainyard, "pip": pip, "python3": python, "aws": aws, "session-manager-plugin": plugin}
    for name, text in own.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


CLOUDS = ("trainyard preflight", "trainyard destroy")
"""What asks an account: its words are read, and nobody is asked."""


def test_every_command_of_its_page_runs(mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in programs(tmp_path / "bin").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(mine)
    judged, found = fleet_judging.judged, dict[tuple[str, ...], Any]()

    def judged_once(clients: list[Client], jobs: int | None, since: object = None) -> Any:
        stacks = tuple(client.stack for client in clients)
        if stacks not in found:
            found[stacks] = judged(clients, jobs)
        return found[stacks]

    monkeypatch.setattr(
        fleet_judging, "judged", judged_once
    )  # `check`, `list` and `upgrade` ask the same of the same stack
    said, parsed = "", 0
    for line in commands(mine):
        program, *words = shlex.split(line)
        if line.startswith(CLOUDS):
            group = typer.main.get_command(app)
            group.commands[words[0]].make_context(words[0], words[1:])  # type: ignore[attr-defined]
            parsed += 1
        elif program == "trainyard":
            done = CliRunner().invoke(app, words)
            assert done.exit_code == 0, f"{line}: {done.output}"
            said += done.output
        else:
            subprocess.run(["bash", "-c", line], check=True, capture_output=True)
    assert parsed == 4
    assert "acme-prod is sound" in said
    assert "eu-west-1" in said
    assert "Nothing that is one client's is another's." in said
    assert f"1 of 1 stacks were brought to {version('trainyard')}" in said
    assert "acme-prod: as its program says" in said
    assert (mine / "clients" / "Pulumi.acme-prod.lock.yaml").is_file()
    assert (mine / "acme.yaml").is_file() and (mine / "acme-prod-handover.html").is_file()
    assert yaml.safe_load((mine / "fleet.yaml").read_text())["stacks"]["acme-prod"]["version"] == version("trainyard")
    asked = (tmp_path / "bin" / "asked").read_text().splitlines()
    assert [("--require-hashes" in each, "--no-index" in each) for each in asked] == [(True, False), (False, True)]


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@agency.example")
    return subprocess.run(["git", *who, *arguments], cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def committed(mine: Path, tmp_path: Path) -> tuple[Path, dict[str, str], str]:
    """A repository with one client, its environment, and its commit."""
    environment = programs(tmp_path / "bin")
    (mine / "clients" / "Pulumi.acme-prod.yaml").write_text("config: {}\n")
    git(mine, "init", "--quiet", "--initial-branch", "main")
    git(mine, "add", "--all")
    git(mine, "commit", "--quiet", "-m", "one client")
    subprocess.run(["sh", "ci/install"], cwd=mine, env=environment, check=True)
    (tmp_path / "bin" / "asked").unlink()
    return mine, environment, git(mine, "rev-parse", "HEAD").strip()


def checked(folder: Path, environment: dict[str, str], *arguments: str) -> tuple[int, list[str]]:
    """How the pipelines' check ends, and what it asked Trainyard, in order; a folder of its own is called DIR."""
    done = subprocess.run(
        ["sh", "ci/check", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    asked = Path(environment["PATH"].partition(":")[0]) / "asked"
    told = asked.read_text().splitlines() if asked.exists() else []
    return done.returncode, [re.sub(r"/\S*/tmp\.\w+", "DIR", line) for line in told]


def test_a_check_without_a_client_or_a_commit(committed: tuple[Path, dict[str, str], str]) -> None:
    folder, environment, _ = committed
    assert checked(folder, environment) == (0, ["check --all --skip-pinned --markdown trainyard.md", "fleet check"])
    (folder / "clients" / "Pulumi.acme-prod.yaml").unlink()
    assert checked(folder, environment)[0] == 0, "nothing more is asked"


def test_a_check_compares_with_the_commit_as_its_own_release_sees_it(
    committed: tuple[Path, dict[str, str], str],
) -> None:
    folder, environment, commit = committed
    judged = f"check --all --skip-pinned --markdown trainyard.md --from {commit} --compare DIR/base.json"
    base = "check --all --format json --output DIR/base.json"
    assert checked(folder, environment, commit) == (0, [base, judged, "fleet check"])
    (folder / "requirements.txt").write_text("trainyard==99.0\n")
    code, asked = checked(folder, environment, commit)
    assert code == 0
    assert [line for line in asked[3:] if not line.startswith("pip")] == [
        base, judged, "fleet check", "fleet diff --before DIR/tree/.venv/bin/python",
    ]  # fmt: skip
    assert sum(line.startswith("pip") for line in asked) == 2, "the other release is installed beside"
    assert git(folder, "worktree", "list").count("\n") == 1, "nothing is left of the comparison"


@pytest.mark.parametrize("failing", ["check", "diff"])
def test_a_check_ends_as_the_worst_of_all(committed: tuple[Path, dict[str, str], str], failing: str) -> None:
    folder, environment, commit = committed
    (folder / "requirements.txt").write_text("trainyard==99.0\n")
    (Path(environment["PATH"].partition(":")[0]) / f"exit-{failing}").touch()
    assert checked(folder, environment, commit)[0] == 3
