"""Mistakes in charts and add-ons, as they are made: values that no program starts with, versions that nobody knows."""

from __future__ import annotations

from typing import Any

from tests.rehearsal.works.mistakes import DROP, Change, Mistake, edit, put

RELEASE = "kubernetes:helm.sh/v3:Release"
ADD_ON = "aws:eks/addon:Addon"
AUTOSCALER = "autoscaler-release"


def values(release: str, path: str, value: Any) -> Change:
    """Changes a value of a release."""
    return edit(RELEASE, release, put(f"values.{path}", value))


def flag(name: str, value: Any) -> Change:
    """Sets a flag of the autoscaler."""
    return values(AUTOSCALER, f"extraArgs.{name}", value)


MISTAKES = [
    Mistake(
        "no-groups",
        "the autoscaler is not told which groups are its own",
        values(AUTOSCALER, "autoDiscovery", {}),
        "charts-required-value",
    ),
    Mistake(
        "other-region",
        "the autoscaler looks for its groups in another region",
        values(AUTOSCALER, "awsRegion", "us-west-2"),
        "charts-region",
    ),
    Mistake(
        "other-cluster",
        "the autoscaler looks for the groups of another cluster",
        values(AUTOSCALER, "autoDiscovery.clusterName", "acme-demos"),
        "charts-cluster",
    ),
    Mistake("flag", "a flag of the autoscaler is misspelt", flag("balance-similar-nodegroups", "true"), "charts-flag"),
    Mistake("flag-of-old", "a flag has lost a letter", flag("skip-nodes-with-local-storag", "false"), "charts-flag"),
    Mistake(
        "expander", "the expander is one that there is not", flag("expander", "priority,least-wasted"), "charts-flag"
    ),
    Mistake("no-unit", "a duration has no unit", flag("max-node-provision-time", "20"), "charts-flag"),
    Mistake("minutes", "a duration has a word for its unit", flag("scale-down-unneeded-time", "10min"), "charts-flag"),
    Mistake("switch", "a switch of the autoscaler says yes", flag("balance-similar-node-groups", "yes"), "charts-flag"),
    Mistake(
        "limit",
        "a limit was lowered and its request stayed",
        values(AUTOSCALER, "resources.limits.memory", "512Mi"),
        "charts-limit",
    ),
    Mistake(
        "chart-version",
        "a chart was raised and nobody looked at its values",
        edit(RELEASE, "kueue-release", put("version", "0.20.0")),
        "charts-version",
    ),
    Mistake(
        "add-on-version",
        "an add-on is of the version of another Kubernetes",
        edit(ADD_ON, "cluster-coredns", put("addonVersion", "v1.14.3-eksbuild.3")),
        "charts-version",
    ),
    Mistake(
        "add-on",
        "an add-on that nobody pinned",
        edit(ADD_ON, "cluster-coredns", put("addonName", "core-dns")),
        "charts-unknown",
    ),
    Mistake(
        "mig",
        "the plugin's way with MIG is misspelt",
        values("gpu-nvidia-device-plugin", "migStrategy", "mix"),
        "charts-choice",
    ),
    Mistake(
        "device-list",
        "how devices are handed out is misspelt",
        values("gpu-nvidia-device-plugin", "deviceListStrategy", "volume-mount"),
        "charts-choice",
    ),
    Mistake(
        "one-replica",
        "a controller's replicas were lowered and its budget stayed",
        values("runtimes-jobset", "controller.replicas", 1),
        "charts-budget",
    ),
    Mistake(
        "no-eviction",
        "the autoscaler may never be evicted",
        values(AUTOSCALER, "podDisruptionBudget", {"maxUnavailable": 0}),
        "charts-budget",
    ),
    Mistake(
        "other-repository",
        "a chart is sought in the repository of another project",
        edit(RELEASE, "gpu-dcgm-exporter", put("repositoryOpts.repo", "https://nvidia.github.io/k8s-device-plugin")),
        "charts-repository",
    ),
    Mistake(
        "no-scheme",
        "the repository's address has lost its scheme",
        edit(RELEASE, AUTOSCALER, put("repositoryOpts.repo", "kubernetes.github.io/autoscaler")),
        "charts-repository",
    ),
    Mistake(
        "no-repository",
        "nobody says where the chart is",
        edit(RELEASE, AUTOSCALER, put("repositoryOpts", DROP)),
        "charts-repository",
    ),
    Mistake(
        "oci-moved",
        "a part of an OCI address was left out",
        edit(RELEASE, "kueue-release", put("chart", "oci://registry.k8s.io/kueue/kueue")),
        "charts-repository",
    ),
    Mistake(
        "quiet-log",
        "the autoscaler logs so little that nobody finds out why it does not scale",
        flag("v", "0"),
        None,
        "it works; how much somebody wants to read is his own business",
    ),
    Mistake(
        "leader",
        "two pods of the queue manager, and no election",
        values(
            "kueue-release",
            "managerConfig.controllerManagerConfigYaml",
            "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nleaderElection: {leaderElect: false}\n",
        ),
        "charts-leader",
    ),
    Mistake(
        "leader-by-value",
        "two pods of the JobSet controller, and no election",
        values("runtimes-jobset", "controller.leaderElection.enable", False),
        "charts-leader",
    ),
    Mistake("leader-by-flag", "two autoscalers elect nobody", flag("leader-elect", "false"), "charts-leader"),
    Mistake(
        "webhook-port",
        "the queue manager's webhooks listen where its service does not lead",
        values(
            "kueue-release",
            "managerConfig.controllerManagerConfigYaml",
            "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nwebhook: {port: 9444}\n",
        ),
        "charts-port",
    ),
    Mistake(
        "health-port",
        "the queue manager's health is asked on another port",
        values(
            "kueue-release",
            "managerConfig.controllerManagerConfigYaml",
            "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
            "health: {healthProbeBindAddress: ':8082'}\n",
        ),
        "charts-port",
    ),
]
