"""What writes alerts to a log, beside Alertmanager: the program `keepers/alert_log.py` and its Service."""

from collections.abc import Mapping

import pulumi

from trainyard.components.k8s.keeper_pod import keeper_account, keeper_deployment, keeper_service
from trainyard.components.k8s.monitoring_values import AlertRouteArgs
from trainyard.conventions.monitoring import ALERT_LOG, MONITORING_NAMESPACE

PORT = 8080
"""Where it answers; the walls of its namespace let its pods by there."""
ALERT_LOG_URL = f"http://{ALERT_LOG}.{MONITORING_NAMESPACE}.svc:{PORT}/"
"""Where Alertmanager sends to."""

ROUTE: AlertRouteArgs = {
    "integration": "webhook_configs",
    "alerts": {"url": ALERT_LOG_URL},
    "watchdog": {"url": ALERT_LOG_URL},
}
"""The way of alerts to the log."""


def alert_log(
    name: str,
    image: str,
    namespace: pulumi.Input[str],
    node_selector: Mapping[str, str],
    opts: pulumi.ResourceOptions,
) -> list[pulumi.Resource]:
    """Makes it, without any right."""
    subject = keeper_account(f"{name}-alert-log", ALERT_LOG, namespace, opts)
    deployment = keeper_deployment(
        f"{name}-alert-log", ALERT_LOG, "alert_log", image, str(PORT), subject, node_selector, opts, port=PORT
    )
    return [deployment, keeper_service(f"{name}-alert-log", ALERT_LOG, namespace, PORT, opts)]
