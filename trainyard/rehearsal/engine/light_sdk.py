"""What the SDK does for every resource that costs time and says nothing to a recording, done with less.

Each replacement gives what the function that it stands for gives; `test_light_sdk.py` records programs
with and without them. Only the order in which resources that do not wait for each other are registered may differ, as
it does under the engine. They are of pulumi 3.272, which pyproject.toml pins: a new version means to read those
functions again.

Measured on clients of 534 resources, each run in turns with the replacements of before (2026-11): with registrations
in plain values and without a task for each output (`light_registration`, `light_outputs`) the two runs of a program
take 0.43 of the CPU time that they took. Since then one run tells both views (`two_views`), which halves that again.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, get_origin

import pulumi
from pulumi import _types as sdk_types
from pulumi import log
from pulumi.output import UNKNOWN, _OutputData
from pulumi.runtime import resource as sdk_resource
from pulumi.runtime import resource_cycle_breaker as cycles
from pulumi.runtime import rpc, settings
from pulumi.runtime import stack as sdk_stack
from pulumi.runtime.proto import source_pb2

from trainyard.rehearsal.engine import light_invokes, light_outputs, light_registration, sdk_annotations
from trainyard.rehearsal.engine.contents import OpenMap, opened
from trainyard.rehearsal.engine.light_registration import WAITED_FOR
from trainyard.rehearsal.engine.two_views import PLAIN

_create_urn = sdk_resource.create_urn
_declare_dependency = cycles.declare_dependency
_serialize_property = rpc.serialize_property
_deserialize_property = rpc.deserialize_property
_translate_output_properties = rpc.translate_output_properties
_deserialize_answer = rpc.deserialize_properties_unwrap_secrets


def _transfer(resource: pulumi.Resource, properties: Mapping[str, Any], custom: bool) -> dict[str, Callable[..., None]]:
    """`rpc.transfer_properties` with one future an output, as the SDK itself makes those of `id` and `urn`.

    Its own are four futures (value, known, secret, dependencies) and a task that awaits them, for every output. Nor is
    each of them kept track of: all are resolved in the same breath as `urn`, which is.
    """
    resolvers: dict[str, Callable[..., None]] = {}
    for name in properties:
        if name != "urn" and not (name == "id" and custom):
            output: pulumi.Output[Any] = object.__new__(pulumi.Output)
            output._data = asyncio.Future()
            resolvers[name] = functools.partial(_resolve, resource, output._data)
            resource.__dict__[name] = output
    return resolvers


def _resolve(
    resource: pulumi.Resource,
    data: asyncio.Future[_OutputData[Any]],
    value: Any,
    is_known: bool,
    is_secret: bool,
    dependencies: set[pulumi.Resource] | None,
    failed: Exception | None,
) -> None:
    if failed is not None:
        data.set_exception(failed)
    else:
        data.set_result(_OutputData({*(dependencies or ()), resource}, value, is_known, is_secret))


def _urn(name: Any, type_: Any, parent: Any = None, project: str | None = None, stack: str | None = None) -> Any:
    """`create_urn` at once where all is text: `register_resource` makes a URN for mocks of every resource it sends."""
    if isinstance(name, str) and isinstance(type_, str) and isinstance(parent, str):
        return pulumi.Output.from_input(f"{parent[: parent.rfind('::')]}${type_}::{name}")
    return _create_urn(name, type_, parent, project, stack)


def _declare(from_resource: pulumi.Resource, to_resource: pulumi.Resource) -> bool:
    """`declare_dependency` that looks for a circle only where one can close: where something waits for `from_resource`.

    Most resources wait for others before anything waits for them.
    """
    if from_resource is to_resource or hasattr(from_resource, WAITED_FOR):
        if not _declare_dependency(from_resource, to_resource):
            return False
    else:
        cycles._add_dep(from_resource, to_resource)
    setattr(to_resource, WAITED_FOR, True)
    return True


def _remember(from_resource: pulumi.Resource, to_resource: pulumi.Resource) -> None:
    """`_add_dep` that adds to the set in its place: a copy for every entry makes a thousand entries a million steps."""
    known: set[pulumi.Resource] | None = from_resource.__dict__.get(cycles._DEPENDENCIES_PROPERTY)
    if known is None:
        setattr(from_resource, cycles._DEPENDENCIES_PROPERTY, {to_resource})
    else:
        known.add(to_resource)


def _reachable(from_resource: pulumi.Resource, to_resource: pulumi.Resource) -> bool:
    """The search for a circle, with a stack instead of generators within generators."""
    seen = {from_resource}
    left = [from_resource]
    while left:
        resource = left.pop()
        if resource is to_resource:
            return True
        new = cycles._deps(resource) - seen
        seen |= new
        left.extend(new)
    return False


def _copy(options: Any) -> Any:
    """`_copy` of options and of bindings, which asks `copy` how an object of plain attributes is copied."""
    copied = object.__new__(type(options))
    copied.__dict__.update(options.__dict__)
    return copied


def _serialize(value: Any, *arguments: Any, **options: Any) -> Awaitable[Any]:
    """`serialize_property`, which asks a plain value a dozen questions and returns it as it is."""
    if type(value) in PLAIN and not options:
        return _itself(value)
    return _serialize_property(value, *arguments, **options)


async def _itself(value: Any) -> Any:
    return value


def _deserialize(value: Any, *arguments: Any) -> Any:
    """Does what `deserialize_property` does, at once for a plain value: only a text may stand for something else.

    An unknown stays one, also where everything that is made is known: a stack's outputs that nobody told, a chart that
    nobody rendered.
    """
    if type(value) in PLAIN:
        return UNKNOWN if value == rpc.UNKNOWN else value
    return _deserialize_property(value, *arguments)


def _translate(output: Any, transformer: Callable[[str], str], typ: Any = None, *arguments: Any, **options: Any) -> Any:
    """Does what `translate_output_properties` does, at once for a plain value of no type, or of a text or a flag."""
    if type(output) in PLAIN and (typ is None or typ is str or typ is bool):
        return output
    if type(output) is OpenMap:
        if typ is None or get_origin(sdk_types.unwrap_optional_type(typ)) in _MAPS:
            return output
        output = {}
    return _translate_output_properties(output, transformer, typ, *arguments, **options)


_MAPS = (dict, Mapping)


def _answer(*arguments: Any) -> tuple[Any, bool]:
    """`deserialize_properties_unwrap_secrets`, for data sources: an empty map of theirs may hold anything."""
    found, is_secret = _deserialize_answer(*arguments)
    return opened(found), is_secret


def _in_this_context(call: Callable[..., Any]) -> Callable[..., Any]:
    """`wrap_with_context` without the context of OpenTelemetry: it traces nothing here, and looks through all packages
    that are installed for what might keep it."""
    return functools.partial(contextvars.copy_context().run, call)


_OF_THE_EXECUTOR = (light_invokes.sdk_invoke, sdk_resource, settings, sdk_stack)
"""Modules that hand calls to an executor, each of which is wrapped first."""

_LIGHTER: tuple[tuple[Any, str, Any], ...] = (
    (sdk_resource, "_get_stack_trace", source_pb2.StackTrace),  # of every constructor, for the engine's messages
    (log, "debug", lambda *_, **__: None),  # four messages a resource, which the recorder drops
    *((module, "wrap_with_context", _in_this_context) for module in _OF_THE_EXECUTOR),
    *light_outputs.REPLACED,
    *light_invokes.REPLACED,
    (pulumi.ResourceOptions, "_copy", _copy),
    (pulumi.ResourceHookBinding, "_copy", _copy),
    (rpc, "transfer_properties", _transfer),
    (sdk_resource, "create_urn", _urn),
    (rpc, "declare_dependency", _declare),
    (cycles, "_reachable", _reachable),
    (cycles, "_add_dep", _remember),
    (rpc, "contains_unknowns", light_outputs.has_unknowns),
    (sdk_resource, "register_resource", light_registration.register_resource),
    (pulumi.resource, "register_resource", light_registration.register_resource),
    (sdk_resource, "register_resource_outputs", light_registration.register_resource_outputs),
    (pulumi.resource, "register_resource_outputs", light_registration.register_resource_outputs),
    (rpc, "serialize_property", _serialize),
    (rpc, "deserialize_property", _deserialize),
    (rpc, "translate_output_properties", _translate),
    (rpc, "deserialize_properties_unwrap_secrets", _answer),
    # What a class or an annotation says of itself, read once instead of for every value and resource of it.
    (sdk_types, "_raw_return_hints", sdk_annotations.return_hints),
    (sdk_types, "_types_from_py_properties", sdk_annotations.property_types),
    (sdk_types, "unwrap_type", functools.cache(sdk_types.unwrap_type)),
    (sdk_types, "unwrap_optional_type", functools.cache(sdk_types.unwrap_optional_type)),
    (sdk_types, "resource_types", functools.cache(sdk_types.resource_types)),
    (sdk_types, "resource_pulumi_to_py_names", functools.cache(sdk_types.resource_pulumi_to_py_names)),
    (sdk_types, "resource_py_to_pulumi_names", functools.cache(sdk_types.resource_py_to_pulumi_names)),
    (sdk_types, "input_type_types", functools.cache(sdk_types.input_type_types)),
    (sdk_types, "output_type_types", functools.cache(sdk_types.output_type_types)),
    (sdk_types, "input_type_py_to_pulumi_names", functools.cache(sdk_types.input_type_py_to_pulumi_names)),
)
_light_runs = 0
_heavier: list[Any] = []
_switch = threading.Lock()


@contextmanager
def light_sdk() -> Iterator[None]:
    """Spares the SDK within the block what only costs time. Blocks may overlap."""
    global _light_runs
    with _switch:
        if _light_runs == 0:
            # All are looked up before any is replaced: an SDK that lacks one is left as it is.
            _heavier[:] = [vars(owner)[name] for owner, name, _ in _LIGHTER]
            for owner, name, lighter in _LIGHTER:
                setattr(owner, name, lighter)
        _light_runs += 1
    try:
        yield
    finally:
        with _switch:
            _light_runs -= 1
            if _light_runs == 0:
                for (owner, name, _), before in zip(_LIGHTER, _heavier, strict=True):
                    setattr(owner, name, before)
