"""Facts about the clouds, as CSV and YAML beside this module, with typed look-ups.

Every row carries its source and date. Prices are list prices without tax or discount, in the region that the row
names; nothing here is fetched. Tables are read once, on first use.
"""

from trainyard.catalog.authorities import rds_authority
from trainyard.catalog.instances import (
    CpuInstance,
    Instance,
    Region,
    ZoneFact,
    cpu_instance,
    cpu_instances,
    gpu_names,
    instance,
    instances,
    nvlinks,
    offered,
    offered_regions,
    offered_zones,
    region,
    regions,
    zones,
)
from trainyard.catalog.residency import is_served, regimes, residency_regions
from trainyard.catalog.services import ServicePrice, service_price, service_prices
from trainyard.catalog.versions import (
    KubernetesVersion,
    add_on_pins,
    ami_driver,
    chart_pins,
    default_kubernetes_version,
    image_pins,
    known_kubernetes_versions,
    kubernetes_versions,
    node_release,
    pins,
    postgresql_version,
)

__all__ = [
    "CpuInstance",
    "Instance",
    "KubernetesVersion",
    "Region",
    "ServicePrice",
    "ZoneFact",
    "add_on_pins",
    "ami_driver",
    "chart_pins",
    "cpu_instance",
    "cpu_instances",
    "default_kubernetes_version",
    "gpu_names",
    "image_pins",
    "instance",
    "instances",
    "is_served",
    "known_kubernetes_versions",
    "kubernetes_versions",
    "node_release",
    "nvlinks",
    "offered",
    "offered_regions",
    "offered_zones",
    "pins",
    "postgresql_version",
    "rds_authority",
    "regimes",
    "region",
    "regions",
    "residency_regions",
    "service_price",
    "service_prices",
    "zones",
]
