"""The seventh and eighth set of mistakes of Google Cloud's resources: what tells each, and what is right beside the
rules that came of them: services that hand on messages, lines, events and calls, figures, probes, identities of others.

| set | refused, told at first sight | accepted, told at first sight | told now | what is left |
| --- | --- | --- | --- | --- |
| seventh | 9 of 17 (53 %) | 10 of 43 (23 %) | 59 of 60 | `WHY` |
| eighth | 2 of 10 (20 %) | 2 of 20 (10 %) | 21 of 30 | `WHY` |

One more of the eighth that is refused was told at first sight for a wrong reason, the capitals of BigQuery's own US: it
counts as missed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from tests.rehearsal.works import mistakes_gcp_eighth as eighth
from tests.rehearsal.works import mistakes_gcp_seventh as seventh
from tests.rehearsal.works.mistakes import DROP, Change, both, context_of, drop, edit, one_by_one, put
from tests.rehearsal.works.mistakes_gcp_fifth import ORG_POLICY, made
from tests.rehearsal.works.mistakes_gcp_seventh import (
    CLUSTER,
    FOREIGN,
    GROUP,
    INVOKER,
    MEMBER,
    ON_DATASET,
    ON_SUBSCRIPTION,
    ON_TOPIC,
    RUN,
    SCHEDULE,
    SUBSCRIPTION,
    TEMPLATE,
    TRANSFER,
    TRIGGER,
    WIF,
)
from tests.rehearsal.works.mistakes_gcp_sixty import FIREWALL, POLICY, POOL
from tests.rehearsal.works.test_foreign_programs import foreign_program
from trainyard.recorded.model import Finding, RecordedResource
from trainyard.rehearsal.context import ValueContext
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.works.check import check_works

SEVENTH: Final[Mapping[str, str]] = {
    "a GPU with half of its processors": "gcp-run",
    "eight GiB of one processor": "gcp-run",
    "everybody on GitHub": "gcp-issuer",
    "a pool by Google's prefix": "gcp-name",
    "an hour for an answer": "gcp-schedule",
    "a GPU that moves": "gcp-gpu-maintenance",
    "a dash in a dataset": "gcp-name",
    "locked for longer than it is kept": "gcp-backup",
    "classes by hand and by themselves": "gcs-autoclass",
    "an account that builds, and logs to nowhere": "gcp-build-logs",
    "events of another region": "gcp-event-place",
    "the bucket may not announce": "rights-delivery",
    "nobody may write what is announced": "rights-delivery",
    "lines and figures in one rule": "gcp-alert",
    "over in a quarter of an hour": "gcp-alert",
    "sixty-four on one GPU": "gke-sharing",
    "pods where the nodes are": "gcp-range-overlap",
    "a token of another kind": "programs-token",
    "who calls at night may not": "rights-delivery",
    "pushed without a token": "rights-delivery",
    "who pushes may not call": "rights-delivery",
    "what fails cannot be laid aside": "rights-delivery",
    "what is laid aside comes again": "rights-delivery",
    "a sink's writer that may not": "rights-delivery",
    "a sink's writer that may look": "rights-delivery",
    "alarms that may not be published": "rights-delivery",
    "alarms that nobody reads": "programs-unread",
    "what fails is laid aside and lost": "programs-unread",
    "pods of another project": "rights-binding-no-account",
    "an attribute that nothing maps": "rights-binding-no-account",
    "an issuer with a slash": "gcp-issuer",
    "a claim that GitHub does not make": "gcp-issuer",
    "half of those who look": "path-balancer",
    "a tag that no machine has": "path-balancer",
    "a port that nobody opens": "path-balancer",
    "a port of another name": "path-balancer",
    "a folder that begins with a slash": "gcs-lifecycle",
    "newer versions of nothing": "gcs-lifecycle",
    "announced from where nothing lands": "programs-prefix",
    "a backup by nobody": "programs-backup-agent",
    "every night, paused": "programs-switched-off",
    "copied by a job that is off": "programs-switched-off",
    "copied until February": "programs-over",
    "a label of services on a job": "programs-filter",
    "a kind of database that there is not": "programs-figure",
    "seconds where milliseconds are": "programs-alert",
    "per cent where shares are": "programs-alert",
    "below nothing": "programs-alert",
    "a login that the database does not know": "programs-database",
    "a login that may not connect": "rights-delivery",
    "a private database from outside": "programs-database",
    "a script by another key": "programs-metadata",
    "reserved for another machine": "gke-reservation",
    "no way to the internet": "flows-object-store",
    "one list of members and single ones": "rights-binding-replaced",
    "only in Europe, says the project": "programs-locations",
    "machines that may read and not log": "rights-node-scopes",
    "a figure in British": "programs-figure",
    "events for somebody without the right": "rights-delivery",
}

EIGHTH: Final[Mapping[str, str]] = {
    "a socket that is nobody's": "gcp-run",
    "partitioned by a column of texts": "gcp-table",
    "clustered by a column that there is not": "gcp-table",
    "a secret that may not be read at the start": "rights-run",
    "a name outside its zone": "gcp-dns",
    "a volume that nobody declares": "gcp-run",
    "an internal balancer for packets, by HTTP": "gcp-balancer",
    "a cache of two machines, of one": "gcp-redis",
    "a slice in Iowa's words": "gcp-tpu",
    "no machine while one is replaced": "gcp-group",
    "a table's region elsewhere": "gcp-table",
    "models that the server may not read": "rights-run",
    "a filter on an attribute in single quotes": "gcp-pubsub",
    "an event of the last century": "gcp-event",
    "builds on a branch that is called otherwise": "gcp-build-branch",
    "a subject that everybody has": "gcp-issuer",
    "GPUs whose driver nobody installs": "machine-gpu-driver",
    "a group that never grows": "programs-switched-off",
    "a figure of another service": "programs-figure",
    "hours where seconds are": "programs-alert",
    "grouped by what there is not": "programs-filter",
}
AGENT: Final = "serviceAccount:service-314159265358@{}.iam.gserviceaccount.com"


def alert(filter_: str, limit: float, aggregation: Mapping[str, Any], **more: Any) -> Change:
    """An alert more, above a limit for five minutes."""
    condition = {
        "filter": filter_,
        "comparison": "COMPARISON_GT",
        "thresholdValue": limit,
        "duration": "300s",
        "aggregations": [{"alignmentPeriod": "300s", **aggregation}],
        **more,
    }
    inputs = {"combiner": "OR", "notificationChannels": ["mail"], "displayName": "more"}
    return made(POLICY, "more", conditions=[{"displayName": "more", "conditionThreshold": condition}], **inputs)


RIGHT: Final[Mapping[str, Change]] = {
    "the agent's rights on the whole project": (
        both(
            drop(ON_TOPIC, "dead-publishes"),
            drop(ON_SUBSCRIPTION, "landed-dead"),
            made(
                "gcp:projects/iAMBinding:IAMBinding",
                "p",
                project="acme-ml",
                role="roles/pubsub.editor",
                members=[AGENT.format("gcp-sa-pubsub")],
            ),
        )
    ),
    "a role of the agent's own": (
        both(
            drop(ON_TOPIC, "dead-publishes"),
            drop(ON_SUBSCRIPTION, "landed-dead"),
            made(MEMBER, "p", project="acme-ml", role="roles/pubsub.admin", member=AGENT.format("gcp-sa-pubsub")),
        )
    ),
    "the sink's writer by the project": (
        both(
            drop(ON_TOPIC, "errors"),
            made(
                MEMBER,
                "w",
                project="acme-ml",
                role="roles/pubsub.publisher",
                member="serviceAccount:service-314159265358@gcp-sa-logging.iam.gserviceaccount.com",
            ),
        )
    ),
    "a public service without tokens": (
        both(
            edit(SUBSCRIPTION, "landed", put("pushConfig.oidcToken", DROP)),
            edit(INVOKER, "intake-push", put("member", "allUsers")),
        )
    ),
    "a service that asks nobody": (
        both(
            edit(SUBSCRIPTION, "landed", put("pushConfig.oidcToken", DROP)),
            edit(RUN, "intake", put("invokerIamDisabled", True)),
        )
    ),
    "a schedule that calls somebody else": (
        made(
            SCHEDULE,
            "ping",
            region="europe-west4",
            name="ping",
            schedule="*/5 * * * *",
            httpTarget={"uri": "https://hc-ping.com/abc", "httpMethod": "GET"},
        )
    ),
    "a schedule that publishes": (
        made(
            SCHEDULE,
            "tick",
            region="europe-west4",
            name="tick",
            schedule="0 * * * *",
            timeZone="Etc/UTC",
            pubsubTarget={"topicName": "projects/acme-ml/topics/errors", "data": "eA=="},
        )
    ),
    "two rules for those who look": (
        both(
            edit(FIREWALL, "health", put("sourceRanges", ["35.191.0.0/16"])),
            made(
                FIREWALL,
                "health2",
                network="projects/acme-ml/global/networks/main",
                direction="INGRESS",
                sourceRanges=["130.211.0.0/22"],
                allows=[{"protocol": "tcp"}],
            ),
        )
    ),
    "all ports for those who look": (edit(FIREWALL, "health", put("allows", [{"protocol": "all"}]))),
    "ports from to": (edit(FIREWALL, "health", put("allows[0].ports", ["8000-9000"]))),
    "another name of the port on both sides": (
        both(
            edit(GROUP, "serve", put("namedPorts[0].name", "grpc")),
            edit("gcp:compute/regionBackendService:RegionBackendService", "serve", put("portName", "grpc")),
        )
    ),
    "a rate of requests": alert(
        'metric.type="run.googleapis.com/request_count" AND resource.type="cloud_run_revision" AND '
        'metric.labels.response_code_class="5xx"',
        0.05,
        {"perSeriesAligner": "ALIGN_RATE", "crossSeriesReducer": "REDUCE_SUM"},
        denominatorFilter='metric.type="run.googleapis.com/request_count" AND resource.type="cloud_run_revision"',
        denominatorAggregations=[{"alignmentPeriod": "300s", "perSeriesAligner": "ALIGN_RATE"}],
    ),
    "a check that fails in several places": alert(
        'metric.type="monitoring.googleapis.com/uptime_check/check_passed" AND metric.label.check_id="a" AND '
        'resource.type="uptime_url"',
        1,
        {
            "perSeriesAligner": "ALIGN_NEXT_OLDER",
            "crossSeriesReducer": "REDUCE_COUNT_FALSE",
            "groupByFields": ["resource.label.*"],
        },
    ),
    "nodes by their name": alert(
        'resource.type = "k8s_node" AND metric.type = "kubernetes.io/node/memory/allocatable_utilization" AND '
        'metadata.user_labels.pool="gpu" AND metric.labels.memory_type="non-evictable"',
        0.9,
        {
            "perSeriesAligner": "ALIGN_MEAN",
            "crossSeriesReducer": "REDUCE_MAX",
            "groupByFields": ["resource.label.node_name", "resource.label.cluster_name"],
        },
    ),
    "restarts": alert(
        'resource.type = "k8s_container" AND metric.type = "kubernetes.io/container/restart_count"',
        3,
        {
            "perSeriesAligner": "ALIGN_DELTA",
            "crossSeriesReducer": "REDUCE_SUM",
            "groupByFields": ["resource.label.pod_name"],
        },
    ),
    "GitHub of an enterprise": (
        edit(WIF, "github", put("oidc.issuerUri", "https://token.actions.githubusercontent.com/acme"))
    ),
    "an issuer of one's own": (
        edit(
            WIF,
            "github",
            put("oidc.issuerUri", "https://gitlab.ac.com"),
            put("attributeCondition", DROP),
            put(
                "attributeMapping",
                {"google.subject": "assertion.sub", "attribute.repository": "assertion.project_path"},
            ),
        )
    ),
    "a fleet's cluster with Autopilot": (
        both(
            edit(
                CLUSTER,
                "train",
                put("addonsConfig", DROP),
                put("enableAutopilot", True),
                put("removeDefaultNodePool", DROP),
            ),
            drop(POOL, "base"),
            drop(POOL, "gpus"),
        )
    ),
    "narrow scopes that are enough": (
        edit(TEMPLATE, "serve", put("serviceAccount.scopes", ["storage-ro", "logging-write", "monitoring-write"]))
    ),
    "machines that may go": (
        edit(
            TEMPLATE,
            "serve",
            put(
                "scheduling",
                {
                    "preemptible": True,
                    "provisioningModel": "SPOT",
                    "automaticRestart": False,
                    "onHostMaintenance": "TERMINATE",
                    "instanceTerminationAction": "STOP",
                },
            ),
        )
    ),
    "a place that the policy allows": (
        made(
            ORG_POLICY,
            "pl",
            name="projects/acme-ml/policies/gcp.resourceLocations",
            parent="projects/acme-ml",
            spec={"rules": [{"values": {"allowedValues": ["in:europe-west4-locations", "in:eu-locations"]}}]},
        )
    ),
    "laid aside for another project's people": (
        both(
            drop(SUBSCRIPTION, "dead"),
            edit(POLICY, "buried", put("enabled", True)),
            made(
                ON_TOPIC,
                "ops",
                topic="projects/acme-ml/topics/dead",
                role="roles/pubsub.subscriber",
                member="serviceAccount:ops@acme-ops.iam.gserviceaccount.com",
            ),
        )
    ),
    "events of a topic": (
        both(
            drop(MEMBER, "intake-eventarc.eventReceiver"),
            drop(MEMBER, "storage-publishes-anywhere"),
            edit(
                TRIGGER,
                "models",
                put(
                    "matchingCriterias",
                    [{"attribute": "type", "value": "google.cloud.pubsub.topic.v1.messagePublished"}],
                ),
                put("transport", {"pubsub": {"topic": "projects/acme-ml/topics/errors"}}),
            ),
        )
    ),
    "a sink of old": (
        both(
            edit("gcp:logging/projectSink:ProjectSink", "errors", put("uniqueWriterIdentity", False)),
            edit(ON_TOPIC, "errors", put("member", "serviceAccount:cloud-logs@system.gserviceaccount.com")),
        )
    ),
    "a service by the connector": (
        edit(
            RUN,
            "api",
            put(
                "template.vpcAccess",
                {"connector": "projects/acme-ml/locations/europe-west4/connectors/main", "egress": "ALL_TRAFFIC"},
            ),
        )
    ),
    "a database with a public address by its socket": (
        both(
            edit(
                RUN,
                "api",
                put("template.vpcAccess", DROP),
                put(
                    "template.containers[0].envs", [{"name": "DB_HOST", "value": "/cloudsql/acme-ml:europe-west4:main"}]
                ),
                put(
                    "template.volumes[1]",
                    {"name": "cloudsql", "cloudSqlInstance": {"instances": ["acme-ml:europe-west4:main"]}},
                ),
            ),
            edit(
                "gcp:sql/databaseInstance:DatabaseInstance", "main", put("settings.ipConfiguration.ipv4Enabled", True)
            ),
        )
    ),
    "as few as many": (
        edit("gcp:compute/regionAutoscaler:RegionAutoscaler", "serve", put("autoscalingPolicy.minReplicas", 4))
    ),
    "a cheaper GPU box": (
        edit(
            RUN,
            "api",
            put("template.containers[0].resources.limits", {"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": "1"}),
        )
    ),
    "a GPU and no word of processors": (
        edit(RUN, "api", put("template.containers[0].resources.limits", {"nvidia.com/gpu": "1"}))
    ),
    "copied once": (edit(TRANSFER, "nightly", put("schedule.scheduleEndDate", {"year": 2026, "month": 1, "day": 1}))),
    "a backend of a function": (
        made(
            "gcp:compute/regionBackendService:RegionBackendService",
            "fn",
            region="europe-west4",
            loadBalancingScheme="INTERNAL_MANAGED",
            protocol="HTTPS",
            backends=[{"group": "projects/acme-ml/regions/europe-west4/networkEndpointGroups/fn"}],
        )
    ),
    "packets passed through": (
        made(
            "gcp:compute/regionBackendService:RegionBackendService",
            "tcp",
            region="europe-west4",
            loadBalancingScheme="INTERNAL",
            protocol="TCP",
            backends=[{"group": "projects/acme-ml/regions/europe-west4/instanceGroupManagers/serve"}],
        )
    ),
    "every query by an owner": (
        both(
            drop(MEMBER, "queries-bigquery.jobUser"),
            drop(ON_DATASET, "queries"),
            made(
                MEMBER,
                "q",
                project="acme-ml",
                role="roles/bigquery.admin",
                member="serviceAccount:acme-queries@acme-ml.iam.gserviceaccount.com",
            ),
        )
    ),
    "a schema of capitals, parted by a day": edit(
        eighth.TABLE,
        "events",
        put("timePartitioning", {"type": "MONTH", "field": "AT"}),
        put("clusterings", ["Kind", "at"]),
    ),
    "packets of a balancer within": edit(
        eighth.BACKEND, "serve", put("protocol", "UNSPECIFIED"), put("loadBalancingScheme", "INTERNAL")
    ),
    "a group that loses one": edit(
        GROUP, "serve", put("updatePolicy.maxSurgeFixed", 0), put("updatePolicy.maxUnavailableFixed", 2)
    ),
    "a cache that is read from three": edit(
        eighth.REDIS, "cache", put("replicaCount", 3), put("readReplicasMode", "READ_REPLICAS_ENABLED")
    ),
    "a larger slice": edit(eighth.TPU, "probe", put("acceleratorType", "v6e-16")),
    "a filter of one's own": edit(
        SUBSCRIPTION, "landed", put("filter", 'attributes.eventType = "OBJECT_FINALIZE" AND attributes:objectId')
    ),
    "deleted models": edit(
        TRIGGER, "models", put("matchingCriterias[0].value", "google.cloud.storage.object.v1.deleted")
    ),
    "any release": edit(seventh.BUILD, "images", put("repositoryEventConfig.push", {"tag": "^v[0-9]+(\\.[0-9]+)*$"})),
    "an owner as the subject": edit(
        WIF, "github", put("attributeMapping.google~subject", "assertion.repository + ':' + assertion.ref")
    ),
    "a proxy's own port": edit(
        RUN,
        "intake",
        put("template.containers[0].ports", {"containerPort": 8080}),
        put("template.containers[1]", {"image": "x", "envs": [{"name": "PORT", "value": "9090"}]}),
    ),
    "a bucket of one zone": made(
        seventh.BUCKET,
        "rapid",
        name="acme-rapid",
        location="europe-west4",
        storageClass="RAPID",
        customPlacementConfig={"dataLocations": ["europe-west4-a"]},
        uniformBucketLevelAccess=True,
        hierarchicalNamespace={"enabled": True},
    ),
    "a router for a partner": made(
        "gcp:compute/router:Router",
        "partner",
        region="europe-west4",
        network="projects/acme-ml/global/networks/main",
        bgp={"asn": 16550},
    ),
    "queries of two continents": made(
        eighth.QUERY,
        "us",
        displayName="us",
        location="US",
        dataSourceId="scheduled_query",
        params={"query": "SELECT 1"},
    ),
}

CONTEXT: Final = ValueContext(kubernetes_version="1.35", region="")
OF_WHAT_IS_ADDED: Final = ("rights-api-off", "gcp-service-order")
"""What is said of a resource that the tests add by themselves."""
EVERY: Final = {**seventh.REFUSED, **seventh.SILENT, **eighth.REFUSED, **eighth.SILENT}
RULES: Final = {**SEVENTH, **EIGHTH}
WHY: Final[Mapping[str, str]] = {
    "cleared up on paper": "a policy of cleanup begins so: what it would delete is looked at before it may",
    "the model's bucket by half of its name": "a bucket that nobody here makes may be another program's",
    "machines that may not read their models": "nothing recorded says what they read",
    "a server on another port than its probe": "a program may answer probes on a port of its own",
    "called from outside, open to the inside": "the service of that address is in no recording",
    "a job of five minutes for an hour's work": "nobody knows how long the work takes",
    "messages that come back while they are worked on": "likewise",
    "an image that nothing builds": "the repository may be another program's",
    "a script that asks for the internet, and no way out": "the images and Google's services are reached without",
    "a table that grows for ever": "features that are made anew every hour may go after one",
}


def found(resources: list[RecordedResource], rehearsal: Any) -> list[Finding]:
    """What values and rooms say of them."""
    return [*check_values(resources, knowing(rehearsal)), *check_works(resources, knowing(rehearsal))]


def knowing(rehearsal: Any) -> ValueContext:
    """What they are told of a program."""
    return replace(context_of(rehearsal), ours=True) if rehearsal.plan else CONTEXT


def recorded(stack: str, rehearsed: Any) -> Any:
    return foreign_program(stack) if stack == FOREIGN else rehearsed(stack)


@pytest.mark.parametrize("name", RULES)
def test_a_mistake_is_told(rehearsed: Any, name: str) -> None:
    change, stack = EVERY[name]
    rehearsal = recorded(stack, rehearsed)
    sound = list(rehearsal.known.resources)
    said = one_by_one(change(sound), knowing(rehearsal), RULES[name], values=True, sound=sound)
    assert any(RULES[name] in {each.rule for each in told} for told in said)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_not_accused(name: str) -> None:
    rehearsal = foreign_program(FOREIGN)
    said = found(RIGHT[name](list(rehearsal.known.resources)), rehearsal)
    assert [each for each in said if each.rule not in OF_WHAT_IS_ADDED] == []


def test_every_mistake_is_accounted_for() -> None:
    assert (len(seventh.REFUSED), len(seventh.SILENT)) == (17, 43)
    assert (len(eighth.REFUSED), len(eighth.SILENT)) == (10, 20)
    assert set(RULES) | set(WHY) == set(EVERY) and not set(RULES) & set(WHY)
