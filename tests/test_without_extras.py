"""`pip install trainyard`, without an extra: every verb runs offline, and what needs an extra names it."""

import importlib.metadata
import re
import venv
from pathlib import Path

import pytest

from tests.forks import forks
from tests.shared import ROOT
from tests.test_wheel import run, trainyard, wheel
from trainyard.cli.main import app

__all__ = ["wheel"]  # the fixture

OF_EXTRAS = ("torch", "numpy", "mlflow", "boto3", "kubernetes", "google.cloud.aiplatform_v1")


def locked(name):
    return re.findall(r"^([\w.-]+)==", (ROOT / name).read_text(), flags=re.MULTILINE)


def link(distribution, packages):
    """Puts what a distribution of this environment installed into another's packages, by links."""
    for file in importlib.metadata.distribution(distribution).files or ():
        top = file.parts[0]
        source = Path(file.locate()).parents[len(file.parts) - 2] if len(file.parts) > 1 else Path(file.locate())
        if top not in ("..", "__pycache__") and not (packages / top).exists():
            (packages / top).symlink_to(source)


@pytest.fixture(scope="module")
def bare(wheel, shared_things):
    """An interpreter with the wheel and what the wheel itself depends on, as the lock without extras has it."""
    return shared_things.of("bare", lambda: without_extras(wheel, shared_things.folder("bare")))


def without_extras(wheel, folder):
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    [packages] = (folder / "lib").glob("python*/site-packages")
    for name in locked("requirements.lock"):
        link(name, packages)
    done = run(
        python, "-c", f"import zipfile; zipfile.ZipFile({str(wheel)!r}).extractall({str(packages)!r})", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return python


@pytest.fixture(scope="module")
def command(bare, tmp_path_factory):
    """Runs the command without an extra."""
    with forks(bare, tmp_path_factory.mktemp("said")) as asked:
        yield asked


@pytest.fixture(scope="module")
def project(bare, tmp_path_factory):
    folder = tmp_path_factory.mktemp("client")
    made = trainyard(bare, "init", ".", "--client", "acme", "--alert-email", "ml@acme.example", cwd=folder)
    assert made.returncode == 0, made.stderr
    return folder


WITHOUT = {
    "assess": [("assess", "client.yaml", "--blank")],
    "rehearse": [("rehearse", "dev", "--json", "rehearsal.json", "--html", "rehearsal.html")],
    "check": [("check", "--all"), ("check", "--all", "--format", "sarif", "--output", "check.sarif")],
    "cost": [("cost", "dev")],
    "chargeback": [("chargeback", "--help")],  # asks a Prometheus
    "explain": [("explain", "dev")],
    "plan": [("plan", "dev", "--lock"), ("plan", "dev", "--check")],
    "destroy": [("destroy", "--help")],  # asks programs of others
    "drain": [("drain", "--help")],  # asks a cluster
    "upgrade": [("upgrade", "--help")],  # needs a lock, which another test may not have written yet
    "report": [("report", "dev", "-o", "dev.html"), ("report", "--help")],
    "preflight": [("preflight", "--help")],  # asks an account
    "estimate": [("estimate", "--params", "7B", "--tokens", "1T", "--instance", "p4de.24xlarge", "--nodes", "32")],
    "recommend": [("recommend", "--params", "7e9", "--tokens", "1e12", "--html", "recommendation.html")],
    "schema": [("schema",)],
    "init": [("init", "another", "--client", "acme")],
    "new": [
        (
            *("new", "globex", "--team-size", "8", "--alert-email", "ml@globex.example"),
            *("--state-backend", "s3://globex", "--secrets-provider", "awskms://alias/globex?region=us-east-1"),
        )
    ],
    "fleet": [("fleet", "list"), ("fleet", "check")],
    "kubeconfig": [("kubeconfig", "--help")],  # these ask programs of others
    "open": [("open", "--help")],
    "tunnel": [("tunnel", "--help")],
    "tracking": [("tracking", "--help")],  # asks an account
    "catalog": [("catalog", "list", "p5")],
    "images": [("images", "list", "dev")],
    "smoke": [
        ("smoke", "--render"),
        ("smoke", "dev", "--target", "kubernetes", "--render"),
        ("smoke", "dev", "--target", "trainjob", "--render"),
        ("smoke", "dev", "--target", "slurm", "--render"),
    ],
}
"""What each verb does without an extra."""


def test_every_verb_is_tried():
    verbs = {command.name for command in app.registered_commands} | {group.name for group in app.registered_groups}
    assert set(WITHOUT) == verbs


@pytest.mark.parametrize("name", OF_EXTRAS)
def test_what_an_extra_brings_is_not_there(bare, tmp_path, name):
    assert "ModuleNotFoundError" in run(bare, "-c", f"import {name}", cwd=tmp_path).stderr


def test_every_module_is_imported_without_an_extra(bare, tmp_path):
    done = run(bare, str(ROOT / ".ci" / "import_modules.py"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("arguments", [arguments for verb in WITHOUT.values() for arguments in verb], ids=" ".join)
def test_it_runs_without_an_extra(command, project, arguments):
    done = command(*arguments, cwd=project)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (("smoke",), "smoke"),
        (("smoke", "dev", "--target", "kubernetes"), "smoke"),
        (("smoke", "dev", "--target", "trainjob"), "smoke"),
        (
            (
                *("smoke", "--target", "sagemaker", "--instance", "ml.g5.12xlarge", "--image", "1.dkr.ecr/x:1"),
                *("--role-arn", "arn:aws:iam::123456789012:role/smoke", "--bucket", "s3://bucket/prefix"),
            ),
            "smoke",
        ),
        (
            (
                *("smoke", "--target", "vertex", "--instance", "g2-standard-48", "--image", "gcr.io/x:1"),
                *("--bucket", "gs://bucket/prefix", "--gcp-project", "acme", "--region", "us-central1"),
            ),
            "gcp",
        ),
    ],
    ids=["local", "kubernetes", "trainjob", "sagemaker", "vertex"],
)
def test_what_needs_an_extra_names_it(command, project, arguments, extra):
    done = command(*arguments, cwd=project)
    assert done.returncode == 2, done.stdout + done.stderr
    assert f"pip install 'trainyard[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert "a rank died" not in done.stdout + done.stderr
