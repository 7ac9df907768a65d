"""Names of generated modules whose classes are not there before somebody asks for them.

`pulumi_kubernetes.core.v1._inputs` has 728 classes, `pulumi_aws.ec2` 1200 in three modules. Python takes as long to
make one, however empty, as to run 60,000 instructions: 5,000 of them were a twentieth of a cold rehearsal of `demo`,
which uses four hundred (2026-11-27).

A name of such a module is asked for in three ways, and each ends here: as an attribute of the module (`Lazy`), as a
name within it or within a module that imports everything from it (`Names`, in which Python looks after the module's
own), and by `import *` of anybody else, which asks for all.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from types import ModuleType, SimpleNamespace
from typing import Any

_MISSING = object()


class Unborn:
    """A `class` statement whose class nobody has asked for."""

    __slots__ = ("_decorators", "_make")

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._decorators: list[Callable[[Any], Any]] = []

    def decorated(self, decorator: Callable[[Any], Any]) -> Unborn:
        """The same, to be decorated once it is made."""
        self._decorators.append(decorator)
        return self

    def made(self) -> Any:
        """The class."""
        found = self._make()
        for decorator in self._decorators:
            found = decorator(found)
        return found


class Names(dict[str, Any]):
    """The built-in names of one module, behind which are those that it has not made or imported yet.

    Args:
        own: the module's own names, among which one is once it was asked for.
        lock: keeps two threads from making a class twice.
    """

    def __init__(self, own: dict[str, Any], lock: AbstractContextManager[Any]) -> None:
        super().__init__(vars(builtins))
        self.behind: list[ModuleType] = []
        self._own = own
        self._lock = lock
        self._unborn: dict[str, Unborn] = {}

    def settle(self) -> None:
        """Takes what is not there yet from the module's own names, once it was run."""
        self._unborn = {name: value for name, value in self._own.items() if type(value) is Unborn}
        for name in self._unborn:
            del self._own[name]

    @property
    def all_there(self) -> bool:
        """Whether nothing is left to be asked for."""
        return not self._unborn and not self.behind

    def asked(self, name: str) -> Any:
        """What the module means by a name that is none of its own yet; `KeyError` where it means nothing by it."""
        with self._lock:
            if name in self._own:  # another thread was first
                return self._own[name]
            unborn = self._unborn.get(name)
            found = unborn.made() if unborn is not None else self._imported(name)
            if found is _MISSING:
                raise KeyError(name)
            self._own[name] = found
            self._unborn.pop(name, None)
            return found

    __missing__ = asked

    def _imported(self, name: str) -> Any:
        for module in reversed(self.behind):
            if name in getattr(module, "__all__", ()):
                return getattr(module, name)
        return _MISSING


class Lazy(ModuleType):
    """A module with names that are not there yet."""

    def __getattr__(self, name: str) -> Any:
        try:
            return vars(self)["__builtins__"].asked(name)
        except KeyError:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}") from None

    def __dir__(self) -> Sequence[str]:
        return sorted({*super().__dir__(), *vars(self).get("__all__", ())})


def all_there(module: Lazy) -> Any:
    """What `import *` takes at once from a module: what is there."""
    names = [name for name in vars(module).get("__all__", ()) if name in vars(module)]
    return SimpleNamespace(__all__=names, **{name: vars(module)[name] for name in names})
