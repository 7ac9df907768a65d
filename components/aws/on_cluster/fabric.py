"""Elastic Fabric Adapters in a cluster: the device plugin that offers them to pods, and how queues see them."""

from collections.abc import Mapping, Sequence
from typing import Any

from trainyard.components.k8s.charts import ChartArgs
from trainyard.components.k8s.gpu import DevicePluginArgs
from trainyard.conventions import gpu_node_tolerations
from trainyard.conventions.aws import EFA_RESOURCE

UNRATIONED_RESOURCES = (f"{EFA_RESOURCE.partition('/')[0]}/",)
"""Prefix of the adapters' resource. Queues count GPUs; the adapters come with them."""

EFA_REPOSITORY = "eks/aws-efa-k8s-device-plugin"
DEFAULT_REGISTRY_ACCOUNT = "602401143452"
REGISTRY_ACCOUNTS: Mapping[str, str] = {
    "af-south-1": "877085696533",
    "ap-east-1": "800184023465",
    "ap-east-2": "533267051163",
    "ap-south-2": "900889452093",
    "ap-southeast-3": "296578399912",
    "ap-southeast-4": "491585149902",
    "ap-southeast-5": "151610086707",
    "ap-southeast-6": "333609536671",
    "ap-southeast-7": "121268973566",
    "ca-west-1": "761377655185",
    "eu-central-2": "900612956339",
    "eu-south-1": "590381155156",
    "eu-south-2": "455263428931",
    "il-central-1": "066635153087",
    "me-central-1": "759879836304",
    "me-south-1": "558608220178",
    "mx-central-1": "730335286997",
}
"""Accounts of the EKS image registries in regions that are opted into; all others have `DEFAULT_REGISTRY_ACCOUNT`.
Source: the table "Amazon container image registries" of the EKS guide, as the EKS AMI's own script has it, 2026-11."""


def efa_device_plugin(region: str, instance_types: Sequence[str], chart: ChartArgs) -> DevicePluginArgs:
    """The device plugin of the adapters on nodes of these instance types; its image comes from the region's registry.

    `chart` is `aws-efa-k8s-device-plugin`, whose own list of tolerations is empty.
    """
    values: dict[str, Any] = {
        "fullnameOverride": "aws-efa-k8s-device-plugin",
        "image": {"repository": f"{registry(region)}/{EFA_REPOSITORY}"},
        "supportedInstanceLabels": {
            "keys": ["node.kubernetes.io/instance-type"],
            "values": sorted(set(instance_types)),
        },
        "tolerations": gpu_node_tolerations("spot"),
        "resources": {
            "requests": {"cpu": "10m", "memory": "32Mi"},
            "limits": {"cpu": "200m", "memory": "128Mi"},
        },
    }
    return {"name": "aws-efa-k8s-device-plugin", "chart": chart, "values": values}


def registry(region: str) -> str:
    """The EKS image registry of a region."""
    return f"{REGISTRY_ACCOUNTS.get(region, DEFAULT_REGISTRY_ACCOUNT)}.dkr.ecr.{region}.amazonaws.com"
