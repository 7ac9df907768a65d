"""What a volume's driver is told by `mountOptions`: with one that it does not know, no pod with the volume starts.

Sources: Mountpoint for S3, `doc/CONFIGURATION.md` and `mount-s3 --help` (a prefix ends with a slash; owners are
numbers, modes octal); Lustre's `mount.lustre`; efs-utils, README, as generally known (2026-11). Versions bring others:
only what all but repeats one of these is told of.
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.drivers import S3_DRIVER
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_KNOWN: Final = {
    S3_DRIVER: (
        "allow-delete", "allow-other", "allow-overwrite", "allow-root", "aws-max-attempts", "cache", "cache-xz",
        "debug", "debug-crt", "dir-mode", "dual-stack", "endpoint-url", "expected-bucket-owner", "file-mode",
        "force-path-style", "gid", "incremental-upload", "log-metrics", "max-cache-size", "max-threads",
        "maximum-throughput-gbps", "metadata-ttl", "negative-metadata-ttl", "no-sign-request", "part-size", "prefix",
        "profile", "read-only", "read-part-size", "region", "requester-pays", "sse", "sse-kms-key-id",
        "storage-class", "transfer-acceleration", "uid", "upload-checksums", "user-agent-prefix", "write-part-size",
    ),
    "fsx.csi.aws.com": ("flock", "lazystatfs", "localflock", "noatime", "noflock", "relatime", "user_xattr"),
    "efs.csi.aws.com": (
        "accesspoint", "awscredsuri", "awsprofile", "iam", "mounttargetip", "netns", "noresvport", "notls", "region",
        "tls", "tlsport",
    ),
}  # fmt: skip
_NUMBERS: Final = (
    "gid", "max-cache-size", "max-threads", "part-size", "read-part-size", "uid", "write-part-size",
)  # fmt: skip
_MODES: Final = ("dir-mode", "file-mode")
_VALUED: Final = (*_NUMBERS, *_MODES, "metadata-ttl", "prefix", "region")
_NEAR: Final = 0.85
_OPTION: Final = re.compile(r"(?:--)?([\w-]+)(?:[ =](.*))?")


def check(cluster: Cluster) -> None:
    """Every recorded volume and every class."""
    for kind, driver, path in (
        ("PersistentVolume", "spec.csi.driver", "spec.mountOptions"),
        ("StorageClass", "provisioner", "mountOptions"),
    ):
        for view in cluster.of(kind):
            name = view.text(driver) or ""
            for index, option in enumerate(view.entries(path)) if name in _KNOWN else ():
                found = _OPTION.fullmatch(option.strip()) if isinstance(option, str) else None
                if found:
                    _option(view, f"{path}[{index}]", name, found[1], found[2])


def _option(view: View, path: str, driver: str, name: str, value: str | None) -> None:
    known = _KNOWN[driver]
    if name not in known:
        near = nearest(name, known, cutoff=_NEAR)
        if near:
            _error(view, path, f"there is no option {show(name)}", "", near)
    elif driver != S3_DRIVER:
        return
    elif name in _VALUED and not (value or "").strip():
        _error(view, path, f"{name} is given no value", f"{name} and what it is")
    elif name in _NUMBERS and not (value or "").strip().isdigit():
        _error(view, path, f"{name} is {show(value)}", "a whole number")
    elif name in _MODES and not re.fullmatch(r"0?[0-7]{3}", (value or "").strip()):
        _error(view, path, f"{name} is {show(value)}", "an octal number, such as 0770")
    elif name == "prefix" and not str(value).endswith("/"):
        _error(view, path, f"prefix is {show(value)}, which ends with no slash", f"prefix {value}/")
    elif name == "prefix" and str(value).startswith("/"):
        _error(view, path, f"prefix is {show(value)}: keys begin with no slash", f"prefix {str(value).lstrip('/')}")


def _error(view: View, path: str, message: str, allowed: str, near: str = "") -> None:
    view.error(
        "programs-mount-option", path, f"{message}: no pod with the volume starts", allowed=allowed,
        hint=f"did you mean {near}?" if near else "",
    )  # fmt: skip
