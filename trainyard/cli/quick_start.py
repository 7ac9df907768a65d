"""What makes a command begin sooner: methods of dataclasses and patterns compiled, some modules run, when first used.

Half of a cold rehearsal of a small stack is imports. `dataclasses` writes the source of six methods for each class and
compiles it at once, which took 0.2 s of those 1.4 (2026-11-26); most are never called. Our modules hold 370 regular
expressions as constants, of which a small stack meets the fewer part. `import pulumi` brings modules that a rehearsal
has no use for.

Whoever asks a class for a method, a pattern or a module for anything, gets what was always there; only the `__dict__`
of such a class and the type of such a pattern or module show that it waits. Classes of a stack's program and of
packages not named here are compiled at once: `pulumi.dynamic` writes a program's classes out whole, with what stands in
for a method, and that would be another input than `pulumi up` sends. Where the standard library is built otherwise
(from Python 3.13 on, `dataclasses` compiles all of a class at once), it is left as it is.
"""

from __future__ import annotations

import copyreg
import dataclasses
import gc
import importlib.util
import inspect
import os
import re
import sys
import typing
from collections.abc import Callable, Sequence
from functools import wraps
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import FunctionType, ModuleType
from typing import Any, Final

LATER: Final = frozenset(
    {
        "asyncio.sslproto",
        "dill",
        "grpc.aio",
        "opentelemetry.context",
        "pulumi.automation",
        "pulumi.runtime._instrumentation",
    }
)
"""Modules that `import pulumi` brings and no command of ours uses: for dynamic providers, tracing, the engine."""

PLUGINS: Final = "PYDANTIC_DISABLE_PLUGINS"
"""By which pydantic is told to look for no plugins of its own among all distributions that are installed."""

KEYS_UNREAD: Final = "pydantic_core.core_schema"
"""A module of a hundred `TypedDict` with a thousand annotations, each of which is compiled and nobody reads."""

PATTERNS_LATER: Final = frozenset({"packaging", "parver", "platform", "semver", "trainyard", "yaml"})
"""Packages whose constant patterns wait: ours, and those whose patterns take long and are hardly ever asked."""

PUT_OFF: Final = frozenset(
    {"annotated_types", "opentelemetry", "parver", "pulumi", "pydantic", "rich", "trainyard", "typer"}
)
"""Packages that a command imports and whose dataclasses wait: all that there are in a cold rehearsal."""

_CREATE: Final = "_create_fn"
_RECURSIVE: Final = "_recursive_repr"
_PARAMETERS: Final = ("name", "args", "body", "globals", "locals", "return_type")
"""What `dataclasses` makes each of its methods with, and wraps `__repr__` in, in Python 3.11 and 3.12."""


def quick_start() -> None:
    """Puts off, for the rest of this process, what is described above. Once is enough, and more does nothing.

    A command makes a million objects that live as long as it does, most of them in the provider SDKs. Looking for
    garbage among them while they are made would be a third of its time.
    """
    gc.set_threshold(2_000_000, 5, 20)  # loop.RARE, which would import the SDK
    create, recursive = (getattr(dataclasses, name, None) for name in (_CREATE, _RECURSIVE))
    if (
        isinstance(create, FunctionType)
        and isinstance(recursive, FunctionType)
        and tuple(inspect.signature(create).parameters) == _PARAMETERS
    ):
        setattr(dataclasses, _CREATE, _later(create))
        setattr(dataclasses, _RECURSIVE, _wrapped_later(recursive))
    os.environ.setdefault(PLUGINS, "__all__")
    if not hasattr(re.compile, "__wrapped__"):
        re.compile = _patterns_later(re.compile)
    if not any(isinstance(finder, _Later) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Later())


class _Method:
    """Stands in a class for a method that is compiled, and takes this place, when it is first looked up."""

    __slots__ = ("__name__", "_made", "_make")

    def __init__(self, name: str, make: Callable[[], FunctionType]) -> None:
        self.__name__ = name
        self._make = make
        self._made: FunctionType | None = None

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """The method, as it would be found if it had been there from the beginning."""
        made = self._function()
        for cls in (owner or type(instance)).__mro__:  # with slots, `dataclass` puts the method into a second class
            if vars(cls).get(self.__name__) is self:
                made.__qualname__ = f"{cls.__qualname__}.{self.__name__}"
                type.__setattr__(cls, self.__name__, made)
        return made.__get__(instance, owner)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """For whoever takes it out of the class's `__dict__`, where it is no method yet."""
        return self._function()(*arguments, **options)

    def _function(self) -> FunctionType:
        if self._made is None:
            self._made = self._make()
        return self._made


def _later(create: FunctionType) -> Callable[..., _Method | FunctionType]:
    """`dataclasses._create_fn`, put off for the packages that are named."""

    def created(name: str, args: Sequence[str], body: Sequence[str], **scope: Any) -> _Method | FunctionType:
        module = (scope.get("globals") or {}).get("__name__", "")
        if module.partition(".")[0] not in PUT_OFF:
            made: FunctionType = create(name, args, body, **scope)
            return made
        return _Method(name, lambda: create(name, args, body, **scope))

    return created


def _wrapped_later(recursive: FunctionType) -> Callable[..., _Method | FunctionType]:
    """`dataclasses._recursive_repr`, which copies name, module and text of what it wraps, put off with it."""

    def wrapped(method: _Method | FunctionType) -> _Method | FunctionType:
        if isinstance(method, _Method):
            return _Method(method.__name__, lambda: recursive(method._function()))
        made: FunctionType = recursive(method)
        return made

    return wrapped


class _Pattern:
    """Stands for a regular expression that is compiled when something of it is first asked for.

    Its methods are then those of the compiled one, so that every further use costs what it always did.
    """

    def __init__(self, make: Callable[[], re.Pattern[Any]]) -> None:
        self._make = make

    def _whole(self) -> re.Pattern[Any]:
        made = self._make()
        self._make = lambda: made
        self.__dict__.update({name: getattr(made, name) for name in dir(made) if not name.startswith("_")})
        return made

    def __getattr__(self, name: str) -> Any:
        return getattr(self._whole(), name)

    @property  # type: ignore[misc]  # a class's own is written too
    def __class__(self) -> type:
        """What `isinstance` goes by, and so the functions of `re` that take a compiled pattern."""
        return re.Pattern

    def __eq__(self, other: object) -> bool:
        return self._whole() == (other._whole() if type(other) is _Pattern else other)

    def __hash__(self) -> int:
        return hash(self._whole())

    def __repr__(self) -> str:
        return repr(self._whole())

    def __copy__(self) -> re.Pattern[Any]:
        return self._whole()

    def __deepcopy__(self, memo: object) -> re.Pattern[Any]:
        return self._whole()

    def __reduce__(self) -> Any:
        return copyreg.dispatch_table[re.Pattern](self._whole())  # as a compiled one is written out


def _patterns_later(compiled: Callable[..., re.Pattern[Any]]) -> Any:
    """`re.compile`, put off for what a module or a class body of the packages named compiles: constants alone."""

    @wraps(compiled)
    def put_off(pattern: Any, flags: Any = 0) -> Any:
        caller = sys._getframe(1)
        constant = not caller.f_code.co_flags & inspect.CO_OPTIMIZED
        if not constant or str(caller.f_globals.get("__name__")).partition(".")[0] not in PATTERNS_LATER:
            return compiled(pattern, flags)
        return _Pattern(lambda: compiled(pattern, flags))

    return put_off


class _Keys(dict[str, Any]):
    """Stands for `TypedDict` as the base of a class: annotations stay what is written, a call makes a plain `dict`."""

    def __init_subclass__(cls, *, total: bool = True) -> None:
        setattr(cls, "__total__", total)  # noqa: B010 - as a `TypedDict` has it

    def __new__(cls, *arguments: Any, **options: Any) -> Any:
        """As a `TypedDict` does."""
        return dict(*arguments, **options)


class _KeysUnread(SourceFileLoader):
    """Runs a module whose `TypedDict` are of `_Keys`."""

    def exec_module(self, module: ModuleType) -> None:
        """It takes the name from one of two modules, by the version of Python."""
        import typing_extensions  # pydantic needs it

        homes = (typing, typing_extensions)
        there = [home.TypedDict for home in homes]
        try:
            for home in homes:
                setattr(home, "TypedDict", _Keys)  # noqa: B010 - mypy takes the attribute for a class
            super().exec_module(module)
        finally:
            for home, own in zip(homes, there, strict=True):
                setattr(home, "TypedDict", own)  # noqa: B010


class _Later(MetaPathFinder):
    """Finds the modules that are run when something of them is first asked for, and the one whose keys nobody reads."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A spec with the standard library's own loader for this; None, which means go on, for all other modules."""
        if fullname == KEYS_UNREAD:
            spec = PathFinder.find_spec(fullname, path, target)
            if spec is not None and type(spec.loader) is SourceFileLoader:
                spec.loader = _KeysUnread(spec.loader.name, spec.loader.path)
            return spec
        if fullname not in LATER:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = importlib.util.LazyLoader(spec.loader)
        return spec
