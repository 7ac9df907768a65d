"""What a client has: the installed wheel, and a folder with settings and a program of two lines."""

import importlib.metadata
import json
import os
import shutil
import site
import subprocess
import sys
import tarfile
import venv
import zipfile

import grpc
import pytest
import yaml
from google.protobuf import empty_pb2
from pulumi.runtime.proto import analyzer_pb2_grpc

from tests.agency_transcript import PAGE, WIDTH, page, shape, transcript
from tests.forks import forks, of_a_shell
from tests.shared import ROOT
from trainyard.policies.pack import POLICIES

HOSTILE = ("stacks", "components", "policies", "smoke_jobs")
PROGRAM = """\
from trainyard.stacks.program import main

main()
"""


def build(source, target, kind):
    """Builds the distribution of that kind with the backend itself: nothing is fetched."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", str(target)]
    subprocess.run(command, cwd=source, check=True, capture_output=True, text=True)
    [built] = target.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return built


@pytest.fixture(scope="module")
def wheel(shared_things):
    return shared_things.of("wheel", lambda: build(ROOT, shared_things.folder("wheel"), "wheel"))


def interpreter(wheel, folder):
    """An interpreter in a folder with the wheel and its dependencies installed, which does not see this clone.

    The dependencies are those of the tests' own environment: a `.pth` file adds its folder. Such a file of that
    environment (the editable clone) is not read from there.
    """
    venv.create(folder, with_pip=False)
    executable = folder / "bin" / "python"
    [packages] = (folder / "lib").glob("python*/site-packages")
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile"),
            *("--target", packages, wheel),
        ],  # what is imported is compiled then, and kept
        check=True,
    )
    (packages / "dependencies.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    return executable


@pytest.fixture(scope="module")
def python(wheel, shared_things):
    return shared_things.of("installed", lambda: interpreter(wheel, shared_things.folder("installed")))


def run(python, *arguments, cwd, **more):
    """Runs the command of the wheel as a shell would: without what tells Python of this clone."""
    return subprocess.run(
        [python, *arguments], cwd=cwd, env=of_a_shell() | more, capture_output=True, text=True, timeout=600, check=False
    )


def trainyard(python, *arguments, cwd, **more):
    return run(python, "-c", "from trainyard.cli.main import main; main()", *arguments, cwd=cwd, **more)


@pytest.fixture(scope="module")
def project(python, tmp_path_factory):
    """A client's project, made by `trainyard init`, in a repository with folders called as ours are."""
    folder = tmp_path_factory.mktemp("client")
    for name in HOSTILE:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("raise ImportError('this is the client folder, not trainyard')\n")
    made = trainyard(python, "init", ".", "--client", "acme", "--alert-email", "ml@acme.example", cwd=folder)
    assert made.returncode == 0, made.stderr
    return folder


@pytest.fixture(scope="module")
def command(python, project, tmp_path_factory):
    """Runs commands of the wheel, forked of a process that imported it in the project and rehearsed its stack."""
    with forks(python, tmp_path_factory.mktemp("said"), ("cost", "dev"), cwd=project) as asked:
        yield asked


def test_the_wheel_installs_one_name_and_no_stack_of_ours(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    info = f"trainyard-{importlib.metadata.version('trainyard')}.dist-info"
    assert {name.split("/")[0] for name in names} == {"trainyard", info}
    assert {name.split("/")[1] for name in names} >= set(HOSTILE)
    assert not [name for name in names if name.startswith("trainyard/stacks/Pulumi.")]
    assert f"{info}/licenses/LICENSE" in names


def test_the_wheel_of_the_sdist_is_the_same(wheel, tmp_path):
    sdist = build(ROOT, tmp_path / "sdist", "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    [source] = tmp_path.glob("trainyard-*/")
    again = build(source, tmp_path / "again", "wheel")
    assert sorted(zipfile.ZipFile(again).namelist()) == sorted(zipfile.ZipFile(wheel).namelist())


def test_the_interpreter_sees_the_wheel_and_not_this_clone(python, project):
    shown = run(python, "-c", "import sys, trainyard; print(trainyard.__file__, *sys.path)", cwd=project)
    assert shown.returncode == 0, shown.stderr
    imported, *path = shown.stdout.split()
    assert imported.endswith("site-packages/trainyard/__init__.py")
    assert not imported.startswith(str(ROOT))
    assert str(ROOT) not in path


def test_the_project_is_settings_and_a_program_of_two_lines(project):
    there = {path.relative_to(project).as_posix() for path in project.rglob("*") if path.is_file()}
    assert there == {
        "Pulumi.yaml",
        "Pulumi.dev.yaml",
        "trainyard.schema.json",
        "__main__.py",
        "policy-pack/PulumiPolicy.yaml",
        "policy-pack/__main__.py",
        "requirements.txt",
        ".gitignore",
        *(f"{name}/__init__.py" for name in HOSTILE),
    }
    assert (project / "__main__.py").read_text().partition('"""\n\n')[2] == PROGRAM
    assert (project / "requirements.txt").read_text() == f"trainyard=={importlib.metadata.version('trainyard')}\n"


def test_an_installed_wheel_rehearses_the_stack(python, project):
    done = trainyard(python, "rehearse", "dev", "--json", "-", cwd=project)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert told["settings"]["client"] == "acme"
    assert "aws:eks/cluster:Cluster" in {resource["type"] for resource in told["resources"]}
    assert (told["findings"], told["violations"]) == ([], [])
    assert told["cost"]


def test_an_installed_wheel_prices_the_stack(command, project):
    done = command("cost", "dev", cwd=project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "USD" in done.stdout


def test_an_installed_wheel_checks_the_stacks_beside_the_project_file(command, project):
    done = command("check", "--all", "--format", "json", cwd=project)
    assert done.returncode == 0, done.stderr
    assert [stack["stack"] for stack in json.loads(done.stdout)["stacks"]] == ["dev"]


def test_the_least_project_is_enough_whatever_it_is_called(command, project, tmp_path):
    (tmp_path / "Pulumi.yaml").write_text("name: training\nruntime: python\n")
    (tmp_path / "__main__.py").write_text(PROGRAM)
    shutil.copy(project / "Pulumi.dev.yaml", tmp_path)
    done = command("rehearse", "dev", "--json", "-", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert told["settings"]["client"] == "acme"
    assert all(resource["urn"].startswith("urn:pulumi:dev::training::") for resource in told["resources"])


def test_a_program_in_a_folder_with_names_like_ours(command, project, tmp_path):
    """The engine starts the program in the folder of `main`, which comes first on the import path."""
    shutil.copytree(project, tmp_path / "below", dirs_exist_ok=True)
    inner = tmp_path / "below" / "program"
    inner.mkdir()
    for name in (*HOSTILE, "__main__.py", "Pulumi.dev.yaml"):
        (tmp_path / "below" / name).rename(inner / name)
    file = tmp_path / "below" / "Pulumi.yaml"
    file.write_text(f"main: program\nstackConfigDir: program\n{file.read_text()}")
    for verb in ("rehearse", "check", "cost"):
        done = command(verb, "dev", cwd=tmp_path / "below")
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("arguments", [("--version",), ("smoke", "--help"), ("catalog", "list"), ("init", "--help")])
def test_what_needs_no_stack_needs_no_project(python, tmp_path, arguments):
    done = trainyard(python, *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_policy_pack_starts_as_the_engine_starts_it(python, project):
    pack = project / "policy-pack"
    process = subprocess.Popen(
        [python, "-u", "-m", "pulumi.policy", "127.0.0.1:0", str(pack)],
        cwd=pack,
        env={
            **of_a_shell(),
            "PULUMI_PROJECT": "trainyard",
            "PULUMI_STACK": "dev",
            "PULUMI_DRY_RUN": "true",
            "PULUMI_CONFIG": "{}",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        port = process.stdout.readline().strip()
        assert port.isdigit(), process.stderr.read()
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            info = analyzer_pb2_grpc.AnalyzerStub(channel).GetAnalyzerInfo(empty_pb2.Empty(), timeout=300)
    finally:
        process.kill()
        process.communicate()
    assert [policy.name for policy in info.policies] == [policy.name for policy in POLICIES]
    # The engine's virtual environment of the pack is the project's.
    manifest = yaml.safe_load((pack / "PulumiPolicy.yaml").read_text())
    options = yaml.safe_load((project / "Pulumi.yaml").read_text())["runtime"]["options"]
    assert (pack / manifest["runtime"]["options"]["virtualenv"]).resolve() == project / options["virtualenv"]


@pytest.fixture(scope="module")
def newer(shared_things):
    """A wheel of a release that names the tracking database otherwise, which no database can be changed to."""
    return shared_things.of("newer", lambda: with_another_database(shared_things.folder("newer")))


def with_another_database(folder):
    source = folder / "source"
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, tracked.split("\0")):
        if not name.startswith("tests/"):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, source / name, follow_symlinks=False)
    database = source / "components" / "aws" / "database.py"
    text = database.read_text()
    assert 'args.get("database_name", "mlflow")' in text
    database.write_text(text.replace('args.get("database_name", "mlflow")', 'args.get("database_name", "runs")'))
    return build(source, source.parent / "built", "wheel")


def test_a_release_is_installed_and_compared_with_the_one_that_is_there(python, command, project, newer, tmp_path):
    without_network = {
        "XDG_CACHE_HOME": str(tmp_path),
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "PIP_COMPILE": "0",
        "PYTHONPATH": os.pathsep.join(site.getsitepackages()),
    }
    told = command("fleet", "diff", "--to", newer, "--json", "-", cwd=project, **without_network)
    assert told.returncode == 3, told.stdout + told.stderr
    (row,) = json.loads(told.stdout)["stacks"]
    assert row["change"]["counts"]["replaced"] >= 1
    assert {finding["rule"] for finding in row["change"]["findings"]} == {"change-protected"}
    same = command("fleet", "diff", "--before", python, "--json", "-", cwd=project, **without_network)
    assert same.returncode == 0, same.stdout + same.stderr
    assert json.loads(same.stdout)["stacks"][0]["change"]["steps"] == []


def test_an_agency_s_first_day_is_as_its_page_tells(command, tmp_path):
    """From an empty folder with the wheel: `init`, three clients, the fleet."""
    told = transcript(lambda arguments, where: command(*arguments, cwd=where, COLUMNS=WIDTH), tmp_path)
    assert shape(page(told)) == shape(PAGE.read_text("utf-8")), "python -m tests.agency_transcript"
