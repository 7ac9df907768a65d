"""The ninth to eleventh set of mistakes of Google Cloud's resources, our own components changed: what tells each, and
what is right beside the rules that came of them.

| set | refused, told at first sight | accepted, told at first sight | told now | what is left |
| --- | --- | --- | --- | --- |
| ninth | 13 of 18 (72 %) | 22 of 26 (85 %) | 44 of 44 | nothing |
| tenth | 9 of 10 (90 %) | 9 of 16 (56 %) | 26 of 26 | nothing |
| eleventh | 6 of 7 (86 %) | 4 of 10 (40 %) | 16 of 17 | one that cannot be known, which says why |
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from tests.rehearsal.works import mistakes_gcp_eleventh as eleventh
from tests.rehearsal.works import mistakes_gcp_ninth as ninth
from tests.rehearsal.works import mistakes_gcp_tenth as tenth
from tests.rehearsal.works.aws_changes import refer
from tests.rehearsal.works.mistakes import Change, Mistake, Recorded, both, context_of, drop, edit, one_by_one, put
from tests.rehearsal.works.mistakes_gcp_ninth import (
    ACCOUNT,
    API,
    BUCKET,
    CACHE,
    CLUSTER,
    DEMO,
    FABRIC,
    FIREWALL,
    IMAGES,
    LARGE,
    METRIC,
    ON_BUCKET,
    ON_FOLDER,
    POLICY,
    RECORD,
    ROLE,
    RUN,
    SMALL,
    SUBNET,
    VOLUME,
    less,
    made,
    more,
)
from tests.rehearsal.works.together import told_together
from tests.shared import ROOT
from tests.stacks.test_fabric_networks import GCP
from trainyard.policies.pack import POLICIES
from trainyard.recorded.model import UNKNOWN, Finding
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.rehearse import Rehearsal, rehearse
from trainyard.rehearsal.works.check import check_works
from trainyard.review.policy_check.check import check_policies

VARIANTS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    RUN: (SMALL, {"trainyard:managed": {"trackedBy": "mlflow"}}),
    FABRIC: (LARGE, {"trainyard:gcp": GCP}),
    CACHE: (DEMO, {"images": {"cache": True}}),
}
"""Example stacks with other settings: what they are of, and what is set."""
EVERY: Final = tuple(
    one for which in (ninth, tenth, eleventh) for one in (*which.REFUSED, *which.SILENT) if one.rule is not None
)


@pytest.fixture
def of(rehearsed: Any, shared_things: Any) -> Callable[[str], Rehearsal]:
    """A stack by its name, or one of the variants."""

    def varied(name: str) -> Rehearsal:
        stack, changed = VARIANTS[name]
        return rehearse(ROOT, stack, config_overrides=changed)

    return lambda name: shared_things.kept(name, lambda: varied(name)) if name in VARIANTS else rehearsed(name)


def found(resources: Recorded, rehearsal: Rehearsal) -> list[Finding]:
    """What values and rooms say of them, as of a stack of ours."""
    context = replace(context_of(rehearsal), ours=True)
    return [*check_values(resources, context), *check_works(resources, context)]


@pytest.mark.parametrize("mistake", EVERY, ids=lambda mistake: mistake.name)
def test_a_mistake_is_told(of: Callable[[str], Rehearsal], mistake: Mistake) -> None:
    rehearsal = of(mistake.stack)
    changed = mistake.change(list(rehearsal.known.resources))
    kind, _, name = str(mistake.rule).rpartition(":")
    if kind == "policy":
        rules = [one for one in POLICIES if one.name == name]
        report = check_policies(rehearsal.stack, changed, changed, rehearsal.settings, policies=rules)
        assert name in {violation.policy for violation in report.violations}
    else:
        context = replace(context_of(rehearsal), ours=True)
        said = one_by_one(changed, context, name, values=True, sound=rehearsal.known.resources)
        assert any(name in {finding.rule for finding in told} for told in said)


def again(type_: str, name: str, new: str, /, **inputs: Any) -> Change:
    """The same once more, a little otherwise."""

    def change(resources: Recorded) -> list[Any]:
        (one,) = [each for each in resources if (each.type, each.name) == (type_, name)]
        urn = f"{one.urn.rpartition('::')[0]}::{new}"
        twin = replace(
            one, name=new, urn=urn, id=f"{new}-1", outputs={}, inputs={**copy.deepcopy(dict(one.inputs)), **inputs}
        )
        return [*resources, twin]

    return change


def elsewhere(type_: str, name: str) -> Change:
    """Made by another provider."""

    def change(resources: Recorded) -> list[Any]:
        return [
            replace(one, provider=f"{one.provider}-other") if (one.type, one.name) == (type_, name) else one
            for one in resources
        ]

    return change


GROUP: Final = "group:research@hooli.example"
FOLDERS: Final = "gcp:storage/managedFolder:ManagedFolder"
NOTIFICATION: Final = "gcp:storage/notification:Notification"
FORECASTS: Final = "volumes-forecasting-home-volume"
OLD: Final = "acme-demo-gcp-checkpoints"
MINE: Final = {"matchesPrefixes": ["teams/vision/old/"], "daysSinceNoncurrentTime": 7, "withState": "ARCHIVED"}

OF_WHAT_IS_ADDED: Final = ("gcp-service-order",)
"""What is said of a resource that the tests add by themselves."""
JOBS: Final = "serviceAccount:hooli-research-jobs@hooli-research.iam.gserviceaccount.com"
TOLD: Final = both(
    made(tenth.TOPIC, "told", ninth.BUDGET, {"name": "told", "project": "acme-ml"}),
    made(tenth.SUBSCRIPTION, "told", ninth.BUDGET, {
        "name": "told", "topic": "projects/acme-ml/topics/told", "project": "acme-ml"}),
    made(API, "services-pubsub", API, {"service": "pubsub.googleapis.com", "disableOnDestroy": False}),
)  # fmt: skip
"""A topic that is kept."""


def told_of(lines: str) -> Change:
    """An alert on other lines."""
    return edit(
        POLICY,
        "record-alarms-rights",
        lambda inputs: inputs["conditions"][0]["conditionMatchedLog"].update(filter=lines),
    )


RIGHT: Final[Mapping[str, tuple[Change, str]]] = {
    **ninth.HEALTHY,
    **tenth.HEALTHY,
    "images of Maven's": (
        made(IMAGES, "jars", CLUSTER, {
            "location": "us-central1", "repositoryId": "jars", "project": "acme-ml", "format": "MAVEN",
            "mavenConfig": {"versionPolicy": "RELEASE"}}), DEMO),
    "a subnet of both kinds of addresses": (
        edit(SUBNET, "network-nodes", put("stackType", "IPV4_IPV6"), put("ipv6AccessType", "INTERNAL")), DEMO),
    "a stack that is not known yet": (
        edit(SUBNET, "network-nodes", put("stackType", UNKNOWN), put("ipv6AccessType", "INTERNAL")), DEMO),
    "a metric of the same name by another provider": (
        both(again(METRIC, "alert-metrics-watchdog", "watchdog-elsewhere"), elsewhere(METRIC, "watchdog-elsewhere")),
        DEMO),
    "a folder of the same name in another bucket": (
        again(FOLDERS, "team-vision-checkpoints", "of-data", bucket="acme-demo-gcp-data-aa563e44"), DEMO),
    "a name of texts beside its address": (
        again(RECORD, "google-apis-private", "texts", type="TXT", rrdatas=['"v=1"']), DEMO),
    "the same name in another zone": (
        again(RECORD, "google-apis-private", "elsewhere", name="*.googleapis.com.", managedZone="somebody-elses"),
        DEMO),
    "ranges of another network": (
        both(made("gcp:compute/network:Network", "lab", CLUSTER, {"name": "lab", "autoCreateSubnetworks": False}),
             made(SUBNET, "lab", CLUSTER, {
                 "name": "lab", "ipCidrRange": "10.0.0.0/20", "region": "us-central1", "privateIpGoogleAccess": True}),
             refer(SUBNET, "lab", "network", "gcp:compute/network:Network", "lab")), DEMO),
    "old versions of one team": (edit(BUCKET, OLD, more("lifecycleRules", {
        "action": {"type": "Delete"}, "condition": MINE})), DEMO),
    "old versions of all teams": (edit(BUCKET, OLD, more("lifecycleRules", {
        "action": {"type": "Delete"}, "condition": {**MINE, "matchesPrefixes": ["teams/", "scratch/"]}})), DEMO),
    "a prefix where everybody may write": (edit(BUCKET, "acme-demo-gcp-data", more("lifecycleRules", {
        "action": {"type": "Delete"}, "condition": {**MINE, "matchesPrefixes": ["raw/"]}})), DEMO),
    "people who only look": (
        both(again(ROLE, "managed-people", "lookers", roleId="lookers", permissions=["aiplatform.customJobs.get"]),
             again("gcp:projects/iAMMember:IAMMember", f"managed-{GROUP[6:]}", "lookers",
                   member="group:audit@hooli.example", role="projects/hooli-research/roles/lookers")), SMALL),
    "a handle that is the same, of the same folder": (
        edit(VOLUME, FORECASTS, put("spec.csi.volumeHandle",
                                    "modeInstance/us-east4/northwind-production-shared-71f7b3cc/home-f")), LARGE),
    "all private addresses let in to second interfaces": (
        edit(FIREWALL, "fabric-networks-gvnic-inside", put("sourceRanges", ["10.0.0.0/8"])), FABRIC),
    "an account of another project in a filter": (
        edit(POLICY, "managed-jobs-foreign",
             tenth.filtered_otherwise("hooli-research-jobs@hooli-research.", "hooli-research-job@hooli-other.")),
        SMALL),
    "somebody exempt by name": (
        edit(eleventh.AUDIT, "record-cloudkms", put("auditLogConfigs[1].exemptedMembers", ["user:ann@acme.example"])),
        DEMO),
    "lines of jobs by their own kind": (
        edit(POLICY, "managed-jobs-failed", tenth.filtered_otherwise("severity>=ERROR", "severity>=CRITICAL")), SMALL),
    "homes of somebody else's file system": (
        edit(VOLUME, FORECASTS, put("spec.csi.volumeAttributes.ip", "172.30.7.9")), LARGE),
    "a sink to a bucket of another project": (
        edit(ninth.SINK, "record-sink", put(
            "destination", "logging.googleapis.com/projects/central/locations/us-east1/buckets/acme-demo-gcp")), DEMO),
    "the account that imports packages, on a bucket": (
        again(ON_BUCKET, "acme-demo-gcp-data-counted", "imported",
              member="serviceAccount:service-123456789012@gcp-sa-artifactregistry.iam.gserviceaccount.com"), DEMO),
    "the account of Memorystore, which exports, on a bucket": (
        again(ON_BUCKET, "acme-demo-gcp-data-counted", "exported",
              member="serviceAccount:service-123456789012@cloud-redis.iam.gserviceaccount.com"), DEMO),
    "lines of a topic by its whole name": (
        both(TOLD, told_of('resource.type="pubsub_topic" AND resource.labels.topic_id="projects/acme-ml/topics/told"')),
        DEMO),
    "jobs that write below a folder of their own": (
        both(drop(ON_BUCKET, "managed-jobs-checkpoints"),
             made(ON_FOLDER, "jobs", ACCOUNT, {
                 "bucket": "hooli-research-checkpoints-96edf73e", "managedFolder": "jobs/",
                 "role": "roles/storage.objectUser", "member": JOBS})), SMALL),
    "clusters, and the APIs that these switch on": (
        both(drop(API, "services-compute"), drop(API, "services-iam")), DEMO),
    "a cache of what nobody needs yet": (
        again(IMAGES, "images-acme-demo-gcp-hub", "gitlab", repositoryId="acme-demo-gcp-gitlab"), CACHE),
}  # fmt: skip


BEFORE: Final[dict[str, set[Finding]]] = {}
"""What is said of the stacks as they are."""


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_not_accused(of: Callable[[str], Rehearsal], name: str) -> None:
    _, stack = RIGHT[name]
    rehearsal = of(stack)
    if stack not in BEFORE:
        BEFORE[stack] = set(found(list(rehearsal.known.resources), rehearsal))

    def judged(resources: Recorded) -> list[Finding]:
        said = found(resources, rehearsal)
        return [one for one in said if one not in BEFORE[stack] and one.rule not in OF_WHAT_IS_ADDED]

    changes = {what: change for what, (change, of_stack) in RIGHT.items() if of_stack == stack}
    assert told_together((__name__, stack), name, rehearsal.known.resources, changes, judged) == []


@pytest.mark.parametrize("stack", VARIANTS)
def test_the_variants_are_sound(of: Callable[[str], Rehearsal], stack: str) -> None:
    rehearsal = of(stack)
    assert found(list(rehearsal.known.resources), rehearsal) == []


BESIDE: Final[Mapping[str, tuple[Change, str, str]]] = {
    "an account of the same name": (again(ACCOUNT, "cluster-nodes", "jobs"), DEMO, "reference-twice"),
    "a record of the same name and type": (again(RECORD, "google-apis-private", "more"), DEMO, "reference-twice"),
    "a folder of the same name": (again(FOLDERS, "team-vision-checkpoints", "more"), DEMO, "reference-twice"),
    "a CNAME of the zone's own name": (
        edit(RECORD, "google-apis-all", put("name", "googleapis.com.")), DEMO, "gcp-dns"),
    "a configuration of another format": (
        edit(IMAGES, "images-acme-demo-gcp-hub", put("mavenConfig", {"versionPolicy": "RELEASE"})), CACHE,
        "gcp-only-where"),
    "addresses of six of a subnet of four": (
        edit(SUBNET, "network-nodes", put("ipv6AccessType", "INTERNAL")), DEMO, "gcp-only-where"),
    "a topic by its full name": (
        edit(POLICY, "record-alarms-rights", lambda inputs: inputs["conditions"][0]["conditionMatchedLog"].update(
            filter='resource.type="gcs_bucket" AND resource.labels.bucket_name="b/acme-demo-gcp-data-aa563e44"')),
        DEMO, "programs-filter"),
    "no rule of the firewall for second interfaces": (
        drop(FIREWALL, "fabric-networks-gvnic-inside"), FABRIC, "reference-fabric-firewall"),
    "a notification of what nobody writes": (
        both(made(NOTIFICATION, "told", CLUSTER, {"payloadFormat": "JSON_API_V1", "objectNamePrefix": "runs/"}),
             refer(NOTIFICATION, "told", "bucket", BUCKET, OLD, "name")), DEMO, "rights-nobody-writes"),
    "a secret's agent on a bucket": (
        refer(ON_BUCKET, "acme-demo-gcp-data-counted", "member", "gcp:projects/serviceIdentity:ServiceIdentity",
              "services-secretmanager-agent", "member"), DEMO, "rights-of-no-use"),
}  # fmt: skip


@pytest.mark.parametrize("name", BESIDE)
def test_what_is_wrong_beside_it_is_told(of: Callable[[str], Rehearsal], name: str) -> None:
    change, stack, rule = BESIDE[name]
    rehearsal = of(stack)
    assert rule in {finding.rule for finding in found(change(list(rehearsal.known.resources)), rehearsal)}


LEVELS: Final[Mapping[str, tuple[Change, str, str, str]]] = {
    "a rule for other machines": (
        edit(FIREWALL, "fabric-networks-gvnic-inside", put("sourceRanges", ["10.0.0.0/20"])), FABRIC,
        "reference-fabric-firewall", "error"),
    "a rule for who comes by IAP, and perhaps another elsewhere": (
        edit(FIREWALL, "fabric-networks-gvnic-inside", put("sourceRanges", ["35.235.240.0/20"])), FABRIC,
        "reference-fabric-firewall", "warning"),
    "people who perhaps may by another group": (
        edit(ROLE, "managed-people", less("permissions", "aiplatform.customJobs.create")), SMALL, "rights-people",
        "warning"),
    "jobs that perhaps write each checkpoint once": (
        edit(ON_BUCKET, "managed-jobs-checkpoints", put("role", "roles/storage.objectCreator")), SMALL, "rights-job",
        "warning"),
    "figures of a topic by its whole name": (
        both(TOLD, told_of('metric.type="pubsub.googleapis.com/topic/send_request_count" AND '
                           'resource.type="pubsub_topic" AND resource.labels.topic_id="projects/acme-ml/topics/told"')),
        DEMO, "programs-filter", "error"),
}  # fmt: skip


@pytest.mark.parametrize("name", LEVELS)
def test_what_may_be_right_elsewhere_is_warned_of(of: Callable[[str], Rehearsal], name: str) -> None:
    change, stack, rule, level = LEVELS[name]
    rehearsal = of(stack)
    said = found(change(list(rehearsal.known.resources)), rehearsal)
    assert {finding.level for finding in said if finding.rule == rule} == {level}
