"""The migration of MLflow on Cloud Run, whose rights and network were made seconds before it starts."""

from __future__ import annotations

import base64
import email.message
import types
import urllib.error
from typing import Any

import pytest

from trainyard.components.gcp.managed.tracking_programs import migrate

URL = "https://secretmanager.us-central1.rep.googleapis.com/v1/projects/p/secrets/s/versions/latest:access"
ARGUMENTS = ["postgresql+psycopg2://owner@10.9.0.3:5432/mlflow?sslmode=verify-ca", "server@p.iam", URL]


class Google:
    """Secret Manager and PostgreSQL, which fail a few times first."""

    class OperationalError(Exception):
        """As psycopg2 has it: what is out of reach, or not let in."""

    def __init__(self, *, refusals: list[Exception], unreachable: int) -> None:
        self.refusals, self.unreachable = refusals, unreachable
        self.connected: list[dict[str, Any]] = []

    def asked(self, url: str, _headers: dict[str, str]) -> dict[str, Any]:
        if url != URL:
            return {"access_token": "t"}
        if self.refusals:
            raise self.refusals.pop()
        return {"payload": {"data": base64.b64encode(b"word").decode()}}

    def connect(self, uri: str, **options: Any) -> Any:
        self.connected.append({"uri": uri, **options})
        if len(self.connected) <= self.unreachable:
            raise self.OperationalError("timeout expired")
        return _Connection()


class _Connection:
    autocommit = False

    def cursor(self) -> Any:
        return self

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None: ...

    def execute(self, *_: object) -> None: ...

    def close(self) -> None: ...


def said(code: int) -> Exception:
    return urllib.error.HTTPError(URL, code, "no", email.message.Message(), None)


def run(monkeypatch: pytest.MonkeyPatch, google: Google, patience: float = 60.0) -> int:
    monkeypatch.setattr(migrate, "asked", google.asked)
    monkeypatch.setattr(migrate, "give_rows", lambda *_: None)
    monkeypatch.setattr(migrate, "PATIENCE_SECONDS", patience)
    monkeypatch.setattr(migrate, "PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(migrate.importlib, "import_module", lambda _: google)
    done = types.SimpleNamespace(returncode=0)
    monkeypatch.setattr(migrate.subprocess, "run", lambda *_, **__: done)
    monkeypatch.setenv("PGPASSWORD", "")
    return migrate.main(ARGUMENTS)


def test_rights_and_a_network_that_come_late_are_waited_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    google = Google(refusals=[said(403), urllib.error.URLError("unreachable"), said(503)], unreachable=2)
    assert run(monkeypatch, google) == 0
    assert [each["connect_timeout"] for each in google.connected] == [migrate.CONNECT_SECONDS] * 3
    lines = capsys.readouterr().err
    assert lines.count("migrate: the password: ") == 3
    assert lines.count("migrate: the database: timeout expired; once more") == 2
    assert "word" not in lines.replace("the password", "")


@pytest.mark.parametrize(
    ("google", "patience", "error"),
    [
        (Google(refusals=[said(404)], unreachable=0), 60.0, urllib.error.HTTPError),
        (Google(refusals=[said(403)], unreachable=0), 0.0, urllib.error.HTTPError),
        (Google(refusals=[], unreachable=9), 0.0, Google.OperationalError),
    ],
)
def test_what_does_not_pass_is_told(
    monkeypatch: pytest.MonkeyPatch, google: Google, patience: float, error: type[Exception]
) -> None:
    with pytest.raises(error):
        run(monkeypatch, google, patience)
