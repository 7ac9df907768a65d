"""Turns recorded inputs into what the AWS APIs are called with, and asks Amazon's own models about the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import botocore.loaders
import botocore.model
import botocore.validate

from tests.pulumi_harness import ACCOUNT, Recorded, plain

REGION = "us-east-1"
KEY_ARN = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/00000000-0000-4000-8000-000000000000"

_SPELLINGS = {
    "id": "ID",
    "sseAlgorithm": "SSEAlgorithm",
    "kmsMasterKeyId": "KMSMasterKeyID",
}


def inputs_of(resource: Recorded) -> dict[str, Any]:
    """The inputs of a resource with whole numbers as integers: on the wire every number is a float."""
    return _integers(plain(resource.inputs))


def api_shape(value: Any, spellings: Mapping[str, str] = _SPELLINGS) -> Any:
    """camelCase keys as the APIs spell them: PascalCase, and `spellings` where that is not all."""
    if isinstance(value, dict):
        return {
            spellings.get(key, key[:1].upper() + key[1:]): api_shape(item, spellings) for key, item in value.items()
        }
    if isinstance(value, list):
        return [api_shape(item, spellings) for item in value]
    return value


def refusals(service: str, operation: str, parameters: dict[str, Any]) -> list[str]:
    """What Amazon's model of an operation refuses in a request: types, required members, bounds, unknown enums."""
    loader = botocore.loaders.Loader()
    model = botocore.model.ServiceModel(loader.load_service_model(service, "service-2"), service)
    shape = model.operation_model(operation).input_shape
    report = botocore.validate.ParamValidator().validate(parameters, shape)
    found = [report.generate_report()] if report.has_errors() else []
    return found + _unknown_enums(parameters, shape, operation)


def _unknown_enums(value: Any, shape: Any, path: str) -> list[str]:
    if shape.type_name == "structure":
        known = {key: item for key, item in value.items() if key in shape.members}  # others are reported already
        return [e for key, item in known.items() for e in _unknown_enums(item, shape.members[key], f"{path}.{key}")]
    if shape.type_name == "list":
        return [e for item in value for e in _unknown_enums(item, shape.member, path)]
    enum = getattr(shape, "enum", [])
    return [f"{path}: {value!r} is none of {enum}"] if enum and value not in enum else []


def _integers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _integers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_integers(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
