"""Thirty-five further mistakes in managed training, on both clouds, written before anything was mended for them."""

from __future__ import annotations

from typing import Any

from tests.rehearsal.works import aws_changes as aws
from tests.rehearsal.works.aws_changes import refer, reworded, statement
from tests.rehearsal.works.mistakes import Change, Mistake, edit, put
from tests.rehearsal.works.mistakes_gcp_sixty import said
from tests.rehearsal.works.mistakes_managed_gcp import ACTS
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
    served,
    word,
)
from tests.rehearsal.works.mistakes_managed_run import STACK as TRACKED
from tests.rehearsal.works.mistakes_managed_sixty import COUNTED
from tests.rehearsal.works.mistakes_managed_third import BOARD, PEOPLE, SMALL, of_widget

PROFILE = "aws:sagemaker/userProfile:UserProfile"
DOOR = "gcp:iap/webCloudRunServiceIamMember:WebCloudRunServiceIamMember"
VERSION = "gcp:secretmanager/regionalSecretVersion:RegionalSecretVersion"
GCS = "gcp:storage/bucket:Bucket"


def variable(name: str, value: str | None) -> Change:
    """A variable of the server, with another value, or none."""

    def into(inputs: dict[str, Any]) -> None:
        envs = inputs["template"]["containers"][0]["envs"]
        assert any(one["name"] == name for one in envs)
        inputs["template"]["containers"][0]["envs"] = [one for one in envs if one["name"] != name]
        if value is not None:
            inputs["template"]["containers"][0]["envs"].append({"name": name, "value": value})

    return edit(RUN, SERVER, into)


def other_keys(held: dict[str, Any]) -> None:
    held["Resource"] = held["Resource"][:2]


REFUSED = [
    Mistake(
        "a-person-of-another-directory",
        "a profile names a person of IAM Identity Center, where the domain signs in by IAM",
        edit(
            PROFILE,
            "studio-everyone-1",
            put("singleSignOnUserIdentifier", "UserName"),
            put("singleSignOnUserValue", "ann"),
        ),
        "managed-sign-in",
        stack=SMALL,
    ),
    Mistake(
        "flows-every-five-minutes",
        "the flow log is gathered over 300 seconds",
        edit(aws.FLOW_LOG, "network-flow-log", put("maxAggregationInterval", 300)),
        "flow-log-interval",
        stack=SMALL,
    ),
    Mistake(
        "an-answer-of-its-own-without-one",
        "blocked names are answered with another name, which is not given",
        edit(aws.DNS_RULE, "dns-others", put("blockResponse", "OVERRIDE")),
        "dns-block-response",
        stack=SMALL,
    ),
    Mistake(
        "a-topic-told-by-mail",
        "a subscription by mail to the address of a queue",
        edit(
            aws.SUBSCRIPTION, "budget-ml@initech.example", put("endpoint", "arn:aws:sqs:us-east-1:123456789012:alerts")
        ),
        "sns-endpoint",
        stack=SMALL,
    ),
    Mistake(
        "two-results-of-an-alarm",
        "two queries of an alarm give its result",
        edit(aws.ALARM, "managed-jobs-jobs-failing", put("metricQueries[1].returnData", True)),
        "alarm-queries",
        stack=SMALL,
    ),
    Mistake(
        "an-expression-of-a-lost-query",
        "an alarm's expression names a query that was renamed",
        edit(aws.ALARM, "managed-jobs-jobs-failing", put("metricQueries[1].id", "failed")),
        "alarm-queries",
        stack=SMALL,
    ),
    Mistake(
        "a-disk-that-may-not-be-its-size",
        "the database's disk may grow to less than it is",
        edit(SQL, DATABASE, put("settings.diskAutoresizeLimit", 5)),
        "gcp-sql-disk",
        stack=TRACKED,
    ),
    Mistake(
        "backups-for-longer-than-a-year",
        "400 backups are kept",
        edit(SQL, DATABASE, put("settings.backupConfiguration.backupRetentionSettings.retainedBackups", 400)),
        "gcp-sql-backups",
        stack=TRACKED,
    ),
    Mistake(
        "a-caller-at-the-door",
        "programs are let through IAP by the right to call a service",
        edit(DOOR, "tracking-server-programs", put("role", "roles/run.invoker")),
        "gcp-role-resource",
        stack=TRACKED,
    ),
    Mistake(
        "closed-after-ten-minutes",
        "an alert closes itself after ten minutes",
        edit(ALERT, "managed-jobs-tracking", put("alertStrategy.autoClose", "600s")),
        "gcp-alert",
        stack=TRACKED,
    ),
]

SILENT = [
    Mistake(
        "jobs-without-the-last-key",
        "jobs may use two keys of three: not the one of artifacts",
        edit(aws.POLICY, "managed-jobs", statement("policy", "UseKeys", other_keys)),
        "rights-role-lacks",
        stack=SMALL,
    ),
    Mistake(
        "an-endpoint-of-another-account",
        "the endpoint of S3 lets by what is another account's",
        edit(
            aws.ENDPOINT,
            "network-s3",
            statement("policy", "OwnBuckets", put("Condition.StringEquals.aws:ResourceAccount", "210987654321")),
        ),
        "rights-role-lacks",
        stack=SMALL,
    ),
    Mistake(
        "layers-of-another-region",
        "the endpoint of S3 lets by the layers of images of another region",
        edit(aws.ENDPOINT, "network-s3", reworded("policy", "prod-us-east-1-starport", "prod-us-west-2-starport")),
        "rights-condition-never",
        stack=SMALL,
    ),
    Mistake(
        "counted-without-braces",
        "failed jobs are counted by a pattern without braces, which is one of words",
        edit(COUNTED, "managed-jobs-failed", put("pattern", '$.detail.TrainingJobStatus = "Failed"')),
        "programs-event",
        stack=SMALL,
    ),
    Mistake(
        "a-graph-of-no-namespace",
        "a graph searches the namespace in the singular",
        edit(
            BOARD,
            "managed-jobs-dashboard",
            reworded("dashboardBody", "sagemaker/TrainingJobs,Host", "sagemaker/TrainingJob,Host"),
        ),
        "programs-alarm",
        stack=SMALL,
    ),
    Mistake(
        "a-graph-of-another-region",
        "a graph shows another region",
        of_widget(lambda one: one["properties"].update(region="us-east-2")),
        "programs-alarm",
        stack=SMALL,
    ),
    Mistake(
        "a-role-for-nobody",
        "people may pass the jobs' role to a service that there is not",
        edit(
            aws.POLICY,
            PEOPLE,
            reworded(
                "policy",
                '"iam:PassedToService\\": \\"sagemaker.amazonaws.com',
                '"iam:PassedToService\\": \\"sagemaker.aws.com',
            ),
        ),
        "rights-condition-never",
        stack=SMALL,
    ),
    Mistake(
        "a-person-with-the-role-of-mlflow",
        "one person's editor runs as MLflow",
        refer(PROFILE, "studio-everyone-1", "userSettings.executionRole", aws.ROLE, "managed-tracking", "arn"),
        "rights-nobody-reaches",
        stack=SMALL,
    ),
    Mistake(
        "models-that-are-not-registered",
        "MLflow registers models by itself, and may make no group",
        edit(
            aws.POLICY,
            "managed-tracking",
            statement("policy", "RegisterModels", lambda it: it["Action"].remove("sagemaker:CreateModelPackageGroup")),
        ),
        "rights-role-lacks",
        stack=SMALL,
    ),
    Mistake(
        "expired-below-a-slash",
        "access logs expire below a prefix that begins with a slash",
        edit(
            aws.LIFECYCLE, "initech-research-logs-lifecycle", put("rules[0].filter.prefix", "/initech-research-data/")
        ),
        "s3-lifecycle-filter",
        stack=SMALL,
    ),
    Mistake(
        "events-into-the-flow-logs",
        "events of jobs are written where flow logs are",
        edit(
            aws.TARGET,
            "managed-jobs-told",
            put("arn", "arn:aws:logs:us-east-1:123456789012:log-group:network-flow-logs-c2bf971"),
        ),
        "programs-event",
        stack=SMALL,
    ),
    Mistake(
        "failures-counted-among-flows",
        "failed jobs are counted in the log of flows",
        edit(COUNTED, "managed-jobs-failed", put("logGroupName", "network-flow-logs-c2bf971")),
        "programs-event",
        stack=SMALL,
    ),
    Mistake(
        "no-name-of-aws",
        "names of AWS's services are no longer answered",
        edit(aws.DNS_LIST, "dns-allowed", lambda it: it["domains"].remove("*.amazonaws.com")),
        "programs-dns-order",
        stack=SMALL,
    ),
    Mistake(
        "a-topic-without-its-key",
        "the topic of security alerts is encrypted by the key of data, which no event may use",
        refer(aws.TOPIC, "security-topic", "kmsMasterKeyId", aws.KEY, "data-key", "arn"),
        "rights-delivery-key",
        stack=SMALL,
    ),
    Mistake(
        "jobs-sign-for-themselves",
        "jobs may sign in their own name, not in that of programs that track",
        edit(ACTS, "tracking-server-signs-jobs", put("serviceAccountId", "managed-jobs-a130e4c4")),
        "rights-run",
        stack=TRACKED,
    ),
    Mistake(
        "files-in-another-folder",
        "the server's files are put elsewhere than it looks",
        variable("TRAINYARD_HOME", "/tmp/files"),
        "run-variable",
        stack=TRACKED,
    ),
    Mistake(
        "a-server-without-its-files",
        "the variable with the server's files was taken away",
        variable("TRAINYARD_FILES", None),
        "run-variable",
        stack=TRACKED,
    ),
    Mistake(
        "listens-to-itself",
        "the server listens on its own address alone",
        served("--host=0.0.0.0", "--host=127.0.0.1"),
        "run-port",
        stack=TRACKED,
    ),
    Mistake(
        "a-database-of-another-network",
        "the database is in a network that the server is not in",
        edit(SQL, DATABASE, put("settings.ipConfiguration.privateNetwork", "projects/acme-ml/global/networks/default")),
        "run-network",
        stack=TRACKED,
    ),
    Mistake(
        "failures-of-no-severity",
        "failed jobs are looked for under a severity that there is not",
        said(
            ALERT,
            "managed-jobs-failed",
            "conditions[0].conditionMatchedLog.filter",
            "severity>=ERROR",
            "severity>=FAILED",
        ),
        "programs-filter",
        stack=TRACKED,
    ),
    Mistake(
        "asked-for-its-health-elsewhere",
        "liveness is asked at a path that MLflow has not",
        run(f"{BOX}.livenessProbe.httpGet.path", "/healthz"),
        "run-probe",
        stack=TRACKED,
    ),
    Mistake(
        "files-below-a-slash",
        "old artifacts are deleted below a prefix that begins with a slash",
        edit(GCS, "hooli-research-artifacts", put("lifecycleRules[0].condition.matchesPrefixes", ["/mlflow/"])),
        "gcs-lifecycle",
        stack=TRACKED,
    ),
    Mistake(
        "no-workers",
        "the server is told to have no workers",
        served("--workers=2", "--workers=0"),
        "run-workers",
        stack=TRACKED,
    ),
    Mistake(
        "a-password-that-is-off",
        "the version of the password that the migration asks for is off",
        edit(VERSION, "hooli-research-mlflow-password", put("enabled", False)),
        "programs-switched-off",
        stack=TRACKED,
    ),
    Mistake(
        "a-program-of-another-name",
        "the migration's program is called otherwise than it is put",
        word(JOB, UP, "job", "migrate.py", "migrations.py"),
        "run-variable",
        stack=TRACKED,
    ),
]
MISTAKES = [*REFUSED, *SILENT]
