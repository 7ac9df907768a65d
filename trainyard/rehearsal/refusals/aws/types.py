"""Which of Amazon's operations describe which resource type, and where the names differ.

Source: the operations that the AWS provider calls to make a resource, and botocore's models of them (1.44.5,
2026-11-21). A test walks every input of every type here, at any depth, and fails for one that neither finds its
member nor is named as having none.
"""

from __future__ import annotations

from typing import Final

from trainyard.rehearsal.refusals.aws.model_check import TypeModel

_LT = "ec2.CreateLaunchTemplate.LaunchTemplateData"


def _none(names: str) -> dict[str, None]:
    """Inputs that no model describes: switches of the provider, or values that other rules check."""
    return dict.fromkeys(names.split())


TYPES: Final[dict[str, TypeModel]] = {
    # EKS
    "aws:eks/cluster:Cluster": TypeModel(
        ("eks.CreateCluster",),
        {
            "vpcConfig": "resourcesVpcConfig",
            "enabledClusterLogTypes": "logging.clusterLogging.types",
            **_none(
                "vpcConfig.clusterSecurityGroupId vpcConfig.vpcId defaultAddonsToRemoves "
                "forceUpdateVersion kubernetesNetworkConfig.serviceIpv6Cidr"
            ),
        },
    ),
    "aws:eks/nodeGroup:NodeGroup": TypeModel(
        ("eks.CreateNodegroup",),
        {
            "nodeRoleArn": "nodeRole",
            "subnetIds": "subnets",
            "remoteAccess.sourceSecurityGroupIds": "sourceSecurityGroups",
            **_none("forceUpdateVersion nodeGroupNamePrefix"),
        },
    ),
    "aws:eks/addon:Addon": TypeModel(
        ("eks.CreateAddon",),
        {
            "resolveConflictsOnCreate": "resolveConflicts",
            "resolveConflictsOnUpdate": "resolveConflicts",
            **_none("preserve"),
        },
    ),
    "aws:eks/accessEntry:AccessEntry": TypeModel(("eks.CreateAccessEntry",)),
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": TypeModel(("eks.AssociateAccessPolicy",)),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": TypeModel(("eks.CreatePodIdentityAssociation",)),
    # EC2
    "aws:ec2/vpc:Vpc": TypeModel(
        ("ec2.CreateVpc",),
        {
            "assignGeneratedIpv6CidrBlock": "AmazonProvidedIpv6CidrBlock",
            **_none("enableDnsHostnames enableDnsSupport enableNetworkAddressUsageMetrics"),
        },
    ),
    "aws:ec2/subnet:Subnet": TypeModel(
        ("ec2.CreateSubnet",),
        {
            **_none(
                "assignIpv6AddressOnCreation customerOwnedIpv4Pool enableDns64 enableLniAtDeviceIndex "
                "enableResourceNameDnsARecordOnLaunch enableResourceNameDnsAaaaRecordOnLaunch "
                "mapCustomerOwnedIpOnLaunch mapPublicIpOnLaunch privateDnsHostnameTypeOnLaunch"
            )
        },
    ),
    "aws:ec2/launchTemplate:LaunchTemplate": TypeModel(
        (_LT, "ec2.CreateLaunchTemplate"),
        {
            "name": "LaunchTemplateName",
            "description": "VersionDescription",
            "networkInterfaces.ipv4AddressCount": "SecondaryPrivateIpAddressCount",
            "networkInterfaces.ipv4Addresses": "PrivateIpAddresses.PrivateIpAddress",
            "networkInterfaces.securityGroups": "Groups",
            "securityGroupNames": "SecurityGroups",
            "vpcSecurityGroupIds": "SecurityGroupIds",
            **_none("defaultVersion updateDefaultVersion"),
        },
    ),
    "aws:ec2/placementGroup:PlacementGroup": TypeModel(("ec2.CreatePlacementGroup",), {"name": "GroupName"}),
    "aws:ec2/capacityReservation:CapacityReservation": TypeModel(("ec2.CreateCapacityReservation",)),
    "aws:ec2/capacityBlockReservation:CapacityBlockReservation": TypeModel(("ec2.PurchaseCapacityBlock",)),
    "aws:ec2/route:Route": TypeModel(("ec2.CreateRoute",), {"egressOnlyGatewayId": "EgressOnlyInternetGatewayId"}),
    "aws:ec2/securityGroup:SecurityGroup": TypeModel(
        ("ec2.CreateSecurityGroup",), {"name": "GroupName", **_none("egress ingress revokeRulesOnDelete")}
    ),
    "aws:ec2/flowLog:FlowLog": TypeModel(
        ("ec2.CreateFlowLogs",),
        {
            "eniId": "ResourceIds",
            "iamRoleArn": "DeliverLogsPermissionArn",
            "regionalNatGatewayId": "ResourceIds",
            "subnetId": "ResourceIds",
            "transitGatewayAttachmentId": "ResourceIds",
            "transitGatewayId": "ResourceIds",
            "vpcId": "ResourceIds",
        },
    ),
    "aws:ec2/vpcEndpoint:VpcEndpoint": TypeModel(("ec2.CreateVpcEndpoint",), {**_none("autoAccept")}),
    "aws:ec2/natGateway:NatGateway": TypeModel(("ec2.CreateNatGateway",), {"privateIp": "PrivateIpAddress"}),
    "aws:ec2/eip:Eip": TypeModel(
        ("ec2.AllocateAddress",), {**_none("associateWithPrivateIp instance networkInterface")}
    ),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": TypeModel(
        ("ec2.AuthorizeSecurityGroupIngress.IpPermissions",),
        {
            "cidrIpv4": "IpRanges.CidrIp",
            "cidrIpv6": "Ipv6Ranges.CidrIpv6",
            "description": "IpRanges.Description",
            "referencedSecurityGroupId": "UserIdGroupPairs.GroupId",
            **_none("securityGroupId"),
        },
    ),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": TypeModel(
        ("ec2.AuthorizeSecurityGroupEgress.IpPermissions",),
        {
            "cidrIpv4": "IpRanges.CidrIp",
            "cidrIpv6": "Ipv6Ranges.CidrIpv6",
            "description": "IpRanges.Description",
            "referencedSecurityGroupId": "UserIdGroupPairs.GroupId",
            **_none("securityGroupId"),
        },
    ),
    # File systems
    "aws:fsx/lustreFileSystem:LustreFileSystem": TypeModel(
        ("fsx.CreateFileSystem.LustreConfiguration", "fsx.CreateFileSystem"),
        {"dataReadCacheConfiguration.size": "SizeGiB", **_none("backupId finalBackupTags skipFinalBackup")},
    ),
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation": TypeModel(
        ("fsx.CreateDataRepositoryAssociation",), {**_none("deleteDataInFilesystem")}
    ),
    "aws:efs/fileSystem:FileSystem": TypeModel(
        ("efs.CreateFileSystem", "efs.PutLifecycleConfiguration"), {**_none("protection")}
    ),
    "aws:efs/mountTarget:MountTarget": TypeModel(("efs.CreateMountTarget",)),
    "aws:efs/accessPoint:AccessPoint": TypeModel(("efs.CreateAccessPoint",)),
    # Database
    "aws:rds/instance:Instance": TypeModel(
        ("rds.CreateDBInstance",),
        {
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
            **_none(
                "allowMajorVersionUpgrade applyImmediately blueGreenUpdate deleteAutomatedBackups "
                "finalSnapshotIdentifier identifierPrefix passwordWoVersion replicaMode "
                "replicateSourceDb restoreToPointInTime s3Import skipFinalSnapshot snapshotIdentifier "
                "upgradeStorageConfig warningEventCategories"
            ),
        },
    ),
    "aws:rds/subnetGroup:SubnetGroup": TypeModel(
        ("rds.CreateDBSubnetGroup",), {"description": "DBSubnetGroupDescription", "name": "DBSubnetGroupName"}
    ),
    "aws:rds/parameterGroup:ParameterGroup": TypeModel(
        ("rds.CreateDBParameterGroup",),
        {"family": "DBParameterGroupFamily", "name": "DBParameterGroupName", **_none("parameters skipDestroy")},
    ),
    # S3
    "aws:s3/bucket:Bucket": TypeModel(
        ("s3.CreateBucket",),
        {
            "objectLockEnabled": "ObjectLockEnabledForBucket",
            **_none(
                "accelerationStatus bucketPrefix corsRules forceDestroy grants lifecycleRules logging "
                "objectLockConfiguration policy replicationConfiguration requestPayer "
                "serverSideEncryptionConfiguration versioning website"
            ),
        },
    ),
    "aws:s3/bucketVersioning:BucketVersioning": TypeModel(
        ("s3.PutBucketVersioning",),
        {"versioningConfiguration.mfaDelete": "MFADelete", **_none("versioningConfiguration.status")},
    ),
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": TypeModel(
        ("s3.PutBucketLifecycleConfiguration.LifecycleConfiguration", "s3.PutBucketLifecycleConfiguration")
    ),
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": TypeModel(
        ("s3.PutBucketEncryption.ServerSideEncryptionConfiguration", "s3.PutBucketEncryption")
    ),
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": TypeModel(
        ("s3.PutPublicAccessBlock.PublicAccessBlockConfiguration", "s3.PutPublicAccessBlock"), {**_none("skipDestroy")}
    ),
    "aws:s3/bucketPolicy:BucketPolicy": TypeModel(("s3.PutBucketPolicy",), {**_none("policy")}),
    "aws:s3/bucketLogging:BucketLogging": TypeModel(
        ("s3.PutBucketLogging.BucketLoggingStatus.LoggingEnabled", "s3.PutBucketLogging")
    ),
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": TypeModel(
        ("s3.PutBucketOwnershipControls.OwnershipControls", "s3.PutBucketOwnershipControls")
    ),
    # Keys, identity
    "aws:kms/key:Key": TypeModel(
        ("kms.CreateKey", "kms.EnableKeyRotation"), {**_none("deletionWindowInDays enableKeyRotation isEnabled")}
    ),
    "aws:kms/grant:Grant": TypeModel(("kms.CreateGrant",), {**_none("retireOnDelete grantCreationTokens")}),
    "aws:kms/alias:Alias": TypeModel(("kms.CreateAlias",), {"name": "AliasName"}),
    "aws:iam/role:Role": TypeModel(
        ("iam.CreateRole",),
        {
            "name": "RoleName",
            "assumeRolePolicy": "AssumeRolePolicyDocument",
            **_none("forceDetachPolicies inlinePolicies managedPolicyArns"),
        },
    ),
    "aws:iam/policy:Policy": TypeModel(
        ("iam.CreatePolicy",),
        {"name": "PolicyName", "policy": "PolicyDocument", **_none("delayAfterPolicyCreationInMs")},
    ),
    "aws:iam/rolePolicy:RolePolicy": TypeModel(
        ("iam.PutRolePolicy",), {"name": "PolicyName", "role": "RoleName", "policy": "PolicyDocument"}
    ),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": TypeModel(("iam.AttachRolePolicy",), {"role": "RoleName"}),
    "aws:iam/instanceProfile:InstanceProfile": TypeModel(
        ("iam.CreateInstanceProfile",), {"name": "InstanceProfileName", **_none("role")}
    ),
    # Logs and alarms
    "aws:cloudwatch/logGroup:LogGroup": TypeModel(
        ("logs.CreateLogGroup",), {"name": "logGroupName", **_none("retentionInDays skipDestroy")}
    ),
    "aws:cloudwatch/metricAlarm:MetricAlarm": TypeModel(
        ("cloudwatch.PutMetricAlarm",),
        {
            "name": "AlarmName",
            "metricQueries": "Metrics",
            "metricQueries.metric": "MetricStat",
            "metricQueries.metric.metricName": "Metric.MetricName",
            "metricQueries.metric.namespace": "Metric.Namespace",
            **_none("dimensions metricQueries.metric.dimensions"),
        },
    ),
    # Money
    "aws:budgets/budget:Budget": TypeModel(
        ("budgets.CreateBudget.Budget", "budgets.CreateBudget"),
        {
            "name": "BudgetName",
            "limitAmount": "BudgetLimit.Amount",
            "limitUnit": "BudgetLimit.Unit",
            "notifications": "/NotificationsWithSubscribers.Notification",
            **_none(
                "costFilters plannedLimits timePeriodStart timePeriodEnd "
                "notifications.subscriberEmailAddresses notifications.subscriberSnsTopicArns"
            ),
        },
    ),
    "aws:budgets/budgetAction:BudgetAction": TypeModel(("budgets.CreateBudgetAction",)),
    "aws:costexplorer/anomalyMonitor:AnomalyMonitor": TypeModel(
        ("ce.CreateAnomalyMonitor.AnomalyMonitor",), {"name": "MonitorName", **_none("monitorSpecification")}
    ),
    "aws:costexplorer/anomalySubscription:AnomalySubscription": TypeModel(
        ("ce.CreateAnomalySubscription.AnomalySubscription",), {"name": "SubscriptionName"}
    ),
    "aws:costexplorer/costAllocationTag:CostAllocationTag": TypeModel(
        ("ce.UpdateCostAllocationTagsStatus.CostAllocationTagsStatus",)
    ),
    # Messages, secrets, scaling
    "aws:sns/topic:Topic": TypeModel(
        ("sns.CreateTopic",),
        {
            **_none(
                "applicationFailureFeedbackRoleArn applicationSuccessFeedbackRoleArn "
                "applicationSuccessFeedbackSampleRate archivePolicy contentBasedDeduplication "
                "deliveryPolicy displayName fifoThroughputScope fifoTopic "
                "firehoseFailureFeedbackRoleArn firehoseSuccessFeedbackRoleArn "
                "firehoseSuccessFeedbackSampleRate httpFailureFeedbackRoleArn "
                "httpSuccessFeedbackRoleArn httpSuccessFeedbackSampleRate kmsMasterKeyId "
                "lambdaFailureFeedbackRoleArn lambdaSuccessFeedbackRoleArn "
                "lambdaSuccessFeedbackSampleRate maximumMessageSize policy signatureVersion "
                "sqsFailureFeedbackRoleArn sqsSuccessFeedbackRoleArn sqsSuccessFeedbackSampleRate "
                "tracingConfig"
            )
        },
    ),
    "aws:sns/topicPolicy:TopicPolicy": TypeModel(("sns.SetTopicAttributes",), {"arn": "TopicArn", **_none("policy")}),
    "aws:sns/topicSubscription:TopicSubscription": TypeModel(
        ("sns.Subscribe",),
        {
            "topic": "TopicArn",
            **_none(
                "confirmationTimeoutInMinutes deliveryPolicy endpointAutoConfirms filterPolicy "
                "filterPolicyScope rawMessageDelivery redrivePolicy replayPolicy subscriptionRoleArn"
            ),
        },
    ),
    "aws:secretsmanager/secret:Secret": TypeModel(
        ("secretsmanager.CreateSecret",),
        {
            "replicas": "AddReplicaRegions",
            "replicas.lastAccessedDate": None,
            "replicas.status": None,
            "replicas.statusMessage": None,
            **_none("policy recoveryWindowInDays"),
        },
    ),
    "aws:autoscaling/tag:Tag": TypeModel(
        ("autoscaling.CreateOrUpdateTags",), {"autoscalingGroupName": "Tags.ResourceId", "tag": "Tags"}
    ),
    # SageMaker
    "aws:sagemaker/domain:Domain": TypeModel(("sagemaker.CreateDomain",), {**_none("retentionPolicy")}),
}
