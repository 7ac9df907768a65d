"""Which recorded policies are asked about a request, in a small account."""

import json

import pytest

from tests.policies.truth import UNKNOWN, kubernetes, made
from trainyard.recorded.read import UnknownInput
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.works.rights.aws.account import Account
from trainyard.rehearsal.works.rights.aws.managed import table
from trainyard.rehearsal.works.rights.principals import Pod

OWN, OTHER = "111122223333", "444455556666"
ROLE_ARN = f"arn:aws:iam::{OWN}:role/trainer-1"
KEY_ARN = f"arn:aws:kms:us-east-1:{OWN}:key/k"
S3_FULL = "arn:aws:iam::aws:policy/AmazonS3FullAccess"
POD = Pod("team-a", "trainer")


def policy(*statements, version="2012-10-17"):
    said = [{"Effect": "Allow", "Resource": "*", **one} for one in statements]
    return json.dumps({"Version": version, "Statement": said})


def trust(**condition):
    service = {"Principal": {"Service": "pods.eks.amazonaws.com"}, "Action": ["sts:AssumeRole", "sts:TagSession"]}
    return policy({**service, **({"Condition": condition} if condition else {})})


def role(name="trainer", **inputs):
    given = {"assumeRolePolicy": trust(), "name": f"{name}-1", **inputs}
    return made("aws:iam/role:Role", name, given, id=f"{name}-1", outputs={"arn": f"arn:aws:iam::{OWN}:role/{name}-1"})


def inline(*statements):
    return made("aws:iam/rolePolicy:RolePolicy", "p", {"role": "trainer-1", "policy": policy(*statements)})


def attached(arn):
    return made("aws:iam/rolePolicyAttachment:RolePolicyAttachment", "a", {"role": "trainer-1", "policyArn": arn})


def attached_to_roles(arn):
    return made("aws:iam/policyAttachment:PolicyAttachment", "x", {"roles": ["trainer-1"], "policyArn": arn})


def bucket(**inputs):
    return made("aws:s3/bucket:Bucket", "b", {"bucket": "b", **inputs}, id="b", outputs={"arn": "arn:aws:s3:::b"})


def key(**inputs):
    return made("aws:kms/key:Key", "k", inputs, id="k", outputs={"arn": KEY_ARN})


def association(**inputs):
    given = {"clusterName": "demo", "namespace": "team-a", "serviceAccount": "trainer", "roleArn": ROLE_ARN}
    return made("aws:eks/podIdentityAssociation:PodIdentityAssociation", "s", {**given, **inputs})


def account(*resources):
    return Account(Resources(resources))


READ = {"Action": "s3:GetObject"}
READ_B = {"Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/*"}


def test_policies_of_a_role_wherever_they_stand():
    customer = made(
        "aws:iam/policy:Policy", "c", {"policy": policy(READ)}, outputs={"arn": f"arn:aws:iam::{OWN}:policy/c"}
    )
    for resources in (
        (role(inlinePolicies=[{"name": "i", "policy": policy(READ)}]),),
        (role(), inline(READ)),
        (role(), customer, attached(f"arn:aws:iam::{OWN}:policy/c")),
        (role(), attached("arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess")),
        (role(managedPolicyArns=["arn:aws:iam::aws:policy/AdministratorAccess"]),),
        (role(), attached_to_roles(S3_FULL)),
    ):  # fmt: skip
        assert account(*resources, bucket()).may("trainer", "s3:GetObject", "arn:aws:s3:::b/k").allowed, resources
    assert account(role(), bucket()).may("trainer", "s3:GetObject", "arn:aws:s3:::b/k").refused


def test_a_managed_policy_that_the_table_lacks_leaves_it_open():
    verdict = account(role(), attached("arn:aws:iam::aws:policy/AmazonBraketFullAccess"), bucket()).may(
        "trainer", "s3:GetObject", "arn:aws:s3:::b/k"
    )
    assert verdict.answer == "unknown"
    assert "AmazonBraketFullAccess" in verdict.words


def test_a_boundary_of_a_role():
    bound = role(permissionsBoundary="arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess")
    may = account(bound, inline({"Action": "s3:*"}), bucket()).may
    assert may("trainer", "s3:GetObject", "arn:aws:s3:::b/k").allowed
    assert may("trainer", "s3:PutObject", "arn:aws:s3:::b/k").refused


def test_a_pod_is_the_role_of_its_service_account_and_no_other():
    may = account(role(), inline(READ_B), association(), bucket()).may
    assert may(POD, "s3:GetObject", "arn:aws:s3:::b/k").allowed
    for other in (Pod("team-b", "trainer"), Pod("team-a"), Pod("team-a", "trainer", "another-cluster")):
        assert "has no role" in may(other, "s3:GetObject", "arn:aws:s3:::b/k").words


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"StringEquals": {"aws:RequestTag/kubernetes-namespace": "team-a"}}, "yes"),
        ({"StringEquals": {"aws:RequestTag/kubernetes-namespace": "team-b"}}, "no"),
        ({"StringEquals": {"aws:RequestTag/eks-cluster-name": "demo", "aws:SourceAccount": OWN}}, "yes"),
        ({"StringEquals": {"aws:SourceAccount": OTHER}}, "no"),
        ({"ArnEquals": {"aws:SourceArn": f"arn:aws:eks:us-east-1:{OWN}:cluster/demo"}}, "yes"),
        ({"ArnEquals": {"aws:SourceArn": f"arn:aws:eks:us-east-1:{OWN}:cluster/other"}}, "no"),
    ],
)
def test_a_pod_gets_its_role_only_as_the_trust_policy_says(condition, expected):
    resources = (role(assumeRolePolicy=trust(**condition)), inline(READ), association(), bucket(), key())
    assert account(*resources).may(POD, "s3:GetObject", "arn:aws:s3:::b/k").answer == expected


def test_session_tags_of_a_pod_are_variables_of_policies():
    own = {"Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/${aws:PrincipalTag/kubernetes-namespace}/*"}
    may = account(role(), inline(own), association(), bucket()).may
    assert may(POD, "s3:GetObject", "arn:aws:s3:::b/team-a/k").allowed
    assert may(POD, "s3:GetObject", "arn:aws:s3:::b/team-b/k").refused


def test_a_key_is_the_key_policys_and_a_grants():
    use = {"Action": "kms:Decrypt"}
    to_account = {"Action": "kms:*", "Principal": {"AWS": f"arn:aws:iam::{OWN}:root"}}
    only_admin = {"Action": "kms:*", "Principal": {"AWS": f"arn:aws:iam::{OWN}:role/admin"}}
    grant = made("aws:kms/grant:Grant", "g", {"keyId": "k", "granteePrincipal": ROLE_ARN, "operations": ["Decrypt"]})
    assert account(role(), inline(use), key(policy=policy(to_account))).may("trainer", "kms:Decrypt", KEY_ARN).allowed
    assert account(role(), inline(use), key(policy=policy(only_admin))).may("trainer", "kms:Decrypt", KEY_ARN).refused
    assert account(role(), inline(use), key()).may("trainer", "kms:Decrypt", KEY_ARN).allowed  # the default key policy
    granted = account(role(), key(policy=policy(only_admin)), grant)
    assert granted.may("trainer", "kms:Decrypt", KEY_ARN).words.startswith("statement 1 of the grant g on key k")
    assert granted.may("trainer", "kms:Encrypt", KEY_ARN).refused
    alias = made(
        "aws:kms/alias:Alias", "a", {"targetKeyId": "k"}, outputs={"arn": f"arn:aws:kms:us-east-1:{OWN}:alias/x"}
    )
    assert account(role(), inline(use), key(), alias).may("trainer", "kms:Decrypt", alias.outputs["arn"]).allowed


def test_policies_of_resources():
    deny = {"Effect": "Deny", "Principal": "*", "Action": "*"}
    secret_arn = f"arn:aws:secretsmanager:us-east-1:{OWN}:secret:s-abc"
    secret = made("aws:secretsmanager/secret:Secret", "s", {}, id=secret_arn, outputs={"arn": secret_arn})
    of_secret = made(
        "aws:secretsmanager/secretPolicy:SecretPolicy", "sp", {"secretArn": secret_arn, "policy": policy(deny)}
    )
    of_bucket = made("aws:s3/bucketPolicy:BucketPolicy", "bp", {"bucket": "b", "policy": policy(deny)})
    may = account(role(), inline({"Action": "*"}), bucket(), of_bucket, secret, of_secret).may
    assert may("trainer", "s3:GetObject", "arn:aws:s3:::b/k").urn == of_bucket.urn
    assert may("trainer", "secretsmanager:GetSecretValue", secret_arn).urn == of_secret.urn
    repository_arn = f"arn:aws:ecr:us-east-1:{OWN}:repository/r"
    repository = made("aws:ecr/repository:Repository", "r", {"name": "r"}, id="r", outputs={"arn": repository_arn})
    pull = {"Principal": {"AWS": OTHER}, "Action": "ecr:BatchGetImage"}
    of_repository = made("aws:ecr/repositoryPolicy:RepositoryPolicy", "rp", {"repository": "r", "policy": policy(pull)})
    may = account(role(), repository, of_repository).may
    assert may(f"arn:aws:iam::{OTHER}:role/x", "ecr:BatchGetImage", repository_arn).allowed
    assert may(f"arn:aws:iam::{OTHER}:role/x", "ecr:PutImage", repository_arn).refused


def test_a_file_system_without_a_policy_is_open_to_whoever_reaches_it():
    arn = f"arn:aws:elasticfilesystem:us-east-1:{OWN}:file-system/fs-1"
    files = made("aws:efs/fileSystem:FileSystem", "f", {}, id="fs-1", outputs={"arn": arn})
    of_files = made(
        "aws:efs/fileSystemPolicy:FileSystemPolicy",
        "fp",
        {
            "fileSystemId": "fs-1",
            "policy": policy({"Principal": {"AWS": ROLE_ARN}, "Action": "elasticfilesystem:ClientMount"}),
        },
    )
    assert account(role(), files).may("trainer", "elasticfilesystem:ClientWrite", arn).allowed
    assert account(role(), files, of_files).may("trainer", "elasticfilesystem:ClientWrite", arn).refused
    assert account(role(), files, of_files).may("trainer", "elasticfilesystem:ClientMount", arn).allowed


def test_a_pods_request_goes_through_the_endpoint_and_carries_its_network():
    ours = {"Principal": "*", "Action": "s3:*", "Resource": ["arn:aws:s3:::b", "arn:aws:s3:::b/*"]}
    endpoint = made(
        "aws:ec2/vpcEndpoint:VpcEndpoint",
        "s3",
        {"serviceName": "com.amazonaws.us-east-1.s3", "vpcId": "vpc-1", "policy": policy(ours)},
        id="vpce-1",
    )
    bound = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Condition": {"StringNotEquals": {"aws:SourceVpc": "vpc-1"}},
    }
    of_bucket = made("aws:s3/bucketPolicy:BucketPolicy", "bp", {"bucket": "b", "policy": policy(bound)})
    may = account(role(), inline({"Action": "s3:*"}), association(), bucket(), of_bucket, endpoint).may
    assert may(POD, "s3:GetObject", "arn:aws:s3:::b/k").allowed
    assert "policy of endpoint s3" in may(POD, "s3:PutObject", "arn:aws:s3:::somebody-elses/k").words
    assert may(ROLE_ARN, "s3:GetObject", "arn:aws:s3:::b/k").refused  # credentials that left the network


def test_roles_are_taken_as_they_trust():
    admin = role("admin", assumeRolePolicy=policy({"Principal": {"AWS": OWN}, "Action": "sts:AssumeRole"}))
    arn = f"arn:aws:iam::{OWN}:role/admin-1"
    take = {"Action": "sts:AssumeRole", "Resource": arn}
    assert account(role(), admin).may("trainer", "sts:AssumeRole", arn).refused
    assert account(role(), inline(take), admin).may("trainer", "sts:AssumeRole", arn).allowed
    assert account(role(), inline(take), admin).may(f"arn:aws:iam::{OTHER}:role/x", "sts:AssumeRole", arn).refused
    named = role("admin", assumeRolePolicy=policy({"Principal": {"AWS": ROLE_ARN}, "Action": "sts:AssumeRole"}))
    assert account(role(), named).may("trainer", "sts:AssumeRole", arn).allowed


def test_an_own_principal_that_nobody_recorded_is_not_known():
    may = account(role(), bucket()).may
    assert may(f"arn:aws:iam::{OWN}:role/admin", "s3:GetObject", "arn:aws:s3:::b/k").answer == "unknown"


def test_what_is_not_known_yet_is_said():
    with pytest.raises(UnknownInput):
        account(role(), inline(READ), bucket(policy=UNKNOWN)).may("trainer", "s3:GetObject", "arn:aws:s3:::b/k")


def test_the_table_of_managed_policies_is_that_of_aws():
    moto = pytest.importorskip("moto.iam.aws_managed_policies").aws_managed_policies_data
    theirs = json.loads(moto) if isinstance(moto, str) else moto
    for name, entry in table().items():
        assert entry["document"] == theirs[name.rsplit("/", 1)[-1]]["Document"], name


OIDC = f"arn:aws:iam::{OWN}:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/ABC"


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("system:serviceaccount:team-a:trainer", "yes"),
        ("system:serviceaccount:team-a:*", "yes"),
        ("system:serviceaccount:team-b:trainer", "no"),
    ],
)
def test_a_pod_gets_a_role_through_the_clusters_provider(subject, expected):
    issuer = OIDC.partition(":oidc-provider/")[2]
    by_provider = {
        "Principal": {"Federated": OIDC},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {"StringLike": {f"{issuer}:sub": subject}, "StringEquals": {f"{issuer}:aud": "sts.amazonaws.com"}},
    }
    annotated = kubernetes(
        "core/v1:ServiceAccount", "trainer", "team-a", annotations={"eks.amazonaws.com/role-arn": ROLE_ARN}
    )
    resources = (role(assumeRolePolicy=policy(by_provider)), inline(READ_B), annotated, bucket())
    assert account(*resources).may(POD, "s3:GetObject", "arn:aws:s3:::b/k").answer == expected


def test_an_account_is_in_the_organisation_that_it_binds_its_buckets_to():
    bound = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Condition": {"StringNotEquals": {"aws:PrincipalOrgID": "o-abcdefghij"}},
    }
    of_bucket = made("aws:s3/bucketPolicy:BucketPolicy", "bp", {"bucket": "b", "policy": policy(bound)})
    may = account(role(), inline(READ), bucket(), of_bucket).may
    assert may("trainer", "s3:GetObject", "arn:aws:s3:::b/k").allowed
    assert "denies" in may(f"arn:aws:iam::{OTHER}:role/x", "s3:GetObject", "arn:aws:s3:::b/k").words
