"""Inputs of AWS that are unusual and right are not refused, one resource alone; what is wrong beside them is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import pytest

from tests.rehearsal.refusals.builders import ACCOUNT, CONTEXT, ROLE, resource
from trainyard.recorded.model import UNKNOWN, RecordedResource
from trainyard.rehearsal.context import ValueContext
from trainyard.rehearsal.refusals import check_values

Row = tuple[str, dict[str, Any]]
SCANNING: Final = "aws:ecr/registryScanningConfiguration:RegistryScanningConfiguration"
DEFINITION: Final = "aws:batch/jobDefinition:JobDefinition"
EFS: Final = "aws:efs/fileSystem:FileSystem"


def told(type_: str, inputs: Mapping[str, Any], context: ValueContext = CONTEXT,
         *beside: RecordedResource) -> set[tuple[str, str, str]]:  # fmt: skip
    """What is said of one resource: level, rule and path."""
    found = check_values([resource(type_, "one", inputs), *beside], context)
    return {(one.level, one.rule, one.path) for one in found if one.name == "one"}


def job(**container: Any) -> Row:
    return DEFINITION, {"name": "train", "type": "container", "containerProperties": json.dumps(container)}


RIGHT: Final[Mapping[str, Row]] = {
    "a filter of images that no pattern of ours can hold in time": (
        SCANNING,
        {"scanType": "BASIC",
         "rules": [{"scanFrequency": "SCAN_ON_PUSH",
                    "repositoryFilters": [{"filter": f"{'a' * 30}/b", "filterType": "WILDCARD"}]}]}),
    "an archive after a time that nobody knows yet": (
        EFS, {"throughputMode": "elastic", "lifecyclePolicies": [{"transitionToArchive": UNKNOWN}]}),
}  # fmt: skip


@pytest.mark.parametrize("what", RIGHT)
def test_what_is_unusual_and_right_is_not_told(what: str) -> None:
    assert told(*RIGHT[what]) == set()


@pytest.mark.parametrize(
    ("key", "value"),
    [("resourceRequirements", 5), ("resourceRequirements", [{"type": ["GPU"], "value": "1"}]), ("volumes", 5),
     ("volumes", [{"name": ["a"]}]), ("mountPoints", {"sourceVolume": "a"}), ("mountPoints", [{"sourceVolume": []}])],
)  # fmt: skip
def test_a_job_of_any_shape_is_read(key: str, value: Any) -> None:
    assert told(*job(image="busybox", vcpus=1, memory=512, **{key: value})) <= {
        ("error", "batch-definition", "containerProperties")
    }
