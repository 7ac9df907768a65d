"""Google Cloud's own command as the one who asks: its log-in, its retries, its proxies.

What it has no command for is asked of the API itself, with the token that programs come in with.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any, Final

PROGRAM: Final = "gcloud"
WHERE: Final = "https://cloud.google.com/sdk/docs/install"
ASK_SECONDS: Final = 60

LOG_IN: Final = "run `gcloud auth login` and `gcloud auth application-default login` as who runs `pulumi up`"


APIS: Final = {
    "projects": "https://cloudresourcemanager.googleapis.com/v1",
    "billingAccounts": "https://cloudbilling.googleapis.com/v1",
}
"""Who answers about a kind of resource (the APIs' references, method `testIamPermissions`, 2026-11)."""

_ABSENT: Final = ("does not exist", "HTTPError 404", "NOT_FOUND", "was not found")


class CannotAskError(Exception):
    """`gcloud` gave no answer: the text says why, `remedy` what to do."""

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__(why)
        self.remedy = remedy


class NobodyError(CannotAskError):
    """There is nobody to ask as."""


class RefusedError(CannotAskError):
    """Google takes the question itself for wrong."""


def is_absence(error: CannotAskError) -> bool:
    """Whether the answer is that there is no such thing."""
    return any(word in str(error) for word in _ABSENT)


def granted(where: str, permissions: Sequence[str], quota_project: str) -> list[str]:
    """Those of the permissions that programs' credentials have on `projects/ID` or `billingAccounts/ID`.

    Raises:
        RefusedError: one of them is not tested on such a resource.
        CannotAskError: there was no answer.
    """
    token = said(["auth", "application-default", "print-access-token"]).strip()
    url = f"{APIS[where.partition('/')[0]]}/{where}:testIamPermissions"
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "X-Goog-User-Project": quota_project,  # without it, a person's credentials are refused
    }
    body = json.dumps({"permissions": list(permissions)}).encode()
    request = urllib.request.Request(url, data=body, headers=headers)  # noqa: S310 (the scheme is https, of `APIS`)
    try:
        with urllib.request.urlopen(request, timeout=ASK_SECONDS) as response:  # noqa: S310
            answer = json.load(response)
    except urllib.error.HTTPError as error:
        told = f"{where}: testing permissions was refused with HTTP {error.code}"
        if error.code == 400:
            raise RefusedError(told, "") from None
        raise CannotAskError(told, "let the program's identity use the project: serviceusage.services.use") from None
    except (urllib.error.URLError, TimeoutError, ValueError) as error:
        told = f"{where}: nobody answered about permissions: {getattr(error, 'reason', error)}"
        raise CannotAskError(told, "see that the network reaches googleapis.com") from None
    return [str(each) for each in answer.get("permissions", ())]


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
            [PROGRAM, *command, "--quiet"],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=seconds,
        )
    except OSError as error:
        raise NobodyError(f"gcloud cannot be run: {error.strerror}", f"install it anew: {WHERE}") from None
    except subprocess.TimeoutExpired:
        why = f"gcloud {' '.join(command[:3])} gave no answer in {seconds} seconds"
        raise CannotAskError(why, "see that the network reaches googleapis.com") from None
    if done.returncode == 0:
        return done.stdout
    told = " ".join(done.stderr.split())[:300]
    if any(word in told for word in ("gcloud auth login", "application-default login", "active account")):
        raise NobodyError("gcloud has no log-in that holds", LOG_IN)
    raise CannotAskError(f"gcloud {' '.join(command[:3])} failed: {told}", "mend what it names, then ask again")
