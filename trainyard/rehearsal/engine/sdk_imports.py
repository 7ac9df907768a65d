"""Imports the provider SDKs a module at a time.

The `__init__` of a generated package such as `pulumi_aws.ec2` does nothing but `from .vpc import *` for each of its
modules: 180 for `ec2`, of which a stack uses ten. Within `piecewise_imports()` such a package imports a module when a
name of it is first asked for, which spares a third of the import time and of the memory. The names are the same
objects as ever; whoever wants all of them (`dir`, `import *`, a name that no module is called after) gets the whole
package, by its own `__init__`.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

from trainyard.rehearsal.engine.sdk_classes import ClassesLoader

_STAR = re.compile(r"from \.(?P<module>\w+) import \*")
_OTHER = re.compile(r"#.*|import builtins as _builtins|import typing|from \.+ import _utilities|")
_OUTPUTS = "outputs"
"""The one module that stays a module in its package: `from . import outputs`."""

_MODULES = "__piecewise_modules__"
"""Where a package keeps the modules that its `__init__` would import: by name in lower case without underscores."""

_AROUND = re.compile(r"^(?:awaitable)?(?P<core>.+?)(?:init)?(?:args|argsdict|result|output)?$")
"""A module `get_vpc` also holds `get_vpc_output` and `AwaitableGetVpcResult`; `vpc` holds `Vpc` and `VpcArgs`."""


class _Package(ModuleType):
    """A package that knows its modules and has not imported them yet."""

    def __getattr__(self, name: str) -> Any:
        asked_by_tools = name.startswith("__") and name != "__all__"
        being_imported = f"{self.__name__}.{name}" in sys.modules  # `outputs` imports itself
        if asked_by_tools or being_imported:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        for module in self._homes(name):
            home = importlib.import_module(f"{self.__name__}.{module}")
            if name not in vars(self) and name in getattr(home, "__all__", ()):
                super().__setattr__(name, getattr(home, name))
            if name in vars(self):
                return vars(self)[name]
        self._import_all()
        return getattr(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        """The import system names every module in its package; `import *` then puts the module's names there too."""
        super().__setattr__(name, value)
        starred = name != _OUTPUTS and name in vars(self).get(_MODULES, {}).values()
        if starred and isinstance(value, ModuleType):
            public = getattr(value, "__all__", None) or [key for key in vars(value) if not key.startswith("_")]
            vars(self).update({key: vars(value)[key] for key in public if key in vars(value)})  # others when asked for

    def __dir__(self) -> Sequence[str]:
        self._import_all()
        return dir(self)

    def _homes(self, name: str) -> Iterator[str]:
        """The modules that may hold `name`, the likeliest first."""
        modules = vars(self)[_MODULES]
        squeezed = _squeezed(name)
        match = _AROUND.match(squeezed)
        for key in dict.fromkeys((squeezed, match["core"] if match else squeezed)):
            if key in modules:
                yield modules[key]
        for key in ("inputs", "enums"):
            if key in modules:
                yield modules[key]

    def _import_all(self) -> None:
        super().__setattr__("__class__", ModuleType)
        del vars(self)[_MODULES]
        loader = self.__spec__.loader if self.__spec__ is not None else None
        if not isinstance(loader, _Loader):
            raise ImportError(f"{self.__name__} has lost its loader", name=self.__name__)
        SourceFileLoader.exec_module(loader, self)


def _squeezed(name: str) -> str:
    return name.replace("_", "").lower()


class _Loader(SourceFileLoader):
    """Loads a package: piecewise if its `__init__` does nothing but import everything, else as ever."""

    def exec_module(self, module: ModuleType) -> None:
        """Only now is `__init__` read: the SDK itself defers this to the first use of a package."""
        modules: dict[str, str] = {}
        for line in self.get_data(self.path).decode("utf-8").splitlines():
            star = _STAR.fullmatch(line.strip())
            if star is not None and star["module"] != _OUTPUTS:
                modules[_squeezed(star["module"])] = star["module"]
            elif line.strip() == f"from . import {_OUTPUTS}":
                modules[_OUTPUTS] = _OUTPUTS
            elif not _OTHER.fullmatch(line.strip()):
                super().exec_module(module)
                return
        module.__class__ = _Package
        vars(module)[_MODULES] = modules


def _is_generated(fullname: str) -> bool:
    """Whether a module holds nothing but generated classes: its package would import everything from it."""
    package, _, name = fullname.rpartition(".")
    return name == "_inputs" or name in vars(sys.modules[package]).get(_MODULES, {}).values()


class _Finder(MetaPathFinder):
    """Finds the packages inside of provider SDKs."""

    def __init__(self) -> None:
        self._folders: dict[str, frozenset[str]] = {}  # by the folder of a package: those in it

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A spec with our loader for `pulumi_aws.ec2` and what is in it; None, which means go on, for anything else."""
        if not fullname.startswith("pulumi_") or "." not in fullname:
            return None
        if fullname.count(".") == 1 and path is not None and (package := self._package(fullname, path)) is not None:
            return package
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader:
            return spec
        if spec.submodule_search_locations is not None:
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        elif _is_generated(fullname):
            spec.loader = ClassesLoader(spec.loader.name, spec.loader.path)
        return spec

    def _package(self, fullname: str, path: Sequence[str]) -> ModuleSpec | None:
        """The spec of a package that lies in the first folder of `path`, as the standard library's finders give it, of
        which they make sure by several looks at the disk. `pulumi_aws` asks for each of its 240.
        """
        where = path[0]
        if where not in self._folders:
            try:
                with os.scandir(where) as entries:
                    self._folders[where] = frozenset(entry.name for entry in entries if entry.is_dir())
            except OSError:  # in an archive, or gone
                self._folders[where] = frozenset()
        name = fullname.rpartition(".")[2]
        location = f"{where}/{name}/__init__.py"
        if name not in self._folders[where] or not os.access(location, os.R_OK):
            return None
        spec = ModuleSpec(fullname, _Loader(fullname, location), origin=location, is_package=True)
        spec.submodule_search_locations = [f"{where}/{name}"]
        spec.has_location = True
        return spec


@contextmanager
def piecewise_imports() -> Iterator[None]:
    """Packages of provider SDKs that are first imported within the block are imported a module at a time."""
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
