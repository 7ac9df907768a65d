"""Who may use what through the network's endpoints, and from where the buckets may be used.

Identity policies say what a role may do. These say what may be done *here*. Through an endpoint: by the environment's
own account or organisation and with its own resources, so that neither somebody else's credentials nor somebody else's
bucket is of use inside. With the environment's buckets: from inside, so that credentials that leave the network are of
no use outside. Neither grants a right.

The way out is written down: services of AWS that act on their own or on somebody's behalf (access logs; FSx, whose role
is service-linked), and the administrators that the settings name. Everybody of the account still manages buckets from
anywhere, their policies included: whoever runs `pulumi up` cannot lock himself out.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import pulumi

from trainyard.components.aws.policy_documents import document

Statement = dict[str, Any]

REGION_BUCKETS: Mapping[str, str] = {
    "prod-{region}-starport-layer-bucket": "layers of images in ECR (general knowledge of the ECR User Guide)",
    "al2023-repos-{region}-de612dc2": "packages of Amazon Linux 2023 (seen in public programs, 2026-11)",
    "prod-registry-k8s-io-{region}": "layers of images of registry.k8s.io, whose pulls from a region are sent to the "
    "bucket there (seen in public programs, 2026-11)",
    "docker-images-prod": "layers of images of Docker Hub, pulled in us-east-1 (public allow-lists, 2026-11)",
}
"""Buckets of others that nodes read images and packages from, by the region, with what they hold and the source."""

_IMAGE_READS = [
    "ecr:BatchCheckLayerAvailability",
    "ecr:BatchGetImage",
    "ecr:DescribeImages",
    "ecr:GetAuthorizationToken",
    "ecr:GetDownloadUrlForLayer",
    "ecr:ListImages",
]
"""What pulls an image: add-ons of EKS and AWS's deep learning containers are in accounts of AWS."""

_OBJECT_ACTIONS = [
    "s3:AbortMultipartUpload",
    "s3:BypassGovernanceRetention",
    "s3:DeleteObject*",
    "s3:GetObject*",
    "s3:ListMultipartUploadParts",
    "s3:PutObject*",
    "s3:ReplicateObject",
    "s3:RestoreObject",
]


class OwnersArgs(TypedDict):
    """Whose principals and resources are the environment's own."""

    account_id: pulumi.Input[str]
    """The AWS account, 12 digits."""
    organization_id: NotRequired[str | None]
    """The organisation (`o-…`), whose accounts are then all its own. Default: the account alone."""


class BoundToArgs(TypedDict):
    """Where a bucket may be used from, and by whom elsewhere."""

    owners: OwnersArgs
    """Whose principals may use it."""
    vpc_id: pulumi.Input[str]
    """Id of the VPC; it must have a gateway endpoint for S3, or no request comes from it."""
    admin_principal_arns: Sequence[pulumi.Input[str]]
    """IAM users and roles that may read and write objects from anywhere."""


def endpoint_policy(service: str, owners: OwnersArgs, region: pulumi.Input[str], public: Sequence[str]) -> Any:
    """The policy (JSON) of a service's endpoint. `public` are names of others' buckets that may be read."""
    principal, resource = _owned("Principal", owners), _owned("Resource", owners)
    if service == "s3":
        aws = [pulumi.Output.format("arn:aws:s3:::" + name + "/*", region=region) for name in REGION_BUCKETS]
        statements = [
            _allow("OwnBuckets", ["s3:*"], ["*"], {**principal, **resource}),
            _allow("ImagesAndPackages", ["s3:GetObject"], aws),
        ]
        if public:
            named = [f"arn:aws:s3:::{name}{of}" for name in public for of in ("", "/*")]
            statements.append(_allow("PublicBuckets", ["s3:GetObject", "s3:ListBucket"], named))
        return document(statements)
    if service == "ec2":  # images and snapshots that nodes start from are others'
        return document([_allow("OwnPrincipals", ["*"], ["*"], principal)])
    statements = [_allow("OwnResources", ["*"], ["*"], {**principal, **resource})]
    if service.startswith("ecr."):
        statements.append(_allow("PullImages", _IMAGE_READS, ["*"], principal))
    return document(statements)


def bucket_binding(bucket_arn: pulumi.Output[str], bound: BoundToArgs) -> list[Statement]:
    """Statements of a bucket's policy that bind it to its owners, and its objects to the network."""
    objects = pulumi.Output.concat(bucket_arn, "/*")
    outside = {"aws:SourceVpc": bound["vpc_id"]}
    service_linked = pulumi.Output.concat("arn:aws:iam::", bound["owners"]["account_id"], ":role/aws-service-role/*")
    return [
        _deny(
            "DenyOtherOwners",
            ["s3:*"],
            [bucket_arn, objects],
            {"StringNotEquals": _owned("Principal", bound["owners"]), "Bool": {"aws:PrincipalIsAWSService": "false"}},
        ),
        _deny(
            # Whatever a pod's credentials may do, once they have left the network.
            "DenyPodsOutsideNetwork",
            ["s3:*"],
            [bucket_arn, objects],
            {
                "Null": {"aws:PrincipalTag/eks-cluster-name": "false"},
                "StringNotEquals": outside,
                "Bool": {"aws:ViaAWSService": "false"},
            },
        ),
        _deny(
            "DenyObjectsOutsideNetwork",
            _OBJECT_ACTIONS,
            [objects],
            {
                "StringNotEquals": outside,
                "Bool": {"aws:PrincipalIsAWSService": "false", "aws:ViaAWSService": "false"},
                "ArnNotLike": {"aws:PrincipalArn": [service_linked, *bound["admin_principal_arns"]]},
            },
        ),
    ]


def _owned(whose: str, owners: OwnersArgs) -> dict[str, pulumi.Input[str]]:
    """The condition key and value that say that a principal or a resource is the environment's own."""
    organization = owners.get("organization_id")
    if organization:
        return {f"aws:{whose}OrgID": organization}
    return {f"aws:{whose}Account": owners["account_id"]}


def _allow(
    sid: str,
    actions: Sequence[str],
    resources: Sequence[pulumi.Input[str]],
    equal: Mapping[str, pulumi.Input[str]] | None = None,
) -> Statement:
    statement: Statement = {
        "Sid": sid,
        "Effect": "Allow",
        "Principal": "*",
        "Action": list(actions),
        "Resource": list(resources),
    }
    return {**statement, "Condition": {"StringEquals": dict(equal)}} if equal else statement


def _deny(
    sid: str, actions: Sequence[str], resources: Sequence[pulumi.Input[str]], condition: Mapping[str, Any]
) -> Statement:
    return {
        "Sid": sid,
        "Effect": "Deny",
        "Principal": {"AWS": "*"},
        "Action": list(actions),
        "Resource": list(resources),
        "Condition": dict(condition),
    }
