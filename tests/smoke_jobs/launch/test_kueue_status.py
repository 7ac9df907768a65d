"""Texts are those that Kueue 0.19.2 gave on a real cluster, or its release's source has."""

from __future__ import annotations

import pytest

from trainyard.smoke_jobs.launch import kueue_status as status

JOB = {
    "metadata": {"uid": "u1", "labels": {"kueue.x-k8s.io/queue-name": "vision"}},
    "spec": {"suspend": True, "parallelism": 2},
}


def _workload(*conditions, uid="u1", created="2026-11-21T10:00:00Z", **more):
    return {
        "metadata": {"ownerReferences": [{"uid": uid}], "creationTimestamp": created},
        "spec": {"queueName": "vision"} | more.pop("spec", {}),
        "status": {"conditions": [dict(zip(("type", "status", "message"), c, strict=False)) for c in conditions]}
        | more,
    }


NO_QUOTA = (
    "couldn't assign flavors to pod set main: flavor dev-spot doesn't match node affinity, insufficient unused quota "
    "for nvidia.com/gpu in flavor train-reserved, 8 more needed, insufficient quota for nvidia.com/gpu in flavor "
    "train-spot, previously considered podsets requests (0) + current podset request (88) > maximum capacity (32)"
)


def test_only_the_parts_that_say_why_are_shown():
    assert status.useful(NO_QUOTA) == (
        "insufficient unused quota for nvidia.com/gpu in flavor train-reserved, 8 more needed; "
        "insufficient quota for nvidia.com/gpu in flavor train-spot, previously considered podsets requests (0) + "
        "current podset request (88) > maximum capacity (32)"
    )


def test_a_taint_is_shown():
    text = (
        "couldn't assign flavors to pod set main: untolerated taint {nvidia.com/gpu true NoSchedule <nil>} in flavor a"
    )
    assert status.useful(text) == "untolerated taint {nvidia.com/gpu true NoSchedule <nil>} in flavor a"


@pytest.mark.parametrize(
    "text", ["LocalQueue nosuch doesn't exist", "workload namespace doesn't match ClusterQueue selector"]
)
def test_other_messages_are_shown_whole(text):
    assert status.useful(text) == text


def test_refused_for_quota():
    workload = _workload(("QuotaReserved", "False", NO_QUOTA))
    text = status.waiting_for_quota(JOB, [workload])
    assert text.startswith("waiting for quota in queue vision: insufficient unused quota")
    assert "affinity" not in text


def test_no_condition_means_waiting_and_an_older_job_has_the_reason():
    older = _workload(("QuotaReserved", "False", NO_QUOTA), uid="u0", created="2026-11-21T09:00:00Z")
    elsewhere = _workload(("QuotaReserved", "False", "other queue"), uid="u2", spec={"queueName": "language"})
    text = status.waiting_for_quota(JOB, [_workload(), older, elsewhere])
    assert "waiting for quota in queue vision: insufficient" in text
    assert "(said of an older job of the queue)" in text
    assert status.waiting_for_quota(JOB, [_workload(), elsewhere]) == "waiting for quota in queue vision"


def test_no_workload_points_to_the_priority_class():
    assert status.waiting_for_quota(JOB, []) == "waiting for Kueue to take the job into queue vision"
    labels = {**JOB["metadata"]["labels"], "kueue.x-k8s.io/priority-class": "nosuch"}
    job = {**JOB, "metadata": {**JOB["metadata"], "labels": labels}}
    assert "does the WorkloadPriorityClass nosuch exist?" in status.waiting_for_quota(job, [])


def test_a_job_that_no_queue_holds_is_not_waiting():
    assert status.waiting_for_quota({**JOB, "spec": {"parallelism": 1}}, []) is None


def test_admitted():
    workload = _workload(
        ("QuotaReserved", "True", ""), ("Admitted", "True", ""), ("Evicted", "False", "Previously: Preempted"),
        admission={"podSetAssignments": [{"name": "main", "flavors": {"nvidia.com/gpu": "train-spot"}}]},
    )  # fmt: skip
    assert status.waiting_for_quota(JOB, [workload]) is None
    assert status.flavors(workload) == "train-spot"
    assert status.flavors(_workload()) == status.flavors(None) == ""


def test_evicted_and_given_up():
    evicted = _workload(("Evicted", "True", "Preempted to accommodate a workload (UID: x) due to prioritization"))
    assert status.waiting_for_quota(JOB, [evicted]).startswith("evicted, waiting in queue vision again: Preempted")
    dead = _workload(("Evicted", "True", "exceeded the requeuing limit"), spec={"active": False})
    assert status.waiting_for_quota(JOB, [dead]) == "Kueue gave up on it: exceeded the requeuing limit"


def _pod(phase="Pending", **more):
    return {"metadata": {"name": "p"}, "status": {"phase": phase} | more}


def test_admitted_without_a_pod_shows_the_event():
    text = status.starting([], 2, ['pods "x" is forbidden: exceeded quota: team'])
    assert text == 'admitted, but no pod was made: pods "x" is forbidden: exceeded quota: team'
    assert status.starting([], 2, []) == "admitted, making pods"


def test_pods_that_wait_say_for_what():
    unschedulable = {
        "type": "PodScheduled",
        "status": "False",
        "message": "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.",
    }
    waiting = {"state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image x"}}}
    pods = [_pod(conditions=[unschedulable]), _pod(containerStatuses=[waiting]), _pod(), _pod("Running")]
    assert status.starting(pods, 4, []) == (
        "1 of 4 pods run: no node yet (0/3 nodes are available: 3 Insufficient nvidia.com/gpu.); "
        "the image cannot be pulled: Back-off pulling image x; pulling the image and mounting volumes"
    )
