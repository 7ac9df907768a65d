"""Mistakes of rights as engineers make them, in the demo stack: each accepted by AWS, and something would not work."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.policies.mutants import Change, drop, edit, put
from tests.policies.rights_changes import BINDING, INLINE, POD_IDENTITY, replaced, trust
from tests.policies.rights_changes import ROLE as RBAC_ROLE
from tests.rehearsal.works.mistakes import Mistake
from tests.rehearsal.works.mistakes import put as put_at

ATTACHMENT = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
BUCKET_POLICY, KEY = "aws:s3/bucketPolicy:BucketPolicy", "aws:kms/key:Key"
DEPLOYMENT, RELEASE = "kubernetes:apps/v1:Deployment", "kubernetes:helm.sh/v3:Release"
OTHER_ACCOUNT = {
    "Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::999999999999:root"}, "Action": "sts:AssumeRole",
}  # fmt: skip
TOPIC_POLICY, ADD_ON = "aws:sns/topicPolicy:TopicPolicy", "aws:eks/addon:Addon"


def in_document(type_: str, name: str, key: str, into: Callable[[list[dict[str, Any]]], Any]) -> Change:
    """Changes the statements of a policy document."""

    def change(inputs: dict[str, Any]) -> None:
        document = json.loads(inputs[key])
        before = json.dumps(document)
        into(document["Statement"])
        assert json.dumps(document) != before, f"nothing changed in {name}"
        inputs[key] = json.dumps(document)

    return edit(type_, name, change)


def without(sid: str) -> Callable[[list[dict[str, Any]]], None]:
    """Takes a statement out by its Sid."""

    def into(statements: list[dict[str, Any]]) -> None:
        statements[:] = [one for one in statements if one.get("Sid") != sid]

    return into


def within(sid: str, change: Callable[[dict[str, Any]], Any]) -> Callable[[list[dict[str, Any]]], None]:
    """Changes one statement."""

    def into(statements: list[dict[str, Any]]) -> None:
        change(next(one for one in statements if one.get("Sid") == sid))

    return into


def policy(name: str, into: Callable[[list[dict[str, Any]]], Any]) -> Change:
    """Changes the statements of a role's own policy."""
    return in_document(INLINE, name, "policy", into)


def key(name: str, into: Callable[[list[dict[str, Any]]], Any]) -> Change:
    """Changes the statements of a key policy."""
    return in_document(KEY, name, "policy", into)


def bucket(name: str, into: Callable[[list[dict[str, Any]]], Any]) -> Change:
    """Changes the statements of a bucket policy."""
    return in_document(BUCKET_POLICY, name, "policy", into)


def less(sid: str, action: str) -> Callable[[list[dict[str, Any]]], None]:
    """Takes one action out of a statement."""
    return within(sid, lambda one: one["Action"].remove(action))


MISTAKES = [
    Mistake(
        "node-without-registry",
        "the nodes' role lost the policy to pull images",
        drop(ATTACHMENT, "cluster-node-AmazonEC2ContainerRegistryPullOnly"),
        "rights-role-lacks",
    ),
    Mistake(
        "node-without-worker",
        "the nodes' role lost the worker policy",
        drop(ATTACHMENT, "cluster-node-AmazonEKSWorkerNodePolicy"),
        "rights-role-lacks",
    ),
    Mistake(
        "node-role-for-eks",
        "the nodes' role trusts EKS in place of EC2",
        trust("cluster-node", lambda one: one["Principal"].update(Service="eks.amazonaws.com")),
        "rights-role-untrusted",
    ),
    Mistake(
        "control-without-policy",
        "the control plane's role has the policy of nodes",
        edit(
            ATTACHMENT,
            "cluster-control-AmazonEKSClusterPolicy",
            put("policyArn", value="arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPullOnly"),
        ),
        "rights-role-lacks",
    ),
    Mistake(
        "control-other-cluster",
        "the control plane's role trusts EKS for a cluster of another name",
        trust(
            "cluster-control",
            lambda one: one["Condition"]["ArnLike"].update(
                {"aws:SourceArn": "arn:aws:eks:us-east-1:123456789012:cluster/acme-dem"}
            ),
        ),
        "rights-role-untrusted",
    ),
    Mistake(
        "flow-log-cannot-write",
        "the flow log's role makes streams and writes nothing",
        policy("network-flow-logs", less("WriteFlowLogs", "logs:PutLogEvents")),
        "rights-role-lacks",
    ),
    Mistake(
        "flow-log-other-group",
        "the flow log's role names the group by its logical name",
        replaced("network-flow-logs", "network-flow-logs-13417e5", "network-flow-logs"),
        "rights-role-lacks",
    ),
    Mistake(
        "flow-log-service",
        "the flow log's role trusts a service that delivers to buckets",
        trust("network-flow-logs", lambda one: one["Principal"].update(Service="delivery.logs.amazonaws.com")),
        "rights-role-untrusted",
    ),
    Mistake(
        "monitoring-region",
        "the monitoring role trusts RDS for a database of another name",
        trust(
            "acme-demo-mlflow-monitoring",
            lambda one: one["Condition"]["ArnLike"].update(
                {"aws:SourceArn": "arn:aws:rds:*:123456789012:db:acme-demo-tracking"}
            ),
        ),
        "rights-role-untrusted",
    ),
    Mistake(
        "monitoring-nothing-attached",
        "the monitoring role may do nothing",
        drop(ATTACHMENT, "acme-demo-mlflow-monitoring-policy"),
        "rights-role-lacks",
    ),
    Mistake(
        "cni-without-policy",
        "the role of aws-node has the policy of the volumes' driver",
        edit(
            ATTACHMENT,
            "cluster-cni-AmazonEKS_CNI_Policy",
            put("policyArn", value="arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy"),
        ),
        "rights-program-lacks",
    ),
    Mistake(
        "volumes-account",
        "the association of the volumes' driver names its service account without the suffix",
        edit(POD_IDENTITY, "cluster-ebs-ebs-csi-controller-sa", put("serviceAccount", value="ebs-csi-controller")),
        "rights-program-no-role",
    ),
    Mistake(
        "autoscaler-tag",
        "the autoscaler scales groups of a tag that they do not have",
        replaced(
            "autoscaler-role-policy",
            "aws:ResourceTag/k8s.io/cluster-autoscaler/acme-demo",
            "aws:ResourceTag/k8s.io/cluster-autoscaler/acme",
        ),
        "rights-program-lacks",
    ),
    Mistake(
        "autoscaler-cannot-look",
        "the autoscaler does not see launch templates",
        policy("autoscaler-role-policy", less("Discover", "ec2:DescribeLaunchTemplateVersions")),
        "rights-program-lacks",
    ),
    Mistake(
        "trail-prefix",
        "the trail may write below a prefix that it does not have",
        bucket(
            "acme-demo-trail-logs-policy",
            within(
                "TrailDelivery",
                lambda one: one.update(Resource=one["Resource"].replace("/*", "/trails/*")),
            ),
        ),
        "rights-delivery",
    ),
    Mistake(
        "trail-other-name",
        "the bucket lets in a trail of another name",
        bucket(
            "acme-demo-trail-logs-policy",
            within(
                "TrailLooks",
                lambda one: one["Condition"]["StringEquals"].update(
                    {"aws:SourceArn": "arn:aws:cloudtrail:us-east-1:123456789012:trail/acme"}
                ),
            ),
        ),
        "rights-delivery",
    ),
    Mistake(
        "trail-key",
        "the trail's key does not let the trail encrypt",
        key("acme-demo-trail-key", without("EncryptFiles")),
        "rights-delivery-key",
    ),
    Mistake(
        "access-logs-policy",
        "the bucket of access logs lets the old group of log delivery in, not the service",
        bucket(
            "acme-demo-logs-policy",
            within("AccessLogDelivery", lambda one: one["Principal"].update(Service="delivery.logs.amazonaws.com")),
        ),
        "rights-delivery",
    ),
    Mistake(
        "budget-topic",
        "the budget's topic lets cost explorer in, and not budgets",
        in_document(TOPIC_POLICY, "budget-alerts-policy", "policy", without("Budgets")),
        "rights-delivery",
    ),
    Mistake(
        "events-rule",
        "the security topic names one of the two rules",
        in_document(
            TOPIC_POLICY,
            "security-topic-policy",
            "policy",
            within("Rules", lambda one: one["Condition"]["ArnEquals"]["aws:SourceArn"].pop()),
        ),
        "rights-delivery",
    ),
    Mistake(
        "events-key",
        "the topics' key lets budgets encrypt and not the rules",
        key(
            "platform-key",
            within("PublishAlerts", lambda one: one["Principal"]["Service"].remove("events.amazonaws.com")),
        ),
        "rights-delivery-key",
    ),
    Mistake(
        "topic-with-managed-key",
        "the security topic has the key of SNS",
        edit("aws:sns/topic:Topic", "security-topic", put("kmsMasterKeyId", value="alias/aws/sns")),
        "rights-delivery-key",
    ),
    Mistake(
        "team-role-cannot-be-lent",
        "a team's role lets EKS take it, and tags no session",
        trust("team-vision-role", lambda one: one.update(Action="sts:AssumeRole")),
        "rights-binding-untrusted",
    ),
    Mistake(
        "team-role-of-another-namespace",
        "two teams' roles have each other's namespace in their trust",
        trust(
            "team-language-role",
            lambda one: one["Condition"]["StringEquals"].update({"aws:RequestTag/kubernetes-namespace": "team-vision"}),
        ),
        "rights-binding-untrusted",
    ),
    Mistake(
        "account-misspelt",
        "the tracking server's association says ml-flow",
        edit(POD_IDENTITY, "mlflow-role-mlflow", put("serviceAccount", value="ml-flow")),
        "rights-binding-no-account",
    ),
    Mistake(
        "namespace-misspelt",
        "a team's association has its namespace without the prefix",
        edit(POD_IDENTITY, "team-vision-role-trainer", put("namespace", value="team-visoin")),
        "rights-binding-no-account",
    ),
    Mistake(
        "no-agent",
        "the agent that hands out roles was taken for unused",
        drop(ADD_ON, "cluster-eks-pod-identity-agent"),
        "rights-no-pod-identity-agent",
    ),
    Mistake(
        "artifacts-read-only",
        "the tracking server reads artifacts and writes none",
        policy("mlflow-role-policy", less("Artifacts", "s3:PutObject")),
        "rights-pod-lacks",
    ),
    Mistake(
        "artifacts-prefix",
        "the tracking server may write below another prefix than it is told to",
        replaced("mlflow-role-policy", "/mlflow/*", "/artifacts/*"),
        "rights-pod-lacks",
    ),
    Mistake(
        "artifacts-key",
        "the tracking server may decrypt and not encrypt",
        policy("mlflow-role-policy", less("KeyOfArtifacts", "kms:GenerateDataKey")),
        "rights-pod-lacks",
    ),
    Mistake(
        "artifacts-key-region",
        "the key is bound to S3 of another region",
        policy(
            "mlflow-role-policy",
            within(
                "KeyOfArtifacts",
                lambda one: one["Condition"]["StringEquals"].update({"kms:ViaService": "s3.us-west-2.amazonaws.com"}),
            ),
        ),
        "rights-pod-lacks",
    ),
    Mistake(
        "artifacts-key-policy",
        "the key's own policy knows a bucket of another name",
        key(
            "tracking-key",
            within(
                "UseForBuckets",
                lambda one: one["Condition"]["ArnLike"].update(
                    {"kms:EncryptionContext:aws:s3:arn": "arn:aws:s3:::acme-demo-artefacts-*"}
                ),
            ),
        ),
        "rights-pod-lacks",
    ),
    Mistake(
        "password-key",
        "the tracking server reads the database's secret and cannot decrypt it",
        policy("mlflow-role-policy", without("KeyOfPassword")),
        "rights-pod-lacks",
    ),
    Mistake(
        "password-other-secret",
        "the tracking server may read secrets of another name",
        replaced(
            "mlflow-role-policy", 'secret:rds!db-11d4df00-89db-43f2-8bd7-fe25a92a829d-11d4df"}, ', 'secret:mlflow-*"}, '
        ),
        "rights-pod-lacks",
    ),
    Mistake(
        "team-logs-other-group",
        "the logs of teams go to a group that their role does not name",
        replaced("team-logs-role-policy", "/team-logs:", "/teams:"),
        "rights-pod-lacks",
    ),
    Mistake(
        "ingest-reads-only",
        "who brings data in cannot write it",
        policy("ingest-role-policy", without("Write")),
        "rights-volume",
    ),
    Mistake(
        "ingest-lists-nothing",
        "the listing is bound to a prefix without its slash",
        policy(
            "ingest-role-policy",
            within("List1", lambda one: one["Condition"]["StringLike"].update({"s3:prefix": ["datasets/*"]})),
        ),
        "rights-volume",
    ),
    Mistake(
        "ingest-cannot-delete",
        "the volume lets delete, the role does not",
        policy("ingest-role-policy", less("Write", "s3:DeleteObject")),
        "rights-volume",
    ),
    Mistake(
        "bucket-denies-pods",
        "the bucket takes pods from another network",
        bucket(
            "acme-demo-data-policy",
            within(
                "DenyPodsOutsideNetwork",
                lambda one: one["Condition"]["StringNotEquals"].update({"aws:SourceVpc": "vpc-0123456789abcdef0"}),
            ),
        ),
        "rights-volume",
    ),
    Mistake(
        "endpoint-other-account",
        "the endpoint of S3 lets through what belongs to another account",
        in_document(
            "aws:ec2/vpcEndpoint:VpcEndpoint",
            "network-s3",
            "policy",
            within(
                "OwnBuckets",
                lambda one: one["Condition"]["StringEquals"].update({"aws:ResourceAccount": "210987654321"}),
            ),
        ),
        "rights-volume",
    ),
    Mistake(
        "team-checkpoints-key",
        "a team writes checkpoints and cannot encrypt them",
        policy("team-language-role-policy", less("Key1", "kms:GenerateDataKey")),
        "rights-key",
    ),
    Mistake(
        "team-data-key",
        "a team reads data that it cannot decrypt",
        policy("team-vision-role-policy", without("Key2")),
        "rights-key",
    ),
    Mistake(
        "nodes-key",
        "the platform's key does not know Auto Scaling",
        key("platform-key", without("EncryptNodeVolumes")),
        "rights-key",
    ),
    Mistake(
        "nodes-grant",
        "Auto Scaling may use the platform's key and lend it to no volume",
        key("platform-key", without("AttachNodeVolumes")),
        "rights-key",
    ),
    Mistake(
        "lustre-grant",
        "the grant to Lustre is on the key of checkpoints",
        edit(
            "aws:kms/grant:Grant",
            "acme-demo-lustre-data-key",
            put("keyId", value="arn:aws:kms:us-east-1:123456789012:key/8379cb29-1f0e-405f-85f1-1b5f9abd1b4e"),
            property_dependencies={},
        ),
        "rights-key",
    ),
    Mistake(
        "lustre-grant-reads",
        "the grant to Lustre decrypts only, and the association exports",
        edit("aws:kms/grant:Grant", "acme-demo-lustre-data-key", put("operations", value=["Decrypt", "DescribeKey"])),
        "rights-key",
    ),
    Mistake(
        "logs-key",
        "the tracking key's log statement names the group of another service",
        key(
            "tracking-key",
            within(
                "EncryptLogGroups",
                lambda one: one["Condition"]["ArnLike"].update(
                    {"kms:EncryptionContext:aws:logs:arn": "arn:aws:logs:us-east-1:123456789012:log-group:/rds/*"}
                ),
            ),
        ),
        "rights-key",
    ),
    Mistake(
        "key-of-another-account",
        "a key's policy names the root of the account that it was copied from",
        key(
            "data-key",
            lambda statements: [
                one["Principal"].update(AWS="arn:aws:iam::210987654321:root")
                for one in statements
                if "AWS" in one["Principal"]
            ],
        ),
        "rights-key-lock-out",
    ),
    Mistake(
        "objects-of-the-bucket",
        "objects are read on the bucket's ARN",
        replaced("ingest-role-policy", 'f6c28dc/data/*"]}, {"Sid": "Write', 'f6c28dc"]}, {"Sid": "Write'),
        "rights-statement-nothing",
    ),
    Mistake(
        "key-by-alias",
        "the volumes' driver may use the key by its alias",
        replaced(
            "cluster-ebs-policy",
            "key/b045abef-4849-497d-8ff1-6d0f845ebe4e",
            "alias/acme-demo-platform",
        ),
        "rights-statement-nothing",
    ),
    Mistake(
        "describe-on-groups",
        "the autoscaler looks at its own groups alone",
        policy(
            "autoscaler-role-policy",
            within("Discover", lambda one: one.update(Resource="arn:aws:autoscaling:*:*:autoScalingGroup:*")),
        ),
        "rights-statement-nothing",
    ),
    Mistake(
        "bucket-policy-of-another",
        "the policy of the data bucket was copied from the checkpoints'",
        bucket(
            "acme-demo-data-policy",
            within("DenyPlainHttp", lambda one: one.update(Resource="arn:aws:s3:::acme-demo-checkpoints/*")),
        ),
        "rights-statement-nothing",
    ),
    Mistake(
        "registry-by-endpoint",
        "the endpoint of S3 keeps nodes from the layers of images",
        in_document("aws:ec2/vpcEndpoint:VpcEndpoint", "network-s3", "policy", without("ImagesAndPackages")),
        "rights-images",
    ),
    Mistake(
        "association-forgotten",
        "ingest's role is there, the association not",
        drop(POD_IDENTITY, "ingest-role-ingest"),
        "rights-role-unused",
    ),
    Mistake(
        "team-cannot-train",
        "a team's role makes jobs and no TrainJobs",
        edit(
            RBAC_ROLE,
            "teams-vision-member",
            lambda inputs: inputs.update(rules=[one for one in inputs["rules"] if one["resources"] != ["trainjobs"]]),
        ),
        "rights-team-lacks",
    ),
    Mistake(
        "team-cannot-read-logs",
        "a team's role names the logs of pods as a resource of their own",
        edit(
            RBAC_ROLE,
            "teams-language-member",
            lambda inputs: [
                one.update(resources=["logs"]) for one in inputs["rules"] if one["resources"] == ["pods/log"]
            ],
        ),
        "rights-team-lacks",
    ),
    Mistake(
        "team-group",
        "the binding of a team has its group with a dash",
        edit(BINDING, "teams-tabular-members", put("subjects", 0, "name", value="team-tabular")),
        "rights-team-lacks",
    ),
    Mistake(
        "team-left-out-of-the-cluster",
        "a team was added and not to those who read queues",
        edit(
            "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding",
            "teams-readers",
            lambda inputs: inputs["subjects"].pop(),
        ),
        "rights-team-lacks",
    ),
    Mistake(
        "team-unbound",
        "a team has its role and no binding",
        drop(BINDING, "teams-vision-members"),
        "rights-team-lacks",
    ),
    Mistake(
        "unknown-caller-in-endpoint",
        "the endpoint of STS is bound to an organisation that the account is not in",
        in_document(
            "aws:ec2/vpcEndpoint:VpcEndpoint",
            "network-kms-interface",
            "policy",
            lambda statements: statements[0]["Condition"]["StringEquals"].update(
                {"aws:PrincipalOrgID": "o-0123456789"}
            ),
        ),
        None,
        "which organisation an account is in, nothing records",
    ),
    Mistake(
        "keeper-without-token",
        "the keeper of flavors gets no token",
        edit(DEPLOYMENT, "kueue-keeper-deployment", put_at("spec.template.spec.automountServiceAccountToken", False)),
        "rights-program-no-token",
    ),
    Mistake(
        "keeper-reads-only",
        "the keeper of flavors may read them and not change them",
        edit(
            "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole",
            "kueue-keeper-role",
            put_at("rules[0].verbs", ["get"]),
        ),
        "rights-program-lacks",
    ),
    Mistake(
        "keeper-of-another-flavor",
        "a pool was renamed, and the keeper's role not",
        edit(
            "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole",
            "kueue-keeper-role",
            put_at("rules[0].resourceNames", ["dev-on-demand"]),
        ),
        "rights-program-lacks",
    ),
    Mistake(
        "alerts-of-one-topic",
        "Alertmanager may publish to one topic of the two that it is told",
        policy("alertmanager-role-policy", within("Alerts", lambda one: one["Resource"].pop())),
        "rights-program-lacks",
    ),
    Mistake(
        "alerts-without-key",
        "Alertmanager may not use the key of its topics",
        policy("alertmanager-role-policy", without("KeyOfAlerts")),
        "rights-program-lacks",
    ),
    Mistake(
        "alerts-of-nobody",
        "Alertmanager's service account was renamed in its values",
        edit(RELEASE, "monitoring-release", put_at("values.alertmanager.serviceAccount.name", "alertmanager")),
        "rights-program-no-role",
    ),
    Mistake(
        "bastion-without-channels",
        "the bastion's role lost the channels of Session Manager",
        policy("bastion", within("Sessions", lambda one: one.update(Action=["ssm:UpdateInstanceInformation"]))),
        "rights-program-lacks",
    ),
    Mistake(
        "read-only-boundary",
        "the autoscaler's role got the boundary ReadOnlyAccess",
        edit(
            "aws:iam/role:Role",
            "autoscaler-role",
            put_at("permissionsBoundary", "arn:aws:iam::aws:policy/ReadOnlyAccess"),
        ),
        "rights-program-lacks",
    ),
    Mistake(
        "foreign-trust",
        "another account may take a team's role",
        in_document(
            "aws:iam/role:Role",
            "team-vision-role",
            "assumeRolePolicy",
            lambda statements: statements.append(OTHER_ACCOUNT),
        ),
        "rights-foreign-trust",
    ),
    Mistake(
        "deployer-looks-only",
        "whoever deploys may only look into the cluster",
        edit(
            "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
            "cluster-deployer",
            put_at("policyArn", "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"),
        ),
        "rights-nobody-deploys",
    ),
]
