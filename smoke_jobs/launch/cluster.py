"""The few calls to a Kubernetes API server that submitting and watching need; answers are plain dicts.

The `kubernetes` package is imported here only, when a job is submitted. Its models are gone around: they refuse
answers of a server that is newer or older than they are.

A server that is busy, restarting or out of reach says nothing of the job: `Unavailable` is its own exception, so that
whoever watches can ask again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from trainyard.conventions import HOSTNAME_LABEL
from trainyard.smoke_jobs.launch.extras import SMOKE, imported
from trainyard.smoke_jobs.launch.job import LaunchError

Object = dict[str, Any]

_PURPOSE = "submitting to a cluster"

_CUSTOM = {
    "TrainJob": ("trainer.kubeflow.org", "v1alpha1", "trainjobs"),
    "Workload": ("kueue.x-k8s.io", "v1beta2", "workloads"),
}

_NOT_NOW = 429
"""Too many requests: like every status from 500 on, of the server and not of what was asked."""

_SNAKE = {"Job": "job", "ConfigMap": "config_map", "Service": "service", "Pod": "pod", "Event": "event"}


class Unavailable(LaunchError):  # noqa: N818 - reads as what it says
    """The API server, or the node that it asked for a log, gave no answer; the same question may get one later."""


class Cluster:
    """A namespace of a cluster, through the official client."""

    def __init__(self, namespace: str, api_client: Any) -> None:
        from urllib3.exceptions import HTTPError

        client = imported("kubernetes.client", SMOKE, _PURPOSE)

        self.namespace = namespace
        self._core = client.CoreV1Api(api_client)
        self._batch = client.BatchV1Api(api_client)
        self._custom = client.CustomObjectsApi(api_client)
        self._refusal = client.exceptions.ApiException
        self._unreachable = HTTPError

    @classmethod
    def connect(cls, namespace: str, context: str | None = None) -> Cluster:
        """Connects by the kubeconfig, as kubectl does. Raises LaunchError without the package or a usable
        kubeconfig."""
        client = imported("kubernetes.client", SMOKE, _PURPOSE)
        config = imported("kubernetes.config", SMOKE, _PURPOSE)
        try:
            config.load_kube_config(context=context)
        except config.ConfigException as error:
            raise LaunchError(
                f"no cluster to submit to ({error}): set KUBECONFIG, or pass the stack's with "
                "`pulumi stack output kubeconfig --show-secrets > FILE`, or use --render"
            ) from None
        return cls(namespace, client.ApiClient())

    def create(self, manifest: Object) -> bool:
        """Makes an object; False where one of that name is there. Raises LaunchError where the server refuses."""
        kind = manifest["kind"]
        what = f"making {kind} {manifest['metadata']['name']}"
        return self._ask(what, "create", kind, manifest, fine=409) is not None

    def delete(self, kind: str, name: str) -> None:
        """Deletes an object with everything that it owns; one that is gone is fine."""
        self._ask(f"deleting {kind} {name}", "delete", kind, name, fine=404, propagation_policy="Background")

    def get(self, kind: str, name: str) -> Object | None:
        """Reads a Job or TrainJob; None where there is none of that name.

        Raises LaunchError where the server refuses, `Unavailable` where it is away.
        """
        return self._ask(f"reading {kind} {name}", "read", kind, name, fine=404)

    def workloads(self) -> list[Object]:
        """Kueue's workloads of the namespace; none where the cluster has no Kueue."""
        return self._list("Workload", fine=404)

    def pods(self, selector: Mapping[str, str]) -> list[Object]:
        """The pods with these labels, oldest first."""
        found = self._list("Pod", label_selector=",".join(f"{key}={value}" for key, value in selector.items()))
        return sorted(found, key=lambda pod: str(pod["metadata"].get("creationTimestamp", "")))

    def nodes(self, selector: Mapping[str, str]) -> list[str]:
        """Names of the nodes with these labels that take pods, as their hostname label says them.

        Raises LaunchError where the server refuses, `Unavailable` where it is away.
        """
        labels = ",".join(f"{key}={value}" for key, value in selector.items())
        try:
            answer = json.loads(self._core.list_node(label_selector=labels, _preload_content=False).data)
        except self._refusal as error:
            raise _refused("listing nodes", error) from None
        except self._unreachable as error:
            raise Unavailable(f"listing nodes: {error}") from None
        return sorted(
            str(node["metadata"].get("labels", {}).get(HOSTNAME_LABEL, node["metadata"]["name"]))
            for node in answer["items"]
            if not node.get("spec", {}).get("unschedulable")
            and any(
                c["type"] == "Ready" and c["status"] == "True" for c in node.get("status", {}).get("conditions", [])
            )
        )

    def failed_creates(self, name: str) -> list[str]:
        """What the job controller could not do, from events."""
        events = self._list("Event", field_selector=f"involvedObject.name={name},reason=FailedCreate")
        return [str(event.get("message", "")) for event in events]

    def log(self, pod: str) -> list[str]:
        """All lines of a pod's log; none where the container has none yet or no more. Raises as `get` does."""
        what = f"reading the log of {pod}"
        try:
            answer = self._core.read_namespaced_pod_log(pod, self.namespace, _preload_content=False)
        except self._refusal as error:
            if error.status in (400, 404):
                return []
            raise _refused(what, error) from None
        except self._unreachable as error:
            raise Unavailable(f"{what}: {error}") from None
        return str(answer.data.decode("utf-8", "replace")).splitlines()

    def _list(self, kind: str, fine: int | None = None, **selector: str) -> list[Object]:
        found = self._ask(f"listing {kind.lower()}s", "list", kind, fine=fine, **selector)
        return list(found["items"]) if found else []

    def _ask(self, what: str, verb: str, kind: str, *arguments: Any, fine: int | None, **options: Any) -> Object | None:
        """What the server answers; None where it answers with the status that is `fine`.

        `arguments` are a name or a manifest, or nothing. Raises LaunchError where the server refuses, `Unavailable`
        where it gives no answer.
        """
        try:
            if kind in _CUSTOM:
                group, version, plural = _CUSTOM[kind]
                method = getattr(self._custom, f"{'get' if verb == 'read' else verb}_namespaced_custom_object")
                return dict(method(group, version, self.namespace, plural, *arguments, **options))
            method = getattr(self._batch if kind == "Job" else self._core, f"{verb}_namespaced_{_SNAKE[kind]}")
            named = (*arguments, self.namespace) if verb in ("delete", "read") else (self.namespace, *arguments)
            return dict(json.loads(method(*named, **options, _preload_content=False).data))
        except self._refusal as error:
            if error.status == fine:
                return None
            raise _refused(what, error) from None
        except self._unreachable as error:
            raise Unavailable(f"{what}: {error}") from None


def _refused(what: str, error: Any) -> LaunchError:
    try:
        message = json.loads(error.body)["message"]
    except (TypeError, ValueError, KeyError):
        message = error.reason
    hint = ": may you do this? ask for the team's role" if error.status == 403 else ""
    kind = Unavailable if error.status == _NOT_NOW or error.status >= 500 else LaunchError
    return kind(f"{what}: the cluster answers {error.status} {message}{hint}")
