"""The roles of managed training: of people in their editors and at their laptops, of jobs, of the tracking app.

Least rights, written out, with the ceilings of `ceilings`. Nobody of them changes a role, a bucket or a key.
"""

from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_aws.iam as iam

from trainyard.components.aws.identity import check_role_name
from trainyard.components.aws.managed.ceilings import (
    CeilingsArgs,
    PlaceArgs,
    TiersArgs,
    disk_keys,
    editing,
    key_use,
    looking,
    objects,
    ours,
    storing,
    submission,
    tracking,
)
from trainyard.components.aws.policy_documents import allow, document, service_trust
from trainyard.components.outputs import register

SAGEMAKER = "sagemaker.amazonaws.com"

TRACKING_PREFIX = "mlflow/"
"""Prefix of the tracking app's artifacts."""


class ManagedRolesArgs(TypedDict):
    """What `ManagedRoles` needs."""

    place: PlaceArgs
    """Region and account."""
    ceilings: CeilingsArgs
    """What nobody gets above."""
    tiers: TiersArgs
    """The buckets."""
    people_arns: Sequence[str]
    """IAM users and roles that may take the role of people, from a laptop. May be empty: then editors alone do."""
    model_groups: str
    """Beginning of the names of the environment's model package groups."""
    image_registries: Sequence[pulumi.Input[str]]
    """ARNs of the repositories that jobs pull images from; wildcards are patterns."""
    tracking: NotRequired[bool]
    """Whether there is an MLflow App, which has a role of its own. Default False."""


class ManagedRoles(pulumi.ComponentResource):
    """The roles. The rights to what is made after them, the domain and the tracking app, come with `edits` and
    `trusts_tracking`."""

    people_role_arn: pulumi.Output[str]
    """ARN of the role of people."""
    people_role_name: pulumi.Output[str]
    """Name of the role of people."""
    job_role_arn: pulumi.Output[str]
    """ARN of the role of training jobs."""
    job_role_name: pulumi.Output[str]
    """Name of the role of training jobs."""
    tracking_role_arn: pulumi.Output[str] | None
    """ARN of the tracking app's role; None without one."""

    def __init__(self, name: str, args: ManagedRolesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for a name that IAM would refuse."""
        super().__init__("trainyard:index:ManagedRoles", name, None, opts)
        self._name, self._args = name, args
        self.ready: list[pulumi.Resource] = []
        self._account = args["place"]["account_id"]
        job = self._role("jobs", "Training jobs of managed training", service_trust(SAGEMAKER, self._account))
        people = self._role("people", "People of managed training, below its ceilings", self._people_trust())
        self.job_role_arn, self.job_role_name = job.arn, job.name
        self.people_role_arn, self.people_role_name = people.arn, people.name
        self._allow("jobs", job, self._job_statements())
        self._allow("people", people, self._people_statements(job.arn))
        self.tracking_role_arn = None
        if args.get("tracking"):
            app = self._role("tracking", "The MLflow App", service_trust(SAGEMAKER, self._account))
            self._allow("tracking", app, self._app_statements())
            self.tracking_role_arn = app.arn
        register(self)

    def edits(self, domain_id: pulumi.Input[str]) -> None:
        """Lets people keep editors in the domain, which is made with their role."""
        editors = editing(self._args["ceilings"], self._args["place"], domain_id)
        iam.RolePolicy(
            f"{self._name}-people-editors",
            role=self.people_role_name,
            policy=document(editors),
            opts=pulumi.ResourceOptions(parent=self),
        )

    def trusts_tracking(self, app_arn: pulumi.Input[str] | None) -> list[pulumi.Resource]:
        """Lets people and jobs track their runs and register models; what they wait for."""
        statements = tracking(app_arn, self._args["place"], self._args["model_groups"])
        return [
            iam.RolePolicy(
                f"{self._name}-{who}-tracking",
                role=role,
                policy=document(statements),
                opts=pulumi.ResourceOptions(parent=self),
            )
            for who, role in (("people", self.people_role_name), ("jobs", self.job_role_name))
        ]

    def _role(self, kind: str, description: str, trust: pulumi.Output[str]) -> iam.Role:
        return iam.Role(
            role_name(self._name, kind),
            description=description,
            assume_role_policy=trust,
            # The budget's action attaches a policy behind Pulumi's back, and a role with one is not deleted.
            force_detach_policies=True,
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _allow(self, kind: str, role: iam.Role, statements: Sequence[dict[str, Any]]) -> None:
        policy = iam.RolePolicy(
            f"{self._name}-{kind}",
            role=role.name,
            policy=document(statements),
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.ready.append(policy)

    def _people_trust(self) -> pulumi.Output[str]:
        """SageMaker for an editor, which names the person (`sts:SetSourceIdentity`), and whoever the settings name."""
        statements: list[dict[str, Any]] = [
            {
                "Sid": "Editors",
                "Effect": "Allow",
                "Principal": {"Service": SAGEMAKER},
                "Action": ["sts:AssumeRole", "sts:SetSourceIdentity"],
                "Condition": {"StringEquals": {"aws:SourceAccount": self._account}},
            }
        ]
        named = list(self._args["people_arns"])
        if named:
            accounts = sorted({arn.split(":")[4] for arn in named})
            statements.append(
                {
                    "Sid": "People",
                    "Effect": "Allow",
                    # A condition and no principal: IAM refuses a trust in a role that is not there yet.
                    "Principal": {"AWS": [f"arn:aws:iam::{account}:root" for account in accounts]},
                    "Action": ["sts:AssumeRole", "sts:SetSourceIdentity"],
                    "Condition": {"ArnLike": {"aws:PrincipalArn": named}},
                }
            )
        return document(statements)

    def _people_statements(self, job_role_arn: pulumi.Input[str]) -> list[dict[str, Any]]:
        args = self._args
        return [
            *submission(args["ceilings"], args["place"]),
            *looking(args["place"]),
            *storing(args["tiers"], args["place"], writes={"artifacts": ""}),
            allow(
                "GiveJobsTheirRole",
                ["iam:PassRole"],
                [job_role_arn],
                {"StringEquals": {"iam:PassedToService": SAGEMAKER}},
            ),
            disk_keys(args["tiers"], args["place"]),
            allow(
                "ReadJobLogs",
                ["logs:DescribeLogStreams", "logs:FilterLogEvents", "logs:GetLogEvents"],
                [self._logs()],
            ),
        ]

    def _job_statements(self) -> list[dict[str, Any]]:
        args = self._args
        place = args["place"]
        network = [
            pulumi.Output.concat("arn:aws:ec2:", place["region"], ":", place["account_id"], f":{kind}/*")
            for kind in ("network-interface", "security-group", "subnet")
        ]
        return [
            *storing(args["tiers"], place, writes={"checkpoints": "", "artifacts": ""}),
            disk_keys(args["tiers"], args["place"]),
            allow("SignInToImages", ["ecr:GetAuthorizationToken"], ["*"]),
            allow(
                "PullImages",
                ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"],
                list(args["image_registries"]),
            ),
            allow(
                "WriteLogs",
                ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
                [self._logs()],
            ),
            allow(
                "WriteMetrics",
                ["cloudwatch:PutMetricData"],
                ["*"],
                {"StringLike": {"cloudwatch:namespace": ["/aws/sagemaker/*", "sagemaker/*"]}},
            ),
            allow(
                "LookAtNetwork",
                [
                    "ec2:DescribeDhcpOptions",
                    "ec2:DescribeNetworkInterfaces",
                    "ec2:DescribeSecurityGroups",
                    "ec2:DescribeSubnets",
                    "ec2:DescribeVpcs",
                ],
                ["*"],
            ),
            allow(
                "JoinNetwork",
                [
                    "ec2:CreateNetworkInterface",
                    "ec2:CreateNetworkInterfacePermission",
                    "ec2:DeleteNetworkInterface",
                    "ec2:DeleteNetworkInterfacePermission",
                ],
                network,
            ),
        ]

    def _app_statements(self) -> list[dict[str, Any]]:
        args = self._args
        bucket = args["tiers"]["artifacts_arn"]
        groups = args["model_groups"]
        return [
            allow("ListArtifacts", ["s3:GetBucketLocation", "s3:ListBucket"], [bucket]),
            allow("KeepArtifacts", ["s3:GetObject", "s3:PutObject"], [objects(bucket, TRACKING_PREFIX)]),
            key_use(args["tiers"], args["place"]),
            allow(
                "RegisterModels",
                [
                    "sagemaker:AddTags",
                    "sagemaker:CreateModelPackage",
                    "sagemaker:CreateModelPackageGroup",
                    "sagemaker:DescribeModelPackageGroup",
                    "sagemaker:UpdateModelPackage",
                ],
                [
                    ours(args["place"], f"model-package-group/{groups}*"),
                    ours(args["place"], f"model-package/{groups}*"),
                ],
            ),
        ]

    def _logs(self) -> pulumi.Output[str]:
        place = self._args["place"]
        account = place["account_id"]
        return pulumi.Output.concat("arn:aws:logs:", place["region"], ":", account, ":log-group:/aws/sagemaker/*")


def role_name(name: str, kind: str) -> str:
    """Logical name of the role of a kind (people, jobs, tracking) of the component `name`."""
    return check_role_name(f"{name}-{kind}")
