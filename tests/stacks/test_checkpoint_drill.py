"""The checkpoint drill of a stack: where it runs, as whom, and when a plan goes without."""

import pytest

from tests.components.plugin_inputs import IMAGE
from tests.shared import ROOT
from trainyard.components.k8s.checkpoint_drill import CheckpointDrill
from trainyard.plan.lock import NOTHING
from trainyard.plan.resolve import resolve_config
from trainyard.problems import SettingsError
from trainyard.rehearsal.engine.project import read_stack
from trainyard.smoke_jobs.drill import files
from trainyard.smoke_jobs.drill.exits import FAILED, FIRST


def plan(**changes):
    overrides = {f"trainyard:{key}": value for key, value in changes.items()}
    return resolve_config(read_stack(ROOT, "demo", config_overrides=overrides), NOTHING).plan


@pytest.fixture(scope="module")
def drill(rehearsed):
    [made] = [
        item
        for item in rehearsed("demo").resources
        if item.type == "kubernetes:batch/v1:CronJob" and item.inputs["metadata"]["name"] == "checkpoint-drill"
    ]
    return made.inputs


def test_it_goes_the_way_that_a_teams_own_job_goes(drill, rehearsed):
    own = plan().clusters[0].drill
    job = drill["spec"]["jobTemplate"]
    pod = job["spec"]["template"]["spec"]
    assert drill["metadata"]["namespace"] == f"team-{own.team}"
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "default"
    assert (pod["serviceAccountName"], pod["priorityClassName"]) == ("trainer", "cpu-only")
    [container] = pod["containers"]
    assert container["command"][-1].endswith(f"/teams/{own.team}/drill"), "the team's own prefix"
    assert "@sha256:" in container["image"]
    assert drill["spec"]["concurrencyPolicy"] == "Forbid"


def test_a_verdict_ends_the_job_and_a_moved_pod_does_not(drill):
    disrupted, told = drill["spec"]["jobTemplate"]["spec"]["podFailurePolicy"]["rules"]
    assert (disrupted["action"], told["action"]) == ("Ignore", "FailJob")
    assert told["onExitCodes"]["values"] == [FIRST, FAILED]


def test_the_program_is_where_the_command_looks_for_it(drill, rehearsed):
    [code] = [
        item.inputs
        for item in rehearsed("demo").resources
        if item.type.endswith(":ConfigMap") and item.inputs["metadata"]["name"] == "checkpoint-drill"
    ]
    pod = drill["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    [container] = pod["containers"]
    [volume] = [volume for volume in pod["volumes"] if volume["name"] == "programs"]
    at = {item["path"]: code["data"][item["key"]] for item in volume["configMap"]["items"]}
    assert at == files()
    module = container["command"][container["command"].index("-m") + 1]
    [mount] = [mount for mount in container["volumeMounts"] if mount["name"] == "programs"]
    folder, _, rest = module.partition(".")
    assert mount["mountPath"] == f"{container['workingDir'].rstrip('/')}/{folder}"
    assert f"{rest.replace('.', '/')}.py" in at


def test_the_alerts_find_it_by_its_name(rehearsed, drill):
    [rules] = [
        item.inputs
        for item in rehearsed("demo").resources
        if item.type.endswith(":PrometheusRule") and item.inputs["metadata"]["name"] == "trainyard"
    ]
    assert f'cronjob="{drill["metadata"]["name"]}"' in str(rules["spec"])


@pytest.mark.parametrize(
    ("changes", "there"),
    [
        ({}, True),
        ({"smoke": {"enabled": False}}, True),
        ({"monitoring": {"checkpointDrill": False}}, False),
        ({"monitoring": {"enabled": False}}, False),
        ({"cpuPool": {"maxNodes": 0}}, False),
    ],
)
def test_a_plan_has_one_where_somebody_hears_of_it_and_it_has_nodes(changes, there):
    assert (plan(**changes).clusters[0].drill is not None) is there


def test_one_that_is_asked_for_and_cannot_be_is_refused():
    with pytest.raises(SettingsError, match=r"monitoring\.checkpointDrill"):
        plan(monitoring={"checkpointDrill": True, "enabled": False})


def test_an_image_without_a_digest_is_refused():
    args = {"image": IMAGE.partition("@")[0], "namespace": "team-vision"}
    with pytest.raises(ValueError, match="digest"):
        CheckpointDrill("drill", args)
