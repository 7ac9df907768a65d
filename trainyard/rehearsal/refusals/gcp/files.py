"""Managed Lustre and Filestore: sizes, places, who may mount, and the connection that they are reached by.

Source: validators of the provider (terraform-provider-google-beta, 2026-08-21), the documentation of pulumi_gcp 10.2.0
and Google's own as read 2026-11; sizes, `trainyard.conventions.gcp_files.py`.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import Final

from trainyard.conventions.gcp_files import FILESTORE_TIERS, LUSTRE_DYNAMIC, LUSTRE_TIERS
from trainyard.problems import nearest
from trainyard.recorded.read import as_number
from trainyard.recorded.types import FILESTORE, GCP_CONNECTION, GCP_LUSTRE, GCP_NETWORK
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.gcp.forms import LIKE_A_ZONE
from trainyard.rehearsal.refusals.rules import Rules

_SQUASH: Final = ("NO_SQUASH", "ROOT_SQUASH")


def lustre(view: View) -> None:
    """Sizes go in steps that depend on the throughput."""
    throughput, size = view.number("perUnitStorageThroughput"), view.number("capacityGib")
    dynamic = view.has("dynamicTierOptions")
    if dynamic and throughput:
        words = "beside dynamicTierOptions, which has a throughput of its own"
        view.error("gcp-lustre", "perUnitStorageThroughput", words, allowed="one of the two")
    elif view.lacks("perUnitStorageThroughput") and not dynamic:
        allowed = f"{', '.join(str(key) for key in LUSTRE_TIERS)} MB/s a TiB, or dynamicTierOptions"
        view.error("gcp-lustre", "perUnitStorageThroughput", "is missing", allowed=allowed)
    elif throughput and throughput not in LUSTRE_TIERS:
        allowed = ", ".join(str(key) for key in LUSTRE_TIERS)
        view.error("gcp-lustre", "perUnitStorageThroughput", show(throughput), allowed=f"{allowed} MB/s a TiB")
    elif size is not None and (dynamic or throughput):
        tier = LUSTRE_DYNAMIC if dynamic else LUSTRE_TIERS[int(throughput or 0)]
        if not tier.sells(size):
            view.error("gcp-lustre", "capacityGib", show(size), allowed=tier.words)
    system = view.text("filesystem")
    if system is not None and not re.fullmatch(r"[A-Za-z][A-Za-z0-9]{0,7}", system):
        view.error("gcp-lustre", "filesystem", show(system), allowed="at most 8 letters and digits, a letter first")
    location = view.text("location")
    if location is not None and not LIKE_A_ZONE.fullmatch(location):
        view.error("gcp-lustre", "location", show(location), allowed="a zone, like us-central1-a")
    _squash(view)


def _squash(view: View) -> None:
    """Whose root is root: by default, and by ranges of addresses that do not overlap."""
    path = "accessRulesOptions"
    modes = [(f"{path}.defaultSquashMode", view.text(f"{path}.defaultSquashMode"))]
    for where, rule in view.items(f"{path}.accessRules"):
        modes.append((f"{where}.squashMode", view.text(f"{where}.squashMode")))
        name = rule.get("name")
        if isinstance(name, str) and not re.fullmatch(r"[A-Za-z0-9_]{1,16}", name):
            view.error("gcp-lustre", f"{where}.name", show(name), allowed="1 to 16 letters, digits and '_'")
    for where, mode in modes:
        if mode is not None and mode not in _SQUASH:
            view.error("gcp-lustre", where, show(mode), allowed=" or ".join(_SQUASH), hint=nearest(mode, _SQUASH))
    _overlaps(view, f"{path}.accessRules", "ipAddressRanges")


def filestore(view: View) -> None:
    """One share, with a name and a size that the tier takes, in the place that the tier stands in."""
    tier, shares = view.text("tier"), view.mapping("fileShares")
    name, size = shares.get("name"), as_number(shares.get("capacityGb"))
    longest = 16 if tier is not None and tier.startswith("BASIC") else 63
    if isinstance(name, str) and not re.fullmatch(rf"[a-z][a-z0-9_]{{0,{longest - 1}}}", name):
        allowed = f"at most {longest} of a-z, 0-9 and '_', a letter first"
        view.error("gcp-filestore", "fileShares.name", show(name), allowed=allowed)
    for path, option in view.items("fileShares.nfsExportOptions"):
        if option.get("squashMode") in (None, "NO_ROOT_SQUASH") and not option.keys().isdisjoint(
            {"anonUid", "anonGid"}
        ):
            allowed = "ROOT_SQUASH beside anonUid and anonGid, or neither"
            view.error("gcp-filestore", f"{path}.squashMode", show(option.get("squashMode")), allowed=allowed)
    _overlaps(view, "fileShares.nfsExportOptions", "ipRanges")
    if len(view.entries("networks")) > 1:
        words = f"{len(view.entries('networks'))} networks"
        view.error("gcp-filestore", "networks", words, allowed="one")
    sold = FILESTORE_TIERS.get(tier or "")
    if sold is None:
        return
    if size is not None and not sold.sells(size):
        view.error("gcp-filestore", "fileShares.capacityGb", show(size), allowed=f"{sold.words} for {tier}")
    elif size is not None and size % sold.older_step and (sold.by_steps_from is None or size < sold.by_steps_from):
        words = f"{show(size)}: Filestore's documentation has steps of {sold.older_step} GiB, the provider's any"
        view.warning("gcp-filestore", "fileShares.capacityGb", words, allowed=f"steps of {sold.older_step} GiB")
    for key in ("location", "zone"):
        place = view.text(key)
        if place is not None and bool(LIKE_A_ZONE.fullmatch(place)) is sold.regional:
            allowed = "a region, like us-central1" if sold.regional else "a zone, like us-central1-a"
            view.error("gcp-filestore", key, show(place), allowed=f"{allowed}, for {tier}")
    if not sold.encrypts:
        for key, what in (("kmsKeyName", "a key of the project's"), ("protocol", "NFS_V4_1")):
            if view.has(key) and (key != "protocol" or view.text(key) == what):
                allowed = ", ".join(each for each, other in FILESTORE_TIERS.items() if other.encrypts)
                view.error("gcp-filestore", "tier", f"{tier} takes no {what}", allowed=allowed)


def _overlaps(view: View, path: str, key: str) -> None:
    """Ranges of clients, over all entries of a list: none overlaps another."""
    seen: list[tuple[str, ipaddress.IPv4Network | ipaddress.IPv6Network]] = []
    for where, network in _networks(view, path, key):
        for other, before in seen:
            if network.version == before.version and network.overlaps(before):
                view.error("gcp-range-overlap", where, f"{network} overlaps {before} of {other}", allowed="each once")
                break
        seen.append((where, network))


def _networks(view: View, path: str, key: str) -> Iterator[tuple[str, ipaddress.IPv4Network | ipaddress.IPv6Network]]:
    for where, _ in view.items(path):
        for index, text in enumerate(view.entries(f"{where}.{key}")):
            try:
                yield f"{where}.{key}[{index}]", ipaddress.ip_network(str(text), strict=False)
            except ValueError:
                continue  # told where ranges are


def peering(view: View) -> None:
    """What stands in a network of Google's has to wait for the private connection to it."""
    path = "network" if view.type == GCP_LUSTRE else "networks[0].network"
    if view.type == FILESTORE and view.text("networks[0].connectMode") != "PRIVATE_SERVICE_ACCESS":
        return
    network = view.referred(path, GCP_NETWORK)
    for found in view.stack.of_type(GCP_CONNECTION) if network is not None else ():
        if found.referred("network", GCP_NETWORK) is not network:
            continue
        if found.resource.urn not in view.stack.waits_for(view.resource):
            words = "does not wait for the private connection"
            view.error("gcp-private-services", path, words, allowed=f"depends_on {found.name}")


RULES: Rules = {lustre: (GCP_LUSTRE,), filestore: (FILESTORE,), peering: (GCP_LUSTRE, FILESTORE)}
