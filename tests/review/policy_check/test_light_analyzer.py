"""Properties that are read once give what the analyser gives when it reads them for every policy."""

from contextlib import nullcontext

from pulumi_policy import policy as sdk

from trainyard.review.policy_check import check as checking
from trainyard.review.policy_check.light_analyzer import properties_read_once


def outcome(rehearsal):
    found = checking.check_policies(
        rehearsal.stack, rehearsal.preview.resources, rehearsal.known.resources, rehearsal.settings
    )
    return found.violations, found.undecided, found.accepted, found.not_applicable


def test_both_ways_find_the_same(rehearsed, monkeypatch):
    rehearsal = rehearsed("demo")
    light = outcome(rehearsal)
    monkeypatch.setattr(checking, "properties_read_once", nullcontext)
    assert outcome(rehearsal) == light
    assert light[1], "unknowns of the preview are among it"


def test_the_analyser_is_put_back_whatever_happens():
    before = (sdk.json_format, sdk.deserialize_properties, sdk.unknown_checking_proxy)
    try:
        with properties_read_once():
            assert sdk.json_format is not before[0]
            raise ValueError
    except ValueError:
        pass
    assert (sdk.json_format, sdk.deserialize_properties, sdk.unknown_checking_proxy) == before
