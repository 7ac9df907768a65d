"""EnvironmentKey: who may use the key, and for what."""

from __future__ import annotations

import json
from typing import Any

import boto3
import pytest
from moto import mock_aws

from tests.components.aws.api_shape import REGION, inputs_of, refusals
from tests.components.aws.recordings import document
from tests.pulumi_harness import ACCOUNT, Recording, record
from trainyard.components.aws.encryption import EnvironmentKey

KEY = "aws:kms/key:Key"
AUTOSCALING = f"arn:aws:iam::{ACCOUNT}:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"
DEPLOY = f"arn:aws:iam::{ACCOUNT}:role/deploy"
ROOT = f"arn:aws:iam::{ACCOUNT}:root"
EVERY_USE: dict[str, Any] = {
    "services": ["rds", "secretsmanager"],
    "bucket_arns": ["arn:aws:s3:::acme-data-???????"],
    "log_groups": ["/aws/rds/*"],
    "role_arns": [f"arn:aws:iam::{ACCOUNT}:role/cluster-control-*"],
    "publishers": ["sns.amazonaws.com", "budgets.amazonaws.com"],
    "node_volumes": True,
}


def recorded(preview: bool = False, **changes: Any) -> Recording:
    args: Any = {
        "alias": "alias/acme-production",
        "purpose": "Everything",
        "account_id": ACCOUNT,
        "region": REGION,
        "administrator_arns": [DEPLOY],
        "protect": True,
        **changes,
    }
    return record(lambda: EnvironmentKey("env", args), preview=preview)


def policy(recording: Recording) -> dict[str, dict[str, Any]]:
    return {statement["Sid"]: statement for statement in document(recording.one(KEY), "policy")["Statement"]}


def test_key_rotates_is_protected_and_bound_to_its_region() -> None:
    key = recorded().one(KEY)
    assert inputs_of(key)["enableKeyRotation"] is True
    assert inputs_of(key)["multiRegion"] is False
    assert inputs_of(key)["deletionWindowInDays"] == 30
    assert key.protect
    assert not recorded(protect=False).one(KEY).protect
    assert inputs_of(recorded(deletion_window_days=7).one(KEY))["deletionWindowInDays"] == 7


def test_alias_names_the_key() -> None:
    recording = recorded()
    alias = inputs_of(recording.one("aws:kms/alias:Alias"))
    assert alias["name"] == "alias/acme-production"
    assert len(alias["targetKeyId"]) == 36


def test_no_statement_is_for_everybody() -> None:
    for statement in policy(recorded(**EVERY_USE)).values():
        assert "*" not in json.dumps(statement["Principal"])


def test_only_administrators_and_the_root_user_change_a_key() -> None:
    found = policy(recorded(**EVERY_USE))
    administer = found.pop("Administer")
    assert administer["Action"] == ["kms:*"]
    assert administer["Condition"] == {"ArnLike": {"aws:PrincipalArn": [DEPLOY, ROOT]}}
    changes = ("Put", "Schedule", "Disable", "Enable", "Delete", "Update", "Tag", "Untag", "Revoke", "Retire", "*")
    for sid, statement in found.items():
        for action in statement["Action"]:
            assert not action.removeprefix("kms:").startswith(changes), sid
        if "kms:CreateGrant" in statement["Action"]:
            assert statement["Condition"]["Bool"] == {"kms:GrantIsForAWSResource": "true"}


def test_a_key_without_a_use_is_for_its_administrators_alone() -> None:
    found = policy(recorded())
    assert set(found) == {"Administer", "LookAndSave"}
    assert not {"kms:Decrypt", "kms:GenerateDataKey*"} & set(found["LookAndSave"]["Action"])


def test_the_accounts_roles_come_through_the_named_services_and_buckets_only() -> None:
    found = policy(recorded(**EVERY_USE))
    for sid in ("UseForBuckets", "UseThroughServices", "LendToServices"):
        assert found[sid]["Principal"] == {"AWS": ROOT}
        assert found[sid]["Condition"]["StringEquals"]["kms:CallerAccount"] == ACCOUNT
    for_buckets = found["UseForBuckets"]["Condition"]
    assert for_buckets["StringEquals"]["kms:ViaService"] == [f"s3.{REGION}.amazonaws.com"]
    bucket = "arn:aws:s3:::acme-data-???????"
    assert for_buckets["ArnLike"] == {"kms:EncryptionContext:aws:s3:arn": [bucket, f"{bucket}/*"]}
    through = [f"rds.{REGION}.amazonaws.com", f"secretsmanager.{REGION}.amazonaws.com"]
    assert found["UseThroughServices"]["Condition"]["StringEquals"]["kms:ViaService"] == through
    assert found["UseByRoles"]["Condition"]["ArnLike"] == {"aws:PrincipalArn": EVERY_USE["role_arns"]}


def test_every_service_is_held_to_this_account() -> None:
    found = policy(recorded(**EVERY_USE))
    logs = found["EncryptLogGroups"]
    assert logs["Principal"] == {"Service": "logs.us-east-1.amazonaws.com"}
    assert logs["Condition"]["ArnLike"] == {
        "kms:EncryptionContext:aws:logs:arn": [f"arn:aws:logs:us-east-1:{ACCOUNT}:log-group:/aws/rds/*"]
    }
    alerts = found["PublishAlerts"]
<<<<<<< HEAD
    assert set(alerts["Principal"]["Service"]) == {"sns.amazonaws.com", "budgets.amazonaws.com"}
=======
    assert set(alerts["Principal"]["Service"]) == {
        "sns.amazonaws.com",
        "budgets.amazonaws.com",
        "costalerts.amazonaws.com",
        "events.amazonaws.com",
    }
>>>>>>> refs/heads/w-audit
    assert alerts["Condition"] == {"StringEquals": {"aws:SourceAccount": ACCOUNT}}
    assert set(alerts["Action"]) == {"kms:Decrypt", "kms:GenerateDataKey*"}


def test_auto_scaling_may_encrypt_volumes_and_grant_only_for_aws_resources() -> None:
    found = policy(recorded(**EVERY_USE))
    assert found["EncryptNodeVolumes"]["Principal"] == {"AWS": AUTOSCALING}
    assert "kms:CreateGrant" not in found["EncryptNodeVolumes"]["Action"]
    grant = found["AttachNodeVolumes"]
    assert grant["Principal"] == {"AWS": AUTOSCALING}
    assert grant["Condition"] == {"Bool": {"kms:GrantIsForAWSResource": "true"}}


def test_an_account_without_the_auto_scaling_role_gets_it_before_the_key() -> None:
    recording = recorded(node_volumes=True, create_autoscaling_role=True)
    role = recording.one("aws:iam/serviceLinkedRole:ServiceLinkedRole")
    assert role.inputs["awsServiceName"] == "autoscaling.amazonaws.com"
    assert role.urn in recording.one(KEY).dependencies
    assert not recorded(node_volumes=True).of_type("aws:iam/serviceLinkedRole:ServiceLinkedRole")


def test_first_preview_registers_the_same_resources() -> None:
    for changes in (EVERY_USE, {**EVERY_USE, "create_autoscaling_role": True}):
        known, unknown = recorded(**changes), recorded(preview=True, **changes)
        assert {(r.type, r.name) for r in known.resources} == {(r.type, r.name) for r in unknown.resources}


def test_kms_takes_the_key() -> None:
    made = recorded(**EVERY_USE).one(KEY)
    request = {
        "Policy": inputs_of(made)["policy"],
        "Description": inputs_of(made)["description"],
        "MultiRegion": False,
    }
    assert refusals("kms", "CreateKey", request) == []
    with mock_aws():
        client = boto3.client("kms", region_name=REGION)
        key_id = client.create_key(**request)["KeyMetadata"]["KeyId"]
        client.create_alias(AliasName="alias/acme-production", TargetKeyId=key_id)
        client.enable_key_rotation(KeyId=key_id)
        assert client.get_key_rotation_status(KeyId=key_id)["KeyRotationEnabled"]
        stored = json.loads(client.get_key_policy(KeyId=key_id, PolicyName="default")["Policy"])
    assert stored == json.loads(request["Policy"])
    assert len(request["Policy"]) < 32_768  # what KMS takes


@pytest.mark.parametrize("region", ["me-central-1", "eu-west-1"])
def test_logs_of_another_region_use_their_own_regions_name(region: str) -> None:
    assert policy(recorded(region=region, log_groups=["*"]))["EncryptLogGroups"]["Principal"] == {
        "Service": f"logs.{region}.amazonaws.com"
    }


@pytest.mark.parametrize("alias", ["acme-production", "alias/", "alias/acme.production", "alias/aws/acme"])
def test_an_alias_that_kms_refuses_is_refused_by_name(alias: str) -> None:
    with pytest.raises(ValueError, match=f"alias '{alias}'"):
        recorded(alias=alias)
