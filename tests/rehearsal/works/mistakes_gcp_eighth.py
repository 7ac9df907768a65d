"""Thirty more mistakes of Google Cloud's resources, written when those of `mistakes_gcp_seventh.py` were mended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.rehearsal.works.mistakes import DROP, Change, both, drop, edit, put
from tests.rehearsal.works.mistakes_gcp_seventh import (
    BUILD,
    DATASET,
    FOREIGN,
    GROUP,
    JOB,
    RUN,
    SCHEDULE,
    SUBSCRIPTION,
    THRESHOLD,
    TRIGGER,
    WIF,
    foreign,
)
from tests.rehearsal.works.mistakes_gcp_sixty import POLICY, POOL, said

TABLE, QUERY = "gcp:bigquery/table:Table", "gcp:bigquery/dataTransferConfig:DataTransferConfig"
ROUTES, BACKEND = "gcp:compute/route:Route", "gcp:compute/regionBackendService:RegionBackendService"
FRONT, SUBNET = "gcp:compute/forwardingRule:ForwardingRule", "gcp:compute/subnetwork:Subnetwork"
RECORD, SECRET_MEMBER = "gcp:dns/recordSet:RecordSet", "gcp:secretmanager/secretIamMember:SecretIamMember"
TOPIC, WORKBENCH = "gcp:pubsub/topic:Topic", "gcp:workbench/instance:Instance"
REDIS, TPU, USER = "gcp:redis/instance:Instance", "gcp:tpu/v2Vm:V2Vm", "gcp:sql/user:User"
ON_BUCKET: Final = "gcp:storage/bucketIAMMember:BucketIAMMember"
AUTOSCALER: Final = "gcp:compute/regionAutoscaler:RegionAutoscaler"
AUDIO: Final = "template.containers[0]"

REFUSED: Final[Mapping[str, tuple[Change, str]]] = {
    "partitioned by a column of texts": foreign(TABLE, "events", "timePartitioning.field", "kind"),
    "clustered by a column that there is not": foreign(TABLE, "events", "clusterings", ["sort"]),
    "a secret that may not be read at the start": (drop(SECRET_MEMBER, "serve"), FOREIGN),
    "a name outside its zone": foreign(RECORD, "serve", "name", "serve.acme.local."),
    "a volume that nobody declares": foreign(RUN, "api", f"{AUDIO}.volumeMounts[0].name", "model"),
    "an internal balancer for packets, by HTTP": foreign(BACKEND, "serve", "loadBalancingScheme", "INTERNAL"),
    "a cache of two machines, of one": foreign(REDIS, "cache", "replicaCount", 3),
    "a slice in Iowa's words": foreign(TPU, "probe", "acceleratorType", "v5e-8"),
    "no machine while one is replaced": (
        edit(
            GROUP,
            "serve",
            put("updatePolicy.maxSurgeFixed", 0),
            put("updatePolicy.maxUnavailableFixed", 0),
        ),
        FOREIGN,
    ),
    "a table's region elsewhere": foreign(QUERY, "nightly", "location", "US"),
}

SILENT: Final[Mapping[str, tuple[Change, str]]] = {
    "a socket that is nobody's": foreign(
        RUN, "api", "template.volumes[1]", {"name": "sql", "cloudSqlInstance": {"instances": ["acme-ml:main"]}}
    ),
    "the model's bucket by half of its name": (
        both(
            edit(RUN, "api", put("template.volumes[0].gcs.bucket", "models-raw")),
            drop(ON_BUCKET, "serve-models"),
        ),
        FOREIGN,
    ),
    "models that the server may not read": (drop(ON_BUCKET, "serve-models"), FOREIGN),
    "machines that may not read their models": (drop(ON_BUCKET, "machines"), FOREIGN),
    "a server on another port than its probe": foreign(RUN, "api", f"{AUDIO}.startupProbe.tcpSocket.port", 8000),
    "called from outside, open to the inside": (
        edit(
            SCHEDULE,
            "score",
            put("httpTarget.uri", "https://score-abc-uc.a.run.app/"),
            put("httpTarget.oauthToken", DROP),
        ),
        FOREIGN,
    ),
    "a job of five minutes for an hour's work": foreign(JOB, "score", "template.template.timeout", "10s"),
    "messages that come back while they are worked on": foreign(SUBSCRIPTION, "landed", "ackDeadlineSeconds", 10),
    "a filter on an attribute in single quotes": foreign(
        SUBSCRIPTION, "landed", "filter", "attributes.eventType = 'OBJECT_FINALIZE'"
    ),
    "an event of the last century": foreign(
        TRIGGER,
        "models",
        "matchingCriterias[0].value",
        "google.cloud.storage.object.v1.finalised",
    ),
    "builds on a branch that is called otherwise": foreign(
        BUILD, "images", "repositoryEventConfig.push.branch", "main["
    ),
    "an image that nothing builds": foreign(
        BUILD, "images", "build.images[0]", "europe-west4-docker.pkg.dev/acme-ml/image/serve:$SHORT_SHA"
    ),
    "a subject that everybody has": foreign(WIF, "github", "attributeMapping.google~subject", "assertion.aud"),
    "GPUs whose driver nobody installs": foreign(
        POOL,
        "gpus",
        "nodeConfig.guestAccelerators[0].gpuDriverInstallationConfig.gpuDriverVersion",
        "INSTALLATION_DISABLED",
    ),
    "a script that asks for the internet, and no way out": (drop("gcp:compute/routerNat:RouterNat", "main"), FOREIGN),
    "a table that grows for ever": foreign(DATASET, "features", "defaultTableExpirationMs", 3600000),
    "a group that never grows": foreign(AUTOSCALER, "serve", "autoscalingPolicy.mode", "OFF"),
    "a figure of another service": (
        said(
            POLICY,
            "undelivered",
            f"{THRESHOLD}.filter",
            "subscription/oldest_unacked_message_age",
            "topic/oldest_unacked_message_age",
        ),
        FOREIGN,
    ),
    "hours where seconds are": foreign(POLICY, "undelivered", f"{THRESHOLD}.thresholdValue", 86400000),
    "grouped by what there is not": foreign(
        POLICY, "slow", f"{THRESHOLD}.aggregations[0].groupByFields", ["resource.label.service"]
    ),
}
