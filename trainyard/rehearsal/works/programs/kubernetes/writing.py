"""Where programs write, in containers whose root may not be written to.

Source: Kubernetes documentation, "Configure a Security Context", `readOnlyRootFilesystem`; what each program writes:
its own documentation as named in `_WRITES`, as generally known (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from typing import Any, Final

from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import follow, known_texts
from trainyard.rehearsal.context import listed, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Container, Pod

_WRITES: Final = (
    # Uploads of artifacts and the sign-in's database are written to Python's `tempfile.gettempdir()`.
    (re.compile(r"\bmlflow server\b"), "/tmp", "TMPDIR"),  # noqa: S108 (where the program writes)
    # `worker_tmp_dir`: by default the temporary directory, where each worker's heartbeat lies.
    (re.compile(r"\bgunicorn\b(?!.*--worker-tmp-dir)"), "/tmp", "TMPDIR"),  # noqa: S108 (see above)
    # `pid_filename` and shared memory of its workers: /run/squid and /dev/shm; its own image links /var/run to /run.
    (re.compile(r"\bsquid\b"), "/run", ""),
    # `client_body_temp_path` and others lie below; `pid` in /run.
    (re.compile(r"(?:^|[\s/])nginx\b"), "/var/cache/nginx", ""),
    # `heartbeat.py`: each notes its rounds below the temporary directory, where its probe looks.
    (re.compile(r"\bkeepers\.\w+"), "/tmp", "TMPDIR"),  # noqa: S108 (see above)
    (re.compile(r"\bjupyter(?:-lab|hub|lab)?\b"), "", "HOME"),
)
"""A command line, the directory that its program writes to, and the variable that moves it."""
_FLAGS: Final = re.compile(
    r"(?:^|\s)--(?:expose-prometheus|worker-tmp-dir|storage\.tsdb\.path|data-dir|log-dir|cache-dir|work-dir|tmp-dir)"
    r"[= ](/[\w./-]+)"
)
"""Flags whose value is a directory that the program writes to."""
_REDIRECTED: Final = re.compile(r"(?<![<=>-])>>?\s*(/[\w./-]+/[\w.-]+)")
"""A file that a shell writes to."""
_VARIABLES: Final = frozenset(
    {"TMPDIR", "PROMETHEUS_MULTIPROC_DIR", "XDG_CACHE_HOME", "HF_HOME", "TORCH_HOME", "TRITON_CACHE_DIR",
     "MPLCONFIGDIR", "PIP_CACHE_DIR", "SMOKE_RESULT_DIR", "WANDB_DIR", "NUMBA_CACHE_DIR"}
)  # fmt: skip
"""Variables whose value is a directory that the program writes to."""
_READ_ONLY: Final = ("configMap", "secret", "projected", "downwardAPI")
_ALWAYS: Final = ("/dev/shm", "/proc")  # noqa: S108 (what a container always has)


def check(cluster: Cluster) -> None:
    """Every container with a root that is read-only, and a directory that its program writes to."""
    for pod in cluster.pods:
        volumes = pod.spec.get("volumes")
        if volumes is UNKNOWN or UNKNOWN in listed(volumes):
            continue
        held = {str(one.get("name")): one for one in listed(volumes) if isinstance(one, Mapping)}
        for container in pod.containers:
            mounts = container.body.get("volumeMounts")
            if mounts is UNKNOWN or UNKNOWN in listed(mounts):
                continue
            if follow(container.body, "securityContext", "readOnlyRootFilesystem") is True:
                of_training = (pod.view.text("kind") or "").endswith("TrainingRuntime") and not container.is_init
                for path, directory, why in _written(container, {"HOME"} if of_training else set()):
                    _writable(pod, container, path, directory, why, held)
            for path, directory, why in _redirected(container):
                if _is_mounted(container, directory):
                    _writable(pod, container, path, directory, why, held)


def _redirected(container: Container) -> Iterator[tuple[str, str, str]]:
    """Where a shell writes what a command says."""
    for key in ("command", "args"):
        for below, text in known_texts(container.body.get(key)):
            for file in _REDIRECTED.findall(text):
                path = f"{container.path}.{key}{below if below.startswith('[') else f'.{below}'}"
                yield path, file.rpartition("/")[0], f"> {file}"


def _is_mounted(container: Container, directory: str) -> bool:
    mounts = [str(one.get("mountPath")) for one in listed(container.body.get("volumeMounts")) if isinstance(one, dict)]
    return any(f"{directory}/".startswith(one.rstrip("/") + "/") for one in mounts)


def _written(container: Container, also: Set[str]) -> Iterator[tuple[str, str, str]]:
    """Input, directory, and who writes there; `also` are variables besides: of training the home, for its caches."""
    words = " ".join(text for key in ("command", "args") for _, text in known_texts(container.body.get(key)))
    given = {
        str(entry.get("name")): (f"{container.path}.env[{index}].value", entry.get("value"))
        for index, entry in enumerate(listed(container.body.get("env")))
        if isinstance(entry, Mapping)
    }
    for pattern, directory, variable in _WRITES:
        path, moved = given.get(variable, (f"{container.path}.volumeMounts", directory))
        found = pattern.search(words)
        if found is not None and isinstance(moved, str) and moved.startswith("/"):
            yield path, moved, f"{found[0].strip(' /')} writes there"
    for directory in _FLAGS.findall(words):
        yield f"{container.path}.volumeMounts", directory, "the command says so"
    for name in sorted((_VARIABLES | also) & set(given)):
        path, value = given[name]
        if isinstance(value, str) and value.startswith("/") and "$" not in value:
            yield path, value, f"{name} says so"


def _writable(
    pod: Pod, container: Container, path: str, directory: str, why: str, volumes: Mapping[str, Mapping[str, Any]]
) -> None:
    mounts = [one for one in listed(container.body.get("volumeMounts")) if isinstance(one, Mapping)]
    paths = [one.get("mountPath") for one in mounts]
    if UNKNOWN in paths or directory.startswith(_ALWAYS):
        return
    over = [one for one in mounts if f"{directory}/".startswith(str(one.get("mountPath")).rstrip("/") + "/")]
    below = [one for one in mounts if str(one.get("mountPath")).startswith(directory.rstrip("/") + "/")]
    if over:
        nearest = max(over, key=lambda one: len(str(one.get("mountPath"))))
        volume = volumes.get(str(nearest.get("name")), {})
        claim = follow(volume, "persistentVolumeClaim", "readOnly")
        if nearest.get("readOnly") is not True and not any(kind in volume for kind in _READ_ONLY) and claim is not True:
            return
        said = f"{nearest.get('mountPath')} is mounted to be read only"
    elif any(one.get("readOnly") is not True for one in below):
        return  # the part of it that is written to may be what is mounted
    else:
        said = "nothing is mounted there and the root is read-only"
    # Not every program writes to its home.
    tell = pod.view.warning if why.startswith("HOME ") else pod.view.error
    tell(
        "programs-read-only",
        path,
        f"container {show(container.name)} of {pod.title} writes to {directory} ({why}), and {said}",
        allowed="an emptyDir or a claim mounted there",
    )
