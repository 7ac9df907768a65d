"""Every policy catches a mutant of the real demo stack, and no unrelated policy complains of it."""

import pytest

from tests.conftest import WHOLE
from tests.policies.mutants import MUTANTS
from tests.policies.mutants_data_walls import DATA_WALLS
from tests.policies.mutants_guard import GUARD
from tests.policies.mutants_images import IMAGES
from tests.policies.mutants_openings import OPENINGS
from tests.policies.mutants_reach import REACH
from tests.policies.mutants_record import RECORD
from tests.policies.mutants_rights import RIGHTS
from tests.policies.mutants_subtle import SUBTLE
from tests.policies.mutants_tracking import TRACKING
from tests.policies.mutants_unsafe import UNSAFE
from tests.policies.mutants_walls import WALLS
from tests.policies.mutants_walls_network import WALLS_NETWORK
from tests.remembered import of_session, unjudged
from tests.shared import ROOT
from trainyard.policies import money_editors, money_managed, security_managed
from trainyard.policies.pack import POLICIES
from trainyard.policies.rules import ResourceRule, StackRule
from trainyard.recorded.resources import matches
from trainyard.rehearsal.rehearse import rehearse
from trainyard.review.policy_check.check import check_policies


def judge(rehearsal, change=None, settings=None, others=None, *, whole=False):
    runs = (rehearsal.preview.resources, rehearsal.known.resources)
    changed = tuple(change(run) for run in runs) if change else runs
    policies = POLICIES if whole or settings or others else _concerned(runs, changed)
    told = {**rehearsal.other_settings, **(others or {})}
    return check_policies(
        rehearsal.stack,
        *changed,
        {**rehearsal.settings, **(settings or {})},
        policies=policies,
        other_settings=told,
    )


def said_of_change(rehearsal, change, *, preview=True):
    """The violations of a changed stack by the policies that are shown anything of the change.

    One on single resources is shown each with its provider and nothing else (`View.alone`): of what is as it was it
    says what it said before. Where providers are others, all are shown.
    """
    runs = (rehearsal.preview.resources if preview else [], rehearsal.known.resources)
    changed = tuple(change(run) if run else run for run in runs)
    alone = []
    for run, after in zip(runs, changed, strict=True):
        as_before = set(map(id, run))
        behind, providers = ([one for one in each if one.is_provider] for each in (run, after))
        new = [one for one in after if id(one) not in as_before]
        same = list(map(id, behind)) == list(map(id, providers))
        alone.append([*providers, *new] if same else after)
    policies = _concerned(runs, changed)
    found = []
    for shown, kind in ((alone, ResourceRule), (changed, StackRule)):
        asked = tuple(policy for policy in policies if isinstance(policy, kind))
        found += check_policies(
            rehearsal.stack, *shown, rehearsal.settings, policies=asked, other_settings=rehearsal.other_settings
        ).violations
    return found


def _concerned(runs, changed):
    """The policies that are shown anything of a change, the pack where nothing is changed.

    A policy is shown resources of its own types alone (`rules.py`): of any other change it says what it said before.
    """
    types = {
        resource.type
        for before, after in zip(runs, changed, strict=True)
        for one, others in ((before, set(map(id, after))), (after, set(map(id, before))))
        for resource in one
        if id(resource) not in others
    }
    return tuple(policy for policy in POLICIES if any(matches(found, policy.types) for found in types)) or POLICIES


@pytest.fixture(scope="module")
def demo(rehearsed):
    return rehearsed(WHOLE)


@pytest.fixture(scope="module")
def sound(demo):
    return judge(demo)


def test_the_demo_stack_has_no_violation_and_no_exception(sound):
    assert [str(violation) for violation in sound.violations] == []
    assert sound.mandatory == ()
    assert sound.accepted == ()


OF_GOOGLE_CLOUD = {"logs-outside-residency", "rights-change-unnoticed"}
"""Policies on types of Google Cloud alone, whose mutants are in `test_gcp.py`."""


OF_MANAGED_TRAINING = {
    policy.name for policy in (*money_managed.POLICIES, *money_editors.POLICIES, *security_managed.POLICIES)
}
"""Policies on what a stack with a cluster has none of, whose mutants are in `test_managed.py`."""


def test_every_policy_of_the_pack_has_a_mutant():
    assert {mutant.policy for mutant in ALL} | OF_GOOGLE_CLOUD | OF_MANAGED_TRAINING == {
        policy.name for policy in POLICIES
    }
    assert all(not matches("aws:iam/role:Role", policy.types) for policy in POLICIES if policy.name in OF_GOOGLE_CLOUD)


ALL = (
    *MUTANTS,
    *SUBTLE,
    *UNSAFE,
    *WALLS,
    *TRACKING,
    *RECORD,
    *REACH,
    *RIGHTS,
    *DATA_WALLS,
    *WALLS_NETWORK,
    *GUARD,
    *IMAGES,
    *OPENINGS,
)


def rehearsed_with(overrides):
    """The demo stack with other settings, recorded and not judged; once for all mutants of the same settings."""

    def make():
        with unjudged():
            return rehearse(ROOT, "demo", config_overrides={"assurance": "high", **overrides})

    alike = [mutant for mutant in ALL if mutant.overrides == overrides]
    return of_session().kept(repr(("demo for mutants", overrides)), make) if len(alike) > 1 else make()


@pytest.mark.parametrize("mutant", ALL, ids=[f"{mutant.policy}: {mutant.what}" for mutant in ALL])
def test_a_mutant_is_caught_by_its_policy_and_by_no_unrelated_one(mutant, demo, sound):
    assert mutant.overrides or mutant.change or mutant.settings or mutant.others
    rehearsal = rehearsed_with(mutant.overrides) if mutant.overrides else demo
    if mutant.overrides or mutant.settings or mutant.others:
        whole = bool(mutant.overrides)
        found = judge(rehearsal, mutant.change, mutant.settings, mutant.others, whole=whole).violations
    else:
        found = said_of_change(rehearsal, mutant.change)
    before = {(violation.policy, violation.urn, violation.message) for violation in sound.violations}
    caught = {violation.policy for violation in found}
    assert mutant.policy in caught
    unrelated = [
        str(violation)
        for violation in found
        if violation.policy != mutant.policy and (violation.policy, violation.urn, violation.message) not in before
    ]
    assert unrelated == []
