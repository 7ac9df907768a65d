"""Rules of a bucket's lifecycle for a prefix below which nobody writes: they never act.

Who writes where is read from the policies of the stack's roles, from what services are let deliver, from objects and
links. A bucket that somebody may write to as a whole is believed whatever its rules say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from trainyard.recorded.policy_documents import statements
from trainyard.recorded.read import UnreadableInput, known_texts
from trainyard.recorded.types import (
    BUCKET,
    BUCKET_LOGGING,
    BUCKET_POLICY,
    DATA_REPOSITORY_ASSOCIATION,
    IAM_POLICY,
    LIFECYCLE,
    ROLE_POLICY,
)
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.near import nearest_of

_POLICIES: Final = (ROLE_POLICY, IAM_POLICY, BUCKET_POLICY)
_WILD: Final = re.compile(r"[*?$].*", re.DOTALL)


def check(stack: Stack) -> None:
    """Every rule for a prefix that is meant for another one."""
    rules = [(view, list(_prefixes(view))) for view in stack.of_type(LIFECYCLE)]
    rules = [(view, found) for view, found in rules if found]
    if not rules:
        return
    allowed = list(_allowed(stack))
    for view, found in rules:
        bucket = view.referred("bucket", BUCKET)
        name = str(view.text("bucket"))
        written = _written(stack, allowed, name) if bucket is not None and not bucket.resource.read else None
        if not written:
            continue
        for path, prefix in found:
            if any(_meet(prefix, one) for one in written) or not _is_slip(prefix, written, name):
                continue
            view.warning(
                "programs-prefix", path,
                f"is for {show(prefix)}, and the stack writes below {', '.join(sorted(written)[:4])}: it never acts",
                allowed="a prefix that somebody writes below, or none",
            )  # fmt: skip


def _prefixes(view: View) -> Iterator[tuple[str, str]]:
    for path, _ in view.items("rules"):
        for below in (f"{path}.filter.prefix", f"{path}.filter.and.prefix", f"{path}.prefix"):
            prefix = view.text(below)
            if prefix and view.text(f"{path}.status") != "Disabled":
                yield below, prefix


def _allowed(stack: Stack) -> Iterator[str]:
    """Every resource of S3 that a statement allows something on."""
    for type_ in _POLICIES:
        for view in stack.of_type(type_):
            try:
                found = [one for one in statements(view.resource.inputs, "policy") if one.get("Effect") == "Allow"]
            except UnreadableInput:
                yield "*"
                continue
            for one in found:
                if not any(
                    str(text).startswith(("s3:", "*")) for _, text in known_texts({"at": one.get("Action", "*")})
                ):
                    continue
                given = one.get("Resource", one.get("NotResource"))
                texts = [text for _, text in known_texts({"at": given})]
                yield from ("*",) if "NotResource" in one or not texts else texts


def _written(stack: Stack, allowed: Iterable[str], bucket: str) -> set[str]:
    """Beginnings of the keys that are written to a bucket; empty where they may be any."""
    found: set[str] = set()
    for text in allowed:
        named, slash, key = text.rpartition(":::")[2].partition("/")
        if text == "*" or (slash and ("*" in named or "?" in named) and ":s3:" in text):
            return set()
        if named == bucket and slash:
            found.add(_WILD.sub("", key))
    for view in stack.of_type(DATA_REPOSITORY_ASSOCIATION):
        named, _, key = (view.text("dataRepositoryPath") or "").removeprefix("s3://").partition("/")
        if named == bucket:
            found.add(key)
    for view in stack.of_type(BUCKET_LOGGING):
        if view.text("targetBucket") == bucket:
            found.add(view.text("targetPrefix") or "")
    return set() if "" in found else found


def _is_slip(prefix: str, written: set[str], bucket: str) -> bool:
    """Whether a prefix is nearly one that is written below, or says again what the bucket is called.

    Another one may be for what people bring by hand.
    """
    word = prefix.partition("/")[0]
    return word in bucket.split("-") or bool(nearest_of(word, {one.partition("/")[0] for one in written}))


def _meet(prefix: str, written: str) -> bool:
    return prefix.startswith(written) or written.startswith(prefix)
