"""Other programs that a verb runs: they ask nobody back where nobody sees it, and are not waited for without end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import typer

from trainyard.cli.programs import answer
from trainyard.fleet import asking
from trainyard.fleet.tunnel import TunnelError, Way, identity


def program(folder: Path, script: str, name: str = "pulumi") -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_a_question_that_nobody_sees_finds_nobody(tmp_path: Path) -> None:
    """Pulumi asks for a passphrase so, with words that are kept from the terminal."""
    asks = program(tmp_path, 'read line; echo "heard <$line>"')
    code = f"from trainyard.cli.programs import answer; print(answer({asks!r}))"
    done = subprocess.run([sys.executable, "-c", code], input="typed\n", capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "heard <>", done.stderr


def test_a_program_that_does_not_answer_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(asking, "ASKED_SECONDS", 0.5)
    with pytest.raises(typer.Exit):
        answer(program(tmp_path, "exec sleep 60"), "stack", "output")
    assert "pulumi stack output gave no answer in 0 seconds" in " ".join(capsys.readouterr().err.split())
    program(tmp_path, "exec sleep 60", "aws")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(TunnelError, match="aws sts assume-role gave no answer"):
        identity(Way("train", "us-east-1", "bastion", 8443, role="arn:aws:iam::123456789012:role/deploy"))
