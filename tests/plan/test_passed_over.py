"""Defaults of all stacks that one has no use for are passed over and told; what its own file says is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.existing_network import existing
from trainyard.plan.resolve import resolve, resolve_stack
from trainyard.problems import SettingsError
from trainyard.rehearsal.engine.project import read_stack, shared_keys
from trainyard.rehearsal.rehearse import rehearse
from trainyard.settings.declarations import project_file

OWN = {
    "aws": {"client": "initech", "cloud": "aws", "region": "us-east-1", "alertEmails": ["ml@initech.example"]},
    "gcp": {
        "client": "initech", "cloud": "gcp", "region": "us-central1", "alertEmails": ["ml@initech.example"],
        "gcp": {
            "project": "initech-ml-1", "projectNumber": "123456789012", "billingAccount": "012345-6789AB-CDEF01",
        },
    },
}  # fmt: skip
OF_CLUSTERS: dict[str, Any] = {
    "teamBudgets": {"hold": False},
    "offPeak": {"timeZone": "Europe/Vienna", "from": "20:00", "to": "06:00"},
    "notebooks": {"hub": True, "idleMinutes": 40},
    "kubernetesVersion": "1.35",
    "monitoring": {"runbooks": "https://wiki.agency.example/ml", "retentionDays": 60},
    "mlflow": {"replicas": 3},
}


def texts(settings: dict[str, Any]) -> dict[str, str]:
    return {key: value if isinstance(value, str) else json.dumps(value) for key, value in settings.items()}


@pytest.mark.parametrize("cloud", ["aws", "gcp"])
def test_a_small_client_has_no_use_for_what_is_of_a_cluster(cloud: str) -> None:
    given = texts({**OWN[cloud], "teamSize": 3, **OF_CLUSTERS})
    resolved = resolve(given, "initech-prod", shared=frozenset(OF_CLUSTERS))
    told = {one.key: one for one in resolved.plan.core.decisions if one.value == "passed over"}
    assert {key.partition(".")[0] for key in told} == set(OF_CLUSTERS)
    assert told["teamBudgets.hold"].source == (
        "Pulumi.yaml gives false to every stack; it is of a cluster, and the small profile has none"
    )
    assert resolved.plan.core.runbooks == "https://wiki.agency.example/ml", "the part that is read is"
    assert resolved.settings.monitoring.retention_days is None
    plain = resolve(
        texts({**OWN[cloud], "teamSize": 3, "monitoring": {"runbooks": "https://wiki.agency.example/ml"}}),
        "initech-prod",
    )
    left = [one for one in resolved.plan.core.decisions if one.value != "passed over"]
    assert left == list(plain.plan.core.decisions), "as if nobody had said it"


@pytest.mark.parametrize("key", sorted(OF_CLUSTERS))
def test_the_same_in_the_client_s_own_file_is_refused(key: str) -> None:
    given = texts({**OWN["aws"], "teamSize": 3, **OF_CLUSTERS})
    with pytest.raises(SettingsError) as refused:
        resolve(given, "initech-prod", shared=frozenset(OF_CLUSTERS) - {key})
    assert {problem.key.partition(".")[0] for problem in refused.value.problems} == {key}


OFFICE, HOME = ["198.51.100.0/24"], ["203.0.113.0/24"]


@pytest.mark.parametrize(
    ("defaults", "key"),
    [
        ({"endpointAccess": OFFICE}, "apiAccess.cidrs"),
        ({"adminPrincipals": ["arn:aws:iam::123456789012:role/admin"]}, "aws.adminPrincipals"),
        ({"mlflow": {"database": {"instanceClass": "db.m7g.large"}}}, "aws.databaseInstanceClass"),
        ({"budget": {"anomalyDetection": True}}, "aws.anomalyDetection"),
        ({"aws": {"anomalyDetection": True}}, "aws.anomalyDetection"),
    ],
)
def test_a_default_is_passed_over_at_its_old_place_too(defaults: dict[str, Any], key: str) -> None:
    resolved = resolve(texts({**OWN["aws"], "teamSize": 3, **defaults}), "initech-prod", shared=frozenset(defaults))
    assert [one.key for one in resolved.plan.core.decisions if one.value == "passed over"] == [key]
    with pytest.raises(SettingsError) as refused:
        resolve(texts({**OWN["aws"], "teamSize": 3, **defaults}), "initech-prod")
    assert key in {problem.key for problem in refused.value.problems}


@pytest.mark.parametrize(
    ("own", "shared", "refused_key"),
    [
        ({"endpointAccess": HOME}, {"apiAccess": {"mode": "public"}}, "apiAccess.cidrs"),
        ({"apiAccess": {"mode": "public"}}, {"endpointAccess": OFFICE}, "apiAccess.mode"),
    ],
)
def test_what_the_client_s_own_file_says_at_another_place_is_refused_still(
    own: dict[str, Any], shared: dict[str, Any], refused_key: str
) -> None:
    """Two keys of one block, of which a file says one at its old place: each is whose file says it."""
    with pytest.raises(SettingsError) as refused:
        resolve(texts({**OWN["aws"], "teamSize": 3, **own, **shared}), "initech-prod", shared=frozenset(shared))
    assert {problem.key for problem in refused.value.problems} == {refused_key}


@pytest.mark.parametrize(
    ("cloud", "defaults", "more", "key"),
    [
        ("gcp", {"storage": {"dataAccess": "team"}}, {}, "storage.dataAccess"),
        (
            "aws",
            {"aws": {"existingNetwork": existing(wayOut="none")}},
            {"network": {"cidr": "10.20.0.0/22"}},
            "aws.existingNetwork.wayOut",
        ),
    ],
)
def test_a_default_on_which_somebody_relies_is_refused_still(
    cloud: str, defaults: dict[str, Any], more: dict[str, Any], key: str
) -> None:
    """That a team's data are its own, or that the network has no way out."""
    given = texts({**OWN[cloud], "teamSize": 3, **defaults, **more})
    with pytest.raises(SettingsError) as refused:
        resolve(given, "initech-prod", shared=frozenset(defaults))
    assert key in {problem.key for problem in refused.value.problems}


def test_a_client_with_a_cluster_has_no_use_for_what_is_of_managed_training() -> None:
    own = texts({**OWN["aws"], "teamSize": 8, "managed": {"maxRuntimeHours": 48}})
    resolved = resolve(own, "initech-prod", shared={"managed"})
    assert [one.key for one in resolved.plan.core.decisions if one.value == "passed over"] == [
        "managed.maxRuntimeHours"
    ]
    with pytest.raises(SettingsError, match=r"managed\.maxRuntimeHours"):
        resolve(own, "initech-prod")
    beside = texts({**OWN["aws"], "teamSize": 8, "managed": {"maxRuntimeHours": 48, "beside": True}})
    told = resolve(beside, "initech-prod", shared={"managed"}).plan.core.decisions
    assert not [one for one in told if one.value == "passed over"], "it is kept for a while, and reads them"


def test_what_a_cluster_reads_is_read_from_the_defaults() -> None:
    given = texts(
        {**OWN["aws"], "teamSize": 8, **{key: OF_CLUSTERS[key] for key in ("kubernetesVersion", "teamBudgets")}}
    )
    resolved = resolve(given, "initech-prod", shared=frozenset(OF_CLUSTERS))
    assert not [one for one in resolved.plan.core.decisions if one.value == "passed over"]
    assert resolved.settings.team_budgets.hold is False


def test_the_program_and_the_command_pass_over_the_same(tmp_path: Path) -> None:
    """The engine hands a program the values alone: it reads whose they are from the same two files."""
    (tmp_path / "Pulumi.yaml").write_text(project_file(defaults=OF_CLUSTERS), encoding="utf-8")
    (tmp_path / "__main__.py").write_text("from trainyard.stacks.program import main\n\nmain()\n", encoding="utf-8")
    file = tmp_path / "Pulumi.initech-prod.yaml"
    config = {f"trainyard:{key}": value for key, value in {**OWN["aws"], "teamSize": 3}.items()}
    file.write_text(yaml.safe_dump({"config": config}), encoding="utf-8")
    read = read_stack(tmp_path, "initech-prod")
    assert shared_keys(tmp_path, file, read.values) == read.shared
    spaced = {
        key: json.dumps(json.loads(value), indent=1) if value.startswith("{") else value
        for key, value in read.values.items()
    }
    assert shared_keys(tmp_path, file, spaced) == read.shared, "however the engine writes a value"
    other = {**read.values, "trainyard:teamBudgets": '{"hold":true}'}
    assert "trainyard:teamBudgets" not in shared_keys(tmp_path, file, other), "somebody else says another value"
    found = rehearse(tmp_path, "initech-prod")
    assert not found.errors
    told = resolve_stack(tmp_path, "initech-prod").plan.core.decisions
    assert {one["key"] for one in found.plan["core"]["decisions"]} == {one.key for one in told}
    config["trainyard:teamBudgets"] = {"hold": False}
    file.write_text(yaml.safe_dump({"config": config}), encoding="utf-8")
    with pytest.raises(SettingsError, match=r"teamBudgets\.hold"):
        resolve_stack(tmp_path, "initech-prod")
