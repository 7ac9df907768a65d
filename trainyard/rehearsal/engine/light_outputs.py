"""The SDK's outputs without a task for each: `apply`, `all` and `from_input` of pulumi 3.272, with a callback instead.

Whoever gets an output sees what the SDK's own would show: value, whether it is known or secret, which resources it is
of, and the exception of a callback that fails. A program's own function is never called before its `apply` has
returned, as with the SDK; what needs no function of the program's is worked out at once where everything is there.
"""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Callable, Mapping, Sequence
from inspect import isawaitable
from typing import Any

import pulumi
from pulumi import output as sdk_output
from pulumi.output import UNKNOWN, Unknown, _OutputData
from pulumi.runtime.settings import SETTINGS

from trainyard.rehearsal.engine.two_views import (
    PLAIN,
    Data,
    Twofold,
    Views,
    current_side,
    in_both,
    known_of,
    preview_of,
    returns_only,
    same,
    twofold,
)

_output_of = pulumi.Output.from_input
_json_of = pulumi.Output.json_dumps


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
    """`Output._track` without its lock, which one thread does not need, and without a callback that takes each off
    again: `forget_done` takes all off at the end."""
    SETTINGS.outputs.add(output._data)


def forget_done() -> None:
    """Takes those off that are there. The SDK looks for the others: it raises what one of them failed with."""
    SETTINGS.outputs.difference_update(
        [found for found in SETTINGS.outputs if found.done() and not found.cancelled() and found.exception() is None]
    )


async def is_done(future: asyncio.Future[Any]) -> None:
    """Waits until a future is done, whatever comes of it, as `asyncio.wait` does for one of many."""
    if not future.done():
        waiter = asyncio.get_running_loop().create_future()
        future.add_done_callback(functools.partial(_wake, waiter))
        await waiter


def _wake(waiter: asyncio.Future[None], _: object) -> None:
    if not waiter.done():
        waiter.set_result(None)


def data_of(resources: set[pulumi.Resource], value: Any, known: bool, secret: bool) -> Data:
    """The data of an output of which it is known already whether it holds an unknown value."""
    data: Data = object.__new__(_OutputData)
    data.resources, data.value, data.is_known, data.is_secret = resources, value, known, secret
    return data


def pending() -> pulumi.Output[Any]:
    """An output whose data is to come."""
    output: pulumi.Output[Any] = object.__new__(pulumi.Output)
    output._data = asyncio.Future()
    return output


Value = tuple[Any, bool]
"""A value, and whether it is secret."""

Found = Value | Callable[[], Value]
"""A value, or what reads it when it is asked for."""


class Answers:
    """What the engine answers of one resource, for those of its outputs that somebody asks for: few are."""

    __slots__ = ("_at_preview", "_failed", "_found", "_found_then", "_preview", "_resource", "_views", "_waiting")

    def __init__(self, resource: pulumi.Resource) -> None:
        self._resource = resource
        self._found: Mapping[str, Found] | None = None
        self._failed: BaseException | None = None
        self._preview = False
        self._views: Views | None = None
        self._at_preview: Callable[[], Mapping[str, Found]] | None = None
        self._found_then: Mapping[str, Found] | None = None  # what `at_preview` gave
        self._waiting: dict[str, asyncio.Future[Data]] = {}

    def output(self, name: str) -> pulumi.Output[Any]:
        """The output of this name, whose future is made when it is asked for."""
        output: _Promised = object.__new__(_Promised)
        output._answers, output._name, output._promised = self, name, None
        return output

    def come(
        self,
        found: Mapping[str, Found],
        *,
        preview: bool,
        views: Views | None = None,
        at_preview: Callable[[], Mapping[str, Found]] | None = None,
    ) -> None:
        """The answer: each value by name. What is missing is unknown at a preview.

        `at_preview` gives the answer of a preview, where a run is for both views.
        """
        self._found, self._preview, self._views, self._at_preview = found, preview, views, at_preview
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
        value, secret = _read(self._found or {}, name)
        known = value is not None or not self._preview
        data = _OutputData({self._resource}, value, known, secret)
        future.set_result(data if self._at_preview is None else self._both(name, data))

    def _both(self, name: str, known: Data) -> Data:
        """The data of an output with what a preview knows of it, where that is something else."""
        assert self._views is not None and self._at_preview is not None
        try:
            if self._found_then is None:
                self._found_then = self._at_preview()
            value, secret = _read(self._found_then, name)
        except Exception:
            self._views.doubt("the answer of a preview is of a wrong kind")
            return known
        preview = _OutputData({self._resource}, value, value is not None, secret)
        if preview.is_known and known.is_known and secret == known.is_secret and same(value, known.value):
            return known
        return twofold(self._views, known, preview)


def _read(found: Mapping[str, Found], name: str) -> Value:
    value = found.get(name, (None, False))
    return value() if callable(value) else value


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
    output = pending()
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
    output = pending()
    track(output)
    self._data.add_done_callback(functools.partial(_applied, output._data, func, run_with_unknowns))
    return output


def _applied(
    into: asyncio.Future[Data], func: Callable[[Any], Any], run_with_unknowns: bool, source: asyncio.Future[Data]
) -> None:
    try:
        data = source.result()
        if type(data) is Twofold:
            _applied_to_both(into, func, run_with_unknowns, data)
            return
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
                _wait_for(into, found, data)
                return
        into.set_result(_OutputData(data.resources, found, True, data.is_secret))
    except BaseException as error:
        _fail(into, error)


def _applied_to_both(
    into: asyncio.Future[Data], func: Callable[[Any], Any], run_with_unknowns: bool, data: Twofold
) -> None:
    """`func` for both views: once where it cannot tell them apart, else for each that would call it."""
    views, known, preview = data.views, data.known, data.preview
    if preview.is_known and known.is_known and same(known.value, preview.value):
        found = func(known.value)
        if isinstance(found, pulumi.Output):
            _join(into, data, found._data)
        elif type(found) not in PLAIN and isawaitable(found):
            views.doubt("a function of an output has to be waited for")
            _wait_for(into, found, known)
        else:
            into.set_result(
                twofold(
                    views,
                    _OutputData(known.resources, found, True, known.is_secret),
                    _OutputData(preview.resources, found, True, preview.is_secret),
                )
            )
        return
    side = current_side()
    if not side and not returns_only(func):
        views.doubt("a function of the program would not be called alike at a preview")
    try:
        with views.only("known"):
            sides = [_called(func, run_with_unknowns, known) if side != "preview" else (preview, None, False)]
    except BaseException:
        views.doubt("a function of an output fails that a preview would not call alike")
        raise
    if type(sides[0][1]) not in PLAIN and not isinstance(sides[0][1], pulumi.Output) and isawaitable(sides[0][1]):
        views.doubt("a function of an output has to be waited for")
        _wait_for(into, sides[0][1], known)
        return
    try:
        with views.only("preview"):
            # Where the preview runs for itself anyway, nothing is called that this run would not call.
            is_asked = side != "known" and not views.reason
            views.tried = views.tried or is_asked
            sides.append(_called(func, run_with_unknowns, preview) if is_asked else (known, None, False))
    except Exception:
        views.doubt("a function of an output fails at a preview")
        sides.append((known, None, False))
    futures = [found._data for _, found, _ in sides if isinstance(found, pulumi.Output)]
    gathering = _Gathering(into, futures, functools.partial(_met, views, sides))
    gathering.start()


def _called(func: Callable[[Any], Any], run_with_unknowns: bool, data: Data) -> tuple[Data, Any, bool]:
    """The data that a function is called with, what it returns, and whether it is called at all."""
    value = data.value
    if not data.is_known:
        if not run_with_unknowns:
            return data, None, False
        if not has_unknowns(value):
            value = UNKNOWN
    return data, func(value), True


def _met(views: Views, sides: list[tuple[Data, Any, bool]], inner: list[Data]) -> Data:
    """What the calls for both views make: `inner` are the data of the outputs that they returned."""
    left = list(inner)
    found: list[Data] = []
    for index, (data, value, is_called) in enumerate(sides):
        if isinstance(value, pulumi.Output):
            of_side = (known_of, preview_of)[index](left.pop(0))
            found.append(_together_with(data, of_side))
        else:
            found.append(_OutputData(data.resources, value, is_called, data.is_secret))
    return twofold(views, *found)


def _together_with(outer: Data, inner: Data) -> Data:
    return data_of(outer.resources | inner.resources, inner.value, inner.is_known, inner.is_secret or outer.is_secret)


def _wait_for(into: asyncio.Future[Data], found: Any, data: Data) -> None:
    running = asyncio.ensure_future(_awaited(found, data))
    running.add_done_callback(functools.partial(pass_on, into))


async def _awaited(found: Any, data: Data) -> Data:
    return _OutputData(data.resources, await found, True, data.is_secret)


def pass_on(into: asyncio.Future[Data], source: asyncio.Future[Data]) -> None:
    """Ends one future as another has ended."""
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
        into.set_result(in_both(_one_with_the_other, [outer, inner.result()]))
    except BaseException as error:
        _fail(into, error)


def _one_with_the_other(parts: list[Data]) -> Data:
    return _together_with(*parts)


def all_of(*args: Any, **kwargs: Any) -> pulumi.Output[Any]:
    """Stands in for `Output.all`: an output of several values, in a list, or in a mapping by their names."""
    if args and kwargs:
        raise ValueError("Output.all() was supplied a mix of named and unnamed inputs")
    parts = [from_input(value)._data for value in (kwargs.values() if kwargs else args)]
    return _gathered(parts, functools.partial(in_both, functools.partial(_all, list(kwargs) if kwargs else None)))


def _gathered(parts: list[asyncio.Future[Data]], make: Callable[[list[Data]], Data]) -> pulumi.Output[Any]:
    """An output of what `make` makes of the data of several, at once where all are there."""
    output = pending()
    gathering = _Gathering(output._data, parts, make)
    gathering.start()
    if not output._data.done() or output._data.cancelled() or output._data.exception() is not None:
        track(output)
    return output


def _all(keys: list[str] | None, found: list[Data]) -> Data:
    resources: set[pulumi.Resource] = set()
    for data in found:
        resources |= data.resources
    values = [data.value for data in found]
    return data_of(
        resources,
        values if keys is None else dict(zip(keys, values, strict=True)),
        all(data.is_known for data in found),
        any(data.is_secret for data in found),
    )


class _Gathering:
    """What waits for the parts of one output."""

    __slots__ = ("into", "left", "make", "parts")

    def __init__(
        self, into: asyncio.Future[Data], parts: list[asyncio.Future[Data]], make: Callable[[list[Data]], Data]
    ) -> None:
        self.into, self.parts, self.make, self.left = into, parts, make, 0

    def start(self) -> None:
        left = [part for part in self.parts if not part.done()]
        self.left = len(left)
        for part in left:
            part.add_done_callback(self.one_more)
        if not left:
            self.gather()

    def one_more(self, part: asyncio.Future[Data]) -> None:
        self.left -= 1
        if part.cancelled() or part.exception() is not None:
            pass_on(self.into, part) if not self.into.done() else None
        elif not self.left and not self.into.done():
            self.gather()

    def gather(self) -> None:
        try:
            self.into.set_result(self.make([part.result() for part in self.parts]))
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
    if isinstance(value, pulumi.Output):
        source = value._data
        if source.done() and not source.cancelled() and source.exception() is None:
            data = source.result()
            try:
                if type(data) is Twofold:
                    return _done(twofold(data.views, _unwrapped(data.known), _unwrapped(data.preview)))
                return _done(_unwrapped(data))
            except (UnusualError, RecursionError):
                return apply(value, from_input, True)
        return apply(value, from_input, True)
    unknowns: list[Unknown] = []
    try:
        copied = _copied(value, unknowns, written=True)
    except (UnusualError, RecursionError):
        return _read_later(value) if type(value) is dict or type(value) is list else _output_of(value)
    return _done(data_of(set(), copied, not unknowns, False))


def _read_later(value: Any) -> pulumi.Output[Any]:
    """`from_input` of a dict or a list, whose inner dicts are read in a turn of the loop after this one.

    The SDK makes an output for each container in it, and a function that is called for each; here is one for all.
    """
    output = pending()
    track(output)
    asyncio.get_running_loop().call_soon(_read_now, output._data, _as_it_is(value))
    return output


def _as_it_is(value: Any) -> Any:
    """A copy of what the SDK reads at once: lists, and the values of the outermost dicts."""
    if type(value) is list:
        return [_as_it_is(item) for item in value]
    return dict(value) if type(value) is dict else value


class _Part(int):
    """The place of a value that an output will bring."""


def _read_now(into: asyncio.Future[Data], value: Any) -> None:
    parts: list[asyncio.Future[Data]] = []
    unknowns: list[Unknown] = []
    try:
        frame = _framed(value, parts, unknowns)
    except RecursionError:
        _output_of(value)._data.add_done_callback(functools.partial(pass_on, into))
        return
    except BaseException as error:
        _fail(into, error)
        return
    if parts:
        make = functools.partial(_filled, frame, not unknowns)
        _Gathering(into, parts, functools.partial(in_both, make)).start()
    else:
        into.set_result(data_of(set(), frame, not unknowns, False))


def _framed(value: Any, parts: list[asyncio.Future[Data]], unknowns: list[Unknown]) -> Any:
    """The value with a `_Part` for each output in it, and for what is left to the SDK."""
    kind = type(value)
    if kind in PLAIN or ((kind is list or kind is dict) and not value):
        return value
    if kind is list:
        return [_framed(item, parts, unknowns) for item in value]
    if kind is dict and all(type(key) is str for key in value):
        return {key: _framed(item, parts, unknowns) for key, item in value.items()}
    if kind is Unknown:
        unknowns.append(value)
        return value
    parts.append((from_input if isinstance(value, pulumi.Output) else _output_of)(value)._data)
    return _Part(len(parts) - 1)


def _filled(frame: Any, known: bool, found: list[Data]) -> Data:
    resources: set[pulumi.Resource] = set()
    for data in found:
        resources |= data.resources
    known = known and all(data.is_known for data in found)
    return data_of(resources, _put_in(frame, found), known, any(data.is_secret for data in found))


def _put_in(frame: Any, found: list[Data]) -> Any:
    kind = type(frame)
    if kind in PLAIN:
        return frame
    if kind is _Part:
        return found[frame].value
    if kind is dict:
        return {key: _put_in(item, found) for key, item in frame.items()}
    return [_put_in(item, found) for item in frame] if kind is list else frame


def _unwrapped(data: Data) -> Data:
    """What `from_input` makes of the data of an output, of a value without outputs."""
    given = data.value
    if not data.is_known and not has_unknowns(given):
        given = UNKNOWN
    unknowns: list[Unknown] = []
    copied = _copied(given, unknowns, written=False)
    return data_of(data.resources, copied, not unknowns, data.is_secret)


def _derived(source: pulumi.Output[Any], make: Callable[[list[Data]], Data]) -> pulumi.Output[Any]:
    """An output of what `make` makes of the data of another, in a turn of the loop after this one."""
    output = pending()
    track(output)
    source._data.add_done_callback(functools.partial(_passed_through, output._data, make))
    return output


def _passed_through(
    into: asyncio.Future[Data], make: Callable[[list[Data]], Data], source: asyncio.Future[Data]
) -> None:
    try:
        into.set_result(in_both(make, [source.result()]))
    except BaseException as error:
        _fail(into, error)


def secret(val: Any) -> pulumi.Output[Any]:
    """Stands in for `Output.secret`."""
    return _derived(pulumi.Output.from_input(val), functools.partial(_marked, True))


def unsecret(val: pulumi.Output[Any]) -> pulumi.Output[Any]:
    """Stands in for `Output.unsecret`."""
    return _derived(val, functools.partial(_marked, False))


def _marked(is_secret: bool, parts: list[Data]) -> Data:
    [data] = parts
    return data_of(data.resources, data.value, data.is_known, is_secret)


def json_dumps(obj: Any, **options: Any) -> pulumi.Output[str]:
    """Stands in for `Output.json_dumps`, and leaves to it what takes a program's own encoder."""
    if not options.keys() <= _JSON_OPTIONS:
        return _json_of(obj, **options)
    return _derived(pulumi.Output.from_input(obj), functools.partial(_json, options))


_JSON_OPTIONS = {"skipkeys", "ensure_ascii", "check_circular", "allow_nan", "indent", "separators", "sort_keys"}


def _json(options: Mapping[str, Any], parts: list[Data]) -> Data:
    [data] = parts
    if not data.is_known:
        return data_of(data.resources, None, False, data.is_secret)
    return data_of(set(data.resources), json.dumps(data.value, **options), True, data.is_secret)


def _map2(one: pulumi.Output[Any], two: pulumi.Output[Any], transform: Callable[..., Any]) -> pulumi.Output[Any]:
    """`_map2_output`, of which `Output.format` is made."""
    return _gathered([one._data, two._data], functools.partial(in_both, functools.partial(_transformed, transform)))


def _map3(
    one: pulumi.Output[Any], two: pulumi.Output[Any], three: pulumi.Output[Any], transform: Callable[..., Any]
) -> pulumi.Output[Any]:
    return _gathered(
        [one._data, two._data, three._data], functools.partial(in_both, functools.partial(_transformed, transform))
    )


def _transformed(transform: Callable[..., Any], found: list[Data]) -> Data:
    values = [None if has_unknowns(data.value) else data.value for data in found]
    resources: set[pulumi.Resource] = set()
    for data in found:
        resources |= data.resources
    return _OutputData(
        resources,
        UNKNOWN if any(value is None for value in values) else transform(*values),
        all(data.is_known for data in found),
        any(data.is_secret for data in found),
    )


REPLACED: Sequence[tuple[Any, str, Any]] = (
    (pulumi.Output, "_track", track),
    (pulumi.Output, "apply", apply),
    (pulumi.Output, "all", staticmethod(all_of)),
    (pulumi.Output, "from_input", staticmethod(from_input)),
    (pulumi.Output, "secret", staticmethod(secret)),
    (pulumi.Output, "unsecret", staticmethod(unsecret)),
    (pulumi.Output, "json_dumps", staticmethod(json_dumps)),
    (sdk_output, "_map2_output", _map2),
    (sdk_output, "_map3_output", _map3),
)
"""What stands for what: owner, name, replacement."""
