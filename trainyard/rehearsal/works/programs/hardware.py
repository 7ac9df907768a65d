"""What a job expects of its machine, against what the catalogue says of that type: a smoke job that expects another GPU
fails on nodes that are as they were ordered.

Source: `trainyard/catalog`, with its sources; a slice of a GPU has less than the whole, which is not told.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from trainyard.catalog import gcp, instance
from trainyard.recorded.read import as_number
from trainyard.rehearsal.context import listed, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod

_ROOM: Final = 1.02
"""Catalogues and drivers round memory differently."""


def check(cluster: Cluster) -> None:
    """Every container that is told in JSON of a machine and of what it expects of it."""
    for pod in cluster.pods:
        for container in pod.containers:
            for index, one in enumerate(listed(container.body.get("env"))):
                text = one.get("value") if isinstance(one, Mapping) else None
                if isinstance(text, str) and text.startswith("{") and '"instance"' in text and '"expect_' in text:
                    _judge(pod, f"{container.path}.env[{index}].value", text)


def _machine(type_: Any) -> tuple[str, int, float] | None:
    if not isinstance(type_, str):
        return None
    for of in (instance, gcp.instance):
        try:
            found = of(type_)
        except KeyError:
            continue
        return found.gpu, found.gpus, found.gpu_memory_gib
    return None


def _judge(pod: Pod, path: str, text: str) -> None:
    try:
        told = json.loads(text)
    except ValueError:
        return
    machine = _machine(told.get("instance")) if isinstance(told, Mapping) else None
    if machine is None:
        return
    gpu, count, memory = machine
    model = told.get("expect_model")
    devices, least = as_number(told.get("expect_devices")), as_number(told.get("expect_memory_gib"))
    wrong = []
    if isinstance(model, str) and model and model.lower().replace("-", " ") not in gpu.lower().replace("-", " "):
        wrong.append(f"a {show(model)} where it has {gpu}")
    if devices and count and devices > count:
        wrong.append(f"{devices:g} GPUs where it has {count}")
    if least and memory and least > _ROOM * memory:
        wrong.append(f"{least:g} GiB a GPU where it has {memory:g}")
    if wrong:
        pod.view.error(
            "programs-hardware", path,
            f"expects of {told['instance']} {' and '.join(wrong)}: the job fails on every node",
            allowed="what the machine has",
        )  # fmt: skip
