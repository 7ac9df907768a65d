"""The fifth and sixth set of mistakes of Google Cloud's resources: what tells each, and what is right beside the rules
that came of them.

| set | refused, told at first sight | accepted, told at first sight | told now | what is left |
| --- | --- | --- | --- | --- |
| fifth | 20 of 32 (63 %) | 10 of 32 (31 %) | 63 of 64 | `WHY` |
| sixth | 8 of 17 (47 %) | 6 of 15 (40 %) | 31 of 32 | `WHY` |

Three of the fifth that are refused were told at first sight for another reason, an API that is not switched on: they
count as missed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from tests.rehearsal.works import mistakes_gcp_fifth as fifth
from tests.rehearsal.works import mistakes_gcp_sixth as sixth
from tests.rehearsal.works.mistakes import Change, Recorded, both, context_of, edit, one_by_one, put
from tests.rehearsal.works.mistakes_gcp_fifth import (
    BACKUPS,
    IMAGES,
    ORG_POLICY,
    ROLE,
    SMALL,
    VAULT,
    made,
    scheduled,
    subscription,
)
from tests.rehearsal.works.mistakes_gcp_sixty import (
    BUCKET,
    CHANNEL,
    CLUSTER,
    FIREWALL,
    LUSTRE,
    METRIC,
    NAT,
    POLICY,
    POOL,
    SQL,
    STACK,
)
from tests.rehearsal.works.mistakes_gcp_third import OF, ON_BUCKET, SUBNET, TRAIN
from tests.rehearsal.works.together import told_together
from trainyard.policies.pack import POLICIES
from trainyard.recorded.model import UNKNOWN, Finding, RecordedResource
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.rehearse import Rehearsal
from trainyard.rehearsal.works.check import check_works
from trainyard.review.policy_check.check import check_policies

FIFTH: Final[Mapping[str, str]] = {
    "a router's number of somebody else's": "gcp-asn",
    "a subnet's role without its purpose": "gcp-subnet-purpose",
    "a range of one address for private services": "gcp-address",
    "a protocol of another layer": "gcp-firewall-protocol",
    "tags beside accounts in a rule": "gcp-firewall-target",
    "an address of six in a record of four": "gcp-dns",
    "a version with its letter": "gke-version",
    "weekdays of three letters": "gke-maintenance",
    "no upgrade at all for half a year": "gke-maintenance",
    "a range by its name and by its size": "gke-ranges",
    "what pods write without what the system writes": "gke-components",
    "a node's metadata that Kubernetes keeps": "gke-metadata",
    "images are cleared up from below to above": "gke-kubelet",
    "a kernel's key by a slip": "gke-sysctl",
    "fewer processes than a pod may be held to": "gke-kubelet",
    "a pool's name of too many letters": "gcp-name",
    "blue and green, that surges": "gke-upgrade",
    "classes by access, down to cold line": "gcp-value",
    "a day as it is written at home": "gcp-form",
    "MySQL's log in a database of PostgreSQL": "gcp-sql-backups",
    "MySQL's letters in a database of PostgreSQL": "gcp-sql-charset",
    "a secret's name with a dot": "gcp-name",
    "a permission that a project's role may not hold": "gcp-permission",
    "an equals sign too few": "gcp-condition",
    "a channel's key in other letters": "gcp-channel",
    "series are joined that are not aligned": "gcp-alert",
    "a window of backups of four hours": "gcp-backup",
    "a vault keeps longer than its plan": "gcp-backup",
    "a constraint that is enforced and has values": "gcp-org-policy",
    "a subscription that ends within the hour": "gcp-pubsub",
    "an hour that no day has": "gcp-schedule",
    "a zone of time that there is not": "gcp-schedule",
    "NAT between private networks": "flows-images",
    "NAT for gateways and no machine": "flows-images",
    "webhooks allowed to another account's machines": "flows-webhooks",
    "flow logs through a filter that nothing passes": "gcp-flow-logs",
    "Google's names are asked of the office": "gcp-dns",
    "the pods of eight a node": "gke-pods",
    "the system's nodes may go at any time": "machine-system-spot",
    "GPUs that never go to sleep": "policy:gpu-pool-never-scales-down",
    "nodes with an address of the internet": "policy:node-with-public-address",
    "services have another domain": "programs-cluster-domain",
    "nobody can tell whose the cost is": "programs-cost-allocation",
    "disks that nobody attaches": "reference-driver",
    "the nodes' account is switched off": "programs-switched-off",
    "a right of an account that was deleted": "programs-deleted-member",
    "a role that is switched off": "programs-switched-off",
    "a ceiling of another region": "policy:jobs-without-ceilings",
    "images in a repository that only passes on": "gcp-repository",
    "a key without a version": "programs-switched-off",
    "whoever reads the data pays, and says so": "programs-bucket",
    "checkpoints that are held for an event": "programs-bucket",
    "checkpoints kept three months after they are deleted": "programs-bucket",
    "old artifacts go by a time that nobody sets": "programs-bucket",
    "a database that is never on": "programs-switched-off",
    "a database for connectors alone": "programs-database",
    "a disk that may grow to less than it is": "gcp-sql-disk",
    "an alert when it is over": "programs-alert",
    "an alert of a hundred series at a time": "programs-alert",
    "a sink of a kind of thing that there is not": "policy:objects-without-trail",
    "a budget of what last month cost": "programs-budget",
    "Lustre on the port of old clusters": "programs-lustre-port",
    "a label that is read from another field": "programs-filter",
}
SIXTH: Final[Mapping[str, str]] = {
    "a cluster's name of too many letters": "gcp-name",
    "a platform of processors on a shared machine": "gke-processor",
    "confidential nodes of a machine that has none": "gke-confidential",
    "three threads of a core": "gke-processor",
    "a pool that does not follow its channel": "gke-upgrade",
    "pods in the range of services": "gke-ranges",
    "a private range that the internet may come from": "gcp-sql-networks",
    "parts of uploads by the state of their object": "gcs-lifecycle",
    "a regional secret everywhere": "gcp-key-location",
    "buckets of a number": "gcp-metric",
    "a rate of an alert by metric": "gcp-alert",
    "a budget of two periods": "gcp-budget",
    "a regional file system in a zone": "gcp-filestore",
    "a service by its short name": "gcp-service",
    "a role's id with dashes": "gcp-name",
    "a sink's name of two words": "gcp-name",
    "a name of an account that is a sentence": "gcp-length",
    "alerts' own lines are kept by nobody": "policy:objects-without-trail",
    "no figures are taken for bad ones": "programs-alert",
    "less than nothing": "programs-alert",
    "per cent as a share": "programs-alert",
    "training data in the archive": "programs-bucket",
    "GPUs behind the old interface": "gke-gvnic",
    "a key that is gone in a day": "policy:key-without-rotation",
    "a cluster that ends in a month": "gke-alpha",
    "everybody with a login is let in": "policy:binding-to-everybody",
    "a ceiling of another service": "gcp-quota",
    "a backup a year, kept a month": "policy:file-system-without-backups",
    "half of the nodes are let in to the homes": "reference-file-system",
    "half of the nodes are let in to Lustre": "reference-file-system",
    "a domain with two letters changed": "programs-channel",
}
WHY: Final[Mapping[str, str]] = {
    "twice as many addresses as pods": "it works: the range of pods is large enough for all nodes that may be",
    "flow logs of every packet, every five seconds": "benchmarks of security ask for that, and it is paid for",
}
EVERY: Final = {**fifth.REFUSED, **fifth.SILENT, **sixth.REFUSED, **sixth.SILENT}
RULES: Final = {**FIFTH, **SIXTH}

RIGHT: Final[Mapping[str, tuple[Change, str]]] = {
    "a rule by the protocol's number": (edit(FIREWALL, "network-webhooks", put("allows[0].protocol", "6")), STACK),
    "flow logs of some": (
        edit(SUBNET, "network-nodes", put("logConfig.filterExpr", "connection.dest_port == 443 || reporter == 'SRC'")),
        STACK,
    ),
    "a subnet of proxies beside the nodes'": (
        made(
            SUBNET,
            "proxies",
            region="us-east4",
            ipCidrRange="10.0.48.0/24",
            network="projects/northwind-ml/global/networks/other",
            purpose="REGIONAL_MANAGED_PROXY",
            role="ACTIVE",
        ),
        STACK,
    ),
    "NAT that says what it is": (
        edit(NAT, "network-nat", put("type", "PUBLIC"), put("endpointTypes", ["ENDPOINT_TYPE_VM"])),
        STACK,
    ),
    "blue and green, in its own words": (
        edit(
            POOL,
            "cluster-cpu",
            put(
                "upgradeSettings",
                {
                    "strategy": "BLUE_GREEN",
                    "blueGreenSettings": {
                        "nodePoolSoakDuration": "1800s",
                        "standardRolloutPolicy": {"batchPercentage": 0.5, "batchSoakDuration": "60s"},
                    },
                },
            ),
        ),
        STACK,
    ),
    "a kubelet that is told much": (
        edit(
            POOL,
            "cluster-cpu",
            put(
                "nodeConfig.kubeletConfig",
                {
                    "insecureKubeletReadonlyPortEnabled": "FALSE",
                    "podPidsLimit": 4096,
                    "imageGcHighThresholdPercent": 75,
                    "imageGcLowThresholdPercent": 60,
                    "imageMinimumGcAge": "1m30s",
                    "imageMaximumGcAge": "168h",
                    "cpuCfsQuotaPeriod": "0.1s",
                    "containerLogMaxSize": "100Mi",
                    "allowedUnsafeSysctls": ["net.ipv4.route.min_pmtu", "kernel.msg*"],
                    "evictionSoft": {"memoryAvailable": "500Mi", "nodefsAvailable": "20%"},
                    "evictionSoftGracePeriod": {"memoryAvailable": "1m30s", "nodefsAvailable": "2m"},
                    "evictionMinimumReclaim": {"memoryAvailable": "5%"},
                },
            ),
            put(
                "nodeConfig.linuxNodeConfig",
                {
                    "sysctls": {
                        "net.core.rmem_max": "134217728",
                        "net.ipv4.tcp_rmem": "4096 87380 134217728",
                        "net.ipv4.tcp_congestion_control": "bbr",
                        "vm.max_map_count": "262144",
                    }
                },
            ),
            put("nodeConfig.metadata.team-contact", "ml-platform"),
        ),
        STACK,
    ),
    "sixteen pods of a node": (edit(POOL, TRAIN, put("maxPodsPerNode", 32)), STACK),
    "spot nodes of nobody's system": (edit(POOL, "cluster-cpu", put("nodeConfig.spot", True)), STACK),
    "a domain beside the cluster's own": (
        edit(
            CLUSTER,
            "cluster-cluster",
            put(
                "dnsConfig",
                {
                    "clusterDns": "CLOUD_DNS",
                    "clusterDnsScope": "CLUSTER_SCOPE",
                    "additiveVpcScopeDnsDomain": "northwind.internal",
                },
            ),
        ),
        STACK,
    ),
    "a right under a condition": (
        edit(
            ON_BUCKET,
            "team-foundation-data",
            put(
                "condition",
                {
                    "title": "data",
                    "expression": 'resource.type == "storage.googleapis.com/Bucket" || '
                    'resource.name.startsWith("projects/_/buckets/northwind-production-data-d04bb20c")',
                },
            ),
        ),
        STACK,
    ),
    "a plan of weeks": (
        edit(
            BACKUPS,
            f"{OF}-shared-daily",
            put("backupRules[0].standardSchedule.recurrenceType", "WEEKLY"),
            put("backupRules[0].standardSchedule.daysOfWeeks", ["SUNDAY"]),
            put("backupRules[0].standardSchedule.timeZone", "Europe/Berlin"),
        ),
        STACK,
    ),
    "a vault that insists on what its plan keeps": (
        edit(VAULT, f"{OF}-shared-vault", put("backupMinimumEnforcedRetentionDuration", "3024000s")),
        STACK,
    ),
    "a constraint that is enforced": (
        made(
            ORG_POLICY,
            "no-keys",
            name="projects/northwind-ml/policies/iam.disableServiceAccountKeyCreation",
            parent="projects/northwind-ml",
            spec={"rules": [{"enforce": "TRUE"}]},
        ),
        STACK,
    ),
    "a subscription that never ends": (
        subscription(expirationPolicy={"ttl": ""}, messageRetentionDuration="604800s", ackDeadlineSeconds=60),
        STACK,
    ),
    "a job of the night": (
        scheduled({"schedule": "*/15 1-4 * * MON-FRI", "timeZone": "Asia/Dubai", "attemptDeadline": "320s"}),
        STACK,
    ),
    "a role that is tried": (edit(ROLE, "managed-jobs", put("stage", "BETA")), SMALL),
    "a repository that passes on what another holds": (
        made(
            IMAGES,
            "all-images",
            location="us-central1",
            repositoryId="all-images",
            format="DOCKER",
            mode="VIRTUAL_REPOSITORY",
            virtualRepositoryConfig={"upstreamPolicies": [{"id": "own", "repository": "projects/p/r", "priority": 1}]},
        ),
        SMALL,
    ),
    "a bucket of whom nobody here reads": (
        made(BUCKET, "public-sets", location="us-east4", name="northwind-sets", requesterPays=True),
        STACK,
    ),
    "records that are held, and deleted by nobody": (
        made(BUCKET, "records", location="us-east4", name="northwind-records", defaultEventBasedHold=True),
        STACK,
    ),
    "soft deletion of a month, after a year": (
        edit(BUCKET, f"{OF}-artifacts", put("softDeletePolicy.retentionDurationSeconds", 2592000)),
        STACK,
    ),
    "an alert that is told when it begins and ends": (
        edit(POLICY, "alert-policies-silent", put("alertStrategy", {"notificationPrompts": ["OPENED", "CLOSED"]})),
        STACK,
    ),
    "Lustre and its cluster on the port of old": (
        both(
            edit(LUSTRE, f"{OF}-lustre", put("gkeSupportEnabled", False)),
            edit(CLUSTER, "cluster-cluster", put("addonsConfig.lustreCsiDriverConfig.enableLegacyLustrePort", False)),
        ),
        STACK,
    ),
    "a chosen processor, of a machine that has the choice": (
        edit(
            POOL,
            "cluster-cpu",
            put("nodeConfig.machineType", "n2d-standard-8"),
            put("nodeConfig.minCpuPlatform", "AMD Milan"),
            put("nodeConfig.confidentialNodes", {"enabled": True}),
            put("nodeConfig.advancedMachineFeatures", {"threadsPerCore": 1}),
        ),
        STACK,
    ),
    "a cluster that lasts": (edit(CLUSTER, "cluster-cluster", put("enableKubernetesAlpha", False)), STACK),
    "all services are recorded": (
        made(
            "gcp:projects/iAMAuditConfig:IAMAuditConfig",
            "all",
            project="northwind-ml",
            service="allServices",
            auditLogConfigs=[{"logType": "ADMIN_READ"}],
        ),
        STACK,
    ),
    "a distribution with its buckets": (
        edit(
            METRIC,
            "alert-metrics-watchdog",
            put("metricDescriptor.valueType", "DISTRIBUTION"),
            put("valueExtractor", "EXTRACT(jsonPayload.status)"),
            put("bucketOptions", {"explicitBuckets": {"bounds": [1, 10, 100]}}),
        ),
        STACK,
    ),
    "per cent in per cent": (
        edit(POLICY, "alert-policies-idle-chips", put("conditions[0].conditionThreshold.thresholdValue", 5)),
        STACK,
    ),
    "an archive that nobody mounts": (
        made(BUCKET, "archive", location="us-east4", name="northwind-archive", storageClass="ARCHIVE"),
        STACK,
    ),
    "mail to another house": (
        edit(
            CHANNEL,
            "alert-policies-finance@northwind.example",
            put("labels.email_address", "on-call@support-partner.example"),
        ),
        STACK,
    ),
    "an office that comes over the internet": (
        edit(
            SQL,
            f"{OF}-mlflow",
            put("settings.ipConfiguration.ipv4Enabled", True),
            put("settings.ipConfiguration.authorizedNetworks", [{"name": "office", "value": "8.8.8.0/24"}]),
        ),
        STACK,
    ),
    "Lustre's rules of two halves": (
        edit(
            LUSTRE,
            f"{OF}-lustre",
            put("accessRulesOptions.accessRules[0].ipAddressRanges", ["10.0.0.0/21", "10.0.8.0/21"]),
        ),
        STACK,
    ),
    "a database for whoever comes": (
        edit(SQL, f"{OF}-mlflow", put("settings.connectorEnforcement", "NOT_REQUIRED")),
        STACK,
    ),
}


OF_WHAT_IS_ADDED: Final = ("rights-api-off", "gcp-service-order")
"""What is said of a resource that the tests add by themselves."""


def found(resources: list[RecordedResource], rehearsal: Rehearsal) -> list[Finding]:
    """What values and rooms say of them, as of a stack of ours."""
    context = replace(context_of(rehearsal), ours=True)
    return [*check_values(resources, context), *check_works(resources, context)]


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
        context = replace(context_of(rehearsal), ours=True)
        sound = rehearsal.known.resources
        told = one_by_one(changed, context, rule, values=True, sound=sound)
        rules = ({finding.rule for finding in said} for said in told)
        assert any(rule in found for found in rules)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_not_accused(rehearsed: Any, name: str) -> None:
    _, stack = RIGHT[name]
    rehearsal = rehearsed(stack)

    def judged(resources: Recorded) -> list[Finding]:
        return [finding for finding in found(list(resources), rehearsal) if finding.rule not in OF_WHAT_IS_ADDED]

    changes = {what: change for what, (change, of_stack) in RIGHT.items() if of_stack == stack}
    assert told_together((__name__, stack), name, rehearsal.known.resources, changes, judged) == []


def test_every_mistake_is_accounted_for() -> None:
    assert (len(fifth.REFUSED), len(fifth.SILENT)) == (32, 32)
    assert (len(sixth.REFUSED), len(sixth.SILENT)) == (17, 15)
    assert set(RULES) | set(WHY) == set(EVERY) and not set(RULES) & set(WHY)


def test_what_is_not_known_yet_is_not_told(rehearsed: Any) -> None:
    """Inputs beside each other, of which one comes of another resource."""
    rehearsal = rehearsed(STACK)
    for path in ("maintenancePolicy", "ipAllocationPolicy", "nodeConfig"):
        changed = edit(CLUSTER, "cluster-cluster", put(path, UNKNOWN))(list(rehearsal.known.resources))
        assert [each for each in check_values(changed, context_of(rehearsal)) if each.rule == "gcp-beside"] == []
