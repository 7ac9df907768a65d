"""What ends a smoke job that can get no nodes: what it decides, what it leaves alone, and what becomes of the Job."""

from __future__ import annotations

import copy
import io
import json
import urllib.error
from email.message import Message
from typing import Any

import pytest

from tests.components.k8s.checkers import check_plain_objects
from tests.components.k8s.test_kueue import run as kueue
from trainyard.components.k8s.keepers import idle
from trainyard.components.k8s.keepers import proofs as keeper
from trainyard.components.k8s.keepers.proofs import PATIENT_SECONDS, SURE_SECONDS, Known, Proof, decide, flavors_of, why
from trainyard.conventions import gpu_node_labels
from trainyard.smoke_jobs.ddp.result import EXIT
from trainyard.smoke_jobs.launch.cluster_watch import NO_CAPACITY, _ending
from trainyard.smoke_jobs.launch.job import SmokeSpec
from trainyard.smoke_jobs.launch.kubernetes import Deferred, render

IMAGE = f"org/python:3@sha256:{'0' * 64}"
NOW = 1_800_000_000.0
LABELS = {
    "train-spot": dict(gpu_node_labels("train", "spot")),
    "train-on-demand": dict(gpu_node_labels("train", "on-demand")),
}
NOTHING = Known(LABELS, {}, {})
DRY = Known(LABELS, {"train-spot": "no nodes to be had: OutOfResource"}, {"train-spot": "OutOfResource"})
NOT_YET = Known(LABELS, {"train-spot": "its nodes are not bought yet"}, {})
OTHER_OUT = Known(LABELS, {"train-on-demand": "no nodes"}, {})
NEVER = (
    "couldn't assign flavors to pod set main: flavor train-on-demand doesn't match node affinity, insufficient quota "
    "for nvidia.com/gpu in flavor train-spot, previously considered podsets requests (0) + current podset request (16) "
    "> maximum capacity (8)"
)
ELSEWHERE = NEVER.replace("train-spot", "train-reserved")
BUSY = (
    "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor train-spot, 8 more"
)


def smoke_job(**status: Any) -> dict[str, Any]:
    """The Job as the launcher makes it, and the server keeps it."""
    spec = SmokeSpec(
        name="smoke-train-spot", pool="train", capacity="spot", nodes=2, gpus_per_node=8, cpu=8, memory_gib=32,
        image=IMAGE, namespace="team-vision", queue="jobs",
    )  # fmt: skip
    made = copy.deepcopy(render(spec, Deferred("team-vision")).job)
    made["metadata"] |= {"uid": "job-1", "resourceVersion": "7"}
    made["spec"]["suspend"] = True
    return made | {"status": status}


JOB = smoke_job(conditions=[{"type": "Suspended", "status": "True"}])


def condition(kind: str, status: str, message: str = "", reason: str = "") -> dict[str, Any]:
    return {"type": kind, "status": status, "message": message, "reason": reason}


def workload(*conditions: dict[str, Any], active: bool = True, flavor: str = "") -> dict[str, Any]:
    status: dict[str, Any] = {"conditions": list(conditions)}
    if flavor:
        status["admission"] = {"podSetAssignments": [{"flavors": {"nvidia.com/gpu": flavor}}]}
    owner = {"uid": "job-1", "kind": "Job", "name": JOB["metadata"]["name"]}
    return {"metadata": {"name": "w", "ownerReferences": [owner]}, "spec": {"active": active}, "status": status}


GIVEN_UP = workload(
    condition("Evicted", "True", "exceeding the maximum number of re-queuing retries", "Deactivated"), active=False
)
ADMITTED = workload(condition("QuotaReserved", "True"), condition("Admitted", "True"), flavor="train-spot")
PENDING = {
    "metadata": {"uid": "pod-1", "ownerReferences": [{"uid": "job-1"}]},
    "status": {"phase": "Pending", "conditions": [condition("PodScheduled", "False", "no nodes")]},
}
RUNS = {**PENDING, "status": {"phase": "Running", "conditions": [condition("PodScheduled", "True")]}}


def event(reason: str, minute: int, message: str = "") -> dict[str, Any]:
    at = f"2027-01-15T08:{minute:02}:00Z"
    return {"reason": reason, "message": message, "lastTimestamp": at, "involvedObject": {"uid": "pod-1"}}


NO_FIT = event("NotTriggerScaleUp", 3, "pod didn't trigger scale-up: 2 max node group size reached")
REFUSED = event("FailedScaleUp", 3, "Node scale up in zones us-central1-a failed: GCE quota exceeded")


@pytest.mark.parametrize(
    ("what", "of", "pods", "events", "known", "text", "stands"),
    [
        ("the queue has not taken it", None, [], [], DRY, None, 0),
        ("its turn has not come", workload(condition("QuotaReserved", "False", BUSY)), [], [], NOTHING, None, 0),
        ("nobody said why", workload(), [], [], NOTHING, None, 0),
        ("no quota will ever hold it", workload(condition("QuotaReserved", "False", NEVER)), [], [], NOTHING,
         "train-spot: 16 are asked for and 8 is all", SURE_SECONDS),
        ("another flavor never holds it", workload(condition("QuotaReserved", "False", ELSEWHERE)), [], [], NOTHING,
         None, 0),
        ("its capacity is out of the queues", workload(condition("QuotaReserved", "False", BUSY)), [], [], DRY,
         "train-spot: no nodes to be had: OutOfResource", SURE_SECONDS),
        ("its block is not bought yet", workload(), [], [], NOT_YET,
         "not bought yet", SURE_SECONDS),
        ("another capacity is out", workload(), [], [], OTHER_OUT, None, 0),
        ("the queue gave it up", GIVEN_UP, [], [], NOTHING, "gave it up", SURE_SECONDS),
        ("a person switched it off", workload(condition("Evicted", "True", "by admin", "Deactivated"), active=False),
         [],
         [], DRY, None, 0),
        ("its nodes are on their way", ADMITTED, [PENDING], [NO_FIT, event("TriggeredScaleUp", 4)], NOTHING, None, 0),
        ("nobody has said anything", ADMITTED, [PENDING], [], NOTHING, None, 0),
        ("its group is in backoff", ADMITTED, [PENDING], [], DRY, "OutOfResource", SURE_SECONDS),
        ("another group is", ADMITTED, [PENDING], [], Known(LABELS, {}, {"train-on-demand": "no"}), None, 0),
        ("no group fits", ADMITTED, [PENDING], [event("TriggeredScaleUp", 2), NO_FIT], NOTHING, "max node group size",
         PATIENT_SECONDS),
        ("the cloud refused", ADMITTED, [PENDING], [REFUSED], NOTHING, "quota exceeded", PATIENT_SECONDS),
        ("it runs", ADMITTED, [RUNS], [REFUSED], DRY, None, 0),
        ("half of it waits", ADMITTED, [RUNS, PENDING], [], DRY, "OutOfResource", SURE_SECONDS),
    ],
)  # fmt: skip
def test_why_it_gets_no_nodes(what, of, pods, events, known, text, stands) -> None:
    found = why(Proof(JOB, of, pods, events), known)
    if text is None:
        assert found is None, what
    else:
        assert found is not None, what
        assert text in found.text
        assert found.stands == stands


def test_a_reason_has_to_stand_for_its_time_and_begins_anew_where_it_went() -> None:
    stuck = Proof(JOB, workload(condition("QuotaReserved", "False", NEVER)), [], [])
    since, ends = decide([stuck], NOTHING, {}, NOW)
    assert (since, ends) == ({"job-1": NOW}, [])
    assert decide([stuck], NOTHING, since, NOW + SURE_SECONDS - 1)[1] == []
    assert [text for _, text in decide([stuck], NOTHING, since, NOW + SURE_SECONDS)[1]]
    fine = Proof(JOB, workload(), [], [])
    assert decide([fine], NOTHING, since, NOW + SURE_SECONDS) == ({}, [])


def test_the_flavors_are_those_that_the_launchers_job_asks_for() -> None:
    assert flavors_of(JOB, LABELS) == ["train-spot"]
    anywhere = smoke_job()
    del anywhere["spec"]["template"]["spec"]["affinity"]
    assert flavors_of(anywhere, LABELS) == list(LABELS)


class Server:
    """The API server with one smoke job, one job of somebody, and what the keeper may ask."""

    def __init__(self, job: dict[str, Any], found: dict[str, Any], *, backoff: bool = False) -> None:
        self.jobs = [job, {"metadata": {"name": "train", "namespace": "team-vision", "uid": "x"}, "spec": {}}]
        self.workload, self.backoff = found, backoff
        self.patched: list[tuple[str, Any]] = []
        self.events: list[Any] = []
        self.refuses: dict[str, int] = {}

    def ask(self, path: str, body: Any = None, manager: str = "", *, merge: bool = False) -> dict[str, Any]:
        for part, code in self.refuses.items():
            if part in path and (body is not None) == ("status" in part):
                raise urllib.error.HTTPError(path, code, "no", Message(), io.BytesIO())
        plain = path.partition("?")[0]
        if body is not None and path.endswith("/status"):
            assert merge
            self.patched.append((path, body))
            job = self.jobs[0]
            job["status"] = {**job["status"], **body["status"]}
            return job
        if body is not None:
            self.events.append(body)
            return dict(body)
        if plain.endswith("/jobs"):
            return {"items": copy.deepcopy(self.jobs)}
        if plain.endswith("/workloads"):
            return {"items": [self.workload]}
        if plain.endswith(("/pods", "/events")):
            return {"items": [PENDING] if plain.endswith("/pods") else []}
        if plain == keeper.STATUS:
            return {"data": {"status": STATUS if self.backoff else ""}}
        name = plain.rpartition("/")[2]
        return {"metadata": {"name": name, "labels": {}}, "spec": {}}


STATUS = """\
time: "2027-01-15 08:00:00.5 +0000 UTC"
nodeGroups:
  - name: "eks-train-spot-1"
    scaleUp:
      status: "Backoff"
      backoffInfo:
        errorCode: "MaxSpotInstanceCountExceeded"
"""
CONFIGURATION = {"namespaces": ["team-vision"], "flavors": LABELS, "groups": {"train-spot": "eks-train-spot-"}}


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch):
    def made(server: Server) -> Server:
        for module in (keeper, idle):
            monkeypatch.setattr(module, "ask", server.ask)
        return server

    return made


def test_a_job_is_ended_once_with_the_reason_and_others_are_left_alone(served) -> None:
    server = served(Server(smoke_job(conditions=[]), ADMITTED, backoff=True))
    since: dict[str, float] = {}
    assert keeper.turn(CONFIGURATION, NOW, since) and not server.patched
    assert keeper.turn(CONFIGURATION, NOW + SURE_SECONDS, since)
    ((path, body),) = server.patched
    assert path.endswith(f"/namespaces/team-vision/jobs/{JOB['metadata']['name']}/status")
    assert body["metadata"] == {"resourceVersion": "7"}, "what has changed meanwhile is looked at again"
    (end,) = body["status"]["conditions"]
    assert (end["type"], end["status"], end["reason"]) == ("FailureTarget", "True", NO_CAPACITY)
    assert "MaxSpotInstanceCountExceeded" in end["message"]
    assert body["status"]["startTime"] == end["lastTransitionTime"], "a job that never began could not be finished"
    (event,) = server.events
    assert (event["reason"], event["regarding"]["uid"]) == (NO_CAPACITY, "job-1")
    assert keeper.turn(CONFIGURATION, NOW + 2 * SURE_SECONDS, since)
    assert len(server.patched) == 1


def test_what_the_server_kept_of_the_job_stays(served) -> None:
    status = {"startTime": "2027-01-15T07:00:00Z", "conditions": [condition("Suspended", "False")]}
    server = served(Server(smoke_job(**status), ADMITTED, backoff=True))
    since = {"job-1": NOW - SURE_SECONDS}
    keeper.turn(CONFIGURATION, NOW, since)
    ((_, body),) = server.patched
    assert body["status"]["startTime"] == status["startTime"]
    assert [one["type"] for one in body["status"]["conditions"]] == ["Suspended", "FailureTarget"]


@pytest.mark.parametrize(("part", "code"), [("/status", 409), ("/status", 404)])
def test_a_job_that_changed_meanwhile_is_looked_at_again(part, code, served) -> None:
    server = served(Server(smoke_job(conditions=[]), ADMITTED, backoff=True))
    server.refuses = {part: code}
    assert keeper.turn(CONFIGURATION, NOW, {"job-1": NOW - SURE_SECONDS})
    assert not server.patched and not server.events


def test_a_namespace_that_does_not_answer_makes_the_round_no_whole_one(served) -> None:
    server = served(Server(smoke_job(conditions=[]), ADMITTED, backoff=True))
    server.refuses = {"/jobs": 403}
    assert not keeper.turn(CONFIGURATION, NOW, {})


@pytest.mark.parametrize("kind", ["Complete", "Failed", "FailureTarget", "SuccessCriteriaMet"])
def test_what_has_ended_is_not_ended_again(kind, served) -> None:
    server = served(Server(smoke_job(conditions=[condition(kind, "True")]), ADMITTED, backoff=True))
    assert keeper.turn(CONFIGURATION, NOW, {"job-1": 0.0}) and not server.patched


def test_a_status_of_long_ago_concludes_nothing(served) -> None:
    server = served(Server(smoke_job(conditions=[]), ADMITTED, backoff=True))
    keeper.turn(CONFIGURATION, NOW + 3600, {"job-1": NOW})
    assert not server.patched


def test_the_launcher_tells_the_same_reason() -> None:
    failed = condition("Failed", "True", "no capacity for it: train-spot: OutOfResource", NO_CAPACITY)
    assert NO_CAPACITY == keeper.REASON
    code, text = _ending(smoke_job(conditions=[failed]), [])
    assert code == EXIT["preempted"]
    assert "train-spot: OutOfResource" in text


def test_its_rights_are_to_end_jobs_and_to_look() -> None:
    made = kueue(proofs={"image": IMAGE, "groups": {"train-spot": "eks-a-"}})
    check_plain_objects(made)
    roles = [each for each in made.resources if each.name.startswith("queues-proofs-role-")]
    assert roles
    for role in roles:
        writes = [
            (rule["resources"], rule["verbs"]) for rule in role.inputs["rules"] if set(rule["verbs"]) - {"get", "list"}
        ]
        assert writes == [(["jobs/status"], ["patch"]), (["events"], ["create"])]
    (deployment,) = (each for each in made.resources if each.name == "queues-proofs-deployment")
    told = json.loads(deployment.inputs["spec"]["template"]["spec"]["containers"][0]["args"][0])
    assert told["groups"] == {"train-spot": "eks-a-"}
    assert told["namespaces"] and all("ml.platform/pool" in labels for labels in told["flavors"].values())
    assert not [each.name for each in kueue().resources if "proofs" in each.name]
    without = [each.name for each in kueue(proofs={"image": IMAGE, "groups": {}}).resources]
    assert "queues-proofs-status-role" not in without and "queues-proofs-deployment" in without
