from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.smoke_jobs.launch.support import GPU_POOL, job_policy
from trainyard.components.k8s.kueue_manager import RECOVERY_MINUTES, manager_configuration
from trainyard.smoke_jobs.ddp.options import parse
from trainyard.smoke_jobs.launch.job import (
    BASELINE,
    LaunchError,
    SmokeSpec,
    check,
    document,
    job_name,
    worker_options,
)


def test_options_hold_what_the_pool_promises():
    options = worker_options(GPU_POOL, "kubernetes")
    assert (options.nodes, options.nproc_per_node, options.expect_devices) == (2, 8, 8)
    assert (options.expect_model, options.expect_memory_gib, options.expect_transport) == ("H100", 80.0, "efa")
    assert options.usd_per_node_hour == 55.04
    assert options.target == "kubernetes"


def test_nodes_wait_for_each_other_besides_the_checks():
    options = worker_options(GPU_POOL, "kubernetes")
    assert options.rendezvous_timeout_s == GPU_POOL.start_timeout_s
    assert options.timeout_s == GPU_POOL.timeout_s + options.rendezvous_timeout_s
    assert worker_options(replace(GPU_POOL, nodes=1), "kubernetes").timeout_s == GPU_POOL.timeout_s


UNREACHABLE_S, NODE_S, IMAGE_S = 300, 180, 480
"""What a pod of a lost node waits for: its tolerance of an unreachable node, another node, its image."""


def test_survivors_wait_for_the_one_that_was_reclaimed():
    """They are back at once; it starts from zero, and then the job has its time."""
    options = worker_options(GPU_POOL, "kubernetes")
    assert options.rendezvous_timeout_s >= UNREACHABLE_S + NODE_S + IMAGE_S
    deadline = job_policy(GPU_POOL)["activeDeadlineSeconds"]
    assert deadline >= GPU_POOL.start_timeout_s + options.rendezvous_timeout_s + GPU_POOL.timeout_s
    longer = replace(GPU_POOL, start_timeout_s=3600)
    assert worker_options(longer, "kubernetes").rendezvous_timeout_s == 3600
    assert job_policy(longer)["activeDeadlineSeconds"] == deadline + 2 * (3600 - GPU_POOL.start_timeout_s)


def test_it_is_the_queue_that_gives_the_survivors_back_and_not_a_failed_check():
    """Kueue takes the job off once a replacement had its time, and before a worker calls the other node missing."""
    assert UNREACHABLE_S + NODE_S + IMAGE_S <= RECOVERY_MINUTES * 60
    assert worker_options(GPU_POOL, "kubernetes").rendezvous_timeout_s > RECOVERY_MINUTES * 60
    waiting = manager_configuration(30, 10, ())["waitForPodsReady"]
    assert (waiting["timeout"], waiting["recoveryTimeout"]) == ("30m", f"{RECOVERY_MINUTES}m")
    assert manager_configuration(15, 10, ())["waitForPodsReady"]["recoveryTimeout"] == "15m"


def test_a_job_is_named_after_its_pool_and_capacity():
    assert (job_name("train"), job_name("train", "spot")) == ("smoke-train", "smoke-train-spot")
    long = {job_name(pool, "on-demand") for pool in ("a" * 45, "a" * 44 + "b")}
    assert len(long) == 2
    for name in long:
        check(SmokeSpec(name=name), "kubernetes", {})


def test_one_node_has_no_transport_between_nodes():
    assert worker_options(replace(GPU_POOL, nodes=1), "kubernetes").expect_transport == ""


def test_a_server_of_its_own_only_on_this_machine():
    spec = SmokeSpec()
    assert worker_options(spec, "local").tracking_uri == "local"
    assert worker_options(spec, "slurm").tracking_uri == "none"
    assert worker_options(replace(spec, tracking_uri="http://m"), "slurm").tracking_uri == "http://m"


def test_given_options_win():
    spec = replace(GPU_POOL, options={"kills": 5, "expect_model": ""})
    options = worker_options(spec, "slurm")
    assert (options.kills, options.expect_model) == (5, "")


def test_a_wrong_option_is_a_launch_error_that_says_which():
    with pytest.raises(LaunchError, match="unknown option 'kils'; did you mean 'kills'"):
        worker_options(replace(GPU_POOL, options={"kils": 5}), "local")


def test_the_document_gives_the_same_options_back_and_nothing_else():
    options = worker_options(GPU_POOL, "kubernetes", head="h", result_dir="/r")
    text = document(options)
    assert parse([], {"SMOKE_OPTIONS": text}) == options
    assert "collective_timeout_s" not in json.loads(text)


def test_a_baseline_that_travels_is_named_by_its_place():
    options = worker_options(replace(GPU_POOL, files={BASELINE: "{}"}), "kubernetes", "/smoke/ddp")
    assert options.baseline == "/smoke/ddp/baseline.json"


def test_every_mistake_at_once():
    spec = replace(GPU_POOL, name="Smoke_", nodes=0, image="", memory_gib=8, mounts=(("data", "data"),))
    with pytest.raises(LaunchError) as caught:
        check(spec, "kubernetes", {"image": "--image"})
    text = str(caught.value)
    for part in (
        "kubernetes needs image: --image",
        "name is 'Smoke_'",
        "nodes is 0: at least 1",
        "shared_memory_gib is 52: below memory_gib, which is 8",
        "mount of claim data is at 'data'",
    ):
        assert part in text


@pytest.mark.parametrize("name", ["a" * 41, "1st", "a-", ""])
def test_names_that_no_pod_could_have(name):
    with pytest.raises(LaunchError, match="letter first"):
        check(SmokeSpec(name=name), "kubernetes", {})
