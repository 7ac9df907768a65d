"""Amazon's service models taken apart at their lines, and parsed an entry at a time."""

from __future__ import annotations

import gzip
import json

import pytest

from trainyard import cards
from trainyard.rehearsal.refusals.aws import models
from trainyard.rehearsal.refusals.aws.models import ModelMissingError, Shape, entries, operation, operations

SERVICES = sorted(
    {call.split(".")[0] for card in cards.BY_TYPE.values() if card.model is not None for call in card.model.calls}
)


def text_of(service: str) -> bytes:
    return gzip.decompress(sorted(models._data_folder().glob(f"{service}/*/service-2.json.gz"))[-1].read_bytes())


@pytest.mark.parametrize("service", ["budgets", "iam", "kms", "s3"])
def test_every_entry_is_what_the_whole_model_has(service: str) -> None:
    whole = json.loads(text_of(service))
    assert operations(service) == whole["operations"].keys()
    for section in ("operations", "shapes"):
        found = {name: models._entry(service, section, name) for name in models._model(service)[section]}
        assert found == whole[section]


@pytest.mark.parametrize("service", SERVICES)
def test_every_model_that_a_card_names_is_laid_out_in_lines(service: str) -> None:
    assert len(entries(text_of(service), "shapes")) > 20


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_a_model_that_is_laid_out_otherwise_is_parsed_whole(indent: int | None) -> None:
    whole = {"operations": {}, "shapes": {"Name": {"type": "string", "documentation": '\n  "shapes":{\n    "Other":{'}}}
    [(name, rest)] = entries(json.dumps(whole, indent=indent).encode(), "shapes").items()
    assert (name, json.loads(rest)) == ("Name", whole["shapes"]["Name"])


def test_a_text_in_an_entry_begins_none() -> None:
    whole = {"operations": {}, "shapes": {"A": {"documentation": '\n    "B":{}\n  }'}, "C": {"members": {"D": {}}}}}
    assert list(entries(json.dumps(whole, indent=2).encode(), "shapes")) == ["A", "C"]


def test_what_no_model_has_is_told() -> None:
    assert operation("eks", "CreateNodegroup").members["scalingConfig"].name == "NodegroupScalingConfig"
    with pytest.raises(ModelMissingError, match="eks has no operation CreateNode"):
        operation("eks", "CreateNode")
    for no_name in ("", "..", "/etc", "*"):
        with pytest.raises(ModelMissingError, match="no name of a service"):
            operations(no_name)
    with pytest.raises(ModelMissingError, match="no service elastic-kubernetes"):
        operation("elastic-kubernetes", "CreateNodegroup")
    with pytest.raises(KeyError):
        assert Shape("eks", "Nothing").kind


@pytest.mark.parametrize(
    ("pattern", "endless"),
    [
        ("^[a-z0-9*](?:[._/a-z0-9*]?[a-z0-9*]+)*$", True),  # of ECR's filters
        ("[a-zA-Z](?:-?[a-zA-Z0-9]+)*", True),  # of a proxy's name
        ("https://([a-z0-9]+/?){3,1016}", True),
        ("([a-z]+|-)*", True),
        ("(x(.[0-9]+)*)?", True),
        ("[a-z0-9]+((\\.|_|__|-+)[a-z0-9]+)*", False),
        ("((/[A-Za-z0-9_-]+)*)/", False),
        ("(((?!-)[a-z-]{0,62}[a-z])\\.)+", False),
        ("[a-z](-*[a-z]){0,62}", False),
        ("([a-z]+/?)?", False),
    ],
)
def test_a_pattern_that_never_ends_is_left_out(pattern: str, endless: bool) -> None:
    assert (models.compiled(pattern) is None) is endless
