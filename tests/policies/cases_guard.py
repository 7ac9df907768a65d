"""Truth tables of what keeps teams to their queues: admission policies, quotas, what GPU nodes start with."""

import base64
from dataclasses import replace

from tests.policies.foreign_guards import ASKED, binding, guards, policy, rule
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


def of_teams(*values):
    expression = {"key": "ml.platform/team", "operator": "In" if values else "Exists", "values": list(values)}
    return {"matchExpressions": [expression]}


A, B, NODES = team("a"), team("b"), node_group()
SELECTOR = {"namespaceSelector": of_teams()}
KUEUE_QUEUE = "kueue.x-k8s.io/v1beta2:ClusterQueue"


def counting(*resources):
    groups = [{"coveredResources": list(resources), "flavors": []}]
    return kubernetes(KUEUE_QUEUE, "a", spec={"resourceGroups": groups})


def everywhere(**binding_of_each):
    """All guards, bound alike."""
    return guards(**{f"{kind}_binding": binding(kind, **binding_of_each) for kind in ASKED})


def without(kind, what):
    return guards(**{kind: policy(kind, {key: text for key, text in ASKED[kind].items() if key != what})})


def asked_also(kind, what, text):
    """One validation that says something else."""
    return guards(**{kind: policy(kind, {**ASKED[kind], what: text.format(ASKED[kind][what])})})


def split(kind):
    """A policy a validation, and a binding each."""
    made = guards(**{kind: None, f"{kind}_binding": None})
    for name, text in ASKED[kind].items():
        one, bound = policy(kind, {name: text}), binding(kind)
        made.append(renamed(one, name))
        made.append(renamed(bound, name, policyName=name))
    return made


def renamed(resource, name, **spec):
    inputs = {**resource.inputs, "metadata": {"name": name}, "spec": {**resource.inputs["spec"], **spec}}
    return replace(resource, urn=f"{resource.urn}-{name}", name=name, inputs=inputs)


def by_parameter(reference, kind="ConfigMap", **more):
    """Volumes by a list that a parameter holds."""
    allowed = "object.spec.volumes.all(v, params.data.allowed.split(',').exists(k, k in v))"
    asked = {**ASKED["pods"], "volumes": f"request.operation == 'DELETE' || !has(object.spec.volumes) || {allowed}"}
    return guards(
        pods=policy("pods", asked, paramKind={"apiVersion": "v1", "kind": kind}),
        pods_binding=binding("pods", paramRef=reference),
    )


ALLOW, DENY = {"parameterNotFoundAction": "Allow"}, {"parameterNotFoundAction": "Deny"}
LIMITS = {"name": "limits", "namespace": "guard"}
RECORDED = kubernetes("core/v1:ConfigMap", "limits", "guard", data={"allowed": "configMap,emptyDir"})
CONDITION = "object.metadata.name != 'a-thing'"

PAST_THE_QUEUE = table(
    "gpus-past-the-queue",
    ("bound everywhere", OK, (A, NODES, *guards())),
    ("bound to teams", OK, (A, B, NODES, *everywhere(matched=SELECTOR))),
    ("by name of the namespace", OK, (
        A, NODES,
        *everywhere(matched={"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "team-a"}}}),
    )),
    ("Fail said", OK, (A, NODES, *guards(pods=policy("pods", failurePolicy="Fail")))),
    ("audits too", OK, (A, NODES, *everywhere(actions=("Audit", "Deny")))),
    ("a policy a part", OK, (A, NODES, *split("pods"))),
    ("a binding a team", OK, (
        A, B, NODES, *everywhere(matched={"namespaceSelector": of_teams("a")}),
        *(renamed(binding(kind, matched={"namespaceSelector": of_teams("b")}), "b") for kind in ASKED),
    )),
    ("a condition on who asks", OK, (A, NODES, *guards(pods=policy("pods", matchConditions=[
        {"name": "people", "expression": "!request.userInfo.username.startsWith('system:node:')"},
    ])))),
    ("a condition that admits administrators", OK, (A, NODES, *guards(jobs=policy("jobs", matchConditions=[
        {"name": "people", "expression": "!('system:masters' in request.userInfo.groups)"},
    ])))),
    ("another namespace is let by", OK, (A, NODES, *asked_also("pods", "volumes", "request.namespace == 'x' || {}"))),
    ("what the evaluator lacks", OK, (A, NODES, *asked_also(
        "pods", "queue", "authorizer.group('').resource('pods').check('use').allowed() || {}",
    ))),
    ("another syntax", OK, (A, NODES, *asked_also("pods", "ends", "object.?spec.?x.orValue(true) && ({})"))),
    ("excludes leases", OK, (A, NODES, *guards(pods=policy("pods", constraints={
        "excludeResourceRules": [rule("coordination.k8s.io", "leases")],
    })))),
    ("a parameter elsewhere", OK, (A, NODES, *by_parameter({**LIMITS, **DENY}))),
    ("a parameter that is there", OK, (A, NODES, RECORDED, *by_parameter({**LIMITS, **ALLOW}))),
    ("a parameter that allows too much", VIOLATED, (
        A, NODES, kubernetes("core/v1:ConfigMap", "limits", "guard", data={"allowed": "configMap,nfs"}),
        *by_parameter({**LIMITS, **DENY}),
    )),
    ("queues that count memory", OK, (A, NODES, counting("nvidia.com/gpu", "memory"), *without("jobs", "size"))),
    ("no nodes of ours", OK, (A, counting("nvidia.com/gpu"), *without("jobs", "size"))),
    ("no team", NOT_APPLICABLE, (NODES,)),
    ("no GPUs", NOT_APPLICABLE, (A,)),
    ("none", VIOLATED, (A, NODES)),
    ("on a cluster that somebody has", VIOLATED, (A, kubernetes(KUEUE_QUEUE, "a"))),
    *((f"no guard of {kind}", VIOLATED, (A, NODES, *guards(**{kind: None}))) for kind in ASKED),
    *((f"{kind} bound to nothing", VIOLATED, (A, NODES, *guards(**{f"{kind}_binding": None}))) for kind in ASKED),
    *(
        (f"{kind} asked nothing of {what}", VIOLATED, (A, NODES, *without(kind, what)))
        for kind, asked in ASKED.items() for what in asked
    ),
    *(
        (f"{kind} asked {what} in vain", VIOLATED, (A, NODES, *asked_also(kind, what, "true || ({})")))
        for kind, asked in ASKED.items() for what in asked
    ),
    ("the other way round", VIOLATED, (A, NODES, *asked_also("pods", "volumes", "!({})"))),
    ("what is never so before it", VIOLATED, (A, NODES, *asked_also("pods", "volumes", "1 > 2 ? ({}) : 2 > 1"))),
    ("for another user alone", VIOLATED, (
        A, NODES, *asked_also("pods", "queue", "request.userInfo.username != 'bob' || ({})"),
    )),
    ("whoever signs in is let by", VIOLATED, (
        A, NODES, *asked_also("pods", "queue", "'system:authenticated' in request.userInfo.groups || ({})"),
    )),
    ("pods of teams are let by", VIOLATED, (A, NODES, *asked_also(
        "jobs", "volumes", "request.userInfo.username.startsWith('system:serviceaccount:team-') || ({})",
    ))),
    ("a team is let by", VIOLATED, (A, B, NODES, *asked_also("pods", "ends", "request.namespace == 'team-b' || ({})"))),
    ("what has a label is let by", VIOLATED, (A, NODES, *asked_also(
        "pods", "volumes", "(has(object.metadata.labels) && 'exempt' in object.metadata.labels && "
        "object.metadata.labels['exempt'] == 'yes') || ({})",
    ))),
    ("what is called right is let by", VIOLATED, (A, NODES, *guards(jobs=policy("jobs", matchConditions=[
        {"name": "smoke", "expression": "!object.metadata.name.startsWith('smoke-')"},
    ])))),
    ("a condition that nothing meets", VIOLATED, (A, NODES, *guards(pods=policy("pods", matchConditions=[
        {"name": "never", "expression": "request.operation == 'CONNECT'"},
    ])))),
    ("ignores its failures", VIOLATED, (A, NODES, *guards(pods=policy("pods", failurePolicy="Ignore")))),
    ("audits", VIOLATED, (A, NODES, *guards(trainjobs_binding=binding("trainjobs", ("Audit", "Warn"))))),
    ("another team only", VIOLATED, (A, B, NODES, *everywhere(matched={"namespaceSelector": of_teams("a")}))),
    ("the policy itself leaves a team out", VIOLATED, (
        A, B, NODES, *guards(pods=policy("pods", constraints={"namespaceSelector": of_teams("a")})),
    )),
    ("objects with a label only", VIOLATED, (
        A, NODES, *guards(pods_binding=binding("pods", matched={"objectSelector": {"matchLabels": {"a": "b"}}})),
    )),
    ("the policy's objects with a label only", VIOLATED, (
        A, NODES, *guards(jobs=policy("jobs", constraints={"objectSelector": {"matchLabels": {"a": "b"}}})),
    )),
    ("pods left out", VIOLATED, (
        A, NODES, *guards(pods=policy("pods", constraints={"excludeResourceRules": [rule("", "pods")]})),
    )),
    ("one pod left out by its name", VIOLATED, (A, NODES, *guards(pods=policy("pods", constraints={
        "excludeResourceRules": [rule("", "pods", resourceNames=["a"])],
    })))),
    ("the binding leaves them out", VIOLATED, (A, NODES, *guards(
        jobs_binding=binding("jobs", matched={"excludeResourceRules": [rule("*", "*")]}),
    ))),
    ("the binding takes jobs only", VIOLATED, (
        A, NODES, *guards(pods_binding=binding("pods", matched={"resourceRules": [rule("batch", "jobs")]})),
    )),
    ("what has no namespace", VIOLATED, (
        A, NODES, *guards(pods=policy("pods", constraints={"resourceRules": [rule("", "pods", scope="Cluster")]})),
    )),
    ("a version that is not served", VIOLATED, (A, NODES, *guards(jobs=policy("jobs", constraints={
        "resourceRules": [{**rule("batch", "jobs"), "apiVersions": ["v1beta1"]}],
    })))),
    ("one pod by its name", VIOLATED, (A, NODES, *guards(pods=policy("pods", constraints={
        "resourceRules": [rule("", "pods", resourceNames=["a"])],
    })))),
    ("created, not changed", VIOLATED, (A, NODES, *guards(jobs=policy("jobs", constraints={
        "resourceRules": [rule("batch", "jobs", ("CREATE",))],
    })))),
    ("a parameter that may be gone", VIOLATED, (A, NODES, *by_parameter({**LIMITS, **ALLOW}))),
    ("a parameter of the team's own", VIOLATED, (A, NODES, *by_parameter({"name": "limits", **DENY}))),
    ("actions unknown", UNDECIDED, (A, NODES, *guards(
        pods_binding=unknown(binding("pods"), "spec", "validationActions"),
    ))),
    ("an expression unknown", UNDECIDED, (A, NODES, *guards(
        pods=unknown(policy("pods"), "spec", "validations"),
    ))),
)  # fmt: skip


def quota(name, hard, *classes, namespace="team-a", **spec):
    expression = {"scopeName": "PriorityClass", "operator": "In", "values": list(classes)}
    scope = {"scopeSelector": {"matchExpressions": [expression]}} if classes else {}
    return kubernetes("core/v1:ResourceQuota", name, namespace, spec={"hard": hard, **scope, **spec})


CLAIMS = quota("claims", {"persistentvolumeclaims": "4", "requests.storage": "4Ti"})
CPU = quota("cpu", {"requests.cpu": "8", "requests.memory": "8Gi", "pods": "9"}, "cpu-only")
SYSTEM = quota("system", {"pods": "0"}, "system-cluster-critical", "system-node-critical")


def defaults(namespace="team-a", **limits):
    one = {"type": "Container", "defaultRequest": {"memory": "4Gi"}, **limits}
    return kubernetes("core/v1:LimitRange", "defaults", namespace, spec={"limits": [one]})


DEFAULTS = defaults()

QUOTAS = table(
    "team-without-quotas",
    ("all of them", OK, (A, DEFAULTS, CLAIMS, CPU, SYSTEM)),
    ("a system class each", OK, (
        A, DEFAULTS, CLAIMS, CPU, quota("one", {"pods": "0"}, "system-cluster-critical"),
        quota("two", {"pods": 0}, "system-node-critical"),
    )),
    ("claims and storage apart", OK, (
        A, DEFAULTS, quota("c", {"persistentvolumeclaims": "4"}), quota("s", {"requests.storage": "1Gi"}), CPU, SYSTEM,
    )),
    ("no team", OK, (kubernetes("core/v1:Namespace", "mlflow"),)),
    ("none", VIOLATED, (A,)),
    ("no claims", VIOLATED, (A, CPU, SYSTEM)),
    ("no bound on pods without GPUs", VIOLATED, (A, DEFAULTS, CLAIMS, SYSTEM)),
    ("no bound on system classes", VIOLATED, (A, DEFAULTS, CLAIMS, CPU)),
    ("one of the system classes", VIOLATED, (
        A, DEFAULTS, CLAIMS, CPU, quota("one", {"pods": "0"}, "system-node-critical"),
    )),
    ("a pod of a system class", VIOLATED, (
        A, DEFAULTS, CLAIMS, CPU, quota("s", {"pods": "1"}, "system-cluster-critical", "system-node-critical"),
    )),
    ("another team's", VIOLATED, (A, B, CLAIMS, CPU, SYSTEM)),
    ("claims of a class of pods", VIOLATED, (
        A, quota("c", {"persistentvolumeclaims": "4", "requests.storage": "1Gi"}, "cpu-only"), CPU, SYSTEM,
    )),
    ("two scopes at once", VIOLATED, (A, DEFAULTS, CLAIMS, CPU, quota(
        "s", {"pods": "0"}, "system-cluster-critical", "system-node-critical", scopes=["BestEffort"],
    ))),
    ("unknown", UNDECIDED, (A, DEFAULTS, CLAIMS, CPU, unknown(SYSTEM, "spec", "hard"))),
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

GPU_TAINT = {"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}
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
    ("GPU nodes have their own", OK, [team("a"), plain_nodes("system", TAINT), node_group(taints=[GPU_TAINT])]),
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
