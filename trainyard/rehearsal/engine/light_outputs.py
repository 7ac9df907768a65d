"""The SDK's outputs without a task for each: `apply`, `all` and `from_input` of pulumi 3.272, with a callback instead.

Whoever gets an output sees what the SDK's own would show: value, whether it is known or secret, which resources it is
of, and the exception of a callback that fails. A program's own function is never called before its `apply` has
returned, as with the SDK; what needs no function of the program's is worked out at once where everything is there.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Mapping, Sequence
from inspect import isawaitable
from typing import Any

import pulumi
from pulumi.output import UNKNOWN, Unknown, _OutputData
from pulumi.runtime.settings import SETTINGS

Data = _OutputData[Any]
_output_of = pulumi.Output.from_input

PLAIN = frozenset((str, bool, int, float, type(None)))
"""Types of values that hold no other value."""


def has_unknowns(value: Any) -> bool:
    """`contains_unknowns` without the function that it makes for every value, which only a garbage collection ends."""
    if type(value) in PLAIN:
        return False
    left = [value]
    seen: set[int] = set()
    while left:
        item = left.pop()
        if isinstance(item, Unknown):
            return True
        if isinstance(item, (dict, list)) and id(item) not in seen:
            seen.add(id(item))
            left.extend([item[key] for key in item] if isinstance(item, dict) else item)
    return False


def track(output: pulumi.Output[Any]) -> None:
    """`Output._track` without its lock, which one thread does not need, and with one look at the settings, not four."""
    pending = SETTINGS.outputs
    pending.add(output._data)
    output._data.add_done_callback(functools.partial(_forget, pending))


def _forget(pending: set[asyncio.Future[Any]], done: asyncio.Future[Any]) -> None:
    if not done.cancelled() and done.exception() is None:  # the SDK looks for the others at the end
        pending.discard(done)


def data_of(resources: set[pulumi.Resource], value: Any, known: bool, secret: bool) -> Data:
    """The data of an output of which it is known already whether it holds an unknown value."""
    data: Data = object.__new__(_OutputData)
    data.resources, data.value, data.is_known, data.is_secret = resources, value, known, secret
    return data


def _pending() -> pulumi.Output[Any]:
    output: pulumi.Output[Any] = object.__new__(pulumi.Output)
    output._data = asyncio.Future()
    return output


class Answers:
    """What the engine answers of one resource, for those of its outputs that somebody asks for: few are."""

    __slots__ = ("_failed", "_found", "_preview", "_resource", "_waiting")

    def __init__(self, resource: pulumi.Resource) -> None:
        self._resource = resource
        self._found: Mapping[str, tuple[Any, bool]] | None = None  # value, and whether it is secret
        self._failed: BaseException | None = None
        self._preview = False
        self._waiting: dict[str, asyncio.Future[Data]] = {}

    def output(self, name: str) -> pulumi.Output[Any]:
        """The output of this name, whose future is made when it is asked for."""
        output: _Promised = object.__new__(_Promised)
        output._answers, output._name, output._promised = self, name, None
        return output

    def come(self, found: Mapping[str, tuple[Any, bool]], *, preview: bool) -> None:
        """The answer: each value by name, and whether it is secret. What is missing is unknown at a preview."""
        self._found, self._preview = found, preview
        self._settle()

    def fail(self, error: BaseException) -> None:
        """There is no answer, for this reason."""
        self._failed = error
        self._settle()

    def _settle(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for name, future in waiting.items():
            self._tell(name, future)

    def future(self, name: str) -> asyncio.Future[Data]:
        """A future of one output."""
        future: asyncio.Future[Data] = asyncio.Future()
        if self._found is None and self._failed is None:
            self._waiting[name] = future
        else:
            self._tell(name, future)
        return future

    def _tell(self, name: str, future: asyncio.Future[Data]) -> None:
        if future.done():
            return
        if self._failed is not None:
            future.set_exception(self._failed)
            return
        value, secret = (self._found or {}).get(name, (None, False))
        known = value is not None or not self._preview
        future.set_result(_OutputData({self._resource}, value, known, secret))


class _Promised(pulumi.Output[Any]):
    """An output of a resource. Nine in ten are never read."""

    __slots__ = ("_answers", "_name", "_promised")  # a dict each is a third of what a stack leaves to be collected
    _answers: Answers
    _name: str
    _promised: asyncio.Future[Data] | None

    @property
    def _data(self) -> asyncio.Future[Data]:  # type: ignore[override]
        if self._promised is None:
            self._promised = self._answers.future(self._name)
        return self._promised


def _done(data: Data) -> pulumi.Output[Any]:
    output = _pending()
    output._data.set_result(data)
    return output


def _fail(into: asyncio.Future[Any], error: BaseException) -> None:
    """As a task ends with an exception."""
    if into.done():
        return
    if isinstance(error, asyncio.CancelledError):
        into.cancel()
        return
    if isinstance(error, StopIteration):
        stopped = RuntimeError("coroutine raised StopIteration")
        stopped.__cause__ = error
        error = stopped
    into.set_exception(error)
    if isinstance(error, (KeyboardInterrupt, SystemExit)):
        raise error


def apply(self: pulumi.Output[Any], func: Callable[[Any], Any], run_with_unknowns: bool = False) -> pulumi.Output[Any]:
    """`Output.apply`: `func` is called in a turn of the loop after this one, when the value is there."""
    SETTINGS.outputs.discard(self._data)  # `_untrack`: the derived output carries its faults
    output = _pending()
    track(output)
    self._data.add_done_callback(functools.partial(_applied, output._data, func, run_with_unknowns))
    return output


def _applied(
    into: asyncio.Future[Data], func: Callable[[Any], Any], run_with_unknowns: bool, source: asyncio.Future[Data]
) -> None:
    try:
        data = source.result()
        value = data.value
        if not data.is_known:
            if not run_with_unknowns:
                into.set_result(data_of(data.resources, None, False, data.is_secret))
                return
            if not has_unknowns(value):
                value = UNKNOWN
        found = func(value)
        if type(found) not in PLAIN:
            if isinstance(found, pulumi.Output):
                _join(into, data, found._data)
                return
            if isawaitable(found):
                running = asyncio.ensure_future(_awaited(found, data))
                running.add_done_callback(functools.partial(_passed_on, into))
                return
        into.set_result(_OutputData(data.resources, found, True, data.is_secret))
    except BaseException as error:
        _fail(into, error)


async def _awaited(found: Any, data: Data) -> Data:
    return _OutputData(data.resources, await found, True, data.is_secret)


def _passed_on(into: asyncio.Future[Data], source: asyncio.Future[Data]) -> None:
    try:
        into.set_result(source.result())
    except BaseException as error:
        _fail(into, error)


def _join(into: asyncio.Future[Data], outer: Data, inner: asyncio.Future[Data]) -> None:
    if inner.done():
        _joined(into, outer, inner)
    else:
        inner.add_done_callback(functools.partial(_joined, into, outer))


def _joined(into: asyncio.Future[Data], outer: Data, inner: asyncio.Future[Data]) -> None:
    try:
        data = inner.result()
        into.set_result(
            data_of(outer.resources | data.resources, data.value, data.is_known, data.is_secret or outer.is_secret)
        )
    except BaseException as error:
        _fail(into, error)


def all_of(*args: Any, **kwargs: Any) -> pulumi.Output[Any]:
    """Stands in for `Output.all`: an output of several values, in a list, or in a mapping by their names."""
    if args and kwargs:
        raise ValueError("Output.all() was supplied a mix of named and unnamed inputs")
    parts = [from_input(value)._data for value in (kwargs.values() if kwargs else args)]
    output = _pending()
    gathering = _Gathering(output._data, parts, list(kwargs) if kwargs else None)
    left = [part for part in parts if not part.done()]
    if left:
        track(output)
        gathering.left = len(left)
        for part in left:
            part.add_done_callback(gathering.one_more)
    else:
        gathering.gather()
        if output._data.cancelled() or output._data.exception() is not None:
            track(output)
    return output


class _Gathering:
    """What waits for the parts of one `Output.all`."""

    __slots__ = ("into", "keys", "left", "parts")

    def __init__(self, into: asyncio.Future[Data], parts: list[asyncio.Future[Data]], keys: list[str] | None) -> None:
        self.into, self.parts, self.keys, self.left = into, parts, keys, 0

    def one_more(self, part: asyncio.Future[Data]) -> None:
        self.left -= 1
        if part.cancelled() or part.exception() is not None:
            _passed_on(self.into, part) if not self.into.done() else None
        elif not self.left and not self.into.done():
            self.gather()

    def gather(self) -> None:
        try:
            found = [part.result() for part in self.parts]
            resources: set[pulumi.Resource] = set()
            for data in found:
                resources |= data.resources
            values = [data.value for data in found]
            self.into.set_result(
                data_of(
                    resources,
                    values if self.keys is None else dict(zip(self.keys, values, strict=True)),
                    all(data.is_known for data in found),
                    any(data.is_secret for data in found),
                )
            )
        except BaseException as error:
            _fail(self.into, error)


class UnusualError(Exception):
    """A value of a kind that is left to the SDK."""


def _copied(value: Any, unknowns: list[Unknown], *, written: bool) -> Any:
    """What `from_input` makes of a value without outputs; unknowns are noted. `UnusualError` for other kinds.

    What lies in a dict that is `written` in the program is read by the SDK a turn later, when the program may have
    added to it; a value that an output has brought is nobody's to change.
    """
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is dict:
        for key in value:
            if type(key) is not str:
                raise UnusualError
        if written and any(type(item) in (dict, list) and item for item in value.values()):
            raise UnusualError
        return {key: _copied(item, unknowns, written=written) for key, item in value.items()} if value else value
    if kind is list:
        return [_copied(item, unknowns, written=written) for item in value] if value else value
    if kind is Unknown:
        unknowns.append(value)
        return value
    raise UnusualError


def from_input(value: Any) -> pulumi.Output[Any]:
    """`Output.from_input`, which starts tasks to tell a value that holds no output."""
    if type(value) in PLAIN:
        return _done(data_of(set(), value, True, False))
    unknowns: list[Unknown] = []
    if isinstance(value, pulumi.Output):
        source = value._data
        if source.done() and not source.cancelled() and source.exception() is None:
            data = source.result()
            given = data.value
            if not data.is_known and not has_unknowns(given):
                given = UNKNOWN
            try:
                copied = _copied(given, unknowns, written=False)
            except (UnusualError, RecursionError):
                return apply(value, from_input, True)
            return _done(data_of(data.resources, copied, not unknowns, data.is_secret))
        return apply(value, from_input, True)
    try:
        copied = _copied(value, unknowns, written=True)
    except (UnusualError, RecursionError):
        return _output_of(value)
    return _done(data_of(set(), copied, not unknowns, False))


REPLACED: Sequence[tuple[Any, str, Any]] = (
    (pulumi.Output, "_track", track),
    (pulumi.Output, "apply", apply),
    (pulumi.Output, "all", staticmethod(all_of)),
    (pulumi.Output, "from_input", staticmethod(from_input)),
)
"""What stands for what: owner, name, replacement."""
