"""The devices are those of the plan: count, model, memory, driver; distinct; no hardware errors; they compute.

The driver is asked three times: idle, while the device works, and after it. What it does not tell is said in the
result: an unread field is no clean bill of health.
"""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from typing import Any

import torch

from . import hardware
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
    wrong += links_down(inventories)
    wrong += narrow_slots(inventories)
    wrong += [text for texts in job.gather(_worked(job) if job.cuda else []) for text in texts]
    unread = sorted({name for i in inventories for name in i["device"]["unreadable"]})
    for key in ("torch", "cuda", "nccl", "driver"):
        versions = {i["versions"][key] for i in inventories}
        if len(versions) > 1:
            wrong.append(f"nodes have different versions of {key}: {', '.join(sorted(versions))}; use one image")
    model = inventories[0]["device"]["name"]
    details: dict[str, Any] = {
        "unreadable": unread,
        "versions": inventories[0]["versions"],
        "fabrics": {i["host"]: i["fabrics"] for i in inventories},
    }
    if wrong:
        return failed("; ".join(wrong), details=details)
    count = float(len(inventories))
    return passed(
        f"{len(inventories)} x {model}{_half_wired(inventories)}"
        + (f"; not readable: {', '.join(unread)}" if unread else ""),
        figure=Figure("devices", count, ""),
        details=details,
    )


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
        if options.expect_links and device["driver"] and device["links"] < options.expect_links:
            wrong.append(
                f"{where}, device {device['uuid']}: {device['links']} NVLinks are up, the plan says "
                f"{options.expect_links}; look at the fabric manager and at `nvidia-smi nvlink -s`"
            )
        if hardware.NO_SMI in device["unreadable"] and (options.level != "quick" or options.expect_links):
            wrong.append(
                f"{where}: the driver cannot be asked for errors, clocks and links, for there is no nvidia-smi: give "
                "the container NVIDIA_DRIVER_CAPABILITIES=compute,utility"
            )
        elif options.expect_driver and _version(device["driver"]) < _version(options.expect_driver):
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


def links_down(inventories: list[dict[str, Any]]) -> list[str]:
    """Devices with fewer NVLinks up than most of their model have on their node."""
    wrong = []
    for i in inventories:
        peers = [
            other["device"]["links"]
            for other in inventories
            if (other["host"], other["device"]["name"]) == (i["host"], i["device"]["name"])
        ]
        usual = max(set(peers), key=peers.count)
        if i["device"]["links"] < usual and peers.count(usual) > len(peers) / 2:
            wrong.append(
                f"rank {i['rank']} on {i['host']}, device {i['device']['uuid']}: {i['device']['links']} NVLinks are "
                f"up, its neighbours have {usual}; look at the fabric manager and at `nvidia-smi nvlink -s`"
            )
    return wrong


def narrow_slots(inventories: list[dict[str, Any]]) -> list[str]:
    """Devices whose PCIe slot runs fewer lanes than one of the same model does here, or less than half of its own.

    Half of them alone is no fault: AWS wires the L4 of g6 with 8 of 16 lanes (aws-parallelcluster-cookbook#2803,
    aws-k8s-tester#806), and the driver says 16 all the same.
    """
    wrong = []
    for i in inventories:
        now, most = i["device"]["lanes"]
        others = [o["device"]["lanes"][0] for o in inventories if o["device"]["name"] == i["device"]["name"]]
        if now < max(others) or 2 * now < most:
            like = f"others here have {max(others)}" if now < max(others) else f"it can have {most}"
            wrong.append(
                f"rank {i['rank']} on {i['host']}, device {i['device']['uuid']}: its PCIe slot runs {now} lanes wide, "
                f"{like}; drain the node and look at the slot"
            )
    return wrong


def _half_wired(inventories: list[dict[str, Any]]) -> str:
    found = sorted(
        {tuple(i["device"]["lanes"]) for i in inventories if i["device"]["lanes"][0] < i["device"]["lanes"][1]}
    )
    return "".join(f"; PCIe slots run {now} of {most} lanes, as some machines are wired" for now, most in found)


def _worked(job: Job) -> list[str]:
    """What the driver says while this rank's device works, and right after, that it did not say before."""
    device = job.inventories[job.rank]["device"]
    load = torch.ones(4096, 4096, device=job.device, dtype=torch.float16)
    told: list[hardware.Reading] = []
    asking = threading.Thread(target=lambda: told.append(hardware.read(device["uuid"])), daemon=True)
    begun = time.monotonic()
    asking.start()
    while asking.is_alive() and time.monotonic() - begun < hardware.QUESTION_S:
        for _ in range(20):
            load @ load
        job.synchronize()
    told.append(hardware.read(device["uuid"]))
    found = dict.fromkeys(fault for reading in told for fault in reading.faults if fault not in device["errors"])
    least = min((reading.lanes[0] for reading in told if reading.lanes[0]), default=0)
    if least < device["lanes"][0] and least:
        found[f"its PCIe slot runs {least} lanes wide, {device['lanes'][0]} before"] = None
    return [
        f"rank {job.rank} on {job.host}, device {device['uuid']}, under load: {fault}; "
        "drain the node and replace the device"
        for fault in found
    ]


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text))
