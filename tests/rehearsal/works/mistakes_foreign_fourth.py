"""A fourth set of mistakes in programs of others: a shop's ranking on ECS, an institute's Slurm on its own machines."""

from __future__ import annotations

import base64
from typing import Any

from tests.rehearsal.works.mistakes import DROP, Change, Mistake, both, drop, edit, in_json, put

ECS, SLURM = "ranking_aws", "folding_aws"
TASK, SERVICE = "aws:ecs/taskDefinition:TaskDefinition", "aws:ecs/service:Service"
AUTOSCALED, TEMPLATE = "aws:autoscaling/group:Group", "aws:ec2/launchTemplate:LaunchTemplate"
TARGETS, BALANCER = "aws:lb/targetGroup:TargetGroup", "aws:lb/loadBalancer:LoadBalancer"
LIFECYCLE = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"
ARRIVAL = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
ROLE_POLICY, ATTACHMENT = "aws:iam/rolePolicy:RolePolicy", "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
ALARM, EVENTS = "aws:cloudwatch/metricAlarm:MetricAlarm", "aws:cloudwatch/eventRule:EventRule"
RECORD, SUBNET, GROUP = "aws:route53/record:Record", "aws:ec2/subnet:Subnet", "aws:ec2/securityGroup:SecurityGroup"
CACHE, MOUNT = "aws:elasticache/replicationGroup:ReplicationGroup", "aws:efs/mountTarget:MountTarget"


def refer(type_: str, name: str, path: str, other: str, other_name: str, out: str = "") -> Change:
    """Puts the id, or an output, of another resource of the stack at a path."""

    def change(resources: Any) -> Any:
        (found,) = (one for one in resources if (one.type, one.name) == (other, other_name))
        value = found.outputs[out] if out else found.id
        return edit(type_, name, put(path, value))(resources)

    return change


def body(change: Any) -> Any:
    """Changes the one container of a task."""
    return in_json("containerDefinitions", lambda all_: change(all_[0]))


def variable(name: str, value: str) -> Any:
    """Gives one of a container's variables another value."""

    def into(container: dict[str, Any]) -> None:
        (found,) = (one for one in container["environment"] if one["name"] == name)
        found["value"] = value

    return body(into)


def script(old: str, new: str) -> Any:
    """Writes another thing into what machines run at their first start."""

    def into(inputs: dict[str, Any]) -> None:
        text = base64.b64decode(inputs["userData"]).decode()
        assert old in text
        inputs["userData"] = base64.b64encode(text.replace(old, new).encode()).decode()

    return into


def statement(index: int, **new: Any) -> Any:
    """Writes other things into a statement of a policy."""
    return in_json("policy", lambda document: document["Statement"][index].update(new))


REFUSED = [
    Mistake("fargate-size", "the feature tasks have less memory than one vCPU may have",
            edit(TASK, "features", put("memory", "1024")), "ecs-fargate", stack=ECS),
    Mistake("both-ways", "a service says both how it is launched and of which providers",
            edit(SERVICE, "features", put("capacityProviderStrategies", [
                {"capacityProvider": "FARGATE", "weight": 1}])), "aws-inputs", stack=ECS),
    Mistake("not-protected", "termination is protected of machines that are not protected from scaling in",
            edit(AUTOSCALED, "gpu", put("protectFromScaleIn", False)), "ecs-capacity", stack=ECS),
    Mistake("target-type", "tasks with addresses of their own are targets by instance",
            edit(TARGETS, "ranker", put("targetType", "instance")), "ecs-service", stack=ECS),
    Mistake("no-capacity", "serverless instances in a cluster without a capacity",
            edit("aws:rds/cluster:Cluster", "store", put("serverlessv2ScalingConfiguration", DROP)),
            "rds-serverless", stack=ECS),
    Mistake("expires-first", "clicks expire before they go to Glacier",
            edit(LIFECYCLE, "clicks", put("rules[0].expiration.days", 60)), "s3-lifecycle-order", stack=ECS),
    Mistake("one-cache", "failover of a cache of one node",
            edit(CACHE, "cache", put("numCacheClusters", 1)), "cache-failover", stack=ECS),
    Mistake("log-prefix", "access logs go where the bucket's policy lets none in",
            edit(BALANCER, "api", put("accessLogs.prefix", "api")), "lb-logs", stack=ECS),
    Mistake("throughput", "a throughput of the first generation of persistent Lustre",
            edit("aws:fsx/lustreFileSystem:LustreFileSystem", "scratch", put("perUnitStorageThroughput", 200)),
            "fsx-throughput", stack=SLURM),
    Mistake("too-short", "backups go to cold storage for less than ninety days",
            edit("aws:backup/plan:Plan", "home", put("rules[0].lifecycle.deleteAfter", 90)),
            "backup-plan", stack=SLURM),
    Mistake("long-drain", "a hook waits for three hours",
            edit("aws:autoscaling/lifecycleHook:LifecycleHook", "drain", put("heartbeatTimeout", 10800)),
            "autoscaling-hook", stack=SLURM),
    Mistake("cookies", "targets of TCP stick by cookies",
            edit(TARGETS, "login", put("stickiness", {"type": "lb_cookie", "enabled": True})),
            "lb-target-group", stack=SLURM),
    Mistake("one-zone", "a database's subnets are of one zone",
            edit("aws:rds/subnetGroup:SubnetGroup", "accounts", lambda d: d["subnetIds"].pop()),
            "rds-zones", stack=SLURM),
    Mistake("not-an-address", "the database's name as an A record",
            edit(RECORD, "accounts", put("type", "A")), "route53-record", stack=SLURM),
]  # fmt: skip
SILENT = [
    Mistake("hosts-let-in", "the machines are let into the feature service, not the tasks on them",
            refer(ARRIVAL, "features-from-ranker", "referencedSecurityGroupId", GROUP, "host"),
            "paths-call-closed", stack=ECS),
    Mistake("other-namespace", "the ranker asks for a name that the namespace does not have",
            edit(TASK, "ranker", variable("FEATURES", "features.shop.local:50051")), "paths-name-missing", stack=ECS),
    Mistake("other-cluster", "machines join a cluster by another name",
            edit(TEMPLATE, "gpu", script("ECS_CLUSTER=shop-ranking", "ECS_CLUSTER=ranking")),
            "programs-ecs-cluster", stack=ECS),
    Mistake("targets-by-name", "an alarm's target group by its name",
            edit(ALARM, "errors", put("dimensions.TargetGroup", "shop-ranker")), "programs-alarm", stack=ECS),
    Mistake("other-folders", "a table's partitions are folders that the stream does not write",
            edit("aws:glue/catalogTable:CatalogTable", "clicks", put(
                "parameters.storage~location~template", "s3://shop-ranking-clicks/clicks/${day}/")),
            "programs-table-folder", stack=ECS),
    Mistake("events-read", "training reads below a prefix that it has no right to and nothing writes",
            edit(TASK, "trainer", variable("CLICKS", "s3://shop-ranking-clicks/events/")),
            "rights-role-lacks", stack=ECS),
    Mistake("passes-one", "the schedule may not pass the trainer's role",
            edit(ROLE_POLICY, "nightly", in_json("policy", lambda d: d["Statement"][1].update(
                Resource=d["Statement"][1]["Resource"][:1]))), "rights-role-lacks", stack=ECS),
    Mistake("other-family", "a rule waits for a family that has another name",
            edit(EVENTS, "stopped", in_json("eventPattern", lambda d: d["detail"].update(
                group=["family:trainer"]))), "programs-pattern", stack=ECS),
    Mistake("no-pull", "the execution role has the rights to manage ECS, not those of tasks",
            edit(ATTACHMENT, "execution", put("policyArn", "arn:aws:iam::aws:policy/AmazonECS_FullAccess")),
            "rights-role-lacks", stack=ECS),
    Mistake("all-memory", "training asks for all that its machine's page says it has",
            edit(TASK, "trainer", body(lambda one: one.update(memory=32768))), "programs-ecs-room", stack=ECS),
    Mistake("front-inside", "a public balancer in private subnets",
            both(refer(BALANCER, "api", "subnets[0]", SUBNET, "private-0"),
                 refer(BALANCER, "api", "subnets[1]", SUBNET, "private-1")), "paths-front-inside", stack=ECS),
    Mistake("efa-by-address", "members are let in by their addresses, which EFA does not count",
            edit(ARRIVAL, "members-in", put("referencedSecurityGroupId", DROP), put("cidrIpv4", "172.20.0.0/16")),
            "paths-fabric-closed", stack=SLURM),
    Mistake("mount-elsewhere", "homes have a mount target in the other zone only",
            refer(MOUNT, "home", "subnetId", SUBNET, "spare"), "paths-no-mount-target", stack=SLURM),
    Mistake("other-name", "the head is called otherwise than nodes ask for it",
            edit(RECORD, "head", put("name", "controller.folding.internal")), "paths-name-missing", stack=SLURM),
    Mistake("other-hook", "a rule waits for a hook that has another name",
            edit(EVENTS, "ending", in_json("eventPattern", lambda d: d["detail"].update(
                LifecycleHookName=["drain-node"]))), "programs-pattern", stack=SLURM),
    Mistake("other-tag", "snapshots of volumes with a tag that none has",
            edit("aws:ebs/volume:Volume", "state", put("tags.snapshots", "nightly"),
                 put("tagsAll.snapshots", "nightly")), "reference-backup", stack=SLURM),
    Mistake("secret-by-name", "nodes may read a secret whose ARN ends with its name",
            edit(ROLE_POLICY, "node", statement(
                0, Resource="arn:aws:secretsmanager:eu-west-1:123456789012:secret:folding/munge")),
            "rights-statement-nothing", stack=SLURM),
    Mistake("other-metric", "an alarm over a metric in another namespace than the filter's",
            edit(ALARM, "node-down", put("namespace", "Folding/Slurm")), "programs-alarm", stack=SLURM),
]  # fmt: skip
HEALTHY = {
    "tasks of the cluster's usual provider": (ECS, edit(SERVICE, "features", put("launchType", DROP))),
    "tasks that the balancer's subnets are let into": (
        ECS, edit(ARRIVAL, "ranker-from-balancer", put("referencedSecurityGroupId", DROP),
                  put("cidrIpv4", "10.80.0.0/23"))),
    "a cache of one node": (
        ECS, edit(CACHE, "cache", put("numCacheClusters", 1), put("automaticFailoverEnabled", False),
                  put("multiAzEnabled", False))),
    "nights of workdays": (
        ECS, edit("aws:scheduler/schedule:Schedule", "nightly", put("scheduleExpression", "cron(30 1 ? * MON-FRI *)"))),
    "tasks of every family of the shop": (
        ECS, edit(EVENTS, "stopped", in_json("eventPattern", lambda d: d["detail"].update(
            group=[{"prefix": "family:shop-"}])))),
    "homes in the members' own group": (
        SLURM, refer(MOUNT, "home", "securityGroups[0]", GROUP, "members")),
    "a balancer that shows its own address": (
        SLURM, both(drop(ARRIVAL, "ssh-in"), edit(TARGETS, "login", put("preserveClientIp", "false")))),
    "a secret with any end": (
        SLURM, edit(ROLE_POLICY, "node", statement(
            0, Resource="arn:aws:secretsmanager:eu-west-1:123456789012:secret:folding/munge-??????"))),
    "a record by what stands before its zone": (SLURM, edit(RECORD, "head", put("name", "head"))),
    "homes of one zone": (
        SLURM, edit("aws:efs/fileSystem:FileSystem", "home", put("availabilityZoneName", "eu-west-1a"))),
}  # fmt: skip
BESIDE = {
    "managed scaling off": (
        ECS, edit("aws:ecs/capacityProvider:CapacityProvider", "gpu", put(
            "autoScalingGroupProvider.managedScaling.status", "DISABLED")), "ecs-capacity"),
    "an address of a record of IPv6": (
        SLURM, edit(RECORD, "accounts", put("type", "AAAA")), "route53-record"),
    "a group of targets without its balancer": (
        ECS, edit(ALARM, "errors", put("dimensions.LoadBalancer", DROP)), "programs-alarm"),
    "a service without its cluster": (
        ECS, edit(ALARM, "ranker-cpu", put("dimensions.ClusterName", DROP)), "programs-alarm"),
    "more GPUs than a machine has": (
        ECS, edit(TASK, "ranker", body(lambda one: one["resourceRequirements"][0].update(value="2"))),
        "programs-ecs-room"),
    "machines that say no cluster": (ECS, edit(TEMPLATE, "gpu", put("userData", DROP)), "programs-ecs-cluster"),
    "a schedule that may not run": (
        ECS, edit(ROLE_POLICY, "nightly", statement(0, Action="ecs:StopTask")), "rights-role-lacks"),
    "half of a public balancer inside": (
        ECS, refer(BALANCER, "api", "subnets[1]", SUBNET, "private-1"), "paths-front-inside"),
    "no policy for the logs": (
        ECS, drop("aws:s3/bucketPolicy:BucketPolicy", "access-logs"), "lb-logs"),
    "a service that is not in the namespace": (
        ECS, edit(TASK, "ranker", variable("FEATURES", "feature.shop.internal:50051")), "paths-name-missing"),
}  # fmt: skip
"""What is wrong beside a mistake of the set, and the rule that has to tell it."""
RIGHT = {
    "a hook that waits two hours": (
        SLURM, edit("aws:autoscaling/lifecycleHook:LifecycleHook", "drain", put("heartbeatTimeout", 7200))),
    "targets of TCP that do not stick": (SLURM, edit(TARGETS, "login", put("stickiness", DROP))),
    "machines that need no protection": (
        ECS, both(edit(AUTOSCALED, "gpu", put("protectFromScaleIn", False)),
                  edit("aws:ecs/capacityProvider:CapacityProvider", "gpu", put(
                      "autoScalingGroupProvider.managedTerminationProtection", "DISABLED")))),
    "logs of every prefix": (
        ECS, both(edit(BALANCER, "api", put("accessLogs.prefix", "api")),
                  edit("aws:s3/bucketPolicy:BucketPolicy", "access-logs", statement(
                      0, Resource="arn:aws:s3:::shop-ranking-access-logs/*")))),
    "no logs": (ECS, edit(BALANCER, "api", put("accessLogs", {
        "bucket": "shop-ranking-access-logs", "prefix": "api", "enabled": False}))),
    "a name of somebody else's zone": (
        ECS, edit(TASK, "ranker", variable("FEATURES", "features.platform.example:50051"))),
    "a family of somebody else's": (
        ECS, edit(EVENTS, "stopped", in_json("eventPattern", lambda d: d["detail"].update(
            group=["family:search-indexer"])))),
    "a reservation of less memory": (
        ECS, edit(TASK, "trainer", body(lambda one: one.update(memory=32768, memoryReservation=28672)))),
    "a cluster that the script asks for": (
        ECS, edit(TEMPLATE, "gpu", script("ECS_CLUSTER=shop-ranking", "ECS_CLUSTER=${CLUSTER}"))),
    "folders as Hive has them not": (
        ECS, both(edit("aws:glue/catalogTable:CatalogTable", "clicks", put(
                      "parameters.storage~location~template", "s3://shop-ranking-clicks/clicks/${day}/")),
                  edit("aws:kinesis/firehoseDeliveryStream:FirehoseDeliveryStream", "clicks", put(
                      "extendedS3Configuration.prefix", "clicks/!{timestamp:yyyy-MM-dd}/")))),
    "a balancer within": (
        ECS, both(refer(BALANCER, "api", "subnets[0]", SUBNET, "private-0"),
                  refer(BALANCER, "api", "subnets[1]", SUBNET, "private-1"),
                  edit(BALANCER, "api", put("internal", True)))),
}  # fmt: skip
"""What is right beside a rule that came of the set."""
