"""Breakages of the walls on AWS, in the recorded stacks of `demo`, `large-aws` and `small-aws`."""

from __future__ import annotations

import json

from tests.policies.breaking import (
    ATTACHED,
    CLUSTER,
    ENDPOINT,
    GROUP,
    IDENTITY,
    INGRESS,
    INLINE,
    OTHER,
    TEMPLATE,
    TRAIL,
    _nothing,
    beside,
    bucket,
    by_github,
    document,
    first,
    key,
    may,
    more,
    sid,
    trusts,
    without_sid,
)
from tests.policies.mutants import Change, drop, edit, put

AWS_WALLS: dict[str, Change] = {
    "a team's role for whatever namespace": trusts(
        "team-vision-role",
        first(lambda one: one["Condition"]["StringEquals"].pop("aws:RequestTag/kubernetes-namespace")),
    ),
    "a team's role for every namespace of teams": trusts(
        "team-vision-role",
        first(
            lambda one: one["Condition"].update(
                StringLike={"aws:RequestTag/kubernetes-namespace": "team-*"},
                StringEquals={
                    name: value
                    for name, value in one["Condition"]["StringEquals"].items()
                    if name != "aws:RequestTag/kubernetes-namespace"
                },
            )
        ),
    ),
    "a team's role for any cluster": trusts(
        "team-vision-role", first(lambda one: one["Condition"]["StringEquals"].pop("aws:RequestTag/eks-cluster-arn"))
    ),
    "a team's role by whoever is of the account": trusts(
        "team-vision-role", more(Principal={"AWS": "arn:aws:iam::123456789012:root"}, Action="sts:AssumeRole")
    ),
    "a role of another account's": trusts(
        "autoscaler-role", more(Principal={"AWS": f"arn:aws:iam::{OTHER}:root"}, Action="sts:AssumeRole")
    ),
    "a role of everybody's, by a weak condition": trusts(
        "autoscaler-role",
        more(
            Principal={"AWS": "*"},
            Action="sts:AssumeRole",
            Condition={"Bool": {"aws:MultiFactorAuthPresent": "true"}},
        ),
    ),
    "a role of everybody's, with an id": trusts(
        "autoscaler-role",
        more(Principal={"AWS": "*"}, Action="sts:AssumeRole", Condition={"StringEquals": {"sts:ExternalId": "acme"}}),
    ),
    "GitHub's every branch": by_github(sub="repo:*"),
    "GitHub's every repository": by_github(),
    "a team's pods by the platform's role": beside(
        IDENTITY,
        "extra",
        {
            "clusterName": "acme-demo",
            "namespace": "team-vision",
            "serviceAccount": "trainer-2",
            "roleArn": "arn:aws:iam::123456789012:role/mlflow-role-8583182",
        },
    ),
    "a team's pods write the data": edit(
        IDENTITY, "ingest-role-ingest", lambda inputs: inputs.update(namespace="team-vision", serviceAccount="ingest")
    ),
    "all checkpoints by a team": may(
        "team-vision-role-policy", Action="s3:GetObject", Resource="arn:aws:s3:::acme-demo-checkpoints-e5013fb/*"
    ),
    "a team's beginning is another's": may(
        "team-vision-role-policy",
        Action="s3:GetObject",
        Resource="arn:aws:s3:::acme-demo-checkpoints-e5013fb/teams/vis*",
    ),
    "a team reads the artifacts": may(
        "team-vision-role-policy", Action="s3:GetObject", Resource="arn:aws:s3:::acme-demo-artifacts-4ba31ff/*"
    ),
    "a team writes the data": may(
        "team-vision-role-policy", Action="s3:PutObject", Resource="arn:aws:s3:::acme-demo-data-f6c28dc/data/*"
    ),
    "a team lists everything": may(
        "team-vision-role-policy", Action="s3:ListBucket", Resource="arn:aws:s3:::acme-demo-checkpoints-e5013fb"
    ),
    "a team deletes old versions": may(
        "team-vision-role-policy",
        Action="s3:DeleteObjectVersion",
        Resource="arn:aws:s3:::acme-demo-checkpoints-e5013fb/teams/vision/*",
    ),
    "a team has all but IAM": edit(
        INLINE,
        "team-vision-role-policy",
        document("policy", lambda all_: all_.append({"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"})),
    ),
    "roles are passed to whatever": may("mlflow-role-policy", Action="iam:PassRole"),
    "policies are written anew": may("mlflow-role-policy", Action="iam:CreatePolicyVersion"),
    "roles are taken": may("mlflow-role-policy", Action="sts:AssumeRole"),
    "trust is changed": may("autoscaler-role-policy", Action="iam:UpdateAssumeRolePolicy"),
    "keys for people": may("autoscaler-role-policy", Action="iam:CreateAccessKey"),
    "associations are made": may("autoscaler-role-policy", Action="eks:CreatePodIdentityAssociation"),
    "access to the cluster is given": may("autoscaler-role-policy", Action=["eks:AssociateAccessPolicy"]),
    "commands on every machine": may("autoscaler-role-policy", Action=["ssm:SendCommand"]),
    "code of functions": may("autoscaler-role-policy", Action=["lambda:UpdateFunctionCode"]),
    "snapshots are shared": may(
        "mlflow-role-policy", Action=["ec2:ModifySnapshotAttribute", "rds:ModifyDBSnapshotAttribute"]
    ),
    "all secrets": may("mlflow-role-policy", Action="secretsmanager:GetSecretValue"),
    "all parameters": may("mlflow-role-policy", Action="ssm:GetParameter*"),
    "every key opens": may("mlflow-role-policy", Action="kms:Decrypt"),
    "every bucket is read": may("mlflow-role-policy", Action="s3:GetObject"),
    "bucket policies are changed": may("mlflow-role-policy", Action="s3:PutBucketPolicy"),
    "grants without bound": edit(
        INLINE, "cluster-ebs-policy", document("policy", sid("AttachEncryptedVolumes", _nothing("Condition")))
    ),
    "AWS's own full access": beside(
        ATTACHED, "full", {"role": "mlflow-role-8583182", "policyArn": "arn:aws:iam::aws:policy/AmazonS3FullAccess"}
    ),
    "AWS's own power user": beside(
        ATTACHED, "full", {"role": "autoscaler-role-87d565d", "policyArn": "arn:aws:iam::aws:policy/PowerUserAccess"}
    ),
    "a bucket by plain HTTP": bucket("acme-demo-checkpoints", without_sid("DenyPlainHttp")),
    "a bucket of whoever": bucket("acme-demo-checkpoints", without_sid("DenyOtherOwners")),
    "a bucket from wherever": bucket(
        "acme-demo-checkpoints",
        lambda all_: (
            all_.__delitem__(slice(None))
            or all_.append(
                {
                    "Sid": "x",
                    "Effect": "Deny",
                    "Principal": "*",
                    "Action": "s3:*",
                    "Resource": "*",
                    "Condition": {"Bool": {"aws:SecureTransport": "false"}},
                }
            )
        ),
    ),
    "a bucket for everybody of the organisation's network": bucket(
        "acme-demo-data",
        more(
            Principal="*",
            Action="s3:GetObject",
            Resource="arn:aws:s3:::acme-demo-data-f6c28dc/*",
            Condition={"StringLike": {"aws:UserAgent": "trainyard*"}},
        ),
    ),
    "a bucket for everybody with an address": bucket(
        "acme-demo-data",
        more(
            Principal="*",
            Action="s3:GetObject",
            Resource="arn:aws:s3:::acme-demo-data-f6c28dc/*",
            Condition={"IpAddress": {"aws:SourceIp": "0.0.0.0/0"}},
        ),
    ),
    "a key of another account's": key(
        "data-key",
        more(Principal={"AWS": f"arn:aws:iam::{OTHER}:root"}, Action="kms:*"),
    ),
    "a key that all of the account changes": key("data-key", sid("Administer", _nothing("Condition"))),
    "a key whose policy the account writes": key(
        "data-key", more(Principal={"AWS": "arn:aws:iam::123456789012:root"}, Action="kms:PutKeyPolicy")
    ),
    "a key with grants by whoever": key(
        "platform-key",
        more(Principal={"AWS": "arn:aws:iam::123456789012:root"}, Action=["kms:CreateGrant"]),
    ),
    "a key for every bucket": key("data-key", sid("UseForBuckets", lambda one: one["Condition"].pop("ArnLike"))),
    "a key by everybody through S3": key(
        "data-key",
        more(
            Principal="*",
            Action="kms:Decrypt",
            Condition={"StringEquals": {"kms:ViaService": "s3.us-east-1.amazonaws.com"}},
        ),
    ),
    "an endpoint for whatever": edit(
        ENDPOINT,
        "network-s3",
        put(
            "policy",
            value=json.dumps({"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"}]}),
        ),
    ),
    "an endpoint for whoever comes": edit(
        ENDPOINT, "network-kms-interface", document("policy", first(_nothing("Condition")))
    ),
    "metadata of the first version": edit(
        TEMPLATE, "cluster-cpu-template", put("metadataOptions", "httpTokens", value="optional")
    ),
    "metadata two hops away": edit(
        TEMPLATE, "gpu-nodes-train-spot-template", put("metadataOptions", "httpPutResponseHopLimit", value=2)
    ),
    "metadata as the account says": edit(TEMPLATE, "cluster-system-template", _nothing("metadataOptions")),
    "the bastion's metadata": edit(
        "aws:ec2/instance:Instance", "bastion", put("metadataOptions", "httpTokens", value="optional")
    ),
    "the bastion's address": edit("aws:ec2/instance:Instance", "bastion", put("associatePublicIpAddress", value=True)),
    "the database for the world": edit(
        INGRESS,
        "acme-demo-mlflow-ingress-cluster",
        lambda inputs: (inputs.pop("referencedSecurityGroupId"), inputs.update(cidrIpv4="0.0.0.0/0")),
    ),
    "the database for the world of IPv6": edit(
        INGRESS,
        "acme-demo-mlflow-ingress-cluster",
        lambda inputs: (inputs.pop("referencedSecurityGroupId"), inputs.update(cidrIpv6="::/0")),
    ),
    "SSH for the world": beside(
        INGRESS,
        "ssh",
        {
            "securityGroupId": "sg-efc919ab87eb43d49",
            "ipProtocol": "tcp",
            "fromPort": 22,
            "toPort": 22,
            "cidrIpv4": "0.0.0.0/0",
        },
    ),
    "a group with everything in": beside(
        GROUP,
        "open",
        {
            "vpcId": "vpc-d8bd6820aeb50beba",
            "ingress": [{"protocol": "-1", "fromPort": 0, "toPort": 0, "cidrBlocks": ["0.0.0.0/0"]}],
        },
    ),
    "the database by plain connections": edit(
        "aws:rds/parameterGroup:ParameterGroup",
        "acme-demo-mlflow-parameters",
        put("parameters", 0, "value", value="0"),
    ),
    "a trail that stands still": edit(TRAIL, "acme-demo-trail-trail", put("enableLogging", value=False)),
    "a trail whose files may be changed": edit(
        TRAIL, "acme-demo-trail-trail", put("enableLogFileValidation", value=False)
    ),
    "a trail of one region": edit(TRAIL, "acme-demo-trail-trail", put("isMultiRegionTrail", value=False)),
    "a trail that reads are not in": edit(
        TRAIL,
        "acme-demo-trail-trail",
        lambda inputs: inputs["advancedEventSelectors"][1]["fieldSelectors"].append(
            {"field": "readOnly", "equals": ["false"]}
        ),
    ),
    "a trail of two tiers": edit(
        TRAIL,
        "acme-demo-trail-trail",
        lambda inputs: inputs["advancedEventSelectors"][1]["fieldSelectors"][2]["startsWiths"].pop(),
    ),
    "a trail without its lock": drop(
        "aws:s3/bucketObjectLockConfiguration:BucketObjectLockConfiguration", "acme-demo-trail-logs-object-lock"
    ),
    "a lock of a day": edit(
        "aws:s3/bucketObjectLockConfiguration:BucketObjectLockConfiguration",
        "acme-demo-trail-logs-object-lock",
        put("rule", "defaultRetention", "days", value=1),
    ),
    "threats are not looked for": edit(
        "aws:guardduty/detector:Detector", "threat-detection-detector", put("enable", value=False)
    ),
    "no audit log of the cluster": edit(CLUSTER, "cluster-cluster", put("enabledClusterLogTypes", value=["api"])),
    "the creator is administrator": edit(
        CLUSTER, "cluster-cluster", put("accessConfig", "bootstrapClusterCreatorAdminPermissions", value=True)
    ),
    "the cluster for the world": edit(
        CLUSTER,
        "cluster-cluster",
        lambda inputs: inputs["vpcConfig"].update(endpointPublicAccess=True, publicAccessCidrs=["0.0.0.0/0"]),
    ),
    "every name": edit(
        "aws:route53/resolverFirewallDomainList:ResolverFirewallDomainList",
        "dns-allowed",
        lambda inputs: inputs["domains"].append("*."),
    ),
    "every name of a country": edit(
        "aws:route53/resolverFirewallDomainList:ResolverFirewallDomainList",
        "dns-allowed",
        lambda inputs: inputs["domains"].append("*.com."),
    ),
    "system nodes without a taint": edit("aws:eks/nodeGroup:NodeGroup", "cluster-system", put("taints", value=[])),
    "a network that strangers enter": beside(
        "aws:ec2/vpcEndpointService:VpcEndpointService",
        "out",
        {
            "acceptanceRequired": False,
            "allowedPrincipals": ["*"],
            "networkLoadBalancerArns": ["arn:aws:elasticloadbalancing:us-east-1:123456789012:loadbalancer/net/x/1"],
        },
    ),
    "a person of every team": beside(
        "aws:eks/accessEntry:AccessEntry",
        "ann",
        {
            "clusterName": "acme-demo",
            "principalArn": "arn:aws:iam::123456789012:role/ann",
            "kubernetesGroups": ["system:masters"],
        },
    ),
    "a user with keys": beside("aws:iam/accessKey:AccessKey", "ann", {"user": "ann"}),
}

LARGE_WALLS: dict[str, Change] = {
    "Lustre without squash": edit(
        "aws:fsx/lustreFileSystem:LustreFileSystem", "globex-production-lustre", _nothing("rootSquashConfiguration")
    ),
    "Lustre's root is root": edit(
        "aws:fsx/lustreFileSystem:LustreFileSystem",
        "globex-production-lustre",
        put("rootSquashConfiguration", "rootSquash", value="0:0"),
    ),
    "Lustre's root is root for some": edit(
        "aws:fsx/lustreFileSystem:LustreFileSystem",
        "globex-production-lustre",
        put("rootSquashConfiguration", "noSquashNids", value=["*@tcp"]),
    ),
    "EFS by plain NFS": edit(
        "aws:efs/fileSystemPolicy:FileSystemPolicy",
        "globex-production-shared-policy",
        document("policy", without_sid("DenyPlainNfs")),
    ),
    "EFS for everybody": edit(
        "aws:efs/fileSystemPolicy:FileSystemPolicy",
        "globex-production-shared-policy",
        document(
            "policy",
            more(Principal="*", Action=["elasticfilesystem:ClientMount", "elasticfilesystem:ClientRootAccess"]),
        ),
    ),
    "EFS without a policy": drop("aws:efs/fileSystemPolicy:FileSystemPolicy", "globex-production-shared-policy"),
    "one team's home is another's": edit(
        "aws:efs/accessPoint:AccessPoint",
        "globex-production-shared-home-foundation",
        put("rootDirectory", "path", value="/home/perception"),
    ),
    "all homes": edit(
        "aws:efs/accessPoint:AccessPoint",
        "globex-production-shared-home-foundation",
        put("rootDirectory", "path", value="/home"),
    ),
    "images that everybody pulls and writes": beside(
        "aws:ecr/repositoryPolicy:RepositoryPolicy",
        "open",
        {
            "repository": "globex-production/x",
            "policy": json.dumps({"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "ecr:*"}]}),
        },
    ),
    "a registry of another account's": beside(
        "aws:ecr/registryPolicy:RegistryPolicy",
        "open",
        {
            "policy": json.dumps(
                {
                    "Statement": [
                        {
                            "Effect": "Allow",
                            "Principal": {"AWS": f"arn:aws:iam::{OTHER}:root"},
                            "Action": "ecr:ReplicateImage",
                            "Resource": "*",
                        }
                    ]
                }
            )
        },
    ),
}

MANAGED_AWS: dict[str, Change] = {
    "jobs' role by the account": trusts(
        "managed-jobs", more(Principal={"AWS": "arn:aws:iam::123456789012:root"}, Action="sts:AssumeRole")
    ),
    "jobs' role for any account's service": trusts("managed-jobs", first(_nothing("Condition"))),
    "people pass every role": may("managed-people", Action="iam:PassRole"),
    "people have all of SageMaker": may("managed-people", Action="sagemaker:*"),
    "people start what they like": may("managed-people", Action="sagemaker:CreateTrainingJob"),
    "people open a colleague's editor": may("managed-people", Action="sagemaker:CreatePresignedDomainUrl"),
    "jobs read every bucket": may("managed-jobs", Action=["s3:GetObject", "s3:ListBucket"]),
    "jobs pull every image": may("managed-jobs", Action=["ecr:PutImage"]),
    "people lift the brake": may("managed-people", Action=["budgets:ModifyBudget"]),
    "people detach the brake": may("managed-people", Action=["iam:DetachRolePolicy"]),
}
