"""Truth tables of identity, workloads, audit, residency, scheduling, reliability and exceptions."""

import base64
import json

from tests.policies.cases_pods import patched_train_job, train_job
from tests.policies.truth import (
    NOT_APPLICABLE,
    OK,
    UNDECIDED,
    UNKNOWN,
    VIOLATED,
    bucket,
    gke_pool,
    kubernetes,
    made,
    node_group,
    table,
    team,
    unknown,
)
from trainyard.conventions.aws import SESSION_AGENT_ACTIONS
from trainyard.recorded.node_groups import LAUNCH_TEMPLATE
from trainyard.recorded.types import AUTOSCALING_GROUP

IMAGE = f"org/app:1@sha256:{'a' * 64}"
NODE_ROLE = made(
    "aws:iam/role:Role", "node", {"assumeRolePolicy": json.dumps({"Principal": {"Service": "ec2.amazonaws.com"}})}
)
POD_ROLE = made(
    "aws:iam/role:Role", "pod", {"assumeRolePolicy": '{"Principal": {"Service": "pods.eks.amazonaws.com"}}'}
)
UAE, US = {"residency": "uae"}, {"residency": "us"}
RBAC = "rbac.authorization.k8s.io/v1"
EKS = "aws:eks/cluster:Cluster"


def fabric(*groups):
    """A pool of nodes with an adapter: so many of each capacity."""
    interfaces = [{"interfaceType": "efa"}]
    template = made("aws:ec2/launchTemplate:LaunchTemplate", "t", {"networkInterfaces": interfaces})
    return [
        template,
        *(
            node_group(capacity, capacity=capacity, max=most, uses={"launchTemplate": [template]})
            for capacity, most in groups
        ),
    ]


def iam(role=POD_ROLE, **statement):
    statement = {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": "*", **statement}
    inputs = {"policy": json.dumps({"Statement": [statement]})}
    return made("aws:iam/rolePolicy:RolePolicy", f"{role.name}-policy", inputs, uses={"role": [role]})


def sessions(*more, key="Action"):
    """What lets the agent of Session Manager on nodes ask for sessions, and more."""
    document = {"Statement": [{"Effect": "Allow", key: [*SESSION_AGENT_ACTIONS, *more], "Resource": "*"}]}
    inputs = {"policy": json.dumps(document)}
    return made("aws:iam/rolePolicy:RolePolicy", "node-sessions", inputs, uses={"role": [NODE_ROLE]})


def machine():
    """An instance of its own with the role of nodes, by its profile."""
    profile = made("aws:iam/instanceProfile:InstanceProfile", "profile", {"role": "node"}, uses={"role": [NODE_ROLE]})
    one = made("aws:ec2/instance:Instance", "machine", {}, uses={"iamInstanceProfile": [profile]})
    return [profile, one]


def of_group(script="", **tags):
    """An Auto Scaling group whose machines have the role of nodes, by their template's profile."""
    data = {"userData": base64.b64encode(script.encode()).decode()}
    profile = machine()[0]
    template = made(LAUNCH_TEMPLATE, "web", data, uses={"iamInstanceProfile": [profile]})
    inputs = {"tags": [{"key": key, "value": value, "propagateAtLaunch": True} for key, value in tags.items()]}
    return [profile, template, made(AUTOSCALING_GROUP, "web", inputs, uses={"launchTemplate": [template]})]


def grown(user_data="#!/bin/bash\ndnf install -y nginx\n", *more, provider=False, **group):
    """Machines of a group with the role of nodes, by the profile of their template."""
    profile = machine()[0]
    script = base64.b64encode(user_data.encode()).decode()
    template = made(
        "aws:ec2/launchTemplate:LaunchTemplate", "t", {"userData": script}, uses={"iamInstanceProfile": [profile]}
    )
    scaled = made("aws:autoscaling/group:Group", "scaled", group, uses={"launchTemplate": [template]})
    type_ = "aws:ecs/capacityProvider:CapacityProvider"
    of_ecs = [made(type_, "ecs", {}, uses={"autoScalingGroupProvider": [scaled]})] if provider else []
    return [profile, template, scaled, *of_ecs, *more]


def image_builder():
    """What builds images on a machine with the role of nodes, by its profile."""
    type_ = "aws:imagebuilder/infrastructureConfiguration:InfrastructureConfiguration"
    return made(type_, "builder", {}, uses={"instanceProfileName": [machine()[0]]})


def of_batch(**inputs):
    """An environment of Batch whose instances have the role of nodes, by its profile."""
    profile = machine()[0]
    type_ = "aws:batch/computeEnvironment:ComputeEnvironment"
    environment = made(type_, "batch", {"computeResources": {}, **inputs}, uses={"computeResources": [profile]})
    return [profile, environment]


def attached_alone(*names, role=POD_ROLE):
    """What attaches all managed policies of a role, and takes every other one away."""
    type_ = "aws:iam/rolePolicyAttachmentsExclusive:RolePolicyAttachmentsExclusive"
    inputs = {"roleName": role.name, "policyArns": [f"arn:aws:iam::aws:policy/{name}" for name in names]}
    return made(type_, f"{role.name}-all", inputs, uses={"roleName": [role]})


NODES = made("aws:eks/nodeGroup:NodeGroup", "nodes", {}, uses={"nodeRoleArn": [NODE_ROLE]})


def attached(name, role=POD_ROLE):
    inputs = {"policyArn": f"arn:aws:iam::aws:policy/{name}"}
    return made(
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment", f"{role.name}-{name}", inputs, uses={"role": [role]}
    )


def boundary(*more, action="*"):
    """A policy that lets an action through, as the boundary of a role; `more`: what else is there."""
    document = {"Statement": [{"Effect": "Allow", "Action": action, "Resource": "*"}]}
    edge = made("aws:iam/policy:Policy", "edge", {"name": "edge", "policy": json.dumps(document)})
    role = made("aws:iam/role:Role", "held", {}, uses={"permissionsBoundary": [edge]})
    return [edge, role, *(one(edge) for one in more)]


def of_edge(kind, **inputs):
    """Something that gives somebody the rights of the policy, by its output or by its ARN."""
    return lambda edge: made(f"aws:iam/{kind}", "given", inputs, uses={} if inputs else {"policyArn": [edge]})


def add_on(name, version):
    return made("aws:eks/addon:Addon", name, {"addonName": name, "addonVersion": version})


def deployment(container=None, replicas=2, **pod):
    container = {"name": "app", "image": IMAGE, **(container or {})}
    template = {"metadata": {"labels": {"app": "x", "part": "y"}}, "spec": {"containers": [container], **pod}}
    return kubernetes("apps/v1:Deployment", "app", "team-a", spec={"replicas": replicas, "template": template})


def runtime(container):
    job = {"template": {"spec": {"template": {"spec": {"containers": [{"name": "node", **container}]}}}}}
    spec = {"template": {"spec": {"replicatedJobs": [job]}}}
    return kubernetes("trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime", "torch", spec=spec)


def network_policy(namespace="team-a", **spec):
    spec = {"podSelector": {}, "policyTypes": ["Ingress", "Egress"], **spec}
    return kubernetes("networking.k8s.io/v1:NetworkPolicy", "default-deny", namespace, spec=spec)


def namespace(**labels):
    return kubernetes(
        "core/v1:Namespace", "tools", labels={key.replace("_", "-"): value for key, value in labels.items()}
    )


def secure(standard):
    return kubernetes("core/v1:Namespace", "tools", labels={"pod-security.kubernetes.io/enforce": standard})


def expression(operator, *values):
    return {"matchExpressions": [{"key": "ml.platform/team", "operator": operator, "values": list(values)}]}


def queue(name="a", gpus="8", **spec):
    flavors = [{"name": "train-spot", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": gpus}]}]
    sound = {
        "namespaceSelector": {"matchLabels": {"ml.platform/team": name}},
        "preemption": {"withinClusterQueue": "LowerPriority"},
        "resourceGroups": [{"coveredResources": ["nvidia.com/gpu"], "flavors": flavors}],
    }
    return kubernetes("kueue.x-k8s.io/v1beta2:ClusterQueue", name, spec={**sound, **spec})


def turns(config):
    """Nodes on which pods take turns on GPUs, by the name of what the device plugin does there."""
    labels = {"ml.platform/pool": "train", "ml.platform/capacity": "spot", "nvidia.com/device-plugin.config": config}
    return node_group(labels=labels)


def sharing(cohort="gpus", manager=None, nodes=None, **second):
    """Two queues of a cohort, each with one of the two p4d nodes, which have a fabric; the second is changed."""
    sound = {"cohortName": cohort, "preemption": {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}}
    gpus = second.pop("gpus", "8")
    queues = [queue("a", **sound), queue("b", gpus, **{**sound, **second})]
    return [*(nodes or whole_nodes()), flavor(), *queues, *([kueue_chart(manager)] if manager is not None else [])]


def whole_nodes(kind="efa"):
    interfaces = [{"networkCardIndex": card, "interfaceType": kind} for card in range(4)]
    template = made("aws:ec2/launchTemplate:LaunchTemplate", "t", {"networkInterfaces": interfaces})
    return [template, node_group(uses={"launchTemplate": [template]})]


def kueue_chart(*strategies):
    text = json.dumps({"fairSharing": {"preemptionStrategies": list(strategies[0])}} if strategies[0] else {})
    values = {"managerConfig": {"controllerManagerConfigYaml": text}}
    return kubernetes("helm.sh/v3:Release", "kueue", chart="oci://registry.k8s.io/kueue/charts/kueue", values=values)


FAIR = ["LessThanOrEqualToFinalShare"]
CPU_ONLY = [{"scopeName": "PriorityClass", "operator": "In", "values": ["cpu-only"]}]


def namespace_quota(*counted, scopes=None, selector=None, namespace="team-a"):
    spec = {"hard": dict.fromkeys(counted, "10"), "scopes": scopes or []}
    spec |= {"scopeSelector": {"matchExpressions": selector}} if selector else {}
    return [local_queue(), kubernetes("core/v1:ResourceQuota", "q", namespace, spec=spec)]


def local_queue(namespace="team-a", of="a", name="default"):
    return kubernetes("kueue.x-k8s.io/v1beta2:LocalQueue", name, namespace, spec={"clusterQueue": of})


def off_peak(of="a-night", gpus="0", keeper="team-a", **spec):
    """A queue of work that can wait, and the keeper that holds that of a namespace by day; None: there is none."""
    told = json.dumps({"queues": [{"namespace": keeper, "name": "off-peak"}]}) if keeper is not UNKNOWN else UNKNOWN
    pod = {"containers": [{"name": "keeper", "image": IMAGE, "args": [told]}]}
    kind, template = "apps/v1:Deployment", {"template": {"spec": pod}}
    keepers = [kubernetes(kind, "off-peak-keeper", "kueue-system", spec=template)] if keeper is not None else []
    return [queue(of, gpus, **spec), local_queue(of=of, name="off-peak"), *keepers]


def flavor(name="train-spot", capacity="spot", pool="train"):
    labels = {"ml.platform/pool": pool, "ml.platform/capacity": capacity}
    return kubernetes("kueue.x-k8s.io/v1beta2:ResourceFlavor", name, spec={"nodeLabels": labels})


def priorities(**values):
    type_ = "kueue.x-k8s.io/v1beta2:WorkloadPriorityClass"
    return [queue(), *(kubernetes(type_, name, value=value) for name, value in values.items())]


def reserved(**placement):
    target = {"capacityReservationId": "cr-1"}
    inputs = {"capacityReservationSpecification": {"capacityReservationTarget": target}, **placement}
    return made("aws:ec2/launchTemplate:LaunchTemplate", "t", inputs)


def job(pool):
    return kubernetes("batch/v1:Job", "smoke", "team-a", labels={"ml.platform/smoke-pool": pool}, spec={})


def chart(name="kueue", values=None, **more):
    return kubernetes(
        "helm.sh/v3:Release", name, chart=f"oci://registry.k8s.io/charts/{name}", values=values or {}, **more
    )


def disruption_budget(**labels):
    return kubernetes("policy/v1:PodDisruptionBudget", "app", "team-a", spec={"selector": {"matchLabels": labels}})


def provider(region):
    return made("pulumi:providers:aws", "aws", {"region": region} if region else {})


def accept(expires, **changes):
    entry = {"policy": "privileged-pod", "resource": "*", "reason": "r", "owner": "o", "expires": expires, **changes}
    return {"policyExceptions": [entry]}


PRIVILEGED = {"securityContext": {"privileged": True}}
VPC = made("aws:ec2/vpc:Vpc", "vpc", {})


def flow_log(kind, vpc=VPC, name="log"):
    return made("aws:ec2/flowLog:FlowLog", name, {"trafficType": kind}, uses={"vpcId": [vpc]})


CASES = [
    *table(
        "wildcard-admin",
        ("named", OK, iam(Action=["s3:GetObject"], Resource=["arn:aws:s3:::b/*"])),
        ("everything", VIOLATED, iam(Action="*")),
        ("a service everywhere", VIOLATED, iam(Action=["s3:*"])),
        ("a service on one thing", OK, iam(Action=["s3:*"], Resource=["arn:aws:s3:::b"])),
        ("a service with a condition", OK, iam(Action=["s3:*"], Condition={"Bool": {"x": "y"}})),
        ("all but some", VIOLATED, iam(NotAction=["iam:*"])),
        ("deny everything", OK, iam(Effect="Deny", Action="*")),
        ("pass any role", VIOLATED, iam(Action=["iam:PassRole"])),
        ("attached", VIOLATED, attached("AdministratorAccess")),
        ("full access attached", VIOLATED, attached("AmazonS3FullAccess")),
        ("everything among all at once", VIOLATED, attached_alone("AmazonEKSWorkerNodePolicy", "AdministratorAccess")),
        ("worker attached", OK, attached("AmazonEKSWorkerNodePolicy")),
        ("RBAC", VIOLATED, kubernetes(f"{RBAC}:ClusterRole", "r", rules=[{"verbs": ["*"], "resources": ["*"]}])),
        ("RBAC narrow", OK, kubernetes(f"{RBAC}:Role", "r", "a", rules=[{"verbs": ["*"], "resources": ["jobs"]}])),
        ("cluster-admin", VIOLATED, kubernetes(f"{RBAC}:ClusterRoleBinding", "b", roleRef={"name": "cluster-admin"})),
        ("GCP owner", VIOLATED, made("gcp:projects/iAMMember:IAMMember", "m", {"role": "roles/owner"})),
        ("a boundary", OK, boundary()),
        ("a policy that nobody holds", VIOLATED, boundary()[:1]),
        (
            "a boundary that a role is given too",
            VIOLATED,
            boundary(of_edge("rolePolicyAttachment:RolePolicyAttachment")),
        ),
        (
            "a boundary that a user is given by its ARN",
            VIOLATED,
            boundary(
                of_edge("userPolicyAttachment:UserPolicyAttachment", policyArn="arn:aws:iam::123456789012:policy/edge")
            ),
        ),
        ("a boundary beside a role that may all", VIOLATED, [*boundary(), iam(Action="*")]),
        ("unknown", UNDECIDED, unknown(iam(), "policy")),
        ("unknown beside what may all", VIOLATED, [unknown(iam(NODE_ROLE), "policy"), iam(Action="*")]),
    ),
    *table(
        "privilege-on-any-resource",
        ("of a boundary", OK, boundary(action="iam:CreateAccessKey")),
        (
            "of a boundary that a group is given",
            VIOLATED,
            boundary(of_edge("groupPolicyAttachment:GroupPolicyAttachment"), action="iam:CreateAccessKey"),
        ),
    ),
    *table(
        "long-lived-credentials",
        ("a user", VIOLATED, made("aws:iam/user:User", "u", {})),
        ("a provider with a key", VIOLATED, made("pulumi:providers:aws", "aws", {"secretKey": UNKNOWN})),
        ("a provider without", OK, provider("us-east-1")),
        ("a key", VIOLATED, made("aws:iam/accessKey:AccessKey", "k", {})),
        ("a GCP key", VIOLATED, made("gcp:serviceaccount/key:Key", "k", {})),
        ("a role", OK, POD_ROLE),
        ("a token", VIOLATED, kubernetes("core/v1:Secret", "t", type="kubernetes.io/service-account-token")),
        ("a secret", OK, kubernetes("core/v1:Secret", "t", stringData={})),
        ("in a pod", VIOLATED, deployment({"env": [{"name": "AWS_SECRET_ACCESS_KEY"}]})),
        ("other variables", OK, deployment({"env": [{"name": "HOME", "value": UNKNOWN}]})),
        ("unknown", UNDECIDED, deployment({"env": [{"name": UNKNOWN}]})),
    ),
    *table(
        "node-role-with-workload-rights",
        ("nothing more", OK, [NODE_ROLE, attached("AmazonEKSWorkerNodePolicy", NODE_ROLE)]),
        ("S3 in the node's role", VIOLATED, [NODE_ROLE, attached("AmazonS3FullAccess", NODE_ROLE)]),
        ("all at once", OK, [NODE_ROLE, attached_alone("AmazonEKSWorkerNodePolicy", role=NODE_ROLE)]),
        (
            "S3 in the node's role, among all at once",
            VIOLATED,
            [NODE_ROLE, attached_alone("AmazonEKSWorkerNodePolicy", "AmazonS3FullAccess", role=NODE_ROLE)],
        ),
        ("inline", VIOLATED, [NODE_ROLE, iam(NODE_ROLE)]),
        ("Session Manager's agent", OK, [NODE_ROLE, sessions()]),
        ("its agent, and more", VIOLATED, [NODE_ROLE, sessions("s3:GetObject")]),
        ("everything but", VIOLATED, [NODE_ROLE, sessions(key="NotAction")]),
        ("a pod's role", OK, [NODE_ROLE, POD_ROLE, iam(), attached("AmazonS3FullAccess")]),
        ("a machine's of its own", OK, [NODE_ROLE, iam(NODE_ROLE), *machine()]),
        ("an Auto Scaling group's", OK, [NODE_ROLE, iam(NODE_ROLE), *of_group("#!/bin/sh\nyum install -y nginx")]),
        ("of a group that joins", VIOLATED, [NODE_ROLE, iam(NODE_ROLE), *of_group("/etc/eks/bootstrap.sh c")]),
        ("of a tagged group", VIOLATED, [NODE_ROLE, iam(NODE_ROLE), *of_group(**{"kubernetes.io/cluster/c": "owned"})]),
        ("of a template alone", VIOLATED, [NODE_ROLE, iam(NODE_ROLE), *of_group()[:2]]),
        ("Batch's instances", OK, [NODE_ROLE, attached("AmazonS3FullAccess", NODE_ROLE), *of_batch()]),
        (
            "Batch's on a cluster of Kubernetes",
            VIOLATED,
            [
                NODE_ROLE,
                attached("AmazonS3FullAccess", NODE_ROLE),
                *of_batch(eksConfiguration={"kubernetesNamespace": "b"}),
            ],
        ),
        ("machines of ECS", OK, [NODE_ROLE, iam(NODE_ROLE), *grown("echo ECS_CLUSTER=web > /etc/ecs/ecs.config")]),
        ("machines of ECS, of a provider", OK, [NODE_ROLE, iam(NODE_ROLE), *grown("bootstrap", provider=True)]),
        (
            "machines of ECS, by their tag",
            OK,
            [NODE_ROLE, iam(NODE_ROLE), *grown("bootstrap", tags=[{"key": "AmazonECSManaged", "value": "true"}])],
        ),
        ("machines that serve pages", OK, [NODE_ROLE, iam(NODE_ROLE), *grown()]),
        (
            "machines that join a cluster of Kubernetes",
            VIOLATED,
            [NODE_ROLE, iam(NODE_ROLE), *grown("/etc/eks/bootstrap.sh main")],
        ),
        ("a machine that builds images", OK, [NODE_ROLE, iam(NODE_ROLE), machine()[0], image_builder()]),
        ("a profile that no machine has", VIOLATED, [NODE_ROLE, iam(NODE_ROLE), machine()[0]]),
        ("a machine's that a node group has too", VIOLATED, [NODE_ROLE, iam(NODE_ROLE), *machine(), NODES]),
        ("allowed", OK, [NODE_ROLE, attached("Mine", NODE_ROLE)], {}, {"nodePolicies": ["Mine"]}),
        ("unknown", UNDECIDED, unknown(NODE_ROLE, "assumeRolePolicy")),
    ),
    *table(
        "privileged-pod",
        ("plain", OK, deployment()),
        ("privileged", VIOLATED, deployment(PRIVILEGED)),
        ("may escalate", VIOLATED, deployment({"securityContext": {"allowPrivilegeEscalation": True}})),
        ("capabilities", VIOLATED, deployment({"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}})),
        ("host network", VIOLATED, deployment(hostNetwork=True)),
        ("host files", VIOLATED, deployment(volumes=[{"name": "v", "hostPath": {"path": "/"}}])),
        ("init container", VIOLATED, deployment(initContainers=[{"name": "i", **PRIVILEGED}])),
        ("training runtime", VIOLATED, runtime(PRIVILEGED)),
        ("train job", OK, patched_train_job()),
        ("train job's patch", VIOLATED, patched_train_job(PRIVILEGED)),
        ("train job's host files", VIOLATED, patched_train_job(volumes=[{"name": "v", "hostPath": {"path": "/"}}])),
        (
            "cron job",
            VIOLATED,
            kubernetes(
                "batch/v1:CronJob",
                "c",
                "n",
                spec={"jobTemplate": {"spec": {"template": {"spec": {"containers": [{"name": "x", **PRIVILEGED}]}}}}},
            ),
        ),
        ("named", OK, deployment(PRIVILEGED), {}, {"systemWorkloads": ["team-a/*"]}),
        ("unknown", UNDECIDED, deployment({"securityContext": {"privileged": UNKNOWN}})),
    ),
    *table(
        "namespace-without-pod-security",
        ("restricted", OK, secure("restricted")),
        ("baseline", OK, secure("baseline")),
        ("privileged", VIOLATED, secure("privileged")),
        ("none", VIOLATED, kubernetes("core/v1:Namespace", "tools")),
        ("named", OK, secure("privileged"), {}, {"privileged": ["tools"]}),
        (
            "a team's, held by nothing",
            VIOLATED,
            kubernetes(
                "core/v1:Namespace",
                "team-a",
                labels={
                    "ml.platform/team": "a",
                    "pod-security.kubernetes.io/enforce": "privileged",
                },
            ),
        ),
        ("unknown", UNDECIDED, secure(UNKNOWN)),
    ),
    *table(
        "team-namespace-without-default-deny",
        ("denies", OK, [team("a"), network_policy()]),
        ("none", VIOLATED, team("a")),
        ("in another namespace", VIOLATED, [team("a"), network_policy("team-b")]),
        ("incoming only", VIOLATED, [team("a"), network_policy(policyTypes=["Ingress"])]),
        ("allows", VIOLATED, [team("a"), network_policy(ingress=[{}])]),
        ("some pods", VIOLATED, [team("a"), network_policy(podSelector={"matchLabels": {"a": "b"}})]),
        ("no team", OK, secure("restricted")),
        ("unknown", UNDECIDED, [team("a"), unknown(network_policy(), "metadata", "namespace")]),
    ),
    *table(
        "image-without-digest",
        ("digest", OK, deployment()),
        ("tag", VIOLATED, deployment({"image": "org/app:1"})),
        ("short digest", VIOLATED, deployment({"image": "org/app@sha256:abc"})),
        ("training runtime", VIOLATED, runtime({"image": "org/app:1"})),
        ("train job", VIOLATED, train_job(image="org/app:1")),
        ("train job with its runtime's image", OK, train_job()),
        ("unknown", UNDECIDED, deployment({"image": UNKNOWN})),
    ),
    *table(
        "control-plane-logs-off",
        (
            "all",
            OK,
            made(
                EKS,
                "c",
                {"enabledClusterLogTypes": ["api", "audit", "authenticator", "controllerManager", "scheduler"]},
            ),
        ),
        ("none", VIOLATED, made(EKS, "c", {})),
        (
            "one missing",
            VIOLATED,
            made(EKS, "c", {"enabledClusterLogTypes": ["api", "audit", "authenticator", "scheduler"]}),
        ),
        ("audit is enough", OK, made(EKS, "c", {"enabledClusterLogTypes": ["audit"]}), {}, {"logTypes": ["audit"]}),
        ("unknown", UNDECIDED, made(EKS, "c", {"enabledClusterLogTypes": UNKNOWN})),
    ),
    *table(
        "flow-logs-incomplete",
        ("everything", OK, [VPC, flow_log("ALL")]),
        ("refused alone", VIOLATED, [VPC, flow_log("REJECT")]),
        ("accepted alone", VIOLATED, [VPC, flow_log("ACCEPT")]),
        ("both apart", OK, [VPC, flow_log("REJECT"), flow_log("ACCEPT", name="other")]),
        ("none", VIOLATED, VPC),
        ("of another network", VIOLATED, [VPC, flow_log("ALL", made(VPC.type, "other", {}))]),
        ("unknown", UNDECIDED, [VPC, flow_log(UNKNOWN)]),
    ),
    *table(
        "logs-kept-too-short",
        ("a year", OK, made("aws:cloudwatch/logGroup:LogGroup", "l", {"retentionInDays": 365})),
        ("for ever", OK, made("aws:cloudwatch/logGroup:LogGroup", "l", {})),
        ("a week", VIOLATED, made("aws:cloudwatch/logGroup:LogGroup", "l", {"retentionInDays": 7})),
        ("unknown", UNDECIDED, made("aws:cloudwatch/logGroup:LogGroup", "l", {"retentionInDays": UNKNOWN})),
    ),
    *table(
        "region-outside-residency",
        ("no regime", NOT_APPLICABLE, provider("us-east-1")),
        ("inside", OK, provider("me-central-1"), UAE),
        ("outside", VIOLATED, provider("us-east-1"), UAE),
        ("regime of somebody else", VIOLATED, provider("us-east-1"), US, {"regime": "eu"}),
        ("no region", VIOLATED, provider(None), UAE),
        ("own region", VIOLATED, bucket(region="eu-west-1"), UAE),
        ("zone", VIOLATED, made("aws:ec2/subnet:Subnet", "s", {"availabilityZone": "us-east-1a"}), UAE),
        (
            "ARN",
            VIOLATED,
            made("aws:cloudwatch/logGroup:LogGroup", "l", {"kmsKeyId": "arn:aws:kms:us-east-1:1:key/k"}),
            UAE,
        ),
        (
            "endpoint",
            VIOLATED,
            made("aws:ec2/vpcEndpoint:VpcEndpoint", "e", {"serviceName": "com.amazonaws.us-east-1.s3"}),
            UAE,
        ),
        ("registry", VIOLATED, deployment({"image": "1.dkr.ecr.eu-west-1.amazonaws.com/app"}), UAE),
        (
            "mount option",
            VIOLATED,
            kubernetes("core/v1:PersistentVolume", "v", spec={"mountOptions": ["region us-east-1"]}),
            UAE,
        ),
        (
            "in a name",
            OK,
            made("aws:ec2/subnet:Subnet", "s", {"tags": {"Name": "us-east-1"}, "name": "net-us-east-1a"}),
            UAE,
        ),
        ("public image", OK, deployment(), UAE),
        ("unknown comes from elsewhere", OK, bucket(region=UNKNOWN), UAE),
        ("GCP", VIOLATED, made("gcp:storage/bucket:Bucket", "b", {"location": "europe-west1"}), UAE),
        ("GCP unknown", UNDECIDED, made("gcp:storage/bucket:Bucket", "b", {"location": UNKNOWN}), UAE),
    ),
    *table(
        "silently-global-resource",
        ("no regime", NOT_APPLICABLE, made("aws:cloudfront/distribution:Distribution", "d", {})),
        ("distribution", VIOLATED, made("aws:cloudfront/distribution:Distribution", "d", {}), UAE),
        ("replication", VIOLATED, made("aws:s3/bucketReplicationConfig:BucketReplicationConfig", "r", {}), UAE),
        ("a bucket", OK, bucket(), UAE),
        ("key of many regions", VIOLATED, made("aws:kms/key:Key", "k", {"multiRegion": True}), UAE),
        ("key of one", OK, made("aws:kms/key:Key", "k", {"multiRegion": False}), UAE),
        (
            "secret with replicas",
            VIOLATED,
            made("aws:secretsmanager/secret:Secret", "s", {"replicas": [{"region": "x"}]}),
            UAE,
        ),
        ("continent", VIOLATED, made("gcp:storage/bucket:Bucket", "b", {"location": "EU"}), UAE),
        ("unknown", UNDECIDED, made("aws:kms/key:Key", "k", {"multiRegion": UNKNOWN}), UAE),
    ),
    *table(
        "quota-exceeds-pool",
        ("fits", OK, [node_group(), flavor(), queue("a"), queue("b")]),
        ("exceeds", VIOLATED, [node_group(), flavor(), queue("a"), queue("b"), queue("c")]),
        ("turns fit", OK, [turns("time-slices-2"), flavor(), *map(queue, "abcd")]),
        ("turns exceed", VIOLATED, [turns("time-slices-2"), flavor(), *map(queue, "abcde")]),
        ("no turns by another name", VIOLATED, [turns("whole-gpus"), flavor(), *map(queue, "abcd")]),
        ("nodes of another stack", NOT_APPLICABLE, [flavor(), queue()]),
        (
            "nodes as pods ask for them",
            NOT_APPLICABLE,
            [
                made("gcp:container/cluster:Cluster", "c", {"clusterAutoscaling": {"enabled": True}}),
                node_group(),
                flavor(),
                *map(queue, "abc"),
            ],
        ),
        ("no flavor", VIOLATED, [node_group(), queue()]),
        ("other capacity", VIOLATED, [node_group(), flavor(capacity="reserved"), queue()]),
        ("unknown", UNDECIDED, [node_group(), flavor(), queue(gpus=UNKNOWN)]),
    ),
    *table(
        "team-without-queue",
        ("queue", OK, [team("a"), queue(), local_queue()]),
        ("none", VIOLATED, [team("a"), queue()]),
        ("of another team", VIOLATED, [team("a"), queue("b"), local_queue(of="b")]),
        ("to nothing", VIOLATED, [team("a"), local_queue()]),
        ("no team", OK, secure("restricted")),
        ("by night alone", VIOLATED, [team("a"), queue(), local_queue(name="off-peak")]),
        ("unknown", UNDECIDED, [team("a"), queue(), unknown(local_queue(), "spec", "clusterQueue")]),
    ),
    *table(
        "off-peak-work-does-not-wait",
        ("held by day", OK, off_peak()),
        ("no keeper", VIOLATED, off_peak(keeper=None)),
        ("a keeper of another team's", VIOLATED, off_peak(keeper="team-b")),
        ("it owns GPUs", VIOLATED, off_peak(gpus="8")),
        ("it takes others'", VIOLATED, off_peak(preemption={"reclaimWithinCohort": "Any"})),
        ("no such queue", NOT_APPLICABLE, [queue(), local_queue()]),
        ("unknown", UNDECIDED, off_peak(keeper=UNKNOWN)),
    ),
    *table(
        "production-does-not-outrank-development",
        ("ordered", OK, priorities(production=1000, standard=500, development=-100)),
        ("equal", VIOLATED, priorities(production=500, standard=500, development=-100)),
        ("reversed", VIOLATED, priorities(production=-200, development=-100)),
        ("before jobs without one", VIOLATED, priorities(production=1000, standard=500, development=100)),
        ("beside jobs without one", VIOLATED, priorities(production=1000, standard=500, development=0)),
        ("no development", VIOLATED, priorities(production=1000)),
        ("nobody gives way", VIOLATED, [*priorities(production=2, development=-1), queue("b", preemption={})]),
        ("no queues", NOT_APPLICABLE, team("a")),
        ("own order", OK, priorities(high=2, low=-1), {}, {"order": ["high", "low"]}),
        ("own order reversed", VIOLATED, priorities(high=-2, low=-1), {}, {"order": ["high", "low"]}),
        ("other names", NOT_APPLICABLE, priorities(urgent=100, batch=10)),
        (
            "other names, in their queues alone",
            NOT_APPLICABLE,
            [*priorities(urgent=9, batch=1), queue("b", preemption={})],
        ),
        ("no classes", NOT_APPLICABLE, queue()),
        ("a name of its own for development", OK, priorities(production=1000, experiments=-10)),
        ("other names that say it", OK, priorities(**{"ml-prod": 1000, "ml-dev": 100})),
        ("other names, reversed", VIOLATED, priorities(**{"ml-prod": 100, "ml-dev": 1000})),
        ("several say it", NOT_APPLICABLE, priorities(**{"prod-batch": 10, "prod-live": 100, "dev-interactive": 50})),
        ("unknown", UNDECIDED, priorities(production=UNKNOWN, development=-1)),
    ),
    *table(
        "queue-admits-everything",
        ("its team", OK, queue()),
        ("everybody", VIOLATED, queue(namespaceSelector={})),
        ("nobody", VIOLATED, queue(namespaceSelector=None)),
        ("no quota", VIOLATED, queue(resourceGroups=[])),
        ("by expression", OK, queue(namespaceSelector=expression("In", "vision"))),
        ("any team", VIOLATED, queue(namespaceSelector=expression("Exists"))),
        ("any but one", VIOLATED, queue(namespaceSelector=expression("NotIn", "vision"))),
        ("unknown", UNDECIDED, queue(namespaceSelector=UNKNOWN)),
    ),
    *table(
        "owner-cannot-reclaim",
        ("whole nodes", OK, sharing()),
        ("shared fairly", OK, sharing(manager=FAIR, fairSharing={"weight": "8"})),
        ("weight left to its default", OK, sharing(manager=FAIR)),
        ("nobody to lend to", NOT_APPLICABLE, queue()),
        ("no cohort", OK, sharing(cohort=None, gpus="4")),
        ("a cohort each", OK, sharing(cohortName="other", gpus="4")),
        ("half a node", VIOLATED, sharing(gpus="4")),
        ("half a whole machine without a fabric", VIOLATED, sharing(gpus="4", nodes=whole_nodes("interface"))),
        ("half a part of a machine", OK, sharing(gpus="2", nodes=[node_group(types=["g6.12xlarge"])])),
        ("half of GPUs that pods share", OK, sharing(gpus="4", nodes=[turns("time-slices-2")])),
        ("a node and a half", VIOLATED, sharing(gpus="12")),
        ("thousands of GPUs as the server spells them", OK, sharing(gpus="2k")),
        ("no reclaim", VIOLATED, sharing(preemption={"withinClusterQueue": "LowerPriority"})),
        ("reclaim from the less important", VIOLATED, sharing(preemption={"reclaimWithinCohort": "LowerPriority"})),
        ("no reclaim of nothing", OK, sharing(gpus="0", preemption={"withinClusterQueue": "LowerPriority"})),
        ("weight 0", VIOLATED, sharing(manager=FAIR, fairSharing={"weight": "0"})),
        ("weight 0 that nobody asks for", OK, sharing(manager=[], fairSharing={"weight": "0"})),
        ("both strategies", VIOLATED, sharing(manager=[*FAIR, "LessThanInitialShare"])),
        ("the other strategy", VIOLATED, sharing(manager=["LessThanInitialShare"])),
        (
            "borrowing by priority, shared fairly",
            VIOLATED,
            sharing(
                manager=FAIR,
                preemption={"reclaimWithinCohort": "Any", "borrowWithinCohort": {"policy": "LowerPriority"}},
            ),
        ),
        (
            "borrowing by priority, the classic way",
            OK,
            sharing(preemption={"reclaimWithinCohort": "Any", "borrowWithinCohort": {"policy": "LowerPriority"}}),
        ),
        (
            "half a node, lent to a nested cohort",
            VIOLATED,
            [
                *sharing(cohortName="below", gpus="4"),
                kubernetes("kueue.x-k8s.io/v1beta2:Cohort", "below", spec={"parentName": "gpus"}),
            ],
        ),
        ("unknown", UNDECIDED, sharing(gpus=UNKNOWN)),
    ),
    *table(
        "namespace-quota-counts-gpu-pods",
        ("of pods without GPUs", OK, namespace_quota("requests.cpu", "pods", selector=CPU_ONLY)),
        ("services and storage", OK, namespace_quota("services.nodeports", "requests.storage", "count/jobs.batch")),
        ("no queue", OK, namespace_quota("pods", namespace="tools")),
        ("CPU", VIOLATED, namespace_quota("requests.cpu")),
        ("memory", VIOLATED, namespace_quota("memory")),
        ("limits", VIOLATED, namespace_quota("limits.cpu")),
        ("pods", VIOLATED, namespace_quota("pods")),
        ("GPUs", VIOLATED, namespace_quota("requests.nvidia.com/gpu")),
        ("pods of no class", VIOLATED, namespace_quota("pods", selector=[{**CPU_ONLY[0], "operator": "DoesNotExist"}])),
        ("pods of other classes", VIOLATED, namespace_quota("pods", selector=[{**CPU_ONLY[0], "operator": "NotIn"}])),
        ("pods with a deadline", OK, namespace_quota("pods", scopes=["Terminating"])),
        ("pods without one", VIOLATED, namespace_quota("pods", scopes=["NotTerminating"])),
        ("unknown", UNDECIDED, [local_queue(), unknown(namespace_quota("pods")[1], "spec", "hard")]),
    ),
    *table(
        "placement-group-with-reservation",
        ("reservation alone", OK, reserved()),
        ("both", VIOLATED, reserved(placement={"groupName": "g"})),
        ("both, the group unknown", VIOLATED, reserved(placement={"groupName": UNKNOWN})),
        ("group alone", OK, made("aws:ec2/launchTemplate:LaunchTemplate", "t", {"placement": {"groupName": "g"}})),
        (
            "unknown",
            UNDECIDED,
            made("aws:ec2/launchTemplate:LaunchTemplate", "t", {"capacityReservationSpecification": UNKNOWN}),
        ),
        (
            "GKE, the policy of the reservation",
            OK,
            gke_pool(
                placementPolicy={"type": "COMPACT", "policyName": "h100"},
                node={"reservationAffinity": {"consumeReservationType": "SPECIFIC_RESERVATION"}},
            ),
        ),
        (
            "GKE",
            VIOLATED,
            gke_pool(
                placementPolicy={"type": "COMPACT"},
                node={"reservationAffinity": {"consumeReservationType": "SPECIFIC_RESERVATION"}},
            ),
        ),
    ),
    *table(
        "pool-without-smoke-job",
        ("proven", OK, [node_group(), job("train")]),
        ("none", VIOLATED, node_group()),
        ("of another pool", VIOLATED, [node_group(), job("dev")]),
        ("no GPU", OK, node_group(types=["m7i.large"])),
        ("GKE", VIOLATED, gke_pool()),
        ("GKE, of flex-start alone", OK, gke_pool(node={"spot": False, "flexStart": True})),
        ("unknown", UNDECIDED, [node_group(), unknown(job("train"), "metadata")]),
    ),
    *table(
        "gpu-nodes-over-zones",
        ("one zone", OK, node_group(subnetIds=["subnet-a"])),
        ("three", VIOLATED, node_group(subnetIds=["subnet-a", "subnet-b", "subnet-c"])),
        ("not made yet", VIOLATED, node_group(subnetIds=[UNKNOWN, UNKNOWN])),
        ("one node has nothing to even out", OK, node_group(subnetIds=["subnet-a", "subnet-b"], max=1)),
        ("without GPUs", OK, node_group(subnetIds=["subnet-a", "subnet-b"], types=["m7i.large"])),
        ("GKE", OK, gke_pool()),
        ("unknown", UNDECIDED, node_group(subnetIds=UNKNOWN)),
    ),
    *table(
        "gang-only-on-spot",
        ("a gang on demand", OK, fabric(("spot", 2), ("on-demand", 2))),
        ("a gang reserved", OK, fabric(("reserved", 2), ("spot", 4), ("on-demand", 1))),
        ("a node of each", VIOLATED, fabric(("reserved", 1), ("spot", 2), ("on-demand", 1))),
        ("spot alone", VIOLATED, fabric(("spot", 2))),
        ("no gang at all", OK, fabric(("spot", 1), ("on-demand", 1))),
        ("without a fabric", OK, node_group()),
        ("GKE", OK, gke_pool()),
        ("unknown", UNDECIDED, [*fabric(("spot", 2)), node_group("more", types=UNKNOWN)]),
    ),
    *table(
        "unsupported-kubernetes-version",
        ("supported", OK, node_group(), {}, {"asOf": "2026-11-21"}),
        ("never heard of", VIOLATED, node_group(version="1.12")),
        ("out of support", VIOLATED, node_group(), {}, {"asOf": "2030-01-01"}),
        ("in support until its end", OK, node_group(version="1.36"), {}, {"asOf": "2027-08-01"}),
        ("past it", VIOLATED, node_group(version="1.36"), {}, {"asOf": "2027-08-03"}),
        ("extended", VIOLATED, made(EKS, "c", {"version": "1.36", "upgradePolicy": {"supportType": "EXTENDED"}})),
        ("not said", OK, made(EKS, "c", {})),
        ("unknown", UNDECIDED, node_group(version=UNKNOWN)),
    ),
    *table(
        "unpinned-version",
        ("add-on", OK, made("aws:eks/addon:Addon", "a", {"addonVersion": "v1"})),
        ("add-on without", VIOLATED, made("aws:eks/addon:Addon", "a", {})),
        ("chart without", VIOLATED, chart()),
        ("chart", OK, chart(version="0.19.2")),
        ("database without", VIOLATED, made("aws:rds/instance:Instance", "d", {})),
        ("a replica has its source's", OK, made("aws:rds/instance:Instance", "d", {"replicateSourceDb": "db"})),
        ("cluster without", VIOLATED, made(EKS, "c", {})),
        ("unknown is given", OK, node_group(version=UNKNOWN)),
    ),
    *table(
        "outdated-add-on",
        ("the pinned build's minor", OK, add_on("coredns", "v1.14.0-eksbuild.1")),
        ("three behind", OK, add_on("coredns", "v1.11.1-eksbuild.1")),
        ("four behind", VIOLATED, add_on("coredns", "v1.10.1-eksbuild.1")),
        ("of another major", VIOLATED, add_on("vpc-cni", "v0.99.0-eksbuild.1")),
        ("newer", OK, add_on("vpc-cni", "v2.0.0-eksbuild.1")),
        ("nearer by configuration", VIOLATED, add_on("coredns", "v1.13.0-eksbuild.1"), {}, {"minorsBehind": 0}),
        ("not in the catalogue", OK, add_on("adot", "v0.1.0-eksbuild.1")),
        ("not said", OK, add_on("coredns", None)),
        ("unknown", UNDECIDED, add_on("coredns", UNKNOWN)),
    ),
    *table(
        "missing-disruption-budget",
        ("selected", OK, [deployment(), disruption_budget(app="x")]),
        ("none", VIOLATED, deployment()),
        ("selects others", VIOLATED, [deployment(), disruption_budget(app="z")]),
        ("one replica", OK, deployment(replicas=1)),
        ("chart", OK, chart(values={"controllerManager": {"podDisruptionBudget": {"enabled": True}}})),
        ("chart without", VIOLATED, chart()),
        ("a chart that has none", OK, chart("kubeflow-trainer")),
        ("unknown", UNDECIDED, [deployment(replicas=UNKNOWN), disruption_budget(app="z")]),
    ),
    *table(
        "exception-expired",
        ("none", OK, ()),
        ("holds", OK, (), accept("2999-01-01")),
        ("expired", VIOLATED, (), accept("2020-01-01")),
    ),
]
