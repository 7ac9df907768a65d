"""`trainyard tracking`: snapshots on demand and the drill, against moto's RDS."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from typer.testing import CliRunner, Result

from tests.account.answers import REGION, aws
from tests.shared import ROOT
from trainyard.account import aws as account_aws
from trainyard.account.aws import Account, RefusedError
from trainyard.cli.main import app
from trainyard.conventions import TRACKING_DRILL_TAG
from trainyard.upgrade.aws import tracking
from trainyard.upgrade.aws.tracking import TrackingError, carry_out_drill, newest_snapshot, scratch_name

NAME = "acme-demo-mlflow"


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    with aws(monkeypatch, {}) as found:
        monkeypatch.setattr(account_aws, "account_of", lambda *_: found)
        monkeypatch.setattr(tracking, "LOOK_SECONDS", 0.0)
        yield found


def rds() -> Any:
    return boto3.client("rds", REGION)


@pytest.fixture
def database(account: Account) -> None:
    ec2 = boto3.client("ec2", REGION)
    vpc = ec2.create_vpc(CidrBlock="10.77.0.0/16")["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.77.{n}.0/24", AvailabilityZone=f"{REGION}{z}")["Subnet"]["SubnetId"]
        for n, z in enumerate("ab")
    ]
    rds().create_db_subnet_group(DBSubnetGroupName=NAME, DBSubnetGroupDescription="d", SubnetIds=subnets)
    rds().create_db_instance(
        DBInstanceIdentifier=NAME, Engine="postgres", EngineVersion="17.4", DBInstanceClass="db.t4g.medium",
        AllocatedStorage=50, MasterUsername="mlflow", MasterUserPassword="not-a-real-one", DBSubnetGroupName=NAME,
    )  # fmt: skip


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["tracking", *arguments, "--project", str(ROOT)])


def instances() -> list[str]:
    return [each["DBInstanceIdentifier"] for each in rds().describe_db_instances()["DBInstances"]]


def snapshots() -> list[str]:
    return [each["DBSnapshotIdentifier"] for each in rds().describe_db_snapshots(SnapshotType="manual")["DBSnapshots"]]


def test_without_run_nothing_is_made(database: None) -> None:
    told = run("snapshot", "demo")
    assert (told.exit_code, snapshots()) == (0, [])
    assert f"of database {NAME}" in told.output
    assert "--run makes it" in told.output
    assert "restore snapshot rds:acme-demo-mlflow-" in run("drill", "demo").output, "that of the day, by RDS itself"
    assert instances() == [NAME]


def test_a_snapshot_is_made_and_named_as_it_is_restored_from(database: None) -> None:
    done = run("snapshot", "demo", "--run")
    assert done.exit_code == 0, done.output
    (name,) = snapshots()
    assert name.startswith(f"{NAME}-on-demand-")
    assert f"mlflow.database.restoreFrom: {name}" in done.output


def test_the_drill_restores_the_newest_compares_and_deletes_it(database: None) -> None:
    rds().create_db_snapshot(DBInstanceIdentifier=NAME, DBSnapshotIdentifier="older")
    run("snapshot", "demo", "--run")
    dry = run("drill", "demo")
    assert (dry.exit_code, "by the hour" in dry.output, instances()) == (0, True, [NAME])
    done = run("drill", "demo", "--run")
    assert done.exit_code == 0, done.output
    assert f"{NAME}-on-demand-" in done.output
    assert "came back in 0 minutes" in done.output
    assert instances() == [NAME], "the scratch instance is gone"


def test_what_came_back_otherwise_is_told(database: None, account: Account, monkeypatch) -> None:
    rds().create_db_snapshot(DBInstanceIdentifier=NAME, DBSnapshotIdentifier="one")
    whole, seen = tracking._instance, scratch_name(NAME, datetime.now(UTC))

    def smaller(asked: Account, name: str) -> dict[str, Any]:
        return {**whole(asked, name), **({"AllocatedStorage": 20} if name == seen else {})}

    monkeypatch.setattr(tracking, "_instance", smaller)
    found = carry_out_drill(account, NAME, "one", seen, {}, lambda _: None)
    assert found.differences == ("AllocatedStorage is 20, and snapshot one has 50",)
    assert instances() == [NAME]


def test_one_that_does_not_come_back_is_deleted_too(database: None, account: Account, monkeypatch) -> None:
    rds().create_db_snapshot(DBInstanceIdentifier=NAME, DBSnapshotIdentifier="one")
    whole = tracking._instance

    def failing(asked: Account, name: str) -> dict[str, Any]:
        return {**whole(asked, name), **({} if name == NAME else {"DBInstanceStatus": "incompatible-restore"})}

    monkeypatch.setattr(tracking, "_instance", failing)
    with pytest.raises(TrackingError, match="is incompatible-restore"):
        carry_out_drill(account, NAME, "one", f"{NAME}-drill", {}, lambda _: None)
    assert instances() == [NAME]


def test_what_the_database_became_since_the_snapshot_is_no_difference(database: None, account: Account) -> None:
    """A minor version that RDS put in, and storage that grew by itself."""
    rds().create_db_snapshot(DBInstanceIdentifier=NAME, DBSnapshotIdentifier="one")
    rds().modify_db_instance(
        DBInstanceIdentifier=NAME, EngineVersion="17.6", AllocatedStorage=80, ApplyImmediately=True
    )
    assert carry_out_drill(account, NAME, "one", f"{NAME}-drill", {}, lambda _: None).differences == ()
    with pytest.raises(TrackingError, match="there is no snapshot two"):
        carry_out_drill(account, NAME, "two", f"{NAME}-drill", {}, lambda _: None)


def test_the_instance_is_known_as_the_environments_and_what_deletes_it_is_said_before(
    database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, seen = Account.call, []

    def call(account: Account, service: str, operation: str, **asked: Any) -> Any:
        if operation == "delete_db_instance":
            found = whole(account, "rds", "describe_db_instances", DBInstanceIdentifier=asked["DBInstanceIdentifier"])
            seen.append({each["Key"]: each["Value"] for each in found["DBInstances"][0]["TagList"]})
        return whole(account, service, operation, **asked)

    monkeypatch.setattr(Account, "call", call)
    run("snapshot", "demo", "--run")
    done = run("drill", "demo", "--run")
    assert done.exit_code == 0, done.output
    assert seen == [seen[0] | {"client": "acme", "environment": "demo", TRACKING_DRILL_TAG: NAME}]
    assert done.output.index("deleted by `aws rds delete-db-instance") < done.output.index(f"deleting {NAME}-drill-")


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("at", ["restore", "wait"])
def test_who_is_ended_from_outside_deletes_the_instance_first(
    sign: signal.Signals, at: str, database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, waited = Account.call, tracking._wait
    run("snapshot", "demo", "--run")

    def call(account: Account, service: str, operation: str, **asked: Any) -> Any:
        found = whole(account, service, operation, **asked)
        if at == "restore" and operation.startswith("restore_"):
            os.kill(os.getpid(), sign)
        return found

    def wait(*arguments: Any) -> None:
        os.kill(os.getpid(), sign)
        waited(*arguments)

    monkeypatch.setattr(Account, "call", call)
    if at == "wait":
        monkeypatch.setattr(tracking, "_wait", wait)
    before = signal.getsignal(sign)
    done = run("drill", "demo", "--run")
    assert done.exit_code != 0
    assert instances() == [NAME]
    assert signal.getsignal(sign) is before


def test_a_name_that_is_taken_is_not_deleted(database: None, account: Account) -> None:
    rds().create_db_snapshot(DBInstanceIdentifier=NAME, DBSnapshotIdentifier="one")
    with pytest.raises(RefusedError):
        carry_out_drill(account, NAME, "one", NAME, {}, lambda _: None)
    assert instances() == [NAME]


def test_what_an_earlier_drill_left_is_told_and_deleted_with_run(
    database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, untagged, others = f"{NAME}-drill-20260101-0000", f"{NAME}-drill-20260102-0000", f"{NAME}-2-drill-x"
    run("snapshot", "demo", "--run")
    for name, tags in (
        (left, [{"Key": TRACKING_DRILL_TAG, "Value": NAME}]),
        (untagged, []),
        (others, [{"Key": TRACKING_DRILL_TAG, "Value": f"{NAME}-2"}]),
    ):
        rds().create_db_instance(
            DBInstanceIdentifier=name, Engine="postgres", DBInstanceClass="db.t4g.medium", AllocatedStorage=20,
            MasterUsername="mlflow", MasterUserPassword="not-a-real-one", Tags=tags,
        )  # fmt: skip
    young = run("drill", "demo", "--run")
    assert f"{left} is of a drill that may still run" in young.output
    assert left in instances()
    monkeypatch.setattr(tracking, "LEFT_AFTER", timedelta(seconds=-5))
    dry = run("drill", "demo")
    assert f"an earlier drill left {left}" in dry.output
    assert f"{untagged} is named like one of a drill" in dry.output
    assert others not in dry.output
    assert left in instances()
    assert run("drill", "demo", "--run").exit_code == 0
    assert sorted(instances()) == sorted([NAME, untagged, others])


def test_where_there_is_none(account: Account) -> None:
    done = run("snapshot", "demo", "--run")
    assert (done.exit_code, f"there is no database {NAME}" in done.output) == (3, True)
    assert run("snapshot", "small-aws").exit_code == 2
    assert run("drill", "demo-gcp").exit_code == 2
    with pytest.raises(TrackingError):
        newest_snapshot(account, NAME)


def test_names_fit_what_rds_takes() -> None:
    assert len(scratch_name("a" * 63, datetime.now(UTC))) <= 63
