"""The tracking server of a plan: which image it runs."""

import pytest

from tests.plan.stack_files import keys, plan_of
from trainyard.catalog import pins
from trainyard.plan.gcp.parts import LONGEST_LOGIN, TrackingServerPlan
from trainyard.problems import SettingsError

IMAGE = f"registry.example/mlflow:3.17.2@sha256:{'0' * 64}"


def test_without_the_setting_it_is_the_pinned_one():
    assert plan_of().core.pins.image("mlflow") == pins().image("mlflow")


def test_an_image_of_ones_own_takes_its_place_and_no_other_s():
    found = plan_of(mlflow=keys(image=IMAGE)).core
    assert found.pins.image("mlflow") == IMAGE
    assert {name for name, image in found.pins.images if image != pins().image(name)} == {"mlflow"}
    (decision,) = [decision for decision in found.decisions if decision.key == "images.mlflow"]
    assert (decision.value, decision.source) == (IMAGE, "setting mlflow.image")


def server(environment: str) -> TrackingServerPlan:
    return TrackingServerPlan(f"{environment}-mlflow", "host", "1", "2Gi", 2, 0, 2, 40)


def test_two_environments_that_begin_alike_have_accounts_of_their_own():
    """Ids of accounts are one list in a project, and cut where a login of PostgreSQL has no room for them."""
    one, other = server("northwind-computer-vision-dev"), server("northwind-computer-vision-prod")
    for kind in ("mlflow", "mlflow-up", "track"):
        assert one.account(kind) != other.account(kind)
        assert len(one.account(kind)) == LONGEST_LOGIN
        assert one.account(kind) == server("northwind-computer-vision-dev").account(kind)
    assert server("hooli-research").account("mlflow-up") == "hooli-research-mlflow-up"


GOOGLE = {
    "cloud": "gcp",
    "region": "us-central1",
    "gcp": {"project": "acme-ml", "projectNumber": "123456789012", "databaseTier": "db-custom-1-3840"},
}


@pytest.mark.parametrize(
    ("replicas", "workers", "fits"), [(1, 4, True), (3, 2, True), (7, 1, True), (8, 1, False), (2, 4, False)]
)
def test_servers_hold_no_more_connections_than_a_small_database_takes(replicas: int, workers: int, fits: bool) -> None:
    """Three pools of four a process, of one server more than there are; 100 with 3.75 GiB (Cloud SQL), of which 3 are
    kept."""
    changes = {**GOOGLE, "mlflow": {"replicas": replicas, "workers": workers, "memory": "2Gi"}}
    if fits:
        plan_of(**changes)
        return
    with pytest.raises(SettingsError, match=r"gcp\.databaseTier: got db-custom-1-3840; takes 100 connections"):
        plan_of(**changes)


def test_no_profile_s_servers_hold_more_connections_than_its_own_database_takes() -> None:
    usual = {key: value for key, value in GOOGLE["gcp"].items() if key != "databaseTier"}
    for size in (12, 40):
        servers = plan_of(**{**GOOGLE, "teamSize": size, "gcp": usual}).core.mlflow
        assert (servers.replicas, servers.workers) == ((2, 4) if size == 12 else (3, 8))
        plan_of(teamSize=size)


def test_nobody_counts_connections_where_no_server_runs() -> None:
    plan_of(**{**GOOGLE, "mlflow": {"enabled": False, "replicas": 10, "workers": 8}})
