"""Settings: what only AWS understands, the block `aws` of a stack file."""

import re
from typing import Annotated, Literal

from pydantic import Field

from trainyard.settings.existing_network import ExistingNetwork
from trainyard.settings.types import DomainName, Model, StandIn, TextLikeNumber, matching

PRINCIPAL = re.compile(
    r"arn:(aws|aws-cn|aws-us-gov|aws-iso|aws-iso-b):iam::[0-9]{12}:(role|user)"
    r"/(?!aws-service-role/)([!-.0-~]+/)*[A-Za-z0-9_+=,.@-]{1,64}"
)
PRINCIPAL_ALLOWED = (
    "must be the ARN of an IAM role or user, like arn:aws:iam::123456789012:role/name: no root, no *, no session, no "
    "service's role"
)
PRINCIPAL_STAND_IN = StandIn("arn:aws:iam::123456789012:role/unseen-{number}")
Principal = Annotated[str, matching(PRINCIPAL.pattern, PRINCIPAL_ALLOWED), PRINCIPAL_STAND_IN]


POLICY = re.compile(
    r"arn:(aws|aws-cn|aws-us-gov|aws-iso|aws-iso-b):iam::([0-9]{12}|aws):policy/([!-.0-~]+/)*[A-Za-z0-9_+=,.@-]{1,128}"
)


class Aws(Model):
    """An environment's settings that have a meaning on AWS alone."""

    account_id: (
        Annotated[TextLikeNumber, matching(r"[0-9]{12}", "must be 12 digits, in quotes"), StandIn("9{number:011}")]
        | None
    ) = Field(default=None, description="the account, 12 digits in quotes; no other can then be deployed to by mistake")
    admin_principals: list[Principal] = Field(
        default=[],
        description=(
            "ARNs of IAM roles and users that administer the cluster, those that run `pulumi up` among them. None: "
            "whoever runs it, by an entry that follows the next one"
        ),
    )
    assume_role: (
        Annotated[
            str,
            matching(
                PRINCIPAL.pattern.replace("(role|user)", "(role)"),
                "must be the ARN of an IAM role, like arn:aws:iam::123456789012:role/name",
            ),
            PRINCIPAL_STAND_IN,
        ]
        | None
    ) = Field(
        default=None,
        description=(
            "ARN of the role that `pulumi up` takes in the account: for the provider, and for the tokens with which it "
            "makes objects on the cluster. By default the credentials as they are"
        ),
    )
    profile: Annotated[str, matching(r"[A-Za-z0-9_.@+-]{1,64}", "must be the name of a profile")] | None = Field(
        default=None, description="profile of the AWS configuration that `pulumi up` uses, likewise for both"
    )
    permissions_boundary: (
        Annotated[
            str,
            matching(
                POLICY.pattern, "must be the ARN of an IAM policy, like arn:aws:iam::123456789012:policy/boundary"
            ),
            StandIn("arn:aws:iam::123456789012:policy/unseen-{number}"),
        ]
        | None
    ) = Field(
        default=None,
        description="ARN of the policy that bounds every role, where the account lets nobody make one without it",
    )
    role_path: Annotated[str, matching(r"/([!-.0-~]{1,100}/){0,5}", "must begin and end with /, like /teams/ml/")] = (
        Field(default="/", description="path of every role, where the account lets nobody make one elsewhere")
    )
    organization_id: (
        Annotated[str, matching(r"o-[a-z0-9]{10,32}", "must look like o-a1b2c3d4e5"), StandIn("o-unseen{number:06}")]
        | None
    ) = Field(
        default=None,
        description=(
            "the organisation whose principals and buckets may be used from the network; by default the account alone"
        ),
    )
    public_buckets: list[
        Annotated[
            str,
            matching(
                r"(?=.{3,63}$)(?![0-9.]+$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*",
                "must be the name of a bucket, like commoncrawl: no ARN, no path",
            ),
        ]
    ] = Field(default=[], max_length=50, description="buckets of others, such as public data sets, that may be read")
    dns_firewall: Literal["block", "alert", "off"] | None = Field(
        default=None,
        description=(
            "lookups of names that nothing here needs: refused, counted, or let by; counted or let by, a pod can send "
            "data out in names"
        ),
    )
    dns_allow: list[DomainName] = Field(
        default=[],
        max_length=500,
        description="further names that may be looked up, such as a registry's; those of network.egress.allow may",
    )
    deployers: list[Principal] = Field(
        default=[],
        description=(
            "ARNs of IAM roles and users that run `pulumi up`: with adminPrincipals, the only ones that may change who "
            "uses the environment's keys. By default whoever runs it, so name them where there are several"
        ),
    )
    create_autoscaling_role: bool = Field(
        default=False,
        description="makes the service-linked role of Auto Scaling: once in a new account, AWS refuses a second one",
    )
    existing_network: ExistingNetwork | None = Field(
        default=None,
        description=(
            "a VPC and subnets that somebody else made, in place of a network of the environment's own: nothing of it "
            "is made, changed or deleted, but for endpoints that it lacks and flow logs"
        ),
    )
    way_out: Literal["nat", "none"] | None = Field(
        default=None,
        description=(
            "none: neither an internet gateway nor a NAT is made, and AWS's endpoints are all that is reached; images "
            "and charts come from mirrors. By default nat"
        ),
    )
    nat_per_zone: bool | None = Field(default=None, description="a NAT gateway in every zone instead of one in all")
    endpoint_zones: int | None = Field(
        default=None,
        description="zones that AWS's interface endpoints are in, from the first; each costs by the hour in each",
    )
    flow_log_retention_days: int | None = Field(default=None, description="days that the network's flow logs are kept")
    database_instance_class: (
        Annotated[str, matching(r"db\.[a-z0-9]+\.[a-z0-9]+", "must look like db.t4g.medium")] | None
    ) = Field(default=None, description="of the tracking server's database, like db.t4g.medium")
    budget_scope: Literal["environment", "account"] = Field(
        default="environment",
        description=(
            "what the budget counts: what has the environment's tag, once billing knows it, or the account, which is "
            "then the environment's alone"
        ),
    )
    node_release: Annotated[str, matching(r"1\.[0-9]+\.[0-9]+-20[0-9]{6}", "must look like 1.35.6-20260714")] | None = (
        Field(
            default=None,
            description=(
                "release of the nodes' image, which brings kernel and GPU driver; another one starts every node anew. "
                "The one that the catalogue knows by default, kept by the stack's lock"
            ),
        )
    )
    node_sessions: bool = Field(
        default=False,
        description=(
            "lets Session Manager onto the nodes, for who may `ssm:StartSession`: root there, and on record. Off, "
            "nobody gets onto a node but through the cluster"
        ),
    )
    anomaly_detection: bool | None = Field(
        default=None,
        description="cost anomaly detection; not in a member account of an organisation, which may not monitor tags",
    )
    activate_cost_tags: bool | None = Field(
        default=None, description="activates the cost tags: payer account only, a day after the first deployment"
    )
