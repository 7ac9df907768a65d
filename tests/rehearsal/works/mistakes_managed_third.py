"""Twenty-five more mistakes in managed training on AWS, written before any rule was read."""

from __future__ import annotations

from typing import Any

from tests.rehearsal.works import aws_changes as aws
from tests.rehearsal.works.aws_changes import refer, reworded, statement
from tests.rehearsal.works.mistakes import DROP, Change, Mistake, edit, in_json, put
from tests.rehearsal.works.mistakes_managed_sixty import ACTION, APP, COUNTED, DOMAIN, SCRIPT, script

SMALL, UAE = "small-aws", "uae-small"
BOARD = "aws:cloudwatch/dashboard:Dashboard"
LOG_POLICY = "aws:cloudwatch/logResourcePolicy:LogResourcePolicy"
SMOKE = "command:local:Command"
PEOPLE, EDITORS, JOBS = "managed-people", "managed-people-editors", "managed-jobs"


def lines_of_windows(inputs: dict[str, Any]) -> None:
    """The script as an editor on Windows saves it."""
    import base64

    text = base64.b64decode(inputs["studioLifecycleConfigContent"]).decode()
    inputs["studioLifecycleConfigContent"] = base64.b64encode(text.replace("\n", "\r\n").encode()).decode()


def of_widget(change: Any) -> Change:
    """The first graph of the dashboard of jobs, changed."""
    return edit(BOARD, "managed-jobs-dashboard", in_json("dashboardBody", lambda it: change(it["widgets"][0])))


def swapped_group(key: str) -> Any:
    """The endpoints' security group where the jobs' belongs, in a list of a condition."""

    def into(held: dict[str, Any]) -> None:
        held["Condition"]["ForAllValues:StringEquals"][key] = ["sg-5b6c0d3bc9f1c7495"]

    return into


REFUSED = [
    Mistake(
        "placeholder-without-a-path",
        "the message of ended jobs names a placeholder that no path fills",
        edit(aws.TARGET, "managed-jobs-ended", put("inputTransformer.inputPaths.reason", DROP)),
        "event-message",
        stack=SMALL,
    ),
    Mistake(
        "a-graph-of-no-region",
        "a graph of the dashboard lost its region",
        of_widget(lambda one: one["properties"].pop("region")),
        "dashboard-widget",
        stack=SMALL,
    ),
    Mistake(
        "a-period-of-ninety-seconds",
        "the alarm of idle GPUs is asked every 90 seconds",
        edit(aws.ALARM, "managed-jobs-gpu-idle", put("metricQueries[0].period", 90)),
        "alarm-period",
        stack=SMALL,
    ),
    Mistake(
        "maintenance-on-a-whole-word",
        "MLflow is maintained on Sunday, written out",
        edit(APP, "tracking", put("weeklyMaintenanceWindowStart", "Sunday:03:00")),
        "aws-model",
        stack=SMALL,
    ),
    Mistake(
        "a-policy-above-the-limit",
        "so many machine types are listed that the role's inline policies are above 10,240 characters",
        edit(
            aws.POLICY,
            PEOPLE,
            in_json(
                "policy",
                lambda it: it["Statement"][0]["Condition"]["ForAllValues:StringEquals"][
                    "sagemaker:InstanceTypes"
                ].extend(f"ml.c{n}.{size}xlarge" for n in range(4, 8) for size in range(2, 48)),
            ),
        ),
        "iam-size",
        stack=SMALL,
    ),
    Mistake(
        "two-topics-of-one-notification",
        "one threshold of the budget is told to two topics",
        edit(
            aws.BUDGET,
            "budget-budget",
            put(
                "notifications[0].subscriberSnsTopicArns[1]",
                "arn:aws:sns:us-east-1:123456789012:security-topic-d5a7224",
            ),
        ),
        "budget-subscriber",
        stack=SMALL,
    ),
    Mistake(
        "a-script-for-another-editor",
        "the script is for Code Editor, and JupyterLab's settings name it",
        edit(SCRIPT, "studio-kernels", put("studioLifecycleConfigAppType", "CodeEditor")),
        "managed-script-of-another-app",
        stack=SMALL,
    ),
    Mistake(
        "infrequent-after-a-week",
        "artifacts become infrequent after 7 days",
        edit(aws.LIFECYCLE, "initech-research-artifacts-lifecycle", put("rules[1].transitions[0].days", 7)),
        "s3-lifecycle-transition",
        stack=SMALL,
    ),
]

SILENT = [
    Mistake(
        "brake-at-a-hundred-dollars",
        "the brake is pulled at 100 dollars, where 100 percent were meant",
        edit(ACTION, "managed-over-budget", put("actionThreshold.actionThresholdType", "ABSOLUTE_VALUE")),
        "managed-brake-threshold",
        stack=SMALL,
    ),
    Mistake(
        "brake-of-another-region",
        "what the brake forbids is of another region",
        edit(
            "aws:iam/policy:Policy",
            "managed-over-budget",
            statement("policy", "OverBudget", put("Resource", "arn:aws:sagemaker:us-east-2:123456789012:*")),
        ),
        "managed-brake-leaves",
        stack=SMALL,
    ),
    Mistake(
        "budget-of-a-tag-without-its-prefix",
        "the budget counts a tag without `user:` before it",
        edit(
            aws.BUDGET,
            "budget-budget",
            put("costFilters[0]", {"name": "TagKeyValue", "values": ["project$initech-research"]}),
        ),
        "budget-filter",
        stack=SMALL,
    ),
    Mistake(
        "a-script-of-root",
        "the script writes into root's home, which the editor's user may not",
        script("$HOME/.jupyter", "/root/.jupyter"),
        "managed-script-broken",
        stack=SMALL,
    ),
    Mistake(
        "a-script-of-windows",
        "the script's lines end as on Windows",
        edit(SCRIPT, "studio-kernels", lines_of_windows),
        "managed-script-broken",
        stack=SMALL,
    ),
    Mistake(
        "a-comma-too-many",
        "the server's configuration that the script writes has a comma too many",
        script('"cull_busy": false\n', '"cull_busy": false,\n'),
        "managed-script-broken",
        stack=SMALL,
    ),
    Mistake(
        "jobs-in-the-endpoints-group",
        "people may send jobs in the group of the endpoints alone, which lets nothing out",
        edit(aws.POLICY, PEOPLE, statement("policy", "SendJobs", swapped_group("sagemaker:VpcSecurityGroupIds"))),
        "managed-held-nowhere",
        stack=SMALL,
    ),
    Mistake(
        "the-default-editor-is-forbidden",
        "people may open every editor but the one that is the domain's default",
        edit(
            aws.POLICY,
            EDITORS,
            statement(
                "policy",
                "OpenEditors",
                lambda it: it["Condition"]["ForAllValues:StringEquals"]["sagemaker:InstanceTypes"].remove(
                    "ml.t3.medium"
                ),
            ),
        ),
        "rights-role-lacks",
        stack=SMALL,
    ),
    Mistake(
        "editors-of-an-iam-user",
        "an editor is held to the name of an IAM user, which a role's session has not",
        edit(
            aws.POLICY,
            EDITORS,
            statement(
                "policy",
                "OpenEditors",
                lambda it: it["Condition"]["ArnLike"].update(
                    {
                        "sagemaker:OwnerUserProfileArn": "arn:aws:sagemaker:us-east-1:123456789012:user-profile/"
                        "${sagemaker:DomainId}/${aws:username}"
                    }
                ),
            ),
        ),
        "rights-role-lacks",
        stack=SMALL,
    ),
    Mistake(
        "no-source-identity",
        "editors run under their profile's name, and the role lets nobody set one",
        edit(aws.ROLE, PEOPLE, statement("assumeRolePolicy", "Editors", put("Action", "sts:AssumeRole"))),
        "rights-role-untrusted",
        stack=SMALL,
    ),
    Mistake(
        "artifacts-beside-the-right",
        "MLflow keeps artifacts below another prefix than its role may write",
        edit(APP, "tracking", reworded("artifactStoreUri", "/mlflow", "/runs")),
        "rights-role-lacks",
        stack=SMALL,
    ),
    Mistake(
        "findings-above-the-scale",
        "findings are told from severity 40; GuardDuty's scale ends at 10",
        edit(
            aws.RULE,
            "security-findings",
            in_json("eventPattern", lambda it: it["detail"].update(severity=[{"numeric": [">=", 40]}])),
        ),
        "programs-pattern",
        stack=SMALL,
    ),
    Mistake(
        "a-host-that-is-none",
        "the calls that are told are those of `cloudtrail.amazon.com`",
        edit(
            aws.RULE,
            "security-record-off",
            reworded("eventPattern", "cloudtrail.amazonaws.com", "cloudtrail.amazon.com"),
        ),
        "programs-pattern",
        stack=SMALL,
    ),
    Mistake(
        "a-time-that-no-event-has",
        "the time at which a job was sent is read from a field that no event has",
        edit(COUNTED, "managed-jobs-sent", put("metricTransformation.value", "$.detail.CreatedAt")),
        "programs-event",
        stack=SMALL,
    ),
    Mistake(
        "objects-by-their-uri",
        "the trail is told of the buckets by `s3://`",
        edit(
            aws.TRAIL,
            "initech-research-trail-trail",
            put(
                "advancedEventSelectors[1].fieldSelectors[2].startsWiths",
                ["s3://initech-research-data-86ae670/", "s3://initech-research-checkpoints-689a3b8/"],
            ),
        ),
        "policy:objects-without-trail",
        stack=SMALL,
    ),
    Mistake(
        "images-of-another-region",
        "jobs may pull AWS's images of another region",
        edit(
            aws.POLICY,
            JOBS,
            reworded("policy", "arn:aws:ecr:us-east-1:763104351884", "arn:aws:ecr:us-west-2:763104351884"),
        ),
        "rights-role-lacks",
        stack=SMALL,
    ),
    Mistake(
        "editors-in-the-endpoints-group",
        "private editors stand in the group of the endpoints, which lets nothing out",
        refer(DOMAIN, "studio", "defaultUserSettings.securityGroups[0]", aws.GROUP, "network-endpoints", "id"),
        "managed-closed-to-s3",
        stack=UAE,
    ),
]
MISTAKES = [*REFUSED, *SILENT]
