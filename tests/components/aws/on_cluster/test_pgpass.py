"""The program that keeps the password file in step with Secrets Manager, as its own process or function."""

from __future__ import annotations

import importlib.util
import json
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import boto3
import pytest
from hypothesis import given
from hypothesis import strategies as st
from moto.server import ThreadedMotoServer

from tests.components.k8s.mlflow_support import Process, free_port, wait_for
from trainyard.components.aws import on_cluster
from trainyard.components.aws.on_cluster.database_password import secrets_manager_password

PROGRAM = Path(on_cluster.__file__).parent / "pgpass.py"
FIRST, SECOND = "first-pass:word\\1", "second-password-2"


def program() -> ModuleType:
    """The program as a module, loaded from its file as the pod has it."""
    spec = importlib.util.spec_from_file_location("pod_pgpass", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def cloud() -> Iterator[tuple[Any, dict[str, str]]]:
    """A client of a Secrets Manager, and the environment in which a program finds the same one."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=free_port(), verbose=False)
    server.start()
    endpoint = "http://{}:{}".format(*server.get_host_and_port())
    environment = {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
    }
    client = boto3.client(
        "secretsmanager",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )
    yield client, environment
    client.close()
    server.stop()


def _secret(password: str, user: str = "mlflow") -> str:
    return json.dumps({"username": user, "password": password})


def _alive(file: Path, seconds: str = "60") -> int:
    return subprocess.run([sys.executable, PROGRAM, "alive", file, seconds], check=False).returncode


def _pgpass(arn: str, file: Path, environment: dict[str, str]) -> Process:
    command = [sys.executable, str(PROGRAM), "run", arn, "db.internal", "5432", "mlflow", "mlflow"]
    return Process.start([*command, str(file), "--interval=0.2"], environment, file.parent)


def test_pgpass_follows_a_rotation(cloud: tuple[Any, dict[str, str]], tmp_path: Path) -> None:
    client, environment = cloud
    arn = client.create_secret(Name=f"rds!{tmp_path.name}", SecretString=_secret(FIRST))["ARN"]
    file = tmp_path / "pgpass"
    assert _alive(file) == 1
    running = _pgpass(arn, file, environment)
    try:
        wait_for(file.exists, "the first file", 20)
        assert file.read_text() == "db.internal:5432:mlflow:mlflow:first-pass\\:word\\\\1\n"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        wait_for(lambda: _alive(file) == 0, "the probe", 10)
        first = file.stat().st_ino
        client.put_secret_value(SecretId=arn, SecretString=_secret(SECOND))
        wait_for(lambda: SECOND in file.read_text(), "the new password", 10)
        assert file.stat().st_ino != first, "replaced as a whole, not rewritten"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        written = file.stat().st_mtime_ns
        client.put_secret_value(SecretId=arn, SecretString=_secret(SECOND))
        wait_for(lambda: _alive(file, "0.5") == 0, "another round", 10)
        assert file.stat().st_mtime_ns == written, "the same password is not written again"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["pgpass", "pgpass.alive"]
    finally:
        assert running.stop() == 0
    for password in ("first-pass", SECOND):
        assert password not in running.log


def test_pgpass_keeps_the_last_password_while_the_secret_cannot_be_read(
    cloud: tuple[Any, dict[str, str]], tmp_path: Path
) -> None:
    client, environment = cloud
    arn = client.create_secret(Name=f"rds!{tmp_path.name}", SecretString=_secret(FIRST))["ARN"]
    file = tmp_path / "pgpass"
    running = _pgpass(arn, file, environment)
    try:
        wait_for(file.exists, "the first file", 20)
        before = file.read_text()
        client.put_secret_value(SecretId=arn, SecretString="broken-secret-text")
        wait_for(lambda: "not a JSON object" in running.log, "the message", 10)
        assert file.read_text() == before
        assert _alive(file) == 0
        client.put_secret_value(SecretId=arn, SecretString=_secret(SECOND))
        wait_for(lambda: SECOND in file.read_text(), "recovery", 10)
        assert "broken-secret-text" not in running.log
    finally:
        assert running.stop() == 0


def test_pgpass_waits_for_a_secret_that_is_not_there_yet(cloud: tuple[Any, dict[str, str]], tmp_path: Path) -> None:
    client, environment = cloud
    file = tmp_path / "pgpass"
    running = _pgpass("rds!db-later", file, environment)
    try:
        wait_for(lambda: "ResourceNotFoundException" in running.log, "the message", 20)
        assert _alive(file) == 1
        client.create_secret(Name="rds!db-later", SecretString=_secret(FIRST))
        wait_for(file.exists, "the file", 20)
    finally:
        assert running.stop() == 0


@pytest.mark.parametrize(
    ("secret", "message"),
    [
        ("no json", "not a JSON object"),
        ("[1]", "not a JSON object"),
        ('{"username": "mlflow"}', "not a JSON object"),
        (_secret("secret-text", "postgres"), "of user 'postgres', not 'mlflow'"),
        (_secret(""), "no usable password"),
        (_secret("secret-text\nline"), "no usable password"),
        ('{"username": "mlflow", "password": 5}', "no usable password"),
    ],
)
def test_pgpass_refuses_other_secrets_without_telling_them(secret: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        program().password_of(secret, "mlflow")
    assert "secret-text" not in str(caught.value)
    assert caught.value.__cause__ is None


def _libpq_fields(line: str) -> list[str]:
    """Reads a line as libpq does: a backslash takes the next character as it is."""
    fields, taken = [""], iter(line.removesuffix("\n"))
    for character in taken:
        if character == ":":
            fields.append("")
        else:
            fields[-1] += next(taken) if character == "\\" else character
    return fields


@given(st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"]), min_size=1))
def test_any_password_reads_back_as_libpq_reads_it(password: str) -> None:
    line = program().password_line("h", "5432", "d", "u", password)
    assert _libpq_fields(line) == ["h", "5432", "d", "u", password]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pgpass = program()
    file = tmp_path / "pgpass"
    assert pgpass.replace(file, "old\n")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        pgpass.replace(file, "new\n")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("pgpass", "old\n")]


def test_it_is_shipped_whole_and_needs_nothing_of_the_project() -> None:
    shipped = secrets_manager_password("arn:aws:secretsmanager:us-east-1:123456789012:secret:a")["source"]
    assert shipped == PROGRAM.read_text()
    compile(shipped, "pgpass.py", "exec")
    assert "trainyard" not in shipped


def test_a_wrong_command_line_is_refused() -> None:
    done = subprocess.run([sys.executable, PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr
    assert "Traceback" not in done.stderr
