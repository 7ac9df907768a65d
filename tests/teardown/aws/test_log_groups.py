"""Log groups that services make again after the end: swept while they come, else told by the proof."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest

from tests.account.answers import REGION, aws, refusal
from tests.shared import ROOT
from tests.teardown.aws.test_prove import LACKING
from tests.teardown.states import exported
from trainyard.account.marks import MARKS
from trainyard.plan.resolve import resolve_stack
from trainyard.teardown.aws.end import AwsEnd
from trainyard.teardown.aws.log_groups import MOST_LOOKS, QUIET_LOOKS, names_of, sweep_log_groups
from trainyard.teardown.aws.prove import prove
from trainyard.teardown.state import State

CONTROL_PLANE = "/aws/eks/acme-demo/cluster"
DATABASE = "/aws/rds/instance/acme-demo-mlflow/postgresql"
INSIGHTS = "/aws/containerinsights/acme-demo/performance"
BEGUN = datetime(2020, 1, 1, tzinfo=UTC)
OTHERS = ("/aws/eks/acme-demo-2/cluster", "/aws/lambda/somebody-elses")


@pytest.fixture(scope="module")
def state(rehearsed) -> State:
    return State(exported(rehearsed("demo")))


@pytest.fixture
def account(monkeypatch):
    with aws(monkeypatch, LACKING) as found:
        yield found


def make(*names: str, **more: Any) -> None:
    for name in names:
        boto3.client("logs", REGION).create_log_group(logGroupName=name, **more)


def there() -> list[str]:
    return sorted(each["logGroupName"] for each in boto3.client("logs", REGION).describe_log_groups()["logGroups"])


def writing(*times: int) -> tuple[list[float], Callable[[float], None]]:
    """A service that makes the control plane's group again in some of the pauses."""
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) in times:
            make(CONTROL_PLANE)

    return slept, sleep


def test_every_group_of_the_stack_is_known_and_those_of_its_cluster(state):
    assert {CONTROL_PLANE, DATABASE, INSIGHTS, "/trainyard/acme-demo/team-logs"} <= set(names_of([state]))


def test_what_services_make_again_is_deleted_until_none_comes(state, account):
    make(CONTROL_PLANE, DATABASE, INSIGHTS, *OTHERS)
    slept, sleep = writing(1, 6)
    told: list[str] = []
    assert sweep_log_groups([state], BEGUN, MARKS, account, told.append, sleep=sleep) == 5
    assert there() == sorted(OTHERS), "a cluster of a longer name is somebody else's"
    assert sum("/aws/eks/acme-demo/cluster, which a service made again" in line for line in told) == 3
    assert len(slept) == 6 + QUIET_LOOKS, "quiet for so long after the last one"


def test_what_was_there_before_the_end_began_stays(state, account):
    """Somebody turned Container Insights on by hand: its history is theirs."""
    make(INSIGHTS, CONTROL_PLANE)
    since = datetime.now(UTC) + timedelta(seconds=5)
    assert sweep_log_groups([state], since, MARKS, account, lambda _: None, sleep=lambda _: None) == 0
    assert there() == sorted((INSIGHTS, CONTROL_PLANE))


def test_a_group_with_the_environments_tags_is_a_programs(state, account):
    """Of a new `up` under the same name, or retained on purpose."""
    make(CONTROL_PLANE, tags={"client": "acme", "environment": "demo"})
    assert sweep_log_groups([state], BEGUN, MARKS, account, lambda _: None, sleep=lambda _: None) == 0
    assert there() == [CONTROL_PLANE]


def test_one_that_keeps_coming_ends_and_is_told_with_what_takes_it_away(state, account):
    slept, sleep = writing(*range(1, 1000))
    swept = sweep_log_groups([state], BEGUN, MARKS, account, lambda _: None, sleep=sleep)
    assert (len(slept), swept) == (MOST_LOOKS - 1, MOST_LOOKS - 1)
    make(CONTROL_PLANE)
    plan = resolve_stack(ROOT, ROOT / "stacks" / "Pulumi.demo.yaml").plan
    (left,) = prove(plan, account).left
    assert (left.kind, left.id, left.found_by) == ("log group", CONTROL_PLANE, "name")
    assert "made again by a service" in left.told
    assert left.command == f"aws logs delete-log-group --log-group-name {CONTROL_PLANE} --region {REGION}"


def test_who_may_not_ask_leaves_it_to_the_proof(state, monkeypatch):
    denied = refusal("AccessDeniedException", "no logs:DescribeLogGroups")
    told: list[str] = []
    with aws(monkeypatch, {"logs.DescribeLogGroups": denied}) as account:
        assert AwsEnd(account).afterwards([state], BEGUN, told.append) == 0
    assert any("were not looked for" in line for line in told)
