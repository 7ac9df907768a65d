"""What stands beside the mistakes of `test_tired.py` and is right: unusual, of somebody else's, or not known."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.rehearsal.works import mistakes_gcp_forty as forty
from tests.rehearsal.works import mistakes_gcp_sixty as gcp
from tests.rehearsal.works import mistakes_managed_forty as managed_forty
from tests.rehearsal.works import mistakes_managed_sixty as managed
from tests.rehearsal.works.mistakes import DROP, Change, both, drop, edit, in_json, put
from tests.rehearsal.works.mistakes_gcp_sixty import STACK, said
from tests.rehearsal.works.mistakes_managed import make
from tests.rehearsal.works.test_tired import findings
from trainyard.recorded.model import UNKNOWN

WINDOW = "maintenancePolicy.recurringWindow"
LOG = "conditions[0].conditionMatchedLog.filter"
CONDITION = "conditions[0].conditionThreshold"
RIGHTS, KEYS, AWS, GOOGLE = "record-alarms-rights", "record-alarms-keys", managed.AWS, managed.GOOGLE
PROVISIONING = "kueue-provisioning-train-flex-start"
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"
FOLDERS = "kubernetes:batch/v1:Job"
ROLE_POLICY = managed_forty.OWN
QUERY = "metricQueries[0].expression"
IN, OUT = managed_forty.FROM, "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"


def pool(name: str, *into: Any) -> Change:
    return edit(gcp.POOL, f"gpu-nodes-{name}", *into)


def grants(name: str, **inputs: Any) -> Change:
    return make(gcp.IN_PROJECT, name, {"project": "northwind-ml", "role": "roles/viewer", "member": "user:a@b.example",
                                       **inputs})  # fmt: skip


def log_filter(policy: str, text: str, stack: str = STACK) -> tuple[Change, str, str]:
    return edit(gcp.POLICY, policy, put(LOG, text)), stack, "programs"


ACTIVITY, READS = 'log_id("cloudaudit.googleapis.com/activity")', 'log_id("cloudaudit.googleapis.com/data_access")'

RIGHT: dict[str, tuple[Change, str, str]] = {
    # values
    "a window on every weekend, said by the month": (
        edit(gcp.CLUSTER, "cluster-cluster", put(f"{WINDOW}.recurrence", "FREQ=MONTHLY;BYDAY=SA,SU")), STACK, ""),
    "a window on every weekend, said by the year": (
        edit(gcp.CLUSTER, "cluster-cluster", put(f"{WINDOW}.recurrence", "FREQ=YEARLY;BYDAY=SA,SU")), STACK, ""),
    "two whole days a month, said by the year": (
        edit(gcp.CLUSTER, "cluster-cluster", put(f"{WINDOW}.recurrence", "FREQ=YEARLY;BYMONTHDAY=1,15"),
             put(f"{WINDOW}.endTime", "2026-01-04T02:00:00Z")), STACK, ""),
    "two whole days a month": (
        edit(gcp.CLUSTER, "cluster-cluster", put(f"{WINDOW}.recurrence", "FREQ=MONTHLY;BYMONTHDAY=1,15"),
             put(f"{WINDOW}.endTime", "2026-01-04T02:00:00Z")), STACK, ""),
    "a permission of a service that the table does not have": (
        managed.permission("managed-people", more="discoveryengine.engines.get"), GOOGLE, ""),
    "a permission that is not known yet": (
        edit(managed.ROLE, "managed-people", put("permissions[0]", UNKNOWN)), GOOGLE, ""),
    "a role of the organisation lists projects": (
        make("gcp:organizations/iAMCustomRole:IAMCustomRole", "all", {
            "orgId": "123456789012", "roleId": "looks", "title": "Looks",
            "permissions": ["resourcemanager.projects.list", "resourcemanager.folders.list"]}), GOOGLE, ""),
    "an alert by metric without a rate, of two conditions": (
        edit(gcp.POLICY, "alert-policies-alerts", lambda it: it["conditions"].append(it["conditions"][0])), STACK, ""),
    "a rate that is not known": (edit(gcp.POLICY, KEYS, put("alertStrategy", UNKNOWN)), STACK, ""),
    "versions without days that are kept": (
        edit(gcp.BUCKET, "northwind-production-logs", put("versioning.enabled", True), put("retentionPolicy", DROP)),
        STACK, ""),
    "services that somebody else switches on": (
        drop("gcp:projects/service:Service", "services-cloudkms"), STACK, ""),
    # a network of two, and a network that is not known
    "a zone of our network and of another": (
        edit(gcp.ZONE, "google-apis-googleapis", lambda it: it["privateVisibilityConfig"]["networks"].append(
            {"networkUrl": "projects/hub/global/networks/hub"})), STACK, "paths"),
    "a zone of our network by its address": (
        said(gcp.ZONE, "google-apis-googleapis", "privateVisibilityConfig.networks[0].networkUrl", "projects/",
             "https://www.googleapis.com/compute/v1/projects/"), STACK, "paths"),
    "a zone of a network that is not known": (
        edit(gcp.ZONE, "google-apis-googleapis", put("privateVisibilityConfig.networks[0].networkUrl", UNKNOWN)),
        STACK, "paths"),
    # file systems
    "root squashed where no group gets the volume": (
        both(gcp.SILENT["Lustre squashes who makes the folders"][0],
             edit(FOLDERS, "folders-scratch", put("spec.template.spec.securityContext.fsGroup", DROP))),
        STACK, "reference"),
    "root squashed for others than the nodes": (
        edit(gcp.LUSTRE, "northwind-production-lustre", lambda it: it["accessRulesOptions"]["accessRules"].append(
            {"name": "guests", "ipAddressRanges": ["10.9.0.0/24"], "squashMode": "ROOT_SQUASH"})), STACK, "reference"),
    "a share of many nodes whose owner nobody changes": (
        both(gcp.SILENT["Filestore squashes who makes the folders"][0],
             edit(forty.VOLUME, "folders-home-volume", put("spec.accessModes", ["ReadWriteMany"])),
             edit(CLAIM, "folders-home-claim", put("spec.accessModes", ["ReadWriteMany"]))),
        STACK, "reference"),
    "all teams read a folder that is filled by hand": (
        both(*(edit(forty.VOLUME, f"volumes-{team}-data-volume", put("spec.mountOptions[1]", "only-dir=curated"))
               for team in ("foundation", "perception", "forecasting"))), STACK, "reference"),
    "a team writes to a folder of all": (
        both(said(forty.VOLUME, "volumes-foundation-scratch-volume", "spec.csi.volumeAttributes.filesystem",
                  "teams/foundation", "shared"),
             edit(FOLDERS, "folders-scratch", put("spec.template.spec.containers[0].command[4]", "scratch/shared"))),
        STACK, "reference"),
    "a team reads another's folder": (
        both(forty.SILENT["another team's scratch space"][0],
             edit(forty.VOLUME, "volumes-foundation-scratch-volume", put("spec.csi.readOnly", True))),
        STACK, "reference"),
    # alerts and logs
    "many lines for an hour": (
        edit(gcp.POLICY, "alert-policies-alerts", put(f"{CONDITION}.thresholdValue", 100),
             put(f"{CONDITION}.duration", "3600s")), STACK, "programs"),
    "five minutes of lines": (
        edit(gcp.POLICY, "alert-policies-alerts", put(f"{CONDITION}.duration", "300s")), STACK, "programs"),
    "reads in the log of reads": log_filter(RIGHTS, f'{READS} AND protoPayload.methodName="storage.objects.get"'),
    "a change in either log": log_filter(RIGHTS, f'({ACTIVITY} OR {READS}) AND protoPayload.methodName="SetIamPolicy"'),
    "a call by a part of its name": log_filter(KEYS, f'{ACTIVITY} AND protoPayload.methodName:"ServiceAccountKey"'),
    "a call of a service that is not in the table": log_filter(
        KEYS, 'protoPayload.methodName="google.cloud.sql.v1beta4.SqlInstancesService.Update"'),
    "a job that is cancelled": log_filter(
        "managed-jobs-foreign", 'protoPayload.methodName:"JobService.CancelCustomJob"', GOOGLE),
    "a kind of thing that is not in the table": log_filter(
        "managed-jobs-failed", 'resource.type="aiplatform.googleapis.com/PipelineJob" AND severity>=ERROR', GOOGLE),
    "figures of other services, and one's own": (
        said(managed.BOARD, "managed-jobs-dashboard", "dashboardJson", "ml.googleapis.com/training/cpu/utilization",
             "custom.googleapis.com/loss"), GOOGLE, "programs"),
    "figures of predictions": (
        said(managed.BOARD, "managed-jobs-dashboard", "dashboardJson", "ml.googleapis.com/training/cpu/utilization",
             "ml.googleapis.com/prediction/online/cpu/utilization"), GOOGLE, "programs"),
    # nodes that are asked for
    "a request for a shorter time": (
        edit(gcp.PROVISIONING, PROVISIONING, put("spec.parameters.maxRunDurationSeconds", "3600")), STACK, "queues"),
    "nodes of any time": (pool("train-flex-start", put("nodeConfig.maxRunDuration", DROP)), STACK, "queues"),
    "more is managed than is counted": (
        edit(gcp.PROVISIONING, PROVISIONING, put("spec.managedResources", ["nvidia.com/gpu", "google.com/tpu"])),
        STACK, "queues"),
    "nodes without our label": (
        pool("dev-on-demand", put("nodeConfig.labels", {"pool": "dev"}), put("nodeConfig.spot", True)),
        STACK, "machine"),
    "any reservation": (
        pool("train-reserved", put("nodeConfig.reservationAffinity", {"consumeReservationType": "ANY_RESERVATION"})),
        STACK, "machine"),
    "nodes in Google's queue of before flex-start": (
        pool("train-flex-start", put("nodeConfig.flexStart", DROP),
             put("nodeConfig.maxRunDuration", DROP)), STACK, "machine"),
    "how nodes are bought is not known": (pool("tune-spot", put("nodeConfig.spot", UNKNOWN)), STACK, "machine"),
    "many devices of another class": (
        edit(forty.CLAIMS, "teams-foundation-fabric-train",
             put("spec.spec.devices.requests[0].exactly", {"deviceClassName": "gpu.nvidia.com", "count": 16})),
        STACK, "machine"),
    # rights
    "the nodes' role by the project's number": (
        edit(gcp.IN_PROJECT, "cluster-nodes-defaultNodeServiceAccount", put("project", "555512345678")),
        STACK, "rights"),
    "the nodes' role in a project that is not known": (
        edit(gcp.IN_PROJECT, "cluster-nodes-defaultNodeServiceAccount", put("project", UNKNOWN)), STACK, "rights"),
    "a role in a host project beside": (grants("host", project="northwind-network"), STACK, "rights"),
    "the account of another project's disks beside our own": (
        make(gcp.ON_KEY, "other", {
            "cryptoKeyId": "projects/northwind-ml/locations/us-east4/keyRings/northwind-production-keys/cryptoKeys/"
                           "northwind-production-platform",
            "member": "serviceAccount:service-900100200300@compute-system.iam.gserviceaccount.com",
            "role": "roles/cloudkms.cryptoKeyEncrypterDecrypter"}), STACK, "rights"),
    "a role on a bucket of somebody else's": (
        make(forty.IN_BUCKET, "corpus", {"bucket": "public-corpus", "role": "roles/storage.objectViewer",
                                         "member": "user:ann@northwind.example"}), STACK, "rights"),
    "an editor by a role that nobody recorded": (
        edit(managed.OPENS, "editors-e2-standard-2-research@hooli.example", put("role", "roles/aiplatform.user")),
        GOOGLE, "rights"),
    # a database
    "a second user of the database": (
        make(forty.USER, "reader", {"instance": "northwind-production-mlflow-a908aceb", "name": "reader"}),
        STACK, "programs"),
    "a user that IAM lets in": (
        both(edit(forty.USER, "northwind-production-mlflow-mlflow", put("type", "CLOUD_IAM_SERVICE_ACCOUNT"),
                  put("name", "mlflow@northwind.iam")),
             edit(gcp.SQL, "northwind-production-mlflow", forty.lets_iam_in)), STACK, "programs"),
    # managed training of AWS
    "what every event has": (
        edit(managed.TARGET, "managed-jobs-ended", put("inputTransformer.inputPaths.name", "$.detail-type"),
             put("inputTransformer.inputPaths.step", "$.time")), AWS, "programs"),
    "a metric of a job's own": (
        said(managed.ALARM, "managed-jobs-gpu-idle", QUERY, "MAX(GPUUtilization)", "MAX(train_loss)"), AWS, "programs"),
    "nothing at all": (
        edit(managed.ALARM, "managed-jobs-gpu-idle", put("threshold", 0),
             put("comparisonOperator", "LessThanOrEqualToThreshold")), AWS, "programs"),
    "a difference below nothing": (
        edit(managed.ALARM, "managed-jobs-queue-waiting", put("threshold", -1),
             put("comparisonOperator", "LessThanThreshold")), AWS, "programs"),
    "one list after the other, both to block": (
        both(edit(managed.DNS_RULE, "dns-allow", put("action", "BLOCK"), put("blockResponse", "NODATA")),
             edit(managed.DNS_RULE, "dns-others", put("priority", 50))), AWS, "programs"),
    "a person is told by mail": (
        edit(managed.ACTION, "managed-over-budget", put("subscribers[0]", {
            "subscriptionType": "EMAIL", "address": "ml@initech.example"})), AWS, "managed"),
    "runs on the pages of two domains": (
        edit(managed.APP, "tracking", put("defaultDomainIdLists[1]", "d-000000000000")), AWS, "managed"),
    "a group that lets a range in": (
        edit(IN, "training-from-itself", put("referencedSecurityGroupId", DROP), put("cidrIpv4", "10.0.0.0/16")),
        AWS, "managed"),
    "a right on all groups of models": (
        both(edit(managed.GROUP, "initech-research-everyone", put("modelPackageGroupName", "research-everyone")),
             said(ROLE_POLICY, "managed-jobs-tracking", "policy", "model-package-group/initech-research-*",
                  "model-package-group/*")), AWS, "rights"),
    "a group of models that nobody's policies speak of": (
        both(edit(managed.GROUP, "initech-research-everyone", put("modelPackageGroupName", "research-everyone")),
             *(drop(ROLE_POLICY, f"managed-{kind}") for kind in ("jobs-tracking", "people-tracking", "tracking")),
             drop(managed.APP, "tracking")),
        AWS, "rights"),
    "a key of several regions": (
        edit(ROLE_POLICY, "managed-jobs", in_json("policy", lambda it: it["Statement"].append({
            "Effect": "Allow", "Action": "kms:Decrypt", "Resource": "arn:aws:kms:us-east-1:123456789012:key/mrk-1",
            "Condition": {"StringEquals": {"kms:ViaService": "s3.eu-west-1.amazonaws.com"}}}))), AWS, "rights"),
    "by way of a service in two regions": (
        edit(ROLE_POLICY, "managed-jobs", in_json("policy", lambda it: it["Statement"].append({
            "Effect": "Allow", "Action": "kms:Decrypt", "Resource": "arn:aws:kms:us-east-1:123456789012:key/a",
            "Condition": {"StringEquals": {"kms:ViaService": ["s3.eu-west-1.amazonaws.com",
                                                              "s3.us-east-1.amazonaws.com"]}}}))), AWS, "rights"),
    "what is made for one project, and another's is looked at": (
        edit(ROLE_POLICY, "managed-people", in_json("policy", lambda it: it["Statement"].append({
            "Effect": "Allow", "Action": "sagemaker:DescribeEndpoint", "Resource": "*",
            "Condition": {"StringEquals": {"aws:ResourceTag/project": "serving"}}}))), AWS, "rights"),
    "an action of a budget on a role of somebody else's": (
        edit(managed.ACTION, "managed-over-budget", lambda it: it["definition"]["iamActionDefinition"]["roles"].append(
            "corp-data-scientists")), AWS, "rights"),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_left_alone(rehearsed: Any, name: str) -> None:
    change, stack, room = RIGHT[name]
    rehearsal = rehearsed(stack)
    before = set(findings(list(rehearsal.known.resources), rehearsal, room or "gcp"))
    told = [one for one in findings(change(list(rehearsal.known.resources)), rehearsal, room or "gcp")
            if one not in before]  # fmt: skip
    assert [str(finding) for finding in told] == []


def test_a_thing_may_wait_for_the_right_through_another(rehearsed: Any) -> None:
    rehearsal = rehearsed(STACK)
    resources = list(rehearsal.known.resources)
    keys = {item.urn for item in resources if item.type == gcp.ON_KEY}
    (bucket,) = (item for item in resources if item.name == "northwind-production-data" and item.type == gcp.BUCKET)
    (logs,) = (item for item in resources if item.name == "northwind-production-logs" and item.type == gcp.BUCKET)
    without = tuple(urn for urn in bucket.dependencies if urn not in keys)
    through = [replace(item, dependencies=(*without, logs.urn)) if item is bucket else item for item in resources]
    waiting = {urn for urn in logs.dependencies if urn in keys}
    mended = [
        replace(item, dependencies=(*item.dependencies, *(keys & set(bucket.dependencies)))) if item.urn == logs.urn
        else item
        for item in through
    ]  # fmt: skip
    assert waiting and [str(one) for one in findings(mended, rehearsal, "rights")] == []
    alone = [replace(item, dependencies=tuple(urn for urn in item.dependencies if urn not in keys))
             for item in resources]  # fmt: skip
    assert "rights-key-order" in {one.rule for one in findings(alone, rehearsal, "rights")}


def test_a_service_is_waited_for_where_the_program_switches_it_on(rehearsed: Any) -> None:
    rehearsal = rehearsed(GOOGLE)
    resources = list(rehearsal.known.resources)
    early = [
        replace(item, dependencies=()) if item.name in ("network", "network-vpc") else item for item in resources
    ]  # fmt: skip
    assert "gcp-service-order" in {one.rule for one in findings(early, rehearsal, "gcp")}
    assert json.dumps([str(one) for one in findings(resources, rehearsal, "gcp")]) == "[]"
