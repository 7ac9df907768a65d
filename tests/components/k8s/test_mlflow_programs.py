"""The small programs of the MLflow pod, each as its own process or function."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from trainyard.components.k8s import mlflow_runtime
from trainyard.components.k8s.mlflow_logins import auth_configuration
from trainyard.components.k8s.mlflow_runtime import migrate, users

FOLDER = Path(mlflow_runtime.__file__).parent


def _serve(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, FOLDER / "serve.py", *arguments], capture_output=True, text=True, cwd=tmp_path, check=False
    )


def test_serve_becomes_the_command_with_the_secret_in_its_environment(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("the-key\n")
    code = "import os, sys; print(os.getpid(), os.environ['KEY'], sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, FOLDER / "serve.py", "KEY=key", "--", sys.executable, "-c", code, "--port=1"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    out, _ = process.communicate(timeout=30)
    assert out.split(maxsplit=2) == [str(process.pid), "the-key", "['--port=1']\n"]


def test_serve_empties_the_directory_of_the_metrics(tmp_path: Path) -> None:
    metrics = tmp_path / "metrics"
    metrics.mkdir()
    (metrics / "counter_7.db").write_bytes(b"old")
    assert _serve(tmp_path, "--metrics", "metrics", "--", "true").returncode == 0
    assert list(metrics.iterdir()) == []
    assert _serve(tmp_path, "--metrics", "new/one", "--", "true").returncode == 0
    assert (tmp_path / "new" / "one").is_dir()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["KEY", "--", "true"], "'KEY' is not NAME=FILE"),
        (["KEY=missing", "--", "true"], "No such file"),
        (["KEY=empty", "--", "true"], "'KEY=empty': the file is empty"),
        (["--metrics", "--", "true"], "--metrics needs a directory"),
        (["--", "no-such-command"], "no-such-command: No such file"),
        (["KEY=empty"], "serve.py NAME=FILE"),
        (["KEY=empty", "--"], "serve.py NAME=FILE"),
    ],
)
def test_serve_says_what_is_wrong(tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "empty").write_text(" \n")
    done = _serve(tmp_path, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_programs_are_shipped_whole_and_need_nothing_of_the_project() -> None:
    sources = mlflow_runtime.sources()
    assert set(sources) == {path.name for path in FOLDER.glob("*.py")} - {"__init__.py"}
    for name, text in sources.items():
        compile(text, name, "exec")
        assert not {"components", "stacks", "pulumi"} & {
            word for line in text.splitlines() if line.strip().startswith(("import ", "from ")) for word in line.split()
        }
    assert sum(map(len, sources.values())) < 100_000  # a ConfigMap takes 1 MiB


@pytest.mark.parametrize(
    ("wanted", "works", "found"),
    [
        ({"vision": "p"}, {"vision"}, True),
        ({"vision": "p"}, set(), False),
        ({"vision": "p", "vision+ada": "q"}, {"vision"}, True),
        ({"vision": None, "vision+2": "p", "vision+10": "q"}, {"vision+10"}, True),
        ({"vision": None, "vision+2": "p", "vision+10": "q"}, {"vision+2"}, False),
        ({"vision": "p", "vision+2": "q", "language": "r", "language+2": "s"}, {"vision+2", "language+2"}, True),
        ({"vision": "p", "vision+2": "q", "language": "r", "language+2": "s"}, {"vision+2", "language"}, False),
        ({"vision": None, "vision+ada": "q"}, {"vision+ada"}, False),
        ({}, set(), False),
    ],
)
def test_a_pod_of_before_a_rotation_asks_for_each_teams_last_login(
    monkeypatch: pytest.MonkeyPatch, wanted: dict[str, str | None], works: set[str], found: bool
) -> None:
    def call(_server: object, account: users.Account, *_: object) -> tuple[int, str, dict[str, str]]:
        return (200 if account.name in works else 401), "", {}

    monkeypatch.setattr(users, "call", call)
    assert users.teams_log_in(users.Server("https://x", "ca"), wanted) is found


class Accounts:
    """A table of MLflow's accounts, as a connection to it."""

    def __init__(self, known: dict[str, str]) -> None:
        self.known = known
        self.row: tuple[str] | None = None

    def __enter__(self) -> Accounts:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def cursor(self) -> Accounts:
        return self

    def execute(self, statement: str, values: tuple[str, ...]) -> None:
        if statement.startswith("UPDATE"):
            self.known[values[1]] = values[0]
        else:
            self.row = (self.known[values[0]],) if values[0] in self.known else None

    def fetchone(self) -> tuple[str] | None:
        return self.row


def test_the_migration_sets_the_administrators_password_where_it_is_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Read from MLflow's own configuration, which spells `%` twice."""
    security = pytest.importorskip("werkzeug.security")
    configuration = tmp_path / "basic_auth.ini"
    configuration.write_text(
        auth_configuration(database_uri="postgresql://x/%20", admin_password="new%word", default_permission="READ")
    )
    accounts = Accounts({"admin": security.generate_password_hash("old"), "vision": "another"})
    migrate.set_administrator(accounts, str(configuration))
    kept = accounts.known["admin"]
    assert security.check_password_hash(kept, "new%word")
    assert accounts.known["vision"] == "another"
    migrate.set_administrator(accounts, str(configuration))
    assert accounts.known["admin"] == kept, "nothing is written where it is right"
    nobody = Accounts({})
    migrate.set_administrator(nobody, str(configuration))
    assert nobody.known == {}, "the server makes it"
    assert "word" not in capsys.readouterr().err.replace("password", "")


@pytest.mark.parametrize("name", ["users", "migrate", "metrics"])
def test_a_wrong_command_line_is_refused(name: str) -> None:
    done = subprocess.run([sys.executable, FOLDER / f"{name}.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr
    assert "Traceback" not in done.stderr


def test_migrate_stops_at_the_first_failure(tmp_path: Path) -> None:
    package = tmp_path / "mlflow"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text("import sys; print(*sys.argv[1:]); sys.exit(3)")
    done = subprocess.run(
        [sys.executable, FOLDER / "migrate.py", "sqlite:///x.db"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 3
    assert done.stdout == "db upgrade sqlite:///x.db\n"
    assert done.stderr.splitlines() == ["migrate: tracking tables", "migrate: tracking tables: failed with status 3"]
