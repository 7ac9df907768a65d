"""The proof on Google Cloud, from lists as `gcloud asset search-all-resources` writes them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.cli.test_way_in import Desk
from tests.shared import ROOT
from tests.teardown.states import exported
from trainyard.account.gcp import NobodyError
from trainyard.cli.main import app
from trainyard.plan.parts import Plan
from trainyard.plan.resolve import resolve_stack
from trainyard.teardown.gcp.prove import INVENTORY, prove
from trainyard.teardown.kinds import GCP_VAULT
from trainyard.teardown.model import Kept, Proof
from trainyard.teardown.state import State, ending

P = "projects/acme-ml"
OURS = {"client": "acme", "environment": "demo-gcp", "other": "x"}
THEIRS = {"client": "globex", "environment": "prod"}


def asset(kind: str, path: str, **more: Any) -> dict[str, Any]:
    host = kind.partition("/")[0]
    name = path.rpartition("/")[2]
    return {"name": f"//{host}/{path}", "assetType": kind, "project": "projects/1", "displayName": name, **more}


def disk(name: str, **more: Any) -> dict[str, Any]:
    return asset("compute.googleapis.com/Disk", f"{P}/zones/us-central1-a/disks/{name}", **more)


def version(key: str, state: str) -> dict[str, Any]:
    path = f"{P}/locations/us-central1/keyRings/ring/cryptoKeys/{key}/cryptoKeyVersions/1"
    return asset("cloudkms.googleapis.com/CryptoKeyVersion", path, state=state)


def key(name: str, labels: dict[str, str]) -> dict[str, Any]:
    path = f"{P}/locations/us-central1/keyRings/ring/cryptoKeys/{name}"
    return asset("cloudkms.googleapis.com/CryptoKey", path, labels=labels)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return resolve_stack(ROOT, ROOT / "stacks" / "Pulumi.demo-gcp.yaml").plan


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    found = Desk(tmp_path)
    monkeypatch.setenv("PATH", str(found.bin))
    return found


Proven = Callable[..., Proof]


@pytest.fixture
def proven(plan: Plan, desk: Desk) -> Proven:
    def ask(*assets: Any, kept: tuple[Kept, ...] = ()) -> Proof:
        desk.put("gcloud", search__all__resources={"out": json.dumps(assets)})
        return prove(plan, kept)

    return ask


def test_it_holds_where_nothing_is_left_and_asks_the_project_once(proven: Proven, desk: Desk) -> None:
    assert proven().holds
    (asked,) = desk.asked
    assert asked[:5] == ["gcloud", "asset", "search-all-resources", "--scope=projects/acme-ml", "--read-mask=*"]


CLUSTER = "acme-demo-gcp"
REGION = f"{P}/regions/us-central1"


@pytest.mark.parametrize(
    ("left", "kind", "found_by", "command"),
    [
        (disk("pvc-1", labels=OURS), "Disk", "tag", f"gcloud compute disks delete {P}/zones/us-central1-a/disks/pvc-1"),
        (disk("pvc-2", labels={"goog-k8s-cluster-name": CLUSTER}), "Disk", "name", "gcloud compute disks delete"),
        (disk(f"gke-{CLUSTER}-train-0"), "Disk", "name", "gcloud compute disks delete"),
        (
            asset("compute.googleapis.com/Address", f"{REGION}/addresses/acme-demo-gcp-nat"),
            "Address", "name", "gcloud compute addresses delete",
        ),
        (
            asset("compute.googleapis.com/ForwardingRule", f"{REGION}/forwardingRules/a1",
                  labels={"goog-k8s-cluster-name": CLUSTER}),
            "ForwardingRule", "name", "gcloud compute forwarding-rules delete",
        ),
        (
            asset("storage.googleapis.com/Bucket", "acme-demo-gcp-data", labels=OURS),
            "Bucket", "tag", "gcloud storage rm --recursive gs://acme-demo-gcp-data",
        ),
        (
            asset("compute.googleapis.com/Snapshot", f"{P}/global/snapshots/s", labels=OURS),
            "Snapshot", "tag", "gcloud compute snapshots delete",
        ),
        (
            asset("logging.googleapis.com/LogBucket", f"{P}/locations/us/buckets/acme-demo-gcp-logs"),
            "LogBucket", "name", "",
        ),
        (asset("tpu.googleapis.com/Unheard", f"{P}/x/y", labels=OURS), "Unheard", "tag", ""),
    ],
)  # fmt: skip
def test_what_is_left_counts_as_paid_for(
    proven: Proven, left: dict[str, Any], kind: str, found_by: str, command: str
) -> None:
    proof = proven(left)
    assert not proof.holds
    (found,) = proof.owed
    assert (found.kind, found.found_by, found.usd) == (kind, found_by, None)
    assert found.command.startswith(command) and bool(found.command) == bool(command)


ZONE = "https://www.googleapis.com/compute/v1/projects/acme-ml/zones/us-central1-a"
SQL = {
    "tier": "db-custom-2-7680", "dataDiskSizeGb": "50", "dataDiskType": "PD_SSD", "availabilityType": "ZONAL",
    "edition": "ENTERPRISE", "activationPolicy": "ALWAYS",
}  # fmt: skip
SQL_USD = 730 * (2 * 0.0413 + 7.5 * 0.0070) + 50 * 0.17


@pytest.mark.parametrize(
    ("kind", "resource", "usd"),
    [
        ("compute.googleapis.com/Disk", {"sizeGb": "100", "type": f"{ZONE}/diskTypes/pd-ssd"}, 17.0),
        ("compute.googleapis.com/Disk", {"sizeGb": "100", "type": f"{ZONE}/diskTypes/hyperdisk-balanced"}, None),
        ("compute.googleapis.com/Disk", {"type": f"{ZONE}/diskTypes/pd-ssd"}, None),
        ("compute.googleapis.com/Address", {"addressType": "EXTERNAL"}, 3.65),
        ("compute.googleapis.com/GlobalAddress", {"addressType": "INTERNAL", "purpose": "VPC_PEERING"}, 0.0),
        ("compute.googleapis.com/ForwardingRule", {"name": "a1"}, 7.3),
        ("compute.googleapis.com/Instance", {"machineType": f"{ZONE}/machineTypes/e2-standard-4"}, 730 * 0.134023),
        (
            "compute.googleapis.com/Instance",
            {"machineType": f"{ZONE}/machineTypes/e2-standard-4", "scheduling": {"provisioningModel": "SPOT"}},
            None,
        ),
        (
            "compute.googleapis.com/Instance",
            {"machineType": f"{ZONE}/machineTypes/e2-standard-4", "status": "TERMINATED"},
            0.0,
        ),
        ("compute.googleapis.com/Instance", {"machineType": f"{ZONE}/machineTypes/z9-unheard"}, None),
        (
            "compute.googleapis.com/Reservation",
            {"specificReservation": {"count": "2", "instanceProperties": {"machineType": "e2-standard-4"}}},
            2 * 730 * 0.134023,
        ),
        ("compute.googleapis.com/Router", {"name": "r"}, 0.0),
        ("compute.googleapis.com/Router", {"nats": [{"name": "n"}]}, None),
        ("container.googleapis.com/Cluster", {"name": "c"}, 73.0),
        ("cloudkms.googleapis.com/CryptoKeyVersion", {"protectionLevel": "SOFTWARE"}, 0.06),
        ("cloudkms.googleapis.com/CryptoKeyVersion", {"protectionLevel": "HSM"}, None),
        ("sqladmin.googleapis.com/Instance", {"settings": SQL}, SQL_USD),
        ("sqladmin.googleapis.com/Instance", {"settings": SQL | {"availabilityType": "REGIONAL"}}, 2 * SQL_USD),
        ("sqladmin.googleapis.com/Instance", {"settings": SQL | {"activationPolicy": "NEVER"}}, 8.5),
        ("sqladmin.googleapis.com/Instance", {"settings": SQL | {"edition": "ENTERPRISE_PLUS"}}, None),
        ("monitoring.googleapis.com/AlertPolicy", {"conditions": [{}, {}]}, 3.0),
        ("dns.googleapis.com/ManagedZone", {"name": "z"}, 0.2),
        ("storage.googleapis.com/Bucket", {"name": "b"}, None),
        ("file.googleapis.com/Instance", {"tier": "BASIC_HDD", "fileShares": [{"capacityGb": "1024"}]}, 204.8),
    ],
)
def test_what_is_left_has_the_catalogue_s_price(
    proven: Proven, kind: str, resource: dict[str, Any], usd: float | None
) -> None:
    versions = [{"version": "v1", "resource": resource}]
    one = asset(kind, f"{P}/x/y", labels=OURS, location="us-central1-a", versionedResources=versions)
    (found,) = proven(one).left
    assert found.usd == (None if usd is None else pytest.approx(usd))


def test_a_price_is_that_of_its_own_region(proven: Proven) -> None:
    disk_ = {"resource": {"sizeGb": "100", "type": "https://x/diskTypes/pd-balanced"}}
    proof = proven(disk("pvc-1", labels=OURS, location="europe-west4-b", versionedResources=[disk_]))
    assert proof.owed[0].usd == pytest.approx(11.0)
    assert proof.as_json()["usd_a_month"] == 11.0


def test_a_key_s_version_is_paid_for_until_it_is_destroyed(proven: Proven) -> None:
    proof = proven(key("data", OURS), version("data", "ENABLED"))
    assert [each.kind for each in proof.owed] == ["CryptoKeyVersion"]
    assert "kms keys versions destroy projects/acme-ml/locations" in proof.owed[0].command
    assert [each.kind for each in proof.free] == ["CryptoKey"], "which cannot be deleted, and is free"
    assert proven(key("data", OURS), version("data", "DESTROYED")).holds


@pytest.mark.parametrize(
    "other",
    [
        [disk("pvc-1", labels=THEIRS)],
        [disk("acme-demo-gcp-2", labels=THEIRS)],
        [disk("pvc-1", labels={"goog-k8s-cluster-name": "globex-prod"})],
        [disk("acme-demo-gcptwo")],
        [disk("pvc-1")],
        [key("acme-demo-gcp-data", THEIRS), version("acme-demo-gcp-data", "ENABLED")],
        [asset("k8s.io/Pod", f"{P}/clusters/{CLUSTER}/k8s/pods/p", labels=OURS)],
        [asset("cloudresourcemanager.googleapis.com/Project", P, labels=OURS)],
    ],
)
def test_what_is_another_s_or_ends_with_its_cluster_is_left_out(proven: Proven, other: list[Any]) -> None:
    proof = proven(*other)
    assert proof.holds and proof.left == ()


def test_what_was_to_stay_is_told_apart(proven: Proven) -> None:
    bucket = asset("storage.googleapis.com/Bucket", "acme-demo-gcp-data", labels=OURS)
    proof = proven(bucket, kept=(Kept("Bucket", ("acme-demo-gcp-data",), "data"),))
    assert proof.holds and [each.id for each in proof.kept] == ["acme-demo-gcp-data"]


@pytest.mark.parametrize("project", [P, "projects/1"])
def test_a_vault_of_backups_that_stays_and_what_is_in_it_is_not_owed(
    proven: Proven, with_vault: State, project: str
) -> None:
    (vault,) = with_vault.of(GCP_VAULT)
    kept = ending(with_vault, ()).kept
    path = f"{project}/{vault['id'].partition('/')[2].partition('/')[2]}"
    left = (
        asset("backupdr.googleapis.com/BackupVault", path, labels=OURS),
        asset("backupdr.googleapis.com/DataSource", f"{path}/dataSources/ds-1"),
        asset("backupdr.googleapis.com/Backup", f"{path}/dataSources/ds-1/backups/b-1"),
    )
    proof = proven(*left, kept=kept)
    assert proof.holds and len(proof.kept) == 3
    alone = proven(*left)
    assert len(alone.owed) == 3
    told = {each.kind: each.command for each in alone.owed}
    assert told["BackupVault"] == f"gcloud backup-dr backup-vaults delete {path}"
    name = path.rpartition("/")[2]
    share = asset("file.googleapis.com/Instance", f"{project}/locations/x/instances/{name}", labels=OURS)
    assert [each.kind for each in proven(share, kept=kept).owed] == ["Instance"], "it has the vault's name"


@pytest.fixture(scope="module")
def with_vault(rehearsed) -> State:
    return State(exported(rehearsed("large-gcp")))


def test_an_inventory_that_is_off_proves_nothing(plan: Plan, desk: Desk) -> None:
    desk.put("gcloud", search__all__resources={"rc": 1, "err": "ERROR: (gcloud.asset) SERVICE_DISABLED"})
    proof = prove(plan)
    assert not proof.holds
    (unseen,) = proof.unseen
    assert unseen.kind == INVENTORY
    assert "gcloud services enable cloudasset.googleapis.com --project=acme-ml" in unseen.remedy


def test_without_gcloud_there_is_nobody_to_ask_as(plan: Plan, desk: Desk) -> None:
    with pytest.raises(NobodyError, match="gcloud is not on the path"):
        prove(plan)


PROJECT = {"out": '{"projectId": "acme-ml"}'}


def trainyard(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["destroy", "demo-gcp", *arguments, "--project", str(ROOT)])


def test_the_command_proves_and_its_code_says_so(desk: Desk) -> None:
    desk.put("gcloud", projects_describe=PROJECT, search__all__resources={"out": "[]"})
    done = trainyard("--prove-only")
    assert done.exit_code == 0, done.output
    assert "demo-gcp: nothing is left that is paid for" in done.output
    left_over = {"out": json.dumps([disk("pvc-1", labels=OURS)])}
    desk.put("gcloud", projects_describe=PROJECT, search__all__resources=left_over)
    left = trainyard("--prove-only", "--json", "-")
    assert left.exit_code == 1
    assert json.loads(left.stdout)["left"][0]["id"] == "pvc-1"
    (desk.bin / "gcloud").unlink()
    nobody = trainyard("--prove-only")
    assert nobody.exit_code == 2
    assert "gcloud is not on the path: install it" in " ".join(nobody.output.split())
