"""Truth tables of walls that fell one at a time: each way in, and what looks like it and is none."""

from tests.policies import cases_data_walls, cases_guard, cases_pods, cases_reach, cases_rights, cases_tracking
from tests.policies import cases_walls_network as network
from tests.policies.truth import OK, UNDECIDED, UNKNOWN, VIOLATED, kubernetes, made, node_group, table, team, unknown
from trainyard.catalog import pins

BUDGET = made("aws:budgets/budget:Budget", "budget", {"accountId": network.ACCOUNT})
BESIDE = {"aws:PrincipalAccount": [network.ACCOUNT, "444455556666"]}
FOREIGN = {"aws:PrincipalAccount": "444455556666"}
ECR = "com.amazonaws.us-east-1.ecr.api"


def point(path="/home/a", **user):
    given = {"rootDirectory": {"path": path}} if path else {}
    return made("aws:efs/accessPoint:AccessPoint", "a", {**given, **({"posixUser": user} if user else {})})


ONE = {"uid": 1000, "gid": 1000}
POINTS = table(
    "file-system-open-to-the-network",
    ("an access point of a folder and a user", OK, point(**ONE)),
    ("an access point of everything", VIOLATED, point("/", **ONE)),
    ("an access point of everything, in other words", VIOLATED, point("//", **ONE)),
    ("an access point that names no folder", VIOLATED, point("", **ONE)),
    ("an access point without a user", VIOLATED, point()),
    ("an access point as root", VIOLATED, point(uid=0, gid=1000)),
    ("an access point of root's group", VIOLATED, point(uid=1000, gid=0)),
    ("an access point of root's group besides", VIOLATED, point(**ONE, secondaryGids=[0])),
    ("an access point of another group", OK, point(**ONE, secondaryGids=[100])),
    ("an access point of nobody yet", UNDECIDED, point(uid=UNKNOWN, gid=1)),
)

ENDPOINTS = table(
    "endpoint-without-policy",
    ("an account of the stack's", OK, (BUDGET, network.endpoint(network.allow(network.OWN)))),
    ("a foreign account's credentials", VIOLATED, (BUDGET, network.endpoint(network.allow(FOREIGN), service=ECR))),
    ("a foreign account beside the own", VIOLATED, (
        BUDGET, network.endpoint(network.allow(BESIDE), service=ECR),
    )),
    ("a foreign account's buckets", VIOLATED, (
        BUDGET, network.endpoint(network.allow({"aws:ResourceAccount": "444455556666"})),
    )),
    ("another account of ours", OK, (BUDGET, network.endpoint(network.allow(FOREIGN), service=ECR)), {},
     {"accountIds": ["444455556666"]}),
    ("a foreign account, where nobody knows the own", OK, (network.endpoint(network.allow(FOREIGN), service=ECR),)),
)  # fmt: skip


def allowing(action, resource="*", **condition):
    return cases_rights.policy(Action=action, Resource=resource, **({"Condition": condition} if condition else {}))


GROUP = "arn:aws:ec2:us-east-1:111122223333:security-group/sg-1"
PRIVILEGES = table(
    "privilege-on-any-resource",
    *(
        (f"{action} on anything", VIOLATED, allowing(action))
        for action in (
            "ec2:AuthorizeSecurityGroupIngress", "ec2:ModifyInstanceMetadataOptions", "ec2:CreateRoute",
            "ec2:ReplaceNetworkAclEntry", "ec2:DeleteFlowLogs", "s3:PutBucketPolicy", "cloudtrail:DeleteTrail",
            "cloudtrail:StopLogging", "guardduty:UpdateDetector", "kms:PutKeyPolicy", "kms:CreateGrant",
            "ec2:Authorize*", "route53resolver:Update*", "elasticfilesystem:PutFileSystemPolicy",
            "s3:BypassGovernanceRetention", "rds:ModifyDBInstance", "ec2:AttachInternetGateway",
        )
    ),
    ("a door in one group", OK, allowing("ec2:AuthorizeSecurityGroupIngress", GROUP)),
    ("a door in what is tagged", OK, allowing(
        "ec2:AuthorizeSecurityGroupIngress", StringEquals={"aws:ResourceTag/cluster": "demo"},
    )),
    ("a look at doors", OK, allowing("ec2:DescribeSecurityGroups")),
    ("a look at the record", OK, allowing(["cloudtrail:GetTrail", "guardduty:GetDetector"])),
)  # fmt: skip

SERVER = "exec mlflow server --app-name=basic-auth --uvicorn-opts='--ssl-certfile=/c --ssl-keyfile=/k'"


def shell(text, *words, command="sh"):
    return cases_tracking.server(command, *(words or ("-c",)), text)


def with_port(*command, image=""):
    found = cases_tracking.server(*command, image=image or pins().image("mlflow"))
    found.inputs["spec"]["template"]["spec"]["containers"][0]["ports"] = [{"containerPort": 5000}]
    return found


TRACKING = table(
    "tracking-without-authentication",
    ("a shell", OK, shell(SERVER)),
    ("a shell that does something before", OK, shell(f"cd /srv && mlflow db upgrade $URI && {SERVER}")),
    ("a shell with options", OK, shell(SERVER, "-euc", command="/bin/bash")),
    ("a shell, over several lines", OK, shell(
        "set -e\nmlflow server --app-name basic-auth \\\n --uvicorn-opts=--ssl-certfile=/c",
    )),
    ("a shell without accounts", VIOLATED, shell("exec mlflow server --host 0.0.0.0")),
    ("a shell with what is said elsewhere", VIOLATED, shell("mlflow server $OPTIONS")),
    ("a shell with accounts for another server", VIOLATED, shell(f"{SERVER}; mlflow server --port 81")),
    ("a shell with an open quotation", VIOLATED, shell("mlflow server --app-name='basic-auth")),
    ("a shell that runs a client", OK, shell("mlflow run . && python train.py")),
    ("a web server", VIOLATED, cases_tracking.server("gunicorn", "-b", ":5000", "mlflow.server:app")),
    ("a whole path", VIOLATED, cases_tracking.server("/usr/local/bin/mlflow", "server")),
    ("a script that nobody sees", VIOLATED, with_port("sh", "/srv/start.sh")),
    ("a script in the image", VIOLATED, with_port("/srv/start.sh")),
    ("another program of the image", OK, with_port("python", "/srv/metrics.py")),
    ("a script of another image", OK, with_port("sh", "/srv/start.sh", image="nginx:1")),
)  # fmt: skip


def projected(**token):
    source = {"serviceAccountToken": {"path": "token", **token}}
    volumes = [{"name": "v", "projected": {"sources": [{"configMap": {"name": "c"}}, source]}}]
    return cases_pods.pod(automountServiceAccountToken=False, serviceAccountName="trainer", volumes=volumes)


A = team("a")
TOKENS = table(
    "needless-api-token",
    ("a volume with one", VIOLATED, projected()),
    ("a volume with one for the API by name", VIOLATED, projected(audience="https://kubernetes.default.svc")),
    ("a volume with one for somebody else", OK, projected(audience="sts.amazonaws.com")),
    ("a volume with one for who has rights", OK, [projected(), cases_pods.binding()]),
    ("a team's account without one", OK, [A, cases_pods.service_account(False)]),
    ("a team's account with one", VIOLATED, [A, cases_pods.service_account(True)]),
    ("a team's account that says nothing", VIOLATED, [A, cases_pods.service_account(None)]),
    ("a team's account with rights", OK, [A, cases_pods.service_account(None), cases_pods.binding()]),
    ("an account of the platform's", OK, [cases_pods.service_account(None)]),
)

CLAIMS, CPU, SYSTEM = cases_guard.CLAIMS, cases_guard.CPU, cases_guard.SYSTEM
BOUNDS = [CLAIMS, CPU, SYSTEM]
DEFAULTS = cases_guard.DEFAULTS


def cpu(**hard):
    return cases_guard.quota("cpu", {"requests.cpu": "8", "requests.memory": "8Gi", "pods": "9", **hard}, "cpu-only")


LARGE = node_group("cpu", types=["m7i.2xlarge"], max=200)
HUGE = node_group("cpu", types=["m7i.48xlarge"], max=1000)
SEA = kubernetes("core/v1:PersistentVolume", "sea", spec={"capacity": {"storage": "10Pi"}})

QUOTAS = table(
    "team-without-quotas",
    ("a million pods", VIOLATED, (A, DEFAULTS, CLAIMS, cpu(pods="1000000"), SYSTEM)),
    ("a million pods in another unit", VIOLATED, (A, DEFAULTS, CLAIMS, cpu(pods="1M"), SYSTEM)),
    ("a thousand pods", OK, (A, DEFAULTS, CLAIMS, cpu(pods="1k"), SYSTEM)),
    ("an exabyte of memory", VIOLATED, (A, DEFAULTS, CLAIMS, cpu(**{"requests.memory": "1Ei"}), SYSTEM)),
    ("storage without end", VIOLATED, (A, DEFAULTS, CPU, SYSTEM, cases_guard.quota(
        "claims", {"persistentvolumeclaims": "4", "requests.storage": "999Pi"},
    ))),
    ("more is somebody's", OK, (A, DEFAULTS, CLAIMS, cpu(pods="20000"), SYSTEM), {}, {"most": {"pods": "50000"}}),
    ("as many pods as the nodes hold", OK, (A, DEFAULTS, CLAIMS, cpu(pods="17900"), SYSTEM, LARGE)),
    ("more pods than the nodes hold", VIOLATED, (A, DEFAULTS, CLAIMS, cpu(pods="30k"), SYSTEM, LARGE)),
    ("many pods on few nodes", VIOLATED, (A, DEFAULTS, CLAIMS, cpu(pods="17900"), SYSTEM, node_group())),
    ("more than somebody's, on large nodes", VIOLATED, (A, DEFAULTS, CLAIMS, cpu(pods="20"), SYSTEM, LARGE), {},
     {"most": {"pods": "10"}}),
    ("the cores of the nodes", OK, (A, DEFAULTS, CLAIMS, cpu(**{"requests.cpu": "150k"}), SYSTEM, HUGE)),
    ("what the volumes hold", OK, (A, DEFAULTS, CPU, SYSTEM, SEA, cases_guard.quota(
        "claims", {"persistentvolumeclaims": "4", "requests.storage": "19Pi"},
    ))),
    ("more than the volumes hold", VIOLATED, (A, DEFAULTS, CPU, SYSTEM, SEA, cases_guard.quota(
        "claims", {"persistentvolumeclaims": "4", "requests.storage": "21Pi"},
    ))),
    ("no defaults", VIOLATED, (A, *BOUNDS)),
    ("defaults of another namespace", VIOLATED, (A, *BOUNDS, cases_guard.defaults("team-b"))),
    ("defaults of CPU alone", VIOLATED, (A, *BOUNDS, cases_guard.defaults(defaultRequest={"cpu": "1"}))),
    ("defaults of pods", VIOLATED, (A, *BOUNDS, cases_guard.defaults(type="Pod"))),
    ("a limit by default", OK, (A, *BOUNDS, cases_guard.defaults(defaultRequest={}, default={"memory": "1Gi"}))),
    ("whoever asks for nothing is refused", OK, (A, *BOUNDS, cases_guard.quota("all", {"requests.memory": "1Ti"}))),
)  # fmt: skip

rule, account, bound, wide = cases_rights.rule, cases_rights.account, cases_rights.bound, cases_rights.wide
CI, OPERATOR = account("ci", "ci"), account("operator", "tools")
KUEUE = "kueue.x-k8s.io"


def aggregated(to, *rules):
    labels = {f"rbac.authorization.k8s.io/aggregate-to-{to}": "true"}
    return kubernetes("rbac.authorization.k8s.io/v1:ClusterRole", "more", labels=labels, rules=list(rules))


MORE_RIGHTS = table(
    "rights-that-lead-to-more",
    ("namespaces are made", VIOLATED, wide(rule("create", "namespaces"), subject=CI)),
    ("queues are changed", VIOLATED, wide(rule("patch", "clusterqueues", KUEUE), subject=CI)),
    ("cohorts are made", VIOLATED, wide(rule("create", "cohorts", KUEUE), subject=CI)),
    ("workloads are admitted", VIOLATED, wide(rule("update", "workloads/status", KUEUE), subject=CI)),
    ("queues are looked at", OK, wide(rule("get list watch", "clusterqueues workloads", KUEUE), subject=CI)),
    ("one queue by its name", OK, wide(rule("patch", "clusterqueues", KUEUE, resourceNames=["ci"]), subject=CI)),
    ("settings of all programs", VIOLATED, wide(rule("update", "configmaps"), subject=CI)),
    ("settings of the system", VIOLATED, bound(rule("update", "configmaps"), subject=CI, namespace="kube-system")),
    ("passwords of the system", VIOLATED, bound(rule("get", "secrets"), subject=CI, namespace="kueue-system")),
    ("one setting of the system", OK, bound(
        rule("update", "configmaps", resourceNames=["status"]), subject=CI, namespace="kube-system",
    )),
    ("its own settings", OK, bound(rule("update", "configmaps"), subject=OPERATOR, namespace="tools")),
    ("settings of its own system namespace", OK, bound(
        rule("update", "configmaps secrets"), subject=account("op", "op-system"), namespace="op-system",
    )),
    ("a team's passwords", VIOLATED, bound(rule("get list", "secrets"), subject=CI)),
    ("a team's pods are entered", VIOLATED, bound(rule("create", "pods/exec"), subject=CI)),
    ("a team's jobs are made", OK, bound(rule("create", "jobs", "batch"), subject=CI)),
    ("one password of a team's", OK, bound(rule("get", "secrets", resourceNames=["ci"]), subject=CI)),
    ("view reads passwords", VIOLATED, aggregated("view", rule("get list", "secrets"))),
    ("view enters pods", VIOLATED, aggregated("view", rule("create", "pods/exec"))),
    ("edit binds roles", VIOLATED, aggregated("edit", rule("create", "rolebindings", "rbac.authorization.k8s.io"))),
    ("admin changes queues", VIOLATED, aggregated("admin", rule("*", "*", KUEUE))),
    ("admin has what admin has", OK, aggregated("admin", rule("create", "rolebindings", "rbac.authorization.k8s.io"))),
    ("view sees a kind more", OK, aggregated("view", rule("get list watch", "trainjobs", "trainer.kubeflow.org"))),
    ("edit edits a kind more", OK, aggregated("edit", rule("*", "trainjobs", "trainer.kubeflow.org"))),
    ("a label of another kind", OK, aggregated("batch-admin", rule("get", "secrets"))),
)  # fmt: skip

BOTH = cases_rights.entry("team:a", "team:b")
PEOPLE = table(
    "person-of-several-teams",
    ("of one", OK, cases_rights.entry("team:a")),
    ("of one and another group", OK, cases_rights.entry("team:a", "auditors")),
    ("of none", OK, cases_rights.entry("platform:admins", "auditors")),
    ("of two", VIOLATED, BOTH),
    ("of one, twice said", OK, cases_rights.entry("team:a", "team:a")),
    ("of two on purpose", OK, BOTH, {}, {"ofSeveralTeams": [cases_rights.ANN]}),
    ("unknown", UNDECIDED, unknown(BOTH, "kubernetesGroups")),
)

DISK = made("aws:ebs/volume:Volume", "disk", {"encrypted": True})
EBS = {"csi": {"driver": "ebs.csi.aws.com", "volumeHandle": "vol-1"}}


def team_volume(**spec):
    return [*cases_data_walls.TEAMS, cases_data_walls.volume(**spec)]


def of_the_stack():
    found = cases_data_walls.volume(**EBS)
    return [*cases_data_walls.TEAMS, DISK, made(found.type, found.name, found.inputs, uses={"spec": [DISK]})]


VOLUMES = table(
    "volume-with-the-drivers-rights",
    ("a disk of somebody's", VIOLATED, team_volume(**EBS)),
    ("a disk in the older words", VIOLATED, team_volume(awsElasticBlockStore={"volumeID": "vol-1"})),
    ("a block device", VIOLATED, team_volume(iscsi={"targetPortal": "10.0.0.1"})),
    ("a disk that the stack makes", OK, of_the_stack()),
    ("a disk of the platform's", OK, team_volume(namespace="mlflow", **EBS)),
)

REPOSITORY = "aws:ecr/repository:Repository"
CACHE = made("aws:ecr/pullThroughCacheRule:PullThroughCacheRule", "k8s", {"ecrRepositoryPrefix": "acme/k8s"})


def by_template(*for_, **more):
    given = {"prefix": "acme", "appliedFors": list(for_), **more}
    return made("aws:ecr/repositoryCreationTemplate:RepositoryCreationTemplate", "t", given)


def repository(name="acme/k8s/pause", **more):
    return made(REPOSITORY, "r", {"name": name, **more})


FIXED = {"imageTagMutability": "IMMUTABLE"}
CACHED = table(
    "cached-images-can-change",
    ("fixed", OK, [CACHE, repository(**FIXED), by_template("PULL_THROUGH_CACHE", **FIXED)]),
    ("a template that says nothing", VIOLATED, by_template("PULL_THROUGH_CACHE")),
    ("a template with tags that move", VIOLATED, by_template("PULL_THROUGH_CACHE", imageTagMutability="MUTABLE")),
    ("a template for copies", OK, by_template("REPLICATION")),
    ("a repository of the cache", VIOLATED, [CACHE, repository()]),
    ("a repository of people's own", OK, [CACHE, repository("acme/training")]),
    ("no cache", OK, repository()),
    ("unknown", UNDECIDED, by_template("PULL_THROUGH_CACHE", imageTagMutability=UNKNOWN)),
)
ANYBODY = '{"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "ecr:BatchGetImage"}]}'
OPEN_CACHE = table(
    "resource-open-to-everybody",
    ("a template of open repositories", VIOLATED, by_template("PULL_THROUGH_CACHE", repositoryPolicy=ANYBODY)),
    ("a registry", VIOLATED, made("aws:ecr/registryPolicy:RegistryPolicy", "r", {"policy": ANYBODY})),
)

SCHEME, OF_INGRESS = "service.beta.kubernetes.io/aws-load-balancer-scheme", "alb.ingress.kubernetes.io/scheme"
NLB = {"type": "LoadBalancer", "loadBalancerClass": "service.k8s.aws/nlb"}


def service(spec, **annotations):
    return kubernetes("core/v1:Service", "mlflow", "mlflow", spec=spec, annotations=annotations)


def ingress_class(controller, name="all"):
    annotations = {"ingressclass.kubernetes.io/is-default-class": "true"}
    spec = {"controller": controller, "parameters": {"kind": "IngressClassParams", "name": "params"}}
    return kubernetes("networking.k8s.io/v1:IngressClass", name, annotations=annotations, spec=spec)


def parameters(scheme):
    return kubernetes("elbv2.k8s.aws/v1beta1:IngressClassParams", "params", spec={"scheme": scheme})


def chart(name, values):
    return kubernetes("helm.sh/v3:Release", "proxy", chart=name, values=values)


def on_controller(**service):
    return {"controller": {"service": service}}


def ingress(name="alb", **annotations):
    return kubernetes(
        "networking.k8s.io/v1:Ingress", "i", "mlflow", spec={"ingressClassName": name}, annotations=annotations
    )


BALANCERS = table(
    "public-load-balancer",
    ("AWS's controller makes internal ones", OK, service(NLB)),
    ("of an older way to ask for it", OK, service(
        {"type": "LoadBalancer"}, **{"service.beta.kubernetes.io/aws-load-balancer-type": "external"},
    )),
    ("unless it is asked", VIOLATED, service(NLB, **{SCHEME: "internet-facing"})),
    ("whatever it is asked besides", VIOLATED, service(
        {"type": "LoadBalancer"},
        **{SCHEME: "internet-facing", "service.beta.kubernetes.io/aws-load-balancer-internal": "true"},
    )),
    ("the older network balancer", VIOLATED, service(
        {"type": "LoadBalancer"}, **{"service.beta.kubernetes.io/aws-load-balancer-type": "nlb"},
    )),
    ("an ALB by default", OK, ingress()),
    ("an ALB by the older name of its class", OK, ingress("", **{"kubernetes.io/ingress.class": "alb"})),
    ("an internal ALB", OK, ingress(**{OF_INGRESS: "internal"})),
    ("an ALB for everybody", VIOLATED, ingress(**{OF_INGRESS: "internet-facing"})),
    ("an ALB of EKS's own", OK, ingress("eks.amazonaws.com/alb")),
    ("a proxy's, as public as its Service", OK, ingress("nginx")),
    ("a proxy's, with a word of another controller", OK, ingress("nginx", **{OF_INGRESS: "internet-facing"})),
    ("a class made elsewhere", OK, ingress("edge")),
    ("a class made elsewhere, for everybody", VIOLATED, ingress("edge", **{OF_INGRESS: "internet-facing"})),
    ("Google's", VIOLATED, ingress("", **{"kubernetes.io/ingress.class": "gce"})),
    ("Google's, inside", OK, ingress("", **{"kubernetes.io/ingress.class": "gce-internal"})),
    ("of the class that the stack has for all", OK, [ingress(""), ingress_class("k8s.io/ingress-nginx")]),
    ("of AWS's class for all", OK, [ingress(""), ingress_class("ingress.k8s.aws/alb")]),
    ("of Google's class for all", VIOLATED, [ingress(""), ingress_class("k8s.io/ingress-gce")]),
    ("of a class whose balancers are for everybody", VIOLATED, [
        ingress("edge"), ingress_class("ingress.k8s.aws/alb", name="edge"), parameters("internet-facing"),
    ]),
    ("of a class whose balancers are internal", OK, [
        ingress("edge", **{OF_INGRESS: "internet-facing"}), ingress_class("ingress.k8s.aws/alb", name="edge"),
        parameters("internal"),
    ]),
    ("a proxy's chart, as it is", VIOLATED, chart("ingress-nginx", {})),
    ("a proxy's chart, and its Ingress", VIOLATED, [chart("traefik", {}), ingress("traefik")]),
    ("a proxy's chart, asked for everybody", VIOLATED, chart("ingress-nginx", on_controller(type="LoadBalancer"))),
    ("a proxy's chart, inside", OK, chart("ingress-nginx", on_controller(type="ClusterIP"))),
    ("a proxy that serves Ingresses without a class", OK, [
        chart("ingress-nginx", {"controller": {"service": {"type": "ClusterIP"}, "watchIngressWithoutClass": True}}),
        ingress(""),
    ]),
    ("without a class, beside a proxy that passes it over", VIOLATED, [
        chart("ingress-nginx", on_controller(type="ClusterIP")), ingress(""),
    ]),
    ("a proxy's chart, with an internal balancer", OK, chart(
        "ingress-nginx", on_controller(annotations={SCHEME: "internal"})
    )),
    ("a proxy's chart, of AWS's controller", OK, chart(
        "ingress-nginx", on_controller(type="LoadBalancer", loadBalancerClass="service.k8s.aws/nlb")
    )),
    ("a proxy's chart, of AWS's controller, for everybody", VIOLATED, chart(
        "ingress-nginx",
        on_controller(loadBalancerClass="service.k8s.aws/nlb", annotations={SCHEME: "internet-facing"}),
    )),
    ("a proxy's chart, without the Service to the outside", OK, chart(
        "ingress-nginx", on_controller(external={"enabled": False}, internal={"enabled": True})
    )),
    ("a proxy's chart, of whose values nothing is known", UNDECIDED, chart("ingress-nginx", UNKNOWN)),
    ("addresses from outside", VIOLATED, service({"type": "ClusterIP", "externalIPs": ["203.0.113.1"]})),
)  # fmt: skip


def fence(*directions, namespace="mlflow", name="all", **rules):
    spec = {"podSelector": {}, "policyTypes": list(directions), **rules}
    return kubernetes("networking.k8s.io/v1:NetworkPolicy", name, namespace, spec=spec)


BOTH_WAYS = ("Ingress", "Egress")
MLFLOW = kubernetes("core/v1:Namespace", "mlflow")
FENCES = [
    *table(
        "namespace-without-network-policy",
        ("a fence with a hole", VIOLATED, [MLFLOW, fence(*BOTH_WAYS, egress=[{}])]),
        ("a fence with a gate", VIOLATED, [MLFLOW, fence(*BOTH_WAYS, ingress=[{"from": [{"namespaceSelector": {}}]}])]),
        ("a fence a direction", OK, [MLFLOW, fence("Ingress"), fence("Egress", name="out")]),
        ("half a fence", VIOLATED, [MLFLOW, fence("Egress")]),
        ("a fence that names no direction", VIOLATED, [MLFLOW, fence()]),
    ),
    *table(
        "team-namespace-without-default-deny",
        (
            "a fence a direction",
            OK,
            [A, fence("Ingress", namespace="team-a"), fence("Egress", namespace="team-a", name="out")],
        ),
        ("a fence with a hole", VIOLATED, [A, fence(*BOTH_WAYS, namespace="team-a", egress=[{}])]),
    ),
]

HALVES = table(
    "team-reaches-another-team",
    ("half a way by a label that all teams have", VIOLATED, [*cases_reach.APART, cases_reach.policy("a", [
        {"namespaceSelector": {"matchExpressions": [{"key": "ml.platform/team", "operator": "Exists"}]}},
    ])]),
    ("half a way to some pods", VIOLATED, [
        *cases_reach.APART, cases_reach.policy("b", (), [cases_reach.called("team-a", matchLabels={"x": "y"})]),
    ]),
    ("a way to oneself by name", OK, [
        *cases_reach.APART, cases_reach.policy("a", [cases_reach.called("team-a")], [cases_reach.called("team-a")]),
    ]),
    ("a way to a team that is not there", OK, [
        *cases_reach.APART, cases_reach.policy("a", [cases_reach.called("team-z")]),
    ]),
)  # fmt: skip

CASES = [
    *POINTS,
    *ENDPOINTS,
    *PRIVILEGES,
    *TRACKING,
    *TOKENS,
    *QUOTAS,
    *MORE_RIGHTS,
    *PEOPLE,
    *VOLUMES,
    *CACHED,
    *OPEN_CACHE,
    *BALANCERS,
    *FENCES,
    *HALVES,
]

OTHER = "444455556666"
SHARED = table(
    "shared-with-another-account",
    ("nothing", OK, BUDGET),
    ("objects are copied", VIOLATED, [BUDGET, made("aws:s3/bucketReplicationConfig:BucketReplicationConfig", "r", {
        "rules": [{"destination": {"bucket": "arn:aws:s3:::copy", "account": OTHER}}],
    })]),
    ("objects are copied at home", OK, [BUDGET, made("aws:s3/bucketReplicationConfig:BucketReplicationConfig", "r", {
        "rules": [{"destination": {"bucket": "arn:aws:s3:::copy"}}],
    })]),
    ("a snapshot", VIOLATED, [BUDGET, made("aws:rds/snapshot:Snapshot", "s", {"sharedAccounts": [OTHER]})]),
    ("a snapshot for everybody", VIOLATED, [
        BUDGET, made("aws:rds/snapshot:Snapshot", "s", {"sharedAccounts": ["all"]}),
    ]),
    ("a snapshot of one's own", OK, [BUDGET, made("aws:rds/snapshot:Snapshot", "s", {})]),
    ("a network", VIOLATED, [
        BUDGET, made("aws:ec2/vpcPeeringConnection:VpcPeeringConnection", "p", {"peerOwnerId": OTHER}),
    ]),
    ("a network of one's own", OK, [
        BUDGET, made("aws:ec2/vpcPeeringConnection:VpcPeeringConnection", "p", {"peerOwnerId": network.ACCOUNT}),
    ]),
    ("an organisation", OK, [BUDGET, made("aws:ram/principalAssociation:PrincipalAssociation", "p", {
        "principal": "arn:aws:organizations::111122223333:organization/o-1",
    })]),
    ("another account of ours", OK, [BUDGET, made("aws:rds/snapshot:Snapshot", "s", {"sharedAccounts": [OTHER]})], {},
     {"accountIds": [OTHER]}),
    ("unknown", UNDECIDED, [BUDGET, made("aws:rds/snapshot:Snapshot", "s", {"sharedAccounts": [UNKNOWN]})]),
)  # fmt: skip

GATEWAY = made("aws:ec2/internetGateway:InternetGateway", "g", {})
TABLE = made("aws:ec2/routeTable:RouteTable", "t", {})
SUBNET = made("aws:ec2/subnet:Subnet", "s", {})
JOINED = made("aws:ec2/routeTableAssociation:RouteTableAssociation", "a", {}, uses={
    "subnetId": [SUBNET], "routeTableId": [TABLE],
})  # fmt: skip


def routed(holder, key="subnetIds", **way):
    given = {"destinationCidrBlock": "0.0.0.0/0", **(way or {"gatewayId": "igw-1"})}
    route = made("aws:ec2/route:Route", "out", given, uses={"routeTableId": [TABLE]})
    return [GATEWAY, TABLE, SUBNET, JOINED, route, made(holder, "holder", {}, uses={key: [SUBNET]})]


NODES, SUBNETS = "aws:eks/nodeGroup:NodeGroup", "aws:rds/subnetGroup:SubnetGroup"
ROUTES = table(
    "subnet-routed-to-the-internet",
    ("nodes behind a NAT", OK, routed(NODES, natGatewayId="nat-1")),
    ("nodes", VIOLATED, routed(NODES)),
    ("nodes, by halves", VIOLATED, routed(NODES, destinationCidrBlock="128.0.0.0/1", gatewayId="igw-1")),
    ("a database", VIOLATED, routed(SUBNETS)),
    ("file servers", VIOLATED, routed("aws:efs/mountTarget:MountTarget", "subnetId")),
    ("a NAT gateway", OK, routed("aws:ec2/natGateway:NatGateway", "subnetId")),
    ("nodes, to an office", OK, routed(NODES, destinationCidrBlock="192.0.2.0/24", gatewayId="vgw-1")),
    ("nodes, over IPv6", VIOLATED, routed(
        NODES, destinationIpv6CidrBlock="::/0", gatewayId="igw-1", destinationCidrBlock=None,
    )),
    ("a gateway that is yet to be made", VIOLATED, routed(NODES, gatewayId=UNKNOWN)),
)  # fmt: skip


def started_with(text):
    return cases_guard.template(text)


KUBELETS = table(
    "kubelet-open-to-everybody",
    ("nothing said", OK, started_with("#!/bin/bash\necho")),
    ("no user data", OK, started_with(None)),
    ("asks", OK, started_with("kubelet: {config: {authentication: {anonymous: {enabled: false}}}, readOnlyPort: 0}")),
    ("anybody by an option", VIOLATED, started_with("--kubelet-extra-args '--anonymous-auth=true'")),
    ("anybody by its configuration", VIOLATED, started_with("authentication:\n  anonymous:\n    enabled: true")),
    ("anybody in JSON", VIOLATED, started_with('{"authentication": {"anonymous": {"enabled": true}}}')),
    ("everything", VIOLATED, started_with("authorization:\n  mode: AlwaysAllow")),
    ("the port without questions", VIOLATED, started_with("--read-only-port=10255")),
    ("unknown", UNDECIDED, unknown(started_with(""), "userData")),
)

SQUID = """acl tunnel method CONNECT
acl secure port 443
acl inside dst 10.0.0.0/8 169.254.0.0/16
acl allowed dstdomain -n .hf.co
acl allowed dstdomain -n pypi.org
http_access deny !tunnel
http_access deny !secure
http_access deny !allowed
http_access deny inside
http_access allow tunnel
http_access deny all
"""


def squid(old="", new=""):
    assert old in SQUID
    data = {"squid.conf": SQUID.replace(old, new) if old else SQUID}
    return kubernetes("core/v1:ConfigMap", "proxy", "egress", data=data)


DOORS = """http_port 3128
http_port 127.0.0.1:3129
acl door localport 3129
acl keys dstdomain -n login.acme.example
http_access deny door !keys
http_access deny !door !allowed"""

PROXIES = table(
    "proxy-lets-everything-out",
    ("a list", OK, squid()),
    ("no proxy", OK, kubernetes("core/v1:ConfigMap", "c", "c", data={"a": "b"})),
    ("everything first", VIOLATED, squid("http_access deny !tunnel", "http_access allow all")),
    ("the list is not asked", VIOLATED, squid("http_access deny !allowed\n")),
    ("everything by a dot", VIOLATED, squid("pypi.org", ".")),
    ("a whole ending", VIOLATED, squid("pypi.org", ".example")),
    ("an ending that a registry sells", VIOLATED, squid("pypi.org", ".com")),
    ("one of a country's", VIOLATED, squid("pypi.org", ".co.uk")),
    ("an ending at home", OK, squid("pypi.org", ".internal")),
    ("a service's own", OK, squid("pypi.org", ".githubusercontent.com")),
    ("a name that leads inside", VIOLATED, squid("http_access deny inside\n")),
    ("any port", VIOLATED, squid("http_access deny !secure\n")),
    ("one port more", OK, squid("acl secure port 443", "acl secure port 443 22")),
    ("the way inside", VIOLATED, squid(
        "http_access deny !allowed\nhttp_access deny inside", "http_access allow inside",
    )),
    ("the other way round", VIOLATED, squid("http_access deny !allowed", "http_access deny allowed")),
    ("a second door", OK, squid("http_access deny !allowed", DOORS)),
    ("a second door to everywhere", VIOLATED, squid(
        "http_access deny !allowed", DOORS.replace("deny door !keys", "allow door tunnel"),
    )),
    ("a second door that nobody asks about", VIOLATED, squid(
        "http_access deny !allowed", "http_port 3128\nhttp_port 3129\nacl door localport 3129\nhttp_access deny "
        "!door !allowed",
    )),
    ("a list by a program", OK, squid(
        "acl allowed dstdomain -n .hf.co\nacl allowed dstdomain -n pypi.org", "acl allowed external x",
    )),
    ("unknown", UNDECIDED, kubernetes("core/v1:ConfigMap", "c", "c", data=UNKNOWN)),
)  # fmt: skip

TRACKING_FILES = table(
    "tracking-without-authentication",
    ("MLflow's own accounts", VIOLATED, cases_tracking.server(*cases_tracking.SOUND, MLFLOW_AUTH_CONFIG_PATH="-")),
    ("accounts in a folder that is empty", VIOLATED, cases_tracking.server(
        *cases_tracking.SOUND, MLFLOW_AUTH_CONFIG_PATH="/tmp/own.ini",
    )),
    ("accounts in nobody's folder", VIOLATED, cases_tracking.server(
        *cases_tracking.SOUND, MLFLOW_AUTH_CONFIG_PATH="/srv/own.ini",
    )),
    ("any host", VIOLATED, cases_tracking.server(*cases_tracking.SOUND, "--allowed-hosts=*")),
    ("no protection of browsers", VIOLATED, cases_tracking.server(
        *cases_tracking.SOUND, "--disable-security-middleware",
    )),
    ("its own hosts", OK, cases_tracking.server(*cases_tracking.SOUND, "--allowed-hosts=mlflow.mlflow.svc")),
)  # fmt: skip

FURTHER = [
    *table(
        "security-group-open-to-internet",
        ("the network's own group", OK, made("aws:ec2/defaultSecurityGroup:DefaultSecurityGroup", "d", {})),
        ("the network's own group, open", VIOLATED, made("aws:ec2/defaultSecurityGroup:DefaultSecurityGroup", "d", {
            "egress": [{"protocol": "-1", "cidrBlocks": ["0.0.0.0/0"]}],
        })),
    ),
    *table(
        "node-with-public-address",
        ("a key for SSH", VIOLATED, made("aws:ec2/launchTemplate:LaunchTemplate", "t", {"keyName": "ops"})),
    ),
    *table(
        "flow-logs-incomplete",
        ("a format without ends", VIOLATED, [network.VPC, made("aws:ec2/flowLog:FlowLog", "l", {
            "trafficType": "ALL", "logFormat": "${srcaddr} ${action}",
        }, uses={"vpcId": [network.VPC]})]),
        ("a format of more", OK, [network.VPC, made("aws:ec2/flowLog:FlowLog", "l", {
            "trafficType": "ALL", "logFormat": "${srcaddr} ${dstaddr} ${dstport} ${action} ${pkt-srcaddr}",
        }, uses={"vpcId": [network.VPC]})]),
    ),
    *table(
        "namespace-without-pod-security",
        ("rules of long ago", VIOLATED, kubernetes("core/v1:Namespace", "a", labels={
            "pod-security.kubernetes.io/enforce": "baseline", "pod-security.kubernetes.io/enforce-version": "v1.19",
        })),
        ("rules of a version", OK, kubernetes("core/v1:Namespace", "a", labels={
            "pod-security.kubernetes.io/enforce": "baseline", "pod-security.kubernetes.io/enforce-version": "v1.35",
        })),
    ),
    *table(
        "platform-nodes-open-to-teams",
        ("GPU nodes without a taint", VIOLATED, [
            team("a"), cases_guard.plain_nodes("system", cases_guard.TAINT), cases_guard.node_group(),
        ]),
        ("GPU nodes alone", OK, [team("a"), cases_guard.node_group()]),
    ),
    *table(
        "resource-open-to-everybody",
        ("an access point of a bucket", VIOLATED, made("aws:s3/accessPoint:AccessPoint", "p", {"policy": ANYBODY})),
        ("logs", VIOLATED, made("aws:cloudwatch/logResourcePolicy:LogResourcePolicy", "p", {
            "policyDocument": ANYBODY,
        })),
    ),
]  # fmt: skip

CASES += [*SHARED, *ROUTES, *KUBELETS, *PROXIES, *TRACKING_FILES, *FURTHER]
