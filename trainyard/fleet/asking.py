"""Asking another program something that changes nothing: it is waited for so long, and asks nobody back, unseen."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

ASKED_SECONDS: Final = 600.0
"""A question that has no answer by then is given up. A state of some thousand resources comes in half a minute."""


class NoAnswerError(Exception):
    """A program cannot be run, or does not answer; the text says which."""


def ask(
    command: Sequence[str], shown: str, environment: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """A program that has ended, however it did; messages call the question `shown`. Raises `NoAnswerError`."""
    try:
        return subprocess.run(
            command,
            env=environment,
            cwd=cwd,
            stdin=subprocess.DEVNULL,  # it would ask for a passphrase there, unseen
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=ASKED_SECONDS,
        )
    except OSError as error:
        raise NoAnswerError(f"{command[0]} cannot be run: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise NoAnswerError(f"{shown} gave no answer in {ASKED_SECONDS:.0f} seconds") from None
