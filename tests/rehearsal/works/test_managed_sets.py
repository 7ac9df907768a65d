"""Sets of mistakes in managed training, each told by the rule that is named; what is right beside each is not.

The fifty of `third` (AWS) and `run` (Google Cloud, with MLflow on Cloud Run) were written before any rule was read: 16
of them were told at first sight. The classes of the others were mended, and `fourth` has thirty-five that were written
then: 16 of those were told at first sight.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from tests.rehearsal.works import aws_changes as aws
from tests.rehearsal.works import mistakes_managed_fourth, mistakes_managed_run, mistakes_managed_third
from tests.rehearsal.works.aws_changes import reworded, statement
from tests.rehearsal.works.mistakes import DROP, Recorded, both, context_of, edit, in_json, one_by_one, put
from tests.rehearsal.works.mistakes_gcp_sixty import no_longer_waits, said
from tests.rehearsal.works.mistakes_managed import make
from tests.rehearsal.works.mistakes_managed_run import (
    ALERT,
    BOX,
    DATABASE,
    JOB,
    RUN,
    SERVER,
    SQL,
    UP,
    run,
    sent,
    served,
)  # fmt: skip
from tests.rehearsal.works.mistakes_managed_run import STACK as TRACKED
from tests.rehearsal.works.mistakes_managed_sixty import ACTION, APP, COUNTED, DOMAIN, SCRIPT
from tests.rehearsal.works.mistakes_managed_third import BOARD, EDITORS, PEOPLE, SMALL, UAE
from tests.rehearsal.works.together import told_together
from tests.shared import ROOT
from tests.stacks.tracking_on_run import stack_file
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.rehearse import Rehearsal, rehearse
from trainyard.rehearsal.works.check import check_works
from trainyard.review.policy_check.check import check_policies

SETS = (mistakes_managed_third, mistakes_managed_run, mistakes_managed_fourth)
MISTAKES = [
    (one, TRACKED if module is mistakes_managed_run else one.stack) for module in SETS for one in module.MISTAKES
]
MISSED = frozenset({
    "placeholder-without-a-path", "a-graph-of-no-region", "a-period-of-ninety-seconds", "a-policy-above-the-limit",
    "a-script-for-another-editor", "brake-at-a-hundred-dollars", "brake-of-another-region", "a-script-of-root",
    "a-script-of-windows", "a-comma-too-many", "jobs-in-the-endpoints-group", "the-default-editor-is-forbidden",
    "editors-of-an-iam-user", "no-source-identity", "artifacts-beside-the-right", "images-of-another-region",
    "memory-above-its-processors", "half-a-processor", "a-request-of-two-hours", "a-reserved-variable",
    "probed-longer-than-its-period", "a-page-that-no-browser-reaches", "more-servers-than-connections",
    "a-database-of-twenty-connections", "files-where-it-may-not-read", "a-database-of-no-name",
    "an-address-of-nobody", "a-name-in-the-certificate", "a-secret-of-another-region",
    "a-migration-that-never-runs", "a-server-before-its-tables", "a-server-without-time-to-start",
    "failures-of-another-service", "browsers-of-plain-http", "a-program-where-there-is-none",
    "a-person-of-another-directory", "two-results-of-an-alarm", "an-expression-of-a-lost-query",
    "layers-of-another-region", "counted-without-braces", "a-graph-of-no-namespace", "a-graph-of-another-region",
    "a-role-for-nobody", "a-person-with-the-role-of-mlflow", "models-that-are-not-registered",
    "failures-counted-among-flows", "no-name-of-aws", "files-in-another-folder", "a-server-without-its-files",
    "listens-to-itself", "failures-of-no-severity", "files-below-a-slash", "no-workers",
    "a-program-of-another-name",
})  # fmt: skip
"""What nothing told at first sight."""


@pytest.fixture(scope="session")
def stack_of(rehearsed: Any, shared_things: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A rehearsal by name: an example's, or that of `small-gcp` with MLflow on Cloud Run, which no example has."""

    def tracked() -> Rehearsal:
        return rehearse(ROOT, stack_file(tmp_path_factory.mktemp("tracked") / "stacks"))

    return lambda name: shared_things.kept(f"rehearsal: {TRACKED}", tracked) if name == TRACKED else rehearsed(name)


@pytest.fixture(scope="session")
def stacks(stack_of: Any) -> Any:
    done: dict[str, tuple[Rehearsal, set[Any]]] = {}

    def of(name: str) -> tuple[Rehearsal, set[Any]]:
        if name not in done:
            rehearsal = stack_of(name)
            done[name] = rehearsal, _told(rehearsal, list(rehearsal.known.resources))
        return done[name]

    return of


def _told(rehearsal: Rehearsal, resources: list[Any]) -> set[Any]:
    context = context_of(rehearsal)
    found = [*check_values(resources, context), *check_works(resources, context)]
    return {(one.rule, one.urn, one.path) for one in found}


@pytest.mark.parametrize(("mistake", "stack"), MISTAKES, ids=lambda one: getattr(one, "name", None))
def test_a_mistake_is_told(stacks: Any, mistake: Any, stack: str) -> None:
    rehearsal, before = stacks(stack)
    changed = mistake.change(list(rehearsal.known.resources))
    if mistake.rule is None:  # `why` says what may make it right
        assert mistake.why and _told(rehearsal, changed) - before == set()
    elif mistake.rule.startswith("policy:"):
        report = check_policies(rehearsal.stack, changed, changed, rehearsal.settings)
        assert mistake.rule.removeprefix("policy:") in {violation.policy for violation in report.violations}
    else:
        sound = rehearsal.known.resources
        said = one_by_one(changed, context_of(rehearsal), mistake.rule, values=True, sound=sound)
        found = ({(one.rule, one.urn, one.path) for one in told} - before for told in said)
        assert any(mistake.rule in {rule for rule, *_ in told} for told in found)


def test_each_mistake_has_a_name_of_its_own_and_is_counted() -> None:
    names = [one.name for one, _ in MISTAKES]
    assert {name for name, times in Counter(names).items() if times > 1} == set()
    assert set(names) >= MISSED
    assert len(MISTAKES) == 85 and len(MISSED) == 34 + 1 + 19


def rewritten(text: str) -> Any:
    """Another script of editors."""
    return edit(SCRIPT, "studio-kernels", put("studioLifecycleConfigContent", base64.b64encode(text.encode()).decode()))


CASES = """#!/usr/bin/env bash
set -eu
# it's a comment with one quotation mark
if [ -d "$HOME/.cache" ]; then
  for one in a b; do echo "$one's own"; done
fi
case "$(uname -m)" in
  x86_64) sudo tee /etc/motd <<< 'welcome' ;;
  *) echo other ;;
esac
cat > "$HOME/settings.json" <<END
{"cull": $IDLE}
END
cat /etc/os-release
echo it # don't
greet() { if true; then echo "# no comment"; fi; }
! if false; then :; fi
size=$((1 << size))
cp /etc/skel/.bashrc "$HOME"
cd /usr/share
pip install -r /etc/requirements.txt
touch /etc/it || true
if [ -w /etc/it ] && touch /etc/it; then echo 'a > /etc/b'; fi
cat > "$HOME/server.json" <<'END' # a document
{"AsyncMappingKernelManager": {"cull_idle_timeout": 3600}}
END
"""
BROKEN = {
    "cp x /etc/it": "writes to /etc/it",
    "mkdir -p ~/a; touch '/root/a'": "writes to /root/a",
    "{ echo a > /etc/it; }": "writes to /etc/it",
    "f() { if true; then echo a; }": "1 times if, and 0 times fi",
    "echo it's": "a quotation mark is not closed",
    "cat <<END": "a document is not ended by END",
}
TEXT = {"type": "text", "x": 0, "y": 30, "width": 24, "height": 2, "properties": {"markdown": "# Jobs"}}
ALARM_OF = {"type": "metric", "x": 0, "y": 40, "properties": {"title": "a", "annotations": {"alarms": ["arn:x"]}}}
STARTS = {"create": "gcloud run jobs execute hooli-research-mlflow-up --wait"}
READS = "import os; print(os.environ['OF_THE_IMAGE'])"
SETS_ITSELF = (
    "import os; os.environ['A'] = 'a'; print(os.environ['A']); print(os.environ['B'] if 'B' in os.environ else ''); "
)


def waits(type_: str, name: str, for_type: str, for_name: str) -> Any:
    """Lets one resource wait for another."""

    def change(resources: Any) -> Any:
        (of,) = [one.urn for one in resources if (one.type, one.name) == (for_type, for_name)]
        return [
            replace(one, dependencies=(*one.dependencies, of)) if (one.type, one.name) == (type_, name) else one
            for one in resources
        ]

    return change


def waiting(type_: str, name: str, for_type: str, for_name: str) -> Any:
    """Adds a grant on something, which waits for it."""
    grant = make(type_, name, {"name": for_name, "role": "roles/run.invoker", "member": "user:ci@hooli.example"})
    return both(grant, waits(type_, f"added-{name}", for_type, for_name))


def renamed(old: str, new: str) -> Any:
    """Another name of a file in the words of a job and in its variables."""

    def into(inputs: Any) -> None:
        held = inputs["template"]["template"]["containers"][0]
        held["args"] = [word.replace(old, new) for word in held["args"]]
        for one in held["envs"]:
            one["value"] = str(one["value"]).replace(f'"{old}"', f'"{new}"')

    return into


def may_everything(resources: Any) -> Any:
    """Gives those whom the brake holds a policy that allows everything."""
    (action,) = [one for one in resources if (one.type, one.name) == (ACTION, "managed-over-budget")]
    role = action.inputs["definition"]["iamActionDefinition"]["roles"][0]
    allowed = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
    return make(aws.POLICY, "everything", {"role": role, "policy": json.dumps(allowed)})(resources)


SOUND = {
    "a brake at nearly all of the money": (
        SMALL, edit(ACTION, "managed-over-budget", put("actionThreshold.actionThresholdType", "ABSOLUTE_VALUE"),
                    put("actionThreshold.actionThresholdValue", 9000))),
    "a brake at a small part of a year's money": (
        SMALL, both(edit(ACTION, "managed-over-budget", put("actionThreshold.actionThresholdType", "ABSOLUTE_VALUE")),
                    edit(aws.BUDGET, "budget-budget", put("timeUnit", "ANNUALLY")))),
    "a brake of each kind by itself, for those who may everything": (
        SMALL, both(may_everything, edit("aws:iam/policy:Policy", "managed-over-budget", statement(
            "policy", "OverBudget", put("Action", ["sagemaker:*", "ec2:RunInstances"]), put("Resource", [
                *(f"arn:aws:sagemaker:*:123456789012:{kind}/*" for kind in (
                    "app", "endpoint", "hyper-parameter-tuning-job", "notebook-instance", "processing-job",
                    "training-job", "transform-job")),
                "arn:aws:ec2:us-east-1:123456789012:instance/*"]))))),
    "data in a bucket of its own, and of somebody's": (SMALL, sent(lambda it: it.update(InputDataConfig=[
        {"ChannelName": "train", "DataSource": {"S3DataSource": {"S3Uri": "s3://datasets/imagenet"}}}]))),
    "a brake of the own region": (
        SMALL, edit("aws:iam/policy:Policy", "managed-over-budget",
                    statement("policy", "OverBudget", put("Resource", "arn:aws:sagemaker:us-east-1:123456789012:*")))),
    "a script with everything": (SMALL, rewritten(CASES)),
    "a script of another language": (SMALL, rewritten("#!/usr/bin/python3\nprint('it')\n")),
    "another editor that is allowed": (
        SMALL, edit(DOMAIN, "studio", put("defaultUserSettings.codeEditorAppSettings.defaultResourceSpec.instanceType",
                                          "ml.m5.large"))),
    "a machine more, and any person's own": (
        SMALL, edit(aws.POLICY, EDITORS, statement("policy", "OpenEditors", lambda it: it["Condition"][
            "ForAllValues:StringEquals"]["sagemaker:InstanceTypes"].append("ml.g5.xlarge")))),
    "the whole event": (
        SMALL, edit(aws.TARGET, "managed-jobs-ended",
                    put("inputTransformer.inputTemplate", '{"text": "<status>", "event": <aws.events.event.json>}'))),
    "text and an alarm on a dashboard": (
        SMALL, edit(BOARD, "managed-jobs-dashboard",
                    in_json("dashboardBody", lambda it: it["widgets"].extend([TEXT, ALARM_OF])))),
    "an alarm every two minutes": (
        SMALL, edit(aws.ALARM, "managed-jobs-gpu-idle", put("metricQueries[0].period", 120))),
    "artifacts below the prefix": (SMALL, edit(APP, "tracking", reworded("artifactStoreUri", "/mlflow", "/mlflow/a/"))),
    "images of every region": (
        SMALL, edit(aws.POLICY, "managed-jobs", reworded("policy", "arn:aws:ecr:us-east-1:7", "arn:aws:ecr:*:7"))),
    "counted by words": (SMALL, edit(COUNTED, "managed-jobs-failed", put("pattern", '"Failed"'))),
    "a role for two services": (
        SMALL, edit(aws.POLICY, PEOPLE, statement(
            "policy", "GiveJobsTheirRole", put("Condition.StringEquals.iam:PassedToService",
                                               ["sagemaker.amazonaws.com", "glue.amazonaws.com"])))),
    "names of this region's services alone": (
        UAE, edit(aws.DNS_LIST, "dns-allowed", lambda it: it["domains"].append("*.me-central-1.amazonaws.com"))),
    "two processors, and memory for them": (
        TRACKED, edit(RUN, SERVER, put(f"{BOX}.resources.limits", {"cpu": "2", "memory": "8Gi"}))),
    "a request of an hour": (TRACKED, run("template.timeout", "3600s")),
    "a minute to start": (TRACKED, run(f"{BOX}.startupProbe.failureThreshold", 12)),
    "as many servers as there are connections for": (TRACKED, run("template.scaling.maxInstanceCount", 6)),
    "more connections": (
        TRACKED, both(run("template.scaling.maxInstanceCount", 50), edit(
            SQL, DATABASE, lambda it: it["settings"]["databaseFlags"].append(
                {"name": "max_connections", "value": "1000"})))),
    "pages of everybody": (TRACKED, served("--cors-allowed-origins=https://", "--cors-allowed-origins=https://a.example,https://")),
    "a job that a schedule starts": (
        TRACKED, both(edit(JOB, UP, put("runExecutionToken", DROP)),
                      make("command:local:Command", "nightly", STARTS))),
    "a job that others do not wait for": (
        TRACKED, make(JOB, "by-hand", {"location": "us-central1", "name": "by-hand", "template": {"template": {
            "containers": [{"image": "tools", "envs": [{"name": "PORT", "value": "1"}]}]}}})),
    "a variable that a program can do without": (
        TRACKED, edit(RUN, SERVER, lambda it: it["template"]["containers"][0].update(
            commands=["python", "-c", "import os; os.environ.pop('MAYBE', None); os.environ['A'] = 'b'"]))),
    "a job that whoever the stack lets starts": (
        TRACKED, both(edit(JOB, UP, put("runExecutionToken", DROP)), no_longer_waits(RUN, SERVER, JOB),
                      waiting("gcp:cloudrunv2/jobIamMember:JobIamMember", "ci", JOB, UP))),
    "a job that reads the tables once the server is there": (
        TRACKED, both(no_longer_waits(RUN, SERVER, JOB), edit(JOB, UP, renamed("migrate.py", "report.py")))),
    "a job of tables that waits for the server": (
        TRACKED, both(no_longer_waits(RUN, SERVER, JOB), waits(JOB, UP, RUN, SERVER))),
    "a job that loads its data itself": (
        TRACKED, make(JOB, "train", {"location": "us-central1", "name": "train", "template": {"template": {
            "containers": [{"image": "tools", "commands": ["python", "train.py", "--workers", "0"]}]}}})),
    "variables of an image, and of the program": (
        TRACKED, make(RUN, "api", {"location": "us-central1", "name": "api", "template": {"containers": [
            {"image": "api", "commands": ["python", "-c", READS]}]}})),
    "a variable that a program sets and one that it asks for": (
        TRACKED, edit(RUN, SERVER, lambda it: it["template"]["containers"][0]["commands"].__setitem__(2, SETS_ITSELF +
            it["template"]["containers"][0]["commands"][2]))),
    "a server beside it, inside alone": (
        TRACKED, make(RUN, "api", {"location": "us-central1", "name": "api", "ingress": "INGRESS_TRAFFIC_INTERNAL_ONLY",
                                   "template": {"containers": [{"image": "api", "args": ["--host=0.0.0.0"]}]}})),
    "a failure of any service": (
        TRACKED, said(ALERT, "managed-jobs-tracking", "conditions[0].conditionMatchedLog.filter",
                      'resource.labels.service_name="hooli-research-mlflow" AND', "")),
    "a severity in small letters": (
        TRACKED, said(ALERT, "managed-jobs-failed", "conditions[0].conditionMatchedLog.filter", "ERROR", "error")),
    "a second database, by a proxy": (
        TRACKED, make(RUN, "api", {"location": "us-central1", "name": "api", "template": {"containers": [
            {"image": "api", "ports": {"containerPort": 8080},
             "args": ["--db=postgresql://hooli-research-mlflow%40rehearsal.iam@127.0.0.1:5432/mlflow"]},
            {"image": "proxy"}]}})),
}  # fmt: skip


@pytest.mark.parametrize("name", SOUND)
def test_what_is_right_is_not_accused(stacks: Any, name: str) -> None:
    stack, _ = SOUND[name]
    rehearsal, before = stacks(stack)

    def judged(resources: Recorded) -> list[Any]:
        return sorted(_told(rehearsal, list(resources)) - before)

    changes = {what: change for what, (of_stack, change) in SOUND.items() if of_stack == stack}
    assert told_together((__name__, stack), name, rehearsal.known.resources, changes, judged) == []


def test_a_brake_of_one_kind_leaves_others_to_those_who_may_everything(stacks: Any) -> None:
    rehearsal, before = stacks(SMALL)
    some = put("Resource", "arn:aws:sagemaker:*:*:app/*")
    less = edit("aws:iam/policy:Policy", "managed-over-budget", statement("policy", "OverBudget", some))
    told = _told(rehearsal, both(may_everything, less)(list(rehearsal.known.resources))) - before
    assert "managed-brake-leaves" in {rule for rule, *_ in told}


@pytest.mark.parametrize("line", BROKEN)
def test_a_script_that_fails_is_told(stacks: Any, line: str) -> None:
    rehearsal, _ = stacks(SMALL)
    changed = rewritten(f"#!/bin/bash\n{line}\n")(list(rehearsal.known.resources))
    told = [one.message for one in check_works(changed, context_of(rehearsal)) if one.rule == "managed-script-broken"]
    assert len(told) == 1 and BROKEN[line] in told[0]


@pytest.mark.parametrize(("tier", "told"), [("db-perf-optimized-N-2", True), ("db-perf-optimized-N-16", False)])
def test_a_database_of_enterprise_plus_takes_connections_by_its_cores(stacks: Any, tier: str, told: bool) -> None:
    rehearsal, before = stacks(TRACKED)
    sized = edit(mistakes_managed_run.SQL, mistakes_managed_run.DATABASE, put("settings.tier", tier))
    servers = mistakes_managed_run.run("template.scaling.maxInstanceCount", 40)
    changed = servers(sized(list(rehearsal.known.resources)))
    assert ("run-connections" in {one[0] for one in _told(rehearsal, changed) - before}) is told
