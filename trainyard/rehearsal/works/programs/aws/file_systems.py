"""Directories of a Lustre file system that pods mount, against those that its links to buckets make.

Source: FSx for Lustre user guide, "Linking your file system to an Amazon S3 bucket": a link makes the directory of its
`fileSystemPath`; a new file system has no other. A mount of a directory that is not there fails. EFS user guide, "Using
IAM to control access to file systems": with the mount option `iam`, `tls` is needed (2026-11).
"""

from __future__ import annotations

from typing import Final

from trainyard.recorded.types import VOLUME
from trainyard.rehearsal.context import Stack, View, show

_LINK: Final = "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"
_SYSTEM: Final = "aws:fsx/lustreFileSystem:LustreFileSystem"
_DRIVER: Final = "fsx.csi.aws.com"
_SHARED: Final = "efs.csi.aws.com"


def check(stack: Stack) -> None:
    """Every volume of a recorded file system that has links, and every one that signs its requests."""
    for view in stack.of_type(VOLUME):
        signs = "iam" in view.texts("spec.mountOptions") and view.text("spec.csi.driver") == _SHARED
        if signs and str(view.value("spec.csi.volumeAttributes.encryptInTransit")).lower() == "false":
            view.error(
                "programs-mount", "spec.csi.volumeAttributes.encryptInTransit",
                "is off, and the mount option iam works over TLS alone: no pod mounts it", allowed="true",
            )  # fmt: skip
    volumes = [view for view in stack.of_type(VOLUME) if view.text("spec.csi.driver") == _DRIVER]
    for system in stack.of_type(_SYSTEM):
        ids = {str(system.resource.id), str(system.resource.outputs.get("dnsName"))} - {"None"}
        links = [link for link in stack.of_type(_LINK) if link.referred("fileSystemId", _SYSTEM) is system]
        paths = [link.text("fileSystemPath") for link in links]
        mine = [view for view in volumes if _is_of(view, ids)]
        whole = [view for view in mine if not _directory(view)]
        if not links or None in paths or whole or any(path == "/" for path in paths):
            continue  # whoever mounts the whole of it makes directories
        for view in mine:
            directory = _directory(view)
            if not any(_holds(str(path), directory) for path in paths):
                view.error(
                    "programs-directory",
                    "spec.csi.volumeAttributes.mountname",
                    f"mounts {show(directory)}, and nothing makes that directory on {system.name}: its links are "
                    f"{', '.join(sorted(map(str, paths)))}",
                    allowed=f"one of {', '.join(sorted(map(str, paths)))}",
                )


def _is_of(view: View, ids: set[str]) -> bool:
    name, handle = view.text("spec.csi.volumeAttributes.dnsname"), view.text("spec.csi.volumeHandle")
    return any(name == one or (name or "").startswith(f"{one}.") or (handle or "").startswith(one) for one in ids)


def _directory(view: View) -> str:
    """Below the mount name: `/data` of `abcdef01/data`."""
    rest = (view.text("spec.csi.volumeAttributes.mountname") or "").partition("/")[2].strip("/")
    return f"/{rest}" if rest else ""


def _holds(path: str, directory: str) -> bool:
    path = path.rstrip("/")
    return f"{directory}/".startswith(f"{path}/") or f"{path}/".startswith(f"{directory}/")
