"""Type tokens that several readers of recorded resources ask for, each under one name.

Queues have theirs beside what reads them (`queues`), and components spell their own, which they do not read. Two clouds
that have the same thing are told apart by a prefix: `GCP_BUCKET`, and `BUCKET` for AWS's, which came first.
"""

from __future__ import annotations

import re
from typing import Final

AWS_PROVIDER: Final = "pulumi:providers:aws"
GCP_PROVIDER: Final = "pulumi:providers:gcp"
KUBERNETES_PROVIDER: Final = "pulumi:providers:kubernetes"
PULUMI_STACK: Final = "pulumi:pulumi:Stack"

ACCESS_ENTRY: Final = "aws:eks/accessEntry:AccessEntry"
ACCESS_KEY: Final = "aws:iam/accessKey:AccessKey"
ACCESS_POLICY_ASSOCIATION: Final = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
ADD_ON: Final = "aws:eks/addon:Addon"
AUTOSCALING_ATTACHMENT: Final = "aws:autoscaling/attachment:Attachment"
AUTOSCALING_GROUP: Final = "aws:autoscaling/group:Group"
LIFECYCLE_HOOK: Final = "aws:autoscaling/lifecycleHook:LifecycleHook"
AUTOSCALING_TAG: Final = "aws:autoscaling/tag:Tag"
AWS_BUDGET: Final = "aws:budgets/budget:Budget"
BACKUP_SELECTION: Final = "aws:backup/selection:Selection"
BATCH_DEFINITION: Final = "aws:batch/jobDefinition:JobDefinition"
BATCH_ENVIRONMENT: Final = "aws:batch/computeEnvironment:ComputeEnvironment"
BATCH_QUEUE: Final = "aws:batch/jobQueue:JobQueue"
BUDGET_ACTION: Final = "aws:budgets/budgetAction:BudgetAction"
BUCKET: Final = "aws:s3/bucket:Bucket"
BUCKET_ACL: Final = "aws:s3/bucketAcl:BucketAcl"
BUCKET_ENCRYPTION: Final = (
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"  # of a bucket's default
)
BUCKET_LOGGING: Final = "aws:s3/bucketLogging:BucketLogging"
BUCKET_OBJECT_LOCK: Final = "aws:s3/bucketObjectLockConfiguration:BucketObjectLockConfiguration"
BUCKET_POLICY: Final = "aws:s3/bucketPolicy:BucketPolicy"
ACCOUNT_PUBLIC_ACCESS: Final = "aws:s3/accountPublicAccessBlock:AccountPublicAccessBlock"
BUCKET_PUBLIC_ACCESS: Final = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
BUCKET_VERSIONING: Final = "aws:s3/bucketVersioning:BucketVersioning"
CAPACITY_PROVIDER: Final = "aws:ecs/capacityProvider:CapacityProvider"
CAPACITY_RESERVATION: Final = "aws:ec2/capacityReservation:CapacityReservation"
CHATBOTS: Final = (
    "aws:chatbot/slackChannelConfiguration:SlackChannelConfiguration",
    "aws:chatbot/teamsChannelConfiguration:TeamsChannelConfiguration",
)
DATABASE: Final = "aws:rds/instance:Instance"
DATABASE_CLUSTER: Final = "aws:rds/cluster:Cluster"
DATABASE_CLUSTER_INSTANCE: Final = "aws:rds/clusterInstance:ClusterInstance"
DATABASE_PARAMETERS: Final = "aws:rds/parameterGroup:ParameterGroup"
DATABASE_SUBNETS: Final = "aws:rds/subnetGroup:SubnetGroup"
DATA_REPOSITORY_ASSOCIATION: Final = "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"
DEFAULT_SECURITY_GROUP: Final = "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup"
DETECTOR: Final = "aws:guardduty/detector:Detector"
DETECTOR_FEATURE: Final = "aws:guardduty/detectorFeature:DetectorFeature"
DNS_FIREWALL_ASSOCIATION: Final = (
    "aws:route53/resolverFirewallRuleGroupAssociation:ResolverFirewallRuleGroupAssociation"
)
DNS_FIREWALL_NAMES: Final = "aws:route53/resolverFirewallDomainList:ResolverFirewallDomainList"
DNS_FIREWALL_RULE: Final = "aws:route53/resolverFirewallRule:ResolverFirewallRule"
INSTANCE_PROFILE: Final = "aws:iam/instanceProfile:InstanceProfile"
EC2_INSTANCE: Final = "aws:ec2/instance:Instance"
AMI_PERMISSION: Final = "aws:ec2/amiLaunchPermission:AmiLaunchPermission"
BUCKET_ACCESS_POINT: Final = "aws:s3/accessPoint:AccessPoint"
BUCKET_ACCESS_POINT_POLICY: Final = "aws:s3control/accessPointPolicy:AccessPointPolicy"
BUCKET_REPLICATION: Final = "aws:s3/bucketReplicationConfig:BucketReplicationConfig"
DATABASE_CLUSTER_SNAPSHOT: Final = "aws:rds/clusterSnapshot:ClusterSnapshot"
DATABASE_SNAPSHOT: Final = "aws:rds/snapshot:Snapshot"
BACKUP_VAULT_POLICY: Final = "aws:backup/vaultPolicy:VaultPolicy"
DNS_FIREWALL_CONFIG: Final = "aws:route53/resolverFirewallConfig:ResolverFirewallConfig"
INTERNET_GATEWAY: Final = "aws:ec2/internetGateway:InternetGateway"
ENDPOINT_SERVICE: Final = "aws:ec2/vpcEndpointService:VpcEndpointService"
VPC_PEERING: Final = "aws:ec2/vpcPeeringConnection:VpcPeeringConnection"
ENDPOINT_SERVICE_PRINCIPAL: Final = "aws:ec2/vpcEndpointServiceAllowedPrinciple:VpcEndpointServiceAllowedPrinciple"
EBS_VOLUME: Final = "aws:ebs/volume:Volume"
ECR_CACHE_RULE: Final = "aws:ecr/pullThroughCacheRule:PullThroughCacheRule"
ECR_CREATION_TEMPLATE: Final = "aws:ecr/repositoryCreationTemplate:RepositoryCreationTemplate"
ECR_REPLICATION: Final = "aws:ecr/replicationConfiguration:ReplicationConfiguration"
ECR_REGISTRY_POLICY: Final = "aws:ecr/registryPolicy:RegistryPolicy"
EFS: Final = "aws:efs/fileSystem:FileSystem"
EFS_ACCESS_POINT: Final = "aws:efs/accessPoint:AccessPoint"
EFS_BACKUP_POLICY: Final = "aws:efs/backupPolicy:BackupPolicy"
EFS_MOUNT_TARGET: Final = "aws:efs/mountTarget:MountTarget"
EFS_POLICY: Final = "aws:efs/fileSystemPolicy:FileSystemPolicy"
LAUNCH_TEMPLATE: Final = "aws:ec2/launchTemplate:LaunchTemplate"
EKS_NODE_GROUP: Final = "aws:eks/nodeGroup:NodeGroup"
FARGATE_PROFILE: Final = "aws:eks/fargateProfile:FargateProfile"
REPLICATION_GROUP: Final = "aws:elasticache/replicationGroup:ReplicationGroup"
EKS_CLUSTER: Final = "aws:eks/cluster:Cluster"
EVENT_BUS_POLICY: Final = "aws:cloudwatch/eventBusPolicy:EventBusPolicy"
EVENT_RULE: Final = "aws:cloudwatch/eventRule:EventRule"
EVENT_TARGET: Final = "aws:cloudwatch/eventTarget:EventTarget"
EXISTING_NETWORK: Final = "trainyard:index:ExistingNetwork"
"""The component below which VPC and subnets are somebody else's, which it looks up."""
FLOW_LOG: Final = "aws:ec2/flowLog:FlowLog"
IAM_POLICY: Final = "aws:iam/policy:Policy"
IAM_POLICY_ATTACHMENT: Final = "aws:iam/policyAttachment:PolicyAttachment"
IAM_USER: Final = "aws:iam/user:User"
KEY: Final = "aws:kms/key:Key"
KEY_ALIAS: Final = "aws:kms/alias:Alias"
KEY_GRANT: Final = "aws:kms/grant:Grant"
KEY_POLICY: Final = "aws:kms/keyPolicy:KeyPolicy"
KEYS: Final = (KEY, "aws:kms/externalKey:ExternalKey", "aws:kms/replicaKey:ReplicaKey")
LIFECYCLE: Final = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"
LOAD_BALANCER: Final = "aws:lb/loadBalancer:LoadBalancer"
LOGIN_PROFILE: Final = "aws:iam/userLoginProfile:UserLoginProfile"
LOG_GROUP: Final = "aws:cloudwatch/logGroup:LogGroup"
LUSTRE: Final = "aws:fsx/lustreFileSystem:LustreFileSystem"
NAT_GATEWAY: Final = "aws:ec2/natGateway:NatGateway"
OTHER_FSX: Final = (
    "aws:fsx/ontapFileSystem:OntapFileSystem",
    "aws:fsx/openZfsFileSystem:OpenZfsFileSystem",
    "aws:fsx/windowsFileSystem:WindowsFileSystem",
)
POD_IDENTITY_ASSOCIATION: Final = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
REPOSITORY: Final = "aws:ecr/repository:Repository"
REPOSITORY_POLICY: Final = "aws:ecr/repositoryPolicy:RepositoryPolicy"
RESOURCE_SHARE_PRINCIPAL: Final = "aws:ram/principalAssociation:PrincipalAssociation"
ROUTE: Final = "aws:ec2/route:Route"
ROUTE_TABLE: Final = "aws:ec2/routeTable:RouteTable"
ROUTE_TABLE_ASSOCIATION: Final = "aws:ec2/routeTableAssociation:RouteTableAssociation"
ROLE: Final = "aws:iam/role:Role"
ROLE_POLICY: Final = "aws:iam/rolePolicy:RolePolicy"
ROLE_POLICY_ATTACHMENT: Final = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
USER_POLICY_ATTACHMENT: Final = "aws:iam/userPolicyAttachment:UserPolicyAttachment"
GROUP_POLICY_ATTACHMENT: Final = "aws:iam/groupPolicyAttachment:GroupPolicyAttachment"
IAM_ATTACHMENTS: Final = (
    ROLE_POLICY_ATTACHMENT,
    IAM_POLICY_ATTACHMENT,
    USER_POLICY_ATTACHMENT,
    GROUP_POLICY_ATTACHMENT,
)
"""What gives somebody the rights of a managed policy."""
SECRET_POLICY: Final = "aws:secretsmanager/secretPolicy:SecretPolicy"  # noqa: S105 (a type)
SECRETS_MANAGER_SECRET: Final = "aws:secretsmanager/secret:Secret"  # noqa: S105 (a type)
PLACEMENT_GROUP: Final = "aws:ec2/placementGroup:PlacementGroup"
SECURITY_GROUP: Final = "aws:ec2/securityGroup:SecurityGroup"
SECURITY_GROUP_EGRESS_RULE: Final = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
SECURITY_GROUP_INGRESS_RULE: Final = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
SECURITY_GROUP_RULE: Final = "aws:ec2/securityGroupRule:SecurityGroupRule"
QUEUE: Final = "aws:sqs/queue:Queue"
MLFLOW_APP: Final = "aws:sagemaker/mlflowApp:MlflowApp"
MLFLOW_SERVER: Final = "aws:sagemaker/mlflowTrackingServer:MlflowTrackingServer"
SAGEMAKER_DOMAIN: Final = "aws:sagemaker/domain:Domain"
SAGEMAKER_USER: Final = "aws:sagemaker/userProfile:UserProfile"
SAGEMAKER_NOTEBOOK: Final = "aws:sagemaker/notebookInstance:NotebookInstance"
QUEUE_POLICY: Final = "aws:sqs/queuePolicy:QueuePolicy"
AMP_ALERT_MANAGER: Final = "aws:amp/alertManagerDefinition:AlertManagerDefinition"
AMP_RULES: Final = "aws:amp/ruleGroupNamespace:RuleGroupNamespace"
AMP_WORKSPACE: Final = "aws:amp/workspace:Workspace"
AMP_WORKSPACE_CONFIGURATION: Final = "aws:amp/workspaceConfiguration:WorkspaceConfiguration"
SNS_TOPIC: Final = "aws:sns/topic:Topic"
SNS_TOPIC_POLICY: Final = "aws:sns/topicPolicy:TopicPolicy"
SNS_TOPIC_SUBSCRIPTION: Final = "aws:sns/topicSubscription:TopicSubscription"
SNAPSHOT_PERMISSION: Final = "aws:ec2/snapshotCreateVolumePermission:SnapshotCreateVolumePermission"
SUBNET: Final = "aws:ec2/subnet:Subnet"
TRAIL: Final = "aws:cloudtrail/trail:Trail"
EVENT_DATA_STORE: Final = "aws:cloudtrail/eventDataStore:EventDataStore"
VPC: Final = "aws:ec2/vpc:Vpc"
VPC_CIDR: Final = "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation"
DNS_FIREWALL_RULES: Final = "aws:route53/resolverFirewallRuleGroup:ResolverFirewallRuleGroup"
VPC_ENDPOINT: Final = "aws:ec2/vpcEndpoint:VpcEndpoint"
CERTIFICATE: Final = "aws:acm/certificate:Certificate"
METRIC_ALARM: Final = "aws:cloudwatch/metricAlarm:MetricAlarm"
COMPOSITE_ALARM: Final = "aws:cloudwatch/compositeAlarm:CompositeAlarm"
BUILD_PROJECT: Final = "aws:codebuild/project:Project"
BUCKET_NOTIFICATION: Final = "aws:s3/bucketNotification:BucketNotification"
SECRET_VERSION: Final = "aws:secretsmanager/secretVersion:SecretVersion"  # noqa: S105 (a type)
LISTENER_RULE: Final = "aws:lb/listenerRule:ListenerRule"
DNS_RECORD: Final = "aws:route53/record:Record"
DNS_ZONE: Final = "aws:route53/zone:Zone"
SPOT_INSTANCE_REQUEST: Final = "aws:ec2/spotInstanceRequest:SpotInstanceRequest"
IMAGE_BUILDER: Final = "aws:imagebuilder/infrastructureConfiguration:InfrastructureConfiguration"
ECS_CLUSTER: Final = "aws:ecs/cluster:Cluster"
ECS_SERVICE: Final = "aws:ecs/service:Service"
SCALING_TARGET: Final = "aws:appautoscaling/target:Target"
SCALING_POLICY: Final = "aws:appautoscaling/policy:Policy"
MAINTENANCE_WINDOW: Final = "aws:ssm/maintenanceWindow:MaintenanceWindow"
MAINTENANCE_WINDOW_TASK: Final = "aws:ssm/maintenanceWindowTask:MaintenanceWindowTask"
DASHBOARD: Final = "aws:cloudwatch/dashboard:Dashboard"
SCHEDULE: Final = "aws:scheduler/schedule:Schedule"
SECRET_ROTATION: Final = "aws:secretsmanager/secretRotation:SecretRotation"  # noqa: S105 (a type)
BACKUP_PLAN: Final = "aws:backup/plan:Plan"
AUTOSCALING_SCHEDULE: Final = "aws:autoscaling/schedule:Schedule"
ECR_LIFECYCLE: Final = "aws:ecr/lifecyclePolicy:LifecyclePolicy"
LOG_METRIC_FILTER: Final = "aws:cloudwatch/logMetricFilter:LogMetricFilter"
LOG_SUBSCRIPTION_FILTER: Final = "aws:cloudwatch/logSubscriptionFilter:LogSubscriptionFilter"
NETWORK_ACL: Final = "aws:ec2/networkAcl:NetworkAcl"
NETWORK_ACL_RULE: Final = "aws:ec2/networkAclRule:NetworkAclRule"
SEARCH_DOMAIN: Final = "aws:opensearch/domain:Domain"
HTTP_API: Final = "aws:apigatewayv2/api:Api"
HTTP_INTEGRATION: Final = "aws:apigatewayv2/integration:Integration"
SAGEMAKER_ENDPOINT_CONFIGURATION: Final = "aws:sagemaker/endpointConfiguration:EndpointConfiguration"
TABLE: Final = "aws:dynamodb/table:Table"
KINESIS_STREAM: Final = "aws:kinesis/stream:Stream"
GLUE_JOB: Final = "aws:glue/job:Job"
GLUE_CRAWLER: Final = "aws:glue/crawler:Crawler"
BUCKET_OBJECT: Final = "aws:s3/bucketObjectv2:BucketObjectv2"
DATASYNC_TASK: Final = "aws:datasync/task:Task"
SAGEMAKER_MODEL_GROUP: Final = "aws:sagemaker/modelPackageGroup:ModelPackageGroup"

CLOUD_SQL: Final = "gcp:sql/databaseInstance:DatabaseInstance"
GCP_BUCKET: Final = "gcp:storage/bucket:Bucket"
GCP_ALERT_POLICY: Final = "gcp:monitoring/alertPolicy:AlertPolicy"
GCP_AUDIT_CONFIG: Final = "gcp:projects/iAMAuditConfig:IAMAuditConfig"
GCP_BUCKETS_ACCESS: Final = (
    "gcp:storage/bucketAccessControl:BucketAccessControl",
    "gcp:storage/defaultObjectAccessControl:DefaultObjectAccessControl",
    "gcp:storage/objectAccessControl:ObjectAccessControl",
)
GCP_ACCOUNT: Final = "gcp:serviceaccount/account:Account"
GCP_BUDGET: Final = "gcp:billing/budget:Budget"
GCP_FIREWALL: Final = "gcp:compute/firewall:Firewall"
GCP_KEY: Final = "gcp:serviceaccount/key:Key"
GCP_CONNECTION: Final = "gcp:servicenetworking/connection:Connection"
GCP_CRYPTO_KEY: Final = "gcp:kms/cryptoKey:CryptoKey"
GCP_FORWARDING_RULES: Final = (
    "gcp:compute/forwardingRule:ForwardingRule",
    "gcp:compute/globalForwardingRule:GlobalForwardingRule",
)
FILESTORE: Final = "gcp:filestore/instance:Instance"
GCP_BACKUP_PLAN: Final = "gcp:backupdisasterrecovery/backupPlan:BackupPlan"
GCP_BACKUP_ASSOCIATION: Final = "gcp:backupdisasterrecovery/backupPlanAssociation:BackupPlanAssociation"
GCP_BACKUP_VAULT: Final = "gcp:backupdisasterrecovery/backupVault:BackupVault"
GCP_CUSTOM_ROLE: Final = "gcp:projects/iAMCustomRole:IAMCustomRole"
GCP_ORGANISATION_ROLE: Final = "gcp:organizations/iAMCustomRole:IAMCustomRole"
GCP_RUN_SERVICE: Final = "gcp:cloudrunv2/service:Service"
GCP_RUN_JOB: Final = "gcp:cloudrunv2/job:Job"
GCP_WORKBENCH: Final = "gcp:workbench/instance:Instance"
GCP_IDENTITY_PROVIDER: Final = "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider"
GCP_IMAGE_REPOSITORY: Final = "gcp:artifactregistry/repository:Repository"
GCP_LUSTRE: Final = "gcp:lustre/instance:Instance"
GCP_LOG_BUCKET: Final = "gcp:logging/projectBucketConfig:ProjectBucketConfig"
GCP_PROJECT_MEMBER: Final = "gcp:projects/iAMMember:IAMMember"
GCP_NETWORK: Final = "gcp:compute/network:Network"
GCP_NAT: Final = "gcp:compute/routerNat:RouterNat"
GCP_LOG_EXCLUSION: Final = "gcp:logging/projectExclusion:ProjectExclusion"
GCP_LOG_METRIC: Final = "gcp:logging/metric:Metric"
GCP_LOG_SINK: Final = "gcp:logging/projectSink:ProjectSink"
GCP_LOG_VIEW: Final = "gcp:logging/logView:LogView"
GCP_LOG_SINKS: Final = (
    GCP_LOG_SINK,
    "gcp:logging/billingAccountSink:BillingAccountSink",
    "gcp:logging/folderSink:FolderSink",
    "gcp:logging/organizationSink:OrganizationSink",
)
GCP_LOG_EXCLUSIONS: Final = (
    GCP_LOG_EXCLUSION,
    "gcp:logging/billingAccountExclusion:BillingAccountExclusion",
    "gcp:logging/folderExclusion:FolderExclusion",
    "gcp:logging/organizationExclusion:OrganizationExclusion",
)
GCP_CUSTOM_ROLES: Final = (GCP_CUSTOM_ROLE, GCP_ORGANISATION_ROLE)
GCP_MACHINES: Final = (
    "gcp:compute/instance:Instance",
    "gcp:compute/instanceTemplate:InstanceTemplate",
    "gcp:compute/regionInstanceTemplate:RegionInstanceTemplate",
)
GCP_ACCESS_LISTS: Final = (
    "gcp:storage/bucketACL:BucketACL",
    "gcp:storage/objectACL:ObjectACL",
    "gcp:storage/defaultObjectACL:DefaultObjectACL",
)
GCP_FIREWALL_RULES: Final = (
    "gcp:compute/networkFirewallPolicyRule:NetworkFirewallPolicyRule",
    "gcp:compute/regionNetworkFirewallPolicyRule:RegionNetworkFirewallPolicyRule",
    "gcp:compute/firewallPolicyRule:FirewallPolicyRule",
)
GCP_HMAC_KEY: Final = "gcp:storage/hmacKey:HmacKey"
FUNCTION: Final = "aws:lambda/function:Function"
EVENT_SOURCE_MAPPING: Final = "aws:lambda/eventSourceMapping:EventSourceMapping"
FUNCTION_URL: Final = "aws:lambda/functionUrl:FunctionUrl"
FUNCTION_PERMISSION: Final = "aws:lambda/permission:Permission"
GCP_PEERING: Final = "gcp:compute/networkPeering:NetworkPeering"
GCP_DATABASE_USER: Final = "gcp:sql/user:User"
GCP_REGIONAL_SECRET: Final = "gcp:secretmanager/regionalSecret:RegionalSecret"  # noqa: S105 (a type)
GCP_RESERVATION: Final = "gcp:compute/reservation:Reservation"
GCP_SECRET: Final = "gcp:secretmanager/secret:Secret"  # noqa: S105 (a type)
GCP_EDITOR_TEMPLATE: Final = "gcp:colab/runtimeTemplate:RuntimeTemplate"
GCP_TENSORBOARD: Final = "gcp:vertex/aiTensorboard:AiTensorboard"
GCP_TOPIC: Final = "gcp:pubsub/topic:Topic"
GCP_SUBSCRIPTION: Final = "gcp:pubsub/subscription:Subscription"
GCP_SUBNETWORK: Final = "gcp:compute/subnetwork:Subnetwork"
GKE_CLUSTER: Final = "gcp:container/cluster:Cluster"
GKE_NODE_POOL: Final = "gcp:container/nodePool:NodePool"
GCP_SERVICE: Final = "gcp:projects/service:Service"
GCP_PROJECT: Final = "gcp:organizations/project:Project"
GCP_FORWARDING_RULE: Final = "gcp:compute/forwardingRule:ForwardingRule"
GCP_MACHINE: Final = "gcp:compute/instance:Instance"
GCP_MACHINE_TEMPLATE: Final = "gcp:compute/instanceTemplate:InstanceTemplate"
GCP_GLOBAL_ADDRESS: Final = "gcp:compute/globalAddress:GlobalAddress"
GCP_SQL_DATABASE: Final = "gcp:sql/database:Database"
GKE_BACKUP_PLAN: Final = "gcp:gkebackup/backupPlan:BackupPlan"
GCP_BUILD_TRIGGER: Final = "gcp:cloudbuild/trigger:Trigger"
GCP_EVENT_TRIGGER: Final = "gcp:eventarc/trigger:Trigger"
GCP_FUNCTION: Final = "gcp:cloudfunctionsv2/function:Function"
GCP_METADATA_STORE: Final = "gcp:vertex/aiMetadataStore:AiMetadataStore"
GCP_NOTIFICATION_CHANNEL: Final = "gcp:monitoring/notificationChannel:NotificationChannel"
GCP_ROUTER: Final = "gcp:compute/router:Router"
GCP_KEY_RING: Final = "gcp:kms/keyRing:KeyRing"
GCP_DNS_ZONE: Final = "gcp:dns/managedZone:ManagedZone"
GCP_DNS_RECORDS: Final = "gcp:dns/recordSet:RecordSet"
GCP_DATASET: Final = "gcp:bigquery/dataset:Dataset"
GCP_REDIS: Final = "gcp:redis/instance:Instance"
GCP_SCHEDULE: Final = "gcp:cloudscheduler/job:Job"
GCP_ORGANISATION_POLICY: Final = "gcp:orgpolicy/policy:Policy"
GCP_DASHBOARD: Final = "gcp:monitoring/dashboard:Dashboard"
GCP_DATA_TRANSFER: Final = "gcp:bigquery/dataTransferConfig:DataTransferConfig"
GCP_MACHINE_GROUP: Final = "gcp:compute/instanceGroupManager:InstanceGroupManager"
GCP_REGIONAL_MACHINE_GROUP: Final = "gcp:compute/regionInstanceGroupManager:RegionInstanceGroupManager"
GCP_SECURITY_POLICY: Final = "gcp:compute/securityPolicy:SecurityPolicy"
GCP_REGIONAL_ENDPOINTS: Final = "gcp:compute/regionNetworkEndpointGroup:RegionNetworkEndpointGroup"
GCP_UPTIME_CHECK: Final = "gcp:monitoring/uptimeCheckConfig:UptimeCheckConfig"
GCP_SECRET_VERSION: Final = "gcp:secretmanager/secretVersion:SecretVersion"  # noqa: S105 (a type)
GCP_CERTIFICATE_MAP: Final = "gcp:certificatemanager/certificateMap:CertificateMap"
GCP_CERTIFICATE_MAP_ENTRY: Final = "gcp:certificatemanager/certificateMapEntry:CertificateMapEntry"
GCP_BACKEND: Final = "gcp:compute/backendService:BackendService"
GCP_REGIONAL_BACKEND: Final = "gcp:compute/regionBackendService:RegionBackendService"
GCP_SERVICE_IDENTITY: Final = "gcp:projects/serviceIdentity:ServiceIdentity"
GCP_QUOTA_OVERRIDE: Final = "gcp:serviceusage/consumerQuotaOverride:ConsumerQuotaOverride"
GCP_MANAGED_FOLDER: Final = "gcp:storage/managedFolder:ManagedFolder"
GCP_MANAGED_FOLDER_MEMBER: Final = "gcp:storage/managedFolderIamMember:ManagedFolderIamMember"
GCP_TRANSFER_JOB: Final = "gcp:storage/transferJob:TransferJob"
GCP_BUCKET_NOTIFICATION: Final = "gcp:storage/notification:Notification"

ADMISSION_BINDING: Final = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding"
ADMISSION_POLICY: Final = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"
CONFIG_MAP: Final = "kubernetes:core/v1:ConfigMap"
DAEMON_SET: Final = "kubernetes:apps/v1:DaemonSet"
DEPLOYMENT: Final = "kubernetes:apps/v1:Deployment"
DISRUPTION_BUDGET: Final = "kubernetes:policy/v1:PodDisruptionBudget"
CLUSTER_QUEUE: Final = "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue"
HELM_RELEASE: Final = "kubernetes:helm.sh/v3:Release"
RENDERING: Final = re.compile(r"[:$]kubernetes:(yaml(/v2)?|helm\.sh/v[34]|kustomize(/v2)?):\w+::")
"""URNs of components that make the objects of a file, a chart or a kustomization, in the program."""
PROMETHEUS_RULE: Final = "kubernetes:monitoring.coreos.com/v1:PrometheusRule"
ALERTMANAGER_CONFIG: Final = "kubernetes:monitoring.coreos.com/v1alpha1:AlertmanagerConfig"
INGRESS: Final = "kubernetes:networking.k8s.io/v1:Ingress"
INGRESS_CLASS: Final = "kubernetes:networking.k8s.io/v1:IngressClass"
INGRESS_CLASS_PARAMETERS: Final = (
    "kubernetes:elbv2.k8s.aws/*:IngressClassParams",
    "kubernetes:eks.amazonaws.com/*:IngressClassParams",
)
JOB: Final = "kubernetes:batch/v1:Job"
LOG_RESOURCE_POLICY: Final = "aws:cloudwatch/logResourcePolicy:LogResourcePolicy"
LIMIT_RANGE: Final = "kubernetes:core/v1:LimitRange"
TRAIN_JOB: Final = "kubernetes:trainer.kubeflow.org/*:TrainJob"
"""Names a runtime, which has the pod template, and says more of its container or patches it."""
TRAINING_RUNTIME: Final = "kubernetes:trainer.kubeflow.org/*:ClusterTrainingRuntime"
NAMESPACE: Final = "kubernetes:core/v1:Namespace"
NETWORK_POLICY: Final = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
RBAC_CLUSTER_ROLE: Final = "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole"
RBAC_CLUSTER_ROLE_BINDING: Final = "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding"
RBAC_ROLE: Final = "kubernetes:rbac.authorization.k8s.io/v1:Role"
RBAC_ROLE_BINDING: Final = "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding"
RESOURCE_QUOTA: Final = "kubernetes:core/v1:ResourceQuota"
SECRET: Final = "kubernetes:core/v1:Secret"  # noqa: S105 (a type)
SERVICE: Final = "kubernetes:core/v1:Service"
RESOURCE_CLAIM_TEMPLATE: Final = "kubernetes:resource.k8s.io/v1:ResourceClaimTemplate"
SERVICE_ACCOUNT: Final = "kubernetes:core/v1:ServiceAccount"
STATEFUL_SET: Final = "kubernetes:apps/v1:StatefulSet"
MUTATING_WEBHOOKS: Final = "kubernetes:admissionregistration.k8s.io/v1:MutatingWebhookConfiguration"
VALIDATING_WEBHOOKS: Final = "kubernetes:admissionregistration.k8s.io/v1:ValidatingWebhookConfiguration"
STORAGE_CLASS: Final = "kubernetes:storage.k8s.io/v1:StorageClass"
VOLUME: Final = "kubernetes:core/v1:PersistentVolume"
VOLUME_CLAIM: Final = "kubernetes:core/v1:PersistentVolumeClaim"
