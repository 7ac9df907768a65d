"""Truth tables of monitoring."""

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


QUEUE = kubernetes("kueue.x-k8s.io/v1beta2:ClusterQueue", "team", spec={})

CASES = [
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
        ("nothing is charged", NOT_APPLICABLE, stack(retention="1d")),
        ("unknown", UNDECIDED, [QUEUE, unknown(stack(), "values", "prometheus", "prometheusSpec", "retention")]),
    ),
]
