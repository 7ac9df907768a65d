"""`register_resource` of pulumi 3.272 without the wire: values go to the recorder as they are recorded, and come back.

The SDK writes inputs into a protobuf message, which the recorder would read, answer with another, and the SDK read
again; around each stand a dozen coroutines. What is unusual is left to the SDK: a whole registration (remote
components, hooks, transforms), or one property (assets, objects of unknown classes).
"""

from __future__ import annotations

import asyncio
import enum
import functools
import itertools
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, get_args, get_origin

import pulumi
from google.protobuf import struct_pb2  # type: ignore[import-untyped]
from pulumi import _types as sdk_types
from pulumi.output import Unknown
from pulumi.runtime import _depends_on, rpc, settings
from pulumi.runtime import resource as sdk_resource
from pulumi.runtime import resource_cycle_breaker as cycles
from pulumi.runtime.proto import alias_pb2
from pulumi.runtime.settings import SETTINGS

from trainyard.recorded.marks import SIGNATURE, UNKNOWN_MARK
from trainyard.recorded.model import UNKNOWN, Secret
from trainyard.recorded.types import PULUMI_STACK
from trainyard.rehearsal.engine import wire
from trainyard.rehearsal.engine.contents import Content
from trainyard.rehearsal.engine.light_outputs import (
    Answers,
    Found,
    UnusualError,
    Value,
    data_of,
    has_unknowns,
    is_done,
    track,
)
from trainyard.rehearsal.engine.sdk_annotations import by_annotation
from trainyard.rehearsal.engine.two_views import PLAIN, Data, Twofold, Views, known_of, preview_of, twofold

_register_resource = sdk_resource.register_resource
_register_resource_outputs = sdk_resource.register_resource_outputs


@dataclass(slots=True)
class Registration:
    """What a program asks the engine to register, in plain values."""

    type: str
    name: str
    parent: str
    custom: bool
    inputs: Mapping[str, Any]
    provider: str = ""
    dependencies: Iterable[str] = ()
    property_dependencies: Mapping[str, Iterable[str]] = field(default_factory=dict)
    protect: bool = False
    ignore_changes: Iterable[str] = ()
    replace_on_changes: Iterable[str] = ()
    aliases: Iterable[Any] = ()  # as in the protocol
    alias_urns: Iterable[str] = ()
    delete_before_replace: bool = False
    retain_on_delete: bool = False
    custom_timeouts: Any = None  # as in the protocol
    additional_secret_outputs: Iterable[str] = ()
    transformed: bool = False  # by the engine

    def but(self, others: Mapping[str, Any]) -> Registration:
        """This registration with some fields in another way; `replace` asks each field what it is."""
        made: Registration = object.__new__(Registration)
        for name in Registration.__slots__:
            setattr(made, name, others[name] if name in others else getattr(self, name))
        return made


@dataclass(frozen=True, slots=True)
class Registered:
    """The engine's answer; an empty `id` is unknown. `at_preview`: a preview's, where a run is for both views."""

    urn: str
    id: str
    outputs: Mapping[str, Any]
    at_preview: Registered | None = None


class Registry(Protocol):
    """A monitor that takes registrations without the wire."""

    views: Views | None

    def register(self, asked: Registration, at_preview: Registration) -> Registered:
        """Registers a resource, as this run and as a preview asks for it; both are one where they do not differ."""
        ...

    def register_outputs(self, urn: str, outputs: Mapping[str, Any], at_preview: Mapping[str, Any]) -> None:
        """Takes down the outputs of a component or of the stack."""
        ...


WAITED_FOR = "_waited_for_in_rehearsal"
"""The attribute of a resource that another waits for."""

PLACE = "_place_in_rehearsal"
"""The attribute of a resource that says the how manieth it was to be made."""

_places = itertools.count()

_FLAGS = ("protect", "delete_before_replace", "retain_on_delete")
_TEXTS = ("version", "plugin_download_url", "import_")
_LISTS = ("ignore_changes", "replace_on_changes", "additional_secret_outputs")
_LEFT_TO_THE_SDK = (
    *("transforms", "state_migrations", "replacement_trigger", "deleted_with", "replace_with"),
    *("hide_diffs", "env_var_mappings"),
)


def _usual(options: pulumi.ResourceOptions) -> bool:
    """Whether all options are of those that are registered here, with values of the kinds that the protocol takes."""
    of = vars(options)
    hooks = of["hooks"]  # merged options have a binding, of no hooks
    return (
        not any(of[name] for name in _LEFT_TO_THE_SDK)
        and (hooks is None or not any(vars(hooks).values()))
        and all(of[name] is None or type(of[name]) is bool for name in _FLAGS)
        and all(of[name] is None or type(of[name]) is str for name in _TEXTS)
        and all(
            of[name] is None or (type(of[name]) is list and all(type(item) is str for item in of[name]))
            for name in _LISTS
        )
    )


def register_resource(
    res: pulumi.Resource,
    ty: str,
    name: str,
    custom: bool,
    remote: bool,
    new_dependency: Callable[[str], pulumi.Resource],
    props: Mapping[str, Any],
    opts: pulumi.ResourceOptions | None,
    typ: type | None = None,
    package_ref: Awaitable[str | None] | None = None,
) -> None:
    """Stands for the SDK's function of this name, and leaves to it what is unusual."""
    monitor = SETTINGS.monitor
    plain = not remote and package_ref is None and opts is not None and hasattr(monitor, "register")
    if opts is None or not plain or not _usual(opts):
        _register_resource(res, ty, name, custom, remote, new_dependency, props, opts, typ, package_ref)
        return
    res.__dict__[PLACE] = next(_places)
    own = [_output(res, "urn")]
    if custom:
        own.append(_output(res, "id", _ProviderId if isinstance(res, pulumi.ProviderResource) else pulumi.Output))
    answers = Answers(res)
    for prop in props:
        if prop != "urn" and not (prop == "id" and custom):
            res.__dict__[prop] = answers.output(prop)
    asked = _Asked(res, ty, name, custom, props, opts, typ, monitor)
    manager = SETTINGS.rpc_manager
    task = asyncio.ensure_future(do_register(asked, own, answers))
    manager.rpcs.append(task)
    task.add_done_callback(functools.partial(_keep_first, manager))


class _ProviderId(pulumi.Output[Any]):
    """The id of a provider, which the SDK itself reads where it asks a data source, for nothing but to name it."""

    def future(self, with_unknowns: bool | None = None) -> Awaitable[Any]:  # type: ignore[override]
        if sys._getframe(1).f_globals.get("__name__") == "pulumi.runtime.invoke":
            return _told(self)
        return super().future(with_unknowns)


def _output(res: pulumi.Resource, name: str, kind: type[pulumi.Output[Any]] = pulumi.Output) -> asyncio.Future[Any]:
    """Makes the output for the URN or the id."""
    output: pulumi.Output[Any] = object.__new__(kind)
    output._data = asyncio.Future()
    track(output)
    res.__dict__[name] = output
    return output._data


def _keep_first(manager: Any, task: asyncio.Task[None]) -> None:
    """Keeps the first failure, as the SDK's own wrapper of every request does."""
    if not task.cancelled():
        error = task.exception()
        if isinstance(error, Exception) and manager.unhandled_exception is None:
            manager.unhandled_exception = error
            manager.exception_traceback = error.__traceback__


@dataclass(frozen=True, slots=True)
class _Asked:
    res: pulumi.Resource
    type_: str
    name: str
    custom: bool
    props: Mapping[str, Any]
    opts: pulumi.ResourceOptions
    args_class: Any  # the input class of `props`, if they came as one
    monitor: Registry


async def do_register(asked: _Asked, own: list[asyncio.Future[Any]], answers: Answers) -> None:
    """What the SDK's function of this name does; a failure is told of its `ty` and `name` (`failures`)."""
    res, ty, name = asked.res, asked.type_, asked.name
    try:
        try:
            registration, at_preview, unusual = await _prepared(asked)
        except ValueError as error:
            raise ValueError(
                f"While processing resource: {name!r}, type: {ty!r}\nValueError has risen: {error}"
            ) from error
        except AssertionError as error:
            raise AssertionError(
                f"While processing resource: {name!r}, type {ty!r}\nAssertionError has risen: {error}"
            ) from error
        found = asked.monitor.register(registration, at_preview)
    except Exception as error:
        for future in own:
            future.set_exception(error)
        answers.fail(error)
        raise
    own[0].set_result(data_of({res}, found.urn, True, False))
    views, then = asked.monitor.views, found.at_preview
    if asked.custom:
        data = data_of({res}, found.id, bool(found.id), False)
        if views is not None and then is not None and then.id != found.id:
            data = twofold(views, data, data_of({res}, then.id, bool(then.id), False))
        own[1].set_result(data)
    try:
        preview = bool(SETTINGS.dry_run) if views is None else False
        outputs = _resolved(asked, registration.inputs, found.outputs, unusual, preview=preview)
        if then is None:
            answers.come(outputs, preview=preview)
        else:
            of_preview = functools.partial(_resolved, asked, at_preview.inputs, then.outputs, unusual, preview=True)
            answers.come(outputs, preview=preview, views=views, at_preview=of_preview)
    except Exception as error:
        answers.fail(error)
        raise


async def _prepared(asked: _Asked) -> tuple[Registration, Registration, Mapping[str, Any]]:
    """The registration, the one of a preview, and the wire form of those properties that the SDK had to write."""
    res, options = asked.res, asked.opts
    dependencies: set[str] = set()
    if options.depends_on is not None:
        listed: Any = options._depends_on_list()
        if listed:
            plain = type(listed) is list and all(isinstance(item, pulumi.Resource) for item in listed)
            explicit: Any = dict.fromkeys(listed) if plain else await _depends_on._resolve_depends_on(listed)
            dependencies.update(await _urns(explicit, res))
    properties = await _inputs(asked)
    parent = options.parent
    if parent is None and asked.type_ != PULUMI_STACK:
        parent = settings.get_root_resource()
    parent_urn = await _told(parent.urn) if parent is not None else ""
    provider = ""
    if asked.custom:
        if options.provider is not None:
            provider = await reference(options.provider)
    else:
        for each in sdk_resource.convert_providers(options.provider, options.providers).values():
            await reference(each)
    property_dependencies = {
        key: await _urns(dict.fromkeys(resources), res) if resources else []
        for key, resources in properties.waits.items()
    }
    translated = functools.partial(_translated, asked)
    timeouts = options.custom_timeouts
    registration = Registration(
        type=asked.type_,
        name=asked.name,
        parent=parent_urn or "",
        custom=asked.custom,
        inputs=properties.inputs,
        provider=provider,
        dependencies=dependencies.union(*property_dependencies.values()),
        property_dependencies=property_dependencies,
        protect=bool(options.protect),
        ignore_changes=translated(options.ignore_changes),
        replace_on_changes=translated(options.replace_on_changes),
        aliases=await _aliases(res, options) if options.aliases else (),
        delete_before_replace=bool(options.delete_before_replace),
        retain_on_delete=bool(options.retain_on_delete),
        custom_timeouts=sdk_resource._create_custom_timeouts(timeouts) if timeouts is not None else None,
        additional_secret_outputs=sdk_resource._translate_additional_secret_outputs(
            res, asked.args_class, options.additional_secret_outputs
        )
        or (),
    )
    others: dict[str, Any] = {}  # of the registration of a preview
    if properties.differing:
        inputs, then = dict(properties.inputs), dict(property_dependencies)
        one_wait = True
        for key, (value, resources) in properties.differing.items():
            if value is None:
                inputs.pop(key, None)
                then.pop(key, None)
                one_wait = False
                continue
            inputs[key] = value
            if resources != properties.waits.get(key):
                then[key] = await _urns(dict.fromkeys(resources), res)
                one_wait = False
        others["inputs"] = inputs
        if not one_wait:
            others |= {"property_dependencies": then, "dependencies": dependencies.union(*then.values())}
    if asked.monitor.views is not None and provider and options.provider is not None:
        others["provider"] = await reference(options.provider, preview_of)
    return registration, registration.but(others) if others else registration, properties.unusual


async def _aliases(res: pulumi.Resource, options: pulumi.ResourceOptions) -> Iterable[Any]:
    """`prepare_aliases`, at once for those that name another type alone: the SDK of Kubernetes hands them in for every
    version that a kind has had."""
    given: Any = options.aliases
    types = [_only_type(alias) for alias in given] if type(given) is list else [None]
    if None in types:
        return await sdk_resource.prepare_aliases(res, options, True)
    return [_alias_of_type(str(type_)) for type_ in types]


def _only_type(alias: Any) -> str | None:
    """The type that an alias names, where it says nothing else."""
    if type(alias) is not pulumi.Alias or type(alias.type_) is not str:
        return None
    rest: tuple[Any, ...] = (alias.name, alias.parent, alias.stack, alias.project)
    return alias.type_ if all(part is ... for part in rest) else None


@functools.lru_cache(maxsize=4096)
def _alias_of_type(type_: str) -> Any:
    return alias_pb2.Alias(spec=alias_pb2.Alias.Spec(type=type_))


def _translated(asked: _Asked, names: list[str] | None) -> Iterable[str]:
    return sdk_resource._translate_ignore_changes(asked.res, asked.args_class, names) or ()


async def reference(provider: pulumi.ProviderResource, view: Callable[[Data], Data] = known_of) -> str:
    """A provider as a registration names it."""
    return f"{await _told(provider.urn)}::{await _told(provider.id, view) or rpc.UNKNOWN}"


async def _told(output: pulumi.Output[Any], view: Callable[[Data], Data] = known_of) -> Any:
    """`Output.future`: the value, None where it holds unknowns."""
    data = view(await output._data)
    return data.value if data.is_known or not has_unknowns(data.value) else None


async def _urns(resources: Iterable[Any], waiting: pulumi.Resource) -> list[str]:
    """`_expand_dependencies`: the URNs of the resources; of a component's parts in its place."""
    known: set[pulumi.Resource] = waiting.__dict__.setdefault(cycles._DEPENDENCIES_PROPERTY, set())
    found: dict[pulumi.Resource, None] = {}
    for resource in resources:
        left = [resource]
        for each in left:  # grows meanwhile
            if not isinstance(each, pulumi.Resource):
                raise TypeError(f"'depends_on' was passed a value {each} that was not a Resource.")
            if each is waiting or WAITED_FOR in waiting.__dict__:
                if not cycles.declare_dependency(waiting, each):
                    await rpc._add_dependency({}, each, waiting)  # raises, unless the environment allows circles
                    continue
            else:
                known.add(each)
            each.__dict__[WAITED_FOR] = True
            if isinstance(each, pulumi.ComponentResource) and not each._remote:
                left.extend(each._childResources)
            else:
                found[each] = None
    await all_there(found)
    urns = []
    for resource in found:
        data = resource.urn._data  # known in both views alike
        if urn := data.result().value:
            urns.append(urn)
    return urns


def parts_of(resources: Iterable[Any]) -> list[Any]:
    """The resources; of a component's parts in its place."""
    left, found = [*resources], dict[Any, None]()
    for each in left:  # grows meanwhile
        if isinstance(each, pulumi.ComponentResource) and not each._remote:
            left.extend(each._childResources)
        else:
            found[each] = None
    return [*found]


async def all_there(resources: Iterable[pulumi.Resource]) -> None:
    """Waits for the URNs of all resources, beginning with the one that was made last: the others are there by then.

    Resources come out of the SDK's sets in an order of their addresses, another one in every run, which would decide
    when whoever waits goes on.
    """
    pending = [each for each in resources if not each.urn._data.done()]
    if len(pending) > 1:
        if not all(PLACE in each.__dict__ for each in pending):  # one was left to the SDK
            await asyncio.wait([each.urn._data for each in pending])
            return
        pending.sort(key=lambda each: each.__dict__[PLACE], reverse=True)
    for each in pending:
        await is_done(each.urn._data)


class _PendingError(Exception):
    """An output that is not there yet."""

    def __init__(self, data: asyncio.Future[Data]) -> None:
        super().__init__()
        self.data = data


class _Resources(list[pulumi.Resource]):
    """The resources that a value waits for, as it is read for one view."""

    __slots__ = ("is_preview", "views")

    def __init__(self, *, is_preview: bool = False) -> None:
        super().__init__()
        self.is_preview = is_preview
        self.views: Views | None = None  # where something in the value has two


@dataclass(slots=True)
class _Properties:
    """Properties as they are recorded."""

    inputs: dict[str, Any] = field(default_factory=dict)
    waits: dict[str, list[pulumi.Resource]] = field(default_factory=dict)
    unusual: dict[str, Any] = field(default_factory=dict)  # the wire form of what the SDK had to write
    differing: dict[str, tuple[Any, list[pulumi.Resource]]] = field(default_factory=dict)  # as a preview has them


_Write = Callable[[Any, Any, dict[str, list[pulumi.Resource]]], Awaitable[struct_pb2.Struct]]


async def _inputs(asked: _Asked) -> _Properties:
    """The inputs of a resource."""
    res, cls = asked.res, asked.args_class
    translate: Callable[[str], str] | None = None
    if cls is None:
        own: Any = type(res).translate_input_property
        if own is not pulumi.Resource.translate_input_property:
            translate = res.translate_input_property
        names: Mapping[str, str] = {}
        types: Mapping[str, type] = {}
    else:
        names, types = sdk_types.input_type_py_to_pulumi_names(cls), sdk_types.input_type_types(cls)

    def write(key: Any, value: Any, waits: dict[str, list[pulumi.Resource]]) -> Awaitable[struct_pb2.Struct]:
        return rpc.serialize_properties(
            {key: value}, waits, res, None if cls is not None else res.translate_input_property, cls
        )

    return await properties_of(asked.props, write, translate, names, types)


async def properties_of(
    props: Mapping[str, Any],
    write: _Write,
    translate: Callable[[str], str] | None = None,
    names: Mapping[str, str] = MappingProxyType({}),
    types: Mapping[str, type] = MappingProxyType({}),
) -> _Properties:
    """Properties in both views; `write` is how the SDK writes one that is unusual."""
    made = _Properties()
    for key in props:
        value = props[key]
        if value is None:
            continue
        name = (names.get(key) or key) if translate is None else translate(key)
        while True:
            resources = _Resources()
            try:
                if type(key) is not str:
                    raise UnusualError
                plain = _plain(value, resources, translate, types.get(name))
            except _PendingError as pending:
                try:
                    await pending.data
                except (ValueError, AssertionError) as error:
                    raise _of_input(key, value, error) from error
                continue
            except (ValueError, AssertionError) as error:
                raise _of_input(key, value, error) from error
            except (UnusualError, RecursionError):
                struct = await write(key, value, made.waits)
                if name in struct.fields:
                    wire.tell_ids(struct.fields[name])
                    made.unusual[name] = struct.fields[name]
                    made.inputs[name] = wire.decode(struct.fields[name])
                break
            if plain is not None:
                made.inputs[name] = plain
                made.waits[name] = resources
            if resources.views is not None:
                at_preview = _Resources(is_preview=True)
                try:
                    made.differing[name] = _plain(value, at_preview, translate, types.get(name)), at_preview
                except Exception:
                    resources.views.doubt("an input is unusual at a preview")
            break
    return made


def _of_input(key: Any, value: Any, error: ValueError | AssertionError) -> Exception:
    """The error with the input that it is of, in the words of `serialize_properties`."""
    kind = ValueError if isinstance(error, ValueError) else AssertionError
    words = f"While processing input: {key!r}, type {type(key)}, value {value!r}"
    return kind(f"{words}\n{kind.__name__} has risen: {error}")


@by_annotation
def _bare_annotation(cls: Any) -> Any:
    """An annotation without what stands around it; None where it says nothing."""
    found = sdk_types.unwrap_type(cls)
    return None if found is Any else found


_is_input_type = by_annotation(sdk_types.is_input_type)

_LARGEST = 2**53
"""Whole numbers are sent as 64-bit floats, which are exact up to here."""


def _plain(value: Any, resources: _Resources, translate: Callable[[str], str] | None, cls: Any) -> Any:
    """`serialize_property`, and what the recorder would read of it."""
    kind = type(value)
    if kind in PLAIN:
        if kind is str:
            if value == UNKNOWN_MARK or wire.says_nothing(value):
                return UNKNOWN
            if not value.isascii():
                try:
                    value.encode()
                except UnicodeEncodeError as error:
                    raise UnusualError from error
            return value
        if kind is int:
            if -_LARGEST <= value <= _LARGEST:
                return value
            raise UnusualError
        if kind is float:
            return int(value) if value.is_integer() else value
        return value
    if cls is not None:
        cls = _bare_annotation(cls)
    if kind is list or kind is tuple:
        item_class = _item_class(cls) if cls is not None else None
        return [_plain(item, resources, translate, item_class) for item in value]
    if isinstance(value, pulumi.Output):
        return _plain_output(value._data, resources, translate, cls)
    if kind is dict:
        return _plain_dict(value, resources, translate, cls)
    if kind is Unknown:
        return UNKNOWN
    if isinstance(value, pulumi.Resource):  # as the engine tells a provider of it (`wire.tell_ids`)
        told = value.id if isinstance(value, pulumi.CustomResource) else value.urn
        return _plain_output(told._data, resources, translate, None)
    if sdk_types.is_input_type(kind):
        types = sdk_types.input_type_types(kind)
        return {
            name: _plain(item, resources, translate, types.get(name))
            for name, get in _getters(kind)  # type: ignore[arg-type]
            if (item := get(value)) is not None
        }
    if kind is Content:
        return UNKNOWN
    raise UnusualError


@by_annotation
def _item_class(cls: Any) -> Any:
    try:
        return rpc._get_list_element_type(cls)
    except AssertionError as error:
        raise UnusualError from error


@functools.cache
def _getters(cls: type) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
    """The properties of an input class by their names for the engine, as `input_type_to_dict` reads them."""
    deprecated = sdk_types._PULUMI_DEPRECATED_CALLABLE
    return tuple(
        (name, property_.fget.__dict__.get(deprecated) or property_.fget)  # type: ignore[misc]
        for _, name, property_ in sdk_types._py_properties(cls)
    )


def _plain_output(
    future: asyncio.Future[Data],
    resources: _Resources,
    translate: Callable[[str], str] | None,
    cls: Any,
) -> Any:
    if not future.done():
        raise _PendingError(future)
    data = future.result()
    if type(data) is Twofold:
        resources.views = data.views
        data = data.preview if resources.is_preview else data.known
    resources.extend(data.resources)
    inside = _Resources(is_preview=resources.is_preview)
    value = None
    if data.is_known or not has_unknowns(data.value):
        value = _plain(data.value, inside, translate, cls)
    if inside:
        resources.extend(inside)
        data.resources.update(inside)
    if inside.views is not None:
        inside.views.doubt("an output holds outputs")  # whose resources would become those of both views
        resources.views = inside.views
    if not data.is_known:
        value = UNKNOWN
    return (value if isinstance(value, Secret) else Secret(value)) if data.is_secret else value


def _plain_dict(
    value: Mapping[Any, Any], resources: _Resources, translate: Callable[[str], str] | None, cls: Any
) -> Any:
    names: Mapping[str, str] | None = None
    types: Mapping[str, Any] = {}
    every = None
    if cls is not None:
        if not isinstance(cls, type):  # it may be a union
            case = sdk_types.reduce_discriminated_union(cls, value, sdk_types._py_name_for)
            cls = case if case is not None else cls
        translate_here = None
        if _is_input_type(cls):
            names, types = sdk_types.input_type_py_to_pulumi_names(cls), sdk_types.input_type_types(cls)
        else:
            mapped, every = _values_class(cls)
            if mapped and every is None:
                translate_here = translate
    else:
        translate_here = translate
    found: dict[str, Any] = {}
    for key, item in value.items():
        if type(key) is not str or not key.isascii():
            raise UnusualError
        if names is not None:
            name = names.get(key) or key
            found[name] = _plain(item, resources, translate, types.get(name))
        else:
            found[key if translate_here is None else translate_here(key)] = _plain(item, resources, translate, every)
    if SIGNATURE in found:
        raise UnusualError
    return found


@by_annotation
def _values_class(cls: Any) -> tuple[bool, Any]:
    """Whether an annotation is of a mapping, and of what class its values are then; None where it does not say."""
    if cls is dict or get_origin(cls) in _MAPPINGS:
        arguments = get_args(cls)
        return True, arguments[1] if len(arguments) == 2 and arguments[0] is str else None
    return False, None


_MAPPINGS = [dict, get_origin(Mapping[str, Any])]


def _resolved(
    asked: _Asked,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    unusual: Mapping[str, Any],
    *,
    preview: bool,
) -> Mapping[str, Found]:
    """`resolve_outputs`, of an answer that names no dependencies: each output is of the resource alone.

    Each by its name, with whether it is secret.
    """
    res = asked.res
    types = sdk_types.resource_types(type(res))
    by_type = asked.args_class is not None
    names = sdk_types.resource_pulumi_to_py_names(type(res)) if by_type else {}
    translate = _same if by_type else res.translate_output_property
    found: dict[str, Found] = {}

    def read(key: str, name: str, value: Any, written: Mapping[str, Any], unknown: Any, **options: Any) -> Value:
        value = _given(key, value, written, unknown)
        cls = types.get(key)
        if type(value) not in PLAIN or (cls is not None and cls not in PLAIN):
            path = rpc._Path(name, resource=res._name)
            value = rpc.translate_output_properties(value, translate, cls, by_type, path=path, **options)
        elif cls is int and type(value) is float:
            value = int(value)
        return (value["value"], True) if type(value) is dict and rpc.is_rpc_secret(value) else (value, False)

    def put(key: str, value: Any, name: str, written: Mapping[str, Any], unknown: Any, **options: Any) -> None:
        # Read when somebody asks, where that cannot fail.
        later = key not in written and _fits(value, types.get(key))
        reading = functools.partial(read, key, name, value, written, unknown, **options)
        found[name] = reading if later else reading()

    for key, value in outputs.items():
        if value is not None:
            written = unusual if inputs.get(key) is value else {}
            put(key, value, (names.get(key) or key) if by_type else translate(key), written, _UNKNOWN)
    if not preview or SETTINGS.legacy_apply_enabled:
        unknown = _UNKNOWN if preview else None
        for key, value in inputs.items():
            name = (names.get(key) or key) if by_type else translate(key)
            if name not in found:
                put(key, value, name, unusual, unknown, return_none_on_dict_type_mismatch=True)
    return found


class _Shape(NamedTuple):
    """What `translate_output_properties` takes for an annotation without an error."""

    plain: bool = True
    is_dict: bool = False
    types: Mapping[str, Any] = MappingProxyType({})  # of a dict's values by key, or
    every: Any = None  # of all of them
    is_list: bool = False
    item: Any = None


@by_annotation
def _shape(cls: Any) -> _Shape:
    cls = sdk_types.unwrap_optional_type(cls) if cls else None
    if cls is None or cls is Any:
        return _Shape(is_dict=True, is_list=True)
    if sdk_types.is_discriminated_union(cls) or (isinstance(cls, type) and issubclass(cls, enum.Enum)):
        return _Shape(plain=False)
    if sdk_types.is_output_type(cls):
        return _Shape(is_dict=True, types=sdk_types.output_type_types(cls))
    is_mapping, every = _values_class(cls)
    if is_mapping:
        return _Shape(is_dict=True, every=every)
    try:
        return _Shape(is_list=True, item=_item_class(cls))
    except UnusualError:
        return _Shape()


def _fits(value: Any, cls: Any) -> bool:
    """Whether a recorded value is sure to be read as `cls` without an error."""
    kind = type(value)
    if cls is None and kind in PLAIN:
        return True
    shape = _shape(cls)
    if kind in PLAIN or value is UNKNOWN:
        return shape.plain
    if kind is dict:
        return shape.is_dict and all(_fits(item, shape.types.get(key, shape.every)) for key, item in value.items())
    return kind is list and shape.is_list and all(_fits(item, shape.item) for item in value)


def register_resource_outputs(res: pulumi.Resource, outputs: Any) -> None:
    """Stands for the SDK's function of this name, and leaves to it what is unusual."""
    monitor = SETTINGS.monitor
    if not hasattr(monitor, "register_outputs") or not isinstance(outputs or {}, Mapping):
        _register_resource_outputs(res, outputs)
        return
    manager = SETTINGS.rpc_manager
    task = asyncio.ensure_future(do_register_outputs(res, outputs or {}, monitor))
    manager.rpcs.append(task)
    task.add_done_callback(functools.partial(_keep_first, manager))


async def do_register_outputs(res: pulumi.Resource, outputs: Mapping[str, Any], monitor: Registry) -> None:
    """What the SDK's function of this name does."""
    urn = await _told(res.urn)
    made = await properties_of(outputs, _write_output)
    at_preview: dict[str, Any] = dict(made.inputs)
    for key, (value, _) in made.differing.items():
        if value is None:
            at_preview.pop(key, None)
        else:
            at_preview[key] = value
    monitor.register_outputs(urn, made.inputs, at_preview)


def _write_output(key: Any, value: Any, waits: dict[str, list[pulumi.Resource]]) -> Awaitable[struct_pb2.Struct]:
    return rpc.serialize_properties({key: value}, waits)


def _same(name: str) -> str:
    return name


_UNKNOWN = Unknown()  # type: ignore[no-untyped-call]


def _given(key: str, value: Any, unusual: Mapping[str, Any], unknown: Unknown | None) -> Any:
    """One property as the SDK reads it: from the wire where it was written there."""
    if key in unusual:
        struct = struct_pb2.Struct(fields={key: unusual[key]})
        return rpc.deserialize_property(struct[key], unknown is not None)
    return for_program(value, unknown)


def for_program(value: Any, unknown: Unknown | None) -> Any:
    """`deserialize_property` of a recorded value: numbers are floats, secrets go as far up as lists do."""
    kind = type(value)
    if kind is int:
        return float(value)
    if kind in PLAIN:
        return value
    if value is UNKNOWN:
        return unknown
    if isinstance(value, Secret):
        return rpc.wrap_rpc_secret(for_program(value.value, unknown))
    if isinstance(value, Mapping):
        found = {}
        secret = False
        for key, item in value.items():
            given = for_program(item, unknown)
            if given is not None:
                if type(given) is dict and rpc.is_rpc_secret(given):
                    secret, given = True, given["value"]
                found[key] = given
        return rpc.wrap_rpc_secret(found) if secret else found
    items = [for_program(item, unknown) for item in value]
    if any(map(rpc.is_rpc_secret, items)):
        return rpc.wrap_rpc_secret([rpc.unwrap_rpc_secret(item) for item in items])
    return items
