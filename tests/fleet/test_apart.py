"""What two clients have in common and must not: a copied stack file is told, what all share on purpose is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fleet.fleets import clients, project, settings
from trainyard.fleet.apart import shared_between

BLOCK = {"reservationId": "cr-0123456789abcdef0", "nodes": 1, "availabilityZone": "us-east-1b"}


def told(folder: Path) -> dict[str, tuple[str, ...]]:
    return {shared.rule: shared.stacks for shared in shared_between(clients(folder))}


def two(tmp_path: Path, **both: Any) -> Path:
    return project(tmp_path, {"acme": settings("acme", **both), "globex": settings("globex", **both)})


def test_two_clients_of_their_own_share_nothing(tmp_path: Path) -> None:
    assert told(two(tmp_path)) == {}


def test_a_copy_of_the_first_client_s_file_is_told_in_every_part(tmp_path: Path) -> None:
    """What the issue saw: three copies kept owner, alert address and reservation, and every check passed."""
    first = settings("acme", gpuPools={"train": {"reserved": BLOCK}}, secretsprovider="awskms://alias/acme")
    copies = {"acme": first, **{name: {**first, "client": name} for name in ("globex", "initech")}}
    found = told(project(tmp_path, copies))
    assert set(found) == {
        "fleet-shared-address",
        "fleet-shared-owner",
        "fleet-shared-cost-centre",
        "fleet-shared-reservation",
        "fleet-shared-backend",
        "fleet-shared-secrets-key",
    }
    assert all(stacks == ("acme", "globex", "initech") for stacks in found.values())


@pytest.mark.parametrize(
    ("both", "rule"),
    [
        ({"alertEmails": ["ml@acme.example", "more@x.example"]}, "fleet-shared-address"),
        ({"owner": "ann"}, "fleet-shared-owner"),
        ({"costCentre": "cc"}, "fleet-shared-cost-centre"),
        ({"gpuPools": {"train": {"reserved": BLOCK}}}, "fleet-shared-reservation"),
        ({"stateBackend": "s3://one?region=us-east-1"}, "fleet-shared-backend"),
        ({"secretsprovider": "awskms://alias/one"}, "fleet-shared-secrets-key"),
        ({"secretsprovider": ""}, "fleet-shared-secrets-key"),
        ({"aws": {"assumeRole": "arn:aws:iam::123456789012:role/deploy"}}, "fleet-shared-account"),
    ],
)
def test_each_thing_that_two_share_is_told(tmp_path: Path, both: dict[str, Any], rule: str) -> None:
    assert set(told(two(tmp_path, **both))) == {rule}


def test_a_state_that_nobody_places_is_in_one_place(tmp_path: Path) -> None:
    stacks = {name: settings(name) for name in ("acme", "globex")}
    for given in stacks.values():
        del given["stateBackend"]
    assert set(told(project(tmp_path, stacks))) == {"fleet-shared-backend"}


def test_what_the_agency_gives_to_all_is_nobody_s_leftover(tmp_path: Path) -> None:
    folder = two(tmp_path)
    for name in ("acme", "globex"):
        file = folder / f"Pulumi.{name}.yaml"
        lines = [line for line in file.read_text().splitlines() if "owner" not in line and "alertEmails" not in line]
        file.write_text("\n".join(line for line in lines if not line.strip().startswith("- ml@")) + "\n")
    text = (folder / "Pulumi.yaml").read_text()
    text = text.replace('  owner:\n    type: string\n    default: ""', "  owner:\n    type: string\n    default: ops")
    empty = "  alertEmails:\n    type: array\n    items: { type: string }\n    default: []"
    assert empty in text
    (folder / "Pulumi.yaml").write_text(text.replace(empty, empty[:-2] + "[ops@agency.example]"))
    found = clients(folder)
    assert {client.settings.owner for client in found} == {"ops"}
    assert {tuple(client.settings.alert_emails) for client in found} == {("ops@agency.example",)}
    assert shared_between(found) == []


def test_the_stacks_of_one_client_may_share_all_but_their_name(tmp_path: Path) -> None:
    both = settings("acme", secretsprovider="awskms://alias/acme")
    assert told(project(tmp_path / "a", {"acme-dev": both, "acme-prod": both})) == {}, "named after their stacks"
    same = {**both, "environment": "prod"}
    assert told(project(tmp_path / "b", {"one": same, "two": same})) == {"fleet-one-name": ("one", "two")}
    elsewhere = {**same, "region": "eu-west-1"}
    assert told(project(tmp_path / "c", {"one": same, "two": elsewhere})) == {}
