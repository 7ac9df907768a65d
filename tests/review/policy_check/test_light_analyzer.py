"""What the analyser is spared changes nothing of what it says."""

from contextlib import nullcontext

from pulumi_policy import policy as sdk

from trainyard.review.policy_check import check as checking
from trainyard.review.policy_check.analyzer import Analyzer
from trainyard.review.policy_check.light_analyzer import properties_read_once


def outcome(rehearsal, configuration=None):
    found = checking.check_policies(
        rehearsal.stack,
        rehearsal.preview.resources,
        rehearsal.known.resources,
        rehearsal.settings,
        configuration=configuration,
    )
    return found.violations, found.undecided, found.accepted, found.not_applicable


def test_both_ways_find_the_same(rehearsed, monkeypatch):
    rehearsal = rehearsed("demo")
    light = outcome(rehearsal)
    monkeypatch.setattr(checking, "properties_read_once", nullcontext)
    assert outcome(rehearsal) == light
    assert light[1], "unknowns of the preview are among it"


def test_what_both_runs_ask_alike_is_answered_once(rehearsed, monkeypatch):
    rehearsal, answers, resources = rehearsed("demo"), [], Analyzer.resources

    def counted(self, recorded, answered):
        for found in resources(self, recorded, answered):
            answers.append(found)
            yield found

    monkeypatch.setattr(Analyzer, "resources", counted)
    once, few = outcome(rehearsal), len(answers)
    answers.clear()
    monkeypatch.setattr(Analyzer, "resources", lambda self, recorded, _: counted(self, recorded, set()))
    assert outcome(rehearsal) == once
    assert few < 0.85 * len(answers)


def test_an_analyser_serves_one_configuration(rehearsed):
    rehearsal = rehearsed("demo")
    before = outcome(rehearsal)
    assert before[1]
    assert not outcome(rehearsal, {"all": "disabled"})[1]
    assert outcome(rehearsal) == before


def test_the_analyser_is_put_back_whatever_happens():
    before = (sdk.json_format, sdk.deserialize_properties, sdk.unknown_checking_proxy)
    try:
        with properties_read_once():
            assert sdk.json_format is not before[0]
            raise ValueError
    except ValueError:
        pass
    assert (sdk.json_format, sdk.deserialize_properties, sdk.unknown_checking_proxy) == before
