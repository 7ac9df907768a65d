"""`trainyard upgrade --run`: step by step, once each, whatever fails or is killed meanwhile."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.account.answers import aws, refusal
from tests.upgrade.standing import ADD_ONS, QUEUES, Standing, workload
from trainyard.account import aws as account_aws
from trainyard.upgrade import legs as legs_module
from trainyard.upgrade import queues as queues_module
from trainyard.upgrade import run as run_module

OPEN = dict.fromkeys(QUEUES, "None")
HELD = {name: "None" if name.endswith("smoke") else "Hold" for name in QUEUES}
TO = ("--kubernetes", "1.36", "--run")
UPGRADED = ("1.36", "1.36.2-20260714")


@pytest.fixture
def stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Standing]:
    """Demo as it stands at 1.34. What each leg does to it is another module's: here nothing is rehearsed."""
    monkeypatch.setattr(legs_module, "legs", lambda *_: iter(()))
    monkeypatch.setattr(queues_module, "LOOK_AGAIN_SECONDS", 0.01)
    found = Standing(tmp_path, "1.34", "1.34.9-20260625")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with aws(monkeypatch, {key: partial(found.answer, key) for key in found.offered}) as account:
        monkeypatch.setattr(account_aws, "account_of", lambda *_: account)
        yield found


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_without_run_nothing_is_touched(stack: Standing, options: tuple[str, ...]) -> None:
    done = stack.run("--kubernetes", "1.36", *options)
    assert done.exit_code == 0, done.output
    assert "write Kubernetes 1.35, nodes 1.35.6-20260714 into the stack's lock" in done.output
    assert (stack.calls, stack.versions, stack.queues) == ([], ("1.34", "1.34.9-20260625"), OPEN)
    assert not (stack.project / run_module.FOLDER / "demo" / "upgrade.json").exists()


@pytest.mark.parametrize("other", ["--run", "--release"])
def test_a_dry_run_does_nothing_else(stack: Standing, other: str) -> None:
    done = stack.run("--kubernetes", "1.36", "--dry-run", other)
    assert (done.exit_code, f"and {other} does" in done.output) == (2, True), done.output
    assert (stack.calls, stack.versions, stack.queues) == ([], ("1.34", "1.34.9-20260625"), OPEN)


def test_each_minor_version_comes_by_an_up_of_its_own_between_hold_and_release(stack: Standing) -> None:
    done = stack.run(*TO)
    assert done.exit_code == 0, done.output
    assert stack.calls == ["preview", "stack-output", "up", "up"]
    assert stack.versions == UPGRADED
    assert stack.queues == OPEN
    asked = (stack.folder / "asked").read_text().splitlines()
    assert sum("apply" in line for line in asked) == 4, "two queues held and let go, those of smoke jobs never"
    assert "commit Pulumi.demo.lock.yaml" in done.output
    again = stack.run(*TO)
    assert "nothing to upgrade" in again.output
    assert len(stack.calls) == 4


def test_queues_are_held_while_pulumi_runs_and_smoke_jobs_still_come_in(stack: Standing) -> None:
    stack.failing("up")
    done = stack.run(*TO)
    assert done.exit_code == 3
    assert "the queues stay held; the same command goes on from here" in done.output
    assert stack.queues == HELD
    assert stack.versions == ("1.35", "1.35.6-20260714"), "one minor version at a time"


def test_the_same_command_goes_on_where_it_failed(stack: Standing) -> None:
    stack.failing("up")
    stack.run(*TO)
    stack.failing("up", fails=False)
    done = stack.run("--run")
    assert done.exit_code == 0, done.output
    assert stack.calls == ["preview", "stack-output", "up", "up", "up", "stack-output"]
    assert (stack.versions, stack.queues) == (UPGRADED, OPEN)


def test_json_says_how_far_each_step_came(stack: Standing) -> None:
    stack.failing("up")
    done = stack.run(*TO, "--json", "-")
    assert done.exit_code == 3
    steps = {(each["kind"], each["state"]) for each in json.loads(done.stdout)["steps"]}
    assert {("wait", "done"), ("up", "running"), ("release", "waiting")} <= steps


def test_an_upgrade_under_way_goes_nowhere_else(stack: Standing) -> None:
    stack.failing("up")
    stack.run(*TO)
    done = stack.run("--kubernetes", "1.35")
    assert done.exit_code == 2
    assert "an upgrade to Kubernetes 1.36, nodes 1.36.2-20260714 is under way" in done.output


def test_jobs_that_run_are_waited_for(stack: Standing) -> None:
    job = workload("team-vision/default", "QuotaReserved", "Admitted")
    proof = workload("team-vision/smoke", "QuotaReserved", name="smoke-x")
    ended = workload("team-vision/default", "QuotaReserved", "Finished", name="old")
    waiting = workload("team-vision/default", name="next")
    stack.cluster(workloads=[[job, proof, ended, waiting], [job], [proof, ended, waiting]])
    done = stack.run(*TO)
    assert done.exit_code == 0, done.output
    assert "waiting for 1 job to end: team-vision/run" in done.output


def test_jobs_that_do_not_end_stop_it_and_the_next_call_waits_on(stack: Standing) -> None:
    job = workload("team-vision/default", "QuotaReserved", "Admitted")
    stack.cluster(workloads=[[job]] * 4)
    done = stack.run(*TO, "--wait-minutes", "0")
    assert done.exit_code == 3
    assert "there still run team-vision/run" in done.output
    assert (stack.queues, stack.versions[0]) == (HELD, "1.34")
    assert "up" not in stack.calls
    stack.cluster(workloads=[[job], []])
    evicted = stack.run("--run", "--evict")
    assert evicted.exit_code == 0, evicted.output
    assert stack.versions == UPGRADED
    assert any("HoldAndDrain" in line for line in stack.applied)


def test_release_gives_up_and_lets_the_queues_go(stack: Standing) -> None:
    stack.failing("up")
    stack.run(*TO)
    done = stack.run("--release")
    assert done.exit_code == 0, done.output
    assert stack.queues == OPEN
    assert "put it back if they are not wanted" in done.output
    assert "no upgrade of demo is under way" in stack.run("--release").output


def test_what_others_hold_stays_held(stack: Standing) -> None:
    own = {**QUEUES, "team-vision/default": ["HoldAndDrain", "trainyard-budget-keeper"]}
    stack.cluster(queues=own)
    assert stack.run(*TO).exit_code == 0
    assert stack.queues == {**OPEN, "team-vision/default": "HoldAndDrain"}


def test_a_stack_that_is_not_as_its_program_says_is_not_upgraded_by_the_way(stack: Standing) -> None:
    stack.failing("preview")
    done = stack.run(*TO)
    assert done.exit_code == 3
    assert "--with-changes to bring it all along" in done.output
    assert (stack.queues, stack.versions[0]) == (OPEN, "1.34")
    assert "say where to" in stack.run("--run").output, "nothing was begun"
    assert stack.run(*TO, "--with-changes").exit_code == 0
    assert stack.versions == UPGRADED


@pytest.mark.parametrize(
    ("operation", "answer", "told"),
    [
        ("eks.DescribeAddonVersions", {"addons": []}, "coredns v1.14.2-eksbuild.4: EKS does not offer it"),
        ("eks.DescribeClusterVersions", {"clusterVersions": [{"clusterVersion": "1.35"}]}, "EKS offers no 1.36"),
    ],
)
def test_what_eks_does_not_sell_is_told_before_anything_is_touched(
    stack: Standing, operation: str, answer: Any, told: str
) -> None:
    stack.offered[operation] = answer
    done = stack.run(*TO)
    assert done.exit_code == 3
    assert told in done.output
    assert (stack.queues, stack.versions[0], stack.calls) == (OPEN, "1.34", [])


def test_whoever_may_not_ask_eks_is_told_so_and_goes_on(stack: Standing) -> None:
    stack.offered[ADD_ONS] = refusal("AccessDeniedException", "no eks:DescribeAddonVersions")
    done = stack.run(*TO)
    assert done.exit_code == 0, done.output
    assert "not asked: " in done.output


def test_a_cluster_that_does_not_answer_stops_it_before_anything_is_changed(stack: Standing) -> None:
    stack.cluster(down=True)
    done = stack.run(*TO)
    assert done.exit_code == 3
    assert "networks of apiAccess" in done.output
    assert stack.versions[0] == "1.34"


def test_an_up_that_ended_well_under_a_keeper_is_not_run_again(stack: Standing) -> None:
    """Whoever called it was killed: the ledger says running, the keeper left how it ended."""
    stack.failing("up")
    stack.run("--kubernetes", "1.35", "--run")
    ledger = stack.project / run_module.FOLDER / "demo" / "upgrade.json"
    begun = json.loads(ledger.read_text())["begun"]
    (ledger.parent / f"up-{begun}-1.35.code").write_text("0")
    before = stack.calls.count("up")
    done = stack.run("--run")
    assert done.exit_code == 0, done.output
    assert stack.calls.count("up") == before
    assert stack.queues == OPEN


def test_the_images_of_the_nodes_alone(stack: Standing) -> None:
    assert stack.run("--node-image", "1.34.11-20260901", "--run").exit_code == 0
    assert stack.versions == ("1.34", "1.34.11-20260901")
    assert stack.calls == ["preview", "stack-output", "up"]


def test_a_lock_is_asked_for_and_settings_do_not_hold_a_version(stack: Standing) -> None:
    text = (stack.project / "stacks" / "Pulumi.demo.yaml").read_text()
    (stack.project / "stacks" / "Pulumi.demo.yaml").write_text(
        text.replace("config:\n", 'config:\n  trainyard:kubernetesVersion: "1.34"\n', 1)
    )
    done = stack.run(*TO)
    assert done.exit_code == 2
    assert "take the key out" in done.output
    (stack.project / "stacks" / "Pulumi.demo.yaml").write_text(text)
    stack.lock.unlink()
    done = stack.run(*TO)
    assert done.exit_code == 2
    assert "trainyard plan demo --lock" in done.output


@pytest.mark.parametrize(
    "text", ["[]", '{"layout": 9}', '{"layout": 1, "begun": "x", "tries": 0, "held": [], "steps": [1]}']
)
def test_a_file_that_is_no_ledger_is_told(stack: Standing, text: str) -> None:
    folder = stack.project / run_module.FOLDER / "demo"
    folder.mkdir(parents=True)
    (folder / "upgrade.json").write_text(text)
    done = stack.run(*TO)
    assert done.exit_code == 2
    assert "take it away to begin anew" in done.output


def test_a_lock_keeps_all_else_that_was_decided(stack: Standing) -> None:
    before = stack.lock.read_text()
    stack.lock.chmod(0o644)
    stack.run(*TO)
    after = stack.lock.read_text()
    changed = [line for line in before.splitlines() if line not in after.splitlines()]
    assert changed == ["kubernetesVersion: '1.34'", "nodeRelease: 1.34.9-20260625"]
    assert stack.lock.stat().st_mode & 0o777 == 0o644
