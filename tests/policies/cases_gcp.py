"""Truth tables of what the policies say on Google Cloud, where it is not said beside what they say on AWS."""

import json

from tests.policies.truth import NOT_APPLICABLE, OK, UNDECIDED, UNKNOWN, VIOLATED, gke_pool, made, table, team, unknown
from trainyard.recorded.types import PROMETHEUS_RULE

BUCKET, CLUSTER, SQL = (
    "gcp:storage/bucket:Bucket",
    "gcp:container/cluster:Cluster",
    "gcp:sql/databaseInstance:DatabaseInstance",
)
POOL, BUDGET, SUBNET = (
    "gcp:container/nodePool:NodePool",
    "gcp:billing/budget:Budget",
    "gcp:compute/subnetwork:Subnetwork",
)
ALERT = "gcp:monitoring/alertPolicy:AlertPolicy"
MEMBER, KEY = "gcp:projects/iAMMember:IAMMember", "gcp:kms/cryptoKey:CryptoKey"
LABELS = {"client": "a", "environment": "b", "team": "c", "cost-centre": "d", "managed-by": "e"}
ALERTS = [
    {"thresholdPercent": 0.5, "spendBasis": "CURRENT_SPEND"},
    {"thresholdPercent": 1.0, "spendBasis": "FORECASTED_SPEND"},
]
POD = (
    "principal://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p.svc.id.goog/subject/ns/{}/sa/x"
)
EU = {"residency": "eu"}
TEAM = team("vision")
TEAM_POD = POD.format("team-vision")


def tpu_slice(name, **node):
    """A slice of 16 chips of v6e, on demand: a node pool of four machines."""
    machine = {"machineType": "ct6e-standard-4t", "labels": {"ml.platform/pool": "v6e"}, **node}
    inputs = {"nodeConfig": machine, "autoscaling": {"totalMinNodeCount": 0, "totalMaxNodeCount": 4}}
    placement = {"type": "COMPACT", "tpuTopology": "4x4"}
    return made("gcp:container/nodePool:NodePool", name, {**inputs, "placementPolicy": placement})


def provider(**labels):
    inputs = {"project": "p", "region": "europe-west4"} | ({"defaultLabels": json.dumps(labels)} if labels else {})
    return made("pulumi:providers:gcp", "gcp", inputs)


def by(of, type_, name, inputs):
    return made(type_, name, inputs, provider=f"{of.urn}::id")


def budget(*alerts, units="5000", currency="USD", **inputs):
    amount = {"specifiedAmount": {"currencyCode": currency, "units": units}}
    told = {"allUpdatesRule": {"monitoringNotificationChannels": ["c"]}}
    return made(BUDGET, "b", {"amount": amount, "thresholdRules": list(alerts or ALERTS), **told, **inputs})


PROFILES = "projects/acme/global/networkProfiles"


def in_network(profile):
    """A subnet without flow logs, in a network of a profile."""
    network = made("gcp:compute/network:Network", "rdma", {"networkProfile": profile})
    return [network, made("gcp:compute/subnetwork:Subnetwork", "rdma-0", {}, uses={"network": [network]})]


def bucket(name="checkpoints", *rules, **inputs):
    return made(BUCKET, name, {"location": "europe-west4", "lifecycleRules": list(rules), **inputs})


def delete(**condition):
    return {"action": {"type": "Delete"}, "condition": condition}


def key(**inputs):
    return made(KEY, "key", {"rotationPeriod": "7776000s", **inputs})


def member(role, who, type_=MEMBER, **inputs):
    return made(type_, "grant", {"role": role, "member": who, **inputs})


def on_bucket(role, who=TEAM_POD, of="a-data"):
    shared = made(BUCKET, of, {"uniformBucketLevelAccess": True, "name": "the-bucket"})
    grant = made(
        "gcp:storage/bucketIAMMember:BucketIAMMember", "g", {"role": role, "member": who, "bucket": "the-bucket"}
    )
    return [TEAM, shared, grant]


def in_folder(folder, role="roles/storage.objectUser"):
    inputs = {"role": role, "member": TEAM_POD, "bucket": "b", "managedFolder": folder}
    return [TEAM, made("gcp:storage/managedFolderIamMember:ManagedFolderIamMember", "g", inputs)]


def audit(*types, exempt=(), service="allServices"):
    configs = [{"logType": type_, "exemptedMembers": list(exempt)} for type_ in types]
    return made("gcp:projects/iAMAuditConfig:IAMAuditConfig", "a", {"service": service, "auditLogConfigs": configs})


LOG_DELIVERY = "group:cloud-storage-analytics@google.com"
CLOSED_LOGS = made(BUCKET, "logs", {"name": "our-logs", "uniformBucketLevelAccess": True}, id="our-logs")
LOGGED = bucket("data", logging={"logBucket": "our-logs"})
AN_ORGANISATIONS = {"audit": {"trail": {"by": "organization", "reason": "the landing zone has it"}}}
DESTINATION = "logging.googleapis.com/projects/p/locations/europe-west4/buckets/ours"


def delivery(who=LOG_DELIVERY):
    inputs = {"bucket": "our-logs", "role": "roles/storage.objectCreator", "member": who}
    return made("gcp:storage/bucketIAMMember:BucketIAMMember", "delivery", inputs)


def delivered_by_policy():
    bindings = [{"role": "roles/storage.objectCreator", "members": [LOG_DELIVERY]}]
    inputs = {"bucket": "our-logs", "policyData": json.dumps({"bindings": bindings})}
    return made("gcp:storage/bucketIAMPolicy:BucketIAMPolicy", "policy", inputs)


def held_logs(**inputs):
    return made(BUCKET, "logs", {"name": "our-logs", **inputs}, protect=True)


def log_bucket(**inputs):
    sound = {"location": "europe-west4", "bucketId": "ours", "retentionDays": 365, "cmekSettings": {"kmsKeyName": "k"}}
    found = {key: value for key, value in (sound | inputs).items() if value is not None}
    return made("gcp:logging/projectBucketConfig:ProjectBucketConfig", "l", found)


LOGS = log_bucket(bucketId=UNKNOWN)


def sink(of=(), **inputs):
    found = {"name": "all", "destination": DESTINATION} | inputs
    uses = {"destination": list(of)} if of else {}
    found = {key: value for key, value in found.items() if value is not None}
    return made("gcp:logging/projectSink:ProjectSink", found["name"], found, uses=uses)


def not_global(**inputs):
    return made("gcp:logging/projectExclusion:ProjectExclusion", "e", {"filter": "severity>=DEFAULT"} | inputs)


ALERT_POLICY = "gcp:monitoring/alertPolicy:AlertPolicy"


def alarm(filter_, name="alarm", **inputs):
    conditions = [{"conditionMatchedLog": {"filter": filter_}}]
    return made(ALERT_POLICY, name, {"conditions": conditions, "notificationChannels": ["c"]} | inputs)


def counted(*methods):
    return made("gcp:logging/metric:Metric", "m", {"name": "changes", "filter": " OR ".join(methods)})


def by_metric():
    threshold = {"filter": 'metric.type="logging.googleapis.com/user/changes" AND resource.type="global"'}
    conditions = [{"conditionThreshold": threshold}]
    return made(ALERT_POLICY, "alarm", {"conditions": conditions, "notificationChannels": ["c"]})


def pool(**node):
    return made(POOL, "nodes", {"nodeConfig": {"machineType": "e2-standard-4", "serviceAccount": "n@p", **node}})


def cluster(**inputs):
    return made(CLUSTER, "c", inputs)


def ledger(*alerts):
    rules = [{"alert": name, "expr": "1"} for name in (*alerts, "CostSpike")]
    return made(PROMETHEUS_RULE, "rules", {"spec": {"groups": [{"name": "money", "rules": rules}]}})


LOG_BUCKET = made(BUCKET, "logs", {"name": "our-logs"})
KEYED = {"defaultKmsKeyName": "k"}
SAFE = {"workloadMetadataConfig": {"mode": "GKE_METADATA"}}

CASES = [
    *table(
        "budget-without-alerts",
        ("Google, sound", OK, budget()),
        ("Google, to nobody", VIOLATED, budget(allUpdatesRule={"disableDefaultIamRecipients": True})),
        ("Google, to the billing administrators", OK, budget(allUpdatesRule={})),
        ("Google, when all is spent twice", VIOLATED, budget(ALERTS[0], {**ALERTS[1], "thresholdPercent": 2})),
        ("Google, a year's", VIOLATED, budget(budgetFilter={"calendarPeriod": "YEAR"})),
        (
            "Google, the ledger tells",
            OK,
            [cluster(), ledger("TeamBudgetSpent", "TeamBudgetWarning", "TeamBudgetNotice")],
        ),
        ("Google, the ledger tells too late", VIOLATED, [cluster(), ledger("TeamBudgetSpent")]),
        ("Google, no ledger either", VIOLATED, [cluster(), ledger()]),
        ("Google, a ledger that is not known", UNDECIDED, [cluster(), unknown(ledger(), "spec")]),
        ("a ledger on its own", VIOLATED, [ledger("TeamBudgetSpent", "TeamBudgetWarning", "TeamBudgetNotice")]),
        ("Google, percents for a share", VIOLATED, budget(*({**each, "thresholdPercent": 50} for each in ALERTS))),
    ),
    *table(
        "ceiling-spend-over-budget",
        ("GKE, in time", OK, [budget(units="100000"), gke_pool(), provider()]),
        ("GKE, gone in two days", VIOLATED, [budget(units="3000"), gke_pool(), provider()]),
        ("GKE, in euros", NOT_APPLICABLE, [budget(currency="EUR"), gke_pool(), provider()]),
        (
            "GKE, a machine without a price",
            VIOLATED,
            [budget(units="100000"), gke_pool(node={"machineType": "a9-x-8g"})],
        ),
        ("GKE, unknown", UNDECIDED, [unknown(budget(), "amount"), gke_pool()]),
    ),
    *table(
        "costed-resource-without-cost-tags",
        ("labels of the provider reach a bucket", OK, [provider(**LABELS), by(provider(), BUCKET, "b", {})]),
        ("not of another provider", VIOLATED, [provider(**LABELS), made(BUCKET, "b", {})]),
        ("nor a node pool", VIOLATED, [provider(**LABELS), by(provider(), POOL, "n", {"nodeConfig": {}})]),
        ("nor a database", VIOLATED, [provider(**LABELS), by(provider(), SQL, "db", {"settings": {}})]),
        ("a pool's own", OK, made(POOL, "n", {"nodeConfig": {"resourceLabels": LABELS}})),
        ("a database's own", OK, made(SQL, "db", {"settings": {"userLabels": LABELS}})),
        ("nor an alert policy", VIOLATED, [provider(**LABELS), by(provider(), ALERT, "a", {"labels": LABELS})]),
        ("an alert policy's own", OK, made(ALERT, "a", {"userLabels": LABELS})),
        (
            "labels reach a zone of DNS",
            OK,
            [provider(**LABELS), by(provider(), "gcp:dns/managedZone:ManagedZone", "z", {})],
        ),
        (
            "and a secret",
            OK,
            [provider(**LABELS), by(provider(), "gcp:secretmanager/regionalSecret:RegionalSecret", "s", {})],
        ),
        (
            "and an address",
            OK,
            [provider(**LABELS), by(provider(), "gcp:compute/globalAddress:GlobalAddress", "a", {})],
        ),
        ("an address of nobody", VIOLATED, made("gcp:compute/globalAddress:GlobalAddress", "a", {"labels": {}})),
        ("a cluster's own", OK, cluster(resourceLabels=LABELS)),
        ("one is missing", VIOLATED, cluster(resourceLabels={**LABELS, "team": ""})),
        ("labels unknown", UNDECIDED, unknown(cluster(resourceLabels=LABELS), "resourceLabels")),
    ),
    *table(
        "spot-share-below-target",
        (
            "GKE, from the queue",
            NOT_APPLICABLE,
            gke_pool(node={"spot": False, "flexStart": True}),
            {"environment": "demo"},
        ),
        ("slices, one on demand", OK, [tpu_slice("a")], {"environment": "demo"}),
        ("two on demand", VIOLATED, [tpu_slice("a"), tpu_slice("b")], {"environment": "demo"}),
        ("and one of spot", OK, [tpu_slice("a"), tpu_slice("b"), tpu_slice("c", spot=True)], {"environment": "demo"}),
        (
            "three on demand and one of spot",
            VIOLATED,
            [tpu_slice("a"), tpu_slice("b"), tpu_slice("c"), tpu_slice("d", spot=True)],
            {"environment": "demo"},
        ),
        (
            "spot GPUs do not make up for it",
            VIOLATED,
            [tpu_slice("a"), tpu_slice("b"), gke_pool(autoscaling={"minNodeCount": 0, "maxNodeCount": 9})],
            {"environment": "demo"},
        ),
        ("of flex-start", NOT_APPLICABLE, [tpu_slice("a", flexStart=True)], {"environment": "demo"}),
        ("in production", NOT_APPLICABLE, [tpu_slice("a"), tpu_slice("b")], {"environment": "production"}),
    ),
    *table(
        "gang-only-on-spot",
        ("GKE, interfaces by DRANET", VIOLATED, gke_pool(networkConfig={"acceleratorNetworkProfile": "auto"})),
    ),
    *table(
        "lifecycle-deletes-newest-version",
        ("GCS, superseded by age", OK, bucket("data", delete(daysSinceNoncurrentTime=30))),
        ("GCS, archived ones", OK, bucket("data", delete(age=30, withState="ARCHIVED"))),
        ("GCS, live ones by age", VIOLATED, bucket("data", delete(age=30))),
        ("GCS, live ones by name", VIOLATED, bucket("data", delete(matchesPrefixes=["a"], withState="LIVE"))),
        (
            "GCS, uploads",
            OK,
            bucket("data", {"action": {"type": "AbortIncompleteMultipartUpload"}, "condition": {"age": 7}}),
        ),
        ("GCS, two checkpoints are kept", OK, bucket("checkpoints", delete(numNewerVersions=2))),
        ("GCS, one is", VIOLATED, bucket("checkpoints", delete(numNewerVersions=1))),
        (
            "GCS, one rule keeps more",
            VIOLATED,
            bucket("checkpoints", delete(numNewerVersions=5), delete(numNewerVersions=1)),
        ),
    ),
    *table(
        "artifact-versions-kept-too-short",
        ("GCS", OK, bucket("artifacts", delete(daysSinceNoncurrentTime=365))),
        ("GCS, a week", VIOLATED, bucket("artifacts", delete(daysSinceNoncurrentTime=7))),
        ("GCS, of data", OK, bucket("data", delete(daysSinceNoncurrentTime=7))),
    ),
    *table(
        "storage-without-environment-key",
        ("Cloud SQL by its key", OK, [key(), made(SQL, "db", {}, uses={"encryptionKeyName": [key()]})]),
        ("Cloud SQL without", VIOLATED, [key(), made(SQL, "db", {})]),
        ("Cloud SQL, a replica", OK, [key(), made(SQL, "db", {"masterInstanceName": "main"})]),
        (
            "GCS of access logs",
            OK,
            [
                made(BUCKET, "logs", {"name": "our-logs"}),
                bucket("data", encryption=KEYED, logging={"logBucket": "our-logs"}),
            ],
        ),
        ("GKE nodes by a key", OK, pool(bootDiskKmsKey="k")),
        ("GKE nodes by Google's", VIOLATED, pool()),
    ),
    *table(
        "key-without-rotation",
        ("Google", OK, key()),
        ("Google, never", VIOLATED, made(KEY, "key", {})),
        ("Google, every two years", VIOLATED, key(rotationPeriod="63072000s")),
        ("Google, gone in a day", VIOLATED, key(destroyScheduledDuration="86400s")),
        ("Google, to sign with", OK, made(KEY, "key", {"purpose": "ASYMMETRIC_SIGN"})),
    ),
    *table(
        "key-gone-before-its-data",
        (
            "Google, left alone",
            OK,
            [key(deletionPolicy="ABANDON"), made(BUCKET, "b", {}, uses={"encryption": [key()]})],
        ),
        ("Google, goes with the stack", VIOLATED, [key(), made(BUCKET, "b", {}, uses={"encryption": [key()]})]),
        (
            "Google, of nothing that stays",
            OK,
            [key(), made(BUCKET, "b", {"forceDestroy": True}, uses={"encryption": [key()]})],
        ),
        (
            "Google, of backups",
            VIOLATED,
            [
                key(),
                made(SQL, "db", {"settings": {"retainBackupsOnDelete": True}}, uses={"encryptionKeyName": [key()]}),
            ],
        ),
    ),
    *table(
        "public-bucket",
        (
            "GCS, an access list",
            VIOLATED,
            made("gcp:storage/bucketAccessControl:BucketAccessControl", "a", {"entity": "allUsers"}),
        ),
        (
            "GCS, a group's",
            OK,
            made("gcp:storage/bucketAccessControl:BucketAccessControl", "a", {"entity": "group-a@b"}),
        ),
    ),
    *table(
        "resource-open-to-everybody",
        (
            "GCS",
            VIOLATED,
            member("roles/storage.objectViewer", "allUsers", "gcp:storage/bucketIAMMember:BucketIAMMember"),
        ),
        (
            "whoever has an account",
            VIOLATED,
            member("roles/run.invoker", "allAuthenticatedUsers", "gcp:cloudrunv2/serviceIamMember:ServiceIamMember"),
        ),
        (
            "a binding",
            VIOLATED,
            made(
                "gcp:kms/cryptoKeyIAMBinding:CryptoKeyIAMBinding",
                "b",
                {"role": "r", "members": ["user:a@b", "allUsers"]},
            ),
        ),
        (
            "a policy",
            VIOLATED,
            made(
                "gcp:storage/bucketIAMPolicy:BucketIAMPolicy",
                "p",
                {"policyData": json.dumps({"bindings": [{"role": "r", "members": ["allUsers"]}]})},
            ),
        ),
        ("a group", OK, member("roles/viewer", "group:ml@acme.example")),
        ("Google, unknown", UNDECIDED, unknown(member("r", "m"), "member")),
    ),
    *table(
        "wildcard-admin",
        (
            "editor by a binding",
            VIOLATED,
            made("gcp:projects/iAMBinding:IAMBinding", "b", {"role": "roles/editor", "members": ["user:a@b"]}),
        ),
        (
            "owner of the organisation",
            VIOLATED,
            member("roles/owner", "user:a@b", "gcp:organizations/iAMMember:IAMMember"),
        ),
        ("viewer", OK, member("roles/viewer", "user:a@b")),
    ),
    *table(
        "privilege-on-any-resource",
        ("acts as any account", VIOLATED, member("roles/iam.serviceAccountTokenCreator", "user:a@b")),
        (
            "every secret",
            VIOLATED,
            member("roles/secretmanager.secretAccessor", "serviceAccount:a@p.iam.gserviceaccount.com"),
        ),
        (
            "one secret",
            OK,
            member(
                "roles/secretmanager.secretAccessor", "user:a@b", "gcp:secretmanager/secretIamMember:SecretIamMember"
            ),
        ),
        (
            "an agent of Google's",
            OK,
            member(
                "roles/cloudkms.cryptoKeyEncrypterDecrypter",
                "serviceAccount:service-1@container-engine-robot.iam.gserviceaccount.com",
            ),
        ),
        (
            "under a condition",
            OK,
            member("roles/iam.serviceAccountUser", "user:a@b", condition={"expression": "e", "title": "t"}),
        ),
        ("a harmless role, for somebody unknown", OK, unknown(member("roles/cloudsql.client", "m"), "member")),
    ),
    *table(
        "trust-without-conditions",
        (
            "a provider for one organisation",
            OK,
            made(
                "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider",
                "p",
                {"attributeCondition": "a == b"},
            ),
        ),
        (
            "a provider for everybody",
            VIOLATED,
            made("gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider", "p", {}),
        ),
        (
            "a whole pool",
            VIOLATED,
            member(
                "roles/iam.workloadIdentityUser",
                "principalSet://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/github/*",
            ),
        ),
        (
            "one repository",
            OK,
            member(
                "roles/iam.workloadIdentityUser",
                "principalSet://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/github/attribute.repository/a/b",
            ),
        ),
    ),
    *table(
        "node-role-with-workload-rights",
        ("GKE, of their own", OK, [pool(), member("roles/artifactregistry.reader", "serviceAccount:n@p")]),
        ("GKE, with rights on data", VIOLATED, [pool(), member("roles/storage.objectViewer", "serviceAccount:n@p")]),
        ("GKE, somebody else's", OK, [pool(), member("roles/storage.objectViewer", "serviceAccount:other@p")]),
        ("GKE, the project's default account", VIOLATED, made(POOL, "n", {"nodeConfig": {}})),
        ("GKE, it by name", VIOLATED, pool(serviceAccount="1-compute@developer.gserviceaccount.com")),
        (
            "GKE, by a role that the pack is told of",
            OK,
            [pool(), member("r", "serviceAccount:n@p")],
            {},
            {"nodeRoles": ["r"]},
        ),
    ),
    *table(
        "team-role-beyond-its-prefix",
        ("GCS, reads what is shared", OK, on_bucket("roles/storage.objectViewer")),
        ("GCS, writes all of it", VIOLATED, on_bucket("roles/storage.objectUser")),
        ("GCS, reads what is not shared", VIOLATED, on_bucket("roles/storage.objectViewer", of="checkpoints")),
        ("GCS, somebody else", OK, on_bucket("roles/storage.objectUser", POD.format("mlflow"))),
        ("GCS, its own folder", OK, in_folder("teams/vision/")),
        ("GCS, its own data", OK, in_folder("data/teams/vision/", "roles/storage.objectViewer")),
        ("GCS, another's data", VIOLATED, in_folder("data/teams/speech/", "roles/storage.objectViewer")),
        ("GCS, the data of all, as a folder", VIOLATED, in_folder("data/", "roles/storage.objectViewer")),
        ("GCS, a folder that begins alike", VIOLATED, in_folder("teams/vision-2/")),
        ("GCS, another's", VIOLATED, in_folder("teams/speech/")),
        ("GCS, its own, as administrator", VIOLATED, in_folder("teams/vision/", "roles/storage.admin")),
        ("GCS, a project's role", VIOLATED, [TEAM, member("roles/viewer", TEAM_POD)]),
        ("GCS, access lists of objects", VIOLATED, [TEAM, made(BUCKET, "b", {})]),
    ),
    *table(
        "node-with-public-address",
        ("GKE", OK, pool()),
        ("GKE, this pool's are public", VIOLATED, made(POOL, "n", {"networkConfig": {"enablePrivateNodes": False}})),
    ),
    *table(
        "instance-metadata-v1",
        ("GKE", OK, pool(**SAFE)),
        ("GKE, the node's own server", VIOLATED, pool(workloadMetadataConfig={"mode": "GCE_METADATA"})),
        ("GKE, without a word", VIOLATED, pool()),
        ("GKE, the old endpoints", VIOLATED, pool(**SAFE, metadata={"disable-legacy-endpoints": "false"})),
        ("GKE, no identities of pods", VIOLATED, cluster()),
        ("GKE, Autopilot", OK, cluster(enableAutopilot=True)),
        ("GKE, identities of pods", OK, cluster(workloadIdentityConfig={"workloadPool": "p.svc.id.goog"})),
    ),
    *table(
        "kubelet-open-to-everybody",
        ("GKE", OK, pool(kubeletConfig={"insecureKubeletReadonlyPortEnabled": "FALSE"})),
        (
            "GKE, the port that asks nobody",
            VIOLATED,
            pool(kubeletConfig={"insecureKubeletReadonlyPortEnabled": "TRUE"}),
        ),
        ("GKE, whoever asks", VIOLATED, cluster(anonymousAuthenticationConfig={"mode": "ENABLED"})),
        ("GKE, health checks alone", OK, cluster(anonymousAuthenticationConfig={"mode": "LIMITED"})),
    ),
    *table(
        "network-policies-not-strict",
        ("GKE, Dataplane V2", OK, cluster(datapathProvider="ADVANCED_DATAPATH")),
        ("GKE, Calico", OK, cluster(networkPolicy={"enabled": True})),
        ("GKE, nothing", VIOLATED, cluster(networkPolicy={"enabled": False})),
        ("GKE, Autopilot", OK, cluster(enableAutopilot=True)),
        ("GKE, no Autopilot", VIOLATED, cluster(enableAutopilot=False)),
    ),
    *table(
        "control-plane-logs-off",
        (
            "Autopilot",
            OK,
            cluster(
                enableAutopilot=True,
                loggingConfig={"enableComponents": ["APISERVER", "SCHEDULER", "CONTROLLER_MANAGER"]},
            ),
        ),
        ("Autopilot, by default", VIOLATED, cluster(enableAutopilot=True)),
        (
            "GKE",
            OK,
            cluster(
                loggingConfig={
                    "enableComponents": [
                        "SYSTEM_COMPONENTS",
                        "WORKLOADS",
                        "APISERVER",
                        "SCHEDULER",
                        "CONTROLLER_MANAGER",
                    ]
                }
            ),
        ),
        ("GKE, its default", VIOLATED, cluster()),
    ),
    *table(
        "flow-logs-incomplete",
        ("Google", OK, made(SUBNET, "s", {"logConfig": {"flowSampling": 0.5}})),
        ("Google, none", VIOLATED, made(SUBNET, "s", {})),
        ("Google, no sample", VIOLATED, made(SUBNET, "s", {"logConfig": {"flowSampling": 0}})),
        ("Google, RDMA interfaces", OK, in_network(f"{PROFILES}/us-east4-b-vpc-roce")),
        ("Google, another profile", VIOLATED, in_network(f"{PROFILES}/us-east4-b-vpc-falcon")),
        ("Google, the profile unknown", VIOLATED, in_network(UNKNOWN)),
        ("Google, of proxies", OK, made(SUBNET, "s", {"purpose": "REGIONAL_MANAGED_PROXY"})),
    ),
    *table(
        "objects-without-trail",
        ("GCS, its access log", OK, [LOG_BUCKET, bucket("data", logging={"logBucket": "our-logs"})]),
        ("GCS, none", VIOLATED, bucket("data")),
        ("GCS, the project's audit log", OK, [bucket("data"), audit("DATA_READ", "DATA_WRITE")]),
        ("GCS, of writes alone", VIOLATED, [bucket("data"), audit("DATA_WRITE")]),
        (
            "GCS, but not of everybody",
            VIOLATED,
            [bucket("data"), audit("DATA_READ", "DATA_WRITE", exempt=["user:a@b"])],
        ),
        ("GCS, an access log that nobody may write", VIOLATED, [CLOSED_LOGS, LOGGED]),
        ("GCS, an access log that Google writes", OK, [CLOSED_LOGS, LOGGED, delivery()]),
        ("GCS, that somebody else writes", VIOLATED, [CLOSED_LOGS, LOGGED, delivery("user:a@b")]),
        ("GCS, as a whole policy", OK, [CLOSED_LOGS, LOGGED, delivered_by_policy()]),
        ("GCS, into another stack's bucket", OK, bucket("data", logging={"logBucket": "theirs"})),
        ("keys, uses unknown", VIOLATED, [key(), audit("DATA_READ", "DATA_WRITE", service="storage.googleapis.com")]),
        ("keys", OK, [key(), audit("DATA_READ", "DATA_WRITE", service="cloudkms.googleapis.com")]),
        ("keys, of a stack that asks for no audit logs", OK, key()),
        ("GCS, another's project", NOT_APPLICABLE, bucket("data"), AN_ORGANISATIONS),
    ),
    *table(
        "record-can-be-changed",
        ("Google", OK, [log_bucket(), sink()]),
        ("Google, no key", VIOLATED, [log_bucket(cmekSettings=None), sink()]),
        ("Google, ten days", VIOLATED, [log_bucket(retentionDays=10), sink()]),
        ("Google, its default days", OK, [log_bucket(retentionDays=None), sink()]),
        ("Google, by name", VIOLATED, [log_bucket(cmekSettings=None), sink(destination=DESTINATION)]),
        (
            "Google, another's log bucket",
            OK,
            [sink(destination="logging.googleapis.com/projects/o/locations/l/buckets/b")],
        ),
        ("Google, a log bucket that nothing goes to", OK, log_bucket(cmekSettings=None)),
    ),
    *table(
        "access-logs-can-be-deleted",
        ("Google", OK, [held_logs(retentionPolicy={"retentionPeriod": "7776000"}), LOGGED]),
        ("Google, no retention", VIOLATED, [held_logs(), LOGGED]),
        ("Google, about to go", OK, [CLOSED_LOGS, LOGGED]),
        ("Google, no logs", OK, held_logs()),
    ),
    *table(
        "logs-outside-residency",
        ("in the region, and nowhere else", OK, [cluster(), log_bucket(), sink(), not_global()], EU),
        ("as made of outputs", OK, [cluster(), LOGS, sink(destination=None, of=[LOGS]), not_global()], EU),
        ("by name", OK, [cluster(), log_bucket(), sink(destination=DESTINATION), not_global(filter="logName:*")], EU),
        ("Google's defaults", VIOLATED, cluster(), EU),
        ("no regime", NOT_APPLICABLE, cluster()),
        ("another's project", NOT_APPLICABLE, cluster(), EU | AN_ORGANISATIONS),
        ("elsewhere", NOT_APPLICABLE, cluster(), EU, {"elsewhere": True}),
        ("no cluster", OK, bucket("data"), EU),
        ("in another region", VIOLATED, [cluster(), log_bucket(location="us-east1"), sink(), not_global()], EU),
        ("nothing goes there", VIOLATED, [cluster(), log_bucket(), not_global()], EU),
        ("in _Default as well", VIOLATED, [cluster(), log_bucket(), sink()], EU),
        (
            "some in _Default as well",
            VIOLATED,
            [cluster(), log_bucket(), sink(), not_global(filter="severity=INFO")],
            EU,
        ),
        ("_Default's own sink goes there", OK, [cluster(), log_bucket(), sink(name="_Default")], EU),
        ("_Default's own sink is off", OK, [cluster(), log_bucket(), sink(), sink(name="_Default", disabled=True)], EU),
        ("some of them", VIOLATED, [cluster(), log_bucket(), sink(filter="severity>=ERROR"), not_global()], EU),
        ("unknown which", UNDECIDED, [cluster(), log_bucket(), sink(filter=UNKNOWN), not_global()], EU),
    ),
    *table(
        "rights-change-unnoticed",
        ("told", OK, [cluster(), alarm("SetIamPolicy"), alarm("UpdateSink", name="other")]),
        ("told by a metric", OK, [cluster(), counted("SetIamPolicy", "DeleteSink"), by_metric()]),
        ("nobody", VIOLATED, cluster()),
        ("of rights alone", VIOLATED, [cluster(), alarm("SetIamPolicy")]),
        ("to nobody", VIOLATED, [cluster(), alarm("SetIamPolicy UpdateSink", notificationChannels=[])]),
        ("switched off", VIOLATED, [cluster(), alarm("SetIamPolicy UpdateSink", enabled=False)]),
        ("another's project", NOT_APPLICABLE, cluster(), AN_ORGANISATIONS),
        ("no cluster", OK, bucket("data")),
        ("not known", UNDECIDED, [cluster(), alarm(UNKNOWN)]),
    ),
    *table(
        "unpinned-version",
        ("Cloud SQL", OK, made(SQL, "db", {"databaseVersion": "POSTGRES_18"})),
        ("Cloud SQL, whatever there is", VIOLATED, made(SQL, "db", {})),
        ("GKE", OK, cluster(minMasterVersion="1.35")),
        ("GKE, latest", VIOLATED, cluster(minMasterVersion="latest")),
    ),
    *table(
        "public-load-balancer",
        (
            "Google, inside",
            OK,
            made("gcp:compute/forwardingRule:ForwardingRule", "f", {"loadBalancingScheme": "INTERNAL"}),
        ),
        ("Google, its default", VIOLATED, made("gcp:compute/globalForwardingRule:GlobalForwardingRule", "f", {})),
    ),
    *table(
        "logs-kept-too-short",
        ("Google", OK, made("gcp:logging/projectBucketConfig:ProjectBucketConfig", "l", {"retentionDays": 365})),
        ("Google, its default", VIOLATED, made("gcp:logging/projectBucketConfig:ProjectBucketConfig", "l", {})),
    ),
    *table(
        "unsupported-kubernetes-version",
        ("GKE, a channel", OK, cluster(releaseChannel={"channel": "REGULAR"})),
        ("GKE, no channel", VIOLATED, cluster(releaseChannel={"channel": "UNSPECIFIED"})),
        ("GKE, extended", VIOLATED, cluster(releaseChannel={"channel": "EXTENDED"})),
    ),
    *table(
        "region-outside-residency",
        ("Google, a region", OK, bucket("b"), EU),
        ("Google, Switzerland", VIOLATED, made(BUCKET, "b", {"location": "EUROPE-WEST6"}), EU),
        (
            "Google, a zone outside",
            VIOLATED,
            made(POOL, "n", {"location": "europe-west4", "nodeLocations": ["us-central1-a"]}),
            EU,
        ),
        (
            "Google, backups outside",
            VIOLATED,
            made(SQL, "d", {"settings": {"backupConfiguration": {"location": "us-east1"}}}),
            EU,
        ),
        ("Google, a continent", VIOLATED, made(BUCKET, "b", {"location": "EU"}), EU),
        ("Google, a pair of regions", VIOLATED, made(BUCKET, "b", {"location": "EUR4"}), EU),
        ("Google, a provider outside", VIOLATED, made("pulumi:providers:gcp", "g", {"region": "us-central1"}), EU),
        (
            "Google, a name that looks like one",
            OK,
            made(BUCKET, "b", {"name": "my-us-east1", "location": "europe-west4"}),
            EU,
        ),
        ("Google, in the Emirates there is none", VIOLATED, bucket("b"), {"residency": "uae"}),
        (
            "an image of a registry outside",
            VIOLATED,
            made("kubernetes:core/v1:Pod", "p", {"spec": {"image": "us-east1-docker.pkg.dev/a"}}),
            EU,
        ),
        (
            "an image of a registry inside",
            OK,
            made("kubernetes:core/v1:Pod", "p", {"spec": {"image": "europe-west4-docker.pkg.dev/a"}}),
            EU,
        ),
    ),
    *table(
        "silently-global-resource",
        ("Google, a key of everywhere", VIOLATED, made("gcp:kms/keyRing:KeyRing", "k", {"location": "global"}), EU),
        ("Google, a key of a region", OK, made("gcp:kms/keyRing:KeyRing", "k", {"location": "europe-west4"}), EU),
        (
            "Google, a secret anywhere",
            VIOLATED,
            made("gcp:secretmanager/secret:Secret", "s", {"replication": {"auto": {}}}),
            EU,
        ),
        (
            "Google, a secret here",
            OK,
            made("gcp:secretmanager/secret:Secret", "s", {"replication": {"userManaged": {}}}),
            EU,
        ),
        ("Google, messages anywhere", VIOLATED, made("gcp:pubsub/topic:Topic", "t", {}), EU),
        (
            "Google, messages here",
            OK,
            made(
                "gcp:pubsub/topic:Topic", "t", {"messageStoragePolicy": {"allowedPersistenceRegions": ["europe-west4"]}}
            ),
            EU,
        ),
        (
            "Google, backups anywhere",
            VIOLATED,
            made(SQL, "d", {"settings": {"backupConfiguration": {"enabled": True}}}),
            EU,
        ),
        ("Google, a data set of America", VIOLATED, made("gcp:bigquery/dataset:Dataset", "d", {}), EU),
        ("Google, a bucket of America", VIOLATED, made(BUCKET, "b", {}), EU),
        ("Google, no regime", NOT_APPLICABLE, made(BUCKET, "b", {"location": "EU"}), {"residency": "none"}),
    ),
]
