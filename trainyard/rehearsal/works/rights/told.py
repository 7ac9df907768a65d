"""Addresses in an object store that a config map tells the pods of its namespace, and whether somebody serves them.

An address of the store itself says that whoever reads it goes there. Where the same map tells of a server too, or
artifacts are asked of one (`mlflow-artifacts:`), the store may be that server's (MLflow, "Tracking server", proxied
artifact access, as generally known in 2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from trainyard.recorded.types import CONFIG_MAP, SECRET
from trainyard.rehearsal.context import Stack, View

_SERVED: Final = ("http://", "https://", "mlflow-artifacts:")
HINT: Final = (
    "a right for the service account of the pods that use it; leave it out where a server does that for them, or tell "
    "the server's address beside it"
)


@dataclass(frozen=True, slots=True)
class Told:
    """One address of a map, with nothing else in the text."""

    view: View
    path: str
    namespace: str
    found: re.Match[str]
    is_served: bool  # said to be: a server may use it for them


def told(stack: Stack, address: re.Pattern[str], own_credentials: re.Pattern[str]) -> Iterator[Told]:
    """What whoever takes a config map as their environment is told to use.

    Args:
        stack: what is recorded.
        address: of the object store.
        own_credentials: variables that bring rights which no service account has; who has any may reach more.
    """
    with_keys = _with_keys(stack, own_credentials)
    for view in stack.of_type(CONFIG_MAP):
        texts = {key: text for key, text in view.mapping("data").items() if isinstance(text, str)}
        namespace = view.text("metadata.namespace") or "default"
        served = (
            namespace in with_keys
            or any(text.startswith(_SERVED) for text in texts.values())
            or _any_names(texts, own_credentials)
        )
        for key, text in texts.items():
            if (found := address.fullmatch(text)) is not None:
                yield Told(view, f"data.{key}", namespace, found, served)


def _with_keys(stack: Stack, own_credentials: re.Pattern[str]) -> set[str]:
    """Namespaces with a secret of credentials."""
    return {
        view.text("metadata.namespace") or "default"
        for view in stack.of_type(SECRET)
        if any(_any_names(view.mapping(key), own_credentials) for key in ("data", "stringData"))
    }


def _any_names(texts: Mapping[str, object], names: re.Pattern[str]) -> bool:
    return any(names.fullmatch(key) for key in texts)
