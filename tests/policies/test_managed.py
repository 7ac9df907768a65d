"""Policies that have a meaning without a cluster judge managed training: each catches a mutant of a small example."""

from __future__ import annotations

import base64
import copy
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.conftest import MANAGED, MANAGED_ON_GOOGLE
from tests.policies.cases_managed import DOMAIN, SCRIPT, SERVER, TEMPLATE
from tests.policies.test_mutants import judge
from trainyard.policies import money_editors, money_managed, security_managed
from trainyard.recorded.model import RecordedResource

AWS, GOOGLE, UAE = "small-aws", "small-gcp", "uae-small"
LAB, CODE = "jupyterLabAppSettings", "codeEditorAppSettings"
Into = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class Mutant:
    """One thing changed in an example stack."""

    policy: str
    what: str
    stack: str
    name: str  # of the resource; its type where two share it
    into: Into | None  # None: it is taken out
    type: str = ""
    fields: tuple[tuple[str, Any], ...] = ()


def put(path: str, value: Any) -> Into:
    def into(inputs: dict[str, Any]) -> None:
        *way, last = path.split(".")
        for step in way:
            inputs = inputs[int(step)] if isinstance(inputs, list) else inputs[step]
        inputs[int(last) if isinstance(inputs, list) else last] = value

    return into


def document(key: str, change: Callable[[list[dict[str, Any]]], Any]) -> Into:
    """Changes the statements of a policy; in a preview it is not known yet."""

    def into(inputs: dict[str, Any]) -> None:
        if isinstance(inputs[key], str):
            found = json.loads(inputs[key])
            change(found["Statement"])
            inputs[key] = json.dumps(found)

    return into


def of_sending(change: Callable[[dict[str, Any]], Any]) -> Into:
    """Changes the conditions below which people send jobs."""
    return document("policy", lambda each: [change(one["Condition"]) for one in each if one.get("Sid") == "SendJobs"])


def _forever(inputs: dict[str, Any]) -> None:
    text = base64.b64decode(inputs["studioLifecycleConfigContent"]).decode()
    longer = re.sub(r'("cull_idle_timeout": )\d+', r"\g<1>604800", text)
    inputs["studioLifecycleConfigContent"] = base64.b64encode(longer.encode()).decode()


def _open(inputs: dict[str, Any]) -> None:
    inputs["overrideValue"] = "8"


H100 = "ceilings-custom_model_training_preemptible_nvidia_h100_gpus"
PEOPLE_ROLE, BOUNDS = "aws:iam/rolePolicy:RolePolicy", "defaultUserSettings"
IDLE = "appLifecycleManagement.idleSettings"

MUTANTS = [
    Mutant("jobs-without-ceilings", "any machine", AWS, "managed-people",
           of_sending(lambda c: c["ForAllValues:StringEquals"].pop("sagemaker:InstanceTypes")), PEOPLE_ROLE),
    Mutant("jobs-without-ceilings", "no machine at all is asked for", AWS, "managed-people",
           of_sending(lambda c: c["Null"].pop("sagemaker:InstanceTypes")), PEOPLE_ROLE),
    Mutant("jobs-without-ceilings", "a month", AWS, "managed-people",
           of_sending(lambda c: c.pop("NumericLessThanEquals")), PEOPLE_ROLE),
    Mutant("jobs-without-ceilings", "no network", AWS, "managed-people",
           of_sending(lambda c: c["Null"].pop("sagemaker:VpcSubnets")), PEOPLE_ROLE),
    Mutant("jobs-without-ceilings", "no tag", AWS, "managed-people",
           of_sending(lambda c: c.pop("StringEquals")), PEOPLE_ROLE),
    Mutant("jobs-without-ceilings", "under anybody's key", UAE, "managed-people",
           of_sending(lambda c: c.pop("ArnEquals")), PEOPLE_ROLE),
    Mutant("jobs-without-ceilings", "an H100 on spot", GOOGLE, H100, _open),
    Mutant("jobs-without-ceilings", "an H100 on spot, the lock is gone", GOOGLE, H100, None),
    Mutant("editor-never-stops", "JupyterLab runs on", AWS, "studio",
           put(f"{BOUNDS}.{LAB}.{IDLE}.lifecycleManagement", "DISABLED"), DOMAIN),
    Mutant("editor-never-stops", "Code Editor was forgotten", AWS, "studio",
           put(f"{BOUNDS}.{CODE}.appLifecycleManagement", None), DOMAIN),
    Mutant("editor-never-stops", "a week", UAE, "studio",
           put(f"{BOUNDS}.{CODE}.{IDLE}.maxIdleTimeoutInMinutes", 10_080), DOMAIN),
    Mutant("editor-never-stops", "open kernels count as work", AWS, "studio",
           put(f"{BOUNDS}.{LAB}.defaultResourceSpec.lifecycleConfigArn", None), DOMAIN),
    Mutant("editor-never-stops", "a template without an end", GOOGLE, "editors-e2-standard-4",
           put("idleShutdownConfig.idleTimeout", "0s"), TEMPLATE),
    Mutant("idle-kernels-kept", "a week", AWS, "studio-kernels", _forever, SCRIPT),
    Mutant("budget-blind-to-managed-training", "by a tag", AWS, "budget-budget",
           put("costFilters", [{"name": "TagKeyValue", "values": ["user:environment$research"]}])),
    Mutant("public-editor", "out of the network", UAE, "studio", put("appNetworkAccessType", "PublicInternetOnly"),
           DOMAIN),
    # What was there before, where there is no cluster.
    Mutant("budget-without-alerts", "no budget", AWS, "budget-budget", None),
    Mutant("budget-without-alerts", "no budget", GOOGLE, "budget-budget", None),
    Mutant("costed-resource-without-cost-tags", "a domain of nobody's", AWS, "studio", put("tagsAll", {}), DOMAIN),
    Mutant("stateful-resource-unprotected", "the domain", AWS, "studio", lambda _: None, DOMAIN, (("protect", False),)),
    Mutant("stateful-resource-unprotected", "the runs", AWS, "tracking", lambda _: None,
           "aws:sagemaker/mlflowApp:MlflowApp", (("protect", False),)),
    Mutant("stateful-resource-unprotected", "the curves", GOOGLE, "tracking-curves", lambda _: None, "",
           (("protect", False),)),
    Mutant("storage-without-environment-key", "homes under AWS's key", AWS, "studio", put("kmsKeyId", None), DOMAIN,
           (("property_dependencies", {}),)),
    Mutant("storage-without-environment-key", "runs under Google's key", GOOGLE, "tracking-store",
           put("encryptionSpec", None), "", (("property_dependencies", {}),)),
    Mutant("bucket-without-versioning", "checkpoints", AWS, "initech-research-checkpoints-versioning",
           put("versioningConfiguration.status", "Suspended")),
    Mutant("public-bucket", "the data", AWS, "initech-research-data-public-access", put("blockPublicAcls", False)),
    Mutant("public-bucket", "the data", GOOGLE, "hooli-research-data", put("publicAccessPrevention", "inherited"),
           "gcp:storage/bucket:Bucket"),
    Mutant("key-without-rotation", "the data's", AWS, "data-key", put("enableKeyRotation", False)),
    Mutant("trust-without-conditions", "any account's SageMaker", AWS, "managed-jobs",
           document("assumeRolePolicy", lambda each: each[0].pop("Condition")), "aws:iam/role:Role"),
    Mutant("wildcard-admin", "people may all of it", AWS, "managed-people",
           document("policy", lambda each: each.append(
               {"Sid": "All", "Effect": "Allow", "Action": ["iam:*"], "Resource": ["*"]})), PEOPLE_ROLE),
    Mutant("wildcard-admin", "jobs edit the project", GOOGLE, "managed-jobs", put("role", "roles/editor"),
           "gcp:projects/iAMMember:IAMMember"),
    Mutant("privilege-on-any-resource", "people lend any role", AWS, "managed-people",
           document("policy", lambda each: [one.update(Resource=["*"], Condition={}) for one in each
                                            if one.get("Sid") == "GiveJobsTheirRole"]), PEOPLE_ROLE),
    Mutant("security-group-open-to-internet", "jobs are reached", AWS, "training-from-itself",
           lambda inputs: inputs.update(cidrIpv4="0.0.0.0/0", referencedSecurityGroupId=None)),
    Mutant("objects-without-trail", "no reads", GOOGLE, "record-storage", put("auditLogConfigs", [])),
    Mutant("region-outside-residency", "in Virginia", UAE, "aws", put("region", "us-east-1")),
]  # fmt: skip

MEANT_TOO = {
    "people may all of it": {"privilege-on-any-resource", "rights-that-lead-to-more"},
    "people lend any role": {"rights-that-lead-to-more", "wildcard-admin"},
    "jobs edit the project": {"privilege-on-any-resource"},
    "any account's SageMaker": {"resource-open-to-everybody"},
}
"""What another policy rightly says of the same mistake."""


def mutated(mutant: Mutant, resources: Any) -> list[RecordedResource]:
    found, hit = [], 0
    for resource in resources:
        meant = resource.name == mutant.name and (resource.custom if not mutant.type else resource.type == mutant.type)
        if meant:
            hit += 1
            if mutant.into is None:
                continue
            inputs = copy.deepcopy(dict(resource.inputs))
            mutant.into(inputs)
            resource = replace(resource, inputs=inputs, **dict(mutant.fields))
        found.append(resource)
    assert hit == 1, f"{mutant.name}: {hit} of that name"
    return found


@pytest.mark.parametrize("stack", [*MANAGED, *MANAGED_ON_GOOGLE])
def test_an_example_has_no_violation_and_no_exception(rehearsed: Any, stack: str) -> None:
    told = judge(rehearsed(stack))
    assert [str(each) for each in told.violations] == [] and told.accepted == ()


@pytest.mark.parametrize("mutant", MUTANTS, ids=[f"{each.stack}: {each.policy}: {each.what}" for each in MUTANTS])
def test_a_mutant_is_caught_by_its_policy_and_by_no_unrelated_one(rehearsed: Any, mutant: Mutant) -> None:
    told = judge(rehearsed(mutant.stack), lambda run: mutated(mutant, run))
    caught = {each.policy for each in told.violations}
    assert mutant.policy in caught
    assert caught - {mutant.policy} - MEANT_TOO.get(mutant.what, set()) == set(), [
        str(each) for each in told.violations
    ]


def test_a_tracking_server_beside_the_app_is_told(rehearsed: Any) -> None:
    """460 USD a month, of a budget that begins at 500."""

    def with_server(resources: Any) -> list[RecordedResource]:
        (app,) = (each for each in resources if each.type == "aws:sagemaker/mlflowApp:MlflowApp")
        inputs = {"trackingServerName": "runs", "trackingServerSize": "Small", "tagsAll": app.inputs["tagsAll"]}
        server = replace(app, type=SERVER, urn=f"{app.urn}-server", name="server", inputs=inputs)
        return [*resources, server]

    told = judge(rehearsed(AWS), with_server)
    assert "tracking-server-by-the-hour" in {each.policy for each in told.violations}


def test_every_policy_of_managed_training_has_a_mutant() -> None:
    own = {policy.name for policy in (*money_managed.POLICIES, *money_editors.POLICIES, *security_managed.POLICIES)}
    # The second: what its mutants are of is no example (test_tracking_on_run.py).
    assert own - {mutant.policy for mutant in MUTANTS} == {"tracking-server-by-the-hour", "service-without-sign-in"}


OF_A_CLUSTER = {
    "alerts-reach-nobody", "figures-shorter-than-a-month", "gpus-by-a-variable", "gpus-past-the-queue",
    "idle-gpus-keep-running", "idle-jobs-keep-their-gpus", "network-policies-not-strict", "notebooks-keep-their-gpus",
    "notebooks-let-anybody-in", "notebooks-open-to-the-outside", "off-peak-work-does-not-wait",
    "owner-cannot-reclaim", "platform-nodes-open-to-teams", "production-does-not-outrank-development",
    "quota-exceeds-pool",
    "spot-pool-without-checkpoint-tier", "spot-share-below-target",
}  # fmt: skip
"""Policies on nodes, queues and what runs on a cluster."""
OF_THE_SETTINGS = {"budget-holds-nobody", "key-gone-before-its-data"}
"""On a budget that the stack file names, and on what no engine tells of."""
OF_RESIDENCY = {
    "logs-outside-residency", "region-outside-residency", "silently-global-resource", "state-outside-residency",
}  # fmt: skip
OF_AWS = {"budget-blind-to-managed-training", "dns-open", "no-threat-detection", "other-account-in-charge"}
SILENT = {
    AWS: OF_A_CLUSTER | OF_THE_SETTINGS | OF_RESIDENCY,
    UAE: OF_A_CLUSTER | OF_THE_SETTINGS,
    GOOGLE: OF_A_CLUSTER | OF_THE_SETTINGS | OF_RESIDENCY | OF_AWS,
}


@pytest.mark.parametrize("stack", SILENT)
def test_what_has_nothing_to_say_of_a_small_stack_is_of_something_that_it_has_not(rehearsed: Any, stack: str) -> None:
    told = judge(rehearsed(stack), whole=True)
    assert {policy for policy, _ in told.not_applicable} == SILENT[stack]
