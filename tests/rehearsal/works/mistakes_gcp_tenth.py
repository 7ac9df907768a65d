"""The tenth set of mistakes of Google Cloud's resources: corners of our components that the ninth left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.rehearsal.works.aws_changes import refer
from tests.rehearsal.works.mistakes import Change, Mistake, both, drop, edit, put
from tests.rehearsal.works.mistakes_gcp_ninth import (
    ACCOUNT,
    API,
    BUCKET,
    BUDGET,
    CACHE,
    CLUSTER,
    DEMO,
    FABRIC,
    FIREWALL,
    IMAGES,
    LARGE,
    ON_BUCKET,
    POLICY,
    POOL,
    RUN,
    SERVICE,
    SMALL,
    SQL,
    VOLUME,
    made,
    more,
)

SECRET = "gcp:secretmanager/regionalSecret:RegionalSecret"
ON_SECRET = "gcp:secretmanager/regionalSecretIamMember:RegionalSecretIamMember"
IAP = "gcp:iap/webCloudRunServiceIamMember:WebCloudRunServiceIamMember"
LUSTRE = "gcp:lustre/instance:Instance"
LOGIN = "gcp:sql/user:User"
PROJECT = "gcp:projects/iAMMember:IAMMember"
ON_ACCOUNT = "gcp:serviceaccount/iAMMember:IAMMember"
DASHBOARD = "gcp:monitoring/dashboard:Dashboard"
TOPIC = "gcp:pubsub/topic:Topic"
SUBSCRIPTION = "gcp:pubsub/subscription:Subscription"
TPU = "tpu-slices-v6e-on-demand-1"


def said_otherwise(old: str, new: str, key: str = "dashboardJson") -> Callable[[dict[str, Any]], None]:
    """Another word in a text."""

    def into(inputs: dict[str, Any]) -> None:
        inputs[key] = inputs[key].replace(old, new)

    return into


def filtered_otherwise(old: str, new: str) -> Callable[[dict[str, Any]], None]:
    """Another word in the filter of an alert on lines of a log."""

    def into(inputs: dict[str, Any]) -> None:
        matched = inputs["conditions"][0]["conditionMatchedLog"]
        matched["filter"] = matched["filter"].replace(old, new)

    return into


def flag(name: str, value: str) -> Callable[[dict[str, Any]], None]:
    """A flag of a database set otherwise."""

    def into(inputs: dict[str, Any]) -> None:
        (one,) = [found for found in inputs["settings"]["databaseFlags"] if found["name"] == name]
        one["value"] = value

    return into


def events(attempts: int) -> Change:
    """A topic, a subscription of it, and where what it cannot deliver goes."""
    publisher = "serviceAccount:service-123456789012@gcp-sa-pubsub.iam.gserviceaccount.com"
    return both(
        made(API, "services-pubsub", API, {"service": "pubsub.googleapis.com", "disableOnDestroy": False}),
        made(TOPIC, "events", BUDGET, {"name": "events", "project": "acme-ml"}),
        made(TOPIC, "undelivered", BUDGET, {"name": "undelivered", "project": "acme-ml"}),
        made("gcp:pubsub/topicIAMMember:TopicIAMMember", "undelivered", BUDGET, {
            "topic": "undelivered", "project": "acme-ml", "role": "roles/pubsub.publisher", "member": publisher}),
        made(SUBSCRIPTION, "undelivered", BUDGET, {
            "name": "undelivered", "topic": "projects/acme-ml/topics/undelivered", "project": "acme-ml"}),
        made(SUBSCRIPTION, "events", BUDGET, {
            "name": "events", "topic": "projects/acme-ml/topics/events", "project": "acme-ml",
            "deadLetterPolicy": {"deadLetterTopic": "projects/acme-ml/topics/undelivered",
                                 "maxDeliveryAttempts": attempts}}),
        made("gcp:pubsub/subscriptionIAMMember:SubscriptionIAMMember", "events", BUDGET, {
            "subscription": "events", "project": "acme-ml", "role": "roles/pubsub.subscriber", "member": publisher}),
    )  # fmt: skip


SECOND = {
    "displayName": "more",
    "conditionThreshold": {
        "filter": 'resource.type="k8s_container" AND metric.type="logging.googleapis.com/user/acme-demo-gcp-alerts"',
        "comparison": "COMPARISON_GT", "duration": "0s", "thresholdValue": 0,
        "aggregations": [{"alignmentPeriod": "60s", "perSeriesAligner": "ALIGN_DELTA"}],
    },
}  # fmt: skip

REFUSED: Final = (
    Mistake(
        "no-upgrades-in-a-channel",
        "automatic upgrades off, in a cluster of a release channel",
        edit(POOL, "gpu-nodes-train-spot", put("management.autoUpgrade", False)),
        "gke-upgrade",
        stack=DEMO,
    ),
    Mistake(
        "eight-chips-of-sixteen",
        "a machine of one host for slices of several",
        edit(POOL, TPU, put("nodeConfig.machineType", "ct6e-standard-8t")),
        "gke-tpu",
        stack=LARGE,
    ),
    Mistake(
        "two-hours-a-request",
        "two hours for a request of Cloud Run (one is the most)",
        edit(SERVICE, "tracking-server-service", put("template.timeout", "7200s")),
        "gcp-run",
        stack=RUN,
    ),
    Mistake(
        "iap-by-invoker",
        "the role of Cloud Run where IAP's is given (a neighbour's line copied)",
        edit(IAP, "tracking-server-programs", put("role", "roles/run.invoker")),
        "gcp-role-resource",
        stack=RUN,
    ),
    Mistake(
        "rotation-told-to-nobody",
        "a rotation of a secret that no topic hears of",
        edit(
            SECRET,
            "acme-demo-gcp-mlflow-password",
            put("rotation", {"rotationPeriod": "7776000s", "nextRotationTime": "2027-03-01T00:00:00Z"}),
        ),
        "gcp-secret",
        stack=DEMO,
    ),
    Mistake(
        "log-alert-of-two",
        "a second condition beside one on lines of a log",
        edit(POLICY, "record-alarms-rights", more("conditions", SECOND)),
        "gcp-alert",
        stack=DEMO,
    ),
    Mistake(
        "turbo-in-one-region",
        "turbo replication of a bucket in one region",
        edit(BUCKET, "acme-demo-gcp-checkpoints", put("rpo", "ASYNC_TURBO")),
        "gcs-turbo",
        stack=DEMO,
    ),
    Mistake(
        "three-attempts",
        "three attempts before a dead letter (five are the least)",
        events(3),
        "gcp-range-of-numbers",
        stack=DEMO,
    ),
    Mistake(
        "three-hours-a-week",
        "a window for upgrades of three hours a weekend day",
        edit(CLUSTER, "cluster-cluster", put("maintenancePolicy.recurringWindow.endTime", "2026-01-03T05:00:00Z")),
        "gke-maintenance",
        stack=DEMO,
    ),
    Mistake(
        "squash-of-the-neighbour",
        "Filestore's word for a squash in a file system of Lustre",
        edit(
            LUSTRE, "northwind-production-lustre", put("accessRulesOptions.accessRules[0].squashMode", "NO_ROOT_SQUASH")
        ),
        "gcp-lustre",
        stack=LARGE,
    ),
)

SILENT: Final = (
    Mistake(
        "imports-by-the-neighbour",
        "the data opened to Filestore's agent instead of Lustre's",
        refer(
            ON_BUCKET,
            "northwind-production-lustre-imports",
            "member",
            "gcp:projects/serviceIdentity:ServiceIdentity",
            "services-file-agent",
            "member",
        ),
        "rights-of-no-use",
        stack=LARGE,
    ),
    Mistake(
        "nodes-pull-nothing",
        "nodes that may not read the project's images",
        drop(PROJECT, "cluster-nodes-reader"),
        "rights-nodes",
        stack=LARGE,
    ),
    Mistake(
        "login-of-migrations",
        "the server's login by the name of the migration's account",
        edit(LOGIN, "tracking-server-login", put("name", "hooli-research-mlflow-up@hooli-research.iam")),
        "run-login",
        stack=RUN,
    ),
    Mistake(
        "no-login-by-iam",
        "logins by IAM switched off in the database",
        edit(SQL, "hooli-research-mlflow", flag("cloudsql.iam_authentication", "off")),
        "programs-database",
        stack=RUN,
    ),
    Mistake(
        "server-without-network",
        "a server outside the network of its database",
        edit(SERVICE, "tracking-server-service", lambda inputs: inputs["template"].pop("vpcAccess")),
        "run-network",
        stack=RUN,
    ),
    Mistake(
        "password-of-the-server",
        "the password opened to the server, and migrations read it",
        refer(ON_SECRET, "tracking-server-password", "member", ACCOUNT, "tracking-server-server-account", "member"),
        "rights-run",
        stack=RUN,
    ),
    Mistake(
        "internal-only",
        "a server for people and for jobs of Vertex, that takes the network's calls alone",
        edit(SERVICE, "tracking-server-service", put("ingress", "INGRESS_TRAFFIC_INTERNAL_ONLY")),
        "run-ingress",
        stack=RUN,
    ),
    Mistake(
        "cache-renamed",
        "a cache of images that pods know by its old name",
        edit(IMAGES, "images-acme-demo-gcp-hub", put("repositoryId", "acme-demo-gcp-dockerhub")),
        "reference-image-cache",
        stack=CACHE,
    ),
    Mistake(
        "slices-of-eight",
        "slices of 2x4, and jobs that ask for 4x4",
        edit(POOL, TPU, put("placementPolicy.tpuTopology", "2x4"), put("autoscaling.totalMaxNodeCount", 2)),
        "placement-no-node",
        stack=LARGE,
    ),
    Mistake(
        "dashboard-of-no-metric",
        "a chart of a metric that is called otherwise",
        edit(
            DASHBOARD,
            "managed-jobs-dashboard",
            said_otherwise("training/accelerator/utilization", "training/gpu/utilization"),
        ),
        "programs-figure",
        stack=SMALL,
    ),
    Mistake(
        "foreign-alarm-of-no-account",
        "an alarm on every job: the account it takes for ours is none",
        edit(POLICY, "managed-jobs-foreign", filtered_otherwise("hooli-research-jobs@", "hooli-research-job@")),
        "reference-elsewhere",
        stack=SMALL,
    ),
    Mistake(
        "jobs-write-only",
        "jobs that may write checkpoints and never read one",
        edit(ON_BUCKET, "managed-jobs-checkpoints", put("role", "roles/storage.objectCreator")),
        "rights-job",
        stack=SMALL,
    ),
    Mistake(
        "people-act-as-tracking",
        "people who may act as the tracking client and not as jobs",
        refer(
            ON_ACCOUNT,
            "managed-research@hooli.example",
            "serviceAccountId",
            ACCOUNT,
            "tracking-server-client-account",
            "name",
        ),
        "rights-people",
        stack=RUN,
    ),
    Mistake(
        "budget-for-nobody",
        "a budget that nobody is told of",
        edit(BUDGET, "budget-budget", put("allUpdatesRule.monitoringNotificationChannels", [])),
        "policy:budget-without-alerts",
        stack=DEMO,
    ),
    Mistake(
        "lustre-called-otherwise",
        "a volume of a Lustre file system by another name",
        edit(VOLUME, "folders-scratch-volume", put("spec.csi.volumeAttributes.filesystem", "lustre")),
        "reference-file-system",
        stack=LARGE,
    ),
    Mistake(
        "fabric-for-the-others",
        "the second interfaces let in the first ones' range",
        edit(FIREWALL, "fabric-networks-gvnic-inside", put("sourceRanges", ["10.0.0.0/20"])),
        "reference-fabric-firewall",
        stack=FABRIC,
    ),
)

HEALTHY: Final[Mapping[str, tuple[Change, str]]] = {
    "an hour a request": (edit(SERVICE, "tracking-server-service", put("template.timeout", "3600s")), RUN),
    "a rotation that a topic hears of": (
        both(
            made(API, "services-pubsub", API, {"service": "pubsub.googleapis.com", "disableOnDestroy": False}),
            made(TOPIC, "rotations", BUDGET, {"name": "rotations", "project": "acme-ml"}),
            made(
                "gcp:pubsub/topicIAMMember:TopicIAMMember",
                "rotations",
                BUDGET,
                {
                    "topic": "rotations",
                    "project": "acme-ml",
                    "role": "roles/pubsub.publisher",
                    "member": "serviceAccount:service-123456789012@gcp-sa-secretmanager.iam.gserviceaccount.com",
                },
            ),
            made(
                SUBSCRIPTION,
                "rotations",
                BUDGET,
                {"name": "rotations", "topic": "projects/acme-ml/topics/rotations", "project": "acme-ml"},
            ),
            edit(
                SECRET,
                "acme-demo-gcp-mlflow-password",
                put("topics", [{"name": "projects/acme-ml/topics/rotations"}]),
                put("rotation", {"rotationPeriod": "7776000s", "nextRotationTime": "2027-03-01T00:00:00Z"}),
            ),
        ),
        DEMO,
    ),
    "five attempts": (events(5), DEMO),
    "the usual replication": (edit(BUCKET, "acme-demo-gcp-checkpoints", put("rpo", "DEFAULT")), DEMO),
    "an hour that is open every day": (
        edit(
            CLUSTER,
            "cluster-cluster",
            lambda inputs: inputs["maintenancePolicy"].pop("recurringWindow"),
            put("maintenancePolicy.dailyMaintenanceWindow", {"startTime": "03:00"}),
        ),
        DEMO,
    ),
}
