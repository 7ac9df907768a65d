"""Which resource of what is there a program means: by its URN, an alias, or an alias of one of its parents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.recorded.model import Alias, RecordedResource
from trainyard.recorded.types import PULUMI_STACK


class Aliases:
    """Finds resources by what they are or were called; asked in the order in which the program makes them."""

    def __init__(self, before: Mapping[str, RecordedResource]) -> None:
        self._before = before
        self._called: dict[str, list[str]] = {}  # by a URN of the program: all that it may have been, the nearest first

    def of(self, now: RecordedResource) -> RecordedResource | None:
        """The resource that is there, of this one of the program's."""
        names = list(dict.fromkeys((now.urn, *self._urns(now))))
        self._called[now.urn] = names
        return next((self._before[urn] for urn in names if urn in self._before), None)

    def _urns(self, now: RecordedResource) -> Iterator[str]:
        prefix, chain, name = _parts(now.urn)
        own = chain.rpartition("$")[2]
        for alias in now.aliases:
            yield from self._spelt(now, alias, prefix, own, name)
        for parent in self._called.get(now.parent, [])[1:]:  # the parent was called otherwise, and its children with it
            there, parents, other = _parts(parent)
            yield f"{there}{parents}${own}::{name}"
            # The engine also takes over a new beginning of the name: a child is often called after its parent.
            was = now.parent.rpartition("::")[2]
            if name.startswith(was) and was != other:
                yield f"{there}{parents}${own}::{other}{name[len(was) :]}"

    def _spelt(self, now: RecordedResource, alias: Alias, prefix: str, own: str, name: str) -> Iterator[str]:
        if alias.urn:
            yield alias.urn
            return
        stack, project = prefix.removeprefix("urn:pulumi:").split("::")[:2]
        there = f"urn:pulumi:{alias.stack or stack}::{alias.project or project}::"
        type_, called = alias.type or own, alias.name or name
        parents = [""] if alias.no_parent else [alias.parent_urn] if alias.parent_urn else [now.parent]
        if not alias.no_parent and not alias.parent_urn:
            parents += self._called.get(now.parent, [])[1:]
        for parent in parents:
            chain = _parts(parent)[1] if parent and f"::{PULUMI_STACK}::" not in parent else ""
            yield f"{there}{chain}${type_}::{called}" if chain else f"{there}{type_}::{called}"


def _parts(urn: str) -> tuple[str, str, str]:
    """A URN's stack and project with all before, its chain of types, and its name."""
    scheme, project, chain, name = urn.split("::", 3)
    return f"{scheme}::{project}::", chain, name
