"""Where the cluster's monitoring runs, and how it is reached: whoever asks it for a figure spells it as it is."""

from typing import Final

from trainyard.conventions import KUEUE_NAMESPACE, MLFLOW_NAMESPACE

MONITORING_NAMESPACE: Final = "monitoring"
RELEASE: Final = "monitoring"
"""Name of the chart's release, and how the names of its services begin."""
PROMETHEUS_PORT: Final = 9090
PROMETHEUS_URL: Final = f"http://{RELEASE}-prometheus.{MONITORING_NAMESPACE}.svc:{PROMETHEUS_PORT}"
"""Prometheus as pods of the cluster reach it."""
PROMETHEUS_LABELS: Final = (("app.kubernetes.io/name", "prometheus"),)
"""Labels of Prometheus' pods, for network policies."""
FIGURES_READER: Final = "figures-reader"
"""The program that signs what the cluster asks the cloud's service, where that keeps the figures."""
FIGURES_READER_URL: Final = f"http://{FIGURES_READER}.{MONITORING_NAMESPACE}.svc:{PROMETHEUS_PORT}"
"""That service as pods of the cluster reach it."""
PROMETHEUS_ACCOUNT: Final = f"{RELEASE}-prometheus"
"""Service account of Prometheus, whose role may write to the cloud's service."""
BUDGET_KEEPER: Final = "budget-keeper"
"""The program that holds the queues of a team whose money is gone, beside Kueue's manager; it asks Prometheus."""
IDLE_KEEPER: Final = "idle-keeper"
"""The program that gives back the GPUs of jobs that do nothing with them, there too; it asks Prometheus."""
FLAVOR_KEEPER: Final = "flavor-keeper"
"""The program that takes capacity without nodes out of the queues, there too."""
PROOF_KEEPER: Final = "proof-keeper"
"""The program that ends smoke jobs which can get no nodes, there too."""
OFF_PEAK_KEEPER: Final = "off-peak-keeper"
"""The program that opens the queues of work that can wait for the night, there too."""
SLEEP_KEEPER: Final = "sleep-keeper"
"""The program that switches development off for the night, there too."""
KEEPERS: Final = (BUDGET_KEEPER, FLAVOR_KEEPER, IDLE_KEEPER, OFF_PEAK_KEEPER, PROOF_KEEPER, SLEEP_KEEPER)
"""Programs that ask every minute and answer nobody: ready only while their last whole round is recent."""
ALERT_LOG: Final = "alert-log"
"""The program that writes alerts to its log, where the ground's own monitoring reads logs and tells people."""
ALERTMANAGER_ACCOUNT: Final = f"{RELEASE}-alertmanager"
"""Service account of Alertmanager, whose role may publish to the environment's topic."""

PLATFORM_NAMESPACES: Final = (
    "egress-proxy",
    "jobset-system",
    "kube-system",
    "kubeflow-system",
    KUEUE_NAMESPACE,
    MLFLOW_NAMESPACE,
    MONITORING_NAMESPACE,
)
"""Namespaces of the platform's own programs, which alerts on controllers are about."""

RUNBOOKS: Final = "docs/runbooks"
"""What alerts name where nobody says where the pages are published: the folder of this project."""
BACKUP_PAGE: Final = "backup-failed.md"
"""What to do about a backup that is missing, on either cloud."""

CHECKPOINT_CHECK: Final = "checkpoint-check"
"""The CronJob of each team that says whether its newest checkpoints can be read."""
CHECKPOINT_AGE: Final = "checkpoint-age"
"""The one beside it that says whether the newest is older than it should be."""
CHECKPOINT_DRILL: Final = "checkpoint-drill"
"""The CronJob that restores a checkpoint each week; its Jobs are called so too, with a number behind."""
