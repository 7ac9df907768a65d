"""Submitting and watching, with the official client against an API server of ours."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from kubernetes import client

from tests.smoke_jobs.launch.fake_api_server import Server, serving
from tests.smoke_jobs.launch.support import GPU_POOL, RecordedView
from trainyard.smoke_jobs.ddp import result
from trainyard.smoke_jobs.ddp.options import Options
from trainyard.smoke_jobs.ddp.result import empty_document
from trainyard.smoke_jobs.launch import kubernetes, trainjob
from trainyard.smoke_jobs.launch.cluster import Cluster, Unavailable
from trainyard.smoke_jobs.launch.cluster_watch import Watch, submitted
from trainyard.smoke_jobs.launch.job import LaunchError
from trainyard.smoke_jobs.launch.start import encode

PROGRESS = "smoke: [ 1/10] rendezvous   pass       0.1 s  ranks 16\n"


@pytest.fixture
def server():
    return Server()


@pytest.fixture
def cluster(server):
    with serving(server) as address:
        api_client = client.ApiClient(client.Configuration(host=address))
        yield Cluster("team-vision", api_client)


def _document(verdict: str) -> dict:
    found = empty_document(Options(), 0.0)
    return found | {"verdict": verdict, "exit_code": result.EXIT[verdict]}


def _whole(verdict: str) -> str:
    return encode(json.dumps(_document(verdict)).encode()) + "\n"


class Story:
    """What happens on the cluster, one step each time that the watcher pauses."""

    def __init__(self, server: Server, name: str, label: str = "batch.kubernetes.io/job-name") -> None:
        self.server, self.name, self.label = server, name, label
        self.steps: list = []
        self.now = 0.0

    def pause(self, seconds: float) -> None:
        self.now += seconds
        if self.steps:
            self.steps.pop(0)()

    def clock(self) -> float:
        return self.now

    @property
    def job(self) -> dict:
        kind = "jobs" if self.name in self.server.objects.get("jobs", {}) else "trainjobs"
        return self.server.objects[kind][self.name]

    def workload(self, *conditions: dict, **status) -> None:
        self.server.objects.setdefault("workloads", {})["w"] = {
            "metadata": {"name": "w", "ownerReferences": [{"uid": self.job["metadata"]["uid"]}]},
            "spec": {"queueName": "vision"},
            "status": {"conditions": list(conditions)} | status,
        }

    def admit(self) -> None:
        self.job["spec"]["suspend"] = False
        flavors = {"podSetAssignments": [{"name": "main", "flavors": {"nvidia.com/gpu": "train-spot"}}]}
        self.workload({"type": "Admitted", "status": "True"}, admission=flavors)

    def pod(self, phase: str, index: int = 0, uid: str = "a", created: str = "2026-11-21T10:00:00Z", **status) -> None:
        name = f"{self.name}-{index}-{uid}"
        labels = {self.label: self.name, "batch.kubernetes.io/job-completion-index": str(index)}
        metadata = {"name": name, "uid": name, "labels": labels, "creationTimestamp": created}
        self.server.objects.setdefault("pods", {})[name] = {
            "metadata": metadata,
            "spec": {"containers": []},
            "status": {"phase": phase} | status,
        }

    def log(self, text: str, index: int = 0, uid: str = "a") -> None:
        name = f"{self.name}-{index}-{uid}"
        self.server.logs[name] = self.server.logs.get(name, "") + text

    def finish(self, kind: str, **more: str) -> None:
        self.job.setdefault("status", {})["conditions"] = [{"type": kind, "status": "True"} | more]


def _run(server, cluster, steps, spec=GPU_POOL, limit=10_000.0, renderer=kubernetes, label=None):
    rendering = renderer.render(spec)
    view = RecordedView()
    with submitted(cluster, rendering.manifests, keep=False) as job:
        story = Story(server, rendering.name, *([label] if label else []))
        story.job["spec"]["suspend"] = True  # as Kueue's webhook does
        story.steps = steps(story)
        ended = Watch(cluster, job, view, limit, pause=story.pause, clock=story.clock).run()
    return ended, view


def test_from_the_queue_to_a_pass(server, cluster):
    refused = {
        "type": "QuotaReserved",
        "status": "False",
        "message": "insufficient unused quota for nvidia.com/gpu in flavor train-spot, 8 more needed",
    }

    def steps(story):
        return [
            lambda: story.workload(),
            lambda: story.workload(refused),
            story.admit,
            lambda: [story.pod("Pending", 0), story.pod("Pending", 1)],
            lambda: [story.pod("Running", 0), story.pod("Running", 1)],
            lambda: story.log(PROGRESS),
            lambda: story.log(result.line(_document("pass")) + "\n"),
            lambda: story.log(_whole("pass")),
        ]

    ended, view = _run(server, cluster, steps)
    assert ended.exit_code == 0
    assert ended.document is not None
    assert view.statuses == [
        "waiting for Kueue to take the job into queue vision; does the WorkloadPriorityClass standard exist?",
        "waiting for quota in queue vision",
        f"waiting for quota in queue vision: {refused['message']}",
        "on train-spot, admitted, making pods",
        "on train-spot, 0 of 2 pods run: pulling the image and mounting volumes",
        "on train-spot, 2 of 2 pods run",
        "check 2 of 10: devices",
    ]
    assert [done.name for done in view.done] == ["rendezvous"]


def test_what_was_made_is_removed_and_what_was_there_stays(server, cluster):
    rendering = kubernetes.render(GPU_POOL)
    cluster.create(rendering.config_map)
    with submitted(cluster, rendering.manifests, keep=False):
        sent = server.objects["jobs"][rendering.name]
        assert sent["spec"] == rendering.job["spec"], "the client loses nothing on the way"
    assert server.objects["jobs"] == server.objects["services"] == {}
    assert len(server.objects["configmaps"]) == 1, "another job uses the same worker"
    with submitted(cluster, rendering.manifests, keep=True):
        pass
    assert rendering.name in server.objects["jobs"]


def test_it_is_removed_when_the_watcher_is_interrupted(server, cluster):
    with pytest.raises(KeyboardInterrupt), submitted(cluster, kubernetes.render(GPU_POOL).manifests, keep=False):
        raise KeyboardInterrupt
    assert server.objects["jobs"] == {}


def test_a_job_that_is_there_is_not_touched(server, cluster):
    manifests = kubernetes.render(GPU_POOL).manifests
    cluster.create(manifests[-1])
    with pytest.raises(LaunchError, match="is there already"), submitted(cluster, manifests, keep=False):
        pass
    assert len(server.objects["jobs"]) == 1
    assert server.objects["services"] == {}


@pytest.mark.parametrize(("verdict", "code"), [("fail", 10), ("below", 20), ("timeout", 124)])
def test_a_verdict_is_the_exit_code(server, cluster, verdict, code):
    ended, _ = _run(
        server, cluster, lambda story: [story.admit, lambda: [story.pod("Failed"), story.log(_whole(verdict))]]
    )
    assert ended.exit_code == code


def test_a_preempted_job_that_comes_again_is_followed_on(server, cluster):
    def again(story):
        story.pod("Running", uid="b", created="2026-11-21T11:00:00Z")
        story.log(PROGRESS + _whole("pass"), uid="b")

    ended, view = _run(
        server,
        cluster,
        lambda story: [
            story.admit,
            lambda: [story.pod("Failed"), story.log(PROGRESS + _whole("preempted"))],
            lambda: again(story),
        ],
    )
    assert ended.exit_code == 0
    assert len(view.done) == 2


def test_a_deadline_is_124(server, cluster):
    ended, _ = _run(
        server, cluster, lambda story: [lambda: story.finish("Failed", reason="DeadlineExceeded", message="too long")]
    )
    assert (ended.exit_code, "deadline: too long" in ended.reason) == (124, True)


def test_a_lost_node_is_75(server, cluster):
    gone = {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}
    ended, _ = _run(
        server,
        cluster,
        lambda story: [lambda: [story.pod("Failed", conditions=[gone]), story.finish("Failed", message="x")]],
    )
    assert ended.exit_code == 75


def test_what_a_container_before_the_job_says_is_the_reason(server, cluster):
    """It has no log that anybody reads: the one that asks for no GPU and sees some."""
    end = {"exitCode": 10, "reason": "Error", "message": "sees /dev/nvidia0"}
    ended_first = [{"name": "unasked", "state": {"terminated": end}, "image": "i", "imageID": "i", "ready": False,
                    "restartCount": 0}]  # fmt: skip
    ended, _ = _run(
        server,
        cluster,
        lambda story: [
            lambda: [
                story.pod("Failed", initContainerStatuses=ended_first),
                story.log(""),
                story.finish("Failed", reason="PodFailurePolicy", message="Container unasked failed"),
            ]
        ],
    )
    assert ended.exit_code == 10
    assert "Error: sees /dev/nvidia0 (exit 10)" in ended.reason


def test_a_killed_container_is_named(server, cluster):
    dead = [{"name": "smoke", "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}, "image": "i",
             "imageID": "i", "ready": False, "restartCount": 0}]  # fmt: skip
    ended, _ = _run(
        server,
        cluster,
        lambda story: [
            lambda: [
                story.pod("Failed", containerStatuses=dead),
                story.log("Traceback: none\n"),
                story.finish("Failed", reason="BackoffLimitExceeded", message="Job has reached the limit"),
            ]
        ],
    )
    assert ended.exit_code == 1
    assert "OOMKilled (exit 137)" in ended.reason
    assert ended.log == ["Traceback: none"]


def test_no_pod_at_all_shows_the_event(server, cluster):
    def events(story):
        story.admit()
        server.objects["events"] = {
            "e": {
                "metadata": {"name": "e", "namespace": "team-vision"},
                "involvedObject": {"name": story.name},
                "reason": "FailedCreate",
                "message": "pods is forbidden: exceeded quota: team",
            }
        }

    _, view = _run(server, cluster, lambda story: [lambda: events(story)], limit=10)
    assert view.statuses[-1] == "on train-spot, admitted, but no pod was made: pods is forbidden: exceeded quota: team"


def test_a_limit_ends_the_wait_with_the_last_reason(server, cluster):
    ended, _ = _run(server, cluster, lambda story: [], limit=20)
    assert ended.exit_code == 124
    assert "did not end within 20 s; last: waiting for Kueue" in ended.reason
    assert server.objects["jobs"] == {}


def test_a_deleted_job_is_no_pass(server, cluster):
    ended, _ = _run(server, cluster, lambda story: [lambda: server.objects["jobs"].clear()])
    assert ended.exit_code == 1
    assert "was deleted" in ended.reason


def test_a_cluster_without_kueue_is_fine(server, cluster):
    server.has_kueue = False

    def steps(story):
        story.job["spec"]["suspend"] = False
        return [lambda: [story.pod("Running"), story.log(_whole("pass"))]]

    ended, _ = _run(server, cluster, steps)
    assert ended.exit_code == 0


def test_a_refusal_says_what_and_why(server, cluster):
    server.refuse["POST", "services"] = 403
    with pytest.raises(LaunchError, match=r"making Service smoke-train-.*403 services is forbidden: may you do this"):
        _run(server, cluster, lambda story: [])
    assert server.objects["configmaps"] == {}, "what was made before is removed"


@pytest.mark.parametrize("asked", ["pods/log", "pods", "jobs", "workloads"])
@pytest.mark.parametrize("status", [500, 503, 429])
def test_a_server_that_gives_no_answer_is_asked_again(server, cluster, asked, status):
    """The job runs on: its time is not up, and nothing is known against it."""

    def away(story):
        story.pod("Running")
        server.refuse["GET", asked] = status

    def back(story):
        assert server.objects["jobs"], "it is still there"
        server.refuse.clear()
        story.log(PROGRESS + _whole("pass"))

    nothing = [lambda: None] * 3
    ended, view = _run(server, cluster, lambda story: [story.admit, lambda: away(story), *nothing, lambda: back(story)])
    assert ended.exit_code == 0
    again = [text for text in view.statuses if text.startswith("asking again in ")]
    assert [text.split()[3] for text in again] == ["4", "8", "16", "32"], "it waits longer each time"
    assert f"the cluster answers {status}" in again[0]


def test_a_log_that_is_never_there_ends_at_the_limit_and_not_before(server, cluster):
    def steps(story):
        server.refuse["GET", "pods/log"] = 500
        return [story.admit, lambda: [story.pod("Succeeded"), story.finish("Complete")]]

    ended, _ = _run(server, cluster, steps, limit=600)
    assert ended.exit_code == 124
    assert "reading the log of smoke-train-" in ended.reason
    assert "the cluster answers 500" in ended.reason


def test_a_log_that_may_not_be_read_ends_at_once(server, cluster):
    def steps(story):
        server.refuse["GET", "pods/log"] = 403
        return [story.admit, lambda: story.pod("Running")]

    with pytest.raises(LaunchError, match="403 pods is forbidden: may you do this"):
        _run(server, cluster, steps)


def test_a_server_out_of_reach_is_asked_again(server):
    with serving(server) as address:
        cluster = Cluster("team-vision", client.ApiClient(client.Configuration(host=address)))
    with pytest.raises(Unavailable, match="reading Job x"):
        cluster.get("Job", "x")
    with pytest.raises(Unavailable, match="reading the log of x"):
        cluster.log("x")


def test_what_the_server_does_not_delete_keeps_none_of_the_others(server, cluster):
    server.refuse["DELETE", "services"] = 500
    manifests = kubernetes.render(GPU_POOL).manifests
    with pytest.raises(LaunchError, match=r"deleting Service .* 500"), submitted(cluster, manifests, keep=False):
        pass
    assert server.objects["jobs"] == server.objects["configmaps"] == {}


def test_a_train_job_ends_with_its_first_verdict(server, cluster):
    """The runtime would start it again, whatever the exit code."""
    ended, _ = _run(
        server,
        cluster,
        lambda story: [story.admit, lambda: [story.pod("Failed"), story.log(_whole("fail"))]],
        spec=replace(GPU_POOL, priority=""),
        renderer=trainjob,
        label="jobset.sigs.k8s.io/jobset-name",
    )
    assert ended.exit_code == 10
    assert server.objects["trainjobs"] == {}


def test_without_a_kubeconfig_it_says_where_to_get_one(monkeypatch, tmp_path):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(tmp_path / "none"))
    with pytest.raises(LaunchError, match="pulumi stack output kubeconfig"):
        Cluster.connect("team-vision")


def test_a_job_that_was_given_up_is_not_followed_on(server, cluster):
    class GivenUp(RecordedView):
        def still_wanted(self):
            raise KeyboardInterrupt

    manifests = kubernetes.render(GPU_POOL).manifests
    with pytest.raises(KeyboardInterrupt), submitted(cluster, manifests, keep=False) as job:
        Watch(cluster, job, GivenUp(), 60).run()
    assert server.objects["jobs"] == {}
