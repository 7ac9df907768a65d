"""Sets of mistakes in what is made of AWS, each told by the rule that is named; what is right beside each is not."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.rehearsal.works import aws_changes as aws
from tests.rehearsal.works import mistakes_aws_first, mistakes_aws_second, mistakes_aws_third, mistakes_aws_wider
from tests.rehearsal.works.aws_changes import found, in_config, left_out, refer, reworded, user_data
from tests.rehearsal.works.mistakes import DROP, added, both, context_of, drop, edit, in_json, put, tells, told
from tests.rehearsal.works.mistakes_breadth import beside, installed
from tests.rehearsal.works.together import told_together
from trainyard.policies.pack import POLICIES
from trainyard.rehearsal.refusals.check import check_values
from trainyard.review.policy_check.check import check_policies

LARGE = "large-aws"
SETS = {
    "first": mistakes_aws_first,
    "wider": mistakes_aws_wider,
    "second": mistakes_aws_second,
    "third": mistakes_aws_third,
}
MISTAKES = [one for module in SETS.values() for one in module.MISTAKES]
TOLD = [one for one in MISTAKES if one.rule]
HARMLESS = [one for one in MISTAKES if one.rule is None]


@pytest.mark.parametrize("mistake", TOLD, ids=lambda one: f"{one.stack}-{one.name}")
def test_a_mistake_is_told(rehearsed, mistake):
    rehearsal = rehearsed(mistake.stack)
    by, _, name = mistake.rule.rpartition(":")
    if by == "policy":
        rule = [policy for policy in POLICIES if policy.name == name]
        changed = mistake.change(rehearsal.known.resources)
        report = check_policies(rehearsal.stack, [], changed, rehearsal.settings, policies=rule)
        assert name in {violation.policy for violation in report.violations}
    elif by == "refused":
        values = check_values(mistake.change(rehearsal.known.resources), context_of(rehearsal))
        assert name in {finding.rule for finding in values}
    else:
        rules = tells(rehearsal, mistake.change, name, ours=True)
        assert name in rules, rules


@pytest.mark.parametrize("mistake", HARMLESS, ids=lambda one: f"{one.stack}-{one.name}")
def test_what_turned_out_to_harm_nobody_is_not_told(rehearsed, mistake):
    assert mistake.why
    assert told(rehearsed(mistake.stack), mistake.change) == []


def test_each_mistake_has_a_name_of_its_own():
    assert {name for name, times in Counter(one.name for one in MISTAKES).items() if times > 1} == set()


OWN_TEMPLATE = beside(aws.TEMPLATE, "own", aws.VPC, {"name": "own-template"})
ROLE_FOR = {
    "assumeRolePolicy": '{"Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": %s}]}',
    "name": "own-role",
}
FOR_PEOPLE = {
    **ROLE_FOR,
    "assumeRolePolicy": ROLE_FOR["assumeRolePolicy"] % '{"AWS": "arn:aws:iam::123456789012:root"}',
}
FOR_JOBS = {**ROLE_FOR, "assumeRolePolicy": ROLE_FOR["assumeRolePolicy"] % '{"Service": "sagemaker.amazonaws.com"}'}
BUS = "aws:cloudwatch/eventBus:EventBus"
DHCP, DHCP_BOUND = mistakes_aws_second.DHCP, mistakes_aws_second.DHCP_BOUND
VPC_ID = "vpc-d8bd6820aeb50beba"
RESOLVERS = beside(DHCP_BOUND, "bound", aws.VPC, {"dhcpOptionsId": "names", "vpcId": VPC_ID})
TEMPLATES = "aws:ecr/repositoryCreationTemplate:RepositoryCreationTemplate"
NO_REPOSITORY = edit(aws.REPOSITORY, "images-globex-production-k8s-kueue-kueue", put("name", "globex-production/k8s/x"))
CONTROLLER = "aws-load-balancer-controller"
RENAMED = edit(aws.RELEASE, "drivers-s3", put("values.node.serviceAccount.name", "s3-mounts"))
ASSOCIATED = {"clusterName": "globex-production", "namespace": "kube-system"}
DATA_ROLE = "arn:aws:iam::123456789012:role/team-foundation-role-0000000"
BY_DRIVER = edit(
    aws.VOLUME, "volumes-foundation-checkpoints-volume", put("spec.csi.volumeAttributes.authenticationSource", DROP)
)


def account(name):
    """The driver's account with a role, by an association."""
    return beside(aws.IDENTITY, "s3-driver", aws.IDENTITY, {**ASSOCIATED, "serviceAccount": name, "roleArn": DATA_ROLE})


def controller(**values):
    """The controller of load balancers, told something."""
    return installed("lb", CONTROLLER, clusterName="acme-demo", **values)


def all_of(type_):
    """Drops every resource of a type."""
    return lambda resources: [one for one in resources if one.type != type_]


HEARD = {"alarmActions": ["arn:aws:sns:us-east-1:210987654321:on-call"]}
PARTNER = "aws.partner/example.com/acme/alerts"

SOUND = {
    "a delivery that somebody hears": (
        "large-aws", "programs",
        edit(aws.ALARM, "watchdog-silent", put("metricName", "NumberOfNotificationsDelivered"),
             put("dimensions.TopicName", "budget-alerts-f082772"))),
    "folders below a link of a whole bucket": (
        "large-aws", "programs",
        edit(aws.REPOSITORY_LINK, "globex-production-lustre-scratch",
             reworded("dataRepositoryPath", "/scratch/", "/"))),
    "a template that a text names": (
        "demo", "references",
        both(OWN_TEMPLATE, added("core/v1:ConfigMap", "own", {"data": {"template": "own-template"}}, "default"))),
    "a role for people": ("demo", "references", beside(aws.ROLE, "own", aws.VPC, FOR_PEOPLE)),
    "a role for jobs that somebody sends": ("demo", "references", beside(aws.ROLE, "own", aws.VPC, FOR_JOBS)),
    "a template for others, in a stack that uses none": (
        "uae-aws", "references", both(all_of(aws.NODES), all_of(aws.TEMPLATE), all_of(aws.GROUP_TAG), OWN_TEMPLATE)),
    "GPUs that are shared, and count several times": (
        "demo", "placement",
        both(edit(aws.GROUP_TAG, "gpu-nodes-train-spot-resources-nvidia-com-gpu", put("tag.value", "32")),
             edit(aws.RELEASE, "gpu-nvidia-device-plugin", put("values.config", {"name": "time-slices"})))),
    "storage told a little otherwise": (
        "demo", "placement",
        edit(aws.GROUP_TAG, "gpu-nodes-train-spot-resources-ephemeral-storage", put("tag.value", "7Ti"))),
    "a query for all streams of the API server": (
        "demo", "references", edit(aws.QUERY, "cluster-refused-requests", reworded("queryString", "-audit/", "/"))),
    "a query for no stream": (
        "demo", "references", edit(aws.QUERY, "cluster-refused-requests", put("queryString", "fields @message"))),
    "a rule of names for addresses": ("demo", "paths", edit(aws.DNS_RULE, "dns-allow", put("qType", "A"))),
    "resolvers of a company": (
        "demo", "paths", both(beside(DHCP, "names", aws.VPC, {"domainNameServers": ["10.9.0.2"]}), RESOLVERS)),
    "AWS's resolver and another": (
        "demo", "paths",
        both(beside(DHCP, "names", aws.VPC, {"domainNameServers": ["AmazonProvidedDNS", "8.8.8.8"]}), RESOLVERS)),
    "a sum of money beside shares": (
        "demo", "programs",
        edit(aws.BUDGET, "budget-budget", put("notifications[0].thresholdType", "ABSOLUTE_VALUE"),
             put("notifications[0].threshold", 50000))),
    "the first dollar": (
        "demo", "programs",
        edit(aws.BUDGET, "budget-budget", put("notifications[0].thresholdType", "ABSOLUTE_VALUE"),
             put("notifications[0].threshold", 1))),
    "high findings alone": (
        "demo", "programs",
        edit(aws.RULE, "security-findings",
             in_json("eventPattern", put("detail.severity", [{"numeric": [">=", 7, "<", 9]}])))),
    "a severity of numbers and of others": (
        "demo", "programs",
        edit(aws.RULE, "security-findings",
             in_json("eventPattern", put("detail.severity", [9, {"numeric": [">", 40]}])))),
    "a bus that events are led to": (
        "demo", "programs",
        both(beside(BUS, "central", aws.VPC, {"name": "central"}),
             beside(aws.TARGET, "to-central", aws.TARGET, {"rule": "security-record-off-aa6595f", "arn": "central"}),
             lambda all_: [one for one in all_ if one.name != "never"])),
    "a bus of somebody else": (
        "demo", "programs", edit(aws.RULE, "security-record-off", put("eventBusName", "central"))),
    "a bus of a partner's events": (
        "demo", "programs",
        both(beside(BUS, "partner", aws.RULE, {"name": PARTNER, "eventSourceName": PARTNER}),
             beside(aws.RULE, "of-partner", aws.RULE,
                    {"name": "of-partner", "eventPattern": json.dumps({"source": [PARTNER]})}),
             aws.refer(aws.RULE, "of-partner", "eventBusName", BUS, "partner", "name"))),
    "an event that is sent again": (
        "small-aws", "programs",
        edit(aws.TARGET, "managed-jobs-ended", put("inputTransformer.inputPaths.again", "$.replay-name"))),
    "a replica that lags behind nothing": (
        "demo", "programs",
        beside(aws.ALARM, "replicating", aws.ALARM,
               {**HEARD, "namespace": "AWS/RDS", "metricName": "ReplicaLag", "comparisonOperator": "LessThanThreshold",
                "threshold": 0})),
    "a figure of one's own that may be negative": (
        "demo", "programs",
        beside(aws.ALARM, "margin", aws.ALARM,
               {**HEARD, "namespace": "Acme", "metricName": "Margin", "comparisonOperator": "LessThanThreshold",
                "threshold": -5})),
    "an alarm that waits for silence": (
        "demo", "programs", edit(aws.ALARM, "watchdog-silent", put("threshold", 0))),
    "anomalies of a log": (
        "demo", "programs",
        beside(aws.ALARM, "anomalies", aws.ALARM,
               {**HEARD, "namespace": "AWS/Logs", "metricName": "AnomalyCount", "threshold": 1,
                "comparisonOperator": "GreaterThanOrEqualToThreshold",
                "dimensions": {"LogAnomalyDetector": "jobs", "LogAnomalyPriority": "HIGH"}})),
    "a key that a program signs with": (
        "demo", "programs",
        both(beside(aws.KEY, "signing", aws.KEY, {"keyUsage": "SIGN_VERIFY", "customerMasterKeySpec": "ECC_NIST_P256"}),
             beside("aws:lambda/function:Function", "signs", aws.VPC,
                    {"name": "signs", "environment": {"variables": {"SIGNING_KEY_ARN": "signing"}}}))),
    "nodes that may make repositories, by their role": (
        LARGE, "programs",
        both(NO_REPOSITORY,
             edit(aws.ROLE, "cluster-node",
                  put("managedPolicyArns", ["arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPowerUser"])))),
    "an access point of the root": (
        LARGE, "programs",
        edit(aws.ACCESS_POINT, "globex-production-shared-home-foundation",
             put("rootDirectory", {"path": "/"}))),
    "an access point of a directory that another makes": (
        LARGE, "programs",
        edit(aws.ACCESS_POINT, "globex-production-shared-home-foundation",
             put("rootDirectory", {"path": "/home"}))),
    "repositories that are made by a template": (
        LARGE, "programs", both(NO_REPOSITORY, beside(TEMPLATES, "own", aws.VPC, {"prefix": "ROOT"}))),
    "nodes that may make repositories": (
        LARGE, "programs",
        both(NO_REPOSITORY,
             edit(aws.ATTACHMENT, "cluster-node-AmazonEC2ContainerRegistryPullOnly",
                  put("policyArn", "arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPowerUser")))),
    "a cache whose prefix is a word of its own": (
        LARGE, "programs",
        edit(aws.CACHE, "images-globex-production-k8s", put("upstreamRegistryUrl", "public.ecr.aws"))),
    "an alias of a name of its own": (
        "demo", "programs",
        both(edit(aws.ALIAS, "data-alias", put("name", "alias/of-people")),
             refer(aws.ALIAS, "data-alias", "targetKeyId", aws.KEY, "platform-key", "keyId"))),
    "a key for signing that a program names": (
        "demo", "programs",
        both(beside(aws.KEY, "signing", aws.KEY, {"keyUsage": "SIGN_VERIFY", "customerMasterKeySpec": "ECC_NIST_P256"}),
             added("core/v1:ConfigMap", "own", {"data": {"KEY_ID": "signing"}}, "default"))),
    "a controller that is told what is there": ("demo", "charts", controller(region="us-east-1", vpcId=VPC_ID)),
    "a controller in a network of somebody else": (
        "demo", "charts",
        both(drop(aws.VPC, "network-vpc"), controller(region="us-east-1", vpcId="vpc-0000000000000000"))),
    "a controller that is told in a file of values": (
        "demo", "charts", both(controller(), edit(aws.RELEASE, "lb", put("valueYamlFiles", ["lb.yaml"])))),
    "a controller that finds its network by tags": (
        "demo", "charts", controller(region="us-east-1", vpcTags={"Name": "acme-demo"})),
    "a controller beside nodes of EKS's own template": (
        "demo", "charts", both(controller(), left_out(aws.NODES, "gpu-nodes-train-on-demand", "launchTemplate"))),
    "a driver's account that is renamed on both sides": (LARGE, "rights", both(RENAMED, account("s3-mounts"))),
    "reserved nodes that take any open reservation": (
        "demo", "machines",
        edit(aws.TEMPLATE, "gpu-nodes-train-reserved-template", put("capacityReservationSpecification", DROP))),
    "one node with a fabric, placed apart": (
        "demo", "machines",
        both(edit("aws:ec2/placementGroup:PlacementGroup", "gpu-nodes-train-spot-placement", put("strategy", "spread")),
             edit(aws.NODES, "gpu-nodes-train-spot", put("scalingConfig.maxSize", 1)))),
    "an instance that works by itself": (
        "demo", "paths",
        both(left_out(aws.INSTANCE, "bastion", "iamInstanceProfile"),
             edit(aws.INSTANCE, "bastion", put("userData", "#!/bin/sh\nsync-data\n")))),
    "a bastion that is let out to everything": (
        "demo", "paths",
        edit(aws.EGRESS, "bastion-https", put("ipProtocol", "-1"), put("fromPort", DROP), put("toPort", DROP))),
    "a script without its type": (
        "demo", "machines",
        edit(aws.TEMPLATE, "gpu-nodes-train-spot-template", user_data("text/x-shellscript", "text/plain"))),
    "a collector that makes its group": (
        "demo", "references",
        both(edit(aws.LOGS, "team-log-group", put("name", "/trainyard/acme-demo/logs-of-teams")),
             in_config("team-logs-configuration", "auto_create_group false", "auto_create_group true"))),
    "a collector that sends to somebody else's group": (
        "demo", "references",
        in_config("team-logs-configuration", "log_group_name /trainyard/acme-demo/", "log_group_name /central/")),
    "a collector beside a group that EKS fills": (
        "demo", "references",
        in_config("team-logs-configuration", "log_group_name /trainyard/acme-demo/team-logs",
                  "log_group_name /aws/eks/acme-demo/pods")),
    "a collector that sends to another group of the same folder": (
        "demo", "references", edit(aws.LOGS, "team-log-group", put("name", "/trainyard/acme-demo/of-people"))),
    "a policy of repositories in two regions": (
        LARGE, "references",
        both(*(beside("aws:ecr/lifecyclePolicy:LifecyclePolicy", f"train-{region}", aws.REPOSITORY,
                      {"repository": "train", "region": region, "policy": '{"rules": []}'})
               for region in ("us-east-1", "eu-west-1")))),
    "another database's log group": (
        "demo", "references",
        beside(aws.LOGS, "other-log", aws.LOGS, {"name": "/aws/rds/instance/warehouse/postgresql"})),
    "a folder of the teams' own group": (
        LARGE, "programs",
        edit("aws:s3/bucketObjectv2:BucketObjectv2", "globex-production-lustre-scratch-teams-foundation",
             put("metadata.file-owner", "20001"))),
    "one of each for two buckets": (
        "demo", "references",
        beside(aws.LIFECYCLE, "own-lifecycle", aws.LIFECYCLE, {"bucket": "somebody-elses", "rules": []})),
}  # fmt: skip


@pytest.mark.parametrize("what", SOUND)
def test_what_is_unusual_and_right_is_not_told(rehearsed, what):
    name, room, _ = SOUND[what]
    stack = rehearsed(name)

    def judged(resources):
        return told(stack, lambda _: list(resources), room)

    changes = {which: change for which, (*where, change) in SOUND.items() if where == [name, room]}
    assert told_together((__name__, name, room), what, stack.known.resources, changes, judged) == []


BESIDE = {
    "a controller of another network": ("demo", controller(vpcId="vpc-0000000000000000"), "charts-network"),
    "a controller of another cluster": ("demo", installed("lb", CONTROLLER, clusterName="acme"), "charts-cluster"),
    "a controller of another region": ("demo", controller(region="eu-west-1"), "charts-region"),
    "karpenter that hears another queue": (
        "demo",
        both(beside("aws:sqs/queue:Queue", "interruptions", aws.VPC, {"name": "acme-demo-interruptions"}),
             installed("karpenter", "karpenter", settings={"interruptionQueue": "acme-demo-interruption"})),
        "charts-queue"),
    "a driver whose account alone is renamed": (
        LARGE, both(BY_DRIVER, RENAMED, account("s3-csi-driver-sa")), "rights-volume"),
    "a share that was meant as money": (
        "demo",
        edit(aws.BUDGET, "budget-budget", put("notifications[0].threshold", 50000)), "programs-budget"),
    "a count below nothing": (
        "small-aws", edit(aws.ALARM, "managed-jobs-gpu-idle", put("threshold", 0)), "programs-alarm"),
    "an empty range": (
        "demo",
        edit(aws.RULE, "security-findings",
             in_json("eventPattern", put("detail.severity", [{"numeric": [">", 7, "<", 4]}]))), "programs-pattern"),
    "nodes on demand that only start inside a reservation": (
        "demo",
        edit(aws.TEMPLATE, "gpu-nodes-train-on-demand-template",
             put("capacityReservationSpecification", {"capacityReservationPreference": "capacity-reservations-only",
                  "capacityReservationTarget": {"capacityReservationId": "cr-0123456789abcdef0"}})),
        "machines-reservation"),
}  # fmt: skip


@pytest.mark.parametrize("what", BESIDE)
def test_what_is_wrong_beside_it_is_told(rehearsed, what):
    stack, change, rule = BESIDE[what]
    assert rule in tells(rehearsed(stack), change, rule)


def test_a_resolver_of_the_internet_leads_by_the_way_out(rehearsed):
    public = both(beside(DHCP, "names", aws.VPC, {"domainNameServers": ["1.1.1.1"]}), RESOLVERS)
    found = [one.level for one in told(rehearsed("demo"), public, "paths") if one.rule == "paths-dns-of-vpc"]
    assert found == ["warning"]


def test_rights_on_all_of_sagemaker_reach_everything(rehearsed):
    change = edit(
        "aws:sagemaker/modelPackageGroup:ModelPackageGroup", "initech-research-everyone",
        put("modelPackageGroupName", "research-everyone"),
    )  # fmt: skip
    by_aws = beside(
        aws.ATTACHMENT, "all", aws.VPC, {"role": "x", "policyArn": "arn:aws:iam::aws:policy/AmazonSageMakerFullAccess"}
    )
    unreached = "rights-nobody-reaches"
    assert unreached in {one.rule for one in told(rehearsed("small-aws"), change, "rights")}
    assert unreached not in {one.rule for one in told(rehearsed("small-aws"), both(change, by_aws), "rights")}


def test_a_service_that_a_key_is_not_used_through_may_be_anywhere(rehearsed):
    inputs = {
        "role": "x",
        "policy": json.dumps(
            {
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Action": "kms:Decrypt",
                        "Resource": "arn:aws:kms:us-east-1:123456789012:key/0000",
                        "Condition": {"StringNotEquals": {"kms:ViaService": "s3.eu-west-1.amazonaws.com"}},
                    }
                ]
            }
        ),
    }
    found = told(rehearsed("demo"), beside(aws.POLICY, "own", aws.VPC, inputs), "rights")
    assert "rights-condition-never" not in {one.rule for one in found}


def test_what_another_stack_may_do_is_a_warning(rehearsed):
    bus = next(one for one in MISTAKES if one.name == "rule-on-a-bus-of-its-own").change
    assert {one.level for one in told(rehearsed("demo"), bus, "programs")} == {"warning"}
    foreign = edit(aws.NODES, "cluster-cpu", put("nodeRoleArn", "arn:aws:iam::123456789012:role/central"))
    images = told(rehearsed(LARGE), both(NO_REPOSITORY, foreign), "programs")
    assert {one.level for one in images if one.rule == "programs-cached-image"} == {"warning"}


def test_what_is_told_of_a_thing_made_for_nothing_names_it(rehearsed):
    change = refer(aws.NODES, "gpu-nodes-train-on-demand", "launchTemplate.id", aws.TEMPLATE, "cluster-cpu-template")
    (finding,) = [one for one in told(rehearsed("demo"), change, "references") if one.rule == "reference-unused"]
    idle = found(rehearsed("demo").known.resources, aws.TEMPLATE, "gpu-nodes-train-on-demand-template")
    assert (finding.level, finding.urn) == ("warning", idle.urn)
