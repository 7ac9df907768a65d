"""Between the engine's wire format (protobuf Struct with marks for secrets and unknowns) and plain Python values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from google.protobuf import struct_pb2  # type: ignore[import-untyped]

from trainyard.recorded.marks import RESOURCE_SIGNATURE, SECRET_SIGNATURE, SIGNATURE, UNKNOWN_MARK
from trainyard.recorded.model import UNKNOWN, Secret

LOOKED_UP: Final = "looked-up"
"""The name of what a program looks up, in the ids and names that stand for its own."""

_MADE_UP: Final = re.compile(rf"(arn:\S*[:/])?{LOOKED_UP}(-[0-9a-f]{{8}})?(-[a-c])?-[0-9a-f]{{8}}")


def says_nothing(text: str) -> bool:
    """Whether a text stands for one that is looked up and may be any: a parameter's value may be the id of a VPC.

    An ARN of something of which nobody knows what its ARNs look like is one too.
    """
    return LOOKED_UP in text and _MADE_UP.fullmatch(text) is not None


def decode(value: struct_pb2.Value, *, as_told: bool = False) -> Any:
    """One wire value as Python: whole numbers as int, secrets as `Secret`, unknowns as `UNKNOWN`.

    What says nothing is unknown too, unless all is wanted `as_told`: a data source gives back what it is asked by.
    """
    kind = value.WhichOneof("kind")
    if kind == "string_value":
        text = value.string_value
        return UNKNOWN if text == UNKNOWN_MARK or (not as_told and says_nothing(text)) else text
    if kind == "struct_value":
        return _decode_fields(value.struct_value, as_told=as_told)
    if kind == "list_value":
        return [decode(item, as_told=as_told) for item in value.list_value.values]
    if kind == "bool_value":
        return value.bool_value
    if kind == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() else number
    return None


def _decode_fields(struct: struct_pb2.Struct, *, as_told: bool) -> Any:
    fields = struct.fields
    if SIGNATURE in fields and fields[SIGNATURE].string_value == SECRET_SIGNATURE:
        inner = decode(fields["value"], as_told=as_told)
        return inner if isinstance(inner, Secret) else Secret(inner)
    if _is_resource(struct):
        return decode(_told_as(struct), as_told=as_told)
    return {key: decode(item, as_told=as_told) for key, item in fields.items() if key != SIGNATURE}


def _is_resource(struct: struct_pb2.Struct) -> bool:
    return SIGNATURE in struct.fields and struct.fields[SIGNATURE].string_value == RESOURCE_SIGNATURE


def _told_as(reference: struct_pb2.Struct) -> struct_pb2.Value:
    """What the engine tells a provider of a resource as a value: its id; of a component its URN.

    Providers of the bridge and that of Kubernetes take no references (`AcceptResources` in pulumi/pulumi,
    sdk/go/common/resource/plugin/rpc.go), so `role=role` is `role=role.id` to them.
    """
    fields = reference.fields
    return fields["id"] if "id" in fields else fields["urn"]


def tell_ids(value: struct_pb2.Value) -> None:
    """Writes every resource within a wire value as the engine tells a provider of it."""
    kind = value.WhichOneof("kind")
    if kind == "list_value":
        for item in value.list_value.values:
            tell_ids(item)
    elif kind == "struct_value":
        if _is_resource(value.struct_value):
            told = struct_pb2.Value()
            told.CopyFrom(_told_as(value.struct_value))
            value.CopyFrom(told)
            return
        for item in value.struct_value.fields.values():
            tell_ids(item)


def decode_struct(struct: struct_pb2.Struct, *, as_told: bool = False) -> dict[str, Any]:
    """The properties of a resource as a plain dict."""
    return {key: decode(item, as_told=as_told) for key, item in struct.fields.items()}


def encode(value: Any, into: struct_pb2.Value) -> None:
    """Writes a plain value (with `Secret` and `UNKNOWN` marks) into a wire value. `TypeError` for anything else."""
    if value is None:
        into.null_value = struct_pb2.NULL_VALUE
    elif value is UNKNOWN:
        into.string_value = UNKNOWN_MARK
    elif isinstance(value, str):
        into.string_value = value
    elif isinstance(value, bool):
        into.bool_value = value
    elif isinstance(value, (int, float)):
        into.number_value = value
    elif isinstance(value, Secret):
        fields = into.struct_value.fields
        fields[SIGNATURE].string_value = SECRET_SIGNATURE
        encode(value.value, fields["value"])
    elif isinstance(value, Mapping):
        encode_fields(value, into.struct_value)
    elif isinstance(value, (list, tuple)):
        values = into.list_value.values
        into.list_value.SetInParent()
        for item in value:
            encode(item, values.add())
    else:
        raise TypeError(f"a {type(value).__name__} cannot be written as a property")


def encode_fields(value: Mapping[str, Any], into: struct_pb2.Struct) -> None:
    """Writes every item of `value` into a Struct, over what is there."""
    into.SetInParent()
    for key, item in value.items():
        field = into.fields[key]
        field.Clear()
        encode(item, field)
