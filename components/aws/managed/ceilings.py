"""What people and jobs of managed training may do, as IAM documents: the hard, synchronous brake of a small team.

A quota of SageMaker counts machines and a budget is told 8 to 12 hours late. These conditions are asked when a job is
sent: its type, its longest run, its network, its key and its tags (Service Authorization Reference, "Condition keys for
Amazon SageMaker", 2026-11).
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import pulumi

from trainyard.components.aws.key_policies import BUCKET_CONTEXT
from trainyard.components.aws.policy_documents import allow

Statement = dict[str, Any]

STARTS = (
    "sagemaker:CreateApp",
    "sagemaker:CreateEndpoint",
    "sagemaker:CreateHyperParameterTuningJob",
    "sagemaker:CreateNotebookInstance",
    "sagemaker:CreateProcessingJob",
    "sagemaker:CreateTrainingJob",
    "sagemaker:CreateTrainingPlan",
    "sagemaker:CreateTransformJob",
    "sagemaker:StartNotebookInstance",
    "sagemaker:StartPipelineExecution",
)
"""What starts something that is paid for by the hour. Saving, tagging and registering are none of it."""

SYSTEM_APP = "system"
"""The instance type of an app that runs on SageMaker's own machines, such as the home page."""

_READS = (
    "sagemaker:DescribeApp",
    "sagemaker:DescribeDomain",
    "sagemaker:DescribeSpace",
    "sagemaker:DescribeUserProfile",
)
_LISTS = (
    "sagemaker:ListApps",
    "sagemaker:ListDomains",
    "sagemaker:ListMlflowApps",
    "sagemaker:ListModelPackageGroups",
    "sagemaker:ListSpaces",
    "sagemaker:ListTrainingJobs",
    "sagemaker:ListUserProfiles",
)


class CeilingsArgs(TypedDict):
    """What nobody gets above."""

    training_types: Sequence[str]
    """Instance types of training jobs, `ml.g5.xlarge`."""
    editor_types: Sequence[str]
    """Instance types of notebooks and editors."""
    max_runtime_seconds: int
    """Longest that a job may be allowed to run."""
    subnet_ids: Sequence[pulumi.Input[str]]
    """Subnets that a job must be in."""
    security_group_id: pulumi.Input[str]
    """The group that it must have."""
    output_key_arn: pulumi.Input[str]
    """Key that its output must be encrypted with."""
    project: str
    """Value of the tag `project` that it must carry, for the bill."""


class TiersArgs(TypedDict):
    """The buckets and what they are encrypted with."""

    data_arn: pulumi.Input[str]
    """ARN of the data bucket, which nobody here writes or deletes from."""
    checkpoints_arn: pulumi.Input[str]
    """ARN of the checkpoints bucket."""
    artifacts_arn: pulumi.Input[str]
    """ARN of the artifacts bucket."""
    key_arns: Sequence[pulumi.Input[str]]
    """Keys of the three."""


class PlaceArgs(TypedDict):
    """Where the environment is."""

    region: str
    """Region."""
    account_id: pulumi.Input[str]
    """Account, 12 digits."""


def ours(place: PlaceArgs, resource: str) -> pulumi.Output[str]:
    """ARN of what SageMaker has in the account, wildcards allowed: `training-job/*`."""
    return pulumi.Output.concat("arn:aws:sagemaker:", place["region"], ":", place["account_id"], ":", resource)


def objects(arn: pulumi.Input[str], prefix: str = "") -> pulumi.Output[str]:
    """The objects of a bucket below a prefix."""
    return pulumi.Output.concat(arn, "/", prefix, "*")


def submission(ceilings: CeilingsArgs, place: PlaceArgs) -> list[Statement]:
    """Sending training jobs below the ceilings, and nothing above them. A condition whose key a request lacks is false,
    but for those of `ForAllValues`, which `Null` closes."""
    below = {
        "ForAllValues:StringEquals": {
            "sagemaker:InstanceTypes": list(ceilings["training_types"]),
            "sagemaker:VpcSubnets": list(ceilings["subnet_ids"]),
            "sagemaker:VpcSecurityGroupIds": [ceilings["security_group_id"]],
        },
        "Null": {
            "sagemaker:InstanceTypes": "false",
            "sagemaker:VpcSubnets": "false",
            "sagemaker:VpcSecurityGroupIds": "false",
        },
        "NumericLessThanEquals": {"sagemaker:MaxRuntimeInSeconds": str(ceilings["max_runtime_seconds"])},
        "ArnEquals": {"sagemaker:OutputKmsKey": ceilings["output_key_arn"]},
        "StringEquals": {"aws:RequestTag/project": ceilings["project"]},
    }
    jobs = [ours(place, "training-job/*"), ours(place, "hyper-parameter-tuning-job/*")]
    create = ["sagemaker:CreateTrainingJob", "sagemaker:CreateHyperParameterTuningJob"]
    return [
        allow("SendJobs", create, jobs, below),
        allow(
            "TagJobsWhenSent",
            ["sagemaker:AddTags"],
            jobs,
            {
                "StringEquals": {
                    "sagemaker:TaggingAction": ["CreateTrainingJob", "CreateHyperParameterTuningJob"],
                    "aws:RequestTag/project": ceilings["project"],
                }
            },
        ),
        allow(
            "FollowAndStopJobs",
            [
                "sagemaker:DescribeHyperParameterTuningJob",
                "sagemaker:DescribeTrainingJob",
                "sagemaker:StopHyperParameterTuningJob",
                "sagemaker:StopTrainingJob",
            ],
            jobs,
            {"StringEquals": {"aws:ResourceTag/project": ceilings["project"]}},  # an account may have another's jobs
        ),
    ]


def looking(place: PlaceArgs) -> list[Statement]:
    """Seeing what there is; the lists know no resource."""
    return [
        allow("SeeDomain", _READS, [ours(place, f"{kind}/*") for kind in ("app", "domain", "space", "user-profile")]),
        allow("List", _LISTS, ["*"]),
    ]


def editing(ceilings: CeilingsArgs, place: PlaceArgs, domain: pulumi.Input[str]) -> list[Statement]:
    """Opening the domain's editors on machines below the ceiling, in spaces of one's own.

    Everybody has the same role, so what tells people apart is the session that SageMaker gives an editor: it has the
    domain and the profile (`sagemaker:DomainId`, `sagemaker:UserProfileName`), as in AmazonSageMakerFullAccess v29. A
    session from a laptop carries neither and opens a domain by its presigned address, anybody's profile.
    """

    def within(kind: str, rest: str = "/*") -> pulumi.Output[str]:
        return pulumi.Output.concat(ours(place, f"{kind}/"), domain, rest)

    profile = "user-profile/${sagemaker:DomainId}/${sagemaker:UserProfileName}"
    own = {"ArnLike": {"sagemaker:OwnerUserProfileArn": ours(place, profile)}}
    return [
        allow(
            "OpenEditors",
            ["sagemaker:CreateApp"],
            [within("app")],
            {
                **own,
                "ForAllValues:StringEquals": {"sagemaker:InstanceTypes": [*ceilings["editor_types"], SYSTEM_APP]},
                "Null": {"sagemaker:InstanceTypes": "false"},
            },
        ),
        # The home page is an app of the profile's, in no space.
        allow(
            "OpenHomePage",
            ["sagemaker:CreateApp"],
            [within("app")],
            {
                "ForAllValues:StringEquals": {"sagemaker:InstanceTypes": [SYSTEM_APP]},
                "Null": {"sagemaker:InstanceTypes": "false", "sagemaker:OwnerUserProfileArn": "true"},
            },
        ),
        allow("CloseEditors", ["sagemaker:DeleteApp"], [within("app")], own),
        allow(
            "KeepSpaces",
            ["sagemaker:CreateSpace", "sagemaker:DeleteSpace", "sagemaker:UpdateSpace"],
            [within("space")],
            own,
        ),
        # The domain's tags go on to spaces and apps, in the name of who makes them.
        allow(
            "TagSpacesWhenMade",
            ["sagemaker:AddTags"],
            [within("space")],
            {"StringEquals": {"sagemaker:TaggingAction": "CreateSpace"}},
        ),
        allow("TagEditors", ["sagemaker:AddTags"], [within("app")]),
        allow("EnterDomain", ["sagemaker:CreatePresignedDomainUrl"], [within("user-profile")]),
    ]


def key_use(tiers: TiersArgs, place: PlaceArgs) -> Statement:
    """Use of the tiers' keys through S3 alone, for what lies in the tiers."""
    buckets = [tiers["data_arn"], tiers["checkpoints_arn"], tiers["artifacts_arn"]]
    return allow(
        "UseKeys",
        ["kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"],  # SageMaker asks for Encrypt of an output's key
        tiers["key_arns"],
        {
            "StringEquals": {"kms:ViaService": f"s3.{place['region']}.amazonaws.com"},
            "ArnLike": {BUCKET_CONTEXT: [*buckets, *(objects(arn) for arn in buckets)]},
        },
    )


def disk_keys(tiers: TiersArgs, place: PlaceArgs) -> Statement:
    """Lending the keys to SageMaker for the disks of editors and jobs."""
    return allow(
        "LendKeys",
        ["kms:CreateGrant"],
        tiers["key_arns"],
        {
            "Bool": {"kms:GrantIsForAWSResource": "true"},
            "StringEquals": {"kms:ViaService": f"sagemaker.{place['region']}.amazonaws.com"},
        },
    )


def storing(tiers: TiersArgs, place: PlaceArgs, *, writes: Mapping[str, str]) -> list[Statement]:
    """Reading the data, and writing checkpoints and artifacts below the prefixes of `writes` (by tier, "" for all).

    Nobody deletes a version: what a person removes stays as long as the bucket's lifecycle keeps it.
    """
    buckets = [tiers["data_arn"], tiers["checkpoints_arn"], tiers["artifacts_arn"]]
    arns = {"checkpoints": tiers["checkpoints_arn"], "artifacts": tiers["artifacts_arn"]}
    return [
        allow("ListTiers", ["s3:GetBucketLocation", "s3:ListBucket"], buckets),
        allow("ReadTiers", ["s3:GetObject"], [objects(arn) for arn in buckets]),
        allow(
            "WriteResults",
            ["s3:AbortMultipartUpload", "s3:PutObject"],
            [objects(arns[tier], prefix) for tier, prefix in writes.items()],
        ),
        key_use(tiers, place),
    ]


def tracking(app_arn: pulumi.Input[str] | None, place: PlaceArgs, groups: str) -> list[Statement]:
    """What a client of the MLflow App needs, and what registers a model. Who reads the app can delete in it: SageMaker
    has one action for both."""
    found = [
        allow(
            "RegisterModels",
            [
                "sagemaker:CreateModelPackage",
                "sagemaker:DescribeModelPackage",
                "sagemaker:DescribeModelPackageGroup",
                "sagemaker:ListModelPackages",
                "sagemaker:UpdateModelPackage",
            ],
            [ours(place, f"model-package-group/{groups}*"), ours(place, f"model-package/{groups}*")],
        )
    ]
    if app_arn is not None:
        actions = ["CallMlflowAppApi", "CreatePresignedMlflowAppUrl", "DescribeMlflowApp"]
        found.append(allow("Track", [f"sagemaker:{action}" for action in actions], [app_arn]))
    return found


def nothing_new() -> list[Statement]:
    """What is forbidden over the budget. It stops no job that runs."""
    return [{"Sid": "OverBudget", "Effect": "Deny", "Action": list(STARTS), "Resource": "*"}]
