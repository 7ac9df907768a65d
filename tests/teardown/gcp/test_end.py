"""The end of a stack on Google Cloud, with programs that stand in for gcloud, kubectl and pulumi."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.cli.test_destroy import NOTHING_RUNS
from tests.cli.test_way_in import Desk, out
from tests.fleet.fleets import pulumi
from tests.shared import ROOT
from tests.teardown.states import exported
from tests.teardown.test_state import ended
from trainyard.account.gcp import CannotAskError
from trainyard.cli.main import app
from trainyard.recorded.types import CLOUD_SQL, FILESTORE
from trainyard.teardown.cloud import LiftError
from trainyard.teardown.gcp.end import GcpEnd
from trainyard.teardown.kinds import GROUPS
from trainyard.teardown.state import State, ending, group_of

PROTECTED = {"settings": {"deletionProtectionEnabled": True, "retainBackupsOnDelete": True}}
PROJECT = out({"projectId": "acme-ml"})
DONE = out("")
ABSENT = {"rc": 1, "err": "ERROR: NOT_FOUND: Resource was not found"}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    (tmp_path / "desk").mkdir()
    found = Desk(tmp_path / "desk")
    monkeypatch.setenv("PATH", str(found.bin))
    return found


@pytest.fixture
def state(rehearsed) -> State:
    return State(exported(rehearsed("demo-gcp")))


def unprotect(state: State, keep: tuple[Any, ...]) -> list[str]:
    told: list[str] = []
    GcpEnd("acme-ml").unprotect(state, keep, told.append)
    return told


def changes(desk: Desk) -> list[list[str]]:
    """What gcloud was asked to change, without the flags that every command has."""
    return [
        [word for word in line[1:] if word not in ("--quiet", "--project=acme-ml")]
        for line in desk.asked
        if "describe" not in line
    ]


def test_a_database_that_is_to_stay_leaves_a_backup_before_anything_lets_go(desk: Desk, state: State) -> None:
    desk.put("gcloud", describe=out(PROTECTED), create=DONE, patch=DONE)
    (database,) = state.of(CLOUD_SQL)
    name = database["id"]
    assert unprotect(state, GROUPS) == [f"backing up database {name}", f"lifting the protection of database {name}"]
    backup, patch = changes(desk)
    assert backup[:4] == ["sql", "backups", "create", f"--instance={name}"]
    assert patch == ["sql", "instances", "patch", name, "--no-deletion-protection"]


def test_one_that_is_given_up_leaves_none(desk: Desk, state: State) -> None:
    desk.put("gcloud", describe=out(PROTECTED), patch=DONE)
    unprotect(state, ("data",))
    (patch,) = changes(desk)
    assert patch[4:] == ["--no-deletion-protection", "--no-retain-backups-on-delete"]


def test_backups_outlive_a_database_that_is_to_stay_whatever_somebody_set(desk: Desk, state: State) -> None:
    desk.put("gcloud", describe=out({"settings": {}}), create=DONE, patch=DONE)
    unprotect(state, ("tracking",))
    assert changes(desk)[1][4:] == ["--retain-backups-on-delete"]


def test_one_that_is_gone_already_is_left_alone_and_an_answer_that_is_none_stops(desk: Desk, state: State) -> None:
    desk.put("gcloud", describe={"rc": 1, "err": "ERROR: (gcloud.sql.instances.describe) HTTPError 404: not found"})
    assert unprotect(state, GROUPS) == []
    desk.put("gcloud", describe={"rc": 1, "err": "ERROR: PERMISSION_DENIED: cloudsql.instances.get"})
    with pytest.raises(CannotAskError, match="PERMISSION_DENIED"):
        unprotect(state, GROUPS)


@pytest.fixture
def files(rehearsed) -> State:
    """Of large-gcp, which has a share and scratch space."""
    return State(exported(rehearsed("large-gcp")))


def test_shared_files_that_are_to_stay_leave_a_backup_and_those_that_are_not_none(desk: Desk, files: State) -> None:
    (share,) = files.of(FILESTORE)
    name = str(share["id"]).rpartition("/")[2]
    found = out({"settings": {}})
    desk.put("gcloud", backups_describe=ABSENT, describe=found, create=DONE, update=DONE, patch=DONE)
    told = unprotect(files, ("homes",))
    assert told == [
        *(each for each in told if "database" in each),
        f"backing up shared files {name}",
        f"lifting the protection of shared files {name}",
    ]
    backup, update = [line for line in changes(desk) if line[0] == "filestore"]
    assert backup[:4] == ["filestore", "backups", "create", f"{name}-end"] and f"--instance={name}" in backup
    assert update[:4] == ["filestore", "instances", "update", name] and "--no-deletion-protection" in update
    desk.put("gcloud", describe=out({"settings": {}}), update=DONE, patch=DONE)
    assert "backing up" not in " ".join(unprotect(files, ("data",)))


def backed_up(state: str, made: str = "2026-11-26T04:00:00.5Z") -> dict[str, str]:
    return out({"state": state, "createTime": made})


MADE = out({"settings": {}, "createTime": "2026-11-01T00:00:00Z"})


def test_a_backup_that_a_run_before_has_made_is_not_made_again(
    desk: Desk, files: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainyard.teardown.gcp.end.ASK_EVERY_SECONDS", 0)
    ready = [backed_up("CREATING"), backed_up("FINALIZING"), backed_up("READY")]
    desk.put("gcloud", backups_describe=ready, describe=MADE, update=DONE, patch=DONE)
    told = unprotect(files, ("homes",))
    assert [each.rpartition(" ")[2] for each in told if "waiting" in each] == ["CREATING"]
    assert [each for each in told if "of 2026-11-26T04:00:00.5Z stays" in each]
    assert not [line for line in changes(desk) if "create" in line]


@pytest.mark.parametrize(
    ("backup", "said"),
    [
        (backed_up("READY", "2026-10-01T00:00:00Z"), "of an earlier share of this name"),
        (backed_up("INVALID"), "is INVALID; `gcloud filestore backups delete"),
    ],
)
def test_a_backup_that_holds_other_files_or_none_lets_nothing_go(
    desk: Desk, files: State, backup: dict[str, str], said: str
) -> None:
    desk.put("gcloud", backups_describe=backup, describe=MADE, patch=DONE)
    with pytest.raises(LiftError, match=said):
        unprotect(files, ("homes",))
    assert not [line for line in changes(desk) if line[0] == "filestore"]


def test_what_becomes_of_file_systems_is_told(files: State) -> None:
    kept = ending(files, GROUPS)
    assert [each.kind for each in kept.kept if "Filestore" in each.kind] == ["Filestore backup"]
    assert [line for line in kept.lost if "scratch" in line]
    given_up = State(ending(files, ("data",)).state)
    (share,) = given_up.of(FILESTORE)
    assert share["inputs"]["deletionProtectionEnabled"] is False


def test_without_its_backup_nothing_lets_go(desk: Desk, state: State) -> None:
    desk.put("gcloud", describe=out(PROTECTED), create={"rc": 1, "err": "ERROR: operation in progress"})
    with pytest.raises(LiftError, match="operation in progress"):
        unprotect(state, GROUPS)
    assert [line[2] for line in changes(desk)] == ["create"]


@pytest.fixture
def stack(desk: Desk, state: State, tmp_path: Path) -> Path:
    """A copy of the project with a state of demo-gcp that stands."""
    folder = tmp_path / "project"
    (folder / "stacks").mkdir(parents=True)
    shutil.copy(ROOT / "Pulumi.yaml", folder)
    shutil.copy(ROOT / "stacks" / "__main__.py", folder / "stacks")
    for file in (ROOT / "stacks").glob("Pulumi.demo-gcp*.yaml"):
        shutil.copy(file, folder / "stacks")
    (tmp_path / "state-demo-gcp.json").write_text(json.dumps(state.exported))
    desk.put("kubectl", **NOTHING_RUNS)
    pulumi(tmp_path)
    return folder


def run(stack: Path, *arguments: str) -> Result:
    whole = ["destroy", "demo-gcp", "--pulumi", str(stack.parent / "pulumi"), *arguments, "--project", str(stack)]
    return CliRunner().invoke(app, whole)


def listed(*assets: Any) -> dict[str, str]:
    return out(list(assets))


def answers(**more: Any) -> dict[str, Any]:
    settled = {"projects_describe": PROJECT, "instances_describe": out(PROTECTED), "create": DONE, "patch": DONE}
    return {**settled, "search__all__resources": listed(), **more}


def test_an_environment_ends_and_is_proven_gone(stack: Path, desk: Desk) -> None:
    desk.put("gcloud", **answers())
    done = run(stack, "--yes")
    assert done.exit_code == 0, done.output
    assert "demo-gcp: nothing is left that is paid for" in done.output
    gone = (stack.parent / "deleted").read_text()
    assert "gcp:container/nodePool" in gone and "gcp:sql/databaseInstance" in gone
    assert not any(kind in gone for kind in ("gcp:storage/bucket:", "gcp:kms/cryptoKey:", "gcp:sql/user"))
    verbs = [line[4] for line in desk.asked if line[0] == "kubectl"]
    assert verbs[:2] == ["patch"] * 2, "queues are held first"


def test_the_key_and_the_backup_of_what_stays_are_no_leftovers(stack: Path, desk: Desk, state: State) -> None:
    (database,) = state.of(CLOUD_SQL)
    key = next(each for each in state.of("gcp:kms/cryptoKey:*") if "data" in each["urn"])
    run_of = f"projects/acme-ml/instances/{database['id']}/backupRuns/17"
    version = f"{key['id']}/cryptoKeyVersions/1"
    backup = {"name": f"//cloudsql.googleapis.com/{run_of}", "assetType": "sqladmin.googleapis.com/BackupRun"}
    opens = {
        "name": f"//cloudkms.googleapis.com/{version}",
        "assetType": "cloudkms.googleapis.com/CryptoKeyVersion",
        "state": "ENABLED",
    }
    desk.put("gcloud", **answers(search__all__resources=listed(backup, opens)))
    done = run(stack, "--yes", "--json", "-")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert {each["id"]: each["kept"] for each in document["left"]} == {"17": True, "1": True}
    (stack.parent / "project" / ".trainyard-destroy" / "demo-gcp" / "kept.json").unlink()
    owed = run(stack, "--prove-only", "--json", "-")
    assert owed.exit_code == 1
    assert "17" in {each["id"] for each in json.loads(owed.stdout)["left"] if not each["kept"]}


def test_nobody_to_ask_as_ends_before_anything_begins(stack: Path, desk: Desk) -> None:
    done = run(stack, "--yes")
    assert done.exit_code == 2
    assert "gcloud is not on the path" in done.output
    assert not (stack.parent / "calls").exists()


def test_a_dry_run_tells_what_stays_and_the_order_and_asks_no_cloud(stack: Path, desk: Desk) -> None:
    done = run(stack, "--dry-run", "--keep", "data")
    assert done.exit_code == 0, done.output
    stays = done.output.partition("\nstays\n")[2].partition("\nlost")[0]
    assert "Bucket " in stays and "CryptoKey " in stays
    order = done.output.partition("deleted, in this order")[2]
    assert order.index("NodePool") < order.index("KeyRing")
    assert not (stack.parent / "deleted").exists()
    assert desk.asked == []


@pytest.fixture
def managed(rehearsed) -> State:
    return State(exported(rehearsed("small-gcp")))


def before(state: State) -> list[str]:
    told: list[str] = []
    GcpEnd("hooli-research").before(state, GROUPS, told.append)
    return told


def test_jobs_and_editors_of_managed_training_end_before_what_they_stand_in(desk: Desk, managed: State) -> None:
    template = next(each for each in managed.made if "runtimeTemplate" in each["type"])
    runtimes = [
        {"name": "projects/1/locations/us-central1/notebookRuntimes/7", "displayName": "lab", "runtimeUser": "ann@x",
         "notebookRuntimeTemplateRef": {"notebookRuntimeTemplate": template["id"]}},
        {"name": "projects/1/locations/us-central1/notebookRuntimes/8",
         "notebookRuntimeTemplateRef": {"notebookRuntimeTemplate": "projects/1/x/9"}},
    ]  # fmt: skip
    jobs = [
        {"name": "projects/1/locations/us-central1/customJobs/3", "displayName": "night",
         "jobSpec": {"serviceAccount": managed.of("gcp:serviceaccount/account:*")[0]["outputs"]["email"]}},
        {"name": "projects/1/locations/us-central1/customJobs/4", "jobSpec": {"serviceAccount": "another@x"}},
    ]  # fmt: skip
    studies = [
        {"name": "projects/1/locations/us-central1/hyperparameterTuningJobs/5", "displayName": "sweep",
         "trialJobSpec": jobs[0]["jobSpec"]},
    ]  # fmt: skip
    listed = {"hp__tuning__jobs_list": out(studies), "custom__jobs_list": out(jobs), "runtimes_list": out(runtimes)}
    desk.put("gcloud", **listed, cancel=DONE, delete=DONE)
    assert before(managed) == ["cancelling job sweep", "cancelling job night", "deleting editor lab of ann@x"]
    ended = [line[1:5] for line in desk.asked if "list" not in line]
    assert ended == [
        ["ai", "hp-tuning-jobs", "cancel", "projects/1/locations/us-central1/hyperparameterTuningJobs/5"],
        ["ai", "custom-jobs", "cancel", "projects/1/locations/us-central1/customJobs/3"],
        ["colab", "runtimes", "delete", "projects/1/locations/us-central1/notebookRuntimes/7"],
    ]


def test_where_there_are_clusters_nothing_of_managed_training_is_asked(desk: Desk, state: State) -> None:
    assert before(state) == [] and desk.asked == []


def test_runs_of_managed_training_stay_with_their_key(managed: State) -> None:
    groups = {each["type"]: group_of(each) for each in managed.made if "vertex" in each["type"]}
    assert groups == {
        "gcp:vertex/aiTensorboard:AiTensorboard": "tracking",
        "gcp:vertex/aiMetadataStore:AiMetadataStore": "tracking",
    }
    after, found = ended(managed, *GROUPS)
    assert found.lost == ()
    for pattern in ("gcp:vertex/aiTensorboard:*", "gcp:vertex/aiMetadataStore:*"):
        (kept,) = after.of(pattern)
        assert kept["retainOnDelete"]
        assert all(
            each["retainOnDelete"] for each in after.needed_by(kept) if each["type"] == "gcp:kms/cryptoKey:CryptoKey"
        )
    without, _ = ended(managed, "data")
    assert not without.of("gcp:vertex/aiTensorboard:*")[0]["retainOnDelete"]


SUBNET = "https://www.googleapis.com/compute/v1/projects/hooli-research/regions"


def address(name: str, subnetwork: str) -> dict[str, str]:
    return {"name": name, "subnetwork": f"{SUBNET}/{subnetwork}"}


@pytest.fixture
def served(managed: State) -> State:
    """With a tracking server on Cloud Run, as it stood before the end."""
    urn = "urn:pulumi:small-gcp::trainyard::gcp:cloudrunv2/service:Service::tracking-server-service"
    service = {
        "urn": urn, "custom": True, "type": "gcp:cloudrunv2/service:Service", "outputs": {},
        "id": "projects/hooli-research/locations/us-central1/services/hooli-research-mlflow",
        "inputs": {"location": "us-central1", "name": "hooli-research-mlflow"},
    }  # fmt: skip
    managed.exported["deployment"]["resources"].append(service)
    return State(managed.exported)


def swept(state: State, monkeypatch: pytest.MonkeyPatch, seconds: int = 9000) -> tuple[int, list[str]]:
    monkeypatch.setattr("trainyard.teardown.gcp.end.ASK_OF_ADDRESSES_SECONDS", 0)
    monkeypatch.setattr("trainyard.teardown.gcp.end.HELD_SECONDS", seconds)
    told: list[str] = []
    return GcpEnd("hooli-research").sweep(state, told.append), told


def own_subnet(state: State) -> str:
    return str(state.of("gcp:compute/subnetwork:Subnetwork")[0]["id"]).partition("/regions/")[2]


def test_addresses_that_cloud_run_holds_are_waited_for_and_then_pulumi_goes_on(
    desk: Desk, served: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = out([address("serverless-ipv4-17", own_subnet(served)), address("nat", own_subnet(served))])
    others = out([address("serverless-ipv4-18", "us-central1/subnetworks/of-somebody-else")])
    desk.put("gcloud", services_list=out([]), addresses_list=[held, held, others])
    count, (told,) = swept(served, monkeypatch)
    assert count == 1
    assert "holds 1 addresses" in told and "serverless-ipv4-17" in told and "150 minutes at most" in told


def test_no_address_is_waited_for_that_is_in_use_or_nobodys_or_cannot_be_asked_for(
    desk: Desk, served: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = out([address("serverless-ipv4-17", own_subnet(served))])
    desk.put("gcloud", addresses_list=out([]))
    assert swept(served, monkeypatch) == (0, [])
    desk.put("gcloud", services_list=out([{"metadata": {"name": "hooli-research-mlflow"}}]), addresses_list=held)
    assert swept(served, monkeypatch) == (0, [])
    desk.put("gcloud", addresses_list={"rc": 1, "err": "ERROR: PERMISSION_DENIED: compute.addresses.list"})
    count, (told,) = swept(served, monkeypatch)
    assert count == 0 and "PERMISSION_DENIED" in told


def test_the_wait_for_addresses_ends(desk: Desk, served: State, monkeypatch: pytest.MonkeyPatch) -> None:
    held = out([address("serverless-ipv4-17", own_subnet(served))])
    desk.put("gcloud", services_list=out([]), addresses_list=held)
    count, told = swept(served, monkeypatch, seconds=-1)
    assert count == 0 and "run this again later" in told[-1]
