"""Truth tables of what keeps teams to their queues: admission policies, quotas, what GPU nodes start with."""

import base64

from tests.policies.truth import (
    NOT_APPLICABLE,
    OK,
    UNDECIDED,
    VIOLATED,
    kubernetes,
    made,
    node_group,
    table,
    team,
    unknown,
)

POLICY = "admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"
ASKED = (
    "nvidia.com/ containers initContainers request.userInfo nodeName tolerations volumes "
    "terminationGracePeriodSeconds ownerReferences gracePeriodSeconds"
)
KINDS = [("", "pods"), ("batch", "jobs"), ("jobset.x-k8s.io", "jobsets"), ("trainer.kubeflow.org", "trainjobs")]


def rule(group="*", resource="*", operations=("*",), **more):
    return {"apiGroups": [group], "apiVersions": ["*"], "operations": list(operations), "resources": [resource], **more}


def policy(name="guard", rules=None, asked=ASKED, constraints=None, **spec):
    matched = {"resourceRules": rules or [rule(*kind) for kind in KINDS], **(constraints or {})}
    validations = [{"expression": asked}]
    return kubernetes(POLICY, name, spec={"matchConstraints": matched, "validations": validations, **spec})


def binding(policy="guard", actions=("Deny",), **matched):
    spec = {
        "policyName": policy,
        "validationActions": list(actions),
        **({"matchResources": matched} if matched else {}),
    }
    return kubernetes(f"{POLICY}Binding", f"{policy}-binding", spec=spec)


def of_teams(*values):
    expression = {"key": "ml.platform/team", "operator": "In" if values else "Exists", "values": list(values)}
    return {"matchExpressions": [expression]}


A, B, NODES = team("a"), team("b"), node_group()
SELECTOR = {"namespaceSelector": of_teams()}

PAST_THE_QUEUE = table(
    "gpus-past-the-queue",
    ("bound everywhere", OK, (A, NODES, policy(), binding())),
    ("bound to teams", OK, (A, B, NODES, policy(), binding(**SELECTOR))),
    ("by name of the namespace", OK, (
        A, NODES, policy(),
        binding(namespaceSelector={"matchLabels": {"kubernetes.io/metadata.name": "team-a"}}),
    )),
    ("Fail said", OK, (A, NODES, policy(failurePolicy="Fail"), binding())),
    ("audits too", OK, (A, NODES, policy(), binding(actions=("Audit", "Deny")))),
    ("two policies, a part each", OK, (
        A, NODES, policy("one", [rule("", "pods", ["CREATE", "DELETE"])]), binding("one"),
        policy("two", [rule(*kind) for kind in KINDS[1:]]), binding("two"),
    )),
    ("a binding a team", OK, (
        A, B, NODES, policy(), binding(namespaceSelector=of_teams("a")),
        kubernetes(f"{POLICY}Binding", "b", spec={
            "policyName": "guard", "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": of_teams("b")},
        }),
    )),
    ("no team", NOT_APPLICABLE, (NODES,)),
    ("no GPUs", NOT_APPLICABLE, (A,)),
    ("none", VIOLATED, (A, NODES)),
    ("on a cluster that somebody has", VIOLATED, (A, kubernetes("kueue.x-k8s.io/v1beta2:ClusterQueue", "a"))),
    ("bound to nothing", VIOLATED, (A, NODES, policy())),
    ("ignores its failures", VIOLATED, (A, NODES, policy(failurePolicy="Ignore"), binding())),
    ("audits", VIOLATED, (A, NODES, policy(), binding(actions=("Audit",)))),
    ("another team only", VIOLATED, (A, B, NODES, policy(), binding(namespaceSelector=of_teams("a")))),
    ("the policy itself leaves a team out", VIOLATED, (
        A, B, NODES, policy(constraints={"namespaceSelector": of_teams("a")}), binding(),
    )),
    ("objects with a label only", VIOLATED, (
        A, NODES, policy(), binding(objectSelector={"matchLabels": {"guarded": "yes"}}),
    )),
    ("pods left out", VIOLATED, (
        A, NODES, policy(constraints={"excludeResourceRules": [rule("", "pods")]}), binding(),
    )),
    ("the binding takes jobs only", VIOLATED, (A, NODES, policy(), binding(resourceRules=[rule("batch", "jobs")]))),
    ("one pod by its name", VIOLATED, (A, NODES, policy(rules=[rule(resourceNames=["a"])]), binding())),
    ("created, not changed", VIOLATED, (
        A, NODES, policy(rules=[rule(*kind, ["CREATE", "DELETE"]) for kind in KINDS]), binding(),
    )),
    *(
        (f"asks nothing of {word}", VIOLATED, (A, NODES, policy(asked=ASKED.replace(word, "")), binding()))
        for word in ASKED.split()
    ),
    ("actions unknown", UNDECIDED, (A, NODES, policy(), unknown(binding(), "spec", "validationActions"))),
)  # fmt: skip


def quota(name, hard, *classes, namespace="team-a", **spec):
    expression = {"scopeName": "PriorityClass", "operator": "In", "values": list(classes)}
    scope = {"scopeSelector": {"matchExpressions": [expression]}} if classes else {}
    return kubernetes("core/v1:ResourceQuota", name, namespace, spec={"hard": hard, **scope, **spec})


CLAIMS = quota("claims", {"persistentvolumeclaims": "4", "requests.storage": "4Ti"})
CPU = quota("cpu", {"requests.cpu": "8", "requests.memory": "8Gi", "pods": "9"}, "cpu-only")
SYSTEM = quota("system", {"pods": "0"}, "system-cluster-critical", "system-node-critical")

QUOTAS = table(
    "team-without-quotas",
    ("all of them", OK, (A, CLAIMS, CPU, SYSTEM)),
    ("a system class each", OK, (
        A, CLAIMS, CPU, quota("one", {"pods": "0"}, "system-cluster-critical"),
        quota("two", {"pods": 0}, "system-node-critical"),
    )),
    ("claims and storage apart", OK, (
        A, quota("c", {"persistentvolumeclaims": "4"}), quota("s", {"requests.storage": "1Gi"}), CPU, SYSTEM,
    )),
    ("no team", OK, (kubernetes("core/v1:Namespace", "mlflow"),)),
    ("none", VIOLATED, (A,)),
    ("no claims", VIOLATED, (A, CPU, SYSTEM)),
    ("no bound on pods without GPUs", VIOLATED, (A, CLAIMS, SYSTEM)),
    ("no bound on system classes", VIOLATED, (A, CLAIMS, CPU)),
    ("one of the system classes", VIOLATED, (A, CLAIMS, CPU, quota("one", {"pods": "0"}, "system-node-critical"))),
    ("a pod of a system class", VIOLATED, (
        A, CLAIMS, CPU, quota("s", {"pods": "1"}, "system-cluster-critical", "system-node-critical"),
    )),
    ("another team's", VIOLATED, (A, B, CLAIMS, CPU, SYSTEM)),
    ("claims of a class of pods", VIOLATED, (
        A, quota("c", {"persistentvolumeclaims": "4", "requests.storage": "1Gi"}, "cpu-only"), CPU, SYSTEM,
    )),
    ("two scopes at once", VIOLATED, (A, CLAIMS, CPU, quota(
        "s", {"pods": "0"}, "system-cluster-critical", "system-node-critical", scopes=["BestEffort"],
    ))),
    ("unknown", UNDECIDED, (A, CLAIMS, CPU, unknown(SYSTEM, "spec", "hard"))),
)  # fmt: skip


def template(text):
    data = {} if text is None else {"userData": base64.b64encode(text.encode()).decode()}
    return made("aws:ec2/launchTemplate:LaunchTemplate", "t", data)


TOLD = template("nvidia-ctk config --set accept-nvidia-visible-devices-envvar-when-unprivileged=false")


def launched(by, **more):
    return node_group(uses={"launchTemplate": [by]}, **more), by


VARIABLE = table(
    "gpus-by-a-variable",
    ("told", OK, launched(TOLD)),
    ("Bottlerocket", OK, launched(template(None), amiType="BOTTLEROCKET_x86_64_NVIDIA")),
    ("no GPUs", NOT_APPLICABLE, launched(template(None), types=["m6i.large"])),
    ("nothing told", VIOLATED, launched(template(None))),
    ("something else told", VIOLATED, launched(template("echo"))),
    ("told the other way", VIOLATED, launched(
        template("accept-nvidia-visible-devices-envvar-when-unprivileged=true"),
    )),
    ("no launch template", VIOLATED, node_group()),
    ("unreadable", VIOLATED, launched(made("aws:ec2/launchTemplate:LaunchTemplate", "t", {"userData": "%"}))),
    ("unknown", UNDECIDED, launched(unknown(TOLD, "userData"))),
)  # fmt: skip

TAINT = {"key": "CriticalAddonsOnly", "value": "true", "effect": "NO_SCHEDULE"}


def plain_nodes(pool, *taints, **more):
    return node_group(
        f"nodes-{pool}", types=["m7i.xlarge"], capacity="on-demand", pool=pool, taints=list(taints), **more
    )


def on_google(*taints):
    config = {"labels": {"ml.platform/pool": "system"}, "machineType": "n2-standard-4", "taints": list(taints)}
    return made("gcp:container/nodePool:NodePool", "system", {"nodeConfig": config})


OPEN_NODES = table(
    "platform-nodes-open-to-teams",
    ("kept for the platform", OK, [team("a"), plain_nodes("system", TAINT), plain_nodes("cpu")]),
    ("with another key of ours", OK, [team("a"), plain_nodes("system", {**TAINT, "key": "ml.platform/pool"})]),
    ("that ends what is there", OK, [team("a"), plain_nodes("system", {**TAINT, "effect": "NO_EXECUTE"})]),
    ("beside another taint", OK, [team("a"), plain_nodes("system", {**TAINT, "key": "dedicated"}, TAINT)]),
    ("with a further group of a client's", OK, [team("a"), plain_nodes("system", TAINT), plain_nodes("batch")]),
    ("GPU nodes have their own", OK, [team("a"), plain_nodes("system", TAINT), node_group()]),
    ("on Google Cloud", OK, [team("a"), on_google(TAINT)]),
    ("nobody else there", NOT_APPLICABLE, [plain_nodes("system")]),
    ("open", VIOLATED, [team("a"), plain_nodes("system")]),
    ("open beside the pool", VIOLATED, [team("a"), plain_nodes("system"), plain_nodes("cpu")]),
    ("one of two", VIOLATED, [team("a"), plain_nodes("system", TAINT), on_google()]),
    ("a wish", VIOLATED, [team("a"), plain_nodes("system", {**TAINT, "effect": "PREFER_NO_SCHEDULE"})]),
    ("teams may tolerate it", VIOLATED, [team("a"), plain_nodes("system", {**TAINT, "key": "dedicated"})]),
    ("nodes that say nothing", VIOLATED, [team("a"), plain_nodes("default"), plain_nodes("cpu")]),
    ("open on Google Cloud", VIOLATED, [team("a"), on_google()]),
    ("unknown", UNDECIDED, [team("a"), unknown(plain_nodes("system", TAINT), "taints")]),
)

CASES = [*PAST_THE_QUEUE, *QUOTAS, *VARIABLE, *OPEN_NODES]
