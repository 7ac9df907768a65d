"""Annotations of the provider SDKs that are made when somebody asks for them.

The module of a resource writes the type of each of its inputs a dozen times: in both forms of `__init__`, in `get`,
in the properties of three classes. `typing` makes an object of each of them at once, which took an eighth of a cold
rehearsal of `demo` (2026-11-27); asked for are those that the properties of resources in use return. So `Optional`,
`Union`, `Input` and their like are stood for while a generated module is run, and what they make is a forward reference
that knows its type without a text: `typing.get_type_hints`, by which Pulumi reads annotations, has the same as ever.
"""

from __future__ import annotations

import functools
import sys
import typing
from collections.abc import Callable, Mapping
from types import ModuleType, SimpleNamespace
from typing import Any, Final, TypeVar

import pulumi
from pulumi import _types as sdk

from trainyard.when_asked import WhenAsked

_OF_TYPING: Final = ("Mapping", "Optional", "Sequence", "Union")
_OF_PULUMI: Final = ("Input", "InputType", "Output")
_UNMADE: Final = object()

_MOST = 65_536
"""Annotations of which something is kept at most: the SDKs have a tenth of that, and a program may make its own."""

Of = TypeVar("Of")

_evaluated: Any = typing._eval_type  # type: ignore[attr-defined]


def by_annotation(read: Callable[[Any], Of]) -> Callable[[Any], Of]:
    """What a function says of an annotation, kept by its identity: those of `typing` take long to hash and compare.

    Each is kept too, so that its identity stays its own.
    """
    kept: dict[int, tuple[Any, Of]] = {}

    def found(cls: Any) -> Of:
        entry = kept.get(id(cls))
        if entry is not None:
            return entry[1]
        value = read(cls)
        if len(kept) >= _MOST:
            kept.clear()
        kept[id(cls)] = (cls, value)
        return value

    return found


class Later(typing.ForwardRef, _root=True):  # type: ignore[call-arg, misc]
    """An annotation that is not made yet: `Optional[str]`."""

    __slots__ = ("_found", "_item", "_made", "_origin")

    def __init__(self, origin: Any, item: Any) -> None:
        self._origin = origin
        self._item = item
        self._made: Any = _UNMADE
        self._found: Any = _UNMADE

    @property  # else it would be this one, by which `inspect` tells how to write it
    def __module__(self) -> str:  # type: ignore[override]
        return str(self.made().__module__)

    def made(self) -> Any:
        """The annotation as `typing` has it; texts in it are still to be evaluated."""
        if self._made is _UNMADE:
            item = self._item
            self._made = self._origin[tuple(map(_made, item)) if type(item) is tuple else _made(item)]
        return self._made

    def within(self, module: str) -> Any:
        """The annotation with its texts evaluated in the module that it is of: once, whichever property has it."""
        if self._found is _UNMADE:
            names = vars(sys.modules[module])
            item = self._item
            parts = [_known(part, module, names) for part in (item if type(item) is tuple else (item,))]
            if _UNMADE in parts:  # as `typing` does it, which makes each of the types within twice
                self._found = _hint(self.made(), names)
            else:
                self._found = _read(self._origin)[tuple(parts) if type(item) is tuple else parts[0]]
        return self._found

    def _evaluate(self, *arguments: Any, **options: Any) -> Any:
        """What `typing` asks of a forward reference, in whatever way this Python's `typing` does."""
        return _evaluated(self.made(), *arguments, **options)

    def __getattr__(self, name: str) -> Any:
        """What is asked of the annotation itself."""
        return getattr(self.made(), name)

    def __eq__(self, other: object) -> bool:
        return bool(self.made() == _made(other))

    def __hash__(self) -> int:
        return hash(self.made())

    def __repr__(self) -> str:
        return repr(self.made())


@functools.cache
def _read(origin: Any) -> Any:
    """`Optional` or its like, of which only `pulumi.Input` has a text within."""
    return _hint(origin, {}) if typing.get_args(origin) else origin


def _known(part: Any, module: str, names: Mapping[str, Any]) -> Any:
    """What a part of an annotation means in a module: a class, or what a text that is no more than a name says."""
    if isinstance(part, Later):
        return part.within(module)
    if type(part) is not str:
        return part if isinstance(part, type) else _UNMADE
    first, *rest = part.split(".")
    found = names.get(first, _UNMADE)
    if found is _UNMADE:
        found = _asked(names, first)
    for name in rest:
        found = getattr(found, name, _UNMADE)
    return found if isinstance(found, type) else _UNMADE


def _asked(names: Mapping[str, Any], name: str) -> Any:
    """What a module means by a name that is not its own, or not yet."""
    try:
        return names["__builtins__"][name]
    except KeyError:
        return _UNMADE


class Name(Later, _root=True):  # type: ignore[call-arg, misc]
    """Stands for `Optional` and its like within one module."""

    __slots__ = ("_known",)

    def __init__(self, real: Any) -> None:
        super().__init__(None, None)
        self._made = real
        self._known: dict[Any, Later] = {}

    def __getitem__(self, item: Any) -> Later:
        # By identity, which those made here are found by: an annotation is made of the same parts again and again.
        key = tuple(map(_key, item)) if type(item) is tuple else _key(item)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Later(self._made, item)
        return found


def _key(item: Any) -> Any:
    return item if type(item) is str else id(item)


def _made(item: Any) -> Any:
    return item.made() if isinstance(item, Later) else item


class Typing(ModuleType):
    """Stands for `typing` while one module is run."""

    def __init__(self) -> None:
        super().__init__("typing")
        vars(self).update({name: Name(getattr(typing, name)) for name in _OF_TYPING})

    def __getattr__(self, name: str) -> Any:
        return getattr(typing, name)


def of_pulumi() -> Mapping[str, Any]:
    """What stands for names of `pulumi` while one module is run."""
    return {name: Name(getattr(pulumi, name)) for name in _OF_PULUMI}


def real(value: Any) -> Any:
    """What a name of a module means once the module has been run."""
    if type(value) is Typing:
        return typing
    return value.made() if type(value) is Name else value


@functools.cache
def return_hints(cls: type) -> Mapping[str, Any]:
    """`pulumi._types._raw_return_hints`: what each property of a class returns, by wire name."""
    getters: dict[str, Any] = {name: found.fget for _, name, found in sdk._py_properties(cls)}
    given = {name: getter.__annotations__ for name, getter in getters.items()}
    # Of one module, as those of generated classes are: what a text means there does not depend on the class.
    in_module = all(getter.__module__ == cls.__module__ for getter in getters.values())
    everywhere: list[dict[str, Any]] = []

    def read(annotation: Any) -> Any:
        if in_module and isinstance(annotation, Later):
            return annotation.within(cls.__module__)
        if isinstance(annotation, type):
            return annotation
        if not everywhere:
            everywhere.append(sdk._globals_for_cls(cls) or {})
        return _hint(annotation, everywhere[0])

    return WhenAsked({name: types["return"] for name, types in given.items() if "return" in types}, read)


def _hint(annotation: Any, names: dict[str, Any]) -> Any:
    """What `get_type_hints` makes of an annotation where these names are known, and those that Pulumi adds."""
    within = {"Output": pulumi.Output, "T": type(None)}
    asked: Any = SimpleNamespace(__annotations__={"return": annotation})
    return typing.get_type_hints(asked, names, within)["return"]


_unwrapped = by_annotation(sdk.unwrap_type)


@functools.cache
def property_types(cls: type) -> Mapping[str, Any]:
    """`pulumi._types._types_from_py_properties`: those types without `Output` and `Optional` around them."""
    hints = return_hints(cls)

    def read(name: str) -> Any:
        found = _unwrapped(hints[name])
        return None if found is pulumi.Output else found  # one that does not say of what is no type of a value

    return WhenAsked({name: name for name in hints}, read)
