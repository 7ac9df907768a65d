"""A stand-in API server: server-side apply with owners of fields and conflicts, as a keeper meets it."""

from __future__ import annotations

import io
import urllib.error
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from typing import Any

Path = tuple[str, ...]


def refused(code: int) -> urllib.error.HTTPError:
    return urllib.error.HTTPError("https://kubernetes.default.svc", code, "no", Message(), io.BytesIO())


def leaves(found: Mapping[str, Any], at: Path = ()) -> dict[Path, Any]:
    """Every field that an applier says something of; names and kinds belong to nobody."""
    result: dict[Path, Any] = {}
    for key, value in found.items():
        path = (*at, key)
        if path in (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace")):
            continue
        if isinstance(value, Mapping):
            result |= leaves(value, path)
        else:
            result[path] = value
    return result


@dataclass
class Kept:
    """An object: the value of each field, and who owns it."""

    values: dict[Path, Any] = field(default_factory=dict)
    owners: dict[Path, set[str]] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = {"metadata": {}, "spec": {}}
        for path, value in self.values.items():
            inner = found
            for key in path[:-1]:
                inner = inner.setdefault(key, {})
            inner[path[-1]] = value
        return found


class ApiServer:
    """Objects by their path. `ask` is what a keeper calls; `edit` is a person with kubectl."""

    def __init__(self, *paths: str, defaults: Mapping[Path, Any] | None = None) -> None:
        self.defaults = dict(defaults or {})
        self.objects = {path: Kept(dict(self.defaults)) for path in paths}
        self.events: list[Mapping[str, Any]] = []
        self.applies = 0
        self.refuses: int | None = None  # the code that every question is answered with
        self.refused: dict[tuple[str, str], int] = {}  # by method and path, the code that one kind of question is

    def ask(self, path: str, body: Mapping[str, Any] | None = None, manager: str = "") -> dict[str, Any]:
        if self.refuses is not None:
            raise refused(self.refuses)
        method = "GET" if body is None else "PATCH" if manager else "POST"
        if (method, path) in self.refused:
            raise refused(self.refused[method, path])
        if body is None:
            if path not in self.objects:
                raise refused(404)
            return self.objects[path].document()
        if not manager:
            self.events.append(body)
            return dict(body)
        self.applies += 1
        kept, said = self.objects[path], leaves(body)
        for at, value in said.items():
            others = kept.owners.get(at, set()) - {manager}
            if others and kept.values.get(at) != value:
                raise refused(409)
        for at in [at for at, owners in kept.owners.items() if manager in owners and at not in said]:
            kept.owners[at].discard(manager)
            if not kept.owners[at]:  # what its last owner says no more is removed, or falls back to the default
                del kept.owners[at]
                kept.values.pop(at)
                if at in self.defaults:
                    kept.values[at] = self.defaults[at]
        for at, value in said.items():
            kept.values[at] = value
            kept.owners.setdefault(at, set()).add(manager)
        return kept.document()

    def edit(self, path: str, at: Path, value: Any, manager: str = "kubectl-edit") -> None:
        """An update: who changes a value owns it alone."""
        kept = self.objects[path]
        if value is None:
            kept.values.pop(at, None)
            kept.owners.pop(at, None)
            if at in self.defaults:
                kept.values[at] = self.defaults[at]
        elif kept.values.get(at) != value:
            kept.values[at] = value
            kept.owners[at] = {manager}
