"""Before Pulumi deletes: files are written back, people's apps end, and the cloud's own protection is off."""

from __future__ import annotations

from typing import Any

import boto3
import pytest

from tests.account.answers import REGION, aws, refusal
from tests.conftest import WHOLE
from tests.teardown.states import exported
from trainyard.recorded.types import DATABASE, EKS_CLUSTER, LUSTRE
from trainyard.teardown.aws.lift import LiftError, stop_apps, unprotect, write_back
from trainyard.teardown.aws.sweep import sweep_groups
from trainyard.teardown.state import State


@pytest.fixture(scope="module")
def state(rehearsed) -> State:
    return State(exported(rehearsed(WHOLE)))


class Calls(list):
    """Notes every call, and answers it."""

    def of(self, answer: Any) -> Any:
        def asked(parameters: Any) -> Any:
            self.append(parameters)
            return answer(parameters) if callable(answer) else answer

        return asked


def there(state: State) -> dict[str, Any]:
    return {"FileSystems": [{"FileSystemId": state.of(LUSTRE)[0]["id"]}]}


def task(lifecycle: str) -> dict[str, Any]:
    return {
        "TaskId": "task-0123456789abcdef0",
        "Lifecycle": lifecycle,
        "Type": "EXPORT_TO_REPOSITORY",
        "CreationTime": 0,
    }


def test_a_linked_file_system_is_written_back_and_waited_for(state: State, monkeypatch) -> None:
    made, slept = Calls(), []
    found = [task("EXECUTING"), task("SUCCEEDED")]
    table = {
        "fsx.DescribeFileSystems": there(state),
        "fsx.CreateDataRepositoryTask": made.of({"DataRepositoryTask": task("PENDING")}),
        "fsx.DescribeDataRepositoryTasks": lambda asked: {"DataRepositoryTasks": [found.pop(0)]},
    }
    with aws(monkeypatch, table) as account:
        write_back(state, account, lambda text: None, sleep=slept.append)
    assert [each["Type"] for each in made] == ["EXPORT_TO_REPOSITORY"]
    assert len(slept) == 2


def test_one_that_is_not_written_back_whole_stops_it(state: State, monkeypatch) -> None:
    table = {
        "fsx.DescribeFileSystems": there(state),
        "fsx.CreateDataRepositoryTask": {"DataRepositoryTask": task("FAILED")},
    }
    with aws(monkeypatch, table) as account, pytest.raises(LiftError, match="not written back whole"):
        write_back(state, account, lambda text: None)


def test_one_that_is_gone_already_is_no_matter(state: State, monkeypatch) -> None:
    with aws(monkeypatch, {"fsx.DescribeFileSystems": refusal("FileSystemNotFound")}) as account:
        write_back(state, account, lambda text: None)


def test_databases_and_clusters_let_go(state: State, monkeypatch) -> None:
    lifted, slept = Calls(), []
    done = [{"id": "u", "status": "InProgress"}, {"id": "u", "status": "Successful"}]
    table = {
        "rds.DescribeDBInstances": {"DBInstances": [{"DeletionProtection": True}]},
        "rds.ModifyDBInstance": lifted.of({}),
        "eks.DescribeCluster": {"cluster": {"deletionProtection": True}},
        "eks.UpdateClusterConfig": lifted.of({"update": {"id": "u", "status": "InProgress"}}),
        "eks.DescribeUpdate": lambda asked: {"update": done.pop(0)},
    }
    with aws(monkeypatch, table) as account:
        unprotect(state, account, lambda text: None, sleep=slept.append)
    assert [each.get("DeletionProtection", each.get("deletionProtection")) for each in lifted] == [False, False]
    assert lifted[0]["DBInstanceIdentifier"] == state.of(DATABASE)[0]["inputs"]["identifier"]
    assert lifted[1]["name"] == state.of(EKS_CLUSTER)[0]["id"]
    assert len(slept) == 2


def test_what_is_gone_or_unprotected_needs_nothing(state: State, monkeypatch) -> None:
    with aws(monkeypatch) as account:
        unprotect(state, account, lambda text: None)
        boto3.client("rds", REGION)
    table = {
        "rds.DescribeDBInstances": {"DBInstances": [{"DeletionProtection": False}]},
        "eks.DescribeCluster": {"cluster": {"deletionProtection": False}},
        "rds.ModifyDBInstance": refusal("AccessDenied"),
        "eks.UpdateClusterConfig": refusal("AccessDenied"),
    }
    with aws(monkeypatch, table) as account:
        unprotect(state, account, lambda text: None)


def test_a_cluster_that_does_not_let_go_stops_it(state: State, monkeypatch) -> None:
    table = {
        "rds.DescribeDBInstances": {"DBInstances": [{"DeletionProtection": False}]},
        "eks.DescribeCluster": {"cluster": {"deletionProtection": True}},
        "eks.UpdateClusterConfig": {"update": {"id": "u", "status": "Failed"}},
    }
    with aws(monkeypatch, table) as account, pytest.raises(LiftError, match="does not lift the protection"):
        unprotect(state, account, lambda text: None)


DOMAIN = {"urn": "urn:pulumi:s::p::aws:sagemaker/domain:Domain::d", "type": "aws:sagemaker/domain:Domain"}
WITH_DOMAIN = State({"deployment": {"resources": [{**DOMAIN, "custom": True, "id": "d-1"}]}})


def test_peoples_apps_and_spaces_end_where_homes_are_given_up(monkeypatch) -> None:
    ended, gone = Calls(), Calls()
    apps = [
        {"DomainId": "d-1", "SpaceName": "ann", "AppType": "JupyterLab", "AppName": "default", "Status": "InService"},
        {
            "DomainId": "d-1",
            "UserProfileName": "bo",
            "AppType": "JupyterServer",
            "AppName": "default",
            "Status": "Deleted",
        },
    ]
    table = {
        "sagemaker.ListApps": lambda asked: {"Apps": [] if ended else apps},
        "sagemaker.DeleteApp": ended.of({}),
        "sagemaker.ListSpaces": lambda asked: {"Spaces": [] if gone else [{"SpaceName": "ann", "DomainId": "d-1"}]},
        "sagemaker.DeleteSpace": gone.of({}),
    }
    with aws(monkeypatch, table) as account:
        stop_apps(WITH_DOMAIN, account, lambda text: None, keep_homes=False, sleep=lambda seconds: None)
    assert [each["SpaceName"] for each in ended] == ["ann"]
    assert [each["SpaceName"] for each in gone] == ["ann"]


def test_peoples_files_are_not_lost_by_the_way(monkeypatch) -> None:
    ended = Calls()
    table = {
        "sagemaker.ListSpaces": {"Spaces": [{"SpaceName": "ann", "DomainId": "d-1"}]},
        "sagemaker.ListApps": {"Apps": []},
        "sagemaker.DeleteApp": ended.of({}),
    }
    with aws(monkeypatch, table) as account, pytest.raises(LiftError, match=r"ann.*--keep without homes"):
        stop_apps(WITH_DOMAIN, account, lambda text: None, keep_homes=True)
    assert ended == []
    with aws(monkeypatch, {**table, "sagemaker.ListSpaces": {"Spaces": []}}) as account:
        stop_apps(WITH_DOMAIN, account, lambda text: None, keep_homes=True)


def test_groups_that_sagemaker_leaves_behind_go(monkeypatch) -> None:
    with aws(monkeypatch) as account:
        ec2 = boto3.client("ec2", REGION)
        vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
        ids = [
            ec2.create_security_group(GroupName=f"security-group-for-{way}-nfs-d-1", Description="x", VpcId=vpc)[
                "GroupId"
            ]
            for way in ("inbound", "outbound")
        ]
        pair = [{"GroupId": ids[1]}]
        rule = {"IpProtocol": "tcp", "FromPort": 2049, "ToPort": 2049, "UserIdGroupPairs": pair}
        ec2.authorize_security_group_ingress(GroupId=ids[0], IpPermissions=[rule])
        other = ec2.create_security_group(GroupName="security-group-for-inbound-nfs-d-12", Description="x", VpcId=vpc)
        assert sweep_groups(["d-1"], account, lambda text: None) == 2
        left = {each["GroupId"] for each in ec2.describe_security_groups()["SecurityGroups"]}
        assert not left & set(ids)
        assert other["GroupId"] in left
        assert sweep_groups([], account, lambda text: None) == 0
