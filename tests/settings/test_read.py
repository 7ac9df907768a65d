"""Keys that have moved are still understood at their old place, and said so."""

import pytest

from tests.plan.stack_files import BASE, STACK, bought, configuration, gpu_pool, node_range
from trainyard.plan.resolve import resolve
from trainyard.problems import SettingsError
from trainyard.settings.read import MOVED, read_settings

VALUES = {
    "awsAccountId": "123456789012",
    "adminPrincipals": ["arn:aws:iam::123456789012:role/admin"],
    "createAutoscalingRole": True,
    "endpointAccess": ["198.51.100.0/24"],
    "network.natPerZone": True,
    "network.flowLogRetentionDays": 400,
    "mlflow.database.instanceClass": "db.m7g.xlarge",
    "budget.anomalyDetection": False,
    "budget.activateCostTags": True,
}


def nested(path, value):
    for step in reversed(path.split(".")):
        value = {step: value}
    return value


def test_every_moved_key_is_tried_here():
    assert set(VALUES) == set(MOVED)


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_an_old_place_means_the_new_one_and_is_named(old, new):
    at_old = resolve(configuration(**nested(old, VALUES[old])), STACK)
    at_new = resolve(configuration(**nested(new, VALUES[old])), STACK)
    assert at_old.plan == at_new.plan
    assert at_old.plan != resolve(configuration(), STACK).plan, "the value has reached the plan"
    assert at_old.warnings == (f"{old} has moved to {new}; the old place is still understood",)
    assert at_new.warnings == ()


@pytest.mark.parametrize(
    ("old", "block", "found"),
    [
        ("network", {"natPerZone": "false"}, lambda plan: plan.ground.network.nat_gateways == 1),
        ("budget", {"anomalyDetection": "false"}, lambda plan: not plan.ground.alerts.anomaly_detection),
    ],
)
def test_a_flag_at_its_old_place_may_be_text_as_at_its_new_one(old, block, found):
    resolved = resolve(configuration(profile="large", **{old: block}), STACK)
    assert found(resolved.plan)
    assert len(resolved.warnings) == 1


def test_a_key_at_both_places_is_refused():
    with pytest.raises(SettingsError, match=r"awsAccountId: got .*; has moved to aws.accountId, which is set too"):
        resolve(configuration(awsAccountId="123456789012", aws={"accountId": "210987654321"}), STACK)


def test_what_an_older_project_file_fills_in_is_no_use_of_the_old_place():
    filled_in = {"adminPrincipals": "[]", "createAutoscalingRole": "false", "awsAccountId": ""}
    resolved = resolve({**configuration(), **filled_in}, STACK)
    assert resolved.warnings == ()
    assert resolved.plan == resolve(configuration(), STACK).plan


@pytest.mark.parametrize("value", ["nonsense", [], 3, None])
def test_a_block_that_is_no_mapping_is_its_own_mistake(value):
    values = configuration(awsAccountId="123456789012") | configuration(aws=value)
    try:
        resolve({**values, "awsAccountId": "123456789012"}, STACK)
    except SettingsError as error:
        assert {problem.key for problem in error.problems} == {"aws"}
    else:
        assert value is None


@pytest.mark.parametrize(
    ("id_", "good"),
    [
        ("cr-0123456789abcdef0", True),
        ("cr-01234567", True),  # of before 2016
        ("cr-0123456789abcdef", False),
        ("cr-0123456789abcdef01", False),
        ("cr-0123456789ABCDEF0", False),
        ("lt-0123456789abcdef0", False),
    ],
)
def test_there_is_one_pattern_of_a_reservation_s_id(id_, good):
    pools = {"train": gpu_pool(reserved=bought(id_, 1, "us-east-1b"))}
    try:
        plan = resolve(configuration(gpuPools=pools), STACK).plan
    except SettingsError as error:
        assert not good
        assert [problem.key for problem in error.problems] == ["gpuPools.train.reserved.reservationId"]
    else:
        assert good
        assert plan.clusters[0].pool("train").node_groups[0].reservation.id == id_


def test_a_wrong_list_of_teams_does_not_make_the_size_missing():
    with pytest.raises(SettingsError) as caught:
        resolve(configuration(teams=[{"name": "vision"}]), STACK)
    assert [problem.key for problem in caught.value.problems] == ["teams[0].members"]


def test_the_longest_name_of_a_pool_is_planned():
    name = "p" * 20
    plan = resolve(configuration(gpuPools={name: gpu_pool(gpu="L4", on_demand=node_range(0, 1))}), STACK).plan
    assert plan.clusters[0].pool(name).node_groups[0].name == f"{name}-on-demand"


def test_reading_keeps_what_is_right_of_a_wrong_file():
    reading = read_settings(configuration(client="ACME", regoin="x"))
    assert {problem.key for problem in reading.problems} == {"client", "regoin"}
    assert reading.settings.region == BASE["region"]


@pytest.mark.parametrize("expires", ["2099-03-31", "2099-03-31T00:00:00Z", "2099-03-31 00:00:00 +0000 UTC"])
def test_a_date_may_come_without_its_quotes(expires):
    exception = {"policy": "public-bucket", "resource": "*", "reason": "long enough a reason", "owner": "me"}
    reading = read_settings(configuration(policyExceptions=[{**exception, "expires": expires}]))
    assert not reading.problems
    assert reading.settings.policy_exceptions[0].expires.isoformat() == "2099-03-31"


def test_a_date_with_an_hour_is_no_date():
    exception = {"policy": "public-bucket", "resource": "*", "reason": "long enough a reason", "owner": "me"}
    reading = read_settings(configuration(policyExceptions=[{**exception, "expires": "2099-03-31 10:00:00 +0000 UTC"}]))
    assert [problem.key for problem in reading.problems] == ["policyExceptions[0].expires"]


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "[" * 50 + "]" * 50, "[" + "9" * 6000 + "]", '{"a": 1, "a": 2}', "[1, 2"],
    ids=lambda text: text[:9],
)
@pytest.mark.parametrize("key", ["teams", "gpuPools"])
def test_a_text_that_is_no_list_or_mapping_is_told_by_its_size(key, text):
    with pytest.raises(SettingsError) as caught:
        resolve({**configuration(), key: text}, STACK)
    assert [(problem.key, problem.got) for problem in caught.value.problems] == [
        (key, f"a text of {len(text)} characters")
    ]


PASSWORD = "hunter2-and-more"


@pytest.mark.parametrize(
    "changes",
    [
        {"password": PASSWORD},
        {"aws": {"secretKey": PASSWORD}},
        {"teams": [{"name": "a", "members": 2, "password": PASSWORD}]},
        {"teams": PASSWORD},
        {"region": {"password": PASSWORD}},
        {"client": [PASSWORD]},
        {"gpuPools": {"train": PASSWORD}},
        {"mlflow": {"database": PASSWORD}},
        {"alertEmails": {"password": PASSWORD}},
        {"client": PASSWORD * 5},
        {"region": PASSWORD * 5},
        {"gpuPools": {"own": {"instanceType": PASSWORD * 5, "spot": {"maxNodes": 1}}}},
        {"kubernetesVersion": PASSWORD * 5},
        {"network": {"zones": [PASSWORD * 5, "us-east-1a"]}},
        {"monthlyBudgetUsd": PASSWORD * 5},
        {"awsAccountId": {"password": PASSWORD}},
    ],
    ids=str,
)
def test_no_message_quotes_what_may_be_a_password(changes):
    """Values of keys that there are not, of the wrong kind, and long ones."""
    with pytest.raises(SettingsError) as caught:
        resolve(configuration(**changes), STACK)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("mlflow", '{"passwordVersion": true}', "mlflow.passwordVersion: got true or false; must be a number"),
        ("scheduler", '{"priorities": {"urgent": false}}', "scheduler.priorities.urgent: got true or false"),
        ("teams", '[{"name": "a", "members": true}]', "teams[0].members: got true or false"),
        ("aws", '{"publicBuckets": ["a..b"]}', "aws.publicBuckets[0]: got"),
        ("aws", '{"publicBuckets": ["192.168.1.1"]}', "aws.publicBuckets[0]: got"),
        (
            "audit",
            '{"trail": {"by": "none", "reason": "the landing zone has it", "lockDays": 4}}',
            "audit.trail.lockDays: got 4; is read only where audit.trail.by is stack",
        ),
        (
            "audit",
            '{"containerLogs": {"enabled": false, "retentionDays": 30}}',
            "audit.containerLogs.retentionDays: got 30; is read only where audit.containerLogs.enabled is true",
        ),
    ],
)
def test_what_would_be_read_as_another_thing_or_by_nothing_is_refused(key, value, told):
    found = read_settings({"client": "a", "cloud": "aws", "region": "us-east-1", "profile": "medium", key: value})
    (problem,) = found.problems
    assert str(problem).startswith(told)
