"""The devices are those of the plan: count, model, memory, driver; distinct; no hardware errors; they compute."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import torch

from .job import Job
from .result import Figure, Outcome, failed, passed

MEMORY_SHARE = 0.9
"""Of the memory of the plan that a device must show: drivers and ECC keep some."""


def run(job: Job) -> Outcome:
    """See the module's docstring."""
    inventories = [dict(i, device=dict(i["device"])) for i in job.inventories]
    if job.broken("devices"):
        inventories[-1]["device"]["errors"] = ["uncorrected memory errors since the driver was loaded (3)"]
    wrong = _against_plan(job, inventories)
    wrong += [
        f"rank {i['rank']} on {i['host']}, device {i['device']['uuid']}: {error}; drain the node and replace the device"
        for i in inventories
        for error in i["device"]["errors"]
    ]
    shared = [uuid for uuid, count in Counter(i["device"]["uuid"] for i in inventories).items() if count > 1]
    wrong += [f"device {uuid} is used by more than one rank; give each rank its own" for uuid in shared]
    wrong += [f"rank {rank}: {text}" for rank, text in enumerate(job.gather(_computes(job))) if text]
    for key in ("torch", "cuda", "nccl", "driver"):
        versions = {i["versions"][key] for i in inventories}
        if len(versions) > 1:
            wrong.append(f"nodes have different versions of {key}: {', '.join(sorted(versions))}; use one image")
    model = inventories[0]["device"]["name"]
    details = {"versions": inventories[0]["versions"], "fabrics": {i["host"]: i["fabrics"] for i in inventories}}
    if wrong:
        return failed("; ".join(wrong), details=details)
    count = float(len(inventories))
    return passed(f"{len(inventories)} x {model}", figure=Figure("devices", count, ""), details=details)


def _against_plan(job: Job, inventories: list[dict[str, Any]]) -> list[str]:
    options, wrong = job.options, []
    if options.expect_devices:
        for host, count in {i["host"]: i["visible_devices"] for i in inventories}.items():
            if count != options.expect_devices:
                wrong.append(
                    f"{host} shows {count} GPUs, the plan says {options.expect_devices}: "
                    "look at the device plugin, the driver, and `nvidia-smi -L` on the node"
                )
    for i in inventories:
        device, where = i["device"], f"rank {i['rank']} on {i['host']}"
        if options.expect_model.lower() not in device["name"].lower():
            wrong.append(f"{where} has a {device['name']}, the plan says {options.expect_model}")
        if device["memory_gib"] < MEMORY_SHARE * options.expect_memory_gib:
            wrong.append(f"{where} has {device['memory_gib']} GiB, the plan says {options.expect_memory_gib} (MIG on?)")
        if options.expect_driver and _version(device["driver"]) < _version(options.expect_driver):
            wrong.append(f"{where} has driver {device['driver'] or 'unknown'}, {options.expect_driver} is needed")
    return wrong


def _computes(job: Job) -> str:
    """Empty if a product of known answer comes out right on this rank's device."""
    try:
        ones = torch.ones(512, 512, device=job.device)
        product = ones @ ones
        return "" if bool((product == 512).all()) else f"a matrix product on {job.device} gave a wrong answer"
    except RuntimeError as error:
        return f"{job.device} cannot compute: {str(error).splitlines()[0]}"


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text))
