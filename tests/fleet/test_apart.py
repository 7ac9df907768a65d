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


@pytest.mark.parametrize(
    ("first", "second", "rule"),
    [
        ({"stateBackend": "s3://state/x"}, {"stateBackend": "s3://state/x/?region=us-east-1"}, "fleet-shared-backend"),
        ({"stateBackend": "s3://state/x?region=us-east-1"}, {"stateBackend": "s3://state/x"}, "fleet-shared-backend"),
        ({"stateBackend": "gs://state"}, {"stateBackend": "gs://state/"}, "fleet-shared-backend"),
        ({"alertEmails": ["ML@acme.example"]}, {"alertEmails": ["ml@Acme.example"]}, "fleet-shared-address"),
        ({"owner": "Ann"}, {"owner": "ann"}, "fleet-shared-owner"),
        (
            {"secretsprovider": "awskms://alias/a?region=us-east-1&awssdk=v2"},
            {"secretsprovider": "awskms://alias/a?awssdk=v1&region=us-east-1"},
            "fleet-shared-secrets-key",
        ),
        ({"aws": {"accountId": "123456789012"}}, {"aws": {"accountId": "123456789012"}}, "fleet-shared-account"),
        (
            {"aws": {"accountId": "123456789012"}},
            {"aws": {"assumeRole": "arn:aws:iam::123456789012:role/other"}},
            "fleet-shared-account",
        ),
    ],
)
def test_what_is_spelt_otherwise_is_the_same(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], rule: str
) -> None:
    stacks = {"acme": settings("acme", **first), "globex": settings("globex", **second)}
    assert set(told(project(tmp_path, stacks))) == {rule}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"stateBackend": "s3://state/x"}, {"stateBackend": "s3://state/y"}),
        ({"stateBackend": "s3://state"}, {"stateBackend": "s3://state/y"}),  # Pulumi keeps a folder of its own in each
        ({"stateBackend": "s3://state?prefix=x"}, {"stateBackend": "s3://state?prefix=y"}),
        ({"stateBackend": "s3://state?endpoint=a.example"}, {"stateBackend": "s3://state?endpoint=b.example"}),
        (
            {"secretsprovider": "awskms://alias/a?region=us-east-1"},
            {"secretsprovider": "awskms://alias/a?region=eu-west-1"},
        ),
        ({"aws": {"accountId": "123456789012"}}, {"aws": {"accountId": "123456789013"}}),
    ],
)
def test_what_is_two_things_is_not_one(tmp_path: Path, first: dict[str, Any], second: dict[str, Any]) -> None:
    assert told(project(tmp_path, {"acme": settings("acme", **first), "globex": settings("globex", **second)})) == {}


def on_google_cloud(client: str, number: int, project_id: str = "", **more: Any) -> dict[str, Any]:
    own = settings(client, cloud="gcp", region="us-central1", stateBackend=f"gs://agency-{client}", **more)
    del own["apiAccess"]
    return own | {"gcp": {"project": project_id or f"{client}-train", "projectNumber": f"12345678901{number}"}}


def test_a_project_of_google_cloud_is_one_client_s(tmp_path: Path) -> None:
    both = {name: on_google_cloud(name, 1, "one-for-all") for name in ("acme", "globex")}
    assert set(told(project(tmp_path / "a", both))) == {"fleet-shared-account"}
    each = {name: on_google_cloud(name, number) for number, name in enumerate(("acme", "globex"))}
    assert told(project(tmp_path / "b", each)) == {}


def test_a_reservation_s_name_is_a_project_s_own_on_google_cloud(tmp_path: Path) -> None:
    block = {"gpu": "h100", "reserved": {**BLOCK, "reservationId": "train", "availabilityZone": "us-central1-a"}}
    each = {
        name: on_google_cloud(name, number, gpuPools={"train": block}) for number, name in enumerate(("acme", "globex"))
    }
    assert "fleet-shared-reservation" not in told(project(tmp_path / "a", each))
    whole = {**block, "reserved": {**block["reserved"], "reservationId": "projects/shared/reservations/train"}}  # type: ignore[dict-item]
    each = {name: {**own, "gpuPools": {"train": whole}} for name, own in each.items()}
    assert "fleet-shared-reservation" in told(project(tmp_path / "b", each))


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


def test_a_stack_with_another_client_s_name_is_told(tmp_path: Path) -> None:
    """All else that two clients may not share is passed over then: they are one by their name."""
    taken = {**settings("globex"), "client": "acme"}
    fleet = {"acme-prod": settings("acme"), "globex-prod": taken, "initech-prod": settings("initech")}
    assert told(project(tmp_path, fleet)) == {"fleet-another-client": ("globex-prod", "acme-prod")}


@pytest.mark.parametrize(
    ("stack", "more"),
    [
        pytest.param("acme-research", {}, id="called after the client"),
        pytest.param("research", {"owner": "ann@acme.example"}, id="one owner"),
        pytest.param("research", {"alertEmails": ["other@acme.example"]}, id="mail of one house"),
        pytest.param("research", {"stateBackend": "s3://agency-acme?region=us-east-1"}, id="one place of the state"),
    ],
)
def test_a_second_stack_of_a_client_is_his(tmp_path: Path, stack: str, more: dict[str, Any]) -> None:
    second = {**settings("globex"), "client": "acme", "environment": "research", **more}
    assert told(project(tmp_path, {"acme-prod": settings("acme"), stack: second})) == {}


@pytest.mark.parametrize("stack", ["research", "training-eu", "globe"])
def test_a_stack_with_people_and_places_of_its_own_is_the_client_s(tmp_path: Path, stack: str) -> None:
    """Nothing says that it is somebody else's: it is called after what it is for."""
    second = {**settings("globex"), "client": "acme", "environment": "research"}
    assert told(project(tmp_path, {"acme-prod": settings("acme"), stack: second})) == {}


@pytest.mark.parametrize("place", ["s3://acme-globex?region=us-east-1", "s3://x/acme/training?region=us-east-1"])
def test_what_has_a_place_that_is_called_after_the_client_is_his(tmp_path: Path, place: str) -> None:
    second = {**settings("globex"), "client": "acme", "stateBackend": place}
    fleet = {"acme-prod": settings("acme"), "globex-trial": second}
    assert told(project(tmp_path, fleet)) == {}


def test_of_stacks_that_no_client_gave_a_name_nothing_is_known(tmp_path: Path) -> None:
    second = {**settings("globex"), "client": "acme"}
    assert told(project(tmp_path, {"one": settings("acme"), "two": second})) == {}
