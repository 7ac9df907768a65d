"""Where two values of one input differ, as a provider sees it: sets have no order, documents no layout."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trainyard.recorded.model import UNKNOWN, Secret, bare, has_unknown
from trainyard.rehearsal.change.model import Difference, within, without_indices

_EMPTY: tuple[Any, ...] = (None, "", [], {}, ())


@dataclass(slots=True)
class Comparison:
    """Compares the inputs of one resource; counts what nobody could compare."""

    unordered: Collection[str] = ()  # paths of lists without an order, without indices
    ignored: Collection[str] = ()  # paths that the program leaves as they are
    settled: Collection[str] = ()  # paths whose value the provider keeps: automatic names
    empty_is_absent: bool = True  # an empty text, list or mapping says no more than none
    unseen: list[str] = field(default_factory=list)

    def of(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Difference, ...]:
        """The differences, by path."""
        found = self._values(before, after, "", secret=False)
        return tuple(each for each in found if not self.ignores(each.path))

    def ignores(self, path: str) -> bool:
        """Whether the program leaves a path as it is."""
        return any(within(path, ignored) for ignored in self.ignored)

    def _values(self, before: Any, after: Any, path: str, *, secret: bool) -> Iterator[Difference]:
        if path in self.settled:
            return
        if isinstance(before, Secret) or isinstance(after, Secret):
            secret = True
            before, after = (each.value if isinstance(each, Secret) else each for each in (before, after))
        if before is after or before == after or (self._says_nothing(before) and self._says_nothing(after)):
            return
        if before is UNKNOWN or after is UNKNOWN:
            self.unseen.append(path)
        elif isinstance(before, Mapping) and isinstance(after, Mapping):
            for key in sorted({*before, *after}, key=str):
                inner = f"{path}.{key}" if path else str(key)
                yield from self._values(before.get(key), after.get(key), inner, secret=secret)
        elif isinstance(before, list) and isinstance(after, list):
            yield from self._lists(before, after, path, secret=secret)
        elif not _same_document(before, after):
            yield Difference(path, Secret(before), Secret(after)) if secret else Difference(path, before, after)

    def _lists(self, before: Sequence[Any], after: Sequence[Any], path: str, *, secret: bool) -> Iterator[Difference]:
        if without_indices(path) in self.unordered:
            before, after = _aligned(before, after)
        for index in range(max(len(before), len(after))):
            was, now = (each[index] if index < len(each) else None for each in (before, after))
            yield from self._values(was, now, f"{path}[{index}]", secret=secret)

    def _says_nothing(self, value: Any) -> bool:
        return value is None or (self.empty_is_absent and not isinstance(value, bool) and value in _EMPTY)


def _aligned(before: Sequence[Any], after: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The entries of both, what both have first and in one order. Entries of which nothing is known come last."""
    kept = list(after)
    both, gone = [], []
    for item in before:
        if item in kept and not has_unknown(item):
            kept.remove(item)
            both.append(item)
        else:
            gone.append(item)
    return [*both, *sorted(gone, key=_order)], [*both, *sorted(kept, key=_order)]


def _order(item: Any) -> str:
    return json.dumps(bare(item), sort_keys=True, default=str)


def _same_document(before: Any, after: Any) -> bool:
    """Whether two texts are one JSON document: a policy whose keys stand in another order is the same policy."""
    if not (
        isinstance(before, str) and isinstance(after, str) and before[:1] == after[:1] and before[:1] in ("{", "[")
    ):
        return False
    try:
        return bool(json.loads(before) == json.loads(after))
    except ValueError:
        return False


def texts(value: Any, path: str = "", *, secret: bool = False) -> Iterator[tuple[str, str, bool]]:
    """Every text in a value, numbers as text too, with its path, and whether it lies in a secret."""
    if isinstance(value, Secret):
        yield from texts(value.value, path, secret=True)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from texts(item, f"{path}.{key}" if path else str(key), secret=secret)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from texts(item, f"{path}[{index}]", secret=secret)
    elif isinstance(value, str) or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        yield path, str(value), secret


def mapped(value: Any, told: Callable[[str], str]) -> Any:
    """A value with each of its texts as `told` makes it."""
    if isinstance(value, str):
        return told(value)
    if isinstance(value, Secret):
        return Secret(mapped(value.value, told))
    if isinstance(value, Mapping):
        return {key: mapped(item, told) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [mapped(item, told) for item in value]
    return value
