"""Attacks on data: what a team shares it reads, what is another's it does not see, and a key opens one thing.

Over each example stack as it is recorded; every attack is refused, and whoever is there for a use is allowed it.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conftest import EKS
from trainyard.conventions import (
    INGEST_GROUP,
    INGEST_NAMESPACE,
    TEAM_LABEL,
    TRAINER_SERVICE_ACCOUNT,
    data_prefix,
    team_group,
    team_prefix,
)
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import BUCKET, EFS, EFS_POLICY, KEY, LUSTRE, NAMESPACE, VOLUME
from trainyard.rehearsal.works.rights.aws.recorded_policies import arn_of
from trainyard.rehearsal.works.rights.principals import Person, Pod
from trainyard.rehearsal.works.rights.stack import Rights

STACKS = EKS
INGEST = Pod(INGEST_NAMESPACE, INGEST_NAMESPACE)
WRITES = ("s3:PutObject", "s3:DeleteObject", "s3:DeleteObjectVersion", "s3:PutObjectTagging")


@pytest.fixture(scope="module")
def rights(resources: Resources) -> Rights:
    return Rights(resources)


@pytest.fixture(scope="module")
def teams(resources: Resources) -> dict[str, str]:
    """Namespace by team."""
    return {
        labels[TEAM_LABEL]: namespace.inputs["metadata"]["name"]
        for namespace in resources.of(NAMESPACE)
        if TEAM_LABEL in (labels := namespace.inputs["metadata"].get("labels", {}))
    }


def bucket(resources: Resources, purpose: str) -> str:
    return next(arn_of(found) for found in resources.of(BUCKET) if found.name.endswith(f"-{purpose}"))


def key(resources: Resources, name: str) -> str:
    return next(arn_of(found) for found in resources.of(KEY) if found.name == f"{name}-key")


def via(resources: Resources, service: str, **context: str) -> dict[str, str]:
    return {"kms:ViaService": f"{service}.{key(resources, 'data').split(':')[3]}.amazonaws.com", **context}


def of_bucket(resources: Resources, purpose: str, service: str = "s3") -> dict[str, str]:
    return via(resources, service, **{"kms:EncryptionContext:aws:s3:arn": bucket(resources, purpose)})


def volumes(resources: Resources) -> dict[str, dict[str, Any]]:
    return {volume.inputs["metadata"]["name"]: volume.inputs["spec"] for volume in resources.of(VOLUME)}


def test_training_pods_read_the_data_and_write_none(
    rights: Rights, resources: Resources, teams: dict[str, str]
) -> None:
    shard = f"{bucket(resources, 'data')}/{data_prefix()}set-1/shard-0"
    for namespace in teams.values():
        pod = Pod(namespace, TRAINER_SERVICE_ACCOUNT)
        assert rights.may(pod, "s3:GetObject", shard).allowed
        for action in WRITES:
            assert rights.may(pod, action, shard).refused, action


def test_the_folders_that_say_whose_scratch_is_whose_are_nobodys_to_write(
    rights: Rights, resources: Resources, teams: dict[str, str]
) -> None:
    for team, namespace in teams.items():
        folder = f"{bucket(resources, 'data')}/scratch/{team_prefix(team)}"
        for pod in (Pod(namespace, TRAINER_SERVICE_ACCOUNT), INGEST):
            for action in ("s3:GetObject", *WRITES):
                assert rights.may(pod, action, folder).refused


def test_data_are_mounted_read_only_whatever_a_pod_asks_for(resources: Resources, teams: dict[str, str]) -> None:
    for team in teams:
        spec = volumes(resources)[f"{team}-data"]
        assert spec["csi"]["readOnly"] is True
        assert {"ro", "read-only"} & set(spec["mountOptions"])
        assert spec["claimRef"] == {"namespace": teams[team], "name": "data"}


def test_a_team_mounts_no_folder_of_another(resources: Resources, teams: dict[str, str]) -> None:
    for name, spec in volumes(resources).items():
        if name.endswith(("-scratch", "-checkpoints")):
            team = name.rpartition("-")[0]
            place = json.dumps([spec["csi"]["volumeAttributes"], spec["mountOptions"]])
            assert f"teams/{team}" in place
            assert not [other for other in teams if other != team and f"teams/{other}" in place]


def test_whoever_ingests_writes_the_data_and_nothing_else(rights: Rights, resources: Resources) -> None:
    data = bucket(resources, "data")
    for action in ("s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"):
        assert rights.may(INGEST, action, f"{data}/{data_prefix()}set-1/shard-0").allowed
    assert rights.may(INGEST, "s3:DeleteObjectVersion", f"{data}/{data_prefix()}set-1/shard-0").refused
    for purpose in ("checkpoints", "artifacts", "logs"):
        for action in ("s3:GetObject", *WRITES):
            assert rights.may(INGEST, action, f"{bucket(resources, purpose)}/any").refused
    for action in ("s3:PutLifecycleConfiguration", "s3:PutBucketVersioning", "s3:PutBucketPolicy", "s3:DeleteBucket"):
        assert rights.may(INGEST, action, data).refused


def test_a_key_opens_its_own_bucket_through_s3_only(
    rights: Rights, resources: Resources, teams: dict[str, str]
) -> None:
    for namespace in teams.values():
        pod = Pod(namespace, TRAINER_SERVICE_ACCOUNT)
        for own, uses in (("data", ["Decrypt"]), ("checkpoints", ["Decrypt", "GenerateDataKey"])):
            for use in uses:
                assert rights.may(pod, f"kms:{use}", key(resources, own), of_bucket(resources, own)).allowed
                for context in (
                    {},
                    via(resources, "s3"),
                    of_bucket(resources, "artifacts"),
                    of_bucket(resources, own, "lambda"),
                ):
                    assert rights.may(pod, f"kms:{use}", key(resources, own), context).refused, context
        assert rights.may(pod, "kms:GenerateDataKey", key(resources, "data"), of_bucket(resources, "data")).refused
        for other in ("tracking", "platform"):
            assert rights.may(pod, "kms:Decrypt", key(resources, other), of_bucket(resources, "artifacts")).refused


def test_nobody_but_administrators_changes_a_key(rights: Rights, resources: Resources) -> None:
    account = key(resources, "data").split(":")[4]
    for name in ("data", "checkpoints", "tracking", "platform"):
        for action in ("kms:PutKeyPolicy", "kms:CreateGrant", "kms:ScheduleKeyDeletion", "kms:Decrypt"):
            for who in (INGEST, Pod("mlflow", "mlflow"), f"arn:aws:iam::{account}:role/somebody"):
                assert rights.may(who, action, key(resources, name)).refused


def test_a_member_of_a_team_does_nothing_where_the_data_come_in(rights: Rights, teams: dict[str, str]) -> None:
    where = {"namespace": INGEST_NAMESPACE}
    for team in teams:
        for verb, thing in (("create", "jobs.batch"), ("create", "pods"), ("get", "pods"), ("create", "pods/exec")):
            assert rights.may(Person((team_group(team),)), verb, thing, where).refused
    member = Person((INGEST_GROUP,))
    assert rights.may(member, "create", "jobs.batch", where).allowed
    assert rights.may(member, "get", "pods/log", where).allowed
    for verb, thing in (
        ("create", "persistentvolumes"),
        ("create", "persistentvolumeclaims"),
        ("create", "serviceaccounts"),
        ("get", "secrets"),
        ("create", "rolebindings.rbac.authorization.k8s.io"),
        ("delete", "networkpolicies.networking.k8s.io"),
        ("delete", "resourcequotas"),
    ):
        assert rights.may(member, verb, thing, where).refused, thing
    for namespace in teams.values():
        assert rights.may(member, "create", "jobs.batch", {"namespace": namespace}).refused


def test_root_of_a_node_is_nobodys_root_on_the_file_systems(resources: Resources) -> None:
    for system in resources.of(LUSTRE):
        squash = system.inputs["rootSquashConfiguration"]
        assert "0" not in squash["rootSquash"].split(":")
        assert not squash.get("noSquashNids")
    for system in resources.of(EFS):
        (policy,) = resources.referring(system, "fileSystemId", EFS_POLICY)
        allowed = [each for each in json.loads(policy.inputs["policy"])["Statement"] if each["Effect"] == "Allow"]
        assert "elasticfilesystem:ClientRootAccess" not in json.dumps(allowed)
