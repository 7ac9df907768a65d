"""StorageTiers: what is registered, and what an S3 makes of it."""

from __future__ import annotations

import functools
import json
from typing import Any

import boto3
import pytest
from moto import mock_aws

from tests.components.aws.api_shape import KEY_ARN, REGION, api_shape, inputs_of, refusals
from tests.pulumi_harness import ACCOUNT, Recording, record
from trainyard.components.aws.storage import StorageTiers

SUBNET_A = "subnet-0a00000000000000a"
SUBNET_B = "subnet-0b00000000000000b"
LUSTRE = {"subnet_id": SUBNET_A, "capacity_gib": 4800, "throughput_mbps_per_tib": 250}
SHARED_SUBNETS = {"us-east-1a": SUBNET_A, "us-east-1b": SUBNET_B}
KEY_ARNS = {
    "data": KEY_ARN,
    "checkpoints": KEY_ARN.replace("key/0", "key/c"),
    "artifacts": KEY_ARN.replace("key/0", "key/a"),
}
PURPOSES = ("data", "checkpoints", "artifacts")


def arguments(**changes: Any) -> Any:
    return {
        "account_id": ACCOUNT,
        "vpc_id": "vpc-0",
        "client_security_group_ids": {"cluster": "sg-0cluster"},
        "key_arns": KEY_ARNS,
        "data_version_days": 120,
        "scratch_folders": ["teams/vision/", "teams/speech/"],
        "checkpoint_expire_days": 30,
        "checkpoint_keep_versions": 3,
        "multipart_cleanup_days": 7,
        "artifact_retention_days": 90,
        "artifact_transition_days": 60,
        "protect": True,
        "lustre": LUSTRE,
        "shared_file_system_subnet_ids": SHARED_SUBNETS,
        "shared_directories": ["vision", "speech"],
        **changes,
    }


def storage(**changes: Any) -> Recording:
    return record(lambda: StorageTiers("acme-storage", arguments(**changes)))


@functools.cache
def complete() -> Recording:
    return storage()


def of_bucket(recording: Recording, kind: str, purpose: str, suffix: str) -> dict[str, Any]:
    return inputs_of(recording.one(f"aws:s3/{kind}:{kind[0].upper()}{kind[1:]}", f"acme-storage-{purpose}-{suffix}"))


def rules(recording: Recording, purpose: str) -> dict[str, dict[str, Any]]:
    lifecycle = of_bucket(recording, "bucketLifecycleConfiguration", purpose, "lifecycle")
    return {rule["id"]: rule for rule in lifecycle["rules"]}


def bucket_name(purpose: str) -> str:
    """The automatic name of a bucket of the complete tiers, which is its id."""
    return str(complete().one("aws:s3/bucket:Bucket", f"acme-storage-{purpose}").id)


def statements(recording: Recording, purpose: str) -> dict[str, dict[str, Any]]:
    policy = json.loads(of_bucket(recording, "bucketPolicy", purpose, "policy")["policy"])
    return {statement["Sid"]: statement for statement in policy["Statement"]}


class TestEveryBucket:
    def test_three_purposes_and_the_logs(self) -> None:
        names = {bucket.name for bucket in complete().of_type("aws:s3/bucket:Bucket")}
        assert names == {f"acme-storage-{purpose}" for purpose in (*PURPOSES, "logs")}

    @pytest.mark.parametrize("protect", [True, False])
    def test_protected_as_asked_and_never_emptied(self, protect: bool) -> None:
        recording = storage(protect=protect)
        buckets = recording.of_type("aws:s3/bucket:Bucket")
        assert [(bucket.protect, bucket.inputs["forceDestroy"]) for bucket in buckets] == [(protect, False)] * 4
        for type_ in ("aws:fsx/lustreFileSystem:LustreFileSystem", "aws:efs/fileSystem:FileSystem"):
            assert recording.one(type_).protect is protect

    @pytest.mark.parametrize("purpose", [*PURPOSES, "logs"])
    def test_private_versioned_owned(self, purpose: str) -> None:
        assert of_bucket(complete(), "bucketPublicAccessBlock", purpose, "public-access") == {
            "bucket": bucket_name(purpose),
            "blockPublicAcls": True,
            "blockPublicPolicy": True,
            "ignorePublicAcls": True,
            "restrictPublicBuckets": True,
        }
        versioning = of_bucket(complete(), "bucketVersioning", purpose, "versioning")
        assert versioning["versioningConfiguration"] == {"status": "Enabled"}
        ownership = of_bucket(complete(), "bucketOwnershipControls", purpose, "ownership")
        assert ownership["rule"] == {"objectOwnership": "BucketOwnerEnforced"}

    @pytest.mark.parametrize("purpose", [*PURPOSES, "logs"])
    def test_tls_only(self, purpose: str) -> None:
        found = statements(complete(), purpose)
        whole = [f"arn:aws:s3:::{bucket_name(purpose)}", f"arn:aws:s3:::{bucket_name(purpose)}/*"]
        for sid, condition in (
            ("DenyPlainHttp", {"Bool": {"aws:SecureTransport": "false"}}),
            ("DenyOldTls", {"NumericLessThan": {"s3:TlsVersion": "1.2"}}),
        ):
            assert found[sid] == {
                "Sid": sid,
                "Effect": "Deny",
                "Principal": {"AWS": "*"},
                "Action": "s3:*",
                "Resource": whole,
                "Condition": condition,
            }
        assert [s["Principal"] for s in found.values() if s["Effect"] == "Allow"] == (
            [{"Service": "logging.s3.amazonaws.com"}] if purpose == "logs" else []
        )

    @pytest.mark.parametrize("purpose", [*PURPOSES, "logs"])
    def test_uploads_that_were_never_completed_are_cleaned_up_everywhere(self, purpose: str) -> None:
        assert rules(storage(multipart_cleanup_days=5), purpose)["abort-incomplete-uploads"] == {
            "id": "abort-incomplete-uploads",
            "status": "Enabled",
            "filter": {"prefix": ""},
            "abortIncompleteMultipartUpload": {"daysAfterInitiation": 5},
        }

    @pytest.mark.parametrize("purpose", [*PURPOSES, "logs"])
    def test_every_rule_has_one_thing_to_do_and_says_on_what(self, purpose: str) -> None:
        for rule in rules(complete(), purpose).values():
            assert rule["filter"] == {"prefix": ""}
            assert len(rule.keys() - {"id", "status", "filter"}) == 1

    def test_names_fit(self) -> None:
        with pytest.raises(ValueError, match="2 to 55 characters: lower-case"):
            record(lambda: StorageTiers("a" * 50, arguments()))
        with pytest.raises(ValueError, match="'Acme-logs': the name must have"):
            record(lambda: StorageTiers("Acme", arguments()))


class TestEncryption:
    @pytest.mark.parametrize("purpose", PURPOSES)
    def test_with_the_environments_key_only(self, purpose: str) -> None:
        encryption = of_bucket(complete(), "bucketServerSideEncryptionConfiguration", purpose, "encryption")
        assert encryption["rules"] == [
            {
                "applyServerSideEncryptionByDefault": {"sseAlgorithm": "aws:kms", "kmsMasterKeyId": KEY_ARNS[purpose]},
                "bucketKeyEnabled": True,
            }
        ]
        found = statements(complete(), purpose)
        named = {"s3:x-amz-server-side-encryption": "false"}
        assert found["DenyOtherEncryption"]["Condition"] == {
            "Null": named,
            "StringNotEquals": {"s3:x-amz-server-side-encryption": "aws:kms"},
        }
        assert found["DenyOtherKeys"]["Condition"] == {
            "Null": named,
            "StringNotEquals": {"s3:x-amz-server-side-encryption-aws-kms-key-id": KEY_ARNS[purpose]},
        }

    def test_log_bucket_takes_deliveries_of_this_account_only_and_so_sse_s3(self) -> None:
        encryption = of_bucket(complete(), "bucketServerSideEncryptionConfiguration", "logs", "encryption")
        assert encryption["rules"] == [{"applyServerSideEncryptionByDefault": {"sseAlgorithm": "AES256"}}]
        found = statements(complete(), "logs")
        assert found.keys() == {"DenyPlainHttp", "DenyOldTls", "AccessLogDelivery", "KeepObjects"}
        assert found["AccessLogDelivery"] == {
            "Sid": "AccessLogDelivery",
            "Effect": "Allow",
            "Principal": {"Service": "logging.s3.amazonaws.com"},
            "Action": "s3:PutObject",
            "Resource": f"arn:aws:s3:::{bucket_name('logs')}/*",
            "Condition": {"StringEquals": {"aws:SourceAccount": ACCOUNT}},
        }


class TestLogging:
    @pytest.mark.parametrize("purpose", PURPOSES)
    def test_each_bucket_logs_under_its_name_once_s3_may_deliver(self, purpose: str) -> None:
        logging = complete().one("aws:s3/bucketLogging:BucketLogging", f"acme-storage-{purpose}-logging")
        assert inputs_of(logging) == {
            "bucket": bucket_name(purpose),
            "targetBucket": bucket_name("logs"),
            "targetPrefix": f"acme-storage-{purpose}/",
        }
        delivery = complete().one("aws:s3/bucketPolicy:BucketPolicy", "acme-storage-logs-policy")
        assert delivery.urn in logging.dependencies

    def test_the_log_bucket_does_not_log_itself(self) -> None:
        assert len(complete().of_type("aws:s3/bucketLogging:BucketLogging")) == len(PURPOSES)


class TestLifecycle:
    @pytest.mark.parametrize("purpose", PURPOSES)
    def test_no_current_object_is_ever_expired(self, purpose: str) -> None:
        expirations = [rule["expiration"] for rule in rules(complete(), purpose).values() if "expiration" in rule]
        assert expirations == [{"expiredObjectDeleteMarker": True}]

    @pytest.mark.parametrize("purpose", PURPOSES)
    def test_waits_for_versioning(self, purpose: str) -> None:
        lifecycle = complete().one(
            "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration", f"acme-storage-{purpose}-lifecycle"
        )
        versioning = complete().one("aws:s3/bucketVersioning:BucketVersioning", f"acme-storage-{purpose}-versioning")
        assert versioning.urn in lifecycle.dependencies

    def test_checkpoints_keep_the_newest_superseded_versions_longest(self) -> None:
        found = rules(storage(checkpoint_expire_days=14, checkpoint_keep_versions=5), "checkpoints")
        assert found["expire-superseded-versions"]["noncurrentVersionExpiration"] == {
            "noncurrentDays": 14,
            "newerNoncurrentVersions": 5,
        }
        assert found["expire-all-superseded-versions"]["noncurrentVersionExpiration"] == {"noncurrentDays": 180}
        assert "transitions" not in {key for rule in found.values() for key in rule}

    def test_checkpoints_that_expire_late_are_not_cut_short(self) -> None:
        found = rules(storage(checkpoint_expire_days=400), "checkpoints")
        assert found["expire-all-superseded-versions"]["noncurrentVersionExpiration"] == {"noncurrentDays": 400}

    def test_artifacts(self) -> None:
        found = rules(complete(), "artifacts")
        assert found["expire-superseded-versions"]["noncurrentVersionExpiration"] == {"noncurrentDays": 90}
        assert found["infrequent-access"]["transitions"] == [{"days": 60, "storageClass": "STANDARD_IA"}]

    def test_data_stays_where_the_file_system_can_read_it(self) -> None:
        found = rules(complete(), "data")
        assert found["expire-superseded-versions"]["noncurrentVersionExpiration"] == {"noncurrentDays": 120}
        assert not any("transitions" in rule for rule in found.values())

    def test_access_logs_go_after_a_year(self) -> None:
        assert rules(complete(), "logs")["expire-access-logs"]["expiration"] == {"days": 365}

    @pytest.mark.parametrize(
        ("field", "value", "allowed"),
        [
            ("data_version_days", 0, "at least 1"),
            ("checkpoint_expire_days", 0, "at least 1"),
            ("checkpoint_keep_versions", 0, "1 to 100"),
            ("checkpoint_keep_versions", 101, "1 to 100"),
            ("multipart_cleanup_days", 0, "at least 1"),
            ("artifact_retention_days", 0, "at least 1"),
            ("artifact_transition_days", 29, "at least 30"),
        ],
    )
    def test_what_s3_would_refuse_is_refused_by_name(self, field: str, value: int, allowed: str) -> None:
        with pytest.raises(ValueError, match=f"acme-storage: {field} is {value}, must be {allowed}"):
            storage(**{field: value})


class TestLustre:
    def test_file_system(self) -> None:
        file_system = inputs_of(complete().one("aws:fsx/lustreFileSystem:LustreFileSystem"))
        security_group = file_system.pop("securityGroupIds")
        log = file_system.pop("logConfiguration")
        assert file_system == {
            "subnetIds": SUBNET_A,
            "deploymentType": "PERSISTENT_2",
            "storageType": "SSD",
            "fileSystemTypeVersion": "2.15",
            "storageCapacity": 4800,
            "perUnitStorageThroughput": 250,
            "metadataConfiguration": {"mode": "AUTOMATIC"},
            "dataCompressionType": "LZ4",
            "kmsKeyId": KEY_ARN,
            "rootSquashConfiguration": {"rootSquash": "10001:10001"},
            "automaticBackupRetentionDays": 0,
            "skipFinalBackup": True,
            "weeklyMaintenanceStartTime": "7:03:00",
            "tags": {"Name": "acme-storage-lustre"},
        }
        assert len(security_group) == 1
        assert security_group[0].startswith("sg-")
        assert log["level"] == "WARN_ERROR"

    def test_amazons_model_accepts_it(self) -> None:
        file_system = inputs_of(complete().one("aws:fsx/lustreFileSystem:LustreFileSystem"))
        lustre_fields = (
            "deploymentType",
            "perUnitStorageThroughput",
            "metadataConfiguration",
            "dataCompressionType",
            "rootSquashConfiguration",
            "automaticBackupRetentionDays",
            "weeklyMaintenanceStartTime",
            "logConfiguration",
        )
        request = {
            "FileSystemType": "LUSTRE",
            "StorageCapacity": file_system["storageCapacity"],
            "StorageType": file_system["storageType"],
            "FileSystemTypeVersion": file_system["fileSystemTypeVersion"],
            "SubnetIds": [file_system["subnetIds"]],
            "SecurityGroupIds": file_system["securityGroupIds"],
            "KmsKeyId": file_system["kmsKeyId"],
            "LustreConfiguration": api_shape({field: file_system[field] for field in lustre_fields}),
        }
        assert refusals("fsx", "CreateFileSystem", request) == []
        request["LustreConfiguration"]["DataCompressionType"] = "LZ5"
        assert "'LZ5' is none of" in refusals("fsx", "CreateFileSystem", request)[0]

    def test_log_group_is_encrypted_and_named_as_fsx_wants(self) -> None:
        log_group = complete().one("aws:cloudwatch/logGroup:LogGroup", "acme-storage-lustre-log")
        assert inputs_of(log_group) == {
            "name": "/aws/fsx/acme-storage-lustre",
            "retentionInDays": 365,
            "kmsKeyId": KEY_ARN,
        }

    def test_data_directory_is_the_data_bucket(self) -> None:
        association = inputs_of(
            complete().one("aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation", "acme-storage-lustre-data")
        )
        assert association["fileSystemPath"] == "/data"
        assert association["dataRepositoryPath"] == f"s3://{bucket_name('data')}/data/"
        assert association["batchImportMetaDataOnCreate"] is True
        assert association["deleteDataInFilesystem"] is False
        # Deleting a file must not delete the object that it came from.
        assert association["s3"] == {
            "autoImportPolicy": {"events": ["NEW", "CHANGED", "DELETED"]},
            "autoExportPolicy": {"events": ["NEW", "CHANGED"]},
        }
        request = {
            "FileSystemId": association["fileSystemId"],
            "FileSystemPath": association["fileSystemPath"],
            "DataRepositoryPath": association["dataRepositoryPath"],
            "BatchImportMetaDataOnCreate": association["batchImportMetaDataOnCreate"],
            "S3": api_shape(association["s3"]),
        }
        assert refusals("fsx", "CreateDataRepositoryAssociation", request) == []

    def test_fsx_may_use_the_key_of_the_bucket_once_its_role_exists(self) -> None:
        grant = complete().one("aws:kms/grant:Grant")
        file_system = inputs_of(
            complete().one("aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation", "acme-storage-lustre-data")
        )
        inputs = inputs_of(grant)
        assert inputs["keyId"] == KEY_ARN
        assert inputs["granteePrincipal"] == (
            f"arn:aws:iam::{ACCOUNT}:role/aws-service-role/s3.data-source.lustre.fsx.amazonaws.com/"
            f"AWSServiceRoleForFSxS3Access_{file_system['fileSystemId']}"
        )
        association = complete().one(
            "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation", "acme-storage-lustre-data"
        )
        assert association.urn in grant.dependencies
        bucket = f"arn:aws:s3:::{bucket_name('data')}"
        assert inputs["constraints"] == [{"encryptionContextSubset": {"aws:s3:arn": bucket}}]
        request = {
            "KeyId": inputs["keyId"],
            "GranteePrincipal": inputs["granteePrincipal"],
            "Operations": inputs["operations"],
            "Constraints": api_shape(inputs["constraints"][0]),
        }
        assert refusals("kms", "CreateGrant", request) == []

    def test_fsx_makes_the_folders_that_no_client_is_root_to_make(self) -> None:
        link = complete().one(
            "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation", "acme-storage-lustre-scratch"
        )
        inputs = inputs_of(link)
        assert inputs["fileSystemPath"] == "/scratch"
        assert inputs["dataRepositoryPath"] == f"s3://{bucket_name('data')}/scratch/"
        assert inputs["batchImportMetaDataOnCreate"] is True
        # Nothing that is written there goes out, and a team that is left out keeps what it has.
        assert inputs["s3"] == {"autoImportPolicy": {"events": ["NEW", "CHANGED"]}}
        folders = {
            folder.inputs["key"]: folder for folder in complete().of_type("aws:s3/bucketObjectv2:BucketObjectv2")
        }
        assert set(folders) == {"scratch/teams/vision/", "scratch/teams/speech/"}
        squashed = complete().one("aws:fsx/lustreFileSystem:LustreFileSystem").inputs["rootSquashConfiguration"]
        for folder in folders.values():
            told = folder.inputs["metadata"]
            assert f"{told['file-owner']}:{told['file-group']}" == squashed["rootSquash"]
            assert told["file-permissions"] == "0040770"  # a directory, its owner's and group's
            assert folder.urn in link.dependencies
            assert "acme-storage-data-encryption" in {urn.rpartition("::")[2] for urn in folder.dependencies}

    def test_a_teams_part_of_the_data_is_there_from_the_start(self) -> None:
        recording = storage(data_folders=["teams/vision/"])
        folder = recording.one("aws:s3/bucketObjectv2:BucketObjectv2", "acme-storage-lustre-data-teams-vision")
        assert folder.inputs["key"] == "data/teams/vision/"
        assert folder.inputs["metadata"]["file-permissions"] == "0040755"
        assert folder.inputs["metadata"]["file-owner"] == "0"

    def test_ports(self) -> None:
        servers = inputs_of(complete().one("aws:fsx/lustreFileSystem:LustreFileSystem"))["securityGroupIds"][0]
        opened = set()
        for kind in ("Ingress", "Egress"):
            for rule in complete().of_type(f"aws:vpc/securityGroup{kind}Rule:SecurityGroup{kind}Rule"):
                if "lustre" in rule.name:
                    i = inputs_of(rule)
                    assert i["ipProtocol"] == "tcp"
                    assert "cidrIpv4" not in i
                    opened.add((kind, i["securityGroupId"], i["referencedSecurityGroupId"], i["fromPort"], i["toPort"]))
        cluster = "sg-0cluster"
        assert opened == {
            (kind, group, peer, *ports)
            for ports in ((988, 988), (1018, 1023))
            for kind, group, peer in (
                ("Ingress", servers, servers),
                ("Egress", servers, servers),
                ("Ingress", servers, cluster),
                ("Egress", servers, cluster),
                ("Ingress", cluster, servers),
            )
        }

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"capacity_gib": 3600}, "capacity_gib is 3600, must be 1200 or a multiple of 2400"),
            ({"capacity_gib": 0}, "capacity_gib is 0, must be 1200 or a multiple of 2400"),
            ({"throughput_mbps_per_tib": 50}, "throughput_mbps_per_tib is 50, must be one of 125, 250, 500, 1000"),
        ],
    )
    def test_sizes_that_are_not_sold(self, change: dict[str, int], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            storage(lustre={**LUSTRE, **change})

    @pytest.mark.parametrize("capacity", [1200, 2400, 7200])
    def test_sizes_that_are_sold(self, capacity: int) -> None:
        recording = storage(lustre={**LUSTRE, "capacity_gib": capacity})
        assert recording.one("aws:fsx/lustreFileSystem:LustreFileSystem").inputs["storageCapacity"] == capacity


class TestSharedFileSystem:
    def test_file_system(self) -> None:
        assert inputs_of(complete().one("aws:efs/fileSystem:FileSystem")) == {
            "encrypted": True,
            "kmsKeyId": KEY_ARN,
            "performanceMode": "generalPurpose",
            "throughputMode": "elastic",
            "lifecyclePolicies": [
                {"transitionToIa": "AFTER_30_DAYS"},
                {"transitionToArchive": "AFTER_90_DAYS"},
                {"transitionToPrimaryStorageClass": "AFTER_1_ACCESS"},
            ],
            "tags": {"Name": "acme-storage-shared"},
        }

    def test_amazons_model_accepts_its_lifecycle(self) -> None:
        policies = inputs_of(complete().one("aws:efs/fileSystem:FileSystem"))["lifecyclePolicies"]
        request = {
            "FileSystemId": "fs-01234567",
            "LifecyclePolicies": api_shape(policies, {"transitionToIa": "TransitionToIA"}),
        }
        assert refusals("efs", "PutLifecycleConfiguration", request) == []

    def test_a_mount_target_in_each_zone_open_to_the_nodes_only(self) -> None:
        targets = complete().of_type("aws:efs/mountTarget:MountTarget")
        assert {target.name: target.inputs["subnetId"] for target in targets} == {
            "acme-storage-shared-us-east-1a": SUBNET_A,
            "acme-storage-shared-us-east-1b": SUBNET_B,
        }
        rules_of_group = [
            inputs_of(rule)
            for kind in ("Ingress", "Egress")
            for rule in complete().of_type(f"aws:vpc/securityGroup{kind}Rule:SecurityGroup{kind}Rule")
            if rule.inputs["securityGroupId"] == targets[0].inputs["securityGroups"][0]
        ]
        assert [(rule["fromPort"], rule["toPort"], rule["referencedSecurityGroupId"]) for rule in rules_of_group] == [
            (2049, 2049, "sg-0cluster")
        ]

    def test_access_point_and_backups(self) -> None:
        points = {point.name: inputs_of(point) for point in complete().of_type("aws:efs/accessPoint:AccessPoint")}
        assert set(points) == {"acme-storage-shared-home-vision", "acme-storage-shared-home-speech"}
        for name, access_point in points.items():
            assert access_point["posixUser"] == {"uid": 1000, "gid": 1000}
            assert access_point["rootDirectory"] == {
                "path": f"/home/{name.rsplit('-', 1)[-1]}",
                "creationInfo": {"ownerUid": 1000, "ownerGid": 1000, "permissions": "0770"},
            }
        assert complete().one("aws:efs/backupPolicy:BackupPolicy").inputs["backupPolicy"] == {"status": "ENABLED"}

    def test_mounted_through_an_access_point_over_tls_by_a_role_and_never_as_root(self) -> None:
        policy = complete().one("aws:efs/fileSystemPolicy:FileSystemPolicy")
        found = {each["Sid"]: each for each in json.loads(policy.inputs["policy"])["Statement"]}
        points = [point.outputs["arn"] for point in complete().of_type("aws:efs/accessPoint:AccessPoint")]
        allowed = found["MountAsIamSays"]
        assert [each["Sid"] for each in found.values() if each["Effect"] == "Allow"] == ["MountAsIamSays"]
        assert allowed["Principal"] == {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}
        assert set(allowed["Action"]) == {"elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite"}
        assert allowed["Condition"]["StringEquals"] == {"elasticfilesystem:AccessPointArn": points}
        assert found["DenyPlainNfs"]["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
        assert found["DenyWithoutAccessPoint"]["Condition"] == {"Null": {"elasticfilesystem:AccessPointArn": "true"}}
        assert found["DenyRoot"]["Action"] == ["elasticfilesystem:ClientRootAccess"]
        assert "Condition" not in found["DenyRoot"]
        request = {"FileSystemId": "fs-01234567", "Policy": policy.inputs["policy"]}
        assert refusals("efs", "PutFileSystemPolicy", request) == []

    def test_a_file_system_without_directories_lets_nobody_in(self) -> None:
        policy = storage(shared_directories=[]).one("aws:efs/fileSystemPolicy:FileSystemPolicy")
        assert {each["Effect"] for each in json.loads(policy.inputs["policy"])["Statement"]} == {"Deny"}


class TestWhatIsLeftOut:
    @pytest.mark.parametrize("absent", [{"lustre": None}, {"lustre": ...}])
    def test_no_lustre(self, absent: dict[str, Any]) -> None:
        made: list[StorageTiers] = []
        args = arguments(**absent)
        if args["lustre"] is ...:
            del args["lustre"]
        recording = record(lambda: made.append(StorageTiers("acme-storage", args)))
        assert made[0].lustre is None
        left = {resource.type.split(":")[1].split("/")[0] for resource in recording.resources if resource.custom}
        assert not left & {"fsx", "kms", "cloudwatch"}
        assert len(recording.of_type("aws:s3/bucket:Bucket")) == 4

    @pytest.mark.parametrize("subnets", [None, {}])
    def test_no_shared_file_system(self, subnets: dict[str, str] | None) -> None:
        made: list[StorageTiers] = []
        args = arguments(shared_file_system_subnet_ids=subnets)
        recording = record(lambda: made.append(StorageTiers("acme-storage", args)))
        assert made[0].shared is None
        assert not any(resource.type.startswith("aws:efs/") for resource in recording.resources)


def test_references() -> None:
    seen: dict[str, Any] = {}

    def program() -> None:
        tiers = StorageTiers("acme-storage", arguments())
        assert tiers.lustre is not None
        assert tiers.shared is not None
        for key, output in {
            "data": tiers.data_bucket["name"],
            "data_arn": tiers.data_bucket["arn"],
            "checkpoints": tiers.checkpoints_bucket["name"],
            "artifacts": tiers.artifacts_bucket["arn"],
            "lustre": tiers.lustre["id"],
            "lustre_dns": tiers.lustre["dns_name"],
            "lustre_mount": tiers.lustre["data_mount_name"],
            "lustre_scratch": tiers.lustre["scratch_mount_name"],
            "shared": tiers.shared["id"],
            "shared_arn": tiers.shared["arn"],
            "vision": tiers.shared["access_point_ids"]["vision"],
        }.items():
            output.apply(lambda value, key=key: seen.update({key: value}))

    record(program)
    assert seen["data"] == bucket_name("data")
    assert seen["data_arn"] == f"arn:aws:s3:::{bucket_name('data')}"
    assert seen["checkpoints"] == bucket_name("checkpoints")
    assert seen["artifacts"] == f"arn:aws:s3:::{bucket_name('artifacts')}"
    assert seen["lustre"].startswith("fs-")
    assert seen["lustre_dns"] == f"{seen['lustre']}.fsx.us-east-1.amazonaws.com"
    assert (
        seen["lustre_mount"]
        == f"{complete().one('aws:fsx/lustreFileSystem:LustreFileSystem').outputs['mountName']}/data"
    )
    assert seen["shared"].startswith("fs-")
    assert seen["shared"] != seen["lustre"]


def test_first_preview_registers_the_same_resources() -> None:
    preview = record(lambda: StorageTiers("acme-storage", arguments()), preview=True)
    known = {(resource.type, resource.name) for resource in complete().resources}
    assert {(resource.type, resource.name) for resource in preview.resources} == known


@mock_aws
def test_s3_accepts_the_configuration_and_returns_it() -> None:
    s3 = boto3.client("s3", region_name=REGION)
    recording = complete()
    for purpose in ("logs", *PURPOSES):
        bucket = bucket_name(purpose)
        s3.create_bucket(Bucket=bucket)
        policy = of_bucket(recording, "bucketPolicy", purpose, "policy")["policy"]
        s3.put_bucket_policy(Bucket=bucket, Policy=policy)
        assert json.loads(s3.get_bucket_policy(Bucket=bucket)["Policy"]) == json.loads(policy)

        block = api_shape(of_bucket(recording, "bucketPublicAccessBlock", purpose, "public-access"))
        del block["Bucket"]
        s3.put_public_access_block(Bucket=bucket, PublicAccessBlockConfiguration=block)
        assert s3.get_public_access_block(Bucket=bucket)["PublicAccessBlockConfiguration"] == block

        ownership = of_bucket(recording, "bucketOwnershipControls", purpose, "ownership")
        controls = {"Rules": [api_shape(ownership["rule"])]}
        s3.put_bucket_ownership_controls(Bucket=bucket, OwnershipControls=controls)
        assert s3.get_bucket_ownership_controls(Bucket=bucket)["OwnershipControls"] == controls

        versioning = of_bucket(recording, "bucketVersioning", purpose, "versioning")["versioningConfiguration"]
        s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration=api_shape(versioning))
        assert s3.get_bucket_versioning(Bucket=bucket)["Status"] == "Enabled"

        encryption = of_bucket(recording, "bucketServerSideEncryptionConfiguration", purpose, "encryption")
        configuration = {"Rules": api_shape(encryption["rules"])}
        s3.put_bucket_encryption(Bucket=bucket, ServerSideEncryptionConfiguration=configuration)
        returned = s3.get_bucket_encryption(Bucket=bucket)["ServerSideEncryptionConfiguration"]["Rules"]
        assert [{"BucketKeyEnabled": False, **rule} for rule in configuration["Rules"]] == returned

        lifecycle = of_bucket(recording, "bucketLifecycleConfiguration", purpose, "lifecycle")
        sent = api_shape(lifecycle["rules"])
        s3.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={"Rules": sent})
        for rule in sent:  # moto drops this one
            rule.get("NoncurrentVersionExpiration", {}).pop("NewerNoncurrentVersions", None)
        assert s3.get_bucket_lifecycle_configuration(Bucket=bucket)["Rules"] == sent

    for purpose in PURPOSES:
        logging = of_bucket(recording, "bucketLogging", purpose, "logging")
        enabled = {"TargetBucket": logging["targetBucket"], "TargetPrefix": logging["targetPrefix"]}
        s3.put_bucket_logging(Bucket=logging["bucket"], BucketLoggingStatus={"LoggingEnabled": enabled})
        returned = s3.get_bucket_logging(Bucket=logging["bucket"])["LoggingEnabled"]
        assert {key: returned[key] for key in enabled} == enabled


@mock_aws
def test_s3_refuses_logging_without_the_log_buckets_policy() -> None:
    """Why BucketLogging waits for the policy, and that the round trip above is a check."""
    s3 = boto3.client("s3", region_name=REGION)
    for bucket in ("acme-storage-logs", "acme-storage-data"):
        s3.create_bucket(Bucket=bucket)
    status = {"LoggingEnabled": {"TargetBucket": "acme-storage-logs", "TargetPrefix": "acme-storage-data/"}}
    with pytest.raises(s3.exceptions.ClientError, match="log-delivery"):
        s3.put_bucket_logging(Bucket="acme-storage-data", BucketLoggingStatus=status)


@mock_aws
def test_a_checkpoint_that_is_overwritten_or_deleted_can_be_taken_back() -> None:
    s3 = boto3.client("s3", region_name=REGION)
    s3.create_bucket(Bucket="acme-storage-checkpoints")
    versioning = of_bucket(complete(), "bucketVersioning", "checkpoints", "versioning")["versioningConfiguration"]
    s3.put_bucket_versioning(Bucket="acme-storage-checkpoints", VersioningConfiguration=api_shape(versioning))
    for body in (b"step 100", b"step 200"):
        s3.put_object(Bucket="acme-storage-checkpoints", Key="vision/run-1/last.pt", Body=body)
    s3.delete_object(Bucket="acme-storage-checkpoints", Key="vision/run-1/last.pt")
    versions = s3.list_object_versions(Bucket="acme-storage-checkpoints")["Versions"]
    bodies = [
        s3.get_object(Bucket="acme-storage-checkpoints", Key=version["Key"], VersionId=version["VersionId"])[
            "Body"
        ].read()
        for version in versions
    ]
    assert sorted(bodies) == [b"step 100", b"step 200"]
