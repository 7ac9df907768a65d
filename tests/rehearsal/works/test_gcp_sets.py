"""The third and fourth set of mistakes of Google Cloud's resources: what tells each, and what is right beside the rules
that came of them.

| set | refused, told at first sight | accepted, told at first sight | told now | what is left |
| --- | --- | --- | --- | --- |
| third | 24 of 24 | 44 of 68 (65 %) | 84 of 92 | `WHY` |
| fourth | 12 of 13 | 30 of 52 (58 %) | 47 of 65 | `WHY` |

Three of the third and six of the fourth turned out to work; `WHY` says so of each.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from typing import Any, Final

import pytest

from tests.rehearsal.works import mistakes_gcp_fourth as fourth
from tests.rehearsal.works import mistakes_gcp_third as third
from tests.rehearsal.works.mistakes import DROP, Change, Recorded, both, edit, put
from tests.rehearsal.works.mistakes_gcp_sixty import (
    BUCKET,
    BUDGET,
    CLUSTER,
    FILESTORE,
    FIREWALL,
    LUSTRE,
    NAT,
    POLICY,
    POOL,
    STACK,
)
from tests.rehearsal.works.mistakes_gcp_third import ADDRESS, FOLDER, OF, SECRET, SUBNET, another
from tests.rehearsal.works.test_tired import ROOM_OF, findings
from tests.rehearsal.works.together import told_together
from trainyard.policies.pack import POLICIES
from trainyard.recorded.model import UNKNOWN, Finding, RecordedResource
from trainyard.recorded.read import UnknownInput
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.refusals.schema import check_schema
from trainyard.rehearsal.rehearse import Rehearsal
from trainyard.rehearsal.works.parts import play
from trainyard.rehearsal.works.references.gcp import named
from trainyard.review.policy_check.check import check_policies

THIRD: Final[Mapping[str, str]] = {
    "a taint's effect in Kubernetes' spelling": "gcp-value",
    "an unknown key of an accelerator": "unknown-key",
    "more GPUs than the machine has": "gke-accelerator",
    "a machine's GPU of another kind": "gke-accelerator",
    "a label that Kubernetes keeps for itself": "gke-node-label",
    "a range of pods that the subnet has not": "gke-ranges",
    "two secondary ranges of one name": "gcp-range-name",
    "flow logs of more than everything": "gcp-flow-sampling",
    "a firewall that allows and denies": "gcp-firewall",
    "sources on the way out": "flows-webhooks",
    "an encrypting key with an algorithm of signatures": "gcp-key-algorithm",
    "a key that is destroyed within the hour": "gcp-key-destroy",
    "soft deletion of three days": "gcs-soft-delete",
    "a storage class on its way up": "gcs-lifecycle",
    "a database of a tier that the edition has not": "gcp-sql-tier",
    "a database of odd memory": "gcp-sql-tier",
    "an alignment shorter than a minute": "gcp-alert",
    "a threshold on a budget's wrong basis": "gcp-value",
    "budget of no whole number": "gcp-budget",
    "a share of Filestore with a dash first": "gcp-filestore",
    "a file system's name with a dash": "gcp-lustre",
    "a record's name outside its zone": "gcp-dns",
    "a sink to a bucket by its name alone": "gcp-sink",
    "a workload pool of the number": "gke-workload-pool",
    "the key's right is at another key": "rights-key",
    "the key may only be decrypted with": "rights-key",
    "the log bucket's key for storage's agent": "rights-key",
    "the key's right for Compute Engine's default account": "rights-key",
    "the team's account in another namespace": "rights-binding-no-account",
    "workloads by the project's id instead of its number": "gcp-member",
    "workloads of another project's pool": "rights-binding-no-account",
    "the nodes' role that no longer writes metrics": "rights-nodes",
    "nodes may write images": "policy:node-role-with-workload-rights",
    "NAT with a port for each of 32 ways": "gcp-nat-ports",
    "NAT of another router": "reference-elsewhere",
    "webhooks from another range than the control plane's": "flows-webhooks",
    "webhooks allowed for a tag that no node has": "flows-webhooks",
    "the firewall of Lustre is off": "flows-managed-lustre",
    "Lustre's port in another protocol": "flows-managed-lustre",
    "Lustre lets in the range of pods alone": "reference-file-system",
    "Filestore lets in another subnet": "reference-file-system",
    "Filestore for reading": "reference-file-system",
    "nodes without private access to Google": "flows-google",
    "a zone of DNS that everybody sees": "gcp-dns",
    "an alias of everything of one level too many": "paths-names",
    "reserved nodes in a zone where the machines are not": "gke-machine-zone",
    "the label of DRANET is gone": "gke-fast-network",
    "the network's profile is gone": "gke-fast-network",
    "a driver that nobody installs": "machine-gpu-driver",
    "a taint of another key": "kueue-flavor-tolerations",
    "pods may have the node's account": "rights-no-workload-identity",
    "nodes of the network's default account": "policy:node-role-with-workload-rights",
    "the slice's topology of another count": "gke-tpu",
    "no node ever for the slice": "gke-tpu",
    "FUSE's driver is not installed": "machine-no-driver",
    "Lustre's driver is not installed": "reference-driver",
    "the metrics of GPUs are not collected": "programs-figure",
    "the window of maintenance is shorter than it may be in a month": "gke-maintenance",
    "old versions that nobody keeps count of": "gcs-lifecycle",
    "a rule by a prefix that no object has": "gcs-lifecycle",
    "logs of buckets to the bucket that they are of": "rights-access-logs",
    "nobody may deliver the logs of buckets": "rights-access-logs",
    "the budget counts another label's value": "programs-budget",
    "the budget of another project's number": "programs-budget",
    "thresholds in per cent": "gcp-budget",
    "the alert waits for its figure to fall": "programs-alert",
    "an alert of a resource that writes no such metric": "programs-alert",
    "an alert that names no channel": "programs-alert",
    "a mail address without its sign": "gcp-channel",
    "a channel that is of another project": "programs-alert",
    "the sink keeps only mistakes": "gcp-log-filter",
    "everything is excluded everywhere": "policy:objects-without-trail",
    "reads of another service are recorded": "policy:objects-without-trail",
    "a version that is off": "programs-switched-off",
    "the secret ends in a month": "gcp-secret",
    "the password of yesterday": "gcp-write-only",
    "a database without its network": "programs-database-network",
    "a database that does not grow": "gcp-sql-disk",
    "fourteen connections": "programs-connections",
    "the folder's right for objects' names alone": "rights-volume",
    "the metric counts what is no longer firing": "programs-filter",
    "the range of peering has no purpose": "paths-private-services",
    "a service that is not turned on": "rights-api-off",
    "the peering's range is a quarter": "paths-private-services",
}
FOURTH: Final[Mapping[str, str]] = {
    "an autoscaler's limits by zone and in total": "gke-counts",
    "spot nodes of a reservation": "gke-capacity",
    "a run without an end, queued": "gke-flex-start",
    "flex-start that repairs": "gke-flex-start",
    "nothing surges and nothing may be missing": "gke-upgrade",
    "a pool in a zone of another region": "gke-zone",
    "a boot disk's type that the machine has not": "gke-disk",
    "a range of the control plane that is a /24": "flows-webhooks",
    "a scope of upgrades that there is not": "gcp-value",
    "an account's id of two letters": "gcp-name",
    "a bucket in a zone": "gcp-key-location",
    "a throughput that Lustre has not": "gcp-lustre",
    "a key of another project": "reference-elsewhere",
    "a key of another place": "gcp-key-location",
    "nodes' account by a slip": "reference-elsewhere",
    "the pool of another cluster": "reference-elsewhere",
    "Lustre in another network": "reference-file-system",
    "Filestore in another network": "reference-file-system",
    "Lustre in another region": "gcp-key-location",
    "Filestore in another region": "gcp-key-location",
    "the database in another region": "gcp-region",
    "the data far from the GPUs": "policy:storage-without-environment-key",
    "the log bucket in another region": "policy:record-can-be-changed",
    "an exclusion that is off": "programs-switched-off",
    "logs kept for a day": "policy:logs-kept-too-short",
    "reads are recorded of a person less": "policy:objects-without-trail",
    "only writes are recorded": "policy:objects-without-trail",
    "silence of a day": "gcp-alert",
    "a metric of another kind": "programs-alert",
    "a rule by log of another method": "programs-filter",
    "a budget by quarter": "policy:budget-without-alerts",
    "a budget of one service": "gcp-budget",
    "a budget's channel by a slip": "reference-elsewhere",
    "a team's folder in the bucket of data": "rights-volume",
    "a folder's right of another folder": "rights-volume",
    "a right on objects by the bucket's name": "rights-volume",
    "an account of Kubernetes that nobody makes": "rights-binding-no-account",
    "the range of peering in another network": "paths-private-services",
    "a firewall that denies before it allows": "flows-kubelet",
    "NAT of one subnet's range by name": "flows-images",
    "a user by IAM with a password": "gcp-sql-user",
    "a zone of nearly Google's name": "gcp-dns",
    "nobody may use the disks' key": "rights-key",
    "a key for another purpose": "gcp-key-algorithm",
    "a compact placement in two zones": "gke-compact",
    "the slice in a zone that has none": "gke-machine-zone",
    "a reservation by another key": "gke-reservation",
}
WHY: Final[Mapping[str, str]] = {
    "a reservation that is consumed by any": "one that any machine may take may be there",
    "Lustre's agent may not read what is imported": "an import is asked for by people, not by a stack",
    "NAT for the nodes' range and no pods": "it works: pods go out by the address of their node",
    "the label of queued nodes is gone": "it works: GKE labels nodes of queued pools itself",
    "nodes whose GPUs are shared by time": "not held yet against what asks for more than one share",
    "checkpoints are moved to archive after a day": "it works, and costs more than it saves",
    "backups where the data may not be": "a stack without a rule of residency may keep its backups in any place",
    "a filter of a log with single quotes": "whether the query language takes them is not known here",
    "Lustre in a zone without GPUs": "it works, and the way between zones is paid for",
    "the exclusion keeps what it should not": "any filter is an exclusion somebody may want",
    "the mean of lines": "it works: the mean of a series that has a line is above zero",
    "a message's label that the resource has not": "keys of a resource's labels are not held against its type",
    "a right that ended": "a rehearsal has no date of its own",
    "the nodes' right to read images in another project": "images may be kept in another project",
    "jumbo frames on one side": "it works, with smaller frames",
    "one address of four": "it works: one address of the four answers for all",
    "a service that is switched off with the stack": "it works while the stack stands",
    "no room on the disk of the nodes": "it works: pods' files lie on the local SSDs",
    "a router of another network": "the network may be somebody else's, and ours wants no router",
    "a peering of another network": "the network may be of somebody else, to whom the stack gives a connection",
    "a subnet of one network, a cluster of another": "the network may be somebody else's, shared by several stacks",
    "the database's name in another instance": "the instance may be somebody else's, and ours for later",
    "the user of another instance": "the instance may be somebody else's, and ours for later",
    "nodes' account of another project": "other projects have accounts of the same names",
    "the sink's bucket in another place": "a bucket of that name may be in each place",
    "channels that are gone": "a program cannot name a resource that it does not make",
}

EVERY: Final = {**third.REFUSED, **third.SILENT, **fourth.REFUSED, **fourth.SILENT}
RULES: Final = {**THIRD, **FOURTH}


def told(resources: list[RecordedResource], rehearsal: Rehearsal, rule: str) -> list[Finding]:
    if rule == "unknown-key":
        return list(check_schema(resources, rehearsal.known.classes))
    return findings(resources, rehearsal, rule)


@pytest.mark.parametrize("name", RULES)
def test_a_mistake_is_told(rehearsed: Any, name: str) -> None:
    change, stack = EVERY[name]
    rehearsal, rule = rehearsed(stack), RULES[name]
    changed = change(list(rehearsal.known.resources))
    policy = rule.partition("policy:")[2]
    if policy:
        rules = [one for one in POLICIES if one.name == policy]
        report = check_policies(rehearsal.stack, changed, changed, rehearsal.settings, policies=rules)
        assert policy in {violation.policy for violation in report.violations}
    else:
        assert rule in {finding.rule for finding in told(changed, rehearsal, rule)}


def test_every_mistake_is_accounted_for() -> None:
    assert (len(third.REFUSED), len(third.SILENT), len(fourth.REFUSED), len(fourth.SILENT)) == (24, 68, 13, 52)
    assert set(RULES) | set(WHY) == set(EVERY) and not set(RULES) & set(WHY)
    assert set(ROOM_OF) >= {"reference", "rights", "programs", "paths", "flows", "machine"}


def test_a_key_that_a_block_does_not_have_is_told_in_every_block(rehearsed: Any) -> None:
    free, blocks = set(), 0
    rehearsal = rehearsed(STACK)
    for resource in rehearsal.known.resources:
        if not resource.type.startswith("gcp:") or resource.read:
            continue
        for path in _blocks(resource.inputs):
            (changed,) = edit(resource.type, resource.name, put(f"{path}.notAKey", "x"))([resource])
            found = {one.path for one in check_schema([changed], rehearsal.known.classes) if one.rule == "unknown-key"}
            blocks += 1
            if f"{path}.notAKey" not in found:
                free.add(path.rpartition(".")[2])
    assert blocks > 300
    assert free == {"labels", "labelExtractors", "metadata", "resourceLabels", "userLabels"}


def _blocks(value: Any, path: str = "") -> list[str]:
    if isinstance(value, Mapping):
        inner = [one for key, item in value.items() for one in _blocks(item, f"{path}.{key}" if path else str(key))]
        return [path, *inner] if path else inner
    if isinstance(value, list):
        return [one for index, item in enumerate(value) for one in _blocks(item, f"{path}[{index}]")]
    return []


def _all_pools(*into: Any) -> Change:
    def change(resources: Any) -> list[RecordedResource]:
        names = [item.name for item in resources if item.type == POOL]
        return both(*(edit(POOL, name, *into) for name in names))(resources)

    return change


def added_gcp(type_: str, /, **inputs: Any) -> Change:
    """Adds a resource that a program would make."""
    return lambda resources: [
        *resources,
        RecordedResource(
            f"urn:pulumi:x::trainyard::{type_}::more", type_, "more", "", "", True, "p::p", inputs, id="m"
        ),
    ]


RIGHT: Final[Mapping[str, Change]] = {
    "webhooks for a tag of the nodes": both(
        _all_pools(put("nodeConfig.tags", ["ml-nodes"])),
        edit(FIREWALL, "network-webhooks", put("targetTags", ["ml-nodes", "other"])),
    ),
    "webhooks for the nodes' account": edit(
        FIREWALL, "network-webhooks", put("targetServiceAccounts", [f"{OF}-nodes@northwind-ml.iam.gserviceaccount.com"])
    ),
    "webhooks for GKE's own tag": edit(FIREWALL, "network-webhooks", put("targetTags", [f"gke-{OF}-1a2b3c4d-node"])),
    "an export for everybody": edit(FILESTORE, f"{OF}-shared", put("fileShares.nfsExportOptions", DROP)),
    "an export to read beside one to write": edit(
        FILESTORE,
        f"{OF}-shared",
        put("fileShares.nfsExportOptions[1]", {"ipRanges": ["10.9.0.0/24"], "accessMode": "READ_ONLY"}),
    ),
    "a NAT of somebody else's router beside our own": another(NAT, "network-nat", router="interconnect", name="n2"),
    "a range with just room": edit(ADDRESS, "network-private-services", put("prefixLength", 22)),
    "a class that is paid for": edit(
        BUCKET,
        f"{OF}-artifacts",
        put("lifecycleRules[3]", {"action": {"type": "Delete"}, "condition": {"age": 365, "withState": "LIVE"}}),
    ),
    "a rule by a prefix": edit(
        BUCKET, f"{OF}-artifacts", put("lifecycleRules[1].condition.matchesPrefixes", ["teams/", "mlflow/runs"])
    ),
    "a secret that nobody gave a version": another(SECRET, f"{OF}-mlflow-password", secretId="once", ttl="86400s"),
    "an alert to one channel": edit(
        POLICY,
        "alert-policies-alerts",
        put("notificationChannels", ["alert-policies-finance@northwind.example-ffd9c680"]),
    ),
    "what a message may say": edit(
        POLICY,
        "alert-policies-alerts",
        put("documentation.content", "${policy.display_name} ${condition.name} ${resource.label.pod_name} ${project}"),
    ),
    "a budget of one service by its number": edit(
        BUDGET, "budget-budget", put("budgetFilter.services", ["services/6F81-5844-456A"])
    ),
    "figures of GPUs where nothing is said": edit(
        CLUSTER, "cluster-cluster", put("monitoringConfig.enableComponents", DROP)
    ),
    "Lustre lets in a wider range": edit(
        LUSTRE, f"{OF}-lustre", put("accessRulesOptions.accessRules[0].ipAddressRanges", ["10.0.0.0/19"])
    ),
    "a share for machines beside the cluster": another(
        FILESTORE,
        f"{OF}-shared",
        name="for-desks",
        fileShares={"name": "home", "capacityGb": 1024, "nfsExportOptions": [{"ipRanges": ["10.9.0.0/24"]}]},
    ),
    "a folder of another bucket of somebody's": another(FOLDER, "team-foundation-checkpoints", bucket="lab-results"),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_believed(rehearsed: Any, name: str) -> None:
    rehearsal = rehearsed(STACK)

    def judged(resources: Recorded) -> list[str]:
        return [str(one) for one in findings(list(resources), rehearsal)]

    assert told_together(__name__, name, rehearsal.known.resources, RIGHT, judged) == []


OTHERS: Final[Mapping[str, Change]] = {
    "a network by the project's number": both(
        edit(LUSTRE, f"{OF}-lustre", put("network", "projects/123456789012/global/networks/network-vpc")),
        edit(
            FILESTORE, f"{OF}-shared", put("networks[0].network", "projects/123456789012/global/networks/network-vpc")
        ),
        edit(ADDRESS, "network-private-services", put("network", "projects/123456789012/global/networks/network-vpc")),
    ),
    "a peering with a network that is called as ours": added_gcp(
        "gcp:compute/networkPeering:NetworkPeering",
        network="projects/northwind-ml/global/networks/network-vpc",
        peerNetwork="projects/hub/global/networks/network-vpc",
    ),
    "a key of the same name in another region": added_gcp(
        "gcp:artifactregistry/repository:Repository",
        repositoryId="replica",
        format="DOCKER",
        location="us-west1",
        kmsKeyName=f"projects/northwind-ml/locations/us-west1/keyRings/{OF}-keys/cryptoKeys/{OF}-data",
    ),
    "a delegation in the zone above, which others made": both(
        added_gcp("gcp:dns/managedZone:ManagedZone", name="child", dnsName="ml.northwind.example.", description="d"),
        added_gcp(
            "gcp:dns/recordSet:RecordSet",
            name="ml.northwind.example.",
            managedZone="northwind-parent",
            type="NS",
            ttl=300,
            rrdatas=["ns-cloud-a1.googledomains.com."],
        ),
    ),
    "a subscription to a topic of everybody's": both(
        added_gcp("gcp:pubsub/topic:Topic", name="own"),
        added_gcp("gcp:pubsub/subscription:Subscription", name="s", topic="projects/hub/topics/shared-events"),
    ),
    "a version of a secret that is there": both(
        added_gcp("gcp:secretmanager/secret:Secret", secretId="own", replication={"auto": {}}),
        added_gcp(
            "gcp:secretmanager/secretVersion:SecretVersion",
            secret="projects/hub/secrets/others",
            secretDataWo="x",
            secretDataWoVersion=1,
        ),
    ),
    "an account that is called as ours in another project": added_gcp(
        "gcp:cloudscheduler/job:Job",
        name="nightly",
        region="us-east4",
        schedule="0 3 * * *",
        httpTarget={
            "uri": "https://example.com",
            "oidcToken": {"serviceAccountEmail": f"{OF}-nodes@shared-ci.iam.gserviceaccount.com"},
        },
    ),
}
"""Things that others make, beside the stack's own. Which APIs they want is not what is asked here."""


@pytest.mark.parametrize("name", OTHERS)
def test_what_others_make_is_believed(rehearsed: Any, name: str) -> None:
    rehearsal = rehearsed(STACK)
    found = findings(OTHERS[name](list(rehearsal.known.resources)), rehearsal)
    assert [str(one) for one in found if one.rule.startswith(("reference-", "paths-private"))] == []


def test_many_secrets_of_others_are_compared_in_a_moment() -> None:
    def secret(index: int, of: str) -> RecordedResource:
        name, type_ = f"projects/p1-{of}/secrets/{_word(index)}-{of}", "gcp:secretmanager/secret:Secret"
        return RecordedResource(f"urn:{name}", type_, f"{of}{index}", "", "", True, "p::p", {"secretId": "s"}, id=name)

    def reader(index: int) -> RecordedResource:
        inputs = {"secret": f"projects/p1-own/secrets/{_word(index)}-far"}
        type_ = "gcp:secretmanager/secretIamMember:SecretIamMember"
        return RecordedResource(f"urn:r{index}", type_, f"r{index}", "", "", True, "p::p", inputs, id=f"r{index}")

    made = [secret(index, "own") for index in range(400)]
    before = time.process_time()
    named.check(Stack([*made, *(reader(index) for index in range(400))], ValueContext("1.35", "")))
    assert time.process_time() - before < 5


def _word(index: int) -> str:
    return hashlib.sha256(str(index).encode()).hexdigest()[:12]


def test_a_range_that_is_not_known_yet_silences_no_other_part(rehearsed: Any) -> None:
    change, _ = EVERY["nodes' account by a slip"]
    rehearsal = rehearsed(STACK)
    changed = both(change, edit(SUBNET, "network-nodes", put("ipCidrRange", UNKNOWN)))(list(rehearsal.known.resources))
    assert "reference-elsewhere" in {one.rule for one in findings(changed, rehearsal, "reference-elsewhere")}


def test_what_a_part_cannot_read_is_told_when_the_others_have_spoken() -> None:
    spoke = list[str]()

    def cannot(_: str) -> None:
        raise UnknownInput(["a"])

    with pytest.raises(UnknownInput):
        play([cannot, spoke.append, cannot], "it")
    assert spoke == ["it"]
