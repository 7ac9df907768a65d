"""Every mistake is named by its key, with what it got and what it may be; all of them at once."""

import pytest

from tests.plan.cases import CASES, reserved
from tests.plan.stack_files import gpu_pool, keys, node_range, people, plan_of
from trainyard.problems import Problem, SettingsError, count, spell_path


@pytest.mark.parametrize(
    ("changes", "key", "text", "hint"), CASES, ids=[f"{i}-{case[1]}" for i, case in enumerate(CASES)]
)
def test_a_mistake_is_named(problems, changes, key, text, hint):
    found = problems(**changes)
    assert key in found, list(map(str, found.values()))
    assert text in str(found[key]), str(found[key])
    assert hint in found[key].hint, found[key].hint


@pytest.mark.parametrize(
    ("changes", "key"), [(case[0], case[1]) for case in CASES], ids=[f"{i}-{case[1]}" for i, case in enumerate(CASES)]
)
def test_a_single_mistake_makes_no_other(problems, changes, key):
    """What follows from a mistake is not reported as one of its own."""
    related = {
        "teams[1].share": {"teams[0].share"},  # 150 and -50: two mistakes
    }.get(key, set())
    assert set(problems(**changes)) - {key} <= related


def test_all_mistakes_at_once():
    with pytest.raises(SettingsError) as caught:
        plan_of(
            client="ACME",
            region="nowhere-1",
            kubernetesVersion="1.20",
            monthlyBudgetUsd=1,
            gpuPools={"train": gpu_pool(instance_type="p9.large"), "tune": gpu_pool(spot=node_range(5, 1))},
            network=keys(cidr="172.20.0.0/16"),
            storage=keys(lustre=keys(capacity_gib=1300)),
        )
    assert {problem.key for problem in caught.value.problems} == {
        "client",
        "region",
        "kubernetesVersion",
        "monthlyBudgetUsd",
        "gpuPools.train.instanceType",
        "gpuPools.tune.spot.minNodes",
        "network.cidr",
        "storage.lustre.capacityGib",
    }


def test_the_budget_s_problem_names_the_three_largest_items(problems):
    problem = problems(monthlyBudgetUsd=5000, **reserved(2))["monthlyBudgetUsd"]
    assert "train-reserved: capacity reservation of 2 p4d.24xlarge 32,058" in problem.hint
    assert problem.hint.count(", ") >= 2


def test_a_region_unknown_says_nothing_of_what_depends_on_it(problems):
    assert set(problems(region="nowhere-1", **reserved(zone="nowhere-1a"))) == {"region"}


def test_what_a_terminal_would_obey_is_escaped():
    """A stack file may come from a stranger's pull request, and its keys and values are quoted in CI's log."""
    told = str(Problem("a\x1b[31m", "\u202eevil", "must be\na name", "did you mean \x07?"))
    assert told == r"a\x1b[31m: got \u202eevil; must be\na name (did you mean \x07?)"
    assert str(Problem("client", '"日本 ünï"', "must be a name")) == 'client: got "日本 ünï"; must be a name'


def test_an_empty_key_is_seen():
    assert spell_path(["mlflow", ""]) == 'mlflow.""'
    assert spell_path([""]) == '""'


def test_an_empty_value_is_seen():
    assert str(Problem("environment", "", "must be a name")) == 'environment: got ""; must be a name'
    assert str(Problem("environment", "  ", "must be a name")) == 'environment: got "  "; must be a name'


def test_a_list_is_named_without_what_is_long_in_it(problems):
    """A text of any length at a wrong place may be a password, and messages reach the logs of CI."""
    zone = "sUp3rS3cret" * 8
    found = problems(network=keys(zones=[zone, zone]))
    assert zone not in "\n".join(map(str, found.values()))
    assert "a text of 88 characters" in str(found["network.zones"])


def test_many_teams_are_not_all_listed(problems):
    """Each wrong name lists the right ones: a thousand of both were a message of six million characters."""
    teams = [people(f"t{number}", 1) for number in range(300)]
    owners = {f"x{number}": 1 for number in range(300)}
    found = problems(teams=teams, smoke=keys(team="nobody"), gpuPools={"train": gpu_pool(owners=owners)})
    assert all(len(str(problem)) < 400 for problem in found.values())
    assert "t0, t1" in str(found["smoke.team"])
    assert "and 280 more" in str(found["smoke.team"])


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (1, "1 hour"),
        (0.5, "0.5 hours"),
        (1024, "1,024 hours"),
        (0.1 + 0.2, "0.3 hours"),
        (1234567.5, "1,234,567.5 hours"),
    ],
)
def test_a_number_is_said_as_a_person_writes_it(number, said):
    assert count(number, "hour") == said


SHARED_NETWORK = {
    "network": "production",
    "subnetwork": "ml-us-central1",
    "nodeCidr": "10.8.0.0/20",
    "podRange": "ml-pods",
    "podCidr": "10.16.0.0/14",
    "serviceRange": "ml-services",
    "serviceCidr": "10.20.0.0/20",
    "controlPlaneCidr": "172.16.0.16/28",
    "privateServicesCidr": "10.24.0.0/20",
    "hostRights": "host",
}


def test_a_long_list_is_told_by_its_first_entries(problems):
    """Also where settings refuse it before the plan sees it."""
    many = [f"10.{number}.0.0/16" for number in range(200)]
    gcp = {
        "project": "acme-ml",
        "projectNumber": "123456789012",
        "networkProject": "acme-net",
        "sharedNetwork": SHARED_NETWORK,
    }
    found = problems(cloud="gcp", region="us-central1", gcp=gcp, network={"reservedCidrs": many})[
        "network.reservedCidrs"
    ]
    assert found.got.startswith("10.0.0.0/16, ") and found.got.endswith(" more")
    assert len(str(found)) < 500
