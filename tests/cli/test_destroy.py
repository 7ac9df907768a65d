"""`trainyard destroy`, with programs that stand in for pulumi and kubectl, and moto for the account."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from typer.testing import CliRunner, Result

from tests.account.answers import REGION, aws
from tests.cli.test_way_in import Desk, out
from tests.fleet.fleets import pulumi, without_bastion
from tests.shared import ROOT
from tests.teardown.aws.test_prove import LACKING, seed_interface, seed_volume
from tests.teardown.states import exported
from trainyard.account import aws as account_aws
from trainyard.cli.main import app
from trainyard.recorded.types import LOG_GROUP
from trainyard.teardown.aws import end, log_groups
from trainyard.teardown.destroy import FOLDER

NO_JOBS = out({"items": []})
NOTHING_RUNS = {"patch": out(""), "get_workloads.kueue.x-k8s.io": NO_JOBS, "scale": out(""), "delete": out("")}


@pytest.fixture
def stack(rehearsed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the demo project with a state that stands, and a machine with kubectl alone on its path."""
    folder = tmp_path / "project"
    (folder / "stacks").mkdir(parents=True)
    shutil.copy(ROOT / "Pulumi.yaml", folder)
    shutil.copy(ROOT / "stacks" / "__main__.py", folder / "stacks")
    for file in (ROOT / "stacks").glob("Pulumi.demo*.yaml"):
        shutil.copy(file, folder / "stacks")
    without_bastion(folder / "stacks" / "Pulumi.demo.yaml")
    (tmp_path / "state-demo.json").write_text(json.dumps(without_texts(exported(rehearsed("demo")))))
    (tmp_path / "desk").mkdir()
    desk = Desk(tmp_path / "desk")
    desk.put("kubectl", **NOTHING_RUNS)
    monkeypatch.setenv("PATH", str(desk.bin))
    pulumi(tmp_path)
    return folder


def without_texts(state: dict[str, Any]) -> dict[str, Any]:
    """Nobody who ends an environment reads what ConfigMaps hold, which is most of a state's megabytes."""
    for each in state["deployment"]["resources"]:
        if each["type"] == "kubernetes:core/v1:ConfigMap":
            for side in ("inputs", "outputs"):
                each[side].pop("data", None)
    return state


@pytest.fixture(autouse=True)
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with aws(monkeypatch, LACKING) as found:
        monkeypatch.setattr(account_aws, "account_of", lambda *_: found)
        monkeypatch.setattr(log_groups, "LOOK_SECONDS", 0.0)
        yield


def run(stack: Path, *arguments: str, input: str | None = None) -> Result:
    whole = ["destroy", "demo", "--pulumi", str(stack.parent / "pulumi"), *arguments, "--project", str(stack)]
    return CliRunner().invoke(app, whole, input=input)


def calls(stack: Path) -> list[str]:
    path = stack.parent / "calls"
    return [line.split()[1] for line in path.read_text().splitlines()] if path.exists() else []


def deleted(stack: Path) -> list[str]:
    path = stack.parent / "deleted"
    return path.read_text().splitlines() if path.exists() else []


def left(stack: Path) -> list[Any]:
    return json.loads((stack.parent / "state-demo.json").read_text())["deployment"]["resources"]


def test_an_environment_ends_and_is_proven_gone(stack: Path) -> None:
    done = run(stack, "--yes")
    assert done.exit_code == 0, done.output
    assert "nothing is left that is paid for" in done.output
    assert calls(stack) == ["stack-export", "stack-output", "stack-export", "stack-import", "destroy"]
    assert left(stack) == []
    gone = deleted(stack)
    assert any("nodeGroup" in urn for urn in gone)
    assert not any("aws:s3/bucket:Bucket" in urn or "aws:kms/key:Key" in urn for urn in gone)
    verbs = [line[4] for line in desk_of(stack).asked]
    assert verbs[:3] == ["patch"] * 3
    assert set(verbs[4:]) == {"scale", "delete"}


def desk_of(stack: Path) -> Desk:
    found = Desk.__new__(Desk)
    found.bin, found.log = stack.parent / "desk" / "bin", stack.parent / "desk" / "log"
    return found


def test_queues_are_held_before_the_state_is_touched(stack: Path) -> None:
    (desk_of(stack).bin / "kubectl.answers").write_text(
        json.dumps({"patch": [{"rc": 1, "err": "Unable to connect to the server: i/o timeout"}]})
    )
    done = run(stack, "--yes")
    assert done.exit_code == 3
    assert "networks of apiAccess" in done.output
    assert calls(stack) == ["stack-export", "stack-output"]
    skipped = run(stack, "--yes", "--skip-freeze")
    assert skipped.exit_code == 0, skipped.output


def test_a_leftover_is_found_and_named_with_its_price(stack: Path) -> None:
    seed_volume()
    done = run(stack, "--yes", "--json", "-")
    assert done.exit_code == 1
    document = json.loads(done.stdout)
    assert (document["holds"], document["usd_a_month"]) == (False, 8.0)
    assert [each["kind"] for each in document["left"]] == ["volume"]
    told = run(stack, "--prove-only")
    assert told.exit_code == 1
    assert "aws ec2 delete-volume --volume-id vol-" in told.output
    ec2 = boto3.client("ec2", REGION)
    ec2.delete_volume(VolumeId=document["left"][0]["id"])
    again = run(stack, "--prove-only")
    assert again.exit_code == 0, again.output
    assert calls(stack).count("destroy") == 1, "a proof deletes nothing"


CONTROL_PLANE = "/aws/eks/acme-demo/cluster"


def make_log_groups(*names: str) -> None:
    for name in names:
        boto3.client("logs", REGION).create_log_group(logGroupName=name)


def log_groups_there() -> list[str]:
    return [each["logGroupName"] for each in boto3.client("logs", REGION).describe_log_groups()["logGroups"]]


def test_a_log_group_that_eks_made_again_is_gone_before_the_proof(stack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not tagged, and one of the stack's own names; what was there before, and somebody else's, stay."""
    history = "/aws/containerinsights/acme-demo/performance"
    make_log_groups(history)
    whole = end.sweep_log_groups

    def sweep(*arguments: Any) -> int:
        make_log_groups(CONTROL_PLANE, "/aws/eks/acme-demo-2/cluster")
        return whole(*arguments)

    with monkeypatch.context() as once:
        once.setattr(end, "sweep_log_groups", sweep)
        done = run(stack, "--yes")
    assert f"deleting log group {CONTROL_PLANE}, which a service made again" in done.output
    assert log_groups_there() == [history, "/aws/eks/acme-demo-2/cluster"]
    make_log_groups(CONTROL_PLANE)
    again = run(stack, "--yes")
    assert "the state is empty" in again.output
    assert f"deleting log group {CONTROL_PLANE}" in again.output, "the state before is known still"


def test_a_run_that_goes_on_knows_the_log_groups_of_what_the_one_before_deleted(stack: Path) -> None:
    (stack.parent / "fail-demo").touch()
    assert run(stack, "--yes").exit_code == 3
    (stack.parent / "fail-demo").unlink()
    path = stack.parent / "state-demo.json"
    state = json.loads(path.read_text())
    state["deployment"]["resources"] = [
        each for each in left(stack) if each["type"] not in ("aws:eks/cluster:Cluster", LOG_GROUP)
    ]
    path.write_text(json.dumps(state))
    (stack / FOLDER / "demo" / "before-20260101T000000000000Z.json").touch()  # killed as Pulumi wrote it
    make_log_groups(CONTROL_PLANE)
    again = run(stack, "--yes")
    assert f"deleting log group {CONTROL_PLANE}" in again.output


def test_an_end_of_weeks_ago_says_nothing_of_the_log_groups_of_today(stack: Path) -> None:
    """A cluster of the same name that somebody else made since then."""
    assert run(stack, "--yes").exit_code == 0
    (before,) = (stack / FOLDER / "demo").glob("before-*.json")
    before.rename(before.with_name("before-20260101T000000000000Z.json"))
    make_log_groups(CONTROL_PLANE)
    assert "the state is empty" in run(stack, "--yes").output
    assert log_groups_there() == [CONTROL_PLANE]


def test_what_was_kept_is_known_to_a_later_proof(stack: Path) -> None:
    bucket = next(
        each["id"] for each in left(stack) if each["type"] == "aws:s3/bucket:Bucket" and "-data-" in each["id"]
    )
    s3 = boto3.client("s3", REGION)
    s3.create_bucket(Bucket=bucket)
    s3.put_object(Bucket=bucket, Key="k", Body=b"x" * 10)
    assert run(stack, "--prove-only").exit_code == 1, "before: a bucket of ours, and nobody said that it stays"
    assert run(stack, "--yes").exit_code == 0
    proof = run(stack, "--prove-only", "--json", "-")
    assert proof.exit_code == 0
    assert [each["id"] for each in json.loads(proof.stdout)["left"] if each["kept"]] == [bucket]


def test_a_failure_in_the_middle_is_told_and_the_next_run_goes_on(stack: Path) -> None:
    (stack.parent / "fail-demo").touch()
    done = run(stack, "--yes")
    assert done.exit_code == 3
    assert "update failed: quota" in done.output
    assert left(stack)
    (stack.parent / "fail-demo").unlink()
    again = run(stack, "--yes")
    assert again.exit_code == 0, again.output
    assert left(stack) == []
    assert len(deleted(stack)) == len(set(deleted(stack))), "nothing twice"


def test_interfaces_that_nodes_left_are_swept_and_it_is_tried_once_more(
    stack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They hold their subnet: without them gone, every `pulumi destroy` ends there."""
    seed_interface()
    seed_interface([{"Key": "cluster.k8s.amazonaws.com/name", "Value": "somebody-elses"}])
    failing = stack.parent / "fail-demo"
    failing.touch()
    swept = end.sweep_interfaces

    def sweep(*arguments: Any) -> int:
        failing.unlink(missing_ok=True)
        return swept(*arguments)

    monkeypatch.setattr(end, "sweep_interfaces", sweep)
    done = run(stack, "--yes")
    assert done.exit_code == 0, done.output
    assert calls(stack).count("destroy") == 2
    there = boto3.client("ec2", REGION).describe_network_interfaces()["NetworkInterfaces"]
    assert [each["TagSet"][0]["Value"] for each in there] == ["somebody-elses"]


def test_credentials_that_are_over_at_the_end_prove_nothing(stack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from trainyard.teardown.aws import prove

    def over(*_: Any) -> Any:
        raise account_aws.NoCredentialsError("AWS does not take the credentials: ExpiredToken", account_aws.LOG_IN)

    monkeypatch.setattr(prove, "prove", over)
    done = run(stack, "--yes")
    assert done.exit_code == 1
    assert "--prove-only" in done.output
    assert left(stack) == []


def test_what_is_kept_is_asked_for_by_name(stack: Path) -> None:
    done = run(stack, "--yes", "--keep", "data")
    assert done.exit_code == 0, done.output
    buckets = [urn for urn in deleted(stack) if "aws:s3/bucket:Bucket" in urn]
    assert [urn.rpartition("::")[2] for urn in buckets] == ["acme-demo-artifacts"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--keep", "dat"), "did you mean data?"),
        (("--keep", ""), "must be of data, artifacts, tracking, homes"),
        (("--pulumi", "no-such-pulumi", "--yes"), "https://www.pulumi.com/docs/install"),
        ((), "--yes ends the stack without"),
    ],
)
def test_what_cannot_begin_is_told(stack: Path, arguments: tuple[str, ...], said: str) -> None:
    done = run(stack, *arguments)
    assert done.exit_code == 2
    assert said in " ".join(done.output.split())
    assert "destroy" not in calls(stack)


@pytest.mark.parametrize(("typed", "code"), [("demo", 0), ("dmo", 2), ("", 2)])
def test_a_person_types_the_stacks_name(stack: Path, monkeypatch: pytest.MonkeyPatch, typed: str, code: int) -> None:
    monkeypatch.setattr("trainyard.cli.destroy.is_asked", lambda: True)
    done = run(stack, input=f"{typed}\n")
    assert done.exit_code == code, done.output
    assert "deleted, in this order" in done.output
    assert ("destroy" in calls(stack)) is (code == 0)


def test_a_dry_run_tells_and_changes_nothing(stack: Path) -> None:
    before = (stack.parent / "state-demo.json").read_text()
    done = run(stack, "--dry-run", "--keep", "none")
    assert done.exit_code == 0, done.output
    text = done.output
    assert text.index("stopped first") < text.index("stays") < text.index("lost with what it holds")
    assert "acme-demo-data" in text.partition("lost with what it holds")[2]
    order = text.partition("deleted, in this order")[2]
    assert order.index("NodeGroup") < order.index("Vpc")
    assert calls(stack) == ["stack-export"]
    assert (stack.parent / "state-demo.json").read_text() == before


def test_without_credentials_nothing_begins(stack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> Any:
        raise account_aws.NoCredentialsError("there are no AWS credentials", account_aws.LOG_IN)

    monkeypatch.setattr(account_aws, "account_of", lambda *_: account_aws.Account(REGION, nobody))
    done = run(stack, "--yes")
    assert done.exit_code == 2
    assert "AWS_PROFILE" in done.output
    assert calls(stack) == []


def test_notes_are_their_owners_alone(stack: Path) -> None:
    run(stack, "--yes")
    folder = stack / FOLDER / "demo"
    assert folder.stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.glob("*.json"))


def test_a_kill_leaves_pulumi_to_its_end_and_the_next_run_waits(stack: Path) -> None:
    pulumi(stack.parent, seconds=0.7)
    child = os.fork()
    if child == 0:
        run(stack, "--yes")
        os._exit(0)
    while "destroy" not in calls(stack):
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert left(stack), "it is still at it"
    pulumi(stack.parent)
    done = run(stack, "--yes")
    assert done.exit_code == 0, done.output
    assert "the state is empty" in done.output, "it waited for the first"
    assert calls(stack).count("destroy") == 1
