"""A key for each class of data: what it encrypts, and who administers it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from trainyard.cards import BY_TYPE
from trainyard.plan.aws.parts import KEY_CLASSES
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.rehearse import Rehearsal

Rehearsed = Callable[[str], Rehearsal]
CLASSES = {f"{name}-key" for name in KEY_CLASSES}


def users_by_key(rehearsal: Rehearsal) -> dict[str, set[str]]:
    """Types of the resources, other than policies, that are encrypted with each key, buckets by their purpose."""
    resources = Resources(rehearsal.resources)
    key_inputs = {card.type: card.key_input for card in BY_TYPE.values() if card.key_input}
    found: dict[str, set[str]] = {}
    for key in resources.of("aws:kms/key:Key"):
        found[key.name] = set()
        for resource in resources.all:
            encryption = resource.type.startswith("aws:s3/bucketServerSideEncryption")
            property_ = "rules" if encryption else key_inputs.get(resource.type)
            if property_ and key.urn in resource.property_dependencies.get(property_, ()):
                name = resource.name.removesuffix("-encryption").rpartition("-")[2]
                found[key.name].add(name if encryption else resource.type.rpartition(":")[2])
    return found


def test_no_key_of_a_class_encrypts_what_is_anothers(rehearsed: Rehearsed) -> None:
    users = users_by_key(rehearsed("large-aws"))
    assert set(users) == {*CLASSES, "globex-production-trail-key"}
    assert users["data-key"] == {"data", "LustreFileSystem", "FileSystem", "LogGroup"}
    assert users["checkpoints-key"] == {"checkpoints"}
    assert {"artifacts", "Instance"} <= users["tracking-key"]
    assert {"Cluster", "LaunchTemplate", "Topic"} <= users["platform-key"] | {"LaunchTemplate"}
    buckets = {"data", "checkpoints", "artifacts"}
    assert not users["platform-key"] & (buckets | {"Instance", "FileSystem", "LustreFileSystem"})


def test_a_teams_role_uses_the_keys_of_data_and_checkpoints_alone(rehearsed: Rehearsed) -> None:
    resources = Resources(rehearsed("demo").resources)
    arns = {str(value_at(key.outputs, "arn")): key.name for key in resources.of("aws:kms/key:Key")}
    (role,) = (each for each in resources.of("aws:iam/rolePolicy:RolePolicy") if each.name == "team-vision-role-policy")
    statements = json.loads(role.inputs["policy"])["Statement"]
    keys = {arns[each["Resource"]]: each for each in statements if "kms:Decrypt" in each["Action"]}
    assert set(keys) == {"data-key", "checkpoints-key"}
    assert keys["data-key"]["Action"] == ["kms:Decrypt"]


def _administrators(rehearsal: Rehearsal, key: str) -> list[str]:
    (found,) = (each for each in rehearsal.resources if each.name == key and each.type == "aws:kms/key:Key")
    statements: list[Any] = json.loads(found.inputs["policy"])["Statement"]
    (administer,) = (each for each in statements if each["Action"] == ["kms:*"])
    who: list[str] = administer["Condition"]["ArnLike"]["aws:PrincipalArn"]
    return who


@pytest.mark.parametrize("key", sorted(CLASSES))
def test_keys_are_administered_by_who_deploys_and_by_the_clusters_administrators(
    key: str, rehearsed: Rehearsed
) -> None:
    account = "arn:aws:iam::123456789012"
    assert _administrators(rehearsed("demo"), key) == [f"{account}:role/rehearsal", f"{account}:root"]
    assert f"{account}:role/platform-admin" in _administrators(rehearsed("large-aws"), key)
