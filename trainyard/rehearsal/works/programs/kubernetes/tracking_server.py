"""Places where a tracking server keeps what is sent through it.

Source: MLflow documentation, "Artifact stores": what clients send is passed on to `--artifacts-destination`, which is a
folder of the server unless it is said, as `--backend-store-uri` is (2026-11).
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.recorded.read import known_texts
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod

_SERVER: Final = re.compile(r"\bmlflow server\b")
_VARIABLES: Final = {
    "artifacts-destination": "MLFLOW_ARTIFACTS_DESTINATION", "backend-store-uri": "MLFLOW_BACKEND_STORE_URI",
}  # fmt: skip
_ELSEWHERE: Final = re.compile(r"--default-artifact-root[= ]['\"]?[a-z][a-z0-9+]*://(?<!file://)")
"""Where clients are told a place of their own, nothing is passed on."""
_FILE: Final = re.compile(r"--backend-store-uri[= ](?:sqlite:|file:|\.?/)")


def check(cluster: Cluster) -> None:
    """Every tracking server whose options are known."""
    for pod in cluster.pods:
        for container in pod.containers:
            given = [text for key in ("command", "args") for _, text in known_texts(container.body.get(key))]
            words = " ".join(given)
            if _SERVER.search(words) and not container.is_init:
                _kept(pod, container, words)


def _kept(pod: Pod, container: Container, words: str) -> None:
    variables = {str(one.get("name")) for _, one in pod.view.items(f"{container.path}.env")}
    path = f"{container.path}.{'args' if container.body.get('args') else 'command'}"
    claims = {
        str(one.get("name")) for _, one in pod.view.items(f"{pod.path}.volumes") if "persistentVolumeClaim" in one
    }
    mounted = {str(one.get("name")) for _, one in pod.view.items(f"{container.path}.volumeMounts")}
    if container.body.get("envFrom") or claims & mounted:  # what is kept in a folder outlives the pod there
        return
    if (
        "--serve-artifacts" in words
        and not _ELSEWHERE.search(words)
        and not _is_said("artifacts-destination", words, variables)
    ):
        pod.view.error(
            "programs-tracking-server", path,
            f"passes artifacts on and has no --artifacts-destination: {pod.title} keeps them in its own folder, and "
            "they are gone with the pod", allowed="the address of a bucket",
        )  # fmt: skip
    replicas = pod.view.number("spec.replicas") or 1
    if replicas > 1 and (_FILE.search(words) or not _is_said("backend-store-uri", words, variables)):
        pod.view.error(
            "programs-tracking-server", path,
            f"keeps its runs in a file, and there are {replicas:g} pods of {pod.title}: each knows runs of its own",
            allowed="a database that all ask, or one pod",
        )  # fmt: skip


def _is_said(option: str, words: str, variables: set[str]) -> bool:
    return f"--{option}" in words or _VARIABLES[option] in variables
