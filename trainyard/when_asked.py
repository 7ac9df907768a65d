"""A mapping whose values are made when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class WhenAsked(Mapping[str, Value], Generic[Value]):
    """What is said of each name, made when it is first asked for.

    Args:
        names: what to make it of, by the name that it is asked for by.
        make: makes what is said of it.
    """

    def __init__(self, names: Mapping[str, Any], make: Callable[[Any], Value]) -> None:
        self._names = names
        self._make = make
        self._made: dict[str, Value] = {}

    def __getitem__(self, name: str) -> Value:
        if name not in self._made:
            self._made[name] = self._make(self._names[name])
        return self._made[name]

    def get(self, name: str, default: Any = None) -> Any:  # without an exception, which most names would take
        """What is said of a name; the default for none."""
        if name in self._made:
            return self._made[name]
        return self[name] if name in self._names else default

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
