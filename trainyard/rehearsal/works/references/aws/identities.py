"""What there is one of on AWS, where a type's card does not say it: by the inputs that make two of them the same.

The second call is refused (`EntityAlreadyExists`, `ResourceInUseException`, `InvalidPermission.Duplicate`,
`Resource.AlreadyAssociated`), or puts the whole in the place of what was there (`PutBucketReplication`, `PutKeyPolicy`,
`PutFileSystemPolicy`, `SetTopicAttributes`, `CreateOrUpdateTags`, `PutRule`, `PutMetricAlarm`, `PutRolePolicy`). Who
has an Elastic IP address, and a zone's place for a mount target, is told by `refusals/aws/taken.py`.

Source: the API reference of each service, 2026-11.
"""

from __future__ import annotations

from typing import Final

from trainyard.recorded import types as t
from trainyard.rehearsal.works.references.taken import Identities

_SOURCES: Final = ("prefixListId?", "referencedSecurityGroupId?", "cidrIpv6?", "cidrIpv4?")
_RULE_OF_GROUP: Final = ("securityGroupId", "ipProtocol", "fromPort?", "toPort?", *_SOURCES)
_NAMED: Final = (
    t.KEY_ALIAS, t.FUNCTION, t.LOAD_BALANCER, t.LAUNCH_TEMPLATE, t.METRIC_ALARM, t.QUEUE, t.SECRETS_MANAGER_SECRET,
    t.TABLE, t.KINESIS_STREAM, t.BUILD_PROJECT, t.GLUE_JOB, t.GLUE_CRAWLER, t.SAGEMAKER_ENDPOINT_CONFIGURATION,
    t.BATCH_QUEUE, "aws:lb/targetGroup:TargetGroup", "aws:ssm/parameter:Parameter", "aws:backup/vault:Vault",
    "aws:sfn/stateMachine:StateMachine", "aws:cloudwatch/eventBus:EventBus", "aws:athena/workgroup:Workgroup",
    "aws:sagemaker/notebookInstance:NotebookInstance", "aws:sagemaker/endpoint:Endpoint", "aws:sagemaker/model:Model",
)  # fmt: skip
IDENTITIES: Final = Identities(
    {
        **dict.fromkeys(_NAMED, ("name",)),
        t.ACCESS_POLICY_ASSOCIATION: ("clusterName", "principalArn", "policyArn"),
        t.AUTOSCALING_TAG: ("autoscalingGroupName", "tag.key"),
        t.AWS_BUDGET: ("accountId?", "name"),
        t.BUCKET_NOTIFICATION: ("bucket",),
        t.BUCKET_REPLICATION: ("bucket",),
        t.DATABASE: ("identifier",),
        t.DATABASE_CLUSTER: ("clusterIdentifier",),
        t.DEFAULT_SECURITY_GROUP: ("vpcId",),
        t.DETECTOR: (),
        t.DNS_FIREWALL_CONFIG: ("resourceId",),
        t.EFS_BACKUP_POLICY: ("fileSystemId",),
        t.EFS_POLICY: ("fileSystemId",),
        t.EVENT_RULE: ("eventBusName?", "name"),
        t.FLOW_LOG: (
            "vpcId?", "subnetId?", "eniId?", "transitGatewayId?", "transitGatewayAttachmentId?", "trafficType?",
            "logFormat?", "logDestination",
        ),
        t.INTERNET_GATEWAY: ("vpcId",),
        t.KEY_POLICY: ("keyId",),
        t.LOG_METRIC_FILTER: ("logGroupName", "name"),
        t.POD_IDENTITY_ASSOCIATION: ("clusterName", "namespace", "serviceAccount"),
        t.QUEUE_POLICY: ("queueUrl",),
        t.REPOSITORY_POLICY: ("repository",),
        t.ROLE_POLICY: ("role", "name"),
        t.ROUTE_TABLE_ASSOCIATION: ("gatewayId?", "subnetId?"),
        t.SCHEDULE: ("groupName?", "name"),
        t.SECRET_POLICY: ("secretArn",),
        t.SECURITY_GROUP: ("vpcId", "name"),
        t.SECURITY_GROUP_EGRESS_RULE: _RULE_OF_GROUP,
        t.SECURITY_GROUP_INGRESS_RULE: _RULE_OF_GROUP,
        t.SNS_TOPIC_POLICY: ("arn",),
        "aws:ec2/keyPair:KeyPair": ("keyName",),
        t.FARGATE_PROFILE: ("clusterName", "fargateProfileName"),
        t.REPLICATION_GROUP: ("replicationGroupId",),
    }
)  # fmt: skip
