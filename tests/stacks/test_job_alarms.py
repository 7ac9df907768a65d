"""Alarms of managed training, played: a bad situation sets each off in time, a good one does not."""

import json
from dataclasses import replace

import pytest

from tests.shared import ROOT
from tests.stacks.cloudwatch import ALARM, CloudWatch
from trainyard.plan.lock import NOTHING
from trainyard.plan.resolve import resolve_config
from trainyard.problems import SettingsError
from trainyard.rehearsal.engine.project import read_stack

HOUR_MS = 3_600_000
DAY = 24 * 60


def plan(**changes):
    overrides = {f"trainyard:{key}": value for key, value in changes.items()}
    return resolve_config(read_stack(ROOT, "small-aws", config_overrides=overrides), NOTHING).plan.ground.managed


@pytest.fixture
def cloud(rehearsed):
    return CloudWatch(rehearsed("small-aws").resources)


def ended(status, at=0):
    return {"TrainingJobStatus": status, "SecondaryStatus": status, "CreationTime": at, "TrainingStartTime": at}


def begun(waited_hours):
    sent = 1_795_000_000_000
    return {
        "TrainingJobStatus": "InProgress",
        "SecondaryStatus": "Training",
        "CreationTime": sent,
        "TrainingStartTime": sent + int(waited_hours * HOUR_MS),
    }


@pytest.mark.parametrize(
    ("percent", "minutes", "fires"),
    [
        (30, 61, True),
        (80, 240, False),
        (30, 45, False),  # data are copied
        (49.9, 60, True),
        (50, 240, False),
    ],
)
def test_gpus_that_are_used_too_little(cloud, percent, minutes, fires):
    cloud.machine("job-a/algo-1", range(1, minutes + 1), percent)
    assert cloud.alarmed("gpu-underused", minutes) is fires
    assert not cloud.alarmed("gpu-idle", minutes)


def test_a_busy_machine_hides_none_that_is_not(cloud):
    cloud.machine("job-a/algo-1", range(1, 121), 99)
    assert not cloud.alarmed("gpu-underused", 120)
    cloud.machine("job-b/algo-1", range(1, 121), 10)
    assert cloud.alarmed("gpu-underused", 120)
    assert not cloud.alarmed("gpu-underused", 200), "nor does a job that ended set anything off"


@pytest.mark.parametrize(
    ("busy", "fires"),
    [
        ([], True),
        ([range(1, 61)], False),
        ([range(40, 42)], False),  # one that evaluates, or waits for a checkpoint, still computes now and then
    ],
)
def test_a_job_that_does_nothing(cloud, busy, fires):
    cloud.machine("job-a/algo-1", range(1, 61), 0)
    for minutes in busy:
        cloud.machine("job-a/algo-1", minutes, 90)
    assert cloud.alarmed("gpu-idle", 60) is fires
    assert not cloud.alarmed("gpu-idle", 30), "it has to last"


def test_an_alarm_that_would_have_to_see_further_than_three_hours_is_refused(cloud):
    """What the model of CloudWatch does with one says why."""
    for resource in cloud.resources:
        if resource.type == ALARM and resource.name.endswith("-gpu-idle"):
            seen = json.loads(json.dumps(resource.inputs))
    cloud.machine("job-a/algo-1", range(1, 601), 0)
    for minutes, fires in ((180, True), (240, False)):
        longer = {**seen, "evaluationPeriods": minutes // 5, "datapointsToAlarm": minutes // 5}
        played = CloudWatch([replace(each, inputs=longer) if each.name.endswith("-gpu-idle") else each
                             for each in cloud.resources], cloud.counted, cloud.figures)  # fmt: skip
        assert played.alarmed("gpu-idle", 600) is fires
    assert plan(monitoring={"alerts": {"idleGpuMinutes": 180}}).alarms.idle_minutes == 180
    with pytest.raises(SettingsError, match=r"idleGpuMinutes: got 240; must be at most 180 where training is managed"):
        plan(monitoring={"alerts": {"idleGpuMinutes": 240}})


def test_a_job_without_figures_of_gpus_sets_off_nothing(cloud):
    for short in ("gpu-underused", "gpu-idle", "jobs-failing", "queue-waiting"):
        assert not cloud.alarmed(short, DAY)


@pytest.mark.parametrize(
    ("failed", "succeeded", "stopped", "fires"),
    [
        (2, 18, 0, True),
        (1, 19, 0, False),  # five of a hundred, and no more
        (1, 0, 0, False),  # of so few, one failure says nothing
        (0, 60, 0, False),
        (1, 30, 40, False),  # who stops a job has not failed
        (5, 5, 0, False),
    ],
)
def test_too_many_failures_of_a_day(cloud, failed, succeeded, stopped, fires):
    for index in range(failed + succeeded + stopped):
        status = "Failed" if index < failed else "Completed" if index < failed + succeeded else "Stopped"
        cloud.event(10 + index, ended(status))
    assert cloud.alarmed("jobs-failing", DAY) is fires
    assert not cloud.alarmed("jobs-failing", 3 * DAY), "they are forgotten"


@pytest.mark.parametrize(("hours", "fires"), [(0.1, False), (2, False), (2.1, True), (30, True)])
def test_a_job_that_waited(cloud, hours, fires):
    cloud.event(100, begun(hours))
    assert cloud.alarmed("queue-waiting", 100) is fires
    assert not cloud.alarmed("queue-waiting", 102), "it is told once"


def test_a_job_that_waited_is_not_hidden_by_others(cloud):
    for minute in range(90, 100):
        cloud.event(minute, begun(0.05))
    cloud.event(100, begun(5))
    assert cloud.alarmed("queue-waiting", 100)


def test_an_event_that_comes_twice_changes_nothing(cloud):
    for _ in range(2):
        cloud.event(100, begun(1))
    assert not cloud.alarmed("queue-waiting", 100)


def test_alarms_go_to_the_topic_and_name_their_runbooks(rehearsed):
    alarms = [each.inputs for each in rehearsed("small-aws").resources if each.type == ALARM]
    named = [each["alarmDescription"].rpartition(" ")[2] for each in alarms if "metricQueries" in each]
    pages = [(page, part) for page, _, part in (address.partition("#") for address in named)]
    assert len(pages) == 4 and all(f"## {part}\n" in (ROOT / page).read_text() for page, part in pages)
    assert all(each["alarmActions"] == each["okActions"] for each in alarms)


def test_who_writes_the_events_may_and_only_for_the_rule(rehearsed):
    resources = rehearsed("small-aws").resources
    [policy] = [each.inputs for each in resources if each.type == "aws:cloudwatch/logResourcePolicy:LogResourcePolicy"]
    streams, events = json.loads(policy["policyDocument"])["Statement"]
    [rule] = [each for each in resources if each.type.endswith(":EventRule") and each.name.endswith("-told")]
    assert streams["Action"] == ["logs:CreateLogStream"] and events["Action"] == ["logs:PutLogEvents"]
    assert events["Condition"] == {"ArnEquals": {"aws:SourceArn": rule.outputs["arn"]}}
    [group] = [each for each in resources if each.name == "managed-jobs-events" and each.type.endswith(":LogGroup")]
    assert events["Resource"] == [f"{group.outputs['arn']}:*"] and group.inputs["kmsKeyId"]


def test_thresholds_are_those_of_the_settings():
    found = plan(monitoring={"alerts": {"gpuUtilisationPercent": 40, "queueHours": 6}}).alarms
    assert (found.gpu_use_percent, found.wait_hours, found.failed_percent) == (40, 6, 5)
    assert plan(managed={"trainingTypes": ["g5.12xlarge"]}).alarms.gpus_at_least == 4
    assert plan(managed={"trainingTypes": ["g5.12xlarge", "g5.xlarge"]}).alarms.gpus_at_least == 1
    assert plan(monitoring={"enabled": False}).alarms is None


@pytest.mark.parametrize(
    ("monitoring", "key"),
    [
        ({"retentionDays": 90}, "monitoring.retentionDays"),
        ({"alerts": {"certificateDays": 10}}, "monitoring.alerts.certificateDays"),
        ({"checkpointDrill": True}, "monitoring.checkpointDrill"),
    ],
)
def test_what_nothing_would_read_is_refused(monitoring, key):
    with pytest.raises(SettingsError, match=key.replace(".", r"\.")):
        plan(monitoring=monitoring)
