"""Every policy that has a meaning on Google Cloud catches a mutant of the components' own environment, and no unrelated
policy complains of it."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.components.gcp.environment import recorded
from tests.policies.test_mutants import judge, said_of_change
from trainyard.policies.pack import POLICIES
from trainyard.recorded.model import RecordedResource
from trainyard.review.policy_check.check import check_policies
from trainyard.review.policy_check.model import PolicyReport

SETTINGS = {"environment": "demo", "residency": "eu"}
WITHOUT_THE_CLUSTERS_OBJECTS = {
    "spot-pool-without-checkpoint-tier": "teams' volumes are objects of the cluster",
    "pool-without-smoke-job": "so are smoke jobs",
}
"""What these components alone cannot meet: the environment of this test has nothing on its cluster."""

Stack = Sequence[RecordedResource]
Change = Callable[[Any], None]


def report(preview: Stack, known: Stack) -> PolicyReport:
    return check_policies("demo-gcp", preview, known, SETTINGS)


@pytest.fixture(scope="module")
def runs() -> tuple[Stack, Stack]:
    return recorded(preview=True).resources, recorded().resources


@pytest.fixture(scope="module")
def sound(runs: tuple[Stack, Stack]) -> PolicyReport:
    return report(*runs)


def test_what_the_components_make_has_no_violation(sound: PolicyReport) -> None:
    found = [str(each) for each in sound.violations if each.policy not in WITHOUT_THE_CLUSTERS_OBJECTS]
    assert found == [] and sound.accepted == ()


def test_a_preview_says_undecided_of_members_alone(sound: PolicyReport) -> None:
    """Their e-mail addresses are outputs: the run in which everything is known judges them."""
    assert {each.policy for each in sound.undecided} <= {
        "resource-open-to-everybody", "trust-without-conditions", "other-account-in-charge",
        "key-changed-by-the-account",
    }  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    policy: str
    what: str
    name: str  # of the resource; "*…" for those that end so
    change: Change | None = None  # of its inputs
    fields: tuple[tuple[str, Any], ...] = ()  # of the resource itself


def put(path: str, value: Any) -> Change:
    def change(inputs: Any) -> None:
        *above, last = path.split(".")
        for part in above:
            inputs = inputs[int(part)] if part.isdigit() else inputs.setdefault(part, {})
        if value is None:
            inputs.pop(last, None)
        else:
            inputs[last] = value

    return change


CLUSTER, DATABASE, SPOT = "cluster-cluster", "acme-demo-mlflow", "gpu-nodes-tune-spot"
DATA, CHECKPOINTS, ARTIFACTS = "acme-demo-data", "acme-demo-checkpoints", "acme-demo-artifacts"
EVERYWHERE = {"cidrBlocks": [{"cidrBlock": "0.0.0.0/0"}]}
SETTING = "settings.ipConfiguration"

MUTANTS = [
    Mutant(
        "budget-without-alerts",
        "nobody is told",
        "budget-budget",
        put("allUpdatesRule.monitoringNotificationChannels", []),
    ),
    Mutant(
        "budget-without-alerts", "nothing is foreseen", "budget-budget", lambda inputs: inputs["thresholdRules"].pop()
    ),
    Mutant(
        "costed-resource-without-cost-tags",
        "a pool without labels",
        SPOT,
        put("nodeConfig.resourceLabels", {"pool": "tune"}),
    ),
    Mutant("costed-resource-without-cost-tags", "a database without", DATABASE, put("settings.userLabels", None)),
    Mutant(
        "costed-resource-without-cost-tags", "a provider without", "gcp", put("defaultLabels", '{"client": "acme"}')
    ),
    Mutant("gpu-pool-never-scales-down", "a node stays", SPOT, put("autoscaling.totalMinNodeCount", 1)),
    Mutant("lifecycle-deletes-newest-version", "live ones go", DATA, put("lifecycleRules.0.condition", {"age": 30})),
    Mutant(
        "lifecycle-deletes-newest-version",
        "one is kept",
        CHECKPOINTS,
        put("lifecycleRules.0.condition.numNewerVersions", 1),
    ),
    Mutant("bucket-without-versioning", "no versions", DATA, put("versioning.enabled", False)),
    Mutant(
        "artifact-versions-kept-too-short",
        "a week",
        ARTIFACTS,
        put("lifecycleRules.0.condition.daysSinceNoncurrentTime", 7),
    ),
    Mutant("stateful-resource-unprotected", "a bucket", DATA, fields=(("protect", False),)),
    Mutant("stateful-resource-unprotected", "the cluster", CLUSTER, put("deletionProtection", False)),
    Mutant("stateful-resource-unprotected", "emptied by a destroy", DATA, put("forceDestroy", True)),
    Mutant("database-without-backups", "none", DATABASE, put("settings.backupConfiguration.enabled", False)),
    Mutant("key-gone-before-its-data", "destroyed with the stack", "acme-demo-data", put("deletionPolicy", "DELETE")),
    Mutant("storage-without-environment-key", "a bucket by Google's", DATA, put("encryption", None)),
    Mutant("storage-without-environment-key", "nodes by Google's", SPOT, put("nodeConfig.bootDiskKmsKey", None)),
    Mutant(
        "storage-without-environment-key", "secrets in the clear", CLUSTER, put("databaseEncryption.state", "DECRYPTED")
    ),
    Mutant("key-without-rotation", "never", "acme-demo-data", put("rotationPeriod", None)),
    Mutant(
        "database-accepts-plain-connections",
        "in the clear",
        DATABASE,
        put(f"{SETTING}.sslMode", "ALLOW_UNENCRYPTED_AND_ENCRYPTED"),
    ),
    Mutant(
        "file-system-open-to-the-network",
        "root of any machine is root of scratch space",
        "acme-demo-lustre",
        put("accessRulesOptions", None),
    ),
    Mutant(
        "file-system-open-to-the-network",
        "squashed to root",
        "acme-demo-lustre",
        put("accessRulesOptions.defaultSquashUid", 0),
    ),
    Mutant(
        "file-system-open-to-the-network",
        "root of the whole network is root",
        "acme-demo-lustre",
        put("accessRulesOptions.accessRules.0.ipAddressRanges", ["10.0.0.0/8"]),
    ),
    Mutant(
        "file-system-open-to-the-network",
        "homes for whoever reaches the share",
        "acme-demo-shared",
        put("fileShares.nfsExportOptions", None),
    ),
    Mutant(
        "file-system-open-to-the-network",
        "homes for the whole network",
        "acme-demo-shared",
        put("fileShares.nfsExportOptions.0.ipRanges", ["10.0.0.0/8"]),
    ),
    Mutant(
        "file-system-without-backups",
        "a plan for homes that is another share's",
        "acme-demo-shared-backups",
        fields=(("property_dependencies", {}),),
    ),
    Mutant(
        "file-system-without-backups",
        "homes every Sunday",
        "acme-demo-shared-daily",
        put("backupRules.0.standardSchedule.recurrenceType", "WEEKLY"),
    ),
    Mutant(
        "file-system-without-backups",
        "homes for three days",
        "acme-demo-shared-daily",
        put("backupRules.0.backupRetentionDays", 3),
    ),
    Mutant(
        "storage-without-environment-key",
        "backups by Google's",
        "acme-demo-shared-vault",
        put("encryptionConfig", None),
    ),
    Mutant("storage-without-environment-key", "scratch by Google's", "acme-demo-lustre", put("kmsKey", None)),
    Mutant("storage-without-environment-key", "homes by Google's", "acme-demo-shared", put("kmsKeyName", None)),
    Mutant("stateful-resource-unprotected", "scratch", "acme-demo-lustre", fields=(("protect", False),)),
    Mutant("stateful-resource-unprotected", "homes", "acme-demo-shared", fields=(("protect", False),)),
    Mutant("public-bucket", "prevention is inherited", DATA, put("publicAccessPrevention", "inherited")),
    Mutant("public-database", "an address", DATABASE, put(f"{SETTING}.ipv4Enabled", True)),
    Mutant(
        "public-cluster-endpoint",
        "for the internet",
        CLUSTER,
        lambda inputs: inputs.update(
            privateClusterConfig={"enablePrivateNodes": True}, masterAuthorizedNetworksConfig=EVERYWHERE
        ),
    ),
    Mutant("public-cluster-endpoint", "public nodes", CLUSTER, put("privateClusterConfig.enablePrivateNodes", False)),
    Mutant(
        "security-group-open-to-internet",
        "webhooks for everybody",
        "network-webhooks",
        put("sourceRanges", ["0.0.0.0/0"]),
    ),
    Mutant("node-with-public-address", "one pool's", SPOT, put("networkConfig", {"enablePrivateNodes": False})),
    Mutant("resource-open-to-everybody", "the data", "team-vision-data", put("member", "allUsers")),
    Mutant("wildcard-admin", "nodes edit the project", "cluster-nodes-reader", put("role", "roles/editor")),
    Mutant(
        "privilege-on-any-resource",
        "nodes act as anybody",
        "cluster-nodes-reader",
        put("role", "roles/iam.serviceAccountUser"),
    ),
    Mutant(
        "trust-without-conditions",
        "a whole pool",
        "team-vision-data",
        put("member", "principalSet://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/github/*"),
    ),
    Mutant("long-lived-credentials", "a key file", "gcp", put("credentials", "key.json")),
    Mutant(
        "instance-metadata-v1",
        "the node's own server",
        SPOT,
        put("nodeConfig.workloadMetadataConfig.mode", "GCE_METADATA"),
    ),
    Mutant(
        "node-role-with-workload-rights",
        "data for all pods",
        "cluster-nodes-reader",
        put("role", "roles/storage.objectViewer"),
    ),
    Mutant("node-role-with-workload-rights", "the default account", SPOT, put("nodeConfig.serviceAccount", None)),
    Mutant(
        "kubelet-open-to-everybody",
        "the port",
        SPOT,
        put("nodeConfig.kubeletConfig.insecureKubeletReadonlyPortEnabled", "TRUE"),
    ),
    Mutant("network-policies-not-strict", "paper", CLUSTER, put("datapathProvider", "LEGACY_DATAPATH")),
    Mutant(
        "control-plane-logs-off",
        "no scheduler",
        CLUSTER,
        lambda inputs: inputs["loggingConfig"]["enableComponents"].remove("SCHEDULER"),
    ),
    Mutant("objects-without-trail", "no reads", "record-storage", lambda inputs: inputs["auditLogConfigs"].pop(1)),
    Mutant(
        "objects-without-trail",
        "not of everybody",
        "record-storage",
        lambda inputs: inputs["auditLogConfigs"][1].update(exemptedMembers=["user:a@b.c"]),
    ),
    Mutant("objects-without-trail", "of uses of keys", "record-cloudkms", put("auditLogConfigs", [])),
    Mutant("record-can-be-changed", "Google's key", "record-logs", put("cmekSettings", None)),
    Mutant("record-can-be-changed", "a week", "record-logs", put("retentionDays", 7)),
    Mutant("access-logs-can-be-deleted", "no retention", "acme-demo-logs", put("retentionPolicy", None)),
    Mutant("logs-outside-residency", "a part of them", "record-sink", put("filter", "severity>=ERROR")),
    Mutant("logs-outside-residency", "switched off", "record-sink", put("disabled", True)),
    Mutant("logs-outside-residency", "but for some", "record-sink", put("exclusions", [{"filter": "severity=INFO"}])),
    Mutant("logs-outside-residency", "everywhere", "record-logs", put("location", "global")),
    Mutant("logs-outside-residency", "in both places", "record-not-global", put("disabled", True)),
    Mutant("logs-outside-residency", "most in both", "record-not-global", put("filter", "severity<ERROR")),
    Mutant("rights-change-unnoticed", "off", "record-alarms-rights", put("enabled", False)),
    Mutant("rights-change-unnoticed", "nobody hears", "record-alarms-record", put("notificationChannels", None)),
    Mutant("unpinned-version", "any version", CLUSTER, put("minMasterVersion", None)),
    Mutant("flow-logs-incomplete", "none", "network-nodes", put("logConfig", None)),
    Mutant("region-outside-residency", "London", DATA, put("location", "europe-west2")),
    Mutant("region-outside-residency", "nodes in Iowa", SPOT, put("nodeLocations", ["us-central1-a"])),
    Mutant(
        "silently-global-resource",
        "backups of several regions",
        DATABASE,
        put("settings.backupConfiguration.location", None),
    ),
    Mutant(
        "placement-group-with-reservation",
        "a pool placed together",
        "gpu-nodes-train-reserved",
        put("placementPolicy", {"type": "COMPACT"}),
    ),
    Mutant("unsupported-kubernetes-version", "no channel", CLUSTER, put("releaseChannel.channel", "UNSPECIFIED")),
]

MEANT_TOO = {
    "nodes edit the project": {"node-role-with-workload-rights"},
    "nodes act as anybody": {"node-role-with-workload-rights"},
    "everywhere": {"region-outside-residency", "silently-global-resource"},
    "a week": {"logs-kept-too-short"},
    "no retention": {"bucket-without-versioning"},
    "data for all pods": {"privilege-on-any-resource"},
    "a part of them": {"objects-without-trail"},
    "switched off": {"objects-without-trail"},
    "but for some": {"objects-without-trail"},
}
"""What another policy rightly says of the same mistake."""


def mutated(mutant: Mutant, stack: Stack) -> list[RecordedResource]:
    found, hit = [], 0
    for resource in stack:
        concerned = resource.name == mutant.name and resource.custom and _is_meant(mutant, resource)
        if concerned:
            hit += 1
            inputs = copy.deepcopy(dict(resource.inputs))
            if mutant.change is not None:
                mutant.change(inputs)
            resource = replace(resource, inputs=inputs, **dict(mutant.fields))
        found.append(resource)
    assert hit, f"{mutant.name}: no such resource"
    return found


def _is_meant(mutant: Mutant, resource: RecordedResource) -> bool:
    """A key and a bucket of the same name are told apart by the policy."""
    if resource.type.startswith("gcp:kms/cryptoKey:"):
        return mutant.policy.startswith("key-")
    return not (mutant.policy.startswith("key-") and resource.type.startswith("gcp:storage/bucket:"))


@pytest.mark.parametrize("mutant", MUTANTS, ids=[f"{mutant.policy}: {mutant.what}" for mutant in MUTANTS])
def test_a_mutant_is_caught_by_its_policy_and_by_no_unrelated_one(
    mutant: Mutant, runs: tuple[Stack, Stack], sound: PolicyReport
) -> None:
    told = report(*(mutated(mutant, stack) for stack in runs))
    before = {(each.policy, each.urn, each.message) for each in sound.violations}
    new = [each for each in told.violations if (each.policy, each.urn, each.message) not in before]
    assert mutant.policy in {each.policy for each in new}
    allowed = {mutant.policy} | MEANT_TOO.get(mutant.what, set())
    assert [str(each) for each in new if each.policy not in allowed] == []


WHERE = {
    "nodes in Iowa": "eu-gcp",
    "a pool placed together": "large-gcp",
    **{
        mutant.what: "large-gcp"
        for mutant in MUTANTS
        if mutant.name.startswith(("acme-demo-lustre", "acme-demo-shared"))
    },
}
"""The example whose recording has what a mutant is of, where demo-gcp's has not: residency in Europe, a reservation."""
NAMES = {"demo-gcp": "acme-demo-gcp", "eu-gcp": "lumen-bio-production", "large-gcp": "northwind-production"}
"""Names of the environments, which begin the names of what they own; the components' own is acme-demo."""
RESIDENCIES = {"demo-gcp": {"residency": "us"}}
"""What is asked of an example that promises none: policies of residency have nothing to say of it otherwise."""


@pytest.fixture(scope="module")
def examples(rehearsed: Any) -> Callable[[str], tuple[Any, PolicyReport]]:
    """An example stack with what is asked of it, and what the whole pack says of it; each judged once."""
    done: dict[str, tuple[Any, PolicyReport]] = {}

    def of(stack: str) -> tuple[Any, PolicyReport]:
        if stack not in done:
            found = rehearsed(stack)
            found = replace(found, settings={**found.settings, **RESIDENCIES.get(stack, {})})
            done[stack] = found, judge(found)
        return done[stack]

    return of


@pytest.mark.parametrize("stack", NAMES)
def test_an_example_has_no_violation_and_no_exception(
    examples: Callable[[str], tuple[Any, PolicyReport]], stack: str
) -> None:
    _, told = examples(stack)
    assert [str(each) for each in told.violations] == [] and told.accepted == ()


@pytest.mark.parametrize("mutant", MUTANTS, ids=[f"{mutant.policy}: {mutant.what}" for mutant in MUTANTS])
def test_a_mutant_of_a_whole_stack_is_caught_too(
    mutant: Mutant, examples: Callable[[str], tuple[Any, PolicyReport]]
) -> None:
    """The same mistakes where everything else is there: no object of the cluster hides one, or is accused of it."""
    stack = WHERE.get(mutant.what, "demo-gcp")
    found, _ = examples(stack)
    meant = replace(mutant, name=re.sub(r"^acme-demo(?=-|$)", NAMES[stack], mutant.name))
    told = said_of_change(found, lambda run: mutated(meant, run))
    assert mutant.policy in {each.policy for each in told}
    allowed = {mutant.policy} | MEANT_TOO.get(mutant.what, set())
    assert [str(each) for each in told if each.policy not in allowed] == []


def test_every_policy_that_looks_at_google_cloud_is_tried() -> None:
    """By a mutant here, by a row of a truth table, or by the mutants of the neutral rooms."""
    neutral = {
        "ceiling-spend-over-budget", "gpu-model-outside-profile", "gpu-count-over-profile", "spot-share-below-target",
        "gpu-nodes-over-zones", "gang-only-on-spot", "idle-gpus-keep-running", "spot-pool-without-checkpoint-tier",
        "gpus-past-the-queue", "team-without-quotas", "gpus-by-a-variable", "quota-exceeds-pool",
        "owner-cannot-reclaim", "idle-jobs-keep-their-gpus", "team-images-from-anywhere",
        "pool-without-smoke-job", "state-outside-residency", "team-role-beyond-its-prefix", "logs-kept-too-short",
        "team-egress-reaches-network", "public-load-balancer",
        "platform-nodes-open-to-teams", "binding-to-everybody", "key-changed-by-the-account",
        "other-account-in-charge", "shared-with-another-account", "team-administers-cluster",
        "tracking-database-unchecked",
        "jobs-without-ceilings", "editor-never-stops", "public-editor",
        "service-without-sign-in", "secret-in-the-clear",
    }  # fmt: skip
    looking = {
        policy.name
        for policy in POLICIES
        if any(type_.startswith("gcp:") or type_ == "pulumi:providers:gcp" for type_ in policy.types)
    }
    assert looking - {mutant.policy for mutant in MUTANTS} - neutral == set()


OF_AWS_ALONE = {
    "lustre-without-durable-bucket": "the import from a bucket is a call of Managed Lustre's API, no resource",
    "volume-with-the-drivers-rights": "Cloud Storage FUSE acts as the pod that mounts; volumes are judged on any cloud",
    "team-writes-what-others-read": "likewise; the access point of EFS is a type of AWS",
    "key-shared-between-classes": "who reads a bucket needs no right on its key: Cloud Storage's agent decrypts",
    "key-use-not-bound-to-its-bucket": "likewise: the right on a key is the agent's",
    "bucket-accepts-plain-http": "Cloud Storage has no endpoint without TLS",
    "subnet-routed-to-the-internet": "a machine without a public address is not reached, whatever the route says",
    "team-rights-beyond-its-list": "RBAC is judged on any cloud; who is in a Google group no recording says",
    "binding-across-teams": "likewise",
    "person-of-several-teams": "likewise",
    "rights-that-lead-to-more": "likewise",
    "endpoint-without-policy": "private Google access has no policy; VPC Service Controls is the organisation's",
    "bucket-without-network-binding": "likewise",
    "bucket-without-owner-binding": "whom a bucket lets in is a list of members: there is nothing that denies the rest",
    "dns-open": "a response policy of Cloud DNS has no rule for every name (docs/security.md)",
    "cached-images-can-change": "tags are fixed where images are written; a remote repository only fetches",
    "alerts-reach-nobody": "the chart is judged on any cloud; a service that keeps a cluster's figures is AWS's alone",
    "figures-shorter-than-a-month": "likewise",
    "no-threat-detection": "Security Command Center is switched on for an organisation",
    "people-take-role-unnoticed": "people take no role: what they may is their group's",
    "cluster-creator-is-admin": "GKE gives whoever made a cluster nothing that IAM does not",
    "outdated-add-on": "GKE keeps its add-ons with the cluster's version",
    "idle-kernels-kept": "Colab Enterprise's idle shutdown needs no script: what it takes for work is Google's",
    "tracking-server-by-the-hour": "Vertex AI Experiments has no server that is paid for by the hour",
    "budget-blind-to-managed-training": "the budget of managed training is that of its project, whatever is labelled",
}
"""Policies that look at AWS and not at Google Cloud, each with the reason."""


def test_every_policy_that_is_silent_on_google_cloud_has_a_reason() -> None:
    silent = {
        policy.name
        for policy in POLICIES
        if any(type_.startswith("aws:") for type_ in policy.types)
        and not any(type_.startswith("gcp:") or type_ == "pulumi:providers:gcp" for type_ in policy.types)
    }
    assert silent == set(OF_AWS_ALONE)
