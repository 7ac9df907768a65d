"""A fifth set of mistakes in programs of others: folding on machines, a language team's TPUs, both on Google Cloud.

At first sight, refused: 11 of 13; silent: 6 of 18; ten of ten healthy changes were let be.
"""

from __future__ import annotations

from typing import Any

from tests.rehearsal.works.mistakes import DROP, Mistake, both, edit, put

MACHINES, SLICES = "folding_google", "language_google"
CUSTOM = "kubernetes:apiextensions.k8s.io/v1:CustomResource"
RUN, SUBSCRIPTION = "gcp:cloudrunv2/service:Service", "gcp:pubsub/subscription:Subscription"
TEMPLATE, FIREWALL = "gcp:compute/instanceTemplate:InstanceTemplate", "gcp:compute/firewall:Firewall"
FILES, SCHEDULE = "gcp:filestore/instance:Instance", "gcp:cloudscheduler/job:Job"
BACKEND, ALERT = "gcp:compute/backendService:BackendService", "gcp:monitoring/alertPolicy:AlertPolicy"
NAT, ARMOR = "gcp:compute/routerNat:RouterNat", "gcp:compute/securityPolicy:SecurityPolicy"
ENDPOINTS = "gcp:compute/regionNetworkEndpointGroup:RegionNetworkEndpointGroup"
NOTIFICATION = "gcp:storage/notification:Notification"
DEPLOYMENT, POLICY = "kubernetes:apps/v1:Deployment", "kubernetes:networking.k8s.io/v1:NetworkPolicy"
ROUTE, GATEWAY = "kubernetes:gateway.networking.k8s.io/v1:HTTPRoute", "kubernetes:gateway.networking.k8s.io/v1:Gateway"
JOB_SET = "kubernetes:jobset.x-k8s.io/v1alpha2:JobSet"
HEALTH = "kubernetes:networking.gke.io/v1:HealthCheckPolicy"
MEMBER = "gcp:storage/bucketIAMMember:BucketIAMMember"
BODY = "spec.template.spec.containers[0]"
TRAINER = "spec.replicatedJobs[0].template.spec.template.spec.containers[0]"


def swap(path: str, old: str, new: str) -> Any:
    """Puts one text for another into a text of the inputs."""

    def into(inputs: dict[str, Any]) -> None:
        held: Any = inputs
        *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
        for part in way:
            held = held[part]
        assert old in held[last], held[last]
        held[last] = held[last].replace(old, new)

    return into


RULES = {
    "nat-addresses": "gcp-nat-addresses",
    "run-timeout": "gcp-run",
    "schedule-deadline": "gcp-schedule",
    "dead-letter-attempts": "gcp-range-of-numbers",
    "filestore-step": "gcp-filestore",
    "spot-migrates": "gcp-gpu-maintenance",
    "edition": "gcp-sql-tier",
    "topology": "gke-tpu",
    "ranges-overlap": "gcp-range-overlap",
    "maintenance-rare": "gke-maintenance",
    "gpus-asked": "k8s-resources",
    "health-ranges": "path-balancer",
    "prefix-slash": "programs-prefix",
    "scheduler-oidc": "programs-token",
    "alert-metric": "programs-alert",
    "principal": "rights-binding-no-account",
    "fuse-annotation": "programs-bucket-mount",
    "armor-default": "gcp-armor",
    "serverless-health": "gcp-backend",
    "nfs-ranges": "programs-export",
    "share-name": "programs-share",
    "lifecycle-live": "gcs-lifecycle",
    "audience": "programs-audience",
    "ingress": "programs-ingress",
    "no-network": "programs-database",
    "policy-port": "flows-probes",
    "health-port": "reference-health-port",
    "routes-from": "reference-route",
    "certificate-host": "reference-certificate",
    "slice-label": "reference-field-path",
    "attribute": "programs-attribute",
}
"""What tells each."""


def one(name: str, what: str, change: Any, stack: str = MACHINES) -> Mistake:
    """A mistake of this set."""
    return Mistake(name, what, change, RULES[name], "", stack)


REFUSED = [
    one("nat-addresses", "a NAT that takes its addresses itself and is given one",
        edit(NAT, "folding", put("natIpAllocateOption", "AUTO_ONLY"))),
    one("armor-default", "the last rule of a security policy is for some addresses",
        edit(ARMOR, "mlflow", put("rules[1].match.config.srcIpRanges", ["0.0.0.0/1"]))),
    one("run-timeout", "a service on Cloud Run that may answer for two hours",
        edit(RUN, "intake", put("template.timeout", "7200s"))),
    one("schedule-deadline", "a job of the scheduler that waits an hour for its answer",
        edit(SCHEDULE, "report", put("attemptDeadline", "3600s"))),
    one("dead-letter-attempts", "a message is given up after three times",
        edit(SUBSCRIPTION, "work", put("deadLetterPolicy.maxDeliveryAttempts", 3))),
    one("filestore-step", "a share of 9000 GiB",
        edit(FILES, "databases", put("fileShares.capacityGb", 9000))),
    one("spot-migrates", "Spot machines with GPUs that move when their host is serviced",
        edit(TEMPLATE, "worker", put("scheduling.onHostMaintenance", "MIGRATE"))),
    one("serverless-health", "a health check for a backend on Cloud Run",
        edit(BACKEND, "mlflow", put("healthChecks", "projects/orrin-folding/global/healthChecks/folding-worker"))),
    one("edition", "Enterprise Plus on a custom machine",
        edit("gcp:sql/databaseInstance:DatabaseInstance", "tracking", put("settings.edition", "ENTERPRISE_PLUS"))),
    one("topology", "a topology of three dimensions for TPUs of two",
        edit("gcp:container/nodePool:NodePool", "slice-0", put("placementPolicy.tpuTopology", "4x4x4")), stack=SLICES),
    one("ranges-overlap", "the range of services lies within that of nodes",
        edit("gcp:compute/subnetwork:Subnetwork", "nodes", put("secondaryIpRanges[1].ipCidrRange", "10.0.8.0/21")),
        stack=SLICES),
    one("maintenance-rare", "maintenance on one Saturday a month",
        edit("gcp:container/cluster:Cluster", "language",
             put("maintenancePolicy.recurringWindow.recurrence", "FREQ=MONTHLY;BYDAY=1SA")), stack=SLICES),
    one("gpus-asked", "one GPU asked for, two as the limit",
        edit(DEPLOYMENT, "server", put(f"{BODY}.resources.requests.nvidia~com/gpu", "1")), stack=SLICES),
]  # fmt: skip

SILENT = [
    one("health-ranges", "health checks let in from the ranges of another kind of balancer",
        edit(FIREWALL, "health", put("sourceRanges", ["209.85.152.0/22", "209.85.204.0/22"]))),
    one("nfs-ranges", "files are exported to the subnet of services, not to that of machines",
        edit(FILES, "databases", put("fileShares.nfsExportOptions[0].ipRanges", ["10.40.8.0/24"]))),
    one("share-name", "machines mount the instance's name as its share",
        edit(TEMPLATE, "worker", swap("metadataStartupScript", ":/genomes /mnt", ":/folding-databases /mnt"))),
    one("prefix-slash", "objects are told below a prefix that begins with a slash",
        edit(NOTIFICATION, "sequences", put("objectNamePrefix", "/incoming/"))),
    one("lifecycle-live", "old versions are to go, of those that are live",
        edit("gcp:storage/bucket:Bucket", "structures", put("lifecycleRules[2].condition.withState", "LIVE"))),
    one("scheduler-oidc", "a Google API is called with an identity token",
        edit(SCHEDULE, "report", put("httpTarget.oauthToken", DROP),
             put("httpTarget.oidcToken", {
                 "serviceAccountEmail": "folding-clock@orrin-folding.iam.gserviceaccount.com"}))),
    one("audience", "tokens of pushed messages are for a name that the service does not have",
        edit(SUBSCRIPTION, "arrivals", put("pushConfig.oidcToken.audience", "https://intake.folding.orrin.example"))),
    one("ingress", "a service behind an external balancer that takes calls of the network alone",
        edit(RUN, "mlflow", put("ingress", "INGRESS_TRAFFIC_INTERNAL_ONLY"))),
    one("no-network", "a service without the network that its database is in",
        edit(RUN, "mlflow", put("template.vpcAccess", DROP))),
    one("alert-metric", "an alert on a metric of another name than the log's",
        edit(ALERT, "failed", swap("conditions.0.conditionThreshold.filter", "folding/failed", "folding-failed"))),
    one("policy-port", "the network policy lets the balancer to another port than the server's",
        edit(POLICY, "server", put("spec.ingress[0].ports[0].port", 8080)), stack=SLICES),
    one("health-port", "the balancer checks the service's port on pods",
        edit(HEALTH, "server-health", put("spec.default.config.httpHealthCheck.port", 80)), stack=SLICES),
    one("routes-from", "the gateway takes routes of namespaces with another label",
        edit(GATEWAY, "door", put("spec.listeners[0].allowedRoutes.namespaces.selector.matchLabels",
                                 {"maro.example/part": "server"})), stack=SLICES),
    one("principal", "the bucket is opened to a service account that nobody is",
        edit(MEMBER, "trainer-corpus", swap("member", "/sa/trainer", "/sa/train")), stack=SLICES),
    one("certificate-host", "the certificate is for another host than the route",
        edit("gcp:certificatemanager/certificateMapEntry:CertificateMapEntry", "door",
             put("hostname", "model.language.maro.example")), stack=SLICES),
    one("fuse-annotation", "a pod mounts a bucket without the annotation that brings the sidecar",
        edit(DEPLOYMENT, "server", put("spec.template.metadata.annotations", DROP)), stack=SLICES),
    one("slice-label", "the number of a slice is read from a label that no pod of it has",
        edit(JOB_SET, "pretraining", put(f"{TRAINER}.env[1].valueFrom.fieldRef.fieldPath",
                                        "metadata.labels['jobset.sigs.k8s.io/slice-index']")), stack=SLICES),
    one("attribute", "a subscription waits for an attribute that notifications have otherwise",
        edit(SUBSCRIPTION, "judge", swap("filter", '"pretraining"', '"pre-training"')), stack=SLICES),
]  # fmt: skip

HEALTHY = {
    "health checks let in by the account of machines": (
        MACHINES, edit(FIREWALL, "health", put("targetTags", DROP), put("targetServiceAccounts", [
            "folding-worker@orrin-folding.iam.gserviceaccount.com"]))),
    "a NAT for every subnet": (
        MACHINES, edit(NAT, "folding", put("subnetworks", DROP),
                       put("sourceSubnetworkIpRangesToNat", "ALL_SUBNETWORKS_ALL_PRIMARY_IP_RANGES"))),
    "every object is told": (MACHINES, edit(NOTIFICATION, "sequences", put("objectNamePrefix", DROP))),
    "a job started by the older API": (
        MACHINES, edit(SCHEDULE, "report", put("httpTarget.uri", "https://us-central1-run.googleapis.com/apis/"
                       "run.googleapis.com/v1/namespaces/orrin-folding/jobs/folding-report:run"))),
    "all traffic by the network": (MACHINES, edit(RUN, "mlflow", put("template.vpcAccess.egress", "ALL_TRAFFIC"))),
    "the balancer let in by the name of the port": (
        SLICES, edit(POLICY, "server", put("spec.ingress[0].ports[0].port", "http"))),
    "a route for each listener": (SLICES, edit(ROUTE, "server-route", put("spec.parentRefs[0].sectionName", DROP))),
    "a health check on the serving port": (
        SLICES, edit(HEALTH, "server-health", put("spec.default.config.httpHealthCheck", {
            "requestPath": "/health", "portSpecification": "USE_SERVING_PORT"}))),
    "a budget of what may be away": (
        SLICES, edit("kubernetes:policy/v1:PodDisruptionBudget", "server", put("spec.minAvailable", DROP),
                     put("spec.maxUnavailable", "34%"))),
    "a bucket opened to a namespace": (
        SLICES, edit(MEMBER, "trainer-corpus", put("member",
            "principalSet://iam.googleapis.com/projects/141421356237/locations/global/workloadIdentityPools/"
            "maro-language.svc.id.goog/namespace/training"))),
}  # fmt: skip


def _uptime(resources: Any) -> Any:
    """The uptime check asks the intake by the address that Google gives it."""
    (intake,) = (one for one in resources if (one.type, one.name) == (RUN, "intake"))
    host = str(intake.outputs["uri"]).removeprefix("https://")
    return edit(UPTIME, "tracking", put("monitoredResource.labels.host", host))(resources)


UPTIME, BUCKET = "gcp:monitoring/uptimeCheckConfig:UptimeCheckConfig", "gcp:storage/bucket:Bucket"
OFFICE = {"action": "allow", "match": {
    "versionedExpr": "SRC_IPS_V1", "config": {"srcIpRanges": ["192.0.2.0/24"]}}}  # fmt: skip
DATABASE = "gcp:sql/databaseInstance:DatabaseInstance"
LISTENER = "spec.listeners[0]"
SPACES = f"{LISTENER}.allowedRoutes.namespaces"
ENTRY = "gcp:certificatemanager/certificateMapEntry:CertificateMapEntry"
WAITS = 'attributes.eventType = "OBJECT_FINALIZE" AND '
FIELD = f"{TRAINER}.env[1].valueFrom.fieldRef.fieldPath"
RIGHT = {
    "routes of some namespaces": (SLICES, edit(GATEWAY, "door", put(f"{SPACES}.selector", {
        "matchExpressions": [{"key": "maro.example/part", "operator": "In", "values": ["serving", "evaluation"]}]}))),
    "routes of all namespaces": (SLICES, edit(GATEWAY, "door", put(SPACES, {"from": "All"}))),
    "a listener of every host below": (
        SLICES, edit(GATEWAY, "door", put(f"{LISTENER}.hostname", "*.language.maro.example"))),
    "a certificate of every host below": (SLICES, edit(ENTRY, "door", put("hostname", "*.language.maro.example"))),
    "a certificate of every host": (
        SLICES, edit(ENTRY, "door", put("hostname", DROP), put("matcher", "PRIMARY"))),
    "everybody let in to some ports": (SLICES, edit(POLICY, "server", put("spec.ingress[0]", {
        "from": [{"ipBlock": {"cidr": "0.0.0.0/0"}}], "ports": [{"port": 8000, "endPort": 8100}]}))),
    "the balancer let in to all ports": (SLICES, edit(POLICY, "server", put("spec.ingress[0].ports", DROP))),
    "nothing that enforces network policies": (
        SLICES, both(edit(POLICY, "server", put("spec.ingress[0].ports[0].port", 8080)),
                     edit("gcp:container/cluster:Cluster", "language", put("datapathProvider", DROP)))),
    "probes let in to the port that they ask, and calls by a subnet of proxies": (
        SLICES, both(
            edit(GATEWAY, "door", put("spec.gatewayClassName", "gke-l7-regional-external-managed")),
            edit(HEALTH, "server-health", put("spec.default.config.httpHealthCheck.port", 9000)),
            edit(POLICY, "server", put("spec.ingress[0].ports[0].port", 9000)))),
    "a slice by its number among all": (
        SLICES, edit(JOB_SET, "pretraining", put(FIELD, "metadata.labels['jobset.sigs.k8s.io/job-global-index']"))),
    "what begins as the attribute does": (
        SLICES, edit(SUBSCRIPTION, "judge", put("filter", WAITS + 'hasPrefix(attributes.stage, "pre-")'))),
    "one of two": (
        SLICES, edit(SUBSCRIPTION, "judge", put(
            "filter", 'attributes.stage = "pretrain" OR attributes.stage = "pretraining"'))),
    "an attribute of whoever else tells the topic": (
        SLICES, edit(SUBSCRIPTION, "judge", put("filter", WAITS + 'attributes.team = "alignment"'))),
    "a third office": (MACHINES, edit(ARMOR, "mlflow", lambda i: i["rules"].insert(0, {**OFFICE, "priority": 900}))),
    "files for all of the network": (MACHINES, edit(FILES, "databases", put("fileShares.nfsExportOptions", DROP))),
    "files for more than the machines": (
        MACHINES, edit(FILES, "databases", put("fileShares.nfsExportOptions[0].ipRanges", ["10.40.0.0/16"]))),
    "a folder of the share": (
        MACHINES, edit(TEMPLATE, "worker", swap("metadataStartupScript", ":/genomes /mnt", ":/genomes/uniref /mnt"))),
    "three newer versions, whatever the state": (
        MACHINES, edit(BUCKET, "structures", put("lifecycleRules[2].condition.withState", DROP))),
    "a token for a name that the service is given besides": (
        MACHINES, both(edit(SUBSCRIPTION, "arrivals", put("pushConfig.oidcToken.audience", "folding-intake")),
                       edit(RUN, "intake", put("customAudiences", ["folding-intake"])))),
    "a token for the address that is called": (
        MACHINES, edit(SUBSCRIPTION, "arrivals", put("pushConfig.oidcToken.audience", DROP))),
    "a service that takes calls from everywhere": (
        MACHINES, edit(RUN, "mlflow", put("ingress", "INGRESS_TRAFFIC_ALL"))),
    "an uptime check of a service that takes calls from everywhere": (
        MACHINES, both(_uptime, edit(RUN, "intake", put("ingress", "INGRESS_TRAFFIC_ALL")))),
    "a health check of what is no service of Google's": (
        MACHINES, both(
            edit(BACKEND, "mlflow", put("healthChecks", "projects/orrin-folding/global/healthChecks/folding-worker")),
            edit(ENDPOINTS, "mlflow", put("networkEndpointType", "INTERNET_FQDN_PORT"), put("cloudRun", DROP)))),
}  # fmt: skip
BESIDE = {
    "routes of the Gateway's namespace": (
        SLICES, edit(GATEWAY, "door", put(f"{LISTENER}.allowedRoutes", DROP)), "reference-route"),
    "a listener of another host": (
        SLICES, edit(GATEWAY, "door", put(f"{LISTENER}.hostname", "model.language.maro.example")), "reference-route"),
    "a listener that there is not": (
        SLICES, edit(ROUTE, "server-route", put("spec.parentRefs[0].sectionName", "http")), "reference-route"),
    "half of those who probe": (
        SLICES, edit(POLICY, "server", put("spec.ingress[0].from", [{"ipBlock": {"cidr": "35.191.0.0/16"}}])),
        "flows-probes"),
    "a port for probes alone, which the policy closes": (
        SLICES, edit(HEALTH, "server-health", put("spec.default.config.httpHealthCheck.port", 9000)), "flows-probes"),
    "another event": (
        SLICES, edit(SUBSCRIPTION, "judge", swap("filter", "OBJECT_FINALIZE", "OBJECT_DELETE")), "programs-attribute"),
    "another attribute": (
        SLICES, edit(SUBSCRIPTION, "judge", swap("filter", "attributes.stage", "attributes.stages")),
        "programs-attribute"),
    "two rules of one priority": (
        MACHINES, edit(ARMOR, "mlflow", lambda i: i["rules"].insert(0, {**OFFICE, "priority": 1000})), "gcp-armor"),
    "days of old versions, of those that are live": (
        MACHINES, edit(BUCKET, "structures", put("lifecycleRules[2].condition", {
            "daysSinceNoncurrentTime": 30, "withState": "LIVE"})), "gcs-lifecycle"),
    "an uptime check of a service of the network": (MACHINES, _uptime, "programs-ingress"),
}  # fmt: skip
