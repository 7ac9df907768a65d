"""Settings are checked together: every mistake at once, each with key, value and what is allowed."""

import json

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.shared import as_configuration
from trainyard.plan.resolve import resolve
from trainyard.problems import SettingsError

GOOD = {
    "client": "acme",
    "cloud": "aws",
    "region": "us-east-1",
    "teamSize": "12",
    "teams": [{"name": "vision", "members": 7}, {"name": "language", "members": 5}],
    "monthlyBudgetUsd": "60000",
}


def config(**changes):
    """A stack's configuration as the engine hands it over: every value text."""
    return as_configuration({**GOOD, **changes})


def problems(**changes):
    with pytest.raises(SettingsError) as caught:
        resolve(config(**changes), "test")
    return {problem.key: problem for problem in caught.value.problems}


def test_good_settings_give_a_plan():
    resolved = resolve(config(), "test")
    assert resolved.settings.team_size == resolved.plan.core.team_size == 12
    assert resolved.plan.core.profile == "medium"
    assert not resolved.warnings
    assert [team.name for team in resolved.plan.core.teams] == ["vision", "language"]


def test_principals_of_a_team_reach_the_plan():
    role = "arn:aws:iam::123456789012:role/vision"
    plan = resolve(config(teams=[{"name": "vision", "members": 12, "principals": [role]}]), "test").plan
    assert plan.core.teams[0].principals == (role,)
    wrong = problems(teams=[{"name": "vision", "members": 12, "principals": ["somebody"]}])
    assert "ARN" in wrong["teams[0].principals[0]"].allowed


def test_an_empty_text_is_a_key_left_out():
    assert resolve(config(owner="", kubernetesVersion="", profile=""), "test") == resolve(config(), "test")


def test_the_stack_names_the_environment_unless_the_settings_do():
    assert resolve(config(), "staging").plan.core.environment == "staging"
    assert resolve(config(environment="production"), "staging").plan.core.environment == "production"


@pytest.mark.parametrize(
    ("changes", "key", "words"),
    [
        ({"teamSize": "0"}, "teamSize", ["0", "at least 1"]),
        ({"teamSize": "twelve"}, "teamSize", ["twelve", "whole number"]),
        ({"cloud": "asw"}, "cloud", ["asw", "must be aws", "did you mean aws?"]),
        ({"region": "us-eest-1"}, "region", ["us-eest-1", "us-east-1"]),
        ({"client": None}, "client", ["required"]),
        ({"client": "Acme Inc"}, "client", ["Acme Inc", "lower-case"]),
        ({"client": "a" * 21}, "client", ["at most 20"]),
        ({"regoin": "us-east-1"}, "regoin", ["no such key", "did you mean region?"]),
        ({"monthlyBudgetUsd": "-5"}, "monthlyBudgetUsd", ["-5"]),
        ({"monthlyBudgetUsd": "lots"}, "monthlyBudgetUsd", ["lots", "whole number"]),
        ({"monthlyBudgetUsd": "100"}, "monthlyBudgetUsd", ["100", "floor"]),
        ({"alertEmails": ["nobody"]}, "alertEmails[0]", ["nobody", "e-mail"]),
        ({"residency": "mars"}, "residency", ["mars", "uae"]),
        ({"residency": "eu"}, "region", ["us-east-1", "eu-central-1"]),
        ({"kubernetesVersion": "1.3"}, "kubernetesVersion", ["1.3", "1.35"]),
        ({"endpointAccess": ["0.0.0.0/0"]}, "apiAccess.cidrs[0]", ["0.0.0.0/0", "narrower"]),
        ({"endpointAccess": ["10.0.0.0/24"]}, "apiAccess.cidrs[0]", ["10.0.0.0/24", "private"]),
        ({"endpointAccess": ["198.18.5.1/24"]}, "apiAccess.cidrs[0]", ["host bits"]),
        ({"endpointAccess": ["8.8.8.0/24", "8.8.8.128/25"]}, "apiAccess.cidrs[1]", ["overlap", "8.8.8.0/24"]),
        ({"aws": {"adminPrincipals": ["somebody"]}}, "aws.adminPrincipals[0]", ["ARN"]),
        ({"adminPrincipals": ["somebody"]}, "aws.adminPrincipals[0]", ["ARN"]),
        ({"aws": {"accountId": "1234"}}, "aws.accountId", ["12 digits"]),
        ({"protect": "perhaps"}, "protect", ["perhaps", "true or false"]),
        ({"teams": [{"name": "a", "members": 3}, {"name": "a", "members": 2}]}, "teams", ["2 teams of the name a"]),
        ({"teams": [{"name": "a", "members": 9}, {"name": "b", "members": 9}]}, "teams", ["18 members", "teamSize"]),
        (
            {"teams": [{"name": "a", "members": 3, "share": 50}, {"name": "b", "members": 2}]},
            "teams",
            ["no share for b"],
        ),
        (
            {"teams": [{"name": "a", "members": 3, "share": 50}, {"name": "b", "members": 2, "share": 60}]},
            "teams",
            ["110", "add up to 100"],
        ),
        ({"teams": [{"name": "a", "members": 3, "share": -5}]}, "teams[0].share", ["-5"]),
        ({"teams": [{"name": "a", "membrs": 3}]}, "teams[0].membrs", ["no such key", "did you mean members?"]),
        ({"teams": "vision"}, "teams", ["a text of 6 characters", "a list"]),
        (
            {"gpuPools": {"train": {"gpu": "H200", "instanceType": None, "sopt": {}}}},
            "gpuPools.train.sopt",
            ["did you mean spot?"],
        ),
        ({"gpuPools": {"spot": {"spot": {"maxNods": 3}}}}, "gpuPools.spot.spot.maxNods", ["did you mean maxNodes?"]),
        ({"gpuPools": {"train": {"spot": {"maxNodes": -1}}}}, "gpuPools.train.spot.maxNodes", ["-1"]),
        (
            {
                "gpuPools": {
                    "train": {"reserved": {"reservationId": "cr-1", "nodes": 1, "availabilityZone": "us-east-1a"}}
                }
            },
            "gpuPools.train.reserved.reservationId",
            ["cr-0123456789abcdef0"],
        ),
        ({"network": {"cidr": "10.0.0.1/16"}}, "network.cidr", ["host bits"]),
    ],
    ids=str,
)
def test_each_mistake_names_key_value_and_what_is_allowed(changes, key, words):
    found = problems(**changes)
    assert key in found, f"{key} not among {sorted(found)}"
    for word in words:
        assert word in str(found[key])


def test_every_mistake_is_named_at_once():
    found = problems(
        teamSize="0",
        region="nowhere-1",
        regoin="x",
        monthlyBudgetUsd="1",
        alertEmails=["x"],
        teams=[{"name": "a", "members": 3}, {"name": "a", "members": 2}],
        network={"cidr": "172.20.0.0/16", "serviceCidr": "172.20.0.0/16"},
    )
    assert {"teamSize", "region", "regoin", "alertEmails[0]", "teams", "network.cidr"} <= set(found)


def test_a_gpu_that_the_region_lacks_is_refused_with_what_it_has():
    found = problems(region="me-central-1", gpuPools={"train": {"gpu": "B200"}})
    key = "gpuPools.train.gpu"
    assert key in found
    assert "B200" in str(found[key])
    assert "me-central-1" in str(found[key])
    assert "H200" in str(found[key])


def test_a_pool_larger_than_its_reservation_is_refused():
    reserved = {
        "reservationId": "cr-0123456789abcdef0",
        "nodes": 2,
        "maxNodes": 4,
        "availabilityZone": "us-east-1a",
    }
    found = problems(gpuPools={"train": {"reserved": reserved}})
    assert "gpuPools.train.reserved.maxNodes" in found
    assert "4" in str(found["gpuPools.train.reserved.maxNodes"])


def test_a_vpc_that_overlaps_a_network_in_use_is_refused():
    found = problems(network={"cidr": "10.20.0.0/16", "reservedCidrs": ["10.20.128.0/17"]})
    assert "10.20.128.0/17" in str(found["network.cidr"])


@hypothesis_settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(min_size=1, max_size=12), st.text(max_size=30), max_size=6))
def test_no_configuration_whatever_ends_in_a_traceback(extra):
    try:
        resolve({**config(), **extra}, "test")
    except SettingsError as error:
        assert error.problems


@hypothesis_settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([*sorted(GOOD), "gpuPools", "storage", "network", "mlflow", "scheduler", "systemNodes", "budget"]),
    st.recursive(
        st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=8,
    ),
)
def test_no_value_whatever_ends_in_a_traceback(key, value):
    try:
        resolve({**config(), key: json.dumps(value)}, "test")
    except SettingsError as error:
        assert error.problems


def test_a_team_may_name_somebody_twice_and_the_data_theirs_too():
    """One verdict with the policy `person-of-several-teams`, which is of teams alone."""
    role = "arn:aws:iam::123456789012:role/vision"
    teams = [{"name": "vision", "members": 12, "principals": [role, role]}]
    plan = resolve(config(teams=teams, storage={"ingestPrincipals": [role]}), "test").plan
    assert plan.core.storage.ingest_principals == (role,)
