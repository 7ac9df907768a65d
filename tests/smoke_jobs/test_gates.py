"""What is asked of each instance: of every fabric something, and of none more than what was seen of a healthy one."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from trainyard.conventions.gcp import FABRIC_INTERFACES
from trainyard.smoke_jobs import gates
from trainyard.smoke_jobs.ddp import check_adapters, check_checkpoint, check_devices, check_memory, check_scaling
from trainyard.smoke_jobs.ddp.check_collectives import ROOM, sizes
from trainyard.smoke_jobs.ddp.job import Job
from trainyard.smoke_jobs.ddp.thresholds import load, select

RECORDS = load(gates.FILE)
DEFAULT = 2 * 2**30
FABRICS = [machine.type for machine in gates.machines() if machine.fabric]


def gate(instance, nodes, metric="all_reduce", size=DEFAULT):
    return select(RECORDS, instance=instance, nodes=nodes, metric=metric, size=size)


@pytest.mark.parametrize("instance", FABRICS)
def test_plain_tcp_between_two_nodes_of_a_fabric_passes_no_gate(instance):
    asked = gate(instance, 2)
    assert asked is not None and asked.kind == "gate"
    assert not asked.met(20.0), "what TCP was seen to give on machines with 100 GB/s and more is well below"


SEVERAL = [machine for machine in gates.machines() if machine.gpus > 1]


@pytest.mark.parametrize("machine", SEVERAL, ids=lambda machine: machine.type)
def test_one_node_of_several_gpus_has_a_gate(machine):
    asked = gate(machine.type, 1)
    assert asked is not None and asked.kind == "gate"
    assert not asked.met(1.0), "what a host gives where shared memory is not even used"
    if machine.nvlink == "NVSwitch":
        assert not asked.met(50.0), "a slot of generation 5 has 63 GB/s: without its NVLinks none passes"


def test_one_gpu_has_nobody_to_exchange_with_in_its_node():
    assert {"p5e.48xlarge", "p6-b300.48xlarge", "a3-megagpu-8g", "a4-highgpu-8g", "a2-ultragpu-8g", "g5.12xlarge"} <= {
        machine.type for machine in SEVERAL
    }
    assert gate("g5.xlarge", 1) is None and gate("a2-highgpu-1g", 1) is None


def test_a_published_figure_of_one_node_comes_before_a_derived_one():
    for instance, source in (("p4d.24xlarge", "NVIDIA/nccl"), ("p5.48xlarge", "stas00")):
        assert gate(instance, 1).source.startswith(source)
    assert gate("p6-b200.48xlarge", 1, size=2**32).source.startswith("stas00")
    assert gate("p5e.48xlarge", 1).source.startswith(gates.DERIVED)


@pytest.mark.parametrize("machine", [each for each in gates.machines() if each.fabric], ids=lambda each: each.type)
def test_an_all_to_all_is_asked_for_less_than_many_nodes_leave_a_gpu_and_more_than_tcp_gives(machine):
    asked = gate(machine.type, 2, "all_to_all", 2**30)
    assert asked is not None and asked.kind == "gate"
    assert asked.met(0.5 * machine.network_gbps / 8 / machine.gpus), "half of a GPU's part of the adapters"
    if machine.network_gbps >= 1600:  # two nodes exchange half of their data: a GPU has twice its part of 20 GB/s
        assert not asked.met(2 * 20 / machine.gpus)
    assert gate("g5.48xlarge", 2, "all_to_all", 2**30) is None


def test_the_page_has_every_share_that_a_check_asks_of_its_own_measurements():
    text = gates.page()
    shares = (
        ("memory", check_memory.SLOT_SHARE),
        ("memory", check_memory.PEER_SHARE),
        ("adapters", check_adapters.IDLE_SHARE),
        ("scaling", check_scaling.SHARE),
        ("checkpoint", check_checkpoint.RATED_SHARE),
        ("devices", check_devices.MEMORY_SHARE),
    )
    for name, share in shares:
        assert any(
            row.startswith(f"| {name} |") and f">= {share:.0%}" in row and row.count("|") == 6
            for row in text.splitlines()
        ), (name, share)


def test_the_fabrics_are_those_that_were_looked_for():
    assert {"p4d.24xlarge", "p5.48xlarge", "p5en.48xlarge", "p6-b200.48xlarge", "a3-megagpu-8g", "a4-highgpu-8g"} <= {
        *FABRICS
    }
    assert not {"g5.48xlarge", "g6e.48xlarge", "p3dn.24xlarge", "a2-highgpu-8g"} & {*FABRICS}


def test_what_was_published_of_healthy_machines_passes_what_is_derived():
    derived = [record for record in RECORDS if record.source.startswith(gates.DERIVED)]
    published = [record for record in RECORDS if record.metric in gates.BANDWIDTHS and record not in derived]
    compared = [
        (record, floor)
        for record in published
        for floor in derived
        if floor.instance == record.instance
        and (floor.nodes == "1") is (record.nodes == "1")
        and record.max_bytes >= floor.min_bytes
    ]
    assert len([record for record, _ in compared if record.nodes == "1"]) >= 6
    assert len(compared) >= 16
    for record, floor in compared:
        assert floor.met(record.value), record


@pytest.mark.parametrize(
    ("instance", "asks"),
    [("a3-highgpu-8g", 60), ("a3-megagpu-8g", 150), ("a3-ultragpu-8g", 250), ("a4-highgpu-8g", 250),
     ("a4x-highgpu-4g", 160)],
)  # fmt: skip
def test_no_derived_floor_is_above_what_google_s_own_scanner_asks(instance, asks):
    """cluster-health-scanner 4.10.1's BANDWIDTH_THRESHOLD: a machine that Google takes must not be sent back."""
    asked = gate(instance, 2)
    assert asked.source.startswith(gates.DERIVED) and 0.6 * asks < asked.floor <= asks


def test_the_host_s_own_interfaces_are_no_part_of_a_fabric():
    rates = {machine.type: machine.network_gbps for machine in gates.machines()}
    for instance, interfaces in FABRIC_INTERFACES.items():
        assert rates[instance] / interfaces in (200, 400), instance
    assert rates["a3-highgpu-2g"] == 50, "no fabric: all of it is the host's"


def test_a_published_gate_comes_before_a_derived_one():
    asked = gate("p5.48xlarge", 2)
    assert asked is not None and "awsome-distributed-ai" in asked.source


def test_sagemaker_s_names_are_those_of_the_instances():
    assert gate("ml.p5.48xlarge", 2) == gate("p5.48xlarge", 2)
    assert gate("ml.nothing", 2) is None


def a_job(instance: str, nodes: int, *, memory_gib: float = 141.0, cuda: bool = True, most: float = 0.0) -> Job:
    job = object.__new__(Job)
    job.__dict__ |= {
        "cuda": cuda,
        "instance": instance,
        "nodes": nodes,
        "nccl": "2.27.5",
        "thresholds": RECORDS,
        "options": SimpleNamespace(max_message_mib=most),
        "inventories": [{"device": {"memory_gib": memory_gib}}],
    }
    return job


def gated(job: Job) -> set[str]:
    """The sources of the gates that the sizes of a job meet."""
    found = [job.threshold(metric, size) for size in sizes(job) for metric in gates.BANDWIDTHS]
    return {record.source for record in found if record is not None and record.kind == "gate"}


@pytest.mark.parametrize(
    ("instance", "nodes", "source"),
    [
        ("p5en.48xlarge", 4, "stas00/ml-engineering (ring at 4 GiB"),
        ("p5en.48xlarge", 1, "stas00/ml-engineering (8x H200 ring; NVLS 482)"),
        ("a3-megagpu-8g", 2, "GoogleCloudPlatform/cluster-toolkit (8 GB"),
        ("p6-b200.48xlarge", 4, "stas00/ml-engineering (16 GiB)"),
        ("p5e.48xlarge", 2, gates.DERIVED),
        ("g6e.48xlarge", 2, gates.DERIVED),
    ],
)
def test_there_is_a_size_in_the_window_of_each_gate(instance, nodes, source):
    assert any(text.startswith(source) for text in gated(a_job(instance, nodes)))


def test_a_small_memory_and_a_limit_of_the_user_leave_gates_out():
    small = a_job("a3-megagpu-8g", 2, memory_gib=24.0)
    assert max(sizes(small)) <= 24 * 2**30 / ROOM
    limited = a_job("a3-megagpu-8g", 2, most=64)
    assert max(sizes(limited)) == 64 * 2**20 and gated(limited) == set()


def test_without_gpus_the_messages_stay_small():
    assert max(sizes(a_job("cpu", 2, cuda=False))) == 4 * 2**20
