"""Makes the classes for inputs and outputs in the provider SDKs when they are first used.

A generated module `_inputs` holds two classes for each object that a resource takes: `PodSpecArgs`, and a `TypedDict`
of the same keys; `outputs` holds one for each that it returns; the module of a resource has those for all of its inputs
and for its state. `pulumi_kubernetes.core.v1` has 1100 of them, of which a stack uses forty; making all took a fifth of
a cold rehearsal (2026-11-26). So the body of such a class is kept, and run when something of the class is asked for. It
is the same object before and after, so that whoever imported it need not know.

What a module does besides is done as ever: only its `class` statements come here, by way of `__build_class__`, and of
these the ones that derive from nothing, `dict` or `TypedDict`. Resources are classes from the beginning. In modules
that hold hundreds of classes not even those that wait are made before somebody asks for their names
(`rehearsal/engine/sdk_names.py`): to make one takes Python longer than to run a short body.
"""

from __future__ import annotations

import builtins
import threading
import typing
from abc import ABCMeta
from collections.abc import Callable, Mapping
from importlib.machinery import SourceFileLoader
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pulumi
from pulumi import _types as sdk

from trainyard.rehearsal.engine.sdk_annotations import Name, Typing, of_pulumi, real
from trainyard.rehearsal.engine.sdk_bodies import Bodies
from trainyard.rehearsal.engine.sdk_names import Lazy, Names, Unborn, all_there

_MARKS: Mapping[str, Callable[[type], type]] = {
    sdk._PULUMI_INPUT_TYPE: pulumi.input_type,
    sdk._PULUMI_OUTPUT_TYPE: pulumi.output_type,
}
"""By the attribute that tells what a class is to Pulumi: the decorator that makes it so."""

_SAME_BEFORE = frozenset(
    {
        *_MARKS,
        "__class__",
        "__module__",
        "__name__",
        "__qualname__",
        "__mro__",
        "__bases__",
        "__origin__",
        "__parameters__",
    }
    | {"__typing_subst__", "__typing_unpacked_tuple_args__", "__typing_is_unpacked_typevartuple__", "__mro_entries__"}
)
"""What `typing` and Pulumi ask of everything in an annotation, and what no body of a generated class changes."""

_OF_MANY = ("_enums", "_inputs", "outputs")
"""Modules of which nobody asks for more than a few classes."""

_BASES: tuple[tuple[Any, ...], ...] = ((), (dict,), (typing.TypedDict,))


class _Any(typing.TypedDict):
    """Tells of what type every `TypedDict` is."""


_TypedDictMeta: Any = type(_Any)
_BUILD: Callable[..., Any] = builtins.__build_class__
_bodies: dict[type, tuple[Bodies, CodeType, dict[str, Any]]] = {}
"""By each class that waits: the bodies of its module, its own or the stub of it, and the names of the module."""

_in_making: set[type] = set()
_lock = threading.RLock()
"""One for all classes, since the body of one may ask for another."""


def waiting(cls: type) -> bool:
    """Whether the body of a class has not been run yet."""
    return cls in _bodies


class _Made(ABCMeta):
    """A class whose body has been run.

    Its type derives from that of abstract classes, so that a program may derive from one of each. To ask what is an
    instance of it goes the short way of all other classes.
    """

    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__

    def __new__(mcs, name: str, bases: tuple[type, ...], names: dict[str, Any], **options: Any) -> Any:
        """A class derived from one that waits, whose base is made first, or from one that is made."""
        for base in bases:
            _make(base)
        kind = _Made if mcs is _Waiting else mcs
        if kind is _Made and any(isinstance(base, ABCMeta) and type(base) is not _Made for base in bases):
            kind = _MadeAbstract
        if kind is _Made:
            return type.__new__(_Made, name, bases, names, **options)
        return super().__new__(kind, name, bases, names, **options)


class _MadeAbstract(_Made):
    """A class derived from one of an SDK and from an abstract one, which asks as abstract ones do."""

    __instancecheck__ = ABCMeta.__instancecheck__
    __subclasscheck__ = ABCMeta.__subclasscheck__


class _Waiting(_Made):
    """A class whose body waits for its first use."""

    def __getattribute__(cls, name: str) -> Any:
        if name in _MARKS:
            with _lock:  # while the class is decorated, it has none
                return type.__getattribute__(cls, name)
        if name not in _SAME_BEFORE:
            _make(cls)
        return type.__getattribute__(cls, name)

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        _make(cls)
        return type.__call__(cls, *arguments, **options)

    def __setattr__(cls, name: str, value: Any) -> None:
        if name != "__class__":
            _make(cls)
        type.__setattr__(cls, name, value)


class _WaitingDict(_TypedDictMeta):
    """A `TypedDict` whose keys wait for their first use."""

    def __new__(mcs, name: str, bases: tuple[type, ...], names: dict[str, Any], **options: Any) -> Any:
        """A dict derived from one that waits: its base is made first."""
        for base in bases:
            _make(base)
        return _TypedDictMeta(name, bases, names, **options)

    def __getattribute__(self, name: str) -> Any:
        if name not in _SAME_BEFORE:
            _make(self)
        return type.__getattribute__(self, name)


def _make(cls: type) -> None:
    """Runs the body of a class that waits; another thread that asks for the class waits for its end.

    The class counts as waiting until all of it is there, so that a body that fails is run, and fails, once more.
    """
    with _lock:
        if cls in _in_making or cls not in _bodies:  # it asks itself, or another thread was first
            return
        _in_making.add(cls)
        try:
            bodies, code, names = _bodies[cls]
            (_fill_dict if type(cls) is _WaitingDict else _fill)(cls, bodies.of(code, cls.__name__), names)
            del _bodies[cls]
        finally:
            _in_making.discard(cls)


def _fill(cls: type, code: CodeType, names: dict[str, Any]) -> None:
    stands: dict[str, Any] = _standing.get(names["__name__"], {})  # found before the module's own names
    namespace = dict(stands)
    exec(code, names, namespace)  # noqa: S102 the provider SDK's own code, as its import would run it
    for name in stands:
        del namespace[name]
    cell = namespace.pop("__classcell__", None)
    if cell is not None:
        cell.cell_contents = cls  # for `super()`
    for name, value in namespace.items():
        setattr(cls, name, value)
        named = getattr(type(value), "__set_name__", None)
        if named is not None:
            named(value, cls, name)
    marked = [mark for mark in _MARKS if mark in vars(cls)]
    try:
        for mark in marked:
            delattr(cls, mark)  # it may be decorated once
            _MARKS[mark](cls)
    finally:
        for mark in marked:  # what the decorator leaves, and what was there if it failed
            setattr(cls, mark, True)
    cls.__class__ = _Made


def _fill_dict(cls: type, code: CodeType, names: dict[str, Any]) -> None:
    whole = _BUILD(FunctionType(code, names), cls.__name__, typing.TypedDict)
    for name, value in vars(whole).items():
        if name not in ("__dict__", "__weakref__"):
            setattr(cls, name, value)
    cls.__class__ = _TypedDictMeta


class _Marking:
    """Stands for `pulumi` while a module is run: classes that wait are decorated when they are made."""

    def __init__(self) -> None:
        vars(self).update(of_pulumi())

    def __getattr__(self, name: str) -> Any:
        found = getattr(pulumi, name)
        vars(self)[name] = found
        return found

    @staticmethod
    def input_type(cls: Any) -> Any:
        """`pulumi.input_type`, put off; that the class is one is told at once."""
        return _marked(cls, sdk._PULUMI_INPUT_TYPE)

    @staticmethod
    def output_type(cls: Any) -> Any:
        """`pulumi.output_type`, put off in the same way."""
        return _marked(cls, sdk._PULUMI_OUTPUT_TYPE)

    @staticmethod
    def type_token(token: str) -> Callable[[Any], Any]:
        """`pulumi.type_token`, put off for a class that is not there yet."""
        decorate = pulumi.type_token(token)
        return lambda cls: cls.decorated(decorate) if type(cls) is Unborn else decorate(cls)


def _marked(cls: Any, mark: str) -> Any:
    if type(cls) is Unborn:
        return cls.decorated(lambda made: _marked(made, mark))
    if cls not in _bodies:
        return _MARKS[mark](cls)
    type.__setattr__(cls, mark, True)
    return cls


_STANDS = (_Marking, Name, Typing)
_standing: dict[str, dict[str, Any]] = {}
"""By the name of a module, what stood for others while it was run."""


class ClassesLoader(SourceFileLoader):
    """Loads a generated module with classes that wait."""

    def exec_module(self, module: ModuleType) -> None:
        """Runs the module with an `import` and a `class` statement of its own."""
        names = vars(module)
        found = Names(names, _lock)
        bodies = Bodies(self.path, lambda: self._whole(module.__name__))
        hooks = {"__build_class__": _build(names, bodies), "__import__": _import(found)}
        names["__builtins__"] = found
        found.update(hooks)
        try:
            exec(bodies.code(), names)  # noqa: S102 the provider SDK's own code, as its import would run it
        finally:
            found.update({name: getattr(builtins, name) for name in hooks})
            found.settle()
            stands = {name: value for name, value in names.items() if type(value) in _STANDS}
            names |= {name: real(value) for name, value in stands.items()}
            names["pulumi"] = pulumi
            _standing[module.__name__] = stands
        if not found.all_there:
            module.__class__ = Lazy

    def _whole(self, name: str) -> CodeType:
        code = self.get_code(name)
        if code is None:
            raise ImportError(f"{self.path} has no code", name=name, path=self.path)
        return code


def _import(names: Names) -> Callable[..., Any]:
    """`__import__` for one module."""
    stands = {pulumi: _Marking(), typing: Typing()}

    def found(name: str, globals_: Any = None, locals_: Any = None, wanted: Any = (), level: int = 0) -> Any:
        module = builtins.__import__(name, globals_, locals_, wanted, level)
        if wanted == ("*",) and type(module) is Lazy:
            names.behind.append(module)
            return all_there(module)
        return stands.get(module, module)

    return found


def _build(names: dict[str, Any], bodies: Bodies) -> Callable[..., Any]:
    """`__build_class__` for a module with these names."""

    def built(body: FunctionType, name: str, *bases: Any, **options: Any) -> Any:
        code = body.__code__
        known = {"__module__": names["__name__"], "__qualname__": name}
        if options or code.co_freevars or code.co_cellvars not in ((), ("__class__",)) or bases not in _BASES:
            whole = bodies.of(code, name)
            return _BUILD(body if whole is code else FunctionType(whole, names), name, *bases, **options)
        kind: Any = _WaitingDict if bases == (typing.TypedDict,) else _Waiting
        made: type = type.__new__(kind, name, (dict,) if bases else (), known)
        _bodies[made] = bodies, code, names
        return made

    def later(body: FunctionType, name: str, *bases: Any, **options: Any) -> Any:
        return Unborn(lambda: built(body, name, *bases, **options))

    return later if names["__name__"].rpartition(".")[2] in _OF_MANY else built
