"""Truth tables of openings in walls that stand: what a second list of breakages found, and what looks like one."""

from __future__ import annotations

import json
from typing import Any

from tests.policies import cases_data_walls as data
from tests.policies import cases_pods, cases_rights, cases_tracking
from tests.policies import cases_walls_network as network
from tests.policies.cases_gcp import member, provider
from tests.policies.truth import OK, UNDECIDED, UNKNOWN, VIOLATED, gke_pool, kubernetes, made, table, team
from trainyard.recorded.model import RecordedResource

ADMISSION = "admissionregistration.k8s.io/v1:"
SQL_USER = made("gcp:sql/user:User", "u", {"name": "mlflow"})
RDS = made("aws:rds/instance:Instance", "db", {"username": "mlflow"})
NETWORK = made("gcp:compute/network:Network", "tools", {"project": "q"})
PEERING, SINK = "gcp:compute/networkPeering:NetworkPeering", "gcp:logging/projectSink:ProjectSink"
CUSTOM_ROLE = "gcp:projects/iAMCustomRole:IAMCustomRole"
CLUSTER, MACHINE = "gcp:container/cluster:Cluster", "gcp:compute/instance:Instance"
INSTANCE, FIREWALL = "aws:ec2/instance:Instance", "gcp:compute/firewall:Firewall"
SERVICE = "aws:ec2/vpcEndpointService:VpcEndpointService"
SYSTEM = kubernetes("core/v1:Namespace", "kueue-system")
MONITORING = kubernetes("core/v1:Namespace", "monitoring")


def webhook(kind: str = "Mutating", groups: tuple[str, ...] = ("",), **client: Any) -> list[RecordedResource]:
    """A webhook that is asked about what is of these groups, beside a team."""
    rule = {"apiGroups": list(groups), "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["*"]}
    hooks = [{"name": "w.example", "rules": [rule], "clientConfig": client}]
    return [team("a"), kubernetes(f"{ADMISSION}{kind}WebhookConfiguration", "w", webhooks=hooks)]


def of_labels(**labels: str) -> dict[str, Any]:
    """A peer: namespaces of labels, which are given with `_` for `.` and `__` for `/`."""
    named = {key.replace("__", "/").replace("_", "."): value for key, value in labels.items()}
    return {"namespaceSelector": {"matchLabels": named}}


def called(name: str) -> dict[str, Any]:
    """A peer: all pods of a namespace by its name."""
    return of_labels(kubernetes_io__metadata_name=name)


def out_of_a(peer: dict[str, Any], **more: Any) -> list[RecordedResource]:
    """What a team's pods are let out to."""
    return [team("a"), SYSTEM, MONITORING, network.network_policy("team-a", egress=[{"to": [peer], **more}])]


def into(namespace: str, peer: dict[str, Any]) -> list[RecordedResource]:
    """Who is let into a namespace of the platform's."""
    return [team("a"), SYSTEM, MONITORING, network.network_policy(namespace, ingress=[{"from": [peer]}])]


def owners(condition: dict[str, Any] | None = None, **changes: Any) -> list[RecordedResource]:
    """A bucket with one statement that denies those of others."""
    tests = condition or {"StringNotEquals": {"aws:PrincipalAccount": network.ACCOUNT}}
    return [network.BUCKET, network.bound(**{"Condition": tests, **changes})]


def at(uri: str, *others: RecordedResource) -> list[RecordedResource]:
    """A tracking server with a database at an address."""
    return [cases_tracking.server(*cases_tracking.SOUND, f"--backend-store-uri={uri}"), *others]


def at_by(mode: str, uri: str) -> RecordedResource:
    """A tracking server whose client is told by a variable what it checks."""
    return cases_tracking.server(*cases_tracking.SOUND, f"--backend-store-uri={uri}", PGSSLMODE=mode)


def labelled(k8s_app: str) -> dict[str, Any]:
    """A part of a peer: pods of the cluster's own."""
    return {"podSelector": {"matchLabels": {"k8s-app": k8s_app}}}


READS = made(CUSTOM_ROLE, "reads", {"roleId": "reads", "permissions": ["secretmanager.versions.access"]})


def given(type_: str) -> RecordedResource:
    """The role `READS` for people, on whatever the type is of."""
    return made(f"gcp:{type_}", f"given-{type_}", {"member": "group:a@acme.example"}, uses={"role": [READS]})


def programs(**files: str) -> list[RecordedResource]:
    """A tracking server's accounts, and the programs beside them."""
    named = {f"{name}.py": text for name, text in files.items()}
    return [
        cases_tracking.accounts("default_permission = READ", cases_tracking.OWN),
        kubernetes("core/v1:ConfigMap", "programs", "mlflow", data=named),
    ]


def kueue(selector: str) -> list[RecordedResource]:
    """Kueue told which namespaces' jobs it manages, beside a team."""
    return [team("a"), cases_pods.kueue(f"{cases_pods.MANAGED}managedJobsNamespaceSelector: {selector}\n")]


def home(path: str, name: str) -> tuple[RecordedResource, RecordedResource]:
    """A team's volume of an access point of a folder."""
    point = made(
        "aws:efs/accessPoint:AccessPoint", name, {"rootDirectory": {"path": path}}, uses={"fileSystemId": [EFS]}
    )
    spec = {"claimRef": {"namespace": f"team-{name}", "name": "home"}, **data.efs(f"fs-1::fsap-{name}")}
    return point, kubernetes("core/v1:PersistentVolume", name, spec=spec, uses={"spec": [point, EFS]})


EFS = data.EFS


HOME = "logging.googleapis.com/projects/q/locations/eu/buckets/b"


def sink(destination: str) -> list[RecordedResource]:
    """A sink of logs to somewhere."""
    return [provider(), made(SINK, "s", {"destination": destination, "project": "p"})]


def kept(**inputs: Any) -> list[RecordedResource]:
    """Logs that are kept out of `_Default` and go to a log bucket."""
    shut = made("gcp:logging/projectExclusion:ProjectExclusion", "e", {"filter": "timestamp:*"})
    where = {"destination": "logging.googleapis.com/projects/p/locations/eu/buckets/b", "project": "p"}
    config = {"service": "allServices", "auditLogConfigs": [{"logType": "DATA_READ"}, {"logType": "DATA_WRITE"}]}
    return [shut, made(SINK, "s", {**where, **inputs}), made("gcp:projects/iAMAuditConfig:IAMAuditConfig", "a", config)]


def bound(name: str = "vision@acme.example") -> list[RecordedResource]:
    """A group of Google's that is bound in a team's namespace."""
    return [team("a"), cases_rights.role(), cases_rights.binding(cases_rights.group(name))]


def with_grants(**condition: Any) -> RecordedResource:
    """A role's policy that may give grants of one key."""
    one = {"Action": ["kms:CreateGrant"], "Resource": f"arn:aws:kms:us-east-1:{data.OWN}:key/1"}
    return cases_rights.policy(**one, **({"Condition": condition} if condition else {}))


def through_s3(**condition: Any) -> list[RecordedResource]:
    """A bucket's key that the account uses through S3."""
    tests = {"StringEquals": {"kms:ViaService": "s3.us-east-1.amazonaws.com"}, **condition}
    one = data.key(data.account("kms:Decrypt", **tests))
    return [one, *data.bucket_of(one)]


def taken_by(namespace: str, account: str = "trainer") -> RecordedResource:
    """A role for pods of namespaces by a pattern."""
    said = {"aws:RequestTag/kubernetes-namespace": namespace, "aws:RequestTag/kubernetes-service-account": account}
    return cases_rights.pod("namespace", "service-account", StringLike=said)


def disks(driver: str, **parameters: str) -> RecordedResource:
    """A class of disks of a driver."""
    return kubernetes("storage.k8s.io/v1:StorageClass", "c", provisioner=driver, parameters=parameters)


def looked_up(*domains: str) -> list[RecordedResource]:
    """A DNS firewall that refuses all names but some."""
    group, *others = network.firewall()
    names = made(f"{RESOLVER}DomainList:ResolverFirewallDomainList", "some", {"domains": list(domains)})
    lists = {"firewallRuleGroupId": [group], "firewallDomainListId": [names]}
    rule = made("aws:route53/resolverFirewallRule:ResolverFirewallRule", "let", {"action": "ALLOW"}, uses=lists)
    return [network.VPC, group, *others, names, rule]


def provider_of_aws() -> RecordedResource:
    """What says which account is the stack's own."""
    return made("aws:budgets/budget:Budget", "b", {"accountId": data.OWN})


def delivered(**condition: Any) -> RecordedResource:
    """A bucket that CloudTrail writes to."""
    one = {"Effect": "Allow", "Principal": {"Service": "cloudtrail.amazonaws.com"}, "Action": "s3:PutObject"}
    document = {"Statement": [{**one, "Resource": "*", **({"Condition": condition} if condition else {})}]}
    return made("aws:s3/bucketPolicy:BucketPolicy", "p", {"policy": json.dumps(document)})


POOL_PROVIDER = "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider"
POLICY_RULE = "gcp:compute/networkFirewallPolicyRule:NetworkFirewallPolicyRule"
RESOLVER = "aws:route53/resolverFirewall"
CONTEXT = {"StringLike": {"kms:EncryptionContext:aws:s3:arn": "arn:aws:s3:::acme-data*"}}
PODS_OF_A = (
    "principalSet://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p.svc.id.goog/namespace/team-a"
)
CHECKED = "postgresql://server@db.example:5432/mlflow?sslmode=verify-full&sslrootcert=/ca"
ASKS = "def authorize():\n    if not asked():\n        return None\n    return True\n"

CASES = [
    *table(
        "admission-by-outsiders",
        ("outside", VIOLATED, webhook(url="https://inject.example.com/mutate")),
        ("outside, asked only", VIOLATED, webhook("Validating", url="https://look.example.com/")),
        ("outside, about rights", VIOLATED, webhook(groups=("rbac.authorization.k8s.io",), url="https://x.example/")),
        ("in a team's namespace", VIOLATED, webhook(service={"namespace": "team-a", "name": "w"})),
        ("in a namespace of the platform's", OK, webhook(service={"namespace": "istio-system", "name": "w"})),
        ("on the API server's machine", OK, webhook(url="https://127.0.0.1:23443/mutate")),
        ("a service by its name", OK, webhook(url="https://w.policy.svc/mutate")),
        ("about its own kinds", OK, webhook(groups=("cert-manager.io",), url="https://x.example.com/")),
        ("a host that is meant", OK, webhook(url="https://x.example.com/"), {}, {"hosts": ["x.example.com"]}),
        ("unknown", UNDECIDED, webhook(url=UNKNOWN)),
    ),
    *table(
        "team-reaches-controllers",
        ("names", OK, out_of_a(called("kube-system"), ports=[{"port": 53}])),
        ("names of who answers them", OK, out_of_a({**called("kube-system"), **labelled("kube-dns")})),
        ("another pod of the system's", VIOLATED, out_of_a({**called("kube-system"), **labelled("metrics-server")})),
        ("so labelled elsewhere", VIOLATED, out_of_a({**called("monitoring"), **labelled("kube-dns")})),
        ("its own system", VIOLATED, out_of_a(called("kube-system"))),
        ("Kueue", VIOLATED, out_of_a(called("kueue-system"), ports=[{"port": 443}])),
        ("Grafana", VIOLATED, out_of_a(called("monitoring"), ports=[{"port": 3000}])),
        ("the tracking server", OK, out_of_a(called("mlflow"), ports=[{"port": 5000}])),
        ("what is meant", OK, out_of_a(called("monitoring")), {}, {"namespaces": ["*-system"]}),
        ("teams into Grafana", VIOLATED, into("monitoring", of_labels(ml_platform__team="a"))),
        ("people into Grafana", OK, into("monitoring", called("ingress"))),
        ("teams into their own", OK, into("team-a", of_labels(ml_platform__team="a"))),
        ("unknown", UNDECIDED, out_of_a({"namespaceSelector": {"matchLabels": UNKNOWN}})),
    ),
    *table(
        "bucket-without-owner-binding",
        ("an account", OK, owners()),
        ("an organisation", OK, owners({"StringNotEquals": {"aws:PrincipalOrgID": "o-1"}})),
        ("and services", OK, owners({
            "StringNotEqualsIfExists": {"aws:PrincipalOrgID": "o-1"},
            "BoolIfExists": {"aws:PrincipalIsAWSService": "false"},
        })),
        ("and one role", OK, owners({
            "StringNotEquals": {"aws:PrincipalAccount": "1"},
            "ArnNotLike": {"aws:PrincipalArn": "arn:aws:iam::2:role/x"},
        })),
        ("any account", VIOLATED, owners({"StringNotLike": {"aws:PrincipalAccount": "*"}})),
        ("where they read alone", VIOLATED, owners(Action="s3:Get*")),
        ("where something else holds", VIOLATED, owners({
            "StringNotEquals": {"aws:PrincipalAccount": "1"}, "StringEquals": {"aws:UserAgent": "x"},
        })),
        ("a network", VIOLATED, [network.BUCKET, network.bound()]),
        ("no policy", VIOLATED, [network.BUCKET]),
        ("unknown", UNDECIDED, [network.BUCKET, made("aws:s3/bucketPolicy:BucketPolicy", "p", {
            "policy": UNKNOWN,
        }, uses={"bucket": [network.BUCKET]})]),
    ),
    *table(
        "tracking-database-unchecked",
        ("checked", OK, at(CHECKED, RDS, SQL_USER)),
        ("not checked", VIOLATED, at(CHECKED.replace("verify-full", "require"))),
        ("nothing said", VIOLATED, at("postgresql://server@db.example/mlflow")),
        ("by its authority", OK, at(CHECKED.replace("verify-full", "verify-ca"))),
        ("checked by a variable", OK, at_by("verify-full", "postgresql://server@db.example/mlflow")),
        ("not checked by a variable", VIOLATED, at_by("require", "postgresql://server@db.example/mlflow")),
        ("not checked, whatever a variable says", VIOLATED, at_by(
            "verify-full", CHECKED.replace("verify-full", "require"),
        )),
        ("a variable of another database's", VIOLATED, at_by("verify-full", "mysql://server@db.example/mlflow")),
        ("a password with a bracket", OK, at(CHECKED.replace("server@", "server:a[b@"))),
        ("a password with a bracket, not checked", VIOLATED, at("postgresql://server:a[b@db.example/mlflow")),
        ("no address", VIOLATED, at("postgresql://server@[db.example/mlflow")),
        ("a proxy beside the server", OK, at("postgresql://server@127.0.0.1:5432/mlflow")),
        ("a socket", OK, at("postgresql:///mlflow?host=/cloudsql/x")),
        ("a file", OK, at("sqlite:////data/mlflow.db")),
        ("as the master", VIOLATED, at(CHECKED.replace("server@", "mlflow@"), RDS)),
        ("as who owns it, on Google Cloud", VIOLATED, at(CHECKED.replace("server@", "mlflow@"), SQL_USER)),
        ("another program", OK, [cases_tracking.server("python", "serve.py"), RDS]),
        ("unknown", UNDECIDED, cases_tracking.server(*cases_tracking.SOUND, UNKNOWN)),
    ),
    *table(
        "tracking-open-to-other-teams",
        ("the guard among the programs", OK, programs(serve="x = 1", tracking_guard=ASKS)),
        ("the guard is gone", VIOLATED, programs(serve="x = 1")),
        ("the guard says yes", VIOLATED, programs(tracking_guard="def authorize():\n    return True\n")),
        ("the guard is another function", VIOLATED, programs(tracking_guard="def other():\n    return ask()\n")),
        ("the guard is no program", VIOLATED, programs(tracking_guard="def authorize(:")),
        ("the guard calls another", OK, programs(tracking_guard="def authorize():\n    return ask()\n")),
    ),
    *table(
        "tracking-gateway-on",
        ("jobs of its users", VIOLATED, cases_tracking.server(
            *cases_tracking.SOUND, MLFLOW_GATEWAY_ALLOWED_PROVIDERS="none", MLFLOW_SERVER_ENABLE_JOB_EXECUTION="True",
        )),
        ("no jobs", OK, cases_tracking.server(
            *cases_tracking.SOUND, MLFLOW_GATEWAY_ALLOWED_PROVIDERS="none", MLFLOW_SERVER_ENABLE_JOB_EXECUTION="false",
        )),
    ),
    *table(
        "tracking-without-authentication",
        ("any host among some", VIOLATED, cases_tracking.server(*cases_tracking.SOUND, "--allowed-hosts=a.svc,*")),
        ("any origin", VIOLATED, cases_tracking.server(*cases_tracking.SOUND, "--cors-allowed-origins=*")),
        ("its own origin", OK, cases_tracking.server(*cases_tracking.SOUND, "--cors-allowed-origins=https://a.svc")),
    ),
    *table(
        "jobs-outside-the-queue",
        ("teams' jobs", OK, kueue("{matchExpressions: [{key: ml.platform/team, operator: Exists}]}")),
        ("all but the system's", OK, kueue(
            "{matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system]}]}",
        )),
        ("nobody's", VIOLATED, kueue("{matchExpressions: [{key: ml.platform/team, operator: DoesNotExist}]}")),
        ("those of a label that no team has", VIOLATED, kueue("{matchLabels: {queued: 'yes'}}")),
    ),
    *table(
        "team-writes-what-others-read",
        ("a home each", OK, [*data.TEAMS, *home("/home/a", "a"), *home("/home/b", "b")]),
        ("one home for two", VIOLATED, [*data.TEAMS, *home("/home/a", "a"), *home("/home/a", "b")]),
        ("all homes", VIOLATED, [*data.TEAMS, *home("/home", "a"), *home("/home/b", "b")]),
        ("another team's folder, to read", VIOLATED, [
            *data.TEAMS, data.volume("a", **data.s3(prefix="teams/b/", options=["read-only"])),
        ]),
        ("its own folder", OK, [*data.TEAMS, data.volume("a", **data.s3(prefix="teams/a/"))]),
    ),
    *table(
        "file-system-open-to-the-network",
        ("past the points by a role", VIOLATED, [
            *data.policy(data.ALLOW, data.TLS), cases_rights.policy(Action="elasticfilesystem:ClientMount"),
        ]),
        ("past the points by a role, denied", OK, [
            *data.policy(data.ALLOW, data.TLS, data.THROUGH_A_POINT),
            cases_rights.policy(Action="elasticfilesystem:ClientMount"),
        ]),
        ("by a role and a point", OK, [*data.policy(data.ALLOW, data.TLS), cases_rights.policy(
            Action="elasticfilesystem:ClientMount",
            Condition={"StringEquals": {"elasticfilesystem:AccessPointArn": [data.POINT]}},
        )]),
    ),
    *table(
        "storage-without-environment-key",
        ("disks of a key", OK, disks("ebs.csi.aws.com", encrypted="true", kmsKeyId="arn:aws:kms:us-east-1:1:key/1")),
        ("disks of a key in small letters", OK, disks("ebs.csi.aws.com", encrypted="true", kmskeyid="arn:k")),
        ("disks in the clear in large letters", VIOLATED, disks("ebs.csi.aws.com", Encrypted="false", kmsKeyId="k")),
        ("disks without a key", VIOLATED, disks("ebs.csi.aws.com", encrypted="true")),
        ("disks in the clear", VIOLATED, disks("ebs.csi.aws.com", encrypted="false", kmsKeyId="k")),
        ("disks of Google Cloud without a key", VIOLATED, disks("pd.csi.storage.gke.io", type="pd-ssd")),
        ("folders of a file system", OK, disks("efs.csi.aws.com")),
    ),
    *table(
        "shared-with-another-account",
        ("a service for everybody", VIOLATED, made(SERVICE, "s", {"allowedPrincipals": ["*"]})),
        ("a service for nobody yet", OK, made(SERVICE, "s", {"acceptanceRequired": True})),
        ("another project's network", VIOLATED, [provider(), made(PEERING, "n", {
            "network": "projects/p/global/networks/a", "peerNetwork": "projects/other/global/networks/b",
        })]),
        ("a network that it makes in another project", OK, [provider(), NETWORK, made(PEERING, "n", {
            "network": "projects/p/global/networks/a", "peerNetwork": "projects/q/global/networks/b",
        }, uses={"peerNetwork": [NETWORK]})]),
        ("its own network", OK, [provider(), made(PEERING, "n", {
            "network": "projects/p/global/networks/a", "peerNetwork": "projects/p/global/networks/b",
        })]),
        ("a project of ours", OK, [provider(), made(PEERING, "n", {
            "network": "projects/p/global/networks/a", "peerNetwork": "projects/hub/global/networks/b",
        })], {}, {"projects": ["hub"]}),
        ("logs in the project that the stack works on", OK, [
            made("gcp:projects/service:Service", "on", {"project": "q", "service": "logging.googleapis.com"}),
            made(SINK, "s", {"destination": HOME}),
        ]),
        ("logs in a project that nothing names", VIOLATED, made(SINK, "s", {"destination": HOME})),
        ("logs at home", OK, sink("logging.googleapis.com/projects/p/locations/eu/buckets/b")),
        ("logs of another project", VIOLATED, sink("pubsub.googleapis.com/projects/other/topics/t")),
        ("logs in a bucket of nobody's", VIOLATED, sink("storage.googleapis.com/somewhere")),
        ("logs in a bucket of ours", OK, sink("storage.googleapis.com/somewhere"), {}, {"projects": ["somewhere"]}),
        ("logs in a bucket of the stack", OK, [
            *sink("storage.googleapis.com/here"), made("gcp:storage/bucket:Bucket", "b", {"name": "here"}),
        ]),
    ),
    *table(
        "other-account-in-charge",
        ("a private account", VIOLATED, [network.BUCKET, member("roles/storage.objectViewer", "user:a@gmail.com")]),
    ),
    *table(
        "objects-without-trail",
        ("all logs", OK, kept()),
        ("all but some", VIOLATED, kept(exclusions=[{"name": "x", "filter": "cloudaudit"}])),
        ("some", VIOLATED, kept(filter="severity>=ERROR")),
        ("none", VIOLATED, kept(disabled=True)),
    ),
    *table(
        "team-administers-cluster",
        ("all of the cluster by the project", VIOLATED, [
            *bound(), member("roles/container.developer", "group:vision@acme.example"),
        ]),
        ("a look at clusters", OK, [*bound(), member("roles/container.clusterViewer", "group:vision@acme.example")]),
        ("administrators", OK, [*bound(), member("roles/container.admin", "group:platform@acme.example")]),
    ),
    *table(
        "binding-to-everybody",
        ("attributes", VIOLATED, made(CLUSTER, "c", {"enableLegacyAbac": True})),
        ("whoever has an account", VIOLATED, made(CLUSTER, "c", {
            "rbacBindingConfig": {"enableInsecureBindingSystemAuthenticated": True},
        })),
        ("a cluster", OK, made(CLUSTER, "c", {
            "enableLegacyAbac": False, "rbacBindingConfig": {"enableInsecureBindingSystemAuthenticated": False},
        })),
    ),
    *table(
        "long-lived-credentials",
        ("a client's certificate", VIOLATED, made(CLUSTER, "c", {
            "masterAuth": {"clientCertificateConfig": {"issueClientCertificate": True}},
        })),
        ("none", OK, made(CLUSTER, "c", {
            "masterAuth": {"clientCertificateConfig": {"issueClientCertificate": False}},
        })),
    ),
    *table(
        "key-changed-by-the-account",
        ("grants by a role", VIOLATED, with_grants()),
        ("grants for a service", OK, with_grants(Bool={"kms:GrantIsForAWSResource": "true"})),
        ("grants of one kind", OK, with_grants(**{"ForAllValues:StringEquals": {"kms:GrantOperations": "Decrypt"}})),
        ("a key of Google Cloud by a group", VIOLATED, member(
            "roles/cloudkms.admin", "group:a@acme.example", "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember",
        )),
        ("its use", OK, member(
            "roles/cloudkms.cryptoKeyEncrypterDecrypter", "group:a@acme.example",
            "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember",
        )),
    ),
    *table(
        "key-use-not-bound-to-its-bucket",
        ("the account through S3, for any bucket", VIOLATED, through_s3()),
        ("the account through S3, for the bucket", OK, through_s3(**CONTEXT)),
    ),
    *table(
        "trust-without-conditions",
        ("pods of every team", VIOLATED, taken_by("team-*")),
        ("pods of whichever namespace", VIOLATED, taken_by("*")),
        ("pods of some of the platform's namespaces", OK, taken_by("monitoring-*")),
        ("whichever account there", VIOLATED, taken_by("team-a", "*")),
    ),
    *table(
        "privilege-on-any-resource",
        ("a project's role that takes accounts", VIOLATED, made(CUSTOM_ROLE, "r", {
            "permissions": ["storage.objects.get", "iam.serviceAccounts.getAccessToken"],
        })),
        ("a project's role", OK, made(CUSTOM_ROLE, "r", {"permissions": ["aiplatform.customJobs.create"]})),
        ("a role given on one secret", OK, [READS, given("secretmanager/secretIamMember:SecretIamMember")]),
        ("a role given on one account", OK, [READS, given("serviceaccount/iAMMember:IAMMember")]),
        ("a role given on one secret by its name", OK, [
            READS, made("gcp:secretmanager/secretIamMember:SecretIamMember", "g", {
                "role": "projects/p/roles/reads", "member": "group:a@acme.example",
            }),
        ]),
        ("a role given on a secret and the project", VIOLATED, [
            READS, given("secretmanager/secretIamMember:SecretIamMember"), given("projects/iAMMember:IAMMember"),
        ]),
        ("a role given to nobody here", VIOLATED, READS),
        ("beside what is not known yet", VIOLATED, [
            made("aws:iam/policy:Policy", "p", {"policy": UNKNOWN}), READS,
        ]),
        ("every bucket of a project", VIOLATED, member("roles/storage.objectViewer", "group:a@acme.example")),
        ("every bucket, to a service", OK, member(
            "roles/storage.objectViewer", "serviceAccount:service-1@gcp-sa-x.iam.gserviceaccount.com",
        )),
    ),
    *table(
        "team-role-beyond-its-prefix",
        ("a whole bucket to all pods of a team", VIOLATED, [team("a"), member(
            "roles/storage.objectViewer", PODS_OF_A, "gcp:storage/bucketIAMMember:BucketIAMMember", bucket="x",
        )]),
    ),
    *table(
        "instance-metadata-v1",
        ("a machine with tokens", OK, made(INSTANCE, "i", {
            "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 2},
        })),
        ("a machine without", VIOLATED, made(INSTANCE, "i", {"metadataOptions": {"httpTokens": "optional"}})),
    ),
    *table(
        "node-with-public-address",
        ("a machine with an address", VIOLATED, made(INSTANCE, "i", {"associatePublicIpAddress": True})),
        ("a machine", OK, made(INSTANCE, "i", {"associatePublicIpAddress": False})),
        ("a machine of Google Cloud with an address", VIOLATED, made(MACHINE, "m", {
            "networkInterfaces": [{"network": "n", "accessConfigs": [{}]}],
        })),
        ("a machine of Google Cloud", OK, made(MACHINE, "m", {"networkInterfaces": [{"network": "n"}]})),
        ("a machine of Google Cloud without addresses", OK, made(MACHINE, "m", {
            "networkInterfaces": [{"network": "n", "accessConfigs": []}],
        })),
    ),
    *table(
        "security-group-open-to-internet",
        ("a rule without a source", VIOLATED, made(FIREWALL, "f", {"allows": [{"protocol": "tcp"}]})),
        ("a rule of tags", OK, made(FIREWALL, "f", {"allows": [{"protocol": "tcp"}], "sourceTags": ["nodes"]})),
        ("a rule that denies", OK, made(FIREWALL, "f", {"denies": [{"protocol": "all"}]})),
    ),
    *table(
        "dns-open",
        ("names of a registry's", VIOLATED, looked_up("*.com")),
        ("names of a company's", OK, looked_up("*.acme.com.", "*.corp")),
    ),
    *table(
        "rights-that-lead-to-more",
        ("what a queue is", VIOLATED, cases_rights.wide(
            cases_rights.rule("patch", "customresourcedefinitions", "apiextensions.k8s.io"),
        )),
    ),
    *table(
        "key-changed-by-the-account",
        ("whoever is of the account, by a condition", VIOLATED, data.key(
            {"Principal": "*", "Action": "kms:*", "Condition": {"StringEquals": {"kms:CallerAccount": data.OWN}}},
        )),
        ("its use by whoever is of the account", OK, data.key(
            {"Principal": "*", "Action": "kms:Decrypt", "Condition": {"StringEquals": {"kms:CallerAccount": data.OWN}}},
        )),
        ("everything of one key by a role", VIOLATED, cases_rights.policy(
            Action="kms:*", Resource=f"arn:aws:kms:us-east-1:{data.OWN}:key/1",
        )),
    ),
    *table(
        "privilege-on-any-resource",
        ("all of S3 on every bucket", VIOLATED, cases_rights.policy(Action="s3:*", Resource="arn:aws:s3:::*")),
        ("all of S3 on one bucket", OK, cases_rights.policy(Action="s3:*", Resource="arn:aws:s3:::one/*")),
    ),
    *table(
        "trust-without-conditions",
        ("an identity provider that asks nothing", VIOLATED, made(POOL_PROVIDER, "p", {"attributeCondition": "true"})),
        ("an identity provider that asks by nothing", VIOLATED, made(POOL_PROVIDER, "p", {"attributeCondition": ""})),
        ("an identity provider that asks", OK, made(POOL_PROVIDER, "p", {
            "attributeCondition": "assertion.repository == 'acme/x'",
        })),
        ("every pod of a cluster", VIOLATED, member(
            "roles/storage.objectViewer", f"{PODS_OF_A.rpartition('/namespace')[0]}/kubernetes.cluster/https://x/c",
        )),
    ),
    *table(
        "public-bucket",
        ("a list of access for everybody", VIOLATED, made("gcp:storage/objectACL:ObjectACL", "a", {
            "predefinedAcl": "publicRead",
        })),
        ("one in words", VIOLATED, made("gcp:storage/defaultObjectACL:DefaultObjectACL", "a", {
            "roleEntities": ["READER:allUsers"],
        })),
        ("one for a group", OK, made("gcp:storage/bucketACL:BucketACL", "a", {
            "roleEntities": ["READER:group-a@acme.example"],
        })),
    ),
    *table(
        "long-lived-credentials",
        ("a key of HMAC", VIOLATED, made("gcp:storage/hmacKey:HmacKey", "k", {"serviceAccountEmail": "x"})),
    ),
    *table(
        "security-group-open-to-internet",
        ("a policy's rule", VIOLATED, made(POLICY_RULE, "r", {
            "action": "allow", "direction": "INGRESS", "match": {"srcIpRanges": ["0.0.0.0/0"]},
        })),
        ("a policy's rule that denies", OK, made(POLICY_RULE, "r", {
            "action": "deny", "direction": "INGRESS", "match": {"srcIpRanges": ["0.0.0.0/0"]},
        })),
    ),
    *table(
        "node-with-public-address",
        ("keys for SSH on a pool", VIOLATED, gke_pool(node={"metadata": {"ssh-keys": "ops:ssh-rsa AAA"}})),
    ),
    *table(
        "resource-open-to-everybody",
        ("a function by its address", VIOLATED, made("aws:lambda/functionUrl:FunctionUrl", "f", {
            "authorizationType": "NONE",
        })),
        ("a function by everybody", VIOLATED, made("aws:lambda/permission:Permission", "f", {"principal": "*"})),
        ("a function by one organisation", OK, made("aws:lambda/permission:Permission", "f", {
            "principal": "*", "principalOrgId": "o-1",
        })),
    ),
    *table(
        "other-account-in-charge",
        ("a trail of whichever account", VIOLATED, [provider_of_aws(), delivered()]),
        ("a trail of the account", OK, [provider_of_aws(), delivered(StringEquals={"aws:SourceAccount": data.OWN})]),
    ),
    *table(
        "endpoint-without-policy",
        ("none of S3", VIOLATED, [network.VPC, network.CLUSTER]),
        ("none, and no cluster", OK, [network.VPC]),
        ("one of S3", OK, [network.VPC, network.CLUSTER, network.endpoint(network.allow(network.OWN))]),
    ),
]  # fmt: skip
