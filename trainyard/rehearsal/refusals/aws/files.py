"""FSx for Lustre and EFS: sizes that are sold, inputs that go together.

Source: FSx for Lustre and EFS user guides as generally known; the provider and moto pass all of it (2026-11-21).
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.recorded.types import DATA_REPOSITORY_ASSOCIATION, EFS, LUSTRE
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.rules import Rules

_THROUGHPUT = {
    ("PERSISTENT_1", "SSD"): (50, 100, 200),
    ("PERSISTENT_1", "HDD"): (12, 40),
    ("PERSISTENT_2", "SSD"): (125, 250, 500, 1000),
}
"""MB/s per TiB of storage, by deployment and storage type."""


def lustre_capacity(view: View) -> None:
    """A file system's capacity is one of the steps in which FSx sells it."""
    kind, storage = _kinds(view)
    capacity = view.number("storageCapacity")
    if storage == "INTELLIGENT_TIERING":
        if view.has("storageCapacity"):
            view.error(
                "fsx-intelligent-tiering", "storageCapacity", "given with INTELLIGENT_TIERING", allowed="none: it grows"
            )
        for key in ("throughputCapacity", "metadataConfiguration", "dataReadCacheConfiguration"):
            if view.lacks(key):
                view.error("fsx-intelligent-tiering", key, "is missing", allowed="needed with INTELLIGENT_TIERING")
        throughput = view.number("throughputCapacity")
        if throughput is not None and throughput % 4000:
            view.error(
                "fsx-intelligent-tiering",
                "throughputCapacity",
                f"got {throughput:g}",
                allowed="a multiple of 4000 MB/s",
            )
        return
    if view.lacks("storageCapacity"):
        if view.lacks("backupId"):
            view.error("fsx-capacity", "storageCapacity", "is missing", allowed="1200, or a multiple of 2400 GiB")
        return
    if capacity is None or kind is None or storage is None:
        return
    if storage == "HDD":
        step = 1800 if view.text("driveCacheType") == "READ" or view.number("perUnitStorageThroughput") == 40 else 6000
        if capacity % step:
            view.error(
                "fsx-capacity", "storageCapacity", f"got {capacity:g} GiB", allowed=f"a multiple of {step} GiB on HDD"
            )
    elif kind == "SCRATCH_1":
        if capacity not in (1200, 2400) and capacity % 3600:
            view.error(
                "fsx-capacity",
                "storageCapacity",
                f"got {capacity:g} GiB",
                allowed="1200, 2400, or a multiple of 3600 GiB",
            )
    elif capacity != 1200 and capacity % 2400:
        view.error(
            "fsx-capacity", "storageCapacity", f"got {capacity:g} GiB", allowed="1200, or a multiple of 2400 GiB"
        )


def _kinds(view: View) -> tuple[str | None, str | None]:
    kind = None if view.is_unknown("deploymentType") else view.text("deploymentType") or "SCRATCH_1"
    storage = None if view.is_unknown("storageType") else view.text("storageType") or "SSD"
    return kind, storage


def lustre_throughput(view: View) -> None:
    """Throughput per TiB: which values a deployment has, where it is needed, where it is not."""
    kind, storage = _kinds(view)
    if kind is None or storage is None or storage == "INTELLIGENT_TIERING":
        return
    key = "perUnitStorageThroughput"
    if kind.startswith("SCRATCH"):
        for extra in (key, "automaticBackupRetentionDays", "dailyAutomaticBackupStartTime", "copyTagsToBackups"):
            if view.has(extra) and view.value(extra) not in (0, False):
                view.error("fsx-scratch", extra, f"given for {kind}", allowed="PERSISTENT_1 or PERSISTENT_2")
        return
    choices = _THROUGHPUT.get((kind, storage))
    if choices is None:
        view.error("fsx-storage-type", "storageType", f"{show(storage)} with {kind}", allowed="SSD")
        return
    if view.lacks(key):
        view.error(
            "fsx-throughput",
            key,
            f"is missing for {kind}",
            allowed=f"one of {', '.join(map(str, choices))} MB/s per TiB",
        )
    throughput = view.number(key)
    if throughput is not None and throughput not in choices:
        view.error(
            "fsx-throughput",
            key,
            f"got {throughput:g} for {kind}",
            allowed=f"one of {', '.join(map(str, choices))} MB/s per TiB",
        )


def lustre_options(view: View) -> None:
    """Links to S3, metadata, EFA and backups by deployment."""
    kind, _ = _kinds(view)
    if kind == "PERSISTENT_2":
        for key in ("importPath", "exportPath", "autoImportPolicy", "importedFileChunkSize"):
            if view.has(key):
                view.error("fsx-import-path", key, "given for PERSISTENT_2", allowed="an fsx.DataRepositoryAssociation")
        version = view.text("fileSystemTypeVersion")
        if version == "2.10":
            view.error("fsx-version", "fileSystemTypeVersion", "2.10 with PERSISTENT_2", allowed="2.12 or 2.15")
    elif kind is not None:
        for key in ("metadataConfiguration", "efaEnabled"):
            if view.has(key) and view.value(key) is not False:
                view.error("fsx-persistent-2", key, f"given for {kind}", allowed="PERSISTENT_2")
    if view.text("metadataConfiguration.mode") == "AUTOMATIC" and view.has("metadataConfiguration.iops"):
        view.error(
            "fsx-metadata", "metadataConfiguration.iops", "given with mode AUTOMATIC", allowed="mode USER_PROVISIONED"
        )
    version = view.text("fileSystemTypeVersion")
    if view.has("metadataConfiguration") and version is not None and version != "2.15" and kind == "PERSISTENT_2":
        view.error("fsx-version", "fileSystemTypeVersion", f"{version} with metadataConfiguration", allowed="2.15")
    if view.text("metadataConfiguration.mode") == "USER_PROVISIONED" and view.lacks("metadataConfiguration.iops"):
        view.error("fsx-metadata", "metadataConfiguration.iops", "is missing", allowed="needed with USER_PROVISIONED")
    iops = view.number("metadataConfiguration.iops")
    if iops is not None and iops not in (1500, 3000, 6000) and (iops % 12000 or not 12000 <= iops <= 192000):
        view.error(
            "fsx-metadata",
            "metadataConfiguration.iops",
            f"got {iops:g}",
            allowed="1500, 3000, 6000, or a multiple of 12000 up to 192000",
        )
    if view.flag("efaEnabled") and view.lacks("metadataConfiguration"):
        view.error("fsx-efa", "metadataConfiguration", "is missing", allowed="needed with efaEnabled")
    if isinstance(view.value("subnetIds"), list):
        view.error("fsx-subnet", "subnetIds", "got a list", allowed="a single subnet id (the provider makes the list)")
    if view.text("importPath") is not None:
        _not_backed_up(view, f"linked to {view.text('importPath')}")
    if view.has("autoImportPolicy") and view.lacks("importPath"):
        view.error("fsx-import-path", "autoImportPolicy", "given without importPath", allowed="importPath")


def _not_backed_up(system: View, why: str) -> None:
    """FSx backs up no file system that is linked to a bucket (FSx API, `CreateBackup`, 2026-11)."""
    days = system.number("automaticBackupRetentionDays")
    if days:
        system.warning(  # how the creation of the one or the other ends, nobody documents
            "fsx-backup", "automaticBackupRetentionDays", f"is {days:g}, and the file system is {why}: of such there "
            "are no backups", allowed="0, as the bucket holds what is in it",
        )  # fmt: skip


def backup(view: View) -> None:
    """A backup is of a file system that no bucket is linked to."""
    system = view.referred("fileSystemId", LUSTRE)
    if system is None:
        return
    links = view.stack.of_type(DATA_REPOSITORY_ASSOCIATION)
    if system.has("importPath") or any(one.referred("fileSystemId", LUSTRE) is system for one in links):
        view.error(
            "fsx-backup", "fileSystemId", f"file system {system.name} is linked to a bucket: of such there are no "
            "backups", allowed="a file system without data repositories",
        )  # fmt: skip


def lustre_log(view: View) -> None:
    """Logs go to a group or a stream whose name FSx may write to."""
    where = view.text("logConfiguration.destination")
    found = re.match(r"arn:aws[\w-]*:(logs|firehose):[^:]*:\d*:(log-group:|deliverystream/)([^:]+)", where or "")
    prefix = {"logs": "/aws/fsx/", "firehose": "aws-fsx"}[found[1]] if found else ""
    if found and not found[3].startswith(prefix):
        view.error(
            "fsx-log", "logConfiguration.destination", f"got {show(found[3])}", allowed=f"a name that begins {prefix}"
        )


def association(view: View) -> None:
    """SCRATCH_1 and version 2.10 take no associations; two cannot share a path; what has one has no backups."""
    system = view.referred("fileSystemId", LUSTRE)
    if system is not None:
        kind, version = system.text("deploymentType"), system.text("fileSystemTypeVersion")
        is_old = version == "2.10" or system.lacks("fileSystemTypeVersion")  # the default of what is no PERSISTENT_2
        if kind == "SCRATCH_1" or (kind == "PERSISTENT_1" and is_old):
            what = f"{kind} of version {version or '2.10'}" if kind == "PERSISTENT_1" else kind
            view.error(
                "fsx-association", "fileSystemId", f"file system {system.name} is {what}",
                allowed="PERSISTENT_2 or SCRATCH_2, or PERSISTENT_1 of 2.12 or later",
            )  # fmt: skip
        _not_backed_up(system, f"linked to {view.text('dataRepositoryPath') or 'a bucket'}")
    path = view.text("fileSystemPath")
    for other in view.stack.of_type(view.type):
        if other is view:
            break
        theirs = other.text("fileSystemPath")
        if system is None or path is None or theirs is None or other.referred("fileSystemId", LUSTRE) is not system:
            continue
        own, their = path.rstrip("/") + "/", theirs.rstrip("/") + "/"
        if own.startswith(their) or their.startswith(own):
            view.error(
                "fsx-association",
                "fileSystemPath",
                f"{path} overlaps {theirs} of {other.name}",
                allowed="separate paths",
            )


def efs(view: View) -> None:
    """Lifecycle entries, throughput mode and encryption of an EFS file system suit each other."""
    for path, entry in view.items("lifecyclePolicies"):
        if sum(1 for value in entry.values() if value is not None) > 1:
            view.error("efs-lifecycle", path, "has several transitions", allowed="one transition an entry")
    mode = view.text("throughputMode")
    key = "provisionedThroughputInMibps"
    if mode == "provisioned" and view.lacks(key):
        view.error("efs-throughput", key, "is missing", allowed="needed with throughputMode provisioned")
    if view.has(key) and mode != "provisioned" and not view.is_unknown("throughputMode"):
        view.error(
            "efs-throughput",
            key,
            f"given with throughputMode {mode or 'bursting'}",
            allowed="throughputMode provisioned",
        )
    if view.text("performanceMode") == "maxIO" and mode == "elastic":
        view.error("efs-throughput", "performanceMode", "maxIO with throughputMode elastic", allowed="generalPurpose")
    if view.has("kmsKeyId") and not view.flag("encrypted") and not view.is_unknown("encrypted"):
        view.error("efs-encrypted", "encrypted", "a key is given without encryption", allowed="true")


RULES: Final[Rules] = {
    lustre_capacity: (LUSTRE,),
    lustre_throughput: (LUSTRE,),
    lustre_options: (LUSTRE,),
    lustre_log: (LUSTRE,),
    association: (DATA_REPOSITORY_ASSOCIATION,),
    backup: ("aws:fsx/backup:Backup",),
    efs: (EFS,),
}
