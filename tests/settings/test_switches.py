"""What is said beside a switch that is off, or of what a stack does not have, is told and not passed over."""

import pytest

from tests.plan.stack_files import BASE
from tests.shared import as_configuration
from trainyard.plan.resolve import resolve
from trainyard.problems import SettingsError
from trainyard.settings.read import read_settings

UNWATCHED = {"monitoring": {"enabled": False}}
SIGN_ON = {"provider": "github", "clientId": "abc", "groups": ["acme"]}


def refused(**changed):
    """The problems of a file by their keys; none where it is planned."""
    try:
        resolve(as_configuration({**BASE, **changed}), "dev")
    except SettingsError as error:
        return {problem.key: str(problem) for problem in error.problems}
    return {}


def advised(**changed):
    """What a file is warned of, beside switches that are off."""
    told = read_settings(as_configuration({**BASE, **changed})).warnings
    return [line for line in told if "is read only where" in line]


@pytest.mark.parametrize(
    ("changed", "keys"),
    [
        ({"mlflow": {"enabled": False, "replicas": 3}}, {"mlflow.replicas"}),
        ({"mlflow": {"enabled": False, "database": {"storageGib": 70}}}, {"mlflow.database.storageGib"}),
        ({"smoke": {"enabled": False, "advisory": ["on-demand"]}}, {"smoke.advisory"}),
        ({"storage": {"lustre": {"enabled": False, "capacityGib": 4800}}}, {"storage.lustre.capacityGib"}),
        ({"idleJobs": {"evict": False, "afterMinutes": 60}}, {"idleJobs.afterMinutes"}),
        ({"monitoring": {"enabled": False, "alerts": {"queueHours": 3}}}, {"monitoring.alerts.queueHours"}),
        (
            {"managed": {"beside": True}, "monitoring": {"enabled": False, "alerts": {"idleGpuMinutes": 90}}},
            {"monitoring.alerts.idleGpuMinutes"},
        ),
        ({"gpuPools": {"dev": {"enabled": False, "spot": {"maxNodes": 2}}}}, {"gpuPools.dev.spot.maxNodes"}),
        ({**UNWATCHED, "idleJobs": {"evict": False, "afterMinutes": 60}}, {"idleJobs.afterMinutes"}),
        ({**UNWATCHED, "idleJobs": {"graceMinutes": 30}}, {"idleJobs.graceMinutes"}),
        (
            {**UNWATCHED, "teamBudgets": {"hold": False, "gpuHourUsd": {"train-spot": 3.5}, "exempt": ["vision"]}},
            {"teamBudgets.gpuHourUsd", "teamBudgets.exempt"},
        ),
        ({**UNWATCHED, "teamBudgets": {"drainAfterHours": 3}}, {"teamBudgets.drainAfterHours"}),
    ],
)
def test_what_a_switch_that_is_off_leaves_unread_is_told_and_refuses_nothing(changed, keys):
    assert refused(**changed) == {}
    assert {told.split()[0] for told in advised(**changed)} == keys


@pytest.mark.parametrize(
    ("changed", "keys"),
    [
        ({"teamBudgets": {"hold": True}}, {"teamBudgets.hold"}),
        ({"teamBudgets": {"hold": True, "drainAfterHours": 3}}, {"teamBudgets.hold", "teamBudgets.drainAfterHours"}),
        ({"idleJobs": {"evict": True, "graceMinutes": 30}}, {"idleJobs.evict"}),
    ],
)
def test_what_is_to_act_by_figures_is_refused_without_them(changed, keys):
    found = refused(**UNWATCHED, **changed)
    assert set(found) == keys
    assert all("needs monitoring.enabled" in told for told in found.values())


@pytest.mark.parametrize(
    "changed",
    [
        {"mlflow": {"enabled": False}},
        {
            "mlflow": {"enabled": False, "image": f"r.example/mlflow:1@sha256:{'a' * 64}"}
        },  # programs of the platform run in it
        {"mlflow": {"enabled": True, "replicas": 3}},
        {"smoke": {"enabled": False, "image": f"r.example/torch:1@sha256:{'a' * 64}"}},
        {"smoke": {"enabled": False, "level": "full"}},  # `trainyard smoke` reads it
        {"smoke": {"enabled": False, "advisory": ["spot"]}},  # what it would be without a word
        {"storage": {"lustre": {"capacityGib": 4800}}},
        {"monitoring": {"enabled": False, "checkpointDrill": False}},  # of one mind
        {
            "monitoring": {"enabled": False, "runbooks": "https://wiki.acme.example/ml"}
        },  # alarms of the cloud's name them
        {"monitoring": {"enabled": False}, "teamBudgets": {"hold": False}, "idleJobs": {"evict": False}},
        {"gpuPools": {"dev": {"enabled": False}}},
    ],
)
def test_what_goes_together_is_taken(changed):
    assert refused(**changed) == {}
    assert advised(**changed) == []


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"notebooks": {"hub": True, "signOn": SIGN_ON}}, "notebooks.signOn.provider"),
        ({"teamBudgets": {"hold": True}}, "teamBudgets.hold"),
        ({"offPeak": {"from": "20:00", "to": "07:00", "timeZone": "UTC"}}, "offPeak.from"),
        ({"charts": {"mirror": "oci://r.acme.example/charts"}}, "charts.mirror"),
    ],
)
@pytest.mark.parametrize("cloud", ["aws", "gcp"])
def test_what_only_a_cluster_reads_is_refused_without_one(cloud, changed, key):
    where = {"aws": {"cloud": "aws", "region": "us-east-1"}, "gcp": {"cloud": "gcp", "region": "us-central1"}}[cloud]
    gcp = (
        {"gcp": {"project": "acme-ml", "projectNumber": "123456789012", "billingAccount": "012345-6789AB-CDEF01"}}
        if cloud == "gcp"
        else {}
    )
    small = {**where, **gcp, "teamSize": 3, "teams": [], "alertEmails": ["a@b.co"]}
    assert refused(**small) == {}
    found = refused(**small, **changed)
    assert "is of a cluster, and the small profile has none" in found[key], found


OWN, OTHER = "123456789012", "999999999999"


@pytest.mark.parametrize(
    ("aws", "key"),
    [
        ({"accountId": OWN, "assumeRole": f"arn:aws:iam::{OWN}:role/x"}, None),
        ({"assumeRole": f"arn:aws:iam::{OTHER}:role/x"}, None),
        ({"accountId": OWN, "assumeRole": f"arn:aws:iam::{OTHER}:role/x"}, "aws.assumeRole"),
        ({"accountId": OWN, "permissionsBoundary": f"arn:aws:iam::{OTHER}:policy/x"}, "aws.permissionsBoundary"),
        ({"accountId": OWN, "permissionsBoundary": "arn:aws:iam::aws:policy/PowerUserAccess"}, None),
    ],
)
def test_the_account_is_one(aws, key):
    found = refused(aws=aws)
    assert set(found) == ({key} if key else set())
    assert all(OWN in told for told in found.values())


def test_no_team_is_called_as_what_nobody_has_alone():
    teams = [{"name": "vision", "members": 3}, {"name": "shared", "members": 3}]
    assert set(refused(teams=teams)) == {"teams[1].name"}
    assert refused(teams=[{"name": "vision", "members": 3}, {"name": "shared-ml", "members": 3}]) == {}


@pytest.mark.parametrize(("idle", "hours", "told"), [(720, 12, False), (1440, 12, True), (61, 1, True), (60, 1, False)])
def test_a_notebook_can_be_idle_before_it_ends(idle, hours, told):
    hub = {"hub": True, "signOn": SIGN_ON, "idleMinutes": idle, "longestHours": hours}
    assert set(refused(notebooks=hub)) == ({"notebooks.idleMinutes"} if told else set())


def test_where_every_team_is_exempt_nobody_is_held():
    """Else a keeper would run that may do nothing."""
    every = ["vision", "language", "platform"]
    assert set(refused(teamBudgets={"hold": True, "exempt": every})) == {"teamBudgets.exempt"}
    assert refused(teamBudgets={"hold": True, "exempt": every[:2]}) == {}
    values = as_configuration({**BASE, "monthlyBudgetUsd": 70_000, "teamBudgets": {"exempt": every}})
    assert not resolve(values, "dev").plan.clusters[0].ledger.hold
    assert refused(teamBudgets={"exempt": every, "drainAfterHours": 3}).keys() == {"teamBudgets.drainAfterHours"}


GCP = {"cloud": "gcp", "region": "us-central1", "gcp": {"project": "acme-ml", "projectNumber": "123456789012"}}


@pytest.mark.parametrize(
    ("pool", "smoke", "told"),
    [
        ({"rootDiskGib": 65}, True, True),
        ({"rootDiskGib": 66}, True, False),
        ({"rootDiskGib": 51}, False, False),
        ({"rootDiskGib": 51, "localSsds": 1}, True, False),  # scratch files are there
    ],
)
def test_a_boot_disk_of_google_has_room_for_the_smoke_job(pool, smoke, told):
    pools = {"extra": {"instanceType": "g2-standard-8", "onDemand": {"maxNodes": 1}, **pool}}
    found = refused(**GCP, gpuPools=pools, smoke={"enabled": smoke})
    assert set(found) == ({"gpuPools.extra.rootDiskGib"} if told else set())
    assert all("must be at least 66" in text for text in found.values())


@pytest.mark.parametrize("cloud", [{}, GCP])
def test_what_prometheus_needs_of_memory_at_the_most_is_no_matter_of_settings(cloud):
    """All groups at their largest at once, spot beside on-demand, is what few clusters ever are; a rehearsal warns."""
    item = "g2-standard-8" if cloud else "g5.2xlarge"
    pools = {"extra": {"instanceType": item, "spot": {"maxNodes": 200}, "onDemand": {"maxNodes": 200}}}
    assert "monitoring.memory" not in refused(**cloud, gpuPools=pools, monitoring={"memory": "4Gi"})
