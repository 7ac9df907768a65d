"""The checkpoint tier: a mounted folder or an object store that speaks S3, behind four operations.

Nothing here renames on an object store (there is no rename); who writes several objects publishes a manifest and a
pointer last (`checkpoints.py`). Transient faults are retried with exponential backoff and full jitter: 5xx and
throttling answers, cut connections, time-outs, short reads.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import random
import shutil
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlparse

T = TypeVar("T")

PART_BYTES = 16 << 20
"""Objects above this go up in parts of it, several at once; S3 allows 10,000 parts."""

OPERATION_S = 60.0
"""After which no further attempt is made: a store that accepts and never answers must be told as that before the others
give up in a collective (90 s)."""

CLEAN_UP_S = 5.0
"""The same for taking back what was written: why it is taken back is told after it, and others wait to hear."""

READ_S = 20
"""How long S3 may keep silent within one attempt."""

ATTEMPTS = 7
BACKOFF_S = 0.1
"""Attempts, and the longest first pause; the pause doubles: 6.3 s in all at most, 3.2 s on average."""


class TierError(Exception):
    """The tier refused or failed an operation for good."""


class Missing(TierError):  # noqa: N818 - reads as what it says: `except Missing`
    """There is no object of that name."""


class Tier(ABC):
    """Named blobs below one root. Names use `/`. `retries` counts operations that had to be repeated."""

    retries = 0

    @abstractmethod
    def put(self, name: str, data: bytes | memoryview) -> None:
        """Stores a blob whole or not at all, durably; raises TierError."""

    @abstractmethod
    def get(self, name: str) -> bytes:
        """A whole blob; raises Missing, TierError."""

    @abstractmethod
    def sizes(self, prefix: str) -> dict[str, int]:
        """Names and sizes in bytes of all blobs whose name starts with `prefix`; raises TierError."""

    @abstractmethod
    def delete(self, name: str) -> None:
        """Removes a blob; none of that name is fine. Raises TierError."""


class DirectoryTier(Tier):
    """A folder: local disk, Lustre, NFS, or a bucket mounted with FUSE."""

    def __init__(self, root: Path) -> None:
        self.root = root
        try:
            root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TierError(f"checkpoint tier {root} cannot be written: {error}") from None

    def put(self, name: str, data: bytes | memoryview) -> None:
        """See Tier."""
        path = self.root / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".part-")
            try:
                with os.fdopen(handle, "wb") as stream:
                    stream.write(data)
                    stream.flush()
                    os.fsync(stream.fileno())
                Path(temporary).replace(path)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
        except OSError as error:
            raise TierError(f"writing {path}: {error}") from None

    def get(self, name: str) -> bytes:
        """See Tier."""
        try:
            return (self.root / name).read_bytes()
        except FileNotFoundError:
            raise Missing(f"{self.root / name} is not there") from None
        except OSError as error:
            raise TierError(f"reading {self.root / name}: {error}") from None

    def sizes(self, prefix: str) -> dict[str, int]:
        """See Tier."""
        found = {}
        start = self.root / prefix
        for path in (start if start.is_dir() else start.parent).rglob("*"):
            name = path.relative_to(self.root).as_posix()
            if name.startswith(prefix) and not path.name.startswith(".part-"):
                try:
                    if path.is_file():
                        found[name] = path.stat().st_size
                except FileNotFoundError:
                    continue  # removed by another rank meanwhile
        return found

    def delete(self, name: str) -> None:
        """See Tier."""
        try:
            (self.root / name).unlink(missing_ok=True)
        except OSError as error:
            raise TierError(f"removing {self.root / name}: {error}") from None

    def remove_all(self) -> None:
        """Removes the folder with everything in it."""
        shutil.rmtree(self.root, ignore_errors=True)


class S3Tier(Tier):
    """A prefix of an S3 bucket, through boto3. Endpoint and credentials come from the AWS environment."""

    def __init__(self, uri: str) -> None:
        try:
            import boto3
            import botocore.config
            import botocore.exceptions
        except ImportError:
            raise TierError(
                "an s3:// checkpoint tier needs boto3, which this image lacks: install it, or give the mounted folder"
            ) from None
        parts = urlparse(uri)
        self.bucket, self.prefix = parts.netloc, parts.path.strip("/")
        config = botocore.config.Config(
            retries={"total_max_attempts": 1, "mode": "standard"},  # ours below: counted, and around whole reads too
            connect_timeout=5,
            read_timeout=READ_S,
            max_pool_connections=16,
        )
        self.client = boto3.client("s3", config=config)
        self._errors = botocore.exceptions
        self.patience_s = OPERATION_S
        self._lock = threading.Lock()
        self._pool = concurrent.futures.ThreadPoolExecutor(4, thread_name_prefix="tier")

    def _key(self, name: str) -> str:
        return f"{self.prefix}/{name}" if self.prefix else name

    def put(self, name: str, data: bytes | memoryview) -> None:
        """See Tier. The answer's length is not enough proof: S3 checks the body against its checksum."""
        where = {"Bucket": self.bucket, "Key": self._key(name)}
        view = memoryview(data)
        if len(view) <= PART_BYTES:
            body = bytes(view)
            self._retry(f"writing {name}", lambda: self.client.put_object(Body=body, **where))
            return
        upload = self._retry(f"writing {name}", lambda: self.client.create_multipart_upload(**where))["UploadId"]
        try:
            offsets = range(0, len(view), PART_BYTES)

            def send(number: int, offset: int) -> dict[str, Any]:
                body = bytes(view[offset : offset + PART_BYTES])
                answer = self._retry(
                    f"writing part {number} of {name}",
                    lambda: self.client.upload_part(PartNumber=number, UploadId=upload, Body=body, **where),
                )
                return {"PartNumber": number, "ETag": answer["ETag"]}

            parts = list(self._pool.map(send, range(1, len(offsets) + 1), offsets))
            self._retry(
                f"completing {name}",
                lambda: self.client.complete_multipart_upload(
                    UploadId=upload, MultipartUpload={"Parts": parts}, **where
                ),
            )
        except BaseException:
            # Parts of an upload that was not completed cost money until a lifecycle rule finds them. Why it was not is
            # what has to be told, whatever becomes of this.
            with contextlib.suppress(TierError):
                self._retry(
                    f"aborting {name}",
                    lambda: self.client.abort_multipart_upload(UploadId=upload, **where),
                    CLEAN_UP_S,
                )
            raise

    def get(self, name: str) -> bytes:
        """See Tier."""

        def read() -> bytes:
            answer = self.client.get_object(Bucket=self.bucket, Key=self._key(name))
            data: bytes = answer["Body"].read()
            if len(data) != answer["ContentLength"]:
                raise self._errors.IncompleteReadError(actual_bytes=len(data), expected_bytes=answer["ContentLength"])
            return data

        return self._retry(f"reading {name}", read)

    def sizes(self, prefix: str) -> dict[str, int]:
        """See Tier."""
        cut = len(self._key(""))

        def read() -> dict[str, int]:
            pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=self._key(prefix))
            return {item["Key"][cut:]: item["Size"] for page in pages for item in page.get("Contents", ())}

        return self._retry(f"listing {prefix}", read)

    def delete(self, name: str) -> None:
        """See Tier."""
        self._retry(f"removing {name}", lambda: self.client.delete_object(Bucket=self.bucket, Key=self._key(name)))

    def _transient(self, error: Exception) -> bool:
        if isinstance(error, self._errors.ClientError):
            status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
            code = error.response.get("Error", {}).get("Code", "")
            return (
                status >= 500 or status == 429 or code in ("SlowDown", "RequestTimeout", "InternalError", "BadDigest")
            )
        # A checksum that does not fit is a body that was cut or changed on its way; what lies there may be fine.
        kinds = (self._errors.HTTPClientError, self._errors.IncompleteReadError, self._errors.FlexibleChecksumError)
        return isinstance(error, (*kinds, OSError))

    def _retry(self, what: str, operation: Callable[[], T], limit_s: float | None = None) -> T:
        deadline = time.monotonic() + (self.patience_s if limit_s is None else limit_s)
        for attempt in range(ATTEMPTS):
            try:
                return operation()
            except (self._errors.BotoCoreError, self._errors.ClientError, OSError) as error:
                if isinstance(error, self._errors.ClientError) and error.response["Error"]["Code"] in (
                    "NoSuchKey",
                    "404",
                ):
                    raise Missing(f"s3://{self.bucket}/{self.prefix}: {what}: no such object") from None
                given_up = attempt == ATTEMPTS - 1 or time.monotonic() > deadline
                if not self._transient(error) or given_up:
                    tried = f" ({attempt + 1} attempts)" if attempt else ""
                    raise TierError(f"s3://{self.bucket}/{self.prefix}: {what}: {error}{tried}") from error
                with self._lock:
                    self.retries += 1
                time.sleep(random.uniform(0, BACKOFF_S * 2**attempt))  # noqa: S311 - jitter
        raise AssertionError("the last attempt returns or raises")


def clear(uri: str) -> None:
    """Removes everything in a tier; what cannot be removed is said on standard output, and is no verdict."""
    try:
        tier = open_tier(uri)
        if isinstance(tier, DirectoryTier):
            tier.remove_all()
            return
        if isinstance(tier, S3Tier):
            tier.patience_s = CLEAN_UP_S
        for name in tier.sizes(""):
            tier.delete(name)
    except TierError as error:
        print(f"smoke: what a check wrote was not removed: {error}", flush=True)


def open_tier(uri: str) -> Tier:
    """The tier at `s3://bucket/prefix` or in a folder; raises TierError."""
    return S3Tier(uri) if uri.startswith("s3://") else DirectoryTier(Path(uri))
