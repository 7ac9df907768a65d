"""The cards of AWS types against the provider's own inputs and against botocore's models."""

from __future__ import annotations

import collections.abc
import importlib
import typing
from collections.abc import Iterator
from keyword import iskeyword
from typing import Any

import pytest
from pulumi import _types

from trainyard import cards
from trainyard.cards.card import ServiceModel
from trainyard.rehearsal.refusals.aws.formats import FORMATS
from trainyard.rehearsal.refusals.aws.model_check import inner, resolve, roots
from trainyard.rehearsal.refusals.aws.models import ModelMissingError, Shape, compiled, operation
from trainyard.rehearsal.refusals.aws.names import AUTOMATIC_NAMES

MODELS = {type_: card.model for type_, card in cards.BY_TYPE.items() if card.model is not None}
PROVIDERS_OWN = {"region", "tags", "namePrefix", "timeouts"}
POLICY_DOCUMENTS = {"policy", "assumeRolePolicy"}  # text; the SDK offers a dictionary of the same document besides


def nested(annotation: Any) -> type | None:
    """The input type inside `Optional`, `Sequence`, `Mapping` and `Union`."""
    origin = typing.get_origin(annotation)
    if origin is typing.Union:
        return next((found for part in typing.get_args(annotation) if (found := nested(part))), None)
    if origin in (collections.abc.Sequence, list):
        return nested(typing.get_args(annotation)[0])
    return annotation if isinstance(annotation, type) and _types.is_input_type(annotation) else None


def arguments(token: str) -> type:
    """The SDK's class of a resource type's inputs."""
    _, module, name = token.split(":")
    part = module.split("/")[0]
    package = importlib.import_module(f"pulumi_aws.{part}{'_' * iskeyword(part)}")
    return getattr(package, f"{name}InitArgs", None) or getattr(package, f"{name}Args")


def inputs(cls: type, path: str = "", depth: int = 0) -> Iterator[tuple[str, type | None]]:
    """Every input of a class at any depth, with its own class where it has one."""
    for name, annotation in _types.input_type_types(cls).items():
        here = f"{path}.{name}" if path else name
        inside = nested(annotation)
        yield here, inside
        if inside is not None and depth < 7 and name not in POLICY_DOCUMENTS:
            yield from inputs(inside, here, depth + 1)


@pytest.mark.parametrize("token", MODELS)
def test_every_input_has_a_member_or_is_said_to_have_none(token: str) -> None:
    model = MODELS[token]
    missing: list[str] = []
    known: set[str] = set()

    def walk(cls: type, path: str, above: tuple[Shape, ...], depth: int) -> None:
        for name, annotation in _types.input_type_types(cls).items():
            here = f"{path}.{name}" if path else name
            known.add(here)
            shape = resolve(model, here, above)
            if shape is None:
                if here not in (*model.undescribed, *PROVIDERS_OWN):
                    missing.append(here)
                continue
            inside = nested(annotation)
            if inside is not None and depth < 7 and name not in POLICY_DOCUMENTS:
                walk(inside, here, (inner(shape),), depth + 1)

    walk(arguments(token), "", roots(model.calls), 0)
    assert missing == []
    below = tuple(f"{path}." for path in model.undescribed)
    assert [
        path for path in (*model.names, *model.undescribed) if path not in known and not path.startswith(below)
    ] == []


@pytest.mark.parametrize("token", sorted({*FORMATS, *AUTOMATIC_NAMES}))
def test_every_path_of_the_tables_is_an_input(token: str) -> None:
    if token not in MODELS:
        pytest.fail(f"{token} has formats or an automatic name, and no model on its card")
    known = {path for path, _ in inputs(arguments(token))}
    named = {path.replace("[]", "") for path in FORMATS.get(token, {})}
    named |= {AUTOMATIC_NAMES[token].input} if token in AUTOMATIC_NAMES else set()
    assert sorted(named - known) == []


def test_a_type_that_names_a_missing_member_is_an_error() -> None:
    model = ServiceModel(("eks.CreateNodegroup",), {"nodeRoleArn": "noSuchMember"})
    with pytest.raises(ModelMissingError, match=r"nodeRoleArn: none of eks\.CreateNodegroup has noSuchMember"):
        resolve(model, "nodeRoleArn", roots(model.calls))
    with pytest.raises(ModelMissingError, match="botocore's eks has no operation CreateNodes"):
        operation("eks", "CreateNodes")
    with pytest.raises(ModelMissingError, match="botocore has no service ekz"):
        operation("ekz", "CreateNodegroup")


def test_patterns_that_python_cannot_read_are_left_out() -> None:
    assert compiled(r"[\p{L}]+") is None
    assert compiled(r"[a-z]+") is not None


def test_singular_and_plural_meet() -> None:
    model = MODELS["aws:fsx/lustreFileSystem:LustreFileSystem"]
    found = resolve(model, "subnetIds", roots(model.calls))
    assert found is not None and found.kind == "list"


def test_every_enum_of_the_issue_is_there() -> None:
    members = operation("eks", "CreateNodegroup").members
    assert "AL2023_x86_64_NVIDIA" in members["amiType"].enum
    assert members["capacityType"].enum == ("ON_DEMAND", "SPOT", "CAPACITY_BLOCK")
