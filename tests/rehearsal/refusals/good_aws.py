"""A good stack of AWS resources: every value is one that the services take."""

from __future__ import annotations

import base64
import json

from tests.rehearsal.refusals.builders import ACCOUNT, KEY, ROLE, policy, resource

TRUST = policy(
    {
        "Effect": "Allow",
        "Principal": {"Service": "pods.eks.amazonaws.com"},
        "Action": ["sts:AssumeRole", "sts:TagSession"],
    }
)
ACCESS = policy(
    {"Sid": "List", "Effect": "Allow", "Action": "s3:ListBucket", "Resource": "arn:aws:s3:::data"},
    {
        "Sid": "Read",
        "Effect": "Allow",
        "Action": ["s3:GetObject", "s3:Get*"],
        "Resource": ["arn:aws:s3:::data/*"],
        "Condition": {"StringEquals": {"aws:PrincipalTag/team": "research"}},
    },
)
TOPIC_ARN = f"arn:aws:sns:us-east-1:{ACCOUNT}:alerts"
SHA = "0123456789abcdef0"
KEEP_TEN_IMAGES = {
    "rulePriority": 1,
    "selection": {"tagStatus": "any", "countType": "imageCountMoreThan", "countNumber": 10},
    "action": {"type": "expire"},
}
SUBNETS = ["subnet-0000000000000000a", "subnet-0000000000000000b"]

AWS = [
    resource(
        "aws:ec2/vpc:Vpc", "vpc", {"cidrBlock": "10.20.0.0/16", "enableDnsHostnames": True}, "vpc-0123456789abcdef0"
    ),
    *(
        resource(
            "aws:ec2/subnet:Subnet",
            f"subnet-{zone}",
            {
                "vpcId": "vpc-0123456789abcdef0",
                "cidrBlock": f"10.20.{index * 16}.0/20",
                "availabilityZone": f"us-east-1{zone}",
            },
            SUBNETS[index],
        )
        for index, zone in enumerate("ab")
    ),
    resource("aws:ec2/eip:Eip", "address", {"domain": "vpc"}, "eipalloc-0123456789abcdef0"),
    resource(
        "aws:ec2/natGateway:NatGateway",
        "nat",
        {"subnetId": SUBNETS[0], "allocationId": "eipalloc-0123456789abcdef0", "connectivityType": "public"},
    ),
    resource(
        "aws:ec2/vpcEndpoint:VpcEndpoint",
        "endpoint-s3",
        {
            "vpcId": "vpc-0123456789abcdef0",
            "serviceName": "com.amazonaws.us-east-1.s3",
            "vpcEndpointType": "Gateway",
            "routeTableIds": ["rtb-0123456789abcdef0"],
        },
    ),
    resource(
        "aws:ec2/vpcEndpoint:VpcEndpoint",
        "endpoint-ecr",
        {
            "vpcId": "vpc-0123456789abcdef0",
            "serviceName": "com.amazonaws.us-east-1.ecr.api",
            "vpcEndpointType": "Interface",
            "subnetIds": SUBNETS,
            "privateDnsEnabled": True,
        },
    ),
    resource(
        "aws:ec2/flowLog:FlowLog",
        "flow",
        {
            "vpcId": "vpc-0123456789abcdef0",
            "trafficType": "ALL",
            "logDestinationType": "cloud-watch-logs",
            "logDestination": f"arn:aws:logs:us-east-1:{ACCOUNT}:log-group:flow",
            "iamRoleArn": ROLE,
            "maxAggregationInterval": 60,
        },
    ),
    resource(
        "aws:ec2/securityGroup:SecurityGroup",
        "nodes-group",
        {"vpcId": "vpc-0123456789abcdef0", "description": "Traffic between nodes", "tags": {"Name": "nodes"}},
        "sg-0123456789abcdef0",
    ),
    resource(
        "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
        "ingress",
        {
            "securityGroupId": "sg-0123456789abcdef0",
            "ipProtocol": "tcp",
            "fromPort": 988,
            "toPort": 988,
            "cidrIpv4": "10.20.0.0/16",
            "description": "Lustre from the VPC",
        },
    ),
    resource(
        "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
        "egress",
        {
            "securityGroupId": "sg-0123456789abcdef0",
            "ipProtocol": "-1",
            "referencedSecurityGroupId": "sg-0123456789abcdef0",
            "description": "All among the nodes (EFA)",
        },
    ),
    resource(
        "aws:eks/cluster:Cluster",
        "cluster",
        {
            "name": "acme-production",
            "roleArn": ROLE,
            "version": "1.35",
            "vpcConfig": {
                "subnetIds": SUBNETS,
                "endpointPrivateAccess": True,
                "endpointPublicAccess": True,
                "publicAccessCidrs": ["203.0.113.0/24"],
            },
            "enabledClusterLogTypes": ["api", "audit", "authenticator", "controllerManager", "scheduler"],
            "encryptionConfig": {"provider": {"keyArn": KEY}, "resources": ["secrets"]},
            "accessConfig": {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": False},
            "kubernetesNetworkConfig": {"serviceIpv4Cidr": "172.20.0.0/16", "ipFamily": "ipv4"},
            "upgradePolicy": {"supportType": "STANDARD"},
        },
    ),
    resource(
        "aws:ec2/launchTemplate:LaunchTemplate",
        "train-template",
        {
            "name": "acme-train",
            "instanceType": "p4d.24xlarge",
            "userData": base64.b64encode(b"MIME-Version: 1.0\n").decode(),
            "networkInterfaces": [
                {
                    "networkCardIndex": card,
                    "deviceIndex": 0 if card == 0 else 1,
                    "interfaceType": "efa" if card == 0 else "efa-only",
                    "securityGroups": ["sg-0123456789abcdef0"],
                    "deleteOnTermination": "true",
                }
                for card in range(4)
            ],
            "capacityReservationSpecification": {
                "capacityReservationPreference": "capacity-reservations-only",
                "capacityReservationTarget": {"capacityReservationId": f"cr-{SHA}"},
            },
            "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 1, "httpEndpoint": "enabled"},
            "blockDeviceMappings": [
                {
                    "deviceName": "/dev/xvda",
                    "ebs": {
                        "volumeSize": 200,
                        "volumeType": "gp3",
                        "throughput": 250,
                        "iops": 3000,
                        "encrypted": "true",
                        "kmsKeyId": KEY,
                    },
                }
            ],
            "tagSpecifications": [{"resourceType": "instance", "tags": {"team": "all"}}],
        },
        "lt-0123456789abcdef0",
    ),
    resource(
        "aws:eks/nodeGroup:NodeGroup",
        "train-reserved",
        {
            "clusterName": "acme-production",
            "nodeGroupName": "train-reserved",
            "nodeRoleArn": ROLE,
            "subnetIds": [SUBNETS[0]],
            "amiType": "AL2023_x86_64_NVIDIA",
            "capacityType": "ON_DEMAND",
            "scalingConfig": {"minSize": 0, "desiredSize": 0, "maxSize": 2},
            "updateConfig": {"maxUnavailable": 1},
            "nodeRepairConfig": {"enabled": True},
            "labels": {"ml.platform/pool": "train", "ml.platform/capacity": "reserved"},
            "taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}],
            "launchTemplate": {"id": "lt-0123456789abcdef0", "version": "1"},
        },
    ),
    resource(
        "aws:eks/nodeGroup:NodeGroup",
        "system",
        {
            "clusterName": "acme-production",
            "nodeRoleArn": ROLE,
            "subnetIds": SUBNETS,
            "amiType": "AL2023_x86_64_STANDARD",
            "instanceTypes": ["m7i.xlarge"],
            "diskSize": 100,
            "scalingConfig": {"minSize": 2, "desiredSize": 2, "maxSize": 4},
            "labels": {"ml.platform/pool": "system"},
        },
    ),
    resource(
        "aws:eks/addon:Addon",
        "coredns",
        {
            "clusterName": "acme-production",
            "addonName": "coredns",
            "addonVersion": "v1.12.4-eksbuild.1",
            "configurationValues": json.dumps({"replicaCount": 2}),
            "resolveConflictsOnCreate": "OVERWRITE",
            "resolveConflictsOnUpdate": "PRESERVE",
        },
    ),
    resource(
        "aws:eks/addon:Addon",
        "vpc-cni",
        {
            "clusterName": "acme-production",
            "addonName": "vpc-cni",
            "addonVersion": "v1.21.1-eksbuild.8",
            "configurationValues": json.dumps(
                {"enableNetworkPolicy": "true", "env": {"WARM_PREFIX_TARGET": "1", "SOMETHING_NEW": "1"}}
            ),
        },
    ),
    resource(
        "aws:eks/accessEntry:AccessEntry",
        "entry",
        {"clusterName": "acme-production", "principalArn": ROLE, "type": "STANDARD"},
    ),
    resource(
        "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
        "access",
        {
            "clusterName": "acme-production",
            "principalArn": ROLE,
            "policyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy",
            "accessScope": {"type": "cluster"},
        },
    ),
    resource(
        "aws:eks/podIdentityAssociation:PodIdentityAssociation",
        "pod-identity",
        {"clusterName": "acme-production", "namespace": "mlflow", "serviceAccount": "mlflow", "roleArn": ROLE},
    ),
    resource(
        "aws:ec2/capacityReservation:CapacityReservation",
        "reservation",
        {
            "availabilityZone": "us-east-1a",
            "instanceCount": 2,
            "instancePlatform": "Linux/UNIX",
            "instanceType": "p4d.24xlarge",
            "instanceMatchCriteria": "targeted",
            "endDateType": "limited",
            "endDate": "2027-01-01T00:00:00Z",
        },
        "cr-0fffffffffffffff0",
    ),
    resource("aws:ec2/placementGroup:PlacementGroup", "together", {"strategy": "cluster"}),
    resource(
        "aws:fsx/lustreFileSystem:LustreFileSystem",
        "lustre",
        {
            "subnetIds": SUBNETS[0],
            "storageCapacity": 4800,
            "deploymentType": "PERSISTENT_2",
            "storageType": "SSD",
            "perUnitStorageThroughput": 250,
            "fileSystemTypeVersion": "2.15",
            "dataCompressionType": "LZ4",
            "kmsKeyId": KEY,
            "automaticBackupRetentionDays": 0,  # it is linked to a bucket
            "weeklyMaintenanceStartTime": "7:04:00",
            "metadataConfiguration": {"mode": "USER_PROVISIONED", "iops": 6000},
            "logConfiguration": {"level": "WARN_ERROR"},
            "securityGroupIds": ["sg-0123456789abcdef0"],
        },
        "fs-0123456789abcdef0",
    ),
    resource(
        "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation",
        "data-link",
        {
            "fileSystemId": "fs-0123456789abcdef0",
            "fileSystemPath": "/data",
            "dataRepositoryPath": "s3://acme-data",
            "batchImportMetaDataOnCreate": True,
            "s3": {
                "autoImportPolicy": {"events": ["NEW", "CHANGED", "DELETED"]},
                "autoExportPolicy": {"events": ["NEW"]},
            },
        },
    ),
    resource(
        "aws:efs/fileSystem:FileSystem",
        "homes",
        {
            "encrypted": True,
            "kmsKeyId": KEY,
            "throughputMode": "elastic",
            "performanceMode": "generalPurpose",
            "lifecyclePolicies": [
                {"transitionToIa": "AFTER_30_DAYS"},
                {"transitionToPrimaryStorageClass": "AFTER_1_ACCESS"},
            ],
        },
        "fs-0abcdef0123456789",
    ),
    resource(
        "aws:efs/mountTarget:MountTarget",
        "mount",
        {"fileSystemId": "fs-0abcdef0123456789", "subnetId": SUBNETS[0], "securityGroups": ["sg-0123456789abcdef0"]},
    ),
    resource(
        "aws:efs/accessPoint:AccessPoint",
        "point",
        {
            "fileSystemId": "fs-0abcdef0123456789",
            "posixUser": {"uid": 10001, "gid": 10001},
            "rootDirectory": {
                "path": "/home",
                "creationInfo": {"ownerUid": 10001, "ownerGid": 10001, "permissions": "0750"},
            },
        },
    ),
    resource(
        "aws:rds/instance:Instance",
        "database",
        {
            "identifier": "acme-mlflow",
            "engine": "postgres",
            "engineVersion": "17.6",
            "instanceClass": "db.t4g.medium",
            "allocatedStorage": 50,
            "maxAllocatedStorage": 200,
            "storageType": "gp3",
            "storageEncrypted": True,
            "kmsKeyId": KEY,
            "dbName": "mlflow",
            "username": "mlflow",
            "manageMasterUserPassword": True,
            "backupRetentionPeriod": 14,
            "backupWindow": "03:00-04:00",
            "maintenanceWindow": "sun:05:00-sun:06:00",
            "monitoringInterval": 60,
            "monitoringRoleArn": ROLE,
            "performanceInsightsEnabled": True,
            "performanceInsightsKmsKeyId": KEY,
            "performanceInsightsRetentionPeriod": 7,
            "enabledCloudwatchLogsExports": ["postgresql", "upgrade"],
            "parameterGroupName": "acme-mlflow-17",
            "skipFinalSnapshot": False,
            "finalSnapshotIdentifier": "acme-mlflow-final",
            "deletionProtection": True,
            "caCertIdentifier": "rds-ca-rsa2048-g1",
        },
    ),
    resource("aws:rds/subnetGroup:SubnetGroup", "database-subnets", {"subnetIds": SUBNETS, "description": "Isolated"}),
    resource(
        "aws:rds/parameterGroup:ParameterGroup",
        "database-parameters",
        {"name": "acme-mlflow-17", "family": "postgres17", "parameters": [{"name": "rds.force_ssl", "value": "1"}]},
    ),
    resource("aws:s3/bucket:Bucket", "checkpoints", {"bucket": "acme-checkpoints"}, "acme-checkpoints"),
    resource("aws:s3/bucket:Bucket", "logs", {}, "logs-0123456"),
    resource(
        "aws:s3/bucketVersioning:BucketVersioning",
        "versions",
        {"bucket": "acme-checkpoints", "versioningConfiguration": {"status": "Enabled"}},
    ),
    resource(
        "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
        "lifecycle",
        {
            "bucket": "acme-checkpoints",
            "rules": [
                {
                    "id": "clean-up",
                    "status": "Enabled",
                    "filter": {"prefix": ""},
                    "abortIncompleteMultipartUpload": {"daysAfterInitiation": 7},
                },
                {
                    "id": "old",
                    "status": "Enabled",
                    "filter": {"and": {"prefix": "runs/", "tags": {"keep": "no"}}},
                    "transitions": [{"days": 30, "storageClass": "STANDARD_IA"}],
                    "expiration": {"days": 90},
                    "noncurrentVersionExpiration": {"noncurrentDays": 14, "newerNoncurrentVersions": 3},
                },
            ],
        },
    ),
    resource(
        "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
        "encryption",
        {
            "bucket": "acme-checkpoints",
            "rules": [
                {
                    "applyServerSideEncryptionByDefault": {"sseAlgorithm": "aws:kms", "kmsMasterKeyId": KEY},
                    "bucketKeyEnabled": True,
                }
            ],
        },
    ),
    resource(
        "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
        "public",
        {"bucket": "acme-checkpoints", "blockPublicAcls": True, "restrictPublicBuckets": True},
    ),
    resource(
        "aws:s3/bucketLogging:BucketLogging",
        "access-log",
        {"bucket": "acme-checkpoints", "targetBucket": "logs-0123456", "targetPrefix": "checkpoints/"},
    ),
    resource(
        "aws:s3/bucketPolicy:BucketPolicy",
        "tls-only",
        {
            "bucket": "acme-checkpoints",
            "policy": policy(
                {
                    "Sid": "TlsOnly",
                    "Effect": "Deny",
                    "Principal": "*",
                    "Action": "s3:*",
                    "Resource": "arn:aws:s3:::acme-checkpoints/*",
                    "Condition": {"Bool": {"aws:SecureTransport": "false"}},
                }
            ),
        },
    ),
    resource(
        "aws:kms/key:Key",
        "key",
        {
            "description": "Everything of the environment",
            "deletionWindowInDays": 30,
            "enableKeyRotation": True,
            "rotationPeriodInDays": 365,
            "policy": policy(
                {
                    "Sid": "Account",
                    "Effect": "Allow",
                    "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"},
                    "Action": "kms:*",
                    "Resource": "*",
                }
            ),
        },
    ),
    resource("aws:kms/alias:Alias", "alias", {"name": "alias/acme-production", "targetKeyId": "0b8f2f3e"}),
    resource(
        "aws:iam/role:Role",
        "pod-role",
        {"assumeRolePolicy": TRUST, "description": "Reads the data", "maxSessionDuration": 3600},
    ),
    resource("aws:iam/policy:Policy", "managed", {"policy": ACCESS, "path": "/trainyard/"}),
    resource("aws:iam/rolePolicy:RolePolicy", "inline", {"role": "pod-role", "policy": ACCESS}),
    resource(
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
        "attached",
        {"role": "node", "policyArn": "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"},
    ),
    resource(
        "aws:cloudwatch/logGroup:LogGroup",
        "control-plane",
        {"name": "/aws/eks/acme-production/cluster", "retentionInDays": 365, "kmsKeyId": KEY},
    ),
    resource(
        "aws:cloudwatch/metricAlarm:MetricAlarm",
        "alarm",
        {
            "comparisonOperator": "GreaterThanThreshold",
            "evaluationPeriods": 3,
            "datapointsToAlarm": 2,
            "metricName": "FreeStorageSpace",
            "namespace": "AWS/RDS",
            "statistic": "Average",
            "period": 300,
            "threshold": 10,
            "treatMissingData": "breaching",
            "dimensions": {"DBInstanceIdentifier": "acme-mlflow"},
            "alarmActions": [TOPIC_ARN],
        },
    ),
    resource(
        "aws:budgets/budget:Budget",
        "budget",
        {
            "name": "acme-production",
            "budgetType": "COST",
            "timeUnit": "MONTHLY",
            "limitAmount": "60000",
            "limitUnit": "USD",
            "timePeriodStart": "2026-01-01_00:00",
            "costFilters": [{"name": "TagKeyValue", "values": ["user:client$acme"]}],
            "notifications": [
                {
                    "comparisonOperator": "GREATER_THAN",
                    "notificationType": kind,
                    "threshold": 80,
                    "thresholdType": "PERCENTAGE",
                    "subscriberEmailAddresses": ["ml@example.com"],
                    "subscriberSnsTopicArns": [TOPIC_ARN],
                }
                for kind in ("ACTUAL", "FORECASTED")
            ],
        },
    ),
    resource(
        "aws:costexplorer/anomalyMonitor:AnomalyMonitor",
        "monitor",
        {
            "name": "acme",
            "monitorType": "CUSTOM",
            "monitorSpecification": json.dumps({"Tags": {"Key": "client", "Values": ["acme"]}}),
        },
    ),
    resource(
        "aws:costexplorer/anomalySubscription:AnomalySubscription",
        "anomalies",
        {
            "name": "acme",
            "frequency": "IMMEDIATE",
            "monitorArnLists": [f"arn:aws:ce::{ACCOUNT}:anomalymonitor/0b8f2f3e-0000-4000-8000-0123456789ab"],
            "subscribers": [{"type": "SNS", "address": TOPIC_ARN}],
            "thresholdExpression": {
                "dimension": {
                    "key": "ANOMALY_TOTAL_IMPACT_ABSOLUTE",
                    "values": ["100"],
                    "matchOptions": ["GREATER_THAN_OR_EQUAL"],
                }
            },
        },
    ),
    resource(
        "aws:costexplorer/costAllocationTag:CostAllocationTag", "cost-tag", {"tagKey": "client", "status": "Active"}
    ),
    resource("aws:sns/topic:Topic", "alerts", {"name": "acme-alerts", "kmsMasterKeyId": KEY}),
    resource(
        "aws:sns/topicSubscription:TopicSubscription",
        "mail",
        {"topic": TOPIC_ARN, "protocol": "email", "endpoint": "ml@example.com"},
    ),
    resource(
        "aws:secretsmanager/secret:Secret",
        "secret",
        {"name": "acme/mlflow", "recoveryWindowInDays": 7, "kmsKeyId": KEY},
    ),
    resource(
        "aws:ecr/repository:Repository",
        "images",
        {
            "imageTagMutability": "IMMUTABLE",
            "imageScanningConfiguration": {"scanOnPush": True},
            "encryptionConfigurations": [{"encryptionType": "KMS", "kmsKey": KEY}],
        },
    ),
    resource(
        "aws:ecr/lifecyclePolicy:LifecyclePolicy",
        "old-images",
        {"repository": "images", "policy": json.dumps({"rules": [KEEP_TEN_IMAGES]})},
    ),
    resource(
        "aws:autoscaling/tag:Tag",
        "scaling-tag",
        {
            "autoscalingGroupName": "eks-train",
            "tag": {"key": "k8s.io/cluster-autoscaler/enabled", "value": "true", "propagateAtLaunch": False},
        },
    ),
    resource(
        "aws:sagemaker/domain:Domain",
        "studio",
        {
            "authMode": "IAM",
            "domainName": "acme-studio",
            "appNetworkAccessType": "VpcOnly",
            "subnetIds": SUBNETS,
            "vpcId": "vpc-0123456789abcdef0",
            "defaultUserSettings": {"executionRole": ROLE},
        },
    ),
]
