"""Truth tables of managed training: ceilings, editors that stop, what costs by the hour, ways out of editors."""

import base64
import json
from dataclasses import replace

from tests.policies.truth import NOT_APPLICABLE, OK, UNDECIDED, UNKNOWN, VIOLATED, made, table, unknown

DOMAIN, PROFILE, SPACE = (
    "aws:sagemaker/domain:Domain",
    "aws:sagemaker/userProfile:UserProfile",
    "aws:sagemaker/space:Space",
)
SCRIPT, SERVER = (
    "aws:sagemaker/studioLifecycleConfig:StudioLifecycleConfig",
    "aws:sagemaker/mlflowTrackingServer:MlflowTrackingServer",
)
TEMPLATE, WORKBENCH = "gcp:colab/runtimeTemplate:RuntimeTemplate", "gcp:workbench/instance:Instance"
SERVICE, INSIDE = "gcp:cloudrunv2/service:Service", "INGRESS_TRAFFIC_INTERNAL_ONLY"
BALANCED = "INGRESS_TRAFFIC_INTERNAL_LOAD_BALANCER"
BUDGET, ROLE, ROLE_POLICY = "aws:budgets/budget:Budget", "aws:iam/role:Role", "aws:iam/rolePolicy:RolePolicy"
OVERRIDE = "gcp:serviceusage/consumerQuotaOverride:ConsumerQuotaOverride"

TYPES, SUBNETS, RUN = "sagemaker:InstanceTypes", "sagemaker:VpcSubnets", "sagemaker:MaxRuntimeInSeconds"
KEY, TAG = "sagemaker:OutputKmsKey", "aws:RequestTag/project"
SOUND = {
    "ForAllValues:StringEquals": {TYPES: ["ml.m5.xlarge"], SUBNETS: ["subnet-1"]},
    "Null": {TYPES: "false", SUBNETS: "false"},
    "NumericLessThanEquals": {RUN: "86400"},
    "ArnEquals": {KEY: "arn:aws:kms:us-east-1:123456789012:key/1"},
    "StringEquals": {TAG: "research"},
}


def statement(condition, action="sagemaker:CreateTrainingJob", effect="Allow"):
    return {"Sid": "Send", "Effect": effect, "Action": action, "Resource": "*", "Condition": condition}


def right(*each, name="people", **more):
    policy = json.dumps({"Version": "2012-10-17", "Statement": list(each)})
    return made(ROLE_POLICY, name, {"policy": policy}, **more)


def without(key):
    """Sound conditions but for one key, of whatever operator."""
    kept = {op: {name: value for name, value in keys.items() if name != key} for op, keys in SOUND.items()}
    return {op: keys for op, keys in kept.items() if keys}


def other(**changed):
    return {**SOUND, **{op.replace("__", ":"): keys for op, keys in changed.items()}}


OWN = made(ROLE, "people", {})
DENIED = statement({"ForAnyValue:StringNotLike": {TYPES: ["ml.m5.*"]}}, effect="Deny")


def quota(metric, value="0", **more):
    metric = f"aiplatform.googleapis.com%2Fcustom_model_training_{metric}_gpus"
    return made(OVERRIDE, metric, {"metric": metric, "overrideValue": value, **more})


SNAPSHOTS = made(OVERRIDE, "s", {"metric": "compute.googleapis.com%2Fsnapshots", "overrideValue": "0"})
CLOSED = [quota("nvidia_h100"), quota("preemptible_nvidia_h100")]
SENDERS = made("gcp:projects/iAMCustomRole:IAMCustomRole", "people", {"permissions": ["aiplatform.customJobs.create"]})


def member(who, role="roles/aiplatform.user"):
    return made("gcp:projects/iAMMember:IAMMember", "m", {"project": "p", "role": role, "member": who})


def idle(minutes=60, state="ENABLED", **more):
    settings = {"lifecycleManagement": state, "idleTimeoutInMinutes": minutes, **more}
    return {"appLifecycleManagement": {"idleSettings": settings}}


def domain(lab=None, code=None, script="arn", settings="defaultUserSettings", type_=DOMAIN, **inputs):
    lab = {**(idle() if lab is None else lab), **({"defaultResourceSpec": {"lifecycleConfigArn": script}})}
    editors = {"jupyterLabAppSettings": lab, "codeEditorAppSettings": idle() if code is None else code}
    return made(type_, "studio", {settings: editors, **inputs})


def profile(lab):
    return made(PROFILE, "ann", {"userSettings": {"jupyterLabAppSettings": lab}})


def space(code):
    return made(SPACE, "shared", {"spaceSettings": {"codeEditorAppSettings": code}})


def template(timeout, **inputs):
    return made(TEMPLATE, "e2", {"idleShutdownConfig": {"idleTimeout": timeout}, **inputs})


def workbench(metadata, **inputs):
    return made(WORKBENCH, "ann", {"gceSetup": {"metadata": metadata, "disablePublicIp": True}, **inputs})


CULLS = '{"cull_idle_timeout": 1800, "cull_connected": true, "cull_inactive_timeout": 1800}'


def starts_with(text, app="JupyterLab", *, encode=True):
    content = base64.b64encode(f"#!/bin/bash\n{text}".encode()).decode() if encode else text
    inputs = {"studioLifecycleConfigContent": content, "studioLifecycleConfigAppType": app}
    return started(made(SCRIPT, "s", inputs))


def started(script):
    """A script, and the domain whose editors start with it."""
    return [script, replace(domain(script=UNKNOWN), property_dependencies={"defaultUserSettings": (script.urn,)})]


def budget(*filters, name="b"):
    return made(BUDGET, name, {"budgetType": "COST", "costFilters": list(filters)})


def by(name, *values):
    return {"name": name, "values": list(values)}


STUDIO = made(DOMAIN, "studio", {})
TAGGED = made(DOMAIN, "studio", {"tagPropagation": "ENABLED"})
UAE = {"residency": "uae"}

CASES = [
    *table(
        "jobs-without-ceilings",
        ("nobody sends jobs", OK, right(statement({}, "s3:GetObject"))),
        ("below all", OK, right(statement(SOUND))),
        *((f"none on {key}", VIOLATED, right(statement(without(key)))) for key in (TYPES, SUBNETS, RUN, KEY, TAG)),
        ("none at all", VIOLATED, right(statement({}))),
        ("tuning jobs", VIOLATED, right(statement({}, "sagemaker:CreateHyperParameterTuningJob"))),
        ("by a wildcard", VIOLATED, right(statement({}, ["s3:*", "sagemaker:Create*"]))),
        ("in other letters", VIOLATED, right(statement({}, "SageMaker:CREATETRAININGJOB"))),
        ("every value, and no value", VIOLATED, right(statement(other(Null={TYPES: "false"})))),
        ("no value must be", VIOLATED, right(statement(other(Null={TYPES: "true", SUBNETS: "false"})))),
        (
            "one value of several",
            VIOLATED,
            right(statement({**without(TYPES), "ForAnyValue:StringEquals": {TYPES: ["ml.m5.xlarge"]}})),
        ),
        ("any type", VIOLATED, right(statement({**without(TYPES), "StringLike": {TYPES: ["*"]}}))),
        ("some types", OK, right(statement({**without(TYPES), "StringLike": {TYPES: ["ml.m5.*"]}}))),
        ("if it is there", VIOLATED, right(statement({**without(TAG), "StringEqualsIfExists": {TAG: "research"}}))),
        ("another tag", OK, right(statement({**without(TAG), "StringLike": {"aws:RequestTag/team": "a*"}}))),
        ("at least a day", VIOLATED, right(statement({**without(RUN), "NumericGreaterThan": {RUN: "86400"}}))),
        ("forbidden above", OK, right(statement(without(TYPES)), DENIED)),
        (
            "forbidden above elsewhere",
            OK,
            [
                OWN,
                right(statement(without(TYPES)), uses={"role": [OWN]}),
                right(DENIED, name="d", uses={"role": [OWN]}),
            ],
        ),
        ("forbidden to others", VIOLATED, [OWN, right(statement(without(TYPES))), right(DENIED, name="d")]),
        (
            "within the role",
            VIOLATED,
            made(ROLE, "r", {"inlinePolicies": [{"policy": right(statement({})).inputs["policy"]}]}),
        ),
        ("unknown", UNDECIDED, unknown(right(statement(SOUND)), "policy")),
        ("everything, where nobody trains", OK, right(statement({}, "*"))),
        ("everything, where people train", VIOLATED, [STUDIO, right(statement({}, "*"))]),
        ("everything of SageMaker, where nobody trains", VIOLATED, right(statement({}, "sagemaker:*"))),
        (
            "Google's: another service's quota in a region",
            OK,
            [
                SENDERS,
                *CLOSED,
                made(
                    OVERRIDE,
                    "s",
                    {**SNAPSHOTS.inputs, "dimensions": {"region": "us-central1"}},
                ),
            ],
        ),
        ("Google's: another service's quota closed", VIOLATED, [SENDERS, SNAPSHOTS]),
        ("Google's: closed", OK, [SENDERS, *CLOSED]),
        ("Google's: nothing closed", VIOLATED, SENDERS),
        ("Google's: lowered, and open", VIOLATED, [SENDERS, quota("nvidia_h100", "8")]),
        ("Google's: open on spot", VIOLATED, [SENDERS, *CLOSED[:1]]),
        ("Google's: open on demand", VIOLATED, [SENDERS, *CLOSED[1:]]),
        (
            "Google's: in a region",
            VIOLATED,
            [SENDERS, CLOSED[0], quota("preemptible_nvidia_h100", dimensions={"region": "us-central1"})],
        ),
        ("Google's: by a predefined role", VIOLATED, member("group:ml@a.example")),
        ("Google's: a program", OK, member("serviceAccount:ci@p.iam.gserviceaccount.com")),
        ("Google's: people look", OK, member("group:ml@a.example", "roles/aiplatform.viewer")),
    ),
    *table(
        "editor-never-stops",
        ("both", OK, domain()),
        ("as long as it may", OK, domain(idle(120), idle(120))),
        ("for a day", VIOLATED, domain(idle(1440))),
        ("people may ask for a day", VIOLATED, domain(idle(60, maxIdleTimeoutInMinutes=1440))),
        ("for as long as is configured", OK, domain(idle(1440)), {}, {"maxIdleMinutes": 1440}),
        ("JupyterLab does not", VIOLATED, domain({})),
        ("Code Editor does not", VIOLATED, domain(code={})),
        ("switched off", VIOLATED, domain(code=idle(state="DISABLED"))),
        ("no script", VIOLATED, domain(script=None)),
        ("a script that is not known yet", OK, domain(script=UNKNOWN)),
        ("unknown", UNDECIDED, domain(idle(state=UNKNOWN))),
        ("a person says nothing", OK, profile({})),
        ("a person's is off", VIOLATED, profile(idle(state="DISABLED"))),
        ("a space's for a day", VIOLATED, space(idle(1440))),
        ("a template", OK, template("3600s")),
        ("a template that never stops", VIOLATED, template("0s")),
        ("a template for a day", VIOLATED, template("86400s")),
        ("a template by Google's own three hours", VIOLATED, made(TEMPLATE, "e2", {})),
        ("a Workbench", OK, workbench({"idle-timeout-seconds": "3600"})),
        ("a Workbench that never stops", VIOLATED, workbench({"idle-timeout-seconds": "0"})),
        ("a Workbench by Google's own three hours", VIOLATED, workbench({})),
        ("a Workbench that is off", OK, workbench({}, desiredState="STOPPED")),
    ),
    *table(
        "idle-kernels-kept",
        ("ended", OK, starts_with(CULLS)),
        ("on a command line", OK, starts_with("--X.cull_idle_timeout=1800 --Y.cull_inactive_timeout=1800")),
        ("after a day", VIOLATED, starts_with(CULLS.replace("1800", "86400", 1))),
        (
            "after a day, as configured",
            OK,
            starts_with(CULLS.replace("1800", "86400", 1)),
            {},
            {"maxIdleMinutes": 1440},
        ),
        (
            "after what a variable says",
            OK,
            starts_with('{"cull_idle_timeout": $IDLE_S, "cull_inactive_timeout": ${IDLE_S}}'),
        ),
        ("by AWS's own script", OK, starts_with("python auto_stop_idle/autostop.py --time $IDLE_TIME &")),
        ("never", VIOLATED, starts_with(CULLS.replace("1800", "0", 1))),
        ("terminals stay", VIOLATED, starts_with('{"cull_idle_timeout": 1800}')),
        ("while a tab is open", VIOLATED, starts_with(CULLS.replace("true", "false"))),
        ("nothing of it", VIOLATED, starts_with("pip install mlflow")),
        ("no base64", VIOLATED, starts_with("#!/bin/bash", encode=False)),
        ("not what an editor starts with", OK, [starts_with("pip install mlflow")[0], domain(script="another")]),
        ("unknown", UNDECIDED, started(unknown(starts_with(CULLS)[0], "studioLifecycleConfigContent"))),
    ),
    *table(
        "tracking-server-by-the-hour",
        ("a small one", VIOLATED, made(SERVER, "s", {"trackingServerSize": "Small"})),
        ("a large one", VIOLATED, made(SERVER, "s", {"trackingServerSize": "Large"})),
        ("where no App is", OK, made(SERVER, "s", {}), {"region": "us-gov-west-1"}),
        ("where no App is, of its own", OK, made(SERVER, "s", {"region": "cn-north-1"})),
        ("unknown", UNDECIDED, made(SERVER, "s", {"trackingServerSize": UNKNOWN})),
    ),
    *table(
        "budget-blind-to-managed-training",
        ("by service", OK, [STUDIO, budget(by("Service", "Amazon SageMaker"))]),
        ("of the whole account", OK, [STUDIO, budget()]),
        ("by account", OK, [STUDIO, budget(by("LinkedAccount", "123456789012"))]),
        ("by a tag", VIOLATED, [STUDIO, budget(by("TagKeyValue", "user:environment$research"))]),
        ("by a tag too", VIOLATED, [STUDIO, budget(by("Service", "Amazon SageMaker"), by("TagKeyValue", "user:a$b"))]),
        ("of another service", VIOLATED, [STUDIO, budget(by("Service", "Amazon Simple Storage Service"))]),
        (
            "by a tag that jobs have to carry",
            OK,
            [TAGGED, right(statement(SOUND)), budget(by("TagKeyValue", "user:project$r"))],
        ),
        (
            "by one that editors do not get",
            VIOLATED,
            [STUDIO, right(statement(SOUND)), budget(by("TagKeyValue", "user:project$r"))],
        ),
        (
            "by another than jobs carry",
            VIOLATED,
            [TAGGED, right(statement(SOUND)), budget(by("TagKeyValue", "user:team$r"))],
        ),
        ("one of two sees", OK, [STUDIO, budget(by("TagKeyValue", "a$b")), budget(name="all")]),
        ("no budget", OK, STUDIO),
        ("no managed training", NOT_APPLICABLE, budget(by("TagKeyValue", "a$b"))),
        ("unknown", UNDECIDED, [STUDIO, unknown(budget(), "costFilters")]),
    ),
    *table(
        "service-without-sign-in",
        ("behind IAP", OK, made(SERVICE, "s", {"iapEnabled": True, "invokerIamDisabled": True})),
        ("called by who has the right", OK, made(SERVICE, "s", {"location": "us-central1"})),
        ("from inside alone", OK, made(SERVICE, "s", {"invokerIamDisabled": True, "ingress": INSIDE})),
        ("by anybody", VIOLATED, made(SERVICE, "s", {"invokerIamDisabled": True})),
        ("by a balancer", VIOLATED, made(SERVICE, "s", {"invokerIamDisabled": True, "ingress": BALANCED})),
        (
            "by a balancer, behind IAP",
            OK,
            made(SERVICE, "s", {"invokerIamDisabled": True, "ingress": BALANCED, "iapEnabled": True}),
        ),
        ("IAP is off", VIOLATED, made(SERVICE, "s", {"invokerIamDisabled": True, "iapEnabled": False})),
        ("not known yet", UNDECIDED, unknown(made(SERVICE, "s", {}), "invokerIamDisabled")),
    ),
    *table(
        "public-editor",
        ("a public domain", OK, made(DOMAIN, "d", {"appNetworkAccessType": "PublicInternetOnly"})),
        ("where data stays", VIOLATED, made(DOMAIN, "d", {"appNetworkAccessType": "PublicInternetOnly"}), UAE),
        ("by AWS's default", VIOLATED, made(DOMAIN, "d", {}), UAE),
        ("a private domain", OK, made(DOMAIN, "d", {"appNetworkAccessType": "VpcOnly"}), UAE),
        ("a template with a way out", OK, template("3600s", networkSpec={"enableInternetAccess": True})),
        ("likewise where data stays", VIOLATED, template("1s", networkSpec={"enableInternetAccess": True}), UAE),
        ("a template without", OK, template("3600s", networkSpec={"enableInternetAccess": False}), UAE),
        ("a Workbench", OK, workbench({})),
        ("a Workbench with an address", VIOLATED, made(WORKBENCH, "w", {"gceSetup": {}})),
        ("a notebook instance", VIOLATED, made("aws:sagemaker/notebookInstance:NotebookInstance", "n", {})),
        (
            "a notebook instance in the network",
            OK,
            made("aws:sagemaker/notebookInstance:NotebookInstance", "n", {"directInternetAccess": "Disabled"}),
        ),
        ("unknown", UNDECIDED, made(DOMAIN, "d", {"appNetworkAccessType": UNKNOWN}), UAE),
    ),
]
