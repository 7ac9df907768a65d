"""Google Cloud by its REST APIs, with the standard library: as whom a job runs, and objects of a bucket.

The stock PyTorch image has none of Google's packages.
"""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

METADATA = "GCE_METADATA_HOST"
"""Variable of Google's own clients with another address of the metadata server."""
STORAGE = "https://storage.googleapis.com"
REQUEST_S = 30.0


class GoogleError(Exception):
    """Google Cloud refused, or was not reached; the text says what."""

    def __init__(self, text: str, status: int = 0) -> None:
        """`status` is that of the answer, 0 where there was none."""
        super().__init__(text)
        self.status = status


def access_token() -> str:
    """A token of the account that the machine's metadata server says the job runs as. Raises GoogleError."""
    host = os.environ.get(METADATA, "metadata.google.internal")
    url = f"http://{host}/computeMetadata/v1/instance/service-accounts/default/token"
    return str(answer_of(url, {"Metadata-Flavor": "Google"})["access_token"])


def answer_of(url: str, headers: Mapping[str, str], body: bytes | None = None) -> dict[str, Any]:
    """What a request is answered, as JSON. Raises GoogleError."""
    return dict(json.loads(sent(url, headers, body)))


def sent(url: str, headers: Mapping[str, str], body: bytes | None = None) -> bytes:
    """What a request is answered. Raises GoogleError."""
    request = urllib.request.Request(url, body, dict(headers))  # noqa: S310 - addresses of Google's
    try:
        with urllib.request.urlopen(request, timeout=REQUEST_S) as answer:  # noqa: S310
            return bytes(answer.read())
    except urllib.error.HTTPError as error:
        raise GoogleError(f"{error.code}: {error.read().decode(errors='replace')[:200]}", error.code) from None
    except OSError as error:
        raise GoogleError(str(getattr(error, "reason", error))) from None


def put_object(uri: str, data: bytes) -> None:
    """Writes an object, `gs://bucket/name`. Raises GoogleError."""
    bucket, name = _parts(uri)
    url = f"{STORAGE}/upload/storage/v1/b/{bucket}/o?uploadType=media&name={name}"
    headers = {"Authorization": f"Bearer {access_token()}", "Content-Type": "application/octet-stream"}
    sent(url, headers, data)


def get_object(uri: str) -> bytes:
    """An object, `gs://bucket/name`. Raises GoogleError."""
    bucket, name = _parts(uri)
    url = f"{STORAGE}/storage/v1/b/{bucket}/o/{name}?alt=media"
    return sent(url, {"Authorization": f"Bearer {access_token()}"})


def _parts(uri: str) -> tuple[str, str]:
    bucket, _, name = uri.removeprefix("gs://").partition("/")
    return quote(bucket, safe=""), quote(name, safe="")
