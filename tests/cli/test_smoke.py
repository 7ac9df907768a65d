from __future__ import annotations

import dataclasses
import json
import re
import shutil
from dataclasses import replace

import pytest
import yaml
from typer.testing import CliRunner

from tests.shared import ROOT
from tests.smoke_jobs.ddp.conftest import WITHOUT_COMPILER
from tests.smoke_jobs.report.support import document
from trainyard.cli import smoke_fit, smoke_targets
from trainyard.cli.main import app
from trainyard.cli.smoke_options import CapacityName, JobOptions, Level, Target, TargetOptions
from trainyard.cli.smoke_spec import of_stack
from trainyard.cli.smoke_targets import Launcher
from trainyard.conventions import CAPACITIES
from trainyard.fleet.known import HOMES, known_of
from trainyard.plan.resolve import resolve_stack
from trainyard.plan.smoke import smoke_job
from trainyard.smoke_jobs.ddp.options import LEVELS
from trainyard.smoke_jobs.ddp.result import EXIT, problems
from trainyard.smoke_jobs.launch.follow import CheckDone, Ended
from trainyard.smoke_jobs.launch.job import LaunchError, job_name, worker_options

PROJECT = ("--project", str(ROOT))
QUICK = ("--check", "rendezvous", "--check", "devices")


def _run(*arguments: str, **more):
    return CliRunner().invoke(app, ["smoke", *arguments], **more)


@pytest.fixture(scope="module")
def plan():
    return resolve_stack(ROOT, "demo").plan


@pytest.fixture(scope="module")
def cluster(plan):
    (found,) = plan.clusters
    return found


@pytest.fixture
def ended(monkeypatch):
    """Puts a made-up end in the place of the job; returns the specs that were asked for."""
    asked = []

    def put(outcome: Ended) -> list:
        def launcher(spec, target, place, plan):
            asked.append((spec, target, place))

            def run(view):
                view.status("starting")
                view.check_done(CheckDone("devices", "pass", 1.0, "2"))
                return outcome

            return Launcher(lambda: "rendering\n", run)

        monkeypatch.setattr(smoke_targets, "launcher", launcher)
        return asked

    return put


def test_a_real_local_run_writes_all_that_was_asked_for(tmp_path):
    files = {name: tmp_path / f"result.{name}" for name in ("json", "html")}
    result = _run("--nproc", "2", *QUICK, "--json", str(files["json"]), "--html", str(files["html"]))
    assert result.exit_code == 0, result.output
    found = json.loads(files["json"].read_text())
    assert problems(found) == []
    assert found["topology"]["world_size"] == 2
    assert "The chosen checks passed (exit 0)" in result.stdout
    assert "1/10 rendezvous" in result.stderr
    assert files["html"].read_text().startswith("<!doctype html>")


def test_a_broken_check_is_exit_10_and_told(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(WITHOUT_COMPILER))  # the test above has ranks as a user has them
    result = _run("--nproc", "2", *QUICK, "--break", "devices", "--json", "-")
    assert result.exit_code == 10
    found = json.loads(result.stdout)
    assert found["verdict"] == "fail", "standard output holds nothing but the JSON"


@pytest.mark.parametrize("verdict", sorted(set(EXIT) - {"usage"}))
def test_the_exit_code_is_the_verdicts(ended, verdict):
    ended(Ended(EXIT[verdict], document() | {"verdict": verdict, "exit_code": EXIT[verdict]}))
    assert _run().exit_code == EXIT[verdict]


def test_a_job_without_a_result(ended, tmp_path):
    ended(Ended(124, None, "did not end", ["last words"]))
    result = _run("--json", str(tmp_path / "r.json"), "--html", str(tmp_path / "r.html"))
    assert result.exit_code == 124
    assert "last words" in result.stderr
    assert "error: did not end (exit 124)" in result.stderr
    assert "r.html was not written" in result.stderr
    assert json.loads((tmp_path / "r.json").read_text())["reason"] == "did not end"


def test_no_colour_where_nobody_watches(ended):
    ended(Ended(10, document()))
    result = _run(env={"NO_COLOR": "1"})
    assert "\x1b" not in result.output


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--break", "devics"), "there is no check 'devics'; did you mean 'devices'?"),
        (("--set", "kils=3"), "the worker has no option 'kils'; did you mean kills?"),
        (("--set", "kills=many"), "--set kills=many: int is needed"),
        (("--set", "kills"), "KEY=VALUE is needed"),
        (("--env", "NCCL_DEBUG"), "--env NCCL_DEBUG: NAME=VALUE is needed, the name of letters, digits and _"),
        (("--env", "A B=1"), "--env A B: NAME=VALUE is needed"),
        (("--env", "SMOKE_OPTIONS={}"), "variables that begin with SMOKE_ are the job's own; --set has its options"),
        (("--transport", "efa"), "--transport is for --target kubernetes, trainjob, slurm, sagemaker or vertex, not l"),
        (("-t", "slurm", "--transport", "ib"), "--transport ib is between nodes, and this job has one: --nodes 2"),
        (("-t", "slurm", "--nodes", "2", "--transport", "tcp"), "'tcp' is not one of"),
        (("-t", "kubernetes"), "name the STACK, whose team, queue and GPU pool the job uses"),
        (("-t", "trainjob"), "name the STACK"),
        (("-t", "slurm", "--capacity", "spot"), "--capacity is for --target kubernetes or trainjob, not slurm"),
        (("demo", "--capacity", "spot", *PROJECT), "--capacity is for --target kubernetes or trainjob, not local"),
        (("demo", "-t", "kubernetes", "--partition", "gpu", *PROJECT), "--partition is for --target slurm, not kuber"),
        (("demo", "-t", "trainjob", "--spot", *PROJECT), "--spot is for --target sagemaker or vertex, not trainjob"),
        (("--keep", "--image", "i"), "--image is for --target kubernetes, trainjob, slurm, sagemaker or vertex, not l"),
        (("--keep", "--image", "i"), "--keep is for --target kubernetes or trainjob, not local"),
        (("-t", "slurm", "--pool", "train"), "--pool chooses among what a stack has: name the STACK"),
        (("-t", "slurm", "--image", "i"), "--image on Slurm needs --container"),
        (("--render", "--json", "result.json"), "--json is for a result, and --render runs nothing"),
        (("demo", "-t", "kubernetes", "--capacity", "rented", *PROJECT), "'rented' is not one of"),
        (("demo", "-t", "kubernetes", "--pool", "trian", *PROJECT), "has no GPU pool 'trian'; there is train"),
        (("demo", "-t", "kubernetes", "--team", "visoin", *PROJECT), "did you mean vision?"),
        (("demo", "-t", "kubernetes", "--nodes", "900", *PROJECT), "a job never spans two"),
        (("dmeo", "-t", "kubernetes", *PROJECT), "no stack 'dmeo'"),
        (("-t", "sagemaker", "--render"), "sagemaker needs image"),
        (("-t", "vertex", "--render", "--image", "i", "--instance", "g2-standard-48"), "gs://bucket/prefix, --bucket"),
        (("-t", "slurm", "--baseline", "/nonexistent"), "--baseline /nonexistent: got no such file"),
    ],
)  # fmt: skip
def test_mistakes_are_exit_2_and_name_the_remedy(arguments, text):
    result = _run(*arguments)
    assert result.exit_code == 2, result.output
    assert text in " ".join(result.stderr.split())


def test_every_option_of_a_target_is_known_and_each_is_refused_elsewhere():
    """An option that is renamed, or comes without a word on where it is for, would be left out again."""
    fields = {field.name for group in (JobOptions, TargetOptions) for field in dataclasses.fields(group)}
    assert set(smoke_fit.TARGETS) <= fields
    assert {field.name for field in dataclasses.fields(TargetOptions)} <= set(smoke_fit.TARGETS)
    for name, targets in smoke_fit.TARGETS.items():
        for target in Target:
            given = {name: "--it", "stack": "STACK", "container": "--container"}
            if target is not Target.slurm and name != "container":
                del given["container"]
            if target in targets:
                smoke_fit.check_options(given, target)
            else:
                with pytest.raises(LaunchError, match=f"is for --target .*, not {target}"):
                    smoke_fit.check_options(given, target)


def test_a_value_that_is_the_default_is_given_all_the_same():
    result = _run("--queue-timeout", "60")
    assert result.exit_code == 2
    assert "--queue-timeout is for --target kubernetes or trainjob, not local" in " ".join(result.stderr.split())


def test_the_kubernetes_rendering_of_a_stack(cluster):
    result = _run("demo", "-t", "kubernetes", "--render", *PROJECT)
    assert result.exit_code == 0, result.output
    config_map, service, job = yaml.safe_load_all(result.stdout)
    assert [item["kind"] for item in (config_map, service, job)] == ["ConfigMap", "Service", "Job"]
    team = cluster.teams[0]
    assert job["metadata"]["namespace"] == team.namespace
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "smoke", (
        "open while an upgrade holds the teams' own"
    )
    assert job["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] in {p.name for p in cluster.scheduling.priorities}
    container = job["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == cluster.smoke.image
    options = json.loads(next(e["value"] for e in container["env"] if e["name"] == "SMOKE_OPTIONS"))
    pool = cluster.pools[0]
    assert (options["instance"], options["nproc_per_node"]) == (pool.node.instance_type, pool.node.gpus)
    assert job["spec"]["completions"] <= max(group.max_nodes for group in pool.node_groups)


def test_a_rendering_is_the_same_every_time():
    first, second = (_run("demo", "-t", "trainjob", "--render", *PROJECT).stdout for _ in range(2))
    assert first == second


def test_every_target_renders_a_stack(cluster):
    bucket = {"sagemaker": "s3://ml/smoke", "vertex": "gs://ml/smoke"}
    for target in ("local", "slurm", "sagemaker"):
        arguments = ["demo", "-t", target, "--render", *PROJECT]
        arguments += ["--image", "registry/torch:1"] if target != "local" else []
        arguments += ["--container"] if target == "slurm" else []
        if target in bucket:
            arguments += ["--bucket", bucket[target], "--role-arn", "arn:aws:iam::123456789012:role/x"]
        result = _run(*arguments)
        assert result.exit_code == 0, result.output
        if target == "sagemaker":
            request = json.loads(result.stdout)
            assert request["ResourceConfig"]["InstanceType"] == f"ml.{cluster.pools[0].node.instance_type}"
    result = _run("-t", "vertex", "--render", "--image", "i", "--instance", "g2-standard-96", "--gpu", "L4", "--gpus",
                  "8", "--nodes", "3", "--bucket", "gs://ml/smoke")  # fmt: skip
    assert len(json.loads(result.stdout)["jobSpec"]["workerPoolSpecs"]) == 2


def test_what_is_submitted_has_a_name_of_its_own(plan):
    spec = smoke_targets._once(replace(_spec(plan), rerun_on=()))
    assert dict(spec.rerun_on).keys() == {"submitted"}


def _spec(plan, checkpoint_uri="", checks=(), capacity=None, pool=None):
    from trainyard.cli.smoke_spec import of_stack

    chosen = CapacityName(capacity) if capacity else None
    options = JobOptions(checkpoint_uri=checkpoint_uri, checks=list(checks), capacity=chosen, pool=pool)
    return of_stack(plan, Target.kubernetes, options)


def _with(plan, **changes):
    """The plan with some parts of its cluster replaced."""
    return replace(plan, clusters=(replace(plan.clusters[0], **changes),))


def test_the_capacities_are_the_plans():
    assert tuple(CapacityName) == CAPACITIES


def test_the_nodes_of_one_capacity_may_be_chosen(plan, cluster):
    """As the stack's own job does: by name, place, nodes and what it looks for."""
    planned = {job.name: job for job in cluster.smoke.jobs}
    for pool in cluster.pools:
        for group in pool.node_groups:
            spec = _spec(plan, capacity=group.capacity, pool=pool.name)
            assert spec.name == job_name(pool.name, group.capacity)
            assert spec.capacity == group.capacity and spec.nodes <= group.max_nodes
            assert dict(spec.rerun_on)["capacities"] == group.capacity
            assert spec.data_path == planned[group.name].data_path


def test_a_capacity_that_the_pool_lacks_is_refused(plan, cluster):
    without = replace(cluster.pools[0], node_groups=cluster.pools[0].node_groups[:1])
    absent = cluster.pools[0].node_groups[-1].capacity
    with pytest.raises(LaunchError, match=f"--capacity {absent}: pool {without.name} has nodes of .* only"):
        _spec(_with(plan, pools=(without,)), capacity=absent)


def test_a_rendering_of_one_capacity_runs_nowhere_else(cluster):
    group = cluster.pools[0].node_groups[0]
    result = _run("demo", "-t", "kubernetes", "--pool", group.pool, "--capacity", group.capacity, "--render", *PROJECT)
    assert result.exit_code == 0, result.output
    job = list(yaml.safe_load_all(result.stdout))[2]
    assert job["metadata"]["name"].startswith(f"smoke-{group.pool}-{group.capacity}-")
    assert json.dumps({"key": "ml.platform/capacity", "operator": "In", "values": [group.capacity]}) in json.dumps(job)


def test_the_team_s_part_of_the_bucket_is_the_tier_of_every_node(plan):
    """The bucket's name is the cluster's to know: the kubelet fills it in from the team's ConfigMap."""
    pool = plan.clusters[0].pools[0].name
    spec = _spec(plan)
    assert (spec.nodes, spec.checkpoint_uri) == (2, f"$(CHECKPOINTS_URI)/smoke/smoke-{pool}")
    assert _spec(plan, "s3://b/teams/vision/smoke").checkpoint_uri == "s3://b/teams/vision/smoke"
    for target in ("kubernetes", "trainjob"):
        *_, job = yaml.safe_load_all(_run("demo", "-t", target, "--render", *PROJECT).stdout)
        (told,) = [found for found in _lists_of_variables(job) if found[0]["name"] == "CHECKPOINTS_URI"]
        assert told[0]["valueFrom"] == {"configMapKeyRef": {"name": "storage", "key": "CHECKPOINTS_URI"}}
        (options,) = [variable["value"] for variable in told if variable["name"] == "SMOKE_OPTIONS"]
        assert json.loads(options)["checkpoint_uri"].startswith("$(CHECKPOINTS_URI)/smoke/smoke-")
        given = _run("demo", "-t", target, "--render", "--checkpoint-uri", "s3://b/mine", *PROJECT).stdout
        assert "CHECKPOINTS_URI" not in given


def _lists_of_variables(value):
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "env" and item:
                yield item
            yield from _lists_of_variables(item)
    elif isinstance(value, list):
        for item in value:
            yield from _lists_of_variables(item)


@pytest.fixture
def copy(tmp_path):
    """The demo project elsewhere, since a stack's verdict is kept beside it."""
    (tmp_path / "stacks").mkdir()
    shutil.copy(ROOT / "Pulumi.yaml", tmp_path)
    shutil.copy(ROOT / "stacks" / "__main__.py", tmp_path / "stacks")
    for file in (ROOT / "stacks").glob("Pulumi.demo*.yaml"):
        shutil.copy(file, tmp_path / "stacks")
    return tmp_path


def test_a_stack_s_verdict_is_kept_for_the_list_of_the_fleet(ended, copy):
    ended(Ended(20, document() | {"verdict": "below", "exit_code": 20}))
    assert _run("demo", "-t", "kubernetes", "--project", str(copy)).exit_code == 20
    kept = known_of("demo", copy / HOMES).smoke
    assert (kept.verdict, kept.by) == ("below", "kubernetes")
    ended(Ended(1, None, "the node went"))
    _run("demo", "-t", "kubernetes", "--project", str(copy))
    assert known_of("demo", copy / HOMES).smoke.verdict == "error"
    ended(Ended(0, document() | {"verdict": "pass", "exit_code": 0}))
    _run("demo", "--project", str(copy))
    assert known_of("demo", copy / HOMES).smoke.verdict == "error", "this machine says nothing of the stack"


def test_a_verdict_that_cannot_be_kept_is_told_and_counts(ended, copy):
    (copy / HOMES).write_text("a file")
    ended(Ended(0, document() | {"verdict": "pass", "exit_code": 0}))
    done = _run("demo", "-t", "kubernetes", "--project", str(copy))
    assert done.exit_code == 0
    assert "demo: `fleet list` will not know it" in done.stderr


def test_the_command_line_wins_over_the_stack(ended, plan, copy):
    asked = ended(Ended(0, document() | {"verdict": "pass", "exit_code": 0}))
    _run("demo", "-t", "kubernetes", "--image", "mine@sha256:1", "--nproc", "4", "--timeout", "5", "--tracking-uri",
         "none", "--set", "kills=2", "--set", "checks=devices,data", "--project", str(copy))  # fmt: skip
    spec, target, place = asked[0]
    assert target == "kubernetes"
    assert (spec.image, spec.processes_per_node, spec.timeout_s) == ("mine@sha256:1", 4, 300)
    assert (spec.tracking_uri, spec.tracking_secret) == ("none", "")
    assert spec.options == {"kills": 2, "checks": ["devices", "data"]}
    assert place.region == plan.ground.region
    queue_s = smoke_targets._limit_s(spec, place) - spec.start_timeout_s - spec.run_timeout_s
    assert queue_s == 60 * place.queue_timeout > 0


def test_variables_and_the_transport_reach_every_launcher(copy):
    """What NCCL is told on the command line, and what has to be proven of it."""
    given = ("--env", "NCCL_DEBUG=WARN", "--env", "NOTE=two words", "--project", str(copy), "--render")
    away = ("--nodes", "2", "--transport", "ib", "--instance", "x", "--gpu", "H100", "--image", "i", *given)
    places = {
        "kubernetes": ("demo", *away),
        "trainjob": ("demo", *away),
        "slurm": (*away, "--container"),
        "sagemaker": (*away, "--instance", "ml.x", "--role-arn", "arn:r", "--bucket", "s3://b"),
        "vertex": (*away, "--bucket", "gs://b", "--gpus", "8"),
    }
    for target, arguments in places.items():
        done = _run("-t", target, *arguments)
        assert done.exit_code == 0, done.stderr
        assert "NCCL_DEBUG" in done.stdout and "two words" in done.stdout, target
        if target not in ("sagemaker", "vertex"):  # whose options travel in a file of the bucket
            assert re.search(r"expect_transport\W+ib\b", done.stdout), target
    here = _run(*given)
    assert "NCCL_DEBUG=WARN \\" in here.stdout and "NOTE='two words'" in here.stdout


def test_a_baseline_is_recorded_from_a_pass_only(ended, tmp_path):
    path = tmp_path / "baseline.json"
    ended(Ended(10, document()))
    assert "a baseline is the figures of a pass" in _run("--record-baseline", str(path)).stderr
    assert not path.exists()
    figures = [{"name": "checkpoint write", "value": 1.0, "unit": "GB/s", "better": "higher"}]
    ended(Ended(0, document() | {"verdict": "pass", "exit_code": 0, "figures": figures}))
    assert _run("--record-baseline", str(path)).exit_code == 0
    for where in (f"{path}/below-a-file.json", str(tmp_path)):
        unwritable = _run("--record-baseline", where)
        assert unwritable.exit_code == 2 and "--record-baseline" in unwritable.stderr
    assert json.loads(path.read_text())["figures"]["checkpoint write"]["value"] == 1.0
    ended(Ended(0, document() | {"verdict": "pass", "exit_code": 0, "figures": []}))
    assert "short result only" in _run("--record-baseline", str(tmp_path / "other.json")).stderr


def test_a_baseline_goes_along(ended, tmp_path):
    path = tmp_path / "baseline.json"
    path.write_text("{}")
    asked = ended(Ended(0, document()))
    _run("-t", "slurm", "--baseline", str(path))
    _run("--baseline", str(path))
    assert asked[0][0].files == {"baseline.json": "{}"}
    assert asked[1][0].options["baseline"] == str(path)
    assert asked[1][0].files == {}


# trainyard.plan.smoke: from a plan to what the job takes of a pool


def test_each_capacity_of_a_pool_is_a_job_of_its_own(cluster):
    """With nodes of that capacity only, and again when they change and not when others do."""
    team, pool = cluster.teams[0], cluster.pools[0]
    assert len(pool.node_groups) > 1
    jobs = {group.capacity: smoke_job(cluster, pool, team, group.capacity, None) for group in pool.node_groups}
    for group in pool.node_groups:
        assert jobs[group.capacity].nodes == min(2, group.max_nodes)
        assert dict(jobs[group.capacity].rerun_on)["capacities"] == group.capacity
    last = replace(pool.node_groups[-1], zones=("us-east-1f",))
    changed = replace(pool, node_groups=(*pool.node_groups[:-1], last))
    for group in pool.node_groups:
        after = smoke_job(cluster, changed, team, group.capacity, None).rerun_on
        assert (after != jobs[group.capacity].rerun_on) == (group.capacity == last.capacity)


def test_the_job_runs_again_when_the_pool_changes(cluster):
    pool = cluster.pools[0]
    before = smoke_job(cluster, pool, cluster.teams[0], None, None).rerun_on
    assert smoke_job(cluster, pool, cluster.teams[0], None, None).rerun_on == before
    fewer = replace(pool, node_groups=pool.node_groups[:1])
    assert smoke_job(cluster, fewer, cluster.teams[0], None, None).rerun_on != before


def test_boto3_finds_the_region(plan, cluster, monkeypatch):
    import botocore.session

    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/no/such/file")
    for name, value in cluster.smoke.environment:
        monkeypatch.setenv(name, value)
    assert botocore.session.get_session().get_config_variable("region") == plan.ground.region


@pytest.mark.parametrize(("level", "seconds"), [(None, 900), (Level.standard, 1500), (Level.full, 3600)])
def test_the_level_reaches_the_worker_with_its_time(plan, level, seconds):
    spec = of_stack(plan, Target.kubernetes, JobOptions(level=level, checkpoint_uri="s3://b/p"))
    assert (spec.level, spec.timeout_s) == (level.value if level else "quick", seconds)
    options = worker_options(spec, "kubernetes")
    assert options.level == spec.level and options.checks == LEVELS[spec.level]
    assert options.expect_adapters == (spec.fabric_interfaces if spec.nodes > 1 else 0)
    assert (
        of_stack(plan, Target.kubernetes, JobOptions(level=level, timeout=2, checkpoint_uri="s3://b/p")).timeout_s
        == 120
    )
