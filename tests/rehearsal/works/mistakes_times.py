"""Mistakes in times, classes and monitors of objects: the API server takes them, and nothing comes."""

from __future__ import annotations

from tests.rehearsal.works.mistakes import Mistake, edit, put

CRON_JOB = "kubernetes:batch/v1:CronJob"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
POD_MONITOR = "kubernetes:monitoring.coreos.com/v1:PodMonitor"
STORAGE_CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"
DRILL = "checkpoint-drill-job"

MISTAKES = [
    Mistake(
        "never",
        "the drill is on the 31st of February",
        edit(CRON_JOB, DRILL, put("spec.schedule", "17 4 31 2 *")),
        "reference-schedule",
    ),
    Mistake(
        "never-by-name",
        "the drill is on the 31st of months of 30 days",
        edit(CRON_JOB, DRILL, put("spec.schedule", "0 4 31 APR,JUN *")),
        "reference-schedule",
    ),
    Mistake(
        "zone",
        "the drill's time zone is written as one word",
        edit(CRON_JOB, DRILL, put("spec.timeZone", "America/NewYork")),
        "reference-time-zone",
    ),
    Mistake(
        "too-late",
        "the drill may start five seconds late",
        edit(CRON_JOB, DRILL, put("spec.startingDeadlineSeconds", 5)),
        "reference-schedule",
    ),
    Mistake(
        "grace",
        "the server gets less time to end than its hook waits",
        edit(DEPLOYMENT, "mlflow-deployment", put("spec.template.spec.terminationGracePeriodSeconds", 5)),
        "reference-grace",
    ),
    Mistake(
        "grace-by-command",
        "the proxy's hook sleeps as long as its pods are given",
        edit(
            DEPLOYMENT,
            "egress-deployment",
            put(
                "spec.template.spec.containers[0].lifecycle",
                {"preStop": {"exec": {"command": ["/bin/sh", "-c", "sleep 30; squid -k shutdown"]}}},
            ),
        ),
        "reference-grace",
    ),
    Mistake(
        "runtime-class",
        "the server asks for a runtime class that nobody makes",
        edit(DEPLOYMENT, "mlflow-deployment", put("spec.template.spec.runtimeClassName", "gvisor")),
        "reference-runtime-class",
    ),
    Mistake(
        "class-zone",
        "the class of disks allows a zone that no node is in",
        edit(
            STORAGE_CLASS,
            "blocks-class",
            put(
                "allowedTopologies",
                [{"matchLabelExpressions": [{"key": "topology.kubernetes.io/zone", "values": ["us-east-1f"]}]}],
            ),
        ),
        "reference-class-zone",
    ),
    Mistake(
        "monitor-namespace",
        "the monitor of GPUs looks where the operator would be",
        edit(POD_MONITOR, "monitoring-gpus", put("spec.namespaceSelector.matchNames", ["gpu-operator"])),
        "reference-monitor-selects-nothing",
    ),
    Mistake(
        "monitor-port",
        "the monitor of the server asks a port that its pods do not name",
        edit(POD_MONITOR, "monitoring-tracking", put("spec.podMetricsEndpoints[0].port", "prometheus")),
        "reference-port",
    ),
    Mistake(
        "monitor-chart-port",
        "the monitor of GPUs asks a port that the chart's pods do not name",
        edit(POD_MONITOR, "monitoring-gpus", put("spec.podMetricsEndpoints[0].port", "http")),
        "reference-port",
    ),
]
