"""What the provider SDKs say of their own resources: input fields with type and need, output fields with type.

Read from the generated classes: `NodeGroup` -> `NodeGroupArgs` -> `NodeGroupScalingConfigArgs`, each a class whose
properties carry wire name and annotation. Everything is lazy and cached: a class is looked at when a resource of it
is first seen. All use of `pulumi`'s private `_types` module is in here.
"""

from __future__ import annotations

import enum
import functools
import importlib
import re
import sys
import types
import typing
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Union

import pulumi
from pulumi import _types as sdk
from pulumi.runtime import rpc

from trainyard.rehearsal.engine.sdk_annotations import by_annotation, return_hints
from trainyard.when_asked import WhenAsked

Kind = Literal["text", "integer", "number", "boolean", "list", "map", "object", "any"]


@dataclass(frozen=True, slots=True)
class FieldType:
    """The type of one value: `item` is what a list or a map holds, `cls` the class of an object with known fields."""

    kind: Kind
    item: FieldType | None = None
    cls: type | None = None
    choices: tuple[str, ...] = ()  # of a Literal or enum; what else may be passed is for the provider to say

    def describe(self) -> str:
        """The type as a person would say it: `a list of text`."""
        if self.kind == "list":
            return f"a list of {self.item.describe().removeprefix('a ').removeprefix('an ')}" if self.item else "a list"
        return {
            "text": "text",
            "integer": "a whole number",
            "number": "a number",
            "boolean": "true or false",
            "map": "a map",
            "object": "an object",
            "any": "anything",
        }[self.kind]


ANY = FieldType("any")


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a resource or of a nested object, by wire name."""

    types: Mapping[str, FieldType]
    required: frozenset[str] = frozenset()
    python_names: Mapping[str, str] = field(default_factory=dict)  # wire name -> snake_case name


@dataclass(frozen=True, slots=True)
class OutputField:
    """One output; `certain` when the provider always returns it (its annotation is not Optional)."""

    type: FieldType
    certain: bool


def resource_class(token: str) -> type | None:
    """The SDK's class for a type token, from the modules that are loaded; None for one that no SDK registered."""
    package, module, _ = token.split(":", 2) if token.count(":") == 2 else ("", "", "")
    registered = rpc.get_resource_module(package, module, "") if package else None
    info = getattr(registered, "mod_info", None)
    if not isinstance(info, dict) or token not in info.get("classes", {}):
        return None
    loaded = sys.modules.get(info["fqn"]) or importlib.import_module(info["fqn"])
    found = getattr(loaded, info["classes"][token], None)
    return found if isinstance(found, type) else None


def type_token(cls: type) -> str:
    """`aws:eks/nodeGroup:NodeGroup` for the SDK's class (or one derived from it); empty if no SDK registered it."""
    for base in cls.__mro__:
        for registered in rpc._RESOURCE_MODULES.values():
            for module in registered:
                info = getattr(module, "mod_info", {})
                if not base.__module__.startswith(f"{info.get('fqn', ' ')}."):
                    continue
                for token, name in info.get("classes", {}).items():
                    if name == base.__name__:
                        return str(token)
    return ""


@functools.cache
def generated_class(cls: type) -> type | None:
    """The provider SDK's class among `cls` and its bases: a class of ours may derive from a generated one."""
    for base in cls.__mro__:
        if base.__module__.startswith("pulumi_") and issubclass(base, pulumi.Resource):
            return base
    return None


@functools.cache
def input_class(cls: type) -> type | None:
    """The arguments class of a resource class: `NodeGroupArgs`, or `ConfigMapInitArgs` where the name was taken."""
    generated = generated_class(cls)
    if generated is None:
        return None
    module = sys.modules[generated.__module__]
    for suffix in ("InitArgs", "Args"):
        found = getattr(module, f"{generated.__name__}{suffix}", None)
        if isinstance(found, type) and sdk.is_input_type(found):
            return found
    return None


@functools.cache
def input_fields(args_class: type) -> Fields:
    """The fields that an `@input_type` class takes."""
    hints = return_hints(args_class)
    python_names = dict(sdk._pulumi_to_py_names_from_py_properties(args_class))
    required = _required_keywords(args_class)
    return Fields(
        types=WhenAsked({name: name for name in hints}, lambda name: field_type(hints[name])),
        required=frozenset(name for name, python in python_names.items() if python in required),
        python_names=python_names,
    )


def _required_keywords(args_class: type) -> frozenset[str]:
    init = args_class.__dict__.get("__init__")
    if not isinstance(init, types.FunctionType):
        return frozenset()
    code = init.__code__
    keywords = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    return frozenset(keywords) - frozenset(init.__kwdefaults__ or ())


@functools.cache
def output_fields(cls: type) -> Mapping[str, OutputField]:
    """The outputs of a resource class, or the fields of a nested output class, by wire name."""
    source = generated_class(cls) if pulumi.Resource in cls.__mro__ else cls
    if source is None:
        return {}
    found: dict[str, OutputField] = {}
    computed = _computed(source)
    for name, hint in return_hints(source).items():
        if name in ("id", "urn"):
            continue
        inner = hint
        if typing.get_origin(inner) is pulumi.Output:
            inner = typing.get_args(inner)[0]
        found[name] = OutputField(field_type(inner), certain=not _may_be_none(inner) or name in computed)
    return found


_COMPUTED_UNSAID: Final[Mapping[str, frozenset[str]]] = {
    "InstanceNetworkInterfaceAccessConfig": frozenset({"natIp"}),
}
"""Fields that Google's provider fills in too, by nested output class: their pages do not say so."""


def _computed(cls: type) -> frozenset[str]:
    """The fields of a nested output class that the provider fills in though its annotation is Optional, by wire name:
    Google's pages begin what they say of one with `(Output)`.
    """
    if not cls.__module__.startswith("pulumi_gcp."):
        return frozenset()
    getters = {name: member.fget for name, member in vars(cls).items() if isinstance(member, property)}
    return _COMPUTED_UNSAID.get(cls.__name__, frozenset()) | frozenset(
        getattr(getter, "_pulumi_name", name)
        for name, getter in getters.items()
        if getter is not None and (getter.__doc__ or "").lstrip().startswith("(Output)")
    )


def _may_be_none(hint: Any) -> bool:
    return type(None) in typing.get_args(hint)


@by_annotation
def field_type(hint: Any) -> FieldType:
    """What an annotation allows, with `Input`, `Output`, `Optional` and the TypedDict alternatives taken off."""
    hint = sdk.unwrap_type(hint)
    origin = typing.get_origin(hint)
    if origin is Union or origin is types.UnionType:
        return _union_type(typing.get_args(hint))
    if origin is Literal:
        return FieldType("text", choices=tuple(str(choice) for choice in typing.get_args(hint)))
    if origin in (list, Sequence, typing.Sequence) or hint is list:
        arguments = typing.get_args(hint)
        return FieldType("list", item=field_type(arguments[0]) if arguments else ANY)
    if origin in (dict, Mapping, typing.Mapping) or hint is dict:
        arguments = typing.get_args(hint)
        return FieldType("map", item=field_type(arguments[1]) if len(arguments) == 2 else ANY)
    return _plain_type(hint)


def _plain_type(hint: Any) -> FieldType:
    if not isinstance(hint, type):
        return ANY
    if issubclass(hint, enum.Enum):
        return FieldType("text", choices=tuple(str(member.value) for member in hint))
    if sdk.is_input_type(hint) or sdk.is_output_type(hint):
        return FieldType("object", cls=hint)
    if issubclass(hint, bool):
        return FieldType("boolean")
    if issubclass(hint, int):
        return FieldType("integer")
    if issubclass(hint, float):
        return FieldType("number")
    if issubclass(hint, str):
        return FieldType("text")
    return ANY


def _union_type(arguments: Sequence[Any]) -> FieldType:
    members = [field_type(item) for item in arguments if not _is_wrapper(item)]
    objects = [member for member in members if member.kind == "object"]
    if len(objects) == 1 and all(member.kind in ("object", "map") for member in members):
        return objects[0]  # the class, or a dict in its place
    kinds = {member.kind for member in members}
    if len(members) == 1 or (len(kinds) == 1 and not objects):
        return members[0]
    return ANY  # text or number, or one of several objects: whatever the provider makes of it


def _is_wrapper(hint: Any) -> bool:
    """`None`, `Awaitable[T]`, `Output[T]` and TypedDicts: beside T they say nothing new."""
    origin = typing.get_origin(hint)
    return hint is type(None) or typing.is_typeddict(hint) or origin is pulumi.Output or origin is Awaitable


_FUNCTION = re.compile(r"^(?P<package>[^:]+):(?P<module>[^:]*):(?P<name>get[A-Za-z0-9]*)$")


def function_result_class(token: str) -> type | None:
    """`GetAvailabilityZonesResult` for `aws:index/getAvailabilityZones:getAvailabilityZones`, if it is loaded."""
    match = _FUNCTION.match(token)
    if match is None:
        return None
    namespace = match["module"].split("/")[0]
    parts = [f"pulumi_{match['package']}", *([] if namespace in ("", "index") else namespace.split("/"))]
    name = match["name"]
    result = f"{name[0].upper()}{name[1:]}Result"
    found = getattr(sys.modules.get(".".join(parts)), result, None)
    if found is None:
        snake = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        found = getattr(sys.modules.get(".".join([*parts, snake])), result, None)
    return found if isinstance(found, type) and sdk.is_output_type(found) else None
