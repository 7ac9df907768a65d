"""The few calls to a Kubernetes API server that submitting and watching need; answers are plain dicts.

The `kubernetes` package is imported here only, when a job is submitted. Its models are gone around: they refuse
answers of a server that is newer or older than they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from trainyard.smoke_jobs.launch.job import LaunchError

Object = dict[str, Any]

_CUSTOM = {
    "TrainJob": ("trainer.kubeflow.org", "v1alpha1", "trainjobs"),
    "Workload": ("kueue.x-k8s.io", "v1beta2", "workloads"),
}


class Cluster:
    """A namespace of a cluster, through the official client."""

    def __init__(self, namespace: str, api_client: Any) -> None:
        from kubernetes import client

        self.namespace = namespace
        self._core = client.CoreV1Api(api_client)
        self._batch = client.BatchV1Api(api_client)
        self._custom = client.CustomObjectsApi(api_client)
        self._missing = client.exceptions.ApiException

    @classmethod
    def connect(cls, namespace: str, context: str | None = None) -> Cluster:
        """By the kubeconfig, as kubectl does. Raises LaunchError without the package or a usable kubeconfig."""
        try:
            from kubernetes import client, config
        except ImportError:
            raise LaunchError("submitting needs the kubernetes package: pip install 'trainyard[smoke]'") from None
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
        try:
            kind = manifest["kind"]
            if kind in _CUSTOM:
                group, version, plural = _CUSTOM[kind]
                self._custom.create_namespaced_custom_object(group, version, self.namespace, plural, manifest)
            else:
                self._method(kind, "create")(self.namespace, manifest, _preload_content=False)
        except self._missing as error:
            if error.status == 409:
                return False
            raise LaunchError(_refused(f"making {manifest['kind']} {manifest['metadata']['name']}", error)) from None
        return True

    def delete(self, kind: str, name: str) -> None:
        """Deletes an object with everything that it owns; one that is gone is fine."""
        try:
            if kind in _CUSTOM:
                group, version, plural = _CUSTOM[kind]
                self._custom.delete_namespaced_custom_object(
                    group, version, self.namespace, plural, name, propagation_policy="Background"
                )
            else:
                self._method(kind, "delete")(
                    name, self.namespace, propagation_policy="Background", _preload_content=False
                )
        except self._missing as error:
            if error.status != 404:
                raise LaunchError(_refused(f"deleting {kind} {name}", error)) from None

    def get(self, kind: str, name: str) -> Object | None:
        """A Job or TrainJob, or None."""
        try:
            if kind in _CUSTOM:
                group, version, plural = _CUSTOM[kind]
                return dict(self._custom.get_namespaced_custom_object(group, version, self.namespace, plural, name))
            return _plain(self._method(kind, "read")(name, self.namespace, _preload_content=False))
        except self._missing as error:
            if error.status == 404:
                return None
            raise LaunchError(_refused(f"reading {kind} {name}", error)) from None

    def workloads(self) -> list[Object]:
        """Kueue's workloads of the namespace; none where the cluster has no Kueue."""
        group, version, plural = _CUSTOM["Workload"]
        try:
            return list(self._custom.list_namespaced_custom_object(group, version, self.namespace, plural)["items"])
        except self._missing as error:
            if error.status == 404:
                return []
            raise LaunchError(_refused("listing workloads", error)) from None

    def pods(self, selector: Mapping[str, str]) -> list[Object]:
        """The pods with these labels, oldest first."""
        text = ",".join(f"{key}={value}" for key, value in selector.items())
        try:
            answer = self._core.list_namespaced_pod(self.namespace, label_selector=text, _preload_content=False)
        except self._missing as error:
            raise LaunchError(_refused("listing pods", error)) from None
        return sorted(_plain(answer)["items"], key=lambda pod: str(pod["metadata"].get("creationTimestamp", "")))

    def failed_creates(self, name: str) -> list[str]:
        """What the job controller could not do, from events."""
        try:
            answer = self._core.list_namespaced_event(
                self.namespace,
                field_selector=f"involvedObject.name={name},reason=FailedCreate",
                _preload_content=False,
            )
        except self._missing as error:
            raise LaunchError(_refused("listing events", error)) from None
        return [str(event.get("message", "")) for event in _plain(answer)["items"]]

    def log(self, pod: str) -> list[str]:
        """All lines of a pod's log; none where the container has none yet or no more."""
        try:
            text = self._core.read_namespaced_pod_log(pod, self.namespace, _preload_content=False).data.decode(
                "utf-8", "replace"
            )
        except self._missing as error:
            if error.status in (400, 404):
                return []
            raise LaunchError(_refused(f"reading the log of {pod}", error)) from None
        return str(text).splitlines()

    def _method(self, kind: str, verb: str) -> Any:
        api, name = {
            "Job": (self._batch, "job"),
            "ConfigMap": (self._core, "config_map"),
            "Service": (self._core, "service"),
        }[kind]
        return getattr(api, f"{verb}_namespaced_{name}")


def _plain(response: Any) -> Object:
    return dict(json.loads(response.data))


def _refused(what: str, error: Any) -> str:
    try:
        message = json.loads(error.body)["message"]
    except (TypeError, ValueError, KeyError):
        message = error.reason
    hint = ": may you do this? ask for the team's role" if error.status == 403 else ""
    return f"{what}: the cluster answers {error.status} {message}{hint}"
