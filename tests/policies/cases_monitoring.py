"""Truth tables of monitoring, and of what keeps money by its figures."""

import json

import yaml

from tests.policies.truth import NOT_APPLICABLE, OK, UNDECIDED, VIOLATED, kubernetes, made, table, unknown

TOLD = {"name": "people", "slack_configs": [{"channel": "#alerts"}]}
NOBODY = {"name": "null"}
CONFIG = {"route": {"receiver": "people"}, "receivers": [NOBODY, TOLD]}
RELEASE = "kubernetes:helm.sh/v3:Release"


def stack(chart="kube-prometheus-stack", alertmanager=None, **spec):
    values = {"alertmanager": {"config": CONFIG} if alertmanager is None else alertmanager}
    values["prometheus"] = {"prometheusSpec": spec}
    return made(RELEASE, "prometheus", {"chart": chart, "values": values})


def routed(route, *receivers):
    return stack(alertmanager={"config": {"route": route, "receivers": list(receivers)}})


HANDS_ON = {
    "remoteWrite": [{"url": "https://aps-workspaces.us-east-1.amazonaws.com/workspaces/ws-1/api/v1/remote_write"}]
}
WORKSPACE = made("aws:amp/workspace:Workspace", "figures", {"alias": "acme"})


def of_workspace(kind, **inputs):
    """Something of the workspace, which it names."""
    return made(f"aws:amp/{kind[0].lower()}{kind[1:]}:{kind}", kind, inputs, uses={"workspaceId": [WORKSPACE]})


def routes_of_workspace(config):
    text = yaml.safe_dump({"alertmanager_config": yaml.safe_dump(config)})
    return of_workspace("AlertManagerDefinition", definition=text)


RULES = of_workspace("RuleGroupNamespace", name="rules", data="groups: []")

QUEUE = kubernetes("kueue.x-k8s.io/v1beta2:ClusterQueue", "team", spec={})

BUDGET = {"monthlyBudgetUsd": 1000}


def queue(name="default", namespace="team-vision"):
    return kubernetes(
        "kueue.x-k8s.io/v1beta2:LocalQueue",
        f"{namespace}-{name}",
        metadata={"name": name, "namespace": namespace},
        spec={},
    )


def keeper(program, configuration, **spec):
    container = {"command": ["python", "-m", f"keepers.{program}"], "args": [json.dumps(configuration)]}
    return kubernetes(
        "apps/v1:Deployment", f"{program}-keeper", spec={"template": {"spec": {"containers": [container]}}, **spec}
    )


def of_budgets(*queues, **spec):
    teams = {"vision": {"namespace": "team-vision", "queues": list(queues), "budget_usd": 1}}
    return keeper("budgets", {"teams": teams}, **spec)


def of_idle(*namespaces, seconds=2700, **spec):
    return keeper("idle", {"namespaces": list(namespaces), "idle_seconds": seconds}, **spec)


GPUS = made(
    "aws:eks/nodeGroup:NodeGroup",
    "train",
    {
        "instanceTypes": ["p4d.24xlarge"],
        "amiType": "AL2023_x86_64_NVIDIA",
        "scalingConfig": {"minSize": 0, "maxSize": 2},
    },
)

CASES = [
    *table(
        "budget-holds-nobody",
        ("held", OK, [queue(), of_budgets("default")], BUDGET),
        ("all of its queues", OK, [queue(), queue("smoke"), of_budgets("default", "smoke")], BUDGET),
        ("nothing holds", VIOLATED, [queue()], BUDGET),
        ("another keeper does not", VIOLATED, [queue(), of_idle("team-vision")], BUDGET),
        ("switched off", VIOLATED, [queue(), of_budgets("default", replicas=0)], BUDGET),
        ("one queue stays open", VIOLATED, [queue(), queue("night"), of_budgets("default")], BUDGET),
        ("a team is left out", VIOLATED, [queue(), queue(namespace="team-b"), of_budgets("default")], BUDGET),
        (
            "a team is only told",
            OK,
            [queue(), queue(namespace="team-b"), of_budgets("default")],
            {**BUDGET, "teamBudgets": {"exempt": ["b"]}},
        ),
        ("the profile's guess", NOT_APPLICABLE, [queue()]),
        ("no queues", NOT_APPLICABLE, [of_budgets("default")], BUDGET),
        ("arguments unknown", UNDECIDED, [queue(), unknown(of_budgets("default"), "spec", "template")], BUDGET),
    ),
    *table(
        "idle-jobs-keep-their-gpus",
        ("evicted", OK, [queue(), stack(), GPUS, of_idle("team-vision")]),
        ("nobody is", VIOLATED, [queue(), stack(), GPUS]),
        ("switched off", VIOLATED, [queue(), stack(), GPUS, of_idle("team-vision", replicas=0)]),
        ("after three hours", VIOLATED, [queue(), stack(), GPUS, of_idle("team-vision", seconds=10_800)]),
        ("after an hour", OK, [queue(), stack(), GPUS, of_idle("team-vision", seconds=3600)]),
        ("another team's alone", VIOLATED, [queue(), stack(), GPUS, of_idle("team-b")]),
        ("nothing measures", NOT_APPLICABLE, [queue(), GPUS]),
        ("no GPUs", NOT_APPLICABLE, [queue(), stack()]),
        ("no queues", NOT_APPLICABLE, [stack(), GPUS]),
        ("arguments unknown", UNDECIDED, [queue(), stack(), GPUS, unknown(of_idle("team-vision"), "spec", "template")]),
    ),
    *table(
        "alerts-reach-nobody",
        ("to people", OK, stack()),
        ("by a repository of its own", OK, stack("oci://registry.example.com/kube-prometheus-stack")),
        ("the chart as it comes", VIOLATED, stack(alertmanager={})),
        ("all to nobody", VIOLATED, routed({"receiver": "null"}, NOBODY, TOLD)),
        ("a receiver without a way", VIOLATED, routed({"receiver": "people"}, {"name": "people", "slack_configs": []})),
        ("of another name", VIOLATED, routed({"receiver": "poeple"}, TOLD)),
        (
            "only what is critical",
            OK,
            routed(
                {"receiver": "null", "routes": [{"receiver": "null", "routes": [{"receiver": "people"}]}]}, NOBODY, TOLD
            ),
        ),
        ("no Alertmanager", NOT_APPLICABLE, stack(alertmanager={"enabled": False})),
        ("in a Secret", NOT_APPLICABLE, stack(alertmanager={"alertmanagerSpec": {"configSecret": "routes"}})),
        ("another Alertmanager", NOT_APPLICABLE, stack(alertmanager={}, additionalAlertManagerConfigs=[{"a": 1}])),
        (
            "an object of its own",
            NOT_APPLICABLE,
            [
                stack(alertmanager={}),
                kubernetes("monitoring.coreos.com/v1alpha1:AlertmanagerConfig", "team", spec={}),
            ],
        ),
        ("another chart", NOT_APPLICABLE, stack("kueue")),
        (
            "rules and routes of a workspace",
            OK,
            [stack(alertmanager={"enabled": False}, **HANDS_ON), WORKSPACE, RULES, routes_of_workspace(CONFIG)],
        ),
        ("rules without routes", VIOLATED, [stack(alertmanager={"enabled": False}, **HANDS_ON), WORKSPACE, RULES]),
        (
            "routes to nobody",
            VIOLATED,
            [WORKSPACE, RULES, routes_of_workspace({"route": {"receiver": "null"}, "receivers": [NOBODY, TOLD]})],
        ),
        (
            "handed on, and no rules",
            VIOLATED,
            [stack(alertmanager={"enabled": False}, **HANDS_ON), WORKSPACE, routes_of_workspace(CONFIG)],
        ),
        ("a workspace beside an Alertmanager", OK, [stack(**HANDS_ON), WORKSPACE]),
        ("a workspace that others look at", NOT_APPLICABLE, WORKSPACE),
        (
            "routes not known yet",
            UNDECIDED,
            [WORKSPACE, RULES, unknown(routes_of_workspace(CONFIG), "definition")],
        ),
        ("routes unknown", UNDECIDED, unknown(stack(), "values", "alertmanager", "config")),
    ),
    *table(
        "figures-shorter-than-a-month",
        ("45 days", OK, [QUEUE, stack(retention="45d")]),
        ("five weeks", OK, [QUEUE, stack(retention="5w")]),
        ("a year", OK, [QUEUE, stack(retention="1y")]),
        ("a month and a day, spelt out", OK, [QUEUE, stack(retention="4w4d")]),
        ("ten days, as the chart comes", VIOLATED, [QUEUE, stack()]),
        ("31 days", VIOLATED, [QUEUE, stack(retention="31d")]),
        ("700 hours", VIOLATED, [QUEUE, stack(retention="700h")]),
        ("kept elsewhere", NOT_APPLICABLE, [QUEUE, stack(remoteWrite=[{"url": "https://example.com"}])]),
        ("by Thanos", NOT_APPLICABLE, [QUEUE, stack(thanos={"objectStorageConfig": {}})]),
        (
            "a workspace for 45 days",
            OK,
            [QUEUE, WORKSPACE, of_workspace("WorkspaceConfiguration", retentionPeriodInDays=45)],
        ),
        (
            "a workspace for two weeks",
            VIOLATED,
            [QUEUE, WORKSPACE, of_workspace("WorkspaceConfiguration", retentionPeriodInDays=14)],
        ),
        ("a workspace as it comes", NOT_APPLICABLE, [QUEUE, WORKSPACE]),
        ("nothing is charged", NOT_APPLICABLE, stack(retention="1d")),
        ("unknown", UNDECIDED, [QUEUE, unknown(stack(), "values", "prometheus", "prometheusSpec", "retention")]),
    ),
]
