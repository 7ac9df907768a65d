"""Keys and values of labels, as the API server validates them (k8s.io/apimachinery, util/validation, 1.35)."""

from __future__ import annotations

import re
from typing import Any, Final

from trainyard.rehearsal.context import View, show

LABEL_KEY: Final = "must be name or prefix/name: letters, digits and -_. (at most 63), prefix a DNS name"
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
_PREFIX = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")


def is_label_key(key: str) -> bool:
    """Whether a text can be the key of a label, a taint or an annotation."""
    prefix, slash, name = key.rpartition("/")
    return _NAME.fullmatch(name) is not None and (
        not slash or (len(prefix) <= 253 and _PREFIX.fullmatch(prefix) is not None)
    )


def check_label(view: View, path: str, key: str, value: Any) -> None:
    """Notes a label whose key or value Kubernetes refuses."""
    if not is_label_key(key):
        view.error("label-key", path, f"key {show(key)}", allowed=LABEL_KEY)
    if isinstance(value, str) and value and not _NAME.fullmatch(value):
        allowed = "letters, digits and -_. , at most 63, a letter or digit at both ends"
        view.error("label-value", path, f"got {show(value)}", allowed=allowed)
