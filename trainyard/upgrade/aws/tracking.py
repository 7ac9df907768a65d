"""The tracking database's snapshots on RDS: one made on demand, and one restored to see that it comes back."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from trainyard.account.aws import Account, RefusedError
from trainyard.conventions import TRACKING_DRILL_TAG
from trainyard.upgrade.queues import Say

LOOK_SECONDS: Final = 30.0
MOST_LOOKS: Final = 240
"""Two hours: what a snapshot or a restored instance of hundreds of GiB takes at most, own choice."""

_COMPARED: Final = {
    "Engine": "Engine",
    "EngineVersion": "EngineVersion",
    "AllocatedStorage": "AllocatedStorage",
    "StorageEncrypted": "Encrypted",
    "KmsKeyId": "KmsKeyId",
}
"""What a database that came back has as its snapshot says: the keys of the API's DBInstance and of its DBSnapshot. The
database that stands may have been upgraded, and its storage may have grown, since the snapshot was made."""

LEFT_AFTER: Final = timedelta(hours=4)
"""An instance of a drill that is so old is none of one that runs: twice what the wait for it takes at most."""


class TrackingError(Exception):
    """There is no such database or snapshot, or it is not there in time."""


@dataclass(frozen=True, slots=True)
class Drill:
    """A snapshot that came back."""

    seconds: float
    differences: tuple[str, ...]  # from what the snapshot says, in words


@dataclass(frozen=True, slots=True)
class Leftover:
    """An instance that an earlier drill left, or one that runs now."""

    name: str
    made: datetime | None  # None while it is being made
    ours: bool  # whether it has the tag of a drill of this database; of one without, only the name says so

    def is_left(self, now: datetime) -> bool:
        """Whether it may be deleted: of that database for certain, and of no drill that runs."""
        return self.ours and self.made is not None and now - self.made > LEFT_AFTER


def snapshot_name(database: str, now: datetime) -> str:
    """The name of a snapshot that is made now: `acme-demo-mlflow-on-demand-20261126-0030`."""
    return f"{database}-on-demand-{now:%Y%m%d-%H%M}"


def scratch_name(database: str, now: datetime) -> str:
    """The instance of a drill: 63 characters at most, as RDS takes them."""
    return f"{_scratch_prefix(database)}{now:%Y%m%d-%H%M}"


def _scratch_prefix(database: str) -> str:
    return f"{database[:40]}-drill-"


def delete_command(account: Account, scratch: str) -> str:
    """What deletes the instance of a drill by hand."""
    return (
        f"aws rds delete-db-instance --db-instance-identifier {scratch} --skip-final-snapshot"
        f" --delete-automated-backups --region {account.region}"
    )


def leftovers(account: Account, database: str) -> list[Leftover]:
    """Instances of earlier drills that are there, by their tag or name, the oldest first. Raises CannotAskError."""
    found = []
    for each in account.each("rds", "describe_db_instances", "DBInstances"):
        name = str(each["DBInstanceIdentifier"])
        of = {tag["Key"]: tag.get("Value") for tag in each.get("TagList", ())}.get(TRACKING_DRILL_TAG)
        if each["DBInstanceStatus"] == "deleting" or of not in (None, database):
            continue
        if of == database or re.fullmatch(re.escape(_scratch_prefix(database)) + "[0-9]{8}-[0-9]{4}", name):
            found.append(Leftover(name, each.get("InstanceCreateTime"), of == database))
    return sorted(found, key=lambda each: each.name)


def delete_leftover(account: Account, left: Leftover) -> None:
    """Deletes it; one that has gone meanwhile is well. Raises CannotAskError."""
    _delete(account, left.name)


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
    tags: Mapping[str, str],
    say: Say,
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Drill:
    """Restores a snapshot beside the database, in its subnets and behind its security groups, and deletes it again.

    The instance goes whatever happens here; what deletes it by hand is said before there is one, since this may be
    killed. `tags` are the environment's: what its end looks for. Raises TrackingError, CannotAskError.
    """
    stands, snapshot, begun = _instance(account, database), _snapshot(account, name), clock()
    say(f"should this be killed, the instance is deleted by `{delete_command(account, scratch)}`")
    try:
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
            Tags=[{"Key": key, "Value": value} for key, value in {**tags, TRACKING_DRILL_TAG: database}.items()],
        )
    except RefusedError:
        raise  # nothing was made, and one of this name may be another drill's
    except BaseException:  # no answer came, or the command was ended: it may have been made all the same
        _delete(account, scratch)
        raise
    try:  # from here on there is one, of this name and of nobody else
        _wait(f"database {scratch}", lambda: str(_instance(account, scratch)["DBInstanceStatus"]), say, sleep)
        came = _instance(account, scratch)
        differing = tuple(
            f"{key} is {came.get(key)}, and snapshot {name} has {snapshot.get(of_snapshot)}"
            for key, of_snapshot in _COMPARED.items()
            if came.get(key) != snapshot.get(of_snapshot)
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


def _snapshot(account: Account, name: str) -> dict[str, Any]:
    try:
        found = account.call("rds", "describe_db_snapshots", DBSnapshotIdentifier=name)["DBSnapshots"]
    except RefusedError as error:
        if error.is_absence:
            raise TrackingError(f"there is no snapshot {name} in {account.region}") from None
        raise
    return dict(found[0])


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
