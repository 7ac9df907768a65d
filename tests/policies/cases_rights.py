"""Truth tables of who may do what: RBAC, access to the cluster, roles of pods, privileges, trust."""

import json

from tests.policies.truth import OK, UNDECIDED, UNKNOWN, VIOLATED, bucket, kubernetes, made, table, team, unknown

GROUP = "rbac.authorization.k8s.io"
OWN, OTHER = "111122223333", "444455556666"
ANN = f"arn:aws:iam::{OWN}:role/ann"
CLUSTER = f"arn:aws:eks:us-east-1:{OWN}:cluster/demo"


def group(name):
    return {"kind": "Group", "name": name}


def account(name, namespace):
    return {"kind": "ServiceAccount", "name": name, "namespace": namespace}


TEAM_A, TEAM_B = group("team:a"), group("team:b")


def rule(verbs, resources, api_group="", **more):
    return {"apiGroups": [api_group], "resources": resources.split(), "verbs": verbs.split(), **more}


def role(*rules, namespace="team-a"):
    return kubernetes(f"{GROUP}/v1:Role", "r", namespace, rules=list(rules))


def binding(*subjects, namespace="team-a", to="r", kind="Role"):
    type_ = f"{GROUP}/v1:RoleBinding" if namespace else f"{GROUP}/v1:ClusterRoleBinding"
    return kubernetes(type_, "b", namespace, roleRef={"kind": kind, "name": to}, subjects=list(subjects))


def wide(*rules, subject=TEAM_A, to="c"):
    """A cluster role of these rules, bound everywhere."""
    own = kubernetes(f"{GROUP}/v1:ClusterRole", "c", rules=list(rules))
    return [team("a"), team("b"), own, binding(subject, namespace="", to=to, kind="ClusterRole")]


def bound(*rules, subject=TEAM_A, namespace="team-a"):
    """A role of these rules, bound in a namespace."""
    return [team("a"), team("b"), role(*rules, namespace=namespace), binding(subject, namespace=namespace)]


def to_built_in(name, subject=TEAM_A, namespace="team-a"):
    return [team("a"), team("b"), binding(subject, namespace=namespace, to=name, kind="ClusterRole")]


def entry(*groups, arn=ANN):
    return made("aws:eks/accessEntry:AccessEntry", "ann", {"principalArn": arn, "kubernetesGroups": list(groups)})


def access(policy, **scope):
    arn = f"arn:aws:eks::aws:cluster-access-policy/{policy}"
    given = {"principalArn": ANN, "policyArn": arn, "accessScope": scope or {"type": "cluster"}}
    return made("aws:eks/accessPolicyAssociation:AccessPolicyAssociation", "ann", given)


def in_namespaces(policy, *namespaces):
    return access(policy, type="namespace", namespaces=list(namespaces))


def aws_auth(text):
    return kubernetes("core/v1:ConfigMap", "aws-auth", "kube-system", data={"mapRoles": text})


def identity(namespace="team-a", role_name="trainer-1"):
    given = {"namespace": namespace, "serviceAccount": "trainer", "roleArn": f"arn:aws:iam::{OWN}:role/{role_name}"}
    return made("aws:eks/podIdentityAssociation:PodIdentityAssociation", "identity", given)


def pods(*statements, associated=None, data="data-1"):
    """Team a's pods with these statements of S3."""
    said = [{"Effect": "Allow", "Action": "s3:GetObject", **one} for one in statements]
    return [
        team("a"),
        associated or identity(),
        made("aws:iam/role:Role", "trainer", {"name": "trainer-1"}),
        made("aws:iam/rolePolicy:RolePolicy", "p", {"role": "trainer-1", "policy": json.dumps({"Statement": said})}),
        bucket("env-data", bucket=data),
    ]


def on(key, of="arn:aws:s3:::checkpoints"):
    return {"Resource": f"{of}/{key}"}


def listing(*prefixes):
    condition = {"StringLike": {"s3:prefix": list(prefixes)}} if prefixes else {}
    return {"Action": "s3:ListBucket", "Resource": "arn:aws:s3:::checkpoints", "Condition": condition}


def irsa(arn):
    annotations = {"eks.amazonaws.com/role-arn": arn}
    return kubernetes("core/v1:ServiceAccount", "trainer", "team-a", annotations=annotations)


def policy(**statement):
    document = {"Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*", **statement}]}
    return made("aws:iam/rolePolicy:RolePolicy", "p", {"policy": json.dumps(document)})


def trust(principal, action="sts:AssumeRole", **condition):
    statement = {"Effect": "Allow", "Principal": principal, "Action": action}
    document = {"Statement": [statement | ({"Condition": condition} if condition else {})]}
    return made("aws:iam/role:Role", "r", {"assumeRolePolicy": json.dumps(document)})


def service(name, **condition):
    return trust({"Service": name}, **condition)


POD_TAGS = {
    "aws:SourceAccount": OWN,
    "aws:RequestTag/eks-cluster-arn": CLUSTER,
    "aws:RequestTag/kubernetes-namespace": "team-a",
    "aws:RequestTag/kubernetes-service-account": "trainer",
}


def pod(*without, **more):
    tags = {key: value for key, value in POD_TAGS.items() if not key.endswith(without or ("-",))}
    return service("pods.eks.amazonaws.com", StringEquals=tags, **more)


OIDC = f"arn:aws:iam::{OWN}:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/ABC"
ISSUER = "oidc.eks.us-east-1.amazonaws.com/id/ABC"
GITHUB = f"arn:aws:iam::{OWN}:oidc-provider/token.actions.githubusercontent.com"


def provider(arn, subject, audience="sts.amazonaws.com"):
    issuer = arn.partition(":oidc-provider/")[2]
    said = {f"{issuer}:sub": subject, **({f"{issuer}:aud": audience} if audience else {})}
    return trust({"Federated": arn}, "sts:AssumeRoleWithWebIdentity", StringLike=said)


CASES = [
    *table(
        "team-rights-beyond-its-list",
        ("what is on the list", OK, bound(rule("create delete", "jobs", "batch"), rule("get", "pods/log"))),
        ("cluster-wide what is on that list", OK, wide(rule("list", "clusterqueues", "kueue.x-k8s.io"))),
        ("discovery", OK, to_built_in("system:discovery", namespace="")),
        ("a verb more", VIOLATED, bound(rule("create deletecollection", "jobs", "batch"))),
        ("every verb", VIOLATED, bound(rule("*", "jobs", "batch"))),
        ("every resource", VIOLATED, bound(rule("get", "*"))),
        ("every group", VIOLATED, bound(rule("get", "jobs", "*"))),
        ("secrets", VIOLATED, bound(rule("get", "secrets"))),
        ("the list of the namespace, everywhere", VIOLATED, wide(rule("get", "pods"))),
        ("a URL", VIOLATED, wide({"nonResourceURLs": ["/metrics"], "verbs": ["get"]})),
        ("edit", VIOLATED, to_built_in("edit")),
        ("view", VIOLATED, to_built_in("view")),
        ("a role that nobody recorded", VIOLATED, to_built_in("kueue-batch-user-role")),
        ("its pods", VIOLATED, bound(rule("get", "secrets"), subject=account("trainer", "team-a"))),
        ("somebody else in its namespace", VIOLATED, bound(rule("get", "secrets"), subject=group("contractors"))),
        ("a controller in its namespace", OK, bound(rule("get", "secrets"), subject=account("operator", "tools"))),
        (
            "its principal",
            VIOLATED,
            [entry("team:a"), *wide(rule("get", "pods"), subject={"kind": "User", "name": ANN})],
        ),
        ("somebody else's", OK, wide(rule("get", "pods"), subject=group("support"))),
        ("another namespace's", OK, bound(rule("get", "secrets"), subject=account("x", "tools"), namespace="tools")),
        (
            "what every team has here",
            OK,
            bound(rule("get", "deployments", "apps")),
            {},
            {"furtherRights": ["get deployments.apps"]},
        ),
        ("unknown", UNDECIDED, [team("a"), unknown(role(), "rules"), binding(TEAM_A)]),
    ),
    *table(
        "binding-across-teams",
        ("in its own", OK, bound(rule("get", "pods"))),
        ("in another's", VIOLATED, bound(rule("get", "pods"), namespace="team-b")),
        ("in the platform's", VIOLATED, bound(rule("get", "pods"), namespace="mlflow")),
        ("its pods", VIOLATED, bound(rule("get", "pods"), subject=account("trainer", "team-a"), namespace="team-b")),
        (
            "all its pods",
            VIOLATED,
            bound(rule("get", "pods"), subject=group("system:serviceaccounts:team-a"), namespace="team-b"),
        ),
        (
            "its principal",
            VIOLATED,
            [entry("team:a"), *bound(rule("get", "pods"), subject={"kind": "User", "name": ANN}, namespace="team-b")],
        ),
        (
            "a principal of both",
            OK,
            [
                entry("team:a", "team:b"),
                *bound(rule("get", "pods"), subject={"kind": "User", "name": ANN}, namespace="team-b"),
            ],
        ),
        ("somebody of no team", OK, bound(rule("get", "pods"), subject=group("support"), namespace="team-b")),
        ("a shared namespace", OK, bound(rule("get", "pods"), namespace="tools"), {}, {"sharedNamespaces": ["too*"]}),
        ("everywhere", OK, wide(rule("get", "pods"))),  # another policy's
        ("unknown", UNDECIDED, [team("a"), role(), unknown(binding(TEAM_A), "subjects")]),
    ),
    *table(
        "binding-to-everybody",
        ("a group", OK, bound(rule("get", "pods"))),
        ("whoever signs in", VIOLATED, bound(rule("get", "pods"), subject=group("system:authenticated"))),
        ("who does not", VIOLATED, bound(rule("get", "pods"), subject=group("system:unauthenticated"))),
        ("anonymous", VIOLATED, bound(rule("get", "pods"), subject={"kind": "User", "name": "system:anonymous"})),
        ("every pod", VIOLATED, bound(rule("get", "pods"), subject=group("system:serviceaccounts"))),
        ("every pod of one", VIOLATED, bound(rule("get", "pods"), subject=group("system:serviceaccounts:tools"))),
        ("pods without an account", VIOLATED, bound(rule("get", "pods"), subject=account("default", "tools"))),
        ("pods with one", OK, bound(rule("get", "pods"), subject=account("operator", "tools"))),
        ("discovery", OK, to_built_in("system:discovery", group("system:authenticated"), "")),
        ("the administrators' role", VIOLATED, to_built_in("cluster-admin", group("system:authenticated"), "")),
        ("unknown", UNDECIDED, [role(), unknown(binding(TEAM_A), "subjects")]),
    ),
    *table(
        "team-administers-cluster",
        ("in its group alone", OK, entry("team:a")),
        ("an administrator", OK, [entry("platform"), access("AmazonEKSClusterAdminPolicy")]),
        ("an administrator in no group", OK, [entry(), access("AmazonEKSClusterAdminPolicy")]),
        ("both", VIOLATED, [entry("team:a"), access("AmazonEKSClusterAdminPolicy")]),
        ("both, by name", OK, [entry("team:a"), access("AmazonEKSClusterAdminPolicy")], {}, {"administrators": [ANN]}),
        ("edits its namespace", VIOLATED, [entry("team:a"), in_namespaces("AmazonEKSEditPolicy", "team-a")]),
        ("sees its namespace", OK, [entry("team:a"), in_namespaces("AmazonEKSViewPolicy", "team-a")]),
        ("sees another's", VIOLATED, [entry("team:a"), in_namespaces("AmazonEKSViewPolicy", "team-a", "team-b")]),
        ("sees everything", VIOLATED, [entry("team:a"), access("AmazonEKSViewPolicy")]),
        ("somebody else administers", OK, [entry("team:a", arn=f"{ANN}-else"), access("AmazonEKSClusterAdminPolicy")]),
        ("masters", VIOLATED, entry("system:masters")),
        ("masters of the old kind", VIOLATED, aws_auth("- groups: [system:masters]")),
        ("nodes of the old kind", OK, aws_auth("- groups: [system:nodes]")),
        ("unknown", UNDECIDED, unknown(entry(), "kubernetesGroups")),
    ),
    *table(
        "rights-that-lead-to-more",
        ("reading", OK, wide(rule("get list watch", "pods nodes"), subject=account("agent", "tools"))),
        ("escalate", VIOLATED, bound(rule("escalate", "roles", GROUP))),
        ("bind", VIOLATED, bound(rule("bind", "roles", GROUP))),
        ("impersonate", VIOLATED, bound(rule("impersonate", "serviceaccounts"))),
        ("impersonate by name", VIOLATED, wide(rule("impersonate", "groups", resourceNames=["admins"]))),
        ("roles", VIOLATED, bound(rule("create", "roles", GROUP))),
        ("reading roles", OK, bound(rule("get list", "roles rolebindings", GROUP))),
        ("tokens", VIOLATED, bound(rule("create", "serviceaccounts/token"))),
        ("kubelets", VIOLATED, wide(rule("get", "nodes/proxy"))),
        ("nodes", OK, wide(rule("get", "nodes nodes/metrics"))),
        ("labels of namespaces", VIOLATED, wide(rule("patch", "namespaces"))),
        ("certificates", VIOLATED, wide(rule("update", "certificatesigningrequests/approval", "certificates.k8s.io"))),
        ("guards", VIOLATED, wide(rule("update", "validatingwebhookconfigurations", "admissionregistration.k8s.io"))),
        (
            "one's own webhook",
            OK,
            wide(
                rule(
                    "update", "validatingwebhookconfigurations", "admissionregistration.k8s.io", resourceNames=["own"]
                ),
                subject=account("operator", "tools"),
            ),
        ),
        ("volumes", VIOLATED, wide(rule("create", "persistentvolumes"))),
        ("secrets everywhere", VIOLATED, wide(rule("list", "secrets"), subject=account("agent", "tools"))),
        ("secrets in one place", OK, bound(rule("list", "secrets"), subject=account("x", "tools"), namespace="tools")),
        ("exec everywhere", VIOLATED, wide(rule("create", "pods/exec"))),
        ("exec in one place", OK, bound(rule("create", "pods/exec"))),
        ("pods everywhere", VIOLATED, wide(rule("create", "daemonsets", "apps"))),
        ("everything", VIOLATED, to_built_in("cluster-admin", group("x"), "")),
        ("edit everywhere", VIOLATED, to_built_in("edit", group("x"), "")),
        ("view everywhere", OK, to_built_in("view", group("x"), "")),
        (
            "a role of the system's own parts",
            VIOLATED,
            to_built_in("system:kubelet-api-admin", account("x", "tools"), ""),
        ),
        ("what asks who somebody is", OK, to_built_in("system:auth-delegator", account("x", "tools"), "")),
        ("a role of a chart", OK, to_built_in("kueue-batch-admin-role", group("platform"), "")),
        ("a system's controller", OK, wide(rule("list", "secrets"), subject=account("dns", "kube-system"))),
        (
            "a named controller",
            OK,
            wide(rule("list", "secrets"), subject=account("external-secrets", "tools")),
            {},
            {"controllers": ["tools/external-*"]},
        ),
        (
            "administrators",
            OK,
            wide(rule("patch", "namespaces"), subject=group("platform")),
            {},
            {"administrators": ["platform"]},
        ),
        (
            "pods where a role is",
            VIOLATED,
            [identity("mlflow"), *bound(rule("create", "pods"), subject=group("x"), namespace="mlflow")],
        ),
        (
            "jobs where the data come in, of those who bring them",
            OK,
            [identity("ingest"), *bound(rule("create", "jobs", "batch"), subject=group("ingest"), namespace="ingest")],
        ),
        (
            "jobs where the data come in, of others",
            VIOLATED,
            [identity("ingest"), *bound(rule("create", "jobs", "batch"), subject=group("x"), namespace="ingest")],
        ),
        (
            "more where the data come in",
            VIOLATED,
            bound(rule("create", "roles", GROUP), subject=group("ingest"), namespace="ingest"),
        ),
        ("pods where none is", OK, bound(rule("create", "pods"), subject=group("x"), namespace="mlflow")),
        (
            "pods of the workload's own",
            OK,
            [identity("mlflow"), *bound(rule("create", "pods"), subject=account("x", "mlflow"), namespace="mlflow")],
        ),
        ("unknown", UNDECIDED, [unknown(role(), "rules"), binding(TEAM_A)]),
    ),
    *table(
        "team-role-beyond-its-prefix",
        ("its prefix", OK, pods(on("teams/a/*"))),
        ("below its prefix", OK, pods(on("teams/a/archive/*"))),
        ("by the namespace of the pod", OK, pods(on("${aws:PrincipalTag/kubernetes-namespace}/*"))),
        ("without the slash", VIOLATED, pods(on("teams/a*"))),
        ("another's", VIOLATED, pods(on("teams/b/*"))),
        ("the whole bucket", VIOLATED, pods(on("*"))),
        ("in any bucket", VIOLATED, pods(on("teams/a/*", "arn:aws:s3:::*"))),
        ("every bucket", VIOLATED, pods({"Resource": "*"})),
        ("all but one", VIOLATED, pods({"NotResource": "arn:aws:s3:::x"})),
        ("what is shared", OK, pods(on("*", "arn:aws:s3:::data-1"))),
        ("writing what is shared", VIOLATED, pods({"Action": "s3:PutObject", **on("*", "arn:aws:s3:::data-1")})),
        ("listing its prefix", OK, pods(listing("teams/a/", "teams/a/*"))),
        ("listing another's", VIOLATED, pods(listing("teams/a/*", "teams/b/*"))),
        ("listing everything", VIOLATED, pods(listing())),
        ("policies of the bucket", VIOLATED, pods({"Action": "s3:PutBucketPolicy", **on("teams/a/*")})),
        (
            "a key through the store",
            OK,
            pods({"Action": "kms:Decrypt", "Resource": "k", "Condition": {"StringEquals": {"kms:ViaService": "s3"}}}),
        ),
        (
            "a key for a bucket",
            OK,
            pods(
                {
                    "Action": "kms:Decrypt",
                    "Resource": "k",
                    "Condition": {"StringLike": {"kms:EncryptionContext:aws:s3:arn": "arn:aws:s3:::checkpoints*"}},
                }
            ),
        ),
        ("a key for anything", VIOLATED, pods({"Action": "kms:Decrypt", "Resource": "k"})),
        ("a secret", VIOLATED, pods({"Action": "secretsmanager:GetSecretValue", "Resource": "s"})),
        ("a mount", OK, pods({"Action": "elasticfilesystem:ClientMount", "Resource": "f"})),
        ("a queue", VIOLATED, pods({"Action": "sqs:SendMessage", "Resource": "q"})),
        (
            "a queue that it needs",
            OK,
            pods({"Action": "sqs:SendMessage", "Resource": "q"}),
            {},
            {"furtherActions": ["sqs:Send*"]},
        ),
        ("denied", OK, pods({"Effect": "Deny", "Resource": "*"})),
        ("the platform's pods", OK, pods(on("*"), associated=identity("mlflow"))),
        ("through OIDC", VIOLATED, pods(on("*"), associated=irsa(f"arn:aws:iam::{OWN}:role/trainer-1"))),
        ("another's role through OIDC", OK, pods(on("*"), associated=irsa(f"arn:aws:iam::{OWN}:role/x"))),
        (
            "unknown",
            UNDECIDED,
            [
                team("a"),
                identity(),
                made("aws:iam/role:Role", "trainer", {"name": "trainer-1", "inlinePolicies": UNKNOWN}),
            ],
        ),
    ),
    *table(
        "privilege-on-any-resource",
        ("reading objects", OK, policy(Resource="arn:aws:s3:::data-1/*")),
        ("reading every object", VIOLATED, policy()),
        ("reading every object that is public", OK, policy(Condition={"StringEquals": {"aws:ResourceOrgID": "o-1"}})),
        ("a colleague's editor", VIOLATED, policy(Action="sagemaker:CreatePresignedDomainUrl")),
        ("the ceiling", VIOLATED, policy(Action="budgets:ModifyBudget")),
        ("images of all", VIOLATED, policy(Action="ecr:PutImage")),
        ("a policy is taken off", VIOLATED, policy(Action="iam:DetachRolePolicy")),
        ("roles", VIOLATED, policy(Action="sts:AssumeRole")),
        ("in any case", VIOLATED, policy(Action="STS:assumerole")),
        ("by a wildcard", VIOLATED, policy(Action="iam:Put*")),
        ("among others", VIOLATED, policy(Action=["s3:GetObject", "ssm:SendCommand"])),
        ("one role", OK, policy(Action="sts:AssumeRole", Resource=f"arn:aws:iam::{OWN}:role/x")),
        ("any role of the account", VIOLATED, policy(Action="iam:PassRole", Resource=f"arn:aws:iam::{OWN}:role/*")),
        ("roles of a name", OK, policy(Action="iam:PassRole", Resource=f"arn:aws:iam::{OWN}:role/x-*")),
        ("any key of any region", VIOLATED, policy(Action="kms:PutKeyPolicy", Resource="arn:aws:kms:*:*:key/*")),
        ("one of two is any", VIOLATED, policy(Action="lambda:CreateFunction", Resource=["arn:aws:lambda:::f", "*"])),
        (
            "to one service",
            OK,
            policy(Action="iam:PassRole", Condition={"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}}),
        ),
        (
            "to any service",
            VIOLATED,
            policy(Action="iam:PassRole", Condition={"StringLike": {"iam:PassedToService": "*"}}),
        ),
        ("over TLS", VIOLATED, policy(Action="sts:AssumeRole", Condition={"Bool": {"aws:SecureTransport": "true"}})),
        (
            "all but one",
            VIOLATED,
            policy(Action="ec2:RunInstances", Condition={"StringNotEquals": {"ec2:InstanceType": "t3.nano"}}),
        ),
        ("denied", OK, policy(Effect="Deny", Action="sts:AssumeRole")),
        (
            "reading what is there",
            OK,
            policy(Action=["ec2:DescribeInstances", "autoscaling:Describe*", "kms:ListKeys"]),
        ),
        ("uses every key", VIOLATED, policy(Action="kms:Decrypt")),
        (
            "a key through the store",
            OK,
            policy(Action="kms:Decrypt", Condition={"StringEquals": {"kms:ViaService": "s3"}}),
        ),
        (
            "in a managed policy",
            VIOLATED,
            made("aws:iam/policy:Policy", "p", {"policy": policy(Action="eks:CreateAccessEntry").inputs["policy"]}),
        ),
        (
            "in a role",
            VIOLATED,
            made(
                "aws:iam/role:Role",
                "r",
                {"inlinePolicies": [{"policy": policy(Action="cloudtrail:StopLogging").inputs["policy"]}]},
            ),
        ),
        ("unknown", UNDECIDED, unknown(policy(), "policy")),
    ),
    *table(
        "trust-without-conditions",
        ("nodes", OK, service("ec2.amazonaws.com")),
        ("a service", VIOLATED, service("eks.amazonaws.com")),
        ("for the account", OK, service("eks.amazonaws.com", StringEquals={"aws:SourceAccount": OWN})),
        ("for a resource of it", OK, service("eks.amazonaws.com", ArnLike={"aws:SourceArn": CLUSTER})),
        ("for any account", VIOLATED, service("eks.amazonaws.com", StringLike={"aws:SourceAccount": "*"})),
        (
            "for a resource of any",
            VIOLATED,
            service("eks.amazonaws.com", ArnLike={"aws:SourceArn": "arn:aws:eks:*:*:cluster/demo"}),
        ),
        ("for the organisation", OK, service("eks.amazonaws.com", StringEquals={"aws:SourceOrgID": "o-1"})),
        ("if it says so", VIOLATED, service("eks.amazonaws.com", StringEqualsIfExists={"aws:SourceAccount": OWN})),
        ("for all but one", VIOLATED, service("eks.amazonaws.com", StringNotEquals={"aws:SourceAccount": OTHER})),
        ("one of two services", VIOLATED, trust({"Service": ["ec2.amazonaws.com", "eks.amazonaws.com"]})),
        ("a service that says nothing", OK, service("x.amazonaws.com"), {}, {"services": ["x.*"]}),
        ("pods", OK, pod()),
        ("pods and their cluster's ARN", OK, pod(ArnEquals={"aws:SourceArn": CLUSTER})),
        ("pods of the cluster's ARN", OK, pod("SourceAccount", "cluster-arn", ArnEquals={"aws:SourceArn": CLUSTER})),
        ("pods of any cluster", VIOLATED, pod("cluster-arn")),
        ("pods of any namespace", VIOLATED, pod("namespace")),
        ("pods of any service account", VIOLATED, pod("service-account")),
        ("pods of anybody", VIOLATED, service("pods.eks.amazonaws.com")),
        ("a service account", OK, provider(OIDC, "system:serviceaccount:team-a:trainer")),
        ("service accounts of a namespace", OK, provider(OIDC, "system:serviceaccount:team-a:*")),
        ("of any namespace", VIOLATED, provider(OIDC, "system:serviceaccount:*:trainer")),
        ("of anybody", VIOLATED, provider(OIDC, "*")),
        ("without an audience", VIOLATED, provider(OIDC, "system:serviceaccount:team-a:trainer", "")),
        ("a branch", OK, provider(GITHUB, "repo:acme/infra:ref:refs/heads/main")),
        ("a repository", OK, provider(GITHUB, "repo:acme/infra:*")),
        ("any repository of an owner", VIOLATED, provider(GITHUB, "repo:acme/*")),
        ("any repository", VIOLATED, provider(GITHUB, "repo:*")),
        ("a role", OK, trust({"AWS": ANN})),
        ("the account", VIOLATED, trust({"AWS": f"arn:aws:iam::{OWN}:root"})),
        ("by its number", VIOLATED, trust({"AWS": OWN})),
        ("with its id", OK, trust({"AWS": OTHER}, StringEquals={"sts:ExternalId": "x"})),
        (
            "roles of the account by name",
            OK,
            trust({"AWS": OWN}, ArnLike={"aws:PrincipalArn": f"arn:aws:iam::{OWN}:role/ops-*"}),
        ),
        ("no policy", OK, made("aws:iam/role:Role", "r", {})),
        ("unknown", UNDECIDED, unknown(trust({"AWS": OWN}), "assumeRolePolicy")),
    ),
]
