"""What asks the cloud's service for figures on everybody's behalf: `keepers/figures_reader.py` and its Service."""

from collections.abc import Mapping

import pulumi

from trainyard.components.k8s.keeper_pod import keeper_account, keeper_deployment, keeper_service
from trainyard.components.k8s.monitoring_values import RemoteFiguresArgs
from trainyard.conventions.monitoring import FIGURES_READER, PROMETHEUS_PORT


def figures_reader(
    name: str,
    args: RemoteFiguresArgs,
    namespace: pulumi.Input[str],
    node_selector: Mapping[str, str],
    opts: pulumi.ResourceOptions,
) -> list[pulumi.Resource]:
    """Makes it, without any right in the cluster; its role of the cloud is bound to its service account by name."""
    subject = keeper_account(f"{name}-reader", FIGURES_READER, namespace, opts)
    configuration = pulumi.Output.json_dumps(
        {"endpoint": args["endpoint"], "region": args["region"], "port": PROMETHEUS_PORT}
    )
    deployment = keeper_deployment(
        f"{name}-reader",
        FIGURES_READER,
        "figures_reader",
        args["reader_image"],
        configuration,
        subject,
        node_selector,
        opts,
        port=PROMETHEUS_PORT,
    )
    return [deployment, keeper_service(f"{name}-reader", FIGURES_READER, namespace, PROMETHEUS_PORT, opts)]
