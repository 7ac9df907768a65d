"""Truth tables of money."""

from dataclasses import replace

from tests.policies.truth import (
    NOT_APPLICABLE,
    OK,
    UNDECIDED,
    UNKNOWN,
    VIOLATED,
    gke_pool,
    kubernetes,
    made,
    node_group,
    table,
    unknown,
)

TAGS = {"client": "a", "environment": "demo", "team": "shared", "cost-centre": "1", "managed-by": "trainyard"}
MEDIUM = {"teamSize": 12}


def alert(kind, **subscribers):
    return {"notificationType": kind, "threshold": 80, **subscribers}


def budget(limit="60000", *alerts, **changes):
    alerts = alerts or tuple(alert(kind, subscriberSnsTopicArns=[UNKNOWN]) for kind in ("ACTUAL", "FORECASTED"))
    inputs = {"budgetType": "COST", "timeUnit": "MONTHLY", "limitAmount": limit, "notifications": list(alerts)}
    return made("aws:budgets/budget:Budget", "budget", {**inputs, **changes})


TOPIC = made("aws:sns/topic:Topic", "alerts", {})
OTHER_TOPIC = made("aws:sns/topic:Topic", "others", {})


def told_by(topic, **more):
    alerts = [alert(kind, subscriberSnsTopicArns=[UNKNOWN], **more) for kind in ("ACTUAL", "FORECASTED")]
    return replace(budget("60000", *alerts), property_dependencies={"notifications": (topic.urn,)})


def subscription(topic):
    return made("aws:sns/topicSubscription:TopicSubscription", "mail", {}, uses={"topic": [topic]})


def chat(topic):
    type_ = "aws:chatbot/slackChannelConfiguration:SlackChannelConfiguration"
    return made(type_, "chat", {}, uses={"snsTopicArns": [topic]})


def gcp_budget(*bases):
    return made("gcp:billing/budget:Budget", "budget", {"thresholdRules": [{"spendBasis": base} for base in bases]})


def template(tags, *kinds):
    specifications = [{"resourceType": kind, "tags": tags} for kind in kinds]
    return made("aws:ec2/launchTemplate:LaunchTemplate", "template", {"tagSpecifications": specifications})


def block(type_):
    """A Capacity Block's launch template and its node group, which names no instance type."""
    launch = made("aws:ec2/launchTemplate:LaunchTemplate", "block", {"instanceType": type_})
    group = node_group("block", capacity="reserved", types=[], max=4, uses={"launchTemplate": [launch]})
    return [launch, group]


def database(**changes):
    inputs = {"engine": "postgres", "instanceClass": "db.t4g.medium", "multiAz": True, "allocatedStorage": 50}
    return made("aws:rds/instance:Instance", "db", {**inputs, "storageType": "gp3", **changes})


def lustre(**changes):
    inputs = {"storageCapacity": 4800, "deploymentType": "PERSISTENT_2", "perUnitStorageThroughput": 500}
    return made("aws:fsx/lustreFileSystem:LustreFileSystem", "fs", {**inputs, **changes})


def people_s(name, nodes):
    """Nodes of one GPU on demand, in the pool that the profile keeps there for notebooks."""
    return node_group(name, pool="dev", types=["g6.2xlarge"], max=nodes, capacity="on-demand")


def on_demand_half():
    """As many GPUs on demand as one node has."""
    return [node_group("on-demand", max=1, capacity="on-demand")]


def reserved_by_the_stack(count=1):
    """One node that goes into a reservation of the same stack, which is paid for whether it is used or not."""
    inputs = {"instanceType": "p4d.24xlarge", "instanceCount": count}
    reservation = made("aws:ec2/capacityReservation:CapacityReservation", "held", inputs)
    uses = {"capacityReservationSpecification": [reservation]}
    target = {"capacityReservationSpecification": {"capacityReservationTarget": {"capacityReservationId": "cr-1"}}}
    launch = made("aws:ec2/launchTemplate:LaunchTemplate", "launch", target, uses=uses)
    return [reservation, launch, node_group(capacity="on-demand", max=1, uses={"launchTemplate": [launch]})]


def autoscaler(chart="cluster-autoscaler", **flags):
    flags = {"skip-nodes-with-local-storage": "false", "scale-down-unneeded-time": "10m", **flags}
    return kubernetes("helm.sh/v3:Release", "autoscaler", chart=chart, values={"extraArgs": flags})


BUCKET = "aws:s3/bucket:Bucket"
PROVIDER = made("pulumi:providers:aws", "aws", {"defaultTags": '{"tags": {"client": "a", "environment": "demo"}}'})
UNDER_PROVIDER = f"{PROVIDER.urn}::id"

CASES = [
    *table(
        "budget-without-alerts",
        ("both alerts", OK, budget()),
        ("no budget", VIOLATED, ()),
        ("no forecast", VIOLATED, budget("1", alert("ACTUAL", subscriberEmailAddresses=["a@b.cd"]))),
        ("nobody is told", VIOLATED, budget("1", alert("ACTUAL"), alert("FORECASTED"))),
        ("yearly", VIOLATED, budget(timeUnit="ANNUALLY")),
        ("usage", VIOLATED, budget(budgetType="USAGE")),
        ("subscriber unknown counts", OK, budget()),
        ("a topic that nobody hears", VIOLATED, [told_by(TOPIC), TOPIC]),
        ("a topic with a subscriber", OK, [told_by(TOPIC), TOPIC, subscription(TOPIC)]),
        (
            "a topic beside one with a subscriber",
            VIOLATED,
            [told_by(TOPIC), TOPIC, OTHER_TOPIC, subscription(OTHER_TOPIC)],
        ),
        ("a topic in a chat", OK, [told_by(TOPIC), TOPIC, chat(TOPIC)]),
        ("a topic that nobody hears, and an address", OK, [told_by(TOPIC, subscriberEmailAddresses=["a@b.cd"]), TOPIC]),
        ("period unknown", UNDECIDED, unknown(budget(), "timeUnit")),
        ("GCP", OK, gcp_budget("CURRENT_SPEND", "FORECASTED_SPEND")),
        ("GCP without forecast", VIOLATED, gcp_budget("CURRENT_SPEND")),
    ),
    *table(
        "ceiling-spend-over-budget",
        ("weeks", OK, [budget("60000"), node_group()]),
        ("hours", VIOLATED, [budget("100"), node_group()]),
        ("two budgets add up", OK, [budget("5000"), made(budget().type, "more", budget("9000").inputs), node_group()]),
        ("no budget", NOT_APPLICABLE, node_group()),
        ("no price", VIOLATED, [budget(), node_group(types=["z9.huge"])]),
        ("plain machines without a price", OK, [budget("60000"), node_group(types=["m8g.2xlarge", "c7a.large"])]),
        ("plain machines that are too dear at most", VIOLATED, [budget("10"), node_group(types=["m8g.2xlarge"])]),
        ("GPUs without a price", VIOLATED, [budget("60000"), node_group(types=["g9.2xlarge"])]),
        ("Capacity Block", OK, [budget("500000"), *block("p5.48xlarge")]),
        ("Capacity Block too dear", VIOLATED, [budget("1000"), *block("p5.48xlarge")]),
        ("limit unknown", UNDECIDED, [unknown(budget(), "limitAmount"), node_group()]),
        ("fewer days", OK, [budget("3000"), node_group()], {}, {"minDays": 2}),
        (
            "database and Lustre count",
            VIOLATED,
            [
                budget("1"),
                database(),
                lustre(),
                made("aws:ec2/natGateway:NatGateway", "nat", {}),
                made("aws:eks/cluster:Cluster", "cluster", {}),
            ],
        ),
        ("database and Lustre have a price", OK, [budget("60000"), database(), lustre()]),
        ("a database that is looked into closely", OK, [budget("60000"), database(databaseInsightsMode="advanced")]),
        ("an extra without a price", OK, [budget("60000"), database(performanceInsightsRetentionPeriod=731)]),
        ("a plain database class without a price", OK, [budget("60000"), database(instanceClass="db.r6i.large")]),
        (
            "a plain database class that is too dear at most",
            VIOLATED,
            [budget("50"), database(instanceClass="db.r6i.4xlarge")],
        ),
        ("an older Lustre", OK, [budget("60000"), lustre(deploymentType="PERSISTENT_1", perUnitStorageThroughput=200)]),
        ("a database class without a price", VIOLATED, [budget(), database(instanceClass="db.z9.huge")]),
        ("a Lustre throughput without a price", VIOLATED, [budget(), lustre(perUnitStorageThroughput=333)]),
        ("Lustre alone is too dear", VIOLATED, [budget("500"), lustre(storageCapacity=48000)]),
        ("a database size unknown", UNDECIDED, [budget(), database(allocatedStorage=UNKNOWN)]),
        ("a reservation counts once", OK, [budget("4000"), *reserved_by_the_stack()]),
        ("a reservation of more than its nodes", VIOLATED, [budget("4000"), *reserved_by_the_stack(count=3)]),
        ("nothing that costs", OK, budget("1")),
    ),
    *table(
        "costed-resource-without-cost-tags",
        ("tagsAll", OK, made(BUCKET, "b", {"tagsAll": TAGS})),
        ("one missing", VIOLATED, made(BUCKET, "b", {"tagsAll": {"client": "a"}})),
        ("none", VIOLATED, made(BUCKET, "b", {})),
        ("provider and own", OK, [PROVIDER, made(BUCKET, "b", {"tags": TAGS}, provider=UNDER_PROVIDER)]),
        ("provider alone", VIOLATED, [PROVIDER, made(BUCKET, "b", {}, provider=UNDER_PROVIDER)]),
        ("template", OK, template(TAGS, "instance", "volume")),
        ("template without volumes", VIOLATED, template(TAGS, "instance")),
        ("costs nothing", OK, made("aws:iam/role:Role", "r", {})),
        ("unknown", UNDECIDED, made(BUCKET, "b", {"tagsAll": UNKNOWN})),
        ("other tags", OK, made(BUCKET, "b", {"tagsAll": {"who": "x"}}), {}, {"requiredTags": ["who"]}),
    ),
    *table(
        "gpu-model-outside-profile",
        ("in the profile", OK, node_group(), MEDIUM),
        ("outside", VIOLATED, node_group(types=["p5.48xlarge"]), MEDIUM),
        (
            "by the teams' members",
            VIOLATED,
            node_group(types=["p5.48xlarge"]),
            {"teams": [{"name": "a", "members": 9}]},
        ),
        ("large chooses freely", NOT_APPLICABLE, node_group(types=["p5.48xlarge"]), {"profile": "large"}),
        ("allowed", OK, node_group(types=["p5.48xlarge"]), MEDIUM, {"allowedGpus": ["H100"]}),
        ("no GPU", OK, node_group(types=["m7i.xlarge"]), MEDIUM),
        ("no profile", NOT_APPLICABLE, node_group()),
        ("Capacity Block", VIOLATED, block("p5.48xlarge"), MEDIUM),
        ("type unknown", UNDECIDED, unknown(node_group(), "instanceTypes"), MEDIUM),
        ("GKE", VIOLATED, gke_pool(), MEDIUM, {"allowedGpus": ["H100"]}),
    ),
    *table(
        "gpu-count-over-profile",
        ("within", OK, node_group(max=4), MEDIUM),
        ("over", VIOLATED, node_group(max=9), MEDIUM),
        ("together over", VIOLATED, [node_group(max=5), node_group("b", max=5)], MEDIUM),
        ("own limit", VIOLATED, node_group(max=1), MEDIUM, {"maxGpus": 4}),
        ("no profile", NOT_APPLICABLE, node_group(max=99)),
        ("GKE", VIOLATED, gke_pool(autoscaling={"totalMinNodeCount": 0, "totalMaxNodeCount": 40}), MEDIUM),
        ("size unknown", UNDECIDED, unknown(node_group(), "scalingConfig", "maxSize"), MEDIUM),
    ),
    *table(
        "spot-share-below-target",
        ("all spot", OK, node_group()),
        ("half", OK, [node_group(), node_group("b", capacity="on-demand")]),
        ("a third", VIOLATED, [node_group(max=1), node_group("b", capacity="on-demand")]),
        ("production", NOT_APPLICABLE, node_group(capacity="on-demand"), {"environment": "production"}),
        ("production by its tag", NOT_APPLICABLE, node_group(capacity="on-demand", tagsAll={"environment": "prod"})),
        ("reserved only", NOT_APPLICABLE, node_group(capacity="reserved")),
        ("lower target", OK, [node_group(max=1), node_group("b", capacity="on-demand")], {}, {"minSpotPercent": 30}),
        ("GKE", VIOLATED, gke_pool(node={"spot": False}), {"environment": "demo"}),
        ("people's sessions besides", OK, [node_group(max=1), people_s("a", 7), *on_demand_half()], MEDIUM),
        ("of no profile's pool", VIOLATED, [node_group(max=1), people_s("a", 7), *on_demand_half()]),
        ("training in that pool", VIOLATED, [node_group(max=1), people_s("a", 8), *on_demand_half()], MEDIUM),
        ("in two groups", VIOLATED, [node_group(max=1), people_s("a", 4), people_s("b", 4), *on_demand_half()], MEDIUM),
        ("sessions alone", OK, people_s("a", 2), MEDIUM),
        ("capacity unknown", UNDECIDED, unknown(node_group(), "capacityType")),
    ),
    *table(
        "gpu-pool-never-scales-down",
        ("from zero", OK, node_group()),
        ("keeps one", VIOLATED, node_group(min=1)),
        ("reserved keeps one", OK, node_group(min=1, capacity="reserved")),
        ("one is allowed", OK, node_group(min=1), {}, {"maxIdleNodes": 1}),
        ("Pulumi resets the size", VIOLATED, node_group(ignore_changes=())),
        ("no GPU", OK, node_group(types=["m7i.large"], min=2)),
        ("GKE", OK, gke_pool()),
        ("GKE keeps one", VIOLATED, gke_pool(autoscaling={"minNodeCount": 1, "maxNodeCount": 2})),
        ("GKE fixed size", VIOLATED, gke_pool(autoscaling={}, nodeCount=2)),
        ("minimum unknown", UNDECIDED, unknown(node_group(), "scalingConfig", "minSize")),
    ),
    *table(
        "idle-gpus-keep-running",
        ("autoscaler", OK, [node_group(), autoscaler()]),
        ("none", VIOLATED, [node_group(), autoscaler(chart="kueue")]),
        ("switched off", VIOLATED, [node_group(), autoscaler(**{"scale-down-enabled": "false"})]),
        ("two hours", VIOLATED, [node_group(), autoscaler(**{"scale-down-unneeded-time": "1h30m"})]),
        ("local storage", VIOLATED, [node_group(), autoscaler(**{"skip-nodes-with-local-storage": "true"})]),
        ("no GPUs", NOT_APPLICABLE, node_group(types=["m7i.large"])),
        ("GKE does it itself", NOT_APPLICABLE, gke_pool()),
        ("values unknown", UNDECIDED, [node_group(), unknown(autoscaler(), "values", "extraArgs")]),
    ),
]
