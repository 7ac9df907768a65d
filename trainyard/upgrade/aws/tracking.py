"""The tracking database's snapshots on RDS: one made on demand, and one restored to see that it comes back."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from trainyard.account.aws import Account, RefusedError
from trainyard.upgrade.queues import Say

LOOK_SECONDS: Final = 30.0
MOST_LOOKS: Final = 240
"""Two hours: what a snapshot or a restored instance of hundreds of GiB takes at most, own choice."""

_COMPARED: Final = ("Engine", "EngineVersion", "AllocatedStorage", "StorageEncrypted", "KmsKeyId", "DBName")
"""What a database that came back has as the one that stands: of the API's DBInstance."""


class TrackingError(Exception):
    """There is no such database or snapshot, or it is not there in time."""


@dataclass(frozen=True, slots=True)
class Drill:
    """A snapshot that came back."""

    seconds: float
    differences: tuple[str, ...]  # from the database that stands, in words


def snapshot_name(database: str, now: datetime) -> str:
    """The name of a snapshot that is made now: `acme-demo-mlflow-on-demand-20261126-0030`."""
    return f"{database}-on-demand-{now:%Y%m%d-%H%M}"


def scratch_name(database: str, now: datetime) -> str:
    """The instance of a drill: 63 characters at most, as RDS takes them."""
    return f"{database[:40]}-drill-{now:%Y%m%d-%H%M}"


def make_snapshot(
    account: Account, database: str, name: str, say: Say, *, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Makes it and waits until it is there. Raises TrackingError, CannotAskError."""
    _instance(account, database)
    account.call("rds", "create_db_snapshot", DBInstanceIdentifier=database, DBSnapshotIdentifier=name)

    def status() -> str:
        listed = account.call("rds", "describe_db_snapshots", DBSnapshotIdentifier=name)["DBSnapshots"]
        return str(listed[0]["Status"])

    _wait(f"snapshot {name}", status, say, sleep)


def newest_snapshot(account: Account, database: str) -> str:
    """The newest that is there, made by hand or by RDS every day. Raises TrackingError, CannotAskError."""
    listed = account.each("rds", "describe_db_snapshots", "DBSnapshots", DBInstanceIdentifier=database)
    there = [each for each in listed if each.get("Status") == "available" and "SnapshotCreateTime" in each]
    if not there:
        raise TrackingError(f"there is no snapshot of {database}: `trainyard tracking snapshot STACK --run` makes one")
    return str(max(there, key=lambda each: each["SnapshotCreateTime"])["DBSnapshotIdentifier"])


def carry_out_drill(
    account: Account,
    database: str,
    name: str,
    scratch: str,
    say: Say,
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Drill:
    """Restores a snapshot beside the database, in its subnets and behind its security groups, and deletes it again.

    The instance goes whatever happens. Raises TrackingError, CannotAskError.
    """
    stands, begun = _instance(account, database), clock()
    account.call(
        "rds",
        "restore_db_instance_from_db_snapshot",
        DBInstanceIdentifier=scratch,
        DBSnapshotIdentifier=name,
        DBInstanceClass=stands["DBInstanceClass"],
        DBSubnetGroupName=stands["DBSubnetGroup"]["DBSubnetGroupName"],
        VpcSecurityGroupIds=[each["VpcSecurityGroupId"] for each in stands.get("VpcSecurityGroups", ())],
        MultiAZ=False,
        PubliclyAccessible=False,
        DeletionProtection=False,
    )
    try:  # from here on there is one, of this name and of nobody else
        _wait(f"database {scratch}", lambda: str(_instance(account, scratch)["DBInstanceStatus"]), say, sleep)
        came = _instance(account, scratch)
        differing = tuple(
            f"{key} is {came.get(key)}, and {database} has {stands.get(key)}"
            for key in _COMPARED
            if came.get(key) != stands.get(key)
        )
        return Drill(clock() - begun, differing)
    finally:
        say(f"deleting {scratch}")
        _delete(account, scratch)


def _delete(account: Account, scratch: str) -> None:
    try:
        account.call(
            "rds",
            "delete_db_instance",
            DBInstanceIdentifier=scratch,
            SkipFinalSnapshot=True,
            DeleteAutomatedBackups=True,
        )
    except RefusedError as error:
        if not error.is_absence:
            raise


def _instance(account: Account, database: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = account.call("rds", "describe_db_instances", DBInstanceIdentifier=database)
    except RefusedError as error:
        if error.is_absence:
            raise TrackingError(f"there is no database {database} in {account.region}") from None
        raise
    return dict(found["DBInstances"][0])


def _wait(what: str, status: Callable[[], str], say: Say, sleep: Callable[[float], None]) -> None:
    told = ""
    for look in range(MOST_LOOKS):
        found = status()
        if found == "available":
            return
        if found in ("failed", "incompatible-restore", "storage-full", "inaccessible-encryption-credentials"):
            raise TrackingError(f"{what} is {found}")
        if found != told:
            say(f"{what} is {found}")
            told = found
        if look < MOST_LOOKS - 1:
            sleep(LOOK_SECONDS)
    raise TrackingError(f"{what} is not there after {MOST_LOOKS * LOOK_SECONDS / 60:.0f} minutes: it is {told}")
