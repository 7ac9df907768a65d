"""What a platform team adds beside a stack, and other right values of what the stack has: the whole verdict is silent.

| set | cases | without a false alarm at first sight |
| --- | --- | --- |
| first | 83 | 65 |
| second | 39 | 38 |

Of the rest, what was wrong with a case itself, and what a policy asks for that is stricter than the cloud, was told and
is not in here. All cases of a stack are judged at once: a finding names the resource.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.rehearsal.works import beside
from tests.rehearsal.works.mistakes import both, context_of, edit, put
from trainyard.recorded.kinds import without_wrong_kinds
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.refusals.schema import check_schema
from trainyard.rehearsal.works.check import check_works
from trainyard.review.policy_check.check import check_policies

UNCHECKED = "k8s-unchecked"  # a kind of somebody else's, of which no schema is known: said, and no more
ROWS = {
    "demo": [*beside.cases("aws").values(), *beside.cases("cluster").values()],
    "demo-gcp": list(beside.cases("gcp").values()),
}
OWN = {
    "demo": both(
        edit("kubernetes:apps/v1:Deployment", "mlflow-deployment", put("spec.replicas", 3)),
        edit(
            "aws:eks/nodeGroup:NodeGroup",
            "cluster-cpu",
            put("instanceTypes", ["m7a.2xlarge", "m6a.2xlarge"]),
            put("updateConfig", {"maxUnavailablePercentage": 33}),
        ),
        edit("aws:kms/key:Key", "data-key", put("rotationPeriodInDays", 2560)),
        edit("aws:ec2/flowLog:FlowLog", "network-flow-log", put("maxAggregationInterval", 60)),
        edit(
            "aws:s3/bucketPolicy:BucketPolicy",
            "acme-demo-data-policy",
            lambda inputs: inputs.update(policy=json.dumps(json.loads(inputs["policy"]), indent=2, sort_keys=True)),
        ),
        edit(
            "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue",
            "kueue-cluster-queue-vision",
            put("spec.resourceGroups[0].flavors[0].resources[0].nominalQuota", 2),
        ),
        edit(
            "kubernetes:core/v1:ResourceQuota",
            "teams-vision-quota",
            put("spec.hard.persistentvolumeclaims", 4),
            put("spec.hard.requests~storage", "4096Gi"),
        ),
    ),
    "demo-gcp": both(
        edit(
            "gcp:storage/bucket:Bucket",
            "acme-demo-gcp-data",
            put("location", "US-CENTRAL1"),
            put("softDeletePolicy", {"retentionDurationSeconds": 7776000}),
        ),
        edit(
            "gcp:compute/routerNat:RouterNat",
            "network-nat",
            put("enableDynamicPortAllocation", True),
            put("minPortsPerVm", 128),
            put("maxPortsPerVm", 4096),
            put("enableEndpointIndependentMapping", False),
        ),
    ),
}


def verdict(stack, rows, own=list):
    """What the whole verdict says of a stack with more beside it: rule and resource, warnings of rules included."""
    found = beside.beside(own(list(stack.known.resources)), rows)
    context = replace(context_of(stack), ours=True)
    told = list(check_schema(found, {**beside.classes(found), **stack.known.classes}))
    told += check_values(without_wrong_kinds(found, told), context)
    told += check_works(without_wrong_kinds(found, told), context)
    report = check_policies(stack.stack, [], found, stack.settings, other_settings=stack.other_settings)
    said = {(one.rule, one.name, one.path) for one in told if one.rule != UNCHECKED}
    return said | {(one.policy, one.urn.rpartition("::")[2], one.message) for one in report.mandatory}


@pytest.mark.parametrize("name", ROWS)
def test_what_is_right_and_unusual_is_not_told(name, rehearsed):
    stack = rehearsed(name)
    rows = [row for case in ROWS[name] for row in case]
    assert len(ROWS[name]) >= 25
    assert verdict(stack, rows, OWN[name]) == set()


def sick(which, case, type_, path, value):
    """A case with one value that is wrong."""
    rows = json.loads(json.dumps(beside.cases(which)[case]))
    (row,) = [row for row in rows if row["type"] == type_]
    put(path, value)(row["inputs"])
    return rows


DEPLOYMENT = "kubernetes:apps/v1:Deployment"


def test_the_sick_neighbours_on_aws_are_told(rehearsed):
    replica = sick("aws", "rds replica", "aws:rds/instance:Instance", "replicateSourceDb", "")
    nodes = sick("aws", "graviton node group", "aws:eks/nodeGroup:NodeGroup", "instanceTypes", ["g9.2xlarge"])
    odd = "deployment with odd quantities"
    numbers = sick("cluster", odd, DEPLOYMENT, "spec.template.metadata.annotations", {"port": 8080})
    told = {rule for rule, _, _ in verdict(rehearsed("demo"), [*replica, *nodes, *numbers])}
    assert told >= {"database-without-backups", "unpinned-version", "ceiling-spend-over-budget", "wrong-type"}


def test_the_sick_neighbours_on_google_cloud_are_told(rehearsed):
    psc = sick(
        "gcp",
        "private service connect endpoint to a partner",
        "gcp:compute/forwardingRule:ForwardingRule",
        "loadBalancingScheme",
        "INTERN",
    )
    replica = sick("gcp", "sql read replica", "gcp:sql/databaseInstance:DatabaseInstance", "masterInstanceName", "")
    autopilot = sick("gcp", "autopilot cluster beside", "gcp:container/cluster:Cluster", "enableAutopilot", False)
    told = {rule for rule, _, _ in verdict(rehearsed("demo-gcp"), [*psc, *replica, *autopilot])}
    assert told >= {"gcp-value", "database-without-backups", "network-policies-not-strict", "instance-metadata-v1"}
