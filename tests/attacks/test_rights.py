"""Attacks by right: what a team's pods may do in the cloud, and its people and pods in the cluster.

Every attack is refused by the evaluator of IAM and RBAC over each example stack as it is recorded; every use that a
team is there for is allowed.
"""

import pytest

from tests.attacks.verdicts import allows, refuses
from tests.conftest import EKS
from trainyard.conventions import TEAM_LABEL, TRAINER_SERVICE_ACCOUNT, data_prefix, team_group, team_prefix
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import BUCKET, DATABASE, KEY, NAMESPACE, ROLE
from trainyard.rehearsal.works.rights.aws.account import PODS_SERVICE
from trainyard.rehearsal.works.rights.aws.callers import ANONYMOUS, service
from trainyard.rehearsal.works.rights.aws.recorded_policies import arn_of
from trainyard.rehearsal.works.rights.principals import Person, Pod
from trainyard.rehearsal.works.rights.stack import Rights

FOREIGN = "arn:aws:iam::444455556666:role/somebody"


class Stack:
    """An example stack with its teams, and what they are after."""

    def __init__(self, resources):
        self.resources = Resources(resources)
        self.rights = Rights(self.resources)
        self.namespaces = {
            labels[TEAM_LABEL]: namespace.inputs["metadata"]["name"]
            for namespace in self.resources.of(NAMESPACE)
            if TEAM_LABEL in (labels := namespace.inputs["metadata"].get("labels", {}))
        }
        self.keys = [arn_of(key) for key in self.resources.of(KEY)]
        self.roles = [arn_of(role) for role in self.resources.of(ROLE)]
        self.region = self.keys[0].split(":")[3]

    def bucket(self, end):
        return next(arn_of(bucket) for bucket in self.resources.of(BUCKET) if bucket.name.endswith(f"-{end}"))

    def pod(self, team):
        return Pod(self.namespaces[team], TRAINER_SERVICE_ACCOUNT)

    def pairs(self):
        """Every team with every other."""
        return [(one, other) for one in self.namespaces for other in self.namespaces if one != other]

    def through(self, of):
        return {"kms:ViaService": f"{of}.{self.region}.amazonaws.com"}

    def uses_of_keys(self):
        """What S3 says when it uses a key for the objects of a bucket."""
        for end in ("checkpoints", "data"):
            yield end, {**self.through("s3"), "kms:EncryptionContext:aws:s3:arn": self.bucket(end)}


@pytest.fixture(scope="module", params=EKS)
def stack(request, rehearsed):
    return Stack(rehearsed(request.param).resources)


def test_there_are_teams_to_play(stack):
    assert len(stack.namespaces) >= 2


# A compromised training pod, in the cloud


OBJECT_ACTIONS = (
    "GetObject", "GetObjectVersion", "PutObject", "DeleteObject", "DeleteObjectVersion", "PutObjectAcl",
    "AbortMultipartUpload", "ListMultipartUploadParts", "RestoreObject", "BypassGovernanceRetention",
)  # fmt: skip


@pytest.mark.parametrize("action", OBJECT_ACTIONS)
def test_a_pod_does_not_touch_another_teams_checkpoints(stack, action):
    for team, other in stack.pairs():
        checkpoint = f"{stack.bucket('checkpoints')}/{team_prefix(other)}run-1/model.pt"
        refuses(stack.rights.may(stack.pod(team), f"s3:{action}", checkpoint))


@pytest.mark.parametrize("prefix", [None, "", "teams/", "teams", "{other}", "{other}run-1/", "teams/*"])
def test_a_pod_does_not_list_beyond_its_own_prefix(stack, prefix):
    for team, other in stack.pairs():
        said = {} if prefix is None else {"s3:prefix": prefix.format(other=team_prefix(other))}
        for action in ("s3:ListBucket", "s3:ListBucketVersions", "s3:ListBucketMultipartUploads"):
            refuses(stack.rights.may(stack.pod(team), action, stack.bucket("checkpoints"), said))


@pytest.mark.parametrize("sibling", ["{own}-2", "{own}x", "../{other}", "TEAMS/{own}"])
def test_a_longer_name_is_another_team(stack, sibling):
    for team, other in stack.pairs():
        path = "teams/" + sibling.format(own=team, other=other) + "/model.pt"
        refuses(stack.rights.may(stack.pod(team), "s3:GetObject", f"{stack.bucket('checkpoints')}/{path}"))


@pytest.mark.parametrize(
    "action",
    ["PutKeyPolicy", "CreateGrant", "RevokeGrant", "ScheduleKeyDeletion", "DisableKey", "GetKeyPolicy", "UpdateAlias",
     "PutResourcePolicy", "ReplicateKey", "ImportKeyMaterial"],
)  # fmt: skip
def test_a_pod_does_not_change_a_key(stack, action):
    for team in stack.namespaces:
        for key in stack.keys:
            refuses(stack.rights.may(stack.pod(team), f"kms:{action}", key))


def test_a_pod_does_not_use_a_key_by_itself_or_through_another_service(stack):
    for team in stack.namespaces:
        for key in stack.keys:
            refuses(stack.rights.may(stack.pod(team), "kms:Decrypt", key))
            for through in ("secretsmanager", "ec2", "rds", "ssm", "lambda"):
                refuses(stack.rights.may(stack.pod(team), "kms:Decrypt", key, stack.through(through)))


def test_a_pod_takes_no_other_role(stack):
    for team in stack.namespaces:
        for role in stack.roles:
            for action in ("sts:AssumeRole", "sts:TagSession", "iam:PassRole", "iam:UpdateAssumeRolePolicy",
                           "iam:PutRolePolicy", "iam:AttachRolePolicy"):  # fmt: skip
                refuses(stack.rights.may(stack.pod(team), action, role))


def test_a_pod_reads_no_secret(stack):
    for team in stack.namespaces:
        secrets = [f"arn:aws:secretsmanager:{stack.region}:123456789012:secret:any-abc"]
        for database in stack.resources.of(DATABASE):
            secrets += [secret["secretArn"] for secret in database.outputs.get("masterUserSecrets", ())]
        assert len(secrets) > 1
        for secret in secrets:
            refuses(stack.rights.may(stack.pod(team), "secretsmanager:GetSecretValue", secret))
            refuses(stack.rights.may(stack.pod(team), "secretsmanager:PutResourcePolicy", secret))


@pytest.mark.parametrize("end", ["artifacts", "logs"])
def test_a_pod_has_nothing_in_the_buckets_that_are_not_its(stack, end):
    for team in stack.namespaces:
        for action in ("s3:GetObject", "s3:PutObject", "s3:DeleteObject"):
            refuses(stack.rights.may(stack.pod(team), action, f"{stack.bucket(end)}/any"))
        refuses(stack.rights.may(stack.pod(team), "s3:ListBucket", stack.bucket(end)))


@pytest.mark.parametrize(
    "action",
    ["PutBucketPolicy", "DeleteBucket", "PutBucketVersioning", "PutLifecycleConfiguration", "PutBucketAcl",
     "PutReplicationConfiguration", "PutBucketLogging"],
)  # fmt: skip
def test_a_pod_does_not_change_a_bucket(stack, action):
    for team in stack.namespaces:
        for end in ("checkpoints", "data", "artifacts", "logs"):
            refuses(stack.rights.may(stack.pod(team), f"s3:{action}", stack.bucket(end)))


@pytest.mark.parametrize(
    "action",
    ["iam:CreateRole", "iam:CreateAccessKey", "ec2:RunInstances", "ssm:SendCommand", "lambda:CreateFunction",
     "eks:CreateAccessEntry", "eks:AssociateAccessPolicy", "eks:CreatePodIdentityAssociation", "sts:GetFederationToken",
     "sagemaker:CreateTrainingJob", "ecr:PutImage", "logs:DeleteLogGroup", "cloudtrail:StopLogging",
     "rds:ModifyDBInstance", "fsx:DeleteFileSystem", "autoscaling:SetDesiredCapacity"],
)  # fmt: skip
def test_a_pod_has_no_other_right_in_the_account(stack, action):
    for team in stack.namespaces:
        refuses(stack.rights.may(stack.pod(team), action))


def test_a_pod_writes_to_no_bucket_of_another_account(stack):
    for team in stack.namespaces:
        for action in ("s3:PutObject", "s3:GetObject"):
            refuses(stack.rights.may(stack.pod(team), action, "arn:aws:s3:::somebody-elses/any"))


def test_a_pod_over_plain_http_gets_nothing(stack):
    for team in stack.namespaces:
        own = f"{stack.bucket('checkpoints')}/{team_prefix(team)}model.pt"
        refuses(stack.rights.may(stack.pod(team), "s3:GetObject", own, {"aws:SecureTransport": False}))


def test_credentials_of_a_pod_are_of_no_use_outside_of_the_network(stack):
    for team in stack.namespaces:
        stolen, _ = stack.rights.aws.pod(stack.pod(team))
        own = f"{stack.bucket('checkpoints')}/{team_prefix(team)}model.pt"
        for said in ({}, {"aws:SourceVpc": "vpc-of-the-attacker", "aws:SourceVpce": "vpce-of-the-attacker"}):
            for action, resource in (
                ("s3:GetObject", own),
                ("s3:PutObject", own),
                ("s3:ListBucket", stack.bucket("data")),
            ):
                refuses(stack.rights.may(stolen, action, resource, said))


def test_the_pods_of_a_namespace_that_are_not_training_pods_have_no_role(stack):
    for namespace in stack.namespaces.values():
        for account in ("default", "somebody"):
            refuses(stack.rights.may(Pod(namespace, account), "s3:GetObject", f"{stack.bucket('data')}/any"))


# Somebody outside


def test_nobody_of_another_account_and_nobody_unsigned_gets_anything(stack):
    for who in (ANONYMOUS, FOREIGN):
        for end in ("checkpoints", "data", "artifacts", "logs"):
            for action in ("s3:GetObject", "s3:PutObject"):
                refuses(stack.rights.may(who, action, f"{stack.bucket(end)}/any"))
        for key in stack.keys:
            refuses(stack.rights.may(who, "kms:Decrypt", key))
        for role in stack.roles:
            refuses(stack.rights.may(who, "sts:AssumeRole", role))


def pod_request(stack, **other):
    """What EKS says when it takes the first team's role for a pod, and what somebody else's cluster would say."""
    team, namespace = next(iter(stack.namespaces.items()))
    role = next(arn_of(role) for role in stack.resources.of(ROLE) if role.name.endswith(f"team-{team}-role"))
    cluster = next(found.inputs["name"] for found in stack.resources.of("aws:eks/cluster:Cluster"))
    arn = f"arn:aws:eks:{stack.region}:{role.split(':')[4]}:cluster/{cluster}"
    said = {
        "aws:RequestTag/eks-cluster-arn": arn,
        "aws:RequestTag/eks-cluster-name": cluster,
        "aws:RequestTag/kubernetes-namespace": namespace,
        "aws:RequestTag/kubernetes-service-account": TRAINER_SERVICE_ACCOUNT,
        "aws:SourceAccount": role.split(":")[4],
        "aws:SourceArn": arn,
    }
    return stack.rights.may(service(PODS_SERVICE), "sts:AssumeRole", role, {**said, **other})


@pytest.mark.parametrize(
    "other",
    [
        {"aws:RequestTag/kubernetes-namespace": "team-somebody"},
        {"aws:RequestTag/kubernetes-service-account": "default"},
        {"aws:RequestTag/eks-cluster-arn": "arn:aws:eks:us-east-1:123456789012:cluster/another"},
        {"aws:SourceAccount": "444455556666"},
    ],
    ids=["namespace", "service account", "cluster", "account"],
)
def test_a_pod_of_another_cluster_namespace_or_account_gets_no_teams_role(stack, other):
    allows(pod_request(stack))
    refuses(pod_request(stack, **other))


@pytest.mark.parametrize("of", ["eks", "vpc-flow-logs", "monitoring.rds"])
def test_a_service_takes_no_role_for_another_account(stack, of):
    for role in stack.roles:
        said = {"aws:SourceAccount": "444455556666", "aws:SourceArn": "arn:aws:eks:us-east-1:444455556666:cluster/x"}
        refuses(stack.rights.may(service(f"{of}.amazonaws.com"), "sts:AssumeRole", role, said))


# A member of a team, and a training pod, in the cluster


def members_and_pods(stack):
    for team, namespace in stack.namespaces.items():
        yield Person((team_group(team),), f"a member of {team}"), namespace
        yield Pod(namespace, TRAINER_SERVICE_ACCOUNT), namespace
        yield Pod(namespace), namespace


WRITE = ("create", "update", "patch", "delete", "deletecollection")
OF_THE_PLATFORM = (
    "persistentvolumes", "namespaces", "nodes", "clusterqueues.kueue.x-k8s.io", "resourceflavors.kueue.x-k8s.io",
    "cohorts.kueue.x-k8s.io", "workloadpriorityclasses.kueue.x-k8s.io", "priorityclasses.scheduling.k8s.io",
    "storageclasses.storage.k8s.io", "clusterroles.rbac.authorization.k8s.io", "runtimeclasses.node.k8s.io",
    "clusterrolebindings.rbac.authorization.k8s.io", "validatingadmissionpolicies.admissionregistration.k8s.io",
    "validatingadmissionpolicybindings.admissionregistration.k8s.io", "customresourcedefinitions.apiextensions.k8s.io",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io", "certificatesigningrequests.certificates.k8s.io",
    "validatingwebhookconfigurations.admissionregistration.k8s.io", "apiservices.apiregistration.k8s.io",
    "clustertrainingruntimes.trainer.kubeflow.org", "csidrivers.storage.k8s.io", "nodes/proxy", "nodes/status",
)  # fmt: skip
WALLS_OF_A_NAMESPACE = (
    "persistentvolumeclaims", "serviceaccounts", "serviceaccounts/token", "resourcequotas", "limitranges", "secrets",
    "services", "networkpolicies.networking.k8s.io", "roles.rbac.authorization.k8s.io",
    "rolebindings.rbac.authorization.k8s.io", "localqueues.kueue.x-k8s.io", "workloads.kueue.x-k8s.io",
    "workloads.kueue.x-k8s.io/status", "trainingruntimes.trainer.kubeflow.org", "poddisruptionbudgets.policy",
    "deployments.apps", "daemonsets.apps", "statefulsets.apps", "cronjobs.batch", "pods/ephemeralcontainers",
    "pods/binding", "pods/status", "jobs.batch/status", "ingresses.networking.k8s.io", "endpoints",
    "endpointslices.discovery.k8s.io", "controllerrevisions.apps", "rayjobs.ray.io",
)  # fmt: skip


@pytest.mark.parametrize("thing", OF_THE_PLATFORM)
def test_teams_do_not_write_what_is_the_platforms(stack, thing):
    for who, _ in members_and_pods(stack):
        for verb in WRITE:
            refuses(stack.rights.may(who, verb, thing, {"name": "any"}))


@pytest.mark.parametrize("thing", WALLS_OF_A_NAMESPACE)
def test_teams_do_not_write_the_walls_of_their_own_namespace(stack, thing):
    for who, namespace in members_and_pods(stack):
        for verb in WRITE:
            refuses(stack.rights.may(who, verb, thing, {"namespace": namespace, "name": "any"}))


def test_teams_label_no_namespace(stack):
    for who, namespace in members_and_pods(stack):
        for verb in ("update", "patch"):
            refuses(stack.rights.may(who, verb, "namespaces", {"namespace": namespace, "name": namespace}))
            refuses(stack.rights.may(who, verb, "namespaces/finalize", {"namespace": namespace, "name": namespace}))


def test_teams_read_no_secret_anywhere(stack):
    for who, _ in members_and_pods(stack):
        for namespace in ("", "kube-system", "mlflow", *stack.namespaces.values()):
            for verb in ("get", "list", "watch"):
                refuses(stack.rights.may(who, verb, "secrets", {"namespace": namespace, "name": "any"}))


@pytest.mark.parametrize(
    ("verb", "thing"),
    [
        ("escalate", "roles.rbac.authorization.k8s.io"),
        ("escalate", "clusterroles.rbac.authorization.k8s.io"),
        ("bind", "roles.rbac.authorization.k8s.io"),
        ("bind", "clusterroles.rbac.authorization.k8s.io"),
        ("impersonate", "users"),
        ("impersonate", "groups"),
        ("impersonate", "serviceaccounts"),
        ("approve", "signers.certificates.k8s.io"),
        ("sign", "signers.certificates.k8s.io"),
        ("create", "serviceaccounts/token"),
        ("get", "nodes/proxy"),
        ("use", "securitycontextconstraints.security.openshift.io"),
    ],
)
def test_teams_have_no_right_that_leads_to_more(stack, verb, thing):
    for who, namespace in members_and_pods(stack):
        for place in ("", namespace, "kube-system"):
            refuses(stack.rights.may(who, verb, thing, {"namespace": place, "name": "any"}))


OF_A_NAMESPACE = (
    ("get", "pods"), ("create", "pods"), ("create", "pods/exec"), ("get", "pods/log"), ("get", "configmaps"),
    ("create", "pods/portforward"), ("create", "jobs.batch"), ("delete", "jobs.batch"), ("patch", "configmaps"),
    ("list", "trainjobs.trainer.kubeflow.org"), ("create", "jobsets.jobset.x-k8s.io"),
    ("get", "persistentvolumeclaims"),
)  # fmt: skip


def test_teams_have_no_right_in_another_namespace(stack):
    others = ("kube-system", "mlflow", "kueue-system", "default", *stack.namespaces.values())
    for who, own in members_and_pods(stack):
        for place in (*(other for other in others if other != own), ""):
            for verb, thing in OF_A_NAMESPACE:
                refuses(stack.rights.may(who, verb, thing, {"namespace": place, "name": "any"}))


def test_training_pods_have_nothing_at_all_in_the_cluster(stack):
    for namespace in stack.namespaces.values():
        for account in ("default", TRAINER_SERVICE_ACCOUNT):
            for verb, thing in (
                ("get", "pods"),
                ("create", "jobs.batch"),
                ("create", "pods/exec"),
                ("get", "configmaps"),
            ):
                refuses(stack.rights.may(Pod(namespace, account), verb, thing, {"namespace": namespace}))


def test_who_is_not_signed_in_sees_the_version_only(stack):
    nobody = Person(("system:unauthenticated",), "system:anonymous")
    allows(stack.rights.may(nobody, "get", "/version"))
    for thing in ("pods", "secrets", "namespaces"):
        refuses(stack.rights.may(nobody, "list", thing))


# What a team is there for


LEGITIMATE = {
    "submit a job": ("create", "jobs.batch"),
    "submit a TrainJob": ("create", "trainjobs.trainer.kubeflow.org"),
    "submit a JobSet": ("create", "jobsets.jobset.x-k8s.io"),
    "resume": ("patch", "jobs.batch"),
    "resume a TrainJob": ("update", "trainjobs.trainer.kubeflow.org"),
    "stop": ("delete", "jobs.batch"),
    "read logs": ("get", "pods/log"),
    "exec": ("create", "pods/exec"),
    "forward a port": ("create", "pods/portforward"),
    "a pod for looking around": ("create", "pods"),
    "its code": ("create", "configmaps"),
    "why it waits": ("get", "workloads.kueue.x-k8s.io"),
    "its queues": ("list", "localqueues.kueue.x-k8s.io"),
    "its claims": ("get", "persistentvolumeclaims"),
    "its quota": ("get", "resourcequotas"),
    "what happened": ("list", "events"),
}


@pytest.mark.parametrize("use", LEGITIMATE)
def test_a_member_does_in_the_own_namespace_what_a_team_is_there_for(stack, use):
    verb, thing = LEGITIMATE[use]
    for team, namespace in stack.namespaces.items():
        allows(stack.rights.may(Person((team_group(team),)), verb, thing, {"namespace": namespace}))


def test_a_member_reads_what_a_job_can_refer_to(stack):
    for team in stack.namespaces:
        for thing in ("clusterqueues.kueue.x-k8s.io", "clustertrainingruntimes.trainer.kubeflow.org"):
            allows(stack.rights.may(Person((team_group(team),)), "list", thing))


def test_a_pod_checkpoints_resumes_and_reads_data(stack):
    for team in stack.namespaces:
        own = f"{stack.bucket('checkpoints')}/{team_prefix(team)}run-1/model.pt"
        for action in ("s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"):
            allows(stack.rights.may(stack.pod(team), action, own))
        said = {"s3:prefix": team_prefix(team)}
        allows(stack.rights.may(stack.pod(team), "s3:ListBucket", stack.bucket("checkpoints"), said))
        allows(stack.rights.may(stack.pod(team), "s3:GetObject", f"{stack.bucket('data')}/{data_prefix()}shard-0"))
        for end, said in stack.uses_of_keys():
            uses = ("kms:Decrypt",) if end == "data" else ("kms:Decrypt", "kms:GenerateDataKey")
            for use in uses:
                assert any(stack.rights.may(stack.pod(team), use, key, said).allowed for key in stack.keys), (use, end)


def test_the_tracking_server_reads_and_writes_its_artifacts_and_its_password(stack):
    mlflow = Pod("mlflow", "mlflow")
    allows(stack.rights.may(mlflow, "s3:PutObject", f"{stack.bucket('artifacts')}/mlflow/1/model.pt"))
    refuses(stack.rights.may(mlflow, "s3:GetObject", f"{stack.bucket('checkpoints')}/teams/any/model.pt"))
