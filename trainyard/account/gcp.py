"""Google Cloud's own command as the one who asks: its log-in, its retries, its proxies."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any, Final

PROGRAM: Final = "gcloud"
WHERE: Final = "https://cloud.google.com/sdk/docs/install"
ASK_SECONDS: Final = 60

LOG_IN: Final = "run `gcloud auth login` and `gcloud auth application-default login` as who runs `pulumi up`"


class CannotAskError(Exception):
    """`gcloud` gave no answer: the text says why, `remedy` what to do."""

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__(why)
        self.remedy = remedy


class NobodyError(CannotAskError):
    """There is nobody to ask as."""


def ask(*command: str) -> Any:
    """What a command answers, as data. Raises `CannotAskError`."""
    text = said([*command, "--format=json"])
    try:
        return json.loads(text or "null")
    except ValueError:
        raise CannotAskError(f"gcloud {' '.join(command[:3])} wrote no JSON", "use a newer gcloud") from None


def said(command: Sequence[str], seconds: int = ASK_SECONDS) -> str:
    """What a command writes within so many seconds. Raises `CannotAskError`."""
    if shutil.which(PROGRAM) is None:
        raise NobodyError("gcloud is not on the path", f"install it: {WHERE}")
    try:
        done = subprocess.run(
            [PROGRAM, *command, "--quiet"], capture_output=True, text=True, check=False, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        why = f"gcloud {' '.join(command[:3])} gave no answer in {seconds} seconds"
        raise CannotAskError(why, "see that the network reaches googleapis.com") from None
    if done.returncode == 0:
        return done.stdout
    told = " ".join(done.stderr.split())[:300]
    if any(word in told for word in ("gcloud auth login", "application-default login", "active account")):
        raise NobodyError("gcloud has no log-in that holds", LOG_IN)
    raise CannotAskError(f"gcloud {' '.join(command[:3])} failed: {told}", "mend what it names, then ask again")
