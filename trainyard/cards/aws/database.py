"""Relational databases."""

from __future__ import annotations

from typing import Final

from trainyard.cards.card import API_CALL, AutomaticName, Card, Free, Priced, Seconds, estimate, service_model

_ADDRESS: Final = "{cloud_name}.{hex:.12}.{region}.rds.{dns_suffix}"

CARDS: Final = (
    Card("aws:rds/*", API_CALL, None, taggable=True, stateful=False, id="{cloud_name}"),
    Card("aws:rds/cluster:Cluster", API_CALL, None, taggable=True, stateful=True, id="{cloud_name}"),
    Card(
        "aws:rds/instance:Instance",
        Seconds(900, "Multi-AZ: 15 to 20 minutes in hashicorp/terraform#498", "2014-10-22"),
        Priced("services.database"),
        taggable=True,
        stateful=True,
        id="db-{HEX:.26}",
        arn="db:{cloud_name}",
        outputs={
            "address": _ADDRESS,
            "port": 5432,
            "endpoint": f"{_ADDRESS}:{{input:port|5432}}",
            "status": "available",
            "resourceId": "db-{HEX:.26}",
        },
        outputs_with={
            "manageMasterUserPassword": {
                "masterUserSecrets": [
                    {
                        "secretArn": "arn:{partition}:secretsmanager:{region}:{account}:secret:rds!db-{uuid}-{hex:.6}",
                        "secretStatus": "active",
                        "kmsKeyId": "arn:{partition}:kms:{region}:{account}:key/{uuid}",
                    }
                ]
            }
        },
        model=service_model(
            "rds.CreateDBInstance",
            names={
                "instanceClass": "DBInstanceClass",
                "backupWindow": "PreferredBackupWindow",
                "caCertIdentifier": "CACertificateIdentifier",
                "customerOwnedIpEnabled": "EnableCustomerOwnedIp",
                "enabledCloudwatchLogsExports": "EnableCloudwatchLogsExports",
                "iamDatabaseAuthenticationEnabled": "EnableIAMDatabaseAuthentication",
                "identifier": "DBInstanceIdentifier",
                "maintenanceWindow": "PreferredMaintenanceWindow",
                "parameterGroupName": "DBParameterGroupName",
                "password": "MasterUserPassword",
                "passwordWo": "MasterUserPassword",
                "performanceInsightsEnabled": "EnablePerformanceInsights",
                "username": "MasterUsername",
            },
            undescribed=(
                "allowMajorVersionUpgrade applyImmediately blueGreenUpdate deleteAutomatedBackups "
                "finalSnapshotIdentifier identifierPrefix passwordWoVersion replicaMode replicateSourceDb "
                "restoreToPointInTime s3Import skipFinalSnapshot snapshotIdentifier upgradeStorageConfig "
                "warningEventCategories"
            ),
        ),
        automatic_name=AutomaticName("identifier", 63, r"[a-zA-Z](?!.*--)[a-zA-Z0-9-]*"),
        key_input="kmsKeyId",
    ),
    Card(
        "aws:rds/parameterGroup:ParameterGroup",
        estimate(3),
        Free("a setting of a database"),
        taggable=True,
        stateful=False,
        id="{cloud_name}",
        arn="pg:{cloud_name}",
        model=service_model(
            "rds.CreateDBParameterGroup",
            names={"family": "DBParameterGroupFamily", "name": "DBParameterGroupName"},
            undescribed="parameters skipDestroy",
        ),
        automatic_name=AutomaticName("name", 255, r"[a-z](?!.*--)[a-z0-9-]*"),
    ),
    Card(
        "aws:rds/subnetGroup:SubnetGroup",
        estimate(2),
        Free("a setting of a database"),
        taggable=True,
        stateful=False,
        id="{cloud_name}",
        arn="subgrp:{cloud_name}",
        model=service_model(
            "rds.CreateDBSubnetGroup", names={"description": "DBSubnetGroupDescription", "name": "DBSubnetGroupName"}
        ),
        automatic_name=AutomaticName("name", 255, r"[a-z0-9 ._-]+"),
    ),
)
