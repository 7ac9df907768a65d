"""What was decided once stays: nothing that lives moves for one person more, another pool, or an ended reservation."""

import shutil

import pytest
import yaml

from tests.change.changes import change, stack_file
from tests.shared import ROOT
from trainyard import catalog
from trainyard.plan.lock import Lock, lock_of, lock_path, lock_text, read_lock
from trainyard.plan.resolve import resolve_stack
from trainyard.problems import SettingsError
from trainyard.rehearsal.engine.project import stack_files, stack_of
from trainyard.rehearsal.rehearse import rehearse

EXAMPLES = ("demo", "large-aws", "uae-aws")
MOVES = (
    "aws:ec2/subnet:Subnet",
    "aws:ec2/natGateway:NatGateway",
    "aws:eks/cluster:Cluster",
    "aws:fsx/lustreFileSystem:LustreFileSystem",
    "aws:rds/instance:Instance",
)
REPLACING = {"subnetIds", "instanceTypes", "availabilityZone", "cidrBlock", "capacityType", "amiType"}


@pytest.fixture
def with_lock(tmp_path):
    """An example's stack file with other values of some keys, beside the example's lock."""

    def made(stack, **changes):
        shutil.copy(lock_path(ROOT / "stacks" / f"Pulumi.{stack}.yaml"), tmp_path)
        return stack_file(tmp_path, stack, **changes)

    return made


def of(stack, key):
    return yaml.safe_load((ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text())["config"][f"trainyard:{key}"]


def problems(file):
    with pytest.raises(SettingsError) as caught:
        resolve_stack(ROOT, file)
    return {problem.key: problem for problem in caught.value.problems}


@pytest.mark.parametrize("stack", EXAMPLES)
def test_the_examples_have_whole_locks(stack):
    resolved = resolve_stack(ROOT, stack)
    lock = read_lock(lock_path(ROOT / "stacks" / f"Pulumi.{stack}.yaml"))
    assert lock_of(resolved.plan) == lock
    assert lock_path(ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text() == lock_text(lock, stack)
    assert not resolved.warnings


@pytest.mark.parametrize("stack", EXAMPLES)
def test_without_the_lock_the_plan_is_the_same_today(stack, tmp_path):
    assert lock_of(resolve_stack(ROOT, stack_file(tmp_path, stack)).plan) == lock_of(resolve_stack(ROOT, stack).plan)


def test_a_lock_is_no_stack():
    stacks = [stack_of(file) for file in stack_files(ROOT / "stacks")]
    assert set(EXAMPLES) <= set(stacks)
    assert not [stack for stack in stacks if stack.endswith("lock")]


def moved(before, after):
    """What would be replaced, or go, of what lives."""
    found = change(before, after)
    replaced = {
        f"{name}: {key}" for name, keys in found.of("aws:eks/nodeGroup:NodeGroup").items() for key in keys & REPLACING
    }
    lives = {name for name, keys in found.of(*MOVES).items() if keys - {"tagsAll"}}
    return replaced | lives | {urn.rsplit("::", 1)[1] for urn in found.gone}


def test_one_person_more_moves_nothing(rehearsed, with_lock):
    teams = of("demo", "teams")
    teams[0]["members"] += 1
    after = rehearse(ROOT, with_lock("demo", teamSize=13, teams=teams))
    assert not after.errors
    assert not moved(rehearsed("demo"), after)


def test_a_pool_more_in_a_zone_that_is_there_moves_nothing(rehearsed, with_lock):
    pools = of("large-aws", "gpuPools")
    pools["more"] = {"instanceType": "p5.48xlarge", "onDemand": {"maxNodes": 2}}
    after = rehearse(ROOT, with_lock("large-aws", gpuPools=pools))
    assert not moved(rehearsed("large-aws"), after)
    assert any("pools.more" in warning for warning in after.logged_warnings), "and is to be locked"


def test_a_capacity_block_that_has_ended_takes_its_pool_alone(rehearsed, with_lock):
    pools = of("large-aws", "gpuPools")
    del pools["pretrain"]
    gone = moved(rehearsed("large-aws"), rehearse(ROOT, with_lock("large-aws", gpuPools=pools)))
    assert gone and all("pretrain" in name for name in gone), gone


def test_a_reservation_that_is_taken_out_moves_neither_pool_nor_file_system(rehearsed, with_lock):
    pools = of("large-aws", "gpuPools")
    del pools["train"]["reserved"]
    gone = moved(rehearsed("large-aws"), rehearse(ROOT, with_lock("large-aws", gpuPools=pools)))
    assert gone and all("train-reserved" in name for name in gone), gone


@pytest.mark.parametrize(
    "zones", [["us-east-1c", "us-east-1a", "us-east-1b"], ["us-east-1b", "us-east-1c", "us-east-1a"]]
)
def test_the_order_of_zones_says_nothing(zones, with_lock, tmp_path):
    plan = resolve_stack(ROOT, "demo").plan.ground.network
    assert resolve_stack(ROOT, with_lock("demo", network={"zones": zones})).plan.ground.network == plan
    lock_path(tmp_path / "Pulumi.demo.yaml").unlink()
    unlocked = resolve_stack(ROOT, stack_file(tmp_path, "demo", network={"zones": zones})).plan.ground.network
    assert unlocked.zones == plan.zones, "nor without a lock"


@pytest.mark.parametrize(
    ("stack", "changes", "key", "relock"),
    [
        ("demo", {"network": {"zones": ["us-east-1a", "us-east-1b"]}}, "network.zones", "zones"),
        ("demo", {"network": {"zones": [f"us-east-1{x}" for x in "abcd"]}}, "network.zones", "zones"),
        ("demo", {"network": {"cidr": "10.9.0.0/16"}}, "network.cidr", "network.cidr"),
        ("demo", {"network": {"serviceCidr": "172.21.0.0/16"}}, "network.serviceCidr", "network.serviceCidr"),
        ("demo", {"teamSize": 25, "teams": None}, "teamSize", "profile"),
        ("demo", {"profile": "large"}, "profile", "profile"),
        ("demo", {"kubernetesVersion": "1.36"}, "kubernetesVersion", "kubernetesVersion"),
        ("demo", {"aws": {"nodeRelease": "1.35.7-20260903"}}, "aws.nodeRelease", "nodeRelease"),
        (
            "demo",
            {"gpuPools": {"train": {"instanceType": "p5.48xlarge"}}},
            "gpuPools.train.instanceType",
            "pools.train",
        ),
        ("demo", {"gpuPools": {"train": {"gpu": "H100"}}}, "gpuPools.train.gpu", "pools.train"),
        ("demo", {"gpuPools": {"train": {"zone": "us-east-1a"}}}, "gpuPools.train.zone", "pools.train"),
        ("demo", {"gpuPools": {"tune": {"zone": "us-east-1b"}}}, "gpuPools.tune.zone", "pools.tune"),
        (
            "large-aws",
            {"storage": {"lustre": {"capacityGib": 21600}}},
            "storage.lustre.capacityGib",
            "lustre.capacityGib",
        ),
        ("large-aws", {"storage": {"lustre": {"zone": "us-west-2a"}}}, "storage.lustre.zone", "lustre.zone"),
        ("large-aws", {"storage": {"lustre": {"enabled": False}}}, "storage.lustre.enabled", "lustre"),
        ("demo", {"systemNodes": {"instanceTypes": ["m6i.xlarge"]}}, "systemNodes.instanceTypes", "nodeGroups.system"),
        (
            "demo",
            {"gpuPools": {"tune": {"spot": {"instanceTypes": []}}}},
            "gpuPools.tune.spot.instanceTypes",
            "nodeGroups.tune-spot",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_contradicts_the_lock_is_told_with_its_remedy(stack, changes, key, relock, with_lock):
    found = problems(with_lock(stack, **changes))
    assert key in found, found
    assert f"--relock {relock}`" in found[key].hint


def test_newer_pins_of_trainyard_are_for_new_environments(with_lock, monkeypatch):
    """A refreshed catalogue: another default version, a newer image, a zone that sells nothing any more."""
    before = resolve_stack(ROOT, "demo").plan
    monkeypatch.setattr("trainyard.catalog.default_kubernetes_version", lambda: ("1.36", "newer"))
    monkeypatch.setattr("trainyard.catalog.node_release", lambda version: (f"{version}.9-20270101", "newer"))
    offered = catalog.offered_zones

    def without_b(type_, region):
        return [zone for zone in offered(type_, region) if zone[-1] != "b"]

    monkeypatch.setattr("trainyard.catalog.offered_zones", without_b)
    after = resolve_stack(ROOT, with_lock("demo")).plan
    assert after.ground.network == before.ground.network
    assert after.ground.lustre == before.ground.lustre
    assert lock_of(after) == read_lock(lock_path(ROOT / "stacks" / "Pulumi.demo.yaml"))


@pytest.mark.parametrize("settings", [{}, {"kubernetesVersion": "1.34"}], ids=["default", "named"])
def test_a_version_that_no_new_environment_gets_stays_where_it_is(settings, with_lock, tmp_path):
    """Without its pins the next `up` would be an upgrade that nobody asked for."""
    file = with_lock("demo", **settings)
    other = read_lock(lock_path(file)).model_copy(
        update={"kubernetes_version": "1.34", "node_release": "1.34.9-20260625"}
    )
    lock_path(file).write_text(lock_text(other, "demo"))
    found = resolve_stack(ROOT, file)
    plan = found.plan
    assert plan.clusters[0].kubernetes_version == "1.34"
    (told,) = found.warnings
    assert "until 2026-12-02" in told
    assert "`trainyard upgrade demo --kubernetes 1.35`" in told
    control_plane = plan.ground.control_plane(plan.clusters[0].name)
    assert "v1.34.6-eksbuild.2" in [add_on.version for add_on in control_plane.add_ons]
    assert (control_plane.autoscaler_image_tag, control_plane.node_release) == ("v1.34.5", "1.34.9-20260625")
    assert lock_of(plan) == other
    lock_path(file).unlink()
    if settings:
        assert "must be one of 1.35, 1.36" in problems(file)["kubernetesVersion"].allowed


def test_a_locked_version_without_pins_is_refused_and_nothing_is_upgraded_by_the_way(with_lock):
    file = with_lock("demo")
    other = read_lock(lock_path(file)).model_copy(update={"kubernetes_version": "1.30", "node_release": None})
    lock_path(file).write_text(lock_text(other, "demo"))
    found = problems(file)["kubernetesVersion of the stack's lock"]
    assert "1.30" in found.got
    assert "1.34, 1.35, 1.36" in found.allowed


def test_a_release_is_of_the_version(tmp_path):
    file = stack_file(tmp_path, "demo", aws={"nodeRelease": "1.36.2-20260714"})
    assert "must be a release for Kubernetes 1.35" in problems(file)["aws.nodeRelease"].allowed
    file = stack_file(tmp_path, "demo", aws={"nodeRelease": "1.35.7-20260903"})
    assert lock_of(resolve_stack(ROOT, file).plan).node_release == "1.35.7-20260903"


def test_another_region_is_another_stack(with_lock):
    found = problems(with_lock("demo", region="us-west-2", gpuPools=None))
    assert "zones of another region" in found["region"].allowed


def test_what_the_settings_say_alike_is_no_contradiction(with_lock):
    same = {
        "network": {"cidr": "10.0.0.0/16", "zones": ["us-east-1c", "us-east-1b", "us-east-1a"]},
        "profile": "medium",
    }
    plan = resolve_stack(ROOT, with_lock("demo", **same)).plan
    assert plan.ground == resolve_stack(ROOT, "demo").plan.ground


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("version: 2\n", "version"),
        ("zones: []\n", "version"),
        ("[]\n", ""),
        ("version: 1\nzones: [{name: us-east-1a, slot: 9}]\n", "zones[0].slot"),
        ("version: 1\nzones: [{name: us-east-1a, slot: 1}, {name: us-east-1b, slot: 1}]\n", "zones"),
        ("version: 1\nzoness: []\n", "zoness"),
        ("version: 1\npools: {train: {zone: us-east-1a}}\n", "pools.train.instanceType"),
        ("version: 1\nnodeGroups: {train: us-east-1a}\n", "nodeGroups.train"),
    ],
)
def test_a_broken_lock_is_told_by_file_and_key(text, key, tmp_path):
    file = tmp_path / "Pulumi.demo.lock.yaml"
    file.write_text(text)
    with pytest.raises(SettingsError) as caught:
        read_lock(file)
    (problem,) = caught.value.problems
    assert problem.key.removeprefix("Pulumi.demo.lock.yaml").removeprefix(": ") == key


def test_no_lock_is_no_mistake(tmp_path):
    assert read_lock(tmp_path / "Pulumi.demo.lock.yaml") is None


def test_a_lock_of_nothing_is_written_and_read():
    assert Lock.model_validate(yaml.safe_load(lock_text(Lock(), "demo"))) == Lock()


def database_of(found):
    (made,) = (each for each in found.resources if each.type == "aws:rds/instance:Instance")
    return made.inputs


def test_a_database_is_restored_through_the_program(rehearsed, with_lock, tmp_path):
    """It stays the snapshot's when the line goes: the engine would else make an empty one in its place."""
    mlflow = {"database": {"restoreFrom": "acme-before-upgrade"}}
    file = with_lock("demo", mlflow=mlflow)
    before, after = database_of(rehearsed("demo")), database_of(rehearse(ROOT, file))
    assert "snapshotIdentifier" not in before
    assert after["snapshotIdentifier"] == "acme-before-upgrade"
    assert before["finalSnapshotIdentifier"] != after["finalSnapshotIdentifier"], "the last of the one before stays"
    lock = lock_of(resolve_stack(ROOT, file).plan)
    assert lock.restored_from == "acme-before-upgrade"
    kept = stack_file(tmp_path, "demo")
    lock_path(kept).write_text(lock_text(lock, "demo"))
    assert resolve_stack(ROOT, kept).plan.ground.database.restore_from == "acme-before-upgrade"
    lock_path(kept).write_text(lock_text(lock, "demo"))
    other = stack_file(tmp_path, "demo", mlflow={"database": {"restoreFrom": "another"}})
    assert "--relock restoredFrom`" in problems(other)["mlflow.database.restoreFrom"].hint


@pytest.mark.parametrize("name", ["-a", "a--b", "arn:aws:s3:::bucket", "a b", "rds:"])
def test_what_names_no_snapshot(name, tmp_path):
    file = stack_file(tmp_path, "demo", mlflow={"database": {"restoreFrom": name}})
    assert "snapshot of RDS" in problems(file)["mlflow.database.restoreFrom"].allowed


def test_a_renamed_team_is_told_for_what_it_is(with_lock):
    teams = of("demo", "teams")
    teams[0]["name"] = "seeing"
    (new, gone) = resolve_stack(ROOT, with_lock("demo", teams=teams)).warnings
    assert "teams.seeing" in new
    assert gone.startswith("team vision is in the stack's lock") and "nothing is renamed" in gone


def test_a_team_and_a_pool_that_go_are_told_before_they_do(with_lock):
    teams, pools = of("demo", "teams"), of("demo", "gpuPools")
    told = resolve_stack(
        ROOT, with_lock("demo", teams=teams[:2], gpuPools={**pools, "dev": {"enabled": False}})
    ).warnings
    assert [text.split(" is in")[0] for text in told] == ["team tabular", "pool dev"]
    assert "renamed" not in told[0]


def test_teams_that_stay_are_not_spoken_of(with_lock):
    teams = of("demo", "teams")
    assert resolve_stack(ROOT, with_lock("demo", teams=teams[::-1])).warnings == ()
    assert resolve_stack(ROOT, with_lock("demo", stage="account")).warnings == ()


def test_the_same_file_system_is_no_contradiction_and_a_person_more_does_not_grow_it(with_lock):
    before = resolve_stack(ROOT, "large-aws").plan.ground.lustre
    same = {"enabled": True, "capacityGib": 19200, "zone": "us-west-2c", "throughputMbpsPerTib": 500}
    assert resolve_stack(ROOT, with_lock("large-aws", storage={"lustre": same})).plan.ground.lustre == before
    teams = of("large-aws", "teams")
    teams[0]["members"] += 40
    grown = {"storage": {"lustre": {"throughputMbpsPerTib": 500}}, "teamSize": 80, "teams": teams}
    assert resolve_stack(ROOT, with_lock("large-aws", **grown)).plan.ground.lustre == before


def proof_teams(found):
    (cluster,) = found.plan.clusters
    return {job.name: job.team for job in cluster.smoke.jobs} | {"drill": cluster.drill.team if cluster.drill else ""}


def test_a_smoke_job_stays_with_its_team_while_quotas_move(with_lock):
    """One person less makes the teams' shares others: no job moves to another namespace, to run there again."""
    teams = of("demo", "teams")
    teams[0]["members"] -= 1
    found = resolve_stack(ROOT, with_lock("demo", teamSize=11, teams=teams))
    assert proof_teams(found) == proof_teams(resolve_stack(ROOT, "demo"))
    (told,) = found.warnings
    assert "train-reserved (vision, language could)" in told
    assert "`trainyard plan demo --relock proofTeams.train-reserved --relock" in told


def test_a_smoke_job_of_a_team_that_goes_finds_another_and_the_settings_team_wins(with_lock):
    teams = of("demo", "teams")
    gone = proof_teams(resolve_stack(ROOT, "demo"))["train-on-demand"]
    left = resolve_stack(ROOT, with_lock("demo", teams=[team for team in teams if team["name"] != gone]))
    assert gone not in proof_teams(left).values()
    assert any("proofTeams.train-on-demand" in warning for warning in left.warnings), "which the lock is to keep"
    asked = resolve_stack(ROOT, with_lock("demo", smoke={"team": "tabular"}))
    assert {job.team for job in asked.plan.clusters[0].smoke.jobs} == {"tabular"}
