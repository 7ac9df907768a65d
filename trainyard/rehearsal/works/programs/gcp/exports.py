"""Files of Filestore that programs mount by an address: the share's name, and whom it is exported to.

Sources: Filestore, "Mounting file shares" (ADDRESS:/SHARE) and "Access control" (`ipRanges` of the export options;
without any, all of the network), as generally known in 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.types import FILESTORE, GCP_MACHINES, GCP_RUN_JOB, GCP_RUN_SERVICE, GCP_SUBNETWORK
from trainyard.rehearsal.context import Stack, View, listed, show

_SHARE: Final = r":/([A-Za-z][\w-]*)"
_EXPORTS: Final = "nfsExportOptions"


def check(stack: Stack) -> None:
    """Every instance of Filestore with one share, and whoever mounts it."""
    for files in stack.of_type(FILESTORE):
        share = files.text("fileShares.name")
        found = _addresses(files)
        if files.resource.read or share is None or not found:
            continue
        pattern = re.compile(rf"(?<![\d.])(?:{'|'.join(map(re.escape, found))}){_SHARE}")
        for view, path, name in _mounts(stack, pattern, found):
            if name != share:
                words = f"mounts {show(name)} of {files.name}, whose share is {show(share)}: the mount fails"
                view.error("programs-share", path, words, allowed=share, hint=nearest(name, [share]))
            elif view.type in GCP_MACHINES:
                _exported(files, view)


def _addresses(files: View) -> list[str]:
    outputs = files.resource.outputs.get("networks")
    networks = [one for one in listed(outputs) if isinstance(one, Mapping)]
    return [text for one in networks for text in listed(one.get("ipAddresses")) if isinstance(text, str) and text]


def _mounts(stack: Stack, pattern: re.Pattern[str], addresses: list[str]) -> Iterator[tuple[View, str, str]]:
    """Who mounts from one of these addresses, where it says so, and the share that it names."""
    for type_ in GCP_MACHINES:
        for view in stack.of_type(type_):
            for path, text in view.known_texts:
                for match in pattern.finditer(text) if any(one in text for one in addresses) else ():
                    yield view, path, match[1]
    for type_, at in ((GCP_RUN_SERVICE, "template.volumes"), (GCP_RUN_JOB, "template.template.volumes")):
        for view in stack.of_type(type_):
            for path, _ in view.items(at):
                if view.text(f"{path}.nfs.server") in addresses and (name := view.text(f"{path}.nfs.path")):
                    yield view, f"{path}.nfs.path", name.strip("/").partition("/")[0]


def _exported(files: View, machine: View) -> None:
    """A machine whose subnet lies outside of every range that the share is exported to."""
    ranges: list[IPv4Network | IPv6Network] = []
    for path, _ in files.items(f"fileShares.{_EXPORTS}"):
        given = files.texts(f"{path}.ipRanges")
        if not given or files.blurred(f"{path}.ipRanges"):
            return
        try:
            ranges += [ip_network(text, strict=False) for text in given]
        except ValueError:
            return  # told where values are
    subnets = [machine.referred(f"{path}.subnetwork", GCP_SUBNETWORK) for path, _ in machine.items("networkInterfaces")]
    if not ranges or not subnets or files.blurred(f"fileShares.{_EXPORTS}") or machine.blurred("networkInterfaces"):
        return
    blocks: list[IPv4Network | IPv6Network] = []
    for subnet in subnets:
        text = subnet.text("ipCidrRange") if subnet is not None else None
        try:
            blocks.append(ip_network(text or "", strict=False))
        except ValueError:
            return  # not known
    if not any(one.version == block.version and one.overlaps(block) for one in ranges for block in blocks):
        has = ", ".join(str(block) for block in blocks)
        words = f"none has {machine.name} in it, which mounts the share from {has}: the mount is refused"
        files.error("programs-export", f"fileShares.{_EXPORTS}", words, allowed=f"a range with {has}")
