"""Who owns which nodes: every node wholly one team's, as the shares or the stack file say."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from tests.plan.stack_files import bought, gpu_pool, people, plan_of
from trainyard.plan.ownership import hand_out, largest_remainder, node_totals

SMALL = {"train": gpu_pool(gang_nodes=1)}
RESERVED = bought("cr-0123456789abcdef0", 1, "us-east-1b")


@st.composite
def claims(draw):
    """Nodes by capacity, weights, and what the stack file says of some teams."""
    capacities = draw(st.lists(st.integers(0, 30), min_size=1, max_size=3).filter(any))
    weights = draw(st.lists(st.integers(1, 50).map(Fraction), min_size=1, max_size=8))
    left = sum(capacities)
    given_ = []
    for index in range(len(weights)):
        count = draw(st.none() | st.integers(0, left))
        if index == len(weights) - 1 and None not in given_ and count is not None:
            count = left  # a stack file that names every team gives all nodes away
        given_.append(count)
        left -= count or 0
    return capacities, weights, given_


@given(claims())
def test_every_node_is_wholly_one_teams(claim):
    capacities, weights, given_ = claim
    totals = node_totals(sum(capacities), weights, given_)
    rows = hand_out(capacities, totals)
    assert [sum(row) for row in rows] == capacities, "no node without an owner, none with two"
    assert [sum(owned) for owned in zip(*rows, strict=True)] == totals
    assert all(count is None or count == total for count, total in zip(given_, totals, strict=True))
    assert min(count for row in rows for count in row) >= 0
    if given_ == [None] * len(weights):
        assert totals == largest_remainder(sum(capacities), weights)


def owners(plan, pool="train"):
    """Nodes by team and capacity."""
    (cluster,) = plan.clusters
    return {
        team.name: {
            quota.flavor.removeprefix(f"{pool}-"): quota.nodes
            for quota in team.quotas
            if quota.flavor.startswith(f"{pool}-") and quota.nodes
        }
        for team in cluster.teams
    }


def said(plan, key):
    (found,) = [decision for decision in plan.core.decisions if decision.key == key]
    return found


def test_the_example_that_was_proven_on_a_live_cluster():
    """Kueue facts 2b: one reserved, two spot, one on-demand node for three teams of 5, 4 and 3."""
    plan = plan_of(
        teams=[people("vision", 5), people("language", 4), people("tabular", 3)],
        gpuPools={"train": gpu_pool(gang_nodes=1, reserved=RESERVED)},
    )
    assert owners(plan) == {
        "vision": {"reserved": 1, "on-demand": 1},
        "language": {"spot": 1},
        "tabular": {"spot": 1},
    }
    assert [team.weight for team in plan.clusters[0].teams] == [23, 13, 12]


def test_the_plan_says_in_words_what_a_team_owns_may_borrow_and_gets_back():
    plan = plan_of(gpuPools={"train": gpu_pool(gang_nodes=1, reserved=RESERVED)})
    assert said(plan, "teams.language.owns").value == (
        "train: 1 of 4 nodes (1 spot); tune: 4 of 12 GPUs (3 spot, 1 on-demand); dev: 1 of 4 GPUs (1 on-demand)"
    )
    assert said(plan, "teams.language.may_borrow").value.startswith("train: the other 3 (1 reserved, 1 spot, 1 on-dem")
    assert said(plan, "teams.language.gets_back").value.startswith("train: 1 spot node; tune: 3 spot GPUs or 1 on-dem")


def test_a_team_whose_share_is_under_a_node_owns_none_and_is_told():
    plan = plan_of(teams=[people("vision", 11), people("language", 1)], gpuPools=SMALL)
    assert owners(plan)["language"] == {}
    assert said(plan, "teams.language.owns").value.startswith("train: none of 3 nodes (its share is under one); tune:")
    assert said(plan, "teams.language.gets_back").value.startswith("train: nothing; tune:")
    assert said(plan, "teams.vision.may_borrow").value.startswith("train: nothing more; tune:")


def test_more_teams_than_nodes_is_told_to_those_without():
    plan = plan_of(teams=[people(f"team{index:02}", 1) for index in range(12)], gpuPools=SMALL)
    last = plan.clusters[0].teams[-1]
    assert (
        "train: none of 3 nodes (its share is under one, fewer than the 12 teams)"
        in said(plan, "teams.team11.owns").value
    )
    assert (sum(quota.gpus for quota in last.quotas), last.weight) == (0, 1), "0 would be behind everybody for ever"
    assert "counts as a team of one" in said(plan, "teams.team11.weight").source


def test_the_stack_file_may_say_whose_nodes_are():
    plan = plan_of(gpuPools={"train": gpu_pool(gang_nodes=1, reserved=RESERVED, owners={"platform": 2})})
    assert {team: sum(nodes.values()) for team, nodes in owners(plan).items()} == {
        "vision": 1, "language": 1, "platform": 2,
    }  # fmt: skip
    assert said(plan, "teams.platform.owns").source.startswith("setting gpuPools.train.owners; ")
    none = plan_of(gpuPools={"train": gpu_pool(gang_nodes=1, reserved=RESERVED, owners={"vision": 0})})
    assert "train: none of 4 nodes (by the stack file)" in said(none, "teams.vision.owns").value


def test_a_pool_for_small_work_keeps_shares_in_gpus():
    (cluster,) = plan_of().clusters
    small = {group.name for pool in cluster.pools if pool.name in ("tune", "dev") for group in pool.node_groups}
    quotas = [quota for team in cluster.teams for quota in team.quotas if quota.flavor in small]
    assert {quota.nodes for quota in quotas} == {None}
    spot = [quota.gpus for quota in quotas if quota.flavor == "tune-spot"]
    assert (sum(spot), spot) == (8, [4, 3, 1])


def test_whole_machines_are_shared_out_in_nodes_whatever_joins_them():
    (cluster,) = plan_of(gpuPools={"train": gpu_pool(fabric=False)}).clusters
    spot = [quota for team in cluster.teams for quota in team.quotas if quota.flavor == "train-spot"]
    assert [(quota.nodes, quota.gpus) for quota in spot] == [(1, 8), (1, 8), (0, 0)]
