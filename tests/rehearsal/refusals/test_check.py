"""What holds for every check: unknown values, secrets, references without ids, order, speed."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from tests.rehearsal.refusals.builders import changed, findings, resource
from tests.rehearsal.refusals.good_aws import AWS
from tests.rehearsal.refusals.good_kubernetes import KUBERNETES
from trainyard.recorded.model import UNKNOWN, RecordedResource, Secret
from trainyard.rehearsal.context import expand, show


def paths(value: Any, path: str = "") -> list[str]:
    """The path of everything in a value, scalars and containers."""
    found = [path] if path else []
    if isinstance(value, dict):
        for key, item in value.items():
            if "." not in key and "[" not in key:
                found += paths(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += paths(item, f"{path}[{index}]")
    return found


@pytest.mark.parametrize("item", KUBERNETES, ids=lambda item: f"{item.type.rpartition(':')[2]}-{item.name}")
def test_an_unknown_value_is_never_complained_about(item: RecordedResource) -> None:
    """Each input of the good stack made unknown, at each depth: no new finding anywhere."""
    for path in paths(dict(item.inputs)):
        if path in ("kind", "apiVersion", "chart", "version"):
            continue
        found = findings(changed(KUBERNETES, item.name, path, UNKNOWN))
        assert [str(finding) for finding in found if finding.name == item.name] == [], path


def test_no_resource_is_known_by_id_before_it_is_made() -> None:
    """A first preview: no ids, references unknown; mistakes between resources are still found by the dependencies."""
    template = resource("aws:ec2/launchTemplate:LaunchTemplate", "template", {"instanceType": "p4d.24xlarge"})
    template = dataclasses.replace(template, id=UNKNOWN)
    group = resource(
        "aws:eks/nodeGroup:NodeGroup",
        "group",
        {
            "clusterName": UNKNOWN,
            "nodeRoleArn": UNKNOWN,
            "subnetIds": UNKNOWN,
            "instanceTypes": ["p4d.24xlarge"],
            "scalingConfig": {"minSize": 0, "desiredSize": 0, "maxSize": 1},
            "launchTemplate": {"id": UNKNOWN, "version": UNKNOWN},
        },
    )
    group = dataclasses.replace(group, property_dependencies={"launchTemplate": (template.urn,)})
    assert [finding.rule for finding in findings([template, group])] == ["launch-template-conflict"]


def test_a_secret_is_checked_and_never_shown() -> None:
    """The name of a bucket as a secret: refused, and nowhere in the text."""
    found = findings(changed(AWS, "checkpoints", "bucket", Secret("Very_Secret_Name")))
    assert [finding.rule for finding in found] == ["s3-name"]
    text = "".join(found[0].as_json().values())
    assert "Very_Secret" not in text and "not shown" in text
    assert findings(changed(AWS, "checkpoints", "bucket", Secret("acme-checkpoints"))) == []


def test_a_secret_part_of_a_policy_is_never_shown() -> None:
    found = findings(changed(AWS, "managed", "policy", Secret('{"Statement": [{"Effect": "hidden-word"}]}')))
    assert found
    assert all("hidden-word" not in str(finding) for finding in found)


def test_numbers_as_text_and_whole_floats_are_read() -> None:
    assert findings(changed(AWS, "train-reserved", "scalingConfig.maxSize", 2.0)) == []
    assert findings(changed(AWS, "train-reserved", "scalingConfig.maxSize", "2")) == []
    assert [f.path for f in findings(changed(AWS, "train-reserved", "scalingConfig.maxSize", "0"))] == [
        "scalingConfig.maxSize"
    ]


@pytest.mark.parametrize(
    ("type_", "name", "ok"),
    [
        ("aws:iam/role:Role", "r" * 56, True),
        ("aws:iam/role:Role", "r" * 57, False),
        ("aws:eks/nodeGroup:NodeGroup", "n" * 55, True),
        ("aws:eks/nodeGroup:NodeGroup", "n" * 56, False),
        ("aws:s3/bucket:Bucket", "b" * 55, True),
        ("aws:s3/bucket:Bucket", "b" * 56, False),
        ("aws:s3/bucket:Bucket", "under_score", False),
        ("aws:ec2/securityGroup:SecurityGroup", "sg-nodes", False),
        ("aws:sns/topic:Topic", "t" * 249, False),
    ],
)
def test_a_logical_name_leaves_room_for_the_suffix(type_: str, name: str, ok: bool) -> None:
    found = [f for f in findings([resource(type_, name, {})]) if f.rule in ("auto-name", "s3-name")]
    assert bool(found) is not ok


def test_findings_name_component_resource_and_what_is_allowed() -> None:
    found = findings(changed(AWS, "train-reserved", "capacityType", "SPOTT"))
    assert str(found[0]) == (
        "environment: aws:eks/nodeGroup:NodeGroup train-reserved: capacityType: got 'SPOTT' "
        "(one of ON_DEMAND, SPOT, CAPACITY_BLOCK; did you mean SPOT?)"
    )


def test_one_finding_a_place() -> None:
    found = findings(changed(AWS, "lustre", "storageCapacity", 100))
    assert [finding.path for finding in found] == ["storageCapacity"]


def test_paths() -> None:
    value = {"a": [{"b": 1}, {"b": UNKNOWN}, {}]}
    assert list(expand(value, "a[].b")) == [("a[0].b", 1)]
    assert show(3.0) == "3" and show(True) == "true" and len(show("x" * 200)) == 80
