"""What is judged without Pulumi's analyser is what the analyser says."""

import copy
from dataclasses import replace

import pytest

from tests.conftest import WHOLE
from tests.policies.mutants import MUTANTS
from tests.policies.mutants_unsafe import UNSAFE
from tests.policies.truth import UNKNOWN, made
from tests.review.policy_check.analyzer import analyzed, in_the_stacks_context
from trainyard.policies.pack import LEVEL, POLICIES
from trainyard.policies.rules import ResourceRule
from trainyard.recorded.model import Secret
from trainyard.rehearsal.engine.first_preview import seen_by_stack_policies
from trainyard.review.policy_check import check as checking
from trainyard.review.policy_check.configuration import reconcile
from trainyard.review.policy_check.judge import Judge, View


def told(rehearsal):
    return {**checking.as_told(rehearsal.settings), **rehearsal.other_settings}


def judged(recorded, policies=POLICIES, configuration=None):
    """What the judge says of a view, in the form of what an analyser says."""
    reconciled = reconcile(policies, configuration, LEVEL)
    judge, view = Judge(policies, reconciled), View(recorded)
    said = [*(outcome for _, outcome in judge.resources(view)), *judge.stack(view)]
    kinds = {"Violated": set(), "Undecidable": set(), "Inapplicable": {}, "Excepted": set()}
    for outcome in said:
        match type(outcome).__name__:
            case "Violated":
                mandatory = reconciled[outcome.policy].level.value != "advisory"
                kinds["Violated"].add((outcome.policy, outcome.urn, outcome.message, mandatory))
            case "Undecidable":
                kinds["Undecidable"].add((outcome.policy, outcome.message))
            case "Inapplicable":
                kinds["Inapplicable"].setdefault(outcome.policy, outcome.reason)
    return kinds["Violated"], kinds["Undecidable"], kinds["Inapplicable"]


def both(recorded, settings, policies=POLICIES, configuration=None):
    ours = in_the_stacks_context(settings, lambda: judged(recorded, policies, configuration))
    theirs = in_the_stacks_context(settings, lambda: analyzed(recorded, policies, configuration))
    return ours, (theirs.violations, theirs.undecided, theirs.reasons)


@pytest.mark.parametrize("view", ["known", "preview", "first preview"])
def test_a_whole_stack_is_judged_as_the_analyser_judges_it(view, rehearsed):
    rehearsal = rehearsed(WHOLE)
    shown = {
        "known": rehearsal.known.resources,
        "preview": rehearsal.preview.resources,
        "first preview": seen_by_stack_policies(rehearsal.preview.resources),
    }[view]
    ours, theirs = both(shown, told(rehearsal))
    assert ours == theirs
    assert theirs[2], "some policies have nothing to say of demo"
    assert view == "known" or theirs[1], "unknowns of the preview are among it"


def test_broken_stacks_are_judged_as_the_analyser_judges_them(rehearsed):
    rehearsal = rehearsed(WHOLE)
    seen = 0
    for mutant in [mutant for mutant in (*MUTANTS, *UNSAFE) if not mutant.overrides][::6]:
        rules = [policy for policy in POLICIES if policy.name == mutant.policy]
        changed = mutant.change(rehearsal.known.resources) if mutant.change else rehearsal.known.resources
        settings = {**told(rehearsal), **checking.as_told(mutant.settings), **mutant.others}
        ours, theirs = both(changed, settings, rules)
        assert ours == theirs
        seen += len(theirs[0])
    assert seen >= 10


DATABASE = "aws:rds/instance:Instance"


@pytest.mark.parametrize("level", ["mandatory", "advisory", "remediate", "disabled"])
def test_levels_are_the_analysers(level):
    rules = [policy for policy in POLICIES if policy.name == "public-database"]
    ours, theirs = both(
        [made(DATABASE, "tracking", {"publiclyAccessible": True})], {}, rules, {"public-database": level}
    )
    assert ours == theirs
    assert bool(theirs[0]) is (level != "disabled")


@pytest.mark.parametrize("value", [True, Secret(True), UNKNOWN, Secret(UNKNOWN), None, 1.0, "true", [], {}])
def test_values_of_every_kind_are_read_as_the_analyser_hands_them_over(value):
    rules = [policy for policy in POLICIES if policy.name == "public-database"]
    ours, theirs = both([made(DATABASE, "tracking", {"publiclyAccessible": value})], {}, rules)
    assert ours == theirs


def test_what_a_judge_looks_at_is_not_changed(rehearsed):
    before = rehearsed(WHOLE).known.resources
    kept = copy.deepcopy([resource.inputs for resource in before])
    in_the_stacks_context(told(rehearsed(WHOLE)), lambda: judged(before))
    assert [resource.inputs for resource in before] == kept


def test_what_both_runs_ask_alike_is_answered_once(rehearsed, monkeypatch):
    rehearsal, asked = rehearsed(WHOLE), []
    judge_one = ResourceRule.judge
    monkeypatch.setattr(
        ResourceRule, "judge", lambda self, *given, **more: asked.append(self) or judge_one(self, *given, **more)
    )
    preview, known = View(rehearsal.preview.resources), View(rehearsal.known.resources)
    judge = Judge(POLICIES, reconcile(POLICIES, None, LEVEL))

    def number(view, answered=None):
        asked.clear()
        in_the_stacks_context(told(rehearsal), lambda: list(judge.resources(view, answered)))
        return len(asked)

    first, again, whole = number(preview), number(known, preview), number(known)
    assert first and again < 0.75 * whole


def test_a_judge_serves_one_configuration(rehearsed):
    rehearsal = rehearsed(WHOLE)

    def undecided(configuration=None):
        runs = rehearsal.preview.resources, rehearsal.known.resources
        return checking.check_policies("demo", *runs, rehearsal.settings, configuration=configuration).undecided

    before = undecided()
    assert before and not undecided({"all": "disabled"})
    assert undecided() == before


@pytest.mark.parametrize(
    "change",
    [{"inputs": {"a": 2}}, {"protect": True}, {"provider": "p::q"}, {"ignore_changes": ("a",)}, {"parent": "x"}],
)
def test_only_what_is_the_same_in_both_runs_is_shown_as_the_same(change):
    preview = made("aws:s3/bucket:Bucket", "b", {"a": 1})
    behind = made("pulumi:providers:aws", "p", {"defaultTags": {"tags": {"owner": "me"}}})
    behind = replace(behind, urn="p")
    known = replace(preview, **change)
    before = View([preview, behind])
    shown = before.alone(preview)
    assert View([preview, behind], before).alone(preview) is shown
    assert View([known, behind], before).alone(known) == View([known, behind]).alone(known) != shown
