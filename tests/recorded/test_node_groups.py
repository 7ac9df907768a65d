"""One decoder of node groups: policies, cost and the report of a rehearsal cannot disagree."""

from dataclasses import replace

import pytest

from tests.cost.recorded import priced, resource
from tests.policies.truth import BY_ID, gke_pool, made, node_group, unknown
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.node_groups import LAUNCH_TEMPLATE, gpu_node_groups
from trainyard.recorded.node_groups import node_group as decode
from trainyard.recorded.read import UnknownInput
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.engine.recorder import Recording
from trainyard.rehearsal.rehearse import Rehearsal
from trainyard.review.policy_check.check import check_policies
from trainyard.review.reports.rehearsal import tree_of

RESERVATION = {"capacityReservationSpecification": {"capacityReservationTarget": {"capacityReservationId": "cr-1"}}}


def with_template(inputs, **changes):
    template = made(LAUNCH_TEMPLATE, "template", inputs)
    return [template, node_group("nodes", uses={"launchTemplate": [template]}, **changes)]


def capacity(resources):
    return decode(resources[-1], Resources(resources)).capacity


def rehearsal_of(resources):
    nothing = Recording(preview=False)
    return Rehearsal("test", {}, {}, tuple(resources), {}, (), (), {"total": 0.0}, preview=nothing, known=nothing)


@pytest.fixture
def reserved_by_template_alone():
    """A node group whose reservation stands in its launch template only: no label says so, EKS calls it on-demand."""
    template = resource(LAUNCH_TEMPLATE, "template", RESERVATION)
    inputs = {
        "instanceTypes": ["p4d.24xlarge"],
        "capacityType": "ON_DEMAND",
        "labels": {"ml.platform/pool": "train"},
        "scalingConfig": {"minSize": 1, "maxSize": 2},
        "launchTemplate": {"id": template.id},
    }
    made_of = {"launchTemplate": (template.urn,)}
    ignored = ("scalingConfig.desiredSize",)
    return [
        template,
        resource("aws:eks/nodeGroup:NodeGroup", "nodes", inputs, property_dependencies=made_of, ignore_changes=ignored),
    ]


def test_policies_cost_and_report_agree_on_a_reservation_in_the_launch_template(reserved_by_template_alone):
    judged = check_policies(
        "test",
        [],
        reserved_by_template_alone,
        {},
        policies=(BY_ID["gpu-pool-never-scales-down"], BY_ID["spot-share-below-target"]),
    )
    assert judged.violations == (), "reserved nodes cost the same running or not"
    assert dict(judged.not_applicable) == {
        "spot-share-below-target": "no GPUs but reserved ones, or those of a queue, which cost less than on demand too"
    }
    [machines] = [line for line in priced(*reserved_by_template_alone).lines if line.unit == "hour"]
    assert machines.what == "p4d.24xlarge, 2 reserved"
    [figure] = tree_of(rehearsal_of(reserved_by_template_alone)).branches["part"].figures
    assert figure == "nodes: 1 to 2 nodes, reserved, p4d.24xlarge"


@pytest.mark.parametrize(
    ("template", "changes", "expected"),
    [
        ({}, {"capacity": "on-demand"}, "on-demand"),
        ({}, {"capacity": "reserved"}, "reserved"),
        (RESERVATION, {"capacity": "on-demand"}, "reserved"),
        ({"capacityReservationSpecification": {"capacityReservationTarget": UNKNOWN}}, {}, "spot"),
        (
            {"capacityReservationSpecification": {"capacityReservationTarget": UNKNOWN}},
            {"capacity": "on-demand"},
            "reserved",
        ),
        (
            {"capacityReservationSpecification": {"capacityReservationPreference": "capacity-reservations-only"}},
            {"capacity": "on-demand"},
            "reserved",
        ),
        (
            {"capacityReservationSpecification": {"capacityReservationPreference": "none"}},
            {"capacity": "on-demand"},
            "on-demand",
        ),
        ({"instanceMarketOptions": {"marketType": "capacity-block"}}, {"capacity": "on-demand"}, "reserved"),
        ({}, {"capacityType": "CAPACITY_BLOCK", "capacity": "on-demand"}, "reserved"),
        ({}, {"capacityType": "ON_DEMAND", "capacity": "spot"}, "on-demand"),
    ],
)
def test_the_clouds_own_word_comes_before_the_label(template, changes, expected):
    assert capacity(with_template(template, **changes)) == expected


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({}, "spot"),
        ({"spot": False}, "on-demand"),
        ({"spot": False, "preemptible": True}, "spot"),
        ({"spot": False, "labels": {"ml.platform/capacity": "reserved"}}, "reserved"),
        ({"labels": {"ml.platform/capacity": "on-demand"}}, "spot"),
        ({"spot": False, "reservationAffinity": {"consumeReservationType": "SPECIFIC_RESERVATION"}}, "reserved"),
    ],
)
def test_a_gke_pool_is_paid_for_as_google_says(node, expected):
    assert capacity([gke_pool(node=node)]) == expected


def test_gpus_of_either_cloud_go_by_the_catalogues_names():
    a100 = gke_pool(node={"guestAccelerators": [{"type": "nvidia-tesla-a100", "count": 8}]})
    eks, gke = gpu_node_groups(Resources([node_group(), a100, node_group("cpu", types=["m7i.xlarge"])]))
    assert (eks.gpu_models, eks.gpus, eks.pool) == (("A100-40GB",), 16, "train")
    assert (gke.gpu_models, gke.gpus, gke.instance_types) == (("A100-40GB",), 16, ("a2-highgpu-8g",))


@pytest.mark.parametrize(
    ("counts", "nodes"),
    [({"initialNodeCount": 4}, 4), ({"initialNodeCount": 4, "nodeCount": 2}, 2), ({}, 0)],
)
def test_a_gke_pool_without_an_autoscaler_has_the_nodes_that_it_begins_with(counts, nodes):
    pool = gke_pool(autoscaling=None, **counts)
    found = decode(pool, Resources([pool]))
    assert (found.min_nodes, found.max_nodes) == (nodes, nodes)


def test_the_limits_of_a_gke_pool_hold_for_each_zone_unless_they_are_totals():
    each = gke_pool(nodeLocations=["a", "b"], autoscaling={"minNodeCount": 1, "maxNodeCount": 3})
    total = gke_pool(nodeLocations=["a", "b"], autoscaling={"totalMinNodeCount": 1, "totalMaxNodeCount": 3})
    assert [
        (found.min_nodes, found.max_nodes) for found in (decode(pool, Resources([pool])) for pool in (each, total))
    ] == [
        (2, 6),
        (1, 3),
    ]


def test_a_capacity_block_names_its_type_in_the_template():
    block = with_template(
        {"instanceType": "p5.48xlarge", "instanceMarketOptions": {"marketType": "capacity-block"}}, types=[]
    )
    group = decode(block[-1], Resources(block))
    assert (group.instance_types, group.gpu_models, group.in_capacity_block) == (("p5.48xlarge",), ("H100",), True)


def test_an_unknown_size_is_not_guessed():
    nodes = unknown(node_group(), "scalingConfig", "maxSize")
    with pytest.raises(UnknownInput, match=r"scalingConfig\.maxSize"):
        decode(nodes, Resources([nodes]))
    [figure] = tree_of(rehearsal_of([nodes])).figures
    assert figure == "train-spot: scalingConfig.maxSize: not known before the resource exists"


def test_a_group_of_unequal_types_holds_at_most_what_the_largest_has():
    """The rehearsal's check of quotas and the policies' counts read the same figure."""
    mixed = node_group(
        "nodes", instanceTypes=["g6.12xlarge", "g6.48xlarge"], scalingConfig={"minSize": 0, "maxSize": 2}
    )
    assert decode(mixed, Resources([mixed])).gpus == 2 * 8


def test_what_was_worked_out_of_a_group_is_not_told_of_another_nor_without_its_template(reserved_by_template_alone):
    template, group = reserved_by_template_alone
    notes = {}
    larger = replace(group, inputs={**group.inputs, "scalingConfig": {"minSize": 1, "maxSize": 9}})
    both, alone, changed = (Resources(found, notes) for found in ([template, group], [group], [template, larger]))
    for _ in range(2):
        assert decode(group, both).capacity == "reserved"
        assert decode(group, alone).capacity == "on-demand"
        assert (decode(group, both).max_nodes, decode(larger, changed).max_nodes) == (2, 9)
