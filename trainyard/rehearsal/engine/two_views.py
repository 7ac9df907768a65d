"""One run of a program for both recordings: what is known when all exists, and what a first preview would know.

The program runs with everything known. An output of which a preview would know something else holds both (`Twofold`),
and `apply`, `all` and registrations work on both, each as the run of its own would. A function that a preview would not
call, or would call with something else, is called with what each view knows, where it is known to do nothing but to
return a value: those of Trainyard and of the SDKs.

Everything else makes the preview run for itself, as it would without this (`Views.doubt`): a program that asks whether
this is a preview, a function of its own that a preview would not call in the same way, a resource made or a warning
logged by what only one of both runs would do, an output that is read by other code than `light_outputs` and
`light_registration`, an error, what goes over the wire. So a wrong program costs a second run, never a wrong recording.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import pulumi
from pulumi.output import _OutputData

Data = _OutputData[Any]

PLAIN = frozenset((str, bool, int, float, type(None)))
"""Types of values that hold no other value."""

_side: ContextVar[str] = ContextVar("trainyard_rehearsed_side", default="")
"""`known` or `preview` while code runs that only the run of this view would reach, and in all that follows from it."""


def current_side() -> str:
    """`known` or `preview` where only the run of that view would come; empty where both do."""
    return _side.get()


class Views:
    """Whether the preview can be told from the run with everything known."""

    __slots__ = ("reason", "spoiled", "tried")

    def __init__(self) -> None:
        self.reason = ""  # why the preview has to run for itself; empty: it has not
        self.spoiled = False  # whether the recording of what is known may hold what only a preview does
        self.tried = False  # whether a function was called for a preview alone: what it returned may fail later

    def doubt(self, reason: str) -> None:
        """The preview has to run for itself; the first reason is kept."""
        self.reason = self.reason or reason

    def happens(self, what: str) -> None:
        """Something that is recorded: a preview would not show it, or it alone, where one side only gets there."""
        side = _side.get()
        if side:
            self.doubt(f"{what} in one view only")
            self.spoiled = self.spoiled or side == "preview"

    @contextmanager
    def only(self, side: str) -> Iterator[None]:
        """What runs within the block, and what it starts, is reached in the run of one view only."""
        token = _side.set(_side.get() or side)
        try:
            yield
        finally:
            _side.reset(token)


class DryRun:
    """Stands for `Settings.dry_run`: whoever asks gets the answer of a run with everything known, and is noted."""

    __slots__ = ("_views",)

    def __init__(self, views: Views) -> None:
        self._views = views

    def __bool__(self) -> bool:
        """False, as in every run that is no preview."""
        self._views.doubt("the program asks whether this is a preview")
        return False

    def __eq__(self, other: object) -> bool:
        """Compares as False does."""
        return bool(self) == other

    def __hash__(self) -> int:
        """Hashes as False does."""
        return hash(bool(self))

    def __repr__(self) -> str:
        """Reads as False does."""
        return repr(bool(self))


class Twofold(_OutputData[Any]):
    """The data of an output of which a preview knows something else.

    It reads as `known` does; reading it so, as code does that knows of one view only, is a doubt.
    """

    views: Views
    known: Data
    preview: Data

    def _read(self) -> Data:
        self.views.doubt("an output is read past both views")
        return self.known

    @property
    def resources(self) -> set[pulumi.Resource]:  # type: ignore[override]
        """The resources that it comes from, in a run with everything known."""
        return self._read().resources

    @property
    def value(self) -> Any:
        """The value in a run with everything known."""
        return self._read().value

    @property
    def is_known(self) -> bool:  # type: ignore[override]
        """Whether the value is known in a run with everything known."""
        return self._read().is_known

    @property
    def is_secret(self) -> bool:  # type: ignore[override]
        """Whether the value is secret in a run with everything known."""
        return self._read().is_secret


def twofold(views: Views, known: Data, preview: Data) -> Twofold:
    """The data of an output in both views."""
    data: Twofold = object.__new__(Twofold)
    data.__dict__.update(views=views, known=known, preview=preview)
    return data


def views_of(*datas: Data) -> Views | None:
    """The views of those data that have two; None where all have one."""
    for data in datas:
        if type(data) is Twofold:
            return data.views
    return None


def known_of(data: Data) -> Data:
    """The data as a run with everything known has it."""
    return data.known if type(data) is Twofold else data


def preview_of(data: Data) -> Data:
    """The data as a preview has it."""
    return data.preview if type(data) is Twofold else data


def in_both(make: Callable[[list[Data]], Data], parts: list[Data]) -> Data:
    """What is made of some data, in each view where they have two."""
    views = views_of(*parts)
    if views is None:
        return make(parts)
    try:
        known = make([known_of(part) for part in parts])
    except BaseException:
        views.doubt("what is made of an output fails")
        raise
    try:
        preview = make([preview_of(part) for part in parts])
    except Exception:
        views.doubt("what is made of an output fails at a preview")
        preview = known
    return twofold(views, known, preview)


def same(one: Any, other: Any) -> bool:
    """Whether a function cannot tell two values from each other; values of other kinds only if they are the same."""
    if one is other:
        return True
    kind = type(one)
    if kind is not type(other):
        return False
    if kind in PLAIN:
        return bool(one == other)
    if isinstance(one, dict):
        return (
            len(one) == len(other)
            and all(a == b and same(one[a], other[b]) for a, b in zip(one.keys(), other.keys(), strict=True))
            and (kind is dict or pulumi._types.is_output_type(kind))
        )
    if kind is list or kind is tuple:
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    return False


_TRUSTED = ("trainyard", "pulumi", "pulumi_aws", "pulumi_gcp", "pulumi_kubernetes", "json", "base64")
_TRUSTED_BUILT_IN = frozenset((str, int, float, bool, list, tuple, dict, len, sorted))


def returns_only(function: Any) -> bool:
    """Whether a function is known to do nothing but to return a value: it may be called once more, or once less.

    Those of Trainyard and of the SDKs change nothing of what they are given, which both views may share.
    """
    while type(function) is functools.partial:
        given = (*function.args, *function.keywords.values())
        if not all(returns_only(value) for value in given if callable(value)):
            return False
        function = function.func
    if function is pulumi.export:
        return False
    if type(function) is types.FunctionType:
        return str(function.__globals__.get("__name__", "")).split(".", 1)[0] in _TRUSTED
    if type(function) is types.BuiltinFunctionType:
        owner = function.__self__  # of a bound method: `"".join`
        return type(owner) is str or function in _TRUSTED_BUILT_IN
    return type(function) is type and function in _TRUSTED_BUILT_IN
