"""Asks registries what a tag stands for: the pull half of the OCI distribution API, without an account.

A digest counts as read only where it is the SHA-256 of the manifest that came back, whatever a header says of it.
Registries on this machine (localhost, 127.0.0.1) are asked by HTTP, as Docker does; all others by HTTPS.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from email.message import Message

from trainyard.refresh.model import RefreshError

DOCKER_HUB = "docker.io"
_HUB_API = "registry-1.docker.io"
MANIFESTS = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
"""What may come back, indexes of several platforms first: a pin is of all of them."""
LARGEST_MANIFEST = 4 * 2**20
"""Bytes; the distribution specification asks registries to take manifests of 4 MiB."""
TIMEOUT_SECONDS = 15.0
ATTEMPTS = 3
LONGEST_WAIT_SECONDS = 10.0
_NAME = re.compile(r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*")
_TAG = re.compile(r"\w[\w.-]{0,127}", re.ASCII)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class NoSuchManifest(RefreshError):  # noqa: N818 - reads as what it says
    """The registry answers, and has no such tag or digest (or none that one may see without an account)."""


@dataclass(frozen=True, slots=True)
class Reference:
    """An image by its parts: `public.ecr.aws/docker/library/python:3.12@sha256:…`. An empty part is not named."""

    registry: str
    repository: str
    tag: str
    digest: str

    @property
    def name(self) -> str:
        """Without the digest."""
        return f"{self.registry}/{self.repository}{f':{self.tag}' if self.tag else ''}"

    @property
    def api(self) -> str:
        """Where the registry is asked."""
        host = _HUB_API if self.registry == DOCKER_HUB else self.registry
        scheme = "http" if host.partition(":")[0] in ("localhost", "127.0.0.1") else "https"
        return f"{scheme}://{host}"


def reference(text: str) -> Reference:
    """The parts of an image's name; what is left out is Docker Hub's, as container runtimes read it.

    Raises RefreshError for what is no name of an image.
    """
    rest, _, digest = text.partition("@")
    head, slash, tail = rest.partition("/")
    if slash and ("." in head or ":" in head or head == "localhost"):
        registry, path = head, tail
    else:
        registry, path = DOCKER_HUB, rest
    repository, _, tag = path.partition(":")
    if registry == DOCKER_HUB and "/" not in repository:
        repository = f"library/{repository}"
    sound = (
        _NAME.fullmatch(repository)
        and re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?", registry)
        and (not tag or _TAG.fullmatch(tag))
        and (_DIGEST.fullmatch(digest) if "@" in text else True)
    )
    if not sound:
        raise RefreshError(f"{text!r} is no image: it may be registry/repository:tag@sha256:…")
    return Reference(registry, repository, tag, digest)


def read_digest(image: Reference, wanted: str, sleep: Callable[[float], object] = time.sleep) -> str:
    """The digest of a manifest, read from the registry; `wanted` is a tag or a digest.

    Raises:
        NoSuchManifest: the registry has none.
        RefreshError: the registry cannot be asked, or what it says does not fit together.
    """
    body, headers = _manifest(image, wanted, sleep)
    digest = f"sha256:{hashlib.sha256(body).hexdigest()}"
    said = headers.get("Docker-Content-Digest")
    for other, what in ((said, "the header of its answer"), (wanted if _DIGEST.fullmatch(wanted) else None, "the pin")):
        if other and other != digest:
            raise RefreshError(f"{image.name}: the manifest that came back has {digest}, {what} says {other}")
    return digest


def _manifest(image: Reference, wanted: str, sleep: Callable[[float], object]) -> tuple[bytes, Message]:
    url = f"{image.api}/v2/{image.repository}/manifests/{wanted}"
    try:
        return _get(url, image, sleep, "")
    except urllib.error.HTTPError as error:
        challenge = error.headers.get("WWW-Authenticate", "") if error.code == 401 else ""
        if not challenge:
            raise _refused(error, image, wanted) from None
    token = _token(challenge, image, sleep)
    try:
        return _get(url, image, sleep, token)
    except urllib.error.HTTPError as error:
        raise _refused(error, image, wanted) from None


def _refused(error: urllib.error.HTTPError, image: Reference, wanted: str) -> RefreshError:
    if error.code == 404:
        return NoSuchManifest(f"{image.registry}/{image.repository}: the registry has no {wanted}")
    if error.code in (401, 403):
        return RefreshError(f"{image.name}: {image.registry} shows it to nobody without an account, or has none of it")
    return RefreshError(f"{image.name}: {image.registry} answers with {error.code} {error.reason}")


def _token(challenge: str, image: Reference, sleep: Callable[[float], object]) -> str:
    """A token for whoever has no account, from where the registry's challenge sends one."""
    told = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
    realm = told.get("realm", "")
    if not challenge.lower().startswith("bearer ") or urllib.parse.urlsplit(realm).scheme not in _schemes(image):
        raise RefreshError(f"{image.name}: {image.registry} wants a login that is not for a token: {challenge[:80]!r}")
    asked = {"scope": told.get("scope") or f"repository:{image.repository}:pull"}
    if "service" in told:
        asked["service"] = told["service"]
    try:
        body, _ = _get(f"{realm}?{urllib.parse.urlencode(asked)}", image, sleep, "")
        answer = json.loads(body)
        token = answer.get("token") or answer["access_token"]
    except urllib.error.HTTPError as error:
        raise _refused(error, image, image.tag) from None
    except (ValueError, KeyError, AttributeError):
        raise RefreshError(f"{image.name}: {realm} answers with no token") from None
    return str(token)


def _schemes(image: Reference) -> tuple[str, ...]:
    return ("http", "https") if image.api.startswith("http://") else ("https",)


def _get(url: str, image: Reference, sleep: Callable[[float], object], token: str) -> tuple[bytes, Message]:
    """One answer, asked for again where the registry is busy or silent.

    Raises HTTPError for a refusal, RefreshError where the registry does not answer.
    """
    request = urllib.request.Request(url, headers={"Accept": ", ".join(MANIFESTS), "User-Agent": "trainyard"})  # noqa: S310
    if token:
        request.add_unredirected_header("Authorization", f"Bearer {token}")
    for attempt in range(1, ATTEMPTS + 1):
        wait = float(2 ** (attempt - 1))
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310
                body: bytes = answer.read(LARGEST_MANIFEST + 1)
                if len(body) > LARGEST_MANIFEST:
                    raise RefreshError(f"{image.name}: the manifest is larger than {LARGEST_MANIFEST} bytes")
                return body, answer.headers
        except urllib.error.HTTPError as error:
            if (error.code != 429 and error.code < 500) or attempt == ATTEMPTS:
                raise
            after = error.headers.get("Retry-After", "")
            wait = float(after) if after.isdigit() else wait
        except (urllib.error.URLError, OSError) as error:
            if attempt == ATTEMPTS:
                why = getattr(error, "reason", error)
                raise RefreshError(f"{image.name}: {image.registry} does not answer: {why}") from None
        sleep(min(wait, LONGEST_WAIT_SECONDS))
    raise AssertionError("the last attempt returns or raises")
