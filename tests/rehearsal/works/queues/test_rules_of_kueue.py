"""Each rule of Kueue 0.19.2 that was seen on a live one, by name; the numbers are those of the project's facts.

"1", "2", "2b", "2c" are sections of `kueue.md`, "ops 2" and "ops 3" of `operations.md`.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.rehearsal.works.mistakes import added, context_of, edit, put
from tests.rehearsal.works.queues.builders import (
    BACK,
    BOTH,
    FINAL,
    GPU,
    NEXT,
    TAINT,
    TOLERATION,
    cluster,
    configured,
    fair,
    job,
    queue,
)
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.works.queues.kubernetes.admit import Cluster
from trainyard.rehearsal.works.queues.kubernetes.manager import manager, seconds
from trainyard.rehearsal.works.queues.kubernetes.model import (
    MULTIKUEUE,
    PROVISIONING,
    Admitted,
    Check,
    ClusterQueue,
    Cohort,
    Flavor,
    Fungibility,
    Group,
    LocalQueue,
    Manager,
    Node,
    NoWorkload,
    Pending,
    PodSet,
    Preemption,
    Quota,
    Retry,
    Workload,
)
from trainyard.rehearsal.works.queues.kubernetes.play import change, play

HOST = "kubernetes.io/hostname"
KUEUE = "kubernetes:kueue.x-k8s.io/v1beta2:"
CURE_A = Preemption("LowerPriority", "Any", "LowerPriority", -1)


def flavor_of(verdict, resource=GPU):
    assert isinstance(verdict, Admitted), verdict
    return verdict.flavors["main"][resource]


def evicted(verdict):
    assert isinstance(verdict, Admitted), verdict
    return {one.workload: one.reason for one in verdict.preempted}


def reason(verdict):
    assert isinstance(verdict, Pending), verdict
    return verdict.reason


# 1. What makes a real job never start


@pytest.mark.parametrize(
    "resource",
    ["cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "vpc.amazonaws.com/efa", "nvidia.com/mig-1g.5gb"],
)
def test_1_a_resource_that_the_queue_does_not_cover_blocks_the_job(resource):
    found = cluster(queue("a", {"f": 8})).admit(job("j", "a", 1, requests={resource: 1}))
    assert reason(found) == f"resource {resource} unavailable in ClusterQueue"


def test_1_ignore_undeclared_cures_it():
    one = cluster(queue("a", {"f": 8}), manager=Manager(ignores_undeclared=True))
    assert flavor_of(one.admit(job("j", "a", 1, requests={"cpu": 4, "nvidia.com/mig-1g.5gb": 1}))) == "f"


def test_1_excluded_prefixes_cure_what_they_name_and_whatever_is_not_in_the_list_blocks():
    one = cluster(queue("a", {"f": 8}), manager=Manager(excluded=("cpu", "memory", "hugepages-")))
    assert flavor_of(one.admit(job("j", "a", 1, requests={"cpu": 4, "hugepages-2Mi": 1}))) == "f"
    found = one.admit(job("k", "a", 1, requests={"vpc.amazonaws.com/efa": 4}))
    assert reason(found) == "resource vpc.amazonaws.com/efa unavailable in ClusterQueue"


def test_1_a_request_of_zero_of_what_is_not_covered_does_not_block():
    assert isinstance(cluster(queue("a", {"f": 8})).admit(job("j", "a", 1, requests={"cpu": 0})), Admitted)


def test_1_quota_check_strategy_counts_since_0_19():
    told = {"resources": {"quotaCheckStrategy": "IgnoreUndeclared"}}
    assert manager((0, 19), told).ignores_undeclared
    assert not manager((0, 18), told).ignores_undeclared


def test_1_a_covered_resource_with_a_finite_quota_rations_too():
    both = replace(
        queue("a", {"f": 16}),
        groups=(Group((GPU, "cpu"), ("f",)),),
        quotas={("f", GPU): Quota(16), ("f", "cpu"): Quota(100)},
    )
    one = cluster(both)
    assert isinstance(one.admit(job("first", "a", 8, requests={"cpu": 90})), Admitted)
    assert "insufficient unused quota for cpu in flavor f, 80 more" in reason(
        one.admit(job("second", "a", 8, requests={"cpu": 90}))
    )


def test_1_a_flavor_without_the_nodes_tolerations_is_still_admitted():
    one = cluster(
        queue("a", {"f": 8}), flavors=(Flavor("f", {"pool": "x"}),), nodes=(Node("n", {"pool": "x"}, {}, (TAINT,)),)
    )
    assert isinstance(one.admit(job("j", "a", 8)), Admitted)


def test_1_node_taints_of_a_flavor_refuse_jobs_that_lack_the_toleration():
    one = cluster(queue("a", {"f": 8}), flavors=(Flavor("f", node_taints=(TAINT,)),))
    assert reason(one.admit(job("j", "a", 8))) == "untolerated taint {nvidia.com/gpu true NoSchedule <nil>} in flavor f"
    assert isinstance(one.admit(job("k", "a", 8, tolerations=(TOLERATION,))), Admitted)


def test_1_node_taints_that_the_flavor_tolerates_itself_refuse_nobody():
    one = cluster(queue("a", {"f": 8}), flavors=(Flavor("f", node_taints=(TAINT,), tolerations=(TOLERATION,)),))
    assert isinstance(one.admit(job("j", "a", 8)), Admitted)


def test_1_a_selector_that_is_absent_means_nobody():
    one = cluster(queue("a", {"f": 8}, namespace_selector=None))
    assert reason(one.admit(job("j", "a", 1))) == "workload namespace doesn't match ClusterQueue selector"


def test_1_an_empty_selector_means_everybody():
    assert isinstance(cluster(queue("a", {"f": 8}, namespace_selector={})).admit(job("j", "a", 1)), Admitted)


def test_1_a_local_queue_may_point_to_another_teams_queue_and_the_selector_is_the_fence():
    both = configured(queue("a", {"f": 8}), queue("b", {"f": 8}))
    crossed = replace(both, locals={("a", "default"): LocalQueue("a", "default", "b")})
    assert reason(Cluster(crossed).admit(job("j", "a", 1))) == "workload namespace doesn't match ClusterQueue selector"


def test_1_a_priority_class_that_does_not_exist_makes_no_workload_and_no_event():
    assert isinstance(cluster(queue("a", {"f": 8})).admit(job("j", "a", 1, priority="nosuch")), NoWorkload)


def test_1_a_local_queue_that_does_not_exist_is_told_by_the_workload():
    assert (
        reason(cluster(queue("a", {"f": 8})).admit(job("j", "a", 1, queue="nosuch")))
        == "LocalQueue nosuch doesn't exist"
    )


def test_1_one_missing_flavor_closes_the_whole_queue_until_it_appears():
    whole = configured(queue("a", {"f": 8, "x": 8}))
    one = Cluster(replace(whole, flavors={"f": Flavor("f")}))
    assert "references missing ResourceFlavor(s): x" in reason(one.admit(job("j", "a", 1)))
    change(one, whole)
    assert flavor_of(one.admit(job("j", "a", 1))) == "f"


def test_1_pods_have_half_an_hour_to_be_ready_since_0_19():
    assert manager((0, 19), {}).waits_seconds == 1800
    assert manager((0, 18), {}).waits_seconds is None
    assert manager((0, 19), {"waitForPodsReady": {"enable": False}}).waits_seconds is None


def test_1_a_job_that_no_node_takes_holds_its_quota_the_limit_and_one_times():
    told = {"waitForPodsReady": {"timeout": "30m", "requeuingStrategy": {"backoffLimitCount": 10}}}
    assert manager((0, 19), told).holds_seconds == 11 * 30 * 60


def test_1_it_holds_it_for_ever_without_a_limit():
    assert manager((0, 19), {}).holds_seconds is None


@pytest.mark.parametrize(("text", "value"), [("1h30m", 5400), ("90s", 90), ("0.5h", 1800)])
def test_durations_of_the_manager(text, value):
    assert seconds(text) == value


# 2. Order, borrowing, preemption


def test_2_flavors_are_tried_in_the_order_of_the_group():
    one = cluster(queue("a", {"reserved": 8, "spot": 8}))
    assert [flavor_of(one.admit(job(name, "a", 8))) for name in ("j", "k")] == ["reserved", "spot"]


def test_2_a_selector_or_affinity_rules_out_flavors_whose_labels_contradict_it():
    flavors = (Flavor("x", {"pool": "x"}), Flavor("y", {"pool": "y"}))
    one = cluster(queue("a", {"x": 8, "y": 8}), flavors=flavors)
    assert flavor_of(one.admit(job("j", "a", 1, selector={"pool": "y"}))) == "y"
    wants = (({"key": "pool", "operator": "In", "values": ["y"]},),)
    assert flavor_of(one.admit(job("k", "a", 1, terms=wants))) == "y"
    assert "flavor x doesn't match node affinity" in reason(one.admit(job("l", "a", 1, selector={"pool": "z"})))


def test_2_other_selectors_are_left_to_the_scheduler():
    one = cluster(queue("a", {"x": 8}), flavors=(Flavor("x", {"pool": "x"}),))
    assert isinstance(one.admit(job("j", "a", 1, selector={"zone": "z"})), Admitted)


def test_2_a_term_of_other_keys_alone_allows_every_flavor():
    wants = (({"key": "pool", "operator": "In", "values": ["y"]},), ({"key": "zone", "operator": "Exists"},))
    one = cluster(queue("a", {"x": 8}), flavors=(Flavor("x", {"pool": "x"}),))
    assert isinstance(one.admit(job("j", "a", 1, terms=wants)), Admitted)


def test_2_all_preemption_is_never_by_default():
    one = cluster(queue("a", {"f": 8}, preemption=Preemption()), queue("b", {"f": 0}, preemption=Preemption()))
    one.admit(job("theirs", "b", 8))
    assert "insufficient unused quota for nvidia.com/gpu in flavor f, 8 more needed" in reason(
        one.admit(job("ours", "a", 8))
    )


def test_2_queues_are_best_effort_and_may_stop_the_search_to_borrow_by_default():
    assert ClusterQueue("a", (), {}).strategy == "BestEffortFIFO"
    assert ClusterQueue("a", (), {}).fungibility == Fungibility("MayStopSearch", "TryNextFlavor")


def test_2_with_may_stop_search_a_team_borrows_before_it_touches_its_own_spot_quota():
    queues = queue("a", {"reserved": 0, "spot": 8}), queue("b", {"reserved": 8, "spot": 0})
    assert flavor_of(cluster(*queues).admit(job("j", "a", 8))) == "reserved"


def test_2_with_try_next_flavor_it_uses_its_own_first():
    one = cluster(queue("a", {"reserved": 0, "spot": 8}, fungibility=NEXT), queue("b", {"reserved": 8, "spot": 0}))
    assert flavor_of(one.admit(job("j", "a", 8))) == "spot"
    assert flavor_of(one.admit(job("k", "a", 8))) == "reserved"


def test_2_with_reclaim_any_the_owner_gets_its_quota_back_also_one_job_of_several_nodes():
    one = cluster(queue("a", {"f": 16}), queue("b", {"f": 0}))
    one.admit(job("theirs", "b", 8, pods=2, priority="production"))
    found = one.admit(job("ours", "a", 8, pods=2, priority="development"))
    assert evicted(found) == {"theirs": "InCohortReclamation"}
    assert "theirs" not in one.running


def test_2_but_only_for_a_job_that_fits_its_nominal_quota_of_that_flavor():
    one = cluster(queue("a", {"f": 8}), queue("b", {"f": 8}))
    one.admit(job("theirs", "b", 16))
    assert "16 more needed" in reason(one.admit(job("ours", "a", 16)))
    assert evicted(one.admit(job("small", "a", 8))) == {"theirs": "InCohortReclamation"}


def test_2_production_preempts_development_of_its_team_and_of_no_other():
    one = cluster(queue("a", {"f": 8}), queue("b", {"f": 8}))
    one.admit(job("mine", "a", 8, priority="development"))
    one.admit(job("theirs", "b", 8, priority="development"))
    assert evicted(one.admit(job("now", "a", 8, priority="production"))) == {"mine": "InClusterQueue"}
    assert isinstance(one.admit(job("more", "a", 8, priority="production")), Pending)


def test_2_a_preempted_job_restarts_whole_when_there_is_room():
    one = cluster(queue("a", {"f": 16}))
    assert isinstance(one.admit(job("wide", "a", 8, pods=2, priority="development")), Admitted)
    assert list(evicted(one.admit(job("urgent", "a", 8, priority="production")))) == ["wide"]
    assert one.tree["a"].used(("f", GPU)) == 8, "all of its pods are gone"
    assert isinstance(one.admit(job("wide", "a", 8, pods=2, priority="development")), Pending)
    one.finish("urgent")
    assert one.admit(job("wide", "a", 8, pods=2, priority="development")).usage == {("f", GPU): 16}


def test_2_a_job_that_its_queue_has_not_come_to_has_no_message_at_all():
    found = play(cluster(queue("a", {"f": 8}, strategy="StrictFIFO")), [job("huge", "a", 64), job("alike", "a", 64)])
    assert reason(found["huge"])
    assert found["alike"] == Pending("")


def test_2_strict_fifo_one_job_that_never_fits_holds_up_everything_behind_it():
    one = cluster(queue("a", {"f": 8}, strategy="StrictFIFO"))
    found = play(one, [job("huge", "a", 64), job("small", "a", 1)])
    assert "maximum capacity (8)" in reason(found["huge"])
    assert isinstance(found["small"], Pending)


def test_2_best_effort_fifo_lets_small_ones_pass():
    found = play(cluster(queue("a", {"f": 8})), [job("huge", "a", 64), job("small", "a", 1)])
    assert isinstance(found["huge"], Pending)
    assert isinstance(found["small"], Admitted)


def test_2_the_higher_priority_goes_first():
    found = play(cluster(queue("a", {"f": 8})), [job("low", "a", 8, priority="development"), job("high", "a", 8)])
    assert isinstance(found["high"], Admitted)
    assert isinstance(found["low"], Pending)


def test_2_a_job_larger_than_the_cohort_names_each_flavor():
    told = reason(cluster(queue("a", {"f": 16, "spot": 32}), queue("b", {"f": 0, "spot": 0})).admit(job("j", "a", 88)))
    assert "insufficient quota for nvidia.com/gpu in flavor spot, " in told
    assert "request (88) > maximum capacity (32)" in told
    assert "request (88) > maximum capacity (16)" in told


def test_2_a_pod_set_gets_one_flavor_so_the_largest_job_is_the_largest_single_flavor():
    one = cluster(queue("a", {"f": 32, "spot": 32}))
    assert "request (40) > maximum capacity (32)" in reason(one.admit(job("j", "a", 8, pods=5)))
    assert isinstance(one.admit(job("k", "a", 8, pods=4)), Admitted)


def test_2_quota_is_not_nodes_small_jobs_break_them_up_and_the_whole_node_job_is_admitted():
    nodes = tuple(Node(f"n{index}", {"pool": "x"}, {GPU: 8}) for index in range(4))
    one = cluster(queue("a", {"f": 32}), flavors=(Flavor("f", {"pool": "x"}),), nodes=nodes)
    for index in range(4):
        assert not one.admit(job(f"small{index}", "a", 1)).nodes
    assert isinstance(one.admit(job("whole", "a", 8)), Admitted)


def test_2_with_topology_the_small_ones_go_onto_one_node():
    one = _aware(queue("a", {"f": 32}), nodes=4)
    taken = {one.admit(job(f"small{index}", "a", 1)).nodes["main"] for index in range(4)}
    assert len(taken) == 1
    assert {one.admit(job(f"whole{index}", "a", 8)).nodes["main"] for index in range(3)}.isdisjoint(taken)


def _aware(*queues, nodes, **more):
    """A cluster with a topology of hosts, and so many nodes of 8 GPUs."""
    made = tuple(Node(f"n{index}", {"pool": "x"}, {GPU: 8}, (TAINT,)) for index in range(nodes))
    flavor = Flavor("f", {"pool": "x"}, tolerations=(TOLERATION,), topology="hosts")
    return cluster(*queues, flavors=(flavor,), topologies={"hosts": (HOST,)}, nodes=made, **more)


def test_2_topology_counts_nodes_that_exist_so_a_pool_at_zero_waits():
    told = reason(_aware(queue("a", {"f": 32}), nodes=0).admit(job("j", "a", 8)))
    assert "no topology domains at level: kubernetes.io/hostname" in told


def test_2_topology_looks_at_real_taints():
    one = _aware(queue("a", {"f": 32}), nodes=1)
    blind = replace(one.configuration.flavors["f"], tolerations=())
    one.reconfigure(replace(one.configuration, flavors={"f": blind}))
    assert isinstance(one.admit(job("j", "a", 8)), Pending)
    assert isinstance(one.admit(job("k", "a", 8, tolerations=(TOLERATION,))), Admitted)


def test_2_topology_looks_at_free_capacity_and_preempts_where_a_node_is_broken_up():
    one = _aware(queue("a", {"f": 32}), nodes=1)
    one.admit(job("small", "a", 1, priority="development"))
    assert isinstance(one.admit(job("same", "a", 8, priority="development")), Pending)
    assert evicted(one.admit(job("whole", "a", 8, priority="production"))) == {"small": "InClusterQueue"}


def test_2_the_name_of_a_cohort_suffices_for_borrowing_and_reclaim():
    one = cluster(queue("a", {"f": 8}), queue("b", {"f": 0}))
    assert not one.configuration.cohorts
    assert one.admit(job("theirs", "b", 8)).borrowed == {("f", GPU): 8}
    assert evicted(one.admit(job("ours", "a", 8))) == {"theirs": "InCohortReclamation"}


def test_2_a_queue_without_a_cohort_borrows_nothing():
    one = cluster(queue("a", {"f": 8}), queue("b", {"f": 0}, cohort=None))
    assert "maximum capacity (0)" in reason(one.admit(job("j", "b", 1)))


def test_2_fair_sharing_is_not_on_by_an_empty_section():
    assert manager((0, 19), {"fairSharing": {}}).strategies == ()
    assert manager((0, 19), {"fairSharing": {"preemptionStrategies": list(FINAL)}}).strategies == FINAL


@pytest.mark.parametrize("borrow", ["Never", "LowerPriority"])
def test_2_borrow_within_cohort_is_ignored_beside_fair_sharing(borrow):
    rules = Preemption("LowerPriority", "Any", borrow)
    one = Cluster(fair(configured(queue("a", {"f": 8}, preemption=rules), queue("b", {"f": 8}))))
    one.admit(job("theirs", "b", 8, pods=2, priority="development"))
    assert evicted(one.admit(job("ours", "a", 8))) == {"theirs": "InCohortReclamation"}


def test_2_lowering_quota_below_use_evicts_nobody():
    one = cluster(queue("a", {"f": 8}))
    one.admit(job("j", "a", 8))
    assert change(one, configured(queue("a", {"f": 4}))) == ()
    assert "j" in one.running
    assert isinstance(one.admit(job("k", "a", 1)), Pending)


def test_2_taking_a_flavor_out_of_a_queue_evicts_nobody():
    one = cluster(queue("a", {"f": 8, "g": 8}))
    one.admit(job("j", "a", 8))
    assert change(one, configured(queue("a", {"g": 8}))) == ()
    assert "j" in one.running


def test_2_hold_lets_jobs_run_on_and_hold_and_drain_evicts_them():
    one = cluster(queue("a", {"f": 8}))
    one.admit(job("j", "a", 4))
    assert change(one, configured(queue("a", {"f": 8}, stop="Hold"))) == ()
    assert reason(one.admit(job("k", "a", 4))) == "ClusterQueue a is stopped"
    assert change(one, configured(queue("a", {"f": 8}, stop="HoldAndDrain"))) == ("j",)
    assert change(one, configured(queue("a", {"f": 8}))) == ()
    assert isinstance(one.admit(job("j", "a", 4)), Admitted)


# 2b. Jobs larger than a team's quota of one flavor


def _demo(**more):
    """Three teams on four nodes of 8, in whole nodes as `kueue-objects.yaml` has them."""
    rules = {"preemption": BACK, "fungibility": NEXT, **more}
    return (
        queue("vision", {"reserved": 8, "spot": 0, "on-demand": 8}, **rules),
        queue("language", {"reserved": 0, "spot": 8, "on-demand": 0}, **rules),
        queue("tabular", {"reserved": 0, "spot": 8, "on-demand": 0}, **rules),
    )


def _split(**more):
    """Two teams that own a part of one node each."""
    return queue("a", {"f": 3}, **more), queue("b", {"f": 5}, **more)


def test_2b_classic_a_larger_job_preempts_nobody_not_even_its_own_development():
    one = cluster(*_split())
    one.admit(job("mine", "a", 8, priority="development"))
    told = reason(one.admit(job("now", "a", 8, priority="production")))
    assert told == "insufficient unused quota for nvidia.com/gpu in flavor f, 8 more needed"


def test_2b_nested_cohorts_save_that_what_fits_the_sub_cohort_reclaims_from_outside_of_it():
    cohorts = Cohort("all"), Cohort("left", "all"), Cohort("right", "all")
    queues = (
        queue("a", {"f": 4}, cohort="left"),
        queue("b", {"f": 4}, cohort="left"),
        queue("c", {"f": 0}, cohort="right"),
    )
    one = cluster(*queues, cohorts=cohorts)
    one.admit(job("outside", "c", 8, priority="production"))
    assert evicted(one.admit(job("whole", "a", 8))) == {"outside": "InCohortReclamation"}
    again = cluster(*queues, cohorts=cohorts)
    again.admit(job("inside", "b", 8, priority="development"))
    assert isinstance(again.admit(job("whole", "a", 8, priority="production")), Pending)


def test_2b_cure_a_own_teams_lower_priorities_only():
    one = cluster(*_split(preemption=CURE_A))
    one.admit(job("mine", "a", 8, priority="development"))
    assert evicted(one.admit(job("now", "a", 8, priority="production"))) == {"mine": "InClusterQueue"}
    other = cluster(*_split(preemption=CURE_A))
    other.admit(job("theirs", "b", 8, priority="development"))
    assert isinstance(other.admit(job("now", "a", 8, priority="production")), Pending)


def test_2b_threshold_100_takes_others_borrowing_development_too_never_within_quota():
    rules = replace(CURE_A, borrow_threshold=100)
    one = cluster(*_split(preemption=rules))
    one.admit(job("theirs", "b", 8, priority="development"))
    assert evicted(one.admit(job("now", "a", 8, priority="production"))) == {"theirs": "InCohortReclaimWhileBorrowing"}
    within = cluster(*_split(preemption=rules))
    within.admit(job("theirs", "b", 5, priority="development"))
    assert isinstance(within.admit(job("now", "a", 8, priority="production")), Pending)


def test_2b_a_job_without_a_class_has_priority_0_and_gives_way_to_development():
    one = cluster(*_split(preemption=CURE_A))
    one.admit(job("nobody", "a", 8, priority=""))
    assert evicted(one.admit(job("now", "a", 8, priority="development"))) == {"nobody": "InClusterQueue"}


def test_2b_cure_b_a_team_gets_back_the_flavors_where_it_owns_nodes_and_no_others():
    one = cluster(*_demo(preemption=CURE_A))
    for name in ("r", "s1", "s2", "d"):
        assert isinstance(one.admit(job(name, "language", 8, priority="production")), Admitted)
    assert set(evicted(one.admit(job("v1", "vision", 8))).values()) == {"InCohortReclamation"}
    assert set(evicted(one.admit(job("v2", "vision", 8))).values()) == {"InCohortReclamation"}
    assert isinstance(one.admit(job("v3", "vision", 8)), Pending)


def test_2b_a_borrower_keeps_all_idle_nodes_until_their_owner_comes():
    one = cluster(*_demo(preemption=CURE_A))
    for name in ("r", "s1", "s2", "d"):
        one.admit(job(name, "language", 8, priority="development"))
    assert evicted(one.admit(job("t1", "tabular", 8))).values()
    assert isinstance(one.admit(job("t2", "tabular", 8)), Pending)


def test_2b_cure_c_fair_sharing_with_both_strategies_passes_with_split_quotas():
    one = Cluster(fair(configured(*_split()), BOTH))
    one.admit(job("theirs", "b", 8, pods=1, priority="production"))
    assert isinstance(one.admit(job("small", "a", 3)), Admitted)


def test_2b_worse_with_both_strategies_anothers_4_gpu_development_evicts_an_8_gpu_production_job():
    queues = queue("a", {"f": 3}), queue("b", {"f": 5})
    both = Cluster(fair(configured(*queues), BOTH))
    both.admit(job("whole", "b", 8, priority="production"))
    assert evicted(both.admit(job("small", "a", 4, priority="development"))) == {"whole": "InCohortFairSharing"}
    final = Cluster(fair(configured(*queues), FINAL))
    final.admit(job("whole", "b", 8, priority="production"))
    assert isinstance(final.admit(job("small", "a", 4, priority="development")), Pending)


@pytest.mark.parametrize("strategies", [FINAL, BOTH])
def test_2b_fair_sharing_takes_free_flavors_first(strategies):
    queues = queue("a", {"f": 8, "g": 0}, fungibility=NEXT), queue("b", {"f": 8, "g": 8}, fungibility=NEXT)
    one = Cluster(fair(configured(*queues), strategies))
    one.admit(job("theirs", "b", 8, pods=2, priority="development"))
    found = one.admit(job("ours", "a", 8))
    assert (flavor_of(found), evicted(found)) == ("g", {})


@pytest.mark.parametrize("strategies", [FINAL, BOTH])
def test_2b_whom_fair_sharing_evicts_does_not_evict_in_turn(strategies):
    one = Cluster(fair(configured(queue("a", {"f": 8}), queue("b", {"f": 8})), strategies))
    wide, own = job("wide", "a", 8, pods=2), job("own", "b", 8)
    one.admit(wide)
    assert list(evicted(one.admit(own))) == ["wide"]
    assert isinstance(one.admit(wide), Pending)
    assert set(one.running) == {"own"}


def test_2b_nobody_within_nominal_is_evicted_by_fair_sharing():
    one = Cluster(fair(configured(queue("a", {"f": 8}), queue("b", {"f": 8})), BOTH))
    one.admit(job("theirs", "b", 8, priority="development"))
    one.admit(job("mine", "a", 8, priority="production"))
    assert isinstance(one.admit(job("more", "a", 8, priority="production")), Pending)


def test_2b_the_share_sums_over_all_flavors_so_who_borrows_idle_small_ones_loses_its_large_node():
    queues = (
        queue("a", {"h100": 0, "l4": 0}),
        queue("b", {"h100": 0, "l4": 0}),
        queue("c", {"h100": 8, "l4": 16}),
    )
    flavors = Flavor("h100", {"gpu": "h100"}), Flavor("l4", {"gpu": "l4"})
    one = Cluster(fair(configured(*queues, flavors=flavors), BOTH))
    one.admit(job("large", "a", 8, selector={"gpu": "h100"}))
    assert isinstance(one.admit(job("wants", "b", 8, selector={"gpu": "h100"})), Pending)
    one.admit(job("idle", "a", 8, selector={"gpu": "l4"}))
    assert evicted(one.admit(job("wants", "b", 8, selector={"gpu": "h100"}))) == {"large": "InCohortFairSharing"}


def test_2b_equals_still_get_nothing():
    one = Cluster(fair(configured(queue("a", {"f": 3}), queue("b", {"f": 3}), queue("c", {"f": 2})), BOTH))
    one.admit(job("theirs", "b", 8))
    assert isinstance(one.admit(job("ours", "a", 8)), Pending)


def test_2b_the_most_passes_with_whole_nodes_one_strategy_and_weights():
    queues = [replace(one, weight=weight) for one, weight in zip(_demo(), (16.0, 8.0, 8.0), strict=True)]
    one = Cluster(fair(configured(*queues), FINAL))
    for name in ("l1", "l2", "l3", "l4"):
        one.admit(job(name, "language", 8, priority="development"))
    assert set(evicted(one.admit(job("owner", "tabular", 8))).values()) == {"InCohortReclamation"}
    assert evicted(one.admit(job("even", "tabular", 8))), "idle nodes are evened out"
    assert evicted(one.admit(job("own", "language", 8, priority="production")))["l1"] == "InClusterQueue"


def test_2b_a_teams_only_borrowed_node_is_taken_by_its_owner_alone():
    one = Cluster(fair(configured(*_demo()), FINAL))
    for team, name in (("language", "l1"), ("tabular", "t1"), ("language", "l2")):
        one.admit(job(name, team, 8))
    assert one.running["l2"].usage in ({("reserved", GPU): 8}, {("on-demand", GPU): 8})
    one.admit(job("v1", "vision", 8))
    verdict = one.admit(job("t2", "tabular", 8))
    assert isinstance(verdict, Pending), verdict
    assert evicted(one.admit(job("v2", "vision", 8))) == {"l2": "InCohortReclamation"}


@pytest.mark.parametrize("strategies", [(), FINAL, BOTH])
def test_2b_in_every_setting_a_1_gpu_job_within_nominal_evicts_a_borrowers_whole_job(strategies):
    one = Cluster(fair(configured(queue("a", {"f": 8}), queue("b", {"f": 8})), strategies))
    one.admit(job("large", "b", 8, pods=2, priority="production"))
    assert list(evicted(one.admit(job("tiny", "a", 1, priority="development")))) == ["large"]


@pytest.mark.parametrize("strategies", [(), FINAL, BOTH])
def test_2b_a_held_cluster_queue_locks_what_it_borrowed_and_none_gives_it_back(strategies):
    queues = queue("a", {"f": 6}), queue("b", {"f": 2})
    one = Cluster(fair(configured(*queues), strategies))
    one.admit(job("theirs", "b", 8))
    change(one, fair(configured(queues[0], replace(queues[1], stop="Hold")), strategies))
    assert isinstance(one.admit(job("owner", "a", 4)), Pending)
    change(one, fair(configured(*queues), strategies))
    assert list(evicted(one.admit(job("owner", "a", 4)))) == ["theirs"]


@pytest.mark.parametrize("strategies", [(), FINAL, BOTH])
def test_2b_a_held_local_queue_gives_it_back(strategies):
    held = fair(configured(queue("a", {"f": 6}), queue("b", {"f": 2})), strategies)
    one = Cluster(held)
    one.admit(job("theirs", "b", 8))
    locals_ = {**held.locals, ("b", "default"): LocalQueue("b", "default", "b", "Hold")}
    change(one, replace(held, locals=locals_))
    assert list(evicted(one.admit(job("owner", "a", 4)))) == ["theirs"]
    assert reason(one.admit(job("theirs", "b", 1))) == "LocalQueue default is stopped"


def refused(*changes, stack):
    """The rules of what is refused of an example stack, or of it with changes of Kueue's objects."""
    resources = list(stack.known.resources)
    for one in changes:
        resources = one(resources)
    return {finding.rule for finding in check_values(resources, context_of(stack)) if finding.rule.startswith("kueue-")}


@pytest.mark.parametrize(
    ("kind", "name"),
    [("ClusterQueue", "kueue-cluster-queue-vision"), ("LocalQueue", "kueue-local-queue-vision-default")],
)
@pytest.mark.parametrize("policy", ["None", "Hold", "HoldAndDrain"])
def test_2b_no_stop_policy_in_the_manifest_or_a_persons_hold_is_refused_or_lifted(rehearsed, kind, name, policy):
    demo = rehearsed("demo")
    assert refused(stack=demo) == set()
    assert refused(edit(KUEUE + kind, name, put("spec.stopPolicy", policy)), stack=demo) == {"kueue-stop-policy"}


# 2c. ProvisioningRequest


def _provisioned(**more):
    return queue("a", {"f": 32}, checks={"nodes": ()}, **more), {"nodes": Check("nodes", PROVISIONING)}


def test_2c_from_zero_nodes_the_workload_reserves_quota_and_waits_for_the_check():
    one_queue, checks = _provisioned()
    one = _aware(one_queue, nodes=0, checks=checks)
    found = one.admit(job("j", "a", 8))
    assert found == Pending("waiting for admission check(s) nodes", reserved=True)
    assert one.tree["a"].used(("f", GPU)) == 8


def test_2c_without_topology_the_same():
    one_queue, checks = _provisioned()
    assert cluster(one_queue, checks=checks).admit(job("j", "a", 8)).reserved


def test_2c_what_reserves_quota_keeps_it_from_others():
    one_queue, checks = _provisioned()
    one = cluster(one_queue, checks=checks)
    assert one.admit(job("j", "a", 32)).reserved
    assert not one.admit(job("k", "a", 8)).reserved


def test_2c_nodes_that_do_not_come_hold_the_quota_through_every_pause():
    assert Retry(limit=3, base_seconds=60).holds_seconds == 60 + 120 + 240
    assert Retry(limit=3, base_seconds=60, most_seconds=100).holds_seconds == 60 + 100 + 100
    assert Retry(limit=0).holds_seconds == 0


# Operations 2. Fair sharing and its keys


def test_ops_2_classic_of_nominal_2_and_2_a_job_of_4_preempts_nobody_and_one_of_2_does():
    one = cluster(queue("a", {"f": 2}), queue("b", {"f": 2}))
    one.admit(job("mine", "a", 4, priority="development"))
    assert isinstance(one.admit(job("large", "a", 4, priority="production")), Pending)
    assert evicted(one.admit(job("small", "a", 2, priority="production"))) == {"mine": "InClusterQueue"}


def test_ops_2_with_fair_sharing_both_preempt():
    for gpus in (2, 4):
        one = Cluster(fair(configured(queue("a", {"f": 2}), queue("b", {"f": 2})), FINAL))
        one.admit(job("mine", "a", 4, priority="development"))
        assert evicted(one.admit(job("now", "a", gpus, priority="production"))) == {"mine": "InClusterQueue"}


def test_ops_2_quota_in_the_cohort_alone_does_not_help():
    queues = queue("a", {"f": 2}), queue("b", {"f": 2})
    one = cluster(*queues, cohorts=(Cohort("all", quotas={("f", GPU): Quota(4)}),))
    one.admit(job("mine", "a", 8, priority="development"))
    assert isinstance(one.admit(job("large", "a", 8, priority="production")), Pending)


@pytest.mark.parametrize("strategies", [FINAL, ("LessThanInitialShare",), BOTH])
def test_ops_2_strategies_are_one_of_the_two_or_both_in_this_order(strategies):
    assert manager((0, 19), {"fairSharing": {"preemptionStrategies": list(strategies)}}).strategies == strategies


def test_ops_2_what_is_nominal_is_not_shared():
    queues = queue("a", {"f": 16}, weight=1.0), queue("b", {"f": 0}, weight=1.0)
    one = Cluster(fair(configured(*queues), BOTH))
    one.admit(job("all", "a", 8, pods=2, priority="development"))
    assert isinstance(one.admit(job("j", "b", 1, priority="production")), Pending)


def test_ops_2_weight_0_is_always_last():
    queues = queue("a", {"f": 0}, weight=0.0), queue("b", {"f": 0}), queue("c", {"f": 16})
    one = Cluster(fair(configured(*queues), FINAL))
    one.admit(job("theirs", "b", 8, pods=2))
    assert isinstance(one.admit(job("last", "a", 1)), Pending)
    other = Cluster(fair(configured(*queues), FINAL))
    for name in ("last1", "last2"):
        other.admit(job(name, "a", 8))
    assert set(evicted(other.admit(job("theirs", "b", 8))).values()) == {"InCohortFairSharing"}


def test_ops_2_limits_of_borrowing_and_lending_at_any_level():
    cohorts = Cohort("all"), Cohort("left", "all", {("f", GPU): Quota(0, borrowing_limit=2)})
    one = cluster(queue("a", {"f": 4}, cohort="left"), queue("b", {"f": 16}), cohorts=cohorts)
    assert "maximum capacity (6)" in reason(one.admit(job("j", "a", 8)))
    limited = cluster(queue("a", {"f": Quota(4, borrowing_limit=1)}), queue("b", {"f": Quota(16, lending_limit=8)}))
    assert "maximum capacity (5)" in reason(limited.admit(job("j", "a", 8)))
    lent = cluster(queue("a", {"f": 4}), queue("b", {"f": Quota(16, lending_limit=8)}))
    assert "maximum capacity (12)" in reason(lent.admit(job("j", "a", 13)))
    assert isinstance(lent.admit(job("k", "a", 12)), Admitted)
    assert isinstance(lent.admit(job("l", "b", 8)), Admitted), "what is kept back is there for its owner"


@pytest.mark.parametrize("limit", ["borrowingLimit", "lendingLimit"])
def test_ops_2_limits_of_a_cohort_need_a_parent(rehearsed, limit):
    own = {"name": GPU, "nominalQuota": "2", limit: "1"}
    quota = [{"coveredResources": [GPU], "flavors": [{"name": "tune-spot", "resources": [own]}]}]
    limited = edit(f"{KUEUE}Cohort", "kueue-cohort", put("spec.resourceGroups", quota))
    above = added("kueue.x-k8s.io/v1beta2:Cohort", "company", {"spec": {}})
    below = edit(f"{KUEUE}Cohort", "kueue-cohort", put("spec.parentName", "company"))
    assert "kueue-cohort" in refused(limited, stack=rehearsed("demo"))
    assert "kueue-cohort" not in refused(limited, below, above, stack=rehearsed("demo"))


@pytest.mark.parametrize("wrong", [{"nominalQuota": "-1"}, {"nominalQuota": "2", "lendingLimit": "3"}, {"name": "cpu"}])
def test_a_cohorts_quotas_are_held_to_what_a_queues_are(rehearsed, wrong):
    own = {"name": GPU, "nominalQuota": "2", **wrong}
    quota = [{"coveredResources": [GPU], "flavors": [{"name": "tune-spot", "resources": [own]}]}]
    below = edit(f"{KUEUE}Cohort", "kueue-cohort", put("spec.resourceGroups", quota), put("spec.parentName", "company"))
    assert refused(below, stack=rehearsed("demo")) & {"kueue-quota", "kueue-covered"}


def test_ops_2_a_circle_of_cohorts_stops_admission():
    cohorts = Cohort("left", "right"), Cohort("right", "left")
    one = cluster(queue("a", {"f": 8}, cohort="left"), queue("b", {"f": 8}), cohorts=cohorts)
    assert "cycle" in reason(one.admit(job("j", "a", 1)))
    assert isinstance(one.admit(job("k", "b", 1)), Admitted)


def test_ops_2_what_stands_in_the_cohort_itself_is_everybodys():
    one = cluster(queue("a", {"f": 0}), queue("b", {"f": 0}), cohorts=(Cohort("all", quotas={("f", GPU): Quota(8)}),))
    assert one.admit(job("j", "a", 8)).borrowed == {("f", GPU): 8}


def test_ops_2_without_hostname_node_taints_are_ignored():
    rack = Node("n", {"pool": "x", "rack": "r"}, {GPU: 8}, (TAINT,))
    flavor = Flavor("f", {"pool": "x"}, topology="racks")
    racks = cluster(queue("a", {"f": 8}), flavors=(flavor,), topologies={"racks": ("rack",)}, nodes=(rack,))
    assert isinstance(racks.admit(job("j", "a", 8)), Admitted)
    hosts = cluster(queue("a", {"f": 8}), flavors=(flavor,), topologies={"racks": ("rack", HOST)}, nodes=(rack,))
    assert isinstance(hosts.admit(job("j", "a", 8)), Pending)


def test_ops_2_a_topology_that_pods_require_keeps_them_in_one_domain():
    nodes = tuple(Node(f"n{i}", {"pool": "x", "rack": f"r{i // 2}"}, {GPU: 8}) for i in range(4))
    flavor = Flavor("f", {"pool": "x"}, topology="racks")
    one = cluster(queue("a", {"f": 64}), flavors=(flavor,), topologies={"racks": ("rack", HOST)}, nodes=nodes)
    found = one.admit(job("pair", "a", 8, pods=2, topology=("required", "rack")))
    assert set(found.nodes["main"]) in ({"n0", "n1"}, {"n2", "n3"})
    assert "allows to fit only 2 out of 3" in reason(
        one.admit(job("three", "a", 8, pods=3, topology=("required", "rack")))
    )
    assert isinstance(one.admit(job("rest", "a", 8, pods=2, topology=("preferred", "rack"))), Admitted)


def test_ops_2_a_topology_that_no_flavor_has_is_told():
    one = cluster(queue("a", {"f": 8}))
    told = reason(one.admit(job("j", "a", 1, topology=("required", "rack"))))
    assert told == 'Flavor "f" does not support TopologyAwareScheduling'


def test_ops_2_partial_admission_starts_with_as_many_pods_as_fit_and_no_fewer_than_it_may():
    one = cluster(queue("a", {"f": 8}))
    assert one.admit(job("j", "a", 1, pods=12, least=2)).counts == {"main": 8}
    assert isinstance(one.admit(job("k", "a", 1, pods=12, least=2)), Pending)
    assert isinstance(cluster(queue("a", {"f": 8})).admit(job("l", "a", 1, pods=12)), Pending)


def test_ops_2_what_is_gated_is_not_considered_and_takes_no_quota():
    one = cluster(queue("a", {"f": 8}))
    assert isinstance(one.admit(replace(job("j", "a", 8), gated=True)), Pending)
    assert isinstance(one.admit(job("k", "a", 8)), Admitted)


# Operations 3. Budget enforcement at the queue


def test_ops_3_idle_quota_of_a_held_queue_stays_borrowable():
    one = cluster(queue("a", {"f": 2}), queue("b", {"f": 6}, stop="Hold"))
    assert one.admit(job("j", "a", 8)).borrowed == {("f", GPU): 6}


def _held(configuration, kind):
    locals_ = {**configuration.locals, ("a", "default"): LocalQueue("a", "default", "a", kind)}
    return replace(configuration, locals=locals_)


def test_ops_3_a_held_local_queue_lets_run_on_and_a_drained_one_evicts_until_it_is_released():
    free = configured(queue("a", {"f": 8}))
    one = Cluster(free)
    one.admit(job("j", "a", 4))
    assert change(one, _held(free, "Hold")) == ()
    assert "j" in one.running
    assert change(one, _held(free, "HoldAndDrain")) == ("j",)
    assert one.tree["a"].used(("f", GPU)) == 0
    change(one, free)
    assert isinstance(one.admit(job("j", "a", 4)), Admitted)


def test_ops_3_what_waits_for_a_check_loses_its_reservation_to_either_hold():
    rules = {"checks": {"nodes": ()}}
    free = configured(queue("a", {"f": 8}, **rules), checks={"nodes": Check("nodes", PROVISIONING)})
    for held in (_held(free, "Hold"), replace(free, queues={"a": replace(free.queues["a"], stop="Hold")})):
        one = Cluster(free)
        assert one.admit(job("j", "a", 8)).reserved
        assert change(one, held) == ("j",)
        assert one.tree["a"].used(("f", GPU)) == 0


@pytest.mark.parametrize("kind", ["Hold", "HoldAndDrain"])
def test_ops_3_a_stopped_local_queue_says_so(kind):
    one = configured(queue("a", {"f": 8}))
    one = replace(one, locals={("a", "default"): LocalQueue("a", "default", "a", kind)})
    assert reason(Cluster(one).admit(job("j", "a", 1))) == "LocalQueue default is stopped"


def test_ops_3_borrowing_limit_0_leaves_the_own_quota_only_and_evicts_nobody():
    queues = queue("a", {"f": 4}), queue("b", {"f": 4})
    one = cluster(*queues)
    one.admit(job("wide", "a", 8))
    assert change(one, configured(queue("a", {"f": Quota(4, borrowing_limit=0)}), queues[1])) == ()
    assert evicted(one.admit(job("theirs", "b", 4))) == {"wide": "InCohortReclamation"}
    assert "maximum capacity (4)" in reason(one.admit(job("wide", "a", 8)))
    assert isinstance(one.admit(job("own", "a", 4)), Admitted)


def test_ops_3_a_check_that_nothing_answers_keeps_the_quota_reserved():
    one = cluster(queue("a", {"f": 8}, checks={"budget": ()}), checks={"budget": Check("budget", "example.com/budget")})
    assert one.admit(job("j", "a", 8)).reserved
    assert isinstance(one.admit(job("k", "a", 8)), Pending)


def test_ops_3_a_check_of_one_flavor_concerns_no_other():
    rules = {"checks": {"budget": ("spot",)}}
    one = cluster(queue("a", {"f": 8, "spot": 8}, **rules), checks={"budget": Check("budget", "example.com/budget")})
    assert isinstance(one.admit(job("j", "a", 8)), Admitted)
    assert one.admit(job("k", "a", 8)).reserved


# Operations 1. What makes a queue inactive


@pytest.mark.parametrize(
    ("given", "checks", "told"),
    [
        ({"x": ()}, {}, "references missing AdmissionCheck(s): x"),
        ({"x": ()}, {"x": Check("x", PROVISIONING, active=False)}, "references inactive AdmissionCheck(s): x"),
        ({"x": (), "y": ()}, {"x": Check("x", MULTIKUEUE), "y": Check("y", MULTIKUEUE)}, "multiple MultiKueue"),
        ({"x": ("f",)}, {"x": Check("x", MULTIKUEUE)}, "Cannot specify MultiKueue AdmissionCheck per flavor"),
        ({"x": (), "y": ()}, {"x": Check("x", MULTIKUEUE), "y": Check("y", PROVISIONING)}, "Cannot use both"),
    ],
)
def test_ops_1_checks_that_close_a_queue(given, checks, told):
    one = cluster(queue("a", {"f": 8}, checks=given), checks=checks)
    assert told in reason(one.admit(job("j", "a", 1)))


def test_a_flavor_whose_topology_does_not_exist_closes_the_queue():
    one = cluster(queue("a", {"f": 8}), flavors=(Flavor("f", {"pool": "x"}, topology="nosuch"),))
    assert 'there is no Topology "nosuch" for TAS flavor "f"' in reason(one.admit(job("j", "a", 1)))


# What several pod sets and groups do


def test_pod_sets_of_a_job_may_have_different_flavors_and_all_have_to_fit():
    flavors = Flavor("x", {"pool": "x"}), Flavor("y", {"pool": "y"})
    one = cluster(queue("a", {"x": 8, "y": 8}), flavors=flavors)
    parts = PodSet("chief", 1, {GPU: 1}, selector={"pool": "x"}), PodSet("worker", 1, {GPU: 8}, selector={"pool": "y"})
    found = one.admit(Workload("j", "a", "default", parts))
    assert {name: given[GPU] for name, given in found.flavors.items()} == {"chief": "x", "worker": "y"}
    one.finish("j")
    twice = PodSet("chief", 1, {GPU: 1}, selector={"pool": "y"}), parts[1]
    assert "previously considered podsets requests (1)" in reason(one.admit(Workload("k", "a", "default", twice)))
    assert one.tree["a"].used(("y", GPU)) == 0


def test_preference_takes_preemption_over_borrowing_where_the_queue_says_so():
    rules = Fungibility("TryNextFlavor", "TryNextFlavor", "PreemptionOverBorrowing")
    for wanted, preference in (("own", rules), ("lent", NEXT)):
        one = cluster(
            queue("a", {"own": 8, "lent": 0}, fungibility=preference),
            queue("b", {"own": 0, "lent": 8}, fungibility=NEXT),
        )
        one.admit(job("mine", "a", 8, priority="development"))
        assert flavor_of(one.admit(job("now", "a", 8, priority="production"))) == wanted


def test_newer_equals_give_way_only_where_the_queue_says_so():
    for policy, gone in (("LowerPriority", False), ("LowerOrNewerEqualPriority", False), ("Any", True)):
        one = cluster(queue("a", {"f": 8}, preemption=Preemption(policy)))
        one.admit(job("older", "a", 8))
        assert isinstance(one.admit(job("newer", "a", 8)), Admitted) is gone


def test_no_more_workloads_are_evicted_than_is_needed():
    one = cluster(queue("a", {"f": 8}))
    for name, gpus in (("small", 2), ("large", 6)):
        one.admit(job(name, "a", gpus, priority="development"))
    assert evicted(one.admit(job("now", "a", 6, priority="production"))) == {"large": "InClusterQueue"}
