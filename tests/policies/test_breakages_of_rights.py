"""Breakages of the walls of rights, put one at a time into the recorded demo stack: each is told by a policy.

What looks like one and is none is let by: that is in the truth tables (`cases_rights`), and the last test here.
"""

import pytest

from tests.policies.mutants import edit, put
from tests.policies.rights_changes import (
    ANN,
    BINDING,
    CLUSTER_BINDING,
    GROUP,
    IAM_ROLE,
    POD_IDENTITY,
    TEAM,
    access,
    account,
    added,
    both,
    bound,
    everyones_rule,
    replaced,
    rule,
    statement,
    team_rule,
    trust,
)
from trainyard.policies.pack import POLICIES
from trainyard.review.policy_check.check import check_policies

OF_RIGHTS = {
    "wildcard-admin",
    "privilege-on-any-resource",
    "trust-without-conditions",
    "team-role-beyond-its-prefix",
    "team-rights-beyond-its-list",
    "binding-across-teams",
    "binding-to-everybody",
    "team-administers-cluster",
    "rights-that-lead-to-more",
    "other-account-in-charge",
}
RULES = tuple(policy for policy in POLICIES if policy.name in OF_RIGHTS)
ADMISSION = "admissionregistration.k8s.io"
MLFLOW = account("mlflow", "mlflow")
ANY_SECRET = '{"Statement": {"Effect": "Allow", "Action": "secretsmanager:Get*", "Resource": "*"}}'
CHECKPOINTS = "arn:aws:s3:::acme-demo-checkpoints-e5013fb"


def tags(found):
    return found["Condition"]["StringEquals"]


def github(subject):
    provider = "arn:aws:iam::123456789012:oidc-provider/token.actions.githubusercontent.com"

    def into(found):
        found.update(
            Principal={"Federated": provider},
            Action="sts:AssumeRoleWithWebIdentity",
            Condition={
                "StringEquals": {"token.actions.githubusercontent.com:aud": "sts.amazonaws.com"},
                "StringLike": {"token.actions.githubusercontent.com:sub": subject},
            },
        )

    return into


BREAKAGES = {
    # a team beyond its list
    "members read secrets": team_rule(rule("get", "secrets")),
    "members edit their quota": team_rule(rule("update", "resourcequotas")),
    "members edit their network policies": team_rule(rule("create delete", "networkpolicies", "networking.k8s.io")),
    "members make service accounts": team_rule(rule("create", "serviceaccounts")),
    "members make claims": team_rule(rule("create", "persistentvolumeclaims")),
    "members edit workloads of the queue": team_rule(rule("patch", "workloads", "kueue.x-k8s.io")),
    "members may do all to pods": team_rule(rule("*", "pods")),
    "members have every resource of a group": team_rule(rule("get", "*", "apps")),
    "members are `edit`": edit(
        BINDING,
        "teams-vision-members",
        put("roleRef", value={"apiGroup": GROUP, "kind": "ClusterRole", "name": "edit"}),
    ),
    "members are `admin` besides": bound(TEAM, namespace="team-vision", to="admin"),
    "every team patches queues": everyones_rule(rule("patch", "clusterqueues", "kueue.x-k8s.io")),
    "every team lists pods everywhere": everyones_rule(rule("list", "pods")),
    "every team scrapes the API server": everyones_rule({"nonResourceURLs": ["/metrics"], "verbs": ["get"]}),
    "training pods list secrets": bound(
        account("trainer", "team-vision"), rule("list", "secrets"), namespace="team-vision"
    ),
    "a contractor in a team's namespace": bound({"kind": "User", "name": "bob"}, namespace="team-vision", to="edit"),
    "a role widened by a label": both(
        added(
            "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole",
            "extra",
            {
                "metadata": {"name": "x", "labels": {f"{GROUP}/aggregate-to-view": "true"}},
                "rules": [rule("get", "secrets")],
            },
        ),
        bound(TEAM, namespace="team-vision", to="view"),
    ),
    # across teams, everybody
    "a team in another's namespace": bound(TEAM, rule("get", "pods"), namespace="team-language"),
    "a team in the tracking server's namespace": bound(TEAM, namespace="mlflow", to="view"),
    "a training pod in another's namespace": bound(
        account("trainer", "team-vision"), namespace="team-language", to="team-member", kind="Role"
    ),
    "everybody signed in": bound({"kind": "Group", "name": "system:authenticated"}, rule("get", "pods")),
    "nobody signed in": bound({"kind": "Group", "name": "system:unauthenticated"}, rule("get", "configmaps")),
    "every pod": bound({"kind": "Group", "name": "system:serviceaccounts"}, to="view"),
    "every pod of a team": bound({"kind": "Group", "name": "system:serviceaccounts:team-vision"}, to="view"),
    "every pod without an account": bound(account("default", "mlflow"), to="view", namespace="mlflow"),
    "a subject more in the teams' binding": edit(
        CLUSTER_BINDING,
        "teams-readers",
        lambda inputs: inputs["subjects"].append({"kind": "Group", "name": "system:authenticated"}),
    ),
    # administrators
    "a team's principal administers the cluster": access("AmazonEKSClusterAdminPolicy"),
    "a team's principal administers its namespace": access(
        "AmazonEKSAdminPolicy", type="namespace", namespaces=["team-vision"]
    ),
    "a team's principal sees every namespace": access("AmazonEKSViewPolicy"),
    "a team is cluster-admin": bound(TEAM, to="cluster-admin"),
    "a principal of system:masters": added(
        "aws:eks/accessEntry:AccessEntry", "ann", {"principalArn": ANN, "kubernetesGroups": ["system:masters"]}
    ),
    # rights that lead to more
    "the tracking server escalates": bound(MLFLOW, rule("escalate", "clusterroles", GROUP)),
    "the tracking server binds": bound(MLFLOW, rule("create bind", "rolebindings roles", GROUP), namespace="mlflow"),
    "the tracking server impersonates": bound(MLFLOW, rule("impersonate", "groups", resourceNames=["system:masters"])),
    "the tracking server makes tokens": bound(MLFLOW, rule("create", "serviceaccounts/token")),
    "the tracking server reaches kubelets": bound(MLFLOW, rule("get", "nodes/proxy")),
    "the tracking server labels namespaces": bound(MLFLOW, rule("patch", "namespaces")),
    "the tracking server approves certificates": bound(
        MLFLOW, rule("update", "certificatesigningrequests/approval", "certificates.k8s.io")
    ),
    "the tracking server execs everywhere": bound(MLFLOW, rule("create", "pods/exec")),
    "the tracking server starts pods everywhere": bound(MLFLOW, rule("create", "deployments", "apps")),
    "the tracking server lifts guards": bound(MLFLOW, rule("delete update", "validatingadmissionpolicies", ADMISSION)),
    "the tracking server makes volumes": bound(MLFLOW, rule("create", "persistentvolumes")),
    "the tracking server is admin everywhere": bound(MLFLOW, to="admin"),
    "the tracking server is a kubelet": bound(MLFLOW, to="system:node"),
    "somebody starts pods beside the tracking server": bound(
        {"kind": "Group", "name": "analysts"}, rule("create", "pods"), namespace="mlflow"
    ),
    # a team's role in the cloud
    "all checkpoints are read": replaced("team-vision-role-policy", "/teams/vision/*", "/teams/*"),
    "all checkpoints are written": statement(
        "team-vision-role-policy", {"Action": "s3:PutObject", "Resource": f"{CHECKPOINTS}/*"}
    ),
    "all checkpoints are listed": statement(
        "team-vision-role-policy", {"Action": "s3:ListBucket", "Resource": CHECKPOINTS}
    ),
    "every bucket is read": statement("team-vision-role-policy", {"Action": "s3:GetObject"}),
    "a key without a service": statement("team-vision-role-policy", {"Action": "kms:Decrypt"}),
    "a secret is read": statement("team-vision-role-policy", {"Action": "secretsmanager:GetSecretValue"}),
    "another role is taken": statement(
        "team-vision-role-policy",
        {"Action": "sts:AssumeRole", "Resource": "arn:aws:iam::123456789012:role/mlflow-role-8583182"},
    ),
    "the tracking server's role for training pods": added(
        POD_IDENTITY,
        "extra",
        {
            "clusterName": "acme-demo",
            "namespace": "team-vision",
            "serviceAccount": "default",
            "roleArn": "arn:aws:iam::123456789012:role/mlflow-role-8583182",
        },
    ),
    "another team's role for training pods": edit(
        POD_IDENTITY,
        "team-vision-role-trainer",
        put("roleArn", value="arn:aws:iam::123456789012:role/team-language-role-214cd89"),
    ),
    "all of S3 by a managed policy": added(
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
        "extra",
        {"role": "team-vision-role-f2ba100", "policyArn": "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"},
    ),
    # privileges on any resource
    "roles are passed": statement("mlflow-role-policy", {"Action": ["iam:PassRole", "ec2:RunInstances"]}),
    "roles are passed by a pattern": statement(
        "mlflow-role-policy", {"Action": "iam:Pass*", "Resource": "arn:aws:iam::*:role/*"}
    ),
    "roles are taken": statement("mlflow-role-policy", {"Action": "sts:AssumeRole"}),
    "grants on keys": statement(
        "mlflow-role-policy", {"Action": "kms:CreateGrant", "Resource": "arn:aws:kms:*:*:key/*"}
    ),
    "key policies": statement("autoscaler-role-policy", {"Action": "kms:Put*"}),
    "commands on machines": statement("autoscaler-role-policy", {"Action": "ssm:SendCommand"}),
    "functions with roles": statement("autoscaler-role-policy", {"Action": "lambda:CreateFunction"}),
    "access entries": statement("autoscaler-role-policy", {"Action": "eks:CreateAccessEntry"}),
    "another's trust policy": statement(
        "autoscaler-role-policy",
        {"Action": "iam:UpdateAssumeRolePolicy", "Condition": {"Bool": {"aws:SecureTransport": "true"}}},
    ),
    "a role made for it": added(
        IAM_ROLE,
        "extra",
        {
            "assumeRolePolicy": '{"Statement": []}',
            "inlinePolicies": [{"policy": ANY_SECRET}],
        },
    ),
    # trust
    "pods of any namespace": trust(
        "team-vision-role", lambda found: tags(found).pop("aws:RequestTag/kubernetes-namespace")
    ),
    "pods of any service account of the namespace": trust(
        "team-vision-role", lambda found: tags(found).pop("aws:RequestTag/kubernetes-service-account")
    ),
    "pods of any cluster": trust(
        "mlflow-role",
        lambda found: found["Condition"].update(
            {
                "ArnEquals": {"aws:SourceArn": "arn:aws:eks:us-east-1:123456789012:cluster/*"},
                "StringEquals": {**{key: value for key, value in tags(found).items() if "cluster" not in key}},
            }
        ),
    ),
    "pods, if they say so": trust(
        "mlflow-role",
        lambda found: found.update(Condition={"StringEqualsIfExists": tags(found), "ArnLikeIfExists": {}}),
    ),
    "the control plane of any account": trust("cluster-control", lambda found: found.pop("Condition")),
    "database monitoring of any account": trust("acme-demo-mlflow-monitoring", lambda found: found.pop("Condition")),
    "everybody of the account": trust(
        "mlflow-role",
        lambda found: found.update(
            Principal={"AWS": "arn:aws:iam::123456789012:root"}, Condition={}, Action="sts:AssumeRole"
        ),
    ),
    "another account": trust(
        "mlflow-role",
        lambda found: found.update(Principal={"AWS": "444455556666"}, Condition={}, Action="sts:AssumeRole"),
    ),
    "any repository of a forge": trust("mlflow-role", github("repo:*")),
    "any branch of anybody": trust("mlflow-role", github("*")),
}


@pytest.fixture(scope="module")
def runs(rehearsed):
    demo = rehearsed("demo")
    return demo, demo.known.resources


def told(runs, change=lambda resources: list(resources)):
    demo, known = runs
    report = check_policies("demo", [], change(known), demo.settings, policies=RULES)
    return {violation.policy for violation in report.violations}


def test_the_sound_stack_is_told_nothing(runs):
    assert told(runs) == set()


@pytest.mark.parametrize("what", BREAKAGES)
def test_a_breakage_is_told(what, runs):
    assert told(runs, BREAKAGES[what])


SOUND = {
    "a controller of kube-system with its rights": bound(
        account("external-dns", "kube-system"), rule("get", "secrets")
    ),
    "an agent that looks at pods and nodes": bound(
        account("agent", "monitoring"),
        rule("get list watch", "pods nodes services endpoints"),
        rule("get", "nodes/metrics"),
    ),
    "a controller in its own namespace": bound(
        account("operator", "tools"),
        rule("create update", "deployments", "apps"),
        rule("get", "secrets"),
        namespace="tools",
    ),
    "a controller that elects its leader": bound(
        account("operator", "tools"), rule("create update", "leases", "coordination.k8s.io")
    ),
    "people who look around in the platform's namespaces": bound(
        {"kind": "Group", "name": "support"}, rule("get list", "pods pods/log"), namespace="mlflow"
    ),
    "one secret by name": bound(MLFLOW, rule("get", "secrets", resourceNames=["ca"])),
    "a team sees its own namespace by EKS": access("AmazonEKSViewPolicy", type="namespace", namespaces=["team-vision"]),
    "an administrator": access("AmazonEKSClusterAdminPolicy", groups=["platform:admins"]),
    "a team's rights given twice": team_rule(rule("get", "pods/log")),
    "discovery for everybody": bound({"kind": "Group", "name": "system:authenticated"}, to="system:discovery"),
    "one role is passed to one service": statement(
        "mlflow-role-policy",
        {
            "Action": "iam:PassRole",
            "Resource": "arn:aws:iam::123456789012:role/x",
            "Condition": {"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}},
        },
    ),
    "one secret of the cloud": statement(
        "mlflow-role-policy",
        {
            "Action": "secretsmanager:GetSecretValue",
            "Resource": "arn:aws:secretsmanager:us-east-1:123456789012:secret:x-*",
        },
    ),
    "what is tagged as the cluster's": statement(
        "autoscaler-role-policy",
        {"Action": "ec2:RunInstances", "Condition": {"StringEquals": {"aws:ResourceTag/cluster": "acme-demo"}}},
    ),
    "a repository's environment": trust("mlflow-role", github("repo:acme/infra:environment:preview")),
    "a role for one role of the account": trust(
        "mlflow-role", lambda found: found.update(Principal={"AWS": ANN}, Condition={}, Action="sts:AssumeRole")
    ),
    "a folder of one's own prefix": statement(
        "team-vision-role-policy",
        {"Action": "s3:GetObject", "Resource": f"{CHECKPOINTS}/teams/vision/archive/*"},
    ),
}


@pytest.mark.parametrize("what", SOUND)
def test_what_is_no_breakage_is_let_by(what, runs):
    assert told(runs, SOUND[what]) == set()
