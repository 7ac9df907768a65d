"""Smoke jobs are planned: what each takes of its pool, and why; and one way leads from the plan to a job."""

from dataclasses import replace

import pytest

from tests.plan.stack_files import bought, gpu_pool, node_range, plan_of
from trainyard import catalog
from trainyard.plan.parts import NoSuchName
from trainyard.plan.pools import switched_nvlinks
from trainyard.plan.smoke import MAX_NODES, RESERVED_CORES, owner_of, smoke_job, smoke_spec
from trainyard.smoke_jobs.launch.job import worker_options

SIZES = ("nodes", "cpu", "memory_gib", "shared_memory_gib", "hugepages_mib", "usd_per_node_hour")


def test_one_job_a_pool_and_capacity_with_a_reason_for_every_size():
    plan = plan_of(gpuPools={"train": gpu_pool(reserved=bought("cr-0123456789abcdef0", 1, "us-east-1b"))})
    (cluster,) = plan.clusters
    assert [job.name for job in cluster.smoke.jobs] == [group.name for group in cluster.node_groups]
    sources = {decision.key: decision for decision in plan.core.decisions}
    for job in cluster.smoke.jobs:
        for size in SIZES:
            decision = sources[f"smoke.jobs.{job.name}.{size}"]
            assert decision.value == f"{getattr(job, size):g}", decision
            assert len(decision.source) > 5


def test_a_job_fits_its_nodes():
    (cluster,) = plan_of().clusters
    for job in cluster.smoke.jobs:
        node = cluster.pool(job.pool).node
        assert 1 <= job.nodes <= MAX_NODES
        assert job.cpu <= node.vcpus - RESERVED_CORES
        assert job.memory_gib + job.hugepages_mib / 1024 < node.memory_gib
        assert job.shared_memory_gib < job.memory_gib
        assert (job.hugepages_mib > 0) == bool(node.fabric)


def test_a_job_runs_in_the_queue_of_a_team_that_owns_what_it_proves():
    """A queue takes back from borrowers only what the job's own team owns there."""
    reserved = gpu_pool(reserved=bought("cr-0123456789abcdef0", 1, "us-east-1b"))
    (cluster,) = plan_of(gpuPools={"train": reserved}).clusters
    for job in cluster.smoke.jobs:
        owned = {team.name: sum(q.gpus for q in team.quotas if q.flavor == job.name) for team in cluster.teams}
        assert owned[job.team] == max(owned.values()) > 0
    by_job = {job.name: job.team for job in cluster.smoke.jobs}
    assert (by_job["train-reserved"], by_job["train-spot"]) == ("vision", "language"), "vision owns no spot node"


def test_the_stack_file_may_name_the_team_and_is_told_what_the_job_can_count_on():
    plan = plan_of(smoke={"team": "platform"})
    assert {job.team for job in plan.clusters[0].smoke.jobs} == {"platform"}
    sources = {decision.key: decision.source for decision in plan.core.decisions}
    assert sources["smoke.jobs.train-spot.team"].startswith("setting smoke.team; it owns 0 of the 16 GPUs that the job")
    own_nodes = {"train": gpu_pool(owners={"vision": 4})}
    owner = {decision.key: decision.source for decision in plan_of(gpuPools=own_nodes).core.decisions}
    assert "it takes back what it owns, at once" in owner["smoke.jobs.train-on-demand.team"]


@pytest.mark.parametrize("smoke", [{"enabled": False}, {"enabled": True, "capacities": ["spot", "on-demand"]}])
def test_the_settings_turn_jobs_off(smoke):
    (cluster,) = plan_of(smoke=smoke).clusters
    proven = {job.capacity for job in cluster.smoke.jobs}
    assert proven == (set(smoke["capacities"]) if smoke["enabled"] else set())


def test_without_lustre_there_is_no_folder_to_write_to():
    (with_scratch,) = plan_of(storage={"lustre": {"enabled": True}}).clusters
    (without,) = plan_of().clusters
    assert with_scratch.smoke.jobs[0].data_path == f"/scratch/smoke-{with_scratch.smoke.jobs[0].name}"
    assert {job.data_path for job in without.smoke.jobs} == {""}
    assert dict(without.smoke.mounts) == {"data": "/data", "checkpoints": "/checkpoints"}
    home = plan_of(storage={"sharedFileSystem": True}).clusters[0].smoke.mounts
    assert dict(home)["home"] == "/home"


def test_a_planned_job_and_one_of_the_command_line_are_the_same():
    plan = plan_of()
    (cluster,) = plan.clusters
    for planned in cluster.smoke.jobs:
        pool = cluster.pool(planned.pool)
        asked = smoke_job(cluster, pool, owner_of(cluster.teams, pool, planned.capacity), planned.capacity, None)
        assert asked == planned
        assert smoke_spec(plan, cluster, asked) == smoke_spec(plan, cluster, planned)


def test_the_queue_may_pick_the_capacity():
    plan = plan_of()
    (cluster,) = plan.clusters
    pool, team = cluster.pool("train"), cluster.team("language")
    job = smoke_job(cluster, pool, team, None, 1)
    assert (job.name, job.capacity, job.nodes) == ("train", None, 1)
    spec = smoke_spec(plan, cluster, job)
    assert (spec.name, spec.namespace, spec.transport) == ("smoke-train", "team-language", "efa")
    assert (spec.gpu, spec.fabric_resource, spec.fabric_interfaces) == ("A100", "vpc.amazonaws.com/efa", 4)
    options = worker_options(replace(spec, nodes=2), "kubernetes")
    assert (options.expect_links, options.expect_adapters) == (12, 4), "of a p4d"
    assert options.expect_driver == str(catalog.ami_driver()[0])


def test_a_driver_that_is_not_on_record_is_not_asked_for():
    kept = "1.35.1-20250101"
    plan = plan_of(aws={"nodeRelease": kept})
    assert {pool.node.driver for pool in plan.clusters[0].pools} == {""}
    release = catalog.node_release(plan.clusters[0].kubernetes_version)[0]
    named = plan_of(aws={"nodeRelease": release})
    assert {pool.node.driver for pool in named.clusters[0].pools} == {str(catalog.ami_driver()[0])}


def test_links_are_asked_of_whole_machines_with_a_switch():
    links = {item.type: switched_nvlinks(item.gpu, item.gpus, item.nvlink) for item in catalog.instances() if item.gpus}
    assert (links["p4d.24xlarge"], links["p5.48xlarge"], links["p6-b200.48xlarge"]) == (12, 18, 18)
    assert links["g5.48xlarge"] == links["p3dn.24xlarge"] == 0
    assert (switched_nvlinks("A100-40GB", 2, "NVSwitch"), switched_nvlinks("H100", 8, "NVSwitch")) == (0, 18)
    assert catalog.nvlinks("V100") == 6 and catalog.nvlinks("L40S") == 0


@pytest.mark.parametrize(
    ("find", "text"),
    [
        (lambda cluster: cluster.pool("trian"), "no GPU pool 'trian'; there is train, tune, dev; did you mean train?"),
        (lambda cluster: cluster.team("nobody"), "no team 'nobody'; there is vision, language, platform"),
    ],
)
def test_a_name_that_there_is_not_is_told_with_those_that_there_are(find, text):
    (cluster,) = plan_of().clusters
    with pytest.raises(NoSuchName, match=text):
        find(cluster)


def test_a_facts_change_makes_another_job():
    (before,) = plan_of().clusters
    (after,) = plan_of(gpuPools={"tune": gpu_pool(spot=node_range(0, 3), spot_instance_types=[])}).clusters
    changed = {
        old.name for old, new in zip(before.smoke.jobs, after.smoke.jobs, strict=True) if old.rerun_on != new.rerun_on
    }
    assert changed == {"tune-spot"}


@pytest.mark.parametrize(("level", "seconds"), [("quick", 900), ("standard", 1500), ("full", 3600)])
def test_the_plan_says_which_level_an_up_waits_for(level, seconds):
    plan = plan_of(smoke={"level": level})
    (cluster,) = plan.clusters
    assert cluster.smoke.level == level
    assert {decision.value for decision in plan.core.decisions if decision.key == "smoke.level"} == {level}
    specs = [smoke_spec(plan, cluster, job) for job in cluster.smoke.jobs]
    assert specs and {(spec.level, spec.timeout_s) for spec in specs} == {(level, seconds)}
