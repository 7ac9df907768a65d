"""Actions of the cloud that make whoever has them on any resource somebody else, or take a wall of his way."""

from __future__ import annotations

from typing import Final

ADMINISTRATIVE: Final = ("*", "*:*", "iam:*")
"""Who may do everything with identities can give himself the rest, whatever the resource says."""

PRIVILEGES: Final = {
    "takes roles": ("sts:AssumeRole", "sts:AssumeRoleWithWebIdentity", "sts:GetFederationToken"),
    "hands a role to a service that runs code": ("iam:PassRole",),
    "changes who may do what": (
        "iam:AddUserToGroup", "iam:AttachGroupPolicy", "iam:AttachRolePolicy", "iam:AttachUserPolicy",
        "iam:CreateAccessKey", "iam:CreateLoginProfile", "iam:CreatePolicyVersion", "iam:CreateRole", "iam:CreateUser",
        "iam:DeleteRolePermissionsBoundary", "iam:PutGroupPolicy", "iam:PutRolePermissionsBoundary",
        "iam:PutRolePolicy", "iam:PutUserPolicy", "iam:SetDefaultPolicyVersion", "iam:UpdateAssumeRolePolicy",
        "iam:UpdateLoginProfile", "iam:UpdateOpenIDConnectProviderThumbprint", "iam:CreateOpenIDConnectProvider",
        "iam:AddClientIDToOpenIDConnectProvider", "iam:CreateSAMLProvider", "iam:UpdateSAMLProvider",
        "iam:DetachRolePolicy", "iam:DetachUserPolicy", "iam:DetachGroupPolicy", "iam:DeleteRolePolicy",
        "iam:DeleteUserPolicy", "iam:DeleteUserPermissionsBoundary", "iam:PutUserPermissionsBoundary",
        "iam:AddRoleToInstanceProfile", "organizations:LeaveOrganization", "organizations:DetachPolicy",
    ),
    "gives keys away": (
        "kms:PutKeyPolicy", "kms:CreateGrant", "kms:ScheduleKeyDeletion", "kms:DisableKey", "kms:ReplicateKey",
    ),
    "uses every key": ("kms:Decrypt", "kms:ReEncryptFrom"),
    "reads every secret": (
        "secretsmanager:GetSecretValue", "secretsmanager:BatchGetSecretValue", "ssm:GetParameters", "ssm:GetParameter",
        "ssm:GetParametersByPath",
    ),
    "changes every secret": ("secretsmanager:PutSecretValue", "secretsmanager:UpdateSecret", "ssm:PutParameter"),
    "reads every bucket": ("s3:GetObject", "s3:GetObjectVersion"),
    "changes what is in every bucket": ("s3:PutObject", "s3:DeleteObject", "s3:DeleteObjectVersion"),
    "changes the images that everybody runs": ("ecr:PutImage", "ecr:PutImageTagMutability"),
    "opens other people's editors": (
        "sagemaker:CreatePresignedDomainUrl", "sagemaker:UpdateUserProfile", "sagemaker:UpdateSpace",
    ),
    "lifts the ceilings of what may be spent": (
        "budgets:ModifyBudget", "budgets:DeleteBudgetAction", "budgets:UpdateBudgetAction",
        "budgets:ExecuteBudgetAction", "servicequotas:RequestServiceQuotaIncrease",
    ),
    "opens buckets and secrets": (
        "s3:PutBucketPolicy", "s3:PutBucketAcl", "s3:PutBucketPublicAccessBlock", "s3:PutObjectAcl",
        "s3:PutAccessPointPolicy", "s3:CreateAccessPoint", "s3:PutReplicationConfiguration",
        "secretsmanager:PutResourcePolicy", "ecr:SetRepositoryPolicy", "ecr:PutRegistryPolicy",
        "sns:SetTopicAttributes", "sqs:SetQueueAttributes", "rds:ModifyDBInstance", "rds:ModifyDBCluster",
    ),
    "opens file systems": (
        "elasticfilesystem:PutFileSystemPolicy", "elasticfilesystem:DeleteFileSystemPolicy",
        "elasticfilesystem:CreateAccessPoint", "elasticfilesystem:CreateMountTarget",
        "elasticfilesystem:ModifyMountTargetSecurityGroups", "fsx:UpdateFileSystem",
        "fsx:CreateDataRepositoryAssociation",
    ),
    "moves the walls of the network": (
        "ec2:AuthorizeSecurityGroupIngress", "ec2:AuthorizeSecurityGroupEgress", "ec2:ModifySecurityGroupRules",
        "ec2:CreateRoute", "ec2:ReplaceRoute", "ec2:AssociateRouteTable", "ec2:ReplaceRouteTableAssociation",
        "ec2:CreateNetworkAclEntry", "ec2:ReplaceNetworkAclEntry", "ec2:DeleteNetworkAclEntry",
        "ec2:ReplaceNetworkAclAssociation", "ec2:ModifyInstanceMetadataOptions",
        "ec2:ModifyInstanceMetadataDefaults", "ec2:ModifySubnetAttribute",
        "ec2:ModifyVpcAttribute", "ec2:AttachInternetGateway", "ec2:CreateVpcPeeringConnection",
        "ec2:AcceptVpcPeeringConnection", "ec2:CreateTransitGatewayVpcAttachment", "ec2:CreateVpcEndpoint",
        "ec2:ModifyVpcEndpoint", "ec2:DeleteVpcEndpoints", "ec2:CreateVpcEndpointServiceConfiguration",
        "ec2:CreateVpnConnection", "ec2:CreateClientVpnEndpoint", "ec2:AssociateAddress",
        "route53resolver:DisassociateFirewallRuleGroup", "route53resolver:DeleteFirewallRule",
        "route53resolver:UpdateFirewallRule", "route53resolver:UpdateFirewallDomains",
        "route53resolver:ImportFirewallDomains", "route53resolver:UpdateFirewallConfig",
        ),
    "runs commands on machines": (
        "ssm:SendCommand", "ssm:StartSession", "ssm:StartAutomationExecution", "ec2-instance-connect:SendSSHPublicKey",
        "ssm:CreateAssociation", "ecs:ExecuteCommand",
    ),
    "starts machines and code with roles": (
        "ec2:RunInstances", "ec2:ModifyInstanceAttribute", "ec2:AssociateIamInstanceProfile",
        "ec2:ReplaceIamInstanceProfileAssociation", "lambda:CreateFunction", "lambda:UpdateFunctionCode",
        "lambda:UpdateFunctionConfiguration", "lambda:AddPermission", "ecs:RunTask", "ecs:RegisterTaskDefinition",
        "cloudformation:CreateStack", "cloudformation:UpdateStack", "codebuild:CreateProject",
        "codebuild:UpdateProject", "codebuild:StartBuild", "glue:CreateJob", "glue:UpdateJob", "glue:CreateDevEndpoint",
        "sagemaker:CreateTrainingJob", "sagemaker:CreateNotebookInstance", "sagemaker:CreateProcessingJob",
        "sagemaker:CreatePresignedNotebookInstanceUrl", "states:CreateStateMachine", "events:PutTargets",
        "scheduler:CreateSchedule", "batch:SubmitJob", "datapipeline:CreatePipeline",
    ),
    "lets itself onto clusters": (
        "eks:CreateAccessEntry", "eks:UpdateAccessEntry", "eks:AssociateAccessPolicy",
        "eks:CreatePodIdentityAssociation", "eks:UpdatePodIdentityAssociation", "eks:AssociateIdentityProviderConfig",
        "eks:UpdateClusterConfig", "eks:CreateAddon", "eks:UpdateAddon", "eks:DeleteAddon",
    ),
    "hides what was done": (
        "cloudtrail:StopLogging", "cloudtrail:DeleteTrail", "cloudtrail:PutEventSelectors", "cloudtrail:UpdateTrail",
        "cloudtrail:DeleteEventDataStore", "guardduty:DeleteDetector", "guardduty:UpdateDetector",
        "guardduty:CreateFilter", "guardduty:UpdateFilter", "config:StopConfigurationRecorder",
        "config:DeleteConfigurationRecorder", "logs:DeleteLogGroup", "logs:DeleteLogStream",
        "logs:PutRetentionPolicy", "ec2:DeleteFlowLogs", "events:DeleteRule", "events:DisableRule",
        "events:RemoveTargets", "cloudwatch:DeleteAlarms", "cloudwatch:DisableAlarmActions",
        "securityhub:DisableSecurityHub", "s3:PutBucketLogging", "s3:PutBucketObjectLockConfiguration",
        "s3:BypassGovernanceRetention",
    ),
    "makes what is kept for good go": (
        "s3:PutLifecycleConfiguration", "s3:PutBucketVersioning", "s3:DeleteBucketPolicy",
        "s3:PutEncryptionConfiguration", "backup:DeleteRecoveryPoint", "backup:DeleteBackupVault",
    ),
    "gives volumes and images away": (
        "ec2:ModifySnapshotAttribute", "ec2:ModifyImageAttribute", "rds:ModifyDBSnapshotAttribute",
        "rds:ModifyDBClusterSnapshotAttribute",
    ),
}  # fmt: skip
"""Actions by what they are good for to whoever has them on any resource: those of published escalation paths (Rhino
Security Labs, "AWS IAM Privilege Escalation", and the pathfinding.cloud catalogue, as generally known, 2026-11), and
those that undo a wall of this environment."""

PRIVILEGED_ROLES: Final = {
    "acts as every service account": (
        "roles/iam.serviceAccountUser",
        "roles/iam.serviceAccountTokenCreator",
        "roles/iam.serviceAccountKeyAdmin",
        "roles/iam.serviceAccountAdmin",
        "roles/iam.workloadIdentityUser",
        "roles/iam.serviceAccountOpenIdTokenCreator",
    ),
    "changes who may do what": (
        "roles/resourcemanager.projectIamAdmin",
        "roles/iam.securityAdmin",
        "roles/iam.roleAdmin",
        "roles/iam.organizationRoleAdmin",
        "roles/resourcemanager.organizationAdmin",
        "roles/orgpolicy.policyAdmin",
        "roles/iam.workloadIdentityPoolAdmin",
        "roles/iam.denyAdmin",
    ),
    "gives keys away": ("roles/cloudkms.admin",),
    "uses every key": (
        "roles/cloudkms.cryptoKeyDecrypter",
        "roles/cloudkms.cryptoKeyEncrypterDecrypter",
    ),
    "reads every secret": ("roles/secretmanager.secretAccessor", "roles/secretmanager.admin"),
    "opens every bucket": ("roles/storage.admin", "roles/storage.legacyBucketOwner", "roles/storage.folderAdmin"),
    "reads every bucket": ("roles/storage.objectViewer", "roles/storage.legacyObjectReader"),
    "changes what is in every bucket": (
        "roles/storage.objectAdmin",
        "roles/storage.objectUser",
        "roles/storage.objectCreator",
    ),
    "moves the walls of the network": (
        "roles/compute.networkAdmin",
        "roles/compute.securityAdmin",
        "roles/compute.admin",
        "roles/dns.admin",
        "roles/accesscontextmanager.policyAdmin",
    ),
    "runs commands on machines": ("roles/compute.osAdminLogin", "roles/compute.instanceAdmin.v1"),
    "opens every database": ("roles/cloudsql.admin",),
    "hides what was done": ("roles/logging.admin", "roles/logging.configWriter"),
    "lifts the ceilings of what may run": (
        "roles/servicemanagement.quotaAdmin",
        "roles/serviceusage.serviceUsageAdmin",
    ),
}
"""Roles of Google's that are rights on everything of their kind where they are given on a project (predefined roles, as
generally known)."""

PRIVILEGED_PERMISSIONS: Final = {
    "acts as every service account": (
        "iam.serviceAccounts.getAccessToken",
        "iam.serviceAccounts.getOpenIdToken",
        "iam.serviceAccounts.implicitDelegation",
        "iam.serviceAccounts.signBlob",
        "iam.serviceAccounts.signJwt",
        "iam.serviceAccounts.actAs",
        "iam.serviceAccountKeys.create",
    ),
    "changes who may do what": (
        "resourcemanager.projects.setIamPolicy",
        "iam.serviceAccounts.setIamPolicy",
        "iam.roles.update",
        "storage.buckets.setIamPolicy",
        "storage.managedFolders.setIamPolicy",
        "cloudkms.cryptoKeys.setIamPolicy",
        "cloudkms.keyRings.setIamPolicy",
        "secretmanager.secrets.setIamPolicy",
        "artifactregistry.repositories.setIamPolicy",
    ),
    "uses every key": ("cloudkms.cryptoKeyVersions.useToDecrypt",),
    "reads every secret": ("secretmanager.versions.access",),
    "hides what was done": ("logging.sinks.delete", "logging.sinks.update", "logging.exclusions.create"),
    "moves the walls of the network": ("compute.firewalls.create", "compute.firewalls.update", "compute.routes.create"),
    "lifts the ceilings of what may run": ("serviceusage.quotas.update",),
}
"""The same as permissions, of which a project's own role may be made (those of published escalation paths, Rhino
Security Labs, "Privilege Escalation in Google Cloud Platform", as generally known, 2026-11)."""
