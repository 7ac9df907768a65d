"""Submitting the Indexed Job or the TrainJob, and following it to its verdict."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

from trainyard.smoke_jobs.ddp.result import EXIT
from trainyard.smoke_jobs.launch import kueue_status
from trainyard.smoke_jobs.launch.cluster import Cluster, Object, Unavailable
from trainyard.smoke_jobs.launch.follow import Ended, Follower, View
from trainyard.smoke_jobs.launch.job import LaunchError
from trainyard.smoke_jobs.launch.kueue_status import condition, is_true
from trainyard.smoke_jobs.launch.pod import Manifest

INTERVAL_S = 2.0

LONGEST_INTERVAL_S = 60.0
"""Between two questions to a server that gives no answer; each takes twice as long as the one before."""

_POD_LABEL = {"Job": "batch.kubernetes.io/job-name", "TrainJob": "jobset.sigs.k8s.io/jobset-name"}
_INDEX = "batch.kubernetes.io/job-completion-index"


@contextlib.contextmanager
def submitted(cluster: Cluster, manifests: tuple[Manifest, ...], keep: bool) -> Iterator[Manifest]:
    """Makes the objects and yields the last, the job; deletes those that it made afterwards, unless they are to stay.

    Raises LaunchError where a job of that name runs already.
    """
    made: list[Manifest] = []
    try:
        for manifest in manifests:
            if cluster.create(manifest):
                made.append(manifest)
            elif manifest is manifests[-1]:
                raise LaunchError(f"{manifest['kind']} {manifest['metadata']['name']} is there already")
        yield manifests[-1]
    finally:
        if not keep:
            _delete(cluster, made)


def _delete(cluster: Cluster, made: list[Manifest]) -> None:
    """Deletes them all, the last first; one that the server does not delete keeps none of the others."""
    failed = []
    for manifest in reversed(made):
        try:
            cluster.delete(manifest["kind"], manifest["metadata"]["name"])
        except LaunchError as error:
            failed.append(str(error))
    if failed:
        raise LaunchError(f"{'; '.join(failed)}: delete it by hand")


NO_CAPACITY = "NoCapacity"
"""Reason of a Job that the platform ended because no nodes can be had for it (`components/k8s/keepers/proofs.py`)."""


class Watch:
    """Follows one job. `limit_s` bounds the whole, its time in the queue included.

    A server that gives no answer, or none about a log, says nothing of the job: it is asked again until then.
    """

    def __init__(
        self,
        cluster: Cluster,
        job: Manifest,
        view: View,
        limit_s: float,
        pause: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cluster, self._view, self._pause, self._clock = cluster, view, pause, clock
        self._kind, self._name = job["kind"], job["metadata"]["name"]
        self._deadline = clock() + limit_s
        self._limit_s = limit_s
        self._follower = Follower(view)
        self._head = ""  # uid of the pod whose log is read
        self._seen = 0  # lines of it
        self._status = ""

    def run(self) -> Ended:
        """Watches until the job has a verdict, is gone, or the limit is reached.

        Raises LaunchError where the server refuses.
        """
        interval = INTERVAL_S
        while self._clock() < self._deadline:
            self._view.still_wanted()
            try:
                ended = self.step()
            except Unavailable as error:
                interval = min(2 * interval, LONGEST_INTERVAL_S)
                self._tell(f"asking again in {interval:.0f} s: {error}")
            else:
                if ended is not None:
                    return ended
                interval = INTERVAL_S
            self._pause(interval)
        return self._follower.end(
            EXIT["timeout"], f"{self._kind} {self._name} did not end within {self._limit_s:.0f} s; last: {self._status}"
        )

    def step(self) -> Ended | None:
        """One look at the cluster; the end where there is one."""
        job = self._cluster.get(self._kind, self._name)
        if job is None:
            return self._follower.end(None, f"{self._kind} {self._name} was deleted")
        pods = self._cluster.pods({_POD_LABEL[self._kind]: self._name})
        head_ended = self._read_log(pods)
        document = self._follower.document
        finished = is_true(job, "Complete") or is_true(job, "Failed")
        # The short line comes a moment before the whole document.
        there = document is not None and (self._follower.complete or head_ended)
        if there and document is not None and document["exit_code"] != EXIT["preempted"]:
            return self._follower.end(None)
        if finished:
            return self._follower.end(*_ending(job, pods))
        text = self._what_now(job, pods)
        if text:
            self._tell(text)
        return None

    def _tell(self, text: str) -> None:
        self._status = text
        self._view.status(text)

    def _read_log(self, pods: list[Object]) -> bool:
        """Reads what is new in the log of the newest pod of node 0; whether that pod has ended."""
        heads = [pod for pod in pods if pod["metadata"].get("labels", {}).get(_INDEX, "0") == "0"]
        started = [pod for pod in heads if pod.get("status", {}).get("phase") in ("Running", "Succeeded", "Failed")]
        if not started:
            return False
        head = started[-1]
        if head["metadata"]["uid"] != self._head:
            self._head, self._seen, self._follower = head["metadata"]["uid"], 0, Follower(self._view)
        lines = self._cluster.log(head["metadata"]["name"])
        self._follower.lines(lines[self._seen :])
        self._seen = max(self._seen, len(lines))
        return bool(head["status"]["phase"] != "Running")

    def _what_now(self, job: Object, pods: list[Object]) -> str:
        workloads = self._cluster.workloads()
        waiting = kueue_status.waiting_for_quota(job, workloads)
        if waiting is not None:
            return waiting
        if self._seen:
            return ""  # the log says it
        wanted = job["spec"].get("parallelism") or job["spec"].get("trainer", {}).get("numNodes", 1)
        failed = [] if pods else self._cluster.failed_creates(self._name)
        flavors = kueue_status.flavors(kueue_status.of_job(workloads, job["metadata"]["uid"]))
        where = f"on {flavors}, " if flavors else ""
        return where + kueue_status.starting(pods, wanted, failed)


def _ending(job: Object, pods: list[Object]) -> tuple[int | None, str]:
    """Exit code and reason of a job that ended without a result."""
    failed = condition(job, "Failed")
    if failed.get("reason") == "DeadlineExceeded":
        return EXIT["timeout"], f"the job ran into its deadline: {failed.get('message', '')}"
    if failed.get("reason") == NO_CAPACITY:
        return EXIT["preempted"], f"{failed.get('message', '')}; run it again where there is some"
    if any(is_true(pod, "DisruptionTarget") for pod in pods):
        return EXIT["preempted"], "a pod was taken away (eviction, spot reclaim or node shutdown); run it again"
    code, reasons = None, []
    for pod in pods:
        of_pod = pod.get("status", {})
        for status in [*(of_pod.get("initContainerStatuses") or []), *(of_pod.get("containerStatuses") or [])]:
            ended: dict[str, Any] = status.get("state", {}).get("terminated") or {}
            if ended.get("exitCode"):
                code = code if code is not None else int(ended["exitCode"])
                said = ": ".join(part for part in (ended.get("reason"), ended.get("message")) if part)
                reasons.append(f"{pod['metadata']['name']}: {said} (exit {ended['exitCode']})")
    text = "; ".join([failed.get("message", ""), *reasons]).strip("; ")
    return code, text or "the job ended without a result"
