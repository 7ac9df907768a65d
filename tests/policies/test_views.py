"""What policies are shown: everything known, the program's preview, and what the engine shows at a first preview."""

from dataclasses import replace

import pytest

from tests.conftest import WHOLE
from tests.policies.mutants import MUTANTS
from tests.policies.mutants_data_walls import DATA_WALLS
from tests.policies.mutants_guard import HOLES
from tests.policies.mutants_rights import RIGHTS
from tests.policies.mutants_subtle import SUBTLE
from tests.policies.mutants_unsafe import UNSAFE
from tests.policies.mutants_walls import WALLS
from tests.policies.truth import UNKNOWN, made
from trainyard.policies.pack import POLICIES
from trainyard.policies.rules import ResourceRule, StackRule
from trainyard.rehearsal.engine.first_preview import seen_by_stack_policies
from trainyard.review.policy_check.check import check_policies

STACK_RULES = tuple(policy for policy in POLICIES if isinstance(policy, StackRule))
EXAMPLES = ("demo", WHOLE, "large-aws", "uae-aws")
VIEWS = {  # what policies on one resource are shown, and what policies on the stack are
    "known": lambda preview, known: (known, known),
    "preview": lambda preview, known: (preview, preview),
    "engine": lambda preview, known: (preview, seen_by_stack_policies(preview)),
    "as little as an engine may show": lambda preview, known: (seen_by_stack_policies(preview),) * 2,
}


@pytest.fixture(scope="module")
def rehearsals(rehearsed):
    return {stack: rehearsed(stack) for stack in EXAMPLES}


def judged(rehearsal, view, mutant=None, rules=POLICIES):
    """(what is violated with its URN, what is undecided) in one view alone."""
    runs = (rehearsal.preview.resources, rehearsal.known.resources)
    one, together = VIEWS[view](*(mutant.change(run) for run in runs) if mutant and mutant.change else runs)
    told = {**rehearsal.settings, **(mutant.settings if mutant else {})}
    others = {**rehearsal.other_settings, **(mutant.others if mutant else {})}
    reports = [
        check_policies(rehearsal.stack, [], shown, told, policies=of_a_kind, other_settings=others)
        for shown, kind in ((one, ResourceRule), (together, StackRule))
        if (of_a_kind := tuple(rule for rule in rules if isinstance(rule, kind)))
    ]
    violated = {(violation.policy, violation.urn) for report in reports for violation in report.violations}
    return violated, {found.policy for report in reports for found in report.undecided}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("stack", EXAMPLES)
def test_a_sound_stack_has_the_same_verdict_in_every_view(stack, view, rehearsals):
    violated, undecided = judged(rehearsals[stack], view)
    assert violated == set()
    assert view != "known" or undecided == set()


ALL = [
    mutant for mutant in (*MUTANTS, *SUBTLE, *UNSAFE, *RIGHTS, *DATA_WALLS, *WALLS, *HOLES[::4]) if not mutant.overrides
]


@pytest.mark.parametrize("mutant", ALL, ids=[f"{mutant.policy}: {mutant.what}" for mutant in ALL])
def test_a_first_preview_finds_what_is_so_or_says_that_it_cannot(mutant, rehearsals):
    """`test_mutants` judges all policies in all views together; here it is the mutant's own, in each view alone."""
    rules = [policy for policy in POLICIES if policy.name == mutant.policy]
    seen, undecided = judged(rehearsals[WHOLE], "engine", mutant, rules)
    so, _ = judged(rehearsals[WHOLE], "known", mutant, rules)
    assert so and seen <= so
    assert seen or undecided


def test_under_a_provider_without_its_inputs_nothing_is_shown():
    provider = made("pulumi:providers:kubernetes", "kubernetes", {"kubeconfig": UNKNOWN})
    namespace = made("kubernetes:core/v1:Namespace", "a", {"metadata": {"name": "a"}}, provider=f"{provider.urn}::id")
    assert seen_by_stack_policies([provider, namespace]) == [provider, replace(namespace, inputs={})]
    configured = replace(provider, inputs={"kubeconfig": "known"})
    [_, shown] = seen_by_stack_policies([configured, namespace])
    assert shown.inputs["metadata"] == {"name": "a"}


def test_what_a_provider_computes_is_unknown_where_nothing_is_given(rehearsals):
    shown = {
        (found.type, found.name): found.inputs for found in seen_by_stack_policies(rehearsals[WHOLE].preview.resources)
    }
    role = shown["aws:iam/role:Role", "cluster-node"]
    assert role["inlinePolicies"] is UNKNOWN and role["arn"] is UNKNOWN
    assert "description" in role and "permissionsBoundary" not in role
    assert role["assumeRolePolicy"] is not UNKNOWN
    assert shown["kubernetes:core/v1:Namespace", "mlflow-namespace"] == {}
    assert shown["pulumi:providers:kubernetes", "kubernetes"]["kubeconfig"] is UNKNOWN


@pytest.mark.parametrize("policy", [policy.name for policy in STACK_RULES])
def test_a_stack_rule_holds_its_tongue_where_an_object_shows_nothing(policy, rehearsals):
    """Every object of the cluster empty, everything else known: nothing is said that the known view does not say."""
    known = [
        replace(found, inputs={}) if found.type.startswith("kubernetes:") else found
        for found in rehearsals[WHOLE].known.resources
    ]
    rule = next(found for found in STACK_RULES if found.name == policy)
    report = check_policies("demo", [], known, rehearsals[WHOLE].settings, policies=(rule,))
    assert report.violations == ()
