"""What must hold of any stack."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cost.recorded import node_group, priced, resource
from trainyard import cards
from trainyard.cost.assumptions import assumptions_for
from trainyard.cost.model import CURRENCY
from trainyard.cost.rules import rule_of
from trainyard.recorded.model import UNKNOWN

GPU_TYPES = ("g6.xlarge", "g6e.12xlarge", "p4d.24xlarge", "p5.48xlarge", "p5e.48xlarge")


@st.composite
def groups(draw, name):
    most = draw(st.integers(1, 50))
    capacity = draw(st.sampled_from(("spot", "on-demand", "reserved", "capacity-block")))
    return node_group(
        name,
        types=draw(st.lists(st.sampled_from(GPU_TYPES), min_size=1, max_size=2, unique=True)),
        capacity=capacity,
        pool=draw(st.sampled_from(("train", "tune"))),
        fewest=draw(st.integers(0, most)),
        most=most,
        disk_gib=draw(st.integers(1, 4000)),
        monitored=draw(st.booleans()),
        reservation="cr-1" if capacity in ("reserved", "capacity-block") else "",
    )


@st.composite
def others(draw, name):
    kind = draw(st.sampled_from(("nat", "bucket", "lustre", "database", "endpoint", "role", "logs")))
    number = draw(st.integers(1, 20))
    match kind:
        case "nat":
            return [resource("aws:ec2/natGateway:NatGateway", name)]
        case "bucket":
            return [resource("aws:s3/bucket:Bucket", f"{name}-data")]
        case "lustre":
            inputs = {
                "storageCapacity": 2400 * number,
                "deploymentType": "PERSISTENT_2",
                "perUnitStorageThroughput": 250,
            }
            return [resource("aws:fsx/lustreFileSystem:LustreFileSystem", name, inputs)]
        case "database":
            inputs = {"engine": "postgres", "instanceClass": "db.m7g.large", "storageType": "gp3",
                      "allocatedStorage": 20 * number, "multiAz": draw(st.booleans()),
                      "backupRetentionPeriod": number}  # fmt: skip
            return [resource("aws:rds/instance:Instance", name, inputs)]
        case "endpoint":
            inputs = {"vpcEndpointType": "Interface", "subnetIds": [f"subnet-{index}" for index in range(number)]}
            return [resource("aws:ec2/vpcEndpoint:VpcEndpoint", name, inputs)]
        case "logs":
            return [resource("aws:cloudwatch/logGroup:LogGroup", name, {"name": name, "retentionInDays": 30 * number})]
    return [resource("aws:iam/role:Role", name)]


@st.composite
def stacks(draw):
    parts = [
        draw(st.one_of(groups(f"part-{index}"), others(f"part-{index}"))) for index in range(draw(st.integers(0, 6)))
    ]
    return [found for part in parts for found in part]


assumed = st.fixed_dictionaries(
    {
        "utilisation_percent": st.integers(0, 100),
        "spot_share_percent": st.integers(0, 100),
        "system_nodes_used_percent": st.integers(0, 100),
    }
)


@settings(max_examples=60, deadline=None)
@given(stacks(), assumed)
def test_floor_expected_and_ceiling_are_in_order_and_add_up(stack, values):
    cost = priced(*stack, assumptions=assumptions_for("medium").with_values(values))
    for line in cost.lines:
        assert 0 <= line.usd.floor <= line.usd.expected + 0.01 <= line.usd.ceiling + 0.02, line
        assert line.low_usd <= line.usd.expected <= line.high_usd, line
    for figure in ("floor", "expected", "ceiling"):
        total = getattr(cost.total, figure)
        assert total == pytest.approx(sum(getattr(line.usd, figure) for line in cost.lines), abs=0.005)
        assert total == pytest.approx(sum(getattr(share.usd, figure) for share in cost.by_team), abs=0.005)
    assert cost.as_json()["currency"] == CURRENCY == "USD"


@settings(max_examples=60, deadline=None)
@given(stacks(), st.one_of(groups("new"), others("new")))
def test_adding_a_resource_never_lowers_the_total(stack, added):
    """But for the expected cost where what is added takes hours from dearer nodes of its pool, as it does in life: spot
    from on-demand, a cheaper machine from another. And where what is added has no price: it takes hours to where they
    are in no figure, and is told as not priced."""
    before, after = priced(*stack), priced(*stack, *added)
    spot = any(resource.inputs.get("capacityType") == "SPOT" for resource in added)
    machines = {name for part in (*stack, *added) for name in part.inputs.get("instanceTypes", ())}
    cheaper = len(machines) > 1 and any("instanceTypes" in resource.inputs for resource in added)
    unpriced = len(after.unpriced) > len(before.unpriced)
    for figure in ("floor", "ceiling") if spot or cheaper or unpriced else ("floor", "expected", "ceiling"):
        assert getattr(after.total, figure) >= getattr(before.total, figure) - 0.05


@settings(max_examples=60, deadline=None)
@given(groups("one"))
def test_twice_the_nodes_are_twice_the_ceiling(group):
    template, nodes = group
    scaling = dict(nodes.inputs["scalingConfig"])
    doubled = replace(nodes, inputs={**nodes.inputs, "scalingConfig": scaling | {"maxSize": 2 * scaling["maxSize"]}})
    once, twice = priced(template, nodes), priced(template, doubled)
    for line in once.lines:
        same = [other for other in twice.lines if other.what.split(",")[0] == line.what.split(",")[0]]
        assert sum(other.usd.ceiling for other in same) == pytest.approx(2 * line.usd.ceiling, abs=0.02)
    assert twice.total.ceiling == pytest.approx(2 * once.total.ceiling, abs=0.05)


@settings(max_examples=40, deadline=None)
@given(stacks(), st.integers(0, 100), st.integers(0, 100))
def test_more_use_never_costs_less(stack, one, other):
    low, high = sorted((one, other))
    less = priced(*stack, assumptions=assumptions_for("medium").with_values({"utilisation_percent": low}))
    more = priced(*stack, assumptions=assumptions_for("medium").with_values({"utilisation_percent": high}))
    assert less.total.expected <= more.total.expected + 0.05
    assert (less.total.floor, less.total.ceiling) == (more.total.floor, more.total.ceiling)


KEYS = (
    *(
        "instanceTypes",
        "capacityType",
        "labels",
        "scalingConfig",
        "launchTemplate",
        "blockDeviceMappings",
        "monitoring",
    ),
    *("capacityReservationSpecification", "instanceMarketOptions", "instanceType", "instanceCount", "storageCapacity"),
    *("deploymentType", "perUnitStorageThroughput", "subnetIds", "vpcEndpointType", "multiAz", "allocatedStorage"),
    *("engine", "instanceClass", "retentionInDays", "throughputMode", "backupPolicy", "spec", "metadata", "region"),
    *("rootBlockDevice", "upgradePolicy", "limitAmount", "limitUnit", "timeUnit", "size", "type"),
)
NESTED = (
    *(
        "minSize",
        "maxSize",
        "ebs",
        "volumeSize",
        "volumeType",
        "iops",
        "capacityReservationTarget",
        "enabled",
        "status",
    ),
    *(
        "capacityReservationId",
        "marketType",
        "resourceGroups",
        "flavors",
        "resources",
        "name",
        "nominalQuota",
        "requests",
    ),
    *("storageClassName", "volumeName", "storage", "volumeClaimTemplates", "nodeLabels", "supportType"),
)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5000), st.floats(), st.text(max_size=4), st.just(UNKNOWN),
    st.sampled_from(("p4d.24xlarge", "nvidia.com/gpu", "Interface", "PERSISTENT_2", "gp3", "MONTHLY", "USD", "10Gi")),
)  # fmt: skip
PRICED = sorted(filter(rule_of, cards.BY_TYPE))
"""The types that have a price rule; a card whose rule is not there fails here."""
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NESTED), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from([*PRICED, "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue", "aws:budgets/budget:Budget"]),
    st.dictionaries(st.sampled_from(KEYS), json_values, max_size=6),
    st.dictionaries(st.sampled_from(KEYS), json_values, max_size=4),
)
def test_a_malformed_resource_is_listed_and_never_stops_the_rest(type_, inputs, template):
    """A wrong program is told by the schema check; its price must not hide that behind a traceback."""
    made = resource("aws:ec2/launchTemplate:LaunchTemplate", "template", template)
    odd = resource(type_, "odd", inputs, property_dependencies={"launchTemplate": (made.urn,)})
    cost = priced(made, odd, resource("aws:ec2/eip:Eip", "sound"))
    assert any(line.resource == "sound" for line in cost.lines)
    for line in cost.lines:
        assert 0 <= line.usd.floor <= line.usd.expected + 0.01 <= line.usd.ceiling + 0.02, line
