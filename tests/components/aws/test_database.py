"""Database: what is registered, and what RDS and IAM make of it."""

from __future__ import annotations

import functools
import re
from typing import Any

import boto3
import pytest
from moto import mock_aws

from tests.components.aws.api_shape import KEY_ARN, REGION, api_shape, inputs_of, refusals
from tests.pulumi_harness import ACCOUNT, Recording, record
from trainyard.components.aws.database import Database

NAME = "acme-production-mlflow"
CLIENTS = {"cluster": "sg-0cluster", "bastion": "sg-0bastion"}


def arguments(**changes: Any) -> Any:
    return {
        "account_id": ACCOUNT,
        "vpc_id": "vpc-0",
        "subnet_ids": ["subnet-0a", "subnet-0b", "subnet-0c"],
        "client_security_group_ids": CLIENTS,
        "key_arn": KEY_ARN,
        "engine_version": "17",
        "instance_class": "db.t4g.medium",
        "storage_gib": 50,
        "max_storage_gib": 200,
        "multi_az": True,
        "backup_retention_days": 14,
        "deletion_protection": True,
        "protect": True,
        **changes,
    }


def database(name: str = NAME, **changes: Any) -> Recording:
    return record(lambda: Database(name, arguments(**changes)))


@functools.cache
def complete() -> Recording:
    return database()


def instance(recording: Recording) -> dict[str, Any]:
    return inputs_of(recording.one("aws:rds/instance:Instance"))


def minutes(clock: str) -> int:
    hours, rest = clock.split(":")
    return int(hours) * 60 + int(rest)


class TestInstance:
    def test_engine_and_size(self) -> None:
        found = instance(complete())
        assert (found["engine"], found["engineVersion"], found["instanceClass"]) == ("postgres", "17", "db.t4g.medium")
        assert (found["storageType"], found["allocatedStorage"], found["maxAllocatedStorage"]) == ("gp3", 50, 200)
        assert found["multiAz"] is True
        assert found["autoMinorVersionUpgrade"] is True
        assert found["allowMajorVersionUpgrade"] is False
        assert found["dbName"] == "mlflow"

    def test_password_is_made_and_kept_by_aws(self) -> None:
        found = instance(complete())
        assert found["username"] == "mlflow"
        assert found["manageMasterUserPassword"] is True
        assert found["masterUserSecretKmsKeyId"] == KEY_ARN
        assert not {"password", "passwordWo"} & found.keys()
        assert found["iamDatabaseAuthenticationEnabled"] is True

    def test_everything_is_encrypted_with_the_environments_key(self) -> None:
        found = instance(complete())
        assert found["storageEncrypted"] is True
        assert found["kmsKeyId"] == found["performanceInsightsKmsKeyId"] == KEY_ARN
        groups = [inputs_of(group) for group in complete().of_type("aws:cloudwatch/logGroup:LogGroup")]
        assert {(group["name"], group["kmsKeyId"], group["retentionInDays"]) for group in groups} == {
            (f"/aws/rds/instance/{NAME}/postgresql", KEY_ARN, 365),
            (f"/aws/rds/instance/{NAME}/upgrade", KEY_ARN, 365),
        }

    def test_watched(self) -> None:
        found = instance(complete())
        assert found["performanceInsightsEnabled"] is True
        assert found["performanceInsightsRetentionPeriod"] == 7
        assert found["databaseInsightsMode"] == "standard"
        assert found["monitoringInterval"] == 60
        assert found["monitoringRoleArn"].startswith(f"arn:aws:iam::{ACCOUNT}:role/{NAME}-monitoring-")
        assert found["enabledCloudwatchLogsExports"] == ["postgresql", "upgrade"]

    def test_log_groups_and_role_are_there_first(self) -> None:
        made = complete().one("aws:rds/instance:Instance")
        first = [*complete().of_type("aws:cloudwatch/logGroup:LogGroup")]
        first += complete().of_type("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
        assert {resource.urn for resource in first} <= set(made.dependencies)

    def test_backups_and_what_stays_when_it_goes(self) -> None:
        found = instance(complete())
        assert found["backupRetentionPeriod"] == 14
        assert found["copyTagsToSnapshot"] is True
        assert found["skipFinalSnapshot"] is False
        subnet_group = complete().one("aws:rds/subnetGroup:SubnetGroup")
        # The group's automatic name is new each time the environment is made, so is the snapshot's.
        assert found["finalSnapshotIdentifier"] == f"{subnet_group.id}-final"
        assert re.fullmatch(r"[a-z](-?[a-z0-9])*", found["finalSnapshotIdentifier"])

    def test_windows_do_not_overlap(self) -> None:
        found = instance(complete())
        backup = [minutes(clock) for clock in found["backupWindow"].split("-")]
        maintenance = [minutes(clock.split(":", 1)[1]) for clock in found["maintenanceWindow"].split("-")]
        assert backup[0] < backup[1] < maintenance[0] < maintenance[1]

    @pytest.mark.parametrize("on", [True, False])
    def test_protection_is_as_asked(self, on: bool) -> None:
        made = database(protect=on, deletion_protection=on, multi_az=on).one("aws:rds/instance:Instance")
        assert made.protect is on
        assert made.inputs["deletionProtection"] is on
        assert made.inputs["multiAz"] is on

    def test_a_replacement_gives_the_name_free_first(self) -> None:
        made = complete().one("aws:rds/instance:Instance")
        assert made.inputs["identifier"] == NAME
        assert made.delete_before_replace


class TestNetwork:
    def test_isolated(self) -> None:
        found = instance(complete())
        assert found["publiclyAccessible"] is False
        subnet_group = complete().one("aws:rds/subnetGroup:SubnetGroup")
        assert subnet_group.inputs["subnetIds"] == ["subnet-0a", "subnet-0b", "subnet-0c"]
        assert found["dbSubnetGroupName"] == subnet_group.id

    def test_only_the_clients_connect_and_nothing_leaves(self) -> None:
        group = complete().one("aws:ec2/securityGroup:SecurityGroup")
        assert not {"ingress", "egress"} & group.inputs.keys()
        assert complete().of_type("aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule") == []
        rules = [inputs_of(r) for r in complete().of_type("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule")]
        assert {rule["referencedSecurityGroupId"] for rule in rules} == set(CLIENTS.values())
        allowed = re.compile(r"[A-Za-z0-9 ._\-:/()#,@\[\]+=&;{}!$*]{1,255}")
        for rule in rules:
            assert [rule["securityGroupId"]] == instance(complete())["vpcSecurityGroupIds"]
            assert (rule["ipProtocol"], rule["fromPort"], rule["toPort"]) == ("tcp", 5432, 5432)
            assert not {"cidrIpv4", "cidrIpv6", "prefixListId"} & rule.keys()
            assert allowed.fullmatch(rule["description"])


class TestParameters:
    def test_tls_is_forced_and_slow_statements_logged(self) -> None:
        group = inputs_of(complete().one("aws:rds/parameterGroup:ParameterGroup"))
        parameters = {parameter["name"]: parameter["value"] for parameter in group["parameters"]}
        assert parameters["rds.force_ssl"] == "1"
        assert parameters["log_statement"] == "ddl"
        assert parameters["log_min_duration_statement"] == "1000"
        group = complete().one("aws:rds/parameterGroup:ParameterGroup")
        assert instance(complete())["parameterGroupName"] == group.id

    @pytest.mark.parametrize(("version", "family"), [("17", "postgres17"), ("16.9", "postgres16")])
    def test_family_follows_the_engine(self, version: str, family: str) -> None:
        recording = database(engine_version=version)
        assert recording.one("aws:rds/parameterGroup:ParameterGroup").inputs["family"] == family
        assert instance(recording)["engineVersion"] == version


class TestRefused:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"engine_version": "latest"}, "engine_version is 'latest', must be like '17' or '17.6'"),
            ({"backup_retention_days": 0}, "backup_retention_days is 0, must be 1 to 35"),
            ({"backup_retention_days": 36}, "backup_retention_days is 36, must be 1 to 35"),
            ({"storage_gib": 10}, "storage_gib is 10, must be at least 20"),
            ({"max_storage_gib": 54}, "max_storage_gib is 54, must be at least a tenth above storage_gib"),
            ({"subnet_ids": ["subnet-0a"]}, "subnet_ids has 1, must name subnets of two zones or more"),
        ],
    )
    def test_values(self, change: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            database(**change)

    @pytest.mark.parametrize("name", ["Acme", "acme--mlflow", "acme-", "1acme", "a" * 46])
    def test_names(self, name: str) -> None:
        with pytest.raises(ValueError, match="at most 45 lower-case letters"):
            database(name)

    def test_the_longest_name_leaves_room_for_the_roles_suffix(self) -> None:
        recording = database("a" * 45)
        assert len(recording.one("aws:iam/role:Role").name) <= 56
        assert len(instance(recording)["finalSnapshotIdentifier"]) <= 255


def test_outputs() -> None:
    seen: dict[str, Any] = {}

    def program() -> None:
        made = Database(NAME, arguments(database_name="tracking"))
        for key in ("address", "port", "database_name", "username", "secret_arn", "security_group_id"):
            getattr(made, key).apply(lambda value, key=key: seen.update({key: value}))

    record(program)
    assert seen["address"].endswith(f".{REGION}.rds.amazonaws.com")
    assert seen["port"] == 5432
    assert (seen["database_name"], seen["username"]) == ("tracking", "mlflow")
    assert seen["secret_arn"].startswith(f"arn:aws:secretsmanager:us-east-1:{ACCOUNT}:secret:")
    assert seen["security_group_id"].startswith("sg-")


def test_first_preview_registers_the_same_resources() -> None:
    preview = record(lambda: Database(NAME, arguments()), preview=True)
    assert {(r.type, r.name) for r in preview.resources} == {(r.type, r.name) for r in complete().resources}


@mock_aws
def test_iam_accepts_the_monitoring_role_for_this_account_only() -> None:
    iam = boto3.client("iam", region_name=REGION)
    role = inputs_of(complete().one("aws:iam/role:Role"))
    returned = iam.create_role(
        RoleName=f"{NAME}-monitoring-1a2b3c4",
        AssumeRolePolicyDocument=role["assumeRolePolicy"],
        Description=role["description"],
    )["Role"]
    (statement,) = returned["AssumeRolePolicyDocument"]["Statement"]
    assert statement == {
        "Effect": "Allow",
        "Principal": {"Service": "monitoring.rds.amazonaws.com"},
        "Action": "sts:AssumeRole",
        "Condition": {
            "StringEquals": {"aws:SourceAccount": ACCOUNT},
            "ArnLike": {"aws:SourceArn": f"arn:aws:rds:*:{ACCOUNT}:db:{NAME}"},
        },
    }
    attachment = inputs_of(complete().one("aws:iam/rolePolicyAttachment:RolePolicyAttachment"))
    assert attachment["policyArn"] == "arn:aws:iam::aws:policy/service-role/AmazonRDSEnhancedMonitoringRole"


_REQUEST = {
    "identifier": "DBInstanceIdentifier",
    "instanceClass": "DBInstanceClass",
    "dbName": "DBName",
    "username": "MasterUsername",
    "dbSubnetGroupName": "DBSubnetGroupName",
    "parameterGroupName": "DBParameterGroupName",
    "maintenanceWindow": "PreferredMaintenanceWindow",
    "backupWindow": "PreferredBackupWindow",
    "multiAz": "MultiAZ",
    "iamDatabaseAuthenticationEnabled": "EnableIAMDatabaseAuthentication",
    "enabledCloudwatchLogsExports": "EnableCloudwatchLogsExports",
    "performanceInsightsEnabled": "EnablePerformanceInsights",
    "performanceInsightsKmsKeyId": "PerformanceInsightsKMSKeyId",
    "caCertIdentifier": "CACertificateIdentifier",
}
"""Members of CreateDBInstance that the provider renames."""

_NOT_OF_CREATION = {"finalSnapshotIdentifier", "skipFinalSnapshot", "deleteAutomatedBackups"}
_NOT_OF_CREATION |= {"applyImmediately", "allowMajorVersionUpgrade"}


def create_request(**changes: Any) -> dict[str, Any]:
    given = {key: value for key, value in instance(complete()).items() if key not in _NOT_OF_CREATION}
    return {**api_shape(given, _REQUEST), **changes}


def test_amazons_model_accepts_the_instance() -> None:
    assert refusals("rds", "CreateDBInstance", create_request()) == []
    assert "Unknown parameter" in refusals("rds", "CreateDBInstance", create_request(StorageKind="gp3"))[0]


@mock_aws
def test_rds_accepts_the_instance_and_returns_it() -> None:
    ec2 = boto3.client("ec2", region_name=REGION)
    rds = boto3.client("rds", region_name=REGION)
    vpc_id = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(VpcId=vpc_id, CidrBlock=f"10.0.{i}.0/24", AvailabilityZone=f"{REGION}{zone}")["Subnet"]
        for i, zone in enumerate("abc")
    ]
    group_id = ec2.create_security_group(GroupName="database", Description="PostgreSQL", VpcId=vpc_id)["GroupId"]
    subnet_group = complete().one("aws:rds/subnetGroup:SubnetGroup")
    rds.create_db_subnet_group(
        DBSubnetGroupName=subnet_group.id,
        DBSubnetGroupDescription=subnet_group.inputs["description"],
        SubnetIds=[subnet["SubnetId"] for subnet in subnets],
    )
    parameters = complete().one("aws:rds/parameterGroup:ParameterGroup")
    rds.create_db_parameter_group(
        DBParameterGroupName=parameters.id,
        DBParameterGroupFamily=parameters.inputs["family"],
        Description=parameters.inputs["description"],
    )
    key_arn = boto3.client("kms", region_name=REGION).create_key()["KeyMetadata"]["Arn"]
    keys = {"KmsKeyId": key_arn, "MasterUserSecretKmsKeyId": key_arn, "PerformanceInsightsKMSKeyId": key_arn}
    rds.create_db_instance(**create_request(VpcSecurityGroupIds=[group_id], **keys))
    (found,) = rds.describe_db_instances(DBInstanceIdentifier=NAME)["DBInstances"]
    assert found["Engine"] == "postgres"
    assert found["MasterUsername"] == "mlflow"
    assert found["StorageEncrypted"] is True
    assert found["KmsKeyId"] == key_arn
    assert found["MasterUserSecret"]["KmsKeyId"] == key_arn
    assert found["PubliclyAccessible"] is False
    assert found["MultiAZ"] is True
    assert found["BackupRetentionPeriod"] == 14
    assert found["DeletionProtection"] is True
    assert found["IAMDatabaseAuthenticationEnabled"] is True
    assert found["DBSubnetGroup"]["VpcId"] == vpc_id
    assert found["MasterUserSecret"]["SecretArn"].startswith("arn:aws:secretsmanager:")


@mock_aws
def test_rds_refuses_a_longer_identifier_than_ours_can_be() -> None:
    rds = boto3.client("rds", region_name=REGION)
    request = {"Engine": "postgres", "DBInstanceClass": "db.t4g.medium", "AllocatedStorage": 20}
    rds.create_db_instance(DBInstanceIdentifier="a" * 45, **request)
    with pytest.raises(rds.exceptions.ClientError, match="not a valid identifier"):
        rds.create_db_instance(DBInstanceIdentifier="a" * 64, **request)
