"""Every policy says what its truth table says, with and without Pulumi's own analyser."""

from collections import Counter

import pytest

from tests.policies import (
    cases_data,
    cases_data_walls,
    cases_gcp,
    cases_guard,
    cases_images,
    cases_managed,
    cases_money,
    cases_monitoring,
    cases_openings,
    cases_platform,
    cases_pods,
    cases_reach,
    cases_record,
    cases_rights,
    cases_security,
    cases_sign_on,
    cases_tracking,
    cases_trust,
    cases_walls,
    cases_walls_network,
)
from tests.policies.truth import OK, VIOLATED
from trainyard.policies.pack import POLICIES

CASES = [
    *cases_money.CASES,
    *cases_monitoring.CASES,
    *cases_data.CASES,
    *cases_data_walls.CASES,
    *cases_gcp.CASES,
    *cases_images.CASES,
    *cases_managed.CASES,
    *cases_security.CASES,
    *cases_tracking.CASES,
    *cases_sign_on.CASES,
    *cases_trust.CASES,
    *cases_walls.CASES,
    *cases_openings.CASES,
    *cases_walls_network.CASES,
    *cases_pods.CASES,
    *cases_guard.CASES,
    *cases_reach.CASES,
    *cases_rights.CASES,
    *cases_platform.CASES,
    *cases_record.CASES,
]
NOTHING_UNKNOWN = {"exception-expired", "key-in-the-stack-file"}  # look at no resource


@pytest.mark.parametrize("case", CASES, ids=[f"{case.policy}: {case.label}" for case in CASES])
def test_truth_table(case):
    assert case.outcome() == case.expected
    assert case.outcome_by_analyser() == case.expected


@pytest.mark.parametrize("policy", [policy.name for policy in POLICIES])
def test_every_policy_has_a_table_with_both_outcomes_and_an_unknown(policy):
    own = [case for case in CASES if case.policy == policy]
    assert {OK, VIOLATED} <= {case.expected for case in own}
    assert policy in NOTHING_UNKNOWN or any(case.unknown for case in own)


def test_cases_are_named_apart():
    assert [name for name, times in Counter((case.policy, case.label) for case in CASES).items() if times > 1] == []
