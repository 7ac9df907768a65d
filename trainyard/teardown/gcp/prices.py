"""What something that is left costs a month, at the catalogue's list prices, from what the inventory writes of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from trainyard.catalog.gcp import machine_price, service_price
from trainyard.conventions import HOURS_A_MONTH

Resource = Mapping[str, Any]
"""A resource as its own API writes it: Compute Engine's, Cloud SQL's and so on, camelCase."""

_ZONE: Final = re.compile(r"(.+)-[a-z]")
_TIER: Final = re.compile(r"db-custom-(\d+)-(\d+)")
"""A Cloud SQL machine by its vCPUs and MiB."""


def usd(each: Mapping[str, Any], kind: str) -> float | None:
    """A month of one entry of the inventory; None: its size is not told, or the catalogue has no price."""
    price = PRICES.get(kind)
    versions = each.get("versionedResources") or ()
    resource = versions[0].get("resource") if versions else None
    if price is None or not resource:
        return None
    location = str(each.get("location", ""))
    zone = _ZONE.fullmatch(location)
    try:
        return price(resource, zone[1] if zone else location)
    except (KeyError, ValueError, TypeError):  # no such price, or no such field: nobody knows here
        return None


def _service(key: str, region: str, quantity: float = 1.0) -> float:
    price = service_price(key, region)
    return price.usd * quantity * (HOURS_A_MONTH if price.unit.endswith("hour") else 1)


def _last(url: object) -> str:
    return str(url).rpartition("/")[2]


def _machines(type_: str, region: str, count: int) -> float | None:
    found = machine_price(type_, region)
    return None if found is None else found.usd * HOURS_A_MONTH * count


def _disk(disk: Resource, region: str) -> float | None:
    type_ = _last(disk["type"])
    if not type_.startswith("pd-"):
        return None  # Hyperdisk is paid for by its speed too
    zones = len(disk.get("replicaZones") or ("",))
    return _service(f"disk.{type_}", region, int(disk["sizeGb"]) * zones)


def _address(address: Resource, region: str) -> float | None:
    if address.get("addressType") == "INTERNAL" or address.get("ipVersion") == "IPV6":
        return 0.0
    return _service("public-ipv4", region)


def _instance(machine: Resource, region: str) -> float | None:
    if machine.get("status") in ("TERMINATED", "SUSPENDED"):
        return 0.0 if machine["status"] == "TERMINATED" else None  # its disks are told by themselves
    if machine.get("scheduling", {}).get("provisioningModel", "STANDARD") != "STANDARD":
        return None
    type_ = _last(machine["machineType"])
    if machine.get("guestAccelerators") and type_.startswith("n1-"):
        return None
    return _machines(type_, region, 1)


def _reservation(reservation: Resource, region: str) -> float | None:
    specific = reservation["specificReservation"]
    properties = specific["instanceProperties"]
    if properties.get("guestAccelerators") and properties["machineType"].startswith("n1-"):
        return None
    return _machines(properties["machineType"], region, int(specific["count"]))


def _router(router: Resource, _: str) -> float | None:
    return None if router.get("nats") else 0.0  # NAT is paid for by the machine


def _database(database: Resource, region: str) -> float | None:
    settings = database["settings"]
    tier = _TIER.fullmatch(settings["tier"])
    if tier is None or settings.get("edition", "ENTERPRISE") != "ENTERPRISE" or settings["dataDiskType"] != "PD_SSD":
        return None
    copies = 2 if settings.get("availabilityType") == "REGIONAL" else 1
    storage = _service("sql.ssd", region, int(settings["dataDiskSizeGb"]) * copies)
    if settings.get("activationPolicy") == "NEVER":  # stopped
        return storage
    vcpus, gib = int(tier[1]) * copies, int(tier[2]) / 1024 * copies
    return storage + _service("sql.postgres.vcpu", region, vcpus) + _service("sql.postgres.memory", region, gib)


def _key_version(version: Resource, region: str) -> float | None:
    return _service("kms.key-version", region) if version["protectionLevel"] == "SOFTWARE" else None


def _file_share(instance: Resource, region: str) -> float | None:
    if instance["tier"] not in ("BASIC_HDD", "STANDARD"):
        return None
    return _service("filestore.basic-hdd", region, sum(int(share["capacityGb"]) for share in instance["fileShares"]))


PRICES: Final[Mapping[str, Callable[[Resource, str], float | None]]] = {
    "cloudkms.googleapis.com/CryptoKeyVersion": _key_version,
    "compute.googleapis.com/Address": _address,
    "compute.googleapis.com/Disk": _disk,
    "compute.googleapis.com/ForwardingRule": lambda _, region: _service("forwarding-rule", region),
    "compute.googleapis.com/GlobalAddress": _address,
    "compute.googleapis.com/GlobalForwardingRule": lambda _, region: _service("forwarding-rule", region),
    "compute.googleapis.com/Instance": _instance,
    "compute.googleapis.com/RegionDisk": _disk,
    "compute.googleapis.com/Reservation": _reservation,
    "compute.googleapis.com/Router": _router,
    "container.googleapis.com/Cluster": lambda _, region: _service("gke.control-plane", region),
    "dns.googleapis.com/ManagedZone": lambda _, region: _service("dns.zone", region),
    "file.googleapis.com/Instance": _file_share,
    "monitoring.googleapis.com/AlertPolicy": lambda policy, region: _service(
        "monitoring.alert-condition", region, len(policy["conditions"])
    ),
    "secretmanager.googleapis.com/SecretVersion": lambda _, region: _service("secret.version", region),
    "sqladmin.googleapis.com/Instance": _database,
}
"""By kind, what it costs. What is paid for by what is in it, as a bucket or a snapshot, has no price here."""
