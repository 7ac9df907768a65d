"""What is read by an input's name, and what the provider's own description says, on types that no stack here makes."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest

from tests.rehearsal.refusals.builders import changed, resource
from trainyard.rehearsal.context import ValueContext
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.refusals.gcp.values import FORMS, is_duration, is_moment

CONTEXT = ValueContext("1.35", "europe-west4")
KEY = "projects/acme-ml/locations/europe-west4/keyRings/acme/cryptoKeys/data"
METRIC = {
    "name": "errors",
    "filter": 'severity>=ERROR AND resource.type="k8s_container"',
    "metricDescriptor": {
        "metricKind": "DELTA",
        "valueType": "INT64",
        "labels": [{"key": "pod", "valueType": "STRING"}],
    },
    "labelExtractors": {"pod": "EXTRACT(resource.labels.pod_name)"},
}
ALERT = {
    "combiner": "OR",
    "displayName": "errors",
    "conditions": [
        {
            "displayName": "some",
            "conditionThreshold": {
                "comparison": "COMPARISON_GT",
                "duration": "300s",
                "filter": 'metric.type="logging.googleapis.com/user/errors" AND resource.type="k8s_container"',
                "aggregations": [{"alignmentPeriod": "300s", "perSeriesAligner": "ALIGN_RATE"}],
            },
        }
    ],
}
THRESHOLD = "conditions[0].conditionThreshold"

RIGHT: dict[str, dict[str, Any]] = {
    "gcp:artifactregistry/repository:Repository": {
        "format": "DOCKER",
        "location": "europe-west4",
        "repositoryId": "images",
        "kmsKeyName": KEY,
        "labels": {"team": "vision"},
    },
    "gcp:compute/disk:Disk": {"zone": "europe-west4-b", "type": "pd-ssd", "size": 100, "labels": {"team": "vision"}},
    "gcp:compute/instance:Instance": {"machineType": "e2-medium", "zone": "europe-west4-ai1a"},
    "gcp:compute/reservation:Reservation": {
        "zone": "europe-west4-a",
        "specificReservation": {"count": 2, "instanceProperties": {"machineType": "a3-ultragpu-8g"}},
    },
    "gcp:compute/network:Network": {
        "mtu": 8896,
        "networkProfile": "projects/acme-ml/global/networkProfiles/europe-west4-b-vpc-roce",
    },
    "gcp:logging/metric:Metric": METRIC,
    "gcp:logging/projectSink:ProjectSink": {
        "destination": "logging.googleapis.com/projects/acme-ml/locations/europe-west4/buckets/audit",
        "filter": 'logName:"cloudaudit.googleapis.com" AND NOT protoPayload.methodName="and"',
    },
    "gcp:logging/projectBucketConfig:ProjectBucketConfig": {
        "bucketId": "audit",
        "location": "europe-west4",
        "project": "acme-ml",
        "retentionDays": 400,
    },
    "gcp:monitoring/alertPolicy:AlertPolicy": ALERT,
    "gcp:monitoring/notificationChannel:NotificationChannel": {
        "type": "slack",
        "labels": {"channel_name": "#ml-alerts"},
    },
    "gcp:pubsub/subscription:Subscription": {"expirationPolicy": {"ttl": ""}, "messageRetentionDuration": "600s"},
    "gcp:secretmanager/secret:Secret": {
        "secretId": "token",
        "replication": {
            "userManaged": {
                "replicas": [
                    {"location": "europe-west4", "customerManagedEncryption": {"kmsKeyName": KEY}},
                    {
                        "location": "europe-west1",
                        "customerManagedEncryption": {"kmsKeyName": KEY.replace("west4", "west1")},
                    },
                ]
            }
        },
    },
    "gcp:secretmanager/secretVersion:SecretVersion": {"secret": "projects/acme-ml/secrets/token", "secretData": "x"},
    "gcp:dns/managedZone:ManagedZone": {
        "dnsName": "_acme-challenge.acme.example.",
        "visibility": "private",
        "privateVisibilityConfig": {"networks": [{"networkUrl": "projects/acme-ml/global/networks/vpc"}]},
    },
    "gcp:compute/forwardingRule:ForwardingRule": {
        "name": "partner",
        "region": "europe-west4",
        "loadBalancingScheme": "",
        "target": "projects/partner/regions/europe-west4/serviceAttachments/api",
    },
    "gcp:compute/securityPolicy:SecurityPolicy": {
        "name": "armor",
        "rules": [
            {
                "action": "allow",
                "priority": 2147483647,
                "match": {"versionedExpr": "SRC_IPS_V1", "config": {"srcIpRanges": ["*"]}},
            }
        ],
    },
    "gcp:serviceaccount/iAMMember:IAMMember": {
        "serviceAccountId": "projects/acme-ml/serviceAccounts/mlflow@acme-ml.iam.gserviceaccount.com",
        "role": "roles/iam.workloadIdentityUser",
        "member": "serviceAccount:acme-ml.svc.id.goog[mlflow/mlflow]",
    },
}
"""Right inputs of types that stacks may hold, by type."""

WRONG: list[tuple[str, str, Any, str]] = [
    ("gcp:artifactregistry/repository:Repository", "location", "europe-west4-a", "gcp-location"),
    ("gcp:artifactregistry/repository:Repository", "location", "Europe-West4", "gcp-location"),
    ("gcp:artifactregistry/repository:Repository", "format", "CONTAINER", "gcp-value"),
    ("gcp:artifactregistry/repository:Repository", "kmsKeyName", KEY.replace("west4", "west1"), "gcp-key-location"),
    ("gcp:artifactregistry/repository:Repository", "labels.Team", "vision", "gcp-label"),
    ("gcp:compute/disk:Disk", "zone", "europe-west4", "gcp-location"),
    ("gcp:compute/disk:Disk", "zone", "europe-west4-x", "gcp-location"),
    ("gcp:compute/instance:Instance", "machineType", "m5.large", "gke-machine"),
    ("gcp:compute/reservation:Reservation", "specificReservation.count", 0, "gcp-reservation"),
    (
        "gcp:compute/reservation:Reservation",
        "specificReservation.instanceProperties.machineType",
        "a3-ultra-8g",
        "gke-machine",
    ),
    ("gcp:compute/network:Network", "networkProfile", "europe-west4-vpc-roce", "gcp-network-profile"),
    ("gcp:logging/metric:Metric", "metricDescriptor.metricKind", "GAUGE", "gcp-metric"),
    ("gcp:logging/metric:Metric", "labelExtractors.node", "EXTRACT(a)", "gcp-metric"),
    ("gcp:logging/metric:Metric", "labelExtractors.pod", "resource.labels.pod_name", "gcp-metric"),
    ("gcp:logging/metric:Metric", "filter", 'severity>=ERRORS AND a="b"', "gcp-log-filter"),
    ("gcp:logging/metric:Metric", "filter", 'severity>=ERROR and a="b"', "gcp-log-filter"),
    ("gcp:logging/metric:Metric", "filter", 'severity>=ERROR AND a="b', "gcp-log-filter"),
    ("gcp:logging/projectSink:ProjectSink", "destination", "gs://audit", "gcp-sink"),
    ("gcp:logging/projectBucketConfig:ProjectBucketConfig", "retentionDays", 4000, "gcp-log-bucket"),
    ("gcp:monitoring/alertPolicy:AlertPolicy", f"{THRESHOLD}.duration", "5m", "gcp-form"),
    ("gcp:monitoring/alertPolicy:AlertPolicy", f"{THRESHOLD}.duration", "30s", "gcp-alert"),
    ("gcp:monitoring/alertPolicy:AlertPolicy", f"{THRESHOLD}.comparison", "GT", "gcp-value"),
    ("gcp:monitoring/alertPolicy:AlertPolicy", f"{THRESHOLD}.filter", "severity=ERROR", "gcp-alert"),
    ("gcp:monitoring/alertPolicy:AlertPolicy", "alertStrategy.autoClose", "60s", "gcp-alert"),
    ("gcp:monitoring/notificationChannel:NotificationChannel", "type", "Email", "gcp-channel"),
    ("gcp:monitoring/notificationChannel:NotificationChannel", "labels", {"channel": "#a"}, "gcp-channel"),
    ("gcp:pubsub/subscription:Subscription", "messageRetentionDuration", "7d", "gcp-form"),
    (
        "gcp:secretmanager/secret:Secret",
        "replication.userManaged.replicas[1].customerManagedEncryption.kmsKeyName",
        KEY,
        "gcp-key-location",
    ),
    ("gcp:secretmanager/secretVersion:SecretVersion", "secret", "token", "gcp-link"),
    ("gcp:dns/managedZone:ManagedZone", "visibility", "public", "gcp-dns"),
    ("gcp:compute/forwardingRule:ForwardingRule", "loadBalancingScheme", "INTERNALLY", "gcp-value"),
    ("gcp:compute/securityPolicy:SecurityPolicy", "rules[0].match.config.srcIpRanges", ["10.0.0.0/99"], "gcp-range"),
    ("gcp:serviceaccount/iAMMember:IAMMember", "role", "roles/storage.objectViewer", "gcp-role-resource"),
    ("gcp:serviceaccount/iAMMember:IAMMember", "role", "roles/iam.workloadIdentityUsers", "gcp-role"),
    ("gcp:serviceaccount/iAMMember:IAMMember", "member", "serviceAccount:mlflow", "gcp-member"),
    ("gcp:serviceaccount/iAMMember:IAMMember", "member", "group:x@acme-ml.iam.gserviceaccount.com", "gcp-member"),
]


def told(type_: str, inputs: dict[str, Any]) -> list[Any]:
    return check_values([resource(type_, "one", inputs)], CONTEXT)


@pytest.mark.parametrize("type_", RIGHT)
def test_what_is_right_is_not_told(type_: str) -> None:
    assert [str(finding) for finding in told(type_, RIGHT[type_])] == []


def test_an_empty_word_is_one_more_where_the_provider_is_written_by_hand() -> None:
    found = told("gcp:container/cluster:Cluster", {"name": "c", "location": "europe-west4", "datapathProvider": ""})
    assert ("gcp-value", "datapathProvider") in {(finding.rule, finding.path) for finding in found}


@pytest.mark.parametrize("row", WRONG, ids=lambda row: f"{row[0].rpartition(':')[2]}-{row[1]}-{str(row[2])[:30]}")
def test_what_is_wrong_is_told(row: tuple[str, str, Any, str]) -> None:
    type_, path, value, rule = row
    inputs = json.loads(json.dumps(RIGHT[type_]))
    found = check_values(changed([resource(type_, "one", inputs)], "one", path, value), CONTEXT)
    assert rule in {finding.rule for finding in found}, [str(finding) for finding in found]


@pytest.mark.parametrize(
    ("text", "right"), [("3600s", True), ("0.5s", True), ("30d", False), ("1h", False), ("-1s", False), ("60", False)]
)
def test_durations_are_seconds(text: str, right: bool) -> None:
    assert is_duration(text) is right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("2026-11-30T08:00:00Z", True),
        ("2026-11-30T08:00:00.123456789Z", True),
        ("2026-11-30T08:00:00+04:00", True),
        ("2026-11-30", False),
        ("2026-13-30T08:00:00Z", False),
        ("2026-11-30T08:00:00", False),
    ],
)
def test_moments_have_a_zone(text: str, right: bool) -> None:
    assert is_moment(text) is right


def test_the_provider_is_described_with_source_and_date() -> None:
    content = json.loads(files("trainyard.rehearsal.refusals").joinpath("data", "gcp_values.json").read_text())
    assert re.fullmatch(r"magic-modules \w+ of \d{4}-\d\d-\d\d and pulumi_gcp \d+\.\d+\.\d+", content["provider"])
    described = [limits for of in content["limits"].values() for limits in of.values()]
    assert len(described) > 600
    for limits in described:
        re.compile(limits.get("like", ""))
        assert limits.get("form", "asn") in (*FORMS, "asn")


def test_roles_have_a_source_and_hold_what_stacks_grant() -> None:
    content = json.loads(files("trainyard.rehearsal.refusals").joinpath("data", "gcp_roles.json").read_text())
    assert re.fullmatch(r"iam-dataset \w+ of \d{4}-\d\d-\d\d", content["source"])
    assert "objectUser" in content["roles"]["storage"] and "defaultNodeServiceAccount" in content["roles"]["container"]


@pytest.mark.parametrize(("after", "found"), [("own", set()), ("host", set()), (None, {"gcp-service-order"})])
def test_a_service_of_two_projects_is_waited_for_in_one(after: str | None, found: set[str]) -> None:
    """A network that says no project may be in either, as the provider says."""
    type_ = "gcp:projects/service:Service"
    on = {
        name: resource(type_, name, {"service": "compute.googleapis.com", "project": f"acme-{name}"})
        for name in ("host", "own")
    }
    network = resource("gcp:compute/network:Network", "vpc", {"autoCreateSubnetworks": False})
    network = replace(network, dependencies=(on[after].urn,) if after else ())
    subnet = resource(
        "gcp:compute/subnetwork:Subnetwork", "nodes", {"network": network.id, "ipCidrRange": "10.0.0.0/20"}
    )
    subnet = replace(subnet, dependencies=(network.urn, on["host"].urn))
    told = check_values([*on.values(), network, subnet], CONTEXT)
    assert {finding.rule for finding in told if finding.rule == "gcp-service-order"} == found


@pytest.mark.parametrize(
    ("change", "level"),
    [
        ("", "warning"),
        ("new project", "error"),
        ("there before", None),
        ("of another provider's project", None),
        ("of the provider's project", "warning"),
    ],
)
def test_only_in_a_project_of_the_stack_a_service_is_off_for_sure(change: str, level: str | None) -> None:
    on = resource("gcp:projects/service:Service", "on", {"service": "compute.googleapis.com", "project": "acme-ml"})
    on = replace(on, read=change == "there before")
    network = resource("gcp:compute/network:Network", "vpc", {"autoCreateSubnetworks": False})
    subnet = resource("gcp:compute/subnetwork:Subnetwork", "nodes", {"ipCidrRange": "10.0.0.0/20"})
    made = [on, replace(subnet, dependencies=(on.urn,))]
    if change == "new project":
        made.append(resource("gcp:organizations/project:Project", "ml", {"projectId": "acme-ml", "name": "ml"}))
    if change.endswith("provider's project"):
        project = "acme-other" if "another" in change else "acme-ml"
        provider = resource("pulumi:providers:gcp", "own", {"project": project})
        made.append(provider)
        network = replace(network, provider=f"{provider.urn}::own")
    told = check_values([*made, network], CONTEXT)
    assert {one.level for one in told if one.rule == "gcp-service-order"} == ({level} if level else set())


def test_words_are_as_they_are_written_in_a_program() -> None:
    """Descriptions have them in quotation marks, with spaces or with a dot at the end: no value has."""
    content = json.loads(files("trainyard.rehearsal.refusals").joinpath("data", "gcp_values.json").read_text())
    lists = {
        (type_, path): limits["in"]
        for type_, of in content["limits"].items()
        for path, limits in of.items()
        if "in" in limits
    }
    lists |= {
        (type_, path): words
        for type_, of in content["values"].items()
        for path, words in of.items()
        if isinstance(words, list)
    }
    odd = {key: words for key, words in lists.items() if not all(re.fullmatch(r"[\w/:.-]*\w", each) for each in words)}
    assert odd == {}


_TEMPLATE, _MANAGER = (
    "gcp:compute/instanceTemplate:InstanceTemplate",
    "gcp:compute/regionInstanceGroupManager:RegionInstanceGroupManager",
)


@pytest.mark.parametrize(
    ("type_", "inputs", "is_told"),
    [
        (_MANAGER, {"updatePolicy": {"instanceRedistributionType": "PROACTIVE"}}, False),
        (_MANAGER, {"updatePolicy": {"instanceRedistributionType": "NONE"}}, False),
        (_MANAGER, {"updatePolicy": {"instanceRedistributionType": "REACTIVE"}}, True),
        (_TEMPLATE, {"disks": [{"architecture": "X86_64"}]}, False),
        (_TEMPLATE, {"disks": [{"architecture": "x86_64"}]}, False),
        (_TEMPLATE, {"disks": [{"architecture": "AMD64"}]}, True),
    ],
)
def test_words_of_descriptions_are_taken_without_their_marks_and_capitals(type_, inputs, is_told) -> None:
    assert ("gcp-value" in {finding.rule for finding in told(type_, inputs)}) is is_told
